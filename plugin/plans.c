/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans.h"

#include "enums.h"

/* The variant's name, where it is one for masks, or for layers; otherwise NULL with error filled. */
static const gchar *
variant_name (const ConvolveProperties *settings, gboolean for_layer, ConvolveError *error)
{
  const gchar *name = convolve_variant_nick (settings->variant);
  gboolean on_device;

  if (settings->variant == CONVOLVE_VARIANT_AUTO
      || (for_layer ? convolve_variant_is_for_layers (settings->variant, &on_device)
                    : convolve_variant_is_for_masks (settings->variant, &on_device)))
    return name;
  *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED };
  g_snprintf (error->text, sizeof (error->text), "kernel-variant: %s does %s, and this is a %s", name,
      for_layer ? "masks" : "layers", for_layer ? "layer" : "mask");
  return NULL;
}

static ConvolveStatus
make_plan (ConvolvePlan **plan, const ConvolveProperties *settings, const GstCudaConvolveStep *step,
    ConvolveDevice *device, ConvolveError *error)
{
  const gchar *variant = variant_name (settings, FALSE, error);
  GError *bad = NULL;
  ConvolveMask mask;

  if (!variant)
    return error->status;
  if (!convolve_settings_make_mask (&settings->mask, step->x_step, step->y_step, &mask, &bad)) {
    gboolean memory = g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY);

    *error = (ConvolveError){ .status = memory ? CONVOLVE_NO_MEMORY : CONVOLVE_INVALID };
    g_strlcpy (error->text, bad->message, sizeof (error->text));
    g_error_free (bad);
    return error->status;
  }
  *plan = convolve_plan_new_sized (&step->pixel, settings->boundary, &mask, variant, device,
      (gint64) step->width * step->height, error);
  convolve_mask_clear (&mask);
  return *plan ? CONVOLVE_OK : error->status;
}

ConvolveStatus
gst_cuda_convolve_plans_init (GstCudaConvolvePlans *plans, const ConvolveProperties *settings,
    const GstCudaConvolveLayout *layout, ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;
  guint on_device = 0;

  *plans = (GstCudaConvolvePlans){ 0 };
  for (guint i = 0; i < layout->n_steps && status == CONVOLVE_OK; i++) {
    status = make_plan (&plans->plan[i], settings, &layout->steps[i], device, error);
    on_device += status == CONVOLVE_OK && convolve_plan_on_device (plans->plan[i]);
  }
  if (status != CONVOLVE_OK) {
    gst_cuda_convolve_plans_clear (plans);
    return status;
  }
  /* A frame is on the device or it is not: where auto wants the CPU for one plane, all go there. */
  if (on_device > 0 && on_device < layout->n_steps) {
    gst_cuda_convolve_plans_clear (plans);
    return gst_cuda_convolve_plans_init (plans, settings, layout, NULL, error);
  }
  return CONVOLVE_OK;
}

ConvolveStatus
gst_cuda_convolve_plans_init_layer (GstCudaConvolvePlans *plans, const ConvolveProperties *settings,
    const GstCudaConvolveLayer *layer, const GstVideoInfo *in, const GstVideoInfo *out, ConvolveDevice *device,
    ConvolveError *error)
{
  const gchar *variant = variant_name (settings, TRUE, error);

  *plans = (GstCudaConvolvePlans){ 0 };
  if (variant)
    plans->layer = gst_cuda_convolve_layer_plan_new (layer, in, out, variant, device, error);
  return plans->layer ? CONVOLVE_OK : error->status;
}

void
gst_cuda_convolve_plans_ref (GstCudaConvolvePlans *to, const GstCudaConvolvePlans *from)
{
  for (guint i = 0; i < G_N_ELEMENTS (to->plan); i++)
    to->plan[i] = from->plan[i] ? convolve_plan_ref (from->plan[i]) : NULL;
  to->layer = from->layer ? gst_cuda_convolve_layer_plan_ref (from->layer) : NULL;
}

void
gst_cuda_convolve_plans_clear (GstCudaConvolvePlans *plans)
{
  for (guint i = 0; i < G_N_ELEMENTS (plans->plan); i++) {
    convolve_plan_unref (plans->plan[i]);
    plans->plan[i] = NULL;
  }
  g_clear_pointer (&plans->layer, gst_cuda_convolve_layer_plan_unref);
}

gboolean
gst_cuda_convolve_plans_exist (const GstCudaConvolvePlans *plans)
{
  return plans->plan[0] || plans->layer;
}

gboolean
gst_cuda_convolve_plans_are_on_device (const GstCudaConvolvePlans *plans)
{
  return plans->layer ? convolve_layer_plan_on_device (plans->layer->plan)
                      : plans->plan[0] && convolve_plan_on_device (plans->plan[0]);
}

void
gst_cuda_convolve_plans_set_pool (GstCudaConvolvePlans *plans, ConvolvePool *pool)
{
  if (plans->layer)
    convolve_layer_plan_set_pool (plans->layer->plan, pool);
  for (guint i = 0; i < G_N_ELEMENTS (plans->plan); i++)
    if (plans->plan[i])
      convolve_plan_set_pool (plans->plan[i], pool);
}

gboolean
gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans *plans)
{
  for (guint i = 0; i < G_N_ELEMENTS (plans->plan); i++)
    if (plans->plan[i] && !convolve_plan_is_identity (plans->plan[i]))
      return FALSE;
  return plans->layer == NULL;
}

const gchar *
gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans *plans, const GstCudaConvolveLayout *layout)
{
  GString *names;
  const gchar *interned;

  if (plans->layer)
    return g_intern_string (convolve_layer_plan_variant (plans->layer->plan));
  names = g_string_new (NULL);
  for (guint i = 0; i < layout->n_steps; i++) {
    const gchar *name = convolve_plan_variant (plans->plan[i]);
    gboolean known = layout->steps[i].pixel.select == 0; /* alpha is only copied */

    for (guint k = 0; k < i; k++)
      known |= g_str_equal (name, convolve_plan_variant (plans->plan[k]));
    if (!known)
      g_string_append_printf (names, "%s%s", names->len ? "," : "", name);
  }
  interned = g_intern_string (names->str);
  g_string_free (names, TRUE);
  return interned;
}
