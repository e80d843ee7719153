/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/waiting.h"

#include "base/engine.h"
#include "report/debug.h"

#define USUAL_DURATION (GST_SECOND / 25) /* of a frame where the caps do not say, as in flights.c */

void
gst_cuda_convolve_waiting_clear (GstCudaConvolveBase *self)
{
  gst_queue_array_free (self->waiting);
}

/* --- how many, and how long --- */

/* For how long frames wait by the settings that the next frame uses. */
static guint64
find_ahead (GstCudaConvolveBase *self)
{
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  g_autoptr (ConvolveProperties) properties = gst_cuda_convolve_settings_ref_applied (self->settings);

  return klass->look_ahead (properties);
}

static GstClockTime
find_duration (GstCudaConvolveBase *self)
{
  const GstVideoInfo *info = &gst_cuda_convolve_engine_get_in (self->engine)->info;

  if (GST_VIDEO_INFO_FPS_N (info) <= 0)
    return USUAL_DURATION;
  return MAX (gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info)), 1);
}

/* Time stamps are rounded, so the last of these frames may come a little earlier. */
guint
gst_cuda_convolve_waiting_count (GstCudaConvolveBase *self, const ConvolveProperties *properties)
{
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  guint64 ahead = klass->look_ahead ? klass->look_ahead (properties) : 0;
  GstClockTime duration = find_duration (self), rounded = MIN (GST_MSECOND, duration / 4);

  if (ahead == 0)
    return 0;
  if (ahead <= duration)
    return 1;
  return MIN ((ahead - rounded + duration - 1) / duration, GST_CUDA_CONVOLVE_MOST_WAITING);
}

GstClockTime
gst_cuda_convolve_waiting_get_latency (GstCudaConvolveBase *self)
{
  GstClockTime latency;

  GST_OBJECT_LOCK (self);
  latency = self->waiting_latency;
  GST_OBJECT_UNLOCK (self);
  return latency;
}

static void
set_latency (GstCudaConvolveBase *self, GstClockTime latency)
{
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = latency != self->waiting_latency;
  self->waiting_latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

/* --- what goes on --- */

static gboolean
is_crowded (GstCudaConvolveBase *self)
{
  if (gst_queue_array_get_length (self->waiting) <= GST_CUDA_CONVOLVE_MOST_WAITING)
    return FALSE;
  if (!self->crowd_told)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("region-lookahead: more than %d frames and events come in that time, so frames do not wait so long; a shorter "
         "region-lookahead has fewer",
            GST_CUDA_CONVOLVE_MOST_WAITING),
        ("This is told once."));
  self->crowd_told = TRUE;
  return TRUE;
}

/* Takes the first that waits. */
static gpointer
take_first (GstCudaConvolveBase *self)
{
  gpointer first = gst_queue_array_pop_head (self->waiting);

  if (GST_IS_BUFFER (first))
    GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->leave (self);
  return first;
}

/* Lets what is due go on, or all. Of all, frames behind a failure are dropped. */
static GstFlowReturn
go_on (GstCudaConvolveBase *self, guint64 ahead, gboolean all)
{
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (self);
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  GstFlowReturn ret = GST_FLOW_OK;
  gpointer first;

  while ((all || ret == GST_FLOW_OK) && (first = gst_queue_array_peek_head (self->waiting))
      && (all || GST_IS_EVENT (first) || klass->is_due (self, ahead) || is_crowded (self))) {
    first = take_first (self);
    if (GST_IS_EVENT (first))
      self->handle_event (self, first);
    else if (ret == GST_FLOW_OK)
      ret = self->chain (pad, GST_OBJECT (self), first);
    else
      gst_buffer_unref (first);
  }
  return ret;
}

void
gst_cuda_convolve_waiting_drain (GstCudaConvolveBase *self, const gchar *why)
{
  guint n = gst_queue_array_get_length (self->waiting);

  if (n == 0)
    return;
  GST_CUDA_CONVOLVE_TELL (&self->waiting_told, self, "%u frames and events that wait go on: %s", n, why);
  self->broken |= go_on (self, 0, TRUE) == GST_FLOW_ERROR;
}

/* An event that a pad keeps is not lost in a flush. */
static void
drop_event (GstCudaConvolveBase *self, GstEvent *event)
{
  if (GST_EVENT_IS_STICKY (event) && GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT)
    gst_pad_store_sticky_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
  gst_event_unref (event);
}

