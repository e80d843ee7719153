/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/shrink.h"
#include "convolve_pool.h"
#include "cpu/loops/levels.h"
#include "cpu/paths/prepared.h"
#include "support/names.h"
#include "support/oracle.h"
#include "support/oracle_boundary.h"
#include "support/random.h"

#define PI 3.14159265358979323846

/* --- the bound --- */

/* The weights of the source's pixels in pixel 0 of the shrunk picture: `*count` of them, the middle one at pixel 0. */
static double *
weights_of_halving (int levels, int *count)
{
  static const double five[] = { 1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0 };
  double *weights = calloc (1, sizeof (double));

  weights[0] = 1;
  *count = 1;
  for (int l = 0; l < levels; l++) {
    int wider = 4 * (1 << l) + *count;
    double *next = calloc (wider, sizeof (double));

    for (int i = 0; i < *count; i++)
      for (int k = 0; k < 5; k++)
        next[i + (k << l)] += weights[i] * five[k];
    free (weights);
    weights = next;
    *count = wider;
  }
  return weights;
}

/* The sum of what all weights of result x differ by from the Gaussian. */
static double
missed_at (const ConvolveShrinkAxis *axis, double sigma, int x, const double *halving, int count)
{
  const int factor = 1 << axis->levels, end = (axis->radius + 4) * factor + count, far = end + (int) (8 * sigma) + 8;
  double *difference = calloc (2 * far + 1, sizeof (double)), sum = 0, missed = 0;

  for (int i = -far; i <= far; i++)
    sum += exp (-0.5 * pow ((i - x) / sigma, 2));
  for (int i = -far; i <= far; i++)
    difference[i + far] = -exp (-0.5 * pow ((i - x) / sigma, 2)) / sum;
  for (int k = 0; k < 4; k++)
    for (int m = -axis->radius; m <= axis->radius; m++) {
      double tap = (double) axis->phases[4 * x + k] * axis->taps[abs (m)];

      for (int i = 0; i < count; i++)
        difference[(k - 1 + m) * factor + i - count / 2 + far] += tap * halving[i];
    }
  for (int i = 0; i < 2 * far + 1; i++)
    missed += fabs (difference[i]);
  free (difference);
  return missed;
}

static int
check_axis (const ConvolveShrinkAxis *axis, double sigma, double *worst, FILE *file)
{
  /* Taps and phases are floats. */
  const double bound = convolve_shrink_missed (axis->levels, ldexp (sigma, -axis->levels)) + 4.0 / (1 << 24);
  const int factor = 1 << axis->levels, step = factor > 32 ? 7 : 1;
  int count, failures = 0;
  double *halving = weights_of_halving (axis->levels, &count);

  for (int x = 0; x < factor && failures == 0; x += step) {
    double missed = missed_at (axis, sigma, x, halving, count);

    *worst = fmax (*worst, missed / bound);
    if (missed > bound) {
      fprintf (file, "FAILED shrink: sigma %g, halved %d times: place %d misses %g, and the bound is %g\n", sigma,
          axis->levels, x, missed, bound);
      failures = 1;
    }
  }
  free (halving);
  return failures;
}

int
check_shrink_bound (uint64_t seed, int cases, FILE *file)
{
  double worst = 0;
  int failures = 0;

  for (int n = 0; n < cases; n++) {
    CheckRandom random;

    check_random_init (&random, seed, n);
    int depth = check_random_range (&random, 8, 16);
    double sigma = n == 0 ? 1000 : 0.5 * pow (2000, check_random_unit (&random)) * (n % 3 ? 1 : 0.2) + 0.5;
    ConvolvePixel pixel = { .type = depth > 8, .depth = depth, .samples = 1, .stride = 1 + (depth > 8), .select = 1 };
    ConvolveMask mask;
    ConvolveError error;

    sigma = sigma > 1000 ? 1000 : sigma;
    convolve_mask_init_gaussian (&mask, sigma, 0);
    mask.taps[1] = check_random_one_in (&random, 3) ? -1.5 * check_random_unit (&random) : 1;
    ConvolvePlan *plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu", NULL, &error);

    convolve_mask_clear (&mask);
    if (!plan) {
      fprintf (file, "FAILED shrink: sigma %g, depth %d: %s\n", sigma, depth, error.text);
      return failures + 1;
    }
    failures += check_axis (&plan->shrink->x, sigma, &worst, file);
    convolve_plan_unref (plan);
  }
  fprintf (file, "shrink: %d axes miss at most %.3g of their bound, seed %llu\n", cases, worst,
      (unsigned long long) seed);
  return failures + (worst < 0.5); /* a bound far from what it bounds would cost time */
}

