/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans/plans.h"

#include <math.h>

#include "plans/color.h"
#include "plans/components.h"
#include "properties/enums.h"
#include "masks/masks.h"

/* Whether the mask shows edges without their sign: its values are 0 in flat areas, and never below. */
static gboolean
shows_bare_edges (const ConvolveMask *mask)
{
  if (mask->combination == CONVOLVE_GAUSSIAN)
    return FALSE;
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
  const gchar *variant = convolve_properties_variant_name (properties);
  ConvolvePlan *plan = convolve_plan_new_sized (&seen->pixel, properties->boundary, mask, variant, device, area, error);

  if (plan || error->status != CONVOLVE_UNSUPPORTED)
    return plan;
  return convolve_plan_new_sized (&seen->pixel, properties->boundary, mask, "auto",
      convolve_variant_is_on_device (variant) ? device : NULL, area, error);
}

/* The mask for a group, or NULL. */
static const ConvolveMask *
get_mask (ConvolveMasks *masks, guint x_step, guint y_step, ConvolveError *error)
{
  g_autoptr (GError) bad = NULL;
  const ConvolveMask *mask = convolve_masks_get (masks, x_step, y_step, &bad);
  gboolean memory = g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY);

  if (!mask) {
    *error = (ConvolveError){ .status = memory ? CONVOLVE_NO_MEMORY : CONVOLVE_INVALID };
    g_strlcpy (error->text, bad->message, sizeof (error->text));
  }
  return mask;
}

/* Makes the plan of a group, and mask_info where the group is the first. */
static ConvolveStatus
make_group (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, ConvolveMasks *masks, guint number,
    guint kind, ConvolveDevice *device, ConvolveError *error)
{
  gdouble zeros[9] = { 0 };
  const ConvolveMask nothing = { .width = 3, .height = 3, .divisor = 1, .taps = zeros };
  const gchar *variant = convolve_properties_variant_name (properties);
  const GstCudaConvolveLayout *layout = &plans->work.in;
  const GstCudaConvolveGroup *group = &layout->groups[number];
  const gint64 area = (gint64) group->width * group->height;
  GstCudaConvolveGroup seen = gst_cuda_convolve_windows_group (group, kind);
  ConvolvePlan **plan = &plans->group[kind][number];
  const ConvolveMask *mask = get_mask (masks, seen.x_step, seen.y_step, error);

  if (!mask)
    return error->status;
  gst_cuda_convolve_color_values (layout, group, properties->boundary_color, seen.pixel.outside);
  if (makes_neutral (layout, number, mask))
    *plan = make_or_leave (&seen, properties, &nothing, device, area, error);
  else if (plans->split || layout->weighed)
    *plan = make_or_leave (&seen, properties, mask, device, area, error);
  else
    *plan = convolve_plan_new_sized (&seen.pixel, properties->boundary, mask, variant, device, area, error);
  if (*plan && number == 0 && !plans->mask_info)
    plans->mask_info = gst_cuda_convolve_mask_info_new (mask, convolve_plan_is_exact (*plan));
  if (!*plan)
    gst_cuda_convolve_work_name_variant (variant, error);
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

/* Whether a plan runs on the device; then all do, but for those that leave a group as it is. */
static gboolean
is_any_on_device (const GstCudaConvolvePlans *plans)
{
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->work.in.n_groups; i++)
      if (plans->group[kind][i] && convolve_plan_on_device (plans->group[kind][i]))
        return TRUE;
  return FALSE;
}

static ConvolveStatus
make_copies (GstCudaConvolvePlans *plans, ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->work.in.n_groups && plans->work.in.cropped && status == CONVOLVE_OK; i++)
      if (plans->group[kind][i])
        status = make_copy (&plans->copy[kind][i], &plans->work.in.groups[i], kind, device, error);
  return status;
}

static ConvolveStatus
make_groups (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, ConvolveMasks *masks,
    ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->work.in.n_groups && status == CONVOLVE_OK
         && gst_cuda_convolve_windows_have_kind (&plans->work.in.info, properties->field_mode, kind);
         i++) {
      status = make_group (plans, properties, masks, i, kind, device, error);
      if (status == CONVOLVE_OK)
        gst_cuda_convolve_mask_info_add_plan (plans->mask_info, plans->group[kind][i]);
    }
  plans->work.device = is_any_on_device (plans) ? device : NULL;
  return status == CONVOLVE_OK ? make_copies (plans, plans->work.device, error) : status;
}

