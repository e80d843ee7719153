/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device.h"

#include "report/debug.h"
#include "cuda/pinned.h"

struct _GstCudaConvolveDevice
{
  GstElement *element;

  /* Neighbours hand over their context at any time, even while this element searches for one. */
  GMutex lock;                     /* of the next three; no code of others is called with the lock */
  GstCudaConvolveContext *context; /* once set, kept until close() or follow() */
  GThread *searching;              /* the thread that searches for a context, only compared, or NULL */
  GstCudaConvolveContext **found;  /* where that thread takes what it is handed */

  GstCudaConvolveStream *stream; /* in context, or NULL */
  gint id;                       /* cuda-device-id as it was at start */
  ConvolveDevice *handle;
  gboolean in_context; /* handle was opened in context, otherwise in the process's own */
  gboolean missing;    /* no device was found, and an INFO said so */

  guint follows_told, pins_told; /* see GST_CUDA_CONVOLVE_TELL */
  gboolean staging_told;
};

GstCudaConvolveDevice *
gst_cuda_convolve_device_new (GstElement *element)
{
  GstCudaConvolveDevice *device = g_new0 (GstCudaConvolveDevice, 1);

  device->element = element;
  device->id = -1;
  g_mutex_init (&device->lock);
  return device;
}

void
gst_cuda_convolve_device_free (GstCudaConvolveDevice *device)
{
  gst_clear_object (&device->context); /* a neighbour may have handed one over that was never used */
  g_mutex_clear (&device->lock);
  g_free (device);
}

gint
gst_cuda_convolve_device_get_id (GstCudaConvolveDevice *device)
{
  return device->id;
}

ConvolveDevice *
gst_cuda_convolve_device_get_handle (GstCudaConvolveDevice *device)
{
  return device->handle;
}

gboolean
gst_cuda_convolve_device_is_outside_context (GstCudaConvolveDevice *device)
{
  return device->handle && !device->in_context;
}

/* The context to be current for work on the device, or NULL. */
static GstCudaConvolveContext *
working_context (GstCudaConvolveDevice *device)
{
  return device->in_context ? device->context : NULL;
}

static ConvolveStatus
fail_to_enter (ConvolveError *error)
{
  *error = (ConvolveError){ .status = CONVOLVE_DEVICE_FAILED, .text = "its context cannot be made current" };
  return error->status;
}

ConvolveStatus
gst_cuda_convolve_device_enter (GstCudaConvolveDevice *device, ConvolveError *error)
{
  return gst_cuda_convolve_cuda_push (working_context (device)) ? CONVOLVE_OK : fail_to_enter (error);
}

void
gst_cuda_convolve_device_leave (GstCudaConvolveDevice *device)
{
  gst_cuda_convolve_cuda_pop (working_context (device));
}

/* --- the context --- */

/*
 * GStreamer's search asks neighbours and the application, who may wait for threads that call this element: no lock is
 * held meanwhile. A neighbour answers by set_context on this thread, and its context goes to this function's
 * own variable. A context that another thread sets meanwhile is kept, and the one that the search found is dropped.
 */
GstCudaConvolveContext *
gst_cuda_convolve_device_ensure_context (GstCudaConvolveDevice *device)
{
  GstCudaConvolveContext *found = NULL;

  g_mutex_lock (&device->lock);
  if (!device->context) {
    device->searching = g_thread_self ();
    device->found = &found;
    g_mutex_unlock (&device->lock);
    gst_cuda_convolve_cuda_ensure (device->element, device->id, &found);
    g_mutex_lock (&device->lock);
    device->searching = NULL;
    device->found = NULL;
    if (!device->context)
      device->context = g_steal_pointer (&found);
  }
  g_mutex_unlock (&device->lock);
  gst_clear_object (&found);
  /* A context that is set is never replaced by another thread, so the lock is not needed to read it. */
  if (device->context && !device->stream)
    device->stream = gst_cuda_convolve_stream_new (device->context);
  return device->context;
}

