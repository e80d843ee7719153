/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights of effects, how an effect is blended in, blocks, and pictures of another size, for C and for CUDA. Every
 * operation on a double is rounded once, and a compiler must not contract two of them: then all machines get the same
 * weights.
 */
#ifndef CONVOLVE_COMMON_AREA_H
#define CONVOLVE_COMMON_AREA_H

#include <math.h>

#include "common/boundary.h"
#include "common/sample.h"
#include "convolve_region.h"

/* The luma pixels first .. last of a row or column that a sample stands for, and the same of a box. */
typedef struct
{
  int first, last;
} ConvolveSpan;

static CONVOLVE_BOTH int
convolve_larger (int a, int b)
{
  return a > b ? a : b;
}

static CONVOLVE_BOTH int
convolve_clamp (int value, int least, int most)
{
  return value < least ? least : value > most ? most : value;
}

/* How far the nearest pixel of a sample, or the farthest, is from the box; 0 where that pixel is in the box. */
static CONVOLVE_BOTH int
convolve_distance_to_box (ConvolveSpan sample, ConvolveSpan box, bool farthest)
{
  int before = box.first - (farthest ? sample.first : sample.last);
  int behind = (farthest ? sample.last : sample.first) - box.last;

  return convolve_larger (0, convolve_larger (before, behind));
}

/* Twice the distance between the box's centre and that of the sample's nearest pixel, or of its farthest. */
static CONVOLVE_BOTH int
convolve_distance_to_centre (ConvolveSpan sample, ConvolveSpan box, bool farthest)
{
  int centre = box.first + box.last, from_first = centre - 2 * sample.first, from_last = 2 * sample.last - centre;

  if (farthest)
    return convolve_larger (from_first, from_last);
  if (from_first < 0 || from_last < 0)
    return from_first < 0 ? -from_first : -from_last;
  /* The centre is among the sample's pixels: on one of them, or half a pixel from two. */
  return centre & 1;
}

/* The weight beside a rectangle, from the square of the distance. */
static CONVOLVE_BOTH int
convolve_square_weight (int square, int feather)
{
  double distance;

  if (square == 0)
    return CONVOLVE_WHOLE_WEIGHT;
  if (square >= (feather + 1) * (feather + 1))
    return 0;
  distance = sqrt ((double) square);
  return (int) (CONVOLVE_WHOLE_WEIGHT * (feather + 1 - distance) / (feather + 1));
}

static CONVOLVE_BOTH int
convolve_rectangle_weight (ConvolveSpan x, ConvolveSpan y, ConvolveSpan box_x, ConvolveSpan box_y, int feather,
    bool farthest)
{
  int dx = convolve_distance_to_box (x, box_x, farthest), dy = convolve_distance_to_box (y, box_y, farthest);

  /* The squares of distances far away are too large for an int. */
  return dx > feather || dy > feather ? 0 : convolve_square_weight (dx * dx + dy * dy, feather);
}

#ifdef __CUDA_ARCH__
#define CONVOLVE_PRODUCT_D(a, b) __dmul_rn (a, b)
#else
#define CONVOLVE_PRODUCT_D(a, b) ((a) * (b))
#endif

/* The square of the distance from an ellipse's centre, as a share of the ellipse's radius in that direction. */
static CONVOLVE_BOTH double
convolve_ellipse_square (double twice_x, double twice_y, double width, double height)
{
  double x = twice_x / width, y = twice_y / height, squared_x = CONVOLVE_PRODUCT_D (x, x),
         squared_y = CONVOLVE_PRODUCT_D (y, y);

  return squared_x + squared_y;
}

