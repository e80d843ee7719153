/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/allocation.h"

#include <gst/video/video.h>

#include "report/debug.h"
#include "cuda/pinned.h"

gboolean
gst_cuda_convolve_caps_are_cuda (GstCaps *caps)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, 0), GST_CUDA_CONVOLVE_MEMORY);
}

/*
 * The query's parameters for system memory, raised so that the memory can be page-locked. *allocator is the query's
 * allocator, referenced, or NULL.
 */
static GstAllocationParams
page_params (GstQuery *query, GstAllocator **allocator)
{
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  *allocator = NULL;
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, allocator, &params);
  gst_cuda_convolve_pin_set_params (&params);
  return params;
}

/* What a pool is to be like. */
typedef struct
{
  GstCaps *caps;
  gboolean cuda, video_meta;
  GstCudaConvolveContext *context; /* NULL for system memory */
  GstCudaConvolveStream *stream;   /* NULL where GStreamer has no streams */
  guint size, min, max;            /* bytes of a buffer; numbers of buffers, max 0 for any number */
} Wanted;

/* Sets the parameters of a pool. own tells whether the element made the pool. wanted->size becomes the pool's size. */
static gboolean
configure_pool (GstBufferPool *pool, Wanted *wanted, gboolean own)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, wanted->caps, wanted->size, wanted->min, wanted->max);
  if (wanted->video_meta)
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (wanted->cuda)
    gst_cuda_convolve_stream_configure (wanted->stream, config);
  if (own && !wanted->cuda) {
    GstAllocationParams params;

    gst_allocation_params_init (&params);
    gst_cuda_convolve_pin_set_params (&params);
    gst_buffer_pool_config_set_allocator (config, NULL, &params);
  }
  if (!gst_buffer_pool_set_config (pool, config))
    return FALSE;
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, &wanted->size, NULL, NULL);
  gst_structure_free (config);
  return TRUE;
}

static GstBufferPool *
new_pool (Wanted *wanted)
{
  GstBufferPool *pool = wanted->cuda ? gst_cuda_convolve_cuda_pool_new (wanted->context) : gst_video_buffer_pool_new ();

  if (!configure_pool (pool, wanted, TRUE))
    gst_clear_object (&pool);
  return pool;
}

static void
post_no_frames (GstCudaConvolveErrors *errors, ConvolveError error, const gchar *why)
{
  g_autofree gchar *text = g_strdup (why);

  g_snprintf (error.text, sizeof (error.text), "Frames in CUDA memory cannot be allocated: %s.", text);
  gst_cuda_convolve_errors_post_status (errors, &error);
}

/*
 * Posts that there is no context for frames in CUDA memory. GstCuda does not say why, so the device is asked, and
 * opened where it is there: that fails for the same reason, such as no memory for a context.
 */
static void
post_no_context (GstCudaConvolveDevice *device, GstCudaConvolveErrors *errors)
{
  gint id = gst_cuda_convolve_device_get_id (device);
  ConvolveError error;
  ConvolveStatus found = convolve_device_find (id, &error);

  if (found == CONVOLVE_OK) {
    ConvolveDevice *opened = convolve_device_new (id, &error);

    if (opened)
      error =
          (ConvolveError){ .status = CONVOLVE_DEVICE_FAILED, .text = "GStreamer makes no context of the CUDA device" };
    g_clear_pointer (&opened, convolve_device_free);
  }
  if (found == CONVOLVE_OK || found == CONVOLVE_NO_DEVICE)
    post_no_frames (errors, error, error.text);
  else
    gst_cuda_convolve_errors_post_status (errors, &error);
}

void
gst_cuda_convolve_post_no_cuda_frames (GstCudaConvolveContext *context, GstCudaConvolveErrors *errors)
{
  ConvolveError error;

  if (gst_cuda_convolve_cuda_check (context, &error) == CONVOLVE_OK)
    post_no_frames (errors, (ConvolveError){ .status = CONVOLVE_NO_DEVICE_MEMORY }, "out of device memory");
  else
    gst_cuda_convolve_errors_post_status (errors, &error);
}

/* Fills caps, memory and size. FALSE where the caps are not those of video, or there is no device for them. */
static gboolean
parse_query (GstQuery *query, GstCudaConvolveDevice *device, GstCudaConvolveErrors *errors, Wanted *wanted)
{
  GstVideoInfo info;

  gst_query_parse_allocation (query, &wanted->caps, NULL);
  if (!wanted->caps || !gst_video_info_from_caps (&info, wanted->caps))
    return FALSE;
  wanted->cuda = gst_cuda_convolve_caps_are_cuda (wanted->caps);
  wanted->size = info.size;
  if (!wanted->cuda)
    return TRUE;
  wanted->context = gst_cuda_convolve_device_ensure_context (device);
  wanted->stream = gst_cuda_convolve_device_get_stream (device);
  if (!wanted->context)
    post_no_context (device, errors);
  return wanted->context != NULL;
}

void
gst_cuda_convolve_propose_params (GstQuery *query)
{
  GstAllocator *allocator;
  GstAllocationParams params = page_params (query, &allocator);

  gst_query_add_allocation_param (query, NULL, &params);
  gst_clear_object (&allocator);
}

