/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The variant cpu-reference, which the tests compare the other variants with. It is plain C on one thread. A ring of as
 * many rows as the mask has moves down the image. Each row becomes floats once, with the boundary applied, so that the
 * sums know nothing of formats and edges.
 */
#include <stdlib.h>
#include <string.h>

#include "common/boundary.h"
#include "common/root.h"
#include "common/tail.h"
#include "cpu/cpu.h"

#define OUTPUTS 16 /* that are summed together, in registers */

/* The value of one sample, in any byte order and at any address. */
static inline unsigned
read_sample (const ConvolvePixel *pixel, const uint8_t *at)
{
  unsigned maximum = (1u << pixel->depth) - 1, value;
  uint16_t word;

  if (pixel->type == CONVOLVE_SAMPLE_U8)
    return *at;
  memcpy (&word, at, sizeof (word));
  value = (unsigned) (pixel->swapped ? __builtin_bswap16 (word) : word) >> pixel->shift;
  return value < maximum ? value : maximum;
}

static inline void
write_sample (const ConvolvePixel *pixel, uint8_t *at, unsigned value)
{
  uint16_t word = (uint16_t) (value << pixel->shift);

  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    *at = (uint8_t) value;
    return;
  }
  word = pixel->swapped ? __builtin_bswap16 (word) : word;
  memcpy (at, &word, sizeof (word));
}

/* One sample of row y at the columns x .. x + count - 1. Row and columns may lie outside the image. */
static void
load_row (const ConvolvePlan *plan, const ConvolvePlane *plane, int sample, int x, int y, int count, float *row)
{
  const ConvolvePixel *pixel = &plan->pixel;
  int offset = sample * convolve_sample_size (pixel->type);
  float outside = (float) plan->outside_level[sample];
  const uint8_t *line;

  y = convolve_boundary_index (plan->boundary, y, plane->height);
  if (y < 0) {
    for (int i = 0; i < count; i++)
      row[i] = outside;
    return;
  }
  line = (const uint8_t *) plane->source + y * plane->source_stride + offset;
  for (int i = 0; i < count; i++) {
    int at = convolve_boundary_index (plan->boundary, x + i, plane->width);

    row[i] = at < 0 ? outside : (float) read_sample (pixel, line + (ptrdiff_t) at * pixel->stride);
  }
}

/* Sums in float, row by row: common/taps.c counts the roundings of this order. */
static void
sum_in_float (const ConvolveTaps *taps, float *const *rows, int x, float *sums)
{
  float total[OUTPUTS] = { 0 };

  for (int j = 0; j < taps->height; j++) {
    const float *row = rows[j] + x, *tap = taps->taps + (size_t) j * taps->width;
    float part[OUTPUTS] = { 0 };

    for (int i = 0; i < taps->width; i++)
      for (int k = 0; k < OUTPUTS; k++)
        part[k] += tap[i] * row[i + k];
    for (int k = 0; k < OUTPUTS; k++)
      total[k] += part[k];
  }
  memcpy (sums, total, sizeof (total));
}

static void
sum_in_double (const ConvolveTaps *taps, float *const *rows, int x, double *sums)
{
  double total[OUTPUTS] = { 0 };

  for (int j = 0; j < taps->height; j++) {
    const float *row = rows[j] + x;
    const double *tap = taps->double_taps + (size_t) j * taps->width;

    for (int i = 0; i < taps->width; i++)
      for (int k = 0; k < OUTPUTS; k++)
        total[k] += tap[i] * row[i + k];
  }
  memcpy (sums, total, sizeof (total));
}

/* The results of a sum of columns times rows: common/arithmetic.h, PRODUCTS, in integers of 64 bits. */
static void
finish_products (const ConvolvePlan *plan, float *const *rows, int x, int sample, unsigned *values)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int w = plan->taps.width, h = plan->taps.height;

  for (int k = 0; k < OUTPUTS; k++) {
    int64_t total = arithmetic->centre * (int64_t) rows[h / 2][x + k + w / 2];

    for (int p = 0; p < arithmetic->rank; p++) {
      const ConvolveProduct *product = &arithmetic->products[p];

      for (int j = 0; j < h; j++) {
        int64_t row = 0;

        for (int i = 0; i < w; i++)
          row += product->row[i] * (int64_t) rows[j][x + k + i];
        total += product->column[j] * (int64_t) convolve_cut_row (product, row);
      }
    }
    values[k] = convolve_finish_sum (arithmetic, plan->pixel.depth, sample, total);
  }
}

/* The results of a plain mask, or of one part of a combination. */
static void
finish_plain (const ConvolvePlan *plan, float *const *rows, int x, int sample, unsigned *values)
{
  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS) {
    finish_products (plan, rows, x, sample, values);
  } else if (plan->double_sums) {
    double sums[OUTPUTS];

    sum_in_double (&plan->taps, rows, x, sums);
    for (int k = 0; k < OUTPUTS; k++)
      values[k] = convolve_tail_double (&plan->tail, sample, sums[k]);
  } else {
    float sums[OUTPUTS];

    sum_in_float (&plan->taps, rows, x, sums);
    for (int k = 0; k < OUTPUTS; k++)
      values[k] = convolve_tail_float (&plan->tail, sample, sums[k]);
  }
}

