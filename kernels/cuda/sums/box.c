/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/sums/box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/integer_tail.h"
#include "cuda/device/accepts.h"
#include "cuda/registers/border.h"

#define LARGEST 127 /* the largest weight: dp2a multiplies signed bytes */

/*
 * Finds edge / inner, the ratio of the first and the last weight to the others, as the smallest fraction of integers
 * up to LARGEST. False where the weights are not of this form.
 */
static bool
find_axis (const float *weights, int count, ConvolveBoxAxis *axis)
{
  const double inner = weights[count / 2], edge = weights[0];

  *axis = (ConvolveBoxAxis){ 1, 1 };
  for (int i = 0; i < count; i++)
    if (weights[i] != (i == 0 || i == count - 1 ? edge : inner))
      return false;
  for (axis->inner = 1; axis->inner <= LARGEST; axis->inner++) {
    axis->edge = (int) round (edge / inner * axis->inner);
    if (axis->edge >= 1 && axis->edge <= axis->inner && fabs (edge / inner - (double) axis->edge / axis->inner) < 1e-6)
      return true;
  }
  return false;
}

double
convolve_box_factor (const ConvolvePlan *plan, const ConvolveBox *box)
{
  const ConvolveTaps *taps = &plan->taps;

  return taps->double_taps[taps->height / 2 * taps->width + taps->width / 2] / (box->row.inner * box->column.inner);
}

/* Weight i of an axis with count weights. */
static int
weight (const ConvolveBoxAxis *axis, int i, int count)
{
  return i == 0 || i == count - 1 ? axis->edge : axis->inner;
}

/* The sum of the differences between the plan's taps and the weights that box stands for, times their factor. */
static double
missed (const ConvolvePlan *plan, const ConvolveBox *box)
{
  const ConvolveTaps *taps = &plan->taps;
  const double factor = convolve_box_factor (plan, box);
  double sum = 0;

  for (int j = 0; j < taps->height; j++)
    for (int i = 0; i < taps->width; i++)
      sum += fabs (taps->double_taps[j * taps->width + i]
          - factor * weight (&box->row, i, taps->width) * weight (&box->column, j, taps->height));
  return sum;
}

/* The largest sum of weights times samples up to `sample`, which is as large as the sum of equal weights. */
static double
largest_sum (const ConvolvePlan *plan, const ConvolveBox *box, double sample)
{
  return (double) box->row.inner * plan->taps.width * box->column.inner * plan->taps.height * sample;
}

bool
convolve_box_choose (const ConvolvePlan *plan, ConvolveBox *box, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;
  const ConvolvePixel *pixel = &plan->pixel;
  const bool packed = pixel->stride == pixel->samples * convolve_sample_size (pixel->type) && !pixel->swapped;

  *reason = "the weights are not all equal apart from those at the mask's edges";
  if (!taps->row || taps->double_taps[taps->height / 2 * taps->width + taps->width / 2] == 0
      || !find_axis (taps->row, taps->width, &box->row) || !find_axis (taps->column, taps->height, &box->column)
      || missed (plan, box) * plan->tail.maximum > (plan->integers ? 0 : convolve_budget (plan) / 4))
    return false;
  box->edges_differ = box->row.edge != box->row.inner || box->column.edge != box->column.inner;
  if (box->edges_differ && packed && pixel->samples > 2) {
    *reason = "the weights at the mask's edges differ from the others, which needs pixels of 1 or 2 samples";
    return false;
  }
  if (largest_sum (plan, box, pixel->type == CONVOLVE_SAMPLE_U8 ? 255 : 65535) >= 4294967296.0) {
    *reason = "the sums need more than 32 bits";
    return false;
  }
  return true;
}

/*
 * The number of chunks that a block's inputs have more than its outputs; *lead of them are before the outputs. One
 * pixel more than the radius is needed before them, because a sum is a difference to the prefix sum before its first
 * column.
 */
static int
find_halo (const ConvolvePlan *plan, int size, int samples, int *lead)
{
  const int n = CONVOLVE_BOX_SAMPLES (size, samples), radius = plan->taps.width / 2 * samples;

  *lead = (radius + samples + n - 1) / n;
  return *lead + (radius + n - 1) / n;
}

/* The shared memory in bytes of the smallest block, with this number of samples in a pixel. */
static size_t
least_shared (const ConvolvePlan *plan, int samples)
{
  const int size = convolve_sample_size (plan->pixel.type);
  int lead, gathered = find_halo (plan, size, samples, &lead) + 1;

  return CONVOLVE_BOX_SHARED (size, samples) + (size_t) gathered * CONVOLVE_BOX_SHARED_BY_CHUNK (size, samples);
}

/* Whether there is a kernel for aligned chunks. None is for 3 samples of 16 bits, because no format has them. */
static bool
has_chunks (const ConvolvePixel *pixel)
{
  return pixel->samples != 3 || pixel->type == CONVOLVE_SAMPLE_U8;
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  const size_t limit = convolve_device_shared_limit (plan->device);
  ConvolveBox box = { .row = { 0, 0 } };

  *reason = "the prefix sums need more shared memory than the device has";
  if (least_shared (plan, 1) > limit || (has_chunks (&plan->pixel) && least_shared (plan, plan->pixel.samples) > limit))
    return false;
  if (!convolve_accepts_float_taps (plan, reason) || !convolve_box_choose (plan, &box, reason))
    return false;
  return convolve_found_copy (found, &box, sizeof (box), reason);
}

