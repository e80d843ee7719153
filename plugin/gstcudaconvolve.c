/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cudaconvolve
 * @title: cudaconvolve
 * @short_description: convolves video with a mask, on a CUDA device or on the CPU
 *
 * Every output sample is the weighted sum of its neighbourhood in the input. #GstCudaConvolve:mask says which
 * weights: the name of a preset, or the weights themselves, row by row. They meet the picture as written: the first
 * weight meets the top-left neighbour.
 *
 * The result is the same on a GPU and on the CPU. Without a GPU the element works on the CPU, unless
 * #GstCudaConvolve:kernel-variant or #GstCudaConvolve:cuda-device-id asks for a GPU.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! cudaconvolve mask=gaussian sigma=3 ! videoconvert ! autovideosink
 * ]| Blurs a clip.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve mask="-1 0 1; -2 0 2; -1 0 1" bias=0.5 boundary=reflect ! videoconvert ! autovideosink
 * ]| Shows how brightness changes from left to right, grey where it does not.
 *
 * Since: 0.1
 */
#include "gstcudaconvolve.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include "cudamemory.h"
#include "run.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuda_convolve_debug);
#define GST_CAT_DEFAULT gst_cuda_convolve_debug

enum
{
  PROP_CUDA_DEVICE_ID = CONVOLVE_PROP_LAST,
  PROP_ACTIVE_VARIANT,
  PROP_STATS
};

typedef struct
{
  guint64 frames;
  ConvolveTimes total;          /* of all frames */
} Stats;

#define GST_TYPE_CUDA_CONVOLVE (gst_cuda_convolve_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaConvolve, gst_cuda_convolve, GST, CUDA_CONVOLVE, GstBaseTransform)

struct _GstCudaConvolve
{
  GstBaseTransform parent;

  /* Under the object lock: any thread. */
  GstCudaConvolveSettings settings;     /* as the user reads them */
  GstCudaConvolveSettings applied;      /* as frames use them: what one g_object_set() sets comes together */
  gboolean stale;               /* applied or caps changed since the plans were made */
  const gchar *active_variant;  /* interned, NULL before the first frame */
  const gchar *backend, *device_name;   /* of the active variant, static and interned */
  Stats stats;

  /* Neighbours may hand us their context at any time, also while we ask for one: hence recursive. */
  GRecMutex context_lock;
  GstCudaConvolveContext *context;      /* what CUDA frames are in; under context_lock, and of one value till stop
                                         * or release_device() once set */

  /* The streaming thread's own, and start's and stop's. */
  GstVideoInfo info;
  GstCudaConvolveLayout layout;
  GstCudaConvolvePlans plans;
  GstCudaConvolveSettings good; /* what the plans were made from */
  gboolean have_plans;
  gchar *warned;                /* the text of the warning that stands, or NULL */
  gint device_id;               /* as it was at start */
  gboolean same_memory;         /* input and output caps are of one kind of memory */
  gboolean cuda_memory;         /* one of them is CUDA memory */
  ConvolveDevice *device;
  gboolean device_in_context;   /* the device was opened in context, otherwise in the process's own */
  gboolean device_missing;      /* found so, and said so: once for each start */
};

G_DEFINE_FINAL_TYPE (GstCudaConvolve, gst_cuda_convolve, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (cudaconvolve, "cudaconvolve", GST_RANK_NONE, GST_TYPE_CUDA_CONVOLVE)

/* What goes wrong below becomes the one element error that README's table has for it. */
static void
post_error (GstCudaConvolve * self, const ConvolveError * error)
{
  const gchar *variant = self->active_variant ? self->active_variant : "none";

  switch (error->status) {
    case CONVOLVE_OK:
      g_assert_not_reached ();
    case CONVOLVE_INVALID:
    case CONVOLVE_UNSUPPORTED:
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", error->text), (NULL));
      break;
    case CONVOLVE_NO_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("%s", error->text), (NULL));
      break;
    case CONVOLVE_NO_MEMORY:
    case CONVOLVE_NO_DEVICE_MEMORY:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("%s", error->text),
          ("%dx%d %s, variant %s, CUDA error %d", self->info.width, self->info.height,
              gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->info)), variant, error->native));
      break;
    case CONVOLVE_DEVICE_FAILED:
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("The CUDA device failed."),
          ("%dx%d %s, variant %s, CUDA error %d: %s", self->info.width, self->info.height,
              gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->info)), variant, error->native, error->text));
      break;
  }
}

