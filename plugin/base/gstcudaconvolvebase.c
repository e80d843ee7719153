/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * GstCudaConvolveBase:
 *
 * The base class of cudaconvolve and cudaconvlayer.
 *
 * Since: 1.0
 */
#include "base/gstcudaconvolvebase.h"

#include "base/engine.h"
#include "base/negotiation.h"
#include "base/refusal.h"
#include "base/waiting.h"
#include "cuda/allocation.h"
#include "frame/formats.h"
#include "frame/metas.h"
#include "report/debug.h"
#include "report/tracing.h"

GST_DEBUG_CATEGORY (gst_cuda_convolve_debug);

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCudaConvolveBase, gst_cuda_convolve_base, GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))

/* --- frames under way and passthrough --- */

/* Ends and pushes all frames under way; why is the cause, for the log. Events and queries cannot hand on a failure, so the next frame does. */
static GstFlowReturn
drain (GstCudaConvolveBase *self, const gchar *why)
{
  GstFlowReturn ret = gst_cuda_convolve_flights_drain (self->flights, GST_BASE_TRANSFORM_SRC_PAD (self), why);

  self->broken |= ret == GST_FLOW_ERROR;
  return ret;
}

/*
 * Frames on the CPU are done at once, so that keeping some under way would only delay them. Where the time of frames decides
 * between the CPU and the device, as many stay under way on either: the latency does not change with the choice.
 */
static void
update_ahead (GstCudaConvolveBase *self)
{
  guint frames = gst_cuda_convolve_settings_get_used (self->settings)->frames_in_flight;
  gboolean overlap = gst_cuda_convolve_engine_is_on_device (self->engine)
      && !gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (self));

  gst_cuda_convolve_flights_set_ahead (self->flights, overlap ? frames - 1 : 0,
      &gst_cuda_convolve_engine_get_in (self->engine)->info);
}

/* What upstream was told was for other caps, or for another upstream, which asks for itself. */
static void
forget_query (GstCudaConvolveBase *self)
{
  self->asked_directly = FALSE;
  gst_cuda_convolve_flights_agree_in (self->flights, 0, 0);
}

/*
 * Without an agreed allocation no buffer is kept. Without passthrough this element answers upstream's queries itself.
 */
static void
forget_allocation (GstCudaConvolveBase *self)
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
ask_for_query (GstCudaConvolveBase *self)
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
ask_after_flush (GstCudaConvolveBase *self)
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
switch_passthrough (GstCudaConvolveBase *self, gboolean passthrough)
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
must_tell_of_passing (GstCudaConvolveBase *self)
{
  gboolean told;

  GST_OBJECT_LOCK (self);
  told = self->asked_to_pass;
  GST_OBJECT_UNLOCK (self);
  return !told && !gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (self))
      && gst_cuda_convolve_passes_buffers (self);
}

/*
 * Asks the neighbours for another allocation where the last one has fewer buffers than the element and downstream are to
 * keep. The query to downstream waits for all that is queued there, and somebody may need the frames under way for that.
 */
