/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of light on the host. */
#include "cpu/loops/levels.h"

static ConvolveLightRow
find_row (const ConvolveLightTables *tables, const ConvolveFormJob *job, int plane, int y)
{
  const bool apart = tables->planes > 1;
  const int samples = apart ? 1 : tables->samples;
  const unsigned all = (1u << samples) - 1, colors = tables->colors >> plane & all;

  return (ConvolveLightRow){ .tables = tables,
    .first = plane,
    .samples = samples,
    .weighs = tables->weighs && colors,
    .curved = tables->decode && colors,
    .all_curved = tables->decode && colors == all,
    .original = convolve_form_row (&job->original, plane, y),
    .outer = convolve_form_row (&job->outer, plane, y),
    .inner = (uint16_t *) convolve_form_row (&job->inner, plane, y),
    .original_alpha = convolve_form_row (&job->original, apart ? tables->alpha : 0, y),
    .inner_alpha = (const uint16_t *) convolve_form_row (&job->inner, apart ? tables->alpha : 0, y) };
}

void
convolve_light_unpack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;
  const ConvolveCpuLevel *level = convolve_cpu_level (form->level);

  for (int y = first; y < end; y++)
    for (int i = 0; i < tables->planes; i++) {
      const ConvolveLightRow row = find_row (tables, job, i, y);

      level->unpack_light (&row, job->inner.width);
    }
}

void
convolve_light_pack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;
  const ConvolveCpuLevel *level = convolve_cpu_level (form->level);

  /* Colours come before alpha, which the outer picture may share with the original: its plane is the last one. */
  for (int y = first; y < end; y++)
    for (int i = 0; i < tables->planes; i++) {
      const int plane = tables->planes > 1 ? (tables->alpha + 1 + i) % tables->planes : 0;
      const ConvolveLightRow row = find_row (tables, job, plane, y);

      level->pack_light (&row, job->inner.width);
    }
}

#define AND_ROW(Type) \
  { \
    Type all = (Type) -1, bits; \
    memcpy (&bits, wanted, sizeof (bits)); \
    for (int x = 0; x < width; x++) { \
      Type word; \
      memcpy (&word, row + (size_t) x * sizeof (word), sizeof (word)); \
      all &= word; \
    } \
    return (all & bits) == bits; \
  }

/* Whether all words of `bytes` bytes have the bits of the wanted one. */
static bool
row_has_bits (const uint8_t *row, int width, int bytes, const uint8_t *wanted)
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
  const bool apart = tables->planes > 1;
  const int samples = apart ? 1 : tables->samples, size = convolve_sample_size (tables->pixel.type);
  uint8_t wanted[CONVOLVE_MAX_SAMPLES * sizeof (uint16_t)] = { 0 };

  /* All bits of alpha in a pixel, as it is in memory. */
  convolve_write_sample (&tables->pixel, wanted + (apart ? 0 : tables->alpha * size), (1 << tables->pixel.depth) - 1);
  return row_has_bits (convolve_form_row (outer, apart ? tables->alpha : 0, y), outer->width, samples * size, wanted);
}
