/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the variant cpu does a plan: the cheapest way whose error, bounded here from the taps, keeps the promise of
 * convolve.h. An exact plan's taps are integers and go into integer sums as they are. Other taps are rounded to
 * 16 bits at the largest scale that the sums' 32 bits allow, and what that costs must fit the budget.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convolve_cpu.h"

#define FLOAT_UNIT (1.0 / 16777216.0)
#define LARGEST_SHORT 32767.0
#define LARGEST_INT 2147483647.0

/* Costs of 16 outputs, the unit being one term of a sum; what the sums cost beside their terms is the same for all. */
#define COST_FLOAT_TAP 1.4
#define COST_PRODUCT 3.0        /* of handing column sums to the row sums */
#define COST_BOX 4.0
#define COST_BOX_PASS 1.0

typedef struct
{
  const ConvolvePlan *plan;
  ConvolveCpu *cpu;
  const double *taps;           /* of the plan: integers where it is exact */
  int width, height, samples;
  double sum;                   /* of the taps */
  double center;                /* no centred value is larger */
  double budget;                /* code values that roundings of taps and column sums may cost */
} Analysis;

static double
sum_of_magnitudes (const double *values, int count)
{
  double sum = 0;

  for (int i = 0; i < count; i++)
    sum += fabs (values[i]);
  return sum;
}

static double
largest_magnitude (const double *values, int count)
{
  double largest = 0;

  for (int i = 0; i < count; i++)
    largest = fmax (largest, fabs (values[i]));
  return largest;
}

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

/* The tail of sums that are scale times the centred ones. The offset has the true sum, so the center costs nothing. */
static void
set_tail (const Analysis *a, double scale)
{
  ConvolveTail *tail = &a->cpu->tail;

  tail->scale = 1 / scale;
  tail->scale_f = (float) tail->scale;
  for (int i = 0; i < a->samples; i++) {
    tail->offset[i] += a->center * a->sum;
    tail->offset_f[i] = (float) tail->offset[i];
  }
}

/* --- terms --- */

static bool
allocate_terms (ConvolveTerms *terms, int count)
{
  terms->count = 0;
  terms->terms = malloc (count * sizeof (ConvolveTerm));
  return terms->terms != NULL;
}

static void
add_term (ConvolveTerms *terms, int row, int offset, ConvolvePair upper, ConvolvePair lower)
{
  if (upper || lower)
    terms->terms[terms->count++] = (ConvolveTerm) {row, offset, upper, lower};
}