static GstFlowReturn
agree_on_more (GstCudaConvolveBase *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  if (gst_cuda_convolve_flights_lacks_buffers (self->flights, GST_PAD_SINK, gst_cuda_convolve_count_waiting (self))
      || must_tell_of_passing (self))
    ask_for_query (self);
  if (gst_cuda_convolve_flights_lacks_buffers (self->flights, GST_PAD_SRC, 0)) {
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
renew_pool (GstCudaConvolveBase *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstBufferPool) pool = gst_base_transform_get_buffer_pool (trans);

  if (!pool || gst_cuda_convolve_pool_count_most (pool) > 0)
    gst_base_transform_reconfigure_src (trans);
}

/* --- caps --- */

static gboolean
is_started (GstCudaConvolveBase *self)
{
  gboolean started;

  GST_OBJECT_LOCK (self);
  started = self->started;
  GST_OBJECT_UNLOCK (self);
  return started;
}

/*
 * Looks at a query for caps that was answered with a refusal. That asks upstream, whose answer may begin with a query that
 * is refused, too. Before the start nobody waits for frames, and start() looks at what upstream offers.
 */
static void
look_at_refusal (GstCudaConvolveBase *self, GstQuery *query)
{
  if (!is_started (self) || !g_atomic_int_compare_and_exchange (&self->looking, FALSE, TRUE))
    return;
  gst_cuda_convolve_refuse_query (self, query);
  g_atomic_int_set (&self->looking, FALSE);
}

GstFlowReturn
gst_cuda_convolve_base_renegotiate (GstCudaConvolveBase *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn ret = drain (self, "the output needs other caps");

  switch_passthrough (self, FALSE);
  gst_base_transform_reconfigure_src (trans);
  if (ret == GST_FLOW_OK && !gst_base_transform_reconfigure (trans))
    ret = GST_PAD_IS_FLUSHING (trans->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
  return ret;
}

/* --- settings and work --- */

/* Tells the user what of the settings has no effect. */
static void
tell_sentences (GstCudaConvolveBase *self)
{
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  GPtrArray *idle = g_ptr_array_new_with_free_func (g_free), *uncovered = g_ptr_array_new_with_free_func (g_free);

  if (klass->add_sentences)
    klass->add_sentences (gst_cuda_convolve_settings_get_used (self->settings), idle, uncovered);
  gst_cuda_convolve_settings_tell_sentences (self->settings, idle, uncovered);
}

/* Takes over the settings that were applied since the last frame. */
static GstFlowReturn
update_settings (GstCudaConvolveBase *self)
{
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  GstFlowReturn ret = GST_FLOW_OK;

  if (!gst_cuda_convolve_settings_take (self->settings))
    return GST_FLOW_OK;
  self->replan = TRUE;
  if (klass->follow_settings)
    ret = klass->follow_settings (self);
  tell_sentences (self);
  return ret;
}

/*
 * Brings the work up to date before a frame, so that the frame has one mask from start to end. Where the work changes
 * no sample the element goes to passthrough. Fails where an error was posted, or where downstream did not take a frame
 * that was under way.
 */
static GstFlowReturn
update_work (GstCudaConvolveBase *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstFlowReturn ret = GST_FLOW_OK;
  gboolean passthrough;

  if (!self->replan)
    return gst_cuda_convolve_engine_get_work (self->engine) ? GST_FLOW_OK : GST_FLOW_ERROR;
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
prepare_answer (GstCudaConvolveBase *self)
{
  /* The base class then asks downstream first. */
  if (needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (self)))
    drain (self, "upstream asks for an allocation, and downstream is asked for caps and buffers again");
  if (self->flowing)
    return;
  gst_base_transform_reconfigure (GST_BASE_TRANSFORM (self));
  if (!gst_cuda_convolve_engine_has_caps (self->engine))
    return;
  if (update_settings (self) == GST_FLOW_OK)
    update_work (self);
}

/* --- start and stop --- */

static void
set_started (GstCudaConvolveBase *self, gboolean started)
{
  GST_OBJECT_LOCK (self);
  self->started = started;
  GST_OBJECT_UNLOCK (self);
}

/* Whether the settings can work at all, whatever the caps; otherwise an error was posted. */
static gboolean
check_settings (GstCudaConvolveBase *self, const ConvolveProperties *properties)
{
  g_autoptr (GError) bad = NULL;

  if (GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->check (self, properties, &bad))
    return TRUE;
  if (g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY))
    gst_cuda_convolve_errors_post (self->errors, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, bad->message,
        NULL);
  else
    gst_cuda_convolve_errors_post (self->errors, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, bad->message, NULL);
  return FALSE;
}

/* Whether there can be a device where the settings need one; otherwise an error was posted. */
static gboolean
check_device (GstCudaConvolveBase *self, const ConvolveProperties *properties)
{
  ConvolveError error;

  if (gst_cuda_convolve_device_start (self->device, properties, &error) == CONVOLVE_OK)
    return TRUE;
  gst_cuda_convolve_errors_post_status (self->errors, &error);
  return FALSE;
}

static void
forget_work (GstCudaConvolveBase *self)
{
  gst_cuda_convolve_engine_stop (self->engine);
  GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->forget (self);
}

static gboolean
gst_cuda_convolve_base_start (GstBaseTransform *trans)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);
  g_autoptr (ConvolveProperties) properties = NULL;
  gboolean ok;

  forget_allocation (self);
  gst_cuda_convolve_waiting_reset (self);
  self->broken = self->flowing = FALSE;
  self->queries_told = self->offers_told = self->pools_told = self->passthrough_told = self->asked_told = 0;
  gst_cuda_convolve_settings_renew (self->settings);
  gst_cuda_convolve_stats_reset (self->stats);
  gst_cuda_convolve_errors_reset (self->errors);
  properties = gst_cuda_convolve_settings_ref_set (self->settings);
  gst_cuda_convolve_errors_set_properties (self->errors, properties);
  /* A start that fails leaves no record. */
  ok = check_settings (self, properties) && check_device (self, properties) && !gst_cuda_convolve_refuse_offers (self)
      && gst_cuda_convolve_record_start (self->record, properties);
  if (!ok)
    forget_work (self);
  set_started (self, ok);
  return ok;
}

