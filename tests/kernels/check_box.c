/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_box.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/random.h"
#include "common/tail.h"
#include "cuda/sums/box.h"

typedef struct
{
  ConvolveMask mask;
  ConvolvePixel pixel;
  ConvolveBoxAxis row, column; /* the mask is their product, times a factor */
  ConvolvePlan *plan;
  FILE *file;
} Trial;

static int
fail (const Trial *trial, const char *what)
{
  fprintf (trial->file, "FAILED box: %s: mask %dx%d of %d/%d and %d/%d, divisor %.17g, depth %d\n", what,
      trial->mask.width, trial->mask.height, trial->row.edge, trial->row.inner, trial->column.edge, trial->column.inner,
      trial->mask.divisor, trial->pixel.depth);
  return 1;
}

/* Weight i of an axis with count weights. */
static uint32_t
weight (const ConvolveBoxAxis *axis, int i, int count)
{
  return i == 0 || i == count - 1 ? axis->edge : axis->inner;
}

/* Weight k of the mask that box stands for, in row-major order. */
static uint32_t
product (const Trial *trial, const ConvolveBox *box, int k)
{
  int width = trial->mask.width, height = trial->mask.height;

  return weight (&box->row, k % width, width) * weight (&box->column, k / width, height);
}

/*
 * The sum of weights times samples by the kernel's arithmetic in 32 bits: column sums and the sums of their first and
 * last row, prefix sums of these along the row, and differences of prefix sums. The prefix sums begin with `start`.
 */
static uint32_t
sum_by_prefix_sums (const Trial *trial, const ConvolveBox *box, const uint32_t *samples, uint32_t start)
{
  int width = trial->mask.width, height = trial->mask.height;
  uint32_t prefix[CONVOLVE_MAX_SIDE + 1] = { start };

  for (int i = 0; i < width; i++) {
    uint32_t sum = 0, edges = samples[i] + samples[(height - 1) * width + i];

    for (int j = 0; j < height; j++)
      sum += samples[j * width + i];
    prefix[i + 1] = prefix[i] + sum * box->column.inner + edges * (uint32_t) (box->column.edge - box->column.inner);
  }
  return (prefix[width] - prefix[0]) * box->row.edge
      + (prefix[width > 1 ? width - 1 : 0] - prefix[width > 1 ? 1 : 0]) * (box->row.inner - box->row.edge);
}

/* The sample that a sum becomes by the kernel's arithmetic. */
static unsigned
finish (const Trial *trial, const ConvolveBoxTask *task, uint32_t sum)
{
  const int middle = trial->pixel.depth == 8 ? 128 : 32768;
  int value;

  if (task->tail_kind == CONVOLVE_BOX_DOUBLES)
    return convolve_tail_double (&task->tail, 0, sum);
  value = convolve_box_product (task->factor, task->start[0], sum);
  value = value < 0 ? 0 : value > 2 * middle - 1 ? 2 * middle - 1 : value;
  return (unsigned) value >> task->places.fraction;
}

/* A plan of one step gives the sample of its arithmetic. sum is that of weights times samples. */
static int
check_finish (const Trial *trial, const ConvolveBox *box, uint64_t sum)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  const int64_t total = (int64_t) sum * (int64_t) convolve_box_factor (trial->plan, box);
  ConvolveBoxTask task = { 0 };

  if (arithmetic->kind != CONVOLVE_ARITHMETIC_ONE_STEP)
    return 0;
  convolve_box_choose_tail (trial->plan, box, &task);
  if (task.tail_kind != CONVOLVE_BOX_DOUBLES && task.tail_kind != CONVOLVE_BOX_PRODUCTS)
    return fail (trial, "a plan of one step has a tail in single precision");
  if (finish (trial, &task, (uint32_t) sum << trial->pixel.shift)
      != convolve_finish_sum (arithmetic, trial->pixel.depth, 0, total))
    return fail (trial, "a sample is not that of the plan's arithmetic");
  return 0;
}

/* The first sums of some values, and the last sums of the values before these. */
static int
check_edges (const Trial *trial, const ConvolveBox *box, CheckRandom *random)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  const double factor = convolve_box_factor (trial->plan, box), largest = (1 << trial->pixel.depth) - 1;
  double most = 0;
  int failures = 0;

  for (int k = 0; k < trial->mask.width * trial->mask.height; k++)
    most += product (trial, box, k) * largest;
  for (int i = 0; i < 20 && arithmetic->kind == CONVOLVE_ARITHMETIC_ONE_STEP; i++) {
    double value = check_random_range (random, -2, (int) largest + 2);
    double sum = ceil ((ldexp (value, arithmetic->bits) - (double) arithmetic->start[0]) / factor) - i % 2;

    if (sum >= 0 && sum <= most)
      failures += check_finish (trial, box, (uint64_t) sum);
  }
  return failures;
}

