/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/windows.h"

#include "properties/enums.h"

/* a / b, rounded up; 0 where a is negative. */
static gint
divide_up (gint a, gint b)
{
  return a <= 0 ? 0 : (a + b - 1) / b;
}

static GstCudaConvolveSpan
common_span (GstCudaConvolveSpan a, GstCudaConvolveSpan b)
{
  return (GstCudaConvolveSpan){ MAX (a.first, b.first), MIN (a.end, b.end) };
}

/* --- what a frame is --- */

static gboolean
has_flag (GstBuffer *buffer, GstVideoBufferFlags flag)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, flag);
}

/* Whether the rows of the frame are those of two fields in turn, whatever is done about that. */
static gboolean
weaves_fields (const GstVideoInfo *info, GstBuffer *buffer)
{
  switch (GST_VIDEO_INFO_INTERLACE_MODE (info)) {
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      return TRUE;
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      return has_flag (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    default:
      return FALSE;
  }
}

static gboolean
is_one_field (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE;
}

/* Whether the two fields of the frame are to be convolved by themselves. */
gboolean
gst_cuda_convolve_windows_split_fields (const GstVideoInfo *info, gint field_mode, GstBuffer *buffer)
{
  if (is_one_field (info) || field_mode == CONVOLVE_FIELD_MODE_DISABLED)
    return FALSE;
  return field_mode == CONVOLVE_FIELD_MODE_INTERLACED || weaves_fields (info, buffer);
}

static gboolean
may_be_mono (const GstVideoInfo *info)
{
  return (GST_VIDEO_INFO_MULTIVIEW_FLAGS (info) & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO) != 0;
}

/* How the views of the frame lie beside each other; MONO where the frame has one view. */
GstVideoMultiviewMode
gst_cuda_convolve_windows_packing (const GstVideoInfo *info, GstBuffer *buffer)
{
  if (may_be_mono (info) && !has_flag (buffer, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW))
    return GST_VIDEO_MULTIVIEW_MODE_MONO;
  return GST_VIDEO_INFO_MULTIVIEW_MODE (info);
}

gboolean
gst_cuda_convolve_windows_have_kind (const GstVideoInfo *info, gint field_mode, guint kind)
{
  GstVideoInterlaceMode interlace = GST_VIDEO_INFO_INTERLACE_MODE (info);
  GstVideoMultiviewMode views = GST_VIDEO_INFO_MULTIVIEW_MODE (info);
  gboolean rows_of_views = views == GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED && !is_one_field (info);
  gboolean columns_of_views = views == GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED;
  gboolean fields = field_mode == CONVOLVE_FIELD_MODE_INTERLACED
      || (field_mode == CONVOLVE_FIELD_MODE_AUTO && interlace != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE);
  gboolean both = field_mode == CONVOLVE_FIELD_MODE_AUTO && interlace == GST_VIDEO_INTERLACE_MODE_MIXED;
  gboolean second_rows = fields || rows_of_views, second_columns = columns_of_views;
  gboolean all_rows = (!fields || both) && (!rows_of_views || may_be_mono (info));
  gboolean all_columns = !columns_of_views || may_be_mono (info);

  return (kind & GST_CUDA_CONVOLVE_SECOND_ROWS ? second_rows : all_rows)
      && (kind & GST_CUDA_CONVOLVE_SECOND_COLUMNS ? second_columns : all_columns);
}

GstCudaConvolveGroup
gst_cuda_convolve_windows_group (const GstCudaConvolveGroup *group, guint kind)
{
  GstCudaConvolveGroup seen = *group;

  if (group->pixel.select == 0) /* copied as one window */
    return seen;
  if (kind & GST_CUDA_CONVOLVE_SECOND_ROWS)
    seen.y_step *= 2;
  if (kind & GST_CUDA_CONVOLVE_SECOND_COLUMNS) {
    seen.x_step *= 2;
    seen.pixel.stride *= 2;
  }
  return seen;
}

/* --- the parts of a frame --- */

/* Adds the view: every row of it, or its two fields, or the rows of the one field that the frame has. */
static void
add_view (GstCudaConvolveWindows *windows, const GstVideoInfo *info, gboolean fields, GstBuffer *buffer,
    GstCudaConvolvePart view)
{
  gboolean bottom = has_flag (buffer, GST_VIDEO_BUFFER_FLAG_ONEFIELD) && !has_flag (buffer, GST_VIDEO_BUFFER_FLAG_TFF);

  view.y_step = fields || is_one_field (info) ? 2 : 1;
  view.y_phase = is_one_field (info) && bottom ? 1 : 0;
  windows->parts[windows->n++] = view;
  if (fields) {
    view.y_phase = 1;
    windows->parts[windows->n++] = view;
  }
}

static void
split_frame (GstCudaConvolveWindows *windows, const GstVideoInfo *info, gint field_mode, GstBuffer *buffer)
{
  GstCudaConvolvePart one = { .x_step = 1, .x = windows->picture_x, .y = windows->picture_y }, other = one;
  gboolean fields = gst_cuda_convolve_windows_split_fields (info, field_mode, buffer), apart = TRUE;

  switch (gst_cuda_convolve_windows_packing (info, buffer)) {
    case GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE:
      one.x.end = other.x.first = (one.x.end + 1) / 2;
      break;
    case GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM:
      one.y.end = other.y.first = (one.y.end + 1) / 2;
      break;
    case GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED:
      one.x_step = other.x_step = 2;
      other.x_phase = 1;
      windows->kind |= GST_CUDA_CONVOLVE_SECOND_COLUMNS;
      break;
    case GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED:
      fields |= !is_one_field (info);
      apart = FALSE;
      break;
    default:
      apart = FALSE;
      break;
  }
  add_view (windows, info, fields, buffer, one);
  if (apart)
    add_view (windows, info, fields, buffer, other);
  if (fields || (is_one_field (info) && field_mode != CONVOLVE_FIELD_MODE_DISABLED))
    windows->kind |= GST_CUDA_CONVOLVE_SECOND_ROWS;
}

/* --- the rows of a frame --- */

/*
 * Where a plane has fewer rows than the picture, its rows belong to the fields in turn, too. Then the bottom field may
 * have a last row beyond those of a progressive frame: the fourth row of chroma for 6 rows of luma in 4:2:0.
 */
static gsize
count_rows_of_fields (gint height, guint y_step)
{
  gint top = divide_up (divide_up (height, 2), y_step), bottom = divide_up (height / 2, y_step);

  return MAX (2 * top - 1, 2 * bottom);
}

gsize
gst_cuda_convolve_windows_most_rows (const GstCudaConvolvePlane *plane)
{
  return plane->rows + 1;
}

/* The first and the last byte, and one more, of rows of a mapped plane. */
static void
find_bytes (const GstVideoFrame *frame, guint plane, gsize row_bytes, gsize first, gsize count, const guint8 **start,
    const guint8 **end)
{
  gssize stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
  const guint8 *one = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, plane) + (gssize) first * stride;
  const guint8 *other = one + (gssize) (count - 1) * stride;

  *start = MIN (one, other);
  *end = MAX (one, other) + row_bytes;
}

