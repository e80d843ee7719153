/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of properties, one for each element: mask_rows.c and layer_rows.c. Defaults, specs, set and get (properties.c) and the
 * warnings of properties without effect (property_idle.c) follow from the rows. For these files alone: the names are short.
 */
#ifndef CONVOLVE_PROPERTY_ROWS_H
#define CONVOLVE_PROPERTY_ROWS_H

#include <gst/gst.h>

#include "convolve_device.h"
#include "properties/enums.h"
#include "files/kept_file.h"
#include "properties/properties.h"

G_BEGIN_DECLS

typedef enum
{
  TEXT,      /* gchar *, owned, may be NULL */
  ARRAY,     /* GValue * of array.h, shared, NULL for an empty array */
  BOXES,     /* the gchar * of a TEXT, as an array of array.h; the text's row owns it */
  FILE_NAME, /* ConvolveKeptFile *, shared, NULL for no name */
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
  GIVES_MASK,   /* has the weights, or names them; idle where the effect in regions is not the mask */
  CHANGES_MASK, /* the mask, likewise; idle, too, where region-strength gives each region a blur of its own */
  CONSTANT,     /* the boundary constant */
  APPLY_TO,     /* which part of the picture changes; apply-to and all below are the settings of regions */
  REGION,       /* apply-to names a part of the picture */
  STRENGTH,     /* in regions, whose effect is the mask */
  BLOCKS,       /* in regions, whose effect has blocks */
  NOISE,        /* in regions, whose effect is noise-pixelate */
  FILLING,      /* in regions, whose effect is fill */
  AROUND,       /* in what lies outside of regions */
  WRITTEN,      /* in regions, which come from the text */
  DETECTIONS,   /* in regions, which come from metadata */
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
  const gchar *since; /* the version of this project that the element has the property from */
  Kind kind;
  gsize offset; /* of the member in ConvolveProperties */
  Target target;
  GParamFlags flags;    /* beside those that all properties have */
  GType (*type) (void); /* of an enum or of flags */
  const ConvolveFileKind *file;
  gdouble least, most; /* of a number; a most of 0 is none for a time */
  Driven driven;       /* of a controllable number */
  gdouble standard;    /* the default, but for texts */
  const gchar *text;   /* the default of a text */
  gboolean secret;     /* a record does not have the value */
  const gchar *blurb;
  gchar *(*list) (void); /* makes what the blurb ends in, to be freed; may be NULL */
} Row;

/* The properties of one element, in the order of their numbers, from 0. */
struct _ConvolvePropertyTable
{
  const Row *rows;
  guint n;
  GType (*variant_type) (void);                      /* of kernel-variant */
  gboolean (*variant_on_device) (const gchar *name); /* of a variant other than auto */
};

/* The kind of a property and its member. The compiler refuses a member of another type. */
#define MEMBER(kind, type, member) \
  kind, offsetof (ConvolveProperties, member) + _Generic(((ConvolveProperties *) 0)->member, type : 0)
#define TEXT_AT(member) MEMBER (TEXT, gchar *, member)
#define ARRAY_AT(member) MEMBER (ARRAY, GValue *, member)
#define BOXES_AT(member) MEMBER (BOXES, gchar *, member)
#define FILE_AT(member, of) MEMBER (FILE_NAME, struct _ConvolveKeptFile *, member), .file = &of
#define UINT_AT(member) MEMBER (UINT, guint, member)
#define INT_AT(member) MEMBER (INT, gint, member)
#define DOUBLE_AT(member) MEMBER (DOUBLE, gdouble, member)
#define BOOLEAN_AT(member) MEMBER (BOOLEAN, gboolean, member)
#define TIME_AT(member) MEMBER (TIME, guint64, member)
#define FLAGS_AT(member, get_type) MEMBER (FLAGS, guint, member), .type = get_type
#define ENUM_AT(member, get_type) ENUM, offsetof (ConvolveProperties, member), .type = get_type

#define PLAYING GST_PARAM_MUTABLE_PLAYING
#define CONTROLLABLE (GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)

/* Rows that elements share. */
#define VARIANT_ROW(of, since, get_type) \
  { \
    "kernel-variant", "Kernel variant", since, ENUM_AT (variant, get_type), \
        .flags = PLAYING, .standard = CONVOLVE_VARIANT_AUTO, \
        .blurb = "How the " of " is computed. auto takes the fastest variant that can do the work; any other variant " \
                 "that cannot do the work is an error, which says why" \
  }
#define DEVICE_ROW(since) \
  { \
    "cuda-device-id", "CUDA device ID", since, INT_AT (device_id), \
        .flags = GST_PARAM_MUTABLE_READY, .least = -1, .most = G_MAXINT, .standard = -1, \
        .blurb = "Number of the CUDA device (-1 = the device that holds the frames, else the first one, else the CPU)" \
  }
#define FLIGHTS_ROW(since) \
  { \
    "frames-in-flight", "Frames in flight", since, UINT_AT (frames_in_flight), \
        .flags = PLAYING, .least = 1, .most = CONVOLVE_MAX_FRAMES, .standard = 1, \
        .blurb = "Number of frames that are on the GPU at once: the copies of several frames overlap, and each frame " \
                 "beyond the first delays the stream by one frame" \
  }
#define THREADS_ROW(since) \
  { \
    "n-threads", "Threads", since, UINT_AT (n_threads), \
        .flags = PLAYING, .most = 1024, \
        .blurb = \
            "Number of threads that share a frame where the CPU convolves it, or copies it for a GPU (0 = one for each core)" \
  }

/* Whether the property is at its default; an empty text counts as one that is not set. */
gboolean convolve_property_is_standard (const ConvolveProperties *properties, const Row *row);

/* The row's member of properties. */
#define VALUE(type, properties, row) G_STRUCT_MEMBER (type, properties, (row)->offset)

G_END_DECLS

#endif
