/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cudaconvolve
 * @title: cudaconvolve
 * @short_description: convolves video with a mask, on a CUDA device or on the CPU
 *
 * Every output sample is the weighted sum of its neighbourhood in the input. #GstCudaConvolve:mask names a preset, or
 * lists the weights row by row. The mask lies on the picture as written: the first weight meets the top-left neighbour.
 * Weights may also come from #GstCudaConvolve:weights, from the file #GstCudaConvolve:mask-location, or from the vectors
 * #GstCudaConvolve:mask-x and #GstCudaConvolve:mask-y.
 *
 * The fields of interlaced frames, the views of stereo frames, and the rectangle of a #GstVideoCropMeta are convolved as
 * pictures of their own. #GstCudaConvolve:field-mode turns that off for fields.
 *
 * The result is the same on a GPU and on the CPU. Without a GPU the element works on the CPU, unless
 * #GstCudaConvolve:kernel-variant or #GstCudaConvolve:cuda-device-id asks for a GPU.
 *
 * With #GstCudaConvolve:layer-location a convolution layer of a network takes the mask's place: filters over all
 * colours, with stride, padding, activation and pooling. Frames are GRAY8 or RGB then, and the output's size and format
 * follow from the layer.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! cudaconvolve mask=gaussian sigma=3 ! videoconvert ! autovideosink
 * ]| Blurs a clip.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve mask="-1 0 1; -2 0 2; -1 0 1" bias=0.5 boundary=reflect ! videoconvert ! autovideosink
 * ]| Shows how brightness changes from left to right; middle grey means no change.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve layer-location=conv1.npz stride=2 mosaic=true bias=0.5 ! videoconvert ! autovideosink
 * ]| Shows all feature maps of a layer side by side.
 *
 * Since: 0.1
 */
#include "base/gstcudaconvolve.h"

#include "cuda/allocation.h"
#include "frame/crop.h"
#include "report/debug.h"
#include "frame/formats.h"
#include "layer/layermeta.h"
#include "frame/metas.h"
#include "base/negotiation.h"
#include "base/object.h"
#include "base/refusal.h"
#include "report/tracing.h"

GST_DEBUG_CATEGORY (gst_cuda_convolve_debug);

G_DEFINE_FINAL_TYPE (GstCudaConvolve, gst_cuda_convolve, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (cudaconvolve, "cudaconvolve", GST_RANK_NONE, GST_TYPE_CUDA_CONVOLVE)

/* --- frames under way and passthrough --- */

/* Ends and pushes all frames under way; why is the cause, for the log. Events and queries cannot hand on a failure, so the next frame does. */
static GstFlowReturn
drain (GstCudaConvolve *self, const gchar *why)
{
  GstFlowReturn ret = gst_cuda_convolve_flights_drain (self->flights, GST_BASE_TRANSFORM_SRC_PAD (self), why);

  self->broken |= ret == GST_FLOW_ERROR;
  return ret;
}

/* Frames on the CPU are done at once, so that keeping some under way would only delay them. */
static void
update_ahead (GstCudaConvolve *self)
{
  guint frames = gst_cuda_convolve_settings_get_used (self->settings)->frames_in_flight;
  gboolean overlap = gst_cuda_convolve_engine_is_on_device (self->engine)
      && !gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (self));

  gst_cuda_convolve_flights_set_ahead (self->flights, overlap ? frames - 1 : 0,
      gst_cuda_convolve_engine_get_in_info (self->engine));
}

/* What upstream was told was for other caps, or for another upstream, which asks for itself. */
static void
forget_query (GstCudaConvolve *self)
{
  self->asked_directly = FALSE;
  gst_cuda_convolve_flights_agree_in (self->flights, 0, 0);
}

/*
 * Without an agreed allocation no buffer is kept. Without passthrough this element answers upstream's queries itself.
 */
static void
forget_allocation (GstCudaConvolve *self)
{
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
  forget_query (self);
  gst_cuda_convolve_flights_agree_out (self->flights, 0);
}