/*
 * Whether the plane's memory has rows beyond those of the layout, which no other plane has. Where GStreamer's layout of the
 * frame has no room for them, they are padding.
 */
static gboolean
has_rows (const GstCudaConvolveLayout *layout, const GstCudaConvolveFrame *frame, guint plane, gsize rows)
{
  const GstMapInfo *map = &frame->video.map[frame->video.meta ? plane : 0];
  const GstCudaConvolvePlane *shape = &layout->planes[plane];
  const guint8 *start, *end, *other_start, *other_end;

  find_bytes (&frame->video, plane, shape->row_bytes, shape->rows, rows - shape->rows, &start, &end);
  if (gst_cuda_convolve_crop_room (layout, &frame->crop, frame->video.buffer, plane) < rows)
    return FALSE;
  if (start < map->data || end > map->data + map->size)
    return FALSE;
  for (guint i = 0; i < layout->n_planes; i++) {
    find_bytes (&frame->video, i, layout->planes[i].row_bytes, 0, layout->planes[i].rows, &other_start, &other_end);
    if (i != plane && start < other_end && other_start < end)
      return FALSE;
  }
  return TRUE;
}

/*
 * Adds the rows of fields. Where the fields are not convolved by themselves the frame is one picture, which does not have
 * such a row; but who takes the frame's fields apart reads the row, so that it is a picture of its own.
 */
