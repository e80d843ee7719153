/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every allocation of the kernel library, and of the code that reads files of weights, fails once: check_no_memory.
 *
 * A case is made and run undisturbed first. Then it is made and run again for each of its allocations. Either the
 * call says NO_MEMORY with a text, or it has done without the memory, and then its result has the bytes of the
 * undisturbed run. After that the same call works. Under AddressSanitizer, a leak on the way fails the test at its
 * end. A quick run has a third of the masks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "convolve_layer.h"
#include "convolve_pool.h"
#include "convolve_region.h"
#include "files/inflate.h"
#include "masks/mask_text.h"
#include "support/file.h"
#include "support/no_memory.h"
#include "support/numpy.h"
#include "support/random.h"
#include "support/run.h"
#include "files/weights.h"

#define WIDTH 75
#define HEIGHT 50
#define MOST_BYTES (WIDTH * HEIGHT * 8 * 4)

typedef struct
{
  char name[200];
  /* Does the work, and leaves its result in bytes. Returns the status. */
  ConvolveStatus (*work) (const void *data, uint8_t *bytes, ConvolveError *error);
  const void *data;
} Case;

static int failures, cases, runs, refused;

static void
complain (const Case *c, int n, const char *what, const ConvolveError *error)
{
  fprintf (stderr, "%s, allocation %d: %s; status %d, \"%s\"\n", c->name, n, what, error->status, error->text);
  failures++;
}

/* Whether the case works and gives the expected bytes. */
static bool
works (const Case *c, const uint8_t *expected)
{
  static uint8_t bytes[MOST_BYTES];
  ConvolveError error = { 0 };

  memset (bytes, 7, sizeof (bytes));
  return c->work (c->data, bytes, &error) == CONVOLVE_OK && memcmp (bytes, expected, sizeof (bytes)) == 0;
}

static void
run_case (const Case *c)
{
  static uint8_t expected[MOST_BYTES], bytes[MOST_BYTES];
  ConvolveError error = { 0 };
  int before = failures;
  bool came = true;

  cases++;
  memset (expected, 7, sizeof (expected));
  if (c->work (c->data, expected, &error) != CONVOLVE_OK) {
    if (error.status != CONVOLVE_UNSUPPORTED)
      complain (c, 0, "an undisturbed run failed", &error);
    return;
  }
  for (int n = 1; came && failures < before + 5; n++) {
    ConvolveStatus status;

    error = (ConvolveError){ 0 };
    memset (bytes, 7, sizeof (bytes));
    no_memory_begin (n);
    status = c->work (c->data, bytes, &error);
    no_memory_end ();
    came = no_memory_came ();
    runs += came;
    refused += status != CONVOLVE_OK;
    if (status != CONVOLVE_OK && (status != CONVOLVE_NO_MEMORY || error.status != status || !error.text[0]))
      complain (c, n, "not NO_MEMORY with a text", &error);
    else if (status == CONVOLVE_OK && memcmp (bytes, expected, sizeof (bytes)) != 0)
      complain (c, n, "OK with other bytes", &error);
    else if (came && !works (c, expected))
      complain (c, n, "the next call does not work", &error);
  }
}

/* --- masks --- */

typedef enum
{
  INTEGERS,
  BOX,
  FRACTIONS,
  PRODUCT,
  N_TAPS
} Taps;

typedef struct
{
  ConvolvePixel pixel;
  ConvolveBoundary boundary;
  ConvolveMask mask;
  const char *variant;
  int threads; /* 0: no pool */
  bool explain;
} MaskCase;

static const uint8_t *
picture (void)
{
  static uint8_t bytes[MOST_BYTES];
  static bool filled;
  CheckRandom random;

  check_random_init (&random, 1, 2);
  if (!filled)
    check_random_fill (&random, bytes, sizeof (bytes));
  filled = true;
  return bytes;
}