/*
 * Tells upstream to ask for an allocation again. The wish stays until upstream asks. Behind a tee, the query would wait
 * for the tee's other branches, of which one may wait for this element, and the answer may be thrown away: nobody is told.
 */
static void
ask_for_query (GstCudaConvolve *self)
{
  GST_CUDA_CONVOLVE_TELL (&self->asked_told, self, "upstream is %s to ask for an allocation again",
      self->asked_directly ? "told" : "not told, because it asked for no pool,");
  if (!self->asked_directly)
    return;
  gst_cuda_convolve_flights_await_query (self->flights);
  GST_OBJECT_LOCK (self);
  self->wants_query = TRUE;
  GST_OBJECT_UNLOCK (self);
  gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
}

/* A pad that is flushed drops the event that tells upstream, so upstream is told again when the flush ends. */
static void
ask_after_flush (GstCudaConvolve *self)
{
  gboolean wants;

  GST_OBJECT_LOCK (self);
  wants = self->wants_query;
  GST_OBJECT_UNLOCK (self);
  if (wants)
    gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
}

/*
 * In passthrough downstream answers upstream's allocation query, and otherwise this element does. So upstream has to
 * ask again: downstream may keep more buffers than this element had asked for, and a pool without more would then stay
 * empty.
 */
static void
switch_passthrough (GstCudaConvolve *self, gboolean passthrough)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  if (gst_base_transform_is_passthrough (trans) == passthrough)
    return;
  GST_CUDA_CONVOLVE_TELL (&self->passthrough_told, self, "passthrough %s",
      passthrough ? "begins: the settings change no sample" : "ends");
  gst_base_transform_set_passthrough (trans, passthrough);
  ask_for_query (self);
}

/* Whether upstream's buffers go on to downstream, and upstream has not been told yet. */
static gboolean
must_tell_of_passing (GstCudaConvolve *self)
{
  gboolean told;

  GST_OBJECT_LOCK (self);
  told = self->asked_to_pass;
  GST_OBJECT_UNLOCK (self);
  return !told && !gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (self))
      && gst_cuda_convolve_settings_passes_buffers (self->settings);
}

/*
 * Asks the neighbours for another allocation where the last one has fewer buffers than the element and downstream are to
 * keep. The query to downstream waits for all that is queued there, and somebody may need the frames under way for that.
 */
static GstFlowReturn
agree_on_more (GstCudaConvolve *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  if (gst_cuda_convolve_flights_lacks_buffers (self->flights, GST_PAD_SINK) || must_tell_of_passing (self))
    ask_for_query (self);
  if (gst_cuda_convolve_flights_lacks_buffers (self->flights, GST_PAD_SRC)) {
    ret = drain (self, "the output's pool has too few buffers");
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  }
  return ret;
}

/*
 * The output's pool is needed no more, or again. A pool that makes buffers at will stays for the end of passthrough: the
 * query for another one would wait for all that downstream has queued.
 */
static void
renew_pool (GstCudaConvolve *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstBufferPool) pool = gst_base_transform_get_buffer_pool (trans);

  if (!pool || gst_cuda_convolve_pool_count_most (pool) > 0)
    gst_base_transform_reconfigure_src (trans);
}

/* --- caps --- */

/* Whether the element takes nothing of what upstream can offer. The user has been told then. */
static gboolean
is_refused_at_start (GstCudaConvolve *self)
{
  return gst_cuda_convolve_refuse_offers (self->errors, gst_cuda_convolve_engine_get_layer (self->engine),
      GST_BASE_TRANSFORM_SINK_PAD (self));
}

/*
 * Looks at a query for caps that was answered with a refusal. That asks upstream, whose answer may begin with a query that
 * is refused, too. Before the start nobody waits for frames, and start() looks at what upstream offers.
 */
