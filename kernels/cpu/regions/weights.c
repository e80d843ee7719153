/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The weight of a pixel is that of the nearest box. Beside a rectangle, only the square of the distance counts: dx^2 +
 * dy^2. For a row, dy of each box is known, and the least square of all boxes is found in three steps:
 *  - under boxes, dx is 0, and the least dy of all boxes above each other counts;
 *  - to the left of boxes, the squares are parabolas with their least values at the boxes' left edges; the lower
 *    envelope of parabolas is found in one walk over the edges, from left to right;
 *  - to the right of boxes likewise.
 * A parabola goes on beyond the place where its box is nearest, but is never below the true square there.
 */
#include "cpu/regions/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/internal.h"
#include "common/sample.h"
#include "cpu/regions/outlines.h"

#define BAND 16 /* rows that share a list of boxes */
#define FEW 8   /* so many boxes are fastest one by one */

/* A box as a row of the plane sees it, with samples counted by their first luma pixel. dx is 0 from low up to high. */
typedef struct
{
  int low, high, dy;
} Reach;

typedef struct
{
  int64_t at, height; /* (x - at)^2 + height */
  int64_t from;       /* this parabola is the lowest one from here on */
} Parabola;

struct ConvolveWeights
{
  const ConvolveArea *area;
  ConvolveRect region;
  ConvolveArea luma_area;    /* outside of boxes: the area as luma pixels see it */
  ConvolveWeights *inside;   /* their weights in boxes, or NULL; the members below are not used then, but for weights */
  const ConvolveRect *boxes; /* those of the area without polygons */
  int count;
  ConvolveRect *plain;   /* a copy of these where there are polygons, or NULL */
  double *luma;          /* squares of a row of luma pixels */
  uint16_t *found;       /* weights of a row of pixels in one polygon */
  int band;              /* first row of the band, or region.y - BAND before the first */
  ConvolveRect *by_left; /* all boxes, sorted; NULL where they are few */
  ConvolveRect *by_right;
  ConvolveRect *near_by_left, *near_by_right; /* those that reach the band */
  int n_near;
  Reach *left, *right; /* those that reach the row, in the same order */
  int n_reach;
  Parabola *envelope;
  int32_t *squares;
  uint16_t *weights;
};

/* --- boxes one by one --- */

/* Raises one weight. TRUE where the weight is the whole then. */
static bool
raise (uint16_t *weight, int by)
{
  if (*weight < by)
    *weight = (uint16_t) by;
  return by == CONVOLVE_WHOLE_WEIGHT;
}

static bool
reaches (const ConvolveArea *area, ConvolveRect box, int first_row, int end_row)
{
  return end_row * area->y_step > box.y - area->feather
      && first_row * area->y_step < box.y + box.height + area->feather;
}

/*
 * Raises `count` weights to those of an ellipse, from a pixel on whose distance from the centre is half of `from`; from
 * pixel to pixel it changes by half of `step`. In that direction the ellipse is `width` wide, and `wide` with the
 * feather; inner and outer are the squares of the distances down, as shares of the heights. The loop has the formula of
 * common/area.h without branches, for the vectoriser.
 */
static void
raise_soft (uint16_t *restrict weights, int count, int from, int step, double width, double wide, double inner,
    double outer)
{
  for (int i = 0; i < count; i++) {
    double u = from + i * step, x = u / width, far_x = u / wide;
    double square = x * x + inner, far = far_x * far_x + outer;
    double inside = 1 - sqrt (far), outside = sqrt (square) - 1;
    double weight = CONVOLVE_WHOLE_WEIGHT * inside / (inside + outside);

    weight = far >= 1 ? 0 : weight;
    weight = square <= 1 ? CONVOLVE_WHOLE_WEIGHT : weight;
    weights[i] = weights[i] < (int) weight ? (uint16_t) (int) weight : weights[i];
  }
}

/* How many of `count` pixels, the farthest first, are not in the ellipse. */
static int
count_outside (int count, int from, int step, double width, double inner)
{
  int first = 0, end = count;

  while (first < end) {
    int middle = (first + end) / 2;
    double x = (from + middle * step) / width;

    if (x * x + inner <= 1)
      end = middle;
    else
      first = middle + 1;
  }
  return first;
}

