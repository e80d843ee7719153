/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a plane is cut into jobs. */
#ifndef CONVOLVE_CPU_CUT_H
#define CONVOLVE_CPU_CUT_H

#include "cpu/paths/prepared.h"

/*
 * The region is cut into strips and the strips into bands; the last of each may be smaller. Any cut gives the same
 * bytes, within these limits: with transforms a strip has at most convolve_cpu_fft_columns() pixels, and only what
 * convolve_cpu_can_stream () allows may be streamed.
 */
typedef struct
{
  const ConvolveCpu *cpu; /* what was prepared for regions of this size: the plan's, or its `large` */
  int strip, band;        /* pixels and rows of a job, at least 1 */
  int threads;            /* that take part, at most */
  bool streams;           /* the result is written past the caches */
} ConvolveCpuCut;

/* Whether a result keeps no byte of the source, and its byte order is the machine's. Only then may it be streamed. */
bool convolve_cpu_can_stream (const ConvolvePixel *pixel);

/* The cut that suits the caches of a core and the number of threads of the plan's pool. */
ConvolveCpuCut convolve_cpu_cut (const ConvolvePlan *plan, const ConvolvePlane *plane);

/* As convolve_cpu_cut (), for a ConvolveCpu that the caller names: the plan's own or its `large`. */
ConvolveCpuCut convolve_cpu_cut_for (const ConvolveCpu *cpu, const ConvolvePlan *plan, const ConvolvePlane *plane);

/* Into how many pieces of this size a side is cut. */
static inline int
convolve_cpu_pieces (int total, int size)
{
  return (total - 1) / size + 1;
}

#endif
