/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that make the taps, and below them the table. All masks are correlations: the first tap meets the
 * top-left neighbour, x runs to the right and y downwards. With a step of 1 the taps are those of the table's formula.
 */
#include "presets/presets.h"

#include <math.h>
#include <string.h>

#include "presets/portable.h"

/* Taps along one axis: tap[i + radius] is for the sample at i, from -radius to radius. */
typedef struct
{
  gint radius;
  gdouble tap[CONVOLVE_MAX_SIDE];
} Axis;

static gdouble *
tap_at (ConvolveMask *mask, gint x, gint y)
{
  return &mask->taps[(y + mask->height / 2) * mask->width + x + mask->width / 2];
}

static gboolean
init_mask (ConvolveMask *mask, gint x_radius, gint y_radius)
{
  return convolve_mask_init (mask, 2 * x_radius + 1, 2 * y_radius + 1);
}

static gboolean
make_product (const Axis *x_axis, const Axis *y_axis, ConvolveMask *mask)
{
  if (!init_mask (mask, x_axis->radius, y_axis->radius))
    return FALSE;
  for (gint y = 0; y < mask->height; y++)
    for (gint x = 0; x < mask->width; x++)
      mask->taps[y * mask->width + x] = y_axis->tap[y] * x_axis->tap[x];
  return TRUE;
}

static gboolean
make_fixed (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  if (!init_mask (mask, 1, 1))
    return FALSE;
  for (gint i = 0; i < 9; i++)
    mask->taps[i] = request->preset->taps[i];
  return TRUE;
}

/* The number of samples that a line of width luma pixels touches on one side of the centre sample. */
static gint
covered_radius (gint width, gint step)
{
  return (width + step - 1) / (2 * step);
}

/*
 * How much of each sample a line of width luma pixels covers, as an integer: in luma pixels for a step of 1,
 * otherwise in halves of a luma pixel, because the ends of the line cut a sample there.
 */
static void
box_axis (gint width, gint step, Axis *axis)
{
  gint part = step == 1 ? 2 : 1;

  axis->radius = covered_radius (width, step);
  for (gint i = 0; i <= axis->radius; i++) {
    gdouble tap = axis->radius == 0 ? 1 : MIN (width + step - 2 * step * i, 2 * step) / part;

    axis->tap[axis->radius - i] = axis->tap[axis->radius + i] = tap;
  }
}

static gboolean
make_box (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  Axis x_axis, y_axis;

  box_axis (request->width, request->x_step, &x_axis);
  box_axis (request->height, request->y_step, &y_axis);
  return make_product (&x_axis, &y_axis, mask);
}

/* Samples the Gaussian, and scales the sum of the taps to 1. */
static void
gaussian_axis (gint width, gdouble sigma, gint step, Axis *axis)
{
  gdouble sum = 0;

  axis->radius = (width / 2 + step - 1) / step;
  for (gint i = 0; i <= axis->radius; i++) {
    gdouble distance = i == 0 ? 0 : i * step / sigma;
    gdouble tap = convolve_portable_exp (-0.5 * distance * distance);

    axis->tap[axis->radius - i] = axis->tap[axis->radius + i] = tap;
    sum += i == 0 ? tap : 2 * tap;
  }
  for (gint i = 0; i <= 2 * axis->radius; i++)
    axis->tap[i] /= sum;
}

static void
gaussian_axes (const ConvolvePresetRequest *request, Axis *x_axis, Axis *y_axis)
{
  gaussian_axis (request->width, request->sigma_x, request->x_step, x_axis);
  gaussian_axis (request->height, request->sigma_y, request->y_step, y_axis);
}

static gboolean
make_gaussian (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  Axis x_axis, y_axis;

  gaussian_axes (request, &x_axis, &y_axis);
  return make_product (&x_axis, &y_axis, mask);
}

/* A mask of nothing but the Gaussian is what was asked for already. */
static void
make_wide_gaussian (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
}