/* --- planes --- */

typedef struct
{
  ConvolvePixel pixel;
  ConvolveBoundary boundary;
  double own, blurred, divisor, offset, sigma[2]; /* x, y */
  int size[2];
  ConvolveRect region;
  int stride;
  uint8_t *source;
} Case;

static void
make_case (Case *test, CheckRandom *random)
{
  static const int depths[] = { 8, 8, 8, 10, 12, 16 };
  ConvolvePixel *pixel = &test->pixel;

  memset (test, 0, sizeof (*test));
  pixel->depth = depths[check_random_range (random, 0, 5)];
  pixel->type = pixel->depth > 8 ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8;
  pixel->samples = check_random_range (random, 1, 4);
  pixel->stride = pixel->samples * (pixel->depth > 8 ? 2 : 1) + 2 * check_random_one_in (random, 5);
  pixel->shift = pixel->depth > 8 && check_random_one_in (random, 3) ? 16 - pixel->depth : 0;
  pixel->swapped = pixel->depth > 8 && check_random_one_in (random, 4);
  pixel->select = check_random_range (random, 1, (1 << pixel->samples) - 1);
  pixel->biased = check_random_range (random, 0, (1 << pixel->samples) - 1);
  for (int k = 0; k < pixel->samples; k++) {
    pixel->zero[k] = check_random_range (random, 0, 1) << (pixel->depth - 4);
    pixel->outside[k] = check_random_range (random, 0, (1 << pixel->depth) - 1);
  }
  test->boundary = check_random_range (random, 0, CONVOLVE_N_BOUNDARIES - 1);
  test->blurred = 1;
  test->divisor = 1;
  if (check_random_one_in (random, 3)) {
    test->blurred = -1.5 * check_random_unit (random);
    test->own = check_random_one_in (random, 2) ? 1 - test->blurred : check_random_unit (random);
    test->divisor = 1 + check_random_unit (random);
  }
  test->offset = check_random_one_in (random, 3) ? check_random_unit (random) - 0.5 : 0;
  for (int i = 0; i < 2; i++) {
    test->sigma[i] = check_random_one_in (random, 6) ? 0 : 2.0 * pow (500, check_random_unit (random));
    test->size[i] =
        check_random_one_in (random, 8) ? check_random_range (random, 1, 3) : check_random_range (random, 1, 70);
  }
  test->region.width = check_random_range (random, 1, test->size[0]);
  test->region.height = check_random_range (random, 1, test->size[1]);
  test->region.x = check_random_range (random, 0, test->size[0] - test->region.width);
  test->region.y = check_random_range (random, 0, test->size[1] - test->region.height);
  test->stride = test->size[0] * pixel->stride + 6;
  test->source = malloc ((size_t) test->stride * test->size[1]);
  /* Black and white is what an error shows in most. */
  for (int i = 0; i < test->stride * test->size[1]; i++)
    test->source[i] = check_random_one_in (random, 9) ? check_random_next (random) : i / 11 % 3 ? 0 : 0xff;
}

/* Sample k of the source, less the middle; anywhere. */
static double
sample_at (const Case *test, int x, int y, int k)
{
  const ConvolvePixel *pixel = &test->pixel;
  const int most = (1 << pixel->depth) - 1, middle = 1 << (pixel->depth - 1);
  const OracleBoundary boundary = check_boundary_oracle (test->boundary);
  const int u = oracle_inside (boundary, x, test->size[0]), v = oracle_inside (boundary, y, test->size[1]);
  const uint8_t *at;
  int value;

  if (u < 0 || v < 0)
    return (test->boundary == CONVOLVE_BOUNDARY_CONSTANT ? pixel->outside[k] : pixel->zero[k]) - middle;
  at = test->source + (size_t) v * test->stride + u * pixel->stride;
  if (pixel->depth == 8)
    return at[k] - middle;
  value = oracle_sample (at + 2 * k, pixel->swapped, pixel->shift);
  return (value < most ? value : most) - middle;
}

/*
 * The weights that one axis gives to the pixels of the picture and, as the last one, to the level outside, for result
 * x: the Gaussian, folded at the edges.
 */
