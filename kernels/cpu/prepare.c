/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the variant cpu does a plan: the cheapest way whose error, bounded here from the taps, keeps the promise of
 * convolve.h. An exact plan's taps are integers and go into integer sums as they are. Other taps are rounded to 16
 * bits, and what that costs must fit the budget. Their scale is a power of two if any does, for then a shift makes
 * values of the sums; otherwise it is the largest that the sums' 32 bits have room for, and the tail is a float's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"

#define FLOAT_UNIT (1.0 / 16777216.0) /* the relative error of one float operation */
#define DOUBLE_UNIT (1.0 / 9007199254740992.0)
#define LARGEST_SHORT 32767.0
#define LARGEST_INT 2147483647.0

/* Costs, measured, in terms of a sum for a row of outputs of one element after the other. */
#define COST_TAIL 4.0      /* in float; a shift comes with the sum */
#define COST_WIDE_TAIL 8.0 /* in double */
#define COST_PAIRS 2.6     /* of rows becoming pairs */
#define COST_PRODUCT 2.4   /* of column sums becoming pairs, where they are not neighbours as they are */
#define COST_ROW_TERM 1.8  /* of those, which serve one output and not two */
#define COST_BOX 3.6       /* of column sums */
#define COST_WIDE_WINDOW 14.0
#define COST_WINDOW 5.0 /* for each bit of a narrow one */
#define COST_FFT 1200.0 /* where all of a square is outputs */
#define COST_FLOATS 12.0
#define COST_FRAME 5.0 /* of loading and storing, which no way is spared */
#define COST_FLOAT_TAP 2.0
#define COST_DOUBLE_TAP 4.3
#define MAX_GROUP_SHIFT 5
#define FFT_SCALES 32          /* that are tried for the taps */
#define LARGEST_FFT_ERROR 0.49 /* of results that are rounded to integers */
#define COST_GROUP 1.0         /* of terms, for its shift and its addition to the total */

typedef struct
{
  const ConvolvePlan *plan;
  ConvolveCpu *cpu;
  const double *taps; /* of the plan: integers where it is exact */
  int width, height, samples;
  double sum;    /* of the taps */
  double center; /* no centred value is larger */
  double budget; /* code values that roundings of taps and sums may cost, the tail not counted */
} Analysis;

/* Rounds values times scale and returns the error, summed, in units of the values. */
static double
quantise (const double *values, int count, double scale, int *rounded)
{
  double error = 0;

  for (int i = 0; i < count; i++) {
    rounded[i] = (int) lround (values[i] * scale);
    error += fabs (rounded[i] / scale - values[i]);
  }
  return error;
}

/* What centred values, -center .. center - 1, can make of a sum. */
typedef struct
{
  double low, high;
} Range;

static Range
range_of_sum (const int *taps, int count, Range values)
{
  Range range = { 0, 0 };

  for (int i = 0; i < count; i++) {
    range.low += taps[i] * (taps[i] > 0 ? values.low : values.high);
    range.high += taps[i] * (taps[i] > 0 ? values.high : values.low);
  }
  return range;
}

static bool
fits (Range range, double offset, double largest)
{
  return range.low + offset >= -largest - 1 && range.high + offset <= largest;
}

/* Where a sum of sample i starts, in code values: with the center's part put back. */
static double
offset_of (const Analysis *a, int i)
{
  const ConvolveTail *tail = &a->plan->tail;

  return tail->offset[i] + a->center * a->sum * tail->scale;
}

/* Whether sums at 2^bits of a code value have room to start where a shift wants them to, less the center. */
static bool
can_shift (const Analysis *a, int bits, Range sums)
{
  for (int i = 0; i < a->samples; i++)
    if (!fits (sums, floor (ldexp (offset_of (a, i) - a->center, bits)), LARGEST_INT))
      return false;
  return true;
}

/* An exact plan's scale as a number of bits, or -1. */
static int
exact_bits (const ConvolvePlan *plan)
{
  for (int bits = 0; bits <= 24 && !plan->tail.wide; bits++)
    if (plan->tail.scale == ldexp (1, -bits))
      return bits;
  return -1;
}

/*
 * Sums at `scale` of a code value become values: by a shift where bits is not -1, otherwise by the tail. An exact
 * plan's sums are then the true ones, which floats hold. The offset has the true sum of taps: the center costs nothing.
 *
 * The floor of a start costs nothing either. A sum n is an integer, and for any real start s and integer m
 * floor ((n + s) / m) = floor ((n + floor (s)) / m): between n + floor (s) and n + s there is no multiple of m, as
 * multiples of m are integers. So the value is the same as with the start itself.
 */
