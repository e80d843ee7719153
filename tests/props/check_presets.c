/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the presets, by walking their list: every size, subsampled planes, values, and formulas. */
#include <math.h>
#include <stdlib.h>

#include "props/check_props.h"

static const guint steps[] = { 1, 2, 4, 8 };

typedef struct
{
  gdouble sum, magnitude, x_moment, y_moment;
  gboolean finite;
  gboolean point_symmetric;  /* t(-x, -y) = t(x, y), to the bit */
  gboolean mirror_symmetric; /* t(-x, y) = t(x, -y) = t(x, y), to the bit */
  gboolean transposable;     /* t(y, x) = t(x, y), to the bit */
} Measure;

static Measure
measure (const ConvolveMask *mask)
{
  Measure m = { .finite = TRUE, .point_symmetric = TRUE, .mirror_symmetric = TRUE, .transposable = TRUE };
  gint w = mask->width, h = mask->height;

  m.transposable = w == h;
  for (gint y = 0; y < h; y++) {
    for (gint x = 0; x < w; x++) {
      gdouble tap = mask->taps[y * w + x];

      m.finite &= isfinite (tap) != 0;
      m.sum += tap;
      m.magnitude += fabs (tap);
      m.x_moment += tap * (x - w / 2);
      m.y_moment += tap * (y - h / 2);
      m.point_symmetric &= tap == mask->taps[(h - 1 - y) * w + w - 1 - x];
      m.mirror_symmetric &= tap == mask->taps[(h - 1 - y) * w + x] && tap == mask->taps[y * w + w - 1 - x];
      if (w == h)
        m.transposable &= tap == mask->taps[x * w + y];
    }
  }
  return m;
}

/* What all masks of a sized preset have in common. Says what is wrong, or NULL. */
static const gchar *
judge_sized (const gchar *name, guint width, guint height, guint x_step, guint y_step, const ConvolveMask *mask)
{
  Measure m = measure (mask);
  gboolean is_log = g_str_equal (name, "log"), is_motion = g_str_equal (name, "motion");
  gdouble noise = 1e-12 * m.magnitude;

  if (!m.finite)
    return "a tap is not finite";
  if (mask->width % 2 == 0 || mask->height % 2 == 0)
    return "even";
  if (mask->width > (gint) width || mask->height > (gint) height)
    return "larger than asked for";
  if (x_step == 1 && y_step == 1 && !is_motion && (mask->width != (gint) width || mask->height != (gint) height))
    return "not as large as asked for";
  if (!m.point_symmetric || (!is_motion && !m.mirror_symmetric))
    return "not symmetric";
  if (!is_motion && width == height && x_step == y_step && !m.transposable)
    return "differs between x and y";
  if (fabs (m.x_moment) > noise * width || fabs (m.y_moment) > noise * height)
    return "the first moment is not 0";
  if (is_log ? fabs (m.sum) > noise || mask->divisor != 1 : fabs (mask->divisor - m.sum) > noise || m.sum <= 0)
    return "sum and divisor";
  if (is_log && mask->width * mask->height > 1 && mask->taps[mask->width * mask->height / 2] >= 0)
    return "the centre is not negative";
  if (!is_log && !g_str_equal (name, "unsharp") && m.sum != m.magnitude)
    return "a tap is negative";
  if (mask->offset != 0)
    return "offset";
  return NULL;
}

static void
walk_sized (const gchar *name, guint width, guint height)
{
  ConvolveSettings settings = settings_of (name, width, height);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    for (guint j = 0; j < G_N_ELEMENTS (steps); j++) {
      ConvolveMask mask = make_scaled (&settings, steps[i], steps[j]);
      const gchar *wrong = judge_sized (name, width, height ? height : width, steps[i], steps[j], &mask);

      fail_if (wrong != NULL, "%s %ux%u, step %ux%u: %s", name, width, height, steps[i], steps[j], wrong);
      convolve_mask_clear (&mask);
    }
  }
}

