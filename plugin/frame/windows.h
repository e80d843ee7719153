/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a frame that are convolved as images of their own, so that no part reaches into another: the fields of
 * an interlaced frame, the views of a stereo frame, and the rectangle of a GstVideoCropMeta, in any combination. What
 * these parts leave out is copied.
 *
 * gst_cuda_convolve_windows_init() looks at caps, flags and metas once for each frame. A frame is first split into
 * parts, which have every pixel once; a crop then makes each part smaller. A window is what a part is in one group of a
 * plane.
 */
#ifndef GST_CUDA_CONVOLVE_WINDOWS_H
#define GST_CUDA_CONVOLVE_WINDOWS_H

#include "frame/rows.h"

G_BEGIN_DECLS

#define GST_CUDA_CONVOLVE_MAX_PARTS 4 /* two fields of two views */

/*
 * Which pixels of the picture are neighbours in a part, as bits. In a field neighbouring rows are two rows of the
 * picture apart, and a preset that has a size in luma pixels gets another mask; so do columns in a view that has every
 * second column.
 */
typedef enum
{
  GST_CUDA_CONVOLVE_SECOND_ROWS = 1 << 0,
  GST_CUDA_CONVOLVE_SECOND_COLUMNS = 1 << 1,
  GST_CUDA_CONVOLVE_N_KINDS = 1 << 2
} GstCudaConvolveKind;

/* Luma pixels or rows of the picture, from first up to, but without, end. */
typedef struct
{
  gint first, end;
} GstCudaConvolveSpan;

/* The rows y_phase, y_phase + y_step, ... of the picture, and such columns, in the rectangle x by y. */
typedef struct
{
  gint x_phase, x_step, y_phase, y_step;
  GstCudaConvolveSpan x, y;
} GstCudaConvolvePart;

typedef struct
{
  guint kind; /* bits of GstCudaConvolveKind */
  guint n;
  GstCudaConvolvePart parts[GST_CUDA_CONVOLVE_MAX_PARTS];
  gboolean woven;                                    /* the frame has all rows of the picture, and not one field */
  GstCudaConvolveSpan picture_x, picture_y;          /* the whole picture; a field has every second row of it */
  GstCudaConvolveSpan crop_x, crop_y;                /* inside the picture; what lies outside is copied */
  GstCudaConvolvePlane planes[GST_VIDEO_MAX_PLANES]; /* with the rows that this frame has */
  gint behind[GST_VIDEO_MAX_PLANES];                 /* how many of these rows are a picture of their own */
} GstCudaConvolveWindows;

/* In pixels of a group. Row r of the window is row `row + r * row_step` of the plane, and likewise for columns. */
typedef struct
{
  gint row, row_step, column, column_step;
  gint width, height;  /* 0 by 0 where the part has no pixel in the group */
  ConvolveRect inside; /* the image to convolve, in the window's rows and columns; the rest is copied */
} GstCudaConvolveWindow;

/* Whether frames with info can be of a kind; field_mode is a value of ConvolveFieldMode. */
gboolean gst_cuda_convolve_windows_have_kind (const GstVideoInfo *info, gint field_mode, guint kind);

/* Whether the frame is split into two fields, and how its views lie in it. */
gboolean gst_cuda_convolve_windows_split_fields (const GstVideoInfo *info, gint field_mode, GstBuffer *buffer);
GstVideoMultiviewMode gst_cuda_convolve_windows_packing (const GstVideoInfo *info, GstBuffer *buffer);

/* The group as plans for a kind see it: pixels may be farther apart, and stand for more luma pixels. */
GstCudaConvolveGroup gst_cuda_convolve_windows_group (const GstCudaConvolveGroup *group, guint kind);

/* What there is to do for a pair of mapped frames with the layout. The input has the flags and the metas. */
void gst_cuda_convolve_windows_init (GstCudaConvolveWindows *windows, const GstCudaConvolveLayout *layout,
    gint field_mode, const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out);

/* The most rows that a frame can have of a plane: the last row of its bottom field may be one that the layout does not have. */
gsize gst_cuda_convolve_windows_most_rows (const GstCudaConvolvePlane *plane);

/*
 * The number of windows of a group, and each of them. A group of which nothing is convolved is one window. Where the frame
 * is one picture and not two fields, the row that only a field has is a window behind the others, for each part.
 */
guint gst_cuda_convolve_windows_count (const GstCudaConvolveWindows *windows, const GstCudaConvolveGroup *group);
GstCudaConvolveWindow gst_cuda_convolve_windows_get (const GstCudaConvolveWindows *windows,
    const GstCudaConvolveGroup *group, guint index);

/* The end of the plane's rows that the rows first up to end of the plane depend on, as far as the window goes. */
gint gst_cuda_convolve_window_source_end (const GstCudaConvolveWindow *window, const ConvolvePlan *plan, gint first,
    gint end);

/*
 * Computes the window's pixels in the rows first up to end of the plane. copy is a plan that copies the group, and may
 * be NULL for a frame without a crop.
 */
ConvolveStatus gst_cuda_convolve_window_run (const GstCudaConvolveWindow *window, const GstCudaConvolveGroup *group,
    const ConvolvePlan *plan, const ConvolvePlan *copy, const GstCudaConvolvePlanePair *pair, gint first, gint end,
    ConvolveError *error);

/*
 * The window as an image of its own, of a plane whose source and destination begin at the group's pixel (0, 0): *part is
 * what of the plane's region lies inside. FALSE where nothing does.
 */
gboolean gst_cuda_convolve_window_part (const GstCudaConvolveWindow *window, const GstCudaConvolveGroup *group,
    const ConvolvePlane *plane, ConvolvePlane *part);

/* --- what the user is told --- */

/*
 * What of a frame cannot be kept apart, one bit for each, and the sentence about a bit. regions tells that only parts of the
 * frames change.
 */
guint gst_cuda_convolve_windows_faults (const GstVideoInfo *info, gint field_mode, gboolean regions,
    GstCudaConvolveCropKind crop, GstBuffer *buffer);
const gchar *gst_cuda_convolve_windows_fault_text (guint bit);

G_END_DECLS

#endif
