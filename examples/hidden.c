/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hidden.h"

#include <math.h>
#include <string.h>

#define NOBODY 0       /* owns a sample: no region */
#define SEVERAL 0xffff /* the effects of two regions are mixed there */
#define MOST 0xfffe    /* regions that can be told apart */
#define MOST_CORNERS 64
#define MOST_PIXELS (1 << 22)
#define MOST_SIGMA 4096
#define HAD 1
#define SOME 2
#define BLURRED 2 /* values of a component along an edge that an encoder blurs */

/* In pixels of the frame, from the first up to, but without, the end. */
typedef struct
{
  int left, top, right, bottom;
} Box;

typedef struct
{
  const Samples *samples;
  const Rules *rules;
  double tolerance;
  int feather;
  guint16 *owners[GST_VIDEO_MAX_COMPONENTS]; /* of each value: 1 + the region whose effect the value shows */
  guint8 *left; /* of each owner in a film with losses: HAD values, and SOME are left that no encoder blurs */
} Picture;

/* Of a box. */
typedef struct
{
  gboolean ellipse;
  guint n; /* corners of a polygon; 0 for none */
  double margin, corners[MOST_CORNERS][2];
} Shape;

/* A verdict on a region of a frame. */
typedef enum
{
  COVERED,
  BARE,
  UNJUDGED
} Verdict;

/* A component as a region sees it. */
typedef struct
{
  const Picture *picture;
  const Component *component;
  const guint16 *owners;
  guint16 owner;
  Box part;  /* that has the region, in values of the component */
  int at[2]; /* where something shows, likewise */
} View;

/* --- which region a value belongs to --- */

/* A place or a size in pixels, however large the record has it. */
static int
pixels_of (const Json *number)
{
  return CLAMP (json_int (number, 0), -MOST_PIXELS, MOST_PIXELS);
}

static int
floor_div (int a, int b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static int
ceil_div (int a, int b)
{
  return -floor_div (-a, b);
}

/* The values that a box touches. */
static Box
touched (const Component *component, Box box)
{
  return (Box){ CLAMP (floor_div (box.left, component->x_step), 0, component->width),
    CLAMP (floor_div (box.top, component->y_step), 0, component->height),
    CLAMP (ceil_div (box.right, component->x_step), 0, component->width),
    CLAMP (ceil_div (box.bottom, component->y_step), 0, component->height) };
}

static Box
grow (Box box, int across, int down)
{
  return (Box){ box.left - across, box.top - down, box.right + across, box.bottom + down };
}

/* Twice the distance of the farthest of a value's pixels from the centre of a box, as a share of the box's size. */
static double
distance (int value, int step, int first, int end)
{
  const int centre = first + end - 1, low = centre - 2 * value * step, high = 2 * ((value + 1) * step - 1) - centre;

  return MAX (low, high) / (double) (end - first);
}

static gboolean
is_in_ellipse (const Component *component, Box box, int x, int y)
{
  const double u = distance (x, component->x_step, box.left, box.right);
  const double v = distance (y, component->y_step, box.top, box.bottom);

  return u * u + v * v <= 1;
}

/* The nonzero rule. */
static gboolean
winds_around (const Shape *shape, double x, double y)
{
  int turns = 0;

  for (guint i = 0; i < shape->n; i++) {
    const double *a = shape->corners[i], *b = shape->corners[(i + 1) % shape->n];
    const double side = (b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1]);

    if (a[1] <= y && b[1] > y)
      turns += side > 0;
    else if (a[1] > y && b[1] <= y)
      turns -= side < 0;
  }
  return turns != 0;
}

/* Whether an edge is within the polygon's margin. */
static gboolean
is_near_edge (const Shape *shape, double x, double y)
{
  for (guint i = 0; i < shape->n; i++) {
    const double *a = shape->corners[i], *b = shape->corners[(i + 1) % shape->n];
    const double dx = b[0] - a[0], dy = b[1] - a[1], length = dx * dx + dy * dy;
    const double along = length > 0 ? CLAMP (((x - a[0]) * dx + (y - a[1]) * dy) / length, 0, 1) : 0;

    if (length > 0 && hypot (a[0] + along * dx - x, a[1] + along * dy - y) < shape->margin)
      return TRUE;
  }
  return FALSE;
}