GST_START_TEST (every_size)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);

  for (guint i = 0; i < n_presets; i++) {
    const gchar *name = presets[i].name;

    if (!presets[i].sized)
      continue;
    for (guint width = 1; width <= CONVOLVE_MAX_SIDE; width += 2) {
      walk_sized (name, width, 0);
      walk_sized (name, width, 1);
      walk_sized (name, 1, width);
      walk_sized (name, width, 7);
      walk_sized (name, 11, width);
    }
    refuse_sized (name, 4, 0, "mask-width: 4 is not 0 or an odd number up to 255");
    refuse_sized (name, 3, 256, "mask-height: 256 is not 0 or an odd number up to 255");
    refuse_sized (name, 257, 0, "mask-width: 257 is not 0 or an odd number up to 255");
  }
}

GST_END_TEST;

/* A preset takes an argument where its table says what it means, and refuses one otherwise. */
GST_START_TEST (arguments)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);

  for (guint i = 0; i < n_presets; i++) {
    ConvolveSettings settings;
    ConvolveMask mask;
    gboolean taken;

    convolve_settings_init (&settings);
    g_free (settings.mask);
    settings.mask = g_strdup_printf ("%s:4", presets[i].name);
    taken = convolve_settings_make_mask (&settings, 1, 1, &mask, NULL);
    fail_unless_equals_int (taken, presets[i].argument != NULL);
    if (taken)
      convolve_mask_clear (&mask);
    convolve_settings_clear (&settings);
  }
}

GST_END_TEST;

/* A preset without a size is 3x3 on every plane, and another size is refused. */
GST_START_TEST (one_size)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);

  for (guint i = 0; i < n_presets; i++) {
    const gchar *name = presets[i].name;
    gchar *message;

    fail_unless (presets[i].purpose[0] != '\0' && presets[i].formula[0] != '\0');
    fail_unless (strpbrk (presets[i].purpose, "\n\r") == NULL);
    fail_unless (strpbrk (presets[i].formula, "\n\r") == NULL);
    if (presets[i].sized)
      continue;
    for (guint step = 0; step < G_N_ELEMENTS (steps); step++) {
      ConvolveSettings settings = settings_of (name, 3, step ? 3 : 0);
      ConvolveMask luma = make (name, 0, 0), other = make_scaled (&settings, steps[step], 1);
      Measure m = measure (&luma);

      fail_unless (luma.width == 3 && luma.height == 3, "%s", name);
      fail_unless (luma.combination == other.combination && luma.sets == other.sets, "%s", name);
      fail_unless (memcmp (luma.taps, other.taps, 9 * convolve_mask_sets (&luma) * sizeof (gdouble)) == 0, "%s", name);
      fail_unless (luma.divisor == (m.sum == 0 ? 1 : m.sum), "%s: the sum is %g, and the divisor %g", name, m.sum,
          luma.divisor);
      convolve_mask_clear (&luma);
      convolve_mask_clear (&other);
    }
    message = g_strdup_printf ("mask-width: 5 contradicts the preset %s in mask, which is always 3x3", name);
    refuse_sized (name, 5, 0, message);
    g_free (message);
    message = g_strdup_printf ("mask-height: 1 contradicts the preset %s in mask, which is always 3x3", name);
    refuse_sized (name, 3, 1, message);
    g_free (message);
  }
}

GST_END_TEST;

#define DISK_1 \
  0x1.921fb54442d17p-1 /* pi / 4, and one unit of the last place less, from the arcsine of props/presets/portable.c */

