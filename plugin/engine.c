/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine.h"

#include "enums.h"
#include "layercaps.h"
#include "pinned.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_convolve_debug);
#define GST_CAT_DEFAULT gst_cuda_convolve_debug

void
gst_cuda_convolve_engine_fail (GstCudaConvolveEngine *engine, GQuark domain, gint code, const gchar *text, gchar *debug)
{
  gboolean again;

  GST_OBJECT_LOCK (engine->element);
  again = g_strcmp0 (engine->failed, text) == 0;
  if (!again) {
    g_free (engine->failed);
    engine->failed = g_strdup (text);
  }
  GST_OBJECT_UNLOCK (engine->element);
  if (again)
    g_free (debug);
  else
    gst_element_message_full (engine->element, GST_MESSAGE_ERROR, domain, code, g_strdup (text), debug, __FILE__,
        GST_FUNCTION, __LINE__);
}

/* Size, format and variant of the frames, and CUDA's number, for the debug text of an error. */
static gchar *
describe_frames (GstCudaConvolveEngine *engine, const ConvolveError *error)
{
  const gchar *variant = engine->active_variant ? engine->active_variant : "none";

  return g_strdup_printf ("%dx%d %s, variant %s, CUDA error %d", engine->info.width, engine->info.height,
      GST_VIDEO_INFO_NAME (&engine->info), variant, error->native);
}

void
gst_cuda_convolve_engine_post_error (GstCudaConvolveEngine *engine, const ConvolveError *error)
{
  g_autofree gchar *frames = describe_frames (engine, error);

  switch (error->status) {
    case CONVOLVE_OK:
      g_assert_not_reached ();
    case CONVOLVE_INVALID:
    case CONVOLVE_UNSUPPORTED:
      gst_cuda_convolve_engine_fail (engine, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, error->text, NULL);
      break;
    case CONVOLVE_NO_DEVICE:
      gst_cuda_convolve_engine_fail (engine, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, error->text, NULL);
      break;
    case CONVOLVE_NO_MEMORY:
    case CONVOLVE_NO_DEVICE_MEMORY:
      gst_cuda_convolve_engine_fail (engine, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, error->text,
          g_steal_pointer (&frames));
      break;
    case CONVOLVE_DEVICE_FAILED:
      gst_cuda_convolve_engine_fail (engine, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "The CUDA device failed.",
          g_strdup_printf ("%s: %s", frames, error->text));
      break;
  }
}

/* With the context current. */
static void
drop_plans (GstCudaConvolveEngine *engine)
{
  gst_cuda_convolve_plans_clear (&engine->plans);
  if (engine->have_plans)
    convolve_properties_clear (&engine->good);
  engine->have_plans = FALSE;
}

/* The context to be current for work on the device, or NULL. */
static GstCudaConvolveContext *
device_context (GstCudaConvolveEngine *engine)
{
  return engine->device_in_context ? engine->context : NULL;
}

static ConvolveStatus
enter_context (GstCudaConvolveEngine *engine, ConvolveError *error)
{
  if (gst_cuda_convolve_cuda_push (device_context (engine)))
    return CONVOLVE_OK;
  *error = (ConvolveError){ .status = CONVOLVE_DEVICE_FAILED, .text = "its context cannot be made current" };
  return error->status;
}

/* Once for each enter_context() that succeeds. */
static void
leave_context (GstCudaConvolveEngine *engine)
{
  gst_cuda_convolve_cuda_pop (device_context (engine));
}

/*
 * GStreamer's search asks the neighbours and the application, who may wait for threads that call us: no lock is held
 * meanwhile. Who has a context hands it to us by set_context, on this thread: the search looks for it in its own
 * variable. A context that comes on another thread meanwhile is kept, and the one that the search found is not.
 */