static CONVOLVE_BOTH int
convolve_ellipse_weight (ConvolveSpan x, ConvolveSpan y, ConvolveSpan box_x, ConvolveSpan box_y, int feather,
    bool farthest)
{
  int u = convolve_distance_to_centre (x, box_x, farthest), v = convolve_distance_to_centre (y, box_y, farthest);
  int width = box_x.last - box_x.first + 1, height = box_y.last - box_y.first + 1;
  double inner = convolve_ellipse_square (u, v, width, height), outer, outside, inside;

  if (inner <= 1)
    return CONVOLVE_WHOLE_WEIGHT;
  outer = convolve_ellipse_square (u, v, width + 2 * feather, height + 2 * feather);
  if (outer >= 1)
    return 0;
  outside = sqrt (inner) - 1;
  inside = 1 - sqrt (outer);
  return (int) (CONVOLVE_WHOLE_WEIGHT * inside / (inside + outside));
}

/* A weight of boxes and mattes, lessened by the area's transparency. */
static CONVOLVE_BOTH int
convolve_lessen_weight (int weight, int transparency)
{
  return (weight * (CONVOLVE_WHOLE_WEIGHT - transparency) + CONVOLVE_WHOLE_WEIGHT / 2) >> 8;
}

/* The area as luma pixels see it, with the weights inside, and opaque. */
static CONVOLVE_BOTH ConvolveArea
convolve_luma_area (const ConvolveArea *area)
{
  ConvolveArea luma = *area;

  luma.outside = false;
  luma.transparency = 0;
  luma.x_step = luma.y_step = 1;
  return luma;
}

/* --- polygons --- */

/* The luma pixel whose centre is at (x, y), beside the edge from a to b, in sixteenths of a luma pixel. */
typedef struct
{
  int64_t x, y;    /* from a to the centre */
  int64_t dx, dy;  /* from a to b */
  int64_t cross;   /* above 0 where the centre is on the left of the edge, as seen from a with y upward */
  bool is_touched; /* the edge passes through the inside of the pixel's square */
  int winding;     /* what the edge adds to the winding number about the centre */
} ConvolveBeside;

static CONVOLVE_BOTH int64_t
convolve_magnitude (int64_t value)
{
  return value < 0 ? -value : value;
}

static CONVOLVE_BOTH ConvolveBeside
convolve_find_beside (ConvolvePoint a, ConvolvePoint b, int x, int y)
{
  const int half = CONVOLVE_POINTS / 2;
  int left = a.x < b.x ? a.x : b.x, top = a.y < b.y ? a.y : b.y;
  int right = convolve_larger (a.x, b.x), bottom = convolve_larger (a.y, b.y);
  ConvolveBeside beside;

  beside.x = x - a.x;
  beside.y = y - a.y;
  beside.dx = b.x - a.x;
  beside.dy = b.y - a.y;
  beside.cross = beside.dx * beside.y - beside.dy * beside.x;
  beside.is_touched = left < x + half && right > x - half && top < y + half && bottom > y - half
      && convolve_magnitude (beside.cross) < half * (convolve_magnitude (beside.dx) + convolve_magnitude (beside.dy));
  beside.winding = 0;
  if (a.y <= y && b.y > y && beside.cross > 0)
    beside.winding = 1;
  if (a.y > y && b.y <= y && beside.cross < 0)
    beside.winding = -1;
  return beside;
}

/* The square of the distance from the centre to an edge that has a length, in sixteenths of a luma pixel. */
static CONVOLVE_BOTH double
convolve_edge_square (const ConvolveBeside *beside)
{
  int64_t length = beside->dx * beside->dx + beside->dy * beside->dy; /* its square */
  int64_t along = beside->x * beside->dx + beside->y * beside->dy;
  int64_t x = beside->x - beside->dx, y = beside->y - beside->dy; /* from b */

  if (along <= 0)
    return (double) (beside->x * beside->x + beside->y * beside->y);
  if (along >= length)
    return (double) (x * x + y * y);
  return CONVOLVE_PRODUCT_D ((double) beside->cross, (double) beside->cross) / (double) length;
}

