/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The passes of the form of cells on the host. Whole cells of rows that are no tiles have loops of their own; all others go sample by
 * sample through the formulas that the device has, too.
 */
#include "common/cells.h"

#define MOST_CELLS 64 /* that are packed at a time */

/* One of a cell's samples in all cells of a row. */
typedef struct
{
  uint8_t *inner; /* where the first cell's sample is */
  int step;       /* samples of a cell in this plane */
  int shift, bits;
} Lane;

typedef struct
{
  const ConvolveCellPlane *plane;
  const uint8_t *source;
  uint8_t *packed;
  Lane lanes[CONVOLVE_CELL_SAMPLES];
  int n; /* cells for the loops */
} Row;

/* How many cells the loops take: those that have all samples, without the last one, behind which a byte may be missing. */
static int
count_whole (const ConvolveCellPlane *plane)
{
  int n = (plane->row_bytes - 1) / plane->cell;

  for (int k = 0; k < plane->n_samples; k++) {
    int in = plane->samples[k].plane;

    n = plane->width[in] / plane->counts[in] < n ? plane->width[in] / plane->counts[in] : n;
  }
  return plane->tile_bytes > 0 ? 0 : n;
}

static Row
find_row (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int y)
{
  Row row = { .plane = plane,
    .source = (const uint8_t *) job->source.data + y * job->source.stride,
    .packed = (uint8_t *) job->packed.data + y * job->packed.stride,
    .n = count_whole (plane) };

  for (int k = 0; k < plane->n_samples; k++) {
    const ConvolveCellSample *sample = &plane->samples[k];

    row.lanes[k] = (Lane){ .inner = convolve_cell_inner (plane, job, sample, 0, y),
      .step = plane->counts[sample->plane],
      .shift = sample->shift,
      .bits = sample->bits };
  }
  return row;
}

static inline uint16_t
read_two (const uint8_t *at, bool big)
{
  return big ? (uint16_t) (at[0] << 8 | at[1]) : (uint16_t) (at[1] << 8 | at[0]);
}

/* Takes one sample out of all cells. Its bits are in two bytes, of which `below` bits are not used. */
static inline __attribute__ ((always_inline)) void
unpack_lane (const Row *row, const Lane *lane, bool big, int depth, bool wider)
{
  const ConvolveCellPlane *plane = row->plane;
  int first = big ? 8 * plane->cell - lane->shift - lane->bits : lane->shift;
  int below = big ? 16 - first % 8 - lane->bits : first % 8, mask = (1 << lane->bits) - 1;
  const uint8_t *at = row->source + first / 8;

  for (int x = 0; x < row->n; x++) {
    int sample = read_two (at + (size_t) x * plane->cell, big) >> below & mask;

    if (wider)
      sample = convolve_widen (sample, lane->bits, depth);
    if (depth > 8)
      ((uint16_t *) (void *) lane->inner)[(size_t) x * lane->step] = (uint16_t) sample;
    else
      lane->inner[(size_t) x * lane->step] = (uint8_t) sample;
  }
}

/* Puts one sample into so many cells from a cell on; words has the bytes of each as numbers. */
static inline __attribute__ ((always_inline)) void
pack_lane (const Lane *lane, uint64_t (*words)[2], int from, int n, int depth, bool wider)
{
  int half = lane->shift / 64, shift = lane->shift % 64;

  for (int x = 0; x < n; x++) {
    size_t at = (size_t) (from + x) * lane->step;
    int sample = depth > 8 ? ((const uint16_t *) (const void *) lane->inner)[at] : lane->inner[at];

    words[x][half] |= (uint64_t) (wider ? convolve_narrow (sample, lane->bits, depth) : sample) << shift;
  }
}

/* The bits of a cell that are no samples. */
static ConvolveCell
find_kept (const ConvolveCellPlane *plane)
{
  ConvolveCell kept = { UINT64_MAX, UINT64_MAX };

  for (int k = 0; k < plane->n_samples; k++) {
    uint64_t bits = (UINT64_C (1) << plane->samples[k].bits) - 1;

    if (plane->samples[k].shift < 64)
      kept.low &= ~(bits << plane->samples[k].shift);
    else
      kept.high &= ~(bits << (plane->samples[k].shift - 64));
  }
  return kept;
}

/* Writes cells: size is their number of bytes, up to 8, or 8 for each half of a cell of 16. */
static inline __attribute__ ((always_inline)) void
write_cells (const Row *row, uint64_t (*words)[2], int from, int n, int size, int halves, ConvolveCell kept)
{
  bool swapped = row->plane->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  int above = row->plane->big ? 64 - 8 * size : 0; /* a big cell begins with the most significant byte of a word */

  for (int i = 0; i < n * halves; i++) {
    size_t at = ((size_t) from * halves + i) * size;
    uint64_t word = 0, mask = halves == 2 && i % 2 == 1 ? kept.high : kept.low;

    memcpy (&word, row->source + at, size);
    word = (swapped ? __builtin_bswap64 (word) : word) >> above;
    word = ((word & mask) | words[i / halves][halves == 2 ? i % 2 : 0]) << above;
    word = swapped ? __builtin_bswap64 (word) : word;
    memcpy (row->packed + at, &word, size);
  }
}