static ConvolvePixel
pixel_of (int depth, int samples)
{
  ConvolvePixel pixel = { .type = depth > 8 ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8,
    .depth = depth,
    .samples = samples,
    .stride = samples * (depth > 8 ? 2 : 1),
    .select = (1u << samples) - 1,
    .biased = (1u << samples) - 1 };

  return pixel;
}

static ConvolvePlane
plane_of (const ConvolvePixel *pixel, void *destination)
{
  ConvolvePlane plane = { .source = picture (),
    .destination = destination,
    .source_stride = WIDTH * pixel->stride,
    .destination_stride = WIDTH * pixel->stride,
    .width = WIDTH,
    .height = HEIGHT,
    .region = { 0, 0, WIDTH, HEIGHT } };

  return plane;
}

static ConvolveStatus
run_mask (const void *data, uint8_t *bytes, ConvolveError *error)
{
  const MaskCase *c = data;
  ConvolvePlan *plan = convolve_plan_new (&c->pixel, c->boundary, &c->mask, c->variant, NULL, error);
  ConvolvePlane plane = plane_of (&c->pixel, bytes);
  ConvolvePool *pool = NULL;
  ConvolveStatus status;
  char text[1000];

  if (!plan)
    return error->status;
  if (c->explain)
    convolve_plan_explain (plan, text, sizeof (text));
  if (c->threads > 0) {
    pool = convolve_pool_new (c->threads, error);
    if (!pool) {
      convolve_plan_unref (plan);
      return error->status;
    }
    convolve_plan_set_pool (plan, pool);
  }
  status = convolve_run (plan, &plane, error);
  convolve_plan_unref (plan);
  convolve_pool_free (pool);
  return status;
}

static void
fill_taps (ConvolveMask *mask, Taps kind)
{
  int sets = convolve_mask_sets (mask), count = mask->width * mask->height;
  CheckRandom random;
  double column[255], row[255];

  check_random_init (&random, 3, (uint64_t) kind * 1000 + (uint64_t) count);
  for (int i = 0; i < 255; i++) {
    column[i] = 1 + check_random_unit (&random);
    row[i] = 1 + check_random_unit (&random);
  }
  for (int k = 0; k < sets; k++)
    for (int i = 0; i < count; i++)
      convolve_mask_taps (mask, k)[i] = kind == INTEGERS ? check_random_range (&random, -4, 4)
          : kind == BOX                                  ? 1
          : kind == FRACTIONS                            ? check_random_unit (&random)
                                                         : column[i / mask->width] * row[i % mask->width];
  mask->divisor = kind == INTEGERS ? 16 : count;
  for (int k = 0; k + 1 < sets; k++)
    mask->more_divisors[k] = mask->divisor;
}

static void
check_masks (void)
{
  static const struct
  {
    int width, height, sets;
    ConvolveCombination combination;
  } shapes[] = { { 1, 1, 1, CONVOLVE_SUM }, { 3, 3, 1, CONVOLVE_SUM }, { 5, 7, 1, CONVOLVE_ABSOLUTE },
    { 31, 1, 1, CONVOLVE_SUM }, { 15, 15, 1, CONVOLVE_SUM }, { 63, 63, 1, CONVOLVE_SUM }, { 255, 255, 1, CONVOLVE_SUM },
    { 3, 3, 2, CONVOLVE_MAGNITUDE }, { 7, 7, 2, CONVOLVE_MAGNITUDE }, { 3, 3, 8, CONVOLVE_LARGEST },
    { 5, 5, 3, CONVOLVE_LARGEST } };
  static const char *const variants[] = { "auto", "cpu", "cpu-reference" };
  static const int depths[] = { 8, 10, 16 };

  for (size_t s = 0; s < sizeof (shapes) / sizeof (shapes[0]); s++)
    for (Taps kind = 0; kind < N_TAPS; kind++) {
      MaskCase c;

      convolve_mask_init_sets (&c.mask, shapes[s].width, shapes[s].height, shapes[s].sets, shapes[s].combination);
      fill_taps (&c.mask, kind);
      for (int turn = 0; turn < 9; turn++) {
        Case run = { .work = run_mask, .data = &c };

        c.variant = variants[turn % 3];
        if (c.mask.width > 100 && turn % 3 == 2)
          continue; /* cpu-reference takes seconds */
        if ((turn + (int) s + (int) kind) % 3 != 0 && !getenv ("CUDACONVOLVE_ALL_CASES"))
          continue;
        c.pixel = pixel_of (depths[turn / 3], (turn + (int) s + (int) kind) % 4 + 1);
        c.boundary = (ConvolveBoundary) ((turn + (int) s) % CONVOLVE_N_BOUNDARIES);
        c.threads = turn % 2 ? 3 : 0;
        c.explain = turn % 3 == 0;
        snprintf (run.name, sizeof (run.name), "%s, %dx%d taps of kind %d, %d sets, %d bits, %d samples", c.variant,
            c.mask.width, c.mask.height, (int) kind, shapes[s].sets, c.pixel.depth, c.pixel.samples);
        run_case (&run);
      }
      convolve_mask_clear (&c.mask);
    }
}

