/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Magnitudes, and largest values, of several sets of taps. common/sets.c says which errors the sets may have. */
#include <math.h>
#include <stdlib.h>

#include "cpu/prepare_paths.h"

#define COST_SHORT_TERM 1.0 /* of a term of 16 bits, for two sets */
#define COST_COMBINE 4.0    /* of a set's sums that are combined in memory */
#define COST_ROOT 6.0
#define SMALL 25 /* taps, up to which an absolute value is faster so than by the paths of plain masks */

/* --- sums of 16 bits --- */

/*
 * By what the sums of a part are multiplied, so that all parts have one scale. The second part of an absolute value may have
 * the taps of the first, and the negative scale.
 */
static double
multiple_of (const ConvolvePlan *plan, int k)
{
  if (plan->combination == CONVOLVE_ABSOLUTE)
    return plan->parts[k].tail.scale < 0 ? -1 : 1;
  return plan->combination == CONVOLVE_MAGNITUDE ? plan->root.multiple[k] : 1;
}

/*
 * Whether the sums of a set fit 16 bits for all samples from 0 to the maximum, and are 0 at the zero level. Sums on the
 * way may overflow, which later terms undo. *largest becomes the largest magnitude.
 */
static bool
fits_shorts (const ConvolvePlan *plan, int k, double *largest)
{
  const ConvolvePlan *part = &plan->parts[k];
  double maximum = plan->tail.maximum, low = 0, high = 0, sum = 0;

  for (int i = 0; i < part->taps.width * part->taps.height; i++) {
    double tap = part->taps.double_taps[i] * multiple_of (plan, k);

    sum += tap;
    low += fmin (tap, 0) * maximum;
    high += fmax (tap, 0) * maximum;
  }
  *largest = fmax (-low, high);
  for (int i = 0; i < plan->pixel.samples; i++)
    if (sum * plan->pixel.zero[i] != 0)
      return false;
  return *largest <= CONVOLVE_LARGEST_SHORT;
}

/* The part whose tail makes the largest result of the largest sum, in float, for all parts; NULL where there is none. */
static const ConvolvePlan *
find_tail (const ConvolvePlan *plan)
{
  const ConvolvePlan *parts = plan->parts, *found = parts;

  if (found->tail.needs_double || !(found->tail.scale > 0))
    return NULL;
  for (int k = 1; k < plan->n_parts; k++)
    for (int i = 0; i < plan->pixel.samples; i++)
      if (parts[k].tail.scale * multiple_of (plan, k) != found->tail.scale
          || parts[k].tail.offset[i] != found->tail.offset[i])
        return NULL;
  return found;
}