static void
count_rows (GstCudaConvolveWindows *windows, const GstCudaConvolveLayout *layout, gboolean fields,
    const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out)
{
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];
    GstCudaConvolvePlane *shape = &windows->planes[group->plane];
    gsize rows = count_rows_of_fields (windows->picture_y.end, group->y_step);

    if (rows > shape->rows && has_rows (layout, in, group->plane, rows) && has_rows (layout, out, group->plane, rows)) {
      windows->behind[group->plane] = fields ? 0 : rows - shape->rows;
      shape->rows = rows;
    }
  }
}

void
gst_cuda_convolve_windows_init (GstCudaConvolveWindows *windows, const GstCudaConvolveLayout *layout, gint field_mode,
    const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out)
{
  const GstVideoInfo *info = &layout->info;
  GstBuffer *buffer = in->video.buffer;
  const ConvolveRect *crop = &in->crop.rect;

  *windows = (GstCudaConvolveWindows){
    .picture_x = { 0, GST_VIDEO_INFO_WIDTH (info) },
    .picture_y = { 0, GST_VIDEO_INFO_HEIGHT (info) },
    .woven = !is_one_field (info),
  };
  windows->crop_x = (GstCudaConvolveSpan){ crop->x, crop->x + crop->width };
  windows->crop_y = (GstCudaConvolveSpan){ crop->y, crop->y + crop->height };
  split_frame (windows, info, field_mode, buffer);
  for (guint i = 0; i < layout->n_planes; i++)
    windows->planes[i] = layout->planes[i];
  if (weaves_fields (info, buffer))
    count_rows (windows, layout, gst_cuda_convolve_windows_split_fields (info, field_mode, buffer), in, out);
}

/* --- windows --- */

/* One direction of a group: samples, each of which stands for `sub` of the pixels phase, phase + step, ... */
typedef struct
{
  gint phase, step, sub;
  gint pixels;  /* of the picture */
  gint samples; /* of the group, in this phase */
} Axis;

/* The samples of a view. A sample between two views belongs to the first of them, so that each has one view. */
static GstCudaConvolveSpan
samples_of_view (const Axis *axis, GstCudaConvolveSpan view)
{
  gint first = divide_up (divide_up (view.first - axis->phase, axis->step), axis->sub);
  gint end = divide_up (divide_up (view.end - axis->phase, axis->step), axis->sub);

  if (view.end >= axis->pixels)
    end = axis->samples;
  return (GstCudaConvolveSpan){ MIN (first, axis->samples), MIN (end, axis->samples) };
}

/* The samples of a crop: all that touch the crop. */
static GstCudaConvolveSpan
samples_of_crop (const Axis *axis, GstCudaConvolveSpan crop)
{
  gint first = divide_up (crop.first - axis->phase, axis->step), end = divide_up (crop.end - axis->phase, axis->step);

  if (crop.first <= 0 && crop.end >= axis->pixels)
    return (GstCudaConvolveSpan){ 0, axis->samples };
  if (first >= end)
    return (GstCudaConvolveSpan){ 0, 0 };
  if (crop.end >= axis->pixels)
    return (GstCudaConvolveSpan){ first / axis->sub, axis->samples };
  return (GstCudaConvolveSpan){ first / axis->sub, MIN (divide_up (end, axis->sub), axis->samples) };
}

