/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames that wait for later ones, in front of all else that the element does: behind this queue a frame looks as if it
 * had just come. Serialized events wait in their places between the frames.
 *
 * At most GST_CUDA_CONVOLVE_MOST_WAITING frames and events wait. A frame of a pool that lends the element no more
 * buffers waits as a copy, so that the pool does not run dry.
 *
 * The functions are for the streaming thread, and for start and stop, where no other thread is named.
 */
#ifndef GST_CUDA_CONVOLVE_WAITING_H
#define GST_CUDA_CONVOLVE_WAITING_H

#include "base/element.h"

G_BEGIN_DECLS

#define GST_CUDA_CONVOLVE_MOST_WAITING 1024

/* When the element is made, and when it is freed. handle_event takes the events that have waited, when their turn comes. */
void gst_cuda_convolve_waiting_init (GstCudaConvolveBase *base, GstCudaConvolveEventFunction handle_event);
void gst_cuda_convolve_waiting_clear (GstCudaConvolveBase *base);

/* Nothing waits, and there is no segment: the element starts or stops. */
void gst_cuda_convolve_waiting_reset (GstCudaConvolveBase *base);

/*
 * Takes a serialized event that has to stay behind frames, and gives TRUE. FALSE for an event that is to be handled
 * now: what was in front of it has gone on, or was dropped by a flush. Before EOS, the class calls drain().
 */
gboolean gst_cuda_convolve_waiting_take_event (GstCudaConvolveBase *base, GstEvent *event);

/* Lets all that waits go on. After a failure, which the next frame hands on, frames are dropped. */
void gst_cuda_convolve_waiting_drain (GstCudaConvolveBase *base, const gchar *why);

/* How many frames wait with these settings, which any thread may have, and the caps of the frames that come. */
guint gst_cuda_convolve_waiting_count (GstCudaConvolveBase *base, const ConvolveProperties *properties);

/* How long. Any thread. */
GstClockTime gst_cuda_convolve_waiting_get_latency (GstCudaConvolveBase *base);

G_END_DECLS

#endif
