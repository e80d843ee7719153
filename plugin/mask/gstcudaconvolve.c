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
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! cudaconvolve mask=gaussian sigma=3 ! videoconvert ! autovideosink
 * ]| Blurs a clip.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve mask="-1 0 1; -2 0 2; -1 0 1" bias=0.5 boundary=reflect ! videoconvert ! autovideosink
 * ]| Shows how brightness changes from left to right; middle grey means no change.
 *
 * Since: 0.1
 */
#include "mask/gstcudaconvolve.h"

#include "base/engine.h"
#include "base/waiting.h"
#include "mask/choice.h"
#include "presets/presets.h"
#include "masks/mask_text.h"
#include "regions/analytics.h"
#include "report/debug.h"

enum
{
  PROP_MASK_INFO = GST_CUDA_CONVOLVE_PROP_FIRST_RESULT,
  PROP_PRESETS
};

G_DEFINE_FINAL_TYPE (GstCudaConvolve, gst_cuda_convolve, GST_TYPE_CUDA_CONVOLVE_BASE)
GST_ELEMENT_REGISTER_DEFINE (cudaconvolve, "cudaconvolve", GST_RANK_NONE, GST_TYPE_CUDA_CONVOLVE)

/* --- settings --- */

static gboolean
check (GstCudaConvolveBase *base, const ConvolveProperties *properties, GError **error)
{
  ConvolveMask mask;

  if (!convolve_settings_make_mask (&properties->mask, 1, 1, &mask, error))
    return FALSE;
  convolve_mask_clear (&mask);
  return convolve_region_settings_check (&properties->region, &properties->mask, error);
}

/* Frames may go on in their own buffers, because only regions are changed, in place. */
static gboolean
changes_in_place (const ConvolveProperties *properties)
{
  return properties->region.apply_to != CONVOLVE_APPLY_TO_FRAME;
}

/* Whether the user asks for metadata that this build cannot read. By default any metadata will do. */
static gboolean
wants_unreadable (const ConvolveRegionSettings *region)
{
  return region->apply_to != CONVOLVE_APPLY_TO_FRAME && region->sources != CONVOLVE_REGION_SOURCES_ALL
      && (region->sources & CONVOLVE_REGION_SOURCE_ANALYTICS) && !gst_cuda_convolve_analytics_are_readable ();
}

static void
add_sentences (const ConvolveProperties *properties, GPtrArray *idle, GPtrArray *uncovered)
{
  convolve_properties_add_idle (properties, idle);
  if (wants_unreadable (&properties->region))
    g_ptr_array_add (idle,
        g_strdup ("region-sources: analytics has no effect: this build reads no GstAnalyticsRelationMeta, which "
                  "GStreamer has from 1.24; the source roi takes GstVideoRegionOfInterestMeta"));
  convolve_properties_add_warnings (properties, uncovered);
}

/* --- work --- */

static GstCudaConvolveWork *
make_work (GstCudaConvolveBase *base, ConvolveProperties *properties, ConvolveError *error)
{
  return gst_cuda_convolve_choose_work (GST_CUDA_CONVOLVE (base), properties, error);
}

static GstCudaConvolveWork *
make_host_work (GstCudaConvolveBase *base)
{
  return gst_cuda_convolve_make_host_work (GST_CUDA_CONVOLVE (base));
}

static void
lose_work (GstCudaConvolveBase *base)
{
  gst_cuda_convolve_lose_plans (GST_CUDA_CONVOLVE (base));
}

static void
forget (GstCudaConvolveBase *base)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (base);

  gst_cuda_convolve_forget_choice (self);
  gst_cuda_convolve_detections_forget (self->detections);
  gst_cuda_convolve_noise_forget (&self->noise);
  gst_cuda_convolve_smooth_forget (&self->smooth);
  self->plans_told = self->choices_told = 0;
}

static void
follow_caps (GstCudaConvolveBase *base)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (base);

  self->plans_fit = FALSE;
  self->faults_told = self->boxes_told = 0;
  self->transfer_told = FALSE;
  gst_cuda_convolve_detections_forget_faults (self->detections);
}

/* Plans that copy what lies outside a crop are made with the first frame of which a crop leaves out pixels. */
static gboolean
outdates_work (GstCudaConvolveBase *base, GstBuffer *input)
{
  return base->crop.kind == GST_CUDA_CONVOLVE_CROP_PART && gst_cuda_convolve_engine_expect_crops (base->engine);
}

/* --- frames --- */