guint
gst_cuda_convolve_windows_count (const GstCudaConvolveWindows *windows, const GstCudaConvolveGroup *group)
{
  if (group->pixel.select == 0)
    return 1;
  return windows->behind[group->plane] ? 2 * windows->n : windows->n;
}

static GstCudaConvolveWindow
no_window (void)
{
  return (GstCudaConvolveWindow){ .row_step = 1, .column_step = 1 };
}

/* The group as it is, with the rows behind the picture. */
static GstCudaConvolveWindow
whole_group (const GstCudaConvolveWindows *windows, const GstCudaConvolveGroup *group)
{
  gint rows = windows->planes[group->plane].rows;

  return (GstCudaConvolveWindow){ .row_step = 1,
    .column_step = 1,
    .width = group->width,
    .height = rows,
    .inside = { 0, 0, group->width, rows } };
}

/* The row behind the picture, of the part that has the picture's last row: under that row, and in the crop with it. */
static gboolean
go_behind (const GstCudaConvolveWindows *windows, const GstCudaConvolvePart *part, gint row, gint phase, gint step,
    GstCudaConvolveSpan *y, GstCudaConvolveSpan *inside)
{
  if (part->y.end < windows->picture_y.end || (row - phase) % step != 0)
    return FALSE;
  *y = (GstCudaConvolveSpan){ (row - phase) / step, (row - phase) / step + 1 };
  *inside = windows->crop_y.end >= windows->picture_y.end ? *y : (GstCudaConvolveSpan){ 0, 0 };
  return TRUE;
}

GstCudaConvolveWindow
gst_cuda_convolve_windows_get (const GstCudaConvolveWindows *windows, const GstCudaConvolveGroup *group, guint index)
{
  const GstCudaConvolvePart *part = &windows->parts[index % windows->n];
  gint rows = windows->planes[group->plane].rows - windows->behind[group->plane];
  gint phase = windows->woven ? part->y_phase : 0, step = windows->woven ? part->y_step : 1;
  Axis x_axis = { .phase = part->x_phase,
    .step = part->x_step,
    .sub = group->x_step,
    .pixels = windows->picture_x.end,
    .samples = divide_up (group->width - part->x_phase, part->x_step) };
  Axis y_axis = { .phase = part->y_phase,
    .step = part->y_step,
    .sub = group->y_step,
    .pixels = windows->picture_y.end,
    .samples = divide_up (rows - phase, step) };
  GstCudaConvolveSpan x = samples_of_view (&x_axis, part->x), y = samples_of_view (&y_axis, part->y);
  GstCudaConvolveSpan inside_x = common_span (x, samples_of_crop (&x_axis, windows->crop_x));
  GstCudaConvolveSpan inside_y = common_span (y, samples_of_crop (&y_axis, windows->crop_y));
  GstCudaConvolveWindow window;

  if (group->pixel.select == 0)
    return whole_group (windows, group);
  if (index >= windows->n && !go_behind (windows, part, rows, phase, step, &y, &inside_y))
    return no_window ();
  if (x.first >= x.end || y.first >= y.end)
    return no_window ();
  window = (GstCudaConvolveWindow){ .row = phase + y.first * step,
    .row_step = step,
    .column = part->x_phase + x.first * part->x_step,
    .column_step = part->x_step,
    .width = x.end - x.first,
    .height = y.end - y.first };
  if (inside_x.first < inside_x.end && inside_y.first < inside_y.end)
    window.inside = (ConvolveRect){ inside_x.first - x.first, inside_y.first - y.first, inside_x.end - inside_x.first,
      inside_y.end - inside_y.first };
  return window;
}

