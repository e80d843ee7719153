/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loops of the variant cpu. The file is compiled once for each instruction set, CONVOLVE_CPU_LEVEL being the name
 * of its table and CONVOLVE_CPU_NAME what users read; cpu/cpu.h says what each function does. Nothing but the
 * table may be visible outside, or a linker could take one set's function for another's.
 */
#include <string.h>

#include "cpu/cpu.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Elements of a register, and how many registers hold sums of a row of outputs: twice those are half of all. */
#if defined(__AVX512BW__)
#define LANES 16
#define VECTORS 8
#elif defined(__AVX2__)
#define LANES 8
#define VECTORS 4
#else
#define LANES 4
#define VECTORS 4
#endif
#define STEP (VECTORS * LANES)

_Static_assert(CONVOLVE_CPU_BLOCK % STEP == 0, "a loop writes no further than its rows have room");

/* One register, and the same at any address. Sums are unsigned: what stands behind a row's end may wrap. */
typedef uint32_t Ints __attribute__ ((vector_size (4 * LANES)));
typedef int32_t SignedInts __attribute__ ((vector_size (4 * LANES)));
typedef float Floats __attribute__ ((vector_size (4 * LANES)));
typedef double Doubles __attribute__ ((vector_size (4 * LANES)));
typedef uint32_t IntsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef float FloatsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef double DoublesAt __attribute__ ((vector_size (4 * LANES), aligned (8), may_alias));
typedef float HalfAt __attribute__ ((vector_size (2 * LANES), aligned (4), may_alias));
typedef uint16_t Word __attribute__ ((aligned (1), may_alias));
typedef uint32_t TwoWords __attribute__ ((may_alias));

/* sum + a pair of 16-bit products, in each lane. The one instruction that compilers do not find by themselves. */
static inline Ints
add_products (Ints sum, Ints pairs, Ints taps)
{
#if defined(__AVX512VNNI__)
  return (Ints) _mm512_dpwssd_epi32 ((__m512i) sum, (__m512i) pairs, (__m512i) taps);
#elif defined(__AVX512BW__)
  return sum + (Ints) _mm512_madd_epi16 ((__m512i) pairs, (__m512i) taps);
#elif defined(__AVX2__)
  return sum + (Ints) _mm256_madd_epi16 ((__m256i) pairs, (__m256i) taps);
#elif defined(__SSE2__)
  return sum + (Ints) _mm_madd_epi16 ((__m128i) pairs, (__m128i) taps);
#else
  return sum + (Ints) ((SignedInts) (pairs << 16) >> 16) * (Ints) ((SignedInts) (taps << 16) >> 16)
      + (Ints) ((SignedInts) pairs >> 16) * (Ints) ((SignedInts) taps >> 16);
#endif
}

static inline Ints
spread (ConvolvePair taps)
{
  return (Ints){ 0 } + taps;
}

/* --- pixels and values --- */

static inline unsigned
value_of_word (const ConvolvePixel *pixel, unsigned word, bool swapped)
{
  unsigned maximum = (1u << pixel->depth) - 1;
  unsigned value = (swapped ? (word >> 8 | word << 8) & 0xffff : word) >> pixel->shift;

  return value < maximum ? value : maximum;
}

static inline unsigned
word_of_value (const ConvolvePixel *pixel, unsigned value)
{
  unsigned word = value << pixel->shift;

  return pixel->swapped ? (word >> 8 | word << 8) & 0xffff : word;
}

/* Pixels with room between them. Inlined where stride and samples are known, for the strides that formats have. */
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
      for (int i = 0; i < count; i++)
        values[i] = line[i];
    else if (pixel->swapped)
      for (int i = 0; i < count; i++)
        values[i] = value_of_word (pixel, words[i], true);
    else
      for (int i = 0; i < count; i++)
        values[i] = value_of_word (pixel, words[i], false);
  } else if (samples == 1 && stride == 2) {
    load_apart (pixel, line, pixels, values, 2, 1);
  } else if (samples == 1 && stride == 4) {
    load_apart (pixel, line, pixels, values, 4, 1);
  } else {
    load_apart (pixel, line, pixels, values, stride, samples);
  }
}

static inline void
store_bytes (const uint16_t *restrict values, int count, uint8_t *restrict destination)
{
  for (int i = 0; i < count; i++)
    destination[i] = (uint8_t) values[i];
}

