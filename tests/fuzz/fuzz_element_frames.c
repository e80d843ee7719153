/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames as upstream sends them: in all layouts that GstVideoMeta can tell, and with metas that lie. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_element.h"
#include "support/random.h"

#define DURATION (40 * GST_MSECOND)

gint fuzz_blocks;

static void
free_block (gpointer data)
{
  free (data);
  fuzz_blocks--;
}

/* A block without bytes has an address, too. */
GstMemory *
fuzz_memory_new (gsize size, GstMemoryFlags flags, guint8 **block)
{
  *block = malloc (size ? size : 1);
  fuzz_blocks++;
  return gst_memory_new_wrapped (flags, *block, size, 0, size, *block, free_block);
}

/* How the frame lies in its memories. */
typedef enum
{
  PLAIN,
  SURPLUS, /* bytes after the frame */
  PADDED,  /* odd offsets, long rows, and a last row that ends where the memory ends */
  UPSIDE_DOWN,
  MEMORIES, /* one for each plane */
  SPLIT,    /* at any byte, without a meta */
  SPLIT_WITH_META,
  LARGER, /* the meta's picture is larger than that of the caps */
  N_SOUND,
  TOO_SMALL = N_SOUND, /* without a meta */
  NO_MEMORY,
  SHORT_BY_ONE, /* with a meta */
  LYING,
  N_LAYOUTS
} Layout;

/* The meta of a frame. */
typedef struct
{
  gboolean wanted;
  GstVideoFormat format;
  guint width, height, n_planes;
  gsize offset[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];
} Meta;

static gsize
lie_of_offset (gsize offset, gsize size, Bytes *bytes)
{
  const gsize lies[] = { size, size - 1, size + 1, G_MAXSIZE, G_MAXSIZE - 1, (gsize) G_MAXUINT32 + 1, G_MAXSIZE / 2 + 1,
    offset + 1, offset - 1, 0 };

  return lies[fuzz_byte (bytes) % G_N_ELEMENTS (lies)];
}

static gint
lie_of_stride (gint stride, Bytes *bytes)
{
  const gint lies[] = { 0, 1, -1, stride - 1, stride + 1, -stride, G_MAXINT, G_MININT, G_MAXINT - 1, G_MININT + 1,
    1 << 30, -(1 << 30), stride * 2 };

  return lies[fuzz_byte (bytes) % G_N_ELEMENTS (lies)];
}

/* Changes one or more members of the meta. */
static void
lie (Meta *meta, gsize size, Bytes *bytes)
{
  guint what = fuzz_byte (bytes), plane = fuzz_byte (bytes) % GST_VIDEO_MAX_PLANES;
  const guint extents[] = { 0, 1, meta->width + 1, meta->width - 1, G_MAXINT, G_MAXUINT, 1u << 16 };

  if (what & 1)
    meta->offset[plane] = lie_of_offset (meta->offset[plane], size, bytes);
  if (what & 2)
    meta->stride[plane] = lie_of_stride (meta->stride[plane], bytes);
  if (what & 4)
    meta->width = extents[fuzz_byte (bytes) % G_N_ELEMENTS (extents)];
  if (what & 8)
    meta->height = extents[fuzz_byte (bytes) % G_N_ELEMENTS (extents)];
  if (what & 16)
    meta->n_planes = fuzz_byte (bytes) % (GST_VIDEO_MAX_PLANES + 1);
  if (what & 32)
    meta->format = fuzz_byte (bytes) % (GST_VIDEO_FORMAT_NV12 + 40);
}

/* Places the planes one after the other, and gives the size of all memories. pads has bits for gaps and long rows. */
static gsize
place_planes (const GstCudaConvolveLayout *layout, gint step, guint pads, gboolean upside_down, Meta *meta)
{
  gsize size = 0;

  for (guint i = 0; i < layout->n_planes; i++) {
    const GstCudaConvolvePlane *plane = &layout->planes[i];
    gsize stride = plane->row_bytes + (pads >> (2 * i) & 3) * step;

    meta->offset[i] = size + (pads >> i & 1) * step;
    meta->stride[i] = stride;
    size = meta->offset[i] + stride * (plane->rows - 1) + plane->row_bytes;
    if (upside_down) {
      meta->offset[i] += stride * (plane->rows - 1);
      meta->stride[i] = -(gint) stride;
    }
  }
  return size;
}

