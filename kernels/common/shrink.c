/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often a picture is halved for a Gaussian, the weights of the shrunk picture, and how far the results may be off.
 *
 * Halving by 1 4 6 4 1 makes nothing of a wave that a pixel of the shrunk picture cannot show but its fourth power, and
 * so does the cubic B-spline on the way back. What both take from the waves that remain, the weights in between give
 * back: their spectrum is that of the Gaussian divided by those of both.
 */
#include "common/shrink.h"

#include <math.h>

#include "common/numbers.h"

#define LEAST_SIGMA 3.5    /* on the shrunk picture, for an error that 8 bits allow */
#define CUT 5.25           /* sigmas: the radius on the shrunk picture */
#define CUT_AWAY 2e-7      /* the part of a Gaussian beyond that, on both sides */
#define MISSED 5.8e-3      /* times sigma^-4 on the shrunk picture: what wraps around on the way down and up */
#define MISSED_ONCE 1.2e-2 /* the same where the picture is halved once */
#define NODES 256          /* of an integral over a period, which is exact but for 1e-12 with half of them */
#define LARGEST_SHARE 1048576
#define PI 3.14159265358979323846

double
convolve_shrink_missed (int levels, double sigma)
{
  double missed = levels == 0 ? 0 : levels == 1 ? MISSED_ONCE : MISSED;

  return CUT_AWAY + (missed > 0 ? missed / (sigma * sigma * sigma * sigma) : 0);
}

/* --- weights --- */

/* The cubic B-spline. */
static double
spline (double x)
{
  x = fabs (x);
  return x < 1 ? 2.0 / 3 - x * x + x * x * x / 2 : x < 2 ? (2 - x) * (2 - x) * (2 - x) / 6 : 0;
}

static void
make_phases (ConvolveShrinkAxis *axis)
{
  int factor = 1 << axis->levels;

  for (int i = 0; i < factor; i++)
    for (int k = 0; k < 4; k++)
      axis->phases[4 * i + k] = (float) (axis->levels == 0 ? k == 1 : spline (k - 1 - (double) i / factor));
}

/*
 * The part of a wave that is left by the halving and the enlarging; it has `angle` from a shrunk pixel to the next. A
 * cubic B-spline of that many times the width is the same halvings after 1 4 1.
 */
static double
left_of_wave (int levels, double angle)
{
  double halved = 1;

  for (int i = 1; i <= levels; i++)
    halved *= pow (cos (ldexp (angle, -i - 1)), 4);
  return halved * halved * (2 + cos (ldexp (angle, -levels))) / 3;
}

/* Fills the taps as doubles; their sum is 1. */
static void
make_taps (const ConvolveShrinkAxis *axis, double sigma, double *taps)
{
  double sum = 0;

  for (int m = 0; m <= axis->radius; m++)
    taps[m] = axis->levels > 0 || sigma == 0 ? 0 : exp (-0.5 * (m / sigma) * (m / sigma));
  if (sigma == 0)
    taps[0] = 1;
  for (int i = 0; axis->levels > 0 && i < NODES; i++) {
    double angle = (i + 0.5) * PI / NODES;
    double spectrum = exp (-0.5 * sigma * sigma * angle * angle);

    /* Divisions of what is nothing beside 1 would only cost time. */
    if (spectrum < 1e-20)
      break;
    spectrum /= left_of_wave (axis->levels, angle);
    for (int m = 0; m <= axis->radius; m++)
      taps[m] += spectrum * cos (m * angle);
  }
  for (int m = 0; m <= axis->radius; m++)
    sum += m == 0 ? taps[m] : 2 * taps[m];
  for (int m = 0; m <= axis->radius; m++)
    taps[m] /= sum;
}

/*
 * Fills an axis that is halved so often. Returns the bound of its error where the largest sample is 1: that of the
 * weights, and that of the roundings.
 */