/* Two registers of values as one of bytes, past the caches. */
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

static void
settle (void)
{
#ifdef __SSE2__
  _mm_sfence ();
#endif
}

static inline void
store_words (const ConvolvePixel *pixel, const uint16_t *restrict values, int count, Word *restrict destination)
{
  for (int i = 0; i < count; i++)
    destination[i] = word_of_value (pixel, values[i]);
}

/* Four bytes a pixel and some of them copied: as words with a mask of what is kept. */
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

/* One byte of each pixel, as packed YUV has it; inlined where stride is known. */
static inline void
store_apart (const uint16_t *restrict values, int pixels, uint8_t *restrict destination, int stride)
{
  for (int i = 0; i < pixels; i++)
    destination[(size_t) i * stride] = (uint8_t) values[i];
}

static inline void
store_selected (const ConvolvePixel *pixel, const uint16_t *values, int pixels, const uint8_t *source,
    uint8_t *destination)
{
  size_t size = convolve_sample_size (pixel->type);

  for (int i = 0; i < pixels; i++, values += pixel->samples, source += pixel->stride, destination += pixel->stride)
    for (int k = 0; k < pixel->samples; k++) {
      if (!(pixel->select >> k & 1))
        memcpy (destination + k * size, source + k * size, size);
      else if (size == 1)
        destination[k] = (uint8_t) values[k];
      else
        ((Word *) destination)[k] = word_of_value (pixel, values[k]);
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
    store_words (pixel, values, count, (Word *) destination);
  else if (packed && bytes && samples == 4)
    store_selected_4 (pixel->select, values, pixels, source, destination);
  else if (bytes && all && samples == 1 && pixel->stride == 2)
    store_apart (values, pixels, destination, 2);
  else if (bytes && all && samples == 1 && pixel->stride == 4)
    store_apart (values, pixels, destination, 4);
  else
    store_selected (pixel, values, pixels, source, destination);
}

/* --- integers --- */

static void
pair_up (const uint16_t *restrict first, const uint16_t *restrict second, int count, int center,
    ConvolvePair *restrict pairs)
{
  for (int i = 0; i < count; i++)
    pairs[i] = (uint16_t) (first[i] - center) | (uint32_t) (uint16_t) (second[i] - center) << 16;
}

static void
pair_up_bytes (const uint8_t *restrict first, const uint8_t *restrict second, int count, int center,
    ConvolvePair *restrict pairs)
{
  for (int i = 0; i < count; i++)
    pairs[i] = (uint16_t) (first[i] - center) | (uint32_t) (uint16_t) (second[i] - center) << 16;
}

static inline void
load_starts (const int32_t *starts, Ints sums[VECTORS])
{
  for (int v = 0; v < VECTORS; v++)
    sums[v] = *(const IntsAt *) (starts + v * LANES);
}

static inline __attribute__ ((always_inline)) void
add_range_2 (const ConvolveTerms *terms, int first, int end, const ConvolvePair *const *rows, int x,
    Ints upper[VECTORS], Ints lower[VECTORS])
{
  for (int t = first; t < end; t++) {
    const ConvolveTerm *term = &terms->terms[t];
    const ConvolvePair *at = rows[term->row] + x + term->offset;
    Ints upper_taps = spread (term->upper), lower_taps = spread (term->lower);

    for (int v = 0; v < VECTORS; v++) {
      Ints pairs = *(const IntsAt *) (at + v * LANES);

      upper[v] = add_products (upper[v], pairs, upper_taps);
      lower[v] = add_products (lower[v], pairs, lower_taps);
    }
  }
}

/* Adds the sums of a group, which are rounded by what they started from, to the totals. */
static inline void
end_group (const Ints sums[VECTORS], int shift, Ints total[VECTORS])
{
  for (int v = 0; v < VECTORS; v++)
    total[v] += (Ints) ((SignedInts) sums[v] >> shift);
}

/* Inlined where grouped is known, so that sums without groups keep all registers. */
static inline __attribute__ ((always_inline)) void
add_terms_2 (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int x, Ints upper[VECTORS],
    Ints lower[VECTORS])
{
  int shift = terms->group_shift, first = 0;
  Ints half = spread (shift > 0 ? 1u << (shift - 1) : 0);

  if (!grouped) {
    add_range_2 (terms, 0, terms->count, rows, x, upper, lower);
    return;
  }
  for (int g = 0; g < terms->n_groups; first = terms->ends[g++]) {
    Ints sums[2][VECTORS];

    for (int v = 0; v < VECTORS; v++)
      sums[0][v] = sums[1][v] = half;
    add_range_2 (terms, first, terms->ends[g], rows, x, sums[0], sums[1]);
    end_group (sums[0], shift, upper);
    end_group (sums[1], shift, lower);
  }
}

static inline __attribute__ ((always_inline)) void
add_range_1 (const ConvolveTerms *terms, int first, int end, const ConvolvePair *const *rows, int x, Ints sums[VECTORS])
{
  for (int t = first; t < end; t++) {
    const ConvolveTerm *term = &terms->terms[t];
    const ConvolvePair *at = rows[term->row] + x + term->offset;
    Ints taps = spread (term->upper);

    for (int v = 0; v < VECTORS; v++)
      sums[v] = add_products (sums[v], *(const IntsAt *) (at + v * LANES), taps);
  }
}

static inline __attribute__ ((always_inline)) void
add_terms_1 (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int x, Ints total[VECTORS])
{
  int shift = terms->group_shift, first = 0;
  Ints half = spread (shift > 0 ? 1u << (shift - 1) : 0);

  if (!grouped) {
    add_range_1 (terms, 0, terms->count, rows, x, total);
    return;
  }
  for (int g = 0; g < terms->n_groups; first = terms->ends[g++]) {
    Ints sums[VECTORS];

    for (int v = 0; v < VECTORS; v++)
      sums[v] = half;
    add_range_1 (terms, first, terms->ends[g], rows, x, sums);
    end_group (sums, shift, total);
  }
}

static inline void
store_ints (const Ints sums[VECTORS], int32_t *to)
{
  for (int v = 0; v < VECTORS; v++)
    *(IntsAt *) (to + v * LANES) = sums[v];
}

static inline unsigned
shift_down (int32_t sum, ConvolveShift shift)
{
  int32_t value = (int32_t) ((uint32_t) (sum >> shift.bits) + shift.center);

  value = value > 0 ? value : 0;
  return (unsigned) (value < shift.maximum ? value : shift.maximum);
}

static inline void
store_values (const Ints sums[VECTORS], ConvolveShift shift, uint16_t *restrict to)
{
  int32_t plain[STEP];

  store_ints (sums, plain);
  for (int i = 0; i < STEP; i++)
    to[i] = (uint16_t) shift_down (plain[i], shift);
}

static void
sum_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *upper_sums, int32_t *lower_sums)
{
  for (int x = 0; x < count; x += STEP) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (starts + x, upper);
    load_starts (starts + x, lower);
    add_terms_2 (terms, false, rows, x, upper, lower);
    store_ints (upper, upper_sums + x);
    store_ints (lower, lower_sums + x);
  }
}