/* --- layers --- */

typedef struct
{
  const char *variant;
  ConvolveLayer layer;
  int threads;
} LayerCase;

static ConvolveStatus
run_layer (const void *data, uint8_t *bytes, ConvolveError *error)
{
  const LayerCase *c = data;
  ConvolveLayerPlan *plan = convolve_layer_plan_new (&c->layer, c->variant, NULL, error);
  ConvolveLayerTask task = { .batch = 1, .height = HEIGHT, .width = WIDTH, .filled = 1 };
  ConvolvePool *pool = c->threads > 0 ? convolve_pool_new (c->threads, NULL) : NULL;
  ConvolveStatus status = error->status;
  int height, width;

  if (plan && convolve_layer_output_size (&c->layer, HEIGHT, WIDTH, &height, &width, error) == CONVOLVE_OK) {
    task.source =
        convolve_layer_nchw (CONVOLVE_LAYER_U8, (void *) (uintptr_t) picture (), c->layer.channels, HEIGHT, WIDTH);
    task.destination = convolve_layer_nchw (CONVOLVE_LAYER_U8, bytes, c->layer.filters + 1, height, width);
    convolve_layer_plan_set_pool (plan, pool);
    status = convolve_layer_run (plan, &task, error);
  }
  convolve_layer_plan_unref (plan);
  convolve_pool_free (pool);
  return status;
}

static void
check_layers (void)
{
  static const char *const variants[] = { "auto", "cpu", "cpu-reference" };
  static float weights[6 * 3 * 5 * 5], bias[6];
  CheckRandom random;

  check_random_init (&random, 4, 5);
  for (size_t i = 0; i < sizeof (weights) / sizeof (weights[0]); i++)
    weights[i] = (float) (check_random_unit (&random) - 0.5) / 10;
  for (int i = 0; i < 6; i++)
    bias[i] = (float) i / 20;
  for (int turn = 0; turn < 18; turn++) {
    LayerCase c = { .variant = variants[turn % 3], .threads = turn % 2 ? 3 : 0 };
    Case run = { .work = run_layer, .data = &c };

    convolve_layer_init (&c.layer, 1 + turn / 3, turn % 2 ? 3 : 1, 1 + turn % 5, 1 + turn % 4, weights);
    c.layer.type = CONVOLVE_LAYER_U8;
    c.layer.bias = turn % 4 ? bias : NULL;
    c.layer.stride_x = c.layer.stride_y = 1 + turn % 2;
    c.layer.pool_height = c.layer.pool_width = 1 + turn % 3;
    snprintf (run.name, sizeof (run.name), "layer, %s, number %d", c.variant, turn);
    run_case (&run);
  }
}

/* --- parts of frames --- */