static gboolean
gst_cuda_convolve_base_stop (GstBaseTransform *trans)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);

  gst_cuda_convolve_waiting_reset (self);
  forget_work (self);
  gst_cuda_convolve_flights_stop (self->flights);
  gst_cuda_convolve_record_stop (self->record);
  forget_allocation (self);
  gst_cuda_convolve_settings_forget_sentences (self->settings);
  set_started (self, FALSE);
  return TRUE;
}

/* --- queries and events --- */

/* Adds the time that frames wait and stay under way to what upstream answered. */
static void
add_latency (GstCudaConvolveBase *self, GstQuery *query)
{
  GstClockTime least, most,
      latency = gst_cuda_convolve_waiting_get_latency (self) + gst_cuda_convolve_flights_get_latency (self->flights);
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
gst_cuda_convolve_base_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);
  gboolean ok;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && gst_cuda_convolve_device_answer_context (self->device, query))
    return TRUE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN && direction == GST_PAD_SINK) {
    gst_cuda_convolve_waiting_drain (self, "the query DRAIN");
    drain (self, "the query DRAIN");
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION && direction == GST_PAD_SINK)
    prepare_answer (self);
  ok = GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_base_parent_class)->query (trans, direction, query);
  if (ok && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC)
    add_latency (self, query);
  if (ok && GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    sort_caps (query);
  if (ok && direction == GST_PAD_SINK && gst_cuda_convolve_is_refusal (query))
    look_at_refusal (self, query);
  return ok;
}

/* Handles an event, which it takes, behind all frames that have gone on before. */
static gboolean
handle_event (GstCudaConvolveBase *self, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  gboolean flushed = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP, ok;

  if (flushed) {
    gst_cuda_convolve_flights_flush (self->flights);
    self->broken = self->flowing = FALSE;
  } else if (GST_EVENT_IS_SERIALIZED (event))
    drain (self, GST_EVENT_TYPE_NAME (event));
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    forget_query (self);
    self->flowing = FALSE;
  }
  self->broken |= !gst_cuda_convolve_record_event (self->record, event);
  ok = GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_base_parent_class)->sink_event (trans, event);
  if (flushed)
    ask_after_flush (self);
  return ok;
}

static gboolean
gst_cuda_convolve_base_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);

  return gst_cuda_convolve_waiting_take_event (self, event) || handle_event (self, event);
}

/*
 * A pad takes frames and events before GstBaseTransform calls start() and resets the segment. A neighbour that plays already
 * may push them meanwhile: they wait for the lock. The record tells for which time there are no frames.
 */
