/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The form of light as common/light.h has it for a sample, for rows: loops over blocks of samples, which compilers
 * vectorise. Samples that alpha does not weigh are in the same loops, with the largest alpha and the level 0, which
 * change no word.
 */
#ifndef CONVOLVE_CPU_LIGHT_TMPL_H
#define CONVOLVE_CPU_LIGHT_TMPL_H

#include "cpu/loops/vectors_tmpl.h"

#define LIGHT_SAMPLES 512 /* of a block, at most: all its numbers stay in the first cache */

typedef struct
{
  uint16_t about[LIGHT_SAMPLES];
  uint16_t curved[LIGHT_SAMPLES];                       /* all bits of samples that go through tables */
  uint16_t found[LIGHT_SAMPLES];                        /* in tables */
  uint16_t distances[LIGHT_SAMPLES];                    /* from the levels */
  uint16_t kept[LIGHT_SAMPLES];                         /* all bits of samples that keep what is stored */
  uint16_t stored[LIGHT_SAMPLES], codes[LIGHT_SAMPLES]; /* of the original */
  uint16_t words[LIGHT_SAMPLES];                        /* that the original becomes */
  uint16_t straight[LIGHT_SAMPLES];                     /* without alpha */
  uint16_t before[LIGHT_SAMPLES], now[LIGHT_SAMPLES];   /* alpha of both */
} LightBlock;

/* convolve_light_share (a * b) in 16 bits: high and low have the product and its half, and a carry rounds. */
static inline uint16_t
light_share (uint16_t a, uint16_t b)
{
  const uint16_t product = (uint16_t) ((uint32_t) a * b);
  const uint16_t high = (uint16_t) ((uint16_t) ((uint32_t) a * b >> 16) + (product >> 15)), low = product ^ 0x8000;

  return (uint16_t) (high + ((uint16_t) (low + high) < low));
}

/* to = table[from]. A gather takes two numbers from an even place: reads across cache lines, as of white, are slow. */
static void
light_look_up (const uint16_t *restrict table, const uint16_t *restrict from, int n, uint16_t *restrict to)
{
  int i = 0;

#ifdef __AVX512BW__
  for (; i + 16 <= n; i += 16) {
    const __m512i at = _mm512_cvtepu16_epi32 (_mm256_loadu_si256 ((const void *) (from + i)));
    const __m512i pairs = _mm512_i32gather_epi32 (_mm512_srli_epi32 (at, 1), table, 4);
    const __m512i odd = _mm512_and_si512 (_mm512_slli_epi32 (at, 4), _mm512_set1_epi32 (16));

    _mm256_storeu_si256 ((void *) (to + i), _mm512_cvtepi32_epi16 (_mm512_srlv_epi32 (pairs, odd)));
  }
#endif
  for (; i < n; i++)
    to[i] = table[from[i]];
}

static inline __attribute__ ((always_inline)) void
light_read_words (const ConvolvePixel *pixel, const uint16_t *restrict stored, int n, int shift, bool swapped,
    uint16_t *restrict codes)
{
  const int most = (1 << pixel->depth) - 1;

  for (int i = 0; i < n; i++) {
    int code = (swapped ? (uint16_t) (stored[i] << 8 | stored[i] >> 8) : stored[i]) >> shift;

    codes[i] = (uint16_t) (code < most ? code : most);
  }
}

/* n samples as they are in memory, and their code values. */
static void
light_read (const ConvolvePixel *pixel, const uint8_t *restrict at, int n, uint16_t *restrict stored,
    uint16_t *restrict codes)
{
  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    for (int i = 0; i < n; i++)
      stored[i] = codes[i] = at[i];
    return;
  }
  memcpy (stored, at, n * sizeof (*stored));
  if (pixel->swapped)
    light_read_words (pixel, stored, n, pixel->shift, true, codes);
  else if (pixel->shift > 0)
    light_read_words (pixel, stored, n, pixel->shift, false, codes);
  else
    light_read_words (pixel, stored, n, 0, false, codes);
}