static ConvolveStatus
run_batch (const void *data, uint8_t *bytes, ConvolveError *error)
{
  const MaskCase *c = data;
  ConvolvePlan *plan = convolve_plan_new (&c->pixel, c->boundary, &c->mask, c->variant, NULL, error);
  ConvolveBatch *batch = plan ? convolve_batch_new (NULL, error) : NULL;
  ConvolveStatus status = error->status;
  ConvolvePlane plane = plane_of (&c->pixel, bytes);
  ConvolveBlur blur;
  void *memory;

  if (batch)
    status = convolve_blur_init (&blur, &c->mask, 4, error);
  for (int round = 1; round <= 2 && batch && status == CONVOLVE_OK; round++) {
    size_t side = (size_t) WIDTH * HEIGHT * c->pixel.stride;
    int values[CONVOLVE_MAX_SAMPLES] = { 1, 2, 3, 4 };

    status = convolve_batch_begin (batch, 4 * side * round, &memory, error);
    for (int i = 0; i < 12 * round && status == CONVOLVE_OK; i++) {
      ConvolveBlocks blocks = { .size = 5, .x_step = 1, .y_step = 1 };

      plane.region = (ConvolveRect){ i, i, 20, 10 };
      plane.destination = (uint8_t *) memory + (i % 4) * side;
      status = i % 4 == 0 ? convolve_batch_convolve (batch, plan, &plane, error)
          : i % 4 == 1    ? convolve_batch_blur (batch, &c->pixel, c->boundary, &blur, &plane, error)
          : i % 4 == 2    ? convolve_batch_pixelate (batch, &c->pixel, &blocks, &plane, error)
                          : convolve_batch_fill (batch, &c->pixel, values, &plane, error);
    }
    if (status == CONVOLVE_OK)
      status = convolve_batch_copy (batch, picture (), plane.source_stride, bytes, plane.source_stride,
          (size_t) plane.source_stride, HEIGHT, error);
    for (int i = 0; i < 12 * round && status == CONVOLVE_OK; i++) {
      ConvolveRect box = { i, i, 20, 10 };
      ConvolvePoint corners[] = { { 16 * i, 16 * i }, { 16 * i + 320, 16 * i + 5 }, { 16 * i + 7, 16 * i + 160 } };
      ConvolveOutline outline = { 0, 3, 0 };
      ConvolveExtras extras = { .outlines = &outline, .corners = corners, .n_corners = 3 };
      ConvolveArea area = { .boxes = &box, .count = 1, .feather = 2, .x_step = 1, .y_step = 1 };

      if (i % 3 == 0)
        area.extras = &extras;
      plane.region = box;
      plane.source = (uint8_t *) memory + (i % 4) * side;
      plane.destination = bytes;
      status = convolve_batch_blend (batch, &c->pixel, &area, &plane, error);
    }
    plane.source = picture ();
    if (status == CONVOLVE_OK)
      status = convolve_batch_run (batch, error);
  }
  convolve_batch_free (batch);
  convolve_plan_unref (plan);
  return status;
}

static ConvolveStatus
run_blend (const void *data, uint8_t *bytes, ConvolveError *error)
{
  const MaskCase *c = data;
  ConvolveRect boxes[] = { { 3, 4, 30, 20 }, { 20, 10, 10, 30 } };
  ConvolveArea area = { .boxes = boxes,
    .count = 2,
    .shape = CONVOLVE_SHAPE_ELLIPSE,
    .feather = 9,
    .x_step = 1,
    .y_step = 1 };
  ConvolveBlocks blocks = { .size = 7, .x_step = 1, .y_step = 1 };
  ConvolvePlane plane = plane_of (&c->pixel, bytes);
  ConvolveStatus status = convolve_blend (&c->pixel, &area, &plane, error);

  plane.region = (ConvolveRect){ 40, 20, 30, 20 };
  return status == CONVOLVE_OK ? convolve_pixelate (&c->pixel, &blocks, &plane, error) : status;
}