void
gst_cuda_convolve_device_set_context (GstCudaConvolveDevice *device, GstContext *message, gint device_id)
{
  GstCudaConvolveContext *context = NULL, **place;

  gst_cuda_convolve_cuda_set_context (device->element, message, device_id, &context);
  g_mutex_lock (&device->lock);
  place = device->searching == g_thread_self () ? device->found : &device->context;
  if (!*place)
    *place = g_steal_pointer (&context);
  g_mutex_unlock (&device->lock);
  gst_clear_object (&context);
}

gboolean
gst_cuda_convolve_device_answer_context (GstCudaConvolveDevice *device, GstQuery *query)
{
  GstCudaConvolveContext *context;
  gboolean answered;

  g_mutex_lock (&device->lock);
  context = device->context ? gst_object_ref (device->context) : NULL;
  g_mutex_unlock (&device->lock);
  answered = gst_cuda_convolve_cuda_answer (device->element, query, context);
  gst_clear_object (&context);
  return answered;
}

GstCudaConvolveStream *
gst_cuda_convolve_device_get_stream (GstCudaConvolveDevice *device)
{
  return device->stream;
}

gboolean
gst_cuda_convolve_device_is_elsewhere (GstCudaConvolveDevice *device, GstBuffer *input)
{
  GstCudaConvolveContext *theirs = gst_cuda_convolve_cuda_of_buffer (input);

  if (!theirs || (theirs == device->context && !gst_cuda_convolve_device_is_outside_context (device)))
    return FALSE;
  /* The frames of another device than the one asked for are mapped to the host. */
  return device->id < 0 || device->id == gst_cuda_convolve_cuda_device_id (theirs);
}

void
gst_cuda_convolve_device_follow (GstCudaConvolveDevice *device, GstBuffer *input)
{
  GstCudaConvolveContext *theirs = gst_cuda_convolve_cuda_of_buffer (input);

  GST_CUDA_CONVOLVE_TELL (&device->follows_told, device->element,
      "the frames are in another context, following them to %" GST_PTR_FORMAT, theirs);
  g_mutex_lock (&device->lock);
  gst_object_replace (&device->context, theirs);
  g_mutex_unlock (&device->lock);
}

gboolean
gst_cuda_convolve_device_is_on_other_stream (GstCudaConvolveDevice *device, GstBuffer *input)
{
  GstCudaConvolveStream *theirs = gst_cuda_convolve_stream_of_buffer (input);
  gboolean other = theirs && theirs != device->stream && gst_cuda_convolve_cuda_of_buffer (input) == device->context;

  gst_cuda_convolve_stream_clear (&theirs);
  return other;
}

void
gst_cuda_convolve_device_follow_stream (GstCudaConvolveDevice *device, GstBuffer *input)
{
  GstCudaConvolveStream *theirs = gst_cuda_convolve_stream_of_buffer (input);

  GST_CUDA_CONVOLVE_TELL (&device->follows_told, device->element, "working on the stream of the input");
  if (device->handle && device->in_context && gst_cuda_convolve_cuda_push (device->context)) {
    convolve_device_use_stream (device->handle, gst_cuda_convolve_stream_handle (theirs), NULL);
    gst_cuda_convolve_cuda_pop (device->context);
  }
  gst_cuda_convolve_stream_clear (&device->stream);
  device->stream = theirs;
}

GstCudaConvolveContext *
gst_cuda_convolve_device_get_context (GstCudaConvolveDevice *device)
{
  return device->context;
}

ConvolveStatus
gst_cuda_convolve_cuda_check (GstCudaConvolveContext *context, ConvolveError *error)
{
  ConvolveStatus status;

  if (!gst_cuda_convolve_cuda_push (context))
    return fail_to_enter (error);
  status = convolve_device_check_current (error);
  gst_cuda_convolve_cuda_pop (context);
  return status;
}

/* --- opening and closing --- */

