/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A polygon covers runs of luma pixels in a row of them: those that each edge passes, and those that the outline winds
 * around. Beside the runs, each edge lowers the squares of the luma pixels near the edge.
 */
#include "cpu/regions/outlines.h"

#include <math.h>

#include "common/area.h"
#include "common/internal.h"

/* A place in a row of luma pixels from which on the outline winds around the pixels' centres less. */
typedef struct
{
  int at, winding;
} Crossing;

static int
clamp_to_int (int64_t value, int least, int most)
{
  return value < least ? least : value > most ? most : (int) value;
}

/* The quotient rounded down; b is above 0. */
static int64_t
floor_of (int64_t a, int64_t b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* The luma pixels from first up to end are in the polygon. */
static void
cover (const ConvolveLumaRow *row, int first, int end)
{
  for (int i = first; i < end && row->squares; i++)
    row->squares[i] = 0;
  for (int i = first / row->step; first < end && i <= (end - 1) / row->step && !row->squares; i++)
    row->found[i] = CONVOLVE_WHOLE_WEIGHT;
}

/* Covers the luma pixels that an edge passes. a is the upper end of the edge. */
static void
pass_edge (ConvolvePoint a, ConvolvePoint b, const ConvolveLumaRow *row)
{
  int top = row->y * CONVOLVE_POINTS;
  int64_t dx = b.x - (int64_t) a.x, dy = b.y - (int64_t) a.y, divisor = (dy > 0 ? dy : 1) * CONVOLVE_POINTS;
  int64_t from = a.y > top ? a.y : top, to = b.y < top + CONVOLVE_POINTS ? b.y : top + CONVOLVE_POINTS;
  int64_t left, right; /* over the divisor */

  if (b.y <= top || a.y >= top + CONVOLVE_POINTS)
    return;
  left = dy > 0 ? a.x * dy + dx * (from - a.y) : a.x;
  right = dy > 0 ? a.x * dy + dx * (to - a.y) : b.x;
  if (left > right) {
    int64_t swapped = left;

    left = right;
    right = swapped;
  }
  cover (row, clamp_to_int (floor_of (left, divisor) - row->x, 0, row->count),
      clamp_to_int (-floor_of (-right, divisor) - row->x, 0, row->count));
}

/* The first luma pixel of a row whose centre, at y, is not on the left of an edge. a is the upper end. */
static int64_t
find_crossing (ConvolvePoint a, ConvolvePoint b, int64_t y)
{
  int64_t dy = b.y - (int64_t) a.y;

  return -floor_of (-((a.x - CONVOLVE_POINTS / 2) * dy + (b.x - (int64_t) a.x) * (y - a.y)), dy * CONVOLVE_POINTS);
}

/* Covers the luma pixels that the outline winds around. */
static void
wind_around (const ConvolvePoint *corners, int n, const ConvolveLumaRow *row)
{
  Crossing crossings[CONVOLVE_MAX_CORNERS];
  int64_t centre = (int64_t) row->y * CONVOLVE_POINTS + CONVOLVE_POINTS / 2;
  int n_crossings = 0, winding = 0;

  for (int i = 0; i < n; i++) {
    ConvolvePoint a = corners[i], b = corners[i + 1 < n ? i + 1 : 0];
    Crossing crossing = { 0, a.y <= centre ? 1 : -1 };
    int k = n_crossings;

    if ((a.y <= centre) == (b.y <= centre))
      continue;
    crossing.at =
        clamp_to_int ((crossing.winding > 0 ? find_crossing (a, b, centre) : find_crossing (b, a, centre)) - row->x, 0,
            row->count);
    for (; k > 0 && crossings[k - 1].at > crossing.at; k--)
      crossings[k] = crossings[k - 1];
    crossings[k] = crossing;
    n_crossings++;
  }
  for (int i = 0; i + 1 < n_crossings; i++) {
    winding += crossings[i].winding;
    if (winding != 0)
      cover (row, crossings[i].at, crossings[i + 1].at);
  }
}

/* Lowers the squares of the luma pixels near an edge to those of their distances. */
static void
lower_beside_edge (ConvolvePoint a, ConvolvePoint b, int reach, const ConvolveLumaRow *row)
{
  const int half = CONVOLVE_POINTS / 2, left = a.x < b.x ? a.x : b.x, top = a.y < b.y ? a.y : b.y;
  int centre = row->y * CONVOLVE_POINTS + half, right = convolve_larger (a.x, b.x);
  int first = convolve_clamp (convolve_floor_div (left - reach, CONVOLVE_POINTS) - row->x, 0, row->count);
  int end = convolve_clamp (convolve_floor_div (right + reach, CONVOLVE_POINTS) + 1 - row->x, 0, row->count);

  if (centre < top - reach || centre > convolve_larger (a.y, b.y) + reach)
    return;
  for (int i = first; i < end; i++) {
    ConvolveBeside beside;
    double square;

    if (row->squares[i] == 0)
      continue;
    beside = convolve_find_beside (a, b, (row->x + i) * CONVOLVE_POINTS + half, centre);
    square = convolve_edge_square (&beside);
    if (square < row->squares[i])
      row->squares[i] = square;
  }
}

void
convolve_look_at_polygon (const ConvolvePoint *corners, const ConvolveOutline *outline, int feather,
    const ConvolveLumaRow *row)
{
  int reach = CONVOLVE_POINTS * feather + outline->margin, n = outline->count;

  for (int i = 0; i < row->count && row->squares; i++)
    row->squares[i] = INFINITY;
  wind_around (corners, n, row);
  for (int i = 0; i < n; i++) {
    ConvolvePoint a = corners[i], b = corners[i + 1 < n ? i + 1 : 0];

    if (a.x == b.x && a.y == b.y)
      continue;
    if (a.y < b.y || (a.y == b.y && a.x < b.x))
      pass_edge (a, b, row);
    else
      pass_edge (b, a, row);
  }
  for (int i = 0; i < n && row->squares; i++) {
    ConvolvePoint a = corners[i], b = corners[i + 1 < n ? i + 1 : 0];

    if (a.x != b.x || a.y != b.y)
      lower_beside_edge (a, b, reach + CONVOLVE_POINTS / 2, row);
  }
}