/* The pixels first .. end - 1 of row y, where the ellipse with its feather may have a weight. */
static void
add_ellipse (const ConvolveArea *area, ConvolveRect box, int first, int end, int y, uint16_t *weights)
{
  ConvolveSpan down = { y * area->y_step, (y + 1) * area->y_step - 1 }, box_down = { box.y, box.y + box.height - 1 };
  const int v = convolve_distance_to_centre (down, box_down, false), twice = 2 * area->feather, step = 2 * area->x_step;
  const double width = box.width, wide = box.width + twice;
  const double inner_y = (double) v / box.height, outer_y = (double) v / (box.height + twice);
  const double inner = inner_y * inner_y, outer = outer_y * outer_y;
  const int centre = 2 * box.x + box.width - 1; /* twice its place */
  /* Pixels left of the centre end at `left`, and those right of it begin at `right`; between are one or two. */
  const int left = convolve_clamp (convolve_floor_div (centre + 1, step), first, end);
  const int right = convolve_clamp (convolve_floor_div (centre, step) + 1, left, end);
  const int from_left = centre - (first + 1) * step + 2, from_right = right * step - centre;
  const int outside_left = count_outside (left - first, from_left, -step, width, inner);
  const int inside_right =
      end - right - count_outside (end - right, from_right + (end - right - 1) * step, -step, width, inner);

  if (area->feather > 0) {
    raise_soft (weights, outside_left, from_left, -step, width, wide, inner, outer);
    raise_soft (weights + (right - first) + inside_right, end - right - inside_right, from_right + inside_right * step,
        step, width, wide, inner, outer);
  }
  for (int i = first + outside_left; i < left; i++)
    weights[i - first] = CONVOLVE_WHOLE_WEIGHT;
  for (int i = left; i < right; i++)
    raise (&weights[i - first], convolve_box_weight (area, box, i, y));
  for (int i = right; i < right + inside_right; i++)
    weights[i - first] = CONVOLVE_WHOLE_WEIGHT;
}

/*
 * Raises the weights of the pixels x .. x + count - 1 of row y to those that one box gives. Shapes are convex: between
 * two pixels with the whole weight all others have that, too, so that only the soft edges are computed.
 */
static void
add_box (const ConvolveArea *area, ConvolveRect box, int x, int y, int count, uint16_t *weights)
{
  int margin = area->feather;
  int first, end;

  if (!reaches (area, box, y, y + 1))
    return;
  first = convolve_clamp (convolve_floor_div (box.x - margin, area->x_step), x, x + count);
  end = convolve_clamp (convolve_floor_div (box.x + box.width + margin - 1, area->x_step) + 1, x, x + count);
  if (area->shape == CONVOLVE_SHAPE_ELLIPSE) {
    add_ellipse (area, box, first, end, y, weights + (first - x));
    return;
  }
  while (first < end && !raise (&weights[first - x], convolve_box_weight (area, box, first, y)))
    first++;
  while (end > first && !raise (&weights[end - 1 - x], convolve_box_weight (area, box, end - 1, y)))
    end--;
  for (; first < end; first++)
    weights[first - x] = CONVOLVE_WHOLE_WEIGHT;
}

/* --- rectangles together --- */

static Reach
reach_of (const ConvolveArea *area, ConvolveRect box, int y)
{
  ConvolveSpan down = { y * area->y_step, (y + 1) * area->y_step - 1 }, box_down = { box.y, box.y + box.height - 1 };
  Reach reach = { box.x - (area->x_step - 1), box.x + box.width - 1, convolve_distance_to_box (down, box_down, false) };

  return reach;
}

/* The boxes that have a weight in row y, in the order of the list. */
static int
find_reach (const ConvolveArea *area, const ConvolveRect *boxes, int count, int y, Reach *found)
{
  int n = 0;

  for (int i = 0; i < count; i++) {
    found[n] = reach_of (area, boxes[i], y);
    if (found[n].dy <= area->feather)
      n++;
  }
  return n;
}