static void
set_end (const Analysis *a, double scale, int bits)
{
  ConvolveCpu *cpu = a->cpu;
  ConvolveTail *tail = &cpu->tail;

  cpu->shifts = bits >= 0;
  cpu->shift = (ConvolveShift){ bits, cpu->center, (int) tail->maximum };
  for (int i = 0; i < a->samples; i++) {
    if (cpu->shifts)
      cpu->starts[i] = (int32_t) floor (ldexp (offset_of (a, i) - a->center, bits));
    else if (a->plan->exact)
      cpu->starts[i] = (int32_t) (a->center * a->sum);
    else
      tail->offset[i] = offset_of (a, i);
    tail->offset_f[i] = (float) tail->offset[i];
  }
  if (!a->plan->exact) {
    tail->scale = 1 / scale;
    tail->scale_f = (float) tail->scale;
  }
}

/* --- terms --- */

static bool
allocate_terms (ConvolveTerms *terms, int count)
{
  terms->count = terms->n_groups = 0;
  terms->terms = malloc (count * sizeof (ConvolveTerm));
  return terms->terms != NULL;
}

static void
add_term (ConvolveTerms *terms, int row, int offset, ConvolvePair upper, ConvolvePair lower)
{
  if (upper || lower)
    terms->terms[terms->count++] = (ConvolveTerm){ row, offset, upper, lower };
}

/*
 * Taps, `stride` apart, over pairs of elements from a row and an offset on; the second of two outputs meets them one
 * element further. The next pair is down in the next row, or the next of the same row.
 */
static void
add_pairs (ConvolveTerms *terms, const int *taps, int count, int stride, int row, int offset, bool down)
{
  for (int j = 0; j < count; j += 2) {
    int before = j > 0 ? taps[(j - 1) * stride] : 0, tap = taps[j * stride];
    int behind = j + 1 < count ? taps[(j + 1) * stride] : 0;

    add_term (terms, down ? row + j / 2 : row, down ? offset : offset + j / 2, convolve_pair (tap, behind),
        convolve_pair (before, tap));
  }
}

/* A row over the pairs of neighbours that a row of column sums has been made to. */
static void
add_row (ConvolveTerms *terms, const int *taps, int width, int row, int step)
{
  for (int i = 0; i < width; i += 2)
    add_term (terms, row, i * step, convolve_pair (taps[i], i + 1 < width ? taps[i + 1] : 0), 0);
}

void
convolve_cpu_clear (ConvolveCpu *cpu)
{
  if (!cpu)
    return;
  free (cpu->terms.terms);
  for (int r = 0; r < CONVOLVE_MAX_RANK; r++)
    free (cpu->columns[r].terms);
  convolve_cpu_fft_free (cpu->fft);
  free (cpu->float_columns);
  free (cpu->double_columns);
  free (cpu);
}

/* --- any taps --- */

/* The taps as integers at a scale of a code value, and the bits to shift by or -1. */
typedef struct
{
  int taps[CONVOLVE_MAX_SIDE * CONVOLVE_MAX_SIDE];
  double scale;
  int bits;
} IntegerTaps;

/* Range of the samples as they are paired up. */
static Range
centred (const Analysis *a)
{
  return (Range){ -a->center, a->center - 1 };
}

static bool
quantise_at (const Analysis *a, double scale, int bits, IntegerTaps *integers)
{
  int count = a->width * a->height;
  Range sums;

  integers->scale = scale;
  integers->bits = bits;
  if (!(scale > 0) || quantise (a->taps, count, scale, integers->taps) * a->center > a->budget)
    return false;
  sums = range_of_sum (integers->taps, count, centred (a));
  return bits >= 0 ? can_shift (a, bits, sums) : fits (sums, 0, LARGEST_INT);
}

/* False where 16 bits do not hold the taps well enough. */
static bool
quantise_taps (const Analysis *a, IntegerTaps *integers)
{
  int count = a->width * a->height, bits;
  double largest = convolve_largest_magnitude (a->taps, count), gain = convolve_sum_of_magnitudes (a->taps, count);

  if (a->plan->exact) {
    if (largest > LARGEST_SHORT)
      return false;
    quantise (a->taps, count, 1, integers->taps);
    integers->scale = 1;
    integers->bits = exact_bits (a->plan);
    if (integers->bits >= 0 && !can_shift (a, integers->bits, range_of_sum (integers->taps, count, centred (a))))
      integers->bits = -1;
    return true;
  }
  bits = (int) floor (log2 (fmin (LARGEST_SHORT / largest, 2 * LARGEST_INT / (a->center * gain))));
  for (int less = 0; less < 3 && bits - less >= 0; less++)
    if (quantise_at (a, ldexp (1, bits - less), bits - less, integers))
      return true;
  /* The taps' own rounding adds half a unit each to the sum of magnitudes. */
  return quantise_at (a, fmin (LARGEST_SHORT / largest, (LARGEST_INT / a->center - count) / gain), -1, integers);
}

