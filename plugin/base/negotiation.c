/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/negotiation.h"

#include "base/engine.h"
#include "base/refusal.h"
#include "base/waiting.h"
#include "cuda/allocation.h"
#include "frame/cells.h"
#include "frame/formats.h"
#include "frame/metas.h"
#include "report/debug.h"

static GstBaseTransformClass *parent_class;

/* --- which caps go together --- */

/* Of an element that changes neither size nor format. */
static GstCaps *
transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  g_autoptr (GstCaps) other = gst_cuda_convolve_same_caps (caps);

  return gst_cuda_convolve_filter_caps (trans, direction, caps, other, filter);
}

GstCaps *
gst_cuda_convolve_filter_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *other,
    GstCaps *filter)
{
  GstCaps *result = filter ? gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref (other);

  GST_LOG_OBJECT (trans, "%s %" GST_PTR_FORMAT " gives %" GST_PTR_FORMAT, direction == GST_PAD_SINK ? "sink" : "src",
      caps, result);
  return result;
}

gboolean
gst_cuda_convolve_is_taken_downstream (GstCudaConvolveBase *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (trans->sinkpad), made = NULL, taken = NULL;

  if (!caps)
    return FALSE;
  made = GST_BASE_TRANSFORM_GET_CLASS (self)->transform_caps (trans, GST_PAD_SINK, caps, NULL);
  taken = gst_pad_peer_query_caps (trans->srcpad, made);
  return gst_caps_can_intersect (made, taken);
}

/* --- new caps --- */

static gboolean
set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);
  GstVideoInfo in, out;

  if (gst_cuda_convolve_refuse_size (self, incaps, &in) || gst_cuda_convolve_refuse_size (self, outcaps, &out)
      || gst_cuda_convolve_refuse_parts (self, &in))
    return FALSE;
  GST_INFO_OBJECT (self, "input %" GST_PTR_FORMAT ", output %" GST_PTR_FORMAT, incaps, outcaps);
  /* New caps of the output alone come without an event, which would have drained. */
  self->broken |= gst_cuda_convolve_flights_drain (self->flights, trans->srcpad, "new caps") == GST_FLOW_ERROR;
  gst_base_transform_set_passthrough (trans, FALSE);
  gst_cuda_convolve_engine_set_caps (self->engine, &in, &out, gst_cuda_convolve_caps_are_cuda (incaps),
      gst_cuda_convolve_caps_are_cuda (outcaps));
  if (GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->follow_caps)
    GST_CUDA_CONVOLVE_BASE_GET_CLASS (self)->follow_caps (self);
  self->replan = TRUE;
  return gst_cuda_convolve_record_caps (self->record, outcaps, gst_cuda_convolve_engine_get_out (self->engine));
}

/* --- allocation --- */

/* How many buffers of each side are under way. The settings tell, because there may be no work yet. */
static guint
count_held (GstCudaConvolveBase *self)
{
  g_autoptr (ConvolveProperties) properties = gst_cuda_convolve_settings_ref_applied (self->settings);

  return properties->frames_in_flight - 1;
}

guint
gst_cuda_convolve_count_waiting (GstCudaConvolveBase *self)
{
  g_autoptr (ConvolveProperties) properties = gst_cuda_convolve_settings_ref_applied (self->settings);
  guint n = gst_cuda_convolve_waiting_count (self, properties);

  return n > 0 ? n + 1 : 0;
}

gboolean
gst_cuda_convolve_passes_buffers (GstCudaConvolveBase *self)
{
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (self);
  g_autoptr (ConvolveProperties) properties = gst_cuda_convolve_settings_ref_applied (self->settings);

  return klass->changes_in_place && klass->changes_in_place (properties);
}

static void
forget_wish (GstCudaConvolveBase *self)
{
  GST_OBJECT_LOCK (self);
  self->wants_query = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static void
set_asked_to_pass (GstCudaConvolveBase *self, gboolean passes)
{
  GST_OBJECT_LOCK (self);
  self->asked_to_pass = passes;
  GST_OBJECT_UNLOCK (self);
}

/*
 * How many buffers upstream's pool is to lend. Where frames may go on in these buffers, downstream and the element keep some
 * together, as many as the output's pool has at least; a sink that asks for no number keeps its last frame. Frames that
 * wait come on top.
 */
static guint
count_asked (GstCudaConvolveBase *self, GstQuery *decide_query, gboolean passes)
{
  guint held = count_held (self), waiting = gst_cuda_convolve_count_waiting (self), least;

  if (!passes)
    return held + waiting;
  gst_query_parse_nth_allocation_pool (decide_query, 0, NULL, NULL, &least, NULL);
  return MAX (held, least) + !self->downstream_asks + waiting;
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
answer_query (GstCudaConvolveBase *self, GstQuery *decide_query, GstQuery *query)
{
  gboolean passes = gst_cuda_convolve_passes_buffers (self) || !self->asked_directly
      || gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (self));
  guint asked = count_asked (self, decide_query, passes);

  if (!gst_cuda_convolve_propose_pool (GST_ELEMENT (self), &self->offers_told, query, self->device, self->errors, asked,
          !passes || self->takes_video_meta))
    return FALSE;
  set_asked_to_pass (self, passes);
  if (self->asked_directly)
    gst_cuda_convolve_flights_agree_in (self->flights, asked,
        count_held (self) + gst_cuda_convolve_count_waiting (self));
  return TRUE;
}

/* Answers a query in passthrough for a downstream that asks for no number of buffers: upstream knows best how many it needs. */
static void
answer_without_pool (GstCudaConvolveBase *self, GstQuery *query)
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
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);

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

/* Whether a picture can begin anywhere in a larger frame. Where samples share words, or lie in tiles, it cannot. */
static gboolean
can_begin_anywhere (GstQuery *query)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  return !caps || !gst_video_info_from_caps (&info, caps) || !gst_cuda_convolve_format_has_cells (info.finfo);
}

/* What upstream may attach because downstream understands it. */
static gboolean
filter_meta (GstBaseTransform *trans, GstQuery *query, GType api, const GstStructure *params)
{
  return gst_cuda_convolve_meta_is_offered (api, can_begin_anywhere (query));
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
  GstCudaConvolveBase *self = GST_CUDA_CONVOLVE_BASE (trans);
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
  klass->set_caps = GST_DEBUG_FUNCPTR (set_caps);
  klass->propose_allocation = GST_DEBUG_FUNCPTR (propose_allocation);
  klass->filter_meta = GST_DEBUG_FUNCPTR (filter_meta);
  klass->decide_allocation = GST_DEBUG_FUNCPTR (decide_allocation);
}