gboolean
gst_cuda_convolve_propose_pool (GstElement *element, guint *told, GstQuery *query, GstCudaConvolveDevice *device,
    GstCudaConvolveErrors *errors, guint asked, gboolean video_meta)
{
  Wanted wanted = { .min = asked };
  GstBufferPool *pool;
  gboolean need_pool;

  gst_query_parse_allocation (query, NULL, &need_pool);
  if (!parse_query (query, device, errors, &wanted))
    return FALSE;
  wanted.video_meta = wanted.cuda;
  pool = new_pool (&wanted);
  if (!pool)
    return FALSE;
  GST_CUDA_CONVOLVE_TELL (told, element, "upstream is offered %s: %u buffers of %u bytes in %s memory, %s GstVideoMeta",
      need_pool ? "a pool" : "numbers without a pool", wanted.min, wanted.size, wanted.cuda ? "CUDA" : "system",
      wanted.cuda || video_meta ? "with" : "without");
  gst_query_add_allocation_pool (query, need_pool ? pool : NULL, wanted.size, wanted.min, 0);
  gst_object_unref (pool);
  if (wanted.cuda || video_meta)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (!wanted.cuda)
    gst_cuda_convolve_propose_params (query);
  return TRUE;
}

/* Why downstream's pool is not for the output, or NULL. */
static const gchar *
refuse_pool (GstBufferPool *pool, Wanted *wanted)
{
  if (!pool)
    return "downstream offers none";
  if (wanted->cuda && !gst_cuda_convolve_cuda_owns_pool (wanted->context, pool))
    return "downstream's is in other memory than that of the element's CUDA context";
  if (wanted->max > 0 && wanted->max < wanted->min)
    return "downstream's has too few buffers";
  if (!configure_pool (pool, wanted, FALSE))
    return "downstream's does not take the frames' size, numbers or memory";
  return NULL;
}

/* refused: why the pool is the element's own, or NULL. */
static void
log_pool (GstElement *element, guint *told, const Wanted *wanted, const gchar *refused)
{
  g_autofree gchar *most = wanted->max > 0 ? g_strdup_printf ("at most %u", wanted->max) : g_strdup ("more at will");

  GST_CUDA_CONVOLVE_TELL (told, element, "the output's pool is %s%s: buffers of %u bytes in %s memory, at least %u, %s",
      refused ? "made by the element, because " : "downstream's", refused ? refused : "", wanted->size,
      wanted->cuda ? "CUDA" : "system", wanted->min, most);
}

gboolean
gst_cuda_convolve_decide_pool (GstElement *element, guint *told, GstQuery *query, GstCudaConvolveDevice *device,
    GstCudaConvolveErrors *errors, guint held)
{
  gboolean offered = gst_query_get_n_allocation_pools (query) > 0;
  GstBufferPool *pool = NULL;
  Wanted wanted = { 0 };
  const gchar *refused;
  guint least;

  if (!parse_query (query, device, errors, &wanted))
    return FALSE;
  least = wanted.size;
  wanted.video_meta = wanted.cuda || gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (offered) {
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &wanted.size, &wanted.min, &wanted.max);
    wanted.size = MAX (wanted.size, least);
  }
  wanted.min += held;
  refused = refuse_pool (pool, &wanted);
  if (refused) {
    gst_clear_object (&pool);
    wanted.max = 0;
    pool = new_pool (&wanted);
    /* The base class would activate the pool, and tell of a failure with an error of its own. */
    if (wanted.cuda && (!pool || !gst_buffer_pool_set_active (pool, TRUE))) {
      gst_clear_object (&pool);
      gst_cuda_convolve_post_no_cuda_frames (wanted.context, errors);
    }
  }
  if (!pool)
    return FALSE;
  log_pool (element, told, &wanted, refused);
  if (offered)
    gst_query_set_nth_allocation_pool (query, 0, pool, wanted.size, wanted.min, wanted.max);
  else
    gst_query_add_allocation_pool (query, pool, wanted.size, wanted.min, wanted.max);
  gst_object_unref (pool);
  if (!wanted.cuda) {
    GstAllocator *allocator;
    GstAllocationParams params = page_params (query, &allocator);

    if (gst_query_get_n_allocation_params (query) > 0)
      gst_query_set_nth_allocation_param (query, 0, allocator, &params);
    else
      gst_query_add_allocation_param (query, allocator, &params);
    gst_clear_object (&allocator);
  }
  return TRUE;
}

guint
gst_cuda_convolve_pool_count_most (GstBufferPool *pool)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);
  guint most = 0;

  gst_buffer_pool_config_get_params (config, NULL, NULL, NULL, &most);
  gst_structure_free (config);
  return most;
}

gboolean
gst_cuda_convolve_is_from_limited_pool (GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta;

  if (buffer->pool && gst_cuda_convolve_pool_count_most (buffer->pool) > 0)
    return TRUE;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_PARENT_BUFFER_META_API_TYPE)))
    if (gst_cuda_convolve_is_from_limited_pool (((GstParentBufferMeta *) meta)->buffer))
      return TRUE;
  return FALSE;
}