/* write_cells () with sizes that the compiler knows. */
static void
write_chunk (const Row *row, uint64_t (*words)[2], int from, int n, ConvolveCell kept)
{
  switch (row->plane->cell) {
    case 2:
      write_cells (row, words, from, n, 2, 1, kept);
      break;
    case 4:
      write_cells (row, words, from, n, 4, 1, kept);
      break;
    case 5:
      write_cells (row, words, from, n, 5, 1, kept);
      break;
    case 16:
      write_cells (row, words, from, n, 8, 2, kept);
      break;
    default:
      write_cells (row, words, from, n, row->plane->cell, 1, kept);
      break;
  }
}

static void
unpack_whole (const Row *row)
{
  for (int k = 0; k < row->plane->n_samples; k++) {
    const Lane *lane = &row->lanes[k];
    bool wider = lane->bits < row->plane->depth, big = row->plane->big;

    if (row->plane->depth == 8)
      unpack_lane (row, lane, big, 8, wider);
    else if (wider)
      unpack_lane (row, lane, big, 10, true);
    else if (big)
      unpack_lane (row, lane, true, 10, false);
    else
      unpack_lane (row, lane, false, 10, false);
  }
}

static void
pack_whole (const Row *row)
{
  ConvolveCell kept = find_kept (row->plane);

  for (int from = 0; from < row->n; from += MOST_CELLS) {
    uint64_t words[MOST_CELLS][2] = { { 0 } };
    int n = row->n - from < MOST_CELLS ? row->n - from : MOST_CELLS;

    for (int k = 0; k < row->plane->n_samples; k++) {
      const Lane *lane = &row->lanes[k];
      bool wider = lane->bits < row->plane->depth;

      if (row->plane->depth == 8)
        pack_lane (lane, words, from, n, 8, wider);
      else if (wider)
        pack_lane (lane, words, from, n, 10, true);
      else
        pack_lane (lane, words, from, n, 10, false);
    }
    write_chunk (row, words, from, n, kept);
  }
}

/* Bytes that stand as they are in tiles. */
static int
are_bytes (const ConvolveCellPlane *plane)
{
  return plane->tile_bytes > 0 && plane->depth == 8;
}

static void
copy_tiles (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int y, bool packs)
{
  int in = plane->samples[0].plane;
  uint8_t *row = (uint8_t *) job->inner[in].data + y * job->inner[in].stride;

  for (int x = 0; x < plane->width[in]; x += plane->tile_bytes) {
    int left = plane->width[in] - x, n = left < plane->tile_bytes ? left : plane->tile_bytes;

    if (packs)
      memcpy ((uint8_t *) job->packed.data + convolve_cell_offset (plane, job->packed.stride, y, x), row + x, n);
    else
      memcpy (row + x, (const uint8_t *) job->source.data + convolve_cell_offset (plane, job->source.stride, y, x), n);
  }
}

static void
unpack_row (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int y)
{
  Row row = find_row (plane, job, y);

  if (are_bytes (plane)) {
    copy_tiles (plane, job, y, false);
    return;
  }
  unpack_whole (&row);
  for (int x = row.n; x * plane->cell < plane->row_bytes; x++)
    convolve_unpack_cell (plane, job, x, y);
}

static void
pack_row (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int y)
{
  Row row = find_row (plane, job, y);

  if (are_bytes (plane)) {
    copy_tiles (plane, job, y, true);
    return;
  }
  pack_whole (&row);
  for (int x = row.n; x * plane->cell < plane->row_bytes; x++)
    convolve_pack_cell (plane, job, x, y);
}

/* Runs a function for the rows of both planes that stand for the rows of luma first up to end. */
static void
do_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end,
    void (*do_row) (const ConvolveCellPlane *plane, const ConvolveCellJob *job, int y))
{
  const ConvolveCells *cells = &((const ConvolveCellForm *) form)->cells;

  for (int i = 0; i < cells->n_planes; i++) {
    const ConvolveCellPlane *plane = &cells->planes[i];
    const ConvolveCellJob planes = convolve_cell_job (job, i);
    int last = end >= job->inner.height ? plane->rows : end >> plane->y_shift;

    for (int y = first >> plane->y_shift; y < last; y++)
      do_row (plane, &planes, y);
  }
}

void
convolve_cells_unpack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  do_rows (form, job, first, end, unpack_row);
}

void
convolve_cells_pack_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end)
{
  do_rows (form, job, first, end, pack_row);
}
