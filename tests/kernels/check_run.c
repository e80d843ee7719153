/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_run.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_bytes.h"
#include "kernels/check_cpu.h"

enum
{
  MAP_COLUMNS = 100,
  MAP_ROWS = 40,
  SHOWN = 8 /* differences that are printed one by one */
};

typedef struct
{
  CheckCase *test;
  const char *variant;
  ConvolveDevice *device;
  ConvolvePlan *plan;
  Oracle oracle;
  OracleValue *values;
  unsigned char *result; /* the destination block after the run */
  CheckResult *verdict;
  FILE *file;
} Run;

static void fail (Run *run, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static void
fail (Run *run, const char *format, ...)
{
  va_list arguments;

  run->verdict->verdict = CHECK_FAILED;
  fprintf (run->file, "FAILED %s: ", run->variant);
  va_start (arguments, format);
  vfprintf (run->file, format, arguments);
  va_end (arguments);
  fprintf (run->file, "\n");
}

/* Whether the variant takes every mask, so that a refusal is a failure. */
static bool
is_total (const char *variant)
{
  static const char *const total[] = { "auto", "global", "cpu", "cpu-reference" };

  for (size_t i = 0; i < sizeof total / sizeof *total; i++) {
    if (strcmp (variant, total[i]) == 0)
      return true;
  }
  return false;
}

static bool
make_plan (Run *run)
{
  const CheckCase *test = run->test;
  ConvolveError error = { 0 };

  run->plan = convolve_plan_new_sized (&test->pixel, test->boundary, &test->mask.mask, run->variant, run->device,
      (int64_t) test->width * test->height * (test->width % 2), &error);
  if (run->plan)
    return true;

  if (error.text[0] == '\0')
    fail (run, "no plan, status %d, and no text", error.status);
  else if (error.status != CONVOLVE_UNSUPPORTED || is_total (run->variant))
    fail (run, "no plan, status %d: %s", error.status, error.text);
  else
    run->verdict->verdict = CHECK_REFUSED;
  run->verdict->device_lost = error.status == CONVOLVE_DEVICE_FAILED;
  snprintf (run->verdict->reason, sizeof run->verdict->reason, "%s", error.text);
  return false;
}

/* The mask is one tap of weight 1 in the middle, and no sample gets an offset. */
static bool
is_plain_identity (const CheckCase *test)
{
  const ConvolveMask *mask = &test->mask.mask;
  int count = mask->width * mask->height;

  if (mask->combination != CONVOLVE_SUM)
    return false;
  for (int k = 0; k < count; k++) {
    if (mask->taps[k] != (k == count / 2 ? mask->divisor : 0))
      return false;
  }
  return mask->offset == 0 || (test->pixel.biased & test->pixel.select) == 0;
}

/* Compares what the plan says of itself with what is known of the mask. */
static void
check_plan (Run *run)
{
  const CheckCase *test = run->test;
  const char *name = convolve_plan_variant (run->plan);
  bool exact = convolve_plan_is_exact (run->plan);
  int at = 0;

  run->verdict->exact = exact;
  while (at < convolve_variant_count () && strcmp (convolve_variant_name (at), name) != 0)
    at++;
  if (at == convolve_variant_count ())
    fail (run, "the plan's variant %s is not in the table", name);
  else if (convolve_plan_on_device (run->plan) != convolve_variant_on_device (at))
    fail (run, "convolve_plan_on_device() is not what the table says of %s", name);
  if (strcmp (run->variant, "auto") != 0 && strcmp (run->variant, name) != 0)
    fail (run, "the plan's variant is %s", name);
  if (run->device && !convolve_plan_on_device (run->plan))
    fail (run, "auto takes %s although there is a device", name);
  if (strcmp (run->variant, "auto") == 0 && check_bytes_are_known (run->plan) && !check_bytes_followed (run->plan))
    fail (run, "auto takes %s, which does not follow the plan's arithmetic", name);

  if (test->mask.exact && !exact)
    fail (run, "convolve_plan_is_exact() is false for integers times one factor");
  if (!test->mask.exact && exact && !test->mask.decimal && !test->mask.unknown)
    fail (run, "convolve_plan_is_exact() is true for a mask that is not");
  if (is_plain_identity (test) && !convolve_plan_is_identity (run->plan))
    fail (run, "convolve_plan_is_identity() is false for an identity");
}

/*
 * Exact plans must give the exact result. For two kinds of masks the oracle itself is not certain next to a tie:
 * where factor / divisor is no short fraction, and where decimals are multiples of each other only before they become
 * binary. Those masks get a tiny budget.
 */
static bool
ask_oracle (Run *run)
{
  const ConvolveRect *region = &run->test->region;

  check_case_oracle (run->test, &run->oracle);
  run->oracle.budget = run->verdict->exact ? ldexp (1, -20) : run->test->pixel.depth == 8 ? 1.0 / 64 : 0.5;
  if (!run->verdict->exact)
    run->oracle.integers = NULL;

  run->values = malloc ((size_t) region->width * region->height * run->oracle.samples * sizeof *run->values);
  if (run->values && oracle_convolve (&run->oracle, region->x, region->y, region->width, region->height, run->values))
    return true;
  fail (run, "the oracle is out of memory");
  return false;
}

/* A flat area stays what it is under a normalised mask, whatever the budget. */
static void
narrow_flat (Run *run)
{
  const CheckCase *test = run->test;
  const ConvolvePixel *pixel = &test->pixel;
  int pixels = test->region.width * test->region.height;

  if (!test->flat || !test->mask.normalised)
    return;
  for (int k = 0; k < pixel->samples; k++) {
    int word = oracle_word (&run->oracle, check_case_sample (test, &test->source, 0, 0, k)), value;

    if (!(pixel->select & 1u << k) || (test->mask.mask.offset != 0 && pixel->biased & 1u << k))
      continue;
    value = (pixel->swapped ? (word & 0xff) << 8 | word >> 8 : word) >> pixel->shift;
    if ((test->boundary == CONVOLVE_BOUNDARY_ZERO && value != pixel->zero[k])
        || (test->boundary == CONVOLVE_BOUNDARY_CONSTANT && value != pixel->outside[k]))
      continue;
    for (int p = 0; p < pixels; p++)
      run->values[p * pixel->samples + k].low = run->values[p * pixel->samples + k].high = value;
  }
}

static bool
run_on_host (Run *run, const ConvolvePlan *plan, unsigned char *destination, ConvolveError *error)
{
  const CheckCase *test = run->test;
  ConvolvePlane plane = check_case_plane (test, test->source.bytes, destination);

  memcpy (destination, test->destination.bytes, test->destination.size);
  return convolve_run (plan, &plane, error) == CONVOLVE_OK;
}

static bool
run_on_device (Run *run, ConvolveError *error)
{
  const CheckCase *test = run->test;
  size_t guard = test->tight ? CHECK_GUARD : 0, size = test->destination.size - 2 * guard;
  unsigned char *source = convolve_device_alloc (run->device, test->source.size, error);
  unsigned char *destination = source ? convolve_device_alloc (run->device, size, error) : NULL;
  unsigned char *source_after = malloc (test->source.size);
  bool done = false;

  memcpy (run->result, test->destination.bytes, test->destination.size);
  if (source && destination && source_after) {
    ConvolvePlane plane = check_case_plane (test, source, destination - guard);

    done = convolve_device_copy (run->device, source, test->source.bytes, test->source.size, CONVOLVE_COPY_TO_DEVICE,
               error)
            == CONVOLVE_OK
        && convolve_device_copy (run->device, destination, test->destination.bytes + guard, size,
               CONVOLVE_COPY_TO_DEVICE, error)
            == CONVOLVE_OK
        && convolve_run (run->plan, &plane, error) == CONVOLVE_OK
        && convolve_device_copy (run->device, run->result + guard, destination, size, CONVOLVE_COPY_TO_HOST, error)
            == CONVOLVE_OK
        && convolve_device_copy (run->device, source_after, source, test->source.size, CONVOLVE_COPY_TO_HOST, error)
            == CONVOLVE_OK
        && convolve_device_finish (run->device, error) == CONVOLVE_OK;
    if (done && memcmp (source_after, test->source.bytes, test->source.size) != 0)
      fail (run, "the source has changed");
  }
  free (source_after);
  convolve_device_release (run->device, destination);
  convolve_device_release (run->device, source);
  return done;
}

/* Prints a map of the region's top left part, with an X where any sample of the pixel is wrong. */
static void
print_map (const Run *run, const bool *wrong)
{
  const ConvolveRect *region = &run->test->region;
  int columns = region->width < MAP_COLUMNS ? region->width : MAP_COLUMNS;
  int rows = region->height < MAP_ROWS ? region->height : MAP_ROWS;

  for (int r = 0; r < rows; r++) {
    fprintf (run->file, "  %4d ", region->y + r);
    for (int c = 0; c < columns; c++)
      fputc (wrong[(size_t) r * region->width + c] ? 'X' : '.', run->file);
    fputc ('\n', run->file);
  }
  if (columns < region->width || rows < region->height)
    fprintf (run->file, "  (the first %d columns and %d rows of %dx%d)\n", columns, rows, region->width,
        region->height);
}

static void
print_difference (const Run *run, int x, int y, int k, const OracleValue *value, const unsigned char *at)
{
  const ConvolvePixel *pixel = &run->test->pixel;
  int word = oracle_word (&run->oracle, at);

  if (!(pixel->select & 1u << k)) {
    fprintf (run->file, "  x %d y %d sample %d: to be copied, word %#x, got %#x\n", x, y, k, value->low, word);
    return;
  }
  if (pixel->swapped)
    word = (word & 0xff) << 8 | word >> 8;
  fprintf (run->file, "  x %d y %d sample %d: expected %d", x, y, k, value->low);
  if (value->high != value->low)
    fprintf (run->file, "..%d", value->high);
  fprintf (run->file, " (%.9g before rounding), got %d", value->exact, word >> pixel->shift);
  if (word & ((1 << pixel->shift) - 1))
    fprintf (run->file, " in the word %#x", word);
  fprintf (run->file, "\n");
}

/* How far a result lies from the exact value, beyond the half code value of rounding. */
static double
excess (const Run *run, int k, const OracleValue *value, const unsigned char *at)
{
  const ConvolvePixel *pixel = &run->test->pixel;
  int word = oracle_word (&run->oracle, at);
  double exact = fmin (fmax (value->exact, 0), check_largest (pixel));

  if (!(pixel->select & 1u << k))
    return 0;
  if (pixel->swapped)
    word = (word & 0xff) << 8 | word >> 8;
  return fabs ((word >> pixel->shift) - exact) - 0.5;
}

/*
 * Compares each sample and then restores the byte that was there before the run, so that what still differs is a
 * stray write.
 */
static void
compare (Run *run)
{
  const CheckCase *test = run->test;
  const ConvolveRect *region = &test->region;
  const CheckBlock after = { run->result, test->destination.size, test->destination.origin, test->destination.stride };
  size_t size = check_sample_size (&test->pixel);
  bool *wrong = calloc ((size_t) region->width * region->height, sizeof *wrong);
  long count = 0;

  if (!wrong) {
    fail (run, "out of memory");
    return;
  }
  for (int r = 0; r < region->height; r++) {
    for (int c = 0; c < region->width; c++) {
      for (int k = 0; k < test->pixel.samples; k++) {
        int x = region->x + c, y = region->y + r;
        unsigned char *at = check_case_sample (test, &after, x, y, k);
        const OracleValue *value = &run->values[(r * region->width + c) * test->pixel.samples + k];

        if (!oracle_accepts (&run->oracle, k, value, at)) {
          if (count == 0)
            fail (run, "wrong result");
          if (count++ < SHOWN)
            print_difference (run, x, y, k, value, at);
          wrong[(size_t) r * region->width + c] = true;
        }
        if (!run->verdict->exact)
          run->verdict->error = fmax (run->verdict->error, excess (run, k, value, at));
        memcpy (at, check_case_sample (test, &test->destination, x, y, k), size);
      }
    }
  }
  if (count > 0) {
    fprintf (run->file, "  %ld samples are wrong\n", count);
    print_map (run, wrong);
  }
  free (wrong);

  for (size_t i = 0; i < after.size; i++) {
    if (run->result[i] != test->destination.bytes[i]) {
      fail (run, "byte %td from pixel (0, 0) of the destination was written and should not have been",
          (ptrdiff_t) i - (ptrdiff_t) after.origin);
      break;
    }
  }
}

/*
 * Where the variant follows the arithmetic of README, each sample has the value that follows from README's words, and not
 * only one within the promise.
 */
static void
compare_bytes (Run *run)
{
  const CheckCase *test = run->test;
  const ConvolveRect *region = &test->region;
  const CheckBlock after = { run->result, test->destination.size, test->destination.origin, test->destination.stride };
  size_t count = (size_t) region->width * region->height * test->pixel.samples;
  OracleValue *values = calloc (count, sizeof *values);
  long wrong = 0;

  if (!values || !check_bytes_expected (test, values))
    fail (run, "the oracle's arithmetic is out of memory");
  for (size_t i = 0; i < count && run->verdict->verdict != CHECK_FAILED; i++) {
    int k = (int) (i % test->pixel.samples), pixel = (int) (i / test->pixel.samples);
    int x = region->x + pixel % region->width, y = region->y + pixel / region->width;
    unsigned char *at = check_case_sample (test, &after, x, y, k);

    if (!oracle_accepts (&run->oracle, k, &values[i], at) && wrong++ < SHOWN)
      print_difference (run, x, y, k, &values[i], at);
  }
  if (wrong > 0)
    fail (run, "%ld samples are not those of the arithmetic", wrong);
  run->verdict->followed = true;
  free (values);
}

/* An identity plan promises that the values come out as they went in. */
static void
check_identity (Run *run)
{
  const CheckCase *test = run->test;
  const ConvolveRect *region = &test->region;

  if (!convolve_plan_is_identity (run->plan))
    return;
  for (int r = 0; r < region->height; r++) {
    for (int c = 0; c < region->width; c++) {
      for (int k = 0; k < test->pixel.samples; k++) {
        const OracleValue *value = &run->values[(r * region->width + c) * test->pixel.samples + k];
        int word = oracle_word (&run->oracle, check_case_sample (test, &test->source, region->x + c, region->y + r, k));

        if (!(test->pixel.select & 1u << k))
          continue;
        word = (test->pixel.swapped ? (word & 0xff) << 8 | word >> 8 : word) >> test->pixel.shift;
        if (word > check_largest (&test->pixel))
          word = check_largest (&test->pixel);
        if (word < value->low || word > value->high) {
          fail (run, "convolve_plan_is_identity() is true for a mask that changes %d to %d", word, value->low);
          return;
        }
      }
    }
  }
}

/* A variant that follows gives the bytes of cpu-reference, also where the oracle allows for an uncertain tie. */
static void
compare_with_reference (Run *run)
{
  const CheckCase *test = run->test;
  ConvolveError error = { 0 };
  ConvolvePlan *plan =
      convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, "cpu-reference", NULL, &error);
  unsigned char *host = malloc (test->destination.size);

  if (!plan || !host || !run_on_host (run, plan, host, &error))
    fail (run, "cpu-reference, to compare with: %s", error.text);
  else if (memcmp (host, run->result, test->destination.size) != 0)
    fail (run, "not the bytes that cpu-reference gives");
  free (host);
  convolve_plan_unref (plan);
}