/* The window's rows that are among the rows first up to end of the plane. */
static GstCudaConvolveSpan
rows_of_window (const GstCudaConvolveWindow *window, gint first, gint end)
{
  return (GstCudaConvolveSpan){ MIN (divide_up (first - window->row, window->row_step), window->height),
    MIN (divide_up (end - window->row, window->row_step), window->height) };
}

static GstCudaConvolveSpan
rows_inside (const GstCudaConvolveWindow *window)
{
  return (GstCudaConvolveSpan){ window->inside.y, window->inside.y + window->inside.height };
}

static gboolean
has_rest (const GstCudaConvolveWindow *window)
{
  return window->inside.width < window->width || window->inside.height < window->height;
}

gint
gst_cuda_convolve_window_source_end (const GstCudaConvolveWindow *window, const ConvolvePlan *plan, gint first,
    gint end)
{
  GstCudaConvolveSpan rows = rows_of_window (window, first, end);
  GstCudaConvolveSpan inside = common_span (rows, rows_inside (window));
  gint needed = has_rest (window) ? rows.end : 0, from, to;

  if (inside.first < inside.end) {
    convolve_plan_source_rows (plan, window->inside.height, inside.first - window->inside.y,
        inside.end - window->inside.y, &from, &to);
    needed = MAX (needed, window->inside.y + to);
  }
  return needed > 0 ? window->row + (needed - 1) * window->row_step + 1 : 0;
}

/* --- computing a window --- */

/* Runs a plan on the part `rows` of an image, which lies in the window. */
static ConvolveStatus
run_image (const GstCudaConvolveWindow *window, const GstCudaConvolveGroup *group, const ConvolvePlan *plan,
    const GstCudaConvolvePlanePair *pair, ConvolveRect image, ConvolveRect region, ConvolveError *error)
{
  gssize row = window->row + (gssize) image.y * window->row_step;
  gssize offset = group->offset + (window->column + (gssize) image.x * window->column_step) * group->pixel.stride;
  ConvolvePlane plane = {
    .source = pair->source + row * pair->source_stride + offset,
    .destination = pair->destination + row * pair->destination_stride + offset,
    .source_stride = pair->source_stride * window->row_step,
    .destination_stride = pair->destination_stride * window->row_step,
    .width = image.width,
    .height = image.height,
    .region = region,
  };

  if (region.width <= 0 || region.height <= 0)
    return CONVOLVE_OK;
  return convolve_run (plan, &plane, error);
}

/* Copies what lies outside the convolved image, of the rows of the window: above, below, left and right of it. */
static ConvolveStatus
copy_rest (const GstCudaConvolveWindow *window, const GstCudaConvolveGroup *group, const ConvolvePlan *copy,
    const GstCudaConvolvePlanePair *pair, GstCudaConvolveSpan rows, ConvolveError *error)
{
  GstCudaConvolveSpan inside = common_span (rows, rows_inside (window));
  gint right = window->inside.x + window->inside.width, below = window->inside.y + window->inside.height;
  gint between = inside.end - inside.first;
  ConvolveRect rests[] = {
    { 0, rows.first, window->width, MIN (rows.end, window->inside.y) - rows.first },
    { 0, MAX (rows.first, below), window->width, rows.end - MAX (rows.first, below) },
    { 0, inside.first, window->inside.x, between },
    { right, inside.first, window->width - right, between },
  };
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < G_N_ELEMENTS (rests) && status == CONVOLVE_OK; i++)
    status =
        run_image (window, group, copy, pair, (ConvolveRect){ 0, 0, window->width, window->height }, rests[i], error);
  return status;
}

ConvolveStatus
gst_cuda_convolve_window_run (const GstCudaConvolveWindow *window, const GstCudaConvolveGroup *group,
    const ConvolvePlan *plan, const ConvolvePlan *copy, const GstCudaConvolvePlanePair *pair, gint first, gint end,
    ConvolveError *error)
{
  GstCudaConvolveSpan rows = rows_of_window (window, first, end);
  GstCudaConvolveSpan inside = common_span (rows, rows_inside (window));
  ConvolveRect region = { 0, inside.first - window->inside.y, window->inside.width, inside.end - inside.first };
  ConvolveStatus status = run_image (window, group, plan, pair, window->inside, region, error);

  if (status == CONVOLVE_OK && has_rest (window))
    status = copy_rest (window, group, copy, pair, rows, error);
  return status;
}