static void
look_at_refusal (GstCudaConvolve *self, GstQuery *query)
{
  GstCudaConvolveLayer *layer;
  gboolean started;

  GST_OBJECT_LOCK (self);
  started = self->started;
  GST_OBJECT_UNLOCK (self);
  if (!started || !g_atomic_int_compare_and_exchange (&self->looking, FALSE, TRUE))
    return;
  layer = gst_cuda_convolve_engine_ref_layer (self->engine);
  gst_cuda_convolve_refuse_query (self->errors, layer, GST_BASE_TRANSFORM_SINK_PAD (self), query);
  g_clear_pointer (&layer, gst_cuda_convolve_layer_unref);
  g_atomic_int_set (&self->looking, FALSE);
}

/* --- settings and plans --- */

/* Negotiates new caps for the output, after all frames under way have been pushed. */
static GstFlowReturn
renegotiate (GstCudaConvolve *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn ret = drain (self, "the layer needs other caps");

  switch_passthrough (self, FALSE);
  gst_base_transform_reconfigure_src (trans);
  if (ret == GST_FLOW_OK && !gst_base_transform_reconfigure (trans))
    ret = GST_PAD_IS_FLUSHING (trans->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
  return ret;
}

/* A new layer may need new caps for the output. Where downstream takes none of them, the layer before stays. */
static GstFlowReturn
update_layer (GstCudaConvolve *self)
{
  GstCudaConvolveLayer *before = gst_cuda_convolve_engine_ref_layer (self->engine);
  GstFlowReturn ret = GST_FLOW_OK;

  if (gst_cuda_convolve_engine_update_layer (self->engine, gst_cuda_convolve_settings_get_used (self->settings))) {
    gboolean same = gst_cuda_convolve_engine_has_right_caps (self->engine);

    if (!same && !gst_cuda_convolve_is_taken_downstream (self)) {
      gst_cuda_convolve_engine_restore_layer (self->engine, before);
    } else {
      gst_cuda_convolve_engine_keep_layer (self->engine);
      ret = same ? GST_FLOW_OK : renegotiate (self);
    }
  }
  g_clear_pointer (&before, gst_cuda_convolve_layer_unref);
  return ret;
}

/* Takes over the settings that were applied since the last frame. */
static GstFlowReturn
update_settings (GstCudaConvolve *self)
{
  GstFlowReturn ret;

  if (!gst_cuda_convolve_settings_take (self->settings))
    return GST_FLOW_OK;
  self->replan = TRUE;
  ret = update_layer (self);
  gst_cuda_convolve_settings_warn_of_idle (self->settings, gst_cuda_convolve_engine_get_layer (self->engine) != NULL);
  return ret;
}

/*
 * Brings the plans up to date before a frame, so that the frame has one mask from start to end. Where the plans change
 * no sample the element goes to passthrough. Fails where an error was posted, or where downstream did not take a frame
 * that was under way.
 */
static GstFlowReturn
update_plans (GstCudaConvolve *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn ret = GST_FLOW_OK;
  gboolean passthrough;

  if (!self->replan)
    return gst_cuda_convolve_engine_has_plans (self->engine) ? GST_FLOW_OK : GST_FLOW_ERROR;
  self->replan = FALSE;
  gst_cuda_convolve_errors_set_properties (self->errors, gst_cuda_convolve_settings_get_used (self->settings));
  if (!gst_cuda_convolve_engine_update (self->engine, gst_cuda_convolve_settings_get_used (self->settings)))
    return GST_FLOW_ERROR;
  passthrough = gst_cuda_convolve_engine_is_passthrough (self->engine);
  if (passthrough != gst_base_transform_is_passthrough (trans)) {
    ret = drain (self, "passthrough begins or ends");
    switch_passthrough (self, passthrough);
    renew_pool (self);
  }
  update_ahead (self);
  return ret == GST_FLOW_OK ? agree_on_more (self) : ret;
}

/* Threads that start and stop the pad change its flags under its lock. */
static gboolean
needs_reconfigure (GstPad *pad)
{
  gboolean needs;

  GST_OBJECT_LOCK (pad);
  needs = GST_PAD_NEEDS_RECONFIGURE (pad);
  GST_OBJECT_UNLOCK (pad);
  return needs;
}

/*
 * Upstream asks for an allocation. Before the first frame the plans are made now, because the answer depends on whether the
 * frames pass through: to ask again later may have to wait for other branches of the pipeline. A failure is the next frame's.
 */
static void
prepare_answer (GstCudaConvolve *self)
{
  /* The base class then asks downstream first. */
  if (needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (self)))
    drain (self, "upstream asks for an allocation, and downstream is asked for caps and buffers again");
  if (self->flowing)
    return;
  gst_base_transform_reconfigure (GST_BASE_TRANSFORM (self));
  if (GST_VIDEO_INFO_FORMAT (gst_cuda_convolve_engine_get_in_info (self->engine)) == GST_VIDEO_FORMAT_UNKNOWN)
    return;
  if (update_settings (self) == GST_FLOW_OK)
    update_plans (self);
}

