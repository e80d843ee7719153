/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/negotiation.h"

#include "cuda/allocation.h"
#include "report/debug.h"
#include "frame/formats.h"
#include "layer/layercaps.h"
#include "layer/layermeta.h"
#include "frame/metas.h"
#include "base/refusal.h"

static GstBaseTransformClass *parent_class;

/* --- which caps go together --- */

/* A layer's file is read when the element starts. Before that, all caps of the template are possible. */
static GstCaps *
transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstCudaConvolveLayer *layer = gst_cuda_convolve_engine_ref_layer (self->engine);
  GstCaps *other, *result;
  gboolean unknown;

  GST_OBJECT_LOCK (self);
  unknown = !self->started;
  GST_OBJECT_UNLOCK (self);
  if (layer)
    other = gst_cuda_convolve_layer_transform_caps (layer, direction, caps);
  else if (unknown && gst_cuda_convolve_settings_has_layer (self->settings))
    other = gst_pad_get_pad_template_caps (direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad);
  else
    other = gst_cuda_convolve_mask_transform_caps (caps);
  g_clear_pointer (&layer, gst_cuda_convolve_layer_unref);
  result = filter ? gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (other);
  gst_caps_unref (other);
  GST_LOG_OBJECT (self, "%s %" GST_PTR_FORMAT " gives %" GST_PTR_FORMAT, direction == GST_PAD_SINK ? "sink" : "src",
      caps, result);
  return result;
}

gboolean
gst_cuda_convolve_is_taken_downstream (GstCudaConvolve *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstCaps *caps = gst_pad_get_current_caps (trans->sinkpad), *made, *taken;
  gboolean ok;

  if (!caps)
    return FALSE;
  made = transform_caps (trans, GST_PAD_SINK, caps, NULL);
  taken = gst_pad_peer_query_caps (trans->srcpad, made);
  ok = gst_caps_can_intersect (made, taken);
  gst_caps_unref (taken);
  gst_caps_unref (made);
  gst_caps_unref (caps);
  return ok;
}

/* --- new caps --- */

static GstCaps *
fixate_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstCudaConvolveLayer *layer = gst_cuda_convolve_engine_ref_layer (self->engine);
  GstCaps *fixed;

  if (layer)
    fixed = gst_cuda_convolve_layer_fixate_caps (layer, direction, caps, othercaps);
  else
    fixed = parent_class->fixate_caps (trans, direction, caps, othercaps);
  g_clear_pointer (&layer, gst_cuda_convolve_layer_unref);
  return fixed;
}

static gboolean
set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  GstVideoInfo in, out;

  if (gst_cuda_convolve_refuse_size (self->errors, incaps, &in)
      || gst_cuda_convolve_refuse_size (self->errors, outcaps, &out))
    return FALSE;
  if (gst_cuda_convolve_refuse_parts (self->errors, &in))
    return FALSE;
  GST_INFO_OBJECT (self, "input %" GST_PTR_FORMAT ", output %" GST_PTR_FORMAT, incaps, outcaps);
  /* New caps of the output alone come without an event, which would have drained. */
  self->broken |= gst_cuda_convolve_flights_drain (self->flights, trans->srcpad, "new caps") == GST_FLOW_ERROR;
  gst_base_transform_set_passthrough (trans, FALSE);
  gst_cuda_convolve_engine_set_caps (self->engine, &in, &out, gst_cuda_convolve_caps_are_cuda (incaps),
      gst_cuda_convolve_caps_are_cuda (outcaps));
  self->replan = TRUE;
  return TRUE;
}

/* --- allocation --- */

/* How many buffers of each side the element is to keep. The settings tell, because there may be no plans yet. */
static guint
count_held (GstCudaConvolve *self)
{
  return gst_cuda_convolve_settings_get_frames_in_flight (self->settings) - 1;
}