/* Numbers from 0 to 255, each as often as it was added: their least one is found in four steps. */
typedef struct
{
  int count[CONVOLVE_MAX_FEATHER + 1];
  uint64_t some[4]; /* a bit for each number that is there */
} Distances;

static void
change (Distances *distances, int distance, int by)
{
  uint64_t bit = (uint64_t) 1 << (distance & 63);

  distances->count[distance] += by;
  if (distances->count[distance] > 0)
    distances->some[distance >> 6] |= bit;
  else
    distances->some[distance >> 6] &= ~bit;
}

/* -1 where there is none. */
static int
least (const Distances *distances)
{
  for (int i = 0; i < 4; i++)
    if (distances->some[i])
      return 64 * i + __builtin_ctzll (distances->some[i]);
  return -1;
}

/* The squares under boxes; `far` where there is none. */
static void
square_under (ConvolveWeights *weights, int32_t far)
{
  Distances distances = { { 0 }, { 0 } };
  int begun = 0, ended = 0, step = weights->area->x_step, dy = -1;

  for (int i = 0; i < weights->region.width; i++) {
    int x = (weights->region.x + i) * step;
    bool changed = false;

    for (; begun < weights->n_reach && weights->left[begun].low <= x; begun++, changed = true)
      change (&distances, weights->left[begun].dy, 1);
    for (; ended < begun && weights->right[ended].high < x; ended++, changed = true)
      change (&distances, weights->right[ended].dy, -1);
    if (changed)
      dy = least (&distances);
    weights->squares[i] = dy < 0 ? far : dy * dy;
  }
}

/* The last x at which the earlier parabola is as low as the later one. */
static int64_t
last_before (const Parabola *earlier, const Parabola *later)
{
  int64_t twice = 2 * (later->at - earlier->at);
  int64_t sum = later->at * later->at + later->height - earlier->at * earlier->at - earlier->height;

  return sum >= 0 ? sum / twice : -((twice - 1 - sum) / twice);
}

/* Adds a parabola to the envelope of those to its left: the number of parabolas then. */
static int
add_parabola (Parabola *envelope, int n, int64_t at, int64_t height)
{
  Parabola added = { at, height, INT64_MIN };

  if (n > 0 && envelope[n - 1].at == at) {
    if (envelope[n - 1].height <= height)
      return n;
    n--;
  }
  for (; n > 0; n--) {
    added.from = last_before (&envelope[n - 1], &added) + 1;
    if (added.from > envelope[n - 1].from)
      break;
  }
  if (n == 0)
    added.from = INT64_MIN;
  envelope[n] = added;
  return n + 1;
}

/* Lowers the squares to those of an envelope. */
static void
lower_squares (ConvolveWeights *weights, int n)
{
  int current = 0, step = weights->area->x_step;

  for (int i = 0; i < weights->region.width && n > 0; i++) {
    int64_t x = (int64_t) (weights->region.x + i) * step, square;

    while (current + 1 < n && weights->envelope[current + 1].from <= x)
      current++;
    square =
        (x - weights->envelope[current].at) * (x - weights->envelope[current].at) + weights->envelope[current].height;
    if (square < weights->squares[i])
      weights->squares[i] = (int32_t) square;
  }
}

static void
lower_beside (ConvolveWeights *weights)
{
  int n = 0;

  for (int i = 0; i < weights->n_reach; i++)
    n = add_parabola (weights->envelope, n, weights->left[i].low, weights->left[i].dy * weights->left[i].dy);
  lower_squares (weights, n);
  n = 0;
  for (int i = 0; i < weights->n_reach; i++)
    n = add_parabola (weights->envelope, n, weights->right[i].high, weights->right[i].dy * weights->right[i].dy);
  lower_squares (weights, n);
}

static void
weigh_rectangles (ConvolveWeights *weights, int y)
{
  const ConvolveArea *area = weights->area;
  int32_t far = (area->feather + 1) * (area->feather + 1);

  weights->n_reach = find_reach (area, weights->near_by_left, weights->n_near, y, weights->left);
  find_reach (area, weights->near_by_right, weights->n_near, y, weights->right);
  square_under (weights, far);
  if (area->feather > 0)
    lower_beside (weights);
  for (int i = 0; i < weights->region.width; i++)
    weights->weights[i] = (uint16_t) convolve_square_weight (weights->squares[i], area->feather);
}

