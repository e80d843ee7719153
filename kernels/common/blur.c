/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The weights of wide blurs. */
#include <math.h>
#include <string.h>

#include "common/internal.h"
#include "convolve_region.h"

/*
 * The weights as integers, without zeros on both ends: their number. 0 where one weight at an end is all: its integer
 * has one bit more than the loops take, but for a vector of one weight.
 */
static int
round_vector (const double *from, int count, double total, uint16_t *to)
{
  int rest = CONVOLVE_BLUR_SUM, cut = 0;

  for (int i = 0; i < count; i++)
    rest -= to[i] = (uint16_t) (from[i] / total * CONVOLVE_BLUR_SUM);
  to[count / 2] += (uint16_t) rest;
  while (cut < count / 2 && to[cut] == 0 && to[count - 1 - cut] == 0)
    cut++;
  count -= 2 * cut;
  memmove (to, to + cut, (size_t) count * sizeof (*to));
  for (int i = 0; i < count && count > 1; i++)
    if (to[i] == CONVOLVE_BLUR_SUM)
      return 0;
  return count;
}

ConvolveStatus
convolve_blur_init (ConvolveBlur *blur, const ConvolveMask *mask, int factor, ConvolveError *error)
{
  double row[CONVOLVE_MAX_BLUR] = { 0 }, column[CONVOLVE_MAX_BLUR] = { 0 }, total = 0;

  if (factor < 1 || factor > CONVOLVE_MAX_FACTOR || (factor & (factor - 1)))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a factor of %d", factor);
  if (mask->width < 1 || mask->height < 1 || mask->width > CONVOLVE_MAX_BLUR || mask->height > CONVOLVE_MAX_BLUR
      || mask->width % 2 == 0 || mask->height % 2 == 0 || mask->sets > 1)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a blur by a mask of %dx%d", mask->width, mask->height);
  for (int j = 0; j < mask->height; j++)
    for (int i = 0; i < mask->width; i++) {
      double tap = mask->taps[j * mask->width + i];

      if (!(tap >= 0 && tap < INFINITY))
        return convolve_fail (error, CONVOLVE_INVALID, 0, "a blur by a weight of %g", tap);
      row[i] += tap;
      column[j] += tap;
      total += tap;
    }
  if (!(total > 0 && total < INFINITY))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a blur by weights with the sum %g", total);
  blur->factor = factor;
  blur->fine = false;
  blur->width = round_vector (row, mask->width, total, blur->row);
  blur->height = round_vector (column, mask->height, total, blur->column);
  return blur->width > 0 && blur->height > 0
      ? CONVOLVE_OK
      : convolve_fail (error, CONVOLVE_INVALID, 0, "a blur by one weight that is not in the middle");
}
