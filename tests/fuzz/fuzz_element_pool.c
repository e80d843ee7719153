/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Downstream's pools: buffers of exactly sized blocks, in all layouts, and pools that do not keep what they promise. */
#include <string.h>

#include "fuzz/fuzz_element.h"

typedef struct
{
  GstBufferPool parent;
  PoolKind kind;
  gsize *first_size;
  GstVideoInfo info;
  gboolean meta;
  guint size;
} FuzzPool;

typedef struct
{
  GstBufferPoolClass parent_class;
} FuzzPoolClass;

gboolean fuzz_pool_is_lent;

GType fuzz_pool_get_type (void);
G_DEFINE_TYPE (FuzzPool, fuzz_pool, GST_TYPE_BUFFER_POOL)

static GQuark
owner_quark (void)
{
  return g_quark_from_static_string ("fuzz-pool");
}

gboolean
fuzz_pool_owns (GstMemory *memory)
{
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory), owner_quark ()) != NULL;
}

static const gchar **
get_options (GstBufferPool *pool)
{
  static const gchar *options[] = { GST_BUFFER_POOL_OPTION_VIDEO_META, NULL };

  return options;
}

/* Whether the frames lie otherwise than the caps say. */
static gboolean
has_places (const FuzzPool *self)
{
  return self->meta
      && (self->kind == POOL_PADDED || self->kind == POOL_UPSIDE_DOWN || self->kind == POOL_MEMORIES
          || self->kind == POOL_LYING);
}

/* Places the planes with an odd number of samples between them and behind their rows. Gives the size of all planes. */
static gsize
place_planes (const FuzzPool *self, const GstCudaConvolveLayout *layout, gsize *offset, gint *stride, gsize *end)
{
  gint step = GST_VIDEO_INFO_COMP_DEPTH (&self->info, 0) > 8 ? 2 : 1;
  gsize size = 0;

  for (guint i = 0; i < layout->n_planes; i++) {
    const GstCudaConvolvePlane *plane = &layout->planes[i];

    stride[i] = plane->row_bytes + step * (i + 1);
    offset[i] = size + (self->kind == POOL_MEMORIES ? 0 : step);
    size = end[i] = offset[i] + stride[i] * (plane->rows - 1) + plane->row_bytes;
    if (self->kind == POOL_UPSIDE_DOWN) {
      offset[i] += stride[i] * (plane->rows - 1);
      stride[i] = -stride[i];
    }
  }
  return size;
}

/* A pool tells the size of its buffers, and GStreamer cuts buffers to that size when they come back. */
static gboolean
set_config (GstBufferPool *pool, GstStructure *config)
{
  FuzzPool *self = (FuzzPool *) pool;
  GstCudaConvolveLayout layout;
  gsize offset[GST_VIDEO_MAX_PLANES], end[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];
  GstCaps *caps;
  guint least, most;

  if (self->kind == POOL_REFUSES || !gst_buffer_pool_config_get_params (config, &caps, &self->size, &least, &most)
      || !caps || !gst_video_info_from_caps (&self->info, caps))
    return FALSE;
  self->meta = gst_buffer_pool_config_has_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_cuda_convolve_layout_init (&layout, &self->info);
  if (has_places (self))
    self->size = place_planes (self, &layout, offset, stride, end);
  if (self->kind == POOL_SHORT)
    self->size = self->info.size - 1;
  if (self->kind == POOL_FIRST_SIZE) {
    if (*self->first_size == 0)
      *self->first_size = self->size;
    self->size = *self->first_size;
  }
  gst_buffer_pool_config_set_params (config, caps, self->size, least, most);
  return GST_BUFFER_POOL_CLASS (fuzz_pool_parent_class)->set_config (pool, config);
}

static void
append_block (GstBuffer *buffer, gsize size)
{
  guint8 *block;
  GstMemory *memory = fuzz_memory_new (size, 0, &block);

  memset (block, FUZZ_FILL, size);
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory), owner_quark (), block, NULL);
  gst_buffer_append_memory (buffer, memory);
}

/* A lying meta places the last plane one row too far. */
static void
append_planes (const FuzzPool *self, GstBuffer *buffer)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, end[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  GstCudaConvolveLayout layout;
  gsize size;

  gst_cuda_convolve_layout_init (&layout, &self->info);
  size = place_planes (self, &layout, offset, stride, end);
  if (self->kind != POOL_MEMORIES)
    append_block (buffer, size);
  for (guint i = 0; i < layout.n_planes && self->kind == POOL_MEMORIES; i++)
    append_block (buffer, end[i] - (i ? end[i - 1] : 0));
  if (self->kind == POOL_LYING)
    offset[layout.n_planes - 1] += stride[0];
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (&self->info),
      GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info), layout.n_planes, offset, stride);
}

static GstFlowReturn
alloc_buffer (GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  FuzzPool *self = (FuzzPool *) pool;

  *buffer = gst_buffer_new ();
  if (has_places (self))
    append_planes (self, *buffer);
  else
    append_block (*buffer, self->size);
  return GST_FLOW_OK;
}

/* A buffer that comes back is filled again. */
static void
reset_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  gst_buffer_memset (buffer, 0, FUZZ_FILL, gst_buffer_get_size (buffer));
  GST_BUFFER_POOL_CLASS (fuzz_pool_parent_class)->reset_buffer (pool, buffer);
}

static void
fuzz_pool_class_init (FuzzPoolClass *klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  pool_class->get_options = get_options;
  pool_class->set_config = set_config;
  pool_class->alloc_buffer = alloc_buffer;
  pool_class->reset_buffer = reset_buffer;
}

static void
fuzz_pool_init (FuzzPool *self)
{
}

gboolean
fuzz_pool_answer (PoolKind kind, gsize *first_size, GstQuery *query)
{
  GstBufferPool *pool;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (kind == POOL_QUERY_FAILS || !caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (kind != POOL_NONE && kind != POOL_EXACT)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (kind == POOL_NONE || kind == POOL_META_ALONE)
    return TRUE;
  if (kind == POOL_GSTREAMER || kind == POOL_FEW) {
    pool = gst_video_buffer_pool_new ();
  } else {
    FuzzPool *self = g_object_new (fuzz_pool_get_type (), NULL);

    gst_object_ref_sink (self);
    self->kind = kind;
    self->first_size = first_size;
    pool = GST_BUFFER_POOL (self);
  }
  gst_query_add_allocation_pool (query, pool, info.size, 0, kind == POOL_FEW ? 4 : 0);
  gst_object_unref (pool);
  return TRUE;
}
