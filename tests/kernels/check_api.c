/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_fixed.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static int
check (bool good, const char *what, FILE *file)
{
  if (!good)
    fprintf (file, "FAILED api: %s\n", what);
  return !good;
}

/* The status and the text of an error are right, and callers may pass NULL for the error. */
static int
check_error (ConvolveStatus got, ConvolveStatus expected, const ConvolveError *error, const char *what, FILE *file)
{
  if (got == expected && error->status == expected && error->text[0] != '\0'
      && memchr (error->text, '\0', sizeof error->text))
    return 0;
  fprintf (file, "FAILED api: %s: status %d and error %d '%.80s', expected %d and a text\n", what, got, error->status,
      error->text, expected);
  return 1;
}

/* --- convolve_plan_new() --- */

typedef struct
{
  ConvolvePixel pixel;
  ConvolveMask mask; /* the taps stand in taps below */
  ConvolveBoundary boundary;
  const char *variant;
} Arguments;

static double taps[(CONVOLVE_MAX_SIDE + 2) * (CONVOLVE_MAX_SIDE + 2)];

static int
refuse (const Arguments *arguments, ConvolveStatus expected, const char *what, FILE *file)
{
  ConvolveError error = { 0 };
  const Arguments *a = arguments;
  ConvolvePlan *plan = convolve_plan_new (&a->pixel, a->boundary, &a->mask, a->variant, NULL, &error);
  int failures = plan ? check (false, what, file) : check_error (error.status, expected, &error, what, file);

  convolve_plan_unref (plan);
  plan = convolve_plan_new (&a->pixel, a->boundary, &a->mask, a->variant, NULL, NULL);
  convolve_plan_unref (plan);
  return failures;
}

static Arguments
good_arguments (void)
{
  return (Arguments){
    .pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 3, .stride = 3, .select = 7 },
    .mask = { .width = 3, .height = 3, .divisor = 1, .taps = taps },
    .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .variant = "cpu",
  };
}

static Arguments
good_deep_arguments (void)
{
  Arguments a = good_arguments ();

  a.pixel =
      (ConvolvePixel){ .type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 2, .stride = 4, .select = 3 };
  return a;
}

static Arguments
good_magnitude (void)
{
  Arguments a = good_arguments ();

  a.mask.combination = CONVOLVE_MAGNITUDE;
  a.mask.sets = 2;
  a.mask.more_divisors[0] = 1;
  return a;
}

static Arguments
good_absolute (void)
{
  Arguments a = good_arguments ();

  a.mask.combination = CONVOLVE_ABSOLUTE;
  return a;
}