/* Whether a value belongs to the box's shape with all its pixels. More than those may have the effect. */
static gboolean
is_in_shape (const Shape *shape, const Component *component, Box box, int x, int y)
{
  if (shape->n == 0)
    return !shape->ellipse || is_in_ellipse (component, box, x, y);
  for (int j = 0; j < component->y_step; j++)
    for (int i = 0; i < component->x_step; i++) {
      const double at_x = x * component->x_step + i + 0.5, at_y = y * component->y_step + j + 0.5;

      if (!winds_around (shape, at_x, at_y) && !is_near_edge (shape, at_x, at_y))
        return FALSE;
    }
  return TRUE;
}

/* The margin and the corners are in sixteenths of a pixel. */
static void
read_polygon (Shape *shape, const Json *polygon)
{
  shape->n = MIN (json_length (polygon) / 2, MOST_CORNERS);
  shape->margin = json_number (json_element (polygon, 0), 0) / 16;
  for (guint i = 0; i < 2 * shape->n; i++)
    shape->corners[i / 2][i % 2] = json_number (json_element (polygon, i + 1), 0) / 16;
}

static gboolean
is_inside (Box box, int x, int y)
{
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
}

/*
 * Gives a box's values to an owner. Around the box the effect fades, so that what a region below owned there belongs to
 * nobody alone. In fields, a row of chroma beside the box may have the effect, too.
 */
static void
own_box (Picture *picture, Box box, const Shape *shape, guint16 owner)
{
  const int behind = picture->rules->fields ? 4 : 0;

  for (guint c = 0; c < picture->samples->n; c++) {
    const Component *component = &picture->samples->components[c];
    const Box inner = touched (component, box);
    const Box outer = touched (component, grow (box, picture->feather, picture->feather + behind));

    for (int y = outer.top; y < outer.bottom; y++)
      for (int x = outer.left; x < outer.right; x++) {
        guint16 *at = &picture->owners[c][(gsize) y * component->width + x];

        if (owner != NOBODY && is_inside (inner, x, y) && is_in_shape (shape, component, box, x, y))
          *at = owner;
        else if (*at != NOBODY)
          *at = owner == NOBODY ? NOBODY : SEVERAL;
      }
  }
}

static Box
box_at (const Json *boxes, guint index)
{
  const Json *box = json_element (boxes, index);
  const int x = pixels_of (json_element (box, 0)), y = pixels_of (json_element (box, 1));

  return (Box){ x, y, x + MAX (pixels_of (json_element (box, 2)), 1), y + MAX (pixels_of (json_element (box, 3)), 1) };
}

/* The box around all boxes. */
static Box
box_around (const Json *boxes)
{
  Box all = box_at (boxes, 0);

  for (guint i = 1; i < json_length (boxes); i++) {
    const Box box = box_at (boxes, i);

    all = (Box){ MIN (all.left, box.left), MIN (all.top, box.top), MAX (all.right, box.right),
      MAX (all.bottom, box.bottom) };
  }
  return all;
}

static void
own_region (Picture *picture, const Json *region, guint16 owner)
{
  const Json *boxes = json_member (region, "boxes");
  const Json *polygons = json_member (region, "polygons");
  Shape shape = { .ellipse = g_strcmp0 (json_text (json_member (region, "shape")), "ellipse") == 0 };

  for (guint i = 0; i < json_length (boxes); i++) {
    read_polygon (&shape, json_element (polygons, i));
    own_box (picture, box_at (boxes, i), &shape, owner);
  }
}

/* --- what shows --- */

/* Sums of deviations, and the largest one. */
typedef struct
{
  double squares, most;
  guint64 n;
} Deviation;

static void
deviate (Deviation *deviation, double by)
{
  deviation->squares += by * by;
  deviation->most = MAX (deviation->most, fabs (by));
  deviation->n++;
}

/*
 * In an exact film no deviation passes the limit; otherwise the root of the mean square may pass it by the tolerance.
 */
static gboolean
is_within (const Picture *picture, const Deviation *deviation, double limit)
{
  if (picture->tolerance == 0)
    return deviation->most <= limit;
  return deviation->n == 0
      || sqrt (deviation->squares / deviation->n) <= limit + ldexp (picture->tolerance, picture->samples->depth - 8);
}

static gboolean
owns (const View *view, int x, int y)
{
  return view->owners[(gsize) y * view->component->width + x] == view->owner;
}

static int
value_at (const View *view, int x, int y)
{
  return view->component->values[(gsize) y * view->component->width + x];
}