GstCudaConvolveContext *
gst_cuda_convolve_engine_ensure_context (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveContext *found = NULL;

  g_mutex_lock (&engine->context_lock);
  if (!engine->context) {
    engine->searching = g_thread_self ();
    engine->found = &found;
    g_mutex_unlock (&engine->context_lock);
    gst_cuda_convolve_cuda_ensure (engine->element, engine->device_id, &found);
    g_mutex_lock (&engine->context_lock);
    engine->searching = NULL;
    engine->found = NULL;
    if (!engine->context)
      engine->context = g_steal_pointer (&found);
  }
  g_mutex_unlock (&engine->context_lock);
  gst_clear_object (&found);
  /* From here on no other thread writes the context. */
  if (engine->context && !engine->stream)
    engine->stream = gst_cuda_convolve_stream_new (engine->context);
  return engine->context;
}

void
gst_cuda_convolve_engine_set_context (GstCudaConvolveEngine *engine, GstContext *message, gint device_id)
{
  GstCudaConvolveContext *context = NULL, **place;

  gst_cuda_convolve_cuda_set_context (engine->element, message, device_id, &context);
  g_mutex_lock (&engine->context_lock);
  place = engine->searching == g_thread_self () ? engine->found : &engine->context;
  if (!*place)
    *place = g_steal_pointer (&context);
  g_mutex_unlock (&engine->context_lock);
  gst_clear_object (&context);
}

gboolean
gst_cuda_convolve_engine_answer_context (GstCudaConvolveEngine *engine, GstQuery *query)
{
  GstCudaConvolveContext *context;
  gboolean answered;

  g_mutex_lock (&engine->context_lock);
  context = engine->context ? gst_object_ref (engine->context) : NULL;
  g_mutex_unlock (&engine->context_lock);
  answered = gst_cuda_convolve_cuda_answer (engine->element, query, context);
  gst_clear_object (&context);
  return answered;
}

/*
 * Frames in CUDA memory are in a context that elements share, and there the device is opened. Otherwise it is opened in
 * the process's own context, which all such elements have in common and which costs nothing more.
 */
static ConvolveDevice *
open_device (GstCudaConvolveEngine *engine, ConvolveError *error)
{
  ConvolveDevice *device;

  engine->device_in_context =
      (engine->cuda_memory || engine->context) && gst_cuda_convolve_engine_ensure_context (engine) != NULL;
  if (!engine->device_in_context)
    return convolve_device_new (engine->device_id, error);
  if (enter_context (engine, error) != CONVOLVE_OK)
    return NULL;
  device = convolve_device_new_current (error);
  if (device && engine->stream)
    convolve_device_use_stream (device, gst_cuda_convolve_stream_handle (engine->stream), NULL);
  leave_context (engine);
  return device;
}

/* Without a device: an error where the settings insist on one, otherwise the CPU and word of it, once. */
static ConvolveStatus
do_without_device (GstCudaConvolveEngine *engine, const ConvolveProperties *settings, ConvolveError *error)
{
  if (convolve_properties_need_device (settings) || error->status != CONVOLVE_NO_DEVICE)
    return error->status;
  if (!engine->device_missing)
    /* The sentence is the debug text too, because gst-launch-1.0 shows nothing else of an INFO. */
    GST_ELEMENT_INFO (engine->element, RESOURCE, NOT_FOUND, ("Working on the CPU: %s.", error->text),
        ("Working on the CPU: %s.", error->text));
  engine->device_missing = TRUE;
  return CONVOLVE_OK;
}

/* Opens the device where the settings can use one; an error where they insist on it and there is none. */
static ConvolveStatus
ensure_device (GstCudaConvolveEngine *engine, const ConvolveProperties *settings, ConvolveError *error)
{
  if (engine->device || !convolve_properties_want_device (settings)
      || (engine->device_missing && !convolve_properties_need_device (settings)))
    return CONVOLVE_OK;
  engine->device = open_device (engine, error);
  if (!engine->device)
    return do_without_device (engine, settings, error);
  GST_INFO_OBJECT (engine->element, "device %d: %s", convolve_device_id (engine->device),
      convolve_device_name (engine->device));
  return CONVOLVE_OK;
}

