/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Integer taps in sums of pairs. Taps of 16 bits, whose sums fit 32 bits, are the path pairs.
 *
 * The path wide has taps of up to 24 bits, in sums of pairs that are added up in groups: ConvolveWideTerms of
 * cpu/loops/level.h. A tap is upper * 2^place + lower, and both digits have terms of their own. Where place is 0, the lower
 * digit is the tap.
 */
#include <math.h>
#include <stdlib.h>

#include "cpu/paths/integers.h"
#include "cpu/paths/rows.h"

#define COST_GROUP 2.4  /* of adding a group's sums to the totals */
#define COST_TOTALS 4.5 /* of totals becoming sums that are shifted down */
#define MOST_GROUPS 65535
#define MOST_LOW_BITS 16

/* --- sums of 32 bits --- */

/* The number of terms: pairs of taps in a column that are not both 0, with the tap above for the lower output. */
static double
count_terms (const ConvolveCpuAnalysis *a)
{
  const double *taps = a->taps;
  double terms = 0;

  for (int i = 0; i < a->width; i++)
    for (int j = 0; j < a->height; j += 2)
      terms += taps[j * a->width + i] != 0 || (j > 0 && taps[(j - 1) * a->width + i] != 0)
          || (j + 1 < a->height && taps[(j + 1) * a->width + i] != 0);
  return terms;
}

/* The bits by which sums are shifted down, or -1 where the tail follows. False where 32 bits do not hold the sums. */
static bool
find_bits (const ConvolveCpuAnalysis *a, int *bits)
{
  ConvolveRange sums = convolve_cpu_range_of_taps (a, convolve_cpu_signed_values (a));

  *bits = a->plan->exact ? convolve_cpu_exact_bits (a, sums) : a->plan->arithmetic.bits;
  return a->plan->exact || convolve_cpu_can_shift (a, *bits, sums);
}

bool
convolve_cpu_choose_pairs (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs)
{
  const int count = a->width * a->height;

  if (!a->plan->integers || convolve_largest_magnitude (a->taps, count) > CONVOLVE_LARGEST_SHORT
      || !find_bits (a, &pairs->bits))
    return false;
  pairs->cost = CONVOLVE_COST_PAIRS + count_terms (a);
  return true;
}

bool
convolve_cpu_use_pairs (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs)
{
  ConvolveCpu *cpu = a->cpu;
  int column[CONVOLVE_MAX_SIDE];

  cpu->path = CONVOLVE_CPU_PAIRS;
  if (!convolve_cpu_allocate_terms (&cpu->terms, a->width * ((a->height + 1) / 2)))
    return false;
  for (int i = 0; i < a->width; i++) {
    for (int j = 0; j < a->height; j++)
      column[j] = (int) a->taps[j * a->width + i];
    convolve_cpu_add_pairs (&cpu->terms, column, a->height, 1, 0, i * a->samples, true);
  }
  convolve_cpu_set_end (a, pairs->bits);
  return true;
}

static double
cost_of_pairs (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  if (!convolve_cpu_choose_pairs (a, &w->pairs))
    return INFINITY;
  return w->pairs.cost + (w->pairs.bits < 0 ? convolve_cpu_tail_cost (a) : 0);
}

static bool
use_pairs (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  return convolve_cpu_use_pairs (a, &w->pairs);
}

/* --- wide sums --- */

static const int places[] = { 0, 8, 16 };

enum
{
  N_PLACES = sizeof places / sizeof *places
};

/* The largest and the least sum of a group, for both rows of outputs. */
typedef struct
{
  ConvolveRange upper, lower;
} GroupRange;

/* The digit of a tap. A lower digit has `place` bits, its sign included. */
static int
digit_of (double tap, int place, bool upper)
{
  const int half = place > 0 ? 1 << (place - 1) : 0, whole = (int) tap;
  const int lower = place > 0 ? (int) ((unsigned) (whole + half) & ((1u << place) - 1)) - half : whole;

  return upper ? (whole - lower) / (1 << place) : lower;
}

static bool
digits_fit (const ConvolveCpuAnalysis *a, int place)
{
  for (int i = 0; i < a->width * a->height; i++)
    if (abs (digit_of (a->taps[i], place, place > 0)) > CONVOLVE_LARGEST_SHORT)
      return false;
  return true;
}

static ConvolveRange
add_ranges (ConvolveRange a, ConvolveRange b)
{
  return (ConvolveRange){ a.low + b.low, a.high + b.high };
}

/*
 * Adds one term, and begins a group before the term where the sums would not fit 32 bits any more. terms->terms may be
 * NULL, and then terms and groups are only counted. False where the term alone does not fit, or where the groups are
 * too many.
 */