/* With the context current. */
static void
drop_plans (GstCudaConvolve * self)
{
  gst_cuda_convolve_plans_clear (&self->plans);
  if (self->have_plans)
    gst_cuda_convolve_settings_clear (&self->good);
  self->have_plans = FALSE;
}

/* The context to be current for work on the device, or NULL. */
static GstCudaConvolveContext *
device_context (GstCudaConvolve * self)
{
  return self->device_in_context ? self->context : NULL;
}

static ConvolveStatus
enter_context (GstCudaConvolve * self, ConvolveError * error)
{
  if (gst_cuda_convolve_cuda_push (device_context (self)))
    return CONVOLVE_OK;
  *error = (ConvolveError) {.status = CONVOLVE_DEVICE_FAILED, .text = "its context cannot be made current" };
  return error->status;
}

/* Once for each enter_context() that succeeds. */
static void
leave_context (GstCudaConvolve * self)
{
  gst_cuda_convolve_cuda_pop (device_context (self));
}

/* The context for CUDA frames, asked for where there is none yet. Not referenced; NULL where there is no device. */
static GstCudaConvolveContext *
ensure_context (GstCudaConvolve * self)
{
  g_rec_mutex_lock (&self->context_lock);
  gst_cuda_convolve_cuda_ensure (GST_ELEMENT (self), self->device_id, &self->context);
  g_rec_mutex_unlock (&self->context_lock);
  return self->context;
}

/*
 * Frames in CUDA memory are in a context that elements share, and there the device is opened. Otherwise it is opened in
 * the process's own context, which all such elements have in common and which costs nothing more.
 */
static ConvolveDevice *
open_device (GstCudaConvolve * self, ConvolveError * error)
{
  ConvolveDevice *device;

  self->device_in_context = (self->cuda_memory ? ensure_context (self) : self->context) != NULL;
  if (!self->device_in_context)
    return convolve_device_new (self->device_id, error);
  if (enter_context (self, error) != CONVOLVE_OK)
    return NULL;
  device = convolve_device_new_current (error);
  leave_context (self);
  return device;
}

/* Without a device: an error where the settings insist on one, otherwise the CPU and word of it, once. */
static ConvolveStatus
do_without_device (GstCudaConvolve * self, const GstCudaConvolveSettings * settings, ConvolveError * error)
{
  if (gst_cuda_convolve_settings_need_device (settings) || error->status != CONVOLVE_NO_DEVICE)
    return error->status;
  if (!self->device_missing)
    GST_ELEMENT_INFO (self, RESOURCE, NOT_FOUND, ("Working on the CPU: %s.", error->text), (NULL));
  self->device_missing = TRUE;
  return CONVOLVE_OK;
}

/* Opens the device where the settings can use one; an error where they insist on it and there is none. */
static ConvolveStatus
ensure_device (GstCudaConvolve * self, const GstCudaConvolveSettings * settings, ConvolveError * error)
{
  if (self->device || !gst_cuda_convolve_settings_want_device (settings)
      || (self->device_missing && !gst_cuda_convolve_settings_need_device (settings)))
    return CONVOLVE_OK;
  self->device = open_device (self, error);
  if (!self->device)
    return do_without_device (self, settings, error);
  GST_INFO_OBJECT (self, "device %d: %s", convolve_device_id (self->device), convolve_device_name (self->device));
  return CONVOLVE_OK;
}