/* Makes room for what lies between two iterations. On the device a stage has that. */
static ConvolveStatus
make_scratch (GstCudaConvolvePlans *plans, ConvolveError *error)
{
  gsize bytes = 0;

  if (plans->iterations == 1 || plans->work.device)
    return CONVOLVE_OK;
  for (guint i = 0; i < plans->work.in.n_planes; i++) {
    const GstCudaConvolvePlane *plane = &plans->work.in.planes[i];

    bytes = MAX (bytes, plane->row_bytes * gst_cuda_convolve_windows_most_rows (plane));
  }
  plans->scratch = g_try_malloc (bytes);
  if (plans->scratch)
    return CONVOLVE_OK;
  *error = (ConvolveError){ .status = CONVOLVE_NO_MEMORY };
  g_snprintf (error->text, sizeof (error->text), "no memory for %" G_GSIZE_FORMAT " bytes between iterations", bytes);
  return CONVOLVE_NO_MEMORY;
}

/* Whether the mask is a mean: its weights add up to the divisor. */
static gboolean
is_mean (const ConvolveMask *mask)
{
  gdouble sum = 0;

  for (gint i = 0; i < mask->width * mask->height; i++)
    sum += mask->taps[i];
  return mask->combination == CONVOLVE_SUM && fabs (sum / mask->divisor - 1) < 1e-9;
}

/*
 * Whether alpha is convolved, which components does not say. Alpha that weighs colours goes with them through effects of regions, and
 * through masks that are means. Others, as of edges, would make an opaque picture invisible, and leave alpha.
 */
static gboolean
alpha_goes_along (const GstCudaConvolveLayout *layout, const ConvolveProperties *properties, const ConvolveMask *mask)
{
  return properties->alpha == CONVOLVE_ALPHA_MODE_CONVOLVE
      || (layout->weighed && (!convolve_region_settings_take_mask (&properties->region) || is_mean (mask)));
}

/* Chooses what is convolved, and splits pixels where luma and chroma of one pixel get different masks. */
static ConvolveStatus
choose_samples (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, ConvolveMasks *masks,
    ConvolveError *error)
{
  GstCudaConvolveLayout *layout = &plans->work.in;
  const ConvolveMask *mask = get_mask (masks, 1, 1, error);
  guint components = properties->components;

  if (!mask)
    return error->status;
  if (alpha_goes_along (layout, properties, mask))
    components |= CONVOLVE_COMPONENT_A;
  gst_cuda_convolve_components_choose (layout, components);
  plans->split = gst_cuda_convolve_layout_has_luma (layout, 0) && gst_cuda_convolve_layout_has_chroma (layout, 0)
      && shows_bare_edges (mask);
  if (plans->split)
    gst_cuda_convolve_layout_split (layout);
  return CONVOLVE_OK;
}

static gboolean
are_identity (const GstCudaConvolvePlans *plans)
{
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < plans->work.in.n_groups; i++)
      if (plans->group[kind][i] && !convolve_plan_is_identity (plans->group[kind][i]))
        return FALSE;
  return TRUE;
}

/* Adds a variant's name where the list does not have it. */
static void
add_name (GPtrArray *names, const gchar *name)
{
  if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    g_ptr_array_add (names, (gpointer) name);
}

/* The variants in use, interned. */
static const gchar *
name_variants (const GstCudaConvolvePlans *plans)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree gchar *text = NULL;

  /* Groups that are only copied count where there are no others. */
  for (guint copied = 0; copied < 2 && names->len == 0; copied++)
    for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
      for (guint i = 0; i < plans->work.in.n_groups; i++)
        if (plans->group[kind][i] && (copied || plans->work.in.groups[i].pixel.select != 0))
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
gst_cuda_convolve_plans_set_pool (GstCudaConvolveWork *work, ConvolvePool *pool)
{
  GstCudaConvolvePlans *plans = (GstCudaConvolvePlans *) work;

  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++) {
    set_pool_of (plans->group[kind], pool);
    set_pool_of (plans->copy[kind], pool);
  }
}

void
gst_cuda_convolve_plans_clear (gpointer data)
{
  GstCudaConvolvePlans *plans = data;

  clear_groups (plans);
  g_free (plans->scratch);
}

ConvolveStatus
gst_cuda_convolve_plans_make (GstCudaConvolvePlans *plans, const ConvolveProperties *properties, ConvolveDevice *device,
    ConvolveError *error)
{
  ConvolveStatus status;
  ConvolveMasks masks;

  plans->field_mode = properties->field_mode;
  plans->iterations = properties->iterations;
  convolve_masks_init (&masks, &properties->mask);
  status = choose_samples (plans, properties, &masks, error);
  if (status == CONVOLVE_OK)
    status = make_groups (plans, properties, &masks, device, error);
  convolve_masks_clear (&masks);
  if (status == CONVOLVE_OK)
    status = make_scratch (plans, error);
  if (status != CONVOLVE_OK)
    return status;
  plans->work.is_identity = are_identity (plans);
  plans->work.reproducible = gst_cuda_convolve_mask_info_is_reproducible (plans->mask_info);
  plans->work.variant = name_variants (plans);
  return CONVOLVE_OK;
}
