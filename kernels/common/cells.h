/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples in packed planes, for C and for CUDA: a cell of bytes as one number of 128 bits, and the samples in it.
 */
#ifndef CONVOLVE_COMMON_CELLS_H
#define CONVOLVE_COMMON_CELLS_H

#include <string.h>

#include "common/boundary.h"
#include "common/form.h"
#include "convolve_cells.h"

/* A plane of a pass. The packed plane is read at source and written at packed, which may be the same memory. */
typedef struct
{
  ConvolveFormPlane source, packed;
  ConvolveFormPlane inner[CONVOLVE_CELL_INNER];
} ConvolveCellJob;

static inline ConvolveCellJob
convolve_cell_job (const ConvolveFormJob *job, int number)
{
  ConvolveCellJob made = { job->original.planes[number], job->outer.planes[number], { { NULL, 0 } } };

  for (int i = 0; i < CONVOLVE_CELL_INNER; i++)
    made.inner[i] = job->inner.planes[i];
  return made;
}

/* The bytes of a cell as a number, whose bit 0 is the one that a plane counts last. */
typedef struct
{
  uint64_t low, high;
} ConvolveCell;

/* Where a tile stands among all tiles. In zigzag order 2x2 tiles stand together, and a last odd row is in plain order. */
static CONVOLVE_BOTH int
convolve_cell_tile (const ConvolveCellPlane *plane, int x, int y)
{
  if (!plane->zigzag || (y == plane->tiles_y - 1 && y % 2 == 0))
    return y * plane->tiles_x + x;
  if (y % 2 == 0)
    return y * plane->tiles_x + x + ((x + 2) & ~3);
  return (y - 1) * plane->tiles_x + x + (x & ~3) + 2;
}

/* Where a byte of a row of samples lies, from the plane's start. */
static CONVOLVE_BOTH ptrdiff_t
convolve_cell_offset (const ConvolveCellPlane *plane, ptrdiff_t stride, int row, int byte)
{
  int tile, inside;

  if (plane->tile_bytes == 0)
    return row * stride + byte;
  tile = convolve_cell_tile (plane, byte / plane->tile_bytes, row / plane->tile_rows);
  inside = row % plane->tile_rows * plane->tile_bytes + byte % plane->tile_bytes;
  return tile / plane->tiles_x * stride + (ptrdiff_t) (tile % plane->tiles_x) * plane->tile_bytes * plane->tile_rows
      + inside;
}

/* The bytes of a cell that the row has. */
static CONVOLVE_BOTH int
convolve_cell_bytes (const ConvolveCellPlane *plane, int cell)
{
  int left = plane->row_bytes - cell * plane->cell;

  return left < plane->cell ? left : plane->cell;
}

/* By how much a cell's byte is shifted in the number. */
static CONVOLVE_BOTH int
convolve_cell_shift (const ConvolveCellPlane *plane, int byte)
{
  return 8 * (plane->big ? plane->cell - 1 - byte : byte);
}

static CONVOLVE_BOTH ConvolveCell
convolve_cell_read (const ConvolveCellPlane *plane, const ConvolveFormPlane *from, int cell, int row)
{
  const uint8_t *data = (const uint8_t *) from->data;
  ConvolveCell value = { 0, 0 };

  for (int i = 0; i < convolve_cell_bytes (plane, cell); i++) {
    uint64_t byte = data[convolve_cell_offset (plane, from->stride, row, cell * plane->cell + i)];
    int shift = convolve_cell_shift (plane, i);

    if (shift < 64)
      value.low |= byte << shift;
    else
      value.high |= byte << (shift - 64);
  }
  return value;
}

static CONVOLVE_BOTH void
convolve_cell_write (const ConvolveCellPlane *plane, const ConvolveFormPlane *to, int cell, int row, ConvolveCell value)
{
  uint8_t *data = (uint8_t *) to->data;

  for (int i = 0; i < convolve_cell_bytes (plane, cell); i++) {
    int shift = convolve_cell_shift (plane, i);

    data[convolve_cell_offset (plane, to->stride, row, cell * plane->cell + i)] =
        (uint8_t) (shift < 64 ? value.low >> shift : value.high >> (shift - 64));
  }
}

/*
 * A sample of few bits as one of depth bits: its bits again and again, from the top, so that black and white stay what they are.
 */
static CONVOLVE_BOTH int
convolve_widen (int value, int bits, int depth)
{
  int wide = value << (depth - bits);

  for (int n = bits; n < depth; n *= 2)
    wide |= wide >> n;
  return wide;
}