/* Masks worked out by hand: the text of mask, mask-width and mask-height, and the mask that comes of them. */
static const struct
{
  const gchar *text;
  guint mask_width, mask_height;
  gint width, height;
  gdouble divisor, taps[9];
} masks[] = {
  { "identity", 0, 0, 3, 3, 1, { 0, 0, 0, 0, 1, 0, 0, 0, 0 } },
  { "sharpen", 0, 0, 3, 3, 1, { 0, -1, 0, -1, 5, -1, 0, -1, 0 } },
  { "laplacian", 0, 0, 3, 3, 1, { 0, 1, 0, 1, -4, 1, 0, 1, 0 } },
  { "laplacian:4", 0, 0, 3, 3, 1, { 0, 1, 0, 1, -4, 1, 0, 1, 0 } },
  { "laplacian:8", 0, 0, 3, 3, 1, { 1, 1, 1, 1, -8, 1, 1, 1, 1 } },
  { "sobel-x", 0, 0, 3, 3, 1, { -1, 0, 1, -2, 0, 2, -1, 0, 1 } },
  { "sobel-y", 0, 0, 3, 3, 1, { -1, -2, -1, 0, 0, 0, 1, 2, 1 } },
  { "prewitt-x", 0, 0, 3, 3, 1, { -1, 0, 1, -1, 0, 1, -1, 0, 1 } },
  { "prewitt-y", 0, 0, 3, 3, 1, { -1, -1, -1, 0, 0, 0, 1, 1, 1 } },
  { "scharr-x", 0, 0, 3, 3, 1, { -3, 0, 3, -10, 0, 10, -3, 0, 3 } },
  { "scharr-y", 0, 0, 3, 3, 1, { -3, -10, -3, 0, 0, 0, 3, 10, 3 } },
  { "emboss", 0, 0, 3, 3, 1, { -1, -1, 0, -1, 0, 1, 0, 1, 1 } },
  { "emboss:135", 0, 0, 3, 3, 1, { -1, -1, 0, -1, 0, 1, 0, 1, 1 } },
  { "emboss:-225", 0, 0, 3, 3, 1, { -1, -1, 0, -1, 0, 1, 0, 1, 1 } },
  { "emboss:180", 0, 0, 3, 3, 1, { -1, 0, 1, -1, 0, 1, -1, 0, 1 } },
  { "emboss:90", 0, 0, 3, 3, 1, { -1, -1, -1, 0, 0, 0, 1, 1, 1 } },
  { "emboss:45", 0, 0, 3, 3, 1, { 0, -1, -1, 1, 0, -1, 1, 1, 0 } },
  { "emboss:112.5", 0, 0, 3, 3, 1, { -1, -1, -0.5, -0.5, 0, 0.5, 0.5, 1, 1 } },
  { "box", 3, 0, 3, 3, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
  { "box", 5, 1, 5, 1, 5, { 1, 1, 1, 1, 1 } },
  { "binomial", 3, 0, 3, 3, 16, { 1, 2, 1, 2, 4, 2, 1, 2, 1 } },
  { "binomial", 5, 1, 5, 1, 16, { 1, 4, 6, 4, 1 } },
  { "binomial", 1, 7, 1, 7, 64, { 1, 6, 15, 20, 15, 6, 1 } },
  { "motion", 5, 0, 5, 1, 5, { 1, 1, 1, 1, 1 } },
  { " \n motion : 90 ", 5, 0, 1, 5, 5, { 1, 1, 1, 1, 1 } },
  { "motion:-180", 5, 0, 5, 1, 5, { 1, 1, 1, 1, 1 } },
  { "disk", 1, 0, 1, 1, DISK_1, { DISK_1 } },
  { "unsharp:0", 3, 0, 3, 3, 1, { 0, 0, 0, 0, 1, 0, 0, 0, 0 } },
};

/* The masks of these have no simple numbers; from_sigma and by_meaning hold them against their formulas. */
static const gchar *const by_formula[] = { "gaussian", "log" };

static gboolean
has_values (const gchar *preset)
{
  for (guint i = 0; i < G_N_ELEMENTS (by_formula); i++)
    if (g_str_equal (by_formula[i], preset))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
    g_auto (GStrv) parts = g_strsplit (masks[i].text, ":", 2);

    if (g_str_equal (g_strstrip (parts[0]), preset))
      return TRUE;
  }
  return is_combination (preset);
}

GST_START_TEST (by_value)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    expect (make (masks[i].text, masks[i].mask_width, masks[i].mask_height), masks[i].text, masks[i].width,
        masks[i].height, masks[i].taps, masks[i].divisor);
  for (guint i = 0; i < n_presets; i++)
    fail_unless (has_values (presets[i].name), "%s has no row in masks", presets[i].name);
}

GST_END_TEST;

