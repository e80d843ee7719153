/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must hold for every frame that comes out: the right samples, where the mask is known, and all bytes around the
 * picture as they were.
 */
#include <string.h>

#include "fuzz/fuzz_element.h"
#include "support/oracle.h"

const KnownMask fuzz_masks[] = {
  { "identity", 1, 1, { 1 }, 1 },
  { "1", 1, 1, { 1 }, 1 },
  { "0 0 0; 0 0 1; 0 0 0", 3, 3, { 0, 0, 0, 0, 0, 1, 0, 0, 0 }, 1 },
  { "0 1 0; 0 0 0; 0 0 0", 3, 3, { 0, 1, 0, 0, 0, 0, 0, 0, 0 }, 1 },
  { "1 1 1; 1 1 1; 1 1 1", 3, 3, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 9 },
  { "1 2 3; 4 5 6; 7 8 9", 3, 3, { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 45 },
  { "5x1: 1 2 3 4 5", 5, 1, { 1, 2, 3, 4, 5 }, 15 },
  { "1x3: 3 1 2", 1, 3, { 3, 1, 2 }, 6 },
  { "0 -1 0; -1 5 -1; 0 -1 0", 3, 3, { 0, -1, 0, -1, 5, -1, 0, -1, 0 }, 1 },
  { "3x5: 1 0 2; 0 3 0; 4 0 5; 0 6 0; 7 0 8", 3, 5, { 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 }, 36 },
};
const guint fuzz_n_masks = G_N_ELEMENTS (fuzz_masks);

static gboolean
is_good (const Oracle *oracle, gint sample, const OracleValue *value, const guint8 *at, gint slack)
{
  gint word = oracle_word (oracle, at);

  return slack > 0 ? word >= value->low - slack && word <= value->high + slack
                   : oracle_accepts (oracle, sample, value, at);
}

static void
check_group (const Frame *frame, const GstCudaConvolveGroup *group, const GstVideoFrame *output, const gchar *format)
{
  const ConvolvePixel *pixel = &group->pixel;
  const KnownMask *mask = &fuzz_masks[frame->mask];
  gsize size = pixel->type == CONVOLVE_SAMPLE_U8 ? 1 : 2;
  const guint8 *out = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (output, group->plane) + group->offset;
  gssize out_stride = GST_VIDEO_FRAME_PLANE_STRIDE (output, group->plane);
  g_autofree OracleValue *values = g_new (OracleValue, (gsize) group->width * group->height * pixel->samples);
  Oracle oracle = {
    .sample_size = size,
    .depth = pixel->depth,
    .shift = pixel->shift,
    .swapped = pixel->swapped,
    .samples = pixel->samples,
    .pixel_stride = pixel->stride,
    .select = mask->width * mask->height > 1 ? pixel->select : 0, /* a mask that changes nothing keeps every bit */
    .pixels = frame->bytes + frame->offset[group->plane] + group->offset,
    .row_stride = frame->stride[group->plane],
    .width = group->width,
    .height = group->height,
    .boundary = frame->boundary,
    .mask_width = mask->width,
    .mask_height = mask->height,
    .integers = mask->integers,
    .numerator = 1,
    .denominator = mask->divisor,
  };

  for (gint k = 0; k < pixel->samples; k++) {
    oracle.zero[k] = oracle.outside[k] = pixel->zero[k];
    oracle.range[k] = pixel->range[k];
  }
  if (!oracle_convolve (&oracle, 0, 0, group->width, group->height, values))
    fuzz_fail ("the oracle has no memory");
  for (gint y = 0; y < group->height; y++)
    for (gint x = 0; x < group->width; x++)
      for (gint k = 0; k < pixel->samples; k++) {
        const OracleValue *value = &values[(y * group->width + x) * pixel->samples + k];
        const guint8 *at = out + y * out_stride + x * pixel->stride + k * size;

        if (!is_good (&oracle, k, value, at, frame->slack))
          fuzz_fail ("%s %dx%d, mask %s, boundary %d: plane %u, sample %d of pixel %d,%d is %d, not %d to %d", format,
              frame->info.width, frame->info.height, mask->text, frame->boundary, group->plane, k, x, y,
              oracle_word (&oracle, at), value->low, value->high);
      }
}

/* A byte for each byte of the memory, which is 1 where the picture has that byte. */
static guint8 *
mark_picture (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame, const guint8 *data, gsize size)
{
  guint8 *marks = g_malloc0 (size + 1);
  gboolean fields = GST_VIDEO_INFO_INTERLACE_MODE (&layout->info) != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;

  for (guint i = 0; i < layout->n_planes; i++)
    /* The fields of 4:2:0 frames may have one row of chroma more. */
    for (gsize y = 0; y < layout->planes[i].rows + fields; y++) {
      const guint8 *row =
          (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, i) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, i);

      if (row >= data && row + layout->planes[i].row_bytes <= data + size)
        memset (marks + (row - data), 1, layout->planes[i].row_bytes);
    }
  return marks;
}

