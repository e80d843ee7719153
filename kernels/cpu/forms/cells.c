/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The passes of the form of cells on the host. Whole cells have loops of their own; the last ones of a row go sample by
 * sample through the formulas that the device has, too. Cells of tiles are copied into rows first.
 */
#include "common/cells.h"
#include "cpu/loops/levels.h"

#define MOST_CELLS 64 /* that are packed at a time */

/* x * factor + add, shifted to the right: what convolve_widen () or convolve_narrow () gives. */
typedef struct
{
  uint32_t factor, add;
  int right;
} Scale;

/* One of a cell's samples in all cells of a row. */
typedef struct
{
  uint8_t *inner; /* where the first cell's sample is */
  int step;       /* samples of a cell in this plane */
  int shift, bits;
  Scale widen, narrow;
} Lane;

typedef struct
{
  const ConvolveCellPlane *plane;
  const uint8_t *source;
  uint8_t *packed;
  Lane lanes[CONVOLVE_CELL_SAMPLES];
  int n; /* cells for the loops */
  const ConvolveCpuLevel *level;
} Row;

/* Copies of the bits side by side, of which those below the depth go. */
static Scale
find_widen (int bits, int depth)
{
  Scale scale = { 0 };

  for (int at = 0; at < depth; at += bits) {
    scale.factor |= 1u << at;
    scale.right = at + bits - depth;
  }
  return scale;
}

/* The samples of few bits that formats have. Others have no factor, and no loops. */
static Scale
find_narrow (int bits, int depth)
{
  static const struct
  {
    int bits, depth;
    Scale scale;
  } known[] = { { 5, 8, { 249, 1014, 11 } }, { 6, 8, { 253, 505, 10 } }, { 2, 10, { 3, 513, 10 } } };

  if (bits == depth)
    return (Scale){ 1, 0, 0 };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].bits == bits && known[i].depth == depth)
      return known[i].scale;
  return (Scale){ 0 };
}

/* How many cells the loops take: those that have all samples, without the last one, behind which a byte may be missing. */
static int
count_whole (const ConvolveCellPlane *plane)
{
  int n = (plane->row_bytes - 1) / plane->cell;

  for (int k = 0; k < plane->n_samples; k++) {
    int in = plane->samples[k].plane;

    n = plane->width[in] / plane->counts[in] < n ? plane->width[in] / plane->counts[in] : n;
    n = find_narrow (plane->samples[k].bits, plane->depth).factor ? n : 0;
  }
  return n;
}

static Row
find_row (const ConvolveCellPlane *plane, const ConvolveCellJob *job, const ConvolveCpuLevel *level, int y)
{
  Row row = { .plane = plane,
    .source = (const uint8_t *) job->source.data + y * job->source.stride,
    .packed = (uint8_t *) job->packed.data + y * job->packed.stride,
    .n = count_whole (plane),
    .level = level };

  for (int k = 0; k < plane->n_samples; k++) {
    const ConvolveCellSample *sample = &plane->samples[k];

    row.lanes[k] = (Lane){ .inner = convolve_cell_inner (plane, job, sample, 0, y),
      .step = plane->counts[sample->plane],
      .shift = sample->shift,
      .bits = sample->bits,
      .widen = find_widen (sample->bits, plane->depth),
      .narrow = find_narrow (sample->bits, plane->depth) };
  }
  return row;
}

static inline uint16_t
read_two (const uint8_t *at, bool big)
{
  uint16_t two;

  memcpy (&two, at, sizeof two);
  return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? two : __builtin_bswap16 (two);
}

/* Takes one sample out of all cells. Its bits are in two bytes, of which `below` bits are not used. */
static inline __attribute__ ((always_inline)) void
unpack_lane (const Row *row, const Lane *lane, bool big, bool deep)
{
  const ConvolveCellPlane *plane = row->plane;
  const int first = big ? 8 * plane->cell - lane->shift - lane->bits : lane->shift;
  const int below = big ? 16 - first % 8 - lane->bits : first % 8, mask = (1 << lane->bits) - 1;
  const Scale scale = lane->widen;
  const bool wider = scale.factor != 1;
  const uint8_t *at = row->source + first / 8;
  uint8_t *to = lane->inner;

  for (int x = 0; x < row->n; x++, at += plane->cell, to += deep ? 2 * lane->step : lane->step) {
    uint32_t sample = read_two (at, big) >> below & mask;

    if (wider)
      sample = sample * scale.factor >> scale.right;
    if (deep)
      *(uint16_t *) (void *) to = (uint16_t) sample;
    else
      *to = (uint8_t) sample;
  }
}

