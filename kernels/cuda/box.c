/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/integer_tail.h"
#include "cuda/accepts.h"

#define LARGEST 127 /* a signed byte */

/* The ends of a row or column of weights over the others as a fraction, as small as it can be. */
static bool
find_axis (const float *weights, int count, ConvolveBoxAxis *axis)
{
  const double inner = weights[count / 2], end = weights[0];

  *axis = (ConvolveBoxAxis){ 1, 1 };
  for (int i = 0; i < count; i++)
    if (weights[i] != (i == 0 || i == count - 1 ? end : inner))
      return false;
  for (axis->inner = 1; axis->inner <= LARGEST; axis->inner++) {
    axis->end = (int) round (end / inner * axis->inner);
    if (axis->end >= 1 && axis->end <= axis->inner && fabs (end / inner - (double) axis->end / axis->inner) < 1e-6)
      return true;
  }
  return false;
}

double
convolve_box_factor (const ConvolvePlan *plan, const ConvolveBox *box)
{
  const ConvolveTaps *taps = &plan->taps;

  return taps->wide_taps[taps->height / 2 * taps->width + taps->width / 2] / (box->row.inner * box->column.inner);
}

static int
weight (const ConvolveBoxAxis *axis, int i, int count)
{
  return i == 0 || i == count - 1 ? axis->end : axis->inner;
}

/* How much all weights together differ from these. */
static double
missed (const ConvolvePlan *plan, const ConvolveBox *box)
{
  const ConvolveTaps *taps = &plan->taps;
  const double factor = convolve_box_factor (plan, box);
  double sum = 0;

  for (int j = 0; j < taps->height; j++)
    for (int i = 0; i < taps->width; i++)
      sum += fabs (taps->wide_taps[j * taps->width + i]
          - factor * weight (&box->row, i, taps->width) * weight (&box->column, j, taps->height));
  return sum;
}

static bool
is_soft (const ConvolveBox *box)
{
  return box->row.end != box->row.inner || box->column.end != box->column.inner;
}

bool
convolve_box_choose (const ConvolvePlan *plan, ConvolveBox *box, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;
  const ConvolvePixel *pixel = &plan->pixel;
  const bool packed = pixel->stride == pixel->samples * convolve_sample_size (pixel->type) && !pixel->swapped;
  double most;

  *reason = "the weights are not all equal, but for those of the mask's edges";
  if (!taps->row || taps->wide_taps[taps->height / 2 * taps->width + taps->width / 2] == 0
      || !find_axis (taps->row, taps->width, &box->row) || !find_axis (taps->column, taps->height, &box->column)
      || missed (plan, box) * plan->tail.maximum > (plan->exact ? 0 : convolve_budget (plan) / 4))
    return false;
  box->soft = is_soft (box);
  if (box->soft && packed && pixel->samples > 2) {
    *reason = "weights that are less at the edges are done for pixels of 1 or 2 samples alone";
    return false;
  }
  most = (double) (box->row.inner * taps->width) * (box->column.inner * taps->height)
      * (pixel->type == CONVOLVE_SAMPLE_U8 ? 255 : 65535);
  if (most >= 4294967296.0) {
    *reason = "the sums need more than 32 bits";
    return false;
  }
  return true;
}

/* Chunks of inputs that a block has more than outputs, lead of them before the outputs. */
static int
find_halo (const ConvolvePlan *plan, int size, int samples, int *lead)
{
  const int n = CONVOLVE_BOX_SAMPLES (size, samples), radius = plan->taps.width / 2 * samples;

  *lead = (radius + samples + n - 1) / n;
  return *lead + (radius + n - 1) / n;
}

/* The shared memory that a block needs at least, where each pixel is taken as so many samples. */
static size_t
least_shared (const ConvolvePlan *plan, int samples)
{
  const int size = convolve_sample_size (plan->pixel.type);
  int lead, gathered = find_halo (plan, size, samples, &lead) + 1;

  return CONVOLVE_BOX_SHARED (size, samples) + (size_t) gathered * CONVOLVE_BOX_SHARED_BY_CHUNK (size, samples);
}

/* There is no kernel for three deep samples side by side, for no format has them. */
static bool
has_chunks (const ConvolvePixel *pixel)
{
  return pixel->samples != 3 || pixel->type == CONVOLVE_SAMPLE_U8;
}

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  const size_t limit = convolve_device_shared_limit (plan->device);
  ConvolveBox box = { .row = { 0, 0 } };

  *reason = "the sums are larger than the device's shared memory";
  if (least_shared (plan, 1) > limit || (has_chunks (&plan->pixel) && least_shared (plan, plan->pixel.samples) > limit))
    return false;
  if (!convolve_accepts_float_taps (plan, reason) || !convolve_box_choose (plan, &box, reason))
    return false;
  *reason = "no memory";
  *found = malloc (sizeof (box));
  if (*found)
    memcpy (*found, &box, sizeof (box));
  return *found;
}

