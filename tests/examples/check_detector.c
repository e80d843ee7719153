/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector of examples/film beside programs that stand in for it, and the boxes that it puts into frames. */
#include <math.h>

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>

#include "../../examples/film/detector.h"
#include "../../examples/film/page.h"
#include "../../examples/film/preview.h"

static FilmDetector *
begin (const gchar *mode)
{
  gchar *command = g_strdup_printf ("python3 '%s' %s", g_getenv ("CUDACONVOLVE_STAND_IN"), mode);
  GError *error = NULL;
  FilmDetector *detector = film_detector_new (command, &error);

  g_assert_no_error (error);
  g_free (command);
  return detector;
}

static GstVideoInfo
info_of (GstVideoFormat format, gint width, gint height, gint par_n, gint par_d)
{
  GstVideoInfo info;

  gst_video_info_init (&info);
  g_assert_true (gst_video_info_set_format (&info, format, width, height));
  info.par_n = par_n;
  info.par_d = par_d;
  info.fps_n = 25;
  return info;
}

/* A black frame with a white rectangle. The picture is made in GRAY8 and converted. */
static GstBuffer *
make_frame (const GstVideoInfo *info, gint x, gint y, gint width, gint height)
{
  GstVideoInfo gray = info_of (GST_VIDEO_FORMAT_GRAY8, info->width, info->height, info->par_n, info->par_d);
  GstBuffer *from = gst_buffer_new_allocate (NULL, gray.size, NULL),
            *to = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoConverter *converter;
  GstVideoFrame a, b;

  gray.interlace_mode = info->interlace_mode;
  converter = gst_video_converter_new (&gray, info, NULL);
  gst_buffer_memset (from, 0, 0, gray.size);
  g_assert_true (gst_video_frame_map (&a, &gray, from, GST_MAP_READWRITE));
  for (gint row = y; row < y + height; row++)
    memset ((guint8 *) a.data[0] + row * GST_VIDEO_FRAME_PLANE_STRIDE (&a, 0) + x, 255, width);
  g_assert_true (gst_video_frame_map (&b, info, to, GST_MAP_WRITE));
  gst_video_converter_frame (converter, &a, &b);
  gst_video_frame_unmap (&a);
  gst_video_frame_unmap (&b);
  gst_video_converter_free (converter);
  gst_buffer_unref (from);
  return to;
}

static gboolean
find (FilmDetector *detector, const GstVideoInfo *info, GstBuffer *buffer, GArray *boxes, GError **error)
{
  GstVideoFrame frame;
  gboolean ok;

  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  ok = film_detector_find (detector, &frame, boxes, error);
  gst_video_frame_unmap (&frame);
  return ok;
}

static void
check_spot (FilmDetector *detector, const GstVideoInfo *info, gint x, gint y, gint width, gint height,
    const gchar *type)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (FilmBox));
  GstBuffer *buffer = make_frame (info, x, y, width, height);
  GError *error = NULL;
  FilmBox *box;

  g_assert_true (find (detector, info, buffer, boxes, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (boxes->len, ==, 1);
  box = &g_array_index (boxes, FilmBox, 0);
  g_assert_cmpstr (box->type, ==, type);
  g_assert_true (isnan (box->confidence));
  /* A pixel of the small frame is up to four of the film's. */
  g_assert_cmpfloat (fabs (box->x - x), <=, 4);
  g_assert_cmpfloat (fabs (box->y - y), <=, 4);
  g_assert_cmpfloat (fabs (box->x + box->width - x - width), <=, 4);
  g_assert_cmpfloat (fabs (box->y + box->height - y - height), <=, 4);
  gst_buffer_unref (buffer);
  g_array_unref (boxes);
}

/* The detector gets the picture in square pixels, in any format, and the boxes are those of the frame. */
GST_START_TEST (formats_and_stretch)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_BGRx,
    GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_UYVY };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    /* A size whose rows GStreamer pads, and one that is stretched. */
    FilmDetector *detector = begin (i % 2 ? "spot 121 90" : "spot 100 120");
    GstVideoInfo info = info_of (formats[i], 320, 240, 1 + i % 2, 1);
    gchar *left = g_strdup_printf ("%ux240 top left", 320 * (1 + i % 2));
    gchar *right = g_strdup_printf ("%ux240 bottom right", 320 * (1 + i % 2));

    info.interlace_mode = i == 4 ? GST_VIDEO_INTERLACE_MODE_INTERLEAVED : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
    check_spot (detector, &info, 12, 20, 60, 36, left);
    check_spot (detector, &info, 200, 150, 84, 30, right);
    film_detector_free (detector);
    g_free (left);
    g_free (right);
  }
}

GST_END_TEST;