/* Everything that lies on the device, and the context. The settings that were good stay, to make plans from again. */
static void
release_device (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveContext *context;
  gboolean current;

  gst_cuda_convolve_engine_drop (engine);
  current = gst_cuda_convolve_cuda_push (device_context (engine));
  gst_cuda_convolve_plans_clear (&engine->plans);
  g_clear_pointer (&engine->device, convolve_device_free);
  for (guint i = 0; i < CONVOLVE_MAX_FRAMES; i++)
    engine->flights[i].pending = FALSE; /* all is done */
  if (current)
    leave_context (engine);
  engine->device_in_context = FALSE;
  gst_cuda_convolve_stream_clear (&engine->stream);
  g_mutex_lock (&engine->context_lock);
  context = g_steal_pointer (&engine->context);
  g_mutex_unlock (&engine->context_lock);
  gst_clear_object (&context);
}

gboolean
gst_cuda_convolve_engine_is_on_other_stream (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  GstCudaConvolveStream *theirs = gst_cuda_convolve_stream_of_buffer (input);
  gboolean other = theirs && theirs != engine->stream && gst_cuda_convolve_cuda_of_buffer (input) == engine->context;

  gst_cuda_convolve_stream_clear (&theirs);
  return other;
}

void
gst_cuda_convolve_engine_follow_stream (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  GstCudaConvolveStream *theirs = gst_cuda_convolve_stream_of_buffer (input);

  GST_DEBUG_OBJECT (engine->element, "working on the stream that frames come from");
  if (engine->device && engine->device_in_context && gst_cuda_convolve_cuda_push (engine->context)) {
    convolve_device_use_stream (engine->device, gst_cuda_convolve_stream_handle (theirs), NULL);
    gst_cuda_convolve_cuda_pop (engine->context);
  }
  gst_cuda_convolve_stream_clear (&engine->stream);
  engine->stream = theirs;
}

gboolean
gst_cuda_convolve_engine_is_elsewhere (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  GstCudaConvolveContext *theirs = gst_cuda_convolve_cuda_of_buffer (input);

  if (!theirs || (theirs == engine->context && (engine->device_in_context || !engine->device)))
    return FALSE;
  /* The frames of another device than the one asked for are mapped to the host. */
  return engine->device_id < 0 || engine->device_id == gst_cuda_convolve_cuda_device_id (theirs);
}

void
gst_cuda_convolve_engine_follow (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  GstCudaConvolveContext *theirs = gst_cuda_convolve_cuda_of_buffer (input);

  GST_INFO_OBJECT (engine->element, "the frames are in another context, following them to %" GST_PTR_FORMAT, theirs);
  release_device (engine);
  g_mutex_lock (&engine->context_lock);
  gst_object_replace (&engine->context, theirs);
  g_mutex_unlock (&engine->context_lock);
}

void
gst_cuda_convolve_engine_set_info (GstCudaConvolveEngine *engine, const GstVideoInfo *in, const GstVideoInfo *out,
    gboolean cuda_in, gboolean cuda_out)
{
  engine->info = *in;
  engine->out_info = *out;
  engine->same_memory = cuda_in == cuda_out;
  engine->cuda_memory = cuda_in || cuda_out;
  if (engine->cuda_memory && engine->device && !engine->device_in_context)
    release_device (engine); /* to be opened again where the frames are */
  gst_cuda_convolve_layout_init (&engine->layout, in);
  gst_cuda_convolve_layout_init (&engine->out_layout, out);
}

/* Takes layer. */
static void
set_layer (GstCudaConvolveEngine *engine, GstCudaConvolveLayer *layer)
{
  GstCudaConvolveLayer *before = engine->layer;

  GST_OBJECT_LOCK (engine->element);
  engine->layer = layer;
  GST_OBJECT_UNLOCK (engine->element);
  g_clear_pointer (&before, gst_cuda_convolve_layer_unref);
}