/* Cuts the bytes of the frame into memories, which end where the cuts are. */
static void
append_memories (GstBuffer *buffer, Frame *frame, const gsize *cuts, guint n_cuts, GstMemoryFlags flags)
{
  gsize start = 0;

  for (guint i = 0; i <= n_cuts; i++) {
    gsize end = i < n_cuts ? MIN (cuts[i], frame->size) : frame->size;

    if (end <= start && i < n_cuts)
      continue;
    gst_buffer_append_memory (buffer, fuzz_memory_new (end - start, flags, &frame->piece[frame->n_pieces]));
    memcpy (frame->piece[frame->n_pieces], frame->bytes + start, end - start);
    frame->piece_size[frame->n_pieces++] = end - start;
    start = end;
  }
}

static void
fill_picture (Frame *frame, Bytes *bytes)
{
  CheckRandom random;
  guint seed = fuzz_byte (bytes);

  frame->bytes = g_malloc (frame->size + 1);
  if (seed < 2) {
    memset (frame->bytes, seed ? 0xFF : 0, frame->size);
    return;
  }
  check_random_init (&random, seed, 0);
  check_random_fill (&random, frame->bytes, frame->size);
}

static guint
edge (Bytes *bytes)
{
  static const guint edges[] = { 0, 1, 2, 5, 8, 1000, G_MAXINT, G_MAXUINT };
  guint byte = fuzz_byte (bytes);

  return byte < 128 ? byte % 40 : edges[byte % G_N_ELEMENTS (edges)];
}

static void
add_region (GstBuffer *buffer, Bytes *bytes)
{
  static const gchar *const types[] = { "face", "plate", "person", "", "\xff\xfe", "a,b" };
  guint x = edge (bytes), y = edge (bytes), width = edge (bytes), height = edge (bytes);
  GstVideoRegionOfInterestMeta *meta;

  meta = gst_buffer_add_video_region_of_interest_meta (buffer, types[fuzz_byte (bytes) % G_N_ELEMENTS (types)], x, y,
      width, height);
  meta->id = fuzz_byte (bytes) % 4;
}

/* Flags, times and metas that do not change where the bytes lie. */
static void
decorate (GstBuffer *buffer, Frame *frame, guint number, Bytes *bytes)
{
  guint what = fuzz_byte (bytes);

  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  if (what & 1)
    add_region (buffer, bytes);
  if (what & 2)
    add_region (buffer, bytes);
  if (what & 4) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

    crop->x = edge (bytes);
    crop->y = edge (bytes);
    crop->width = edge (bytes);
    crop->height = edge (bytes);
    frame->mask = -1;
  }
  if (what & 8)
    GST_BUFFER_FLAG_SET (buffer, fuzz_word (bytes) << 4 | (guint) fuzz_byte (bytes) << 20);
  if ((what & 0x30) == 0x30)
    GST_BUFFER_PTS (buffer) =
        fuzz_byte (bytes) & 1 ? GST_CLOCK_TIME_NONE : fuzz_long (bytes) | 1; /* no time of a number */
  if ((what & 0xC0) == 0xC0) {
    GstBuffer *parent = gst_buffer_new ();

    gst_buffer_add_parent_buffer_meta (buffer, parent);
    gst_buffer_unref (parent);
  }
}

gint
fuzz_frame_number (GstBuffer *buffer)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);

  return GST_BUFFER_PTS_IS_VALID (buffer) && pts % DURATION == 0 && pts / DURATION < FUZZ_FRAMES
      ? (gint) (pts / DURATION)
      : -1;
}

/* Plain frames lie as the caps say. */
static gsize
place_plainly (const GstVideoInfo *info, Meta *meta)
{
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
    meta->offset[i] = GST_VIDEO_INFO_PLANE_OFFSET (info, i);
    meta->stride[i] = GST_VIDEO_INFO_PLANE_STRIDE (info, i);
  }
  return info->size;
}

/* Makes a picture that is larger than that of the caps, both in the meta and in memory. */
static gsize
place_larger (const GstVideoInfo *info, Meta *meta, guint pads)
{
  GstVideoInfo larger;
  GstCudaConvolveLayout layout;

  meta->width += pads & 7;
  meta->height += pads >> 3 & 7;
  gst_video_info_set_interlaced_format (&larger, GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_INTERLACE_MODE (info),
      meta->width, meta->height);
  gst_cuda_convolve_layout_init (&layout, &larger);
  return place_planes (&layout, 2, pads, FALSE, meta);
}

