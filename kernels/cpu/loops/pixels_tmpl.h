/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From pixels to values, and back. A word is a sample of 16 bits in memory, in either byte order. */
#ifndef CONVOLVE_CPU_PIXELS_TMPL_H
#define CONVOLVE_CPU_PIXELS_TMPL_H

#include <string.h>

#include "common/internal.h"
#include "cpu/loops/vectors_tmpl.h"

static inline unsigned
value_of_word (const ConvolvePixel *pixel, unsigned word, bool swapped)
{
  unsigned maximum = (1u << pixel->depth) - 1;
  unsigned value = (swapped ? (word >> 8 | word << 8) & 0xffff : word) >> pixel->shift;

  return value < maximum ? value : maximum;
}

static inline unsigned
word_of_value (unsigned value, int shift, bool swapped)
{
  unsigned word = value << shift;

  return swapped ? (word >> 8 | word << 8) & 0xffff : word;
}

/* --- words of a register, in the machine's byte order; compilers shift these as numbers of 32 bits --- */

static inline Shorts
words_at (const void *from)
{
  Shorts words;

  memcpy (&words, from, sizeof (words));
  return words;
}

static inline Shorts
words_down (Shorts words, int bits)
{
#if defined(__AVX512BW__)
  return (Shorts) _mm512_srl_epi16 ((__m512i) words, _mm_cvtsi32_si128 (bits));
#elif defined(__AVX2__)
  return (Shorts) _mm256_srl_epi16 ((__m256i) words, _mm_cvtsi32_si128 (bits));
#elif defined(__SSE2__)
  return (Shorts) _mm_srl_epi16 ((__m128i) words, _mm_cvtsi32_si128 (bits));
#else
  return words >> (uint16_t) bits;
#endif
}

static inline Shorts
words_up (Shorts words, int bits)
{
#if defined(__AVX512BW__)
  return (Shorts) _mm512_sll_epi16 ((__m512i) words, _mm_cvtsi32_si128 (bits));
#elif defined(__AVX2__)
  return (Shorts) _mm256_sll_epi16 ((__m256i) words, _mm_cvtsi32_si128 (bits));
#elif defined(__SSE2__)
  return (Shorts) _mm_sll_epi16 ((__m128i) words, _mm_cvtsi32_si128 (bits));
#else
  return words << (uint16_t) bits;
#endif
}

/* The smaller one of each two words. */
static inline Shorts
words_least (Shorts a, Shorts b)
{
#if defined(__AVX512BW__)
  return (Shorts) _mm512_min_epu16 ((__m512i) a, (__m512i) b);
#elif defined(__AVX2__)
  return (Shorts) _mm256_min_epu16 ((__m256i) a, (__m256i) b);
#elif defined(__SSE2__)
  return a - (Shorts) _mm_subs_epu16 ((__m128i) a, (__m128i) b);
#else
  Shorts less = (Shorts) (a < b);

  return (a & less) | (b & ~less);
#endif
}

/* --- pixels --- */

static inline void
load_words (const ConvolvePixel *pixel, const Word *words, int count, uint16_t *restrict values)
{
  const int shift = pixel->shift, whole = count - count % (2 * LANES);
  const Shorts maximum = (Shorts){ 0 } + (uint16_t) ((1u << pixel->depth) - 1);

  for (int i = 0; i < whole; i += 2 * LANES)
    *(ShortsAt *) (values + i) = words_least (words_down (words_at (words + i), shift), maximum);
  for (int i = whole; i < count; i++)
    values[i] = value_of_word (pixel, words[i], false);
}

/* Compilers do not unroll these two loops for arm64, where half of the instructions would count. */
static inline void
load_bytes (const uint8_t *restrict line, int count, uint16_t *restrict values)
{
  int i = 0;

#ifdef ARM64
  for (; i + 64 <= count; i += 64)
    for (int k = i; k < i + 64; k += 16) {
      const uint8x16_t bytes = vld1q_u8 (line + k);

      vst1q_u16 (values + k, vmovl_u8 (vget_low_u8 (bytes)));
      vst1q_u16 (values + k + 8, vmovl_high_u8 (bytes));
    }
#endif
  for (; i < count; i++)
    values[i] = line[i];
}

