/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cudaconvlayer
 * @title: cudaconvlayer
 * @short_description: runs a convolution layer of a network on video, on a CUDA device or on the CPU
 *
 * The weights of the layer are in the file #GstCudaConvLayer:location. Every feature map is a sum over all colours, with
 * stride, padding, activation and max pooling as nn.Conv2d of PyTorch and Conv of ONNX have them. Frames are GRAY8 for a
 * layer of one channel and RGB for a layer of three. The size and the format of the output follow from the layer: one feature
 * map makes GRAY8, three make RGB, four make RGBA, and any number makes a mosaic.
 *
 * The element computes with 0 for black and 1 for white, and shows a value as value / #GstCudaConvLayer:divisor +
 * #GstCudaConvLayer:bias. Without a GPU the element works on the CPU, unless #GstCudaConvLayer:kernel-variant or
 * #GstCudaConvLayer:cuda-device-id asks for a GPU.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvlayer location=conv1.npz stride=2 mosaic=true bias=0.5 ! videoconvert ! autovideosink
 * ]| Shows all feature maps of a layer side by side.
 *
 * Since: 1.0
 */
#include "layer/gstcudaconvlayer.h"

#include "base/engine.h"
#include "base/negotiation.h"
#include "properties/enums.h"
#include "frame/metas.h"
#include "frame/windows.h"
#include "layer/layercaps.h"
#include "layer/layermeta.h"
#include "layer/layerplan.h"
#include "report/debug.h"

G_DEFINE_FINAL_TYPE (GstCudaConvLayer, gst_cuda_conv_layer, GST_TYPE_CUDA_CONVOLVE_BASE)
GST_ELEMENT_REGISTER_DEFINE (cudaconvlayer, "cudaconvlayer", GST_RANK_NONE, GST_TYPE_CUDA_CONV_LAYER)

/* --- the layer --- */

/* Takes model. */
static void
set_model (GstCudaConvLayer *self, GstCudaConvLayerModel *model)
{
  GstCudaConvLayerModel *before = self->model;

  GST_OBJECT_LOCK (self);
  self->model = model;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&before, gst_cuda_conv_layer_model_unref);
}

/* Any thread. NULL before the start. */
static GstCudaConvLayerModel *
ref_model (GstCudaConvLayer *self)
{
  GstCudaConvLayerModel *model;

  GST_OBJECT_LOCK (self);
  model = self->model ? gst_cuda_conv_layer_model_ref (self->model) : NULL;
  GST_OBJECT_UNLOCK (self);
  return model;
}

static const GstVideoInfo *
get_in (GstCudaConvolveBase *base)
{
  return &gst_cuda_convolve_engine_get_in (base->engine)->info;
}

static const GstVideoInfo *
get_out (GstCudaConvolveBase *base)
{
  return &gst_cuda_convolve_engine_get_out (base->engine)->info;
}