static int
count_terms (const int *integers, int width, int height)
{
  int terms = 0;

  for (int i = 0; i < width; i++)
    for (int j = 0; j < height; j += 2)
      terms += integers[j * width + i] || (j > 0 && integers[(j - 1) * width + i])
          || (j + 1 < height && integers[(j + 1) * width + i]);
  return terms;
}

static bool
use_pairs (const Analysis *a, const IntegerTaps *integers)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_PAIRS;
  if (!allocate_terms (&cpu->terms, a->width * ((a->height + 1) / 2)))
    return false;
  for (int i = 0; i < a->width; i++)
    add_pairs (&cpu->terms, integers->taps + i, a->height, a->width, 0, i * a->samples, true);
  set_end (a, integers->scale, integers->bits);
  return true;
}

/* --- products of a column and a row --- */

/* What the factors are when they have become integers: sums at a scale of a code value, bits to shift by or -1. */
typedef struct
{
  int column[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE], row[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE];
  int shift[CONVOLVE_MAX_RANK]; /* of the column sums */
  double scale, error;          /* error in code values */
  int bits;
  int group_shift; /* row taps are at 2^group_shift of the scale, and summed in groups; 0: in one sum */
  int n_groups[CONVOLVE_MAX_RANK];
  int group[CONVOLVE_MAX_RANK][CONVOLVE_CPU_MAX_GROUPS]; /* the first tap of each group of a row */
} IntegerFactors;

/*
 * Rounds one column at the largest scale of its taps that gives sums of `middle` to a code value after a shift. Returns
 * the error of such a sum in code values, or a negative number where something does not fit; range is the sums'.
 */
static double
round_column (const Analysis *a, const double *column, double middle, int *rounded, int *shift, Range *range)
{
  double peak = convolve_largest_magnitude (column, a->height);
  double gain = convolve_sum_of_magnitudes (column, a->height), error;

  *shift = 0;
  while (*shift < 16 && peak * middle * (2 << *shift) <= LARGEST_SHORT
      && (gain * middle * (2 << *shift) + a->height) * a->center < LARGEST_INT / 2)
    ++*shift;
  if (peak * middle * (1 << *shift) > LARGEST_SHORT)
    return -1;
  error = quantise (column, a->height, middle * (1 << *shift), rounded) * a->center + 0.5 / middle;
  *range = range_of_sum (rounded, a->height, centred (a));
  range->low = floor (ldexp (range->low, -*shift) + 0.5);
  range->high = floor (ldexp (range->high, -*shift) + 0.5);
  return fits (*range, 0, LARGEST_SHORT) ? error : -1;
}

/*
 * Cuts a row of taps into groups, each as long as 32 bits hold its sums with the half that rounds them. Adds to range
 * what the groups' sums, shifted down, can be together. False where there are too many groups.
 *
 * Even and odd outputs meet the taps in other pairs. The groups are of taps and not of pairs, so that both have the
 * same groups, the same roundings, and the same bytes wherever a strip begins.
 */
static bool
find_groups (const Analysis *a, Range middles, int r, IntegerFactors *integers, Range *range)
{
  const int *row = integers->row[r];
  double half = ldexp (0.5, integers->group_shift);
  int *n = &integers->n_groups[r];
  Range sums = { 0, 0 };

  *n = 0;
  for (int i = 0; i < a->width; i++) {
    Range tap = range_of_sum (row + i, 1, middles);

    if (!fits (tap, half, LARGEST_INT))
      return false;
    if (i == 0 || !fits ((Range){ sums.low + tap.low, sums.high + tap.high }, half, LARGEST_INT)) {
      if (*n == CONVOLVE_CPU_MAX_GROUPS / CONVOLVE_MAX_RANK)
        return false;
      integers->group[r][(*n)++] = i;
      range->low += ldexp (sums.low, -integers->group_shift) - 1;
      range->high += ldexp (sums.high, -integers->group_shift) + 1;
      sums = (Range){ 0, 0 };
    }
    sums.low += tap.low;
    sums.high += tap.high;
  }
  range->low += ldexp (sums.low, -integers->group_shift) - 1;
  range->high += ldexp (sums.high, -integers->group_shift) + 1;
  return true;
}

/*
 * Rounds the factors. Column sums become 16 bits of which `part` is used, row sums of those are at `scale` of a code
 * value: the finer the one, the coarser the row's taps. Groups make the row's taps finer by their shift, and round each
 * sum by half a unit. False where something does not fit.
 */