static inline void
store_bytes (const uint16_t *restrict values, int count, uint8_t *restrict destination)
{
  int i = 0;

#ifdef ARM64
  for (; i + 64 <= count; i += 64)
    for (int k = i; k < i + 64; k += 16)
      vst1q_u8 (destination + k, vmovn_high_u16 (vmovn_u16 (vld1q_u16 (values + k)), vld1q_u16 (values + k + 8)));
#endif
  for (; i < count; i++)
    destination[i] = (uint8_t) values[i];
}

/* Pixels with other bytes between them. Calls with a constant stride are inlined, and vectorised. */
static inline void
load_apart (const ConvolvePixel *pixel, const uint8_t *line, int pixels, uint16_t *values, int stride, int samples)
{
  for (int i = 0; i < pixels; i++)
    for (int k = 0; k < samples; k++)
      values[(size_t) i * samples + k] = pixel->type == CONVOLVE_SAMPLE_U8
          ? line[(size_t) i * stride + k]
          : value_of_word (pixel, ((const Word *) (line + (size_t) i * stride))[k], pixel->swapped);
}

static void
load (const ConvolvePixel *pixel, const uint8_t *line, int pixels, uint16_t *restrict values)
{
  int samples = pixel->samples, stride = pixel->stride, count = pixels * samples;
  const Word *words = (const Word *) line;

  if (stride == samples * convolve_sample_size (pixel->type)) {
    if (pixel->type == CONVOLVE_SAMPLE_U8)
      load_bytes (line, count, values);
    else if (pixel->swapped)
      for (int i = 0; i < count; i++)
        values[i] = value_of_word (pixel, words[i], true);
    else
      load_words (pixel, words, count, values);
  } else if (samples == 1 && stride == 2) {
    load_apart (pixel, line, pixels, values, 2, 1);
  } else if (samples == 1 && stride == 4) {
    load_apart (pixel, line, pixels, values, 4, 1);
  } else {
    load_apart (pixel, line, pixels, values, stride, samples);
  }
}

/* Writes 4 * LANES values as one register of bytes, with a store that bypasses the caches. */
static inline void
stream_bytes (const uint16_t *values, uint8_t *destination)
{
#if defined(__AVX512BW__)
  __m256i low = _mm512_cvtepi16_epi8 (_mm512_loadu_si512 (values));
  __m256i high = _mm512_cvtepi16_epi8 (_mm512_loadu_si512 (values + 32));

  _mm512_stream_si512 ((__m512i *) destination, _mm512_inserti64x4 (_mm512_castsi256_si512 (low), high, 1));
#elif defined(__AVX2__)
  const __m256i *from = (const __m256i *) values;
  __m256i bytes = _mm256_packus_epi16 (_mm256_loadu_si256 (from), _mm256_loadu_si256 (from + 1));

  _mm256_stream_si256 ((__m256i *) destination, _mm256_permute4x64_epi64 (bytes, 0xd8));
#elif defined(__SSE2__)
  const __m128i *from = (const __m128i *) values;

  _mm_stream_si128 ((__m128i *) destination, _mm_packus_epi16 (_mm_loadu_si128 (from), _mm_loadu_si128 (from + 1)));
#else
  store_bytes (values, 4 * LANES, destination);
#endif
}

static void
stream (const uint16_t *restrict values, int count, uint8_t *restrict destination)
{
  int head = (int) (-(uintptr_t) destination % CONVOLVE_CACHE_LINE), i = head < count ? head : count;

  store_bytes (values, i, destination);
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    stream_bytes (values + i, destination + i);
  store_bytes (values + i, count - i, destination + i);
}

/* Streaming stores are weakly ordered: a fence makes them visible before what the thread stores next. */
static void
settle (void)
{
#ifdef __SSE2__
  _mm_sfence ();
#endif
}

/* Takes no pixel: a Word may alias the fields of a pixel, and the loop would read these anew for each word. */
static inline void
store_words (const uint16_t *restrict values, int count, int shift, bool swapped, Word *restrict destination)
{
  const int whole = swapped ? 0 : count - count % (2 * LANES);

  for (int i = 0; i < whole; i += 2 * LANES) {
    Shorts words = words_up (words_at (values + i), shift);

    memcpy (destination + i, &words, sizeof (words));
  }
  for (int i = whole; i < count; i++)
    destination[i] = word_of_value (values[i], shift, swapped);
}

