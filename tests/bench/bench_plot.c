/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
  WIDTH = 860,
  HEIGHT = 560,
  LEFT = 70,
  RIGHT = 640,
  TOP = 50,
  BOTTOM = 500,
  MAX_LINES = 64
};

static const double least_us = 5, most_us = 5000, least_side = 2.8, most_side = 68;

void
bench_plot_add (BenchPlot *plot, const char *variant, const char *kind, int side, double us)
{
  if (plot->count < (int) (sizeof plot->points / sizeof *plot->points))
    plot->points[plot->count++] = (BenchPoint){ variant, kind, side, us };
}

static double
x_of (double side)
{
  return LEFT + (RIGHT - LEFT) * log (side / least_side) / log (most_side / least_side);
}

static double
y_of (double us)
{
  us = us < least_us ? least_us : us > most_us ? most_us : us;
  return BOTTOM - (BOTTOM - TOP) * log (us / least_us) / log (most_us / least_us);
}

static void
draw_axes (FILE *file, const char *device)
{
  static const int sides[] = { 3, 5, 7, 9, 15, 31, 63 };
  static const int times[] = { 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000 };

  fprintf (file,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      WIDTH, HEIGHT);
  fprintf (file,
      "<text x=\"%d\" y=\"25\" font-size=\"15\">4K, one 8-bit plane: microseconds a frame over mask width, %s"
      "</text>\n",
      LEFT, device);
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
    fprintf (file,
        "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
        x_of (sides[i]), TOP, BOTTOM, x_of (sides[i]), BOTTOM + 18, sides[i]);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    fprintf (file, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n",
        LEFT, y_of (times[i]), RIGHT, LEFT - 6, y_of (times[i]) + 4, times[i]);
}

bool
bench_plot_write (const BenchPlot *plot, const char *path, const char *device)
{
  static const char *const colours[] = { "#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2",
    "#17becf", "#bcbd22", "#7f7f7f" };
  bool drawn[sizeof plot->points / sizeof *plot->points] = { false };
  FILE *file = fopen (path, "w");
  int lines = 0;

  if (!file)
    return false;
  draw_axes (file, device);
  for (int i = 0; i < plot->count; i++) {
    const BenchPoint *first = &plot->points[i];
    bool floor = strcmp (first->variant, "copy") == 0;
    const char *colour = floor ? "black" : colours[lines % (sizeof colours / sizeof *colours)];
    double legend = TOP + 10 + 18.0 * lines;

    if (drawn[i] || (floor && strcmp (first->kind, "any") != 0))
      continue;
    fprintf (file, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"", colour,
        strcmp (first->variant, "auto") == 0 ? "3" : "1.5",
        strcmp (first->kind, "any") == 0 ? "" : " stroke-dasharray=\"6 4\"");
    for (int k = i, n = 0; k < plot->count; k++) {
      const BenchPoint *point = &plot->points[k];

      if (strcmp (point->variant, first->variant) != 0 || strcmp (point->kind, first->kind) != 0)
        continue;
      drawn[k] = true;
      fprintf (file, "%c%.1f %.1f", n++ ? 'L' : 'M', x_of (point->side), y_of (point->us));
    }
    fprintf (file, "\"/>\n<text x=\"%d\" y=\"%.0f\" fill=\"%s\">%s%s%s</text>\n", RIGHT + 15, legend, colour,
        floor ? "the copy of the bytes" : first->variant, floor ? "" : ", ", floor ? "" : first->kind);
    lines++;
  }
  fprintf (file, "</svg>\n");
  return fclose (file) == 0;
}
