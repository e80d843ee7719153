/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The properties that say which parts of a picture the element works on, and readers of their texts. Pure functions,
 * for any thread and any locale.
 */
#ifndef CONVOLVE_REGION_SETTINGS_H
#define CONVOLVE_REGION_SETTINGS_H

#include "convolve_region.h"
#include "settings/mask_settings.h"

G_BEGIN_DECLS

typedef enum
{
  CONVOLVE_APPLY_TO_FRAME,
  CONVOLVE_APPLY_TO_REGIONS,
  CONVOLVE_APPLY_TO_OUTSIDE_REGIONS
} ConvolveApplyTo;

typedef enum
{
  CONVOLVE_REGION_SOURCE_TEXT = 1 << 0,      /* the property regions */
  CONVOLVE_REGION_SOURCE_ROI = 1 << 1,       /* GstVideoRegionOfInterestMeta */
  CONVOLVE_REGION_SOURCE_ANALYTICS = 1 << 2, /* GstAnalyticsRelationMeta */
  CONVOLVE_REGION_SOURCE_ALPHA = 1 << 3      /* the frame's own alpha */
} ConvolveRegionSources;

#define CONVOLVE_REGION_SOURCES_METADATA (CONVOLVE_REGION_SOURCE_ROI | CONVOLVE_REGION_SOURCE_ANALYTICS)
#define CONVOLVE_REGION_SOURCES_ALL (CONVOLVE_REGION_SOURCE_TEXT | CONVOLVE_REGION_SOURCES_METADATA)

typedef enum
{
  CONVOLVE_REGION_EFFECT_MASK,
  CONVOLVE_REGION_EFFECT_PIXELATE,
  CONVOLVE_REGION_EFFECT_FILL,
  CONVOLVE_REGION_EFFECT_AUTO, /* one of the others: see convolve_region_settings_effect() */
  CONVOLVE_REGION_EFFECT_NOISE_PIXELATE,
  CONVOLVE_N_REGION_EFFECTS
} ConvolveRegionEffect;

typedef enum
{
  CONVOLVE_REGION_FALLBACK_NONE,
  CONVOLVE_REGION_FALLBACK_FRAME
} ConvolveRegionFallback;

/* One member for each property of regions, as the user set it. plugin/properties.md says what the properties mean. */
typedef struct
{
  ConvolveApplyTo apply_to;
  gchar *regions;         /* owned; NULL or empty means none */
  guint sources;          /* of ConvolveRegionSources */
  gchar *types;           /* owned; NULL or empty means all */
  gchar *ids;             /* owned; NULL or empty means all */
  gdouble min_confidence; /* 0..1 */
  gboolean active;
  gdouble expand; /* 0..CONVOLVE_MAX_EXPAND of the box's width and height, on each side */
  guint feather;  /* luma pixels, 0..CONVOLVE_MAX_FEATHER */
  ConvolveShape shape;
  gdouble strength; /* 0..1 of the box's shorter side; -1 means the mask as it is */
  ConvolveRegionEffect effect;
  guint blocks;      /* 1..CONVOLVE_MAX_BLOCKS, across the box's shorter side */
  gdouble epsilon;   /* CONVOLVE_LEAST_EPSILON..CONVOLVE_MAX_EPSILON, of the noise of blocks */
  guint seed;        /* of the noise of blocks; 0 for a secret key */
  guint color;       /* 0xAARRGGBB */
  gdouble opacity;   /* 0..1 */
  guint64 hold;      /* nanoseconds */
  guint64 lookahead; /* nanoseconds, 0..CONVOLVE_MAX_LOOKAHEAD */
  guint64 smooth;    /* nanoseconds, 0..CONVOLVE_MAX_SMOOTH */
  ConvolveRegionFallback fallback;
  struct _ConvolveKeptFile *mask;    /* of region-mask-location, shared: see image_file.h; NULL where there is none */
  struct _ConvolveKeptFile *picture; /* of region-picture, likewise */
} ConvolveRegionSettings;

#define CONVOLVE_MAX_EXPAND 10.0
#define CONVOLVE_MAX_BLOCKS 64
#define CONVOLVE_LEAST_EPSILON 0.01
#define CONVOLVE_MAX_EPSILON 100
#define CONVOLVE_MAX_BOXES 4096
#define CONVOLVE_MAX_SMOOTH G_GUINT64_CONSTANT (10000000000)    /* ten seconds */
#define CONVOLVE_MAX_LOOKAHEAD G_GUINT64_CONSTANT (10000000000) /* ten seconds */

void convolve_region_settings_copy (ConvolveRegionSettings *to,
    const ConvolveRegionSettings *from); /* as mask_settings.h */
void convolve_region_settings_clear (ConvolveRegionSettings *settings);

/*
 * The effect that the settings ask for, which is never auto. By default a region is hidden: auto pixelates regions. A
 * strength asks for the blur, so that auto is the mask where there is one. Outside of regions auto is the mask.
 */
ConvolveRegionEffect convolve_region_settings_effect (const ConvolveRegionSettings *settings);

/* Whether the work is the mask as it is: on whole frames, or as the effect of regions without a strength. */
gboolean convolve_region_settings_take_mask (const ConvolveRegionSettings *settings);