static bool
add_term (const ConvolveCpuAnalysis *a, const int taps[3], ConvolveTerm term, int place, GroupRange *group,
    ConvolveWideTerms *terms)
{
  const ConvolveRange values = convolve_cpu_signed_values (a);
  GroupRange longer = { add_ranges (group->upper, convolve_cpu_range_of_sum (taps + 1, 2, values)),
    add_ranges (group->lower, convolve_cpu_range_of_sum (taps, 2, values)) };
  const bool any = place >= terms->low_bits; /* sums may pass 32 bits, because all totals are taken modulo 2^32 */

  if (!any
      && !(convolve_cpu_range_fits (longer.upper, 0, CONVOLVE_LARGEST_INT)
          && convolve_cpu_range_fits (longer.lower, 0, CONVOLVE_LARGEST_INT))) {
    if (group->upper.low == 0 && group->upper.high == 0 && group->lower.low == 0 && group->lower.high == 0)
      return false;
    convolve_cpu_end_group (terms, place);
    *group = (GroupRange){ { 0, 0 }, { 0, 0 } };
    return terms->n_groups < MOST_GROUPS && add_term (a, taps, term, place, group, terms);
  }
  *group = longer;
  if (terms->terms)
    terms->terms[terms->count] = term;
  terms->count++;
  return true;
}

/* Adds the terms of one digit of all taps. */
static bool
add_digits (const ConvolveCpuAnalysis *a, int place, bool upper, ConvolveWideTerms *terms)
{
  GroupRange group = { { 0, 0 }, { 0, 0 } };
  const int first = terms->count;

  for (int i = 0; i < a->width; i++)
    for (int j = 0; j < a->height; j += 2) {
      int taps[3]; /* the tap above the pair, and the pair's two */

      for (int k = 0; k < 3; k++)
        taps[k] = j + k > 0 && j + k <= a->height ? digit_of (a->taps[(j + k - 1) * a->width + i], place, upper) : 0;
      if ((taps[0] || taps[1] || taps[2])
          && !add_term (a, taps,
              (ConvolveTerm){ j / 2, i * a->samples, convolve_pair (taps[1], taps[2]),
                  convolve_pair (taps[0], taps[1]) },
              upper ? place : 0, &group, terms))
        return false;
    }
  if (terms->count > first)
    convolve_cpu_end_group (terms, upper ? place : 0);
  return true;
}

/* Fills or counts all terms, as terms->terms says. */
static bool
add_all (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs, ConvolveWideTerms *terms)
{
  terms->low_bits = pairs->low_bits;
  return (pairs->place == 0 || add_digits (a, pairs->place, true, terms)) && add_digits (a, pairs->place, false, terms);
}

/*
 * With what the totals of sample i begin. Where values are combined, the totals are the sums of values without a
 * middle.
 */
static double
start_of (const ConvolveCpuAnalysis *a, int i)
{
  return a->combined ? a->middle * a->sum : convolve_cpu_start_of_shift (a, i, a->plan->arithmetic.bits);
}

/* Whether 32 bits hold the totals after a shift by low_bits. */
static bool
totals_fit (const ConvolveCpuAnalysis *a, int low_bits)
{
  ConvolveRange sums = convolve_cpu_range_of_taps (a, convolve_cpu_signed_values (a));

  for (int i = 0; i < a->samples; i++) {
    ConvolveRange totals = { floor (ldexp (sums.low + start_of (a, i), -low_bits)),
      floor (ldexp (sums.high + start_of (a, i), -low_bits)) };

    if (!convolve_cpu_range_fits (totals, 0, CONVOLVE_LARGEST_INT))
      return false;
  }
  return true;
}

static bool
try_wide (const ConvolveCpuAnalysis *a, int place, int low_bits, ConvolveCpuPairs *pairs)
{
  ConvolveWideTerms counts = { .count = 0 };

  pairs->place = place;
  pairs->low_bits = low_bits;
  pairs->bits = a->combined ? -1 : a->plan->arithmetic.bits;
  if (!digits_fit (a, place) || !totals_fit (a, low_bits) || !add_all (a, pairs, &counts))
    return false;
  pairs->cost = CONVOLVE_COST_PAIRS + COST_TOTALS + counts.count + COST_GROUP * counts.n_groups;
  return true;
}

bool
convolve_cpu_choose_wide (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs)
{
  const int most = a->combined || a->plan->arithmetic.bits > MOST_LOW_BITS ? MOST_LOW_BITS : a->plan->arithmetic.bits;
  ConvolveCpuPairs tried;

  pairs->cost = INFINITY;
  if (a->plan->arithmetic.kind != CONVOLVE_ARITHMETIC_ONE_STEP || a->plan->exact)
    return false;
  for (int p = 0; p < N_PLACES; p++)
    for (int q = 0; q < N_PLACES; q++)
      if (try_wide (a, places[p], places[q] < most ? places[q] : most, &tried) && tried.cost < pairs->cost)
        *pairs = tried;
  return isfinite (pairs->cost);
}