/* Everything that lies on the device, and the context. The settings that were good stay, to make plans from again. */
static void
release_device (GstCudaConvolve * self)
{
  gboolean current = gst_cuda_convolve_cuda_push (device_context (self));

  gst_cuda_convolve_plans_clear (&self->plans);
  g_clear_pointer (&self->device, convolve_device_free);
  if (current)
    leave_context (self);
  self->device_in_context = FALSE;
  g_rec_mutex_lock (&self->context_lock);
  gst_clear_object (&self->context);
  g_rec_mutex_unlock (&self->context_lock);
}

/* Where the user left the choice of the device open, work is done where the frames are. */
static void
follow_input (GstCudaConvolve * self, GstBuffer * input)
{
  GstCudaConvolveContext *theirs = gst_cuda_convolve_cuda_of_buffer (input);

  if (!theirs || (theirs == self->context && (self->device_in_context || !self->device)))
    return;
  if (self->device_id >= 0 && self->device_id != gst_cuda_convolve_cuda_device_id (theirs))
    return;                     /* the frames are mapped to the host */

  GST_INFO_OBJECT (self, "the frames are in another context, following them to %" GST_PTR_FORMAT, theirs);
  release_device (self);
  g_rec_mutex_lock (&self->context_lock);
  gst_object_replace (&self->context, theirs);
  g_rec_mutex_unlock (&self->context_lock);
  GST_OBJECT_LOCK (self);
  self->stale = TRUE;
  GST_OBJECT_UNLOCK (self);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

/* Says what runs now. */
static void
publish_variant (GstCudaConvolve * self, gboolean passthrough)
{
  gboolean cuda = !passthrough && convolve_plan_on_device (self->plans.plan[0]);
  const gchar *before, *now = passthrough ? g_intern_static_string ("passthrough")
      : gst_cuda_convolve_plans_variant (&self->plans, &self->layout);

  GST_OBJECT_LOCK (self);
  before = self->active_variant;
  self->active_variant = now;
  self->backend = passthrough ? "none" : cuda ? "cuda" : "cpu";
  self->device_name = cuda ? g_intern_string (convolve_device_name (self->device)) : "none";
  GST_OBJECT_UNLOCK (self);
  if (before != now) {
    GST_INFO_OBJECT (self, "%s", now);
    g_object_notify (G_OBJECT (self), "active-variant");
  }
}

/*
 * Puts new plans in the place of the old ones; takes both arguments. Identity on every plane needs no work at all. With
 * the context current.
 */
static void
use_plans (GstCudaConvolve * self, GstCudaConvolvePlans plans, GstCudaConvolveSettings settings)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  gboolean passthrough = self->same_memory && gst_cuda_convolve_plans_are_identity (&plans);

  drop_plans (self);
  self->plans = plans;
  self->good = settings;
  self->have_plans = TRUE;
  if (passthrough != gst_base_transform_is_passthrough (trans)) {
    gst_base_transform_set_passthrough (trans, passthrough);
    gst_base_transform_reconfigure_src (trans);
  }
  publish_variant (self, passthrough);
}

/*
 * Makes plans from the settings. Where the mask is bad the one that was good stays, and the user is warned, once for
 * each fault; what is set beside the mask holds. Takes settings on success.
 */
static ConvolveStatus
replace_plans (GstCudaConvolve * self, GstCudaConvolveSettings * settings, ConvolveError * error)
{
  GstCudaConvolvePlans plans;
  ConvolveStatus status = gst_cuda_convolve_plans_init (&plans, settings, &self->layout, self->device, error);

  if (status != CONVOLVE_INVALID) {
    g_clear_pointer (&self->warned, g_free);
  } else if (self->have_plans) {
    if (g_strcmp0 (self->warned, error->text) != 0)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->text), ("The mask before it stays."));
    g_free (self->warned);
    self->warned = g_strdup (error->text);
    convolve_settings_clear (&settings->mask);
    convolve_settings_copy (&settings->mask, &self->good.mask);
    status = gst_cuda_convolve_plans_init (&plans, settings, &self->layout, self->device, error);
  }
  if (status == CONVOLVE_OK)
    use_plans (self, plans, *settings);
  else
    drop_plans (self);
  return status;
}

