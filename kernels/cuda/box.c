/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/box.h"

#include <math.h>

#include "common/integer_tail.h"

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

  *reason = "its weights are not all equal, but for those of its edges";
  if (!taps->row || taps->wide_taps[taps->height / 2 * taps->width + taps->width / 2] == 0
      || !find_axis (taps->row, taps->width, &box->row) || !find_axis (taps->column, taps->height, &box->column)
      || missed (plan, box) * plan->tail.maximum > (plan->exact ? 0 : convolve_budget (plan) / 4))
    return false;
  box->soft = is_soft (box);
  if (box->soft && packed && pixel->samples > 2) {
    *reason = "it does weights that are less at the edges for pixels of 1 or 2 samples alone";
    return false;
  }
  most = (double) (box->row.inner * taps->width) * (box->column.inner * taps->height)
      * (pixel->type == CONVOLVE_SAMPLE_U8 ? 255 : 65535);
  if (most >= 4294967296.0) {
    *reason = "its sums need more than 32 bits";
    return false;
  }
  return true;
}

ConvolveStatus
convolve_box_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const char *reason;

  if (!convolve_box_choose (plan, &plan->box, &reason))
    return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0, "%s", reason);
  plan->box.integers = plan->exact && convolve_box_factor (plan, &plan->box) == 1
      && convolve_integer_tail_choose (plan, &plan->integer_tail, &reason) && !plan->integer_tail.clamps;
  return CONVOLVE_OK;
}