/* --- start and stop --- */

static void
set_started (GstCudaConvolve *self, gboolean started)
{
  GST_OBJECT_LOCK (self);
  self->started = started;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_cuda_convolve_start (GstBaseTransform *trans)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  ConvolveProperties properties;
  gboolean ok;

  forget_allocation (self);
  self->broken = self->flowing = FALSE;
  self->queries_told = self->offers_told = self->pools_told = self->passthrough_told = self->asked_told = 0;
  gst_cuda_convolve_settings_renew (self->settings);
  gst_cuda_convolve_settings_copy (self->settings, &properties);
  gst_cuda_convolve_errors_set_properties (self->errors, &properties);
  ok = gst_cuda_convolve_engine_start (self->engine, &properties);
  convolve_properties_clear (&properties);
  if (ok && is_refused_at_start (self)) {
    gst_cuda_convolve_engine_stop (self->engine);
    ok = FALSE;
  }
  set_started (self, ok);
  return ok;
}

static gboolean
gst_cuda_convolve_stop (GstBaseTransform *trans)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);

  gst_cuda_convolve_engine_stop (self->engine);
  gst_cuda_convolve_flights_stop (self->flights);
  forget_allocation (self);
  gst_cuda_convolve_settings_forget_idle (self->settings);
  set_started (self, FALSE);
  return TRUE;
}

/* --- queries and events --- */

/* Adds the time that frames stay under way to what upstream answered. */
static void
add_latency (GstCudaConvolve *self, GstQuery *query)
{
  GstClockTime least, most, latency = gst_cuda_convolve_flights_get_latency (self->flights);
  gboolean live;

  gst_query_parse_latency (query, &live, &least, &most);
  gst_query_set_latency (query, live, least + latency, GST_CLOCK_TIME_IS_VALID (most) ? most + latency : most);
}

/* A neighbour that takes any format takes the first one, which in GStreamer's order has 16 bits for each sample. */
static void
sort_caps (GstQuery *query)
{
  GstCaps *caps;

  gst_query_parse_caps_result (query, &caps);
  caps = gst_cuda_convolve_prefer_common_formats (gst_caps_ref (caps));
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
}

static gboolean
gst_cuda_convolve_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  gboolean ok;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && gst_cuda_convolve_device_answer_context (self->device, query))
    return TRUE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN && direction == GST_PAD_SINK)
    drain (self, "the query DRAIN");
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION && direction == GST_PAD_SINK)
    prepare_answer (self);
  ok = GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->query (trans, direction, query);
  if (ok && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC)
    add_latency (self, query);
  if (ok && GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    sort_caps (query);
  if (ok && direction == GST_PAD_SINK && gst_cuda_convolve_is_refusal (query))
    look_at_refusal (self, query);
  return ok;
}

