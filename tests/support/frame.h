/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames for the element's checks. GStreamer's own pack and unpack functions write and read them, so that a wrong
 * belief of the project about a format fails.
 */
#ifndef TESTS_SUPPORT_FRAME_H
#define TESTS_SUPPORT_FRAME_H

#include <gst/video/video.h>

#include "convolve.h"

/* One component of a frame as plain numbers, width values to a row. */
typedef struct
{
  gint width, height;
  guint16 *samples;
} Component;

/*
 * Whether samples share words, or rows are cut into tiles: no sample has an address. frame_read() gives samples of few bits, such as
 * RGB16 and the alpha of Y410, in 8 bits or the bits of the others; has_few_bits() tells that there are such samples.
 */
gboolean frame_has_cells (const GstVideoInfo *info);
gboolean frame_has_few_bits (const GstVideoInfo *info);

/*
 * Whether GStreamer's own unpacking reads all samples that the format has. Of VYUY with an odd width it takes U for V in the
 * last pixel, and some odd widths of UYVP and NV12_10LE32 leave no room for the last V in GStreamer's own rows.
 */
gboolean frame_reads_well (const GstVideoInfo *info);

/* How the frame lies in its buffer; formats of tiles are FRAME_PLAIN always. */
typedef enum
{
  FRAME_PLAIN,       /* as the caps say, no GstVideoMeta */
  FRAME_PADDED,      /* GstVideoMeta with longer rows and gaps between planes */
  FRAME_UPSIDE_DOWN, /* as FRAME_PADDED, with negative strides: the first row is the last in memory */
  FRAME_MEMORIES     /* GstVideoMeta and a memory for each plane */
} FrameLayout;

GstCaps *frame_caps (const gchar *format, gint width, gint height, const gchar *colorimetry);

/* A frame of random samples; the seed gives the same picture for every layout. */
GstBuffer *frame_new (const GstVideoInfo *info, FrameLayout layout, guint32 seed);

/* A buffer over a block of somebody else's, with one memory for each plane, the planes end to end, and a GstVideoMeta. */
GstBuffer *frame_wrap_planes (const GstVideoInfo *info, guint8 *block);

/* Reads components 0 .. n_components - 1; free with frame_clear(). */
void frame_read (const GstVideoInfo *info, GstBuffer *buffer, Component components[4]);
void frame_clear (Component components[4]);

/* Appends the rows of all planes of a sample's frame, in any memory, without what lies between the rows. */
void frame_append_rows (GByteArray *bytes, GstSample *sample);

/* What the element is expected to have done to a frame. */
typedef struct
{
  ConvolveBoundary boundary;
  gint width, height;            /* of the mask */
  const gint64 *integers;        /* exact where not NULL */
  gint64 numerator, denominator; /* 1 / divisor */
  const gdouble *weights[2];     /* of luma, and of subsampled chroma with its own size */
  gdouble divisors[2];
  gint chroma_width, chroma_height;
  gdouble bias;                 /* with the preset's offset */
  guint chosen;                 /* bit c: component c is convolved, all others are copied; 0 stands for all but alpha */
  const ConvolveMask *masks[2]; /* of luma and of subsampled chroma, where they combine several sets; or NULL */
} Expected;

/* What a preset does, from the masks of luma and chroma, which must live as long. */
Expected expected_of_masks (const ConvolveMask *luma, const ConvolveMask *chroma, ConvolveBoundary boundary);

/*
 * Compares a component, or a part of it that is convolved as an image of its own, with the oracle; info is that of the
 * frames, and c the component's number. Fails the check, naming the place, where a sample differs.
 */
void frame_check_component (const GstVideoInfo *info, guint c, const Component *in, const Component *out,
    const Expected *expected, const gchar *what);

/* Compares every sample with the oracle; fails the check, naming the place, where one differs. */
void frame_check (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const Expected *expected, const gchar *what);

#endif
