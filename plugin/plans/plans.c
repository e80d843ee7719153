/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans/plans.h"

#include <math.h>

#include "plans/color.h"
#include "plans/components.h"
#include "enums.h"
#include "props.h"

struct _GstCudaConvolvePlans
{
  GstCudaConvolveLayout in, out;
  gboolean split; /* the groups of in are samples of one pixel */
  gint field_mode;
  guint iterations;
  guint8 *scratch; /* for iterations on the CPU, or NULL */
  /* Of each group of in, for each kind of rows that frames can have; otherwise NULL. */
  ConvolvePlan *group[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];
  ConvolvePlan *copy[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS]; /* where frames are cropped */
  GstCudaConvolveLayerPlan *layer;                                         /* instead of the groups, or NULL */
  GstCudaConvolveMaskInfo *mask_info;                                      /* of the first group, or NULL */
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

/* Where the variant that is set refused its work, the reason begins with that variant's name; names the property, too. */
static void
name_property (const gchar *variant, ConvolveError *error)
{
  gchar reason[sizeof (error->text)];

  if (error->status != CONVOLVE_UNSUPPORTED || !g_str_has_prefix (error->text, variant))
    return;
  g_strlcpy (reason, error->text, sizeof (reason));
  g_snprintf (error->text, sizeof (error->text), "kernel-variant: %s; auto takes a variant that can", reason);
}

/* Whether the mask shows edges without their sign: its values are 0 in flat areas, and never below. */
static gboolean
shows_bare_edges (const ConvolveMask *mask)
{
  for (gint k = 0; k < convolve_mask_sets (mask); k++) {
    const gdouble *taps = convolve_mask_taps (mask, k);
    gdouble sum = 0, magnitude = 0;

    for (gint i = 0; i < mask->width * mask->height; i++) {
      sum += taps[i];
      magnitude += fabs (taps[i]);
    }
    if (fabs (sum) > 1e-12 * magnitude)
      return FALSE;
  }
  return mask->combination != CONVOLVE_SUM;
}

static gboolean
has_luma (const GstCudaConvolveLayout *layout)
{
  for (guint i = 0; i < layout->n_groups; i++)
    if (gst_cuda_convolve_layout_has_luma (layout, i))
      return TRUE;
  return FALSE;
}

/*
 * Edges without a sign would move both colour differences one way, towards magenta. So beside luma they become white: a mask of
 * weights 0 makes chroma neutral. Who chooses chroma alone gets its edges.
 */
static gboolean
makes_neutral (const GstCudaConvolveLayout *layout, guint group, const ConvolveMask *mask)
{
  return gst_cuda_convolve_layout_has_chroma (layout, group) && has_luma (layout) && shows_bare_edges (mask);
}

/* As convolve_plan_new_sized (); a variant that cannot do this leaves it to another one where it runs, too. */
static ConvolvePlan *
make_or_leave (const GstCudaConvolveGroup *seen, const ConvolveProperties *properties, const ConvolveMask *mask,
    ConvolveDevice *device, gint64 area, ConvolveError *error)
{
  ConvolvePlan *plan = convolve_plan_new_sized (&seen->pixel, properties->boundary, mask,
      convolve_variant_nick (properties->variant), device, area, error);
  gboolean on_device = FALSE;

  if (plan || error->status != CONVOLVE_UNSUPPORTED)
    return plan;
  convolve_variant_is_for_masks (properties->variant, &on_device);
  return convolve_plan_new_sized (&seen->pixel, properties->boundary, mask, "auto", on_device ? device : NULL, area,
      error);
}

/* Makes the plan of a group, and mask_info where the group is the first. */
static ConvolveStatus
make_group (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, guint number, guint kind,
    ConvolveDevice *device, ConvolveError *error)
{
  gdouble zeros[9] = { 0 };
  const ConvolveMask nothing = { .width = 3, .height = 3, .divisor = 1, .taps = zeros };
  const gchar *variant = variant_name (properties, FALSE, error);
  const GstCudaConvolveLayout *layout = &plans->in;
  const GstCudaConvolveGroup *group = &layout->groups[number];
  const gint64 area = (gint64) group->width * group->height;
  GstCudaConvolveGroup seen = gst_cuda_convolve_windows_group (group, kind);
  ConvolvePlan **plan = &plans->group[kind][number];
  GError *bad = NULL;
  ConvolveMask mask;

  if (!variant)
    return error->status;
  if (!convolve_settings_make_mask (&properties->mask, seen.x_step, seen.y_step, &mask, &bad)) {
    gboolean memory = g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY);

    *error = (ConvolveError){ .status = memory ? CONVOLVE_NO_MEMORY : CONVOLVE_INVALID };
    g_strlcpy (error->text, bad->message, sizeof (error->text));
    g_error_free (bad);
    return error->status;
  }
  gst_cuda_convolve_color_values (layout, group, properties->boundary_color, seen.pixel.outside);
  if (makes_neutral (layout, number, &mask))
    *plan = make_or_leave (&seen, properties, &nothing, device, area, error);
  else if (plans->split)
    *plan = make_or_leave (&seen, properties, &mask, device, area, error);
  else
    *plan = convolve_plan_new_sized (&seen.pixel, properties->boundary, &mask, variant, device, area, error);
  if (*plan && number == 0 && !plans->mask_info)
    plans->mask_info = gst_cuda_convolve_mask_info_new (&mask, convolve_plan_is_exact (*plan));
  else
    convolve_mask_clear (&mask);
  if (!*plan)
    name_property (variant, error);
  return *plan ? CONVOLVE_OK : error->status;
}

