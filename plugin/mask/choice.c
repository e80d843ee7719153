/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mask/choice.h"

#include "base/engine.h"
#include "inner/light.h"
#include "inner/steps.h"
#include "properties/enums.h"
#include "plans/components.h"
#include "plans/run.h"
#include "report/debug.h"

void
gst_cuda_convolve_lose_plans (GstCudaConvolve *self)
{
  g_clear_pointer (&self->inner, gst_cuda_convolve_work_unref);
  g_clear_pointer (&self->regions, gst_cuda_convolve_work_unref);
  g_clear_pointer (&self->plans, gst_cuda_convolve_work_unref);
}

void
gst_cuda_convolve_forget_choice (GstCudaConvolve *self)
{
  g_clear_pointer (&self->good, convolve_properties_unref);
  g_clear_pointer (&self->settings_warning, g_free);
  g_clear_pointer (&self->components_warning, g_free);
}

/* --- plans and regions --- */

static const GstVideoInfo *
get_info (GstCudaConvolve *self)
{
  return &gst_cuda_convolve_engine_get_in (self->base.engine)->info;
}

/* Whether only parts of the frames change. */
static gboolean
has_regions (const ConvolveProperties *properties)
{
  return properties->region.apply_to != CONVOLVE_APPLY_TO_FRAME;
}

/*
 * Where the work is done: the device that is open, or NULL for the CPU. Boxes in frames in system memory are changed in
 * place by the CPU, in less time than the way to a device and back takes, unless the user chose a device or a variant there.
 */
static ConvolveDevice *
choose_device (GstCudaConvolve *self, const ConvolveProperties *properties)
{
  gboolean boxes = has_regions (properties)
      && (properties->region.apply_to == CONVOLVE_APPLY_TO_REGIONS
          || properties->region.effect != CONVOLVE_REGION_EFFECT_MASK);

  if (boxes && !gst_cuda_convolve_engine_has_cuda_memory (self->base.engine)
      && properties->variant == CONVOLVE_VARIANT_AUTO && properties->device_id < 0)
    return NULL;
  return gst_cuda_convolve_device_get_handle (self->base.device);
}

static GstCudaConvolvePlans *
make_plans (GstCudaConvolve *self, const ConvolveProperties *properties, const GstCudaConvolveLayout *layout,
    ConvolveDevice *device, ConvolveError *error)
{
  if (has_regions (properties)
      && GST_VIDEO_INFO_INTERLACE_MODE (get_info (self)) == GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
    *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED,
      .text = "apply-to: each frame is one field (interlace-mode=alternate), and regions are parts of whole frames" };
    return NULL;
  }
  return gst_cuda_convolve_plans_new (properties, layout, device, error);
}

/* Whether the boxes in properties are others than the good ones, or there were none. */
static gboolean
has_new_boxes (const GstCudaConvolve *self, const ConvolveProperties *properties)
{
  const ConvolveRegionSettings *region = &properties->region, *good;

  if (!self->good)
    return TRUE;
  good = &self->good->region;
  return g_strcmp0 (region->regions, good->regions) != 0 || region->sources != good->sources
      || region->expand != good->expand || region->feather != good->feather;
}

/*
 * Whether boxes of the property touch the frame, where they are new; otherwise *error says what is wrong. Boxes that touched
 * frames of other caps stay good: the whole frame is changed then.
 */
static gboolean
new_boxes_touch (GstCudaConvolve *self, const ConvolveProperties *properties, ConvolveError *error)
{
  g_autofree gchar *fault = NULL;

  if (!has_new_boxes (self, properties)
      || gst_cuda_convolve_regions_text_touches (&properties->region, get_info (self), &fault))
    return TRUE;
  *error = (ConvolveError){ .status = CONVOLVE_INVALID };
  g_strlcpy (error->text, fault, sizeof (error->text));
  return FALSE;
}

