/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/engine.h"

#include "plans/components.h"
#include "report/debug.h"
#include "enums.h"
#include "layer/layercaps.h"
#include "props.h"
#include "base/settings.h"

struct _GstCudaConvolveEngine
{
  GstElement *element;
  GstCudaConvolveDevice *device;
  GstCudaConvolveFlights *flights;
  GstCudaConvolveErrors *errors;
  GstCudaConvolveStats *stats;

  GstCudaConvolveLayout in, out; /* of the frames; unknown format before the first caps */
  gboolean same_memory;          /* input and output caps are of one kind of memory */
  gboolean cuda_memory;          /* one of them is CUDA memory */

  GstCudaConvolveLayer *layer;     /* in the mask's place, or NULL; written under the element's object lock */
  GstCudaConvolvePlans *plans;     /* or NULL */
  gboolean plans_fit;              /* the caps are still those that the plans were made for */
  GstCudaConvolveRegions *regions; /* for the plans, where only parts of the frames change, or NULL */
  GstCudaConvolveDetections *detections;
  gboolean looked;         /* for the regions of the next frame */
  ConvolveProperties good; /* what the last plans that could be made were made from */
  gboolean has_good;
  guint plans_told, choices_told; /* see GST_CUDA_CONVOLVE_TELL */
  guint faults_told;              /* bits of gst_cuda_convolve_windows_faults() that the user knows */
  guint boxes_told;               /* bits of gst_cuda_convolve_regions_faults() likewise */
  gchar *mask_warning, *layer_warning, *components_warning; /* the texts of the warnings that stand, or NULL */

  ConvolvePool *pool; /* of plans for the CPU, or NULL */
  guint n_threads;    /* that the pool was made for */
};

GstCudaConvolveEngine *
gst_cuda_convolve_engine_new (GstElement *element, GstCudaConvolveDevice *device, GstCudaConvolveFlights *flights,
    GstCudaConvolveErrors *errors, GstCudaConvolveStats *stats)
{
  GstCudaConvolveEngine *engine = g_new0 (GstCudaConvolveEngine, 1);

  engine->element = element;
  engine->device = device;
  engine->flights = flights;
  engine->errors = errors;
  engine->stats = stats;
  gst_video_info_init (&engine->in.info);
  gst_video_info_init (&engine->out.info);
  engine->detections = gst_cuda_convolve_detections_new ();
  return engine;
}

void
gst_cuda_convolve_engine_free (GstCudaConvolveEngine *engine)
{
  gst_cuda_convolve_detections_free (engine->detections);
  g_free (engine);
}

const GstVideoInfo *
gst_cuda_convolve_engine_get_in_info (GstCudaConvolveEngine *engine)
{
  return &engine->in.info;
}

const GstVideoInfo *
gst_cuda_convolve_engine_get_out_info (GstCudaConvolveEngine *engine)
{
  return &engine->out.info;
}

/* --- the device --- */

/* Makes the device's context current where that works; plans and device are freed in any case. */
static void
clear_plans (GstCudaConvolveEngine *engine)
{
  ConvolveError error;
  gboolean entered = gst_cuda_convolve_device_enter (engine->device, &error) == CONVOLVE_OK;

  g_clear_pointer (&engine->regions, gst_cuda_convolve_regions_free);
  g_clear_pointer (&engine->plans, gst_cuda_convolve_plans_unref);
  if (entered)
    gst_cuda_convolve_device_leave (engine->device);
}

/* Frees everything that lies on the device, and the context. The good settings stay, to make plans from again. */
static void
release_device (GstCudaConvolveEngine *engine)
{
  gst_cuda_convolve_flights_drop (engine->flights);
  clear_plans (engine);
  gst_cuda_convolve_device_close (engine->device);
  gst_cuda_convolve_flights_forget_slots (engine->flights);
}

void
gst_cuda_convolve_engine_follow (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  release_device (engine);
  gst_cuda_convolve_device_follow (engine->device, input);
}