GstCudaConvolveLayer *
gst_cuda_convolve_engine_ref_layer (GstCudaConvolveEngine *engine)
{
  GstCudaConvolveLayer *layer;

  GST_OBJECT_LOCK (engine->element);
  layer = engine->layer ? gst_cuda_convolve_layer_ref (engine->layer) : NULL;
  GST_OBJECT_UNLOCK (engine->element);
  return layer;
}

gboolean
gst_cuda_convolve_engine_has_right_caps (const GstCudaConvolveEngine *engine)
{
  const GstVideoInfo *in = &engine->info, *out = &engine->out_info;

  if (engine->layer)
    return gst_cuda_convolve_layer_makes (engine->layer, in, out);
  return GST_VIDEO_INFO_FORMAT (in) == GST_VIDEO_INFO_FORMAT (out)
      && GST_VIDEO_INFO_WIDTH (in) == GST_VIDEO_INFO_WIDTH (out)
      && GST_VIDEO_INFO_HEIGHT (in) == GST_VIDEO_INFO_HEIGHT (out);
}

/* Warns of a layer, once for each fault. Takes text. */
static void
warn_of_layer (GstCudaConvolveEngine *engine, gchar *text)
{
  if (g_strcmp0 (engine->layer_warned, text) != 0)
    GST_ELEMENT_WARNING (engine->element, LIBRARY, SETTINGS, ("%s", text),
        ("The %s before it stays.", engine->layer ? "layer" : "mask"));
  g_free (engine->layer_warned);
  engine->layer_warned = text;
}

gboolean
gst_cuda_convolve_engine_update_layer (GstCudaConvolveEngine *engine, const ConvolveProperties *settings)
{
  GstCudaConvolveLayer *layer = NULL;
  GError *bad = NULL;
  gchar *fault;

  if (convolve_layer_settings_has_layer (&settings->layer)) {
    layer = gst_cuda_convolve_layer_new (&settings->layer, &settings->mask, settings->boundary, engine->layer, &bad);
    fault = layer ? gst_cuda_convolve_layer_refuses (layer, &engine->info) : g_strdup (bad->message);
    g_clear_error (&bad);
    if (fault) {
      g_clear_pointer (&layer, gst_cuda_convolve_layer_unref);
      warn_of_layer (engine, fault);
      return FALSE;
    }
  }
  set_layer (engine, layer);
  return TRUE;
}

void
gst_cuda_convolve_engine_keep_layer (GstCudaConvolveEngine *engine)
{
  g_clear_pointer (&engine->layer_warned, g_free);
}

void
gst_cuda_convolve_engine_restore_layer (GstCudaConvolveEngine *engine, GstCudaConvolveLayer *before)
{
  set_layer (engine, before ? gst_cuda_convolve_layer_ref (before) : NULL);
  warn_of_layer (engine, g_strdup ("layer-location: the next element does not take the frames that come of it"));
}

gboolean
gst_cuda_convolve_engine_is_passthrough (const GstCudaConvolveEngine *engine)
{
  return gst_cuda_convolve_plans_exist (&engine->plans) && engine->same_memory
      && gst_cuda_convolve_plans_are_identity (&engine->plans);
}

gboolean
gst_cuda_convolve_engine_is_on_device (const GstCudaConvolveEngine *engine)
{
  return gst_cuda_convolve_plans_are_on_device (&engine->plans);
}

/* Says what runs now. */
static void
publish_variant (GstCudaConvolveEngine *engine)
{
  gboolean passthrough = gst_cuda_convolve_engine_is_passthrough (engine);
  gboolean cuda = !passthrough && gst_cuda_convolve_engine_is_on_device (engine);
  const gchar *before,
      *now = passthrough ? g_intern_static_string ("passthrough")
                         : gst_cuda_convolve_plans_variant (&engine->plans, &engine->layout);

  GST_OBJECT_LOCK (engine->element);
  before = engine->active_variant;
  engine->active_variant = now;
  engine->backend = passthrough ? "none" : cuda ? "cuda" : "cpu";
  engine->device_name = cuda ? g_intern_string (convolve_device_name (engine->device)) : "none";
  GST_OBJECT_UNLOCK (engine->element);
  if (before != now) {
    GST_INFO_OBJECT (engine->element, "%s", now);
    g_object_notify (G_OBJECT (engine->element), "active-variant");
  }
}