static GstStateChangeReturn
gst_cuda_convolve_base_change_state (GstElement *element, GstStateChange transition)
{
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (element);
  gboolean starts = transition == GST_STATE_CHANGE_READY_TO_PAUSED;
  GstStateChangeReturn ret;

  if (starts)
    GST_PAD_STREAM_LOCK (pad);
  ret = GST_ELEMENT_CLASS (gst_cuda_convolve_base_parent_class)->change_state (element, transition);
  if (starts)
    GST_PAD_STREAM_UNLOCK (pad);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING || transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_cuda_convolve_record_state (GST_CUDA_CONVOLVE_BASE (element)->record, GST_STATE_TRANSITION_NEXT (transition));
  return ret;
}

static void
gst_cuda_convolve_base_set_context (GstElement *element, GstContext *message)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (element);

  g_autoptr (ConvolveProperties) properties = gst_cuda_convolve_settings_ref_set (self->settings);

  gst_cuda_convolve_device_set_context (self->device, message, properties->device_id);
  GST_ELEMENT_CLASS (gst_cuda_convolve_base_parent_class)->set_context (element, message);
}

/* --- frames --- */

/* The base class leaves out the metas about memory, and those that keep the input's memory alive. */
static gboolean
gst_cuda_convolve_base_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);

  /* Of a frame that is larger than the caps' picture, the output has the picture alone. */
  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE && self->crop.kind == GST_CUDA_CONVOLVE_CROP_PICTURE)
    return FALSE;
  return gst_cuda_convolve_meta_stays_true (meta->info->api);
}

/* Settles everything that the frame depends on: caps, context, stream, settings and work, in that order. */
static GstFlowReturn
prepare_for (GstCudaConvolveBase *self, gboolean is_discont, GstBuffer *input)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  GstFlowReturn ret = GST_FLOW_OK;

  /* The base class reports a gap with every input until it has marked an output, so only the first report counts. */
  if ((is_discont && !self->discont) || GST_BUFFER_IS_DISCONT (input))
    ret = drain (self, "a gap in the input");
  else if (needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (self)))
    ret = drain (self, "downstream is asked for caps and buffers again");
  self->discont = is_discont;
  /* New caps come first: the work is made for them, and passthrough needs one kind of memory on both sides. */
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
  /* Without caps there is no work, and the base class refuses the buffer. */
  if (ret == GST_FLOW_OK && !gst_cuda_convolve_engine_has_caps (self->engine)) {
    gst_cuda_convolve_refuse_missing_caps (self);
    return ret;
  }
  if (ret != GST_FLOW_OK)
    return ret;
  self->crop = gst_cuda_convolve_crop_find (&gst_cuda_convolve_engine_get_in (self->engine)->info, input);
  gst_cuda_convolve_flights_look_at (self->flights, input);
  ret = update_settings (self);
  if (klass->outdates_work && klass->outdates_work (self, input))
    self->replan = TRUE;
  if (ret == GST_FLOW_OK)
    ret = update_work (self);
  if (ret == GST_FLOW_OK && !gst_base_transform_is_passthrough (trans))
    klass->warn_of_frame (self, input);
  return ret;
}

static GstFlowReturn
gst_cuda_convolve_base_submit_input_buffer (GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);
  GstFlowReturn ret;

  if (!is_started (self)) {
    gst_buffer_unref (input);
    return GST_FLOW_FLUSHING;
  }
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
  ret = GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_base_parent_class)->submit_input_buffer (trans, is_discont, input);
  /* A dropped late frame leaves a gap. The base class marks the next output, which must come after the gap. */
  if (ret == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GstFlowReturn drained = drain (self, "a late frame is dropped");

    return drained == GST_FLOW_OK ? ret : drained;
  }
  return ret;
}

/* Begins the frame's line in the record. */
static void
describe_frame (GstCudaConvolveBase *self, GstBuffer *input)
{
  if (gst_cuda_convolve_record_is_open (self->record))
    GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->describe (self, &GST_BASE_TRANSFORM (self)->segment, input);
}