/* The taps of box and binomial are integers, and their sum is exact, as long as doubles can hold them. */
GST_START_TEST (in_integers)
{
  for (guint width = 1; width <= CONVOLVE_MAX_SIDE; width += 2) {
    for (guint step = 0; step < G_N_ELEMENTS (steps); step++) {
      ConvolveSettings box = settings_of ("box", width, 0), binomial = settings_of ("binomial", width, 1);
      ConvolveMask mask = make_scaled (&box, steps[step], steps[step]);
      gdouble sum = 0, covered = width * (steps[step] == 1 ? 1.0 : 2.0);
      gboolean integers = TRUE;

      for (gint i = 0; i < mask.width * mask.height; i++) {
        integers &= mask.taps[i] == floor (mask.taps[i]);
        sum += mask.taps[i];
      }
      fail_unless (integers, "box %u, step %u", width, steps[step]);
      if (mask.width > 1)
        fail_unless (sum == covered * covered && mask.divisor == sum, "box %u, step %u", width, steps[step]);
      convolve_mask_clear (&mask);

      mask = make_scaled (&binomial, steps[step], 1);
      sum = 0;
      for (gint i = 0; i < mask.width; i++)
        sum += mask.taps[i];
      if (width == 53 && steps[step] == 1) /* 2^52, and C(52, 26) in the middle */
        fail_unless (sum == 0x1p52 && mask.taps[26] == 495918532948104.0 && mask.taps[1] == 52);
      if (width >= 55 && steps[step] == 1)
        fail_unless (fabs (sum - 1) < 1e-14);
      fail_unless (fabs (mask.divisor / sum - 1) < 1e-14);
      convolve_mask_clear (&mask);
    }
  }
}

GST_END_TEST;

static gdouble
variance_x (const ConvolveMask *mask)
{
  gdouble sum = 0, variance = 0;

  for (gint y = 0; y < mask->height; y++) {
    for (gint x = 0; x < mask->width; x++) {
      sum += mask->taps[y * mask->width + x];
      variance += mask->taps[y * mask->width + x] * (x - mask->width / 2) * (x - mask->width / 2);
    }
  }
  return variance / sum;
}

/* On a subsampled plane a blur has the width in the picture that it has on the luma plane. */
GST_START_TEST (on_subsampled_planes)
{
  static const struct
  {
    const gchar *name;
    guint width;
    gdouble tolerance; /* of the standard deviation, in samples of the plane */
  } blurs[] = { { "gaussian", 31, 0.02 }, { "binomial", 31, 1e-4 }, { "box", 31, 0.08 }, { "disk", 31, 0.1 },
    { "motion", 31, 0.1 }, { "motion:30", 31, 0.2 }, { "motion:45", 31, 0.2 }, { "motion:300", 31, 0.2 } };

  for (guint i = 0; i < G_N_ELEMENTS (blurs); i++) {
    ConvolveSettings settings = settings_of (blurs[i].name, blurs[i].width, 0);
    ConvolveMask luma = make_scaled (&settings, 1, 1);
    gdouble wanted = sqrt (variance_x (&luma));

    for (guint step = 1; step < G_N_ELEMENTS (steps); step++) {
      for (guint other = 0; other < G_N_ELEMENTS (steps); other++) {
        ConvolveMask mask = make_scaled (&settings, steps[step], steps[other]);
        gdouble found = sqrt (variance_x (&mask));

        fail_unless (fabs (found - wanted / steps[step]) < blurs[i].tolerance,
            "%s: deviation %g on a plane of step %ux%u, %g in luma", blurs[i].name, found, steps[step], steps[other],
            wanted);
        convolve_mask_clear (&mask);
      }
    }
    convolve_mask_clear (&luma);
  }
  {
    ConvolveSettings box = settings_of ("box", 5, 0), binomial = settings_of ("binomial", 3, 1);

    expect (make_scaled (&box, 2, 1), "box 5 at 2x1", 3, 5, TAPS (3, 4, 3, 3, 4, 3, 3, 4, 3, 3, 4, 3, 3, 4, 3), 50);
    expect (make_scaled (&binomial, 2, 2), "binomial 3 at 2", 3, 1, TAPS (1, 14, 1), 16);
    expect (make_scaled (&binomial, 4, 2), "binomial 3 at 4", 3, 1, TAPS (1, 62, 1), 64);
  }
}

GST_END_TEST;