void
gst_cuda_convolve_engine_set_caps (GstCudaConvolveEngine *engine, const GstVideoInfo *in, const GstVideoInfo *out,
    gboolean cuda_in, gboolean cuda_out)
{
  engine->same_memory = cuda_in == cuda_out;
  engine->cuda_memory = cuda_in || cuda_out;
  if (engine->cuda_memory && gst_cuda_convolve_device_is_outside_context (engine->device))
    release_device (engine); /* to be opened again where the frames are */
  engine->faults_told = engine->boxes_told = 0;
  gst_cuda_convolve_detections_forget_faults (engine->detections);
  gst_cuda_convolve_layout_init (&engine->in, in);
  gst_cuda_convolve_layout_init (&engine->out, out);
  engine->plans_fit = FALSE;
  gst_cuda_convolve_errors_set_frames (engine->errors, in, gst_cuda_convolve_stats_get_variant (engine->stats));
}

/* --- the layer --- */

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

const GstCudaConvolveLayer *
gst_cuda_convolve_engine_get_layer (GstCudaConvolveEngine *engine)
{
  return engine->layer;
}

gboolean
gst_cuda_convolve_engine_has_right_caps (GstCudaConvolveEngine *engine)
{
  const GstVideoInfo *in = &engine->in.info, *out = &engine->out.info;

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
  if (g_strcmp0 (engine->layer_warning, text) != 0)
    GST_ELEMENT_WARNING (engine->element, LIBRARY, SETTINGS, ("%s", text),
        ("The previous %s stays.", engine->layer ? "layer" : "mask"));
  g_free (engine->layer_warning);
  engine->layer_warning = text;
}

/* The layer that the settings describe, where it takes the frames; otherwise NULL, and *fault is to be freed. */
static GstCudaConvolveLayer *
make_layer (GstCudaConvolveEngine *engine, const ConvolveProperties *properties, gchar **fault)
{
  g_autoptr (GError) bad = NULL;
  GstCudaConvolveLayer *layer =
      gst_cuda_convolve_layer_new (&properties->layer, &properties->mask, properties->boundary, engine->layer, &bad);

  *fault = layer ? gst_cuda_convolve_layer_refuses (layer, &engine->in.info) : g_strdup (bad->message);
  if (layer && *fault)
    g_clear_pointer (&layer, gst_cuda_convolve_layer_unref);
  return layer;
}

gboolean
gst_cuda_convolve_engine_update_layer (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  GstCudaConvolveLayer *layer = NULL;
  gchar *fault = NULL;

  if (convolve_layer_settings_has_layer (&properties->layer))
    layer = make_layer (engine, properties, &fault);
  if (fault)
    warn_of_layer (engine, fault);
  else
    set_layer (engine, layer);
  return !fault;
}

void
gst_cuda_convolve_engine_keep_layer (GstCudaConvolveEngine *engine)
{
  g_clear_pointer (&engine->layer_warning, g_free);
}

void
gst_cuda_convolve_engine_restore_layer (GstCudaConvolveEngine *engine, GstCudaConvolveLayer *before)
{
  set_layer (engine, before ? gst_cuda_convolve_layer_ref (before) : NULL);
  warn_of_layer (engine, g_strdup ("layer-location: the next element takes none of the frames that the layer makes"));
}

/* --- the plans --- */

gboolean
gst_cuda_convolve_engine_has_plans (GstCudaConvolveEngine *engine)
{
  return engine->plans != NULL;
}

gboolean
gst_cuda_convolve_engine_is_passthrough (GstCudaConvolveEngine *engine)
{
  return engine->plans && engine->same_memory
      && (engine->regions ? gst_cuda_convolve_regions_are_identity (engine->regions)
                          : gst_cuda_convolve_plans_are_identity (engine->plans));
}

gboolean
gst_cuda_convolve_engine_is_on_device (GstCudaConvolveEngine *engine)
{
  return engine->plans && gst_cuda_convolve_plans_are_on_device (engine->plans);
}

