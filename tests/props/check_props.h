/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks made and refused, for the checks of props/. */
#ifndef TESTS_PROPS_CHECK_PROPS_H
#define TESTS_PROPS_CHECK_PROPS_H

#include <gst/check/gstcheck.h>

#include <string.h>

#include "presets/presets.h"
#include "masks/mask_text.h"

static inline ConvolveSettings
settings_of (const gchar *mask, guint width, guint height)
{
  return (ConvolveSettings){ .mask = (gchar *) mask,
    .mask_width = width,
    .mask_height = height,
    .sigma = -1,
    .anchor_x = -1,
    .anchor_y = -1,
    .mix = 1 };
}

static inline ConvolveMask
make_scaled (const ConvolveSettings *settings, guint x_step, guint y_step)
{
  ConvolveMask mask;
  GError *error = NULL;

  if (!convolve_settings_make_mask (settings, x_step, y_step, &mask, &error))
    fail ("'%.60s' %ux%u sigma %g: %s", settings->mask, settings->mask_width, settings->mask_height, settings->sigma,
        error->message);
  return mask;
}

static inline ConvolveMask
make (const gchar *text, guint width, guint height)
{
  ConvolveSettings settings = settings_of (text, width, height);

  return make_scaled (&settings, 1, 1);
}

/* The settings must be refused with exactly this message. Where message ends in "...", only the beginning counts. */
static inline void
refuse_settings (const ConvolveSettings *settings, const gchar *message)
{
  ConvolveMask mask, before;
  GError *error = NULL;
  gsize length = strlen (message);
  gboolean of_mask = g_str_has_prefix (message, "mask:") || g_str_has_prefix (message, "weights:")
      || g_str_has_prefix (message, "mask-location:") || g_str_has_prefix (message, "mask-x:")
      || g_str_has_prefix (message, "mask-y:");

  memset (&mask, 0x5a, sizeof mask);
  memset (&before, 0x5a, sizeof before);
  fail_if (convolve_settings_make_mask (settings, 1, 1, &mask, &error), "'%.60s' was taken; expected: %s",
      settings->mask, message);
  fail_unless (memcmp (&mask, &before, sizeof mask) == 0, "'%.60s' failed and touched the mask", settings->mask);
  fail_unless (error != NULL && error->domain == CONVOLVE_PROPS_ERROR);
  fail_unless_equals_string (g_quark_to_string (error->domain), "convolve-props-error-quark");
  fail_unless_equals_int (error->code, of_mask ? CONVOLVE_PROPS_ERROR_MASK : CONVOLVE_PROPS_ERROR_NUMBER);
  if (g_str_has_suffix (message, "..."))
    fail_unless (strncmp (error->message, message, length - 3) == 0, "'%s' does not begin as '%s'", error->message,
        message);
  else
    fail_unless_equals_string (error->message, message);
  g_error_free (error);
}

static inline void
refuse_sized (const gchar *text, guint width, guint height, const gchar *message)
{
  ConvolveSettings settings = settings_of (text, width, height);

  refuse_settings (&settings, message);
}

static inline void
refuse (const gchar *text, const gchar *message)
{
  refuse_sized (text, 0, 0, message);
}

/* Compares a mask with width * height doubles, and clears it. */
static inline void
expect (ConvolveMask mask, const gchar *name, gint width, gint height, const gdouble *taps, gdouble divisor)
{
  fail_unless (mask.width == width && mask.height == height, "%s: %dx%d, expected %dx%d", name, mask.width, mask.height,
      width, height);
  for (gint i = 0; i < width * height; i++)
    fail_unless (mask.taps[i] == taps[i], "%s: tap %d is %.17g, expected %.17g", name, i, mask.taps[i], taps[i]);
  fail_unless (mask.divisor == divisor, "%s: divisor %.17g, expected %.17g", name, mask.divisor, divisor);
  convolve_mask_clear (&mask);
}

#define TAPS(...) ((const gdouble[]){ __VA_ARGS__ })
#define EXPECT_TEXT(text, mask_width, mask_height, width, height, divisor, ...) \
  expect (make (text, mask_width, mask_height), text, width, height, TAPS (__VA_ARGS__), divisor)

/* The tests of check_mask_text.c and check_region_text.c, for the program check_props. */
TCase *mask_texts (void);
TCase *region_texts (void);

/* The tests of check_combinations.c, for the program check_presets, and whether they have the values of a preset. */
TCase *combinations_of_sets (void);
gboolean is_combination (const gchar *preset);

/* The tests of check_portable.c, for the same program. */
TCase *portable_functions (void);

#endif