/* The weight of a luma pixel from the square of its distance to a polygon, which is 0 in the polygon. */
static CONVOLVE_BOTH int
convolve_polygon_weight (double square, int feather, int margin)
{
  double whole = CONVOLVE_POINTS / 2 + margin, end = whole + CONVOLVE_POINTS * feather;

  if (square < CONVOLVE_PRODUCT_D (whole, whole))
    return CONVOLVE_WHOLE_WEIGHT;
  if (square >= CONVOLVE_PRODUCT_D (end, end))
    return 0;
  return (int) (CONVOLVE_WHOLE_WEIGHT / CONVOLVE_POINTS * (end - sqrt (square)) / (feather + 1));
}

/* The weight of luma pixel (x, y). corners are those of the outline. */
static CONVOLVE_BOTH int
convolve_outline_weight (const ConvolvePoint *corners, ConvolveOutline outline, int feather, int x, int y)
{
  const int centre_x = x * CONVOLVE_POINTS + CONVOLVE_POINTS / 2;
  const int centre_y = y * CONVOLVE_POINTS + CONVOLVE_POINTS / 2;
  double least = INFINITY;
  int winding = 0;

  for (int i = 0; i < outline.count; i++) {
    ConvolveBeside beside =
        convolve_find_beside (corners[i], corners[i + 1 < outline.count ? i + 1 : 0], centre_x, centre_y);

    if (beside.dx == 0 && beside.dy == 0)
      continue;
    if (beside.is_touched)
      return CONVOLVE_WHOLE_WEIGHT;
    winding += beside.winding;
    if (feather > 0 || outline.margin > 0) {
      double square = convolve_edge_square (&beside);

      least = square < least ? square : least;
    }
  }
  return winding != 0 ? CONVOLVE_WHOLE_WEIGHT : convolve_polygon_weight (least, feather, outline.margin);
}

/* Whether a luma pixel is as near to a box as its feather. */
static CONVOLVE_BOTH bool
convolve_is_near (ConvolveRect box, int feather, int x, int y)
{
  return x >= box.x - feather && y >= box.y - feather && x < box.x + box.width + feather
      && y < box.y + box.height + feather;
}

/* The weight that the polygon in a box gives to the pixel at (x, y) of a plane: the largest of its luma pixels. */
static CONVOLVE_BOTH int
convolve_corners_weight (const ConvolveArea *area, ConvolveRect box, const ConvolvePoint *corners,
    ConvolveOutline outline, int x, int y)
{
  int found = 0;

  for (int v = y * area->y_step; v < (y + 1) * area->y_step; v++)
    for (int u = x * area->x_step; u < (x + 1) * area->x_step; u++) {
      int weight = convolve_is_near (box, area->feather, u, v)
          ? convolve_outline_weight (corners, outline, area->feather, u, v)
          : 0;

      found = convolve_larger (found, weight);
    }
  return found;
}

/* --- mattes --- */

/* The weight that a matte gives to the pixel at (x, y) of a plane. */
static CONVOLVE_BOTH int
convolve_matte_weight (const ConvolveArea *area, const ConvolveMatte *matte, int x, int y)
{
  const ConvolvePixel *pixel = &matte->pixel;
  const int size = pixel->type == CONVOLVE_SAMPLE_U8 ? 1 : 2, whole = (1 << pixel->depth) - 1;
  int found = 0;

  for (int v = y * area->y_step; v < (y + 1) * area->y_step; v++)
    for (int u = x * area->x_step; u < (x + 1) * area->x_step; u++) {
      const uint8_t *row =
          (const uint8_t *) matte->samples + convolve_clamp (v, 0, matte->height - 1) * (int64_t) matte->stride;
      int value = convolve_read_sample (pixel,
          row + (int64_t) convolve_clamp (u, 0, matte->width - 1) * pixel->stride + matte->sample * size);

      found = convolve_larger (found, value);
    }
  return (found * CONVOLVE_WHOLE_WEIGHT + whole / 2) / whole;
}

/* --- boxes --- */

/*
 * The weight that one box gives to the pixel at (x, y) of a plane: that of the nearest of its luma pixels, or of the
 * farthest outside.
 */