/* Once for each set of plans: nobody who is not looking pays for it. */
static void
explain_choice (GstCudaConvolveEngine *engine, const ConvolveProperties *settings)
{
  if (settings->variant != CONVOLVE_VARIANT_AUTO || engine->plans.layer
      || gst_debug_category_get_threshold (GST_CAT_DEFAULT) < GST_LEVEL_DEBUG)
    return;
  for (guint i = 0; i < engine->layout.n_steps; i++) {
    gchar text[1000];

    convolve_plan_explain (engine->plans.plan[i], text, sizeof (text));
    GST_DEBUG_OBJECT (engine->element, "plane %u: %s", engine->layout.steps[i].plane, text);
  }
}

/* Plans for the CPU share their work among so many threads. Where there is no memory for those one does it all. */
static void
share_work (GstCudaConvolveEngine *engine, guint n_threads)
{
  gboolean needed =
      !gst_cuda_convolve_engine_is_on_device (engine) && !gst_cuda_convolve_engine_is_passthrough (engine);

  if (!needed || engine->n_threads != n_threads)
    g_clear_pointer (&engine->pool, convolve_pool_free);
  if (needed && !engine->pool)
    engine->pool = convolve_pool_new (n_threads, NULL);
  engine->n_threads = n_threads;
  gst_cuda_convolve_plans_set_pool (&engine->plans, engine->pool);
}

/* Nobody looks at the mask beside a layer. The one that was good, or the default, is kept for when the layer goes. */
static void
keep_good_mask (GstCudaConvolveEngine *engine, ConvolveProperties *settings)
{
  convolve_settings_clear (&settings->mask);
  if (engine->have_plans)
    convolve_settings_copy (&settings->mask, &engine->good.mask);
  else
    convolve_settings_init (&settings->mask);
}

/*
 * Makes plans from the settings. Where the mask is bad the one that was good stays, and the user is warned, once for
 * each fault; what is set beside the mask holds. Takes settings on success.
 */
static ConvolveStatus
replace_plans (GstCudaConvolveEngine *engine, ConvolveProperties *settings, ConvolveError *error)
{
  GstCudaConvolvePlans plans;
  ConvolveStatus status = engine->layer
      ? gst_cuda_convolve_plans_init_layer (&plans, settings, engine->layer, &engine->info, &engine->out_info,
          engine->device, error)
      : gst_cuda_convolve_plans_init (&plans, settings, &engine->layout, engine->device, error);

  if (status != CONVOLVE_INVALID || engine->layer) {
    g_clear_pointer (&engine->warned, g_free);
  } else if (engine->have_plans) {
    if (g_strcmp0 (engine->warned, error->text) != 0)
      GST_ELEMENT_WARNING (engine->element, LIBRARY, SETTINGS, ("%s", error->text), ("The mask before it stays."));
    g_free (engine->warned);
    engine->warned = g_strdup (error->text);
    convolve_settings_clear (&settings->mask);
    convolve_settings_copy (&settings->mask, &engine->good.mask);
    status = gst_cuda_convolve_plans_init (&plans, settings, &engine->layout, engine->device, error);
  }
  if (status == CONVOLVE_OK && engine->layer)
    keep_good_mask (engine, settings);
  drop_plans (engine);
  if (status == CONVOLVE_OK) {
    engine->plans = plans;
    engine->good = *settings;
    engine->have_plans = TRUE;
    share_work (engine, settings->n_threads);
    publish_variant (engine);
    explain_choice (engine, settings);
  }
  return status;
}