static bool
round_factors (const Analysis *a, const ConvolveFactors *factors, double scale, int bits, double part, int group_shift,
    IntegerFactors *integers)
{
  double fine = ldexp (scale, group_shift);
  Range sums = { 0, 0 };

  integers->scale = scale;
  integers->bits = bits;
  integers->error = factors->missed * a->center;
  integers->group_shift = group_shift;
  for (int r = 0; r < factors->rank; r++) {
    double gain = convolve_sum_of_magnitudes (factors->column[r], a->height);
    double middle = part * LARGEST_SHORT / (a->center * gain);
    double error, missed, peak = convolve_largest_magnitude (factors->row[r], a->width);
    Range middles, row;

    error = round_column (a, factors->column[r], middle, integers->column[r], &integers->shift[r], &middles);
    if (error < 0 || peak * fine / middle > LARGEST_SHORT)
      return false;
    missed = quantise (factors->row[r], a->width, fine / middle, integers->row[r]);
    integers->error +=
        missed * a->center * gain + (convolve_sum_of_magnitudes (factors->row[r], a->width) + missed) * error;
    if (group_shift > 0) {
      if (!find_groups (a, middles, r, integers, &sums))
        return false;
      integers->error += 0.5 * integers->n_groups[r] / scale;
      continue;
    }
    row = range_of_sum (integers->row[r], a->width, middles);
    sums.low += row.low;
    sums.high += row.high;
  }
  return bits >= 0 ? can_shift (a, bits, sums) : fits (sums, 0, LARGEST_INT);
}

/* Tries how to share the bits between column sums and row taps; true where the best of it fits the budget. */
static bool
round_factors_at (const Analysis *a, const ConvolveFactors *factors, double scale, int bits, int group_shift,
    IntegerFactors *best)
{
  double least = INFINITY, part = 0;

  for (double tried = 0.999; tried > 0.02; tried *= 0.96)
    if (round_factors (a, factors, scale, bits, tried, group_shift, best) && best->error < least) {
      least = best->error;
      part = tried;
    }
  return least <= a->budget && round_factors (a, factors, scale, bits, part, group_shift, best);
}

/* One sum for all terms if that is good enough, otherwise as few groups as are. */
static bool
round_factors_best (const Analysis *a, const ConvolveFactors *factors, IntegerFactors *best)
{
  double magnitude = 0;
  int bits;

  for (int r = 0; r < factors->rank; r++)
    magnitude += convolve_sum_of_magnitudes (factors->row[r], a->width)
        * convolve_sum_of_magnitudes (factors->column[r], a->height);
  bits = (int) floor (log2 (2 * LARGEST_INT / (a->center * magnitude)));
  for (int less = 0; less < 3 && bits - less >= 0; less++)
    if (round_factors_at (a, factors, ldexp (1, bits - less), bits - less, 0, best))
      return true;
  for (int group_shift = 1; group_shift <= MAX_GROUP_SHIFT; group_shift++)
    for (int less = 0; less < 3 && bits - less >= 0; less++)
      if (round_factors_at (a, factors, ldexp (1, bits - less), bits - less, group_shift, best))
        return true;
  return round_factors_at (a, factors, 0.995 * LARGEST_INT / (a->center * magnitude), -1, 0, best);
}

/* Integer factors of integer taps; the column sums have to fit 16 bits as they are. */
static bool
take_exact_factors (const Analysis *a, ConvolveFactors *factors, IntegerFactors *integers)
{
  const ConvolveTaps *taps = &a->plan->taps;
  Range middles;

  if (!taps->row)
    return false;
  factors->rank = 1;
  integers->group_shift = 0;
  integers->shift[0] = 0;
  integers->scale = 1;
  for (int i = 0; i < a->width; i++)
    integers->row[0][i] = (int) taps->row[i];
  for (int j = 0; j < a->height; j++)
    integers->column[0][j] = (int) taps->column[j];
  for (int i = 0; i < a->width; i++)
    if (fabsf (taps->row[i]) > LARGEST_SHORT)
      return false;
  middles = range_of_sum (integers->column[0], a->height, centred (a));
  if (!fits (middles, 0, LARGEST_SHORT))
    return false;
  integers->bits = exact_bits (a->plan);
  if (integers->bits >= 0 && !can_shift (a, integers->bits, range_of_sum (integers->row[0], a->width, middles)))
    integers->bits = -1;
  return true;
}

