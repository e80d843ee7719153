/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers for the element's checks: made at random, written to files, set as properties, and held against frames. */
#ifndef TESTS_ELEMENT_LAYER_CASE_H
#define TESTS_ELEMENT_LAYER_CASE_H

#include <gst/video/video.h>

#include "convolve_layer.h"

#define LAYER_CASE_MAPS 32

typedef struct
{
  gint filters, channels, kernel_height, kernel_width;
  gfloat *weights, *bias; /* bias may be NULL */
  gint stride;
  gint padding; /* pixels, or -1 for same */
  ConvolveBoundary boundary;
  ConvolveActivation activation;
  gint pool_size, pool_stride;        /* 0: as pool_size */
  gdouble divisor, offset;            /* of the mask's properties; divisor 0 is 1 */
  gint maps[LAYER_CASE_MAPS], n_maps; /* layer-channels; none: all */
  gboolean mosaic;
  gchar *location;
} LayerCase;

/* A layer of this shape, all else at random, written as a file in folder. Free with layer_case_clear(). */
LayerCase layer_case_random (GRand *random, const gchar *folder, gint filters, gint channels);

/* One that is all plain: no padding, stride 1. Weights are [filters][channels][height][width]. */
LayerCase layer_case_plain (const gchar *folder, gint filters, gint channels, gint height, gint width,
    const gfloat *weights);
void layer_case_clear (LayerCase *layer);

/* Its properties, as gst_parse_launch() takes them; to be freed. */
gchar *layer_case_line (const LayerCase *layer);

/* The same set on an element at once. */
void layer_case_set (const LayerCase *layer, GstElement *element);

gint layer_case_shown (const LayerCase *layer);

/* One side of a feature map by the formula, 0 where there is none; and of the output, a mosaic or not. */
gint layer_case_map_side (const LayerCase *layer, gboolean vertical, gint input);
gint layer_case_side (const LayerCase *layer, gboolean vertical, gint input);

/* Compares every sample of the output with the formula; fails the check, naming the place, where one differs. */
void layer_case_check (const LayerCase *layer, const GstVideoInfo *in_info, GstBuffer *in, const GstVideoInfo *out_info,
    GstBuffer *out, const gchar *what);

#endif