/*
 * Fills factor and start for taps of one step, which are t times the weights of box. With n for the bits behind the
 * point of a total, the shift of the samples included, both are multiplied by 2^(32 - n), so that the integer is in the
 * upper half of the product, and by 2^fraction for its place. False where the factor or a product is too large for
 * that.
 */
static bool
choose_product (const ConvolvePlan *plan, const ConvolveBox *box, ConvolveBoxTask *task)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int bits = 32 + convolve_places_of (pixel).fraction - arithmetic->bits;
  const double factor = ldexp (convolve_box_factor (plan, box), bits - pixel->shift), limit = ldexp (1, 62);
  const double most = factor * largest_sum (plan, box, plan->tail.maximum * (1 << pixel->shift));

  if (arithmetic->kind != CONVOLVE_ARITHMETIC_ONE_STEP || bits < pixel->shift || !(factor > 0)
      || factor >= ldexp (1, 32) || most >= limit)
    return false;
  task->factor = (uint32_t) factor;
  task->places = convolve_places_of (pixel);
  for (int i = 0; i < pixel->samples; i++) {
    if (fabs (ldexp ((double) arithmetic->start[i], bits)) >= limit)
      return false;
    task->start[i] = arithmetic->start[i] * ((int64_t) 1 << bits);
  }
  return true;
}

void
convolve_box_choose_tail (const ConvolvePlan *plan, const ConvolveBox *box, ConvolveBoxTask *task)
{
  const ConvolveTaps *taps = &plan->taps;
  const double middle = taps->double_taps[taps->height / 2 * taps->width + taps->width / 2]; /* the largest tap */
  const double gain = fabs (middle * plan->tail.scale) * taps->width * taps->height,
               factor = convolve_box_factor (plan, box);
  const char *reason;
  double most = 0;

  task->tail = plan->tail;
  task->tail.scale *= factor / (1 << plan->pixel.shift);
  task->tail.scale_f = (float) task->tail.scale;
  task->tail.scale_low = (float) (task->tail.scale - task->tail.scale_f);
  for (int i = 0; i < plan->pixel.samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  if (choose_product (plan, box, task))
    task->tail_kind = CONVOLVE_BOX_PRODUCTS;
  else if (plan->exact && factor == 1 && convolve_integer_tail_choose (plan, &task->integer_tail, &reason)
      && !task->integer_tail.clamps)
    task->tail_kind = CONVOLVE_BOX_INTEGERS;
  else if (plan->exact ? plan->tail.floor_needs_double : plan->tail.needs_double)
    task->tail_kind = CONVOLVE_BOX_DOUBLES;
  else
    task->tail_kind = plan->pixel.type == CONVOLVE_SAMPLE_U8 && gain * 255 + most > CONVOLVE_FLOOR_LIMIT
        ? CONVOLVE_BOX_DOUBLES
        : CONVOLVE_BOX_FLOATS;
}

/*
 * Fills a layout, but for what depends on the plane. A chunk of the aligned layout has all samples of its pixels; a
 * chunk of the gathered layout has one sample of each of its pixels.
 */
static void
prepare_layout (const ConvolvePlan *plan, const ConvolveBox *box, bool aligned, ConvolveBoxLayout *layout)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const int size = convolve_sample_size (pixel->type), samples = aligned ? pixel->samples : 1;
  const int n = CONVOLVE_BOX_SAMPLES (size, samples), radius = plan->taps.width / 2 * samples;
  const size_t limit = convolve_device_shared_limit (plan->device);
  ConvolveBoxTask *task = &layout->task;

  layout->samples = n;
  layout->sums = CONVOLVE_BOX_SUMS (size, samples);
  layout->layers = aligned ? 1 : pixel->samples;
  layout->shared = CONVOLVE_BOX_SHARED (size, samples);
  layout->shared_by_chunk = CONVOLVE_BOX_SHARED_BY_CHUNK (size, samples);
  task->boundary = plan->boundary;
  task->aligned = aligned;
  task->copies = pixel->select != (1u << pixel->samples) - 1;
  for (int i = 0; i < n; i++)
    if (!(pixel->select >> i % samples & 1))
      task->keep[i * size / 4] |= (size == 1 ? 0xffu : 0xffffu) << i * size % 4 * 8;
  convolve_box_choose_tail (plan, box, task);
  task->halo = find_halo (plan, size, samples, &task->lead);
  task->row = box->row;
  task->column = box->column;
  for (int i = 0; i < n + samples; i++) {
    const int before = task->lead * n + i - radius - samples, after = task->lead * n + i + radius - samples;

    task->before[i] = before % n * CONVOLVE_BOX_THREADS + before / n;
    task->after[i] = after % n * CONVOLVE_BOX_THREADS + after / n;
  }
  layout->most = CONVOLVE_BOX_THREADS;
  while (!aligned && layout->shared + layout->most * layout->shared_by_chunk > limit)
    layout->most--;
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const int size = convolve_sample_size (pixel->type);
  ConvolveBox *box = plan->prepared;

  box->can_align = has_chunks (pixel) && pixel->stride == pixel->samples * size && !pixel->swapped;
  box->alignment = pixel->samples == 3 ? 4 : size == 1 && pixel->samples < 3 ? 8 : 16;
  prepare_layout (plan, box, false, &box->gathered);
  if (box->can_align)
    prepare_layout (plan, box, true, &box->aligned);
  return convolve_box_load (plan, error);
}

const ConvolveVariant convolve_variant_box = {
  .name = "box",
  .number = 1,
  .on_device = true,
  .idea = "equal weights, by running sums down the columns and along the rows: the time hardly depends on the size",
  .accepts = accepts,
  .prepare = prepare,
  .run = convolve_box_run,
};