static double *
fold (const Case *test, int axis, int x)
{
  const double sigma = test->sigma[axis];
  const int far = (int) (9 * sigma), n = test->size[axis];
  double *weights = calloc (n + 1, sizeof (double)), sum = 0;

  for (int i = -far; i <= far; i++) {
    double weight = sigma > 0 ? exp (-0.5 * (i / sigma) * (i / sigma)) : 1;
    int at = oracle_inside (check_boundary_oracle (test->boundary), x + i, n);

    weights[at < 0 ? n : at] += weight;
    sum += weight;
  }
  for (int i = 0; i <= n; i++)
    weights[i] /= sum;
  return weights;
}

/* Sample k of all columns, and of a column outside, summed up by the weights of the rows. */
static double *
sum_down (const Case *test, const double *down, int k)
{
  const int outside = -1;
  double *sums = calloc (test->size[0] + 1, sizeof (double));

  for (int u = 0; u <= test->size[0]; u++)
    for (int v = 0; v <= test->size[1]; v++)
      if (down[v] != 0)
        sums[u] += down[v] * sample_at (test, u < test->size[0] ? u : outside, v < test->size[1] ? v : outside, k);
  return sums;
}

static double
blur_at (const Case *test, const double *across, const double *sums)
{
  double sum = 0;

  for (int u = 0; u <= test->size[0]; u++)
    sum += across[u] * sums[u];
  return sum;
}

/* --- the arithmetic in words, with no level shorter than it has to be --- */

/* One axis, as kernels/README.md has it. */
typedef struct
{
  int levels, radius;
  double taps[CONVOLVE_SHRINK_RADIUS + 1];
} Words;

static double
b_spline (double t)
{
  t = fabs (t);
  return t < 1 ? 2.0 / 3 - t * t + t * t * t / 2 : t < 2 ? (2 - t) * (2 - t) * (2 - t) / 6 : 0;
}

static void
read_words (Words *words, int levels, double sigma)
{
  const double s = sigma / (1 << levels);
  double sum = 0;

  memset (words, 0, sizeof (*words));
  words->levels = levels;
  words->radius = (int) ceil (5.25 * s);
  for (int m = 0; m <= words->radius; m++) {
    double tap = 0;

    if (levels == 0)
      tap = m == 0 ? 1 : exp (-0.5 * (m / s) * (m / s));
    for (int i = 0; i < 256 && levels > 0; i++) {
      double angle = (i + 0.5) * PI / 256, wave = exp (-0.5 * s * s * angle * angle), left = 1, up = 0;

      if (wave < 1e-20)
        break;
      for (int j = 1; j <= levels; j++)
        left *= pow (cos (ldexp (angle, -j - 1)), 4);
      for (int p = 1 - 2 * (1 << levels); p < 2 << levels; p++)
        up += b_spline (ldexp (p, -levels)) * cos (angle * p / (1 << levels));
      left *= up / (1 << levels);
      wave /= left;
      tap += wave * cos (m * angle);
    }
    words->taps[m] = tap;
    sum += m == 0 ? tap : 2 * tap;
  }
  for (int m = 0; m <= words->radius; m++)
    words->taps[m] /= sum;
}

/*
 * A line of numbers, one for every place first .. first + count - 1, becomes a shorter one: halved, summed, and
 * enlarged for the places x .. x + n - 1.
 */
typedef struct
{
  float *at;
  int first, count;
} Line;

static Line
new_line (int first, int count)
{
  return (Line){ malloc (count * sizeof (float)), first, count };
}

static Line
halve_line (Line from)
{
  int first = (from.first + 3) >> 1, last = (from.first + from.count - 3) >> 1;
  Line to = new_line (first, last - first + 1);

  for (int m = first; m <= last; m++) {
    const float *p = from.at + 2 * m - from.first;
    float outer = p[-2] + p[2], inner = p[-1] + p[1];

    to.at[m - first] = (outer + 4 * inner + 6 * p[0]) * 0.0625f;
  }
  free (from.at);
  return to;
}

static Line
sum_line (Line from, const Words *words)
{
  Line to = new_line (from.first + words->radius, from.count - 2 * words->radius);

  for (int i = 0; i < to.count; i++) {
    const float *p = from.at + i + words->radius;
    float sum = 0;

    for (int m = words->radius; m > 0; m--)
      sum += (float) words->taps[m] * (p[-m] + p[m]);
    to.at[i] = sum + (float) words->taps[0] * p[0];
  }
  free (from.at);
  return to;
}

static float
between (Line line, int x, int levels)
{
  int factor = 1 << levels, m = x >> levels;
  double t = (double) (x & (factor - 1)) / factor;
  float sum = 0;

  if (levels == 0)
    return line.at[x - line.first];
  for (int k = -1; k <= 2; k++)
    sum += (float) b_spline (k - t) * line.at[m + k - line.first];
  return sum;
}