static void
warn_of_frame (GstCudaConvolveBase *base, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (base);
  guint faults = gst_cuda_convolve_windows_faults (&gst_cuda_convolve_engine_get_in (base->engine)->info,
      self->good->field_mode, self->regions != NULL, base->crop.kind, input);

  for (guint bit = 0; faults >> bit != 0; bit++)
    if (faults >> bit & ~(self->faults_told >> bit) & 1)
      GST_WARNING_OBJECT (self, "%s", gst_cuda_convolve_windows_fault_text (bit));
  self->faults_told |= faults;
}

static void
warn_of_metadata (GstCudaConvolve *self)
{
  g_autofree gchar *fault = gst_cuda_convolve_detections_take_fault (self->detections);

  if (fault)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s", fault), ("This is told once until the caps change."));
}

/* Warns of boxes, once for each fault until the caps change. A fault of the property may be told again when it was mended. */
static void
warn_of_boxes (GstCudaConvolve *self)
{
  guint faults = gst_cuda_convolve_regions_faults (self->regions);

  for (guint bit = 0; bit < GST_CUDA_CONVOLVE_N_BOX_FAULTS; bit++)
    if (faults >> bit & ~(self->boxes_told >> bit) & 1) {
      g_autofree gchar *text = gst_cuda_convolve_regions_explain_fault (self->regions, 1 << bit);

      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", text), ("This is told once until the caps change."));
    }
  self->boxes_told |= faults;
  self->boxes_told &= faults | ~(GST_CUDA_CONVOLVE_BOX_OF_TEXT_IS_OUTSIDE | GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE);
}

static guint64
look_ahead (const ConvolveProperties *properties)
{
  return convolve_region_settings_lookahead (&properties->region);
}

static void
arrive (GstCudaConvolveBase *base, const GstSegment *segment, GstBuffer *input)
{
  gst_cuda_convolve_detections_arrive (GST_CUDA_CONVOLVE (base)->detections, segment, input,
      &gst_cuda_convolve_engine_get_in (base->engine)->info);
}

static void
pass_time (GstCudaConvolveBase *base, const GstSegment *segment, GstClockTime end)
{
  gst_cuda_convolve_detections_pass (GST_CUDA_CONVOLVE (base)->detections, segment, end,
      &gst_cuda_convolve_engine_get_in (base->engine)->info);
}

static gboolean
is_due (GstCudaConvolveBase *base, guint64 ahead)
{
  return gst_cuda_convolve_detections_is_due (GST_CUDA_CONVOLVE (base)->detections, ahead);
}

static void
leave (GstCudaConvolveBase *base)
{
  gst_cuda_convolve_detections_leave (GST_CUDA_CONVOLVE (base)->detections);
  GST_CUDA_CONVOLVE (base)->left = TRUE;
}

/* A frame that is pulled has not waited, and comes now. */
static void
ensure_left (GstCudaConvolveBase *base, GstBuffer *input)
{
  if (!GST_CUDA_CONVOLVE (base)->left) {
    arrive (base, &GST_BASE_TRANSFORM (base)->segment, input);
    leave (base);
  }
  GST_CUDA_CONVOLVE (base)->left = FALSE;
}

/*
 * Whether the frame may be changed in place. A writable buffer may have memory that other buffers share: mapped for
 * writing, GStreamer would copy that into memory that is allocated anew, where an output has memory of a pool.
 */
static gboolean
is_ours (GstBuffer *frame)
{
  return gst_buffer_is_writable (frame) && gst_buffer_is_all_memory_writable (frame);
}

/* Finds the regions of the frame, and so what the frame needs. */
static GstCudaConvolveNeed
look (GstCudaConvolveBase *base, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (base);
  gboolean any;

  if (!self->regions)
    return GST_CUDA_CONVOLVE_NEEDS_OUTPUT;
  ensure_left (base, input);
  gst_cuda_convolve_detections_advance (self->detections, &gst_cuda_convolve_engine_get_in (base->engine)->info);
  any = gst_cuda_convolve_regions_find (self->regions, self->detections, input);
  self->looked = TRUE;
  warn_of_metadata (self);
  warn_of_boxes (self);
  if (!gst_cuda_convolve_engine_has_one_memory (base->engine))
    return GST_CUDA_CONVOLVE_NEEDS_OUTPUT;
  if (!any)
    return GST_CUDA_CONVOLVE_NEEDS_NO_WORK;
  return is_ours (input) ? GST_CUDA_CONVOLVE_NEEDS_NOTHING : GST_CUDA_CONVOLVE_NEEDS_OUTPUT;
}

/* The regions are new where the search for an output led to new caps. */
static void
begin (GstCudaConvolveBase *base, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (base);

  if (self->regions && !self->looked)
    gst_cuda_convolve_regions_find (self->regions, self->detections, input);
}

