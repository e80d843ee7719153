/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights in rows, as a user gave them: in the text of a property, in a file, or in an array. */
#ifndef CONVOLVE_GRID_H
#define CONVOLVE_GRID_H

#include "convolve.h"
#include "text/error.h"

/* Never changed once they are made; reference counted, for any thread. */
typedef struct
{
  guint rows, columns;             /* at least 1 each */
  guint shape_width, shape_height; /* of WxH: in front of a text; 0 where there is none */
  gboolean flat;                   /* a text of one row, which may stand for several rows */
  gboolean any_size;               /* an even width or height needs no WxH: in front */
  gboolean picture;                /* grey values of a picture, which becomes a mask of a size as shape.h says */
  gdouble divisor;                 /* of a header of libvips; 0 where there is none */
  GArray *values;                  /* gdouble, row by row */
} ConvolveGrid;

/* Where a text comes from. */
typedef enum
{
  CONVOLVE_GRID_TEXT, /* a property: convolve_settings_make_mask() describes the text */
  CONVOLVE_GRID_FILE, /* for convolve_table_parse() alone; messages count lines */
  CONVOLVE_GRID_LIST  /* a property with the numbers of one row */
} ConvolveGridOrigin;

/*
 * Reads a text. name is what messages begin with: the property, and perhaps a file. NULL with error, whose code is
 * CONVOLVE_PROPS_ERROR_MASK.
 */
ConvolveGrid *convolve_grid_parse (const gchar *name, ConvolveGridOrigin origin, const gchar *text, GError **error);

/* Rows of that many values, all 0. */
ConvolveGrid *convolve_grid_new (guint rows, guint columns);
ConvolveGrid *convolve_grid_ref (ConvolveGrid *rows);
void convolve_grid_unref (ConvolveGrid *rows);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ConvolveGrid, convolve_grid_unref)

/* Names for the messages of convolve_grid_find_size(). */
typedef struct
{
  const gchar *name;                     /* what messages begin with */
  const gchar *width_from, *height_from; /* the properties that give width and height */
} ConvolveGridNames;

/*
 * Finds the width and the height of the mask, each 1..CONVOLVE_MAX_SIDE. mask_width and mask_height are 0 or odd, and
 * must not contradict the rows. FALSE with error: CONVOLVE_PROPS_ERROR_MASK or CONVOLVE_PROPS_ERROR_NUMBER.
 */
gboolean convolve_grid_find_size (const ConvolveGrid *rows, const ConvolveGridNames *names, guint mask_width,
    guint mask_height, guint *width, guint *height, GError **error);

#endif