static double
make_axis (ConvolveShrinkAxis *axis, int levels, double sigma)
{
  double taps[CONVOLVE_SHRINK_RADIUS + 1], roundings = 0, sum = 0;

  sigma = ldexp (sigma, -levels);
  axis->levels = levels;
  axis->radius = (int) ceil (CUT * sigma);
  make_taps (axis, sigma, taps);
  make_phases (axis);
  for (int m = axis->radius; m >= 0; m--) {
    double both = fabs (m == 0 ? taps[m] : 2 * taps[m]);

    /* Two samples are added and multiplied by a rounded weight, and the sum so far gets them. */
    sum += both;
    axis->taps[m] = (float) taps[m];
    roundings += 3 * both + sum;
  }
  return (sigma > 0 ? convolve_shrink_missed (levels, sigma) : 0)
      + (3 * levels + roundings + 6) * CONVOLVE_FLOAT_UNIT * 1.01;
}

static int
levels_of (double sigma, int fewer)
{
  int levels = 0;

  while (levels < CONVOLVE_SHRINK_LEVELS && ldexp (sigma, -levels - 1) >= LEAST_SIGMA)
    levels++;
  return levels > fewer ? levels - fewer : 0;
}

/* Chooses the most halvings with which the error fits the promise. False where none does. */
static bool
choose_levels (ConvolveShrink *shrink, double sigma_x, double sigma_y, double budget)
{
  const double middle = shrink->middle, share = fabs ((double) shrink->blurred);
  const double largest = (1.5 * (fabs ((double) shrink->own) + share) + 2) * shrink->maximum;

  for (int fewer = 0; fewer <= CONVOLVE_SHRINK_LEVELS; fewer++) {
    int x_levels = levels_of (sigma_x, fewer), y_levels = levels_of (sigma_y, fewer);

    if (CUT * ldexp (sigma_x, -x_levels) > CONVOLVE_SHRINK_RADIUS
        || CUT * ldexp (sigma_y, -y_levels) > CONVOLVE_SHRINK_RADIUS)
      return false;
    /* The last step has two products and two sums, and rounded shares and offset. */
    shrink->error =
        share * middle * 1.001 * (make_axis (&shrink->x, x_levels, sigma_x) + make_axis (&shrink->y, y_levels, sigma_y))
        + 6 * largest * CONVOLVE_FLOAT_UNIT;
    if (shrink->error <= budget)
      return true;
    if (x_levels == 0 && y_levels == 0)
      return false;
  }
  return false;
}