/*
 * Brings the plans up to date before a frame: the frame then has one mask from start to end. A bad mask is an error
 * as long as there was no good one, and a warning afterwards. FALSE where an error was posted.
 */
static gboolean
update_plans (GstCudaConvolve * self)
{
  GstCudaConvolveSettings settings;
  ConvolveError error;
  ConvolveStatus status;

  GST_OBJECT_LOCK (self);
  if (!self->stale) {
    GST_OBJECT_UNLOCK (self);
    return self->have_plans;
  }
  self->stale = FALSE;
  gst_cuda_convolve_settings_copy (&settings, &self->applied);
  GST_OBJECT_UNLOCK (self);
  settings.device_id = self->device_id;

  status = ensure_device (self, &settings, &error);
  if (status == CONVOLVE_OK)
    status = enter_context (self, &error);
  if (status == CONVOLVE_OK) {
    status = replace_plans (self, &settings, &error);
    leave_context (self);
  }
  if (status == CONVOLVE_OK)
    return self->have_plans;
  post_error (self, &error);
  gst_cuda_convolve_settings_clear (&settings);
  return FALSE;
}

static gboolean
gst_cuda_convolve_start (GstBaseTransform * trans)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstCudaConvolveSettings settings;
  ConvolveMask mask;
  ConvolveError error;
  GError *bad = NULL;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  self->stats = (Stats) { 0 };
  self->stale = TRUE;
  gst_cuda_convolve_settings_copy (&settings, &self->settings);
  GST_OBJECT_UNLOCK (self);
  self->device_missing = FALSE;
  self->device_id = settings.device_id;

  /* What is wrong whatever the format shows at once. */
  ok = convolve_settings_make_mask (&settings.mask, 1, 1, &mask, &bad);
  if (ok) {
    convolve_mask_clear (&mask);
    ok = !gst_cuda_convolve_settings_want_device (&settings)
        || convolve_device_find (settings.device_id, &error) == CONVOLVE_OK
        || do_without_device (self, &settings, &error) == CONVOLVE_OK;
    if (!ok)
      post_error (self, &error);
  } else {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", bad->message), (NULL));
    g_error_free (bad);
  }
  gst_cuda_convolve_settings_clear (&settings);
  return ok;
}

static gboolean
gst_cuda_convolve_stop (GstBaseTransform * trans)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);

  release_device (self);
  drop_plans (self);
  g_clear_pointer (&self->warned, g_free);
  gst_video_info_init (&self->info);
  GST_OBJECT_LOCK (self);
  self->active_variant = NULL;
  GST_OBJECT_UNLOCK (self);
  g_object_notify (G_OBJECT (self), "active-variant");
  return TRUE;
}

static gboolean
caps_are_cuda (GstCaps * caps)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, 0), GST_CUDA_CONVOLVE_MEMORY);
}

/* The same frames in the same memory first, so that nothing moves without need, then in the other. */
static GstCaps *
gst_cuda_convolve_transform_caps (GstBaseTransform * trans, GstPadDirection direction, GstCaps * caps,
    GstCaps * filter)
{
  GstCaps *both = gst_caps_copy (caps), *result;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    gboolean cuda = gst_caps_features_contains (gst_caps_get_features (caps, i), GST_CUDA_CONVOLVE_MEMORY);

    gst_caps_append_structure_full (both, gst_structure_copy (gst_caps_get_structure (caps, i)),
        cuda ? gst_caps_features_new_empty () : gst_caps_features_new (GST_CUDA_CONVOLVE_MEMORY, NULL));
  }
  result = filter ? gst_caps_intersect_full (filter, both, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (both);
  gst_caps_unref (both);
  return result;
}

