/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints the masks that the element makes of its properties, for python_module.py. Each line of the input has the text
 * of `mask`, and mask-width, mask-height, sigma, divisor and bias. A line of the output has width, height, offset,
 * combination, the number of sets, their divisors and all taps, with fractions in hexadecimal; or "refused". With an
 * argument, the output is the names of all presets.
 */
#include <stdio.h>

#include "masks/mask_text.h"
#include "presets/presets.h"

static void
print_names (void)
{
  guint n;
  const ConvolvePreset *presets = convolve_presets (&n);

  for (guint i = 0; i < n; i++)
    printf ("%s\n", presets[i].name);
}

int
main (int argc, char *argv[])
{
  char text[64];
  unsigned width, height;
  double sigma, divisor, bias;

  if (argc > 1) {
    print_names ();
    return 0;
  }

  while (scanf ("%63s %u %u %lf %lf %lf", text, &width, &height, &sigma, &divisor, &bias) == 6) {
    ConvolveSettings settings;
    ConvolveMask mask;
    GError *error = NULL;

    convolve_settings_init (&settings);
    settings.mask = g_strdup (text);
    settings.mask_width = width;
    settings.mask_height = height;
    settings.sigma = sigma;
    settings.divisor = divisor;
    settings.bias = bias;
    if (convolve_settings_make_mask (&settings, 1, 1, &mask, &error)) {
      int sets = convolve_mask_sets (&mask), count = sets * mask.width * mask.height;

      printf ("%d %d %a %d %d", mask.width, mask.height, mask.offset, (int) mask.combination, sets);
      for (int k = 0; k < sets; k++)
        printf (" %a", convolve_mask_divisor (&mask, k));
      for (int i = 0; i < count; i++)
        printf (" %a", mask.taps[i]);
      printf ("\n");
      convolve_mask_clear (&mask);
    } else {
      printf ("refused: %s\n", error->message);
      g_clear_error (&error);
    }
    convolve_settings_clear (&settings);
  }
  return 0;
}
