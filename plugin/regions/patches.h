/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the boxes of a frame to the rectangles that are computed. Pure functions, for any thread. */
#ifndef GST_CUDA_CONVOLVE_PATCHES_H
#define GST_CUDA_CONVOLVE_PATCHES_H

#include <glib.h>

#include "regions/picture.h"
#include "boxes/region_settings.h"

G_BEGIN_DECLS

/* A rectangle in luma pixels. Width and height are above 0; the rectangle may lie outside the frame. */
typedef struct
{
  gdouble x, y, width, height;
} GstCudaConvolveRectangle;

/*
 * A box as it was found. A face is a region of one box. A person in a mask of segmentation is a region of hundreds of
 * boxes, its parts: they follow each other in lists, and region-shape does not count for them. Strength follows from the
 * rectangle around the region, and so does the expansion of upright boxes and of parts.
 *
 * A turned box has its middle in the middle of the area, and its corners at middle + side[0] + side[1], middle + side[0] -
 * side[1] and so on. A box of the property regions may be a polygon.
 */
typedef struct
{
  GstCudaConvolveRectangle area;
  GstCudaConvolveRectangle region; /* the upright rectangle around the region */
  gboolean is_part;
  gboolean is_turned;
  gdouble side[2][2];             /* x, y of half a side, in luma pixels */
  const ConvolveTextBox *polygon; /* lives as long as the property's text; or NULL */
} GstCudaConvolveBox;

/*
 * So many boxes are worked on one by one. Beyond, the whole frame gets the effect: never fewer boxes. Areas are those that
 * boxes touch of the frame, with expansion and feather, all together. A region of parts is one box; of its parts there may
 * be many more. With these limits a frame takes about as long as eight whole frames, and their memory.
 */
#define GST_CUDA_CONVOLVE_MOST_REGIONS 1024
#define GST_CUDA_CONVOLVE_MOST_FRAMES 8 /* of the area of all regions */
#define GST_CUDA_CONVOLVE_MOST_PARTS 65536
#define GST_CUDA_CONVOLVE_MOST_PART_FRAMES 256 /* of the area of all parts */

#define GST_CUDA_CONVOLVE_N_STRENGTHS 17

/*
 * The sigma of a strength class, 0..16, in luma pixels: 1 to 256, each larger than the one before by the square root of
 * 2. The picture is shrunk by the factor first, because wide masks take long, and no mask is wide enough for the largest.
 */
gdouble gst_cuda_convolve_strength_sigma (guint strength);
gint gst_cuda_convolve_strength_factor (guint strength);

typedef enum
{
  GST_CUDA_CONVOLVE_MATTE_PICTURE = 1 << 0, /* of region-mask-location */
  GST_CUDA_CONVOLVE_MATTE_ALPHA = 1 << 1,   /* of the frame */
} GstCudaConvolveMattes;

/*
 * What is computed at once: a rectangle of the frame with all boxes of one effect that touch the rectangle. Rectangles
 * of equal effect do not meet in any plane, but for those of effects with blocks or a picture, where each box has its own.
 */
typedef struct
{
  ConvolveRect rect;        /* luma pixels, inside the frame; with the feather, and with whole samples of all planes */
  guint first_box, n_boxes; /* of the list of boxes */
  gint strength;            /* a class for a mask whose sigma follows from the box, or -1 for the mask as it is */
  gint x, y, block;         /* for effects with blocks: a corner of a block and the side of all, in luma pixels */
  ConvolveRect region;      /* that a picture fills, expanded; may lie outside the frame */
  guint64 number;           /* whose noise the blocks get; see noise.h */
  ConvolveShape shape;      /* of boxes without a polygon */
  gboolean has_polygons;
  guint mattes; /* of GstCudaConvolveMattes: their weights count beside those of the boxes */
} GstCudaConvolvePatch;

#define GST_CUDA_CONVOLVE_NO_ORIGIN G_MAXUINT /* of a box that stands for all, as large as the frame */

typedef struct
{
  GArray *boxes;    /* ConvolveRect, expanded, in luma pixels */
  GArray *origins;  /* guint, of each box: the index of the box that was found, or GST_CUDA_CONVOLVE_NO_ORIGIN */
  GArray *outlines; /* ConvolveOutline, of each box */
  GArray *corners;  /* ConvolvePoint */
  GArray *patches;  /* GstCudaConvolvePatch, the weakest effect first: later ones are drawn over earlier ones */
  gint feather;
  gboolean outside; /* the effect shows outside the boxes */
  guint n_regions;  /* that touch the frame; a region of parts is one */
  gdouble n_frames; /* the area of these regions, in frames */
  gboolean limited; /* the boxes pass a limit, so that the whole frame is one patch */

  GArray *candidates, *cells, *entries; /* while patches are found, kept for their memory */
  GArray *found;                        /* GstCudaConvolveBox, that the patches were found from */
  gboolean is_found;                    /* the patches are those of find(), and maybe of add_matte() behind it */
} GstCudaConvolvePatches;

void gst_cuda_convolve_patches_init (GstCudaConvolvePatches *patches);
void gst_cuda_convolve_patches_clear (GstCudaConvolvePatches *patches);

/*
 * Finds the patches of a frame. found is an array of GstCudaConvolveBox. With apply_to=outside-regions there is one
 * patch of the whole frame, and the frame counts as its box. Patches may be none, and are none where the effect is the
 * mask with a strength of 0.
 *
 * Blocks begin at the corner of the box. A block has at least 4x4 luma pixels of the frame, and at least
 * 4 samples of each plane, however small the box is. So blocks may be larger than region-blocks says, and blocks near an
 * edge of the frame may begin elsewhere.
 *
 * Where the boxes pass a limit, there is one patch as take_frame() makes it.
 */
void gst_cuda_convolve_patches_find (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    const GArray *found, const GstCudaConvolvePicture *picture);

/* Whether find() was the last one to make patches, and for these very boxes. */
gboolean gst_cuda_convolve_patches_are_of (const GstCudaConvolvePatches *patches, const GArray *found);

/* Forgets the patches, and what they were found from. */
void gst_cuda_convolve_patches_forget (GstCudaConvolvePatches *patches);

/* Whether the box, or its polygon, touches the frame with expansion and feather. */
gboolean gst_cuda_convolve_box_touches_frame (const GstCudaConvolveBox *box, const ConvolveRegionSettings *settings,
    gint width, gint height);

/*
 * Adds the patch of a matte that is above 0 in a rectangle of the frame alone, after find(): with the strength and the blocks
 * of a box as large. Outside of regions the matte joins the patch of the frame.
 */
void gst_cuda_convolve_patches_add_matte (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    GstCudaConvolveMattes matte, ConvolveRect rect, const GstCudaConvolvePicture *picture);

/* The weights of the patch's boxes in luma pixels, without mattes. extras has what the area refers to. */
void gst_cuda_convolve_patch_area (const GstCudaConvolvePatches *patches, const GstCudaConvolvePatch *patch,
    ConvolveArea *area, ConvolveExtras *extras);

/* One patch of the whole frame, as if one box were as large as the frame, with neither feather nor ellipse. */
void gst_cuda_convolve_patches_take_frame (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    const GstCudaConvolvePicture *picture);

G_END_DECLS

#endif
