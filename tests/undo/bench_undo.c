/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much of a covered face comes back: every effect and several strengths on the face of the shipped clip, attacked by
 * somebody who knows the effect exactly (attack.h), and judged by three measures (judge.h).
 *
 *   bench_undo [--csv FILE] [--picture FILE.jpg] CLIP
 *
 * The CSV has a line for each attack, and takes some 20 minutes. The picture shows the face, and below each covered face
 * what the best attack by PSNR makes of the covered face. The element is found as any other is, by GST_PLUGIN_PATH.
 */
#include <gst/video/video.h>
#include <math.h>
#include <stdio.h>

#include "support/random.h"
#include "undo/faces.h"

#define RICHARDSON_LUCY 300 /* iterations */
#define WOBBLE 3            /* pixels */
#define SEED 16

/* How the box moves in a film of FACES_COUNT frames. */
typedef enum
{
  MOTION_NONE,    /* a single frame */
  MOTION_FOLLOWS, /* with the face, in whole pixels */
  MOTION_STILL,   /* not at all, and large enough for all frames */
  MOTION_WOBBLES, /* with the face, and at random by up to WOBBLE pixels each way, as the boxes of a detector do */
  N_MOTIONS
} Motion;

typedef struct
{
  const FaceSize *size;
  Setting setting;
  gint bits;      /* of samples; a film has 8 */
  gboolean noise; /* the box was filled with noise before the element had the frame */
  Motion motion;
} Case;

static const gchar *const effects[] = { "gaussian", "box", "pixelate", "fill" };
static const gchar *const motions[] = { "one frame", "follows", "stands still", "wobbles" };

static FILE *csv; /* NULL while a picture is made */

/* --- what is attacked --- */

static const Matrix *
read_frames (const FaceSize *size, const gchar *clip)
{
  static Matrix frames[3][FACES_COUNT];
  Matrix *wanted = frames[size == &faces_far ? 0 : size == &faces_near ? 2 : 1];

  if (!wanted[0].at && !faces_read (clip, size, FACES_FIRST, FACES_COUNT, wanted))
    exit (1);
  return wanted;
}

static Target
target_of_frame (const Case *which, const Matrix *frame)
{
  ConvolveRect box = which->size->face;
  Matrix copy = matrix_copy (frame);
  CheckRandom random;
  Target target;

  check_random_init (&random, SEED, 0);
  if (which->noise)
    for (gint y = box.y; y < box.y + box.height; y++)
      for (gint x = box.x; x < box.x + box.width; x++)
        copy.at[y * copy.columns + x] = check_random_range (&random, 16, 235);
  target = faces_target (&copy, &which->setting, box, which->bits);
  matrix_clear (&copy);
  return target;
}

/* The frame that is attacked comes first: the picture has moved least from it. */
static Target
target_of_film (const Case *which, const Matrix *frames)
{
  Matrix film[FACES_COUNT];
  ConvolveRect boxes[FACES_COUNT];
  gdouble moves[FACES_COUNT];
  gint most = ceil ((FACES_COUNT - 1) * FACES_STEP);
  CheckRandom random;

  check_random_init (&random, SEED, 1);
  for (gint i = 0; i < FACES_COUNT; i++) {
    gint number = (FACES_MIDDLE - FACES_FIRST + i) % FACES_COUNT;
    ConvolveRect *box = &boxes[i];

    film[i] = frames[number];
    moves[i] = (FACES_MIDDLE - FACES_FIRST - number) * FACES_STEP;
    *box = which->size->face;
    if (which->motion == MOTION_STILL) {
      box->y -= most / 2 + 1;
      box->height += most + 2;
      continue;
    }
    box->y += lrint (moves[i]);
    if (which->motion == MOTION_WOBBLES && i > 0) {
      box->x += check_random_range (&random, -WOBBLE, WOBBLE);
      box->y += check_random_range (&random, -WOBBLE, WOBBLE);
    }
  }
  return faces_target_of_frames (film, &which->setting, boxes, moves, FACES_COUNT);
}

/* --- attacks --- */

static void
report (const Case *which, const gchar *attack, Judge *judge)
{
  gchar amount[G_ASCII_DTOSTR_BUF_SIZE] = "";

  if (!csv)
    return;
  if (which->setting.effect != EFFECT_FILL)
    g_ascii_formatd (amount, sizeof amount, "%g", which->setting.amount);
  fprintf (csv, "%s,%d,%d,%s,%s,%s,%.1f,%s,%s,%.2f,%.3f,%d\n", which->size->name, which->size->face.width, which->bits,
      which->noise ? "noise" : "face", effects[which->setting.effect], amount,
      cover_size (&which->setting, which->size->face), motions[which->motion], attack, judge->best.psnr,
      judge->best.correlation, judge->best.cycles);
  fflush (csv);
}