static Verdict
judge_fill (View *view, const Json *effect, guint number)
{
  const int fill = json_int (json_element (json_member (effect, "fill"), number), -1);
  Deviation deviation = { 0 };

  if (fill < 0)
    return COVERED;
  for (int y = view->part.top; y < view->part.bottom; y++)
    for (int x = view->part.left; x < view->part.right; x++)
      if (owns (view, x, y)) {
        const int by = value_at (view, x, y) - fill;

        if (ABS (by) > deviation.most) {
          view->at[0] = x;
          view->at[1] = y;
        }
        deviate (&deviation, by);
      }
  return is_within (view->picture, &deviation, 0) ? COVERED : BARE;
}

typedef struct
{
  double sum, squares;
  guint n;
  int least, most, x, y; /* x, y: the first value */
} Block;

static void
add_to_block (Block *block, int value, int x, int y)
{
  if (block->n == 0)
    *block = (Block){ .least = value, .most = value, .x = x, .y = y };
  block->sum += value;
  block->squares += (double) value * value;
  block->n++;
  block->least = MIN (block->least, value);
  block->most = MAX (block->most, value);
}

/* Whether a place lies within the margin of an edge of its block; the last place of a block may be cut off. */
static gboolean
is_at_edge (int place, int first, int side, int step, int margin)
{
  return floor_div ((place - margin) * step - first, side) != floor_div ((place + margin) * step - first, side);
}

/*
 * The mean over all blocks counts, and in an exact film the widest block. An encoder blurs the edges of blocks, too, which
 * count where blocks are so small that little else is left.
 */
static Verdict
judge_blocks (View *view, const Json *effect)
{
  const Json *blocks = json_member (effect, "blocks");
  const int left = pixels_of (json_element (blocks, 0)), top = pixels_of (json_element (blocks, 1));
  const int side = pixels_of (json_element (blocks, 2)), dx = view->component->x_step, dy = view->component->y_step;
  const Box part = view->part;
  int first, across, row, margin_x, margin_y;
  Deviation deviation = { 0 };
  Block *line;

  if (side <= 0)
    return UNJUDGED;
  margin_x = view->picture->tolerance > 0 ? MIN (BLURRED, side / dx / 8) : 0;
  margin_y = view->picture->tolerance > 0 ? MIN (BLURRED, side / dy / 8) : 0;
  first = floor_div (part.left * dx - left, side);
  across = floor_div ((part.right - 1) * dx - left, side) - first + 1;
  line = g_new0 (Block, MAX (across, 1));
  for (int y = part.top; y < part.bottom; y++) {
    row = floor_div (y * dy - top, side);
    for (int x = part.left; x < part.right; x++)
      if (owns (view, x, y) && !is_at_edge (x, left, side, dx, margin_x) && !is_at_edge (y, top, side, dy, margin_y))
        add_to_block (&line[floor_div (x * dx - left, side) - first], value_at (view, x, y), x, y);
    if (y + 1 < part.bottom && floor_div ((y + 1) * dy - top, side) == row)
      continue;
    /* The row of blocks ends here. */
    for (int i = 0; i < across; i++) {
      Block *block = &line[i];

      if (block->n == 0)
        continue;
      if (block->most - block->least > deviation.most) {
        view->at[0] = block->x;
        view->at[1] = block->y;
        deviation.most = block->most - block->least;
      }
      deviation.squares += block->squares - block->sum * block->sum / block->n;
      deviation.n += block->n;
      *block = (Block){ 0 };
    }
  }
  g_free (line);
  return is_within (view->picture, &deviation, 0) ? COVERED : BARE;
}

/* The most that neighbours differ by, and the most that steps side by side differ by. */
typedef struct
{
  double step, bend;
} Bounds;

/*
 * A blur of values between 0 and the largest one. Its steps are at most as high as a weight is large, and its bends as
 * the weights' steps. From sigma 5.7 the picture is shrunk by a power of 2, blurred there, rounded to 8 bits, and
 * interpolated between the centres. So a step is divided by the factor, and a bend lies at a centre. A tenth is added
 * for weights that are cut and rounded.
 */