/* Takes input. */
static GstFlowReturn
begin_frame (GstCudaConvolveBase *self, GstBuffer *input)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  GstBuffer *output = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  switch (klass->look ? klass->look (self, input) : GST_CUDA_CONVOLVE_NEEDS_OUTPUT) {
    case GST_CUDA_CONVOLVE_NEEDS_OUTPUT:
      ret = GST_BASE_TRANSFORM_GET_CLASS (self)->prepare_output_buffer (trans, input, &output);
      /* The base class does not tell that a pool of frames in CUDA memory has no more of them. */
      if (ret == GST_FLOW_ERROR && gst_cuda_convolve_device_get_context (self->device)
          && !gst_cuda_convolve_errors_any (self->errors))
        gst_cuda_convolve_post_no_cuda_frames (gst_cuda_convolve_device_get_context (self->device), self->errors);
      /* prepare_output_buffer() may have negotiated new caps. */
      if (ret == GST_FLOW_OK)
        ret = update_work (self);
      break;
    case GST_CUDA_CONVOLVE_NEEDS_NOTHING:
      gst_cuda_convolve_metas_forget (input);
      break;
    case GST_CUDA_CONVOLVE_NEEDS_NO_WORK:
      describe_frame (self, input);
      gst_cuda_convolve_flights_pass (self->flights, input);
      return GST_FLOW_OK;
  }
  if (ret != GST_FLOW_OK) {
    gst_buffer_unref (input);
    gst_clear_buffer (&output);
    return ret;
  }
  if (klass->begin)
    klass->begin (self, input);
  describe_frame (self, input);
  return gst_cuda_convolve_flights_begin (self->flights, gst_cuda_convolve_engine_get_work (self->engine), &self->crop,
      input, output);
}

/*
 * The base class calls this function again until there is no output. The span has all the time that a frame takes on
 * this thread, where one frame is under way; otherwise the end of the frame is in the span of a later one.
 */
static GstFlowReturn
gst_cuda_convolve_base_generate_output (GstBaseTransform *trans, GstBuffer **output)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);
  GstBuffer *input;
  GstFlowReturn ret;
  guint64 span;

  *output = NULL;
  if (gst_base_transform_is_passthrough (trans))
    return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_base_parent_class)->generate_output (trans, output);
  if (!trans->queued_buf)
    return gst_cuda_convolve_flights_end_surplus (self->flights, output);
  input = g_steal_pointer (&trans->queued_buf);
  if (gst_cuda_convolve_engine_has_choice (self->engine))
    gst_cuda_convolve_engine_choose_side (self->engine, input, gst_cuda_convolve_flights_take_time (self->flights));
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
gst_cuda_convolve_base_transform (GstBaseTransform *trans, GstBuffer *input, GstBuffer *output)
{
  return GST_FLOW_NOT_SUPPORTED;
}

/* --- properties --- */

