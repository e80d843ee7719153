/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask as a sum of products of a column and a row: PRODUCTS of common/arithmetic.h, or the integer factors of an
 * exact plan. Sums along the rows become 16 bits, and sums down the columns are made of these.
 */
#include <math.h>
#include <stdlib.h>

#include "cpu/paths/integers.h"
#include "cpu/paths/rows.h"

#define COST_PRODUCT 1.2  /* of a product's row sums becoming pairs */
#define COST_JOINED 2.4   /* of inputs becoming pairs, where neighbours in memory are no pairs */
#define COST_ROW_TERM 1.4 /* of a term of such pairs */
#define WIDEST_APART 5    /* taps of a row whose elements become pairs in registers, again for each term */
#ifdef __aarch64__
#define MOST_NEIGHBOURS_FOLDED CONVOLVE_FOLD_SIDE
#else
#define MOST_NEIGHBOURS_FOLDED 5 /* columns, where neighbours in memory are pairs without folding */
#endif
#define COST_CENTRE 3.0 /* of the centre's own tap */
#define COST_GROUP 2.0  /* of adding up the sums of a group */

#define HALF_RANGE 32768 /* of 16 bits: what is left of a row sum fits 16 bits with a sign */
#define LOW_BITS 8       /* of totals that need more than 32 bits */
#define FINE (1 << LOW_BITS)

/* --- exact plans --- */

/*
 * The integer factors of integer taps, whose row sums must fit 16 bits without a cut. The words of a row are read with
 * a sign, so that samples have at most 15 bits.
 */
static bool
take_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors, ConvolveIntegerFactors *integers)
{
  ConvolveProduct *product = &integers->product;
  ConvolveRange rows;
  double sum = 0;

  if (!a->plan->exact || a->middle > HALF_RANGE / 2
      || convolve_largest_magnitude (factors->row[0], a->width) > CONVOLVE_LARGEST_SHORT
      || convolve_largest_magnitude (factors->column[0], a->height) > CONVOLVE_LARGEST_SHORT)
    return false;
  for (int i = 0; i < a->width; i++)
    sum += product->row[i] = (int) factors->row[0][i];
  for (int j = 0; j < a->height; j++)
    product->column[j] = (int) factors->column[0][j];
  rows = convolve_cpu_range_of_sum (product->row, a->width, convolve_cpu_signed_values (a));
  if (!convolve_cpu_range_fits (rows, 0, CONVOLVE_LARGEST_SHORT))
    return false;
  product->cut = 0;
  product->row_start = -(int64_t) (sum * a->middle); /* the pairs are sums of signed values */
  integers->bits = convolve_cpu_exact_bits (a, convolve_cpu_range_of_sum (product->column, a->height, rows));
  return true;
}

/* --- terms --- */