static bool
has_neighbours (const Analysis *a)
{
  return a->samples == 1 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static double
factors_cost (const Analysis *a, int rank, const IntegerFactors *integers)
{
  double columns = (a->height + 1) / 2, rows = (a->width + 1) / 2, groups = 0;

  for (int r = 0; r < rank && integers->group_shift > 0; r++)
    groups += COST_GROUP * integers->n_groups[r];
  return rank * (columns + (has_neighbours (a) ? rows : COST_PRODUCT + COST_ROW_TERM * rows)) + groups;
}

/*
 * A row's taps, one group after the other. The second of two neighbours needs one tap more than the first where the
 * number of taps is even, so each group is made odd with a tap of 0 behind; pairs begin at even places, so a group that
 * does not is given a tap of 0 in front.
 */
static void
add_groups (const Analysis *a, const IntegerFactors *integers, int r)
{
  ConvolveCpu *cpu = a->cpu;
  ConvolveTerms *terms = &cpu->terms;
  int taps[CONVOLVE_MAX_SIDE + 2];

  terms->group_shift = integers->group_shift;
  for (int g = 0; g < integers->n_groups[r]; g++) {
    int first = integers->group[r][g], count = 0;
    int end = g + 1 < integers->n_groups[r] ? integers->group[r][g + 1] : a->width;

    if (cpu->neighbours && first % 2 == 1)
      taps[count++] = 0;
    for (int i = first; i < end; i++)
      taps[count++] = integers->row[r][i];
    if (cpu->neighbours && count % 2 == 0)
      taps[count++] = 0;
    if (cpu->neighbours)
      add_pairs (terms, taps, count, 1, r, first / 2, false);
    else
      for (int i = 0; i < count; i += 2)
        add_term (terms, r, (first + i) * a->samples, convolve_pair (taps[i], i + 1 < count ? taps[i + 1] : 0), 0);
    terms->ends[terms->n_groups++] = terms->count;
  }
}

static bool
use_factors (const Analysis *a, const ConvolveFactors *factors, const IntegerFactors *integers)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_FACTORS;
  cpu->rank = factors->rank;
  cpu->neighbours = has_neighbours (a);
  if (!allocate_terms (&cpu->terms, factors->rank * (a->width / 2 + 1) + 2 * CONVOLVE_CPU_MAX_GROUPS))
    return false;
  for (int r = 0; r < factors->rank; r++) {
    if (!allocate_terms (&cpu->columns[r], (a->height + 1) / 2))
      return false;
    cpu->column_shift[r] = integers->shift[r];
    add_pairs (&cpu->columns[r], integers->column[r], a->height, 1, 0, 0, true);
    if (integers->group_shift > 0)
      add_groups (a, integers, r);
    else if (cpu->neighbours)
      add_pairs (&cpu->terms, integers->row[r], a->width, 1, r, 0, false);
    else
      add_row (&cpu->terms, integers->row[r], a->width, r, a->samples);
  }
  set_end (a, integers->scale, integers->bits);
  return true;
}

/* --- large masks --- */

/* Terms for an output: a part's squares, by what of them are outputs. */
static double
fft_cost (const Analysis *a)
{
  ConvolveCpuFft fft;
  double columns, rows;

  convolve_cpu_fft_measure (a->width, a->height, &fft);
  columns = CONVOLVE_CPU_FFT_POINTS - fft.part_width + 1;
  rows = CONVOLVE_CPU_FFT_POINTS - fft.part_height + 1;
  return COST_FFT * fft.across * fft.down * CONVOLVE_CPU_FFT_POINTS / columns * CONVOLVE_CPU_FFT_POINTS / rows;
}

/* Taps times scale, rounded. Returns what they miss of the taps, in units of the taps; norm becomes theirs. */
static double
round_taps (const Analysis *a, double scale, double *taps, double *norm)
{
  double missed = 0, squares = 0;

  for (int i = 0; i < a->width * a->height; i++) {
    taps[i] = floor (a->taps[i] * scale + 0.5);
    missed += fabs (taps[i] / scale - a->taps[i]);
    squares += taps[i] * taps[i];
  }
  *norm = sqrt (squares);
  return missed;
}

/*
 * Taps as integers, at a scale at which rounding the transforms' results gives the sums. Among such scales, from half
 * the largest on, the best one misses least: many masks have many equal taps. False where that is not good enough, or
 * memory is short; the other ways are still there.
 */
