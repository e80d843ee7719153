/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What parts of a frame cost, by effect, number and size of boxes. With --whole: what whole frames cost, by sigma, and with
 * light and alpha beside formats of 16 bits.
 *
 *  bench_regions [--whole] [--cuda] [--threads N] [--rounds N] [--csv FILE]
 *
 * One 1080p frame of random content goes through the element again and again. All cases take turns, round by round.
 *
 * On the CPU, with one thread, a figure is the least time of the processor in all rounds, so that other work on the
 * machine counts little; what the harness itself costs is measured with the element's place empty, and subtracted. With
 * several threads a figure is the time that passes. With --cuda the frame is in CUDA memory, and a figure is the time
 * from frame to frame, with a wait for the device at the end of each round: again the least of all rounds. A second figure
 * is the part of the host: the time from frame to frame while the device's queue has place for all launches.
 */
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <time.h>

#define WIDTH 1920
#define HEIGHT 1080
#define FRAMES 5         /* of one round on the CPU */
#define CUDA_FRAMES 1000 /* of one in CUDA memory */
#define QUEUED_FRAMES 50 /* so many fit the queue of a device */

typedef struct
{
  const gchar *what, *properties;
  guint boxes, side;
  enum
  {
    IN_PLACE,
    ON_A_COPY, /* somebody else holds the frame */
    MOVING     /* boxes are those of the metadata, and other ones in each frame */
  } way;
  const gchar *format; /* or NULL for NV12 and RGBA */
  gboolean opaque;     /* alpha is 255 in the whole frame, and otherwise as random as all samples */
} Case;

#define FACES "apply-to=regions mask=gaussian region-strength=0.2"
#define SOFT FACES " region-shape=ellipse region-feather=20"

static const Case cases[] = {
  { "whole frame, sigma 22.6", "mask=gaussian sigma=22.627417", 0, 0, IN_PLACE, NULL, TRUE },
  { "whole frame, 5x5", "mask=gaussian", 0, 0, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 0, 0, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 1, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 10, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.05", "apply-to=regions mask=gaussian region-strength=0.05", 10, 100, IN_PLACE, NULL, TRUE },
  { "gaussian as it is", "apply-to=regions region-effect=mask mask=gaussian", 10, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.2, on a copy", FACES, 10, 100, ON_A_COPY, NULL, TRUE },
  { "strength 0.2, ellipses", FACES " region-shape=ellipse", 10, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.2, soft boxes", FACES " region-feather=20", 10, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.2, soft ellipses", SOFT, 10, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 40, 100, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 100, 30, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 1000, 20, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 1, 300, IN_PLACE, NULL, TRUE },
  { "strength 0.2", FACES, 1, 600, IN_PLACE, NULL, TRUE },
  { "pixelate", "apply-to=regions region-effect=pixelate region-blocks=6", 10, 100, IN_PLACE, NULL, TRUE },
  { "pixelate", "apply-to=regions region-effect=pixelate region-blocks=6", 1, 600, IN_PLACE, NULL, TRUE },
  { "fill", "apply-to=regions region-effect=fill", 10, 100, IN_PLACE, NULL, TRUE },
  { "fill, on a copy", "apply-to=regions region-effect=fill", 10, 100, ON_A_COPY, NULL, TRUE },
  { "strength 0.2, moving", FACES, 10, 100, MOVING, NULL, TRUE },
  { "strength 0.2, moving", FACES, 100, 30, MOVING, NULL, TRUE },
  { "strength 0.2, moving", FACES, 1000, 20, MOVING, NULL, TRUE },
  { "fill, moving", "apply-to=regions region-effect=fill", 10, 100, MOVING, NULL, TRUE },
  { "gaussian as it is, outside", "apply-to=outside-regions region-effect=mask mask=gaussian", 10, 100, IN_PLACE, NULL,
      TRUE },
  { "strength 0.2, translucent", FACES, 10, 100, IN_PLACE, "RGBA", FALSE },
  { "strength 0.2, translucent", FACES, 1, 100, IN_PLACE, "RGBA", FALSE },
  { "pixelate, translucent", "apply-to=regions region-effect=pixelate region-blocks=6", 1, 600, IN_PLACE, "RGBA",
      FALSE },
};

#define WHOLE(properties, format) \
  { \
    properties, properties, 0, 0, IN_PLACE, format, FALSE \
  }
#define OPAQUE(properties, format) \
  { \
    properties " of opaque frames", properties, 0, 0, IN_PLACE, format, TRUE \
  }
#define FORMS(mask, eight, sixteen) \
  WHOLE (mask " light=coded", eight), WHOLE (mask " light=coded", sixteen), WHOLE (mask " light=linear", eight), \
      WHOLE (mask " alpha=convolve", "RGBA"), WHOLE (mask " alpha=copy", "RGBA"), WHOLE (mask " alpha=weigh", "RGBA"), \
      OPAQUE (mask " alpha=weigh", "RGBA"), WHOLE (mask " light=linear", "RGBA"), \
      WHOLE (mask " alpha=convolve", "RGB10A2_LE"), WHOLE (mask " alpha=weigh", "RGB10A2_LE")
#define SIGMA(sigma) WHOLE ("mask=gaussian sigma=" sigma, NULL)

/* Light has 16 bits inside, so its rows stand beside a format of 16 bits with as many samples. */
static const Case whole_cases[] = {
  FORMS ("mask=\"1 2 3; 4 5 6; 7 8 10\"", "GBR", "Y444_16LE"),
  FORMS ("mask=gaussian", "GBR", "Y444_16LE"),
  FORMS ("mask=gaussian sigma=8", "GBR", "Y444_16LE"),
  FORMS ("mask=box mask-width=15", "GBR", "Y444_16LE"),
  SIGMA ("8"),
  SIGMA ("20"),
  SIGMA ("30"),
  SIGMA ("42"),
  SIGMA ("43"),
  SIGMA ("60"),
  SIGMA ("100"),
  SIGMA ("300"),
  SIGMA ("1000"),
};

static const gchar *const formats[] = { "NV12", "RGBA", "GBR", "Y444_16LE", "RGB10A2_LE" };

/* The place of box i: boxes lie in rows, spread over the frame. */
static void
find_place (const Case *row, guint i, guint *x, guint *y)
{
  guint columns = MAX (1, MIN (row->boxes, WIDTH / (row->side + row->side / 4 + 1)));
  guint rows = (row->boxes + columns - 1) / columns;

  *x = i % columns * (WIDTH / columns);
  *y = i / columns * (HEIGHT / MAX (1, rows));
}

static gchar *
place_boxes (const Case *row)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0, x, y; i < row->boxes && row->way != MOVING; i++) {
    find_place (row, i, &x, &y);
    g_string_append_printf (text, "%u,%u,%u,%u;", x, y, row->side, row->side);
  }
  return g_string_free (text, FALSE);
}

