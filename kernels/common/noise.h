/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The noise of blocks, as convolve_region.h defines it, for C and for CUDA: integers alone, so that all machines agree. */
#ifndef CONVOLVE_COMMON_NOISE_H
#define CONVOLVE_COMMON_NOISE_H

#include "common/boundary.h"
#include "convolve_region.h"

static CONVOLVE_BOTH uint64_t
convolve_rotate (uint64_t word, int bits)
{
  return word << bits | word >> (64 - bits);
}

/* Rounds of SipHash. */
static CONVOLVE_BOTH void
convolve_sip_rounds (uint64_t v[4], int rounds)
{
  for (int i = 0; i < rounds; i++) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = convolve_rotate (v[1], 13) ^ v[0];
    v[3] = convolve_rotate (v[3], 16) ^ v[2];
    v[0] = convolve_rotate (v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = convolve_rotate (v[1], 17) ^ v[2];
    v[3] = convolve_rotate (v[3], 21) ^ v[0];
    v[2] = convolve_rotate (v[2], 32);
  }
}

/*
 * SipHash-2-4 of 24 bytes, which are three words with the low byte first (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012).
 */
static CONVOLVE_BOTH uint64_t
convolve_sip_hash (const uint64_t key[2], uint64_t first, uint64_t second, uint64_t third)
{
  uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
    key[1] ^ 0x7465646279746573 };
  const uint64_t words[4] = { first, second, third, (uint64_t) 24 << 56 };

  for (int i = 0; i < 4; i++) {
    v[3] ^= words[i];
    convolve_sip_rounds (v, 2);
    v[0] ^= words[i];
  }
  v[2] ^= 0xff;
  convolve_sip_rounds (v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* -log2 (word / 2^32) in 1 / 65536, for words above 0; the digits of the logarithm come from squares that are cut off. */
static CONVOLVE_BOTH uint32_t
convolve_log (uint32_t word)
{
  uint32_t whole = 1, fraction = 0;
  uint64_t square;

  while (word >> 31 == 0) {
    word <<= 1;
    whole++;
  }
  square = word; /* 1 to 2, in 1 / 2^31 */
  for (int i = 0; i < 16; i++) {
    square = square * square >> 31;
    fraction = 2 * fraction + (uint32_t) (square >> 32);
    square >>= square >> 32;
  }
  return (whole << 16) - fraction;
}

#define CONVOLVE_LN2 45426 /* ln 2 in 1 / 65536 */

/* A number of Laplace's distribution, of scale noise / 256. */
static CONVOLVE_BOTH int64_t
convolve_laplace (uint64_t hash, uint32_t noise)
{
  uint32_t word = (uint32_t) (hash >> 32);
  uint64_t size = (uint64_t) convolve_log (word ? word : 1) * CONVOLVE_LN2 >> 16;
  int64_t number = (int64_t) ((size * noise + (1 << 23)) >> 24);

  return hash & 1 ? -number : number;
}

/* The value of a block with its noise: `mean` is that of sample k, and the block is that in this column and row. */
static CONVOLVE_BOTH int
convolve_add_noise (const ConvolveBlocks *blocks, int column, int row, int k, int mean, int depth)
{
  uint64_t place = (uint32_t) column | (uint64_t) (uint32_t) row << 32;
  int64_t value = mean, most = (1 << depth) - 1;

  for (int i = 0; i < 2; i++)
    value += convolve_laplace (convolve_sip_hash (blocks->key, blocks->draws[i], place, (uint64_t) k), blocks->noise);
  return (int) (value < 0 ? 0 : value > most ? most : value);
}

#endif