static bool
use_fft (const Analysis *a)
{
  int count = a->width * a->height;
  ConvolveCpu *cpu = a->cpu;
  double *taps = malloc (count * sizeof (*taps)), norm = 0, missed = INFINITY, scale = 1;

  for (int i = 0; i < count; i++)
    norm += a->taps[i] * a->taps[i];
  if (taps && !a->plan->exact) {
    double largest = LARGEST_FFT_ERROR / convolve_cpu_fft_error (a->center, sqrt (norm));

    for (int i = 0; i < FFT_SCALES; i++) {
      double tried = largest * (1 - 0.5 * i / FFT_SCALES), rest = round_taps (a, tried, taps, &norm);

      if (rest < missed && convolve_cpu_fft_error (a->center, norm) <= LARGEST_FFT_ERROR) {
        missed = rest;
        scale = tried;
      }
    }
  }
  if (taps)
    missed = round_taps (a, scale, taps, &norm);
  if (taps && missed * a->center <= (a->plan->exact ? 0 : a->budget)
      && convolve_cpu_fft_error (a->center, norm) <= LARGEST_FFT_ERROR)
    cpu->fft = convolve_cpu_fft_new (taps, a->width, a->height, cpu->level);
  free (taps);
  if (!cpu->fft)
    return false;
  cpu->path = CONVOLVE_CPU_FFT;
  cpu->tail.wide = true;
  if (a->plan->exact) {
    cpu->fft->start = a->center * a->sum;
    return true;
  }
  for (int i = 0; i < a->samples; i++)
    cpu->tail.offset[i] = offset_of (a, i);
  cpu->tail.scale = 1 / scale;
  return true;
}

/* --- equal taps --- */

static bool
is_box (const Analysis *a)
{
  double count = (double) a->width * a->height;

  for (int i = 1; i < count; i++)
    if (a->taps[i] != a->taps[0])
      return false;
  return a->taps[0] != 0 && count * a->plan->tail.maximum < LARGEST_INT && (a->plan->exact || a->budget > 0);
}

static double
box_cost (int width)
{
  double bits = 0;

  for (int size = 1; 2 * size <= width; size *= 2)
    bits += width & 2 * size ? 1.5 : 0.5;
  return COST_BOX + COST_TAIL + fmin (bits * COST_WINDOW, COST_WIDE_WINDOW);
}

static bool
use_box (const Analysis *a)
{
  ConvolveTail *tail = &a->cpu->tail;

  a->cpu->path = CONVOLVE_CPU_BOX;
  tail->scale *= a->taps[0];
  tail->scale_f = (float) tail->scale;
  return true;
}

/* --- floats and doubles --- */

/* A bound of the error after n roundings in a row, as a share of the sum of magnitudes. */
static double
growth (double n, double unit)
{
  return n * unit / (1 - n * unit);
}

/* Products of a block, so that a sum of so many has few roundings. */
static int
block_of (int count)
{
  return (int) ceil (sqrt (count));
}

/*
 * The roundings that a product meets on its way: its own, those of the block's sum, and those of the blocks' sum; the
 * first addition to 0 has none.
 */
static double
roundings (int count, int block)
{
  return block + (count - 1) / block;
}

/*
 * Values less the center, times float taps, added in float: what that may cost, where an exact plan's sums are exact in
 * any order and need no center. What underflows is below 1e-30 of all that stands here.
 */
static bool
floats_fit (const Analysis *a)
{
  int count = a->width * a->height;
  double gain = 0, missed = 0;

  if (a->plan->exact)
    return true;
  for (int i = 0; i < count; i++) {
    gain += fabs (a->plan->taps.taps[i]);
    missed += fabs (a->plan->taps.taps[i] - a->taps[i]);
  }
  return (missed + gain * growth (roundings (count, block_of (count)), FLOAT_UNIT)) * a->center <= a->budget;
}

/*
 * Whether factors in float fit the budget. The column sums' error goes through the rows, whose sums have an error of
 * their own. What the factors miss of the taps is summed in double, which the last term stands for.
 */
static bool
float_factors_fit (const Analysis *a, const ConvolveFactors *factors)
{
  double rows = growth (roundings (factors->rank * a->width, block_of (factors->rank * a->width)), FLOAT_UNIT);
  double columns = growth (roundings (a->height, block_of (a->height)), FLOAT_UNIT), gain = 0, missed = 0;

  for (int j = 0; j < a->height; j++)
    for (int i = 0; i < a->width; i++) {
      double tap = 0;

      for (int r = 0; r < factors->rank; r++) {
        double product = (double) (float) factors->column[r][j] * (float) factors->row[r][i];

        tap += product;
        gain += fabs (product);
      }
      missed += fabs (tap - a->taps[j * a->width + i]);
    }
  return (missed + gain * (rows + columns + rows * columns + 8 * DOUBLE_UNIT)) * a->center <= a->budget;
}