static void
make_wide_unsharp (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  mask->taps[0] = 1 + request->argument;
  mask->taps[1] = -request->argument;
}

static gboolean
make_unsharp (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  if (!make_gaussian (request, mask))
    return FALSE;
  for (gint i = 0; i < mask->width * mask->height; i++)
    mask->taps[i] *= -request->argument;
  *tap_at (mask, 0, 0) += 1 + request->argument;
  return TRUE;
}

/*
 * Scale-normalised: a structure of the size of sigma gives the same response for every sigma. Sampling and cutting
 * leave a mean, which is subtracted. The centre tap then takes what rounding leaves, so that a flat area gives
 * exactly 0.
 */
static gboolean
make_log (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  Axis x_axis, y_axis;
  gdouble sum = 0;

  gaussian_axes (request, &x_axis, &y_axis);
  if (!make_product (&x_axis, &y_axis, mask))
    return FALSE;

  for (gint y = -y_axis.radius; y <= y_axis.radius; y++) {
    for (gint x = -x_axis.radius; x <= x_axis.radius; x++) {
      gdouble *tap = tap_at (mask, x, y), curvature = 0;
      gdouble x_distance = x * request->x_step / request->sigma_x, y_distance = y * request->y_step / request->sigma_y;

      if (*tap == 0) /* far from the centre, where the distance may be infinite */
        continue;
      if (request->width > 1)
        curvature += x_distance * x_distance - 1;
      if (request->height > 1)
        curvature += y_distance * y_distance - 1;
      *tap *= curvature;
      sum += *tap;
    }
  }

  for (gint i = 0; i < mask->width * mask->height; i++)
    mask->taps[i] -= sum / (mask->width * mask->height);
  *tap_at (mask, 0, 0) = 0;
  sum = 0;
  for (gint i = 0; i < mask->width * mask->height; i++)
    sum += mask->taps[i];
  *tap_at (mask, 0, 0) = -sum;
  return TRUE;
}

/*
 * [1 2 1] / 4 convolved with itself width / 2 times. For a step s it is [1 4s^2-2 1] / (4s^2), whose variance is s^2
 * times smaller. The denominators are powers of 2, so the taps are exact up to a denominator of 2^53. Returns the
 * logarithm to base 2 of the denominator that the taps have in common.
 */
static gint
binomial_axis (gint width, gint step, Axis *axis)
{
  gdouble side = 1.0 / (4 * step * step), middle = 1 - 2 * side;
  gint folds = width / 2;

  memset (axis, 0, sizeof *axis);
  axis->radius = folds;
  axis->tap[folds] = 1;
  for (gint fold = 0; fold < folds; fold++) {
    gdouble left = 0;

    for (gint i = 0; i <= 2 * folds; i++) {
      gdouble here = axis->tap[i], right = i < 2 * folds ? axis->tap[i + 1] : 0;

      axis->tap[i] = side * (left + right) + middle * here;
      left = here;
    }
  }

  /* On a subsampled plane the outer taps are so small that samples of 16 bits do not show them. */
  while (step > 1 && axis->radius > 0 && axis->tap[0] < 0x1p-24) {
    axis->radius--;
    memmove (axis->tap, axis->tap + 1, sizeof (gdouble) * (2 * axis->radius + 1));
  }
  return folds * (step == 1 ? 2 : step == 2 ? 4 : step == 4 ? 6 : 8);
}

static gboolean
make_binomial (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  Axis x_axis, y_axis;
  gint bits = binomial_axis (request->width, request->x_step, &x_axis)
      + binomial_axis (request->height, request->y_step, &y_axis);

  if (!make_product (&x_axis, &y_axis, mask))
    return FALSE;
  /* The taps become integers where a double holds them and their sum exactly. */
  if (bits <= 53)
    for (gint i = 0; i < mask->width * mask->height; i++)
      mask->taps[i] = ldexp (mask->taps[i], bits);
  return TRUE;
}

