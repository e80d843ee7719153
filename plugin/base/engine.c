/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/engine.h"

#include "base/contest.h"
#include "cuda/pinned.h"
#include "report/debug.h"

struct _GstCudaConvolveEngine
{
  GstCudaConvolveBase *base;
  GstCudaConvolveLayout in, out; /* of the frames; unknown format before the first caps */
  gboolean one_memory;           /* input and output caps are of one kind of memory */
  gboolean cuda_memory;          /* one of them is CUDA memory */
  GstCudaConvolveWork *work;     /* the subclass's, or NULL */
  ConvolvePool *pool;            /* of work on the CPU, or NULL */
  guint n_threads;               /* that the pool is for */

  /* Where either the device or the CPU can work on frames in system memory. */
  gboolean contested;
  GstCudaConvolveContest contest;
  GstCudaConvolveWork *host_work; /* the work again, for the CPU; referenced, or NULL where no frame goes there */
  gboolean lockable;              /* the memory of the latest input may be page-locked */
  GstCudaConvolveSide told;       /* which side the log has as the faster one; N_SIDES before one */
  guint choices_told;             /* see GST_CUDA_CONVOLVE_TELL */
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

/* No frame goes to the CPU for now. */
static void
drop_host_work (GstCudaConvolveEngine *engine)
{
  if (!engine->host_work)
    return;
  g_clear_pointer (&engine->host_work, gst_cuda_convolve_work_unref);
  g_clear_pointer (&engine->pool, convolve_pool_free);
}

/* No frame is timed any more, and all go where the subclass's work is done. */
static void
end_contest (GstCudaConvolveEngine *engine)
{
  engine->contested = FALSE;
  gst_cuda_convolve_flights_measure (engine->base->flights, FALSE);
  drop_host_work (engine);
}

/* Makes the device's context current where that works; what lies on the device is freed in any case. */
static void
clear_work (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveBase *base = engine->base;
  ConvolveError error;
  gboolean entered = gst_cuda_convolve_device_enter (base->device, &error) == CONVOLVE_OK;

  end_contest (engine);
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
  engine->choices_told = 0;
  g_clear_pointer (&engine->pool, convolve_pool_free);
  gst_video_info_init (&engine->in.info);
  gst_cuda_convolve_stats_clear_variant (base->stats);
  gst_cuda_convolve_errors_set_frames (base->errors, &engine->in.info, NULL);
}

/* --- the work --- */

GstCudaConvolveWork *
gst_cuda_convolve_engine_get_work (GstCudaConvolveEngine *engine)
{
  return engine->contested && engine->contest.side == GST_CUDA_CONVOLVE_HOST ? engine->host_work : engine->work;
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
  GstCudaConvolveWork *work = gst_cuda_convolve_engine_get_work (engine);
  const gchar *variant = work->variant, *backend = "cpu", *device = "none";

  if (gst_cuda_convolve_engine_is_passthrough (engine)) {
    variant = g_intern_static_string ("passthrough");
    backend = "none";
  } else if (work->device) {
    backend = "cuda";
    device = g_intern_string (convolve_device_name (work->device));
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

/* --- the choice between the device and the CPU --- */

/*
 * Where the settings leave open who works, and both give the same bytes. CUDACONVOLVE_AUTO=rules leaves all to the rules, which
 * time nothing.
 */
static gboolean
can_choose (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  return engine->work->device && engine->work->reproducible && !engine->cuda_memory && !engine->work->is_identity
      && !convolve_properties_need_device (properties)
      && GST_CUDA_CONVOLVE_BASE_GET_CLASS (engine->base)->make_host_work
      && g_strcmp0 (g_getenv ("CUDACONVOLVE_AUTO"), "rules") != 0;
}

static void
begin_contest (GstCudaConvolveEngine *engine)
{
  gst_cuda_convolve_contest_begin (&engine->contest);
  engine->told = GST_CUDA_CONVOLVE_N_SIDES;
}

gboolean
gst_cuda_convolve_engine_has_choice (GstCudaConvolveEngine *engine)
{
  return engine->contested;
}

/* The work for the CPU, with its threads; on a failure the device has all frames. */
static void
ensure_host_work (GstCudaConvolveEngine *engine)
{
  if (!engine->host_work)
    engine->host_work = GST_CUDA_CONVOLVE_BASE_GET_CLASS (engine->base)->make_host_work (engine->base);
  if (!engine->host_work) {
    end_contest (engine);
    return;
  }
  if (!engine->pool)
    engine->pool = convolve_pool_new (engine->n_threads, NULL);
  engine->host_work->kind->set_pool (engine->host_work, engine->pool);
}

/* A new choice is told once; the same choice again only to those who look closely. */
static void
tell_choice (GstCudaConvolveEngine *engine)
{
  const GstCudaConvolveContest *contest = &engine->contest;
  gdouble device = contest->best[GST_CUDA_CONVOLVE_DEVICE] / 1e3, host = contest->best[GST_CUDA_CONVOLVE_HOST] / 1e3;
  const gchar *winner = contest->side == GST_CUDA_CONVOLVE_HOST ? "CPU" : "device";

  if (contest->side == engine->told)
    GST_CUDA_CONVOLVE_TELL (&engine->choices_told, engine->base,
        "a frame in system memory takes the device %.1f us and the CPU %.1f us: the %s goes on", device, host, winner);
  else
    GST_INFO_OBJECT (engine->base,
        "a frame in system memory takes the device %.1f us and the CPU %.1f us: the %s works", device, host, winner);
  engine->told = contest->side;
}

void
gst_cuda_convolve_engine_choose_side (GstCudaConvolveEngine *engine, GstBuffer *input, guint64 time)
{
  GstCudaConvolveWork *before = gst_cuda_convolve_engine_get_work (engine);
  gboolean lockable = gst_cuda_convolve_pin_takes (input);

  if (gst_cuda_convolve_cuda_of_buffer (input)) {
    end_contest (engine);
  } else if (lockable != engine->lockable) {
    engine->lockable = lockable;
    begin_contest (engine);
  } else if (time > 0 && gst_cuda_convolve_contest_add (&engine->contest, time)) {
    tell_choice (engine);
    if (engine->contest.side == GST_CUDA_CONVOLVE_DEVICE)
      drop_host_work (engine);
  }
  if (engine->contested && engine->contest.side == GST_CUDA_CONVOLVE_HOST)
    ensure_host_work (engine);
  if (gst_cuda_convolve_engine_get_work (engine) != before)
    publish_variant (engine);
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
  end_contest (engine);
  engine->work = make_work (engine, wanted, &error);
  if (!engine->work) {
    /* Without a device nothing was replaced, and work for other caps must not take the next frame. */
    clear_work (engine);
    gst_cuda_convolve_errors_post_status (base->errors, &error);
    return FALSE;
  }
  share_work (engine, n_threads);
  engine->contested = can_choose (engine, wanted);
  if (engine->contested)
    begin_contest (engine);
  gst_cuda_convolve_flights_measure (base->flights, engine->contested);
  publish_variant (engine);
  return TRUE;
}