/* A plan that copies every bit of a group, on the device or on the CPU as told. */
static ConvolveStatus
make_copy (ConvolvePlan **plan, const GstCudaConvolveGroup *group, guint kind, ConvolveDevice *device,
    ConvolveError *error)
{
  ConvolvePixel pixel = gst_cuda_convolve_windows_group (group, kind).pixel;
  gdouble one = 1;
  ConvolveMask mask = { .width = 1, .height = 1, .divisor = 1, .taps = &one };

  pixel.select = pixel.biased = 0;
  *plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "auto", device, error);
  return *plan ? CONVOLVE_OK : error->status;
}

static void
clear_list (ConvolvePlan **list)
{
  for (guint i = 0; i < GST_VIDEO_MAX_COMPONENTS; i++) {
    convolve_plan_unref (list[i]);
    list[i] = NULL;
  }
}

static void
clear_groups (GstCudaConvolvePlans *plans)
{
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++) {
    clear_list (plans->group[kind]);
    clear_list (plans->copy[kind]);
  }
  g_clear_pointer (&plans->mask_info, gst_cuda_convolve_mask_info_unref);
}

/* How many of the plans there are, and how many run on the device. */
static guint
count_plans (const GstCudaConvolvePlans *plans, guint *on_device)
{
  guint count = 0;

  *on_device = 0;
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->in.n_groups; i++)
      if (plans->group[kind][i]) {
        count++;
        *on_device += convolve_plan_on_device (plans->group[kind][i]);
      }
  return count;
}

static ConvolveStatus
make_copies (GstCudaConvolvePlans *plans, ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->in.n_groups && plans->in.cropped && status == CONVOLVE_OK; i++)
      if (plans->group[kind][i])
        status = make_copy (&plans->copy[kind][i], &plans->in.groups[i], kind, device, error);
  return status;
}

static ConvolveStatus
make_groups (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, ConvolveDevice *device,
    ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;
  guint on_device;

  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->in.n_groups && status == CONVOLVE_OK
         && gst_cuda_convolve_windows_have_kind (&plans->in.info, properties->field_mode, kind);
         i++) {
      status = make_group (plans, properties, i, kind, device, error);
      if (status == CONVOLVE_OK)
        gst_cuda_convolve_mask_info_add_plan (plans->mask_info, plans->group[kind][i]);
    }
  count_plans (plans, &on_device);
  return status == CONVOLVE_OK ? make_copies (plans, on_device > 0 ? device : NULL, error) : status;
}

static ConvolveStatus
make_layer (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, const GstCudaConvolveLayer *layer,
    ConvolveDevice *device, ConvolveError *error)
{
  const gchar *variant = variant_name (properties, TRUE, error);

  if (variant)
    plans->layer = gst_cuda_convolve_layer_plan_new (layer, &plans->in, &plans->out, variant, device, error);
  if (variant && !plans->layer)
    name_property (variant, error);
  return plans->layer ? CONVOLVE_OK : error->status;
}

/* Makes room for what lies between two iterations. On the device a stage has that. */
static ConvolveStatus
make_scratch (GstCudaConvolvePlans *plans, ConvolveError *error)
{
  gsize bytes = 0;

  if (plans->iterations == 1 || plans->layer || gst_cuda_convolve_plans_are_on_device (plans))
    return CONVOLVE_OK;
  for (guint i = 0; i < plans->in.n_planes; i++) {
    const GstCudaConvolvePlane *plane = &plans->in.planes[i];

    bytes = MAX (bytes, plane->row_bytes * gst_cuda_convolve_windows_most_rows (plane));
  }
  plans->scratch = g_try_malloc (bytes);
  if (plans->scratch)
    return CONVOLVE_OK;
  *error = (ConvolveError){ .status = CONVOLVE_NO_MEMORY };
  g_snprintf (error->text, sizeof (error->text), "no memory for %" G_GSIZE_FORMAT " bytes between iterations", bytes);
  return CONVOLVE_NO_MEMORY;
}

