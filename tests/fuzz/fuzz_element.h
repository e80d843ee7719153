/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of fuzz_element share. A fault of an element ends the program by fuzz_fail(). */
#ifndef TESTS_FUZZ_ELEMENT_H
#define TESTS_FUZZ_ELEMENT_H

#include <gst/video/video.h>

#include "fuzz/fuzz.h"
#include "frame/layout.h"
#include "support/oracle_boundary.h"

#define FUZZ_FILL 0xC5 /* every byte of an output buffer before the element writes */
#define FUZZ_PIECES 8  /* memories of a buffer */
#define FUZZ_FRAMES 24 /* buffers that one input pushes */
#define FUZZ_AREA 1500 /* pixels of a frame */

/* The input of the fuzzer, read from its start. After the end all bytes are 0. */
typedef struct
{
  const guint8 *data;
  gsize left;
} Bytes;

guint8 fuzz_byte (Bytes *bytes);
guint fuzz_word (Bytes *bytes); /* 16 bits */
guint64 fuzz_long (Bytes *bytes);

/* A mask whose result is known exactly: integers times 1 / divisor, whose sum is the divisor. */
typedef struct
{
  const gchar *text;
  gint width, height;
  gint64 integers[15], divisor;
} KnownMask;

extern const KnownMask fuzz_masks[];
extern const guint fuzz_n_masks;

/* A frame that was pushed. */
typedef struct
{
  guint8 *bytes; /* all memories end to end, as they were when the frame was pushed */
  gsize size;
  guint n_pieces;
  guint8 *piece[FUZZ_PIECES]; /* where the element saw them */
  gsize piece_size[FUZZ_PIECES];
  gsize offset[GST_VIDEO_MAX_PLANES]; /* of row 0 of each plane */
  gint stride[GST_VIDEO_MAX_PLANES];
  gboolean sound;    /* every row lies inside the memories, as a frame of the caps */
  GstBuffer *kept;   /* so that the element must not write into the frame; or NULL */
  GstVideoInfo info; /* of the caps */
  gint mask;         /* of fuzz_masks; -1 where the result is not known */
  gint slack;        /* code values by which a sample may differ from that result */
  OracleBoundary boundary;
} Frame;

/* --- fuzz_element_frames.c --- */

/* Fills frame and makes the buffer, whose PTS tells number. */
GstBuffer *fuzz_frame_new (Frame *frame, guint number, const GstVideoInfo *info, Bytes *bytes);

/* Puts the same picture into a buffer of the element's pool. */
GstBuffer *fuzz_frame_new_from_pool (Frame *frame, guint number, const GstVideoInfo *info, GstBufferPool *pool,
    Bytes *bytes);
void fuzz_frame_clear (Frame *frame);
gint fuzz_frame_number (GstBuffer *buffer); /* -1 where the PTS does not tell */

/* A block of exactly this size, so that one byte too many is seen. All blocks must be gone after each input. */
GstMemory *fuzz_memory_new (gsize size, GstMemoryFlags flags, guint8 **block);
extern gint fuzz_blocks;

/* --- fuzz_element_pool.c --- */

/* What downstream answers to an allocation query. */
typedef enum
{
  POOL_NONE,
  POOL_META_ALONE,
  POOL_EXACT,
  POOL_PADDED,
  POOL_UPSIDE_DOWN,
  POOL_MEMORIES,
  POOL_GSTREAMER,
  POOL_FEW,        /* GStreamer's, of as many buffers as the element asks for */
  POOL_HONEST_END, /* the answers from here on are faulty */
  POOL_FIRST_SIZE = POOL_HONEST_END,
  POOL_SHORT,
  POOL_LYING,
  POOL_REFUSES,
  POOL_QUERY_FAILS,
  POOL_N_KINDS
} PoolKind;

/* first_size is the size that POOL_FIRST_SIZE keeps; 0 before the first pool. */
gboolean fuzz_pool_answer (PoolKind kind, gsize *first_size, GstQuery *query);

/* Upstream has taken frames from such a pool, so nobody knows what its blocks held before. */
extern gboolean fuzz_pool_is_lent;

/* Whether the memory is a block of such a pool. */
gboolean fuzz_pool_owns (GstMemory *memory);

/* --- fuzz_element_check.c --- */

/* Aborts where an output is not what the frame, its mask and its boundary say, or bytes around the picture changed. */
void fuzz_check_output (const Frame *frame, const GstVideoInfo *info, GstBuffer *output);

/* Aborts where a kept frame changed. */
void fuzz_check_input (const Frame *frame);

/* --- fuzz_element_values.c --- */

/* Files of layers and masks, in memory. */
void fuzz_values_init (void);

/* The file of a layer that convolves each of 1 or 3 channels with a mask of fuzz_masks, by itself. */
const gchar *fuzz_layer_file (guint mask, guint channels);

/* Sets the property to a value, good or bad, that the bytes say. */
void fuzz_set_property (GObject *object, GParamSpec *spec, gsize area, Bytes *bytes);

#endif