/* Whether the memory is one that the frame came in. Its bytes begin at *start of frame->bytes. */
static gboolean
find_before (const Frame *frame, const guint8 *data, gsize size, gsize *start)
{
  *start = 0;
  for (guint i = 0; i < frame->n_pieces; i++) {
    if (frame->piece[i] == data && frame->piece_size[i] == size)
      return TRUE;
    *start += frame->piece_size[i];
  }
  return FALSE;
}

static void
check_around (const Frame *frame, const GstCudaConvolveLayout *layout, const GstVideoFrame *output, GstMemory *memory)
{
  gboolean before, owned;
  g_autofree guint8 *marks = NULL;
  GstMapInfo map;
  gsize start = 0;

  if (!gst_memory_map (memory, &map, GST_MAP_READ))
    fuzz_fail ("an output cannot be read");
  before = find_before (frame, map.data, map.size, &start);
  owned = !before && !fuzz_pool_is_lent && fuzz_pool_owns (memory);
  if (before || owned) {
    marks = mark_picture (layout, output, map.data, map.size);
    for (gsize i = 0; i < map.size; i++)
      if (!marks[i] && map.data[i] != (owned ? FUZZ_FILL : frame->bytes[start + i]))
        fuzz_fail ("%s %dx%d: byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                   " of the %s is outside the picture, and %d became %d",
            GST_VIDEO_INFO_NAME (&layout->info), layout->info.width, layout->info.height, i, map.size,
            owned ? "pool's block" : "input", owned ? FUZZ_FILL : frame->bytes[start + i], map.data[i]);
  }
  gst_memory_unmap (memory, &map);
}

void
fuzz_check_output (const Frame *frame, const GstVideoInfo *info, GstBuffer *output)
{
  GstCudaConvolveLayout layout;
  GstVideoFrame mapped;

  /* A frame that the element only passes on may be faulty, and without its number nobody knows what it was. */
  if (!frame || !frame->sound)
    return;
  if (!gst_video_frame_map (&mapped, info, output, GST_MAP_READ))
    fuzz_fail ("an output of %s %dx%d cannot be mapped", GST_VIDEO_INFO_NAME (info), info->width, info->height);
  gst_cuda_convolve_layout_init (&layout, info);
  if (frame->mask >= 0
      && (GST_VIDEO_INFO_FORMAT (&frame->info) != GST_VIDEO_INFO_FORMAT (info) || frame->info.width != info->width
          || frame->info.height != info->height))
    fuzz_fail ("the output of a mask has another format or size than its input");
  for (guint i = 0; frame->mask >= 0 && i < layout.n_groups; i++)
    check_group (frame, &layout.groups[i], &mapped, GST_VIDEO_INFO_NAME (info));
  for (guint i = 0; i < gst_buffer_n_memory (output); i++)
    check_around (frame, &layout, &mapped, gst_buffer_peek_memory (output, i));
  gst_video_frame_unmap (&mapped);
}

void
fuzz_check_input (const Frame *frame)
{
  const guint8 *before = frame->bytes;

  if (!frame->kept)
    return;
  for (guint i = 0; i < frame->n_pieces; before += frame->piece_size[i++])
    if (memcmp (before, frame->piece[i], frame->piece_size[i]) != 0)
      fuzz_fail ("a frame that somebody else holds was changed");
}