/* words = convolve_light_widen (codes), in 16 bits */
static void
light_widen (const ConvolvePixel *pixel, const uint16_t *restrict codes, int n, uint16_t *restrict words)
{
  const int depth = pixel->depth;
  const uint16_t factor = (uint16_t) ((1 << (16 - depth)) - 1), half = (uint16_t) (1 << (depth - 1));

  if (depth == 8)
    for (int i = 0; i < n; i++)
      words[i] = (uint16_t) (codes[i] * 257);
  else if (depth == 16)
    memcpy (words, codes, n * sizeof (*words));
  else
    for (int i = 0; i < n; i++) {
      const uint16_t rest = (uint16_t) ((uint16_t) (codes[i] * factor) + half);

      words[i] = (uint16_t) ((uint16_t) (codes[i] << (16 - depth)) + ((uint16_t) (rest + (rest >> depth)) >> depth));
    }
}

/* Alpha of each pixel for all of its samples that are weighed. words has all samples, or alpha alone in its plane. */
static void
light_spread (const ConvolveLightRow *row, const uint16_t *restrict words, int pixels, uint16_t *restrict to)
{
  const int samples = row->samples, alpha = row->tables->alpha;
  uint16_t unweighed[CONVOLVE_MAX_SAMPLES];
  uint64_t others;

  if (samples == 1) {
    memcpy (to, words, pixels * sizeof (*to));
    return;
  }
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    unweighed[k] = row->tables->colors >> k & 1 ? 0 : CONVOLVE_LIGHT_MOST;
  if (samples < 4) {
    for (int x = 0; x < pixels; x++)
      for (int k = 0; k < samples; k++)
        to[x * samples + k] = words[x * samples + alpha] | unweighed[k];
    return;
  }
  const int shift = 16 * (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 3 - alpha : alpha);

  memcpy (&others, unweighed, sizeof (others));
  for (int x = 0; x < pixels; x++) {
    uint64_t pixel;

    memcpy (&pixel, words + 4 * x, sizeof (pixel));
    pixel = pixel >> shift & CONVOLVE_LIGHT_MOST;
    pixel |= pixel << 16;
    pixel |= pixel << 32 | others;
    memcpy (to + 4 * x, &pixel, sizeof (pixel));
  }
}

/* A pixel's numbers again and again. */
static void
light_repeat (uint16_t *numbers, int samples)
{
  for (int n = samples; n < LIGHT_SAMPLES; n *= 2)
    memcpy (numbers + n, numbers, (n < LIGHT_SAMPLES - n ? n : LIGHT_SAMPLES - n) * sizeof (*numbers));
}

/* Fills the parts of a block that are the same for all blocks of a row. */
static void
light_begin (const ConvolveLightRow *row, LightBlock *block)
{
  for (int i = 0; i < row->samples; i++) {
    const int k = row->first + i;
    const bool is_color = row->tables->colors >> k & 1;

    block->about[i] = is_color ? (uint16_t) row->tables->about[k] : 0;
    block->curved[i] = is_color ? UINT16_MAX : 0;
  }
  if (row->weighs)
    light_repeat (block->about, row->samples);
  if (row->curved && !row->all_curved)
    light_repeat (block->curved, row->samples);
}

/* to = table[from] for the samples that are curved. */
static void
light_bend (const ConvolveLightRow *row, LightBlock *block, const uint16_t *table, const uint16_t *restrict from, int n,
    uint16_t *restrict to)
{
  if (!row->curved)
    return;
  if (row->all_curved) {
    light_look_up (table, from, n, to);
    return;
  }
  light_look_up (table, from, n, block->found);
  for (int i = 0; i < n; i++)
    to[i] = (uint16_t) ((block->found[i] & block->curved[i]) | (to[i] & ~block->curved[i]));
}

static bool
light_is_opaque (const uint16_t *restrict alpha, int n)
{
  uint16_t all = UINT16_MAX;

  for (int i = 0; i < n; i++)
    all &= alpha[i];
  return all == CONVOLVE_LIGHT_MOST;
}

