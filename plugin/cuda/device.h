/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which CUDA device and which GStreamer context the element works in.
 *
 * Frames in CUDA memory belong to a context that elements share, and the device is opened in that context. Where all
 * frames are in system memory, the device is opened in the process's own context, which all such elements share.
 *
 * The functions are for the streaming thread, and for start and stop, where no other thread is named.
 */
#ifndef GST_CUDA_CONVOLVE_DEVICE_H
#define GST_CUDA_CONVOLVE_DEVICE_H

#include "convolve_device.h"
#include "cuda/cudastream.h"
#include "properties/properties.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveDevice GstCudaConvolveDevice;

/* The element owns the device, and must outlive it. */
GstCudaConvolveDevice *gst_cuda_convolve_device_new (GstElement *element);
void gst_cuda_convolve_device_free (GstCudaConvolveDevice *device);

/*
 * The element starts with cuda-device-id as it is now: the number counts until the next start. An error where the
 * settings need a device and there is none; without need the CPU takes the work, and an INFO says so once.
 */
ConvolveStatus gst_cuda_convolve_device_start (GstCudaConvolveDevice *device, const ConvolveProperties *properties,
    ConvolveError *error);

/* The number that the user asked for at start, or -1. */
gint gst_cuda_convolve_device_get_id (GstCudaConvolveDevice *device);

/*
 * Opens the device where the settings can use one and none is open. cuda_memory tells whether the caps of one side say
 * CUDA memory. Without a device the same holds as at start.
 */
ConvolveStatus gst_cuda_convolve_device_open (GstCudaConvolveDevice *device, const ConvolveProperties *properties,
    gboolean cuda_memory, ConvolveError *error);

/* Closes the device and gives up the context. No plan of the device exists, and no frame is under way. */
void gst_cuda_convolve_device_close (GstCudaConvolveDevice *device);

/* The open device, or NULL. */
ConvolveDevice *gst_cuda_convolve_device_get_handle (GstCudaConvolveDevice *device);

/* Whether the device is open, and not in a context that elements share. */
gboolean gst_cuda_convolve_device_is_outside_context (GstCudaConvolveDevice *device);

/* Makes the device's context current on this thread; every enter() that returns CONVOLVE_OK has one leave(). */
ConvolveStatus gst_cuda_convolve_device_enter (GstCudaConvolveDevice *device, ConvolveError *error);
void gst_cuda_convolve_device_leave (GstCudaConvolveDevice *device);

/* --- the context --- */

/*
 * For the element's set_context(): keeps the context in the message where that is a context of the device. For its
 * CONTEXT query: answers with the context. FALSE where the query asks for something else. Any thread.
 */
void gst_cuda_convolve_device_set_context (GstCudaConvolveDevice *device, GstContext *message, gint device_id);
gboolean gst_cuda_convolve_device_answer_context (GstCudaConvolveDevice *device, GstQuery *query);

/* The context for frames in CUDA memory, searched where there is none yet. Not referenced; NULL without a device. */
GstCudaConvolveContext *gst_cuda_convolve_device_ensure_context (GstCudaConvolveDevice *device);

/* The stream of the context that the device works on. NULL where GStreamer has no streams. */
GstCudaConvolveStream *gst_cuda_convolve_device_get_stream (GstCudaConvolveDevice *device);

/*
 * Whether the input is in another context than the device's, and the user left open where the work is done. follow()
 * takes over the input's context, after close().
 */
gboolean gst_cuda_convolve_device_is_elsewhere (GstCudaConvolveDevice *device, GstBuffer *input);
void gst_cuda_convolve_device_follow (GstCudaConvolveDevice *device, GstBuffer *input);

/*
 * Whether the input is in the device's context, and work on it is on another stream. follow_stream() makes the device
 * work on that stream: elements on one stream need not wait for each other. No frame is under way then.
 */
gboolean gst_cuda_convolve_device_is_on_other_stream (GstCudaConvolveDevice *device, GstBuffer *input);
void gst_cuda_convolve_device_follow_stream (GstCudaConvolveDevice *device, GstBuffer *input);

/* --- buffers --- */

/* Whether all memory of the buffer is in the context that the device was opened in. */
gboolean gst_cuda_convolve_device_holds (GstCudaConvolveDevice *device, GstBuffer *buffer);

/* Whether everything that is done to the buffer is done in the order of the device's stream. */
gboolean gst_cuda_convolve_device_orders (GstCudaConvolveDevice *device, GstBuffer *buffer);

/* Page-locks the buffer's host memory for the device, as gst_cuda_convolve_pin_buffer() describes. */
gboolean gst_cuda_convolve_device_pin (GstCudaConvolveDevice *device, GstBuffer *buffer);

/*
 * After a frame with pageable memory: the log is told once where the device could not lock memory for such frames.
 */
void gst_cuda_convolve_device_tell_staging (GstCudaConvolveDevice *device);

/* Whether CUDA still works in the context; for those who learn only that a call of GstCuda failed. */
ConvolveStatus gst_cuda_convolve_cuda_check (GstCudaConvolveContext *context, ConvolveError *error);

/* The context that frames in CUDA memory are allocated in, or NULL. */
GstCudaConvolveContext *gst_cuda_convolve_device_get_context (GstCudaConvolveDevice *device);

G_END_DECLS

#endif
