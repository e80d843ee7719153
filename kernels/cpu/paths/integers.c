/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/paths/integers.h"

#include <math.h>
#include <stdlib.h>

ConvolveRange
convolve_cpu_signed_values (const ConvolveCpuAnalysis *a)
{
  return (ConvolveRange){ -a->middle, a->middle - 1 };
}

ConvolveRange
convolve_cpu_range_of_sum (const int *taps, int count, ConvolveRange values)
{
  ConvolveRange range = { 0, 0 };

  for (int i = 0; i < count; i++) {
    range.low += taps[i] * (taps[i] > 0 ? values.low : values.high);
    range.high += taps[i] * (taps[i] > 0 ? values.high : values.low);
  }
  return range;
}

ConvolveRange
convolve_cpu_range_of_taps (const ConvolveCpuAnalysis *a, ConvolveRange values)
{
  ConvolveRange range = { 0, 0 };

  for (int i = 0; i < a->width * a->height; i++) {
    range.low += a->taps[i] * (a->taps[i] > 0 ? values.low : values.high);
    range.high += a->taps[i] * (a->taps[i] > 0 ? values.high : values.low);
  }
  return range;
}

bool
convolve_cpu_range_fits (ConvolveRange range, double offset, double largest)
{
  return range.low + offset >= -largest - 1 && range.high + offset <= largest;
}

/* --- from sums to values --- */

double
convolve_cpu_start_of_shift (const ConvolveCpuAnalysis *a, int i, int bits)
{
  return floor (ldexp (convolve_cpu_offset (a, i) - a->middle, bits));
}

/* The start for the negatives of an absolute value's sums, as double; the second part of the plan has these sums. */
static double
start_of_negative (const ConvolveCpuAnalysis *a, int i, int bits)
{
  double offset = a->plan->parts[1].tail.offset[i] - a->middle * a->sum * a->plan->tail.scale;

  return floor (ldexp (offset - a->middle, bits));
}

/* Whether sums of an absolute value and their negatives, both with the start of a shift, fit 32 bits. */
static bool
can_mirror (const ConvolveCpuAnalysis *a, int bits)
{
  ConvolveRange sums = convolve_cpu_range_of_taps (a, convolve_cpu_signed_values (a));
  ConvolveRange negatives = { -sums.high, -sums.low };

  if (a->plan->combination != CONVOLVE_ABSOLUTE)
    return false;
  for (int i = 0; i < a->samples; i++)
    if (!convolve_cpu_range_fits (sums, convolve_cpu_start_of_shift (a, i, bits), CONVOLVE_LARGEST_INT)
        || !convolve_cpu_range_fits (negatives, start_of_negative (a, i, bits), CONVOLVE_LARGEST_INT))
      return false;
  return true;
}

bool
convolve_cpu_can_shift (const ConvolveCpuAnalysis *a, int bits, ConvolveRange sums)
{
  if (a->combined)
    return convolve_cpu_range_fits (sums, 0, CONVOLVE_LARGEST_INT);
  for (int i = 0; i < a->samples; i++)
    if (!convolve_cpu_range_fits (sums, convolve_cpu_start_of_shift (a, i, bits), CONVOLVE_LARGEST_INT))
      return false;
  return true;
}

int
convolve_cpu_exact_bits (const ConvolveCpuAnalysis *a, ConvolveRange sums)
{
  const ConvolveTail *tail = &a->plan->tail;

  for (int bits = 0; bits <= 24 && !tail->needs_double; bits++)
    if (tail->scale == ldexp (1, -bits))
      return convolve_cpu_can_shift (a, bits, sums) ? bits : -1;
  return -1;
}

/*
 * The sums of an exact plan are the true ones, which floats hold, and the tail stays the plan's. Other sums of integers
 * are those of signed values, and the offset of the tail in double, which is exact, makes good for that.
 *
 * Where a shift follows, the start of a sum is rounded down. That does not change the value. For a sum n, a real start
 * s and an integer m > 0, floor ((n + s) / m) = floor ((n + floor (s)) / m), because n + floor (s) is the largest
 * integer up to n + s, and multiples of m are integers.
 */
void
convolve_cpu_set_end (const ConvolveCpuAnalysis *a, int bits)
{
  ConvolveCpu *cpu = a->cpu;
  ConvolveTail *tail = &cpu->tail;

  cpu->shifts = bits >= 0 && !a->combined;
  cpu->mirrors = bits >= 0 && can_mirror (a, bits);
  cpu->shift = (ConvolveShift){ bits, cpu->middle, (int) tail->maximum };
  for (int i = 0; i < a->samples; i++) {
    if (cpu->shifts || cpu->mirrors)
      cpu->starts[i] = (int32_t) convolve_cpu_start_of_shift (a, i, bits);
    else if (a->plan->exact)
      cpu->starts[i] = (int32_t) (a->middle * a->sum);
    else
      tail->offset[i] = convolve_cpu_offset (a, i);
    if (cpu->mirrors)
      cpu->mirror_starts[i] = (int32_t) (uint32_t) (int64_t) (cpu->starts[i] + start_of_negative (a, i, bits));
    tail->offset_f[i] = (float) tail->offset[i];
  }
  cpu->short_tail = !cpu->shifts && !cpu->mirrors
      && convolve_cpu_has_short_tail (a, convolve_sum_of_magnitudes (a->taps, a->width * a->height));
}

/* --- terms --- */

bool
convolve_cpu_allocate_terms (ConvolveTerms *terms, int count)
{
  terms->count = 0;
  terms->terms = malloc (count * sizeof (ConvolveTerm));
  return terms->terms != NULL;
}

void
convolve_cpu_add_term (ConvolveTerms *terms, int row, int offset, ConvolvePair upper, ConvolvePair lower)
{
  if (upper || lower)
    terms->terms[terms->count++] = (ConvolveTerm){ row, offset, upper, lower };
}

void
convolve_cpu_end_group (ConvolveWideTerms *terms, int place)
{
  if (terms->groups)
    terms->groups[terms->n_groups] = (ConvolveGroup){ terms->count, place };
  terms->n_groups++;
}

void
convolve_cpu_add_pairs (ConvolveTerms *terms, const int *taps, int count, int stride, int row, int offset, bool down)
{
  for (int j = 0; j < count; j += 2) {
    int before = j > 0 ? taps[(j - 1) * stride] : 0, tap = taps[j * stride];
    int behind = j + 1 < count ? taps[(j + 1) * stride] : 0;

    convolve_cpu_add_term (terms, down ? row + j / 2 : row, down ? offset : offset + j / 2, convolve_pair (tap, behind),
        convolve_pair (before, tap));
  }
}

void
convolve_cpu_add_row (ConvolveTerms *terms, const int *taps, int count, int row, int offset, int samples)
{
  for (int i = 0; i < count; i += 2)
    convolve_cpu_add_term (terms, row, (offset + i) * samples, convolve_pair (taps[i], i + 1 < count ? taps[i + 1] : 0),
        0);
}