/* Plans, the regions where only parts of the frames change, and the work of both in its inner form. */
typedef struct
{
  GstCudaConvolvePlans *plans;
  GstCudaConvolveRegions *regions;
  GstCudaConvolveWork *inner;
} Made;

static void
unmake (Made *made)
{
  g_clear_pointer (&made->inner, gst_cuda_convolve_work_unref);
  g_clear_pointer (&made->regions, gst_cuda_convolve_work_unref);
  g_clear_pointer (&made->plans, gst_cuda_convolve_work_unref);
}

static gboolean
make_regions (GstCudaConvolve *self, ConvolveProperties *properties, Made *made, ConvolveError *error)
{
  if (!has_regions (properties))
    return TRUE;
  made->regions = gst_cuda_convolve_regions_new (made->plans, &self->noise, &self->smooth);
  return new_boxes_touch (self, properties, error)
      && gst_cuda_convolve_regions_set (made->regions, self->detections, properties, error);
}

/* The work in its inner form. Where opaque frames go without the last step, there are plans for the others. */
static GstCudaConvolveWork *
make_inner (GstCudaConvolve *self, const ConvolveProperties *properties, const GstCudaConvolveSteps *steps,
    const Made *made, ConvolveDevice *device, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_engine_get_in (self->base.engine);
  GstCudaConvolveWork *work =
      made->regions ? GST_CUDA_CONVOLVE_WORK (made->regions) : GST_CUDA_CONVOLVE_WORK (made->plans);
  GstCudaConvolveWrapped wrapped = { .inside = work, .in_place = made->regions != NULL };
  GstCudaConvolvePlans *plans = NULL;
  GstCudaConvolveRegions *follower = NULL;
  GstCudaConvolveWork *inner;

  if (steps->spare_opaque) {
    plans = make_plans (self, properties, gst_cuda_convolve_steps_get_layout (steps, layout, steps->n), device, error);
    if (!plans)
      return NULL;
    if (made->regions)
      follower = gst_cuda_convolve_regions_new_follower (plans, made->regions);
    wrapped.inside = follower ? GST_CUDA_CONVOLVE_WORK (follower) : GST_CUDA_CONVOLVE_WORK (plans);
    wrapped.opaque = work;
  }
  inner = gst_cuda_convolve_steps_wrap (steps, layout, &wrapped, error);
  g_clear_pointer (&follower, gst_cuda_convolve_work_unref);
  g_clear_pointer (&plans, gst_cuda_convolve_work_unref);
  return inner;
}

/* Makes all, or none, for the device or for the CPU. */
static Made
make (GstCudaConvolve *self, ConvolveProperties *properties, ConvolveDevice *device, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_engine_get_in (self->base.engine);
  GstCudaConvolveSteps steps;
  Made made = { 0 };

  if (gst_cuda_convolve_steps_find (&steps, layout, properties, error) != CONVOLVE_OK)
    return made;
  made.plans = make_plans (self, properties, gst_cuda_convolve_steps_get_opaque (&steps, layout), device, error);
  if (!made.plans)
    return made;
  if (make_regions (self, properties, &made, error))
    made.inner = make_inner (self, properties, &steps, &made, device, error);
  if (!made.inner)
    unmake (&made);
  return made;
}

/* --- what the log has --- */

static gboolean
log_shows_debug (void)
{
  return gst_debug_category_get_threshold (GST_CAT_DEFAULT) >= GST_LEVEL_DEBUG;
}

/* Logs which plans were made, in how many microseconds. */
static void
tell_plans (GstCudaConvolve *self, gint64 time)
{
  const GstCudaConvolveWork *work = GST_CUDA_CONVOLVE_WORK (self->plans);
  g_autofree gchar *size = NULL;

  if (!log_shows_debug ())
    return;
  size = gst_cuda_convolve_mask_info_describe_size (self->plans->mask_info);
  GST_CUDA_CONVOLVE_TELL (&self->plans_told, self,
      "plans made in %.3f ms: mask %s, variant %s, %u groups of samples, %s, on the %s", time / 1e3, size,
      work->variant, work->in.n_groups, self->regions ? "in regions" : "whole frames", work->device ? "device" : "CPU");
}