static Bounds
bounds_of (const View *view, double sigma, int step)
{
  const double largest = ldexp (1, view->picture->samples->depth) - 1,
               unit = ldexp (1, view->picture->samples->depth - 8);
  double factor = 1, shrunk = sigma, rounding;
  Bounds bounds;

  while (shrunk > 5.7) {
    factor *= 2;
    shrunk /= 2;
  }
  shrunk /= step;
  rounding = factor > 1 ? unit : 1;
  if (view->picture->rules->box) {
    const double width = sqrt (12 * shrunk * shrunk + 1);

    bounds = (Bounds){ largest / width, 2 * largest / width };
  } else
    bounds = (Bounds){ largest * 0.399 / shrunk, largest * 0.484 / (shrunk * shrunk) };
  if (factor > 1) {
    bounds.step = (bounds.step * 1.1 + unit) / factor;
    bounds.bend = (bounds.bend * 1.1 + 2 * unit) / factor;
  } else {
    bounds.step *= 1.1;
    bounds.bend *= 1.1;
  }
  return (Bounds){ bounds.step + rounding, bounds.bend + 2 * rounding };
}

/* In one direction: the neighbours are dx, dy away. */
static Verdict
judge_smoothness (View *view, double sigma, int dx, int dy)
{
  const Bounds bounds = bounds_of (view, sigma, dx ? view->component->x_step : view->component->y_step);
  const Box part = view->part;
  Deviation steps = { 0 }, bends = { 0 };

  for (int y = part.top; y + dy < part.bottom; y++)
    for (int x = part.left; x + dx < part.right; x++) {
      int step, bend;

      if (!owns (view, x, y) || !owns (view, x + dx, y + dy))
        continue;
      step = value_at (view, x + dx, y + dy) - value_at (view, x, y);
      bend = 0;
      if (x + 2 * dx < part.right && y + 2 * dy < part.bottom && owns (view, x + 2 * dx, y + 2 * dy))
        bend = value_at (view, x + 2 * dx, y + 2 * dy) - value_at (view, x + dx, y + dy) - step;
      if (MAX (ABS (step) / bounds.step, ABS (bend) / bounds.bend)
          > MAX (steps.most / bounds.step, bends.most / bounds.bend)) {
        view->at[0] = x;
        view->at[1] = y;
      }
      deviate (&steps, step);
      deviate (&bends, bend);
    }
  return is_within (view->picture, &steps, bounds.step) && is_within (view->picture, &bends, bounds.bend) ? COVERED
                                                                                                          : BARE;
}

static Verdict
judge_blur (View *view, const Json *effect)
{
  const double sigma = json_number (json_member (effect, "sigma"), -1);
  Verdict verdict;

  if (!(sigma > 0 && sigma < MOST_SIGMA) || view->picture->rules->views)
    return UNJUDGED;
  verdict = judge_smoothness (view, sigma, 1, 0);
  if (verdict == COVERED && !view->picture->rules->fields)
    verdict = judge_smoothness (view, sigma, 0, 1);
  return verdict;
}

/* --- regions --- */

/* Whether the element changes a component; a gray one counts as Y. */
static gboolean
is_changed (const Picture *picture, guint component)
{
  const char name = (picture->samples->rgb ? "rgba" : "yuva")[component];

  return strchr (picture->rules->components, name) != NULL;
}

/*
 * An encoder with losses lets samples on both sides of an edge run into each other. So values with another owner within BLURRED
 * values belong to nobody alone. Nothing runs in from beyond the frame.
 */
static void
disown_edges (guint16 *owners, int width, int height)
{
  const gsize size = (gsize) width * height;
  guint16 *before = g_new (guint16, size);

  for (int down = 0; down < 2; down++) {
    const int step = down ? width : 1;

    memcpy (before, owners, size * sizeof *owners);
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        const gsize at = (gsize) y * width + x;
        const int place = down ? y : x, last = (down ? height : width) - 1;

        for (int k = MAX (-BLURRED, -place); k <= MIN (BLURRED, last - place); k++)
          if (before[at] != NOBODY && before[at + k * step] != before[at])
            owners[at] = SEVERAL;
      }
  }
  g_free (before);
}

/* Takes from all owners what an encoder blurs. */
static void
disown_blurred (Picture *picture)
{
  picture->left = g_new0 (guint8, SEVERAL + 1);
  for (guint c = 0; c < picture->samples->n; c++) {
    const Component *component = &picture->samples->components[c];
    const gsize size = (gsize) component->width * component->height;
    guint16 *owners = picture->owners[c];

    for (gsize i = 0; i < size && is_changed (picture, c); i++)
      picture->left[owners[i]] |= HAD;
    disown_edges (owners, component->width, component->height);
    for (gsize i = 0; i < size && is_changed (picture, c); i++)
      picture->left[owners[i]] |= SOME;
  }
}

