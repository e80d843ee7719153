/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans.h"

#include "color.h"
#include "components.h"
#include "enums.h"
#include "props.h"

struct _GstCudaConvolvePlans
{
  GstCudaConvolveLayout in, out;
  ConvolvePlan *group[GST_VIDEO_MAX_COMPONENTS]; /* of each group of in; NULL after the last */
  GstCudaConvolveLayerPlan *layer;               /* instead of the groups, or NULL */
  GstCudaConvolveMaskInfo *mask_info;            /* of the first group, or NULL */
};

/* The name of the variant that is set, where that one is for masks, or for layers; otherwise NULL with error filled. */
static const gchar *
variant_name (const ConvolveProperties *properties, gboolean for_layer, ConvolveError *error)
{
  const gchar *name = convolve_variant_nick (properties->variant);
  gboolean on_device;

  if (properties->variant == CONVOLVE_VARIANT_AUTO
      || (for_layer ? convolve_variant_is_for_layers (properties->variant, &on_device)
                    : convolve_variant_is_for_masks (properties->variant, &on_device)))
    return name;
  *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED };
  g_snprintf (error->text, sizeof (error->text), "kernel-variant: %s computes %s, and a %s is set", name,
      for_layer ? "masks" : "layers", for_layer ? "layer" : "mask");
  return NULL;
}

/* Makes the plan. Where mask_info is not NULL and the plan was made, *mask_info is the mask. */
static ConvolveStatus
make_group (ConvolvePlan **plan, GstCudaConvolveMaskInfo **mask_info, const ConvolveProperties *properties,
    const GstCudaConvolveLayout *layout, guint number, ConvolveDevice *device, ConvolveError *error)
{
  const gchar *variant = variant_name (properties, FALSE, error);
  const GstCudaConvolveGroup *group = &layout->groups[number];
  ConvolvePixel pixel = group->pixel;
  GError *bad = NULL;
  ConvolveMask mask;

  if (!variant)
    return error->status;
  if (!convolve_settings_make_mask (&properties->mask, group->x_step, group->y_step, &mask, &bad)) {
    gboolean memory = g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY);

    *error = (ConvolveError){ .status = memory ? CONVOLVE_NO_MEMORY : CONVOLVE_INVALID };
    g_strlcpy (error->text, bad->message, sizeof (error->text));
    g_error_free (bad);
    return error->status;
  }
  gst_cuda_convolve_color_values (layout, group, properties->boundary_color, pixel.outside);
  *plan = convolve_plan_new_sized (&pixel, properties->boundary, &mask, variant, device,
      (gint64) group->width * group->height, error);
  if (*plan && mask_info)
    *mask_info = gst_cuda_convolve_mask_info_new (&mask, convolve_plan_is_exact (*plan));
  else
    convolve_mask_clear (&mask);
  return *plan ? CONVOLVE_OK : error->status;
}

static void
clear_groups (GstCudaConvolvePlans *plans)
{
  for (guint i = 0; i < G_N_ELEMENTS (plans->group); i++) {
    convolve_plan_unref (plans->group[i]);
    plans->group[i] = NULL;
  }
  g_clear_pointer (&plans->mask_info, gst_cuda_convolve_mask_info_unref);
}

static ConvolveStatus
make_groups (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, ConvolveDevice *device,
    ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;
  guint on_device = 0;

  for (guint i = 0; i < plans->in.n_groups && status == CONVOLVE_OK; i++) {
    status = make_group (&plans->group[i], i == 0 ? &plans->mask_info : NULL, properties, &plans->in, i, device, error);
    on_device += status == CONVOLVE_OK && convolve_plan_on_device (plans->group[i]);
  }
  /*
   * All planes of a frame are convolved in one place: where auto takes the CPU for one plane, the CPU has all planes.
   */
  if (status == CONVOLVE_OK && on_device > 0 && on_device < plans->in.n_groups) {
    clear_groups (plans);
    return make_groups (plans, properties, NULL, error);
  }
  return status;
}