/* A serialized event stays behind the frames that came before the event. */
static gboolean
gst_cuda_convolve_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  gboolean flushed = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP, ok;

  if (flushed) {
    gst_cuda_convolve_flights_flush (self->flights);
    gst_cuda_convolve_engine_flush (self->engine);
    self->broken = self->flowing = FALSE;
  } else if (GST_EVENT_IS_SERIALIZED (event))
    drain (self, GST_EVENT_TYPE_NAME (event));
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_cuda_convolve_engine_end_stream (self->engine);
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    forget_query (self);
    self->flowing = FALSE;
  }
  ok = GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->sink_event (trans, event);
  if (flushed)
    ask_after_flush (self);
  return ok;
}

/* All forms of navigation have these fields; gst_navigation_event_get_coordinates() of GStreamer 1.22 lacks some forms. */
static gboolean
get_pointer (GstEvent *event, gdouble *x, gdouble *y)
{
  const GstStructure *structure = gst_event_get_structure (event);

  return structure && gst_structure_get_double (structure, "pointer_x", x)
      && gst_structure_get_double (structure, "pointer_y", y);
}

/*
 * A pointer on the output of a layer, as the place in the frames that came in. Any thread: the caps of the pad and the layer
 * tell all. Takes event.
 */
static GstEvent *
move_pointer (GstCudaConvolve *self, GstEvent *event)
{
  GstCudaConvolveLayer *layer = gst_cuda_convolve_engine_ref_layer (self->engine);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  GstVideoInfo info;
  gdouble x, y;

  if (layer && caps && gst_video_info_from_caps (&info, caps) && get_pointer (event, &x, &y)
      && gst_cuda_convolve_layer_find_origin (layer, GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info), &x,
          &y)) {
    event = gst_event_make_writable (event);
    gst_structure_set (gst_event_writable_structure (event), "pointer_x", G_TYPE_DOUBLE, x, "pointer_y", G_TYPE_DOUBLE,
        y, NULL);
  }
  g_clear_pointer (&layer, gst_cuda_convolve_layer_unref);
  return event;
}

static gboolean
gst_cuda_convolve_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_NAVIGATION)
    event = move_pointer (GST_CUDA_CONVOLVE (trans), event);
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->src_event (trans, event);
}

static void
gst_cuda_convolve_set_context (GstElement *element, GstContext *message)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (element);

  gst_cuda_convolve_device_set_context (self->device, message,
      gst_cuda_convolve_settings_get_device_id (self->settings));
  GST_ELEMENT_CLASS (gst_cuda_convolve_parent_class)->set_context (element, message);
}

/* --- frames --- */

/* The base class leaves out the metas about memory, and those that keep the input's memory alive. */
static gboolean
gst_cuda_convolve_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  GstCudaConvolveEngine *engine = GST_CUDA_CONVOLVE (trans)->engine;
  const GstCudaConvolveLayer *layer = gst_cuda_convolve_engine_get_layer (engine);
  ConvolveRect rect;

  /* Of a frame that is larger than the caps' picture, the output has the picture alone. */
  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE
      && gst_cuda_convolve_crop_find (gst_cuda_convolve_engine_get_in_info (engine), inbuf, &rect)
          == GST_CUDA_CONVOLVE_CROP_PICTURE)
    return FALSE;
  if (!gst_cuda_convolve_meta_stays_true (meta->info->api))
    return FALSE;
  if (layer
      && !gst_cuda_convolve_layer_keeps_meta (layer, gst_cuda_convolve_engine_get_in_info (engine),
          gst_cuda_convolve_engine_get_out_info (engine), outbuf, meta, inbuf))
    return FALSE;
  return TRUE;
}