/* The levels that the source is needed for, so that `n` results from x on have all that they need. */
static Line
needed (int x, int n, const Words *words)
{
  int first = (x >> words->levels) - 1 - words->radius, last = ((x + n - 1) >> words->levels) + 2 + words->radius;

  for (int l = 0; l < words->levels; l++) {
    first = 2 * first - 2;
    last = 2 * last + 2;
  }
  return (Line){ NULL, first, last - first + 1 };
}

/* The blur of sample k in the region by the words, less the middle. */
static float *
blur_in_words (const Case *test, const Words words[2], int k)
{
  const ConvolveRect *region = &test->region;
  const Line across = needed (region->x, region->width, &words[0]),
             down = needed (region->y, region->height, &words[1]);
  float *result = malloc (sizeof (float) * region->width * region->height);
  /* Of each column of the picture, and of one outside. */
  Line *columns = calloc (test->size[0] + 1, sizeof (*columns)), *rows;
  int n_rows, first_row;

  for (int i = 0; i <= test->size[0]; i++) {
    columns[i] = new_line (down.first, down.count);
    for (int j = 0; j < down.count; j++)
      columns[i].at[j] = (float) sample_at (test, i < test->size[0] ? i : -1, down.first + j, k);
    for (int l = 0; l < words[1].levels; l++)
      columns[i] = halve_line (columns[i]);
  }
  n_rows = columns[0].count;
  first_row = columns[0].first;
  rows = calloc (n_rows, sizeof (*rows));
  for (int j = 0; j < n_rows; j++) {
    rows[j] = new_line (across.first, across.count);
    for (int i = 0; i < across.count; i++) {
      int at = oracle_inside (check_boundary_oracle (test->boundary), across.first + i, test->size[0]);

      rows[j].at[i] = columns[at < 0 ? test->size[0] : at].at[j];
    }
    for (int l = 0; l < words[0].levels; l++)
      rows[j] = halve_line (rows[j]);
    rows[j] = sum_line (rows[j], &words[0]);
  }
  for (int i = 0; i <= test->size[0]; i++)
    free (columns[i].at);
  free (columns);
  /* Down the columns of these, row by row of the shrunk picture; then along the row, and last between the rows. */
  columns = calloc (rows[0].count, sizeof (*columns));
  for (int i = 0; i < rows[0].count; i++) {
    columns[i] = new_line (first_row, n_rows);
    for (int j = 0; j < n_rows; j++)
      columns[i].at[j] = rows[j].at[i];
    columns[i] = sum_line (columns[i], &words[1]);
  }
  for (int x = 0; x < region->width; x++) {
    Line column = new_line (columns[0].first, columns[0].count), row = new_line (rows[0].first, rows[0].count);

    for (int j = 0; j < column.count; j++) {
      for (int i = 0; i < row.count; i++)
        row.at[i] = columns[i].at[j];
      column.at[j] = between (row, region->x + x, words[0].levels);
    }
    for (int y = 0; y < region->height; y++)
      result[y * region->width + x] = between (column, region->y + y, words[1].levels);
    free (column.at);
    free (row.at);
  }
  for (int i = 0; i < rows[0].count; i++)
    free (columns[i].at);
  for (int j = 0; j < n_rows; j++)
    free (rows[j].at);
  free (columns);
  free (rows);
  return result;
}

/* --- both against the library --- */

static int
read_result (const Case *test, const uint8_t *block, int x, int y, int k)
{
  const ConvolvePixel *pixel = &test->pixel;
  const uint8_t *at = block + (size_t) y * test->stride + x * pixel->stride;

  if (pixel->depth == 8)
    return at[k];
  return oracle_sample (at + 2 * k, pixel->swapped, pixel->shift);
}

static double
clamped (double value, double most)
{
  return value < 0 ? 0 : value > most ? most : value;
}