/* The whole of a frame without regions is convolved. */
static void
describe (GstCudaConvolveBase *base, const GstSegment *segment, GstBuffer *input)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (base);

  gst_cuda_convolve_record_begin (base->record, segment, input, self->good);
  if (self->regions)
    gst_cuda_convolve_regions_describe (self->regions, self->detections, base->record);
}

static gboolean
gst_cuda_convolve_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (trans);

  /* At the end the last frames go on, and the user is told what of the regions did not come. */
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_cuda_convolve_waiting_drain (&self->base, "eos");
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && self->regions) {
    gst_cuda_convolve_detections_end (self->detections);
    warn_of_metadata (self);
  }
  /* Regions of earlier frames say nothing of frames at another place. */
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    gst_cuda_convolve_detections_forget (self->detections);
    gst_cuda_convolve_smooth_forget (&self->smooth);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_convolve_parent_class)->sink_event (trans, event);
}

/* --- the object --- */

static void
get_presets (GValue *value)
{
  guint n;
  const ConvolvePreset *presets = convolve_presets (&n);

  for (guint i = 0; i < n; i++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_set_static_string (&name, presets[i].name);
    gst_value_array_append_and_take_value (value, &name);
  }
}

static void
gst_cuda_convolve_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_MASK_INFO)
    g_value_take_boxed (value, gst_cuda_convolve_stats_make_mask_structure (GST_CUDA_CONVOLVE_BASE (object)->stats));
  else if (id == PROP_PRESETS)
    get_presets (value);
  else
    G_OBJECT_CLASS (gst_cuda_convolve_parent_class)->get_property (object, id, value, pspec);
}

static void
install_results (GObjectClass *klass)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  convolve_properties_install_one (klass, PROP_MASK_INFO,
      g_param_spec_boxed ("mask-info", "Mask information",
          "The mask of the first plane, after anchors, flip and mix: width, height, weights, sum, divisor, gain (sum of "
          "magnitudes by divisor), offset, rank, exact (rounded exactly), reproducible (same bytes on every device), "
          "combination and number of sets of weights; NULL before a frame",
          GST_TYPE_STRUCTURE, readable),
      "0.2");
  convolve_properties_install_one (klass, PROP_PRESETS,
      gst_param_spec_array ("presets", "Presets", "Names of the presets that the property mask takes",
          g_param_spec_string ("preset", "Preset", "Name of a preset", NULL, readable), readable),
      "1.0");
}

static void
gst_cuda_convolve_finalize (GObject *object)
{
  gst_cuda_convolve_detections_free (GST_CUDA_CONVOLVE (object)->detections);
  gst_cuda_convolve_noise_clear (&GST_CUDA_CONVOLVE (object)->noise);
  gst_cuda_convolve_smooth_clear (&GST_CUDA_CONVOLVE (object)->smooth);
  G_OBJECT_CLASS (gst_cuda_convolve_parent_class)->finalize (object);
}

static void
gst_cuda_convolve_init (GstCudaConvolve *self)
{
  self->detections = gst_cuda_convolve_detections_new ();
  gst_cuda_convolve_noise_init (&self->noise);
}

static void
gst_cuda_convolve_class_init (GstCudaConvolveClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstCudaConvolveBaseClass *base_class = GST_CUDA_CONVOLVE_BASE_CLASS (klass);

  object_class->finalize = gst_cuda_convolve_finalize;
  object_class->get_property = gst_cuda_convolve_get_property;
  install_results (object_class);
  gst_cuda_convolve_base_install_properties (base_class, &convolve_mask_properties);

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Convolution with CUDA or on the CPU (blur, sharpen, edge detection)", "Filter/Effect/Video",
      "Blurs, sharpens, finds edges or convolves video with any mask, with CUDA on an NVIDIA GPU or on the CPU",
      "The cudaconvolve developers");

  GST_BASE_TRANSFORM_CLASS (klass)->sink_event = GST_DEBUG_FUNCPTR (gst_cuda_convolve_sink_event);
  base_class->check = check;
  base_class->forget = forget;
  base_class->follow_caps = follow_caps;
  base_class->make_work = make_work;
  base_class->lose_work = lose_work;
  base_class->make_host_work = make_host_work;
  base_class->outdates_work = outdates_work;
  base_class->warn_of_frame = warn_of_frame;
  base_class->look_ahead = look_ahead;
  base_class->arrive = arrive;
  base_class->pass_time = pass_time;
  base_class->is_due = is_due;
  base_class->leave = leave;
  base_class->look = look;
  base_class->begin = begin;
  base_class->describe = describe;
  base_class->changes_in_place = changes_in_place;
  base_class->add_sentences = add_sentences;
}