static void
check_parts (void)
{
  for (int turn = 0; turn < 6; turn++) {
    MaskCase c = { .variant = "cpu", .pixel = pixel_of (turn % 2 ? 8 : 12, turn % 4 + 1) };
    Case run = { .work = run_batch, .data = &c };

    c.boundary = (ConvolveBoundary) (turn % CONVOLVE_N_BOUNDARIES);
    convolve_mask_init (&c.mask, 7, 5);
    fill_taps (&c.mask, PRODUCT);
    snprintf (run.name, sizeof (run.name), "batch %d", turn);
    run_case (&run);
    run.work = run_blend;
    snprintf (run.name, sizeof (run.name), "blend %d", turn);
    run_case (&run);
    convolve_mask_clear (&c.mask);
  }
}

/* --- files --- */

/* Copies what was read into bytes. An error of the file's reader without memory has words, and no code of its own. */
static ConvolveStatus
report (GError *bad, ConvolveError *error)
{
  error->status = strstr (bad->message, "memory") ? CONVOLVE_NO_MEMORY : CONVOLVE_INVALID;
  g_strlcpy (error->text, bad->message, sizeof (error->text));
  g_error_free (bad);
  return error->status;
}

static ConvolveStatus
run_weights (const void *data, uint8_t *bytes, ConvolveError *error)
{
  ConvolveWeights weights;
  GError *bad = NULL;

  if (!convolve_weights_load (data, &weights, &bad))
    return report (bad, error);
  memcpy (bytes, weights.weights, sizeof (float) * weights.filters * weights.channels * weights.height * weights.width);
  if (weights.bias)
    memcpy (bytes + 1000, weights.bias, sizeof (float) * weights.filters);
  convolve_weights_clear (&weights);
  return CONVOLVE_OK;
}

static ConvolveStatus
run_settings (const void *data, uint8_t *bytes, ConvolveError *error)
{
  ConvolveSettings settings;
  ConvolveMask mask;
  GError *bad = NULL;

  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strdup (data);
  if (convolve_settings_make_mask (&settings, 1, 1, &mask, &bad)) {
    memcpy (bytes, mask.taps, sizeof (double) * mask.width * mask.height * convolve_mask_sets (&mask));
    convolve_mask_clear (&mask);
  }
  convolve_settings_clear (&settings);
  return bad ? report (bad, error) : CONVOLVE_OK;
}

static void
check_files (void)
{
  static const char *const texts[] = { "gaussian", "unsharp:2", "sobel", "kirsch", "motion:30", "disk",
    "1 2 3; 4 5 6; 7 8 9", "2x2: 1 2 3 4" };
  static const float values[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  gchar *folder = check_folder ();

  for (int kind = 0; kind < (convolve_inflate_possible () ? 3 : 2); kind++) {
    g_autofree gchar *name = g_build_filename (folder, kind ? "layer.npz" : "layer.npy", NULL);
    GByteArray *bytes = numpy_floats (NUMPY_HEADER ("<f4", "False", "(2, 3, 1, 2)"), values, 12);
    Case run = { .work = run_weights, .data = name };

    if (kind) {
      NumpyMember members[] = { { NUMPY_MEMBER ("weight.npy", bytes), .deflate = kind == 2,
                                    .method = kind == 2 ? 8 : 0 },
        { NUMPY_MEMBER ("bias.npy", numpy_floats (NUMPY_HEADER ("<f4", "False", "(2,)"), values, 2)) } };

      bytes = numpy_archive (members, 2, "");
    }
    if (!check_write_file (name, bytes))
      failures++;
    snprintf (run.name, sizeof (run.name), "file %d", kind);
    run_case (&run);
    g_byte_array_unref (bytes);
    g_unlink (name);
  }
  check_remove_folder (folder);
  for (size_t i = 0; i < sizeof (texts) / sizeof (texts[0]); i++) {
    Case run = { .work = run_settings, .data = texts[i] };

    snprintf (run.name, sizeof (run.name), "mask %s", texts[i]);
    run_case (&run);
  }
}

int
main (void)
{
  check_masks ();
  check_layers ();
  check_parts ();
  check_files ();
  printf ("%d cases, %d allocations failed, %d times NO_MEMORY, %d failures\n", cases, runs, refused, failures);
  return failures > 0 || runs == 0;
}