/* Fills the tail for sums of words, and chooses among those that can do it. */
static void
choose_end (const ConvolvePlan *plan, const ConvolveBox *box, ConvolveBoxTask *task)
{
  const ConvolveTaps *taps = &plan->taps;
  const double largest = taps->wide_taps[taps->height / 2 * taps->width + taps->width / 2]; /* in the middle */
  const double gain = fabs (largest * plan->tail.scale) * taps->width * taps->height,
               factor = convolve_box_factor (plan, box);
  const char *reason;
  double most = 0;

  task->tail = plan->tail;
  task->tail.scale *= factor / (1 << plan->pixel.shift);
  task->tail.scale_f = (float) task->tail.scale;
  task->tail.scale_low = (float) (task->tail.scale - task->tail.scale_f);
  for (int i = 0; i < plan->pixel.samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  if (plan->exact && factor == 1 && convolve_integer_tail_choose (plan, &task->integer_tail, &reason)
      && !task->integer_tail.clamps)
    task->end = CONVOLVE_BOX_INTEGERS;
  else if (plan->exact ? plan->tail.wide_down : plan->tail.wide)
    task->end = CONVOLVE_BOX_DOUBLES;
  else /* convolve_floor () does not clamp bytes */
    task->end =
        plan->pixel.type == CONVOLVE_SAMPLE_U8 && gain * 255 + most > 4e6 ? CONVOLVE_BOX_DOUBLES : CONVOLVE_BOX_FLOATS;
}

/* aligned: chunks have the samples of whole pixels, as they lie. Otherwise each is of one sample of its pixels. */
static void
prepare_way (const ConvolvePlan *plan, const ConvolveBox *box, bool aligned, ConvolveBoxWay *way)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const int size = convolve_sample_size (pixel->type), samples = aligned ? pixel->samples : 1;
  const int n = CONVOLVE_BOX_SAMPLES (size, samples), radius = plan->taps.width / 2 * samples;
  ConvolveBoxTask *task = &way->task;

  way->samples = n;
  way->sums = CONVOLVE_BOX_SUMS (size, samples);
  way->layers = aligned ? 1 : pixel->samples;
  way->shared = CONVOLVE_BOX_SHARED (size, samples);
  way->shared_by_chunk = CONVOLVE_BOX_SHARED_BY_CHUNK (size, samples);
  task->boundary = plan->boundary;
  task->aligned = aligned;
  task->copies = pixel->select != (1u << pixel->samples) - 1;
  for (int i = 0; i < n; i++)
    if (!(pixel->select >> i % samples & 1))
      task->keep[i * size / 4] |= (size == 1 ? 0xffu : 0xffffu) << i * size % 4 * 8;
  choose_end (plan, box, task);
  task->halo = find_halo (plan, size, samples, &task->lead);
  task->row = box->row;
  task->column = box->column;
  for (int i = 0; i < n + samples; i++) {
    const int before = task->lead * n + i - radius - samples, after = task->lead * n + i + radius - samples;

    task->before[i] = before % n * CONVOLVE_BOX_THREADS + before / n;
    task->after[i] = after % n * CONVOLVE_BOX_THREADS + after / n;
  }
  way->most = CONVOLVE_BOX_THREADS;
  while (!aligned && way->shared + way->most * way->shared_by_chunk > convolve_device_shared_limit (plan->device))
    way->most--;
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const int size = convolve_sample_size (pixel->type);
  ConvolveBox *box = plan->prepared;

  box->can_align = has_chunks (pixel) && pixel->stride == pixel->samples * size && !pixel->swapped;
  box->alignment = pixel->samples == 3 ? 4 : size == 1 && pixel->samples < 3 ? 8 : 16;
  prepare_way (plan, box, false, &box->gathered);
  if (box->can_align)
    prepare_way (plan, box, true, &box->aligned);
  return CONVOLVE_OK;
}

const ConvolveVariant convolve_variant_box = {
  .name = "box",
  .number = 1,
  .idea = "equal weights: sums that run down the columns and along the rows, the same work for every width",
  .accepts = accepts,
  .prepare = prepare,
  CONVOLVE_ON_DEVICE (box),
};