static int
word_at (const ConvolvePixel *pixel, const unsigned char *at)
{
  uint16_t word;

  memcpy (&word, at, sizeof (word));
  return pixel->type == CONVOLVE_SAMPLE_U8 ? *at : word;
}

/* Two plans that are not exact may differ by the sum of their errors: one code value at 8 bits, two at more. */
static void
compare_with_cpu (Run *run)
{
  const CheckCase *test = run->test;
  const ConvolvePixel *pixel = &test->pixel;
  const ConvolveRect *region = &test->region;
  CheckBlock ours = test->destination, theirs = test->destination;
  ConvolveError error = { 0 };
  ConvolvePlan *plan = convolve_plan_new (pixel, test->boundary, &test->mask.mask, "cpu", NULL, &error);
  int wrong = 0;

  ours.bytes = run->result;
  theirs.bytes = malloc (theirs.size);
  if (!plan || !theirs.bytes || !run_on_host (run, plan, theirs.bytes, &error)) {
    fail (run, "cpu, to compare with: %s", error.text);
  } else {
    for (int y = region->y; y < region->y + region->height; y++)
      for (int x = region->x; x < region->x + region->width; x++)
        for (int k = 0; k < pixel->samples; k++) {
          int got = word_at (pixel, check_case_sample (test, &ours, x, y, k));
          int expected = word_at (pixel, check_case_sample (test, &theirs, x, y, k));

          if (abs (got - expected) >> pixel->shift > (pixel->depth == 8 ? 1 : 2) && wrong++ == 0)
            fail (run, "at %d, %d it has %d where cpu has %d", x, y, got >> pixel->shift, expected >> pixel->shift);
        }
  }
  free (theirs.bytes);
  convolve_plan_unref (plan);
}

