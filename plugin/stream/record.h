/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of region-log: a file with a line of JSON for the start, for each frame that leaves, for what happens
 * between frames, and for the end. Each line has the SHA-256 of the line before. plugin/regions.md describes the lines.
 *
 * A line is one write to the file, and a frame leaves after its line was written. The functions are for the streaming
 * thread, and for start and stop, where no other thread is named. Those for the line of a frame are for
 * a record that is open. The others do nothing, and succeed, where there is none.
 */
#ifndef GST_CUDA_CONVOLVE_RECORD_H
#define GST_CUDA_CONVOLVE_RECORD_H

#include "convolve_region.h"
#include "frame/layout.h"
#include "report/errors.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveRecord GstCudaConvolveRecord;

/* The element owns the record, and must outlive it; so must errors. */
GstCudaConvolveRecord *gst_cuda_convolve_record_new (GstElement *element, GstCudaConvolveErrors *errors);
void gst_cuda_convolve_record_free (GstCudaConvolveRecord *record);

/* Makes the file that the properties name, and writes its first line. FALSE where an error was posted. */
gboolean gst_cuda_convolve_record_start (GstCudaConvolveRecord *record, ConvolveProperties *properties);

/* Writes the last line, and waits until the disk has the file. A failure is posted. */
void gst_cuda_convolve_record_stop (GstCudaConvolveRecord *record);

gboolean gst_cuda_convolve_record_is_open (const GstCudaConvolveRecord *record);

/* --- lines between frames. No frame is under way. FALSE where an error was posted --- */

/* Frames that follow have these caps and this layout. */
gboolean gst_cuda_convolve_record_caps (GstCudaConvolveRecord *record, GstCaps *caps,
    const GstCudaConvolveLayout *layout);

/* Notes a segment, a gap, a flush, the begin or the end of a stream; other events are left out. */
gboolean gst_cuda_convolve_record_event (GstCudaConvolveRecord *record, GstEvent *event);

/* The element plays, or pauses. Any thread, with frames under way, too. */
void gst_cuda_convolve_record_state (GstCudaConvolveRecord *record, GstState state);

/* --- the line of a frame --- */

/* How the place of a region is known. */
typedef enum
{
  GST_CUDA_CONVOLVE_HOW_SEEN,         /* the frame or the settings say so */
  GST_CUDA_CONVOLVE_HOW_HELD,         /* an earlier frame did */
  GST_CUDA_CONVOLVE_HOW_LOOKED_AHEAD, /* a later frame did, or frames on both sides */
  GST_CUDA_CONVOLVE_HOW_FALLBACK      /* nobody does: the region is the whole frame */
} GstCudaConvolveHow;

/* What is done, with what somebody who checks the picture needs to know. */
typedef struct
{
  const gchar *name;
  gint x, y, block;     /* a corner of a block and the side of all, in luma pixels; 0 where there are none */
  gdouble sigma;        /* of a blur that follows from the region, in luma pixels; -1 for another effect */
  gdouble opacity;      /* the effect's share in the result, 0..1 */
  const gint *fill;     /* code values, one for each component, and -1 for one that is not filled; or NULL */
  const gchar *picture; /* the checksum of the file of a picture that fills the region; or NULL */
} GstCudaConvolveRecordEffect;

/* A region: a face, or all parts of a person. Texts may be NULL. */
typedef struct
{
  const gchar *source, *type, *shape;
  gboolean has_id;
  guint64 id;         /* the tracker's */
  gdouble confidence; /* the detector's; NaN where nobody told */
  GstCudaConvolveHow how;
  const ConvolveRect *boxes; /* expanded, in luma pixels; a box may pass the edges of the frame */
  guint n_boxes;
  const ConvolveOutline *outlines; /* of each box, or NULL where no box has a polygon */
  const ConvolvePoint *corners;    /* of the outlines */
} GstCudaConvolveRecordRegion;

/* Begins to describe the frame of this buffer, which begins next, with the settings that are used for it. */
void gst_cuda_convolve_record_begin (GstCudaConvolveRecord *record, const GstSegment *segment, GstBuffer *buffer,
    ConvolveProperties *properties);

/* The whole frame is changed, for the reason; or what is outside of the regions, by the effect. Before add(). */
void gst_cuda_convolve_record_set_whole (GstCudaConvolveRecord *record, const gchar *why);
void gst_cuda_convolve_record_set_outside (GstCudaConvolveRecord *record, const GstCudaConvolveRecordEffect *effect);

/*
 * Adds a region, in the order in which regions are drawn: later ones lie over earlier ones. No effect: the region stays
 * as it is.
 */
void gst_cuda_convolve_record_add (GstCudaConvolveRecord *record, const GstCudaConvolveRecordRegion *region,
    const GstCudaConvolveRecordEffect *effect);

/* Gives what begin() and add() wrote, for end(), and takes the memory of an earlier such text in return. */
GString *gst_cuda_convolve_record_take (GstCudaConvolveRecord *record, GString *spare);

/*
 * Ends the frame that a text of take() describes, and which is mapped for the host: its line is written. FALSE where an
 * error was posted.
 */
gboolean gst_cuda_convolve_record_end (GstCudaConvolveRecord *record, const GString *text, const GstVideoFrame *frame);

/* Frames were thrown away, whose lines may have had new settings. */
void gst_cuda_convolve_record_forget_settings (GstCudaConvolveRecord *record);

/* The layout that caps() set last. */
const GstCudaConvolveLayout *gst_cuda_convolve_record_get_layout (const GstCudaConvolveRecord *record);

G_END_DECLS

#endif