/* Logs why auto chose its variants. The explanation takes time, so it is made only where the log shows it. */
static void
explain_choice (GstCudaConvolve *self, const ConvolveProperties *properties)
{
  const GstCudaConvolveLayout *layout = &self->plans->work.in;

  if (properties->variant != CONVOLVE_VARIANT_AUTO || !log_shows_debug ())
    return;
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < layout->n_groups; i++) {
      const ConvolvePlan *plan = self->plans->group[kind][i];
      gchar text[1000];

      if (!plan)
        continue;
      convolve_plan_explain (plan, text, sizeof (text));
      GST_CUDA_CONVOLVE_TELL (&self->choices_told, self, "plane %u%s%s: %s", layout->groups[i].plane,
          kind & GST_CUDA_CONVOLVE_SECOND_ROWS ? ", every second row" : "",
          kind & GST_CUDA_CONVOLVE_SECOND_COLUMNS ? ", every second column" : "", text);
    }
}

/* Logs that no component of the frames is chosen, once until the components or the format change. */
static void
warn_of_components (GstCudaConvolve *self, guint components)
{
  gchar *text = gst_cuda_convolve_components_explain (gst_cuda_convolve_engine_get_in (self->base.engine), components);

  if (text && g_strcmp0 (self->components_warning, text) != 0)
    GST_WARNING_OBJECT (self, "%s", text);
  g_free (self->components_warning);
  self->components_warning = text;
}

/* Logs that the caps do not say how samples stand for light, once until the caps change. */
static void
warn_of_transfer (GstCudaConvolve *self, const ConvolveProperties *properties)
{
  g_autofree gchar *colorimetry = gst_video_colorimetry_to_string (&get_info (self)->colorimetry);
  gboolean known;

  gst_cuda_convolve_light_transfer (get_info (self), &known);
  if (properties->light != CONVOLVE_LIGHT_MODE_LINEAR || known || self->transfer_told)
    return;
  GST_WARNING_OBJECT (self,
      "light: the colorimetry of the caps (%s) names no transfer function that is known; sRGB counts",
      colorimetry ? colorimetry : "none");
  self->transfer_told = TRUE;
}

/* Warns of bad settings, and tells what stays, once for each fault. */
static void
warn_of_settings (GstCudaConvolve *self, const gchar *text, const gchar *stays)
{
  if (!gst_cuda_convolve_settings_have_told (GST_ELEMENT (self), self->settings_warning, text))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", text), ("%s", stays));
  g_free (self->settings_warning);
  self->settings_warning = g_strdup (text);
}

/* --- the choice --- */

/* Takes properties as the good ones, and gives the work. */
static GstCudaConvolveWork *
keep_good (GstCudaConvolve *self, ConvolveProperties *properties)
{
  convolve_properties_ref (properties);
  g_clear_pointer (&self->good, convolve_properties_unref);
  self->good = properties;
  self->looked = FALSE;
  return self->inner;
}

/* The settings with the good regions and the good mask in the place of what is set, where told; to be unreferenced. */
static ConvolveProperties *
with_good (const GstCudaConvolve *self, ConvolveProperties *properties, gboolean regions, gboolean mask)
{
  ConvolveProperties *candidate;

  if (!regions && !mask)
    return convolve_properties_ref (properties);
  candidate = convolve_properties_copy (properties);
  if (regions)
    convolve_properties_take_regions (candidate, self->good);
  if (mask)
    convolve_properties_take_mask (candidate, self->good);
  return candidate;
}