/* Publishes what runs now, for the properties active-variant, mask-info and stats and for errors. */
static void
publish_variant (GstCudaConvolveEngine *engine)
{
  ConvolveDevice *handle = gst_cuda_convolve_device_get_handle (engine->device);
  const gchar *variant, *backend = "cpu", *device = "none";

  if (gst_cuda_convolve_engine_is_passthrough (engine)) {
    variant = g_intern_static_string ("passthrough");
    backend = "none";
  } else {
    variant = gst_cuda_convolve_plans_variant (engine->plans);
    if (gst_cuda_convolve_engine_is_on_device (engine)) {
      backend = "cuda";
      device = g_intern_string (convolve_device_name (handle));
    }
  }
  gst_cuda_convolve_stats_set_mask (engine->stats, gst_cuda_convolve_plans_mask_info (engine->plans));
  gst_cuda_convolve_stats_set_variant (engine->stats, variant, backend, device);
  gst_cuda_convolve_errors_set_frames (engine->errors, &engine->in.info, variant);
}

static gboolean
log_shows_debug (void)
{
  return gst_debug_category_get_threshold (GST_CAT_DEFAULT) >= GST_LEVEL_DEBUG;
}

/* Logs which plans were made, in how many microseconds. */
static void
tell_plans (GstCudaConvolveEngine *engine, gint64 time)
{
  GstCudaConvolveMaskInfo *mask = gst_cuda_convolve_plans_mask_info (engine->plans);
  g_autofree gchar *size = NULL;

  if (!log_shows_debug ())
    return;
  size = mask ? gst_cuda_convolve_mask_info_describe_size (mask) : NULL;
  GST_CUDA_CONVOLVE_TELL (&engine->plans_told, engine->element,
      "plans made in %.3f ms: %s %s, variant %s, %u groups of samples, %s, on the %s", time / 1e3,
      size ? "mask" : "a layer", size ? size : "in its place", gst_cuda_convolve_plans_variant (engine->plans),
      engine->in.n_groups, engine->regions ? "in regions" : "whole frames",
      gst_cuda_convolve_engine_is_on_device (engine) ? "device" : "CPU");
}

/* Logs why auto chose its variants. The explanation takes time, so it is made only where the log shows it. */
static void
explain_choice (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  if (properties->variant != CONVOLVE_VARIANT_AUTO || engine->layer || !log_shows_debug ())
    return;
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < gst_cuda_convolve_plans_in (engine->plans)->n_groups; i++) {
      const ConvolvePlan *plan = gst_cuda_convolve_plans_group (engine->plans, kind, i);
      gchar text[1000];

      if (!plan)
        continue;
      convolve_plan_explain (plan, text, sizeof (text));
      GST_CUDA_CONVOLVE_TELL (&engine->choices_told, engine->element, "plane %u%s%s: %s",
          gst_cuda_convolve_plans_in (engine->plans)->groups[i].plane,
          kind & GST_CUDA_CONVOLVE_SECOND_ROWS ? ", every second row" : "",
          kind & GST_CUDA_CONVOLVE_SECOND_COLUMNS ? ", every second column" : "", text);
    }
}

/*
 * Makes plans for the CPU share their work among threads. Without memory for the threads, the streaming thread works.
 */
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
  gst_cuda_convolve_plans_set_pool (engine->plans, engine->pool);
}

static void
forget_good (GstCudaConvolveEngine *engine)
{
  if (engine->has_good)
    convolve_properties_clear (&engine->good);
  engine->has_good = FALSE;
}

/* Puts the good regions in the place of those that are set. */
static void
use_good_regions (GstCudaConvolveEngine *engine, ConvolveProperties *properties)
{
  convolve_region_settings_clear (&properties->region);
  convolve_region_settings_copy (&properties->region, &engine->good.region);
}

