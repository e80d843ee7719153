/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The samples of a frame, component by component, whatever its format, and what the record of region-log tells of them.
 */
#ifndef EXAMPLES_SAMPLES_H
#define EXAMPLES_SAMPLES_H

#include <gst/video/video.h>

#define GRID 8 /* parts of a frame across and down, of which the record has the means */

/* One component: width values to a row. A value stands for x_step by y_step pixels. */
typedef struct
{
  int width, height, x_step, y_step;
  guint16 *values;
} Component;

/* All zero is empty. Y, U and V, or R, G and B, and alpha where there is one. */
typedef struct
{
  guint n;
  int depth;                 /* bits of a value */
  gboolean rgb, progressive; /* progressive: rows that are neighbours are neighbours in the picture */
  Component components[GST_VIDEO_MAX_COMPONENTS];
} Samples;

/* Reads a mapped frame. The memory of an earlier frame is used again. */
void samples_read (Samples *samples, const GstVideoFrame *frame);
void samples_clear (Samples *samples);

/*
 * The SHA-256 of all values in hexadecimal digits, to be freed: component after component, row after row, a byte for a
 * value of 8 bits, and otherwise two bytes with the lower one first.
 */
char *samples_hash (const Samples *samples);

/* The means of the first component's parts in 8 bits, row after row; 0 for a part without a value. */
void samples_means (const Samples *samples, guint8 means[GRID * GRID]);

#endif
