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

static void
unpack_row (const ConvolveLightTables *tables, const ConvolveFormJob *job, int k, int y)
{
  const Row row = find_row (tables, job, k, y), alpha = find_row (tables, job, tables->alpha, y);

  for (ptrdiff_t x = 0; x < job->inner.width; x++) {
    unsigned weight = convolve_light_weighs (tables, k) ? convolve_light_alpha (tables, alpha.original + x * alpha.step)
                                                        : CONVOLVE_LIGHT_MOST;

    row.inner[x * row.inner_step] = (uint16_t) convolve_light_unpack (tables, k, row.original + x * row.step, weight);
  }
}

/* Colours come before alpha, which the outer picture may share with the original. */
static void
pack_row (const ConvolveLightTables *tables, const ConvolveFormJob *job, int k, int y)
{
  const Row row = find_row (tables, job, k, y), alpha = find_row (tables, job, tables->alpha, y);

  for (ptrdiff_t x = 0; x < job->inner.width; x++) {
    unsigned now = CONVOLVE_LIGHT_MOST, before = CONVOLVE_LIGHT_MOST;

    if (convolve_light_weighs (tables, k)) {
      now = alpha.inner[x * alpha.inner_step];
      before = convolve_light_alpha (tables, alpha.original + x * alpha.step);
    }
    convolve_light_pack (tables, k, row.original + x * row.step, row.inner[x * row.inner_step], now, before,
        row.outer + x * row.step);
  }
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