#define REFUSE(make, field, value) \
  do { \
    Arguments a = make (); \
    a.field = value; \
    failures += refuse (&a, CONVOLVE_INVALID, #make " with " #field " = " #value, file); \
  } while (0)

/* An error in one of several sets says in which. */
static int
check_set_named (FILE *file)
{
  Arguments a = good_magnitude ();
  ConvolveError error = { 0 };
  ConvolvePlan *plan;

  taps[9 + 5] = NAN;
  plan = convolve_plan_new (&a.pixel, a.boundary, &a.mask, a.variant, NULL, &error);
  taps[9 + 5] = 0;
  convolve_plan_unref (plan);
  return check (!plan && strcmp (error.text, "set 2: tap 3 of row 2 is not finite") == 0, error.text, file);
}

static int
check_plan_arguments (FILE *file)
{
  int failures = 0;
  Arguments good = good_arguments (), deep = good_deep_arguments ();
  ConvolvePlan *plan;

  for (size_t k = 0; k < sizeof taps / sizeof *taps; k++)
    taps[k] = 1;

  plan = convolve_plan_new (&good.pixel, good.boundary, &good.mask, good.variant, NULL, NULL);
  failures += check (plan != NULL, "a plan of good arguments", file);
  convolve_plan_unref (plan);
  plan = convolve_plan_new (&deep.pixel, deep.boundary, &deep.mask, deep.variant, NULL, NULL);
  failures += check (plan != NULL, "a plan of good arguments for 10 bits", file);
  convolve_plan_unref (plan);
  convolve_plan_unref (NULL);

  REFUSE (good_arguments, mask.width, 2);
  REFUSE (good_arguments, mask.height, 4);
  REFUSE (good_arguments, mask.width, 0);
  REFUSE (good_arguments, mask.height, 0);
  REFUSE (good_arguments, mask.width, -3);
  REFUSE (good_arguments, mask.width, CONVOLVE_MAX_SIDE + 2);
  REFUSE (good_arguments, mask.height, CONVOLVE_MAX_SIDE + 2);
  REFUSE (good_arguments, mask.divisor, 0);
  REFUSE (good_arguments, mask.divisor, (double) NAN);
  REFUSE (good_arguments, mask.divisor, (double) INFINITY);
  REFUSE (good_arguments, mask.divisor, 9 / 1048577.0); /* a gain above 2^20 */
  REFUSE (good_arguments, mask.offset, 1.5);
  REFUSE (good_arguments, mask.offset, (double) NAN);

  REFUSE (good_arguments, mask.sets, 2);
  REFUSE (good_arguments, mask.sets, -1);
  REFUSE (good_arguments, mask.combination, CONVOLVE_N_COMBINATIONS);
  REFUSE (good_arguments, mask.combination, CONVOLVE_LARGEST);
  REFUSE (good_absolute, mask.sets, 2);
  REFUSE (good_magnitude, mask.sets, 0);
  REFUSE (good_magnitude, mask.sets, 1);
  REFUSE (good_magnitude, mask.sets, CONVOLVE_MAX_SETS + 1);
  REFUSE (good_magnitude, mask.more_divisors[0], 0);
  REFUSE (good_magnitude, mask.more_divisors[0], (double) NAN);
  failures += check_set_named (file);

  REFUSE (good_arguments, boundary, CONVOLVE_N_BOUNDARIES);
  REFUSE (good_arguments, variant, "no such variant");
  REFUSE (good_arguments, variant, "");

  REFUSE (good_arguments, pixel.type, CONVOLVE_N_SAMPLE_TYPES);
  REFUSE (good_arguments, pixel.depth, 7);
  REFUSE (good_arguments, pixel.depth, 9);
  REFUSE (good_arguments, pixel.shift, 1);
  REFUSE (good_arguments, pixel.samples, 0);
  REFUSE (good_arguments, pixel.samples, CONVOLVE_MAX_SAMPLES + 1);
  REFUSE (good_arguments, pixel.stride, 2);
  REFUSE (good_arguments, pixel.zero[1], -1);
  REFUSE (good_arguments, pixel.zero[1], 256);
  REFUSE (good_arguments, pixel.range[1], -1);
  REFUSE (good_arguments, pixel.range[1], 256);
  REFUSE (good_deep_arguments, pixel.depth, 8);
  REFUSE (good_deep_arguments, pixel.depth, 17);
  REFUSE (good_deep_arguments, pixel.shift, 7);
  REFUSE (good_deep_arguments, pixel.shift, -1);
  REFUSE (good_deep_arguments, pixel.stride, 3);
  REFUSE (good_deep_arguments, pixel.stride, 5);
  REFUSE (good_deep_arguments, pixel.zero[0], 1024);
  REFUSE (good_deep_arguments, pixel.range[0], 1024);
  REFUSE (good_arguments, mask.taps, NULL);
  REFUSE (good_arguments, variant, NULL);

  taps[4] = NAN;
  failures += refuse (&good, CONVOLVE_INVALID, "a tap that is no number", file);
  taps[4] = -INFINITY;
  failures += refuse (&good, CONVOLVE_INVALID, "an infinite tap", file);
  taps[4] = 1;

  for (int i = 0; i < convolve_variant_count (); i++) {
    good.variant = convolve_variant_name (i);
    if (convolve_variant_on_device (i))
      failures += refuse (&good, CONVOLVE_NO_DEVICE, "a device variant without a device", file);
  }
  return failures;
}

/* --- convolve_run() --- */

static int
refuse_run (const ConvolvePlan *plan, const ConvolvePlane *plane, const char *what, FILE *file)
{
  ConvolveError error = { 0 };

  convolve_run (plan, plane, NULL);
  return check_error (convolve_run (plan, plane, &error), CONVOLVE_INVALID, &error, what, file);
}

#define REFUSE_RUN(field, value) \
  do { \
    ConvolvePlane p = good; \
    p.field = value; \
    failures += refuse_run (plan, &p, "a run with " #field " = " #value, file); \
  } while (0)

static int
check_run_arguments (FILE *file)
{
  static unsigned char source[40 * 60], destination[40 * 60];
  Arguments a = good_arguments ();
  ConvolvePlane good = { source, destination, 60, 60, 20, 40, { 2, 3, 4, 5 } };
  ConvolvePlan *plan = convolve_plan_new (&a.pixel, a.boundary, &a.mask, a.variant, NULL, NULL);
  ConvolveError error = { 0 };
  int failures = 0;

  if (!plan)
    return check (false, "a plan of good arguments", file);
  failures += check (convolve_run (plan, &good, NULL) == CONVOLVE_OK, "a good run", file);
  REFUSE_RUN (width, 0);
  REFUSE_RUN (height, 0);
  REFUSE_RUN (width, -20);
  REFUSE_RUN (region.x, -1);
  REFUSE_RUN (region.y, -1);
  REFUSE_RUN (region.x, 17);
  REFUSE_RUN (region.y, 36);
  REFUSE_RUN (region.width, 19);
  REFUSE_RUN (region.height, -1);
  REFUSE_RUN (region.x, INT_MAX); /* x + width overflows */
  REFUSE_RUN (region.width, INT_MAX);
  REFUSE_RUN (source_stride, 59);
  REFUSE_RUN (source_stride, PTRDIFF_MIN);
  REFUSE_RUN (source_stride, PTRDIFF_MAX / 39 + 1); /* the rows span more than PTRDIFF_MAX bytes */
  REFUSE_RUN (destination_stride, PTRDIFF_MIN);
  REFUSE_RUN (destination_stride, -(PTRDIFF_MAX / 7) - 1);

  {
    char text[400], cut[8];

    convolve_plan_explain (plan, text, sizeof (text));
    convolve_plan_explain (plan, cut, sizeof (cut));
    failures += check (strstr (text, convolve_plan_variant (plan)) == text && strlen (cut) == sizeof (cut) - 1
            && memcmp (text, cut, strlen (cut)) == 0,
        "what a plan says of itself", file);
  }

  /* A plan with a second reference outlives the first. */
  failures += check (convolve_plan_ref (plan) == plan, "convolve_plan_ref()", file);
  convolve_plan_unref (plan);
  failures += check (convolve_run (plan, &good, &error) == CONVOLVE_OK, "a run after ref and unref", file);
  convolve_plan_unref (plan);
  return failures;
}

/* --- the table and masks --- */

static int
check_table (FILE *file)
{
  static const char *const names[] = { "cpu", "cpu-reference", "global", "constant", "tiled", "tiled-input",
    "tiled-cached", "separable" };
  int count = convolve_variant_count (), failures = 0;

  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    int at = 0;

    while (at < count && strcmp (convolve_variant_name (at), names[n]) != 0)
      at++;
    failures += check (at < count, names[n], file);
    failures += at < count && check (convolve_variant_on_device (at) == (n > 1), names[n], file);
  }
  for (int i = 0; i < count; i++) {
    failures += check (convolve_variant_idea (i) && convolve_variant_idea (i)[0] != '\0'
            && !strchr (convolve_variant_idea (i), '\n'),
        "a variant's idea in one line", file);
    for (int j = 0; j < i; j++)
      failures += check (strcmp (convolve_variant_name (i), convolve_variant_name (j)) != 0, "a name twice", file);
  }
  return failures;
}

static int
check_mask_init (FILE *file)
{
  static const int wrong[] = { 0, -1, CONVOLVE_MAX_SIDE + 2, INT_MAX };
  ConvolveMask mask;
  int failures = check (convolve_mask_init (&mask, 5, 255), "a mask of 5x255", file);

  failures += check (mask.width == 5 && mask.height == 255 && mask.divisor == 1 && mask.offset == 0,
      "what convolve_mask_init() sets", file);
  for (int k = 0; k < 5 * 255; k++)
    failures += check (mask.taps[k] == 0, "taps of 0", file);
  convolve_mask_clear (&mask);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    failures += check (!convolve_mask_init (&mask, wrong[i], 3), "a mask of a wrong width", file);
    failures += check (!convolve_mask_init (&mask, 3, wrong[i]), "a mask of a wrong height", file);
  }

  failures += check (convolve_mask_init_sets (&mask, 5, 3, CONVOLVE_MAX_SETS, CONVOLVE_LARGEST), "eight sets", file);
  failures += check (convolve_mask_sets (&mask) == 8 && mask.combination == CONVOLVE_LARGEST, "eight sets", file);
  for (int k = 0; k < CONVOLVE_MAX_SETS; k++) {
    failures += check (convolve_mask_divisor (&mask, k) == 1, "divisors of 1", file);
    for (int i = 0; i < 15; i++)
      failures += check (convolve_mask_taps (&mask, k)[i] == 0, "taps of 0", file);
  }
  convolve_mask_clear (&mask);
  failures += check (!convolve_mask_init_sets (&mask, 3, 3, 0, CONVOLVE_SUM), "a mask of no set", file);
  failures += check (!convolve_mask_init_sets (&mask, 3, 3, 9, CONVOLVE_LARGEST), "a mask of nine sets", file);
  return failures;
}