static void
flush (GstCudaConvolveBase *self)
{
  guint n = gst_queue_array_get_length (self->waiting);
  gpointer first;

  if (n > 0)
    GST_CUDA_CONVOLVE_TELL (&self->waiting_told, self, "%u frames and events that wait are dropped: a flush", n);
  while ((first = take_first (self))) {
    if (GST_IS_EVENT (first))
      drop_event (self, first);
    else
      gst_buffer_unref (first);
  }
  gst_segment_init (&self->coming, GST_FORMAT_UNDEFINED);
}

void
gst_cuda_convolve_waiting_reset (GstCudaConvolveBase *self)
{
  gpointer first;

  while ((first = take_first (self)))
    gst_mini_object_unref (first);
  gst_segment_init (&self->coming, GST_FORMAT_UNDEFINED);
  self->waiting_told = self->copies_told = 0;
  self->crowd_told = FALSE;
  GST_OBJECT_LOCK (self);
  self->waiting_latency = 0;
  GST_OBJECT_UNLOCK (self);
}

/* --- events --- */

/* No frame comes for the time of a gap. */
static void
pass_gap (GstCudaConvolveBase *self, GstEvent *event)
{
  GstClockTime begin, duration;

  gst_event_parse_gap (event, &begin, &duration);
  if (GST_CLOCK_TIME_IS_VALID (duration))
    GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->pass_time (self, &self->coming, begin + duration);
}

gboolean
gst_cuda_convolve_waiting_take_event (GstCudaConvolveBase *self, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_STOP:
      flush (self);
      return FALSE;
    case GST_EVENT_CAPS:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_STREAM_GROUP_DONE:
      gst_cuda_convolve_waiting_drain (self, GST_EVENT_TYPE_NAME (event));
      return FALSE;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->coming);
      break;
    default:
      break;
  }
  if (!GST_EVENT_IS_SERIALIZED (event) || gst_queue_array_is_empty (self->waiting))
    return FALSE;
  if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    pass_gap (self, event);
  gst_queue_array_push_tail (self->waiting, event);
  self->broken |= go_on (self, find_ahead (self), FALSE) == GST_FLOW_ERROR;
  return TRUE;
}

/* --- frames --- */

/* Whether the pool of a frame lends one buffer more. */
static gboolean
is_lent (GstCudaConvolveBase *self, GstBuffer *input)
{
  guint spare, n = 0;

  gst_cuda_convolve_flights_look_at (self->flights, input);
  spare = gst_cuda_convolve_flights_count_spare (self->flights);
  if (spare == G_MAXUINT)
    return TRUE;
  for (guint i = 0; i < gst_queue_array_get_length (self->waiting) && n < spare; i++) {
    GstBuffer *other = gst_queue_array_peek_nth (self->waiting, i);

    n += GST_IS_BUFFER (other) && other->pool == input->pool;
  }
  return n < spare;
}

/* A copy of a frame would keep the frame in such a meta. */
static gboolean
drop_parent (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_PARENT_BUFFER_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* Gives a frame that may wait: the input, which it takes, or a copy. */
static GstBuffer *
keep_frame (GstCudaConvolveBase *self, GstBuffer *input)
{
  GstBuffer *copy = is_lent (self, input) ? NULL : gst_buffer_copy_deep (input);

  if (!copy)
    return input;
  GST_CUDA_CONVOLVE_TELL (&self->copies_told, self, "a frame waits as a copy: upstream's pool lends no more buffers");
  gst_buffer_foreach_meta (copy, drop_parent, NULL);
  gst_buffer_unref (input);
  return copy;
}

/* In the place of the base class's function, which frames go on to. Without caps there is an error to come. */
static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *input)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (parent);
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  g_autoptr (ConvolveProperties) properties = NULL;
  guint64 ahead;

  if (!klass->look_ahead || !gst_cuda_convolve_engine_has_caps (self->engine))
    return self->chain (pad, parent, input);
  properties = gst_cuda_convolve_settings_ref_applied (self->settings);
  ahead = klass->look_ahead (properties);
  set_latency (self, gst_cuda_convolve_waiting_count (self, properties) * find_duration (self));
  if (ahead > 0)
    input = keep_frame (self, input);
  klass->arrive (self, &self->coming, input);
  gst_queue_array_push_tail (self->waiting, input);
  return go_on (self, ahead, self->broken);
}

void
gst_cuda_convolve_waiting_init (GstCudaConvolveBase *self, GstCudaConvolveEventFunction handle_event)
{
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (self);

  self->waiting = gst_queue_array_new (16);
  gst_segment_init (&self->coming, GST_FORMAT_UNDEFINED);
  self->handle_event = handle_event;
  self->chain = GST_PAD_CHAINFUNC (pad);
  gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (chain));
}