/* A column of the mask, `stride` apart, over pairs of rows: the lower row of outputs meets it one row further down. */
static void
add_column (ConvolveTerms *terms, const int *taps, int height, int stride, int offset)
{
  for (int j = 0; j < height; j += 2) {
    int before = j > 0 ? taps[(j - 1) * stride] : 0, tap = taps[j * stride];
    int behind = j + 1 < height ? taps[(j + 1) * stride] : 0;

    add_term (terms, j / 2, offset, convolve_pair (tap, behind), convolve_pair (before, tap));
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
  for (int r = 0; r < CONVOLVE_CPU_MAX_RANK; r++)
    free (cpu->columns[r].terms);
  free (cpu);
}

/* --- any taps --- */

/* Writes integers for the taps, and their scale; false where 16 bits do not hold them well enough. */
static bool
quantise_taps (const Analysis *a, int *integers, double *scale)
{
  int count = a->width * a->height;
  double largest = largest_magnitude (a->taps, count), gain = sum_of_magnitudes (a->taps, count);

  if (a->plan->exact) {
    *scale = 1;
    return largest <= LARGEST_SHORT && quantise (a->taps, count, 1, integers) == 0;
  }
  /* The taps' own rounding adds half a unit each to the sum of magnitudes. */
  *scale = fmin (LARGEST_SHORT / largest, (LARGEST_INT / a->center - count) / gain);
  return *scale > 0 && quantise (a->taps, count, *scale, integers) * a->center <= a->budget;
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
use_pairs (const Analysis *a, const int *integers, double scale)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_PAIRS;
  if (!allocate_terms (&cpu->terms, a->width * ((a->height + 1) / 2)))
    return false;
  for (int i = 0; i < a->width; i++)
    add_column (&cpu->terms, integers + i, a->height, a->width, i * a->samples);
  if (a->plan->exact)
    cpu->start = (int32_t) (a->center * a->sum);
  else
    set_tail (a, scale);
  return true;
}

/* --- products of a column and a row --- */

typedef struct
{
  int rank;
  double column[CONVOLVE_CPU_MAX_RANK][CONVOLVE_MAX_SIDE], row[CONVOLVE_CPU_MAX_RANK][CONVOLVE_MAX_SIDE];
  double missed;                /* of the taps, summed */
} Factors;

/* What the factors are when they have become integers. */
typedef struct
{
  int column[CONVOLVE_CPU_MAX_RANK][CONVOLVE_MAX_SIDE], row[CONVOLVE_CPU_MAX_RANK][CONVOLVE_MAX_SIDE];
  int shift[CONVOLVE_CPU_MAX_RANK];
  double scale, error;          /* error in code values */
} IntegerFactors;

/*
 * Takes the taps apart by the row and the column of the largest tap that is left, until what is left is nothing beside
 * the budget. Unsharp and laplacian-of-gaussian masks are two products. False where it takes too many.
 */
static bool
find_factors (const Analysis *a, Factors *factors)
{
  int w = a->width, h = a->height;
  double *rest = malloc ((size_t) w * h * sizeof (double));

  if (!rest)
    return false;
  memcpy (rest, a->taps, (size_t) w * h * sizeof (double));
  factors->missed = sum_of_magnitudes (rest, w * h);
  for (factors->rank = 0; factors->missed * a->center > a->budget / 16 && factors->rank < CONVOLVE_CPU_MAX_RANK;
      factors->rank++) {
    double *column = factors->column[factors->rank], *row = factors->row[factors->rank];
    int pivot = 0;

    for (int i = 0; i < w * h; i++)
      if (fabs (rest[i]) > fabs (rest[pivot]))
        pivot = i;
    for (int i = 0; i < w; i++)
      row[i] = rest[pivot / w * w + i];
    for (int j = 0; j < h; j++)
      column[j] = rest[j * w + pivot % w] / row[pivot % w];
    for (int i = 0; i < w * h; i++)
      rest[i] -= column[i / w] * row[i % w];
    factors->missed = sum_of_magnitudes (rest, w * h);
  }
  free (rest);
  return factors->rank > 0 && factors->missed * a->center <= a->budget / 16;
}

/*
 * Rounds the factors. Column sums become 16 bits, multiples of 1 / middle of a code value, the row sums of those 32.
 * The finer the column sums the coarser the row's taps: reserve bits of the one are left to the other. False where
 * something does not fit.
 */
static bool
round_factors (const Analysis *a, const Factors *factors, int reserve, IntegerFactors *integers)
{
  double middle[CONVOLVE_CPU_MAX_RANK], gain[CONVOLVE_CPU_MAX_RANK], off[CONVOLVE_CPU_MAX_RANK];
  double largest = 0, magnitude = 0;

  for (int r = 0; r < factors->rank; r++) {
    const double *column = factors->column[r];
    double scale, peak = largest_magnitude (column, a->height);

    gain[r] = sum_of_magnitudes (column, a->height);
    middle[r] = (LARGEST_SHORT - 1) / (a->center * gain[r] + a->height) / (1 << reserve);
    integers->shift[r] = 0;
    while (integers->shift[r] < 16 && peak * middle[r] * (2 << integers->shift[r]) <= LARGEST_SHORT
        && (gain[r] * middle[r] * (2 << integers->shift[r]) + a->height) * a->center < LARGEST_INT / 2)
      integers->shift[r]++;
    scale = middle[r] * (1 << integers->shift[r]);
    if (peak * scale > LARGEST_SHORT || (gain[r] * scale + a->height) * a->center >= LARGEST_INT)
      return false;
    off[r] = quantise (column, a->height, scale, integers->column[r]) * a->center + 0.5 / middle[r];
    if ((a->center * gain[r] + off[r]) * middle[r] > LARGEST_SHORT)
      return false;
    largest = fmax (largest, largest_magnitude (factors->row[r], a->width) / middle[r]);
    /* The row's own rounding adds half a unit for each tap to what the sums may reach. */
    magnitude += sum_of_magnitudes (factors->row[r], a->width) * (a->center * gain[r] + off[r]);
  }

  integers->scale = fmin (LARGEST_SHORT / largest,
      (LARGEST_INT - LARGEST_SHORT * a->width * factors->rank) / magnitude);
  if (!(integers->scale > 0))
    return false;
  integers->error = factors->missed * a->center;
  for (int r = 0; r < factors->rank; r++) {
    double scale = integers->scale / middle[r], missed, row;

    missed = quantise (factors->row[r], a->width, scale, integers->row[r]);
    row = sum_of_magnitudes (factors->row[r], a->width) + missed;
    integers->error += missed * a->center * gain[r] + row * off[r];
  }
  return integers->error <= a->budget;
}

static bool
round_factors_best (const Analysis *a, const Factors *factors, IntegerFactors *best)
{
  IntegerFactors *tried = malloc (sizeof (*tried));
  bool found = false;

  for (int reserve = 0; reserve < 4 && tried; reserve++)
    if (round_factors (a, factors, reserve, tried) && (!found || tried->error < best->error)) {
      *best = *tried;
      found = true;
    }
  free (tried);
  return found;
}

/* Integer factors of integer taps; the column sums have to fit 16 bits as they are. */
static bool
take_exact_factors (const Analysis *a, Factors *factors, IntegerFactors *integers)
{
  const ConvolveTaps *taps = &a->plan->taps;
  double low = 0, high = 0;

  if (!taps->row)
    return false;
  factors->rank = 1;
  integers->shift[0] = 0;
  integers->scale = 1;
  for (int i = 0; i < a->width; i++) {
    if (fabsf (taps->row[i]) > LARGEST_SHORT)
      return false;
    integers->row[0][i] = (int) taps->row[i];
  }
  for (int j = 0; j < a->height; j++) {
    double c = taps->column[j];

    low += c > 0 ? -a->center * c : (a->center - 1) * c;
    high += c > 0 ? (a->center - 1) * c : -a->center * c;
    if (low < -LARGEST_SHORT - 1 || high > LARGEST_SHORT)
      return false;
    integers->column[0][j] = (int) c;
  }
  return true;
}

static bool
use_factors (const Analysis *a, const Factors *factors, const IntegerFactors *integers)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_FACTORS;
  cpu->rank = factors->rank;
  if (!allocate_terms (&cpu->terms, factors->rank * (a->width + 1) / 2 + factors->rank))
    return false;
  for (int r = 0; r < factors->rank; r++) {
    if (!allocate_terms (&cpu->columns[r], (a->height + 1) / 2))
      return false;
    cpu->shift[r] = integers->shift[r];
    add_column (&cpu->columns[r], integers->column[r], a->height, 1, 0);
    add_row (&cpu->terms, integers->row[r], a->width, r, a->samples);
  }
  if (a->plan->exact)
    cpu->start = (int32_t) (a->center * a->sum);
  else
    set_tail (a, integers->scale);
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
  double passes = 0;

  for (int size = 1; 2 * size <= width; size *= 2)
    passes += 1 + (width & 2 * size ? 1 : 0);
  return COST_BOX + passes * COST_BOX_PASS;
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

/* --- the choice --- */

/* What roundings may cost: the promise less what the floats of taps and tail take of it. */
static double
find_budget (const ConvolvePlan *plan, const double *taps, int count)
{
  double budget = plan->pixel.depth == 8 ? 1.0 / 64 : 0.5, maximum = plan->tail.maximum, offset = 0;

  for (int i = 0; i < plan->pixel.samples; i++)
    offset = fmax (offset, fabs (plan->tail.offset[i]));
  budget -= sum_of_magnitudes (taps, count) * maximum * FLOAT_UNIT;
  return 0.98 * budget - 8 * (3 * maximum + 2 + offset) * FLOAT_UNIT;
}

/* Room for the analysis, too much for a stack. */
typedef struct
{
  int taps[CONVOLVE_MAX_SIDE * CONVOLVE_MAX_SIDE];
  Factors factors;
  IntegerFactors integers;
} Room;

static bool
choose (const Analysis *a, Room *room)
{
  const ConvolveTaps *taps = &a->plan->taps;
  double least = INFINITY, cost, scale = 1;
  ConvolveCpu *cpu = a->cpu;
  bool box = is_box (a), pairs, factors;

  cpu->path = CONVOLVE_CPU_FLOAT;
  least = COST_FLOAT_TAP * a->width * a->height;
  cost = COST_FLOAT_TAP * (a->width + a->height) + COST_PRODUCT;
  if (taps->row && cost < least) {
    cpu->path = CONVOLVE_CPU_FLOAT_RANK_1;
    least = cost;
  }
  pairs = quantise_taps (a, room->taps, &scale);
  if (pairs) {
    cost = count_terms (room->taps, a->width, a->height);
    pairs = cost < least;
    least = pairs ? cost : least;
  }
  factors = a->plan->exact ? take_exact_factors (a, &room->factors, &room->integers)
      : find_factors (a, &room->factors) && round_factors_best (a, &room->factors, &room->integers);
  if (factors) {
    cost = room->factors.rank * ((a->width + 1) / 2 + (a->height + 1) / 2 + COST_PRODUCT);
    factors = cost < least;
    least = factors ? cost : least;
  }
  if (box && box_cost (a->width) < least)
    return use_box (a);
  if (factors)
    return use_factors (a, &room->factors, &room->integers);
  if (pairs)
    return use_pairs (a, room->taps, scale);
  return true;
}

ConvolveStatus
convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *taps = &plan->taps;
  Room *room = malloc (sizeof (*room));
  bool done;

  plan->cpu = calloc (1, sizeof (ConvolveCpu));
  done = plan->cpu && room;
  if (done) {
    Analysis a = {.plan = plan,.cpu = plan->cpu,.taps = taps->wide_taps,.width = taps->width,.height = taps->height,
      .samples = plan->pixel.samples
    };

    convolve_cpu_choose_level (plan->cpu);
    plan->cpu->tail = plan->tail;
    plan->cpu->center = 1 << (plan->pixel.depth - 1);
    a.center = plan->cpu->center;
    for (int i = 0; i < a.width * a.height; i++)
      a.sum += a.taps[i];
    a.budget = find_budget (plan, a.taps, a.width * a.height);
    if (plan->pixel.select == 0)
      plan->cpu->path = CONVOLVE_CPU_COPY;
    else if (plan->wide_sums)
      plan->cpu->path = CONVOLVE_CPU_DOUBLE;
    else
      done = choose (&a, room);
  }
  free (room);
  return done ? CONVOLVE_OK : convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d",
      taps->width, taps->height);
}