/* Words at an odd address never fill a cache line. */
static void
stream_words (const uint16_t *restrict values, int count, int shift, uint8_t *restrict destination)
{
  const bool odd = (uintptr_t) destination % 2 != 0;
  int head = (int) (-(uintptr_t) destination % CONVOLVE_CACHE_LINE / 2), i = odd || head > count ? count : head;
  Word *to = (Word *) destination;

  store_words (values, i, shift, false, to);
  for (; i + 2 * LANES <= count; i += 2 * LANES) {
    Shorts words = words_up (words_at (values + i), shift);

#if defined(__AVX512BW__)
    _mm512_stream_si512 ((__m512i *) (to + i), (__m512i) words);
#elif defined(__AVX2__)
    _mm256_stream_si256 ((__m256i *) (to + i), (__m256i) words);
#elif defined(__SSE2__)
    _mm_stream_si128 ((__m128i *) (to + i), (__m128i) words);
#else
    memcpy (to + i, &words, sizeof (words));
#endif
  }
  store_words (values + i, count - i, shift, false, to + i);
}

/* Pixels of four bytes, some of which are copied: without branches, by a mask of the bytes to keep. */
static inline void
store_selected_4 (unsigned select, const uint16_t *restrict values, int pixels, const uint8_t *restrict source,
    uint8_t *restrict destination)
{
  uint8_t keep[4];

  for (int k = 0; k < 4; k++)
    keep[k] = select >> k & 1 ? 0 : 0xff;
  for (int i = 0; i < pixels; i++)
    for (int k = 0; k < 4; k++)
      destination[4 * i + k] = (source[4 * i + k] & keep[k]) | (values[4 * i + k] & ~keep[k]);
}

/* One byte of each pixel, as in packed YUV. Calls with a constant stride are inlined, and vectorised. */
static inline void
store_apart (const uint16_t *restrict values, int pixels, uint8_t *restrict destination, int stride)
{
  for (int i = 0; i < pixels; i++)
    destination[(size_t) i * stride] = (uint8_t) values[i];
}

/* Any pixel. The fields are copied, because a Word may alias those of *pixel. */
static inline void
store_selected (const ConvolvePixel *pixel, const uint16_t *values, int pixels, const uint8_t *source,
    uint8_t *destination)
{
  int samples = pixel->samples, stride = pixel->stride, shift = pixel->shift;
  bool bytes = pixel->type == CONVOLVE_SAMPLE_U8, swapped = pixel->swapped;
  unsigned select = pixel->select;

  for (int i = 0; i < pixels; i++, values += samples, source += stride, destination += stride)
    for (int k = 0; k < samples; k++) {
      bool selected = select >> k & 1;

      if (bytes)
        destination[k] = selected ? (uint8_t) values[k] : source[k];
      else
        ((Word *) destination)[k] = selected ? word_of_value (values[k], shift, swapped) : ((const Word *) source)[k];
    }
}

static void
store (const ConvolvePixel *pixel, const uint16_t *values, int pixels, const uint8_t *source, uint8_t *destination)
{
  int samples = pixel->samples, count = pixels * samples;
  bool bytes = pixel->type == CONVOLVE_SAMPLE_U8, all = pixel->select == (1u << samples) - 1;
  bool packed = pixel->stride == samples * convolve_sample_size (pixel->type);

  if (packed && all && bytes)
    store_bytes (values, count, destination);
  else if (packed && all)
    store_words (values, count, pixel->shift, pixel->swapped, (Word *) destination);
  else if (packed && bytes && samples == 4)
    store_selected_4 (pixel->select, values, pixels, source, destination);
  else if (bytes && all && samples == 1 && pixel->stride == 2)
    store_apart (values, pixels, destination, 2);
  else if (bytes && all && samples == 1 && pixel->stride == 4)
    store_apart (values, pixels, destination, 4);
  else
    store_selected (pixel, values, pixels, source, destination);
}

#endif