static gboolean
gst_cuda_convolve_set_caps (GstBaseTransform * trans, GstCaps * incaps, GstCaps * outcaps)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, incaps))
    return FALSE;
  self->info = info;
  self->same_memory = caps_are_cuda (incaps) == caps_are_cuda (outcaps);
  self->cuda_memory = caps_are_cuda (incaps) || caps_are_cuda (outcaps);
  if (self->cuda_memory && self->device && !self->device_in_context)
    release_device (self);      /* to be opened again where the frames are */
  gst_cuda_convolve_layout_init (&self->layout, &info);
  GST_OBJECT_LOCK (self);
  self->stale = TRUE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_cuda_convolve_get_unit_size (GstBaseTransform * trans, GstCaps * caps, gsize * size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  *size = info.size;
  return TRUE;
}

/* A pool for frames with caps, in CUDA memory where those say so; NULL where there is no device for it. */
static GstBufferPool *
pool_for (GstCudaConvolve * self, GstCaps * caps)
{
  if (!caps_are_cuda (caps))
    return gst_video_buffer_pool_new ();
  if (ensure_context (self))
    return gst_cuda_convolve_cuda_pool_new (self->context);
  GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("There is no CUDA device for frames in CUDA memory."), (NULL));
  return NULL;
}

/* Sets the pool's parameters; *size becomes what the pool makes of it. */
static gboolean
configure_pool (GstBufferPool * pool, GstCaps * caps, guint * size, guint min, guint max, gboolean video_meta)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, *size, min, max);
  if (video_meta)
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config))
    return FALSE;
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, size, NULL, NULL);
  gst_structure_free (config);
  return TRUE;
}

static gboolean
gst_cuda_convolve_propose_allocation (GstBaseTransform * trans, GstQuery * decide_query, GstQuery * query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstBufferPool *pool;
  GstVideoInfo info;
  GstCaps *caps;
  gboolean need_pool;
  guint size;

  if (!GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->propose_allocation (trans, decide_query, query))
    return FALSE;
  if (!decide_query)            /* passthrough: downstream has answered */
    return TRUE;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (!caps || !gst_video_info_from_caps (&info, caps) || !(pool = pool_for (self, caps)))
    return FALSE;
  size = info.size;
  if (configure_pool (pool, caps, &size, 0, 0, caps_are_cuda (caps)))
    gst_query_add_allocation_pool (query, need_pool ? pool : NULL, size, 0, 0);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref (pool);
  return TRUE;
}

/* Downstream's pool where it is of the right kind, one of our own otherwise. */
static gboolean
gst_cuda_convolve_decide_allocation (GstBaseTransform * trans, GstQuery * query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstBufferPool *pool = NULL;
  GstVideoInfo info;
  GstCaps *caps;
  gboolean update = gst_query_get_n_allocation_pools (query) > 0, video_meta, cuda;
  guint size, min = 0, max = 0;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  cuda = caps_are_cuda (caps);
  video_meta = cuda || gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  size = info.size;
  if (update) {
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
    size = MAX (size, info.size);
  }
  if (cuda && pool && !gst_cuda_convolve_cuda_owns_pool (self->context, pool))
    gst_clear_object (&pool);
  if (!pool || !configure_pool (pool, caps, &size, min, max, video_meta)) {
    gst_clear_object (&pool);
    pool = pool_for (self, caps);
    if (!pool || !configure_pool (pool, caps, &size, min, max, video_meta)) {
      gst_clear_object (&pool);
      return FALSE;
    }
  }
  if (update)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->decide_allocation (trans, query);
}