GstBuffer *
fuzz_frame_new (Frame *frame, guint number, const GstVideoInfo *info, Bytes *bytes)
{
  guint byte = fuzz_byte (bytes), pads = fuzz_byte (bytes), n_cuts = 0;
  Layout kind = byte & 0x80 ? N_SOUND + (byte & 0x7F) % (N_LAYOUTS - N_SOUND) : byte % N_SOUND;
  gint step = GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8 ? 2 : 1;
  gsize cuts[FUZZ_PIECES - 1] = { 0 };
  GstBuffer *buffer = gst_buffer_new ();
  GstCudaConvolveLayout layout;
  Meta meta = { .wanted = kind >= PADDED,
    .format = GST_VIDEO_INFO_FORMAT (info),
    .width = GST_VIDEO_INFO_WIDTH (info),
    .height = GST_VIDEO_INFO_HEIGHT (info),
    .n_planes = GST_VIDEO_INFO_N_PLANES (info) };

  gst_cuda_convolve_layout_init (&layout, info);
  frame->info = *info;
  frame->sound = kind < N_SOUND && kind != SPLIT_WITH_META; /* GStreamer maps one memory for a plane */
  if (kind >= N_SOUND)
    frame->mask = -1;
  if (kind == LARGER)
    frame->size = place_larger (info, &meta, pads);
  else if (kind < PADDED || kind == SPLIT || kind == TOO_SMALL || kind == NO_MEMORY)
    frame->size = place_plainly (info, &meta);
  else
    frame->size = place_planes (&layout, step, pads, kind == UPSIDE_DOWN || (kind == LYING && (pads & 1)), &meta);
  memcpy (frame->offset, meta.offset, sizeof (meta.offset));
  memcpy (frame->stride, meta.stride, sizeof (meta.stride));
  switch (kind) {
    case SURPLUS:
      frame->size += pads;
      break;
    case SPLIT:
    case SPLIT_WITH_META:
      meta.wanted = kind == SPLIT_WITH_META;
      for (n_cuts = 0; n_cuts < 1 + (pads & 3); n_cuts++)
        cuts[n_cuts] = (n_cuts ? cuts[n_cuts - 1] : 0) + 1 + fuzz_word (bytes) % (frame->size + 1);
      break;
    case MEMORIES:
      for (; n_cuts + 1 < layout.n_planes; n_cuts++)
        cuts[n_cuts] = meta.offset[n_cuts] + meta.stride[n_cuts] * (layout.planes[n_cuts].rows - 1)
            + layout.planes[n_cuts].row_bytes;
      break;
    case TOO_SMALL:
      meta.wanted = FALSE;
      frame->size = fuzz_word (bytes) % frame->size;
      break;
    case NO_MEMORY:
      meta.wanted = pads & 1;
      frame->size = 0;
      break;
    case SHORT_BY_ONE:
      frame->size--;
      break;
    case LYING:
      lie (&meta, frame->size, bytes);
      break;
    default:
      break;
  }
  fill_picture (frame, bytes);
  if (kind != NO_MEMORY)
    append_memories (buffer, frame, cuts, n_cuts, pads & 0x80 ? GST_MEMORY_FLAG_READONLY : 0);
  if (meta.wanted) {
    GstVideoMeta *added =
        gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info), meta.width,
            meta.height, GST_VIDEO_INFO_N_PLANES (info), meta.offset, meta.stride);

    added->format = meta.format;
    added->n_planes = meta.n_planes;
  }
  decorate (buffer, frame, number, bytes);
  return buffer;
}

GstBuffer *
fuzz_frame_new_from_pool (Frame *frame, guint number, const GstVideoInfo *info, GstBufferPool *pool, Bytes *bytes)
{
  GstBufferPoolAcquireParams params = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
  GstBuffer *buffer;
  Meta meta = { 0 };

  if (gst_buffer_pool_acquire_buffer (pool, &buffer, &params) != GST_FLOW_OK)
    return NULL;
  frame->info = *info;
  frame->size = gst_buffer_get_size (buffer);
  frame->sound = frame->size >= place_plainly (info, &meta);
  memcpy (frame->offset, meta.offset, sizeof (meta.offset));
  memcpy (frame->stride, meta.stride, sizeof (meta.stride));
  fill_picture (frame, bytes);
  gst_buffer_fill (buffer, 0, frame->bytes, frame->size);
  for (guint i = 0; i < MIN (gst_buffer_n_memory (buffer), FUZZ_PIECES); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);
    GstMapInfo map;

    if (!gst_memory_map (memory, &map, GST_MAP_READ))
      fuzz_fail ("a frame of a pool cannot be mapped");
    frame->piece[i] = map.data;
    frame->piece_size[i] = map.size;
    frame->n_pieces++;
    gst_memory_unmap (memory, &map);
  }
  decorate (buffer, frame, number, bytes);
  return buffer;
}

void
fuzz_frame_clear (Frame *frame)
{
  gst_clear_buffer (&frame->kept);
  g_free (frame->bytes);
}
