/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which regions of the metadata count: by their type, by the id or name that tells who they are, and by their
 * confidence; and what the user asked for and never came. A region about which the metadata does not tell enough
 * is changed: in regions it counts, and outside of regions it does not. For one thread at a time.
 */
#ifndef GST_CUDA_CONVOLVE_WANTED_H
#define GST_CUDA_CONVOLVE_WANTED_H

#include "regions/analytics.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveWanted GstCudaConvolveWanted;

GstCudaConvolveWanted *gst_cuda_convolve_wanted_new (void);
void gst_cuda_convolve_wanted_free (GstCudaConvolveWanted *wanted);

/*
 * Reads the texts of the settings. *other tells whether other regions count than before. FALSE with error
 * (CONVOLVE_PROPS_ERROR_REGIONS), and nothing is changed.
 */
gboolean gst_cuda_convolve_wanted_set (GstCudaConvolveWanted *wanted, const ConvolveRegionSettings *settings,
    gboolean *other, GError **error);

/* Whether names of regions matter, which are to be read then. */
gboolean gst_cuda_convolve_wanted_needs_names (const GstCudaConvolveWanted *wanted);

/* Begins to look at a frame, or to look at it again. */
void gst_cuda_convolve_wanted_begin (GstCudaConvolveWanted *wanted);

/* What numbers regions by itself. A part of a mask is not counted: its object is. */
typedef enum
{
  GST_CUDA_CONVOLVE_WANTED_ROI,
  GST_CUDA_CONVOLVE_WANTED_OBJECT,
  GST_CUDA_CONVOLVE_WANTED_PART
} GstCudaConvolveWantedKind;

/* Whether a region of the frame counts. The region's place is not looked at. */
gboolean gst_cuda_convolve_wanted_takes (GstCudaConvolveWanted *wanted, const GstCudaConvolveObject *region,
    GstCudaConvolveWantedKind kind);

/*
 * Whether two regions of one kind had an id of region-ids. Nobody knows then which of them is meant: the frame is to be
 * read again, and both have no id then.
 */
gboolean gst_cuda_convolve_wanted_doubts (GstCudaConvolveWanted *wanted);

/* Counts the frame, once for each frame. */
void gst_cuda_convolve_wanted_count (GstCudaConvolveWanted *wanted);

/*
 * What did not come in so many frames that the user should know, to be freed, or NULL; each is told once. at_end tells
 * that no more frames come. forget() begins to wait anew.
 */
gchar *gst_cuda_convolve_wanted_complain (GstCudaConvolveWanted *wanted, gboolean at_end);
void gst_cuda_convolve_wanted_forget (GstCudaConvolveWanted *wanted);

G_END_DECLS

#endif