static Verdict
judge_component (View *view, const Json *effect, guint component)
{
  const char *name = json_text (json_member (effect, "effect"));

  if (json_number (json_member (effect, "opacity"), 1) < 1) {
    view->at[0] = view->part.left;
    view->at[1] = view->part.top;
    return BARE; /* the picture shows through */
  }
  if (!g_strcmp0 (json_text (json_member (effect, "shape")), "matte"))
    return UNJUDGED; /* the record does not have the weights */
  if (json_member (effect, "picture"))
    return UNJUDGED; /* nor the picture */
  if (!g_strcmp0 (name, "fill"))
    return judge_fill (view, effect, component);
  if (!g_strcmp0 (name, "pixelate") || !g_strcmp0 (name, "noise-pixelate"))
    return judge_blocks (view, effect);
  if (!g_strcmp0 (name, "mask"))
    return judge_blur (view, effect);
  return UNJUDGED;
}

/* at is the pixel where something shows. Where no component is changed, all shows. */
static Verdict
judge_region (const Picture *picture, const Json *effect, guint16 owner, Box around, int at[2])
{
  gboolean changed = FALSE;

  if (picture->left && picture->left[owner] == HAD)
    return UNJUDGED;
  for (guint c = 0; c < picture->samples->n; c++) {
    const Component *component = &picture->samples->components[c];
    View view = { picture, component, picture->owners[c], owner, touched (component, around), { 0 } };
    Verdict verdict;

    changed |= is_changed (picture, c);
    if (!is_changed (picture, c) || view.part.left == view.part.right || view.part.top == view.part.bottom)
      continue;
    verdict = judge_component (&view, effect, c);
    if (verdict == COVERED)
      continue;
    at[0] = view.at[0] * component->x_step;
    at[1] = view.at[1] * component->y_step;
    return verdict;
  }
  return changed ? COVERED : BARE;
}

static void
tell_bare (GPtrArray *faults, const Json *region, Box box, const int at[2])
{
  const char *type = json_text (json_member (region, "type")), *source = json_text (json_member (region, "source"));
  const char *how = json_text (json_member (region, "how")), *effect = json_text (json_member (region, "effect"));

  g_ptr_array_add (faults,
      g_strdup_printf ("the box %d,%d,%d,%d (%s%s%s, %s) is bare: at %d,%d is more than %s leaves", box.left, box.top,
          box.right - box.left, box.bottom - box.top, type ? type : "", type ? ", " : "", source ? source : "frame",
          how ? how : "outside of the regions", at[0], at[1], effect ? effect : "the effect"));
}

static void
judge (const Picture *picture, const Json *region, guint16 owner, Box around, Counts *counts, GPtrArray *faults)
{
  int at[2] = { 0 };

  switch (judge_region (picture, region, owner, around, at)) {
    case COVERED:
      counts->covered++;
      break;
    case BARE:
      counts->bare++;
      tell_bare (faults, region, around, at);
      break;
    case UNJUDGED:
      counts->unjudged++;
      break;
  }
}

void
hidden_judge (const Samples *samples, const Json *line, const Rules *rules, double tolerance, Counts *counts,
    GPtrArray *faults)
{
  const Json *regions = json_member (line, "regions"), *outside = json_member (line, "outside");
  const Box frame = { 0, 0, rules->width, rules->height };
  const guint n = MIN (json_length (regions), MOST);
  Picture picture = { samples, rules, tolerance, json_member (line, "whole") ? 0 : rules->feather, { NULL }, NULL };

  if (n == 0 && !outside)
    return;
  for (guint c = 0; c < samples->n; c++) {
    const gsize size = (gsize) samples->components[c].width * samples->components[c].height;

    picture.owners[c] = g_new0 (guint16, size);
    for (gsize i = 0; outside && i < size; i++)
      picture.owners[c][i] = 1;
  }
  for (guint i = 0; i < n; i++)
    own_region (&picture, json_element (regions, i), outside ? NOBODY : i + 1);
  if (tolerance > 0)
    disown_blurred (&picture);
  if (outside)
    judge (&picture, outside, 1, frame, counts, faults);
  for (guint i = 0; i < n && !outside; i++) {
    const Json *region = json_element (regions, i);

    if (json_length (json_member (region, "boxes")) > 0)
      judge (&picture, region, i + 1, box_around (json_member (region, "boxes")), counts, faults);
  }
  for (guint c = 0; c < samples->n; c++)
    g_free (picture.owners[c]);
  g_free (picture.left);
}
