/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask as a sum of products of a column and a row, in integers of 16 bits. Sums along the columns of a product are
 * shifted down to 16 bits; sums along its row are made of these. Every rounding on the way is counted here.
 */
#include <math.h>

#include "cpu/integers.h"

#define COST_PRODUCT 2.4  /* of a product's column sums becoming pairs, where neighbours in memory are no pairs */
#define COST_ROW_TERM 1.8 /* of a term of such pairs, which serves one output instead of two */
#define COST_GROUP 1.0    /* of the shift of a group's sum and its addition to the total */

#define MAX_COLUMN_SHIFT 16
#define MAX_GROUP_SHIFT 5

/* Shares of a column sum's 16 bits that are tried, each so much less than the one before. */
#define LARGEST_SHARE 0.999
#define LEAST_SHARE 0.02
#define NEXT_SHARE 0.96

/* What the row sums become: at `scale` of a code value, shifted down by `bits`, or by the tail where bits is -1. */
typedef struct
{
  double scale;
  int bits, group_shift;
} Target;

static Target
target_of_bits (int bits, int group_shift)
{
  return (Target){ ldexp (1, bits), bits, group_shift };
}

/*
 * Rounds the taps of a column, at the largest scale from which a shift leads to sums of `scale` to a code value.
 * range becomes that of the sums after the shift, and error the error of such a sum. False where something does not fit
 * 16 or 32 bits.
 */
static bool
round_column (const ConvolveCpuAnalysis *a, const double *column, double scale, int *rounded, int *shift,
    ConvolveRange *range, double *error)
{
  double peak = convolve_largest_magnitude (column, a->height);
  double gain = convolve_sum_of_magnitudes (column, a->height);

  *shift = 0;
  while (*shift < MAX_COLUMN_SHIFT && peak * scale * (2 << *shift) <= CONVOLVE_LARGEST_SHORT
      && (gain * scale * (2 << *shift) + a->height) * a->center < CONVOLVE_LARGEST_INT / 2)
    ++*shift;
  if (peak * scale * (1 << *shift) > CONVOLVE_LARGEST_SHORT)
    return false;
  *error = convolve_cpu_quantise (column, a->height, scale * (1 << *shift), rounded) * a->center + 0.5 / scale;
  *range = convolve_cpu_range_of_sum (rounded, a->height, convolve_cpu_centred (a));
  range->low = floor (ldexp (range->low, -*shift) + 0.5);
  range->high = floor (ldexp (range->high, -*shift) + 0.5);
  return convolve_cpu_range_fits (*range, 0, CONVOLVE_LARGEST_SHORT);
}

/* Adds the range of a group's sums to that of the totals: shifted down, and rounded. */
static void
add_group_range (ConvolveRange sums, int group_shift, ConvolveRange *totals)
{
  totals->low += ldexp (sums.low, -group_shift) - 1;
  totals->high += ldexp (sums.high, -group_shift) + 1;
}

/*
 * Cuts row r into groups. Each group is as long as 32 bits hold its sums and the half that rounds them. Adds the range
 * of the groups' sums, shifted down, to totals. False where there are too many groups.
 *
 * Even and odd outputs multiply different pairs of taps. The groups are of taps and not of pairs, so that even and odd
 * outputs have the same groups and the same roundings, and an output does not depend on where its strip begins.
 */
static bool
find_groups (const ConvolveCpuAnalysis *a, ConvolveRange columns, int r, ConvolveIntegerFactors *integers,
    ConvolveRange *totals)
{
  const int *row = integers->row[r];
  double half = ldexp (0.5, integers->group_shift);
  int *n = &integers->n_groups[r];
  ConvolveRange sums = { 0, 0 };

  *n = 0;
  for (int i = 0; i < a->width; i++) {
    ConvolveRange tap = convolve_cpu_range_of_sum (row + i, 1, columns);
    ConvolveRange longer = { sums.low + tap.low, sums.high + tap.high };

    if (!convolve_cpu_range_fits (tap, half, CONVOLVE_LARGEST_INT))
      return false;
    if (i > 0 && convolve_cpu_range_fits (longer, half, CONVOLVE_LARGEST_INT)) {
      sums = longer;
      continue;
    }
    if (*n == CONVOLVE_CPU_MAX_GROUPS / CONVOLVE_MAX_RANK)
      return false;
    integers->group[r][(*n)++] = i;
    add_group_range (sums, integers->group_shift, totals);
    sums = tap;
  }
  add_group_range (sums, integers->group_shift, totals);
  return true;
}