static bool
can_use_shorts (const ConvolvePlan *plan)
{
  double squares = 0, largest;

  if (!plan->exact || plan->pixel.depth > 15 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    return false;
  for (int k = 0; k < plan->n_parts; k++) {
    if (!fits_shorts (plan, k, &largest))
      return false;
    squares += largest * largest;
  }
  if (plan->combination != CONVOLVE_MAGNITUDE)
    return find_tail (plan);
  return plan->root.kind == CONVOLVE_ROOT_FLOAT && squares <= CONVOLVE_LARGEST_INT;
}

/* Tap i of set k, where a couple has no second set as ConvolveShortSets says. */
static int16_t
short_tap (const ConvolvePlan *plan, int k, int i)
{
  if (k == plan->n_parts && plan->combination == CONVOLVE_MAGNITUDE)
    return 0;
  if (k == plan->n_parts)
    k--;
  return (int16_t) (plan->parts[k].taps.double_taps[i] * multiple_of (plan, k));
}

/* Adds the terms of couple c where the first set has a tap or has none, and the second, too. Returns their end. */
static int
add_terms (const ConvolveCpuAnalysis *a, int c, bool in_first, bool in_second, int count)
{
  for (int i = 0; i < a->width * a->height; i++) {
    int16_t first = short_tap (a->plan, 2 * c, i), second = short_tap (a->plan, 2 * c + 1, i);

    if ((first != 0) == in_first && (second != 0) == in_second)
      a->cpu->shorts.terms[count++] = (ConvolveShortTerm){ i / a->width, i % a->width * a->samples, first, second };
  }
  return count;
}

static bool
use_shorts (const ConvolveCpuAnalysis *a)
{
  const ConvolvePlan *plan = a->plan;
  ConvolveShortSets *sets = &a->cpu->shorts;
  int count = 0;

  a->cpu->path = CONVOLVE_CPU_SHORT_SETS;
  if (plan->combination != CONVOLVE_MAGNITUDE)
    a->cpu->tail = find_tail (plan)->tail;
  a->cpu->tail.needs_double = false;
  sets->n_couples = (plan->n_parts + 1) / 2;
  sets->terms = malloc ((size_t) sets->n_couples * a->width * a->height * sizeof (*sets->terms));
  if (!sets->terms)
    return false;
  for (int c = 0; c < sets->n_couples; c++) {
    ConvolveShortCouple *couple = &sets->couples[c];

    couple->both = count;
    couple->first = add_terms (a, c, true, true, couple->both);
    couple->second = add_terms (a, c, true, false, couple->first);
    couple->end = count = add_terms (a, c, false, true, couple->second);
  }
  a->cpu->cost = COST_ROOT + COST_SHORT_TERM * count;
  return true;
}

/* --- any sets --- */

/* One set by pairs or wide pairs. False where the set has no such integers. */
static bool
choose_pairs (const ConvolveCpuAnalysis *part, bool *wide, ConvolveCpuPairs *pairs)
{
  *wide = !convolve_cpu_choose_pairs (part, pairs);
  return !*wide || convolve_cpu_choose_wide (part, pairs);
}

static bool
use_pairs (const ConvolveCpuAnalysis *parts, int n, const bool *wide, const ConvolveCpuPairs *pairs)
{
  for (int k = 0; k < n; k++)
    if (!(wide[k] ? convolve_cpu_use_wide (&parts[k], &pairs[k]) : convolve_cpu_use_pairs (&parts[k], &pairs[k])))
      return false;
  return true;
}

/*
 * All sets take pairs, or all take floats, so that one ring of rows serves all of them. Sums in float are exact in an exact
 * part; sums in double are always precise enough, and those of integers exact.
 */
static bool
use_parts (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuAnalysis parts[CONVOLVE_MAX_SETS];
  ConvolveCpuPairs pairs[CONVOLVE_MAX_SETS];
  ConvolveCpu *cpu = a->cpu;
  bool wide[CONVOLVE_MAX_SETS], in_pairs = true;

  cpu->path = CONVOLVE_CPU_SETS;
  cpu->n_parts = a->plan->n_parts;
  cpu->tail.needs_double = true;
  cpu->cost = COST_ROOT;
  for (int k = 0; k < cpu->n_parts; k++) {
    convolve_cpu_analyse (&a->plan->parts[k], &cpu->parts[k], &parts[k]);
    parts[k].combined = true;
    in_pairs = in_pairs && choose_pairs (&parts[k], &wide[k], &pairs[k]);
  }
  for (int k = 0; k < cpu->n_parts; k++) {
    bool exact = a->plan->parts[k].exact;

    if (!in_pairs && exact)
      convolve_cpu_use_floats (&parts[k]);
    else if (!in_pairs)
      convolve_cpu_use_doubles (&parts[k]);
    cpu->cost += COST_COMBINE
        + (in_pairs     ? pairs[k].cost
                : exact ? convolve_cpu_floats_cost (&parts[k])
                        : convolve_cpu_doubles_cost (&parts[k]));
  }
  if (in_pairs && !use_pairs (parts, cpu->n_parts, wide, pairs))
    return false;
  cpu->middle = cpu->parts[0].middle;
  return true;
}

/*
 * Whether the second part of an absolute value has the first part's sums, as their negatives or with a negative scale, so
 * that one sum serves both. Ties of the taps' rounding, and other bits, make ONE_STEP different.
 */
static bool
has_mirrored_parts (const ConvolvePlan *plan)
{
  const ConvolvePlan *parts = plan->parts;

  if (parts[0].arithmetic.kind != parts[1].arithmetic.kind || parts[0].exact != parts[1].exact)
    return false;
  if (parts[0].arithmetic.kind != CONVOLVE_ARITHMETIC_ONE_STEP)
    return true;
  for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
    if (parts[0].taps.double_taps[i] != -parts[1].taps.double_taps[i])
      return false;
  return parts[0].arithmetic.bits == parts[1].arithmetic.bits;
}

bool
convolve_cpu_takes_sets (const ConvolveCpuAnalysis *a)
{
  int count = a->width * a->height;

  if (a->plan->combination != CONVOLVE_ABSOLUTE)
    return a->plan->combination != CONVOLVE_SUM;
  return !has_mirrored_parts (a->plan) || (count <= SMALL && can_use_shorts (a->plan));
}

bool
convolve_cpu_use_sets (const ConvolveCpuAnalysis *a)
{
  if (can_use_shorts (a->plan))
    return use_shorts (a);
  a->cpu->parts = calloc (a->plan->n_parts, sizeof (*a->cpu->parts));
  return a->cpu->parts && use_parts (a);
}