/* Whether factors in double fit the budget, with values that are not centred. */
static bool
double_factors_fit (const Analysis *a, const ConvolveFactors *factors)
{
  double gain = 0, n = a->height + factors->rank * a->width;

  for (int r = 0; r < factors->rank; r++)
    gain += convolve_sum_of_magnitudes (factors->column[r], a->height)
        * convolve_sum_of_magnitudes (factors->row[r], a->width);
  return (factors->missed + gain * growth (n + 8, DOUBLE_UNIT)) * 2 * a->center <= a->budget;
}

/* Values less the center become sums in code values; an exact plan's are in units of its taps. */
static void
set_float_end (const Analysis *a)
{
  ConvolveTail *tail = &a->cpu->tail;

  if (a->plan->exact) {
    a->cpu->center = 0;
    return;
  }
  for (int i = 0; i < a->samples; i++) {
    tail->offset[i] = offset_of (a, i);
    tail->offset_f[i] = (float) tail->offset[i];
  }
}

static bool
use_floats (const Analysis *a)
{
  a->cpu->path = CONVOLVE_CPU_FLOAT;
  a->cpu->block = block_of (a->width * a->height);
  set_float_end (a);
  return true;
}

static bool
use_float_factors (const Analysis *a, const ConvolveFactors *factors)
{
  int rank = factors->rank, w = a->width, h = a->height;
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_FLOAT_FACTORS;
  cpu->rank = rank;
  cpu->block = block_of (rank * w);
  cpu->column_block = block_of (h);
  cpu->float_columns = malloc (rank * (w + h) * sizeof (float));
  if (!cpu->float_columns)
    return false;
  cpu->float_rows = cpu->float_columns + rank * h;
  for (int i = 0; i < rank * h; i++)
    cpu->float_columns[i] = (float) factors->column[i / h][i % h];
  for (int i = 0; i < rank * w; i++)
    cpu->float_rows[i] = (float) factors->row[i / w][i % w];
  set_float_end (a);
  return true;
}

/* Doubles have no center, and the plan's own offset. */
static bool
use_doubles (const Analysis *a)
{
  a->cpu->path = CONVOLVE_CPU_DOUBLE;
  a->cpu->center = 0;
  a->cpu->tail.wide = true;
  return true;
}

static bool
use_double_factors (const Analysis *a, const ConvolveFactors *factors)
{
  int rank = factors->rank, w = a->width, h = a->height;
  ConvolveCpu *cpu = a->cpu;

  use_doubles (a);
  cpu->path = CONVOLVE_CPU_DOUBLE_FACTORS;
  cpu->rank = rank;
  cpu->double_columns = malloc (rank * (w + h) * sizeof (double));
  if (!cpu->double_columns)
    return false;
  cpu->double_rows = cpu->double_columns + rank * h;
  for (int i = 0; i < rank * h; i++)
    cpu->double_columns[i] = factors->column[i / h][i % h];
  for (int i = 0; i < rank * w; i++)
    cpu->double_rows[i] = factors->row[i / w][i % w];
  return true;
}

/* --- the choice --- */

/*
 * The error of a tail in float, for plans that are not exact. The tail rounds the sum, the scale and their product, each
 * of which is a result less the offset; the offset; and the result. Results out of range are clamped in any case.
 */
static double
float_tail_error (const Analysis *a)
{
  const ConvolveTail *tail = &a->plan->tail;
  double offset = 0;

  for (int i = 0; i < a->samples; i++)
    offset = fmax (offset, fmax (fabs (tail->offset[i]), fabs (tail->offset[i] + a->center * a->sum)));
  return 4.1 * (tail->maximum + 2 + offset) * FLOAT_UNIT;
}

/*
 * The promise less what the taps lost when they became floats, and less what the tail takes of the rest. The tail is in
 * float where that is cheap, and in double otherwise. A fiftieth is left for the doubles in which all this is computed.
 */
static void
find_budget (Analysis *a)
{
  double budget = convolve_budget (a->plan), tail;

  if (a->plan->exact)
    return;
  if (a->plan->device_taps_fit)
    budget -= convolve_sum_of_magnitudes (a->taps, a->width * a->height) * a->plan->tail.maximum * FLOAT_UNIT;
  tail = float_tail_error (a);
  a->cpu->tail.wide = tail > budget / 4;
  a->budget = 0.98 * (a->cpu->tail.wide ? budget : budget - tail);
}

/* Room for the analysis, too much for a stack. */
typedef struct
{
  IntegerTaps taps;
  ConvolveFactors factors;
  IntegerFactors integers;
} Room;

