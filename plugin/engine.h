/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What works on the element's frames: the device or the CPU, the context that it shares, the plans, and the frames that
 * are under way. It speaks to the user through the element, so each of its failures has been posted when it returns.
 *
 * All calls are the streaming thread's, or start's and stop's, but those of the context and of what is published.
 */
#ifndef GST_CUDA_CONVOLVE_ENGINE_H
#define GST_CUDA_CONVOLVE_ENGINE_H

#include "convolve_pool.h"
#include "cudastream.h"
#include "run.h"

G_BEGIN_DECLS

/* A frame under way. */
typedef struct
{
  GstBuffer *input, *output;
  GstCudaConvolveFrame in, out; /* mapped */
  GstCudaConvolvePlans plans;   /* those it was begun with */
  gboolean pending;             /* the device's slot is not waited for */
  gboolean ordered;             /* need not be: all who touch the buffers do it in the order of one stream */
} GstCudaConvolveFlight;

typedef struct
{
  guint64 frames, timed_frames;
  ConvolveTimes total; /* of those that were timed */
} GstCudaConvolveStats;

typedef struct
{
  GstElement *element;

  /* Published: under the element's object lock. */
  const gchar *active_variant;        /* interned, NULL before the first frame */
  const gchar *backend, *device_name; /* of the active variant, static and interned */
  GstCudaConvolveStats stats;
  gchar *failed; /* the text of the error that was posted last since start, or NULL */

  /* Neighbours may hand us their context at any time, also while we ask for one. */
  GMutex context_lock;             /* of the next three; no other code is called with it */
  GstCudaConvolveContext *context; /* what CUDA frames are in; once set, of one value till stop or till the
                                         * input is followed elsewhere */
  GThread *searching;              /* the thread that asks for a context, only compared, or NULL */
  GstCudaConvolveContext **found;  /* that thread's own place for what it is handed */
  GstCudaConvolveStream *stream;   /* in context; the streaming thread's, NULL where GStreamer has none */

  GstVideoInfo info, out_info; /* unknown format before the first caps; alike but for a layer */
  GstCudaConvolveLayout layout, out_layout;
  GstCudaConvolveLayer *layer; /* in the mask's place, or NULL; written under the element's object lock */
  GstCudaConvolvePlans plans;
  ConvolveProperties good; /* what the plans were made from */
  gboolean have_plans;
  gchar *warned, *layer_warned; /* the texts of the warnings that stand, or NULL */
  ConvolvePool *pool;           /* of plans for the CPU, or NULL */
  guint n_threads;              /* that the pool was made for */
  gint device_id;               /* as it was at start */
  gboolean same_memory;         /* input and output caps are of one kind of memory */
  gboolean cuda_memory;         /* one of them is CUDA memory */
  ConvolveDevice *device;
  gboolean device_in_context; /* the device was opened in context, otherwise in the process's own */
  gboolean device_missing;    /* found so, and said so: once for each start */
  GstCudaConvolveFlight flights[CONVOLVE_MAX_FRAMES]; /* a ring; a flight's index is its slot on the device */
  guint first_flight, n_flights;
} GstCudaConvolveEngine;

void gst_cuda_convolve_engine_init (GstCudaConvolveEngine *engine, GstElement *element);
void gst_cuda_convolve_engine_clear (GstCudaConvolveEngine *engine);

/* Whether the settings can work at all; opens no device. */
gboolean gst_cuda_convolve_engine_start (GstCudaConvolveEngine *engine, const ConvolveProperties *settings);
void gst_cuda_convolve_engine_stop (GstCudaConvolveEngine *engine);

/* New caps: plans are to be made anew. No frame is under way. */
void gst_cuda_convolve_engine_set_info (GstCudaConvolveEngine *engine, const GstVideoInfo *in, const GstVideoInfo *out,
    gboolean cuda_in, gboolean cuda_out);