/* Settles everything that the frame depends on: caps, context, stream, settings and plans, in that order. */
static GstFlowReturn
prepare_for (GstCudaConvolve *self, gboolean is_discont, GstBuffer *input)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn ret = GST_FLOW_OK;

  /* The base class reports a gap with every input until it has marked an output, so only the first report counts. */
  if ((is_discont && !self->discont) || GST_BUFFER_IS_DISCONT (input))
    ret = drain (self, "a gap in the input");
  else if (needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (self)))
    ret = drain (self, "downstream is asked for caps and buffers again");
  self->discont = is_discont;
  /* New caps come first: the plans are made for them, and passthrough needs one kind of memory on both sides. */
  gst_base_transform_reconfigure (trans);
  if (ret == GST_FLOW_OK && gst_cuda_convolve_device_is_elsewhere (self->device, input)) {
    ret = drain (self, "the input is in another context");
    gst_cuda_convolve_engine_follow (self->engine, input);
    self->replan = TRUE;
    gst_base_transform_reconfigure_src (trans);
  }
  if (ret == GST_FLOW_OK && gst_cuda_convolve_device_is_on_other_stream (self->device, input)) {
    ret = drain (self, "the input is on another stream");
    gst_cuda_convolve_device_follow_stream (self->device, input);
    gst_base_transform_reconfigure_src (trans);
  }
  /* Without caps there is nothing to plan, and the base class refuses the buffer. */
  if (ret == GST_FLOW_OK
      && GST_VIDEO_INFO_FORMAT (gst_cuda_convolve_engine_get_in_info (self->engine)) == GST_VIDEO_FORMAT_UNKNOWN) {
    gst_cuda_convolve_refuse_missing_caps (self->errors, GST_BASE_TRANSFORM_SINK_PAD (self));
    return ret;
  }
  if (ret != GST_FLOW_OK)
    return ret;
  gst_cuda_convolve_flights_look_at (self->flights, input);
  ret = update_settings (self);
  if (gst_cuda_convolve_engine_needs_copies (self->engine, input))
    self->replan = TRUE;
  if (ret == GST_FLOW_OK)
    ret = update_plans (self);
  if (ret == GST_FLOW_OK && !gst_base_transform_is_passthrough (trans))
    gst_cuda_convolve_engine_warn_of_frame (self->engine, input);
  return ret;
}

static GstFlowReturn
gst_cuda_convolve_submit_input_buffer (GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstFlowReturn ret;

  if (trans->segment.format == GST_FORMAT_TIME) {
    GstClockTime time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (input));

    if (GST_CLOCK_TIME_IS_VALID (time))
      gst_cuda_convolve_settings_sync (self->settings, time);
  }
  self->flowing = TRUE;
  ret = self->broken ? GST_FLOW_ERROR : prepare_for (self, is_discont, input);
  if (ret != GST_FLOW_OK) {
    gst_buffer_unref (input);
    return ret;
  }
  ret = GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->submit_input_buffer (trans, is_discont, input);
  /* A dropped late frame leaves a gap. The base class marks the next output, which must come after the gap. */
  if (ret == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GstFlowReturn drained = drain (self, "a late frame is dropped");

    return drained == GST_FLOW_OK ? ret : drained;
  }
  return ret;
}

/* Takes input. */
static GstFlowReturn
begin_frame (GstCudaConvolve *self, GstBuffer *input)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstBuffer *output = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  switch (gst_cuda_convolve_engine_look (self->engine, &trans->segment, input)) {
    case GST_CUDA_CONVOLVE_NEEDS_OUTPUT:
      ret = GST_BASE_TRANSFORM_GET_CLASS (self)->prepare_output_buffer (trans, input, &output);
      /* The base class does not tell that a pool of frames in CUDA memory has no more of them. */
      if (ret == GST_FLOW_ERROR && gst_cuda_convolve_device_get_context (self->device)
          && !gst_cuda_convolve_errors_any (self->errors))
        gst_cuda_convolve_post_no_cuda_frames (gst_cuda_convolve_device_get_context (self->device), self->errors);
      /* prepare_output_buffer() may have negotiated new caps. */
      if (ret == GST_FLOW_OK)
        ret = update_plans (self);
      break;
    case GST_CUDA_CONVOLVE_NEEDS_NOTHING:
      gst_cuda_convolve_metas_forget (input);
      break;
    case GST_CUDA_CONVOLVE_NEEDS_NO_WORK:
      gst_cuda_convolve_engine_pass (self->engine, input);
      return GST_FLOW_OK;
  }
  if (ret == GST_FLOW_OK)
    return gst_cuda_convolve_engine_begin (self->engine, input, output);
  gst_buffer_unref (input);
  gst_clear_buffer (&output);
  return ret;
}