/*
 * Rounds all factors. Column sums use `share` of 16 bits: the finer these sums, the coarser the taps of the row,
 * because the product of both scales is the target's. Groups make the taps of the row finer by group_shift bits, and
 * round once for each group. False where something does not fit.
 */
static bool
round_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors, Target target, double share,
    ConvolveIntegerFactors *integers)
{
  double fine = ldexp (target.scale, target.group_shift);
  ConvolveRange totals = { 0, 0 };

  integers->scale = target.scale;
  integers->bits = target.bits;
  integers->error = factors->missed * a->center;
  integers->group_shift = target.group_shift;
  for (int r = 0; r < factors->rank; r++) {
    double gain = convolve_sum_of_magnitudes (factors->column[r], a->height);
    double column_scale = share * CONVOLVE_LARGEST_SHORT / (a->center * gain);
    double error, missed, peak = convolve_largest_magnitude (factors->row[r], a->width);
    ConvolveRange columns, row;

    if (!round_column (a, factors->column[r], column_scale, integers->column[r], &integers->shift[r], &columns, &error)
        || peak * fine / column_scale > CONVOLVE_LARGEST_SHORT)
      return false;
    missed = convolve_cpu_quantise (factors->row[r], a->width, fine / column_scale, integers->row[r]);
    integers->error +=
        missed * a->center * gain + (convolve_sum_of_magnitudes (factors->row[r], a->width) + missed) * error;
    if (target.group_shift > 0) {
      if (!find_groups (a, columns, r, integers, &totals))
        return false;
      integers->error += 0.5 * integers->n_groups[r] / target.scale;
      continue;
    }
    row = convolve_cpu_range_of_sum (integers->row[r], a->width, columns);
    totals.low += row.low;
    totals.high += row.high;
  }
  return target.bits >= 0 ? convolve_cpu_can_shift (a, target.bits, totals)
                          : convolve_cpu_range_fits (totals, 0, CONVOLVE_LARGEST_INT);
}

/* Rounds with the share of bits that has the least error. False where that error is above the budget. */
static bool
round_factors_at (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors, Target target,
    ConvolveIntegerFactors *best)
{
  double least = INFINITY, share = 0;

  for (double tried = LARGEST_SHARE; tried > LEAST_SHARE; tried *= NEXT_SHARE)
    if (round_factors (a, factors, target, tried, best) && best->error < least) {
      least = best->error;
      share = tried;
    }
  return least <= a->budget && round_factors (a, factors, target, share, best);
}

/* Without groups if that is within the budget, otherwise with as few bits of group_shift as are. */
static bool
round_factors_best (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors, ConvolveIntegerFactors *best)
{
  double magnitude = 0;
  int bits;

  for (int r = 0; r < factors->rank; r++)
    magnitude += convolve_sum_of_magnitudes (factors->row[r], a->width)
        * convolve_sum_of_magnitudes (factors->column[r], a->height);
  bits = (int) floor (log2 (2 * CONVOLVE_LARGEST_INT / (a->center * magnitude)));
  for (int group_shift = 0; group_shift <= MAX_GROUP_SHIFT; group_shift++)
    for (int less = 0; less < CONVOLVE_POWERS_TRIED && bits - less >= 0; less++)
      if (round_factors_at (a, factors, target_of_bits (bits - less, group_shift), best))
        return true;
  return round_factors_at (a, factors, (Target){ 0.995 * CONVOLVE_LARGEST_INT / (a->center * magnitude), -1, 0 }, best);
}