/* Puts one sample into so many cells from a cell on; words has the bytes of each as numbers. */
static inline __attribute__ ((always_inline)) void
pack_lane (const Lane *lane, uint64_t (*words)[2], int from, int n, bool deep)
{
  const int half = lane->shift / 64, shift = lane->shift % 64, step = deep ? 2 * lane->step : lane->step;
  const Scale scale = lane->narrow;
  const bool wider = scale.factor != 1;
  const uint8_t *at = lane->inner + (size_t) from * step;

  for (int x = 0; x < n; x++, at += step) {
    uint32_t sample = deep ? *(const uint16_t *) (const void *) at : *at;

    if (wider)
      sample = (sample * scale.factor + scale.add) >> scale.right;
    words[x][half] |= (uint64_t) sample << shift;
  }
}

/* Cells of two bytes with three samples, each in a plane of its own: loops over words, which compilers vectorise. */
static bool
are_words (const ConvolveCellPlane *plane)
{
  bool words = plane->cell == 2 && !plane->big && plane->depth == 8 && plane->n_samples == 3;

  for (int i = 0; i < CONVOLVE_CELL_INNER; i++)
    words = words && plane->counts[i] == 1;
  return words;
}

static void
unpack_words (const Row *row, const Lane *lane)
{
  const uint16_t mask = (uint16_t) ((1 << lane->bits) - 1), factor = (uint16_t) lane->widen.factor;
  const int shift = lane->shift, right = lane->widen.right, n = row->n;
  const uint8_t *restrict from = row->source;
  uint8_t *restrict to = lane->inner;

  for (int x = 0; x < n; x++)
    to[x] = (uint8_t) ((uint16_t) ((read_two (from + 2 * (size_t) x, false) >> shift & mask) * factor) >> right);
}

static inline uint16_t
narrow_word (const Lane *lane, uint8_t sample)
{
  return (uint16_t) ((uint16_t) (sample * lane->narrow.factor + lane->narrow.add) >> lane->narrow.right << lane->shift);
}

static void
pack_words (const Row *row, uint16_t kept)
{
  const Lane a = row->lanes[0], b = row->lanes[1], c = row->lanes[2];
  const int n = row->n;

  for (int x = 0; x < n; x++) {
    uint16_t word = (uint16_t) ((read_two (row->source + 2 * (size_t) x, false) & kept) | narrow_word (&a, a.inner[x])
        | narrow_word (&b, b.inner[x]) | narrow_word (&c, c.inner[x]));

    word = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap16 (word) : word;
    memcpy (row->packed + 2 * (size_t) x, &word, sizeof word);
  }
}