/* How far words are from a level, and words so far from it, on the side of others. */
static void
light_take_level (const uint16_t *restrict words, const uint16_t *restrict about, int n, uint16_t *restrict distances)
{
  for (int i = 0; i < n; i++)
    distances[i] = (uint16_t) (words[i] < about[i] ? about[i] - words[i] : words[i] - about[i]);
}

static void
light_add_level (const uint16_t *restrict others, const uint16_t *restrict about, const uint16_t *restrict distances,
    int n, uint16_t *restrict words)
{
  for (int i = 0; i < n; i++) {
    const bool below = others[i] < about[i];
    const uint16_t most = below ? about[i] : (uint16_t) ~about[i];
    const uint16_t distance = distances[i] < most ? distances[i] : most;

    words[i] = (uint16_t) (below ? about[i] - distance : about[i] + distance);
  }
}

/* to = convolve_light_weigh (straight, about, before) */
static void
light_weigh (LightBlock *block, int n, uint16_t *restrict to)
{
  light_take_level (block->straight, block->about, n, block->distances);
  for (int i = 0; i < n; i++)
    block->distances[i] = light_share (block->distances[i], block->before[i]);
  light_add_level (block->straight, block->about, block->distances, n, to);
}

/* The words of a block of pixels from x on, with what the block has of the original and its alpha. */
static void
light_unpack (const ConvolveLightRow *row, int x, int pixels, LightBlock *block, uint16_t *restrict to)
{
  const ConvolveLightTables *tables = row->tables;
  const int samples = row->samples, n = pixels * samples, size = convolve_sample_size (tables->pixel.type);
  uint16_t *words = row->weighs ? block->straight : to;

  light_read (&tables->pixel, row->original + (size_t) x * samples * size, n, block->stored, block->codes);
  if (!row->all_curved)
    light_widen (&tables->pixel, block->codes, n, words);
  light_bend (row, block, tables->decode, block->codes, n, words);
  if (!row->weighs)
    return;
  if (samples > 1) {
    light_spread (row, words, pixels, block->before);
  } else {
    light_read (&tables->pixel, row->original_alpha + (size_t) x * size, pixels, block->found, block->codes);
    light_widen (&tables->pixel, block->codes, pixels, block->before);
  }
  if (light_is_opaque (block->before, n))
    memcpy (to, words, n * sizeof (*to));
  else
    light_weigh (block, n, to);
}

/*
 * distances = (distances * 65535 + alpha / 2) / alpha, or 65535 where that is less. The quotient in floats is too small
 * by less than 1, and never too large: 0.02 is more than its own error, which is below 0.01, and the exact quotient has
 * up to a half more. One step makes the quotient exact. 0 / 0 counts as the largest quotient.
 */
static void
light_divide (const uint16_t *restrict alphas, int n, uint16_t *restrict distances)
{
  const float most = CONVOLVE_LIGHT_MOST - 1;

  for (int i = 0; i < n; i++) {
    const uint32_t distance = distances[i], alpha = alphas[i];
    const uint32_t product = (distance << 16) - distance + (alpha >> 1);
    const float guess = (float) (int) distance * ((float) CONVOLVE_LIGHT_MOST / (float) (int) alpha) - 0.02f;
    const uint32_t quotient = (uint32_t) (int) (guess < most ? guess : most);

    distances[i] = (uint16_t) (quotient + (product - quotient * alpha >= alpha));
  }
}

/* straight = convolve_light_unweigh (words, about, now) */
static void
light_unweigh (const uint16_t *restrict words, LightBlock *block, int n)
{
  light_take_level (words, block->about, n, block->distances);
  light_divide (block->now, n, block->distances);
  light_add_level (words, block->about, block->distances, n, block->straight);
}

/* The code values of words. */
static void
light_find_codes (const ConvolveLightRow *row, LightBlock *block, const uint16_t *restrict words, int n)
{
  const uint16_t most = (uint16_t) ((1 << row->tables->pixel.depth) - 1);

  if (!row->all_curved)
    for (int i = 0; i < n; i++)
      block->codes[i] = light_share (words[i], most);
  light_bend (row, block, row->tables->encode, words, n, block->codes);
}