/* The integer factors of integer taps, whose column sums must fit 16 bits without a shift. */
static bool
take_exact_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors, ConvolveIntegerFactors *integers)
{
  ConvolveRange columns;

  integers->group_shift = 0;
  integers->shift[0] = 0;
  integers->scale = 1;
  if (convolve_largest_magnitude (factors->row[0], a->width) > CONVOLVE_LARGEST_SHORT)
    return false;
  for (int i = 0; i < a->width; i++)
    integers->row[0][i] = (int) factors->row[0][i];
  for (int j = 0; j < a->height; j++)
    integers->column[0][j] = (int) factors->column[0][j];
  columns = convolve_cpu_range_of_sum (integers->column[0], a->height, convolve_cpu_centred (a));
  if (!convolve_cpu_range_fits (columns, 0, CONVOLVE_LARGEST_SHORT))
    return false;
  integers->bits = convolve_cpu_exact_bits (a, convolve_cpu_range_of_sum (integers->row[0], a->width, columns));
  return true;
}

bool
convolve_cpu_round_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors,
    ConvolveIntegerFactors *integers)
{
  return a->plan->exact ? take_exact_factors (a, factors, integers) : round_factors_best (a, factors, integers);
}

/* Whether neighbours in a row of column sums are pairs as they lie in memory. */
static bool
has_neighbours (const ConvolveCpuAnalysis *a)
{
  return a->samples == 1 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

double
convolve_cpu_factors_cost (const ConvolveCpuAnalysis *a, int rank, const ConvolveIntegerFactors *integers)
{
  double columns = (a->height + 1) / 2, rows = (a->width + 1) / 2, groups = 0;

  for (int r = 0; r < rank && integers->group_shift > 0; r++)
    groups += COST_GROUP * integers->n_groups[r];
  return CONVOLVE_COST_PAIRS
      + (rank * (columns + (has_neighbours (a) ? rows : COST_PRODUCT + COST_ROW_TERM * rows)) + groups);
}

/*
 * Adds the terms of row r, group by group. Pairs of neighbours begin at even elements, so a group that begins at an odd
 * tap has a tap of 0 in front. The second of two neighbours needs one more tap than the first where the number of taps
 * is even, so the number is made odd with a tap of 0 at the end.
 */
static void
add_groups (const ConvolveCpuAnalysis *a, const ConvolveIntegerFactors *integers, int r)
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
      convolve_cpu_add_pairs (terms, taps, count, 1, r, first / 2, false);
    else
      convolve_cpu_add_row (terms, taps, count, r, first, a->samples);
    terms->ends[terms->n_groups++] = terms->count;
  }
}

bool
convolve_cpu_use_factors (const ConvolveCpuAnalysis *a, int rank, const ConvolveIntegerFactors *integers)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_FACTORS;
  cpu->rank = rank;
  cpu->neighbours = has_neighbours (a);
  /* A group may begin and end with half a pair. */
  if (!convolve_cpu_allocate_terms (&cpu->terms, rank * (a->width / 2 + 1) + 2 * CONVOLVE_CPU_MAX_GROUPS))
    return false;
  for (int r = 0; r < rank; r++) {
    if (!convolve_cpu_allocate_terms (&cpu->columns[r], (a->height + 1) / 2))
      return false;
    cpu->column_shift[r] = integers->shift[r];
    convolve_cpu_add_pairs (&cpu->columns[r], integers->column[r], a->height, 1, 0, 0, true);
    if (integers->group_shift > 0)
      add_groups (a, integers, r);
    else if (cpu->neighbours)
      convolve_cpu_add_pairs (&cpu->terms, integers->row[r], a->width, 1, r, 0, false);
    else
      convolve_cpu_add_row (&cpu->terms, integers->row[r], a->width, r, 0, a->samples);
  }
  convolve_cpu_set_end (a, integers->scale, integers->bits);
  return true;
}