/* Puts the good mask, or the default one where there is none, in the place of the mask that is set. */
static void
use_good_mask (GstCudaConvolveEngine *engine, ConvolveProperties *properties)
{
  convolve_settings_clear (&properties->mask);
  if (engine->has_good)
    convolve_settings_copy (&properties->mask, &engine->good.mask);
  else
    convolve_settings_init (&properties->mask);
}

/* Whether only parts of the frames change. A layer takes frames as they are. */
static gboolean
has_regions (const GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  return properties->region.apply_to != CONVOLVE_APPLY_TO_FRAME && !engine->layer;
}

/*
 * Where the work is done: the device that is open, or NULL for the CPU. Boxes in frames in system memory are changed in
 * place by the CPU, in less time than the way to a device and back takes, unless the user chose a device or a variant there.
 */
static ConvolveDevice *
choose_device (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  gboolean boxes = has_regions (engine, properties)
      && (properties->region.apply_to == CONVOLVE_APPLY_TO_REGIONS
          || properties->region.effect != CONVOLVE_REGION_EFFECT_MASK);

  if (boxes && !engine->cuda_memory && properties->variant == CONVOLVE_VARIANT_AUTO && properties->device_id < 0)
    return NULL;
  return gst_cuda_convolve_device_get_handle (engine->device);
}

static GstCudaConvolvePlans *
make_plans (GstCudaConvolveEngine *engine, const ConvolveProperties *properties, ConvolveError *error)
{
  if (has_regions (engine, properties)
      && GST_VIDEO_INFO_INTERLACE_MODE (&engine->in.info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
    *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED,
      .text = "apply-to: each frame is one field (interlace-mode=alternate), and regions are parts of whole frames" };
    return NULL;
  }
  return gst_cuda_convolve_plans_new (properties, engine->layer, &engine->in, &engine->out,
      choose_device (engine, properties), error);
}

/* Whether the boxes in properties are others than the good ones, or there were none. */
static gboolean
has_new_boxes (const GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  const ConvolveRegionSettings *region = &properties->region, *good = &engine->good.region;

  return !engine->has_good || g_strcmp0 (region->regions, good->regions) != 0 || region->sources != good->sources
      || region->expand != good->expand || region->feather != good->feather;
}

/*
 * Whether boxes of the property touch the frame, where they are new; otherwise *error says what is wrong. Boxes that touched
 * frames of other caps stay good: the whole frame is changed then.
 */
static gboolean
new_boxes_touch (GstCudaConvolveEngine *engine, const ConvolveProperties *properties, ConvolveError *error)
{
  g_autofree gchar *fault = NULL;

  if (!has_new_boxes (engine, properties)
      || gst_cuda_convolve_regions_text_touches (&properties->region, &engine->in.info, &fault))
    return TRUE;
  if (error) {
    *error = (ConvolveError){ .status = CONVOLVE_INVALID };
    g_strlcpy (error->text, fault, sizeof (error->text));
  }
  return FALSE;
}

/* The plans of engine with the settings of regions; NULL with error filled where these are bad. */
static GstCudaConvolveRegions *
make_regions (GstCudaConvolveEngine *engine, GstCudaConvolvePlans *plans, const ConvolveProperties *properties,
    ConvolveError *error)
{
  GstCudaConvolveRegions *regions =
      gst_cuda_convolve_regions_new (plans, gst_cuda_convolve_device_get_handle (engine->device));

  if (!new_boxes_touch (engine, properties, error)
      || !gst_cuda_convolve_regions_set (regions, engine->detections, properties, error))
    g_clear_pointer (&regions, gst_cuda_convolve_regions_free);
  return regions;
}

/* Plans, and the regions where only parts of the frames change. */
typedef struct
{
  GstCudaConvolvePlans *plans;
  GstCudaConvolveRegions *regions;
} Work;