static gboolean
drop_meta (GstBuffer *frame, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* Gives the frame boxes in its metadata, in another place than in the frame before. */
static void
move_boxes (const Case *row, GstBuffer *frame, guint number)
{
  gst_buffer_foreach_meta (frame, drop_meta, NULL);
  for (guint i = 0, x, y; i < row->boxes; i++) {
    find_place (row, i, &x, &y);
    gst_buffer_add_video_region_of_interest_meta_id (frame, 0, x + number % 4, y + number % 3, row->side, row->side);
  }
}

static gboolean cuda;
static gint threads = 1;

/* Microseconds. */
static gdouble
get_time (void)
{
  struct timespec time;

  clock_gettime (cuda || threads != 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

typedef struct
{
  GstHarness *harness;
  GstBuffer *frame;
  const Case *row; /* or NULL */
  gdouble least;   /* microseconds a frame */
  gdouble host;    /* the same, without any wait for a device */
} Trial;

static void
run (Trial *trial, guint frames)
{
  for (guint i = 0; i < frames; i++) {
    GstBuffer *held = trial->row && trial->row->way == ON_A_COPY ? gst_buffer_ref (trial->frame) : NULL, *out;

    if (trial->row && trial->row->way == MOVING)
      move_boxes (trial->row, trial->frame, i);
    if (gst_harness_push (trial->harness, trial->frame) != GST_FLOW_OK)
      g_error ("a frame fails");
    out = gst_harness_pull (trial->harness);
    if (held) {
      trial->frame = held;
      gst_buffer_unref (out);
    } else {
      trial->frame = out;
    }
  }
}

static GstCaps *
cuda_caps (const GstVideoInfo *info)
{
  GstCaps *caps = gst_video_info_to_caps (info);

  gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:CUDAMemory", NULL));
  return caps;
}

/* Where a format has alpha, that is the fourth byte of each pixel. */
static GstBuffer *
make_frame (const GstVideoInfo *info, gboolean opaque)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstHarness *upload;
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = opaque && GST_VIDEO_INFO_HAS_ALPHA (info) && i % 4 == 3 ? 255 : g_random_int ();
  gst_buffer_unmap (frame, &map);
  if (!cuda)
    return frame;
  upload = gst_harness_new ("cudaupload");
  gst_harness_set_caps (upload, gst_video_info_to_caps (info), cuda_caps (info));
  frame = gst_harness_push_and_pull (upload, frame);
  gst_harness_teardown (upload);
  return frame;
}

static Trial
begin (const gchar *line, const gchar *format, const Case *row)
{
  Trial trial = { .harness = gst_harness_new_parse (line), .row = row, .least = G_MAXDOUBLE, .host = G_MAXDOUBLE };
  GstVideoInfo info;

  gst_video_info_set_format (&info, gst_video_format_from_string (format), WIDTH, HEIGHT);
  info.fps_n = 25;
  info.fps_d = 1;
  trial.frame = make_frame (&info, row && row->opaque);
  gst_harness_set_src_caps (trial.harness, cuda ? cuda_caps (&info) : gst_video_info_to_caps (&info));
  run (&trial, 2);
  return trial;
}

/* Waits until the device is done with the frame. */
static void
wait_for_device (Trial *trial)
{
  GstMapInfo map;

  gst_buffer_map (trial->frame, &map, GST_MAP_READ);
  gst_buffer_unmap (trial->frame, &map);
}

/* The memory of CUDA frames belongs to the element's last output, which nobody else holds. */
static void
measure (Trial *trial)
{
  guint frames = cuda ? CUDA_FRAMES : FRAMES;
  gdouble start;

  if (cuda) {
    wait_for_device (trial);
    start = get_time ();
    run (trial, QUEUED_FRAMES);
    trial->host = MIN (trial->host, (get_time () - start) / QUEUED_FRAMES);
    wait_for_device (trial);
  }
  start = get_time ();
  run (trial, frames);
  if (cuda)
    wait_for_device (trial);
  trial->least = MIN (trial->least, (get_time () - start) / frames);
}

static void
report (const gchar *format, const Case *row, gdouble time, gdouble host, FILE *csv)
{
  g_autofree gchar *part = cuda ? g_strdup_printf ("%.1f", host) : g_strdup ("");
  g_autofree gchar *what = g_strdelimit (g_strdup (row->what), "\"", '\''); /* quotes end a field of the file */

  printf ("%-5s %-28s %5u of %4ux%-4u %9.1f us %s\n", format, row->what, row->boxes, row->side, row->side, time, part);
  if (csv)
    fprintf (csv, "1080p,%s,\"%s\",%u,%u,%.1f,%s\n", format, what, row->boxes, row->side, time, part);
}

/* Measures all rows of one format, in turns. */
static void
bench_format (const gchar *format, const Case *rows, guint n, gint rounds, FILE *csv)
{
  g_autofree Trial *trials = g_new0 (Trial, n);
  Trial empty = begin ("identity", format, NULL);
  gboolean both = g_str_equal (format, "NV12") || g_str_equal (format, "RGBA");

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *boxes = rows[i].boxes ? place_boxes (&rows[i]) : g_strdup ("");
    g_autofree gchar *way = cuda ? g_strdup ("") : g_strdup_printf ("n-threads=%d kernel-variant=cpu", threads);
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s %s regions=\"%s\"", way, rows[i].properties, boxes);

    if (rows[i].format ? g_str_equal (rows[i].format, format) : both)
      trials[i] = begin (line, format, &rows[i]);
  }
  for (gint round = 0; round < rounds; round++) {
    measure (&empty);
    for (guint i = 0; i < n; i++)
      if (trials[i].harness)
        measure (&trials[i]);
  }
  for (guint i = 0; i < n; i++) {
    if (!trials[i].harness)
      continue;
    report (format, &rows[i], trials[i].least - (cuda ? 0 : empty.least), trials[i].host, csv);
    gst_buffer_unref (trials[i].frame);
    gst_harness_teardown (trials[i].harness);
  }
  gst_buffer_unref (empty.frame);
  gst_harness_teardown (empty.harness);
}

