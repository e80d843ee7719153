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

#include "cuda/device.h"
#include "report/errors.h"
#include "report/stats.h"
#include "stream/record.h"
#include "stream/work.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveFlights GstCudaConvolveFlights;

/* The element owns the flights, and must outlive them; so must the other four. */
GstCudaConvolveFlights *gst_cuda_convolve_flights_new (GstElement *element, GstCudaConvolveDevice *device,
    GstCudaConvolveErrors *errors, GstCudaConvolveStats *stats, GstCudaConvolveRecord *record);
void gst_cuda_convolve_flights_free (GstCudaConvolveFlights *flights);

/* --- how many frames stay under way --- */

/*
 * Sets how many frames are to stay under way when a frame is begun: 0 .. CONVOLVE_MAX_FRAMES - 1. Posts a LATENCY
 * message where the delay of frames with info changes.
 */
void gst_cuda_convolve_flights_set_ahead (GstCudaConvolveFlights *flights, guint ahead, const GstVideoInfo *info);

/* How long frames stay under way. Any thread. */
GstClockTime gst_cuda_convolve_flights_get_latency (GstCudaConvolveFlights *flights);

/* The output's pool lends the element so many buffers beyond those that downstream keeps. */
void gst_cuda_convolve_flights_agree_out (GstCudaConvolveFlights *flights, guint buffers);

/*
 * Upstream asked, and heard that its pool is to lend `asked` buffers, of which the element keeps up to `kept`. Nobody
 * knows whether upstream does so before buffers of such a pool come. 0 and 0: upstream has not asked.
 */
void gst_cuda_convolve_flights_agree_in (GstCudaConvolveFlights *flights, guint asked, guint kept);

/*
 * Upstream was told to ask again. Its query may have to wait until other branches of the pipeline go on, so no frame
 * stays under way until agree_in().
 */
void gst_cuda_convolve_flights_await_query (GstCudaConvolveFlights *flights);

/* Finds out how many of the buffers that upstream sends the element may keep. begin() and pass() do so, too. */
void gst_cuda_convolve_flights_look_at (GstCudaConvolveFlights *flights, GstBuffer *input);

/* How many of these, with that input, are not for frames under way; G_MAXUINT for any number. */
guint gst_cuda_convolve_flights_count_spare (GstCudaConvolveFlights *flights);

/*
 * Whether a side's pool lends too few buffers for frames under way, and upstream's for `more`; the side is to be asked
 * again.
 */
gboolean gst_cuda_convolve_flights_lacks_buffers (GstCudaConvolveFlights *flights, GstPadDirection side, guint more);

/*
 * Whether the time that the streaming thread spends on frames is measured: the work itself and the wait for it, without
 * mapping and page-locking. take_time() gives the nanoseconds since the last take_time(), 0 where none was measured.
 */
void gst_cuda_convolve_flights_measure (GstCudaConvolveFlights *flights, gboolean measured);
guint64 gst_cuda_convolve_flights_take_time (GstCudaConvolveFlights *flights);

/* --- frames. The record, if any, has begun the line of a frame that begins; the frame's end ends the line. --- */

/*
 * Begins a frame with this crop. Takes both buffers, on failure too. A failure has been posted, and then no frame is
 * under way. output may be NULL for work whose input and output have one layout, and which changes frames in place:
 * then input must be writable.
 */
GstFlowReturn gst_cuda_convolve_flights_begin (GstCudaConvolveFlights *flights, GstCudaConvolveWork *work,
    const GstCudaConvolveCrop *crop, GstBuffer *input, GstBuffer *output);

/* Begins a frame that stays as it is, behind the frames under way. Takes buffer. */
void gst_cuda_convolve_flights_pass (GstCudaConvolveFlights *flights, GstBuffer *buffer);

/*
 * Ends the oldest frame where more frames are under way than are to stay, and gives its output, or NULL. A failure has
 * been posted, and then no frame is under way.
 */
GstFlowReturn gst_cuda_convolve_flights_end_surplus (GstCudaConvolveFlights *flights, GstBuffer **output);

/* Ends all frames and pushes them on the pad. After a failure the others are dropped. why: the cause, for the log. */
GstFlowReturn gst_cuda_convolve_flights_drain (GstCudaConvolveFlights *flights, GstPad *pad, const gchar *why);

/* Waits for all frames under way and throws them away. */
void gst_cuda_convolve_flights_drop (GstCudaConvolveFlights *flights);

/*
 * A flush: throws all frames away. The next frame leaves at once, as the first one does, because the sink waits for a
 * frame. Other branches of the pipeline may wait for that sink, and upstream for those branches.
 */
void gst_cuda_convolve_flights_flush (GstCudaConvolveFlights *flights);

/* The device is closed, and all that it had under way is done. No frame is under way. */
void gst_cuda_convolve_flights_forget_slots (GstCudaConvolveFlights *flights);

/* The element stops: no frame is to stay under way, and nothing is agreed with the neighbours. */
void gst_cuda_convolve_flights_stop (GstCudaConvolveFlights *flights);

G_END_DECLS

#endif