/* --- polygons and mattes --- */

/* Raises the weights of row y to those of polygon number i. A pixel has the largest weight of its luma pixels. */
static void
add_polygon (ConvolveWeights *weights, int i, int y)
{
  const ConvolveArea *area = weights->area;
  const ConvolveOutline *outline = &area->extras->outlines[i];
  ConvolveRect box = area->boxes[i];
  bool hard = area->feather == 0 && outline->margin == 0;
  int x = weights->region.x, step = area->x_step, first, end;

  if (!reaches (area, box, y, y + 1))
    return;
  first = convolve_clamp (convolve_floor_div (box.x - area->feather, step) - x, 0, weights->region.width);
  end = convolve_clamp (convolve_floor_div (box.x + box.width + area->feather - 1, step) + 1 - x, 0,
      weights->region.width);
  for (int v = y * area->y_step; v < (y + 1) * area->y_step && first < end; v++) {
    uint16_t *found = weights->weights + first;
    ConvolveLumaRow row = { (x + first) * step, v, (end - first) * step, hard ? NULL : weights->luma, found, step };

    convolve_look_at_polygon (area->extras->corners + outline->first, outline, area->feather, &row);
    for (int k = 0; k < row.count && !hard; k++)
      raise (&found[k / step], convolve_polygon_weight (row.squares[k], area->feather, outline->margin));
  }
}

/*
 * Takes the largest bytes of a row of luma pixels for the pixels whose luma pixels all lie in the row, and returns how many
 * these are. Without branches, for the vectoriser.
 */
static int
take_bytes (const ConvolveWeights *weights, const ConvolveMatte *matte, const uint8_t *row)
{
  const int step = weights->area->x_step, x = weights->region.x * step;
  const int count = convolve_clamp ((matte->width - x) / step, 0, weights->region.width);
  const uint8_t *restrict at = row + x;
  uint16_t *restrict found = weights->found;

  if (step == 1)
    for (int i = 0; i < count; i++)
      found[i] = found[i] > at[i] ? found[i] : at[i];
  else if (step == 2)
    for (int i = 0; i < count; i++) {
      uint16_t larger = at[2 * i] > at[2 * i + 1] ? at[2 * i] : at[2 * i + 1];

      found[i] = found[i] > larger ? found[i] : larger;
    }
  return step <= 2 ? count : 0;
}

/* Takes the largest values of samples in a row of luma pixels. */
static void
take_values (ConvolveWeights *weights, const ConvolveMatte *matte, const uint8_t *row)
{
  const ConvolveArea *area = weights->area;
  const ConvolvePixel *pixel = &matte->pixel;
  int step = area->x_step, x = weights->region.x * step, size = convolve_sample_size (pixel->type);
  int first = size == 1 && pixel->stride == 1 ? take_bytes (weights, matte, row) : 0;

  for (int i = first; i < weights->region.width; i++)
    for (int k = 0; k < step; k++) {
      int column = x + i * step + k < matte->width ? x + i * step + k : matte->width - 1;
      const uint8_t *at = row + (ptrdiff_t) column * pixel->stride + matte->sample * size;
      int value = size == 1 ? *at : convolve_read_sample (pixel, at);

      raise (&weights->found[i], value);
    }
}

/* Raises the weights of row y to those of a matte. */
static void
add_matte (ConvolveWeights *weights, const ConvolveMatte *matte, int y)
{
  const ConvolveArea *area = weights->area;
  int whole = (1 << matte->pixel.depth) - 1, width = weights->region.width;

  for (int i = 0; i < width; i++)
    weights->found[i] = 0;
  for (int v = y * area->y_step; v < (y + 1) * area->y_step; v++)
    take_values (weights, matte,
        (const uint8_t *) matte->samples + convolve_clamp (v, 0, matte->height - 1) * matte->stride);
  /* With 8 bits the quotient is the value, and 1 more from 128 on. */
  if (whole == 255)
    for (int i = 0; i < width; i++) {
      uint16_t weight = weights->found[i] + (weights->found[i] >> 7);

      weights->weights[i] = weights->weights[i] > weight ? weights->weights[i] : weight;
    }
  else
    for (int i = 0; i < width; i++)
      raise (&weights->weights[i], (weights->found[i] * CONVOLVE_WHOLE_WEIGHT + whole / 2) / whole);
}

