/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames under way: begun, and not yet passed on. They are a ring, and the place of a frame in the ring is its slot on
 * the device. Keeping a frame under way while the next one begins overlaps the copies of both, and delays the stream by
 * one frame.
 *
 * The functions are for the streaming thread, and for stop, where no other thread is named.
 */
#ifndef GST_CUDA_CONVOLVE_FLIGHTS_H
#define GST_CUDA_CONVOLVE_FLIGHTS_H

#include "device.h"
#include "errors.h"
#include "regions.h"
#include "stats.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveFlights GstCudaConvolveFlights;

/* The element owns the flights, and must outlive them; so must the other three. */
GstCudaConvolveFlights *gst_cuda_convolve_flights_new (GstElement *element, GstCudaConvolveDevice *device,
    GstCudaConvolveErrors *errors, GstCudaConvolveStats *stats);
void gst_cuda_convolve_flights_free (GstCudaConvolveFlights *flights);

/* --- how many frames stay under way --- */

/*
 * Sets how many frames are to stay under way when a frame is begun: 0 .. CONVOLVE_MAX_FRAMES - 1. Posts a LATENCY
 * message where the delay of frames with info changes.
 */
void gst_cuda_convolve_flights_set_ahead (GstCudaConvolveFlights *flights, guint ahead, const GstVideoInfo *info);

/* How long frames stay under way. Any thread. */
GstClockTime gst_cuda_convolve_flights_get_latency (GstCudaConvolveFlights *flights);

/*
 * Says how many buffers of a side's pool the element may keep, as an ALLOCATION query has settled. lacks_buffers()
 * tells whether these are too few, so that the side is to be asked again.
 */
void gst_cuda_convolve_flights_agree (GstCudaConvolveFlights *flights, GstPadDirection side, guint buffers);
gboolean gst_cuda_convolve_flights_lacks_buffers (GstCudaConvolveFlights *flights, GstPadDirection side);

/* --- frames --- */

/*
 * Begins a frame. Takes both buffers, on failure too. A failure has been posted, and then no frame is under way. With
 * regions, which belong to the plans, only these parts of the frame change, and output may be NULL: then input,
 * which must be writable, is changed in place.
 */
GstFlowReturn gst_cuda_convolve_flights_begin (GstCudaConvolveFlights *flights, GstCudaConvolvePlans *plans,
    GstCudaConvolveRegions *regions, GstBuffer *input, GstBuffer *output);

/* Begins a frame that stays as it is, behind the frames under way. Takes buffer. */
void gst_cuda_convolve_flights_pass (GstCudaConvolveFlights *flights, GstBuffer *buffer);

/*
 * Ends the oldest frame where more frames are under way than are to stay, and gives its output, or NULL. A failure has
 * been posted, and then no frame is under way.
 */
GstFlowReturn gst_cuda_convolve_flights_end_surplus (GstCudaConvolveFlights *flights, GstBuffer **output);

/* Ends all frames and pushes them on the pad. After a failure the others are dropped. */
GstFlowReturn gst_cuda_convolve_flights_drain (GstCudaConvolveFlights *flights, GstPad *pad);

/* Waits for all frames under way and throws them away. */
void gst_cuda_convolve_flights_drop (GstCudaConvolveFlights *flights);

/* The device is closed, and all that it had under way is done. No frame is under way. */
void gst_cuda_convolve_flights_forget_slots (GstCudaConvolveFlights *flights);

/* The element stops: no frame is to stay under way, and nothing is agreed with the neighbours. */
void gst_cuda_convolve_flights_stop (GstCudaConvolveFlights *flights);

G_END_DECLS

#endif