static void
run_plan (Run *run)
{
  const CheckCase *test = run->test;
  unsigned char *source_before = malloc (test->source.size);
  const char *name = convolve_plan_variant (run->plan);
  ConvolveError error = { 0 };
  bool on_device = convolve_plan_on_device (run->plan), follows = check_bytes_followed (run->plan), done;

  run->result = malloc (test->destination.size);
  if (!source_before || !run->result) {
    fail (run, "out of memory");
    free (source_before);
    return;
  }

  memcpy (source_before, test->source.bytes, test->source.size);
  done = on_device ? run_on_device (run, &error) : run_on_host (run, run->plan, run->result, &error);
  if (!done) {
    fail (run, "status %d: %s", error.status, error.text);
    run->verdict->device_lost = error.status == CONVOLVE_DEVICE_FAILED;
  } else {
    if (memcmp (source_before, test->source.bytes, test->source.size) != 0)
      fail (run, "the source has changed");
    if (follows && strcmp (name, "cpu-reference") != 0)
      compare_with_reference (run);
    if (strcmp (name, "cpu") == 0 && !check_cpu_same (test, run->result, run->file))
      run->verdict->verdict = CHECK_FAILED;
    if (test->large) {
      if (!on_device)
        fail (run, "a large plane is for a device");
      else if (!follows)
        compare_with_cpu (run);
    } else if (ask_oracle (run)) {
      if (follows)
        compare_bytes (run);
      check_identity (run);
      narrow_flat (run);
      compare (run);
    }
  }
  free (source_before);
}