/* --- rows --- */

/* Copies the boxes that reach the band. */
static int
find_near (const ConvolveWeights *weights, const ConvolveRect *boxes, ConvolveRect *near)
{
  const ConvolveArea *area = weights->area;
  int n = 0;

  for (int i = 0; i < weights->count; i++)
    if (reaches (area, boxes[i], weights->band, weights->band + BAND))
      near[n++] = boxes[i];
  return n;
}

static void
enter_band (ConvolveWeights *weights, int y)
{
  if (!weights->by_left || y < weights->band + BAND)
    return;
  weights->band = y;
  weights->n_near = find_near (weights, weights->by_left, weights->near_by_left);
  find_near (weights, weights->by_right, weights->near_by_right);
}

static void
add_boxes (ConvolveWeights *weights, const ConvolveRect *boxes, int count, int y)
{
  for (int i = 0; i < count; i++)
    add_box (weights->area, boxes[i], weights->region.x, y, weights->region.width, weights->weights);
}

/* Raises the weights of samples, each of `step` luma pixels, to 256 less the least of these; for the vectoriser. */
static inline __attribute__ ((always_inline)) void
turn_line (int step, const uint16_t *restrict inside, int count, uint16_t *restrict weights)
{
  for (int i = 0; i < count; i++) {
    int16_t least = (int16_t) (CONVOLVE_WHOLE_WEIGHT - weights[i]);

    for (int u = i * step; u < (i + 1) * step; u++)
      least = (int16_t) inside[u] < least ? (int16_t) inside[u] : least;
    weights[i] = (uint16_t) (CONVOLVE_WHOLE_WEIGHT - least);
  }
}

/* The weights outside of boxes: 256 less the least weight of a sample's luma pixels. */
static void
turn_round (ConvolveWeights *weights, int y)
{
  const ConvolveArea *area = weights->area;
  const int count = weights->region.width;

  memset (weights->weights, 0, (size_t) count * sizeof (weights->weights[0]));
  for (int v = y * area->y_step; v < (y + 1) * area->y_step; v++) {
    const uint16_t *inside = convolve_weights_row (weights->inside, v);

    if (area->x_step == 1)
      turn_line (1, inside, count, weights->weights);
    else if (area->x_step == 2)
      turn_line (2, inside, count, weights->weights);
    else
      turn_line (4, inside, count, weights->weights);
  }
}

/* The weights of a row, whatever the transparency. */
static void
find_row (ConvolveWeights *weights, int y)
{
  const ConvolveArea *area = weights->area;

  if (weights->inside) {
    turn_round (weights, y);
    return;
  }
  enter_band (weights, y);
  if (weights->n_near > FEW && area->shape == CONVOLVE_SHAPE_RECTANGLE) {
    weigh_rectangles (weights, y);
  } else {
    memset (weights->weights, 0, (size_t) weights->region.width * sizeof (weights->weights[0]));
    if (weights->by_left)
      add_boxes (weights, weights->near_by_left, weights->n_near, y);
    else
      add_boxes (weights, weights->boxes, weights->count, y);
  }
  for (int i = 0; i < area->count && weights->plain; i++)
    if (area->extras->outlines[i].count > 0)
      add_polygon (weights, i, y);
  for (int i = 0; area->extras && i < area->extras->n_mattes; i++)
    add_matte (weights, &area->extras->mattes[i], y);
}

const uint16_t *
convolve_weights_row (ConvolveWeights *weights, int y)
{
  const int transparency = weights->area->transparency;

  find_row (weights, y);
  for (int i = 0; transparency > 0 && i < weights->region.width; i++)
    weights->weights[i] = (uint16_t) convolve_lessen_weight (weights->weights[i], transparency);
  return weights->weights;
}

/* --- memory --- */

