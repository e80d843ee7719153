/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Magnitudes, and largest values, of several sets of taps: all sums of a row are made from the same rows of inputs.
 * common/sets.c says which errors the sets may have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/root.h"
#include "cpu/paths/paths.h"
#include "cpu/paths/rows.h"

#define COST_SHORT_TERM 1.0 /* of a term of 16 bits, for two sets */
#define COST_COMBINE 4.0    /* of a set's sums that are combined in memory */
#define COST_ROOT 6.0
#define SMALL 25 /* taps, up to which an absolute value is faster so than by the paths of plain masks */

/* --- sums of 16 bits --- */

/*
 * By what the sums of a part are multiplied, so that all parts have one scale. The second part of an absolute value may
 * have the taps of the first, and the negative scale.
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

/*
 * The part whose tail makes the largest result of the largest sum, in float, for all parts; NULL where there is none.
 */
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
use_shorts (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
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
 * All sets take pairs, or all take floats, so that one ring of rows serves all of them. Sums in float are exact in an
 * exact part; sums in double are always precise enough, and those of integers exact.
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
 * Whether the second part of an absolute value has the first part's sums, as their negatives or with a negative scale,
 * so that one sum serves both. Ties of the taps' rounding, and other bits, make ONE_STEP different.
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

static bool
is_combination (const ConvolveCpuAnalysis *a)
{
  int count = a->width * a->height;

  if (a->plan->combination != CONVOLVE_ABSOLUTE)
    return a->plan->combination != CONVOLVE_SUM;
  return !has_mirrored_parts (a->plan) || (count <= SMALL && can_use_shorts (a->plan));
}

static bool
takes_shorts (const ConvolveCpuAnalysis *a)
{
  return is_combination (a) && can_use_shorts (a->plan);
}

static bool
use_sets (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  a->cpu->parts = calloc (a->plan->n_parts, sizeof (*a->cpu->parts));
  return a->cpu->parts && use_parts (a);
}

/* --- memory, and what all rows of a job have in common --- */

static void
take_short_sets (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  for (int i = 0; i < 2; i++)
    job->sets.half_offsets[i] = convolve_cpu_take (arena, length, sizeof (float));
  job->rows = convolve_cpu_take_rows (arena, job->plan->taps.height, length, sizeof (uint16_t));
}

static void
take_sets (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height;

  job->sets.offsets = convolve_cpu_take_rows (arena, cpu->n_parts, length, sizeof (double));
  for (int i = 0; i < 2; i++)
    job->sets.squares[i] = convolve_cpu_take (arena, length, sizeof (double));
  if (convolve_cpu_reads_pairs (cpu->parts[0].path)) {
    job->sets.starts = convolve_cpu_take_rows (arena, cpu->n_parts, length, sizeof (int32_t));
    job->sets.low_starts = convolve_cpu_take_rows (arena, cpu->n_parts, length, sizeof (int32_t));
    for (int i = 0; i < 2; i++)
      job->sums[i] = convolve_cpu_take (arena, length, sizeof (int32_t));
    for (int i = 0; i < 2; i++)
      job->wide_sums[i] = convolve_cpu_take (arena, length, sizeof (double));
    job->pairs = convolve_cpu_take_rows (arena, (h + 1) / 2, length, sizeof (ConvolvePair));
  } else {
    job->float_sums = convolve_cpu_take (arena, length, sizeof (float));
    job->double_sums = convolve_cpu_take (arena, length, sizeof (double));
    job->floats = convolve_cpu_take_rows (arena, h, length, sizeof (float));
  }
}

/* The loops read offsets past the count. */
static void
fill_half_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;
  const float *offsets = plan->combination == CONVOLVE_MAGNITUDE ? plan->root.offset_f : job->cpu->tail.offset_f;

  for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING; i++)
    job->sets.half_offsets[i % 2][i / 2] = offsets[i % job->samples];
}

