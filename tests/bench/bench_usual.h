/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The masks that people use, as the element makes them from its properties: for the tables of speed in README. */
#ifndef TESTS_BENCH_BENCH_USUAL_H
#define TESTS_BENCH_BENCH_USUAL_H

#include "convolve.h"

typedef struct
{
  const char *name;   /* what the user writes: the column kind of the CSV files; with absolute=true it ends so */
  const char *preset; /* NULL: weights of fractions without order, side x side */
  double sigma;       /* of a gaussian, in luma pixels */
  int side;           /* in luma pixels */
} BenchUsual;

int bench_usual_count (void);
const BenchUsual *bench_usual (int index); /* index < count */

/* Masks of edges, plain ones and combinations. */
int bench_edges_count (void);
const BenchUsual *bench_edges (int index);

/* Weights of fractions without order, side x side, as the list above has them; to be cleared. False where memory is short. */
bool bench_fractions_make (ConvolveMask *mask, int side);

/* The mask for a plane with one sample for every step x step luma pixels; to be cleared. False where memory is short. */
bool bench_usual_make (const BenchUsual *usual, int step, ConvolveMask *mask);

#endif