/* The area under y = b sqrt (1 - (x / a)^2) from 0 to x, for 0 <= x <= a. */
static gdouble
area_under_ellipse (gdouble a, gdouble b, gdouble x)
{
  gdouble u = MIN (x / a, 1);

  return 0.5 * a * b * (u * sqrt (1 - u * u) + convolve_portable_asin (u));
}

/* The area of the cell x0..x1 by y0..y1, in the first quadrant, that lies in the ellipse with the radii a and b. */
static gdouble
ellipse_cell (gdouble a, gdouble b, gdouble x0, gdouble x1, gdouble y0, gdouble y1)
{
  /* From x0 to full the cell is inside the ellipse, from empty to x1 outside, and between them on its edge. */
  gdouble full = y1 < b ? a * sqrt (1 - (y1 / b) * (y1 / b)) : 0;
  gdouble empty = y0 < b ? a * sqrt (1 - (y0 / b) * (y0 / b)) : 0;

  full = CLAMP (full, x0, x1);
  empty = CLAMP (empty, x0, x1);
  return (y1 - y0) * (full - x0) + area_under_ellipse (a, b, empty) - area_under_ellipse (a, b, full)
      - y0 * (empty - full);
}

static gboolean
make_disk (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  gdouble a = 0.5 * request->width / request->x_step, b = 0.5 * request->height / request->y_step;
  gint x_radius = covered_radius (request->width, request->x_step);
  gint y_radius = covered_radius (request->height, request->y_step);

  if (!init_mask (mask, x_radius, y_radius))
    return FALSE;
  for (gint y = 0; y <= y_radius; y++) {
    for (gint x = 0; x <= x_radius; x++) {
      /* The taps of a round disk are to be equal in x and y to the last bit, so each is computed once, with y <= x. */
      gint i = a == b ? MAX (x, y) : x, j = a == b ? MIN (x, y) : y;
      gdouble x0 = i == 0 ? 0 : i - 0.5, y0 = j == 0 ? 0 : j - 0.5;
      gdouble cell = ellipse_cell (a, b, x0, i + 0.5, y0, j + 0.5) * (i == 0 ? 2 : 1) * (j == 0 ? 2 : 1);

      if (cell < 1e-9)
        cell = 0;
      *tap_at (mask, x, y) = *tap_at (mask, -x, y) = *tap_at (mask, x, -y) = *tap_at (mask, -x, -y) = cell;
    }
  }
  return TRUE;
}

/* Cosine and sine: exact at multiples of 90 degrees, and of one magnitude at odd multiples of 45. */
static void
direction (gdouble degrees, gdouble *cosine, gdouble *sine)
{
  gdouble quadrant = floor (degrees / 90), rest = degrees - 90 * quadrant;
  gdouble c = rest == 45 ? 0.5 * G_SQRT2 : convolve_portable_cos (rest * (G_PI / 180));
  gdouble s = rest == 45 ? 0.5 * G_SQRT2 : convolve_portable_sin (rest * (G_PI / 180));

  switch (((gint) fmod (quadrant, 4) + 4) % 4) {
    case 0:
      *cosine = c, *sine = s;
      break;
    case 1:
      *cosine = -s, *sine = c;
      break;
    case 2:
      *cosine = -c, *sine = -s;
      break;
    default:
      *cosine = s, *sine = -c;
  }
}

/* The number of samples on one side of the centre that are nearer than 1 to a line which ends at end. */
static gint
near_radius (gdouble end, gint width, gint step)
{
  gint radius = (gint) ceil (fabs (end) - 1e-9);

  return MIN (radius, covered_radius (width, step));
}