static void
values_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *upper_values, uint16_t *lower_values)
{
  ConvolveShift by = *shift;

  for (int x = 0; x < count; x += STEP) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (starts + x, upper);
    load_starts (starts + x, lower);
    add_terms_2 (terms, false, rows, x, upper, lower);
    store_values (upper, by, upper_values + x);
    store_values (lower, by, lower_values + x);
  }
}

static void
shorts_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, int shift,
    uint16_t *restrict upper_values, uint16_t *restrict lower_values)
{
  Ints half = spread (shift > 0 ? 1u << (shift - 1) : 0);

  for (int x = 0; x < count; x += STEP) {
    Ints upper[VECTORS], lower[VECTORS];
    int32_t plain[2][STEP];

    for (int v = 0; v < VECTORS; v++)
      upper[v] = lower[v] = half;
    add_terms_2 (terms, false, rows, x, upper, lower);
    for (int v = 0; v < VECTORS; v++) {
      *(IntsAt *) (plain[0] + v * LANES) = (Ints) ((SignedInts) upper[v] >> shift);
      *(IntsAt *) (plain[1] + v * LANES) = (Ints) ((SignedInts) lower[v] >> shift);
    }
    for (int i = 0; i < STEP; i++)
      upper_values[x + i] = (uint16_t) plain[0][i];
    for (int i = 0; i < STEP; i++)
      lower_values[x + i] = (uint16_t) plain[1][i];
  }
}