/* Another size in mid-film begins a new detector, which knows the new size. */
GST_START_TEST (another_size)
{
  FilmDetector *detector = begin ("spot 80 60");
  const GstVideoInfo large = info_of (GST_VIDEO_FORMAT_I420, 320, 240, 1, 1);
  const GstVideoInfo small = info_of (GST_VIDEO_FORMAT_I420, 160, 120, 1, 1);

  check_spot (detector, &large, 12, 20, 60, 36, "320x240 top left");
  check_spot (detector, &small, 100, 20, 40, 36, "160x120 top right");
  check_spot (detector, &large, 212, 140, 60, 36, "320x240 bottom right");
  film_detector_free (detector);
}

GST_END_TEST;

/* What a detector answers, and what becomes of it: a part of the error, or NULL where there is none. */
static const struct
{
  const gchar *mode, *error;
} answers[] = {
  { "say '[]'", NULL },
  { "say '[{\"x\": 1, \"y\": 2, \"width\": 3, \"height\": 4}]'", NULL },
  { "loud", NULL },
  { "early", NULL },
  { "stay", NULL },
  { "say '{}'", "an answer has to be as [{" },
  { "say 'Loading the model'", "is \"Loading the model\"" },
  { "say '[1]'", "an answer has to be" },
  { "say '[{\"x\": 1, \"y\": 2, \"width\": 0, \"height\": 4}]'", "an answer has to be" },
  { "say '[{\"x\": 1, \"y\": 2, \"width\": 3, \"height\": -4}]'", "an answer has to be" },
  { "say '[{\"x\": 1e99, \"y\": 2, \"width\": 3, \"height\": 4}]'", "an answer has to be" },
  { "say '[{\"x\": 1, \"y\": 2, \"width\": 3}]'", "an answer has to be" },
  { "header hello", "the first line has to be as {\"width\": 640, \"height\": 384}, and is \"hello\"" },
  { "header '{\"width\": 0, \"height\": 100000}'", "the first line has to be" },
  { "die", "ended: the model is too old" },
  { "mute", "has not answered for" },
};

GST_START_TEST (answers_and_deaths)
{
  const GstVideoInfo info = info_of (GST_VIDEO_FORMAT_I420, 320, 240, 1, 1);
  GstBuffer *buffer = make_frame (&info, 12, 20, 60, 36);

  for (guint i = 0; i < G_N_ELEMENTS (answers); i++) {
    FilmDetector *detector = begin (answers[i].mode);
    GArray *boxes = g_array_new (FALSE, FALSE, sizeof (FilmBox));
    GError *error = NULL;
    gboolean ok = TRUE;

    for (guint k = 0; ok && k < 3; k++)
      ok = find (detector, &info, buffer, boxes, &error);
    if (!answers[i].error)
      g_assert_no_error (error);
    /* After an error a new detector begins, and does the same. */
    for (guint k = 0; k < 2 && answers[i].error; k++) {
      if (!error || !strstr (error->message, answers[i].error) || strchr (error->message, '\n'))
        g_error ("%s: the error is %s", answers[i].mode, error ? error->message : "missing");
      g_clear_error (&error);
      if (k == 0 && strcmp (answers[i].mode, "mute") != 0)
        for (ok = TRUE; ok;)
          ok = find (detector, &info, buffer, boxes, &error);
      else
        break;
    }
    g_array_unref (boxes);
    film_detector_free (detector);
  }
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* A program, or a model, that is not there is an error before a film is read. */
GST_START_TEST (missing)
{
  static const gchar *const commands[][2] = { { "no-such-detector --fast", "no-such-detector" },
    { "nowhere.onnx", "nowhere.onnx: No such file" }, { "'half a quote", "detector 'half a quote:" } };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    GError *error = NULL;

    g_assert_null (film_detector_new (commands[i][0], &error));
    /* Without the Python packages, their names come first. */
    if (!strstr (error->message, commands[i][1]) && !strstr (error->message, "pip install"))
      g_error ("%s", error->message);
    g_assert_null (strchr (error->message, '\n'));
    g_error_free (error);
  }
}

GST_END_TEST;

