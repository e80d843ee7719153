/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The analysis of a mask from which each path of the CPU tells whether it can do the mask, and at what cost. */
#ifndef CONVOLVE_CPU_ANALYSE_H
#define CONVOLVE_CPU_ANALYSE_H

#include "common/factors.h"
#include "common/numbers.h"
#include "cpu/paths/prepared.h"

typedef struct
{
  const ConvolvePlan *plan;
  ConvolveCpu *cpu;   /* to be filled; level, middle and tail are set, and the tail is the plan's */
  const double *taps; /* row by row; integers where the plan has integers */
  int width, height, samples;
  double sum;    /* of the taps */
  double middle; /* signed values are -middle .. middle - 1 */
  double budget; /* the error that taps and sums may have beside the tail's; 0 for a plan with integers */
  bool combined; /* the sums are not results, but values to be combined, so that no shift can turn them into results */
} ConvolveCpuAnalysis;

/* Fills what the analysis says of the plan, and the budget. */
void convolve_cpu_analyse (const ConvolvePlan *plan, ConvolveCpu *cpu, ConvolveCpuAnalysis *a);

/* The offset of sample i for sums of signed values, in code values: the plan's, and the middle times all taps. */
static inline double
convolve_cpu_offset (const ConvolveCpuAnalysis *a, int i)
{
  const ConvolveTail *tail = &a->plan->tail;

  return tail->offset[i] + a->middle * a->sum * tail->scale;
}

#endif