static gboolean
make_motion (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  gdouble dx, dy, length, half;
  gint x_radius, y_radius;

  /* A diameter of the ellipse width by height, in samples of the plane. Angles turn upwards, and y grows downwards. */
  direction (request->argument, &dx, &dy);
  dx *= (gdouble) request->width / request->x_step;
  dy *= -(gdouble) request->height / request->y_step;
  length = convolve_portable_hypot (dx, dy);
  dx /= length;
  dy /= length;
  half = MAX (0.5 * (length - 1), 0); /* taps are above 0 up to one sample beyond the line */

  x_radius = near_radius (half * dx, request->width, request->x_step);
  y_radius = near_radius (half * dy, request->height, request->y_step);
  if (!init_mask (mask, x_radius, y_radius))
    return FALSE;
  for (gint y = -y_radius; y <= y_radius; y++) {
    for (gint x = -x_radius; x <= x_radius; x++) {
      gdouble beyond = MAX (fabs (x * dx + y * dy) - half, 0), beside = x * dy - y * dx;
      gdouble tap = 1 - convolve_portable_hypot (beyond, beside);

      *tap_at (mask, x, y) = tap < 1e-9 ? 0 : tap;
    }
  }
  return TRUE;
}

/* The neighbours in the order of their angle: right, top right, top and so on, as x and y. */
static const gint8 ring[8][2] = { { 1, 0 }, { 1, -1 }, { 0, -1 }, { -1, -1 }, { -1, 0 }, { -1, 1 }, { 0, 1 },
  { 1, 1 } };

/* A tap is -1 up to 45 degrees from the light, 1 up to 45 degrees from the opposite direction, and linear between. */
static gboolean
make_emboss (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  if (!init_mask (mask, 1, 1))
    return FALSE;
  for (gint i = 0; i < 4; i++) {
    gdouble from_light = fabs (remainder (45 * i - request->argument, 360));
    gdouble tap = CLAMP ((from_light - 90) / 45, -1, 1);

    *tap_at (mask, ring[i][0], ring[i][1]) = tap;
    *tap_at (mask, ring[i + 4][0], ring[i + 4][1]) = 0 - tap;
  }
  return TRUE;
}

static gboolean
make_laplacian (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  gint neighbours = (gint) request->argument;

  if (!init_mask (mask, 1, 1))
    return FALSE;
  for (gint i = 0; i < 8; i += 8 / neighbours)
    *tap_at (mask, ring[i][0], ring[i][1]) = 1;
  *tap_at (mask, 0, 0) = -neighbours;
  return TRUE;
}

static gboolean
init_sets (const ConvolvePresetRequest *request, gint sets, ConvolveMask *mask)
{
  return convolve_mask_init_sets (mask, 3, 3, sets, request->preset->combination);
}

/* The slope to the right, as the row of the table has it, and the slope downwards, which is its transpose. */
static gboolean
make_slopes (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  if (!init_sets (request, 2, mask))
    return FALSE;
  for (gint i = 0; i < 9; i++) {
    convolve_mask_taps (mask, 0)[i] = request->preset->taps[i];
    convolve_mask_taps (mask, 1)[i] = request->preset->taps[i % 3 * 3 + i / 3];
  }
  return TRUE;
}

/* The differences along both diagonals of the square whose top left sample is the centre. */
static gboolean
make_roberts (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  static const gint8 crosses[2][9] = { { 0, 0, 0, 0, 1, 0, 0, 0, -1 }, { 0, 0, 0, 0, 0, 1, 0, -1, 0 } };

  if (!init_sets (request, 2, mask))
    return FALSE;
  for (gint k = 0; k < 2; k++)
    for (gint i = 0; i < 9; i++)
      convolve_mask_taps (mask, k)[i] = crosses[k][i];
  return TRUE;
}

/* The ring of neighbours, turned by 45 degrees from set to set: three of them, 5 each, are on the bright side. */
static gboolean
make_kirsch (const ConvolvePresetRequest *request, ConvolveMask *mask)
{
  ConvolveMask set;

  if (!init_sets (request, 8, mask))
    return FALSE;
  for (gint k = 0; k < 8; k++) {
    set = *mask;
    set.taps = convolve_mask_taps (mask, k);
    for (gint i = 0; i < 8; i++)
      *tap_at (&set, ring[i][0], ring[i][1]) = (i - k + 9) % 8 < 3 ? 5 : -3;
  }
  return TRUE;
}