/* Compares the samples that were convolved. What is copied, and what lies beside the region, follows. */
static bool
compare_samples (const Case *test, const ConvolvePlan *plan, const uint8_t *block, double *worst, const char **why)
{
  const ConvolvePixel *pixel = &test->pixel;
  const ConvolveRect *region = &test->region;
  const double own = test->own / test->divisor, blurred = test->blurred / test->divisor;
  const int most = (1 << pixel->depth) - 1, middle = 1 << (pixel->depth - 1);
  const double promise = pixel->depth == 8 ? 1.0 / 64 : 0.5;
  double **across = malloc (region->width * sizeof (*across));
  Words words[2];
  bool good = true;

  for (int x = 0; x < region->width; x++)
    across[x] = fold (test, 0, region->x + x);
  read_words (&words[0], plan->shrink->x.levels, test->sigma[0]);
  read_words (&words[1], plan->shrink->y.levels, test->sigma[1]);
  for (int k = 0; k < pixel->samples && good; k++) {
    double bias = pixel->biased >> k & 1 ? floor (test->offset * most * 256 + 0.5) / 256 : 0;
    double constant = pixel->zero[k] + (own + blurred) * (middle - pixel->zero[k]) + bias;
    float *blur;

    if (!(pixel->select >> k & 1))
      continue;
    blur = blur_in_words (test, words, k);
    for (int y = 0; y < region->height && good; y++) {
      double *down = fold (test, 1, region->y + y), *sums = sum_down (test, down, k);

      for (int x = 0; x < region->width && good; x++) {
        double sample = sample_at (test, region->x + x, region->y + y, k);
        double exact = own * sample + blurred * blur_at (test, across[x], sums) + constant;
        float value = (float) own * (float) sample + (float) blurred * blur[y * region->width + x];
        int result = read_result (test, block, region->x + x, region->y + y, k);

        value += (float) (constant + 0.5);
        *why = "the arithmetic in words";
        good = result == (int) clamped (floor (value), most);
        if (good && fabs (value - 0.5 - exact) > promise) {
          *why = "the promised error";
          good = false;
        }
        *worst = fmax (*worst, fabs (value - 0.5 - exact) / promise);
        if (!good)
          printf ("FAILED shrink: (%d, %d) sample %d is %d, by the words %.6f, exactly %.6f\n", region->x + x,
              region->y + y, k, result, value - 0.5, exact);
      }
      free (down);
      free (sums);
    }
    free (blur);
  }
  for (int x = 0; x < region->width; x++)
    free (across[x]);
  free (across);
  return good;
}

/* Whether only the region was written, and samples that are not selected are the source's. */
static bool
compare_others (const Case *test, const uint8_t *block)
{
  const ConvolvePixel *pixel = &test->pixel;
  const ConvolveRect *region = &test->region;
  const int bytes = pixel->depth > 8 ? 2 : 1;

  for (int y = 0; y < test->size[1]; y++)
    for (int i = 0; i < test->stride; i++) {
      int x = i / pixel->stride, k = i % pixel->stride / bytes;
      bool inside = x >= region->x && x < region->x + region->width && y >= region->y && y < region->y + region->height
          && x < test->size[0];
      uint8_t byte = block[y * test->stride + i];

      if (!inside && byte != 0xa5)
        return false;
      if (inside && k < pixel->samples && !(pixel->select >> k & 1) && byte != test->source[y * test->stride + i])
        return false;
      if (inside && k >= pixel->samples && byte != 0xa5 && byte != test->source[y * test->stride + i])
        return false;
    }
  return true;
}

static bool
run_host (const Case *test, ConvolvePlan *plan, ConvolveRect region, ConvolvePool *pool, uint8_t *block,
    ConvolveError *error)
{
  const ConvolvePlane plane = { test->source, block, test->stride, test->stride, test->size[0], test->size[1], region };

  convolve_plan_set_pool (plan, pool);
  return convolve_run (plan, &plane, error) == CONVOLVE_OK;
}

/* The same bytes by every instruction set, on threads, and in two halves. */
static bool
is_same_again (const Case *test, ConvolvePlan *plan, const uint8_t *block, CheckRandom *random)
{
  const size_t size = (size_t) test->stride * test->size[1];
  const int cut = check_random_range (random, 0, test->region.width - 1);
  ConvolvePool *pools[2] = { NULL, convolve_pool_new (3, NULL) };
  uint8_t *again = malloc (size);
  bool same = pools[1];

  for (int i = 0; i <= convolve_cpu_level_count () && same; i++) {
    ConvolveRect left = test->region, right = test->region;

    left.width = cut;
    right.x += cut;
    right.width -= cut;
    memset (again, 0xa5, size);
    if (i < convolve_cpu_level_count ())
      ((ConvolveCpu *) plan->prepared)->level = convolve_cpu_level (i);
    same = i % 2 == 0 ? run_host (test, plan, test->region, pools[i / 2 % 2], again, NULL)
                      : (cut == 0 || run_host (test, plan, left, pools[i / 2 % 2], again, NULL))
            && run_host (test, plan, right, pools[i / 2 % 2], again, NULL);
    same = same && memcmp (again, block, size) == 0;
  }
  convolve_plan_set_pool (plan, NULL);
  convolve_pool_free (pools[1]);
  free (again);
  return same;
}