/*
 * Takes the layer that the settings describe, or none where they have none. A bad one, or one that frames with the caps
 * there are do not go through, is a warning, FALSE, and the layer or mask before it stays. Otherwise either of the next
 * two is to be called: where downstream takes what it makes, or, with a warning and the one before, which may be NULL,
 * where it does not.
 */
gboolean gst_cuda_convolve_engine_update_layer (GstCudaConvolveEngine *engine, const ConvolveProperties *settings);
void gst_cuda_convolve_engine_keep_layer (GstCudaConvolveEngine *engine);
void gst_cuda_convolve_engine_restore_layer (GstCudaConvolveEngine *engine, GstCudaConvolveLayer *before);

/* The layer there is, referenced, or NULL. Any thread. */
GstCudaConvolveLayer *gst_cuda_convolve_engine_ref_layer (GstCudaConvolveEngine *engine);

/* Whether the caps that were set are those that the layer, or the mask, makes. */
gboolean gst_cuda_convolve_engine_has_right_caps (const GstCudaConvolveEngine *engine);

/* The element's set_context and CONTEXT query. Any thread. */
void gst_cuda_convolve_engine_set_context (GstCudaConvolveEngine *engine, GstContext *message, gint device_id);
gboolean gst_cuda_convolve_engine_answer_context (GstCudaConvolveEngine *engine, GstQuery *query);

/* The context for CUDA frames, and a stream in it, asked for where there is none yet. Not referenced; NULL where there is no device. */
GstCudaConvolveContext *gst_cuda_convolve_engine_ensure_context (GstCudaConvolveEngine *engine);

/*
 * Whether a frame in our context comes from work on a stream that is not ours; to work on that one from now on, without
 * frames under way: elements on one stream need not wait for each other.
 */
gboolean gst_cuda_convolve_engine_is_on_other_stream (GstCudaConvolveEngine *engine, GstBuffer *input);
void gst_cuda_convolve_engine_follow_stream (GstCudaConvolveEngine *engine, GstBuffer *input);

/*
 * Where the user left the choice of the device open, work is done where the frames are. True where this buffer's
 * memory asks for a move, which wants no frame under way and plans to be made anew.
 */
gboolean gst_cuda_convolve_engine_is_elsewhere (GstCudaConvolveEngine *engine, GstBuffer *input);
void gst_cuda_convolve_engine_follow (GstCudaConvolveEngine *engine, GstBuffer *input);

/*
 * Makes the plans from the settings. A bad mask is an error as long as there was no good one, and a warning
 * afterwards. FALSE where an error was posted.
 */
gboolean gst_cuda_convolve_engine_update (GstCudaConvolveEngine *engine, const ConvolveProperties *settings);

/* What the plans come to: no work at all, or work on the device. */
gboolean gst_cuda_convolve_engine_is_passthrough (const GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_is_on_device (const GstCudaConvolveEngine *engine);

/*
 * Begins a frame, of at most CONVOLVE_MAX_FRAMES; alone where none is to overlap it. Takes both buffers, on failure
 * too.
 */
GstFlowReturn gst_cuda_convolve_engine_begin (GstCudaConvolveEngine *engine, GstBuffer *input, GstBuffer *output,
    gboolean alone);

/* Waits for the oldest frame under way, which there is, and gives its output. After a failure no frame is under way. */
GstFlowReturn gst_cuda_convolve_engine_end (GstCudaConvolveEngine *engine, GstBuffer **output);

/*
 * Posts an element error unless its text was the last one posted since start: one fault shows in every frame and in every
 * query that follows, and is one error. Takes debug, which may be NULL. Any thread.
 */
void gst_cuda_convolve_engine_fail (GstCudaConvolveEngine *engine, GQuark domain, gint code, const gchar *text,
    gchar *debug);

/* Posts the error of a call of the kernel library, by the rule of gst_cuda_convolve_engine_fail(). */
void gst_cuda_convolve_engine_post_error (GstCudaConvolveEngine *engine, const ConvolveError *error);

/* Waits for all frames under way and throws them away. */
void gst_cuda_convolve_engine_drop (GstCudaConvolveEngine *engine);

G_END_DECLS

#endif
