/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of light on the host. */
#include "common/light.h"

/* A row of a sample in three pictures: its first sample, and the distance to the next one. */
typedef struct
{
  const uint8_t *original;
  uint8_t *outer;
  uint16_t *inner;
  int step;       /* bytes, in both outer pictures */
  int inner_step; /* words */
} Row;

static Row
find_row (const ConvolveLightTables *tables, const ConvolveFormJob *job, int k, int y)
{
  const int size = convolve_sample_size (tables->pixel.type), plane = tables->planes > 1 ? k : 0;
  const size_t outer = convolve_light_offset (tables, k, 0, size), inner = convolve_light_offset (tables, k, 0, 2);
  const int samples = tables->planes > 1 ? 1 : tables->samples;

  return (Row){ .original = convolve_form_row (&job->original, plane, y) + outer,
    .outer = convolve_form_row (&job->outer, plane, y) + outer,
    .inner = (uint16_t *) (convolve_form_row (&job->inner, plane, y) + inner),
    .step = samples * size,
    .inner_step = samples };
}

/* What of the tables is the same for all samples of a row, for the compiler to make a loop of each kind. */
typedef struct
{
  bool bytes;  /* samples of 8 bits */
  bool color;  /* the sample is a colour */
  bool curved; /* colours go through tables */
  bool weighs; /* by alpha */
} Kind;

static inline __attribute__ ((always_inline)) ConvolveLightTables
specialise (const ConvolveLightTables *tables, Kind kind)
{
  ConvolveLightTables own = *tables;

  own.pixel.type = kind.bytes ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16;
  if (kind.bytes)
    own.pixel.depth = 8;
  own.colors = kind.color ? ~0u : 0;
  own.weighs = kind.weighs;
  if (!kind.curved)
    own.decode = own.encode = NULL;
  return own;
}

static inline __attribute__ ((always_inline)) void
unpack_samples (const ConvolveLightTables *tables, const Row *row, const Row *alpha, int k, int width, Kind kind)
{
  const ConvolveLightTables own = specialise (tables, kind);

  for (ptrdiff_t x = 0; x < width; x++) {
    unsigned weight =
        kind.weighs ? convolve_light_alpha (&own, alpha->original + x * alpha->step) : CONVOLVE_LIGHT_MOST;

    row->inner[x * row->inner_step] = (uint16_t) convolve_light_unpack (&own, k, row->original + x * row->step, weight);
  }
}

static inline __attribute__ ((always_inline)) void
pack_samples (const ConvolveLightTables *tables, const Row *row, const Row *alpha, int k, int width, Kind kind)
{
  const ConvolveLightTables own = specialise (tables, kind);

  for (ptrdiff_t x = 0; x < width; x++) {
    unsigned now = CONVOLVE_LIGHT_MOST, before = CONVOLVE_LIGHT_MOST;

    if (kind.weighs) {
      now = alpha->inner[x * alpha->inner_step];
      before = convolve_light_alpha (&own, alpha->original + x * alpha->step);
    }
    convolve_light_pack (&own, k, row->original + x * row->step, row->inner[x * row->inner_step], now, before,
        row->outer + x * row->step);
  }
}

/* Calls one of the two functions above for the kind of sample k in these tables. */
#define FOR_EACH_KIND(samples) \
  const Row row = find_row (tables, job, k, y), alpha = find_row (tables, job, tables->alpha, y); \
  const bool color = tables->colors >> k & 1, curved = tables->decode && color, weighs = tables->weighs && color; \
  const int width = job->inner.width; \
\
  if (tables->pixel.type == CONVOLVE_SAMPLE_U8) { \
    if (!color) \
      samples (tables, &row, &alpha, k, width, (Kind){ true, false, false, false }); \
    else if (!weighs) \
      samples (tables, &row, &alpha, k, width, (Kind){ true, true, true, false }); \
    else if (curved) \
      samples (tables, &row, &alpha, k, width, (Kind){ true, true, true, true }); \
    else \
      samples (tables, &row, &alpha, k, width, (Kind){ true, true, false, true }); \
  } else { \
    if (!color) \
      samples (tables, &row, &alpha, k, width, (Kind){ false, false, false, false }); \
    else if (!weighs) \
      samples (tables, &row, &alpha, k, width, (Kind){ false, true, true, false }); \
    else if (curved) \
      samples (tables, &row, &alpha, k, width, (Kind){ false, true, true, true }); \
    else \
      samples (tables, &row, &alpha, k, width, (Kind){ false, true, false, true }); \
  }

static void
unpack_row (const ConvolveLightTables *tables, const ConvolveFormJob *job, int k, int y)
{
  FOR_EACH_KIND (unpack_samples)
}

static void
pack_row (const ConvolveLightTables *tables, const ConvolveFormJob *job, int k, int y)
{
  FOR_EACH_KIND (pack_samples)
}

void
convolve_light_unpack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;

  for (int y = first; y < end; y++)
    for (int k = 0; k < tables->samples; k++)
      unpack_row (tables, job, k, y);
}

void
convolve_light_pack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;

  /* Colours come before alpha, which the outer picture may share with the original. */
  for (int y = first; y < end; y++) {
    for (int k = 0; k < tables->samples; k++)
      if (!tables->weighs || k != tables->alpha)
        pack_row (tables, job, k, y);
    if (tables->weighs)
      pack_row (tables, job, tables->alpha, y);
  }
}

/* All bits of alpha in one word, as it is in memory. */
static uint64_t
bits_of_alpha (const ConvolveLightTables *tables, int samples, int k)
{
  const int size = convolve_sample_size (tables->pixel.type);
  uint8_t pixel[CONVOLVE_MAX_SAMPLES * sizeof (uint16_t)] = { 0 };
  uint64_t bits = 0;

  convolve_write_sample (&tables->pixel, pixel + k * size, (1 << tables->pixel.depth) - 1);
  memcpy (&bits, pixel, (size_t) samples * size);
  return bits;
}

#define AND_ROW(Type) \
  { \
    Type all = (Type) -1; \
    for (int x = 0; x < width; x++) { \
      Type word; \
      memcpy (&word, row + (size_t) x * sizeof (word), sizeof (word)); \
      all &= word; \
    } \
    return (all & wanted) == (Type) wanted; \
  }

/* Whether all words of `bytes` bytes have the wanted bits. */
static bool
row_has_bits (const uint8_t *row, int width, int bytes, uint64_t wanted)
{
  switch (bytes) {
    case 1:
      AND_ROW (uint8_t)
    case 2:
      AND_ROW (uint16_t)
    case 4:
      AND_ROW (uint32_t)
    case 8:
      AND_ROW (uint64_t)
  }
  return false;
}

bool
convolve_light_row_is_opaque (const ConvolveForm *form, const ConvolvePicture *outer, int y)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;
  const int k = tables->alpha, samples = tables->planes > 1 ? 1 : tables->samples;

  return row_has_bits (convolve_form_row (outer, tables->planes > 1 ? k : 0, y), outer->width,
      samples * convolve_sample_size (tables->pixel.type), bits_of_alpha (tables, samples, tables->planes > 1 ? 0 : k));
}