/* Warns of a layer, once for each fault. Takes text. */
static void
warn_of_layer (GstCudaConvLayer *self, gchar *text)
{
  if (g_strcmp0 (self->warning, text) != 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", text), ("The previous layer stays."));
  g_free (self->warning);
  self->warning = text;
}

/* The layer that the settings describe, where it takes the frames; otherwise NULL, and *fault is to be freed. */
static GstCudaConvLayerModel *
make_model (GstCudaConvLayer *self, const ConvolveProperties *properties, gchar **fault)
{
  g_autoptr (GError) bad = NULL;
  GstCudaConvLayerModel *model =
      gst_cuda_conv_layer_model_new (&properties->layer, properties->boundary, self->model, &bad);

  *fault = model ? gst_cuda_conv_layer_model_refuses (model, get_in (&self->base)) : g_strdup (bad->message);
  if (model && *fault)
    g_clear_pointer (&model, gst_cuda_conv_layer_model_unref);
  return model;
}

/*
 * A new layer may need new caps for the output. Where the layer is bad, or downstream takes nothing that the layer makes, the
 * user is warned, and the layer before stays.
 */
static GstFlowReturn
follow_settings (GstCudaConvolveBase *base)
{
  GstCudaConvLayer *self = GST_CUDA_CONV_LAYER (base);
  g_autofree gchar *fault = NULL;
  GstCudaConvLayerModel *before,
      *model = make_model (self, gst_cuda_convolve_settings_get_used (base->settings), &fault);
  gboolean same;

  if (!model) {
    warn_of_layer (self, g_steal_pointer (&fault));
    return GST_FLOW_OK;
  }
  before = gst_cuda_conv_layer_model_ref (self->model);
  set_model (self, model);
  same = gst_cuda_conv_layer_model_makes (model, get_in (base), get_out (base));
  if (!same && !gst_cuda_convolve_is_taken_downstream (base)) {
    set_model (self, before);
    warn_of_layer (self, g_strdup ("location: the next element takes none of the frames that the layer makes"));
    return GST_FLOW_OK;
  }
  gst_cuda_conv_layer_model_unref (before);
  g_clear_pointer (&self->warning, g_free);
  return same ? GST_FLOW_OK : gst_cuda_convolve_base_renegotiate (base);
}

/* The file is read here, so that caps can be told before the first frame. */
static gboolean
check (GstCudaConvolveBase *base, const ConvolveProperties *properties, GError **error)
{
  GstCudaConvLayerModel *model = gst_cuda_conv_layer_model_new (&properties->layer, properties->boundary, NULL, error);

  if (model)
    set_model (GST_CUDA_CONV_LAYER (base), model);
  return model != NULL;
}

static void
forget (GstCudaConvolveBase *base)
{
  GstCudaConvLayer *self = GST_CUDA_CONV_LAYER (base);

  set_model (self, NULL);
  g_clear_pointer (&self->warning, g_free);
  self->work_told = 0;
}

/* --- work --- */

static void
lose_work (GstCudaConvolveBase *base)
{
  g_clear_pointer (&GST_CUDA_CONV_LAYER (base)->work, gst_cuda_convolve_work_unref);
}

static GstCudaConvolveWork *
make_work (GstCudaConvolveBase *base, ConvolveProperties *properties, ConvolveError *error)
{
  GstCudaConvLayer *self = GST_CUDA_CONV_LAYER (base);
  gint64 start = g_get_monotonic_time ();
  GstCudaConvolveWork *work = gst_cuda_conv_layer_plan_new (self->model, gst_cuda_convolve_engine_get_in (base->engine),
      gst_cuda_convolve_engine_get_out (base->engine), convolve_properties_variant_name (properties),
      gst_cuda_convolve_device_get_handle (base->device), error);

  lose_work (base);
  self->work = work;
  if (work)
    GST_CUDA_CONVOLVE_TELL (&self->work_told, self, "plans made in %.3f ms: a layer, variant %s, on the %s",
        (g_get_monotonic_time () - start) / 1e3, work->variant, work->device ? "device" : "CPU");
  return work;
}

static void
follow_caps (GstCudaConvolveBase *base)
{
  GST_CUDA_CONV_LAYER (base)->faults_told = 0;
}

/* --- frames --- */

typedef enum
{
  FIELDS,
  CROP,
  VIEWS,
  N_FAULTS
} Fault;

static const gchar *const fault_texts[N_FAULTS] = {
  [FIELDS] = "interlace-mode: the frames are interlaced, and the layer takes each frame as one picture",
  [CROP] = "GstVideoCropMeta has no effect: the layer takes the whole frame as one picture",
  [VIEWS] = "multiview-mode: the layer takes both views of a frame as one picture",
};

static guint
find_faults (const GstVideoInfo *info, const GstCudaConvolveCrop *crop, GstBuffer *buffer)
{
  GstVideoMultiviewMode views = gst_cuda_convolve_windows_packing (info, buffer);
  gboolean apart = views == GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE || views == GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM
      || views == GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED || views == GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED;

  return (gst_cuda_convolve_windows_split_fields (info, CONVOLVE_FIELD_MODE_AUTO, buffer) ? 1u << FIELDS : 0)
      | (crop->kind == GST_CUDA_CONVOLVE_CROP_PART ? 1u << CROP : 0) | (apart ? 1u << VIEWS : 0);
}

static void
warn_of_frame (GstCudaConvolveBase *base, GstBuffer *input)
{
  GstCudaConvLayer *self = GST_CUDA_CONV_LAYER (base);
  guint faults = find_faults (get_in (base), &base->crop, input);

  for (guint i = 0; i < N_FAULTS; i++)
    if (faults >> i & ~(self->faults_told >> i) & 1)
      GST_WARNING_OBJECT (self, "%s", fault_texts[i]);
  self->faults_told |= faults;
}

/* A layer that changes places and colours takes metas with it. */
static gboolean
gst_cuda_conv_layer_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  GstCudaConvolveBase *base = GST_CUDA_CONVOLVE_BASE (trans);

  return GST_BASE_TRANSFORM_CLASS (gst_cuda_conv_layer_parent_class)->transform_meta (trans, outbuf, meta, inbuf)
      && gst_cuda_conv_layer_model_keeps_meta (GST_CUDA_CONV_LAYER (base)->model, get_in (base), get_out (base), outbuf,
          meta, inbuf);
}