static const ConvolvePreset presets[] = {
  { .name = "identity",
      .purpose = "the picture as it is, for comparisons",
      .formula = "[0 0 0; 0 1 0; 0 0 0]",
      .width = 3,
      .make = make_fixed,
      .taps = { 0, 0, 0, 0, 1, 0, 0, 0, 0 } },
  { .name = "box",
      .purpose = "the plain mean, the fastest blur",
      .formula = "1 everywhere; on a subsampled plane the part of each sample that the box covers",
      .width = 5,
      .sized = TRUE,
      .make = make_box },
  { .name = "gaussian",
      .purpose = "a smooth blur without preferred directions, against noise",
      .formula = "exp(-(x^2 + y^2) / (2 sigma^2)), sum 1, sampled; sigma from the width by the rule of OpenCV's "
                 "getGaussianKernel, which itself has fixed tables up to width 7",
      .width = 5,
      .sized = TRUE,
      .radius_in_sigmas = 3,
      .make = make_gaussian,
      .make_wide = make_wide_gaussian },
  { .name = "binomial",
      .purpose = "nearly the gaussian, in integers",
      .formula = "C(w-1, x) C(h-1, y), that is [1 2 1] / 4 convolved with itself; Burt and Adelson 1983",
      .width = 5,
      .sized = TRUE,
      .make = make_binomial },
  { .name = "sharpen",
      .purpose = "crisper edges, without a setting",
      .formula = "[0 -1 0; -1 5 -1; 0 -1 0], identity minus laplacian",
      .width = 3,
      .make = make_fixed,
      .taps = { 0, -1, 0, -1, 5, -1, 0, -1, 0 } },
  { .name = "unsharp",
      .purpose = "sharpening with a width and an amount",
      .formula = "(1 + amount) identity - amount gaussian; the darkroom's unsharp mask",
      .width = 5,
      .sized = TRUE,
      .radius_in_sigmas = 3,
      .make = make_unsharp,
      .make_wide = make_wide_unsharp,
      .argument = "the amount, 0..100, 1 by default",
      .argument_default = 1,
      .argument_max = 100 },
  { .name = "emboss",
      .purpose = "a relief lit from one side, on middle grey",
      .formula = "[-1 -1 0; -1 0 1; 0 1 1] for light from the top left, its ring turned to the angle; offset 0.5",
      .width = 3,
      .offset = 0.5,
      .make = make_emboss,
      .argument = "the angle of the light in degrees, counter-clockwise from the right, -360..360, 135 by default",
      .argument_default = 135,
      .argument_min = -360,
      .argument_max = 360 },
  { .name = "laplacian",
      .purpose = "edges and spots of every direction, bright spots negative",
      .formula = "[0 1 0; 1 -4 1; 0 1 0], or [1 1 1; 1 -8 1; 1 1 1] for laplacian:8; second differences",
      .width = 3,
      .make = make_laplacian,
      .argument = "the number of neighbours, 4 or 8, 4 by default",
      .argument_default = 4,
      .argument_min = 4,
      .argument_max = 8,
      .argument_interval = 4 },
  { .name = "log",
      .purpose = "edges and spots of one size, noise suppressed",
      .formula = "((x^2 + y^2) / sigma^2 - 2) gaussian less its mean, sum 0; Marr and Hildreth 1980, "
                 "scale-normalised after Lindeberg 1998",
      .width = 9,
      .sized = TRUE,
      .radius_in_sigmas = 4,
      .make = make_log },
  { .name = "sobel-x",
      .purpose = "the slope to the right: vertical edges",
      .formula = "[-1 0 1; -2 0 2; -1 0 1]; Sobel and Feldman 1968",
      .width = 3,
      .make = make_fixed,
      .taps = { -1, 0, 1, -2, 0, 2, -1, 0, 1 } },
  { .name = "sobel-y",
      .purpose = "the slope downwards: horizontal edges",
      .formula = "[-1 -2 -1; 0 0 0; 1 2 1]; Sobel and Feldman 1968",
      .width = 3,
      .make = make_fixed,
      .taps = { -1, -2, -1, 0, 0, 0, 1, 2, 1 } },
  { .name = "prewitt-x",
      .purpose = "the slope to the right, rows weighted alike",
      .formula = "[-1 0 1; -1 0 1; -1 0 1]; Prewitt 1970",
      .width = 3,
      .make = make_fixed,
      .taps = { -1, 0, 1, -1, 0, 1, -1, 0, 1 } },
  { .name = "prewitt-y",
      .purpose = "the slope downwards, columns weighted alike",
      .formula = "[-1 -1 -1; 0 0 0; 1 1 1]; Prewitt 1970",
      .width = 3,
      .make = make_fixed,
      .taps = { -1, -1, -1, 0, 0, 0, 1, 1, 1 } },
  { .name = "scharr-x",
      .purpose = "the slope to the right, its direction the most exact of the 3x3 masks",
      .formula = "[-3 0 3; -10 0 10; -3 0 3]; Scharr 2000",
      .width = 3,
      .make = make_fixed,
      .taps = { -3, 0, 3, -10, 0, 10, -3, 0, 3 } },
  { .name = "scharr-y",
      .purpose = "the slope downwards, its direction the most exact of the 3x3 masks",
      .formula = "[-3 -10 -3; 0 0 0; 3 10 3]; Scharr 2000",
      .width = 3,
      .make = make_fixed,
      .taps = { -3, -10, -3, 0, 0, 0, 3, 10, 3 } },
  { .name = "sobel",
      .purpose = "edges of every direction, bright on black",
      .formula = "the root of sobel-x squared plus sobel-y squared",
      .width = 3,
      .make = make_slopes,
      .taps = { -1, 0, 1, -2, 0, 2, -1, 0, 1 },
      .combination = CONVOLVE_MAGNITUDE },
  { .name = "prewitt",
      .purpose = "edges of every direction, rows and columns weighted alike",
      .formula = "the root of prewitt-x squared plus prewitt-y squared",
      .width = 3,
      .make = make_slopes,
      .taps = { -1, 0, 1, -1, 0, 1, -1, 0, 1 },
      .combination = CONVOLVE_MAGNITUDE },
  { .name = "scharr",
      .purpose = "edges of every direction, none of them brighter than another",
      .formula = "the root of scharr-x squared plus scharr-y squared",
      .width = 3,
      .make = make_slopes,
      .taps = { -3, 0, 3, -10, 0, 10, -3, 0, 3 },
      .combination = CONVOLVE_MAGNITUDE },
  { .name = "roberts",
      .purpose = "the finest edges, from four samples",
      .formula = "the root of the squares of [0 0 0; 0 1 0; 0 0 -1] and [0 0 0; 0 0 1; 0 -1 0], added; Roberts 1963",
      .width = 3,
      .make = make_roberts,
      .combination = CONVOLVE_MAGNITUDE },
  { .name = "kirsch",
      .purpose = "edges of every direction, strong ones and weak ones",
      .formula = "the largest of [5 5 5; -3 0 -3; -3 -3 -3] and its turns by 45 to 315 degrees; Kirsch 1971",
      .width = 3,
      .make = make_kirsch,
      .combination = CONVOLVE_LARGEST },
  { .name = "disk",
      .purpose = "a lens out of focus",
      .formula = "the part of each sample that lies in the ellipse mask-width by mask-height",
      .width = 5,
      .sized = TRUE,
      .make = make_disk },
  { .name = "motion",
      .purpose = "a camera moved while the shutter is open",
      .formula = "1 - distance to the line from edge to edge of that ellipse, at least 0; after MATLAB's fspecial",
      .width = 9,
      .sized = TRUE,
      .make = make_motion,
      .argument = "the angle in degrees, counter-clockwise from the right, -360..360, 0 by default",
      .argument_min = -360,
      .argument_max = 360 },
};

const ConvolvePreset *
convolve_presets (guint *n)
{
  *n = G_N_ELEMENTS (presets);
  return presets;
}