/* The largest of all parts' results: common/sets.c says why these may be rounded before. */
static void
finish_largest (const ConvolvePlan *plan, float *const *rows, int x, int sample, unsigned *values)
{
  unsigned others[OUTPUTS];

  finish_plain (&plan->parts[0], rows, x, sample, values);
  for (int p = 1; p < plan->n_parts; p++) {
    finish_plain (&plan->parts[p], rows, x, sample, others);
    for (int k = 0; k < OUTPUTS; k++)
      values[k] = others[k] > values[k] ? others[k] : values[k];
  }
}

static void
finish_magnitude (const ConvolvePlan *plan, float *const *rows, int x, int sample, unsigned *values)
{
  const ConvolveRoot *root = &plan->root;
  double squares[OUTPUTS] = { 0 };

  for (int p = 0; p < plan->n_parts; p++) {
    const ConvolvePlan *part = &plan->parts[p];
    double sums[OUTPUTS] = { 0 };
    float single[OUTPUTS] = { 0 };

    if (part->double_sums)
      sum_in_double (&part->taps, rows, x, sums);
    else
      sum_in_float (&part->taps, rows, x, single);
    for (int k = 0; k < OUTPUTS; k++) {
      double sum = part->double_sums ? sums[k] : single[k];
      double value = (sum - root->zero[p][sample]) * root->multiple[p];

      squares[k] += value * value;
    }
  }
  for (int k = 0; k < OUTPUTS; k++)
    values[k] = convolve_root_double (root, sample, squares[k]);
}

/* One row of outputs from the rows that the mask covers. */
static void
convolve_row (const ConvolvePlan *plan, float *const *rows, int sample, int count, uint8_t *out)
{
  const ConvolvePixel *pixel = &plan->pixel;

  for (int x = 0; x < count; x += OUTPUTS) {
    int n = count - x < OUTPUTS ? count - x : OUTPUTS;
    unsigned values[OUTPUTS];

    if (plan->combination == CONVOLVE_SUM)
      finish_plain (plan, rows, x, sample, values);
    else if (plan->combination == CONVOLVE_MAGNITUDE)
      finish_magnitude (plan, rows, x, sample, values);
    else
      finish_largest (plan, rows, x, sample, values);
    for (int k = 0; k < n; k++, out += pixel->stride)
      write_sample (pixel, out, values[k]);
  }
}

static void
copy_sample (const ConvolvePlan *plan, const ConvolvePlane *plane, int sample)
{
  const ConvolveRect *region = &plane->region;
  int size = convolve_sample_size (plan->pixel.type);
  ptrdiff_t first = (ptrdiff_t) region->x * plan->pixel.stride + sample * size;

  for (int y = region->y; y < region->y + region->height; y++) {
    const uint8_t *from = (const uint8_t *) plane->source + y * plane->source_stride + first;
    uint8_t *to = (uint8_t *) plane->destination + y * plane->destination_stride + first;

    for (int x = 0; x < region->width; x++, from += plan->pixel.stride, to += plan->pixel.stride)
      memcpy (to, from, size);
  }
}

/* memory has room for as many rows as the mask has, of `length` floats each. rows becomes the ring, topmost first. */
static void
convolve_sample (const ConvolvePlan *plan, const ConvolvePlane *plane, int sample, float *memory, size_t length,
    float **rows)
{
  const ConvolveRect *region = &plane->region;
  int h = plan->taps.height, left = region->x - plan->taps.width / 2;
  int count = region->width + plan->taps.width - 1;
  ptrdiff_t first = (ptrdiff_t) region->x * plan->pixel.stride + sample * convolve_sample_size (plan->pixel.type);

  for (int j = 0; j < h; j++) {
    rows[j] = memory + j * length;
    if (j > 0)
      load_row (plan, plane, sample, left, region->y - h / 2 + j - 1, count, rows[j]);
  }
  for (int y = region->y; y < region->y + region->height; y++) {
    float *oldest = rows[0];

    memmove (rows, rows + 1, (h - 1) * sizeof (*rows));
    rows[h - 1] = oldest;
    load_row (plan, plane, sample, left, y - h / 2 + h - 1, count, oldest);
    convolve_row (plan, rows, sample, region->width,
        (uint8_t *) plane->destination + y * plane->destination_stride + first);
  }
}

ConvolveStatus
convolve_cpu_reference_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  int h = plan->taps.height;
  size_t length = (size_t) plane->region.width + plan->taps.width + OUTPUTS; /* the last sums read past the row */
  float *memory = calloc (h * length, sizeof (float));
  float **rows = calloc (h, sizeof (*rows));
  ConvolveStatus status = CONVOLVE_OK;

  if (!memory || !rows)
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d rows of %d pixels", h, plane->region.width);
  for (int i = 0; i < plan->pixel.samples && status == CONVOLVE_OK; i++) {
    if (plan->pixel.select >> i & 1)
      convolve_sample (plan, plane, i, memory, length, rows);
    else
      copy_sample (plan, plane, i);
  }
  free (rows);
  free (memory);
  return status;
}

const ConvolveVariant convolve_variant_cpu_reference = {
  .name = "cpu-reference",
  .number = 18,
  .combines = true,
  .does_products = true,
  .idea = "one plain loop on the CPU, whose result all other variants must equal",
  .run = convolve_cpu_reference_run,
};
