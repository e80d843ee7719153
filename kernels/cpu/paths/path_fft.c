/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large masks without structure, of integers whose sums the Fourier transforms of cpu/paths/fft.h give exactly: two squares
 * of samples at a time, one below the other.
 */
#include <math.h>
#include <string.h>

#include "common/numbers.h"
#include "cpu/paths/paths.h"
#include "cpu/paths/rows.h"

#define COST_SQUARE 200.0  /* of an element of a square: transforms, loading and rounding */
#define LARGEST_ERROR 0.49 /* of sums before they are rounded to integers: below 1/2 with some room */

/* Whether all sums are exact with digits at this place. */
static bool
digits_fit (const ConvolveCpuAnalysis *a, int place)
{
  const int count = a->width * a->height;
  double squares[2] = { 0, 0 }, magnitudes = 0, largest;

  for (int i = 0; i < count; i++)
    for (int upper = 0; upper < 2; upper++) {
      double digit = convolve_cpu_fft_digit (a->taps[i], place, upper);

      squares[upper] += digit * digit;
      magnitudes += fabs (upper ? ldexp (digit, place) : digit);
    }
  largest = sqrt (fmax (squares[0], squares[1]));
  return convolve_cpu_fft_error (a->middle, largest) <= LARGEST_ERROR && a->middle * magnitudes <= CONVOLVE_2_53;
}

/* The place of the digits: 0 where taps are taken whole, or -1 where some sums would not be exact in either way. */
static int
choose_place (const ConvolveCpuAnalysis *a)
{
  static const int places[] = { 0, 12 };

  for (size_t p = 0; p < sizeof (places) / sizeof (places[0]) && a->plan->integers; p++)
    if (digits_fit (a, places[p]))
      return places[p];
  return -1;
}

static double
cost_of_squares (const ConvolveCpuFft *fft)
{
  return 2 * COST_SQUARE * CONVOLVE_CPU_FFT_POINTS * CONVOLVE_CPU_FFT_POINTS * convolve_cpu_fft_passes (fft);
}

static double
cost (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  ConvolveCpuFft fft = { .place = choose_place (a) };

  if (fft.place < 0)
    return INFINITY;
  convolve_cpu_fft_measure (a->width, a->height, &fft);
  return cost_of_squares (&fft) / (2.0 * convolve_cpu_fft_columns (&fft) * convolve_cpu_fft_rows (&fft));
}

static bool
use (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->fft = convolve_cpu_fft_new (a->taps, a->width, a->height, choose_place (a), cpu->level);
  if (!cpu->fft)
    return false;
  cpu->fft->cost = cost_of_squares (cpu->fft);
  cpu->path = CONVOLVE_CPU_FFT;
  cpu->tail.needs_double = true;
  cpu->fft_start = a->middle * a->sum;
  return true;
}

static void
take (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  size_t rows = 2 * (size_t) convolve_cpu_fft_rows (job->cpu->fft);

  for (int i = 0; i < 2; i++)
    job->fft.squares[i] = convolve_cpu_take (arena, CONVOLVE_CPU_FFT_SQUARE, sizeof (double));
  job->fft.sums = convolve_cpu_take (arena, job->width * rows, sizeof (double));
  job->fft.results = convolve_cpu_take (arena, job->count * rows + CONVOLVE_CPU_PADDING, sizeof (uint16_t));
}

/* Fills a square with one sample of each pixel, less the middle, from row y and input column x on; the rest is 0. */
static void
fill_square (const ConvolveCpuJob *job, int y, int rows, int x, int sample, double *square)
{
  int columns = job->input_count / job->samples - x, middle = job->cpu->middle;

  columns = columns < CONVOLVE_CPU_FFT_POINTS ? columns : CONVOLVE_CPU_FFT_POINTS;
  memset (square, 0, CONVOLVE_CPU_FFT_SQUARE * sizeof (*square));
  for (int j = 0; j < rows; j++) {
    convolve_cpu_load_row (job, y + j, job->values[0]);
    job->level->values_to_doubles (job->values[0] + x * job->samples + sample, job->samples, columns, middle,
        square + j * CONVOLVE_CPU_FFT_STRIDE);
  }
}