static ConvolveStatus
make_layer (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, const GstCudaConvolveLayer *layer,
    ConvolveDevice *device, ConvolveError *error)
{
  const gchar *variant = variant_name (properties, TRUE, error);

  if (variant)
    plans->layer = gst_cuda_convolve_layer_plan_new (layer, &plans->in, &plans->out, variant, device, error);
  return plans->layer ? CONVOLVE_OK : error->status;
}

GstCudaConvolvePlans *
gst_cuda_convolve_plans_new (const ConvolveProperties *properties, const GstCudaConvolveLayer *layer,
    const GstCudaConvolveLayout *in, const GstCudaConvolveLayout *out, ConvolveDevice *device, ConvolveError *error)
{
  GstCudaConvolvePlans *plans = g_atomic_rc_box_new0 (GstCudaConvolvePlans);
  ConvolveStatus status;

  plans->in = *in;
  plans->out = *out;
  if (!layer)
    gst_cuda_convolve_components_choose (&plans->in, properties->components);
  if (layer)
    status = make_layer (plans, properties, layer, device, error);
  else
    status = make_groups (plans, properties, device, error);
  if (status != CONVOLVE_OK)
    g_clear_pointer (&plans, gst_cuda_convolve_plans_unref);
  return plans;
}

static void
clear_plans (gpointer data)
{
  GstCudaConvolvePlans *plans = data;

  clear_groups (plans);
  g_clear_pointer (&plans->layer, gst_cuda_convolve_layer_plan_free);
}

GstCudaConvolvePlans *
gst_cuda_convolve_plans_ref (GstCudaConvolvePlans *plans)
{
  return g_atomic_rc_box_acquire (plans);
}

void
gst_cuda_convolve_plans_unref (GstCudaConvolvePlans *plans)
{
  g_atomic_rc_box_release_full (plans, clear_plans);
}

const GstCudaConvolveLayout *
gst_cuda_convolve_plans_in (const GstCudaConvolvePlans *plans)
{
  return &plans->in;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_plans_out (const GstCudaConvolvePlans *plans)
{
  return &plans->out;
}

const ConvolvePlan *
gst_cuda_convolve_plans_group (const GstCudaConvolvePlans *plans, guint group)
{
  return plans->group[group];
}

const GstCudaConvolveLayerPlan *
gst_cuda_convolve_plans_layer (const GstCudaConvolvePlans *plans)
{
  return plans->layer;
}

GstCudaConvolveMaskInfo *
gst_cuda_convolve_plans_mask_info (const GstCudaConvolvePlans *plans)
{
  return plans->mask_info;
}

gboolean
gst_cuda_convolve_plans_are_on_device (const GstCudaConvolvePlans *plans)
{
  return plans->layer ? gst_cuda_convolve_layer_plan_is_on_device (plans->layer)
                      : convolve_plan_on_device (plans->group[0]);
}

gboolean
gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans *plans)
{
  for (guint i = 0; i < plans->in.n_groups && !plans->layer; i++)
    if (!convolve_plan_is_identity (plans->group[i]))
      return FALSE;
  return plans->layer == NULL;
}

const gchar *
gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans *plans)
{
  GString *names;
  const gchar *interned;

  if (plans->layer)
    return g_intern_string (gst_cuda_convolve_layer_plan_variant (plans->layer));
  names = g_string_new (NULL);
  for (guint i = 0; i < plans->in.n_groups; i++) {
    const gchar *name = convolve_plan_variant (plans->group[i]);
    gboolean known = plans->in.groups[i].pixel.select == 0; /* it only copies */

    for (guint k = 0; k < i; k++)
      known |= g_str_equal (name, convolve_plan_variant (plans->group[k]));
    if (!known)
      g_string_append_printf (names, "%s%s", names->len ? "," : "", name);
  }
  if (names->len == 0)
    g_string_append (names, convolve_plan_variant (plans->group[0]));
  interned = g_intern_string (names->str);
  g_string_free (names, TRUE);
  return interned;
}

void
gst_cuda_convolve_plans_set_pool (GstCudaConvolvePlans *plans, ConvolvePool *pool)
{
  if (plans->layer)
    gst_cuda_convolve_layer_plan_set_pool (plans->layer, pool);
  for (guint i = 0; i < G_N_ELEMENTS (plans->group); i++)
    if (plans->group[i])
      convolve_plan_set_pool (plans->group[i], pool);
}
