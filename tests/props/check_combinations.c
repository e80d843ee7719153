/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of presets that combine several sets of taps, and of absolute. */
#include <string.h>

#include "props/check_props.h"

/* Combinations worked out by hand: the sets of taps. */
static const struct
{
  const gchar *text;
  ConvolveCombination combination;
  gint sets;
  gdouble taps[8][9];
} combinations[] = {
  { "sobel", CONVOLVE_MAGNITUDE, 2, { { -1, 0, 1, -2, 0, 2, -1, 0, 1 }, { -1, -2, -1, 0, 0, 0, 1, 2, 1 } } },
  { "prewitt", CONVOLVE_MAGNITUDE, 2, { { -1, 0, 1, -1, 0, 1, -1, 0, 1 }, { -1, -1, -1, 0, 0, 0, 1, 1, 1 } } },
  { "scharr", CONVOLVE_MAGNITUDE, 2, { { -3, 0, 3, -10, 0, 10, -3, 0, 3 }, { -3, -10, -3, 0, 0, 0, 3, 10, 3 } } },
  { "roberts", CONVOLVE_MAGNITUDE, 2, { { 0, 0, 0, 0, 1, 0, 0, 0, -1 }, { 0, 0, 0, 0, 0, 1, 0, -1, 0 } } },
  { "kirsch", CONVOLVE_LARGEST, 8,
      { { -3, -3, 5, -3, 0, 5, -3, -3, 5 }, { -3, 5, 5, -3, 0, 5, -3, -3, -3 }, { 5, 5, 5, -3, 0, -3, -3, -3, -3 },
          { 5, 5, -3, 5, 0, -3, -3, -3, -3 }, { 5, -3, -3, 5, 0, -3, 5, -3, -3 }, { -3, -3, -3, 5, 0, -3, 5, 5, -3 },
          { -3, -3, -3, -3, 0, -3, 5, 5, 5 }, { -3, -3, -3, -3, 0, 5, -3, 5, 5 } } },
};

gboolean
is_combination (const gchar *preset)
{
  for (guint i = 0; i < G_N_ELEMENTS (combinations); i++)
    if (g_str_equal (combinations[i].text, preset))
      return TRUE;
  return FALSE;
}

/* A divisor divides every set, and the bias is added once. absolute changes plain masks alone. */
GST_START_TEST (of_several_sets)
{
  for (guint i = 0; i < G_N_ELEMENTS (combinations); i++) {
    ConvolveSettings settings = settings_of (combinations[i].text, 0, 0);

    for (guint k = 0; k < 4; k++) {
      g_autofree gchar *message = NULL;
      ConvolveMask mask;

      settings.divisor = k & 1 ? -2.5 : 0;
      settings.bias = k & 1 ? 0.25 : 0;
      settings.absolute = k & 2;
      settings.mix = 1;
      mask = make_scaled (&settings, k + 1 == 3 ? 4 : 1, 2);
      fail_unless (mask.combination == combinations[i].combination && mask.sets == combinations[i].sets, "%s",
          combinations[i].text);
      fail_unless (mask.width == 3 && mask.height == 3 && mask.offset == settings.bias, "%s", combinations[i].text);
      for (gint set = 0; set < mask.sets; set++) {
        fail_unless (memcmp (convolve_mask_taps (&mask, set), combinations[i].taps[set], 9 * sizeof (gdouble)) == 0,
            "%s, set %d", combinations[i].text, set);
        fail_unless (convolve_mask_divisor (&mask, set) == (k & 1 ? -2.5 : 1), "%s, set %d", combinations[i].text, set);
      }
      convolve_mask_clear (&mask);

      settings.flip = TRUE; /* turns every set */
      mask = make_scaled (&settings, 1, 1);
      for (gint set = 0; set < mask.sets; set++)
        for (gint tap = 0; tap < 9; tap++)
          fail_unless (convolve_mask_taps (&mask, set)[tap] == combinations[i].taps[set][8 - tap], "%s, set %d",
              combinations[i].text, set);
      convolve_mask_clear (&mask);
      settings.flip = FALSE;

      settings.mix = 0.25;
      message = g_strdup_printf ("mix: 0.25 cannot be done with the preset %s in mask, which combines several masks; "
                                 "mix=1 can",
          combinations[i].text);
      refuse_settings (&settings, message);
    }
  }
}

GST_END_TEST;

GST_START_TEST (without_sign)
{
  static const gchar *const texts[] = { "sobel-x", "1 -2 1", "gaussian", "emboss" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    ConvolveSettings settings = settings_of (texts[i], 0, 0);
    ConvolveMask plain = make_scaled (&settings, 1, 1), mask;
    gsize size = plain.width * plain.height * sizeof (gdouble);

    settings.absolute = TRUE;
    mask = make_scaled (&settings, 1, 1);
    fail_unless (plain.combination == CONVOLVE_SUM && mask.combination == CONVOLVE_ABSOLUTE, "%s", texts[i]);
    fail_unless (convolve_mask_sets (&mask) == 1 && memcmp (mask.taps, plain.taps, size) == 0, "%s", texts[i]);
    fail_unless (mask.divisor == plain.divisor && mask.offset == plain.offset, "%s", texts[i]);
    convolve_mask_clear (&plain);
    convolve_mask_clear (&mask);
    settings.mix = 0;
    refuse_settings (&settings, "mix: 0 cannot be done with absolute=true; mix=1 or absolute=false can");
  }
}

GST_END_TEST;

TCase *
combinations_of_sets (void)
{
  TCase *tcase = tcase_create ("combinations");

  tcase_add_test (tcase, of_several_sets);
  tcase_add_test (tcase, without_sign);
  return tcase;
}