/* --- convolve_plan_source_rows() --- */

enum
{
  MOST_ROWS = 9 /* of a picture one column wide, and of a mask */
};

static bool
run_rows (const ConvolvePlan *plan, const unsigned char *source, int height, int first, int end, unsigned char *result)
{
  ConvolvePlane plane = { source, result, 1, 1, 1, height, { 0, first, 1, end - first } };

  memset (result, 0, height);
  return convolve_run (plan, &plane, NULL) == CONVOLVE_OK;
}

/* The rows that are not named get other values, and the result stays. Each tap is 1, so that each row counts. */
static int
check_rows_named (const ConvolvePlan *plan, int height, FILE *file)
{
  unsigned char source[MOST_ROWS], other[MOST_ROWS], expected[MOST_ROWS], got[MOST_ROWS];
  int failures = 0;

  for (int y = 0; y < height; y++)
    source[y] = (unsigned char) (y + 1);
  for (int first = 0; first < height; first++)
    for (int end = first + 1; end <= height; end++) {
      int from = -1, to = -1;
      bool good;

      convolve_plan_source_rows (plan, height, first, end, &from, &to);
      good = 0 <= from && from <= first && end <= to && to <= height;
      for (int y = 0; y < height; y++)
        other[y] = source[y] + (y < from || y >= to ? MOST_ROWS : 0);
      good = good && run_rows (plan, source, height, first, end, expected)
          && run_rows (plan, other, height, first, end, got) && memcmp (expected, got, height) == 0;
      if (!good)
        fprintf (file, "FAILED api: the rows %d .. %d of %d are not made from the rows %d .. %d alone\n", first,
            end - 1, height, from, to - 1);
      failures += !good;
    }
  return failures;
}