/* Chooses what is convolved, and splits pixels where luma and chroma of one pixel get different masks. */
static void
choose_samples (GstCudaConvolvePlans *plans, const ConvolveProperties *properties)
{
  GstCudaConvolveLayout *layout = &plans->in;
  ConvolveMask mask;

  gst_cuda_convolve_components_choose (layout, properties->components);
  if (!gst_cuda_convolve_layout_has_luma (layout, 0) || !gst_cuda_convolve_layout_has_chroma (layout, 0)
      || !convolve_settings_make_mask (&properties->mask, 1, 1, &mask, NULL))
    return;
  plans->split = shows_bare_edges (&mask);
  if (plans->split)
    gst_cuda_convolve_layout_split (layout);
  convolve_mask_clear (&mask);
}

GstCudaConvolvePlans *
gst_cuda_convolve_plans_new (const ConvolveProperties *properties, const GstCudaConvolveLayer *layer,
    const GstCudaConvolveLayout *in, const GstCudaConvolveLayout *out, ConvolveDevice *device, ConvolveError *error)
{
  GstCudaConvolvePlans *plans = g_atomic_rc_box_new0 (GstCudaConvolvePlans);
  ConvolveStatus status;

  plans->in = *in;
  plans->out = *out;
  plans->field_mode = properties->field_mode;
  plans->iterations = properties->iterations;
  if (!layer)
    choose_samples (plans, properties);
  if (layer)
    status = make_layer (plans, properties, layer, device, error);
  else
    status = make_groups (plans, properties, device, error);
  if (status == CONVOLVE_OK)
    status = make_scratch (plans, error);
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
  g_free (plans->scratch);
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
gst_cuda_convolve_plans_group (const GstCudaConvolvePlans *plans, guint kind, guint group)
{
  return plans->group[kind][group];
}

const ConvolvePlan *
gst_cuda_convolve_plans_copy (const GstCudaConvolvePlans *plans, guint kind, guint group)
{
  return plans->copy[kind][group];
}

guint
gst_cuda_convolve_plans_iterations (const GstCudaConvolvePlans *plans)
{
  return plans->iterations;
}

guint8 *
gst_cuda_convolve_plans_scratch (const GstCudaConvolvePlans *plans)
{
  return plans->scratch;
}

gint
gst_cuda_convolve_plans_field_mode (const GstCudaConvolvePlans *plans)
{
  return plans->field_mode;
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
  guint on_device;

  if (plans->layer)
    return gst_cuda_convolve_layer_plan_is_on_device (plans->layer);
  count_plans (plans, &on_device);
  return on_device > 0;
}

gboolean
gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans *plans)
{
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS && !plans->layer; kind++)
    for (guint i = 0; i < plans->in.n_groups; i++)
      if (plans->group[kind][i] && !convolve_plan_is_identity (plans->group[kind][i]))
        return FALSE;
  return plans->layer == NULL;
}

/* Adds a variant's name where the list does not have it. */
static void
add_name (GPtrArray *names, const gchar *name)
{
  if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    g_ptr_array_add (names, (gpointer) name);
}

const gchar *
gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans *plans)
{
  g_autoptr (GPtrArray) names = NULL;
  g_autofree gchar *text = NULL;

  if (plans->layer)
    return g_intern_string (gst_cuda_convolve_layer_plan_variant (plans->layer));
  names = g_ptr_array_new ();
  /* Groups that are only copied count where there are no others. */
  for (guint copied = 0; copied < 2 && names->len == 0; copied++)
    for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
      for (guint i = 0; i < plans->in.n_groups; i++)
        if (plans->group[kind][i] && (copied || plans->in.groups[i].pixel.select != 0))
          add_name (names, convolve_plan_variant (plans->group[kind][i]));
  g_ptr_array_add (names, NULL);
  text = g_strjoinv (",", (gchar **) names->pdata);
  return g_intern_string (text);
}

static void
set_pool_of (ConvolvePlan *const *list, ConvolvePool *pool)
{
  for (guint i = 0; i < GST_VIDEO_MAX_COMPONENTS; i++)
    if (list[i])
      convolve_plan_set_pool (list[i], pool);
}

void
gst_cuda_convolve_plans_set_pool (GstCudaConvolvePlans *plans, ConvolvePool *pool)
{
  if (plans->layer)
    gst_cuda_convolve_layer_plan_set_pool (plans->layer, pool);
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++) {
    set_pool_of (plans->group[kind], pool);
    set_pool_of (plans->copy[kind], pool);
  }
}
