/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Combinations as people use them to find edges: small integers that add up to 0, but for one mask in four. */
#include "kernels/check_mask.h"

enum
{
  TURNS = 3 /* a kind of its own beside those of fill_set () */
};

/* Another set is the first one transposed, as the slope downwards is; a sparse one, as those of roberts; or any. */
static void
fill_set (ConvolveMask *mask, int k, int kind, bool flat, CheckRandom *random)
{
  int side = mask->width, count = side * side;
  double *taps = convolve_mask_taps (mask, k), sum = 0;

  for (int i = 0; i < count; i++) {
    int x = i % side, y = i / side;
    bool absent = kind == 0 ? x == side / 2 : kind == 1 && (y == 0 || check_random_one_in (random, 2));

    if (kind == 0 && k % 2 == 1)
      taps[i] = convolve_mask_taps (mask, k - 1)[x * side + y];
    else if (kind == 0 && x > side / 2)
      taps[i] = -taps[y * side + side - 1 - x];
    else
      taps[i] = absent ? 0 : check_random_range (random, -3, 3);
    sum += taps[i];
  }
  taps[count / 2] -= kind == 0 || !flat ? 0 : sum;
}

/* Eight turns of three weights and five lower ones around the middle, as those of kirsch, in any order. */
static void
fill_turns (ConvolveMask *mask, CheckRandom *random)
{
  static const int places[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  int low = check_random_range (random, -4, 1), high = low + check_random_range (random, 1, 9);
  int first = check_random_range (random, 0, 7), step = check_random_range (random, 0, 3) * 2 + 1;

  for (int k = 0; k < 8; k++)
    for (int i = 0; i < 8; i++)
      convolve_mask_taps (mask, k)[places[i]] = (i + first + k * step) % 8 < 3 ? high : low;
}

bool
check_mask_edges (CheckMask *mask, CheckRandom *random, int largest)
{
  ConvolveCombination combination = check_random_range (random, CONVOLVE_ABSOLUTE, CONVOLVE_LARGEST);
  int side = 2 * check_random_range (random, 1, 2) + 1, kind = check_random_range (random, 0, 2);
  int sets = combination == CONVOLVE_ABSOLUTE ? 1
      : check_random_one_in (random, 2)       ? 2
                                              : check_random_range (random, 2, 8);
  double divisor = check_random_range (random, 1, 4) * (check_random_one_in (random, 3) ? -1 : 1);
  bool flat = !check_random_one_in (random, 4);
  ConvolveMask edges;

  if (combination == CONVOLVE_LARGEST && check_random_one_in (random, 3)) {
    kind = TURNS;
    side = 3;
    sets = 8;
  }
  if (!convolve_mask_init_sets (&edges, side, side, sets, combination))
    return false;
  edges.divisor = check_random_one_in (random, 2) ? 1 : divisor;
  edges.offset = check_random_one_in (random, 2) ? 0.5 : 0;
  for (int k = 0; k < sets; k++) {
    if (kind != TURNS)
      fill_set (&edges, k, kind, flat, random);
    if (k > 0)
      edges.more_divisors[k - 1] = edges.divisor;
  }
  if (kind == TURNS)
    fill_turns (&edges, random);
  check_mask_clear (mask);
  *mask = (CheckMask){ .mask = edges, .kind = "edges" };
  return check_mask_analyse (mask, largest);
}
