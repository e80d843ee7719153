/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/engine.h"

struct _GstCudaConvolveEngine
{
  GstCudaConvolveBase *base;
  GstCudaConvolveLayout in, out; /* of the frames; unknown format before the first caps */
  gboolean one_memory;           /* input and output caps are of one kind of memory */
  gboolean cuda_memory;          /* one of them is CUDA memory */
  GstCudaConvolveWork *work;     /* the subclass's, or NULL */
  ConvolvePool *pool;            /* of work on the CPU, or NULL */
  guint n_threads;               /* that the pool was made for */
};

GstCudaConvolveEngine *
gst_cuda_convolve_engine_new (GstCudaConvolveBase *base)
{
  GstCudaConvolveEngine *engine = g_new0 (GstCudaConvolveEngine, 1);

  engine->base = base;
  gst_video_info_init (&engine->in.info);
  gst_video_info_init (&engine->out.info);
  return engine;
}

void
gst_cuda_convolve_engine_free (GstCudaConvolveEngine *engine)
{
  g_free (engine);
}

/* --- caps --- */

const GstCudaConvolveLayout *
gst_cuda_convolve_engine_get_in (GstCudaConvolveEngine *engine)
{
  return &engine->in;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_engine_get_out (GstCudaConvolveEngine *engine)
{
  return &engine->out;
}

gboolean
gst_cuda_convolve_engine_has_caps (GstCudaConvolveEngine *engine)
{
  return GST_VIDEO_INFO_FORMAT (&engine->in.info) != GST_VIDEO_FORMAT_UNKNOWN;
}

gboolean
gst_cuda_convolve_engine_has_cuda_memory (GstCudaConvolveEngine *engine)
{
  return engine->cuda_memory;
}

gboolean
gst_cuda_convolve_engine_has_one_memory (GstCudaConvolveEngine *engine)
{
  return engine->one_memory;
}

gboolean
gst_cuda_convolve_engine_expect_crops (GstCudaConvolveEngine *engine)
{
  gboolean known = engine->in.cropped;

  engine->in.cropped = TRUE;
  return !known;
}

/* --- the device --- */

/* Makes the device's context current where that works; what lies on the device is freed in any case. */
static void
clear_work (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveBase *base = engine->base;
  ConvolveError error;
  gboolean entered = gst_cuda_convolve_device_enter (base->device, &error) == CONVOLVE_OK;

  GST_CUDA_CONVOLVE_BASE_GET_CLASS (base)->lose_work (base);
  engine->work = NULL;
  if (entered)
    gst_cuda_convolve_device_leave (base->device);
}

/* Frees everything that lies on the device, and the context. */
static void
release_device (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveBase *base = engine->base;

  gst_cuda_convolve_flights_drop (base->flights);
  clear_work (engine);
  gst_cuda_convolve_device_close (base->device);
  gst_cuda_convolve_flights_forget_slots (base->flights);
}

void
gst_cuda_convolve_engine_follow (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  release_device (engine);
  gst_cuda_convolve_device_follow (engine->base->device, input);
}

void
gst_cuda_convolve_engine_set_caps (GstCudaConvolveEngine *engine, const GstVideoInfo *in, const GstVideoInfo *out,
    gboolean cuda_in, gboolean cuda_out)
{
  GstCudaConvolveBase *base = engine->base;

  engine->one_memory = cuda_in == cuda_out;
  engine->cuda_memory = cuda_in || cuda_out;
  if (engine->cuda_memory && gst_cuda_convolve_device_is_outside_context (base->device))
    release_device (engine); /* to be opened again where the frames are */
  gst_cuda_convolve_layout_init (&engine->in, in);
  gst_cuda_convolve_layout_init (&engine->out, out);
  gst_cuda_convolve_errors_set_frames (base->errors, in, gst_cuda_convolve_stats_get_variant (base->stats));
}

void
gst_cuda_convolve_engine_stop (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveBase *base = engine->base;

  release_device (engine);
  g_clear_pointer (&engine->pool, convolve_pool_free);
  gst_video_info_init (&engine->in.info);
  gst_cuda_convolve_stats_clear_variant (base->stats);
  gst_cuda_convolve_errors_set_frames (base->errors, &engine->in.info, NULL);
}

/* --- the work --- */

GstCudaConvolveWork *
gst_cuda_convolve_engine_get_work (GstCudaConvolveEngine *engine)
{
  return engine->work;
}

gboolean
gst_cuda_convolve_engine_is_passthrough (GstCudaConvolveEngine *engine)
{
  return engine->work && engine->one_memory && engine->work->is_identity
      && !gst_cuda_convolve_record_is_open (engine->base->record);
}

gboolean
gst_cuda_convolve_engine_is_on_device (GstCudaConvolveEngine *engine)
{
  return engine->work && engine->work->device;
}

/* Publishes what runs now, for the properties active-variant and stats and for errors. */
static void
publish_variant (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveBase *base = engine->base;
  const gchar *variant = engine->work->variant, *backend = "cpu", *device = "none";

  if (gst_cuda_convolve_engine_is_passthrough (engine)) {
    variant = g_intern_static_string ("passthrough");
    backend = "none";
  } else if (engine->work->device) {
    backend = "cuda";
    device = g_intern_string (convolve_device_name (engine->work->device));
  }
  gst_cuda_convolve_stats_set_variant (base->stats, variant, backend, device);
  gst_cuda_convolve_errors_set_frames (base->errors, &engine->in.info, variant);
}

/* Makes threads share work on the CPU. Without memory for the threads, the streaming thread works. */
static void
share_work (GstCudaConvolveEngine *engine, guint n_threads)
{
  gboolean needed = !engine->work->device && !gst_cuda_convolve_engine_is_passthrough (engine);

  if (!needed || engine->n_threads != n_threads)
    g_clear_pointer (&engine->pool, convolve_pool_free);
  if (needed && !engine->pool)
    engine->pool = convolve_pool_new (n_threads, NULL);
  engine->n_threads = n_threads;
  engine->work->kind->set_pool (engine->work, engine->pool);
}

static GstCudaConvolveWork *
make_work (GstCudaConvolveEngine *engine, ConvolveProperties *properties, ConvolveError *error)
{
  GstCudaConvolveBase *base = engine->base;
  GstCudaConvolveWork *work;

  if (gst_cuda_convolve_device_open (base->device, properties, engine->cuda_memory, error) != CONVOLVE_OK
      || gst_cuda_convolve_device_enter (base->device, error) != CONVOLVE_OK)
    return NULL;
  if (gst_cuda_convolve_device_get_handle (base->device))
    convolve_device_use_threads (gst_cuda_convolve_device_get_handle (base->device), properties->n_threads);
  work = GST_CUDA_CONVOLVE_BASE_GET_CLASS (base)->make_work (base, properties, error);
  gst_cuda_convolve_device_leave (base->device);
  return work;
}

gboolean
gst_cuda_convolve_engine_update (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  GstCudaConvolveBase *base = engine->base;
  g_autoptr (ConvolveProperties) wanted = convolve_properties_copy (properties);
  guint n_threads = properties->n_threads;
  ConvolveError error;

  wanted->device_id = gst_cuda_convolve_device_get_id (base->device);
  engine->work = make_work (engine, wanted, &error);
  if (!engine->work) {
    /* Without a device nothing was replaced, and work for other caps must not take the next frame. */
    clear_work (engine);
    gst_cuda_convolve_errors_post_status (base->errors, &error);
    return FALSE;
  }
  share_work (engine, n_threads);
  publish_variant (engine);
  return TRUE;
}