/* Even outputs meet pairs from their first neighbour on; odd ones meet the same pairs, the taps one place further. */
static inline __attribute__ ((always_inline)) void
add_neighbours (const ConvolveTerms *terms, bool grouped, const uint16_t *const *rows, int x, const int32_t *starts,
    int32_t even[STEP], int32_t odd[STEP])
{
  Ints first[VECTORS], second[VECTORS];

  load_starts (starts + x, first);
  load_starts (starts + x, second);
  add_terms_2 (terms, grouped, (const ConvolvePair *const *) rows, x, first, second);
  store_ints (first, even);
  store_ints (second, odd);
}

static inline __attribute__ ((always_inline)) void
do_sum_neighbours (const ConvolveTerms *terms, bool grouped, const uint16_t *const *rows, int count,
    const int32_t *starts, int32_t *restrict sums)
{
  for (int x = 0; 2 * x < count; x += STEP) {
    int32_t even[STEP], odd[STEP];

    add_neighbours (terms, grouped, rows, x, starts, even, odd);
    for (int i = 0; i < STEP; i++) {
      sums[2 * (x + i)] = even[i];
      sums[2 * (x + i) + 1] = odd[i];
    }
  }
}

static __attribute__ ((noinline)) void
sum_neighbours_in_groups (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
    int32_t *restrict sums)
{
  do_sum_neighbours (terms, true, rows, count, starts, sums);
}

static void
sum_neighbours (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
    int32_t *restrict sums)
{
  if (terms->n_groups > 0)
    sum_neighbours_in_groups (terms, rows, count, starts, sums);
  else
    do_sum_neighbours (terms, false, rows, count, starts, sums);
}

static inline __attribute__ ((always_inline)) void
do_values_of_neighbours (const ConvolveTerms *terms, bool grouped, const uint16_t *const *rows, int count,
    const int32_t *starts, const ConvolveShift *shift, uint16_t *restrict values)
{
  ConvolveShift by = *shift;
  TwoWords *restrict pairs = (TwoWords *) values;

  for (int x = 0; 2 * x < count; x += STEP) {
    int32_t even[STEP], odd[STEP];

    add_neighbours (terms, grouped, rows, x, starts, even, odd);
    for (int i = 0; i < STEP; i++)
      pairs[x + i] = shift_down (even[i], by) | shift_down (odd[i], by) << 16;
  }
}

static __attribute__ ((noinline)) void
values_of_neighbours_in_groups (const ConvolveTerms *terms, const uint16_t *const *rows, int count,
    const int32_t *starts, const ConvolveShift *shift, uint16_t *restrict values)
{
  do_values_of_neighbours (terms, true, rows, count, starts, shift, values);
}

static void
values_of_neighbours (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *restrict values)
{
  if (terms->n_groups > 0)
    values_of_neighbours_in_groups (terms, rows, count, starts, shift, values);
  else
    do_values_of_neighbours (terms, false, rows, count, starts, shift, values);
}

static inline __attribute__ ((always_inline)) void
do_sum_row (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *sums)
{
  for (int x = 0; x < count; x += STEP) {
    Ints total[VECTORS];

    load_starts (starts + x, total);
    add_terms_1 (terms, grouped, rows, x, total);
    store_ints (total, sums + x);
  }
}

static __attribute__ ((noinline)) void
sum_row_in_groups (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *sums)
{
  do_sum_row (terms, true, rows, count, starts, sums);
}

static void
sum_row (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts, int32_t *sums)
{
  if (terms->n_groups > 0)
    sum_row_in_groups (terms, rows, count, starts, sums);
  else
    do_sum_row (terms, false, rows, count, starts, sums);
}

static inline __attribute__ ((always_inline)) void
do_values_of_row (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int count,
    const int32_t *starts, const ConvolveShift *shift, uint16_t *values)
{
  ConvolveShift by = *shift;

  for (int x = 0; x < count; x += STEP) {
    Ints total[VECTORS];

    load_starts (starts + x, total);
    add_terms_1 (terms, grouped, rows, x, total);
    store_values (total, by, values + x);
  }
}

static __attribute__ ((noinline)) void
values_of_row_in_groups (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *values)
{
  do_values_of_row (terms, true, rows, count, starts, shift, values);
}