static bool
run_device (const Case *test, ConvolvePlan *plan, ConvolveDevice *device, uint8_t *block, ConvolveError *error)
{
  const size_t size = (size_t) test->stride * test->size[1];
  void *memory[2] = { convolve_device_alloc (device, size, error), convolve_device_alloc (device, size, error) };
  bool done = memory[0] && memory[1]
      && convolve_device_copy (device, memory[0], test->source, size, CONVOLVE_COPY_TO_DEVICE, error) == CONVOLVE_OK
      && convolve_device_copy (device, memory[1], block, size, CONVOLVE_COPY_TO_DEVICE, error) == CONVOLVE_OK;

  if (done) {
    const ConvolvePlane plane = { memory[0], memory[1], test->stride, test->stride, test->size[0], test->size[1],
      test->region };

    done = convolve_run (plan, &plane, error) == CONVOLVE_OK && convolve_device_finish (device, error) == CONVOLVE_OK
        && convolve_device_copy (device, block, memory[1], size, CONVOLVE_COPY_TO_HOST, error) == CONVOLVE_OK;
  }
  convolve_device_release (device, memory[0]);
  convolve_device_release (device, memory[1]);
  return done;
}

static bool
check_case (const Case *test, CheckRandom *random, ConvolveDevice *device, double *worst, char *why, size_t length)
{
  const size_t size = (size_t) test->stride * test->size[1];
  uint8_t *block = malloc (size);
  const char *what = "";
  ConvolveError error = { 0 };
  ConvolveMask mask;
  ConvolvePlan *plan;
  bool good;

  convolve_mask_init_gaussian (&mask, test->sigma[0], test->sigma[1]);
  mask.taps[0] = test->own;
  mask.taps[1] = test->blurred;
  mask.divisor = test->divisor;
  mask.offset = test->offset;
  plan = convolve_plan_new (&test->pixel, test->boundary, &mask, "auto", device, &error);
  convolve_mask_clear (&mask);
  memset (block, 0xa5, size);
  good = plan
      && (device ? run_device (test, plan, device, block, &error)
                 : run_host (test, plan, test->region, NULL, block, &error));
  if (!good)
    snprintf (why, length, "%s", error.text);
  if (good && !compare_samples (test, plan, block, worst, &what)) {
    snprintf (why, length, "not as by %s", what);
    good = false;
  }
  if (good && !compare_others (test, block)) {
    snprintf (why, length, "%s", "other samples were written");
    good = false;
  }
  if (good && !device && !is_same_again (test, plan, block, random)) {
    snprintf (why, length, "%s", "other bytes in parts, on threads or by another instruction set");
    good = false;
  }
  if (good && !(convolve_plan_is_reproducible (plan) && !convolve_plan_is_exact (plan))) {
    snprintf (why, length, "%s", "said to be exact, or not to be reproducible");
    good = false;
  }
  convolve_plan_unref (plan);
  free (block);
  return good;
}

int
check_shrink_planes (uint64_t seed, int cases, ConvolveDevice *device, FILE *file)
{
  double worst = 0;
  int failures = 0;

  for (int n = 0; n < cases; n++) {
    CheckRandom random;
    Case test;
    char why[600];

    check_random_init (&random, seed, n);
    make_case (&test, &random);
    if (n == 0) {
      /* Of one row, a level may have more rows than the one before it. */
      test.size[1] = test.region.height = 1;
      test.region.y = 0;
      test.sigma[1] = 260;
    }
    if (!check_case (&test, &random, device, &worst, why, sizeof (why))) {
      fprintf (file,
          "FAILED shrink: seed %llu case %d, %d samples of %d bits, %dx%d, region %d,%d %dx%d, sigma %g %g, %s, shares "
          "%g %g / %g: %s\n",
          (unsigned long long) seed, n, test.pixel.samples, test.pixel.depth, test.size[0], test.size[1], test.region.x,
          test.region.y, test.region.width, test.region.height, test.sigma[0], test.sigma[1],
          check_boundary_name (test.boundary), test.own, test.blurred, test.divisor, why);
      failures++;
    }
    free (test.source);
  }
  fprintf (file, "shrink: %d planes, the error at most %.3g of what is promised\n", cases, worst);
  return failures;
}