static void
forget_wish (GstCudaConvolve *self)
{
  GST_OBJECT_LOCK (self);
  self->wants_query = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static void
set_asked_to_pass (GstCudaConvolve *self, gboolean passes)
{
  GST_OBJECT_LOCK (self);
  self->asked_to_pass = passes;
  GST_OBJECT_UNLOCK (self);
}

/*
 * How many buffers upstream's pool is to lend. Where frames may go on in these buffers, downstream and the element keep some
 * together, as many as the output's pool has at least; a sink that asks for no number keeps its last frame.
 */
static guint
count_asked (GstCudaConvolve *self, GstQuery *decide_query, gboolean passes)
{
  guint held = count_held (self), least;

  if (!passes)
    return held;
  gst_query_parse_nth_allocation_pool (decide_query, 0, NULL, NULL, &least, NULL);
  return MAX (held, least) + !self->downstream_asks;
}

/*
 * Answers a query with what downstream has answered last. Frames may go on in upstream's buffers where only regions change
 * or nothing does. Then upstream may attach a GstVideoMeta only where downstream takes one.
 *
 * A tee asks its branches for sizes and wants no pool. It throws all answers away where one branch gives none, and nobody
 * learns that; so no buffer of a limited number may be kept. Asking again would wait for the other branches, so this one
 * answer is also for frames that are passed on later.
 */
static gboolean
answer_query (GstCudaConvolve *self, GstQuery *decide_query, GstQuery *query)
{
  gboolean passes = gst_cuda_convolve_settings_passes_buffers (self->settings) || !self->asked_directly
      || gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (self));
  guint asked = count_asked (self, decide_query, passes);

  if (!gst_cuda_convolve_propose_pool (GST_ELEMENT (self), &self->offers_told, query, self->device, self->errors, asked,
          !passes || self->takes_video_meta))
    return FALSE;
  set_asked_to_pass (self, passes);
  if (self->asked_directly)
    gst_cuda_convolve_flights_agree_in (self->flights, asked, count_held (self));
  return TRUE;
}

/* Answers a query in passthrough for a downstream that asks for no number of buffers: upstream knows best how many it needs. */
static void
answer_without_pool (GstCudaConvolve *self, GstQuery *query)
{
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (self->takes_video_meta)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (caps && !gst_cuda_convolve_caps_are_cuda (caps))
    gst_cuda_convolve_propose_params (query);
  set_asked_to_pass (self, TRUE);
}

/*
 * In passthrough the query goes on to downstream, which may have a pool of its own, but only before the first frame: later
 * it would wait until downstream has used up all frames that are queued there.
 */
static gboolean
propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);

  /* Before the settings are read: a change after that is a new wish. */
  forget_wish (self);
  gst_cuda_convolve_flights_agree_in (self->flights, 0, 0);
  gst_query_parse_allocation (query, NULL, &self->asked_directly);
  if (gst_base_transform_is_passthrough (trans) && !self->flowing)
    decide_query = NULL;
  GST_CUDA_CONVOLVE_TELL (&self->queries_told, self, "upstream asks for %s, and %s",
      self->asked_directly ? "a pool" : "numbers of buffers, as a tee does",
      decide_query ? "the element answers" : "downstream is to answer");
  if (!parent_class->propose_allocation (trans, decide_query, query))
    return FALSE;
  if (!decide_query)
    return TRUE;
  if (!gst_base_transform_is_passthrough (trans) || self->downstream_asks)
    return answer_query (self, decide_query, query);
  answer_without_pool (self, query);
  return TRUE;
}

/* What upstream may attach because downstream understands it. A layer convolves the whole frame, and lists what it keeps. */
static gboolean
filter_meta (GstBaseTransform *trans, GstQuery *query, GType api, const GstStructure *params)
{
  const GstCudaConvolveLayer *layer = gst_cuda_convolve_engine_get_layer (GST_CUDA_CONVOLVE (trans)->engine);

  return gst_cuda_convolve_meta_is_offered (api, !layer)
      && (!layer || gst_cuda_convolve_layer_can_keep_meta (layer, api));
}

/* How many buffers of the output's pool are left to the element. */
static guint
count_left (GstQuery *decide_query, guint held)
{
  guint least, most;

  gst_query_parse_nth_allocation_pool (decide_query, 0, NULL, NULL, &least, &most);
  return most == 0 ? CONVOLVE_MAX_FRAMES : most - (least - held);
}

static gboolean
decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);
  guint held = count_held (self);

  gst_cuda_convolve_flights_agree_out (self->flights, 0);
  /* Both can only be seen before the answer becomes the output's pool. */
  self->downstream_asks = gst_query_get_n_allocation_pools (query) > 0;
  self->takes_video_meta = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (!gst_cuda_convolve_decide_pool (GST_ELEMENT (self), &self->pools_told, query, self->device, self->errors, held))
    return FALSE;
  gst_cuda_convolve_flights_agree_out (self->flights, count_left (query, held));
  return parent_class->decide_allocation (trans, query);
}

void
gst_cuda_convolve_install_negotiation (GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent (klass);
  klass->transform_caps = GST_DEBUG_FUNCPTR (transform_caps);
  klass->fixate_caps = GST_DEBUG_FUNCPTR (fixate_caps);
  klass->set_caps = GST_DEBUG_FUNCPTR (set_caps);
  klass->propose_allocation = GST_DEBUG_FUNCPTR (propose_allocation);
  klass->filter_meta = GST_DEBUG_FUNCPTR (filter_meta);
  klass->decide_allocation = GST_DEBUG_FUNCPTR (decide_allocation);
}
