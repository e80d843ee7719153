/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plot of time over mask width, both on logarithmic axes, as an SVG file. */
#ifndef TESTS_BENCH_BENCH_PLOT_H
#define TESTS_BENCH_BENCH_PLOT_H

#include <stdbool.h>

typedef struct
{
  const char *variant, *kind;
  int side;
  double us;
} BenchPoint;

typedef struct
{
  int count;
  BenchPoint points[512];
} BenchPlot;

/*
 * The strings must outlive the plot. The points of one variant and kind make a line; the variant "copy" is the floor.
 */
void bench_plot_add (BenchPlot *plot, const char *variant, const char *kind, int side, double us);
bool bench_plot_write (const BenchPlot *plot, const char *path, const char *device);

#endif