static CONVOLVE_BOTH int
convolve_box_weight (const ConvolveArea *area, ConvolveRect box, int x, int y)
{
  ConvolveSpan across = { x * area->x_step, (x + 1) * area->x_step - 1 };
  ConvolveSpan down = { y * area->y_step, (y + 1) * area->y_step - 1 };
  ConvolveSpan box_across = { box.x, box.x + box.width - 1 }, box_down = { box.y, box.y + box.height - 1 };

  return area->shape == CONVOLVE_SHAPE_ELLIPSE
      ? convolve_ellipse_weight (across, down, box_across, box_down, area->feather, area->outside)
      : convolve_rectangle_weight (across, down, box_across, box_down, area->feather, area->outside);
}

/* The quotient rounded down. */
static CONVOLVE_BOTH int
convolve_floor_div (int a, int b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Whether the pixel at (x, y) of a plane has a luma pixel to which a box, with its feather, may give a weight. */
static CONVOLVE_BOTH bool
convolve_box_reaches (const ConvolveArea *area, ConvolveRect box, int x, int y)
{
  int left = box.x - area->feather, top = box.y - area->feather;

  return (x + 1) * area->x_step > left && (y + 1) * area->y_step > top
      && x * area->x_step < left + box.width + 2 * area->feather
      && y * area->y_step < top + box.height + 2 * area->feather;
}

/* The pixels of a plane that a box reaches. */
static CONVOLVE_BOTH ConvolveRect
convolve_box_pixels (const ConvolveArea *area, ConvolveRect box)
{
  int left = convolve_floor_div (box.x - area->feather, area->x_step);
  int top = convolve_floor_div (box.y - area->feather, area->y_step);
  int right = convolve_floor_div (box.x + box.width + area->feather - 1, area->x_step);
  int bottom = convolve_floor_div (box.y + box.height + area->feather - 1, area->y_step);
  ConvolveRect pixels = { left, top, right - left + 1, bottom - top + 1 };

  return pixels;
}

/* The first pixel of block n in one direction: that whose first luma pixel is the first in the block. */
static CONVOLVE_BOTH int
convolve_block_start (int origin, int size, int step, int n)
{
  return convolve_floor_div (origin + n * size + step - 1, step);
}

/* The mean of `count` samples, rounded half up. */
static CONVOLVE_BOTH int
convolve_mean (uint64_t sum, uint64_t count)
{
  return (int) ((2 * sum + count) / (2 * count));
}

/*
 * The arithmetic of a blur, as convolve_region.h defines it. The factor is 2^bits, and depth is that of the samples: c,
 * r and b have 16 bits.
 */
static CONVOLVE_BOTH int
convolve_blur_bits (const ConvolveBlur *blur)
{
  int bits = 0;

  while (1 << bits < blur->factor)
    bits++;
  return bits;
}

static CONVOLVE_BOTH ConvolveRect
convolve_widen (ConvolveRect rect, int across, int down)
{
  ConvolveRect wide = { rect.x - across, rect.y - down, rect.width + 2 * across, rect.height + 2 * down };

  return wide;
}

/*
 * The pixels of the shrunk picture that the plane's region is made from, with one more on each side for interpolation.
 */
static CONVOLVE_BOTH ConvolveRect
convolve_blur_result (const ConvolveBlur *blur, const ConvolvePlane *plane)
{
  const ConvolveRect *region = &plane->region;
  int left = region->x / blur->factor, right = (region->x + region->width - 1) / blur->factor + 1;
  int top = region->y / blur->factor, bottom = (region->y + region->height - 1) / blur->factor + 1;
  int margin = blur->factor > 1 ? 1 : 0;
  ConvolveRect result = { left, top, right - left, bottom - top };

  return convolve_widen (result, margin, margin);
}

/* The result with as much on each side as the weights reach. */
static CONVOLVE_BOTH ConvolveRect
convolve_blur_cell (const ConvolveBlur *blur, ConvolveRect result)
{
  return convolve_widen (result, blur->width / 2, blur->height / 2);
}

/* c, from the sum of the samples of a square. */
static CONVOLVE_BOTH uint16_t
convolve_blur_mean (uint32_t sum, int bits, int depth)
{
  return (uint16_t) (((sum << (16 - depth)) + ((1u << 2 * bits) >> 1)) >> 2 * bits);
}

/* r or b, from a sum of products with weights. */
static CONVOLVE_BOTH uint16_t
convolve_blur_round (uint32_t sum)
{
  return (uint16_t) ((sum + CONVOLVE_BLUR_SUM / 2) / CONVOLVE_BLUR_SUM);
}

/* b as it is kept, for samples of so many bits. */
static CONVOLVE_BOTH uint16_t
convolve_blur_coarse (uint16_t b, int depth, bool fine)
{
  if (depth == 8 || fine)
    return b;
  return b >= 0xff80 ? 0xffff : (uint16_t) ((b + 0x80) & 0xff00);
}

/*
 * The two pixels of b around a sample, in one direction. With centres at halves, sample i lies at (2 i + 1) / (2
 * factor)
 * - 1/2 in b; weight is that of the second one, of 2 factor.
 */
typedef struct
{
  int first, weight;
} ConvolveNeighbours;

static CONVOLVE_BOTH ConvolveNeighbours
convolve_find_neighbours (int i, int bits)
{
  int at = 2 * i + 1 - (1 << bits); /* in 1 / (2 factor) of a pixel of b */
  ConvolveNeighbours found;

  found.first = at >> (bits + 1); /* rounded down: every compiler at hand shifts the sign in */
  found.weight = at & ((2 << bits) - 1);
  return found;
}

/* A number between two, times 2 factor. */
static CONVOLVE_BOTH uint32_t
convolve_blur_between (uint32_t first, uint32_t second, int weight, int bits)
{
  return first * (uint32_t) ((2 << bits) - weight) + second * (uint32_t) weight;
}

/* The sample, from what is between both directions' neighbours. */
static CONVOLVE_BOTH int
convolve_blur_sample (uint32_t between, int bits, int depth)
{
  int shift = 2 * (bits + 1) + 16 - depth;

  return convolve_clamp ((int) ((between + (1u << (shift - 1))) >> shift), 0, (1 << depth) - 1);
}

/* --- drawings --- */

/* The pixels of a drawing's picture beside a place, in one direction; weight is that of the second one, of 256. */
static CONVOLVE_BOTH ConvolveNeighbours
convolve_find_drawn (int64_t at, int count)
{
  int64_t last = (int64_t) (count - 1) << 16;
  ConvolveNeighbours found;

  at = at < 0 ? 0 : at > last ? last : at;
  found.first = (int) (at >> 16);
  found.weight = (int) (at >> 8 & 255);
  return found;
}

/* Sample k of a pixel of so many samples. A neighbour of no weight is not read. */
static CONVOLVE_BOTH int
convolve_drawn_value (const ConvolveDrawing *drawing, int samples, ConvolveNeighbours x, ConvolveNeighbours y, int k)
{
  const uint16_t *at = drawing->values + ((int64_t) y.first * drawing->width + x.first) * samples + k;
  const uint16_t *below = y.weight > 0 ? at + (int64_t) drawing->width * samples : at;
  const int right = x.weight > 0 ? samples : 0;
  uint32_t above = at[0] * (uint32_t) (256 - x.weight) + at[right] * (uint32_t) x.weight;
  uint32_t under = below[0] * (uint32_t) (256 - x.weight) + below[right] * (uint32_t) x.weight;

  return (int) ((above * (uint32_t) (256 - y.weight) + under * (uint32_t) y.weight + (1u << 15)) >> 16);
}

/* One code value of an effect blended into a picture. The result lies between both. */
static CONVOLVE_BOTH int
convolve_blend_values (int effect, int before, int weight)
{
  return before + (((effect - before) * weight + CONVOLVE_WHOLE_WEIGHT / 2) >> 8);
}

#endif