gboolean
gst_cuda_convolve_engine_update (GstCudaConvolveEngine *engine, const ConvolveProperties *settings)
{
  ConvolveProperties wanted;
  ConvolveError error;
  ConvolveStatus status;

  convolve_properties_copy (&wanted, settings);
  wanted.device_id = engine->device_id;
  status = ensure_device (engine, &wanted, &error);
  if (status == CONVOLVE_OK)
    status = enter_context (engine, &error);
  if (status == CONVOLVE_OK) {
    status = replace_plans (engine, &wanted, &error);
    leave_context (engine);
  }
  if (status == CONVOLVE_OK)
    return TRUE;
  gst_cuda_convolve_engine_post_error (engine, &error);
  convolve_properties_clear (&wanted);
  return FALSE;
}

gboolean
gst_cuda_convolve_engine_start (GstCudaConvolveEngine *engine, const ConvolveProperties *settings)
{
  ConvolveMask mask;
  ConvolveError error;
  GError *bad = NULL;

  GST_OBJECT_LOCK (engine->element);
  engine->stats = (GstCudaConvolveStats){ 0 };
  g_clear_pointer (&engine->failed, g_free);
  GST_OBJECT_UNLOCK (engine->element);
  engine->device_missing = FALSE;
  engine->device_id = settings->device_id;

  /* What is wrong whatever the format shows at once. */
  if (convolve_layer_settings_has_layer (&settings->layer))
    set_layer (engine, gst_cuda_convolve_layer_new (&settings->layer, &settings->mask, settings->boundary, NULL, &bad));
  else if (convolve_settings_make_mask (&settings->mask, 1, 1, &mask, &bad))
    convolve_mask_clear (&mask);
  if (bad) {
    gst_cuda_convolve_engine_fail (engine, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, bad->message, NULL);
    g_error_free (bad);
    return FALSE;
  }
  if (!convolve_properties_want_device (settings) || convolve_device_find (settings->device_id, &error) == CONVOLVE_OK
      || do_without_device (engine, settings, &error) == CONVOLVE_OK)
    return TRUE;
  set_layer (engine, NULL);
  gst_cuda_convolve_engine_post_error (engine, &error);
  return FALSE;
}

void
gst_cuda_convolve_engine_stop (GstCudaConvolveEngine *engine)
{
  release_device (engine);
  drop_plans (engine);
  g_clear_pointer (&engine->pool, convolve_pool_free);
  g_clear_pointer (&engine->warned, g_free);
  g_clear_pointer (&engine->layer_warned, g_free);
  set_layer (engine, NULL);
  gst_video_info_init (&engine->info);
  GST_OBJECT_LOCK (engine->element);
  engine->active_variant = NULL;
  GST_OBJECT_UNLOCK (engine->element);
  g_object_notify (G_OBJECT (engine->element), "active-variant");
}

void
gst_cuda_convolve_engine_init (GstCudaConvolveEngine *engine, GstElement *element)
{
  engine->element = element;
  g_mutex_init (&engine->context_lock);
  gst_video_info_init (&engine->info);
  gst_video_info_init (&engine->out_info);
}

void
gst_cuda_convolve_engine_clear (GstCudaConvolveEngine *engine)
{
  gst_clear_object (&engine->context); /* one may have come that was never used */
  g_clear_pointer (&engine->failed, g_free);
  g_mutex_clear (&engine->context_lock);
}

/* --- frames --- */

static gboolean
check_frame (GstCudaConvolveEngine *engine, const GstCudaConvolveLayout *layout, const GstVideoFrame *frame,
    const gchar *side)
{
  g_autofree gchar *fault = NULL;

  if (gst_cuda_convolve_frame_is_sound (layout, frame, &fault))
    return TRUE;
  gst_cuda_convolve_engine_fail (engine, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "A frame does not fit its memory.",
      g_strdup_printf ("%s %s", side, fault));
  return FALSE;
}