static int
check_source_rows (FILE *file)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  int failures = 0;

  for (int boundary = 0; boundary < CONVOLVE_N_BOUNDARIES; boundary++)
    for (int side = 1; side <= MOST_ROWS; side += 2) {
      ConvolvePlan *plan = NULL;
      ConvolveMask mask;

      if (convolve_mask_init (&mask, 1, side)) {
        for (int j = 0; j < side; j++)
          mask.taps[j] = 1;
        plan = convolve_plan_new (&pixel, boundary, &mask, "cpu-reference", NULL, NULL);
      }
      failures += check (plan != NULL, "a plan of one column", file);
      for (int height = 1; plan && height <= MOST_ROWS; height++)
        failures += check_rows_named (plan, height, file);
      convolve_plan_unref (plan);
      convolve_mask_clear (&mask);
    }
  return failures;
}

/* A column times a row of fractions, alone and as an absolute value, for 8 to 16 bits. */
static int
check_reproducible (FILE *file)
{
  int failures = 0;

  for (int i = 0; i < 10; i++) {
    ConvolveCombination combination = i % 2 ? CONVOLVE_ABSOLUTE : CONVOLVE_SUM;
    int depth = 8 + i / 2 * 2;
    ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
      .depth = depth,
      .samples = 1,
      .stride = depth == 8 ? 1 : 2,
      .select = 1 };
    ConvolvePlan *plan = NULL;
    ConvolveMask mask;

    if (convolve_mask_init_sets (&mask, 3, 3, 1, combination)) {
      for (int k = 0; k < 9; k++)
        mask.taps[k] = (k % 3 + 0.31830988) * (k / 3 + 0.73205081) / 30;
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "auto", NULL, NULL);
    }
    failures += check (plan != NULL, "a plan of fractions", file);
    failures += plan
        && check (convolve_plan_is_reproducible (plan) == (depth <= 12) && !convolve_plan_is_exact (plan),
            "fractions of up to 12 bits are reproducible", file);
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  return failures;
}

int
check_fixed_api (FILE *file)
{
  ConvolveError error = { 0 };
  ConvolveDevice *device = convolve_device_new (INT_MAX, &error);
  int failures = check_table (file) + check_mask_init (file) + check_plan_arguments (file) + check_run_arguments (file)
      + check_reproducible (file) + check_source_rows (file);

  if (device)
    failures += check (false, "a device of an impossible number", file);
  else
    failures += check_error (error.status, CONVOLVE_NO_DEVICE, &error, "a device of an impossible number", file);
  convolve_device_free (device);
  convolve_device_free (NULL);
  return failures;
}