/* Adds the sums of a pass, rounded to integers: the exact sums are integers (cpu/paths/fft.h). */
static void
add_square (const ConvolveCpuJob *job, const double *square, int rows, double unit, double *sums)
{
  for (int j = 0; j < rows; j++)
    job->level->add_rounded (square + j * CONVOLVE_CPU_FFT_STRIDE, job->width, unit, sums + j * job->width);
}

/* Turns the sums of one sample into results. */
static void
finish_squares (const ConvolveCpuJob *job, int rows, int sample)
{
  const ConvolveTail *tail = &job->cpu->tail;
  const ConvolvePlan *parts = job->plan->parts; /* of an absolute value */

  for (int i = 0; i < job->width; i++)
    ((double *) job->offsets)[i] = tail->offset[sample];
  for (int i = 0; i < job->width && parts; i++)
    ((double *) job->negative_offsets)[i] =
        parts[0].tail.offset[sample] + parts[1].tail.offset[sample] - tail->offset[sample];
  for (int j = 0; j < rows; j++) {
    double *sums = job->fft.sums + (size_t) j * job->width;
    uint16_t *results = job->fft.results + (size_t) j * job->count + sample;

    for (int i = 0; i < job->width; i++)
      sums[i] += job->cpu->fft_start;
    convolve_cpu_sums_to_values (job, CONVOLVE_CPU_DOUBLES, sums, job->width, job->results[0]);
    for (int i = 0; i < job->width; i++)
      results[i * job->samples] = job->results[0][i];
  }
}

/* One sample of rows[0] + rows[1] rows of outputs from row y on: rows[0] from one square and rows[1] from the other. */
static void
run_squares (const ConvolveCpuJob *job, int y, const int rows[2], int sample)
{
  const ConvolvePlan *plan = job->plan;
  const ConvolveCpuFft *fft = job->cpu->fft;

  memset (job->fft.sums, 0, (size_t) job->width * (rows[0] + rows[1]) * sizeof (*job->fft.sums));
  for (int pass = 0; pass < convolve_cpu_fft_passes (fft); pass++) {
    int part = pass % convolve_cpu_fft_parts (fft);
    int top = y - plan->taps.height / 2 + part / fft->across * fft->part_height;
    int x = part % fft->across * fft->part_width;
    double unit = part == pass ? 1 : ldexp (1, fft->place);

    for (int i = 0; i < 2; i++)
      fill_square (job, top + i * rows[0], rows[i] > 0 ? rows[i] + fft->part_height - 1 : 0, x, sample,
          job->fft.squares[i]);
    convolve_cpu_fft_run (fft, job->level, pass, job->fft.squares[0], job->fft.squares[1]);
    for (int i = 0; i < 2; i++)
      add_square (job, job->fft.squares[i], rows[i], unit, job->fft.sums + (size_t) i * rows[0] * job->width);
  }
  finish_squares (job, rows[0] + rows[1], sample);
}

static void
walk (const ConvolveCpuJob *job)
{
  int most = convolve_cpu_fft_rows (job->cpu->fft);

  for (int y = 0; y < job->height; y += 2 * most) {
    int left = job->height - y, upper = left < most ? left : most, lower = left - upper < most ? left - upper : most;
    const int rows[2] = { upper, lower };

    for (int k = 0; k < job->samples; k++)
      if (job->plan->pixel.select >> k & 1)
        run_squares (job, job->y + y, rows, k);
    for (int j = 0; j < upper + lower; j++)
      convolve_cpu_store_row (job, job->y + y + j, job->fft.results + (size_t) j * job->count);
  }
}

const ConvolveCpuPathRow convolve_cpu_path_fft = {
  .name = "fft",
  .cost = cost,
  .use = use,
  .memory = take,
  .walk = walk,
};
