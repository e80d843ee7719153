/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of light on the host. */
#include "common/light.h"

/* A row of sample k in three pictures: its first sample, and bytes to the next one. */
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

void
convolve_light_unpack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;

  for (int y = first; y < end; y++)
    for (int k = 0; k < tables->samples; k++) {
      const Row row = find_row (tables, job, k, y);

      for (int x = 0; x < job->inner.width; x++)
        convolve_light_unpack (tables, k, row.original + (size_t) x * row.step,
            row.inner + (size_t) x * row.inner_step);
    }
}

void
convolve_light_pack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  const ConvolveLightTables *tables = &((const ConvolveLightForm *) form)->tables;

  for (int y = first; y < end; y++)
    for (int k = 0; k < tables->samples; k++) {
      const Row row = find_row (tables, job, k, y);

      for (int x = 0; x < job->inner.width; x++)
        convolve_light_pack (tables, k, row.original + (size_t) x * row.step, row.inner[(size_t) x * row.inner_step],
            row.outer + (size_t) x * row.step);
    }
}