static Work
make_work (GstCudaConvolveEngine *engine, const ConvolveProperties *properties, ConvolveError *error)
{
  Work work = { .plans = make_plans (engine, properties, error) };

  if (!work.plans || !has_regions (engine, properties))
    return work;
  work.regions = make_regions (engine, work.plans, properties, error);
  if (!work.regions)
    g_clear_pointer (&work.plans, gst_cuda_convolve_plans_unref);
  return work;
}

/* Warns of bad settings, once for each fault. */
static void
warn_of_settings (GstCudaConvolveEngine *engine, const gchar *text)
{
  if (!gst_cuda_convolve_settings_have_told (engine->element, engine->mask_warning, text))
    GST_ELEMENT_WARNING (engine->element, LIBRARY, SETTINGS, ("%s", text),
        ("The previous mask stays, and the previous regions."));
  g_free (engine->mask_warning);
  engine->mask_warning = g_strdup (text);
}

/* Logs that no component of the frames is chosen, once until the components or the format change. */
static void
warn_of_components (GstCudaConvolveEngine *engine, guint components)
{
  gchar *text = engine->layer ? NULL : gst_cuda_convolve_components_explain (&engine->in, components);

  if (text && g_strcmp0 (engine->components_warning, text) != 0)
    GST_WARNING_OBJECT (engine->element, "%s", text);
  g_free (engine->components_warning);
  engine->components_warning = text;
}

/* Takes properties as the good ones. */
static void
keep_good (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  forget_good (engine);
  engine->good = *properties;
  engine->has_good = TRUE;
  share_work (engine, properties->n_threads);
  publish_variant (engine);
}

/*
 * Makes plans from the settings, and the settings the good ones. Where the mask or the regions are bad and there were
 * good ones, the good ones stay with a warning; what is set beside them holds. Takes properties on success.
 */
static gboolean
replace_plans (GstCudaConvolveEngine *engine, ConvolveProperties *properties, ConvolveError *error)
{
  gint64 begin = g_get_monotonic_time ();
  Work work = make_work (engine, properties, error);
  gboolean bad = !work.plans && error->status == CONVOLVE_INVALID && !engine->layer;

  if (!bad) {
    g_clear_pointer (&engine->mask_warning, g_free);
  } else if (engine->has_good) {
    warn_of_settings (engine, error->text);
    if (convolve_region_settings_check (&properties->region, &properties->mask, NULL)
        && (!has_regions (engine, properties) || new_boxes_touch (engine, properties, NULL)))
      use_good_mask (engine, properties);
    else
      use_good_regions (engine, properties);
    work = make_work (engine, properties, error);
    if (!work.plans && error->status == CONVOLVE_INVALID) {
      use_good_mask (engine, properties);
      use_good_regions (engine, properties);
      work = make_work (engine, properties, error);
    }
  }
  /* Nobody looks at the mask beside a layer, so a bad one must not become the good one. */
  if (work.plans && engine->layer)
    use_good_mask (engine, properties);
  g_clear_pointer (&engine->regions, gst_cuda_convolve_regions_free);
  g_clear_pointer (&engine->plans, gst_cuda_convolve_plans_unref);
  if (!work.plans) {
    forget_good (engine);
    return FALSE;
  }
  engine->plans = work.plans;
  engine->regions = work.regions;
  engine->plans_fit = TRUE;
  engine->looked = FALSE;
  keep_good (engine, properties);
  warn_of_components (engine, properties->components);
  tell_plans (engine, g_get_monotonic_time () - begin);
  explain_choice (engine, properties);
  return TRUE;
}

/*
 * Where only the settings of regions changed, the plans stay, so that boxes can be set for every frame. FALSE where
 * other settings changed, where the work moves to or from the device, or where the new settings are bad. Takes properties on success.
 */
