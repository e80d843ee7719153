/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/maskinfo.h"

#include <math.h>

struct _GstCudaConvolveMaskInfo
{
  ConvolveMask mask;
  gboolean exact, reproducible;
};

/* Whether the mask has no weights, but shares of the pixel and of a Gaussian, and two sigmas. */
static gboolean
is_gaussian (const ConvolveMask *mask)
{
  return mask->combination == CONVOLVE_GAUSSIAN;
}

GstCudaConvolveMaskInfo *
gst_cuda_convolve_mask_info_new (const ConvolveMask *mask, gboolean exact)
{
  GstCudaConvolveMaskInfo *info = g_atomic_rc_box_new0 (GstCudaConvolveMaskInfo);
  gsize bytes = sizeof (double) * (is_gaussian (mask) ? 4 : mask->width * mask->height * convolve_mask_sets (mask));

  info->mask = *mask;
  info->mask.taps = g_memdup2 (mask->taps, bytes);
  info->exact = exact;
  info->reproducible = TRUE;
  return info;
}

void
gst_cuda_convolve_mask_info_add_plan (GstCudaConvolveMaskInfo *info, const ConvolvePlan *plan)
{
  info->reproducible = info->reproducible && convolve_plan_is_reproducible (plan);
}

gboolean
gst_cuda_convolve_mask_info_is_reproducible (const GstCudaConvolveMaskInfo *info)
{
  return info->reproducible;
}

gchar *
gst_cuda_convolve_mask_info_describe_size (const GstCudaConvolveMaskInfo *info)
{
  return is_gaussian (&info->mask) ? g_strdup ("gaussian")
                                   : g_strdup_printf ("%dx%d", info->mask.width, info->mask.height);
}

gint
gst_cuda_convolve_mask_info_get_side (const GstCudaConvolveMaskInfo *info)
{
  return is_gaussian (&info->mask) ? 0 : MAX (info->mask.width, info->mask.height);
}

GstCudaConvolveMaskInfo *
gst_cuda_convolve_mask_info_ref (GstCudaConvolveMaskInfo *info)
{
  return g_atomic_rc_box_acquire (info);
}

static void
clear_info (gpointer data)
{
  g_free (((GstCudaConvolveMaskInfo *) data)->mask.taps);
}

void
gst_cuda_convolve_mask_info_unref (GstCudaConvolveMaskInfo *info)
{
  g_atomic_rc_box_release_full (info, clear_info);
}

static const gchar *const combinations[] = {
  [CONVOLVE_SUM] = "sum",
  [CONVOLVE_ABSOLUTE] = "absolute",
  [CONVOLVE_MAGNITUDE] = "magnitude",
  [CONVOLVE_LARGEST] = "largest",
  [CONVOLVE_GAUSSIAN] = "gaussian",
};

/* Fills an array with the arrays of the rows, of one set after the other. */
static void
fill_weights (GValue *weights, const ConvolveMask *mask)
{
  g_value_init (weights, GST_TYPE_ARRAY);
  for (gint j = 0; !is_gaussian (mask) && j < mask->height * convolve_mask_sets (mask); j++) {
    GValue row = G_VALUE_INIT;

    g_value_init (&row, GST_TYPE_ARRAY);
    for (gint i = 0; i < mask->width; i++) {
      GValue tap = G_VALUE_INIT;

      g_value_init (&tap, G_TYPE_DOUBLE);
      g_value_set_double (&tap, mask->taps[j * mask->width + i]);
      gst_value_array_append_and_take_value (&row, &tap);
    }
    gst_value_array_append_and_take_value (weights, &row);
  }
}

GstStructure *
gst_cuda_convolve_mask_info_make_structure (const GstCudaConvolveMaskInfo *info)
{
  const ConvolveMask *mask = &info->mask;
  GValue weights = G_VALUE_INIT;
  gdouble sum = 0, magnitude = 0;
  GstStructure *structure;

  for (gint i = 0; i < (is_gaussian (mask) ? 2 : mask->width * mask->height); i++) {
    sum += mask->taps[i];
    magnitude += fabs (mask->taps[i]);
  }
  structure = gst_structure_new ("application/x-cudaconvolve-mask", "width", G_TYPE_INT,
      is_gaussian (mask) ? 0 : mask->width, "height", G_TYPE_INT, is_gaussian (mask) ? 0 : mask->height, "sum",
      G_TYPE_DOUBLE, sum, "rank", G_TYPE_INT, convolve_mask_rank (mask), "gain", G_TYPE_DOUBLE,
      magnitude / fabs (mask->divisor), "divisor", G_TYPE_DOUBLE, mask->divisor, "offset", G_TYPE_DOUBLE, mask->offset,
      "exact", G_TYPE_BOOLEAN, info->exact, "reproducible", G_TYPE_BOOLEAN, info->reproducible, "combination",
      G_TYPE_STRING, combinations[mask->combination], "sets", G_TYPE_INT, convolve_mask_sets (mask), NULL);
  fill_weights (&weights, mask);
  gst_structure_take_value (structure, "weights", &weights);
  if (is_gaussian (mask))
    gst_structure_set (structure, "own-share", G_TYPE_DOUBLE, mask->taps[0] / mask->divisor, "gaussian-share",
        G_TYPE_DOUBLE, mask->taps[1] / mask->divisor, "sigma-x", G_TYPE_DOUBLE, mask->taps[2], "sigma-y", G_TYPE_DOUBLE,
        mask->taps[3], NULL);
  return structure;
}