static int
compare_left (const void *one, const void *other)
{
  const ConvolveRect *a = one, *b = other;

  return (a->x > b->x) - (a->x < b->x);
}

static int
compare_right (const void *one, const void *other)
{
  const ConvolveRect *a = one, *b = other;
  int right = a->x + a->width, other_right = b->x + b->width;

  return (right > other_right) - (right < other_right);
}

static void
sort_boxes (ConvolveWeights *weights)
{
  size_t count = (size_t) weights->count, size = sizeof (*weights->boxes);

  memcpy (weights->by_left, weights->boxes, count * size);
  memcpy (weights->by_right, weights->boxes, count * size);
  qsort (weights->by_left, count, size, compare_left);
  qsort (weights->by_right, count, size, compare_right);
}

static int
count_polygons (const ConvolveArea *area)
{
  int n = 0;

  for (int i = 0; i < area->count && area->extras && area->extras->outlines; i++)
    n += area->extras->outlines[i].count > 0 ? 1 : 0;
  return n;
}

/* One block holds everything, the largest elements first, so that all of them are aligned. */
static ConvolveWeights *
new_inside (const ConvolveArea *area, const ConvolveRect *region, ConvolveError *error)
{
  int n_polygons = count_polygons (area), count = area->count - n_polygons;
  size_t width = (size_t) region->width, many = count > FEW ? (size_t) count : 0;
  size_t lumas = n_polygons > 0 ? width * (size_t) area->x_step : 0, copied = n_polygons > 0 ? (size_t) count : 0;
  ConvolveWeights *weights = malloc (sizeof (*weights) + lumas * sizeof (double)
      + many * (sizeof (Parabola) + 4 * sizeof (ConvolveRect) + 2 * sizeof (Reach)) + copied * sizeof (ConvolveRect)
      + width * (sizeof (int32_t) + 2 * sizeof (uint16_t)));

  if (!weights) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d weights", region->width);
    return NULL;
  }
  *weights = (ConvolveWeights){ .area = area,
    .region = *region,
    .boxes = area->boxes,
    .count = count,
    .band = region->y - BAND };
  weights->luma = (double *) (weights + 1);
  weights->envelope = (Parabola *) (weights->luma + lumas);
  weights->near_by_left = (ConvolveRect *) (weights->envelope + many);
  weights->near_by_right = weights->near_by_left + many;
  weights->by_left = weights->near_by_right + many;
  weights->by_right = weights->by_left + many;
  weights->plain = weights->by_right + many;
  weights->left = (Reach *) (weights->plain + copied);
  weights->right = weights->left + many;
  weights->squares = (int32_t *) (weights->right + many);
  weights->weights = (uint16_t *) (weights->squares + width);
  weights->found = weights->weights + width;
  for (int i = 0, n = 0; i < area->count && n_polygons > 0; i++)
    if (area->extras->outlines[i].count == 0)
      weights->plain[n++] = area->boxes[i];
  if (n_polygons > 0)
    weights->boxes = weights->plain;
  else
    weights->plain = NULL;
  if (many > 0)
    sort_boxes (weights);
  else
    weights->by_left = NULL;
  return weights;
}

/* Outside of boxes, with the weights of luma pixels. */
ConvolveWeights *
convolve_weights_new (const ConvolveArea *area, const ConvolveRect *region, ConvolveError *error)
{
  ConvolveRect lumas = { region->x * area->x_step, region->y * area->y_step, region->width * area->x_step,
    region->height * area->y_step };
  ConvolveWeights *weights;

  if (!area->outside)
    return new_inside (area, region, error);
  weights = malloc (sizeof (*weights) + (size_t) region->width * sizeof (uint16_t));
  if (!weights) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d weights", region->width);
    return NULL;
  }
  *weights = (ConvolveWeights){ .area = area, .region = *region, .luma_area = convolve_luma_area (area) };
  weights->weights = (uint16_t *) (weights + 1);
  weights->inside = new_inside (&weights->luma_area, &lumas, error);
  if (weights->inside)
    return weights;
  free (weights);
  return NULL;
}

void
convolve_weights_free (ConvolveWeights *weights)
{
  free (weights->inside);
  free (weights);
}