/* The opacity as the transparency of an area: 0..CONVOLVE_WHOLE_WEIGHT. */
guint convolve_region_settings_transparency (const ConvolveRegionSettings *settings);

/* Whether the effect makes blocks of a box. */
gboolean convolve_region_effect_has_blocks (ConvolveRegionEffect effect);

/*
 * Whether the settings can work with the mask: all texts can be read, a box of the text can touch some frame, and a
 * strength meets a mask that takes one.
 * The picture of region-mask-location can be read.
 * FALSE with error (CONVOLVE_PROPS_ERROR_REGIONS). Which regions a frame has is told by the functions below.
 */
gboolean convolve_region_settings_check (const ConvolveRegionSettings *settings, const ConvolveSettings *mask,
    GError **error);

/* For how long frames wait for later ones: `lookahead`, or 0 where no box can come from metadata. */
guint64 convolve_region_settings_lookahead (const ConvolveRegionSettings *settings);

/* A corner of a polygon: x, y. */
typedef struct
{
  gdouble number[2];
  gboolean per_cent[2];
} ConvolveTextCorner;

/*
 * A box as the user writes it: x, y, width, height. Each number is in luma pixels, or in per cent of the picture. A
 * polygon has corners instead.
 */
typedef struct
{
  gdouble number[4];
  gboolean per_cent[4];
  guint n_corners;             /* 0 for a box */
  ConvolveTextCorner *corners; /* of the array that has the box */
} ConvolveTextBox;

/*
 * Reads regions: boxes and polygons split by ';' or a new line. A box is four numbers, and a polygon the word polygon:
 * and 3 to CONVOLVE_MAX_CORNERS pairs of numbers. Numbers are split by commas or blanks, each with or without '%'.
 * Widths and heights are above 0, and no magnitude is above 10^6. *boxes is an array of ConvolveTextBox, to be
 * unreferenced. FALSE with error (CONVOLVE_PROPS_ERROR_REGIONS), which names the token.
 */
gboolean convolve_region_settings_boxes (const ConvolveRegionSettings *settings, GArray **boxes, GError **error);

/*
 * Reads region-types: names split by commas, each with or without '!' in front. *types is a NULL-terminated vector of
 * the names in lower case, to be freed by g_strfreev(). FALSE with error where a name is empty.
 */
gboolean convolve_region_settings_types (const ConvolveRegionSettings *settings, gchar ***types, GError **error);

/* A type or name in lower case, as all are compared, to be freed. Bytes that are no text become U+FFFD. */
gchar *convolve_region_settings_fold (const gchar *name);

/*
 * Whether a region of the type is wanted: names with '!' are left out; where there are names without '!', only these
 * are taken. The type background, as segmentation calls the rest of a picture, is taken only where it is named. Upper
 * case counts as lower case. type may be NULL, for a region whose type nobody told: unknown says whether such a region
 * is taken where there are names.
 */
gboolean convolve_region_type_is_wanted (gchar **types, const gchar *type, gboolean unknown);

/* The id of a region that no tracker numbered. */
#define CONVOLVE_REGION_NO_ID G_MAXUINT64

/* Who a region may be: the number that a tracker gave it, or a name that a classifier gave it. */
typedef struct
{
  gboolean except; /* the region is left out */
  gchar *name;     /* in lower case; NULL for an id */
  guint64 id;
} ConvolveRegionIdentity;

typedef enum
{
  CONVOLVE_REGION_MATCH_NO,
  CONVOLVE_REGION_MATCH_YES,
  CONVOLVE_REGION_MATCH_UNKNOWN
} ConvolveRegionMatch;

GArray *convolve_region_identities_new (void); /* of ConvolveRegionIdentity, empty */

/*
 * Reads region-ids: ids and names split by commas, each with or without '!' in front. Digits alone are an id; a
 * name may stand in quotes of either kind, and has to where it has a comma or is all digits. *identities is to be
 * unreferenced. FALSE with error (CONVOLVE_PROPS_ERROR_REGIONS), which names the token.
 */
gboolean convolve_region_settings_identities (const ConvolveRegionSettings *settings, GArray **identities,
    GError **error);
gboolean convolve_region_identities_are_equal (const GArray *a, const GArray *b);

/*
 * Whether a region is the one that the identity means. id may be CONVOLVE_REGION_NO_ID, and names, which ends with
 * NULL, may be empty: nobody knows then. Upper case counts as lower case.
 */
ConvolveRegionMatch convolve_region_identity_match (const ConvolveRegionIdentity *identity, guint64 id,
    const gchar *const *names);

/*
 * Whether a region is wanted. One that an identity with '!' means is left out. Where there are identities without '!',
 * only those that one of them means are taken. unknown says whether a region is taken of which nobody knows.
 */
gboolean convolve_region_identity_is_wanted (const GArray *identities, guint64 id, const gchar *const *names,
    gboolean unknown);

/*
 * Whether a region counts of which the metadata does not say enough. In regions such a region counts, and outside of
 * regions it does not: in both cases it is changed.
 */
gboolean convolve_region_settings_take_unknown (const ConvolveRegionSettings *settings);

G_END_DECLS

#endif