static void
gst_cuda_convolve_base_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (object);

  if (!gst_cuda_convolve_settings_set (self->settings, id - GST_CUDA_CONVOLVE_PROP_FIRST_SETTING, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuda_convolve_base_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (object);

  if (id == GST_CUDA_CONVOLVE_PROP_ACTIVE_VARIANT)
    g_value_set_string (value, gst_cuda_convolve_stats_get_variant (self->stats));
  else if (id == GST_CUDA_CONVOLVE_PROP_STATS)
    g_value_take_boxed (value, gst_cuda_convolve_stats_make_structure (self->stats));
  else if (!gst_cuda_convolve_settings_get (self->settings, id - GST_CUDA_CONVOLVE_PROP_FIRST_SETTING, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

/* GObject calls this function once for all properties of one g_object_set(). */
static void
gst_cuda_convolve_base_dispatch_properties_changed (GObject *object, guint n, GParamSpec **specs)
{
  gboolean written = FALSE;

  for (guint i = 0; i < n; i++)
    written |= g_type_is_a (specs[i]->owner_type, GST_TYPE_CUDA_CONVOLVE_BASE) && (specs[i]->flags & G_PARAM_WRITABLE);
  if (written)
    gst_cuda_convolve_settings_apply (GST_CUDA_CONVOLVE_BASE (object)->settings);
  G_OBJECT_CLASS (gst_cuda_convolve_base_parent_class)->dispatch_properties_changed (object, n, specs);
}

/* The results that all elements have. */
static void
install_results (GObjectClass *klass)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  convolve_properties_install_one (klass, GST_CUDA_CONVOLVE_PROP_ACTIVE_VARIANT,
      g_param_spec_string ("active-variant", "Active variant",
          "Kernel variant that runs, several with commas where planes use different ones; \"passthrough\" where no sample "
          "changes, NULL before the first frame. The value cpu means that no GPU is used",
          NULL, readable),
      "0.1");
  convolve_properties_install_one (klass, GST_CUDA_CONVOLVE_PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Structure with frames (how many were convolved since start), variant, backend (cuda, cpu or none), device, "
          "and upload-time, kernel-time and download-time: mean nanoseconds for one frame; the three overlap",
          GST_TYPE_STRUCTURE, readable),
      "0.1");
}

void
gst_cuda_convolve_base_install_properties (GstCudaConvolveBaseClass *klass, const ConvolvePropertyTable *table)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  klass->properties = table;
  object_class->set_property = gst_cuda_convolve_base_set_property; /* GObject lets no class inherit these two */
  if (!object_class->get_property)
    object_class->get_property = gst_cuda_convolve_base_get_property;
  convolve_properties_install (object_class, table, GST_CUDA_CONVOLVE_PROP_FIRST_SETTING);
}

/*
 * Both pads have all formats. An element that takes fewer of them refuses the others itself, with a sentence that says why:
 * where pads cannot be linked, nobody explains.
 */
static void
install_pads (GstElementClass *klass)
{
  g_autoptr (GstCaps) caps = gst_cuda_convolve_template_caps ();

  gst_element_class_add_pad_template (klass, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (klass, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}

/* --- the object --- */

static void
gst_cuda_convolve_base_finalize (GObject *object)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (object);

  gst_cuda_convolve_waiting_clear (self);
  gst_cuda_convolve_engine_free (self->engine);
  gst_cuda_convolve_flights_free (self->flights);
  gst_cuda_convolve_device_free (self->device);
  gst_cuda_convolve_record_free (self->record);
  gst_cuda_convolve_stats_free (self->stats);
  gst_cuda_convolve_errors_free (self->errors);
  gst_cuda_convolve_settings_free (self->settings);
  G_OBJECT_CLASS (gst_cuda_convolve_base_parent_class)->finalize (object);
}

/* Not in init(), where the table of the subclass is not known. */
static void
gst_cuda_convolve_base_constructed (GObject *object)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (object);
  GstElement *element = GST_ELEMENT (self);

  G_OBJECT_CLASS (gst_cuda_convolve_base_parent_class)->constructed (object);
  self->settings = gst_cuda_convolve_settings_new (element, GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->properties);
  self->errors = gst_cuda_convolve_errors_new (element);
  self->stats = gst_cuda_convolve_stats_new (element);
  self->record = gst_cuda_convolve_record_new (element, self->errors);
  self->device = gst_cuda_convolve_device_new (element);
  self->flights = gst_cuda_convolve_flights_new (element, self->device, self->errors, self->stats, self->record);
  self->engine = gst_cuda_convolve_engine_new (self);
}

static void
gst_cuda_convolve_base_init (GstCudaConvolveBase *self)
{
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
  gst_cuda_convolve_waiting_init (self, handle_event);
}

static void
gst_cuda_convolve_base_class_init (GstCudaConvolveBaseClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_cuda_convolve_debug, "cudaconvolve", 0, "convolution of video");

  object_class->constructed = gst_cuda_convolve_base_constructed;
  object_class->finalize = gst_cuda_convolve_base_finalize;
  object_class->set_property = gst_cuda_convolve_base_set_property;
  object_class->get_property = gst_cuda_convolve_base_get_property;
  object_class->dispatch_properties_changed = gst_cuda_convolve_base_dispatch_properties_changed;
  install_results (object_class);

  install_pads (element_class);
  element_class->set_context = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_set_context);
  element_class->change_state = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_change_state);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_stop);
  gst_cuda_convolve_install_negotiation (trans_class);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_query);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_sink_event);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_transform_meta);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_submit_input_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_transform);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_cuda_convolve_base_generate_output);
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CONVOLVE_BASE, 0);
}