/* Boxes become larger by rounding, never smaller. What lies left of the frame or above it is cut. */
GST_START_TEST (boxes_in_metas)
{
  const FilmBox values[] = { { "face", 10.2, 20.8, 30.1, 40.9, 0.75 }, { "plate", -5.5, -6, 10, 10, NAN },
    { "face", -50, 10, 20, 20, 0.5 } };
  const guint expected[][4] = { { 10, 20, 31, 42 }, { 0, 0, 5, 4 } };
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (FilmBox));
  GstBuffer *frame = gst_buffer_new ();
  gpointer place = NULL;
  GstMeta *meta;
  guint n = 0;

  g_array_append_vals (boxes, values, G_N_ELEMENTS (values));
  film_boxes_attach (frame, boxes);
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &place, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    GstStructure *param = gst_video_region_of_interest_meta_get_param (region, "detection");
    gdouble confidence = 0;

    g_assert_cmpuint (n, <, G_N_ELEMENTS (expected));
    g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, values[n].type);
    g_assert_cmpuint (region->x, ==, expected[n][0]);
    g_assert_cmpuint (region->y, ==, expected[n][1]);
    g_assert_cmpuint (region->w, ==, expected[n][2]);
    g_assert_cmpuint (region->h, ==, expected[n][3]);
    g_assert_true (param ? gst_structure_get_double (param, "confidence", &confidence) : isnan (values[n].confidence));
    g_assert_true (!param || confidence == values[n].confidence);
    n++;
  }
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (expected));
  gst_buffer_unref (frame);
  g_array_unref (boxes);
}

GST_END_TEST;

/* The outline lies around the box, two pixels wide, and nothing else changes: not in the box, and not beyond. */
GST_START_TEST (preview_outlines)
{
  const GstVideoInfo info = info_of (GST_VIDEO_FORMAT_BGRx, 64, 48, 1, 1);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, info.size, NULL);
  GstVideoFrame mapped;

  gst_buffer_memset (frame, 0, 16, info.size);
  gst_buffer_add_video_region_of_interest_meta (frame, "face", 10, 8, 20, 16);
  gst_buffer_add_video_region_of_interest_meta (frame, "face", 60, 40, 400, 400);
  g_assert_true (film_preview_draw (frame, &info));
  g_assert_true (gst_video_frame_map (&mapped, &info, frame, GST_MAP_READ));
  for (gint y = 0; y < 48; y++)
    for (gint x = 0; x < 64; x++) {
      const guint8 *pixel = (guint8 *) mapped.data[0] + y * GST_VIDEO_FRAME_PLANE_STRIDE (&mapped, 0) + 4 * x;
      const gboolean first = x >= 8 && x < 32 && y >= 6 && y < 26 && !(x >= 10 && x < 30 && y >= 8 && y < 24);
      const gboolean second = x >= 58 && y >= 38 && !(x >= 60 && y >= 40);
      const gboolean drawn = pixel[0] != 16 || pixel[1] != 16 || pixel[2] != 16;

      if (drawn != (first || second))
        g_error ("the pixel %d,%d is %s", x, y, drawn ? "drawn" : "not drawn");
    }
  gst_video_frame_unmap (&mapped);
  gst_buffer_unref (frame);
}

GST_END_TEST;

/* No name of a film or a box ends the script in which the page has it, and the film is found beside the page. */
GST_START_TEST (page_escapes)
{
  gchar *folder = g_dir_make_tmp ("page-XXXXXX", NULL), *file = g_build_filename (folder, "page.html", NULL);
  gchar *film = g_build_filename (folder, "a <script> \"b\" 100%.webm", NULL), *text;
  const FilmPage page = { film, "{ \"</script>\": [ ] }", "x.json", 640, 360, 1, 1, 30000, 1001, GST_SECOND };
  gchar **parts;
  GError *error = NULL;

  film_page_write (&page, file, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "\"film\": \"a%20%3Cscript%3E%20%22b%22%20100%25.webm\""));
  g_assert_nonnull (strstr (text, "\"name\": \"a \\u003cscript> \\u0022b\\u0022 100%.webm\""));
  g_assert_nonnull (strstr (text, "{ \"\\u003c/script>\": [ ] } }"));
  g_assert_nonnull (strstr (text, "\"rate\": 29.97"));
  /* The data's and the program's own. */
  parts = g_strsplit (text, "</script>", -1);
  g_assert_cmpuint (g_strv_length (parts), ==, 3);
  g_strfreev (parts);
  g_remove (file);
  g_rmdir (folder);
  g_free (text);
  g_free (film);
  g_free (file);
  g_free (folder);
}

GST_END_TEST;

static Suite *
detector_suite (void)
{
  Suite *suite = suite_create ("detector");
  TCase *tests = tcase_create ("all");

  tcase_set_timeout (tests, 300);
  tcase_add_test (tests, formats_and_stretch);
  tcase_add_test (tests, another_size);
  tcase_add_test (tests, answers_and_deaths);
  tcase_add_test (tests, missing);
  tcase_add_test (tests, boxes_in_metas);
  tcase_add_test (tests, preview_outlines);
  tcase_add_test (tests, page_escapes);
  suite_add_tcase (suite, tests);
  return suite;
}

GST_CHECK_MAIN (detector)
