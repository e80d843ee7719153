/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/packed.h"

#include <math.h>
#include <string.h>

#include "cuda/registers/sets.h"

CONVOLVE_DEVICE_FUNCTIONS (packed);

#define NEIGHBOURS 8
#define LARGEST_TRIPLE (3 * 255)

bool
convolve_packed_accepts_wide (const ConvolvePlan *plan, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;

  *reason = "the weights are neither integers -128 to 127 times one factor nor fractions in a mask up to 5x5";
  if (plan->arithmetic.kind != CONVOLVE_ARITHMETIC_ONE_STEP || taps->width > CONVOLVE_PACKED_WIDE_SIDE
      || taps->height > CONVOLVE_PACKED_WIDE_SIDE)
    return false;
  *reason = "the weights need more than 16 bits, or their sums more than 32";
  if (!plan->arithmetic.narrow)
    return false;
  for (int i = 0; i < taps->width * taps->height; i++)
    if (fabsf (taps->taps[i]) > CONVOLVE_LARGEST_OF_2_DIGITS)
      return false;
  return convolve_border_accepts_layout (plan, reason);
}

/* Whether some result lies outside 0 .. 255, or is not the third byte of a total. */
static bool
clamps (const ConvolvePlan *plan)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  double low = 0, high = 0;

  for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
    *(plan->taps.taps[i] < 0 ? &low : &high) += plan->taps.taps[i] * 255.0;
  for (int s = 0; s < plan->pixel.samples; s++)
    if (low + (double) arithmetic->start[s] < 0
        || high + (double) arithmetic->start[s] >= 256 << CONVOLVE_PACKED_WIDE_BITS)
      return true;
  return arithmetic->bits != CONVOLVE_PACKED_WIDE_BITS;
}

static int
pair (int first, int second)
{
  return (int) ((unsigned) (first & 0xffff) | (unsigned) second << 16);
}

/* Packs the taps for masks that begin at an odd place, or at an even one. */
static void
pack (const ConvolvePackedWide *wide, int side, bool odd, ConvolvePackedPairs *pairs)
{
  const int alone = odd ? 0 : side - 1;

  for (int j = 0; j < side; j++)
    for (int i = 0; i < side / 2; i++)
      pairs->row[j][i] = pair (wide->tap[j][odd + 2 * i], wide->tap[j][odd + 2 * i + 1]);
  for (int k = 0; k < 2 * ((side + 3) / 4); k++) {
    /* A word's two rows. Those of the last two words end with the mask. */
    const int done = k / 2 * 4, first = (done + 4 > side ? side - 4 : done) + k % 2 * 2;
    const int above = first < done ? 0 : wide->tap[first][alone];

    pairs->column[k] = pair (above, first + 1 < done ? 0 : wide->tap[first + 1][alone]);
  }
}

void
convolve_packed_wide_init (const ConvolvePlan *plan, int side, ConvolvePackedWide *wide)
{
  const ConvolveTaps *from = &plan->taps;
  const int left = (side - from->width) / 2, top = (side - from->height) / 2;

  memset (wide, 0, sizeof (*wide));
  wide->clamps = clamps (plan);
  wide->bits = plan->arithmetic.bits;
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++)
      wide->tap[top + j][left + i] = (int) from->taps[j * from->width + i];
  pack (wide, side, false, &wide->pairs[0]);
  pack (wide, side, true, &wide->pairs[1]);
  for (int s = 0; s < plan->pixel.samples; s++)
    wide->start[s] = (int) (plan->arithmetic.start[s] - (wide->clamps ? (int64_t) 128 << wide->bits : 0));
}

/*
 * Each set has one weight in three places side by side, a different one of eight triples, and a lower one in the five
 * others.
 */
bool
convolve_packed_find_ring (const ConvolvePlan *plan, ConvolvePackedRing *ring)
{
  static const int places[NEIGHBOURS] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  unsigned seen = 0;
  float high = 0, low = 0;

  if (plan->combination != CONVOLVE_LARGEST || plan->n_parts != NEIGHBOURS || plan->taps.width != 3
      || plan->taps.height != 3)
    return false;
  for (int k = 0; k < NEIGHBOURS; k++) {
    const float *taps = plan->parts[k].taps.taps;
    unsigned highs = 0;

    if (k == 0) {
      high = low = taps[0];
      for (int i = 1; i < NEIGHBOURS; i++) {
        high = fmaxf (high, taps[places[i]]);
        low = fminf (low, taps[places[i]]);
      }
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
      if (taps[places[i]] != high && taps[places[i]] != low)
        return false;
      highs |= (unsigned) (taps[places[i]] == high) << i;
    }
    for (int i = 0; i < NEIGHBOURS; i++)
      seen |= (unsigned) (highs == ((7u << i | 7u >> (NEIGHBOURS - i)) & 0xff)) << i;
    if (taps[4] != 0)
      return false;
  }
  ring->high = (unsigned) (high - low);
  ring->low = (int) low;
  ring->least = (unsigned) fmaxf (-low * NEIGHBOURS * 255, 0);
  return seen == 0xff && high > low
      && (high - low) * LARGEST_TRIPLE + fmaxf (low, 0) * NEIGHBOURS * 255 + ring->least < 65536;
}

/* Weights of 8 bits have an integer tail, which is left in *found. Weights of 16 bits have none. */
static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  if (plan->combination == CONVOLVE_ABSOLUTE && !convolve_sets_are_magnitude_of_sum (plan, reason))
    return false;
  if (plan->combination == CONVOLVE_MAGNITUDE || plan->combination == CONVOLVE_LARGEST) {
    ConvolvePackedRing ring;

    found->kernel = convolve_packed_find_ring (plan, &ring) ? CONVOLVE_PACKED_RING : CONVOLVE_PACKED_SETS;
    return convolve_packed_accepts_sets (plan, found, reason);
  }
  *reason = "the weights are not integers -128 to 127 times one factor";
  const bool are_bytes =
      !plan->exact || convolve_border_are_bytes (plan->taps.taps, plan->taps.width * plan->taps.height);
  if (plan->pixel.type == CONVOLVE_SAMPLE_U16 && plan->n_parts == 0) {
    found->kernel = CONVOLVE_PACKED_DEEP;
    return are_bytes && convolve_border_accepts_deep (plan, found, reason);
  }
  if (are_bytes && convolve_border_accepts_integers (plan, found, reason))
    return true;
  found->kernel = CONVOLVE_PACKED_WIDE;
  return plan->arithmetic.kind == CONVOLVE_ARITHMETIC_ONE_STEP && plan->n_parts == 0
      && convolve_packed_accepts_wide (plan, reason);
}

static const char *const kernels[] = {
  [CONVOLVE_PACKED_BYTES] = "bytes",
  [CONVOLVE_PACKED_DEEP] = "16-bit samples",
  [CONVOLVE_PACKED_WIDE] = "weights of 16 bits",
  [CONVOLVE_PACKED_SETS] = "sets",
  [CONVOLVE_PACKED_RING] = "turns of one set",
};

const ConvolveVariant convolve_variant_packed = {
  .name = "packed",
  .kernels = kernels,
  .number = 7,
  .on_device = true,
  .combines = true,
  .idea = "samples as they lie in memory, times integer weights, four or two products in an instruction",
  .accepts = accepts,
  .prepare = convolve_packed_load,
  .run = convolve_packed_run,
};