/* The factors in double: an exact plan's are integers, whose products are the taps. */
static bool
find_factors (const Analysis *a, ConvolveFactors *factors)
{
  const ConvolveTaps *taps = &a->plan->taps;

  if (!a->plan->exact) /* what is missed is nothing beside the budget */
    return convolve_factors_find (a->taps, a->width, a->height, a->budget / 16 / a->center, factors);
  if (!taps->row)
    return false;
  factors->rank = 1;
  factors->missed = 0;
  for (int i = 0; i < a->width; i++)
    factors->row[0][i] = taps->row[i];
  for (int j = 0; j < a->height; j++)
    factors->column[0][j] = taps->column[j];
  return true;
}

/* Whether a way is good enough is asked only where it would be the cheapest so far. */
static bool
is_cheaper (double cost, double *least)
{
  if (!(cost < *least))
    return false;
  *least = cost;
  return true;
}

static bool
choose (const Analysis *a, Room *room)
{
  bool exact = a->plan->exact, factored = find_factors (a, &room->factors), integers;
  double tail = a->cpu->tail.wide ? COST_WIDE_TAIL : COST_TAIL, least, cost;
  int w = a->width, h = a->height, rank = room->factors.rank;
  ConvolveCpuPath path = CONVOLVE_CPU_DOUBLE;

  least = COST_FLOATS + COST_DOUBLE_TAP * w * h + COST_WIDE_TAIL;
  cost = COST_FLOATS + COST_FLOAT_TAP * w * h + tail;
  if (floats_fit (a) && is_cheaper (cost, &least))
    path = CONVOLVE_CPU_FLOAT;
  cost = COST_FLOATS + rank * COST_DOUBLE_TAP * (w + h) + COST_WIDE_TAIL;
  if (factored && !exact && double_factors_fit (a, &room->factors) && is_cheaper (cost, &least))
    path = CONVOLVE_CPU_DOUBLE_FACTORS;
  cost = COST_FLOATS + rank * COST_FLOAT_TAP * (w + h) + tail;
  if (factored && (exact || float_factors_fit (a, &room->factors)) && is_cheaper (cost, &least))
    path = CONVOLVE_CPU_FLOAT_FACTORS;
  if (quantise_taps (a, &room->taps)) {
    cost = COST_PAIRS + count_terms (room->taps.taps, w, h) + (room->taps.bits < 0 ? tail : 0);
    if (is_cheaper (cost, &least))
      path = CONVOLVE_CPU_PAIRS;
  }
  integers = exact ? take_exact_factors (a, &room->factors, &room->integers)
                   : factored && round_factors_best (a, &room->factors, &room->integers);
  if (integers) {
    cost = COST_PAIRS + factors_cost (a, rank, &room->integers) + (room->integers.bits < 0 ? tail : 0);
    if (is_cheaper (cost, &least))
      path = CONVOLVE_CPU_FACTORS;
  }
  a->cpu->cost = COST_FRAME + least;
  if (is_box (a) && is_cheaper (box_cost (w), &least)) {
    a->cpu->cost = COST_FRAME + least;
    return use_box (a);
  }
  if (fft_cost (a) < least && use_fft (a)) {
    a->cpu->cost = COST_FRAME + fft_cost (a);
    return true;
  }
  switch (path) {
    case CONVOLVE_CPU_FACTORS:
      return use_factors (a, &room->factors, &room->integers);
    case CONVOLVE_CPU_PAIRS:
      return use_pairs (a, &room->taps);
    case CONVOLVE_CPU_FLOAT_FACTORS:
      return use_float_factors (a, &room->factors);
    case CONVOLVE_CPU_DOUBLE_FACTORS:
      return use_double_factors (a, &room->factors);
    case CONVOLVE_CPU_FLOAT:
      return use_floats (a);
    default:
      return use_doubles (a);
  }
}

ConvolveStatus
convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *taps = &plan->taps;
  Room *room = calloc (1, sizeof (*room));
  bool done;

  plan->cpu = calloc (1, sizeof (ConvolveCpu));
  done = plan->cpu && room;
  if (done) {
    Analysis a = { .plan = plan,
      .cpu = plan->cpu,
      .taps = taps->wide_taps,
      .width = taps->width,
      .height = taps->height,
      .samples = plan->pixel.samples };

    convolve_cpu_choose_level (plan->cpu);
    plan->cpu->tail = plan->tail;
    plan->cpu->center = 1 << (plan->pixel.depth - 1);
    a.center = plan->cpu->center;
    for (int i = 0; i < a.width * a.height; i++)
      a.sum += a.taps[i];
    find_budget (&a);
    if (plan->pixel.select == 0)
      plan->cpu->path = CONVOLVE_CPU_COPY;
    else
      done = choose (&a, room);
  }
  free (room);
  return done
      ? CONVOLVE_OK
      : convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", taps->width, taps->height);
}
