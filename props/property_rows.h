/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of properties. Defaults, specs, set and get (properties.c) and the warnings of properties without effect
 * (property_idle.c) follow from its rows. For these files alone: the names are short.
 */
#ifndef CONVOLVE_PROPERTY_ROWS_H
#define CONVOLVE_PROPERTY_ROWS_H

#include "properties.h"

G_BEGIN_DECLS

typedef enum
{
  TEXT,      /* gchar *, owned, may be NULL */
  ARRAY,     /* GValue * of array.h, shared, NULL for an empty array */
  FILE_NAME, /* ConvolveMaskFile *, shared, NULL for no name */
  UINT,      /* guint */
  INT,       /* gint */
  DOUBLE,    /* gdouble */
  TIME,      /* guint64, in nanoseconds */
  BOOLEAN,   /* gboolean */
  ENUM,      /* gint, or an enum type of C */
  FLAGS      /* guint */
} Kind;

/* What a property acts on. Without that the property is idle, and the user is warned. */
typedef enum
{
  ANY,
  MASK,
  LAYER,
  CONSTANT,   /* a mask, with the boundary constant */
  REGION,     /* apply-to names a part of the picture */
  STRENGTH,   /* in regions, whose effect is the mask */
  BLOCKS,     /* in regions, whose effect is pixelate */
  FILLING,    /* in regions, whose effect is fill */
  WRITTEN,    /* in regions, which come from the text */
  DETECTIONS, /* in regions, which come from metadata */
} Target;

/* What becomes of a number between others that a GstController passes. */
typedef enum
{
  AS_IT_IS,
  TO_ODD,    /* a width or a height: an even one, and 0, which would mean automatic, become the next odd one */
  FROM_ZERO, /* below 0 lies -1 alone, which would mean automatic: less than 0 becomes 0 */
} Driven;

typedef struct
{
  const gchar *name, *nick;
  Kind kind;
  gsize offset; /* of the member in ConvolveProperties */
  Target target;
  GParamFlags flags;    /* beside those that all properties have */
  GType (*type) (void); /* of an enum or of flags */
  gdouble least, most;  /* of a number */
  Driven driven;        /* of a controllable number */
  gdouble standard;     /* the default, but for texts */
  const gchar *text;    /* the default of a text */
  const gchar *blurb;
  gchar *(*list) (void); /* makes what the blurb ends in, to be freed; may be NULL */
} Row;

/* In the order of the properties' numbers, from 0. */
extern const Row convolve_property_rows[];
extern const guint convolve_n_property_rows;

/* Whether the property is at its default; an empty text counts as one that is not set. */
gboolean convolve_property_is_standard (const ConvolveProperties *properties, const Row *row);

/* The row's member of properties. */
#define VALUE(type, properties, row) G_STRUCT_MEMBER (type, properties, (row)->offset)

G_END_DECLS

#endif