static ConvolveStatus
check (const ConvolveMask *mask, ConvolveError *error)
{
  const double *taps = mask->taps;
  double gain;

  if (mask->width != 1 || mask->height != 1)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a Gaussian of %dx%d weights: it has no weights, and 1x1",
        mask->width, mask->height);
  for (int i = 2; i < 4; i++)
    if (!(taps[i] >= 0 && taps[i] <= CONVOLVE_MAX_GAUSSIAN))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a Gaussian has the sigma %g: a sigma must be from 0 to %d",
          taps[i], CONVOLVE_MAX_GAUSSIAN);
  gain = (fabs (taps[0]) + fabs (taps[1])) / fabs (mask->divisor);
  if (!(gain <= LARGEST_SHARE))
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "the mask multiplies samples by up to %g, and the limit is %d; a larger divisor is below it", gain,
        LARGEST_SHARE);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_shrink_init (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const double own = mask->taps[0] / mask->divisor, blurred = mask->taps[1] / mask->divisor;
  ConvolveShrink *shrink;

  if (check (mask, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  plan->shrink = shrink = calloc (1, sizeof (*shrink));
  if (!shrink)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a Gaussian");
  shrink->own = (float) own;
  shrink->blurred = (float) blurred;
  shrink->middle = (float) (1 << (pixel->depth - 1));
  shrink->maximum = (float) ((1 << pixel->depth) - 1);
  for (int k = 0; k < pixel->samples; k++)
    shrink->offset[k] = (float) (pixel->zero[k] + (own + blurred) * (shrink->middle - pixel->zero[k])
        + convolve_code_offset (plan, mask, k) + 0.5);
  if (!choose_levels (shrink, mask->taps[2], mask->taps[3], convolve_budget (plan)))
    return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0,
        "a Gaussian on a shrunk picture, times %g, is not within the promised error; a smaller amount or a larger divisor is, and so is a "
        "mask of up to %dx%d weights",
        blurred, CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
  plan->arithmetic.kind = CONVOLVE_ARITHMETIC_SHRINK;
  plan->exact = plan->integers = false;
  plan->identity = pixel->select == 0;
  return CONVOLVE_OK;
}

/* --- ranges --- */

static int
floor_half (int m)
{
  return m >= 0 ? m / 2 : -((1 - m) / 2);
}

/* After so many pixels of level 0 they repeat; 0: they do not, and those beyond the picture are all one. */
static int
period_of (ConvolveBoundary boundary, int n)
{
  switch (boundary) {
    case CONVOLVE_BOUNDARY_WRAP:
      return n;
    case CONVOLVE_BOUNDARY_REFLECT:
      return 2 * n;
    case CONVOLVE_BOUNDARY_REFLECT_101:
      return n > 1 ? 2 * n - 2 : 1;
    case CONVOLVE_BOUNDARY_ZERO:
    case CONVOLVE_BOUNDARY_REPLICATE:
    case CONVOLVE_BOUNDARY_CONSTANT:
    case CONVOLVE_N_BOUNDARIES:
      break;
  }
  return 0;
}

static int
within (int m, int least, int most)
{
  return m < least ? least : m > most ? most : m;
}

void
convolve_shrink_find_ranges (const ConvolveShrinkAxis *axis, ConvolveBoundary boundary, int n, int first, int end,
    ConvolveShrinkRange ranges[CONVOLVE_SHRINK_LEVELS + 1])
{
  int least[CONVOLVE_SHRINK_LEVELS + 1] = { boundary == CONVOLVE_BOUNDARY_REPLICATE ? 0 : -1 };
  int most[CONVOLVE_SHRINK_LEVELS + 1] = { boundary == CONVOLVE_BOUNDARY_REPLICATE ? n - 1 : n };
  int periods[CONVOLVE_SHRINK_LEVELS + 1] = { period_of (boundary, n) };
  ConvolveShrinkRange cells = convolve_shrink_cells (axis->levels, first, end);
  int from = cells.first - axis->radius, to = cells.first + cells.count - 1 + axis->radius;

  for (int l = 1; l <= axis->levels; l++) {
    least[l] = floor_half (least[l - 1] - 2);
    most[l] = floor_half (most[l - 1] + 3);
    periods[l] = periods[l - 1] % 2 ? periods[l - 1] : periods[l - 1] / 2;
  }
  for (int l = axis->levels; l >= 0; l--) {
    if (periods[l] == 0 && l > 0) {
      from = within (from, least[l], most[l]);
      to = within (to, least[l], most[l]);
    }
    ranges[l] = (ConvolveShrinkRange){ from, to - from + 1, false };
    if (l > 0 && periods[l] > 0 && to - from >= periods[l])
      ranges[l] = (ConvolveShrinkRange){ 0, periods[l], true };
    from = 2 * ranges[l].first - 2;
    to = 2 * (ranges[l].first + ranges[l].count - 1) + 2;
  }
}

ConvolveShrinkRange
convolve_shrink_find_source (ConvolveShrinkRange range, ConvolveBoundary boundary, int n)
{
  int last = range.first + range.count - 1;
  ConvolveShrinkRange all = { 0, n, false };

  if (period_of (boundary, n) > 0 && (range.first < 0 || last >= n))
    return all;
  range.first = within (range.first, 0, n - 1);
  range.count = within (last, range.first, n - 1) - range.first + 1;
  return range;
}