static gboolean
gst_cuda_convolve_query (GstBaseTransform * trans, GstPadDirection direction, GstQuery * query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT) {
    gboolean answered;

    g_rec_mutex_lock (&self->context_lock);
    answered = gst_cuda_convolve_cuda_answer (GST_ELEMENT (self), query, self->context);
    g_rec_mutex_unlock (&self->context_lock);
    if (answered)
      return TRUE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->query (trans, direction, query);
}

static void
gst_cuda_convolve_set_context (GstElement * element, GstContext * message)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (element);
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->settings.device_id;
  GST_OBJECT_UNLOCK (self);
  g_rec_mutex_lock (&self->context_lock);
  gst_cuda_convolve_cuda_set_context (element, message, device_id, &self->context);
  g_rec_mutex_unlock (&self->context_lock);
  GST_ELEMENT_CLASS (gst_cuda_convolve_parent_class)->set_context (element, message);
}

/*
 * Size, format and time are the input's, so every meta stays true; the base class leaves out those that describe
 * memory. A meta that holds on to the input's memory would only starve its pool.
 */
static gboolean
gst_cuda_convolve_transform_meta (GstBaseTransform * trans, GstBuffer * outbuf, GstMeta * meta, GstBuffer * inbuf)
{
  return !gst_meta_api_type_has_tag (meta->info->api, g_quark_from_static_string ("memory-reference"))
      && meta->info->api != GST_PARENT_BUFFER_META_API_TYPE;
}

static GstFlowReturn
gst_cuda_convolve_submit_input_buffer (GstBaseTransform * trans, gboolean is_discont, GstBuffer * input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);

  if (trans->segment.format == GST_FORMAT_TIME) {
    GstClockTime time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (input));

    if (GST_CLOCK_TIME_IS_VALID (time))
      gst_object_sync_values (GST_OBJECT (self), time);
  }
  /* New caps come first: plans are made for them, and what they say of memory decides whether frames pass through. */
  gst_base_transform_reconfigure (trans);
  follow_input (self, input);
  /* Before caps there is nothing to plan for; the base class refuses such a buffer. */
  if (GST_VIDEO_INFO_FORMAT (&self->info) != GST_VIDEO_FORMAT_UNKNOWN && !update_plans (self)) {
    gst_buffer_unref (input);
    return GST_FLOW_ERROR;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->submit_input_buffer (trans, is_discont, input);
}

static gboolean
check_frame (GstCudaConvolve * self, const GstVideoFrame * frame, const gchar * side)
{
  gchar *fault = NULL;

  if (gst_cuda_convolve_frame_is_sound (&self->layout, frame, &fault))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A frame does not fit its memory."), ("%s %s", side, fault));
  g_free (fault);
  return FALSE;
}