/* Cells of 32 bits whose four samples have an inner plane of words to themselves. */
static bool
are_fours (const ConvolveCellPlane *plane)
{
  bool fours = plane->cell == 4 && !plane->big && plane->depth > 8 && plane->n_samples == 4;
  unsigned places = 0;

  for (int k = 0; k < plane->n_samples && fours; k++) {
    const ConvolveCellSample *sample = &plane->samples[k];

    fours = sample->plane == plane->samples[0].plane && plane->counts[sample->plane] == 4
        && find_widen (sample->bits, plane->depth).right == 0;
    places |= 1u << sample->index;
  }
  return fours && places == 15;
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

/* The bytes of a cell, or of half a cell of 16, as a number, and back. With a size that the compiler knows these are words. */
static inline __attribute__ ((always_inline)) uint64_t
read_number (const uint8_t *at, int size, bool big)
{
  uint64_t number = 0;

  for (int i = 0; i < size; i++)
    number |= (uint64_t) at[i] << 8 * (big ? size - 1 - i : i);
  return number;
}

static inline __attribute__ ((always_inline)) void
write_number (uint8_t *at, int size, bool big, uint64_t number)
{
  for (int i = 0; i < size; i++)
    at[i] = (uint8_t) (number >> 8 * (big ? size - 1 - i : i));
}

static inline __attribute__ ((always_inline)) void
write_cells (const Row *row, uint64_t (*words)[2], int from, int n, int size, int halves, bool big, ConvolveCell kept)
{
  const uint8_t *source = row->source + (size_t) from * halves * size;
  uint8_t *packed = row->packed + (size_t) from * halves * size;

  for (int i = 0; i < n; i++)
    for (int k = 0; k < halves; k++, source += size, packed += size)
      write_number (packed, size, big, (read_number (source, size, big) & (k ? kept.high : kept.low)) | words[i][k]);
}

/* write_cells () with sizes that the compiler knows. */
static void
write_chunk (const Row *row, uint64_t (*words)[2], int from, int n, ConvolveCell kept)
{
  const bool big = row->plane->big;
  const int cell = row->plane->cell;

  if (cell == 16)
    write_cells (row, words, from, n, 8, 2, false, kept);
  else if (cell == 2 && !big)
    write_cells (row, words, from, n, 2, 1, false, kept);
  else if (cell == 4 && !big)
    write_cells (row, words, from, n, 4, 1, false, kept);
  else if (cell == 4)
    write_cells (row, words, from, n, 4, 1, true, kept);
  else if (cell == 5 && !big)
    write_cells (row, words, from, n, 5, 1, false, kept);
  else if (cell == 5)
    write_cells (row, words, from, n, 5, 1, true, kept);
  else if (cell == 6 && !big)
    write_cells (row, words, from, n, 6, 1, false, kept);
  else if (cell == 8 && !big)
    write_cells (row, words, from, n, 8, 1, false, kept);
  else
    write_cells (row, words, from, n, cell, 1, big, kept);
}

static ConvolveFours
find_fours (const Row *row)
{
  const uint32_t kept = (uint32_t) find_kept (row->plane).low;
  ConvolveFours fours = { .kept = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32 (kept) : kept };

  for (int k = 0; k < 4; k++) {
    const Lane *lane = &row->lanes[k];
    const int index = row->plane->samples[k].index;

    fours.samples[k] = (ConvolveFour){ .shift = lane->shift,
      .mask = (1u << lane->bits) - 1,
      .place = 16 * (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 3 - index : index),
      .right = lane->narrow.right };
    fours.widen[index] = (uint16_t) lane->widen.factor;
    fours.narrow[index] = (uint16_t) lane->narrow.factor;
    fours.add[index] = (uint16_t) lane->narrow.add;
  }
  return fours;
}

/* The words of the first cell. */
static uint16_t *
words_of_fours (const Row *row)
{
  return (uint16_t *) (void *) row->lanes[0].inner - row->plane->samples[0].index;
}

static void
unpack_whole (const Row *row)
{
  const bool big = row->plane->big, deep = row->plane->depth > 8;

  if (are_fours (row->plane)) {
    const ConvolveFours fours = find_fours (row);

    row->level->unpack_fours (&fours, row->source, row->n, words_of_fours (row));
    return;
  }
  for (int k = 0; k < row->plane->n_samples; k++)
    if (are_words (row->plane))
      unpack_words (row, &row->lanes[k]);
    else if (!deep)
      unpack_lane (row, &row->lanes[k], big, false);
    else if (big)
      unpack_lane (row, &row->lanes[k], true, true);
    else
      unpack_lane (row, &row->lanes[k], false, true);
}

static void
pack_whole (const Row *row)
{
  const ConvolveCell kept = find_kept (row->plane);

  if (are_fours (row->plane)) {
    const ConvolveFours fours = find_fours (row);

    row->level->pack_fours (&fours, words_of_fours (row), row->n, row->source, row->packed);
    return;
  }
  if (are_words (row->plane)) {
    pack_words (row, (uint16_t) kept.low);
    return;
  }
  for (int from = 0; from < row->n; from += MOST_CELLS) {
    const int n = row->n - from < MOST_CELLS ? row->n - from : MOST_CELLS;
    uint64_t words[MOST_CELLS][2] = { { 0 } };

    for (int k = 0; k < row->plane->n_samples; k++)
      if (row->plane->depth > 8)
        pack_lane (&row->lanes[k], words, from, n, true);
      else
        pack_lane (&row->lanes[k], words, from, n, false);
    write_chunk (row, words, from, n, kept);
  }
}

/* Copies bytes of a row out of the tiles, or into them. */
static void
copy_bytes (const ConvolveCellPlane *plane, const ConvolveFormPlane *tiles, int y, int from, int n, uint8_t *bytes,
    bool packs)
{
  for (int done = 0, piece; done < n; done += piece) {
    const int at = from + done, left = plane->tile_bytes - at % plane->tile_bytes;
    uint8_t *tile = (uint8_t *) tiles->data + convolve_cell_offset (plane, tiles->stride, y, at);

    piece = left < n - done ? left : n - done;
    if (packs)
      memcpy (tile, bytes + done, piece);
    else
      memcpy (bytes + done, tile, piece);
  }
}

/* A row of tiles, some cells of it in one piece at a time. */
static void
do_tiles (const Row *row, const ConvolveCellJob *job, int y, bool packs)
{
  const ConvolveCellPlane *plane = row->plane;
  uint8_t bytes[MOST_CELLS * 16 + 1] = { 0 };
  Row part = *row;

  part.source = part.packed = bytes;
  for (int from = 0; from < row->n; from += MOST_CELLS) {
    const int size = plane->cell;

    part.n = row->n - from < MOST_CELLS ? row->n - from : MOST_CELLS;
    for (int k = 0; k < plane->n_samples; k++)
      part.lanes[k].inner = row->lanes[k].inner + (ptrdiff_t) from * row->lanes[k].step * (plane->depth > 8 ? 2 : 1);
    copy_bytes (plane, &job->source, y, from * size, part.n * size, bytes, false);
    if (packs) {
      pack_whole (&part);
      copy_bytes (plane, &job->packed, y, from * size, part.n * size, bytes, true);
    } else {
      unpack_whole (&part);
    }
  }
}

/* Bytes that stand as they are in tiles. */
static int
are_bytes (const ConvolveCellPlane *plane)
{
  return plane->tile_bytes > 0 && plane->depth == 8 && plane->cell == plane->n_samples;
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
unpack_row (const ConvolveCellPlane *plane, const ConvolveCellJob *job, const ConvolveCpuLevel *level, int y)
{
  Row row = find_row (plane, job, level, y);

  if (are_bytes (plane)) {
    copy_tiles (plane, job, y, false);
    return;
  }
  if (plane->tile_bytes > 0)
    do_tiles (&row, job, y, false);
  else
    unpack_whole (&row);
  for (int x = row.n; x * plane->cell < plane->row_bytes; x++)
    convolve_unpack_cell (plane, job, x, y);
}

static void
pack_row (const ConvolveCellPlane *plane, const ConvolveCellJob *job, const ConvolveCpuLevel *level, int y)
{
  Row row = find_row (plane, job, level, y);

  if (are_bytes (plane)) {
    copy_tiles (plane, job, y, true);
    return;
  }
  if (plane->tile_bytes > 0)
    do_tiles (&row, job, y, true);
  else
    pack_whole (&row);
  for (int x = row.n; x * plane->cell < plane->row_bytes; x++)
    convolve_pack_cell (plane, job, x, y);
}

/* Runs a function for the rows of both planes that stand for the rows of luma first up to end. */
static void
do_rows (const ConvolveForm *form, const ConvolveFormJob *job, int first, int end,
    void (*do_row) (const ConvolveCellPlane *plane, const ConvolveCellJob *job, const ConvolveCpuLevel *level, int y))
{
  const ConvolveCells *cells = &((const ConvolveCellForm *) form)->cells;

  for (int i = 0; i < cells->n_planes; i++) {
    const ConvolveCellPlane *plane = &cells->planes[i];
    const ConvolveCellJob planes = convolve_cell_job (job, i);
    int last = end >= job->inner.height ? plane->rows : end >> plane->y_shift;

    for (int y = first >> plane->y_shift; y < last; y++)
      do_row (plane, &planes, convolve_cpu_level (form->level), y);
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