/* The default sigma is that of OpenCV's getGaussianKernel (5, 0): 1.1. */
GST_START_TEST (from_sigma)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  ConvolveSettings settings = settings_of ("gaussian", 0, 0);
  gdouble axis[5], sum = 0;
  ConvolveMask mask;

  for (gint i = 0; i < 5; i++)
    sum += axis[i] = exp (-(i - 2) * (i - 2) / (2 * 1.1 * 1.1));
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 5 && mask.height == 5);
  for (gint i = 0; i < 25; i++)
    fail_unless (fabs (mask.taps[i] / mask.divisor - axis[i / 5] * axis[i % 5] / (sum * sum)) < 1e-15);
  convolve_mask_clear (&mask);

  /* Each axis has the sigma of its own width: 1.1 and 0.8. */
  mask = make ("gaussian", 5, 3);
  fail_unless (fabs (mask.taps[6] / mask.taps[7] - exp (-0.5 / (1.1 * 1.1))) < 1e-15);
  fail_unless (fabs (mask.taps[2] / mask.taps[7] - exp (-0.5 / (0.8 * 0.8))) < 1e-15);
  convolve_mask_clear (&mask);

  for (guint tenths = 1; tenths <= 423; tenths++) {
    settings.sigma = tenths / 10.0;
    mask = make_scaled (&settings, 1, 1);
    fail_unless (mask.width == 2 * (gint) ceil (3 * settings.sigma) + 1 && mask.height == mask.width);
    if (tenths >= 10)
      fail_unless (fabs (sqrt (variance_x (&mask)) / settings.sigma - 1) < 0.02);
    convolve_mask_clear (&mask);
  }
  settings.sigma = 2;
  settings.mask_height = 1;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 13 && mask.height == 1);
  convolve_mask_clear (&mask);
  mask = make_scaled (&settings, 4, 4);
  fail_unless (mask.width == 5 && mask.height == 1);
  convolve_mask_clear (&mask);

  settings = settings_of ("log", 0, 0);
  settings.sigma = 42.4;
  refuse_settings (&settings,
      "sigma: 42.4 gives the preset log a width of 341, more than 255; mask-width can set a smaller one, and gaussian and "
      "unsharp take any sigma");
  settings = settings_of ("gaussian", 0, 0);
  settings.sigma = 42.4;
  settings.mask_width = 9;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 9);
  convolve_mask_clear (&mask);

  /* Extreme sigmas give extreme masks, never NaN. */
  for (guint i = 0; i < n_presets; i++) {
    static const gdouble sigmas[] = { 0, 5e-324, 1e-300, 1e-160, 1e-9, 0.05, 0.3, 255 };

    for (guint j = 0; j < G_N_ELEMENTS (sigmas) && presets[i].sized; j++) {
      settings = settings_of (presets[i].name, 15, 0);
      settings.sigma = sigmas[j];
      for (guint step = 0; step < G_N_ELEMENTS (steps); step++) {
        const gchar *wrong;

        mask = make_scaled (&settings, steps[step], 1);
        wrong = judge_sized (settings.mask, 15, 15, steps[step], 1, &mask);
        fail_if (wrong != NULL, "%s, sigma %g: %s", settings.mask, sigmas[j], wrong);
        convolve_mask_clear (&mask);
      }
    }
  }
}

GST_END_TEST;