gboolean
gst_cuda_convolve_window_part (const GstCudaConvolveWindow *window, const GstCudaConvolveGroup *group,
    const ConvolvePlane *plane, ConvolvePlane *part)
{
  const ConvolveRect *inside = &window->inside, *region = &plane->region;
  GstCudaConvolveSpan rows = rows_of_window (window, region->y, region->y + region->height);
  GstCudaConvolveSpan columns = { divide_up (region->x - window->column, window->column_step),
    divide_up (region->x + region->width - window->column, window->column_step) };
  gssize row = window->row + (gssize) inside->y * window->row_step;
  gssize offset = (window->column + (gssize) inside->x * window->column_step) * group->pixel.stride;

  rows = common_span (rows, rows_inside (window));
  columns = common_span (columns, (GstCudaConvolveSpan){ inside->x, inside->x + inside->width });
  if (rows.first >= rows.end || columns.first >= columns.end)
    return FALSE;
  *part = (ConvolvePlane){
    .source = (const guint8 *) plane->source + row * plane->source_stride + offset,
    .destination = (guint8 *) plane->destination + row * plane->destination_stride + offset,
    .source_stride = plane->source_stride * window->row_step,
    .destination_stride = plane->destination_stride * window->row_step,
    .width = inside->width,
    .height = inside->height,
    .region = { columns.first - inside->x, rows.first - inside->y, columns.end - columns.first, rows.end - rows.first },
  };
  return TRUE;
}

/* --- what the user is told --- */

typedef enum
{
  EMPTY_CROP,
  REGIONS_AND_CROP,
  MINGLED_VIEWS,
  ROWS_OF_VIEWS_AND_FIELDS
} Fault;

guint
gst_cuda_convolve_windows_faults (const GstVideoInfo *info, gint field_mode, gboolean regions,
    GstCudaConvolveCropKind crop, GstBuffer *buffer)
{
  GstVideoMultiviewMode views = gst_cuda_convolve_windows_packing (info, buffer);
  gboolean mingled =
      views == GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE_QUINCUNX || views == GST_VIDEO_MULTIVIEW_MODE_CHECKERBOARD;
  gboolean fields = gst_cuda_convolve_windows_split_fields (info, field_mode, buffer) || is_one_field (info);
  gboolean rows = views == GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED;

  return (crop == GST_CUDA_CONVOLVE_CROP_EMPTY ? 1u << EMPTY_CROP : 0)
      | (regions && crop == GST_CUDA_CONVOLVE_CROP_PART ? 1u << REGIONS_AND_CROP : 0)
      | (mingled ? 1u << MINGLED_VIEWS : 0) | (rows && fields ? 1u << ROWS_OF_VIEWS_AND_FIELDS : 0);
}

const gchar *
gst_cuda_convolve_windows_fault_text (guint bit)
{
  switch ((Fault) bit) {
    case EMPTY_CROP:
      return "GstVideoCropMeta: the crop has no pixel of its frame, and the whole frame is convolved";
    case REGIONS_AND_CROP:
      return "GstVideoCropMeta: the crop does not limit the regions of apply-to, which are changed outside, too";
    case MINGLED_VIEWS:
      return "multiview-mode: views whose pixels alternate (checkerboard, side-by-side-quincunx) are convolved together, "
             "as one picture";
    case ROWS_OF_VIEWS_AND_FIELDS:
      return "multiview-mode: in interlaced frames the rows of row-interleaved views are not kept apart; each field is "
             "one picture";
  }
  return NULL;
}