/* Reports an attack, and keeps the better picture of both. */
static void
finish (const Case *which, const gchar *attack, Judge *judge, Judge *best)
{
  Matrix whole = matrix_new (judge->face.y + judge->face.height, judge->face.x + judge->face.width);

  report (which, attack, judge);
  matrix_paste (&whole, &judge->picture, judge->face.x, judge->face.y);
  judge_try (best, &whole);
  matrix_clear (&whole);
  judge_restart (judge);
}

/* Runs all attacks that a case allows. The covered face, and the best that came back, go to pictures unless it is NULL. */
static void
run_case (const Case *which, const gchar *clip, Matrix pictures[2])
{
  const Matrix *frames = read_frames (which->size, clip), *frame = &frames[FACES_MIDDLE - FACES_FIRST];
  Target target = which->motion == MOTION_NONE ? target_of_frame (which, frame) : target_of_film (which, frames);
  Matrix original = matrix_part (frame, which->size->face);
  ConvolveRect face = which->size->face;

  face.x -= target.box.x;
  face.y -= target.box.y;
  Judge judge = judge_new (&original, face), best = judge_new (&original, face);
  judge_try (&judge, &target.views[0].seen);
  if (pictures)
    pictures[0] = matrix_copy (&judge.picture);
  report (which, "none", &judge);
  judge_restart (&judge);
  if (which->setting.effect == EFFECT_FILL) {
    attack_by_surroundings (&target, &judge);
    finish (which, "surroundings", &judge, &best);
  } else {
    attack_by_least_squares (&target, &judge);
    finish (which, "least squares", &judge, &best);
  }
  if (which->motion == MOTION_NONE && which->setting.effect <= EFFECT_BOX) {
    attack_by_wiener (&target, &judge);
    finish (which, "wiener", &judge, &best);
    attack_by_richardson_lucy (&target, RICHARDSON_LUCY, &judge);
    finish (which, "richardson-lucy", &judge, &best);
  }
  if (which->motion == MOTION_NONE && which->setting.effect == EFFECT_PIXELATE) {
    attack_by_interpolation (&target, cover_size (&which->setting, target.box), &judge);
    finish (which, "interpolation", &judge, &best);
  }
  if (pictures)
    pictures[1] = matrix_copy (&best.picture);
  judge_clear (&judge);
  judge_clear (&best);
  matrix_clear (&original);
  target_clear (&target);
}

/* --- the picture --- */

/* Writes a picture as JPEG, at twice its size. */
static gboolean
write_jpeg (const gchar *location, const Matrix *picture)
{
  g_autoptr (GstCaps) jpeg = gst_caps_new_simple ("image/jpeg", "width", G_TYPE_INT, 2 * picture->columns, "height",
      G_TYPE_INT, 2 * picture->rows, NULL);
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GstSample) sample = NULL, packed = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) caps = NULL;
  GstVideoInfo info;
  GstMapInfo map;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, picture->columns, picture->rows);
  caps = gst_video_info_to_caps (&info);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gint y = 0; y < picture->rows; y++)
    for (gint x = 0; x < picture->columns; x++)
      map.data[y * GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) + x] =
          CLAMP (lrint ((picture->at[y * picture->columns + x] - 16) * 255 / 219), 0, 255);
  gst_buffer_unmap (buffer, &map);
  sample = gst_sample_new (buffer, caps, NULL, NULL);
  packed = gst_video_convert_sample (sample, jpeg, 10 * GST_SECOND, &error);
  if (packed) {
    gst_buffer_map (gst_sample_get_buffer (packed), &map, GST_MAP_READ);
    g_file_set_contents (location, (const gchar *) map.data, map.size, &error);
    gst_buffer_unmap (gst_sample_get_buffer (packed), &map);
  }
  if (error)
    g_printerr ("%s: %s\n", location, error->message);
  return error == NULL;
}

#define N_COLUMNS 6
#define GAP 4

/* The first column is the face itself; white is between the pictures. */
static gboolean
write_sheet (const gchar *location, const Matrix *frame, Matrix pictures[N_COLUMNS][2])
{
  ConvolveRect face = faces_normal.face;
  Matrix sheet = matrix_new (2 * face.height + GAP, (N_COLUMNS + 1) * (face.width + GAP) - GAP);
  Matrix original = matrix_part (frame, face);
  gboolean done;

  for (gint i = 0; i < sheet.rows * sheet.columns; i++)
    sheet.at[i] = 235;
  matrix_paste (&sheet, &original, 0, 0);
  for (gint i = 0; i < N_COLUMNS; i++)
    for (gint row = 0; row < 2; row++) {
      matrix_paste (&sheet, &pictures[i][row], (i + 1) * (face.width + GAP), row * (face.height + GAP));
      matrix_clear (&pictures[i][row]);
    }
  done = write_jpeg (location, &sheet);
  matrix_clear (&sheet);
  matrix_clear (&original);
  return done;
}

/* --- all cases --- */