/* Beyond 255 weights there are none: the shares of the pixel and of the blur, and sigma in the plane's own pixels. */
GST_START_TEST (beyond_weights)
{
  ConvolveSettings settings = settings_of ("gaussian", 0, 0);
  ConvolveMask mask;

  settings.sigma = 42.3;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.combination == CONVOLVE_SUM && mask.width == 255);
  convolve_mask_clear (&mask);
  settings.sigma = 1000;
  mask = make_scaled (&settings, 2, 1);
  fail_unless (mask.combination == CONVOLVE_GAUSSIAN && mask.width == 1 && mask.height == 1 && mask.divisor == 1);
  fail_unless (mask.taps[0] == 0 && mask.taps[1] == 1 && mask.taps[2] == 496.5 && mask.taps[3] == 993);
  convolve_mask_clear (&mask);
  settings.mask_height = 1;
  settings.mix = 0.25;
  settings.divisor = 2;
  settings.bias = 0.5;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.taps[0] == 1.5 && mask.taps[1] == 0.25 && mask.taps[2] == 993 && mask.taps[3] == 0);
  fail_unless (mask.divisor == 2 && mask.offset == 0.125);
  convolve_mask_clear (&mask);
  settings = settings_of ("unsharp:1.5", 0, 0);
  settings.sigma = 60;
  mask = make_scaled (&settings, 4, 2);
  fail_unless (
      mask.taps[0] == 2.5 && mask.taps[1] == -1.5 && mask.taps[2] == 0.993 * 60 / 4 && mask.taps[3] == 0.993 * 60 / 2);
  fail_unless (mask.divisor == 1);
  convolve_mask_clear (&mask);

  settings.absolute = TRUE;
  refuse_settings (&settings,
      "absolute: true cannot be done with sigma 60, from which follow more than 255 weights; absolute=false can, or "
      "mask-width up to 255");
  settings.absolute = FALSE;
  settings.mask_height = 3;
  refuse_settings (&settings,
      "mask-height: 3 cannot be done with sigma 60, from which follows a width of 361, more than 255; mask-height 0 or 1 can, "
      "or mask-width up to 255");
}

GST_END_TEST;

/* How far two masks are from each other: the sum of the differences of their weights. */
static gdouble
difference (const ConvolveMask *a, const ConvolveMask *b)
{
  gdouble sum = 0;

  fail_unless (a->width == b->width && a->height == b->height);
  for (gint i = 0; i < a->width * a->height; i++)
    sum += fabs (a->taps[i] / a->divisor - b->taps[i] / b->divisor);
  return sum;
}

/* A sigma of 0 gives the mask that ever smaller ones come to, in every plane: no blur, or the least mask of log. */
GST_START_TEST (sigma_of_zero)
{
  static const gchar *const names[] = { "gaussian", "unsharp:1.7", "log" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint width = 0; width <= 9; width += 9)
      for (guint step = 0; step < G_N_ELEMENTS (steps); step++) {
        ConvolveSettings settings = settings_of (names[i], width, 0);
        ConvolveMask zero, mask;
        gdouble before = INFINITY;

        settings.sigma = 0;
        zero = make_scaled (&settings, steps[step], steps[step]);
        for (gint n = 8; n >= 0; n--) {
          gdouble far;

          settings.sigma = n == 0 ? 0.01 : n / 32.0;
          mask = make_scaled (&settings, steps[step], steps[step]);
          far = difference (&mask, &zero);
          fail_unless (far <= before, "%s, sigma %g: %g, and %g before", names[i], settings.sigma, far, before);
          before = far;
          convolve_mask_clear (&mask);
        }
        fail_unless (before == 0, "%s, sigma 0.01 is %g from sigma 0", names[i], before);
        for (gint k = 0; i < 2 && k < zero.width * zero.height; k++)
          fail_unless (zero.taps[k] / zero.divisor == (k == zero.width * zero.height / 2), "%s", names[i]);
        if (i == 2 && width == 0)
          for (gint k = 0; k < 9; k++)
            fail_unless (fabs (zero.taps[k] * 4.5 - (k == 4 ? -8 : 1)) < 1e-14);
        convolve_mask_clear (&zero);
      }
}

GST_END_TEST;