/* Frames in CUDA memory of our context are mapped where they are, all others to the host. */
static gboolean
map_frame (GstCudaConvolve * self, GstCudaConvolveFrame * frame, GstBuffer * buffer, GstMapFlags flags)
{
  frame->on_device = self->device_in_context && convolve_plan_on_device (self->plans.plan[0])
      && gst_cuda_convolve_cuda_of_buffer (buffer) == self->context;
  if (frame->on_device)
    flags |= gst_cuda_convolve_cuda_map_flag ();
  if (!gst_video_frame_map (&frame->video, &self->info, buffer, flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return FALSE;
  if (frame->on_device && (flags & GST_MAP_READ))
    gst_cuda_convolve_cuda_wait (buffer);
  return TRUE;
}

static GstFlowReturn
convolve_frame (GstCudaConvolve * self, GstCudaConvolveFrame * in, GstCudaConvolveFrame * out)
{
  ConvolveTimes times;
  ConvolveError error;
  ConvolveStatus status;

  if (!check_frame (self, &in->video, "input") || !check_frame (self, &out->video, "output"))
    return GST_FLOW_ERROR;
  status = enter_context (self, &error);
  if (status == CONVOLVE_OK) {
    status = gst_cuda_convolve_run (&self->plans, &self->layout, self->device, in, out, &times, &error);
    leave_context (self);
  }
  if (status != CONVOLVE_OK) {
    post_error (self, &error);
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.total.upload += times.upload;
  self->stats.total.kernel += times.kernel;
  self->stats.total.download += times.download;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_cuda_convolve_transform (GstBaseTransform * trans, GstBuffer * inbuf, GstBuffer * outbuf)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstCudaConvolveFrame in, out;
  GstFlowReturn ret;

  /* Downstream may have asked for other caps once more while the output buffer was allocated. */
  if (!update_plans (self))
    return GST_FLOW_ERROR;
  if (!map_frame (self, &in, inbuf, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("Cannot map a frame to read it."), (NULL));
    return GST_FLOW_ERROR;
  }
  if (!map_frame (self, &out, outbuf, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&in.video);
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("Cannot map a frame to write it."), (NULL));
    return GST_FLOW_ERROR;
  }
  ret = convolve_frame (self, &in, &out);
  gst_video_frame_unmap (&out.video);
  gst_video_frame_unmap (&in.video);
  return ret;
}

static void
gst_cuda_convolve_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case CONVOLVE_PROP_BOUNDARY:
      self->settings.boundary = g_value_get_enum (value);
      break;
    case CONVOLVE_PROP_KERNEL_VARIANT:
      self->settings.variant = g_value_get_enum (value);
      break;
    case PROP_CUDA_DEVICE_ID:
      self->settings.device_id = g_value_get_int (value);
      break;
    default:
      if (!convolve_settings_set_property (&self->settings.mask, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

/* Called once for all that one g_object_set() has set: frames see all of it or nothing. */
static void
gst_cuda_convolve_dispatch_properties_changed (GObject * object, guint n, GParamSpec ** specs)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);
  gboolean written = FALSE;

  for (guint i = 0; i < n; i++)
    written |= specs[i]->owner_type == GST_TYPE_CUDA_CONVOLVE && (specs[i]->flags & G_PARAM_WRITABLE);
  if (written) {
    GST_OBJECT_LOCK (self);
    gst_cuda_convolve_settings_clear (&self->applied);
    gst_cuda_convolve_settings_copy (&self->applied, &self->settings);
    self->stale = TRUE;
    GST_OBJECT_UNLOCK (self);
  }
  G_OBJECT_CLASS (gst_cuda_convolve_parent_class)->dispatch_properties_changed (object, n, specs);
}

/* Times are means over the frames so far; backend and device are those in use. Called with the object lock. */
static GstStructure *
make_stats (GstCudaConvolve * self)
{
  const Stats *stats = &self->stats;
  guint64 frames = MAX (stats->frames, 1);
  gboolean active = self->active_variant != NULL;

  return gst_structure_new ("application/x-cudaconvolve-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "variant", G_TYPE_STRING, active ? self->active_variant : "none",
      "backend", G_TYPE_STRING, active ? self->backend : "none",
      "device", G_TYPE_STRING, active ? self->device_name : "none",
      "upload-time", G_TYPE_UINT64, stats->total.upload / frames,
      "kernel-time", G_TYPE_UINT64, stats->total.kernel / frames,
      "download-time", G_TYPE_UINT64, stats->total.download / frames, NULL);
}

static void
gst_cuda_convolve_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case CONVOLVE_PROP_BOUNDARY:
      g_value_set_enum (value, self->settings.boundary);
      break;
    case CONVOLVE_PROP_KERNEL_VARIANT:
      g_value_set_enum (value, self->settings.variant);
      break;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int (value, self->settings.device_id);
      break;
    case PROP_ACTIVE_VARIANT:
      g_value_set_string (value, self->active_variant);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, make_stats (self));
      break;
    default:
      if (!convolve_settings_get_property (&self->settings.mask, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cuda_convolve_finalize (GObject * object)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);

  gst_clear_object (&self->context);    /* one may have come that was never used */
  g_rec_mutex_clear (&self->context_lock);
  gst_cuda_convolve_settings_clear (&self->settings);
  gst_cuda_convolve_settings_clear (&self->applied);
  G_OBJECT_CLASS (gst_cuda_convolve_parent_class)->finalize (object);
}

static void
gst_cuda_convolve_init (GstCudaConvolve * self)
{
  g_rec_mutex_init (&self->context_lock);
  gst_cuda_convolve_settings_init (&self->settings);
  gst_cuda_convolve_settings_init (&self->applied);
  gst_video_info_init (&self->info);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

/* Frames in CUDA memory, then in system memory. */
static GstCaps *
template_caps (void)
{
  guint n;
  const GstVideoFormat *formats = gst_video_formats_raw (&n);
  GArray *system = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  GArray *cuda = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  GstCaps *caps = gst_caps_new_empty ();

  for (guint i = 0; i < n; i++)
    if (gst_cuda_convolve_format_is_supported (formats[i])) {
      g_array_append_val (system, formats[i]);
      if (gst_cuda_convolve_cuda_has_format (formats[i]))
        g_array_append_val (cuda, formats[i]);
    }
  if (cuda->len > 0)
    gst_caps_append (caps, gst_video_make_raw_caps_with_features ((GstVideoFormat *) (void *) cuda->data, cuda->len,
            gst_caps_features_new (GST_CUDA_CONVOLVE_MEMORY, NULL)));
  gst_caps_append (caps, gst_video_make_raw_caps ((GstVideoFormat *) (void *) system->data, system->len));
  g_array_unref (system);
  g_array_unref (cuda);
  return caps;
}

static void
gst_cuda_convolve_class_init (GstCudaConvolveClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCaps *caps = template_caps ();

  GST_DEBUG_CATEGORY_INIT (gst_cuda_convolve_debug, "cudaconvolve", 0, "convolution of video");

  object_class->set_property = gst_cuda_convolve_set_property;
  object_class->get_property = gst_cuda_convolve_get_property;
  object_class->dispatch_properties_changed = gst_cuda_convolve_dispatch_properties_changed;
  object_class->finalize = gst_cuda_convolve_finalize;

  convolve_props_install (object_class);
  /**
   * GstCudaConvolve:cuda-device-id:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_CUDA_DEVICE_ID, g_param_spec_int ("cuda-device-id",
          "CUDA device ID", "Number of the CUDA device to use; -1 takes the first one, or the CPU where there is none",
          -1, G_MAXINT, -1,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  /**
   * GstCudaConvolve:active-variant:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_ACTIVE_VARIANT, g_param_spec_string ("active-variant",
          "Active variant", "The kernel variant that runs, several with commas where planes differ; "
          "\"passthrough\" where the mask changes nothing, NULL before the first frame", NULL,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  /**
   * GstCudaConvolve:stats:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_STATS, g_param_spec_boxed ("stats", "Statistics",
          "Frames convolved since start, variant, backend (cuda, cpu or none), device, and the mean time of a frame in "
          "nanoseconds: upload-time, kernel-time, download-time", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_set_static_metadata (element_class, "CUDA convolution", "Filter/Effect/Video/Hardware",
      "Convolves video with a mask, on a CUDA device or on the CPU", "The cudaconvolve developers");
  gst_element_class_add_pad_template (element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
          caps));
  gst_element_class_add_pad_template (element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuda_convolve_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuda_convolve_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_cuda_convolve_set_caps);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_cuda_convolve_transform_caps);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuda_convolve_query);
  element_class->set_context = GST_DEBUG_FUNCPTR (gst_cuda_convolve_set_context);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR (gst_cuda_convolve_get_unit_size);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_cuda_convolve_propose_allocation);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (gst_cuda_convolve_decide_allocation);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_cuda_convolve_transform_meta);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_cuda_convolve_submit_input_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_cuda_convolve_transform);
}
