/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the element does to frames: the mask or the layer, the plans that are made from it for the caps there are, and
 * where these plans run. A failure has been posted on the bus when a function returns it.
 *
 * The functions are for the streaming thread, and for start and stop, where no other thread is named.
 */
#ifndef GST_CUDA_CONVOLVE_ENGINE_H
#define GST_CUDA_CONVOLVE_ENGINE_H

#include "stream/flights.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveEngine GstCudaConvolveEngine;

/* The element owns the engine, and must outlive it; so must the other four. */
GstCudaConvolveEngine *gst_cuda_convolve_engine_new (GstElement *element, GstCudaConvolveDevice *device,
    GstCudaConvolveFlights *flights, GstCudaConvolveErrors *errors, GstCudaConvolveStats *stats);
void gst_cuda_convolve_engine_free (GstCudaConvolveEngine *engine);

/* Whether the settings can work at all, whatever the caps; opens no device. */
gboolean gst_cuda_convolve_engine_start (GstCudaConvolveEngine *engine, const ConvolveProperties *properties);
void gst_cuda_convolve_engine_stop (GstCudaConvolveEngine *engine);

/* Sets new caps. The plans must then be made again by update(). No frame is under way. */
void gst_cuda_convolve_engine_set_caps (GstCudaConvolveEngine *engine, const GstVideoInfo *in, const GstVideoInfo *out,
    gboolean cuda_in, gboolean cuda_out);

/* What the caps say; the format is UNKNOWN before the first caps. The output is unlike the input for a layer alone. */
const GstVideoInfo *gst_cuda_convolve_engine_get_in_info (GstCudaConvolveEngine *engine);
const GstVideoInfo *gst_cuda_convolve_engine_get_out_info (GstCudaConvolveEngine *engine);

/* --- the layer --- */

/*
 * Takes the layer that the settings describe, or none where they name none. Where the layer is bad, or does not take
 * frames with the caps there are, the user is warned, the layer or mask before stays, and FALSE is returned. Otherwise
 * one of the next two functions follows: keep_layer() where downstream takes what the layer makes, and restore_layer(),
 * which warns, where downstream does not. before is the layer to go back to, or NULL.
 */
gboolean gst_cuda_convolve_engine_update_layer (GstCudaConvolveEngine *engine, const ConvolveProperties *properties);
void gst_cuda_convolve_engine_keep_layer (GstCudaConvolveEngine *engine);
void gst_cuda_convolve_engine_restore_layer (GstCudaConvolveEngine *engine, GstCudaConvolveLayer *before);

/* The layer in the mask's place, or NULL: referenced, for any thread; not referenced, for the streaming thread. */
GstCudaConvolveLayer *gst_cuda_convolve_engine_ref_layer (GstCudaConvolveEngine *engine);
const GstCudaConvolveLayer *gst_cuda_convolve_engine_get_layer (GstCudaConvolveEngine *engine);

/* Whether the layer, or the mask, makes frames with the output's caps of frames with the input's. */
gboolean gst_cuda_convolve_engine_has_right_caps (GstCudaConvolveEngine *engine);

/* --- the plans --- */

/*
 * Makes the plans from the settings, and opens the device where that is needed. A bad mask is an error as long as there
 * was no good one, and a warning afterwards. FALSE where an error was posted; there are no plans then.
 */
gboolean gst_cuda_convolve_engine_update (GstCudaConvolveEngine *engine, const ConvolveProperties *properties);

/* Whether there are plans, whether they change nothing at all, and whether they run on the device. */
gboolean gst_cuda_convolve_engine_has_plans (GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_is_passthrough (GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_is_on_device (GstCudaConvolveEngine *engine);

/* Moves the work to the context of the input. The plans must then be made again by update(). No frame is under way. */
void gst_cuda_convolve_engine_follow (GstCudaConvolveEngine *engine, GstBuffer *input);

/* --- frames --- */

/* What a frame needs. */
typedef enum
{
  GST_CUDA_CONVOLVE_NEEDS_OUTPUT,  /* a buffer for the result */
  GST_CUDA_CONVOLVE_NEEDS_NOTHING, /* the input is changed in place */
  GST_CUDA_CONVOLVE_NEEDS_NO_WORK  /* the input is the result */
} GstCudaConvolveNeed;

/*
 * Finds the regions of the next frame, where only these change, and so what the frame needs. The frame's time is counted
 * in the segment. Warns of metadata that cannot be read, once for each kind of fault until the caps change.
 */
GstCudaConvolveNeed gst_cuda_convolve_engine_look (GstCudaConvolveEngine *engine, const GstSegment *segment,
    GstBuffer *input);

/*
 * Whether the input is the first frame with these caps of which a crop leaves out pixels. The plans must then be made
 * again by update(), with plans that copy these pixels.
 */
gboolean gst_cuda_convolve_engine_needs_copies (GstCudaConvolveEngine *engine, GstBuffer *input);

/* Logs what of the frame cannot be kept apart, once for each fault until the caps change. There are plans. */
void gst_cuda_convolve_engine_warn_of_frame (GstCudaConvolveEngine *engine, GstBuffer *input);

/*
 * Begins the frame that look() was for, with the plans there are, as gst_cuda_convolve_flights_begin(). output is NULL
 * where the frame needs none.
 */
GstFlowReturn gst_cuda_convolve_engine_begin (GstCudaConvolveEngine *engine, GstBuffer *input, GstBuffer *output);

/* Begins a frame that needs no work. Takes input. */
void gst_cuda_convolve_engine_pass (GstCudaConvolveEngine *engine, GstBuffer *input);

/* The stream ends: tells the user what of the regions did not come. */
void gst_cuda_convolve_engine_end_stream (GstCudaConvolveEngine *engine);

/* The stream begins at another place: regions of earlier frames say nothing of the next one. */
void gst_cuda_convolve_engine_flush (GstCudaConvolveEngine *engine);

G_END_DECLS

#endif