GST_START_TEST (by_meaning)
{
  ConvolveMask mask, blur;

  /* The weights of disk are areas, and their sum is the area of the ellipse. */
  for (guint width = 1; width <= CONVOLVE_MAX_SIDE; width += 2) {
    ConvolveSettings settings = settings_of ("disk", width, 9);
    gdouble area = G_PI / 4 * width * 9;

    mask = make_scaled (&settings, 1, 1);
    fail_unless (fabs (mask.divisor / area - 1) < 1e-8, "disk %ux9: %g, the ellipse has %g", width, mask.divisor, area);
    convolve_mask_clear (&mask);
    mask = make_scaled (&settings, 4, 2);
    fail_unless (fabs (mask.divisor / (area / 8) - 1) < 1e-8, "disk %ux9 at 4x2", width);
    convolve_mask_clear (&mask);
  }
  mask = make ("disk", 9, 0);
  for (gint y = -4; y <= 4; y++) {
    for (gint x = -4; x <= 4; x++) {
      gdouble tap = mask.taps[(y + 4) * 9 + x + 4];

      if (hypot (abs (x) + 0.5, abs (y) + 0.5) <= 4.5)
        fail_unless (fabs (tap - 1) < 1e-12);
      else if (hypot (MAX (abs (x) - 0.5, 0), MAX (abs (y) - 0.5, 0)) >= 4.5)
        fail_unless (tap == 0);
      else
        fail_unless (tap > 0 && tap < 1);
    }
  }
  convolve_mask_clear (&mask);

  /* 45 degrees point to the top right. */
  mask = make ("motion:45", 9, 0);
  fail_unless (mask.width == mask.height && mask.width >= 5);
  for (gint i = 0; i < mask.width; i++) {
    fail_unless (mask.taps[i * mask.width + mask.width - 1 - i] > 0.5);
    fail_unless (i == mask.width / 2 || mask.taps[i * mask.width + i] == 0);
  }
  convolve_mask_clear (&mask);
  for (guint width = 3; width <= CONVOLVE_MAX_SIDE; width += 2) {
    mask = make ("motion:45", width, 0);
    fail_unless (measure (&mask).transposable, "motion:45 of %u differs between x and y", width);
    convolve_mask_clear (&mask);
  }
  mask = make ("motion:20", 15, 0);
  fail_unless (mask.taps[0] == 0 && mask.taps[mask.width - 1] > 0 && mask.width > mask.height);
  convolve_mask_clear (&mask);

  /* unsharp:a is (1 + a) identity - a gaussian. */
  mask = make ("unsharp:1.5", 7, 0);
  blur = make ("gaussian", 7, 0);
  for (gint i = 0; i < 49; i++)
    fail_unless (fabs (mask.taps[i] - ((i == 24 ? 2.5 : 0) - 1.5 * blur.taps[i])) < 1e-15);
  fail_unless (fabs (mask.divisor - 1) < 1e-14);
  convolve_mask_clear (&mask);
  convolve_mask_clear (&blur);
  mask = make ("unsharp:0", 3, 0);
  fail_unless (mask.taps[4] == 1 && mask.taps[0] == 0);
  convolve_mask_clear (&mask);

  /* log: the response to x^2 is that of a second derivative, 2 sigma^2 for a 1-D mask that cuts nothing off. */
  {
    ConvolveSettings settings = settings_of ("log", 0, 1);
    gdouble response = 0;

    settings.sigma = 3;
    mask = make_scaled (&settings, 1, 1);
    fail_unless (mask.width == 25 && mask.height == 1);
    for (gint i = 0; i < 25; i++)
      response += mask.taps[i] * (i - 12) * (i - 12);
    fail_unless (fabs (response / 18 - 1) < 0.02, "log: %g", response);
    convolve_mask_clear (&mask);
    settings.mask_height = 0;
    mask = make_scaled (&settings, 1, 1);
    response = 0;
    for (gint i = 0; i < 625; i++)
      response += mask.taps[i] * (i % 25 - 12) * (i % 25 - 12);
    fail_unless (fabs (response / 18 - 1) < 0.1, "log: %g", response);
    convolve_mask_clear (&mask);
  }
}

GST_END_TEST;

static Suite *
presets_suite (void)
{
  Suite *suite = suite_create ("presets");
  TCase *tcase = tcase_create ("presets");

  suite_add_tcase (suite, tcase);
  suite_add_tcase (suite, combinations_of_sets ());
  suite_add_tcase (suite, portable_functions ());
  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, every_size);
  tcase_add_test (tcase, arguments);
  tcase_add_test (tcase, one_size);
  tcase_add_test (tcase, by_value);
  tcase_add_test (tcase, in_integers);
  tcase_add_test (tcase, on_subsampled_planes);
  tcase_add_test (tcase, from_sigma);
  tcase_add_test (tcase, beyond_weights);
  tcase_add_test (tcase, sigma_of_zero);
  tcase_add_test (tcase, by_meaning);
  return suite;
}

GST_CHECK_MAIN (presets);