static void
values_of_row (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *values)
{
  if (terms->n_groups > 0)
    values_of_row_in_groups (terms, rows, count, starts, shift, values);
  else
    do_values_of_row (terms, false, rows, count, starts, shift, values);
}

static void
slide (const uint16_t *restrict entering, const uint16_t *restrict leaving, int count, int32_t *restrict columns)
{
  for (int i = 0; i < count; i++)
    columns[i] += entering[i] - leaving[i];
}

/* to[x] = a[x] + b[x] + c[x]; to may be a. */
static inline void
add_rows (const int32_t *a, const int32_t *b, const int32_t *c, int count, int32_t *to)
{
  for (int x = 0; x < count; x += LANES)
    *(IntsAt *) (to + x) = *(const IntsAt *) (a + x) + *(const IntsAt *) (b + x) + *(const IntsAt *) (c + x);
}

/* Lane i of a register moved up by n lanes, in a shuffle with zeros; and of one that repeats its last n lanes. */
#define MOVED(i, n) ((i) < (n) ? LANES : (i) - (n))
#define REPEATED(i, n) (LANES - (n) + (i) % (n))
#define LANES_4(lane, i, n) lane (i, n), lane (i + 1, n), lane (i + 2, n), lane (i + 3, n)
#if LANES == 16
#define ALL_LANES(lane, n) LANES_4 (lane, 0, n), LANES_4 (lane, 4, n), LANES_4 (lane, 8, n), LANES_4 (lane, 12, n)
#elif LANES == 8
#define ALL_LANES(lane, n) LANES_4 (lane, 0, n), LANES_4 (lane, 4, n)
#else
#define ALL_LANES(lane, n) LANES_4 (lane, 0, n)
#endif
#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle (a, b, (Ints){ __VA_ARGS__ })
#endif
#define MOVE_UP(ints, n) SHUFFLE (ints, (Ints){ 0 }, ALL_LANES (MOVED, n))
#define REPEAT_LAST(ints, n) SHUFFLE (ints, ints, ALL_LANES (REPEATED, n))

/*
 * totals[x + step] becomes the sum of columns x, x - step, x - 2 step, ...: in a register by additions of itself moved
 * up, and from the registers before by their last lanes. Sums may wrap, differences of them do not know.
 */
static inline void
add_up (const int32_t *columns, int step, int length, int32_t *totals)
{
  Ints carry = { 0 };

  for (int x = 0; x < step; x++)
    totals[x] = 0;
  for (int x = 0; x < length; x += LANES) {
    Ints sum = *(const IntsAt *) (columns + x);

    if (step == 1)
      sum += MOVE_UP (sum, 1);
    if (step <= 2)
      sum += MOVE_UP (sum, 2);
    if (LANES > 4)
      sum += MOVE_UP (sum, 4);
    if (LANES > 8)
      sum += MOVE_UP (sum, 8);
    sum += carry;
    carry = step == 1 ? REPEAT_LAST (sum, 1) : step == 2 ? REPEAT_LAST (sum, 2) : REPEAT_LAST (sum, 4);
    *(IntsAt *) (totals + x + step) = sum;
  }
}

/*
 * A window is the difference of two totals. Narrow ones, and those whose step does not fit registers, are sums of
 * windows of 1, 2, 4, ... columns, one for each bit of the width, side by side: the windows of one size are two by two
 * those of the next, for all places at once.
 */
static void
window (const int32_t *columns, int width, int step, int count, int32_t *scratch[2], int32_t *sums)
{
  const int32_t *part = columns, *sum = columns;
  int length = count + (width - 1) * step, done = 1, turn = 0;

  if (width > 5 && step != 3) {
    if (step == 1)
      add_up (columns, 1, length, scratch[0]);
    else if (step == 2)
      add_up (columns, 2, length, scratch[0]);
    else
      add_up (columns, 4, length, scratch[0]);
    for (int x = 0; x < count; x += LANES)
      *(IntsAt *) (sums + x) = *(const IntsAt *) (scratch[0] + x + width * step) - *(const IntsAt *) (scratch[0] + x);
    return;
  }
  if (width == 1)
    memcpy (sums, columns, count * sizeof (*sums));
  for (int size = 1; 2 * size <= width; size *= 2) {
    if (width & 2 * size) {
      add_rows (sum, part + done * step, part + (done + size) * step, count, sums);
      sum = sums;
      done += 2 * size;
    }
    if (4 * size <= width) {
      int32_t *next = scratch[turn++ % 2];

      length -= size * step;
      for (int x = 0; x < length; x += LANES)
        *(IntsAt *) (next + x) = *(const IntsAt *) (part + x) + *(const IntsAt *) (part + x + size * step);
      part = next;
    }
  }
}