static gboolean
update_regions (GstCudaConvolveEngine *engine, ConvolveProperties *properties)
{
  if (!engine->regions || !engine->plans_fit || !has_regions (engine, properties)
      || !convolve_properties_are_equal_but_for_regions (properties, &engine->good)
      || choose_device (engine, properties) != choose_device (engine, &engine->good)
      || !new_boxes_touch (engine, properties, NULL)
      || !gst_cuda_convolve_regions_set (engine->regions, engine->detections, properties, NULL))
    return FALSE;
  g_clear_pointer (&engine->mask_warning, g_free);
  engine->looked = FALSE;
  keep_good (engine, properties);
  return TRUE;
}

gboolean
gst_cuda_convolve_engine_update (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  ConvolveProperties wanted;
  ConvolveError error;
  gboolean made = FALSE;

  convolve_properties_copy (&wanted, properties);
  wanted.device_id = gst_cuda_convolve_device_get_id (engine->device);
  wanted.region.effect = convolve_region_settings_effect (&wanted.region);
  if (gst_cuda_convolve_device_open (engine->device, &wanted, engine->cuda_memory, &error) == CONVOLVE_OK
      && gst_cuda_convolve_device_enter (engine->device, &error) == CONVOLVE_OK) {
    made = update_regions (engine, &wanted) || replace_plans (engine, &wanted, &error);
    gst_cuda_convolve_device_leave (engine->device);
  }
  if (!made) {
    /* Without a device nothing was replaced, and plans for other caps must not take the next frame. */
    clear_plans (engine);
    forget_good (engine);
    gst_cuda_convolve_errors_post_status (engine->errors, &error);
    convolve_properties_clear (&wanted);
  }
  return made;
}

/* --- frames --- */

static void
warn_of_metadata (GstCudaConvolveEngine *engine)
{
  g_autofree gchar *fault = gst_cuda_convolve_detections_take_fault (engine->detections);

  if (fault)
    GST_ELEMENT_WARNING (engine->element, STREAM, FORMAT, ("%s", fault), ("This is told once until the caps change."));
}

/* Warns of boxes, once for each fault until the caps change. A fault of the property may be told again when it was mended. */
static void
warn_of_boxes (GstCudaConvolveEngine *engine)
{
  guint faults = gst_cuda_convolve_regions_faults (engine->regions);

  for (guint bit = 0; bit < GST_CUDA_CONVOLVE_N_BOX_FAULTS; bit++)
    if (faults >> bit & ~(engine->boxes_told >> bit) & 1) {
      g_autofree gchar *text = gst_cuda_convolve_regions_explain_fault (engine->regions, 1 << bit);

      GST_ELEMENT_WARNING (engine->element, LIBRARY, SETTINGS, ("%s", text),
          ("This is told once until the caps change."));
    }
  engine->boxes_told |= faults;
  engine->boxes_told &= faults | ~(GST_CUDA_CONVOLVE_BOX_OF_TEXT_IS_OUTSIDE | GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE);
}

GstCudaConvolveNeed
gst_cuda_convolve_engine_look (GstCudaConvolveEngine *engine, const GstSegment *segment, GstBuffer *input)
{
  gboolean any;

  if (!engine->regions)
    return GST_CUDA_CONVOLVE_NEEDS_OUTPUT;
  gst_cuda_convolve_detections_advance (engine->detections, segment, input, &engine->in.info);
  any = gst_cuda_convolve_regions_find (engine->regions, engine->detections, input);
  engine->looked = TRUE;
  warn_of_metadata (engine);
  warn_of_boxes (engine);
  if (!engine->same_memory)
    return GST_CUDA_CONVOLVE_NEEDS_OUTPUT;
  if (!any)
    return GST_CUDA_CONVOLVE_NEEDS_NO_WORK;
  return gst_buffer_is_writable (input) ? GST_CUDA_CONVOLVE_NEEDS_NOTHING : GST_CUDA_CONVOLVE_NEEDS_OUTPUT;
}

gboolean
gst_cuda_convolve_engine_needs_copies (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  if (engine->in.cropped || engine->layer || !gst_cuda_convolve_windows_has_crop (&engine->in.info, input))
    return FALSE;
  engine->in.cropped = TRUE;
  return TRUE;
}