/* Which samples keep what is stored: those whose words stayed as they were, and those that nobody sees any more. */
static void
light_find_kept (const ConvolveLightRow *row, LightBlock *block, const uint16_t *restrict inner, int n)
{
  for (int i = 0; i < n; i++)
    block->kept[i] = inner[i] == block->words[i] ? UINT16_MAX : 0;
  if (!row->weighs)
    return;
  for (int i = 0; i < n; i++) {
    const uint16_t as_before = block->now[i] == block->before[i] ? UINT16_MAX : 0;
    const uint16_t unseen = block->now[i] == 0 ? UINT16_MAX : 0;

    block->kept[i] = (uint16_t) ((block->kept[i] & as_before) | unseen);
  }
}

static inline __attribute__ ((always_inline)) void
light_write_words (const LightBlock *restrict block, int n, int shift, bool swapped, uint8_t *restrict to)
{
  const uint16_t factor = (uint16_t) (1 << shift);

  for (int i = 0; i < n; i++) {
    uint16_t word = (uint16_t) (block->codes[i] * factor);

    word = swapped ? (uint16_t) (word << 8 | word >> 8) : word;
    word = (uint16_t) ((block->stored[i] & block->kept[i]) | (word & ~block->kept[i]));
    memcpy (to + 2 * i, &word, sizeof (word));
  }
}

/* Code values as they are in memory, or what is stored. */
static void
light_write (const ConvolvePixel *pixel, const LightBlock *restrict block, int n, uint8_t *restrict to)
{
  if (pixel->type == CONVOLVE_SAMPLE_U8)
    for (int i = 0; i < n; i++)
      to[i] = (uint8_t) ((block->stored[i] & block->kept[i]) | (block->codes[i] & ~block->kept[i]));
  else if (pixel->swapped)
    light_write_words (block, n, pixel->shift, true, to);
  else
    light_write_words (block, n, pixel->shift, false, to);
}

/* Where alpha became 0, what the outer picture has stands for what the original has. */
static void
light_leave_unseen (const ConvolveLightRow *row, LightBlock *block, const uint8_t *outer, int n)
{
  light_read (&row->tables->pixel, outer, n, block->found, block->codes);
  for (int i = 0; i < n; i++)
    block->stored[i] = block->now[i] == 0 ? block->found[i] : block->stored[i];
}

static void
light_pack (const ConvolveLightRow *row, int x, int pixels, LightBlock *block)
{
  const ConvolvePixel *pixel = &row->tables->pixel;
  const int samples = row->samples, n = pixels * samples;
  const uint16_t *inner = row->inner + (size_t) x * samples;
  uint8_t *to = row->outer + (size_t) x * samples * convolve_sample_size (pixel->type);

  light_unpack (row, x, pixels, block, block->words);
  if (row->weighs)
    light_spread (row, samples > 1 ? inner : row->inner_alpha + x, pixels, block->now);
  if (row->weighs && row->tables->leaves_unseen)
    light_leave_unseen (row, block, to, n);
  if (row->weighs && !light_is_opaque (block->now, n)) {
    light_unweigh (inner, block, n);
    light_find_codes (row, block, block->straight, n);
  } else {
    light_find_codes (row, block, inner, n);
  }
  light_find_kept (row, block, inner, n);
  light_write (pixel, block, n, to);
}

static void
unpack_light (const ConvolveLightRow *row, int width)
{
  const int most = LIGHT_SAMPLES / row->samples;
  LightBlock block;

  light_begin (row, &block);
  for (int x = 0; x < width; x += most)
    light_unpack (row, x, width - x < most ? width - x : most, &block, row->inner + (size_t) x * row->samples);
}

static void
pack_light (const ConvolveLightRow *row, int width)
{
  const int most = LIGHT_SAMPLES / row->samples;
  LightBlock block;

  light_begin (row, &block);
  for (int x = 0; x < width; x += most)
    light_pack (row, x, width - x < most ? width - x : most, &block);
}

#endif