/*
 * Of a magnitude, what is subtracted from a set's sum, so that the value at the zero level is 0; otherwise the offset
 * of the set's tail. Sums of signed values are those of ONE_STEP in 32 bits alone.
 */
static void
fill_set_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;

  convolve_cpu_fill_offsets (job);
  for (int k = 0; k < plan->n_parts; k++) {
    const ConvolveCpu *part = &job->cpu->parts[k];
    bool has_signs = part->path == CONVOLVE_CPU_PAIRS && !plan->parts[k].exact;
    double offsets[CONVOLVE_MAX_SAMPLES], sum = 0;

    for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
      sum += plan->parts[k].taps.double_taps[i];
    for (int i = 0; i < job->samples; i++)
      offsets[i] = plan->combination == CONVOLVE_MAGNITUDE
          ? plan->root.zero[k][i] - (has_signs ? part->middle * sum : 0)
          : part->tail.offset[i];
    convolve_cpu_fill_row (job, offsets, job->sets.offsets[k]);
    for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING && job->sets.starts; i++) {
      job->sets.starts[k][i] = part->starts[i % job->samples];
      job->sets.low_starts[k][i] = part->low_starts[i % job->samples];
    }
  }
}

/* --- row by row --- */

static void
walk_short_sets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;
  bool magnitude = plan->combination == CONVOLVE_MAGNITUDE;
  const uint16_t *const *rows = (const uint16_t *const *) job->rows;
  float maximum = plan->tail.maximum;
  int h = plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    convolve_cpu_load_row (job, top + i + h - 1, convolve_cpu_turn (job->rows, h));
    if (i < 0)
      continue;
    if (magnitude)
      job->level->magnitude_of_shorts (&job->cpu->shorts, rows, job->count, plan->root.scale_f, job->sets.half_offsets,
          maximum, job->results[0]);
    else
      job->level->largest_of_shorts (&job->cpu->shorts, rows, job->count, job->cpu->tail.scale_f,
          job->sets.half_offsets, maximum, job->results[0]);
    convolve_cpu_store_row (job, job->y + i, job->results[0]);
  }
}

/* --- sums in memory --- */

/* Starts row i of the two rows of outputs. */
static void
begin_row (const ConvolveCpuJob *job, int i)
{
  if (job->plan->combination == CONVOLVE_MAGNITUDE)
    memset (job->sets.squares[i], 0, job->count * sizeof (double));
  else
    memset (job->results[i], 0, job->count * sizeof (uint16_t));
}

/* Takes the sums of set k, of the type that the path has, into row i. */
static void
combine (const ConvolveCpuJob *job, int i, int k, const void *sums)
{
  const ConvolveCpuLevel *level = job->level;
  const ConvolvePlan *plan = job->plan;
  const ConvolveCpu *cpu = &job->cpu->parts[k];
  const double *offsets = job->sets.offsets[k];
  double maximum = plan->tail.maximum;

  if (plan->combination == CONVOLVE_MAGNITUDE) {
    double *squares = job->sets.squares[i], scale = plan->root.multiple[k];

    if (cpu->path == CONVOLVE_CPU_PAIRS)
      level->add_squares_of_ints (sums, job->count, scale, offsets, squares);
    else if (cpu->path == CONVOLVE_CPU_FLOAT)
      level->add_squares_of_floats (sums, job->count, scale, offsets, squares);
    else
      level->add_squares_of_doubles (sums, job->count, scale, offsets, squares);
    return;
  }
  if (cpu->path == CONVOLVE_CPU_PAIRS)
    level->ints_to_values_in_double (sums, job->count, cpu->tail.scale, offsets, maximum, job->values[0]);
  else if (cpu->path == CONVOLVE_CPU_FLOAT)
    level->floats_to_values_in_double (sums, job->count, cpu->tail.scale, offsets, maximum, job->values[0]);
  else
    level->doubles_to_values (sums, job->count, cpu->tail.scale, offsets, maximum, job->values[0]);
  level->replace_by_larger (job->values[0], job->count, job->results[i]);
}