int
main (int argc, char **argv)
{
  gint rounds = 15;
  gboolean whole = FALSE;
  g_autofree gchar *file = NULL;
  const GOptionEntry options[] = { { "whole", 0, 0, G_OPTION_ARG_NONE, &whole, "whole frames", NULL },
    { "cuda", 0, 0, G_OPTION_ARG_NONE, &cuda, "frames in CUDA memory", NULL },
    { "threads", 0, 0, G_OPTION_ARG_INT, &threads, "threads on the CPU", "N" },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "rounds", "N" },
    { "csv", 0, 0, G_OPTION_ARG_FILENAME, &file, "where the figures go", "FILE" }, { 0 } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  FILE *csv;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    g_error ("bench_regions [--whole] [--cuda] [--threads N] [--rounds N] [--csv FILE]");
  gst_init (&argc, &argv);
  csv = file ? fopen (file, "w") : NULL;
  if (csv)
    fprintf (csv, "size,format,what,boxes,side,us,host_us\n");
  printf (cuda ? "1080p, CUDA memory; the least of %d rounds, microseconds from frame to frame\n"
               : "1080p; the least of %d rounds, microseconds a frame, of the processor with one thread\n",
      rounds);
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    bench_format (formats[f], whole ? whole_cases : cases, whole ? G_N_ELEMENTS (whole_cases) : G_N_ELEMENTS (cases),
        rounds, csv);
  if (csv)
    fclose (csv);
  return 0;
}
