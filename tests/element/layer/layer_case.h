/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers for the element's checks: made at random, written to files, set as properties, and compared with frames. */
#ifndef TESTS_ELEMENT_LAYER_CASE_H
#define TESTS_ELEMENT_LAYER_CASE_H

#include <gst/video/video.h>

#include "convolve_layer.h"

#define LAYER_CASE_MAPS 32

typedef struct
{
  gint filters, channels, kernel_height, kernel_width; /* channels are those of the frames */
  gint groups;
  gfloat *weights, *bias; /* bias may be NULL */
  gint stride;
  gint padding;   /* pixels, or -1 for same */
  gboolean apart; /* the next ones hold for columns, which otherwise have the numbers of rows, and for the four sides */
  gint stride_x, pool_width, pool_stride_x, pads[4]; /* top, left, bottom, right; where padding is not -1 */
  gint dilation[2], pool_pads[4]; /* down, across; top, left, bottom, right, as far as the pooling takes them */
  gboolean pool_ceil;
  ConvolveBoundary boundary;
  ConvolveActivation activation;
  gint pool_size, pool_stride;        /* a stride of 0 is the pool size */
  gdouble divisor, offset;            /* divisor and bias */
  gint maps[LAYER_CASE_MAPS], n_maps; /* channels; n_maps is 0 for all feature maps */
  gboolean mosaic;
  gchar *location;
} LayerCase;

/* A layer of this shape, all else at random, written as a file in folder. Free with layer_case_clear(). */
LayerCase layer_case_random (GRand *random, const gchar *folder, gint filters, gint channels);

/* A layer of one group without padding and with stride 1. The weights are [filters][channels][height][width]. */
LayerCase layer_case_plain (const gchar *folder, gint filters, gint channels, gint height, gint width,
    const gfloat *weights);
void layer_case_clear (LayerCase *layer);

/* The layer's properties, as gst_parse_launch() takes them; to be freed. */
gchar *layer_case_line (const LayerCase *layer);

/* Sets the properties on an element with one call. */
void layer_case_set (const LayerCase *layer, GstElement *element);

gint layer_case_shown (const LayerCase *layer);

/* One side of a feature map by the formula, and of the whole output, which may be a mosaic; 0 where there is none. */
gint layer_case_map_side (const LayerCase *layer, gboolean vertical, gint input);
gint layer_case_side (const LayerCase *layer, gboolean vertical, gint input);

/* Compares every sample of the output with the formula; fails the check, naming the place, where one differs. */
void layer_case_check (const LayerCase *layer, const GstVideoInfo *in_info, GstBuffer *in, const GstVideoInfo *out_info,
    GstBuffer *out, const gchar *what);

#endif
