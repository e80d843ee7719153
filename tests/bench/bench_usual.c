/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_usual.h"

#include "masks/mask_text.h"
#include "support/random.h"

static const BenchUsual usuals[] = {
  { "gaussian sigma=1", "gaussian", 1, 7 },
  { "gaussian sigma=2", "gaussian", 2, 13 },
  { "gaussian sigma=4", "gaussian", 4, 25 },
  { "gaussian sigma=8", "gaussian", 8, 49 },
  { "fractions 3x3", NULL, 0, 3 },
  { "fractions 5x5", NULL, 0, 5 },
  { "fractions 9x9", NULL, 0, 9 },
  { "fractions 15x15", NULL, 0, 15 },
  { "fractions 31x31", NULL, 0, 31 },
  { "box 5x5", "box", 0, 5 },
  { "box 15x15", "box", 0, 15 },
  { "box 31x31", "box", 0, 31 },
};

static const BenchUsual edges[] = {
  { "sobel-x", "sobel-x", 0, 3 },
  { "sobel-x absolute=true", "sobel-x", 0, 3 },
  { "sobel", "sobel", 0, 3 },
  { "scharr", "scharr", 0, 3 },
  { "roberts", "roberts", 0, 3 },
  { "kirsch", "kirsch", 0, 3 },
};

int
bench_usual_count (void)
{
  return sizeof usuals / sizeof *usuals;
}

const BenchUsual *
bench_usual (int index)
{
  return &usuals[index];
}

int
bench_edges_count (void)
{
  return sizeof edges / sizeof *edges;
}

const BenchUsual *
bench_edges (int index)
{
  return &edges[index];
}

bool
bench_fractions_make (ConvolveMask *mask, int side)
{
  CheckRandom random;

  if (!convolve_mask_init (mask, side, side))
    return false;
  check_random_init (&random, 3, side);
  mask->divisor = 0;
  for (int k = 0; k < side * side; k++)
    mask->divisor += mask->taps[k] = 0.1 + check_random_unit (&random);
  return true;
}

bool
bench_usual_make (const BenchUsual *usual, int step, ConvolveMask *mask)
{
  ConvolveSettings settings;
  bool made;

  if (!usual->preset)
    return bench_fractions_make (mask, usual->side);
  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strdup (usual->preset);
  settings.sigma = usual->sigma;
  settings.absolute = g_str_has_suffix (usual->name, "absolute=true");
  settings.mask_width = usual->sigma > 0 ? 0 : usual->side;
  made = convolve_settings_make_mask (&settings, step, step, mask, NULL);
  convolve_settings_clear (&settings);
  return made;
}