/* Frames in CUDA memory of our context are mapped where they are, all others to the host. */
static gboolean
map_frame (GstCudaConvolveEngine *engine, const GstVideoInfo *info, GstCudaConvolveFrame *frame, GstBuffer *buffer,
    GstMapFlags flags)
{
  gboolean device = gst_cuda_convolve_engine_is_on_device (engine);

  frame->on_device =
      device && engine->device_in_context && gst_cuda_convolve_cuda_of_buffer (buffer) == engine->context;
  if (frame->on_device)
    flags |= gst_cuda_convolve_cuda_map_flag ();
  else if (device)
    frame->pinned =
        gst_cuda_convolve_pin_buffer (buffer, engine, convolve_device_id (engine->device), device_context (engine));
  if (!gst_video_frame_map (&frame->video, info, buffer, flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return FALSE;
  if (frame->on_device && (flags & GST_MAP_READ) && !gst_cuda_convolve_stream_orders (engine->stream, buffer))
    gst_cuda_convolve_stream_wait (buffer);
  return TRUE;
}

static gboolean
map_frames (GstCudaConvolveEngine *engine, GstCudaConvolveFlight *flight)
{
  if (!map_frame (engine, &engine->info, &flight->in, flight->input, GST_MAP_READ)) {
    gst_cuda_convolve_engine_fail (engine, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Cannot map a frame to read it.", NULL);
    return FALSE;
  }
  if (!map_frame (engine, &engine->out_info, &flight->out, flight->output, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&flight->in.video);
    gst_cuda_convolve_engine_fail (engine, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
        "Cannot map a frame to write it.", NULL);
    return FALSE;
  }
  return TRUE;
}

/* With the context current. */
static void
unmap_flight (GstCudaConvolveFlight *flight)
{
  gst_video_frame_unmap (&flight->out.video);
  gst_video_frame_unmap (&flight->in.video);
  gst_cuda_convolve_plans_clear (&flight->plans);
}

static void
count_times (GstCudaConvolveEngine *engine, const ConvolveTimes *times)
{
  GstCudaConvolveStats *stats = &engine->stats;

  GST_OBJECT_LOCK (engine->element);
  stats->timed_frames += times->taken;
  stats->total.upload += times->upload;
  stats->total.kernel += times->kernel;
  stats->total.download += times->download;
  GST_OBJECT_UNLOCK (engine->element);
}

/* Waits for what the device has under way in a slot, if anything. With the context current. */
static ConvolveStatus
wait_for_slot (GstCudaConvolveEngine *engine, guint slot, ConvolveError *error)
{
  GstCudaConvolveFlight *flight = &engine->flights[slot];
  ConvolveTimes times;
  ConvolveStatus status;

  if (!flight->pending)
    return CONVOLVE_OK;
  flight->pending = FALSE;
  status = convolve_device_wait (engine->device, slot, &times, error);
  if (status == CONVOLVE_OK)
    count_times (engine, &times);
  return status;
}

static ConvolveStatus
run_on_host (GstCudaConvolveEngine *engine, GstCudaConvolveFlight *flight, ConvolveError *error)
{
  ConvolveTimes times;
  ConvolveStatus status =
      gst_cuda_convolve_run_on_host (&flight->plans, &engine->layout, &flight->in, &flight->out, &times, error);

  if (status == CONVOLVE_OK)
    count_times (engine, &times);
  return status;
}

static ConvolveStatus
run_on_device (GstCudaConvolveEngine *engine, guint slot, gboolean alone, ConvolveError *error)
{
  GstCudaConvolveFlight *flight = &engine->flights[slot];
  ConvolveStatus status = gst_cuda_convolve_run_on_device (&flight->plans, &engine->layout, engine->device, slot, alone,
      &flight->in, &flight->out, error);

  flight->pending = status == CONVOLVE_OK;
  flight->ordered = flight->in.on_device && flight->out.on_device
      && gst_cuda_convolve_stream_orders (engine->stream, flight->input)
      && gst_cuda_convolve_stream_orders (engine->stream, flight->output);
  if (flight->out.on_device)
    gst_cuda_convolve_stream_mark (flight->output, flight->ordered);
  return status;
}

/* The frame in a slot, mapped, from its plans' point of view; the error is posted. With the context current. */
static gboolean
run_flight (GstCudaConvolveEngine *engine, guint slot, gboolean alone)
{
  GstCudaConvolveFlight *flight = &engine->flights[slot];
  ConvolveError error;
  ConvolveStatus status;

  if (!check_frame (engine, &engine->layout, &flight->in.video, "input")
      || !check_frame (engine, &engine->out_layout, &flight->out.video, "output"))
    return FALSE;
  if (gst_cuda_convolve_plans_are_on_device (&flight->plans))
    status = run_on_device (engine, slot, alone, &error);
  else
    status = run_on_host (engine, flight, &error);
  if (status != CONVOLVE_OK)
    gst_cuda_convolve_engine_post_error (engine, &error);
  return status == CONVOLVE_OK;
}

/* With the context current. */
static gboolean
begin_flight (GstCudaConvolveEngine *engine, guint slot, gboolean alone)
{
  GstCudaConvolveFlight *flight = &engine->flights[slot];

  if (!map_frames (engine, flight))
    return FALSE;
  gst_cuda_convolve_plans_ref (&flight->plans, &engine->plans);
  if (run_flight (engine, slot, alone))
    return TRUE;
  unmap_flight (flight);
  return FALSE;
}

GstFlowReturn
gst_cuda_convolve_engine_begin (GstCudaConvolveEngine *engine, GstBuffer *input, GstBuffer *output, gboolean alone)
{
  guint slot = (engine->first_flight + engine->n_flights) % CONVOLVE_MAX_FRAMES;
  ConvolveError error;
  ConvolveStatus status = enter_context (engine, &error);
  gboolean begun = FALSE;

  if (status == CONVOLVE_OK) {
    status = wait_for_slot (engine, slot, &error);
    engine->flights[slot] = (GstCudaConvolveFlight){ .input = input, .output = output };
    begun = status == CONVOLVE_OK && begin_flight (engine, slot, alone);
    leave_context (engine);
  }
  if (begun) {
    engine->n_flights++;
    return GST_FLOW_OK;
  }
  if (status != CONVOLVE_OK)
    gst_cuda_convolve_engine_post_error (engine, &error);
  gst_buffer_unref (input);
  gst_buffer_unref (output);
  gst_cuda_convolve_engine_drop (engine);
  return GST_FLOW_ERROR;
}

/* Takes the oldest frame out of the ring, when its output can be passed on. */
static ConvolveStatus
end_flight (GstCudaConvolveEngine *engine, gboolean wait, GstBuffer **output, ConvolveError *error)
{
  guint slot = engine->first_flight;
  GstCudaConvolveFlight *flight = &engine->flights[slot];
  gboolean current = gst_cuda_convolve_cuda_push (device_context (engine));
  ConvolveStatus status = CONVOLVE_OK;

  if (wait || !flight->ordered)
    status = wait_for_slot (engine, slot, error);
  unmap_flight (flight);
  if (current)
    leave_context (engine);
  gst_clear_buffer (&flight->input);
  *output = g_steal_pointer (&flight->output);
  engine->first_flight = (slot + 1) % CONVOLVE_MAX_FRAMES;
  engine->n_flights--;
  return status;
}

GstFlowReturn
gst_cuda_convolve_engine_end (GstCudaConvolveEngine *engine, GstBuffer **output)
{
  ConvolveError error;

  if (end_flight (engine, FALSE, output, &error) != CONVOLVE_OK) {
    gst_clear_buffer (output);
    gst_cuda_convolve_engine_post_error (engine, &error);
    gst_cuda_convolve_engine_drop (engine);
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK (engine->element);
  engine->stats.frames++;
  GST_OBJECT_UNLOCK (engine->element);
  return GST_FLOW_OK;
}

void
gst_cuda_convolve_engine_drop (GstCudaConvolveEngine *engine)
{
  while (engine->n_flights > 0) {
    GstBuffer *output;
    ConvolveError error;

    end_flight (engine, TRUE, &output, &error);
    gst_buffer_unref (output);
  }
}
