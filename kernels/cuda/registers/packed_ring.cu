/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* packed for the largest of eight 3x3 sets that are turns of each other by 45 degrees, as kirsch is. */
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/packed.h"
#include "cuda/registers/sets.cuh"

/* The kernel's second parameter. */
struct PackedRing
{
  ConvolveParts parts;
  ConvolveSets sets;
  ConvolveIntegerTail tail;
  unsigned high;                         /* what the three weights of a triple are above the five others */
  int low;                               /* the five others */
  unsigned least;                        /* added to each value, so that it is 0 to 65535 */
  float single[CONVOLVE_MAX_SETS][3][3]; /* all weights, for the border */
};

/*
 * Four pixels of a row, with their neighbours, as pairs of 16-bit integers:
 *
 *     pairs[0] = s-1 s1    pairs[1] = s0 s2    pairs[2] = s1 s3    pairs[3] = s2 s4
 *
 * Outputs 0 and 2 have pairs[0], [1] and [2] on their left, on themselves and on their right; outputs 1 and 3 have the
 * next.
 */
static __device__ __forceinline__ void
make_pairs (const uint32_t *bytes, int group, uint32_t (&pairs)[4])
{
  uint32_t own = bytes[group + 1], left = convolve_shifted (bytes, (group + 1) * CONVOLVE_GROUP - 1);
  uint32_t right = convolve_shifted (bytes, (group + 1) * CONVOLVE_GROUP + 1);

  pairs[0] = left & 0x00ff00ff;
  pairs[1] = own & 0x00ff00ff;
  pairs[2] = __byte_perm (own, 0, 0x4341);
  pairs[3] = __byte_perm (right, 0, 0x4341);
}

/* Two values plus least, from three rows of pairs. The first pair on the left is pairs[left]. */
static __device__ __forceinline__ uint32_t
largest_of_turns (const PackedRing &ring, const uint32_t (&above)[4], const uint32_t (&own)[4],
    const uint32_t (&below)[4], int left)
{
  int right = left + 2, middle = left + 1;
  uint32_t top = above[left] + above[middle] + above[right], bottom = below[left] + below[middle] + below[right];
  uint32_t sides = __vmaxu2 (above[left] + own[left] + below[left], above[right] + own[right] + below[right]);
  uint32_t upper = __vmaxu2 (above[middle] + above[left] + own[left], above[middle] + above[right] + own[right]);
  uint32_t lower = __vmaxu2 (below[middle] + below[left] + own[left], below[middle] + below[right] + own[right]);
  uint32_t triple = __vmaxu2 (__vmaxu2 (sides, __vmaxu2 (top, bottom)), __vmaxu2 (upper, lower));
  uint32_t all = top + bottom + own[left] + own[right];

  /* Halves may borrow from each other on the way, and do not in the result. */
  return triple * ring.high + all * (uint32_t) ring.low + ring.least * 0x10001;
}

/*
 * The idea: a set is low times all eight neighbours, plus high times three that lie side by side. So the largest set is
 * that of the largest triple. Sums of bytes fit 16 bits, and one addition serves two outputs.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile ().
 */
template <int S>
struct PackedRingKernel
{
  static constexpr ConvolveShape shape = { S == 1 ? 2 : 1, 4 };
  static constexpr bool alone = true;
  typedef PackedRing Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &ring)
  {
    constexpr int W = shape.groups, R = shape.rows;
    constexpr int rows = R + 2;
    const ConvolveParts &parts = ring.parts;
    uint32_t words[rows][(W + 2) * S];
    int sums[R][S][W * CONVOLVE_GROUP];

    ConvolveOrder order (image);
    if (convolve_border_of_sets<uint8_t, S, 3> (image, parts, ring.sets, ring.single))
      return;
    int2 tile = convolve_tile<W, R> (parts);
    convolve_load_tile<S, W, 3> (image, tile, words);
#pragma unroll
    for (int s = 0; s < S; s++) {
      const int start = ring.tail.start[s] - (int) ring.least;
      uint32_t pairs[3][W][4];

#pragma unroll
      for (int n = 0; n < rows; n++) {
        uint32_t bytes[W + 2];

#pragma unroll
        for (int g = 0; g < W + 2; g++)
          bytes[g] = convolve_pick_of_row<3, S, W> (words[n], g, s);
#pragma unroll
        for (int g = 0; g < W; g++) {
          make_pairs (bytes, g, pairs[n % 3][g]);
#pragma unroll
          for (int odd = 0; odd < 2 && n >= 2; odd++) {
            uint32_t two = largest_of_turns (ring, pairs[(n + 1) % 3][g], pairs[(n + 2) % 3][g], pairs[n % 3][g], odd);

            sums[n < 2 ? 0 : n - 2][s][g * CONVOLVE_GROUP + odd] = (int) (two & 0xffff) + start;
            sums[n < 2 ? 0 : n - 2][s][g * CONVOLVE_GROUP + odd + 2] = (int) (two >> 16) + start;
          }
        }
      }
    }

    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S);
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride)
      convolve_store_integers<S, S, W, true> (image, ring.tail, to, sums[r], &words[r + 1][S]);
  }
};

ConvolveStatus
convolve_packed_load_ring (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolvePackedRing found;
  PackedRing ring = {};

  convolve_packed_find_ring (plan, &found);
  ring.high = found.high;
  ring.low = found.low;
  ring.least = found.least;
  convolve_sets_fill (plan, &ring.sets);
  convolve_centre_sets<3> (plan, ring.single);
  ring.tail = *(const ConvolveIntegerTail *) plan->prepared;
  return convolve_load_for<1, CONVOLVE_FOR_SAMPLES> (plan,
      [=] (auto k, auto s, auto) { return convolve_load_plane<k, PackedRingKernel<s> > (plan, ring, error); });
}