bool
convolve_cpu_use_wide (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs)
{
  ConvolveCpu *cpu = a->cpu;
  ConvolveWideTerms counts = { .count = 0 }, *terms = &cpu->wide;

  cpu->path = CONVOLVE_CPU_WIDE;
  cpu->shifts = !a->combined;
  cpu->shift = (ConvolveShift){ pairs->bits - pairs->low_bits, cpu->middle, (int) cpu->tail.maximum };
  for (int i = 0; i < a->samples; i++) {
    int64_t start = (int64_t) start_of (a, i);

    cpu->starts[i] = (int32_t) (start >> pairs->low_bits);
    cpu->low_starts[i] = (int32_t) (start & ((1 << pairs->low_bits) - 1));
  }
  add_all (a, pairs, &counts);
  terms->terms = malloc ((counts.count + 1) * sizeof (*terms->terms));
  terms->groups = malloc ((counts.n_groups + 1) * sizeof (*terms->groups));
  return terms->terms && terms->groups && add_all (a, pairs, terms);
}

static double
cost_of_wide (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  if (!convolve_cpu_choose_wide (a, &w->wide))
    return INFINITY;
  return w->wide.cost + (w->wide.bits < 0 ? convolve_cpu_tail_cost (a) : 0);
}

static bool
use_wide (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  return convolve_cpu_use_wide (a, &w->wide);
}

/* --- both paths, row by row --- */

/*
 * The sums of all terms over the pairs, for two rows of outputs from row y on, and the rows of results. The starts of
 * each row have its own place's samples in them where the mask has a tap for these.
 */
void
convolve_cpu_finish_pairs (const ConvolveCpuJob *job, int y, const int32_t *const starts[2])
{
  const ConvolveCpu *cpu = job->cpu;
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;
  int rows = y + 1 < job->y + job->height ? 2 : 1;

  if (cpu->wide.groups && !cpu->shifts)
    job->level->wide_sums_of_rows (&cpu->wide, pairs, job->count, (ConvolveWideStarts){ starts[0], job->low_starts },
        job->wide_sums[0], job->wide_sums[1]);
  else if (cpu->wide.groups)
    job->level->wide_values_of_rows (&cpu->wide, pairs, job->count,
        (const ConvolveWideStarts[]){ { starts[0], job->low_starts }, { starts[1], job->low_starts } }, &cpu->shift,
        job->results[0], job->results[1]);
  else if (cpu->shifts)
    job->level->values_of_rows (&cpu->terms, pairs, job->count, starts, &cpu->shift, job->results[0], job->results[1]);
  else if (cpu->short_tail)
    job->level->tails_of_rows (&cpu->terms, pairs, job->count, job->starts, cpu->tail.scale_f, cpu->tail.offset_f[0],
        (int) cpu->tail.maximum, job->results[0], job->results[1]);
  else
    job->level->sum_rows (&cpu->terms, pairs, job->count, job->starts, job->sums[0], job->sums[1]);
  for (int k = 0; k < rows; k++) {
    if (cpu->shifts || cpu->short_tail)
      convolve_cpu_store_row (job, y + k, job->results[k]);
    else if (cpu->wide.groups)
      convolve_cpu_store_sums (job, y + k, CONVOLVE_CPU_DOUBLES, job->wide_sums[k]);
    else
      convolve_cpu_store_sums (job, y + k, CONVOLVE_CPU_INTS, job->sums[k]);
  }
}

/*
 * Two rows of outputs at a time, from the same pairs of rows. The mask of the upper row begins at the first row of a
 * pair, that of the lower row at the second.
 */
static void
walk_pairs (const ConvolveCpuJob *job)
{
  int n = (job->plan->taps.height + 1) / 2, top = job->y - job->plan->taps.height / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    convolve_cpu_load_pairs (job, top + 2 * (i + n - 1), convolve_cpu_turn (job->pairs, n));
    if (i >= 0)
      convolve_cpu_finish_pairs (job, job->y + 2 * i, (const int32_t *const[]){ job->starts, job->starts });
  }
}

static void
take_pairs (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->starts = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->sums[i] = convolve_cpu_take (arena, length, sizeof (int32_t));
  job->pairs = convolve_cpu_take_rows (arena, (job->plan->taps.height + 1) / 2, length, sizeof (ConvolvePair));
}

static void
take_wide (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->starts = convolve_cpu_take (arena, length, sizeof (int32_t));
  job->low_starts = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->wide_sums[i] = convolve_cpu_take (arena, length, sizeof (double));
  job->pairs = convolve_cpu_take_rows (arena, (job->plan->taps.height + 1) / 2, length, sizeof (ConvolvePair));
}

const ConvolveCpuPathRow convolve_cpu_path_pairs = {
  .name = "pairs",
  .cost = cost_of_pairs,
  .use = use_pairs,
  .memory = take_pairs,
  .walk = walk_pairs,
};

const ConvolveCpuPathRow convolve_cpu_path_wide = {
  .name = "wide",
  .cost = cost_of_wide,
  .use = use_wide,
  .memory = take_wide,
  .walk = walk_pairs,
};