/* The nearest sample of few bits; a depth that the compiler knows is no division. What was widened comes back. */
static CONVOLVE_BOTH int
convolve_narrow (int value, int bits, int depth)
{
  int most = (1 << depth) - 1, twice = 2 * value * ((1 << bits) - 1) + most;

  if (bits == depth)
    return value;
  return depth == 8 ? twice / (2 * 255) : depth == 10 ? twice / (2 * 1023) : twice / (2 * most);
}

static CONVOLVE_BOTH int
convolve_cell_take (ConvolveCell value, const ConvolveCellSample *sample)
{
  uint64_t at = sample->shift < 64 ? value.low >> sample->shift : value.high >> (sample->shift - 64);

  return (int) (at & ((1u << sample->bits) - 1));
}

/* Whether the row ends before the sample's last byte: in GStreamer's own rows some odd widths leave no room for the last V. */
static CONVOLVE_BOTH bool
convolve_cell_lacks (const ConvolveCellPlane *plane, const ConvolveCellSample *sample, int bytes)
{
  return plane->big ? sample->shift < 8 * (plane->cell - bytes) : sample->shift + sample->bits > 8 * bytes;
}

/* The place of a sample in its inner plane, or NULL where the row ends before. */
static CONVOLVE_BOTH uint8_t *
convolve_cell_inner (const ConvolveCellPlane *plane, const ConvolveCellJob *job, const ConvolveCellSample *sample,
    int cell, int row)
{
  const ConvolveFormPlane *inner = &job->inner[sample->plane];
  int at = cell * plane->counts[sample->plane] + sample->index;

  return at < plane->width[sample->plane]
      ? (uint8_t *) inner->data + row * inner->stride + (plane->depth > 8 ? 2 * at : at)
      : NULL;
}

/* The sample of the same plane that stands before sample k of the cell. There is one. */
static CONVOLVE_BOTH int
convolve_cell_before (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int k, int cell, int row)
{
  int wanted = plane->samples[k].plane;

  do {
    if (k == 0) {
      k = plane->n_samples;
      cell--;
    }
    k--;
  } while (plane->samples[k].plane != wanted);
  return convolve_cell_take (convolve_cell_read (plane, &job->source, cell, row), &plane->samples[k]);
}

/* A sample that the row lacks is the one before it. */
static CONVOLVE_BOTH void
convolve_unpack_cell (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int cell, int row)
{
  ConvolveCell value = convolve_cell_read (plane, &job->source, cell, row);

  for (int k = 0; k < plane->n_samples; k++) {
    const ConvolveCellSample *sample = &plane->samples[k];
    uint8_t *at = convolve_cell_inner (plane, job, sample, cell, row);
    int found;

    if (!at)
      continue;
    found = convolve_cell_lacks (plane, sample, convolve_cell_bytes (plane, cell))
        ? convolve_cell_before (plane, job, k, cell, row)
        : convolve_cell_take (value, sample);
    found = convolve_widen (found, sample->bits, plane->depth);
    if (plane->depth > 8)
      *(uint16_t *) (void *) at = (uint16_t) found;
    else
      *at = (uint8_t) found;
  }
}

/* Bits that are no sample, and samples that one of the rows lacks, come from the source. */
static CONVOLVE_BOTH void
convolve_pack_cell (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int cell, int row)
{
  ConvolveCell value = convolve_cell_read (plane, &job->source, cell, row);

  for (int k = 0; k < plane->n_samples; k++) {
    const ConvolveCellSample *sample = &plane->samples[k];
    const uint8_t *at = convolve_cell_inner (plane, job, sample, cell, row);
    int shift = sample->shift, bits = sample->bits;
    uint64_t mask = (1u << bits) - 1, made;

    if (!at || convolve_cell_lacks (plane, sample, convolve_cell_bytes (plane, cell)))
      continue;
    made =
        (uint64_t) convolve_narrow (plane->depth > 8 ? *(const uint16_t *) (const void *) at : *at, bits, plane->depth);
    if (shift < 64)
      value.low = (value.low & ~(mask << shift)) | made << shift;
    else
      value.high = (value.high & ~(mask << (shift - 64))) | made << (shift - 64);
  }
  convolve_cell_write (plane, &job->packed, cell, row, value);
}

/* The form's struct. */
typedef struct
{
  ConvolveForm form;
  ConvolveCells cells;
} ConvolveCellForm;

#ifdef __cplusplus
extern "C"
{
#endif

/* The rows of both passes on the host. */
void convolve_cells_unpack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end);
void convolve_cells_pack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end);

#ifdef __cplusplus
}
#endif

#endif