/* --- floats --- */

static void
to_floats (const uint16_t *restrict values, int count, int center, float *restrict row)
{
  for (int i = 0; i < count; i++)
    row[i] = (float) (values[i] - center);
}

/* Adds the block's sums to the totals, and begins the next block. */
static inline void
end_block (Floats part[VECTORS], Floats total[VECTORS])
{
  for (int v = 0; v < VECTORS; v++) {
    total[v] += part[v];
    part[v] = (Floats){ 0 };
  }
}

static void
sum_floats (const float *taps, int width, int height, int step, int block, const float *const *rows, int first,
    int count, float *sums)
{
  for (int x = first; x < first + count; x += STEP) {
    Floats total[VECTORS] = { 0 }, part[VECTORS] = { 0 };
    const float *tap = taps;
    int left = block;

    for (int j = 0; j < height; j++) {
      const float *at = rows[j] + x;

      for (int i = 0; i < width;) {
        int end = width - i < left ? width : i + left;

        left -= end - i;
        for (; i < end; i++, at += step, tap++)
          for (int v = 0; v < VECTORS; v++)
            part[v] += *tap * *(const FloatsAt *) (at + v * LANES);
        if (left == 0) {
          end_block (part, total);
          left = block;
        }
      }
    }
    end_block (part, total);
    for (int v = 0; v < VECTORS; v++)
      *(FloatsAt *) (sums + x + v * LANES) = total[v];
  }
}

static void
sum_doubles (const double *taps, int width, int height, int step, const float *const *rows, int first, int count,
    double *sums)
{
  for (int x = first; x < first + count; x += STEP / 2) {
    Doubles total[VECTORS] = { 0 };

    for (int j = 0; j < height; j++) {
      const float *at = rows[j] + x;
      const double *tap = taps + (size_t) j * width;

      for (int i = 0; i < width; i++, at += step)
        for (int v = 0; v < VECTORS; v++)
          total[v] += tap[i] * __builtin_convertvector(*(const HalfAt *) (at + v * LANES / 2), Doubles);
    }
    for (int v = 0; v < VECTORS; v++)
      *(DoublesAt *) (sums + x + v * LANES / 2) = total[v];
  }
}

static void
sum_wide_doubles (const double *taps, int width, int height, int step, const double *const *rows, int count,
    double *sums)
{
  for (int x = 0; x < count; x += STEP / 2) {
    Doubles total[VECTORS] = { 0 };

    for (int j = 0; j < height; j++) {
      const double *at = rows[j] + x, *tap = taps + (size_t) j * width;

      for (int i = 0; i < width; i++, at += step)
        for (int v = 0; v < VECTORS; v++)
          total[v] += tap[i] * *(const DoublesAt *) (at + v * LANES / 2);
    }
    for (int v = 0; v < VECTORS; v++)
      *(DoublesAt *) (sums + x + v * LANES / 2) = total[v];
  }
}

/* --- Fourier transforms --- */

#define COLUMNS 8 /* that go through all steps together, in the first cache */

/* One step from samples to frequencies, and one back, for two rows of a few columns. */
static inline void
butterfly (double *restrict ar, double *restrict ai, double *restrict br, double *restrict bi, double wr, double wi)
{
  for (int i = 0; i < COLUMNS; i++) {
    double real = ar[i] - br[i], imaginary = ai[i] - bi[i];

    ar[i] += br[i];
    ai[i] += bi[i];
    br[i] = real * wr - imaginary * wi;
    bi[i] = real * wi + imaginary * wr;
  }
}

static inline void
butterfly_back (double *restrict ar, double *restrict ai, double *restrict br, double *restrict bi, double wr,
    double wi)
{
  for (int i = 0; i < COLUMNS; i++) {
    double real = br[i] * wr + bi[i] * wi, imaginary = bi[i] * wr - br[i] * wi;

    br[i] = ar[i] - real;
    bi[i] = ai[i] - imaginary;
    ar[i] += real;
    ai[i] += imaginary;
  }
}