/* --- caps and events --- */

/* The file is read when the element starts. Before that, all caps of the template are possible. */
static GstCaps *
gst_cuda_conv_layer_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCudaConvLayerModel *model = ref_model (GST_CUDA_CONV_LAYER (trans));
  g_autoptr (GstCaps) other = model
      ? gst_cuda_conv_layer_model_transform_caps (model, direction, caps)
      : gst_pad_get_pad_template_caps (direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad);

  g_clear_pointer (&model, gst_cuda_conv_layer_model_unref);
  return gst_cuda_convolve_filter_caps (trans, direction, caps, other, filter);
}

static GstCaps *
gst_cuda_conv_layer_fixate_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  GstCudaConvLayerModel *model = ref_model (GST_CUDA_CONV_LAYER (trans));
  GstCaps *fixed = model
      ? gst_cuda_conv_layer_model_fixate_caps (model, direction, caps, othercaps)
      : GST_BASE_TRANSFORM_CLASS (gst_cuda_conv_layer_parent_class)->fixate_caps (trans, direction, caps, othercaps);

  g_clear_pointer (&model, gst_cuda_conv_layer_model_unref);
  return fixed;
}

static gchar *
refuse_caps (GstCudaConvolveBase *base, GstCaps *caps)
{
  GstCudaConvLayerModel *model = ref_model (GST_CUDA_CONV_LAYER (base));
  gchar *fault = model ? gst_cuda_conv_layer_model_refuses_caps (model, caps) : NULL;

  g_clear_pointer (&model, gst_cuda_conv_layer_model_unref);
  return fault;
}

/* A layer takes the whole frame, so crops are not offered. */
static gboolean
gst_cuda_conv_layer_filter_meta (GstBaseTransform *trans, GstQuery *query, GType api, const GstStructure *params)
{
  GstCudaConvLayer *self = GST_CUDA_CONV_LAYER (trans);

  return gst_cuda_convolve_meta_is_offered (api, FALSE) && self->model
      && gst_cuda_conv_layer_model_can_keep_meta (self->model, api);
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
 * A pointer on the output, as the place in the frames that came in. Any thread: the caps of the pad and the layer tell all.
 * Takes event.
 */
static GstEvent *
move_pointer (GstCudaConvLayer *self, GstEvent *event)
{
  GstCudaConvLayerModel *model = ref_model (self);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  GstVideoInfo info;
  gdouble x, y;

  if (model && caps && gst_video_info_from_caps (&info, caps) && get_pointer (event, &x, &y)
      && gst_cuda_conv_layer_model_find_origin (model, GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info), &x,
          &y)) {
    event = gst_event_make_writable (event);
    gst_structure_set (gst_event_writable_structure (event), "pointer_x", G_TYPE_DOUBLE, x, "pointer_y", G_TYPE_DOUBLE,
        y, NULL);
  }
  g_clear_pointer (&model, gst_cuda_conv_layer_model_unref);
  return event;
}

static gboolean
gst_cuda_conv_layer_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_NAVIGATION)
    event = move_pointer (GST_CUDA_CONV_LAYER (trans), event);
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_conv_layer_parent_class)->src_event (trans, event);
}

/* --- the object --- */

static void
gst_cuda_conv_layer_init (GstCudaConvLayer *self)
{
}

static void
gst_cuda_conv_layer_class_init (GstCudaConvLayerClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCudaConvolveBaseClass *base_class = GST_CUDA_CONVOLVE_BASE_CLASS (klass);

  gst_cuda_convolve_base_install_properties (base_class, &convolve_layer_properties);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Convolution layer with CUDA or on the CPU (feature maps of a network)", "Filter/Effect/Video",
      "Runs a convolution layer of a network on video: stride, padding, activation and pooling, with CUDA on an NVIDIA "
      "GPU or on the CPU",
      "The cudaconvolve developers");

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_cuda_conv_layer_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_cuda_conv_layer_fixate_caps);
  trans_class->filter_meta = GST_DEBUG_FUNCPTR (gst_cuda_conv_layer_filter_meta);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_cuda_conv_layer_transform_meta);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_cuda_conv_layer_src_event);
  base_class->check = check;
  base_class->forget = forget;
  base_class->follow_settings = follow_settings;
  base_class->follow_caps = follow_caps;
  base_class->make_work = make_work;
  base_class->lose_work = lose_work;
  base_class->warn_of_frame = warn_of_frame;
  base_class->refuse_caps = refuse_caps;
}