CheckResult
check_run (CheckCase *test, const char *variant, ConvolveDevice *device, bool verbose, FILE *file)
{
  CheckResult result = { .verdict = CHECK_PASSED };
  Run run = { .test = test, .variant = variant, .device = device, .verdict = &result, .file = file };

  if (make_plan (&run)) {
    check_plan (&run);
    run_plan (&run);
    if (verbose)
      fprintf (file, "plan: variant %s, %s, %s%s, largest error %.9g\n", convolve_plan_variant (run.plan),
          convolve_plan_on_device (run.plan) ? "device" : "host", result.exact ? "exact" : "not exact",
          convolve_plan_is_identity (run.plan) ? ", identity" : "", result.error);
    convolve_plan_unref (run.plan);
  } else if (verbose && result.verdict == CHECK_REFUSED) {
    fprintf (file, "refused: %s\n", result.reason);
  }
  if (result.verdict == CHECK_FAILED || verbose)
    check_case_describe (test, file);
  free (run.values);
  free (run.result);
  return result;
}

CheckVerdict
check_row_run (CheckRow *row, CheckCase *test, bool verbose, FILE *file)
{
  CheckResult result = check_run (test, row->variant, row->device, verbose, file);

  row->cases++;
  row->followed += result.followed;
  row->refused += result.verdict == CHECK_REFUSED;
  row->failed += result.verdict == CHECK_FAILED;
  row->device_lost |= result.device_lost;
  if (test->pixel.depth == 8)
    row->error_8 = fmax (row->error_8, result.error);
  else
    row->error_deep = fmax (row->error_deep, result.error);
  return result.verdict;
}