/*
 * The base class calls this function again until there is no output. The span has all the time that a frame takes on
 * this thread, where one frame is under way; otherwise the end of the frame is in the span of a later one.
 */
static GstFlowReturn
gst_cuda_convolve_generate_output (GstBaseTransform *trans, GstBuffer **output)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstBuffer *input;
  GstFlowReturn ret;
  guint64 span;

  *output = NULL;
  if (gst_base_transform_is_passthrough (trans))
    return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->generate_output (trans, output);
  if (!trans->queued_buf)
    return gst_cuda_convolve_flights_end_surplus (self->flights, output);
  input = g_steal_pointer (&trans->queued_buf);
  span = gst_cuda_convolve_span_begin (GST_ELEMENT (self), gst_cuda_convolve_stats_get_variant (self->stats),
      GST_BUFFER_PTS (input));
  ret = begin_frame (self, input);
  if (ret == GST_FLOW_OK)
    ret = gst_cuda_convolve_flights_end_surplus (self->flights, output);
  gst_cuda_convolve_span_end (span);
  return ret;
}

/* The base class needs this function to leave passthrough. generate_output() does the work, so nothing calls it. */
static GstFlowReturn
gst_cuda_convolve_transform (GstBaseTransform *trans, GstBuffer *input, GstBuffer *output)
{
  return GST_FLOW_NOT_SUPPORTED;
}

/* --- the object --- */

static void
gst_cuda_convolve_finalize (GObject *object)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);

  gst_cuda_convolve_engine_free (self->engine);
  gst_cuda_convolve_flights_free (self->flights);
  gst_cuda_convolve_device_free (self->device);
  gst_cuda_convolve_stats_free (self->stats);
  gst_cuda_convolve_errors_free (self->errors);
  gst_cuda_convolve_settings_free (self->settings);
  G_OBJECT_CLASS (gst_cuda_convolve_parent_class)->finalize (object);
}

static void
gst_cuda_convolve_init (GstCudaConvolve *self)
{
  GstElement *element = GST_ELEMENT (self);

  self->settings = gst_cuda_convolve_settings_new (element);
  self->errors = gst_cuda_convolve_errors_new (element);
  self->stats = gst_cuda_convolve_stats_new (element);
  self->device = gst_cuda_convolve_device_new (element);
  self->flights = gst_cuda_convolve_flights_new (element, self->device, self->errors, self->stats);
  self->engine = gst_cuda_convolve_engine_new (element, self->device, self->flights, self->errors, self->stats);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
describe_element (GstElementClass *klass)
{
  GstCaps *caps = gst_cuda_convolve_template_caps ();

  gst_element_class_set_static_metadata (klass, "Convolution with CUDA or on the CPU (blur, sharpen, edge detection)",
      "Filter/Effect/Video",
      "Blurs, sharpens, finds edges or convolves video with any mask or a convolution layer, with CUDA on an NVIDIA "
      "GPU or on the CPU",
      "The cudaconvolve developers");
  gst_element_class_add_pad_template (klass, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (klass, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
}

static void
gst_cuda_convolve_class_init (GstCudaConvolveClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_cuda_convolve_debug, "cudaconvolve", 0, "convolution of video");

  object_class->finalize = gst_cuda_convolve_finalize;
  gst_cuda_convolve_install_properties (object_class);

  describe_element (element_class);
  element_class->set_context = GST_DEBUG_FUNCPTR (gst_cuda_convolve_set_context);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuda_convolve_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuda_convolve_stop);
  gst_cuda_convolve_install_negotiation (trans_class);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuda_convolve_query);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_cuda_convolve_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_cuda_convolve_src_event);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_cuda_convolve_transform_meta);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_cuda_convolve_submit_input_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_cuda_convolve_transform);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_cuda_convolve_generate_output);
}