/* Writes row y from row i. */
static void
end_row (const ConvolveCpuJob *job, int i, int y)
{
  const ConvolveRoot *root = &job->plan->root;
  const double *squares = job->sets.squares[i];
  uint16_t *results = job->results[i];

  if (job->plan->combination == CONVOLVE_MAGNITUDE) {
    job->level->roots_to_values (squares, job->count, root->scale, job->offsets, root->maximum, results);
    for (int x = 0; x < job->count && root->kind == CONVOLVE_ROOT_CORRECTED; x++)
      results[x] = (uint16_t) convolve_root_correct (root, x % job->samples, (uint64_t) squares[x], results[x]);
  }
  convolve_cpu_store_row (job, y, results);
}

/* Two rows of outputs at a time, as convolve_cpu_walk_pairs () makes them. */
static void
walk_pairs (const ConvolveCpuJob *job)
{
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;
  int h = job->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i, rows = y + 1 < job->y + job->height ? 2 : 1;

    convolve_cpu_load_pairs (job, top + 2 * (i + n - 1), convolve_cpu_turn (job->pairs, n));
    if (i < 0)
      continue;
    for (int r = 0; r < rows; r++)
      begin_row (job, r);
    for (int k = 0; k < job->cpu->n_parts; k++) {
      bool wide = job->cpu->parts[k].path == CONVOLVE_CPU_WIDE;

      if (wide)
        job->level->wide_sums_of_rows (&job->cpu->parts[k].wide, pairs, job->count,
            (ConvolveWideStarts){ job->sets.starts[k], job->sets.low_starts[k] }, job->wide_sums[0], job->wide_sums[1]);
      else
        job->level->sum_rows (&job->cpu->parts[k].terms, pairs, job->count, job->sets.starts[k], job->sums[0],
            job->sums[1]);
      for (int r = 0; r < rows; r++)
        combine (job, r, k, wide ? (void *) job->wide_sums[r] : job->sums[r]);
    }
    for (int r = 0; r < rows; r++)
      end_row (job, r, y + r);
  }
}

static void
walk_floats (const ConvolveCpuJob *job)
{
  const float *const *rows = (const float *const *) job->floats;
  int h = job->plan->taps.height, w = job->plan->taps.width, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    convolve_cpu_load_row (job, top + i + h - 1, job->values[0]);
    job->level->values_to_floats (job->values[0], job->input_count, job->cpu->middle,
        convolve_cpu_turn (job->floats, h));
    if (i < 0)
      continue;
    begin_row (job, 0);
    for (int k = 0; k < job->cpu->n_parts; k++) {
      const ConvolveTaps *taps = &job->plan->parts[k].taps;

      if (job->cpu->parts[k].path == CONVOLVE_CPU_FLOAT)
        job->level->sum_floats (taps->taps, w, h, job->samples, job->cpu->parts[k].block, rows, job->count,
            job->float_sums);
      else
        job->level->sum_floats_in_double (taps->double_taps, w, h, job->samples, rows, 0, job->count, job->double_sums);
      combine (job, 0, k, job->cpu->parts[k].path == CONVOLVE_CPU_FLOAT ? (void *) job->float_sums : job->double_sums);
    }
    end_row (job, 0, job->y + i);
  }
}

static void
walk_sets (const ConvolveCpuJob *job)
{
  if (convolve_cpu_reads_pairs (job->cpu->parts[0].path))
    walk_pairs (job);
  else
    walk_floats (job);
}

const ConvolveCpuPathRow convolve_cpu_path_short_sets = {
  .name = "short-sets",
  .takes = takes_shorts,
  .use = use_shorts,
  .memory = take_short_sets,
  .fill = fill_half_offsets,
  .walk = walk_short_sets,
};

const ConvolveCpuPathRow convolve_cpu_path_sets = {
  .name = "sets",
  .takes = is_combination,
  .use = use_sets,
  .memory = take_sets,
  .fill = fill_set_offsets,
  .walk = walk_sets,
};
