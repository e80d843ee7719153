/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans.h"

void
gst_cuda_convolve_settings_init (GstCudaConvolveSettings * settings)
{
  convolve_settings_init (&settings->mask);
  settings->boundary = CONVOLVE_BOUNDARY_REPLICATE;
  settings->variant = CONVOLVE_VARIANT_AUTO;
  settings->device_id = -1;
  settings->frames_in_flight = 1;
}

void
gst_cuda_convolve_settings_copy (GstCudaConvolveSettings * to, const GstCudaConvolveSettings * from)
{
  *to = *from;
  convolve_settings_copy (&to->mask, &from->mask);
}

void
gst_cuda_convolve_settings_clear (GstCudaConvolveSettings * settings)
{
  convolve_settings_clear (&settings->mask);
}

gboolean
gst_cuda_convolve_settings_want_device (const GstCudaConvolveSettings * settings)
{
  return settings->variant == CONVOLVE_VARIANT_AUTO || convolve_variant_on_device (settings->variant - 1);
}

gboolean
gst_cuda_convolve_settings_need_device (const GstCudaConvolveSettings * settings)
{
  return gst_cuda_convolve_settings_want_device (settings)
      && (settings->variant != CONVOLVE_VARIANT_AUTO || settings->device_id >= 0);
}

static ConvolveStatus
make_plan (ConvolvePlan ** plan, const GstCudaConvolveSettings * settings, const GstCudaConvolveStep * step,
    ConvolveDevice * device, ConvolveError * error)
{
  gboolean automatic = settings->variant == CONVOLVE_VARIANT_AUTO;
  GError *bad = NULL;
  ConvolveMask mask;

  if (!convolve_settings_make_mask (&settings->mask, step->x_step, step->y_step, &mask, &bad)) {
    gboolean memory = g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY);

    *error = (ConvolveError) {.status = memory ? CONVOLVE_NO_MEMORY : CONVOLVE_INVALID };
    g_strlcpy (error->text, bad->message, sizeof (error->text));
    g_error_free (bad);
    return error->status;
  }
  *plan = convolve_plan_new (&step->pixel, settings->boundary, &mask,
      automatic ? "auto" : convolve_variant_name (settings->variant - 1), device, error);
  convolve_mask_clear (&mask);
  return *plan ? CONVOLVE_OK : error->status;
}

ConvolveStatus
gst_cuda_convolve_plans_init (GstCudaConvolvePlans * plans, const GstCudaConvolveSettings * settings,
    const GstCudaConvolveLayout * layout, ConvolveDevice * device, ConvolveError * error)
{
  ConvolveStatus status = CONVOLVE_OK;
  guint on_device = 0;

  *plans = (GstCudaConvolvePlans) { 0 };
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

void
gst_cuda_convolve_plans_ref (GstCudaConvolvePlans * to, const GstCudaConvolvePlans * from)
{
  for (guint i = 0; i < G_N_ELEMENTS (to->plan); i++)
    to->plan[i] = from->plan[i] ? convolve_plan_ref (from->plan[i]) : NULL;
}

void
gst_cuda_convolve_plans_clear (GstCudaConvolvePlans * plans)
{
  for (guint i = 0; i < G_N_ELEMENTS (plans->plan); i++) {
    convolve_plan_unref (plans->plan[i]);
    plans->plan[i] = NULL;
  }
}

gboolean
gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans * plans)
{
  for (guint i = 0; i < G_N_ELEMENTS (plans->plan); i++)
    if (plans->plan[i] && !convolve_plan_is_identity (plans->plan[i]))
      return FALSE;
  return TRUE;
}

const gchar *
gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans * plans, const GstCudaConvolveLayout * layout)
{
  GString *names = g_string_new (NULL);
  const gchar *interned;

  for (guint i = 0; i < layout->n_steps; i++) {
    const gchar *name = convolve_plan_variant (plans->plan[i]);
    gboolean known = layout->steps[i].pixel.select == 0;        /* alpha is only copied */

    for (guint k = 0; k < i; k++)
      known |= g_str_equal (name, convolve_plan_variant (plans->plan[k]));
    if (!known)
      g_string_append_printf (names, "%s%s", names->len ? "," : "", name);
  }
  interned = g_intern_string (names->str);
  g_string_free (names, TRUE);
  return interned;
}