void
gst_cuda_convolve_engine_warn_of_frame (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  guint faults = gst_cuda_convolve_windows_faults (&engine->in.info, engine->good.field_mode, engine->layer != NULL,
      engine->regions != NULL, input);

  for (guint bit = 0; faults >> bit != 0; bit++)
    if (faults >> bit & ~(engine->faults_told >> bit) & 1)
      GST_WARNING_OBJECT (engine->element, "%s", gst_cuda_convolve_windows_fault_text (bit));
  engine->faults_told |= faults;
}

GstFlowReturn
gst_cuda_convolve_engine_begin (GstCudaConvolveEngine *engine, GstBuffer *input, GstBuffer *output)
{
  /* The regions are new where the search for an output led to new caps. */
  if (engine->regions && !engine->looked)
    gst_cuda_convolve_regions_find (engine->regions, engine->detections, input);
  return gst_cuda_convolve_flights_begin (engine->flights, engine->plans, engine->regions, input, output);
}

void
gst_cuda_convolve_engine_pass (GstCudaConvolveEngine *engine, GstBuffer *input)
{
  gst_cuda_convolve_flights_pass (engine->flights, input);
}

void
gst_cuda_convolve_engine_end_stream (GstCudaConvolveEngine *engine)
{
  if (!engine->regions)
    return;
  gst_cuda_convolve_detections_end (engine->detections);
  warn_of_metadata (engine);
}

void
gst_cuda_convolve_engine_flush (GstCudaConvolveEngine *engine)
{
  gst_cuda_convolve_detections_forget (engine->detections);
}

/* --- start and stop --- */

/* Whether the mask or the layer can be made, whatever the format; takes the layer. */
static gboolean
check_settings (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  g_autoptr (GError) bad = NULL;
  ConvolveMask mask;

  if (convolve_layer_settings_has_layer (&properties->layer))
    set_layer (engine,
        gst_cuda_convolve_layer_new (&properties->layer, &properties->mask, properties->boundary, NULL, &bad));
  else if (convolve_settings_make_mask (&properties->mask, 1, 1, &mask, &bad))
    convolve_mask_clear (&mask);
  if (!bad && !engine->layer)
    convolve_region_settings_check (&properties->region, &properties->mask, &bad);
  if (!bad)
    return TRUE;
  if (g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY))
    gst_cuda_convolve_errors_post (engine->errors, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, bad->message,
        NULL);
  else
    gst_cuda_convolve_errors_post (engine->errors, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, bad->message, NULL);
  return FALSE;
}

gboolean
gst_cuda_convolve_engine_start (GstCudaConvolveEngine *engine, const ConvolveProperties *properties)
{
  ConvolveError error;

  engine->plans_told = engine->choices_told = 0;
  gst_cuda_convolve_stats_reset (engine->stats);
  gst_cuda_convolve_errors_reset (engine->errors);
  if (!check_settings (engine, properties))
    return FALSE;
  if (gst_cuda_convolve_device_start (engine->device, properties, &error) == CONVOLVE_OK)
    return TRUE;
  set_layer (engine, NULL);
  gst_cuda_convolve_errors_post_status (engine->errors, &error);
  return FALSE;
}

void
gst_cuda_convolve_engine_stop (GstCudaConvolveEngine *engine)
{
  release_device (engine);
  forget_good (engine);
  gst_cuda_convolve_detections_forget (engine->detections);
  g_clear_pointer (&engine->pool, convolve_pool_free);
  g_clear_pointer (&engine->mask_warning, g_free);
  g_clear_pointer (&engine->layer_warning, g_free);
  g_clear_pointer (&engine->components_warning, g_free);
  set_layer (engine, NULL);
  gst_video_info_init (&engine->in.info);
  gst_cuda_convolve_stats_clear_variant (engine->stats);
  gst_cuda_convolve_errors_set_frames (engine->errors, &engine->in.info, NULL);
}