static inline void
transform_columns (double *re, double *im, const double *roots, bool back)
{
  const int n = CONVOLVE_CPU_FFT_POINTS, stride = CONVOLVE_CPU_FFT_STRIDE;

  for (int half = back ? 1 : n / 2; half >= 1 && half < n; half = back ? half * 2 : half / 2)
    for (int k = 0; k < half; k++) {
      double wr = roots[n / half * k], wi = roots[n / half * k + 1];

      for (int row = k; row < n; row += 2 * half) {
        int a = row * stride, b = (row + half) * stride;

        if (back)
          butterfly_back (re + a, im + a, re + b, im + b, wr, wi);
        else
          butterfly (re + a, im + a, re + b, im + b, wr, wi);
      }
    }
}

/* Rows become columns, in blocks that the first cache holds. */
static void
flip (double *square)
{
  const int n = CONVOLVE_CPU_FFT_POINTS, stride = CONVOLVE_CPU_FFT_STRIDE, block = 16;

  for (int y = 0; y < n; y += block)
    for (int x = y; x < n; x += block)
      for (int j = y; j < y + block; j++)
        for (int i = x > y ? x : j + 1; i < x + block; i++) {
          double kept = square[j * stride + i];

          square[j * stride + i] = square[i * stride + j];
          square[i * stride + j] = kept;
        }
}

static void
fourier (double *real, double *imaginary, const double *roots, bool back)
{
  for (int pass = 0; pass < 2; pass++) {
    for (int x = 0; x < CONVOLVE_CPU_FFT_POINTS; x += COLUMNS)
      transform_columns (real + x, imaginary + x, roots, back);
    if (pass == 0) {
      flip (real);
      flip (imaginary);
    }
  }
}

static void
multiply (double *restrict real, double *restrict imaginary, const double *restrict by_real,
    const double *restrict by_imaginary)
{
  for (int i = 0; i < CONVOLVE_CPU_FFT_SQUARE; i++) {
    double product = real[i] * by_real[i] - imaginary[i] * by_imaginary[i];

    imaginary[i] = real[i] * by_imaginary[i] + imaginary[i] * by_real[i];
    real[i] = product;
  }
}

/* --- the tail, as common/tail.h has it --- */

#define FINISH(name, Sum, Real) \
  static void name (const Sum *restrict sums, int count, Real scale, const Real *restrict offsets, Real maximum, \
      uint16_t *restrict values) \
  { \
    for (int i = 0; i < count; i++) { \
      Real value = (Real) sums[i] * scale + offsets[i]; \
\
      value = value > 0 ? value : 0; \
      values[i] = (uint16_t) (int32_t) (value < maximum ? value : maximum); \
    } \
  }

FINISH (finish_ints, int32_t, float)
FINISH (finish_ints_wide, int32_t, double)
FINISH (finish_floats, float, float)
FINISH (finish_floats_wide, float, double)
FINISH (finish_doubles, double, double)

extern const ConvolveCpuLevel CONVOLVE_CPU_LEVEL;
const ConvolveCpuLevel CONVOLVE_CPU_LEVEL = {
  .name = CONVOLVE_CPU_NAME,
  .load = load,
  .store = store,
  .stream = stream,
  .settle = settle,
  .pair_up = pair_up,
  .pair_up_bytes = pair_up_bytes,
  .sum_rows = sum_rows,
  .sum_neighbours = sum_neighbours,
  .sum_row = sum_row,
  .values_of_rows = values_of_rows,
  .values_of_neighbours = values_of_neighbours,
  .values_of_row = values_of_row,
  .shorts_of_rows = shorts_of_rows,
  .slide = slide,
  .window = window,
  .to_floats = to_floats,
  .sum_floats = sum_floats,
  .sum_doubles = sum_doubles,
  .sum_wide_doubles = sum_wide_doubles,
  .fourier = fourier,
  .multiply = multiply,
  .finish_ints = finish_ints,
  .finish_ints_wide = finish_ints_wide,
  .finish_floats = finish_floats,
  .finish_floats_wide = finish_floats_wide,
  .finish_doubles = finish_doubles,
};