/* Whether neighbours in a row of inputs are pairs as they lie in memory. */
static bool
has_neighbours (const ConvolveCpuAnalysis *a)
{
  return a->samples == 1 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static double
cost_by_rank (const ConvolveCpuAnalysis *a, int rank)
{
  double columns = (a->height + 1) / 2, rows = (a->width + 1) / 2;

  return CONVOLVE_COST_PAIRS + (has_neighbours (a) ? 0 : COST_JOINED)
      + rank * (COST_PRODUCT + columns + (has_neighbours (a) ? 1 : COST_ROW_TERM) * rows);
}

/* The pairs of product r are row sums after the cut, less middle[r]. */
static bool
add_products (const ConvolveCpuAnalysis *a, int rank, const ConvolveProduct *products, const int *middle)
{
  ConvolveCpu *cpu = a->cpu;
  const int pairs = (a->height + 1) / 2;

  cpu->path = CONVOLVE_CPU_FACTORS;
  cpu->rank = rank;
  cpu->neighbours = has_neighbours (a);
  cpu->joins = !cpu->neighbours && a->width > WIDEST_APART;
  if (!convolve_cpu_allocate_terms (&cpu->terms, rank * pairs))
    return false;
  for (int r = 0; r < rank; r++) {
    const ConvolveProduct *product = &products[r];

    if (!convolve_cpu_allocate_terms (&cpu->rows[r], (a->width + 1) / 2))
      return false;
    if (cpu->neighbours)
      convolve_cpu_add_pairs (&cpu->rows[r], product->row, a->width, 1, 0, 0, false);
    else
      convolve_cpu_add_row (&cpu->rows[r], product->row, a->width, 0, 0, a->samples);
    convolve_cpu_add_pairs (&cpu->terms, product->column, a->height, 1, r * pairs, 0, true);
    cpu->cut[r] = product->cut;
    cpu->row_start[r] = (int32_t) (uint32_t) (product->row_start - ((int64_t) middle[r] << product->cut));
  }
  return true;
}

/*
 * Whether a product can be folded: two samples of a symmetric row are added in 16 bits, and one start serves all
 * samples of a pixel.
 */
static bool
can_fold (const ConvolveCpuAnalysis *a, const int *row)
{
  const ConvolveCpu *cpu = a->cpu;

  if (a->width > (has_neighbours (a) ? MOST_NEIGHBOURS_FOLDED : CONVOLVE_FOLD_SIDE) || a->height > CONVOLVE_FOLD_SIDE
      || !cpu->shifts || cpu->centre_tap || cpu->tail.maximum * 2 > CONVOLVE_LARGEST_SHORT)
    return false;
  for (int i = 0; i < a->width; i++)
    if (row[i] != row[a->width - 1 - i])
      return false;
  for (int i = 1; i < a->samples; i++)
    if (cpu->starts[i] != cpu->starts[0])
      return false;
  return true;
}

/* Of what add_products () and the end of the sums left. */
static void
fold (const ConvolveCpuAnalysis *a, const ConvolveProduct *product)
{
  ConvolveCpu *cpu = a->cpu;
  ConvolveFold *fold = &cpu->fold;

  *fold = (ConvolveFold){ .width = a->width,
    .samples = a->samples,
    .n = (a->height + 1) / 2,
    .row_start = cpu->row_start[0],
    .cut = cpu->cut[0],
    .start = cpu->starts[0],
    .shift = cpu->shift };
  for (int t = 0; t < a->width / 4 + 1; t++)
    fold->row[t] = convolve_pair (product->row[2 * t], 2 * t < a->width / 2 ? product->row[2 * t + 1] : 0);
  for (int t = 0; t < cpu->terms.count; t++) {
    const ConvolveTerm *term = &cpu->terms.terms[t];

    fold->upper[term->row] = term->upper;
    fold->lower[term->row] = term->lower;
  }
  cpu->folds = true;
}

static bool
use_factors (const ConvolveCpuAnalysis *a, const ConvolveIntegerFactors *integers)
{
  convolve_cpu_set_end (a, integers->bits);
  if (!add_products (a, 1, &integers->product, &(int){ 0 }))
    return false;
  if (can_fold (a, integers->product.row))
    fold (a, &integers->product);
  return true;
}

/* --- products --- */

/*
 * The middle of a product's row sums after the cut, which are never below 0; up to FINE above, and a multiple of FINE.
 */
static int
find_middle (const ConvolveCpuAnalysis *a, const ConvolveProduct *product)
{
  double most = convolve_cpu_range_of_sum (product->row, a->width, (ConvolveRange){ 0, a->plan->tail.maximum }).high;

  return ((convolve_cut_row (product, (int64_t) most) + 1) / 2 + FINE - 1) / FINE * FINE;
}

/* A number that no sum of the term's products with pairs reaches, whatever the signs. */
static double
bound_of (const ConvolveTerm *term, int middle)
{
  int upper = abs ((int16_t) term->upper) + abs ((int16_t) (term->upper >> 16));
  int lower = abs ((int16_t) term->lower) + abs ((int16_t) (term->lower >> 16));

  return (double) (upper > lower ? upper : lower) * middle;
}

/* Moves the terms into groups, each with as many terms as 32 bits hold the sum of. */
static bool
add_groups (const ConvolveCpuAnalysis *a, const int *middle)
{
  ConvolveCpu *cpu = a->cpu;
  const int pairs = (a->height + 1) / 2;
  ConvolveWideTerms *wide = &cpu->wide;
  const int count = cpu->terms.count;
  double sum = 0;

  wide->groups = malloc ((count + 1) * sizeof (*wide->groups));
  if (!wide->groups)
    return false;
  wide->terms = cpu->terms.terms;
  wide->low_bits = LOW_BITS;
  cpu->terms = (ConvolveTerms){ .count = 0 };
  for (wide->count = 0; wide->count < count; wide->count++) {
    const ConvolveTerm *term = &wide->terms[wide->count];
    double more = bound_of (term, middle[term->row / pairs]);

    if (sum + more > CONVOLVE_LARGEST_INT) {
      convolve_cpu_end_group (wide, 0);
      sum = 0;
    }
    sum += more;
  }
  convolve_cpu_end_group (wide, 0);
  return true;
}

/*
 * Sums of one group wrap around on the way: only the total of all terms, with its start and less the middle, must fit
 * 32 bits. Totals that do not are divided by 2^LOW_BITS, of which their starts and the centre's tap are multiples.
 */
static bool
use_products (const ConvolveCpuAnalysis *a)
{
  const ConvolveArithmetic *arithmetic = &a->plan->arithmetic;
  const bool narrow = arithmetic->narrow;
  ConvolveCpu *cpu = a->cpu;
  int64_t known = 0; /* what the middles take off a total */
  int middle[CONVOLVE_MAX_RANK];

  for (int r = 0; r < arithmetic->rank; r++) {
    middle[r] = narrow ? HALF_RANGE : find_middle (a, &arithmetic->products[r]);
    for (int j = 0; j < a->height; j++)
      known += (int64_t) middle[r] * arithmetic->products[r].column[j];
  }
  cpu->shifts = true;
  cpu->shift = narrow ? (ConvolveShift){ arithmetic->bits, cpu->middle, (int) cpu->tail.maximum }
                      : (ConvolveShift){ arithmetic->bits - LOW_BITS, 0, (int) cpu->tail.maximum };
  cpu->centre_tap = narrow ? arithmetic->centre : arithmetic->centre / FINE;
  for (int i = 0; i < a->samples; i++) {
    int64_t start = arithmetic->start[i] + known;

    cpu->starts[i] = (int32_t) (uint32_t) (narrow ? start - ((int64_t) cpu->middle << arithmetic->bits) : start / FINE);
  }
  cpu->cost = cost_by_rank (a, arithmetic->rank) + (cpu->centre_tap ? COST_CENTRE : 0);
  if (!add_products (a, arithmetic->rank, arithmetic->products, middle) || (!narrow && !add_groups (a, middle)))
    return false;
  cpu->cost += COST_GROUP * cpu->wide.n_groups + CONVOLVE_COST_FRAME;
  if (narrow && arithmetic->rank == 1 && can_fold (a, arithmetic->products[0].row))
    fold (a, &arithmetic->products[0]);
  return true;
}

/* --- the path --- */

/* A plan of PRODUCTS has no other path. */
static bool
is_products (const ConvolveCpuAnalysis *a)
{
  return a->plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS;
}

static double
cost_of_factors (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  if (!w->factored || !take_factors (a, &w->factors, &w->integers))
    return INFINITY;
  return cost_by_rank (a, 1) + (w->integers.bits < 0 ? convolve_cpu_tail_cost (a) : 0);
}

static bool
use (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  return is_products (a) ? use_products (a) : use_factors (a, &w->integers);
}

static void
take (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height;

  for (int i = 0; i < 2 && cpu->joins; i++)
    job->products.joined[i] = convolve_cpu_take (arena, length, sizeof (ConvolvePair));
  if (cpu->wide.n_groups > 0)
    job->low_starts = convolve_cpu_take (arena, length, sizeof (int32_t));
  if (cpu->centre_tap) {
    job->rows = convolve_cpu_take_rows (arena, convolve_cpu_centre_rows (h), length, sizeof (uint16_t));
    for (int i = 0; i < 2; i++)
      job->products.centre_starts[i] = convolve_cpu_take (arena, length, sizeof (int32_t));
  }
  job->starts = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->sums[i] = convolve_cpu_take (arena, length, sizeof (int32_t));
  job->pairs = convolve_cpu_take_rows (arena, cpu->rank * ((h + 1) / 2), length, sizeof (ConvolvePair));
}

/* The row sums of each product, of the rows y and y + 1. */
static void
sum_products (const ConvolveCpuJob *job, int y)
{
  const ConvolveCpu *cpu = job->cpu;
  int n = (job->plan->taps.height + 1) / 2;
  uint16_t *values[2];

  for (int i = 0; i < 2; i++) {
    values[i] = cpu->centre_tap ? convolve_cpu_turn (job->rows, convolve_cpu_centre_rows (job->plan->taps.height))
                                : job->values[i];
    convolve_cpu_load_row (job, y + i, values[i]);
    /* The last elements are paired with padding, which only taps of 0 multiply. */
    if (cpu->joins)
      job->level->pair_up (values[i], values[i] + job->samples, job->input_count, 0, job->products.joined[i]);
  }
  for (int r = 0; r < cpu->rank; r++) {
    ConvolvePair *pairs = convolve_cpu_turn (job->pairs + r * n, n);

    if (cpu->neighbours)
      job->level->row_sums_of_neighbours (&cpu->rows[r], (const uint16_t *const *) values, job->count,
          cpu->row_start[r], cpu->cut[r], pairs);
    else if (cpu->joins)
      job->level->row_sums_of_pairs (&cpu->rows[r], (const ConvolvePair *const *) job->products.joined, job->count,
          cpu->row_start[r], cpu->cut[r], pairs);
    else
      job->level->row_sums_apart (&cpu->rows[r], (const uint16_t *const *) values, job->samples, job->count,
          cpu->row_start[r], cpu->cut[r], pairs);
  }
}

/* Two rows of outputs at a time, of one product that is folded. */
static void
walk_folded (const ConvolveCpuJob *job)
{
  int h = job->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i;

    convolve_cpu_turn (job->pairs, n);
    for (int k = 0; k < 2; k++)
      convolve_cpu_load_row (job, top + 2 * (i + n - 1) + k, job->values[k]);
    job->level->fold_rows (&job->cpu->fold, (const uint16_t *const *) job->values, job->count, job->pairs,
        i < 0 ? NULL : job->results);
    for (int k = 0; k < 2 && i >= 0 && y + k < job->y + job->height; k++)
      convolve_cpu_store_row (job, y + k, job->results[k]);
  }
}

/* As the path pairs does, but the pairs are row sums. */
static void
walk_factors (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  int n = (job->plan->taps.height + 1) / 2, top = job->y - job->plan->taps.height / 2;
  int side = job->plan->taps.width / 2 * job->samples;

  if (cpu->folds) {
    walk_folded (job);
    return;
  }
  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    const int32_t *starts[2] = { job->starts, job->starts };

    sum_products (job, top + 2 * (i + n - 1));
    if (i < 0)
      continue;
    for (int k = 0; k < 2 && cpu->centre_tap; k++) {
      job->level->add_centre (job->rows[k] + side, job->count, cpu->centre_tap, job->starts,
          job->products.centre_starts[k]);
      starts[k] = job->products.centre_starts[k];
    }
    convolve_cpu_finish_pairs (job, job->y + 2 * i, starts);
  }
}

const ConvolveCpuPathRow convolve_cpu_path_factors = {
  .name = "factors",
  .takes = is_products,
  .cost = cost_of_factors,
  .use = use,
  .memory = take,
  .walk = walk_factors,
};