/* Tries the settings as they are, then with the good regions, the good mask, and both. */
static GstCudaConvolveWork *
replace_plans (GstCudaConvolve *self, ConvolveProperties *properties, ConvolveError *error)
{
  static const struct
  {
    gboolean regions, mask;
    const gchar *stays;
  } good[] = { { FALSE, FALSE, NULL },
    { TRUE, FALSE, "The previous regions stay, with all that regions have. All other properties take effect." },
    { FALSE, TRUE,
        "The previous mask stays, with its size, bias, divisor, mix and flip. All other properties take effect." },
    { TRUE, TRUE,
        "The previous mask stays, with its size, bias, divisor, mix and flip, and so do the previous regions. All other "
        "properties take effect." } };
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (ConvolveProperties) candidate = NULL;
  g_autofree gchar *fault = NULL;
  Made made = { 0 };

  for (guint i = 0; i < (self->good ? G_N_ELEMENTS (good) : 1); i++) {
    g_clear_pointer (&candidate, convolve_properties_unref);
    candidate = with_good (self, properties, good[i].regions, good[i].mask);
    made = make (self, candidate, choose_device (self, candidate), error);
    if (made.plans || error->status != CONVOLVE_INVALID) {
      if (i == 0)
        g_clear_pointer (&self->settings_warning, g_free);
      else
        warn_of_settings (self, fault, good[i].stays);
      break;
    }
    if (i == 0)
      fault = g_strdup (error->text);
  }
  gst_cuda_convolve_lose_plans (self);
  if (!made.plans) {
    g_clear_pointer (&self->good, convolve_properties_unref);
    return NULL;
  }
  self->plans = made.plans;
  self->regions = made.regions;
  self->inner = made.inner;
  self->plans_fit = TRUE;
  warn_of_components (self, candidate->components);
  warn_of_transfer (self, candidate);
  tell_plans (self, g_get_monotonic_time () - begin);
  explain_choice (self, candidate);
  return keep_good (self, candidate);
}

/* Whether alpha weighs colours in the same way for both. */
static gboolean
weigh_alike (const ConvolveProperties *one, const ConvolveProperties *other)
{
  return gst_cuda_convolve_light_may_weigh (one) == gst_cuda_convolve_light_may_weigh (other)
      && convolve_region_settings_take_mask (&one->region) == convolve_region_settings_take_mask (&other->region);
}

/*
 * Where only the settings of regions changed, the plans stay, so that boxes can be set for every frame. NULL where
 * other settings changed, where the work moves to or from the device, or where the new settings are bad.
 */
static GstCudaConvolveWork *
update_regions (GstCudaConvolve *self, ConvolveProperties *properties)
{
  ConvolveError error;

  if (!self->regions || !self->plans_fit || !has_regions (properties)
      || !convolve_properties_are_equal_but_for_regions (properties, self->good)
      || choose_device (self, properties) != choose_device (self, self->good) || !weigh_alike (properties, self->good)
      || !new_boxes_touch (self, properties, &error)
      || !gst_cuda_convolve_regions_set (self->regions, self->detections, properties, &error))
    return NULL;
  self->inner->is_identity = GST_CUDA_CONVOLVE_WORK (self->regions)->is_identity;
  g_clear_pointer (&self->settings_warning, g_free);
  return keep_good (self, properties);
}

GstCudaConvolveWork *
gst_cuda_convolve_choose_work (GstCudaConvolve *self, ConvolveProperties *properties, ConvolveError *error)
{
  GstCudaConvolveWork *work;

  properties->region.effect = convolve_region_settings_effect (&properties->region);
  work = update_regions (self, properties);
  if (!work)
    work = replace_plans (self, properties, error);
  if (work)
    gst_cuda_convolve_stats_set_mask (self->base.stats, self->plans->mask_info);
  return work;
}

GstCudaConvolveWork *
gst_cuda_convolve_make_host_work (GstCudaConvolve *self)
{
  GstCudaConvolveWork *work = NULL;
  ConvolveError error;
  Made made;

  if (self->regions)
    return NULL;
  made = make (self, self->good, NULL, &error);
  if (made.inner)
    work = gst_cuda_convolve_work_ref (made.inner);
  unmake (&made);
  return work;
}