/* Without a device: an error where the settings need one, otherwise the CPU, and one INFO that says so. */
static ConvolveStatus
do_without (GstCudaConvolveDevice *device, const ConvolveProperties *properties, ConvolveError *error)
{
  if (convolve_properties_need_device (properties) || error->status != CONVOLVE_NO_DEVICE)
    return error->status;
  if (!device->missing) {
    GST_INFO_OBJECT (device->element, "the work passes to the CPU: %s", error->text);
    /* The sentence is the debug text too, because gst-launch-1.0 shows nothing else of an INFO. */
    GST_ELEMENT_INFO (device->element, RESOURCE, NOT_FOUND, ("Working on the CPU: %s.", error->text),
        ("Working on the CPU: %s.", error->text));
  }
  device->missing = TRUE;
  return CONVOLVE_OK;
}

ConvolveStatus
gst_cuda_convolve_device_start (GstCudaConvolveDevice *device, const ConvolveProperties *properties,
    ConvolveError *error)
{
  device->missing = FALSE;
  device->follows_told = device->pins_told = 0;
  device->staging_told = FALSE;
  device->id = properties->device_id;
  if (!convolve_properties_want_device (properties) || convolve_device_find (device->id, error) == CONVOLVE_OK)
    return CONVOLVE_OK;
  return do_without (device, properties, error);
}

static ConvolveDevice *
open_handle (GstCudaConvolveDevice *device, gboolean cuda_memory, ConvolveError *error)
{
  ConvolveDevice *handle;

  device->in_context = (cuda_memory || device->context) && gst_cuda_convolve_device_ensure_context (device) != NULL;
  if (!device->in_context)
    return convolve_device_new (device->id, error);
  if (gst_cuda_convolve_device_enter (device, error) != CONVOLVE_OK)
    return NULL;
  handle = convolve_device_new_current (error);
  if (handle && device->stream)
    convolve_device_use_stream (handle, gst_cuda_convolve_stream_handle (device->stream), NULL);
  gst_cuda_convolve_device_leave (device);
  return handle;
}

ConvolveStatus
gst_cuda_convolve_device_open (GstCudaConvolveDevice *device, const ConvolveProperties *properties,
    gboolean cuda_memory, ConvolveError *error)
{
  if (device->handle || !convolve_properties_want_device (properties)
      || (device->missing && !convolve_properties_need_device (properties)))
    return CONVOLVE_OK;
  device->handle = open_handle (device, cuda_memory, error);
  if (!device->handle)
    return do_without (device, properties, error);
  GST_INFO_OBJECT (device->element, "device %d: %s", convolve_device_id (device->handle),
      convolve_device_name (device->handle));
  return CONVOLVE_OK;
}

void
gst_cuda_convolve_device_close (GstCudaConvolveDevice *device)
{
  GstCudaConvolveContext *context;
  gboolean current = gst_cuda_convolve_cuda_push (working_context (device));

  g_clear_pointer (&device->handle, convolve_device_free);
  if (current)
    gst_cuda_convolve_device_leave (device);
  device->in_context = FALSE;
  gst_cuda_convolve_stream_clear (&device->stream);
  g_mutex_lock (&device->lock);
  context = g_steal_pointer (&device->context);
  g_mutex_unlock (&device->lock);
  gst_clear_object (&context);
}

/* --- buffers --- */

gboolean
gst_cuda_convolve_device_holds (GstCudaConvolveDevice *device, GstBuffer *buffer)
{
  return device->in_context && gst_cuda_convolve_cuda_of_buffer (buffer) == device->context;
}

gboolean
gst_cuda_convolve_device_orders (GstCudaConvolveDevice *device, GstBuffer *buffer)
{
  return gst_cuda_convolve_stream_orders (device->stream, buffer);
}

gboolean
gst_cuda_convolve_device_pin (GstCudaConvolveDevice *device, GstBuffer *buffer)
{
  return gst_cuda_convolve_pin_buffer (buffer, device->element, &device->pins_told, convolve_device_id (device->handle),
      working_context (device));
}

void
gst_cuda_convolve_device_tell_staging (GstCudaConvolveDevice *device)
{
  if (device->staging_told || !convolve_device_lacks_staging (device->handle))
    return;
  device->staging_told = TRUE;
  GST_INFO_OBJECT (device->element,
      "no memory could be page-locked for frames in pageable memory, so that their copies are slower");
}