static const Setting settings[] = { { EFFECT_GAUSSIAN, 0.02 }, { EFFECT_GAUSSIAN, 0.05 }, { EFFECT_GAUSSIAN, 0.1 },
  { EFFECT_GAUSSIAN, 0.2 }, { EFFECT_GAUSSIAN, 0.3 }, { EFFECT_BOX, 0.02 }, { EFFECT_BOX, 0.05 }, { EFFECT_BOX, 0.1 },
  { EFFECT_BOX, 0.2 }, { EFFECT_BOX, 0.3 }, { EFFECT_PIXELATE, 24 }, { EFFECT_PIXELATE, 12 }, { EFFECT_PIXELATE, 6 },
  { EFFECT_PIXELATE, 4 }, { EFFECT_PIXELATE, 3 }, { EFFECT_FILL, 0 } };

/* Settings that are attacked in films and in the close-up, too. */
static const Setting in_depth[] = { { EFFECT_GAUSSIAN, 0.05 }, { EFFECT_GAUSSIAN, 0.1 }, { EFFECT_GAUSSIAN, 0.2 },
  { EFFECT_GAUSSIAN, 0.3 }, { EFFECT_BOX, 0.2 }, { EFFECT_PIXELATE, 12 }, { EFFECT_PIXELATE, 6 },
  { EFFECT_PIXELATE, 4 }, { EFFECT_PIXELATE, 3 } };

static const Setting of_noise[] = { { EFFECT_GAUSSIAN, 0.1 }, { EFFECT_GAUSSIAN, 0.2 }, { EFFECT_PIXELATE, 6 } };

/* The columns of the picture. */
static const struct
{
  Setting setting;
  Motion motion;
} shown[N_COLUMNS] = {
  { { EFFECT_GAUSSIAN, 0.05 }, MOTION_NONE },
  { { EFFECT_GAUSSIAN, 0.1 }, MOTION_NONE },
  { { EFFECT_GAUSSIAN, 0.2 }, MOTION_NONE },
  { { EFFECT_BOX, 0.2 }, MOTION_NONE },
  { { EFFECT_PIXELATE, 6 }, MOTION_NONE },
  { { EFFECT_PIXELATE, 6 }, MOTION_WOBBLES },
};

static gboolean
is_in (const Setting *setting, const Setting *list, guint count)
{
  for (guint i = 0; i < count; i++)
    if (list[i].effect == setting->effect && list[i].amount == setting->amount)
      return TRUE;
  return FALSE;
}

static void
run_all (const gchar *clip)
{
  static const gint bits[] = { 8, 10, 16 };

  fprintf (csv, "size,width,bits,picture,effect,amount,pixels,film,attack,psnr_db,correlation,cycles\n");
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    for (guint k = 0; k < G_N_ELEMENTS (bits); k++)
      run_case (&(Case){ &faces_normal, settings[i], bits[k], FALSE, MOTION_NONE }, clip, NULL);
    run_case (&(Case){ &faces_far, settings[i], 8, FALSE, MOTION_NONE }, clip, NULL);
    if (!is_in (&settings[i], in_depth, G_N_ELEMENTS (in_depth)))
      continue;
    for (Motion motion = MOTION_FOLLOWS; motion < N_MOTIONS; motion++)
      run_case (&(Case){ &faces_normal, settings[i], 8, FALSE, motion }, clip, NULL);
    run_case (&(Case){ &faces_near, settings[i], 8, FALSE, MOTION_NONE }, clip, NULL);
  }
  for (guint i = 0; i < G_N_ELEMENTS (of_noise); i++)
    run_case (&(Case){ &faces_normal, of_noise[i], 8, TRUE, MOTION_NONE }, clip, NULL);
}

static gboolean
make_picture (const gchar *clip, const gchar *location)
{
  Matrix pictures[N_COLUMNS][2];

  for (guint i = 0; i < N_COLUMNS; i++)
    run_case (&(Case){ &faces_normal, shown[i].setting, 8, FALSE, shown[i].motion }, clip, pictures[i]);
  return write_sheet (location, read_frames (&faces_normal, clip) + FACES_MIDDLE - FACES_FIRST, pictures);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *csv_name = NULL, *picture_name = NULL;
  const GOptionEntry entries[] = {
    { "csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_name, "Where the figures go", "FILE" },
    { "picture", 0, 0, G_OPTION_ARG_FILENAME, &picture_name, "Where the picture goes", "FILE.jpg" },
    { 0 },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("CLIP");
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc != 2 || !(csv_name || picture_name)) {
    g_printerr ("%s\n", error ? error->message : "usage: bench_undo [--csv FILE] [--picture FILE.jpg] CLIP");
    return 1;
  }
  if (picture_name && !make_picture (argv[1], picture_name))
    return 1;
  if (!csv_name)
    return 0;
  csv = fopen (csv_name, "w");
  if (!csv) {
    g_printerr ("%s cannot be written\n", csv_name);
    return 1;
  }
  run_all (argv[1]);
  return fclose (csv) == 0 ? 0 : 1;
}