/* Random samples, a third of them the largest: prefix sums that overflow give the sum of products. */
static int
check_sums (const Trial *trial, const ConvolveBox *box, CheckRandom *random)
{
  int count = trial->mask.width * trial->mask.height, most = (1 << trial->pixel.depth) - 1;
  uint32_t *samples = malloc (count * sizeof *samples);
  uint64_t expected = 0;
  int failures = 0;

  if (!samples)
    return fail (trial, "out of memory");
  for (int k = 0; k < count; k++) {
    samples[k] = check_random_range (random, 0, 2) == 0 ? most : check_random_range (random, 0, most);
    expected += (uint64_t) product (trial, box, k) * samples[k];
  }
  if (sum_by_prefix_sums (trial, box, samples, (uint32_t) check_random_range (random, 0, 1 << 30) * 4) != expected)
    failures = fail (trial, "the prefix sums do not give the sum of products");
  failures += check_finish (trial, box, expected) + check_edges (trial, box, random);
  free (samples);
  return failures;
}

/*
 * The weights that box stands for are the mask: exactly for exact plans, within half the error budget for others. What
 * integers of one step miss counts for half of the samples' range, because the start has the other half.
 */
static int
check_weights (const Trial *trial, const ConvolveBox *box)
{
  const ConvolvePlan *plan = trial->plan;
  const double factor = convolve_box_factor (plan, box) * plan->tail.scale, most = (1 << trial->pixel.depth) - 1;
  const bool is_exact = plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT;
  const double allowed = (trial->pixel.depth == 8 ? 1.0 / 64 : 0.5) / (plan->integers ? 0.5 : 2);
  double missed = 0, sum = 0;
  int failures = 0;

  for (int k = 0; k < trial->mask.width * trial->mask.height; k++) {
    missed += fabs (trial->mask.taps[k] / trial->mask.divisor - factor * product (trial, box, k));
    sum += product (trial, box, k) * most;
  }
  if (missed * most > (is_exact ? 1e-9 * fabs (plan->tail.scale) * sum : allowed))
    failures += fail (trial, "the weights are not those of the mask");
  if (sum >= 4294967296.0)
    failures += fail (trial, "a sum needs more than 32 bits");
  return failures;
}

/* The mask is accepted and right; with another first weight it is refused, or right all the same. */
static int
check_trial (Trial *trial, CheckRandom *random)
{
  const int count = trial->mask.width * trial->mask.height;
  const char *reason;
  ConvolveError error;
  ConvolveBox box;
  int failures = 0;

  trial->plan =
      convolve_plan_new (&trial->pixel, CONVOLVE_BOUNDARY_REPLICATE, &trial->mask, "cpu-reference", NULL, &error);
  if (!trial->plan)
    return fail (trial, error.text);
  if (convolve_box_choose (trial->plan, &box, &reason))
    failures += check_weights (trial, &box) + check_sums (trial, &box, random);
  else if ((double) count * trial->row.inner * trial->column.inner * 65535 < 4294967296.0)
    failures += fail (trial, reason);
  convolve_plan_unref (trial->plan);

  if (count == 1)
    return failures;
  trial->mask.taps[0] *= 1.25;
  trial->plan =
      convolve_plan_new (&trial->pixel, CONVOLVE_BOUNDARY_REPLICATE, &trial->mask, "cpu-reference", NULL, &error);
  if (!trial->plan)
    return failures + fail (trial, error.text);
  if (convolve_box_choose (trial->plan, &box, &reason) && check_weights (trial, &box))
    failures += fail (trial, "a mask with another first weight is accepted as a box");
  convolve_plan_unref (trial->plan);
  return failures;
}

int
check_box (uint64_t seed, int masks, FILE *file)
{
  int failures = 0;

  for (int i = 0; i < masks && failures < 4; i++) {
    Trial trial = { .file = file };
    CheckRandom random;

    check_random_init (&random, seed, 0xb0c + i);
    const int largest = check_random_range (&random, 0, 7) == 0 ? CONVOLVE_MAX_SIDE / 2 : 20;
    const bool deep = check_random_range (&random, 0, 1), edges_differ = check_random_range (&random, 0, 3);

    trial.row.inner = edges_differ ? check_random_range (&random, 1, 8) : 1;
    trial.row.edge = check_random_range (&random, 1, trial.row.inner);
    trial.column.inner = edges_differ ? check_random_range (&random, 1, 8) : 1;
    trial.column.edge = check_random_range (&random, 1, trial.column.inner);
    trial.pixel = (ConvolvePixel){ .type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8,
      .depth = deep ? check_random_range (&random, 10, 16) : 8,
      .samples = 1,
      .stride = deep ? 2 : 1,
      .select = 1 };
    if (deep && check_random_range (&random, 0, 1))
      trial.pixel.shift = 16 - trial.pixel.depth;
    trial.pixel.zero[0] = check_random_range (&random, 0, (1 << trial.pixel.depth) - 1);
    if (!convolve_mask_init (&trial.mask, 2 * check_random_range (&random, 0, largest) + 1,
            2 * check_random_range (&random, 0, largest) + 1))
      return failures + fail (&trial, "out of memory");

    const int width = trial.mask.width, height = trial.mask.height;
    const double factor = check_random_range (&random, 0, 2) == 0 ? 0.1 + check_random_unit (&random) : 1;
    for (int k = 0; k < width * height; k++)
      trial.mask.divisor += trial.mask.taps[k] =
          factor * weight (&trial.row, k % width, width) * weight (&trial.column, k / width, height);
    trial.mask.divisor -= 1;
    failures += check_trial (&trial, &random);
    convolve_mask_clear (&trial.mask);
  }
  return failures;
}
