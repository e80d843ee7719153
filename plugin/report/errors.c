/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/errors.h"

#include "convolve_device.h"

struct _GstCudaConvolveErrors
{
  GstElement *element;

  /* Under the element's object lock. */
  gchar *last; /* the text of the last error since start, or NULL */
  gint width, height;
  const gchar *format, *variant;  /* the format is static, the variant is interned */
  ConvolveProperties *properties; /* of which kernel-variant and cuda-device-id count, or NULL */
};

GstCudaConvolveErrors *
gst_cuda_convolve_errors_new (GstElement *element)
{
  GstCudaConvolveErrors *errors = g_new0 (GstCudaConvolveErrors, 1);

  errors->element = element;
  errors->format = "UNKNOWN";
  return errors;
}

void
gst_cuda_convolve_errors_free (GstCudaConvolveErrors *errors)
{
  g_free (errors->last);
  g_clear_pointer (&errors->properties, convolve_properties_unref);
  g_free (errors);
}

void
gst_cuda_convolve_errors_reset (GstCudaConvolveErrors *errors)
{
  GST_OBJECT_LOCK (errors->element);
  g_clear_pointer (&errors->last, g_free);
  GST_OBJECT_UNLOCK (errors->element);
}

void
gst_cuda_convolve_errors_set_frames (GstCudaConvolveErrors *errors, const GstVideoInfo *info, const gchar *variant)
{
  GST_OBJECT_LOCK (errors->element);
  errors->width = GST_VIDEO_INFO_WIDTH (info);
  errors->height = GST_VIDEO_INFO_HEIGHT (info);
  errors->format = GST_VIDEO_INFO_NAME (info);
  errors->variant = variant;
  GST_OBJECT_UNLOCK (errors->element);
}

void
gst_cuda_convolve_errors_set_properties (GstCudaConvolveErrors *errors, ConvolveProperties *properties)
{
  GST_OBJECT_LOCK (errors->element);
  g_clear_pointer (&errors->properties, convolve_properties_unref);
  errors->properties = convolve_properties_ref (properties);
  GST_OBJECT_UNLOCK (errors->element);
}

/* Whether the text differs from that of the last error; it then becomes the last one. */
static gboolean
is_new (GstCudaConvolveErrors *errors, const gchar *text)
{
  gboolean differs;

  GST_OBJECT_LOCK (errors->element);
  differs = g_strcmp0 (errors->last, text) != 0;
  if (differs) {
    g_free (errors->last);
    errors->last = g_strdup (text);
  }
  GST_OBJECT_UNLOCK (errors->element);
  return differs;
}

void
gst_cuda_convolve_errors_post_from (GstCudaConvolveErrors *errors, GQuark domain, gint code, const gchar *text,
    gchar *debug, const gchar *file, const gchar *function, gint line)
{
  if (is_new (errors, text))
    gst_element_message_full (errors->element, GST_MESSAGE_ERROR, domain, code, g_strdup (text), debug, file, function,
        line);
  else
    g_free (debug);
}

gboolean
gst_cuda_convolve_errors_any (GstCudaConvolveErrors *errors)
{
  gboolean any;

  GST_OBJECT_LOCK (errors->element);
  any = errors->last != NULL;
  GST_OBJECT_UNLOCK (errors->element);
  return any;
}

static gchar *
describe_frames (GstCudaConvolveErrors *errors, const ConvolveError *error)
{
  gchar *text;

  GST_OBJECT_LOCK (errors->element);
  text = g_strdup_printf ("%dx%d %s, variant %s, CUDA error %d", errors->width, errors->height, errors->format,
      errors->variant ? errors->variant : "none", error->native);
  GST_OBJECT_UNLOCK (errors->element);
  return text;
}

static gchar *
explain_no_device (GstCudaConvolveErrors *errors, const gchar *why)
{
  g_autoptr (ConvolveProperties) properties = NULL;

  GST_OBJECT_LOCK (errors->element);
  properties = errors->properties ? convolve_properties_ref (errors->properties) : NULL;
  GST_OBJECT_UNLOCK (errors->element);
  return properties ? convolve_properties_explain_no_device (properties, why) : g_strdup (why);
}

void
gst_cuda_convolve_errors_post_status_from (GstCudaConvolveErrors *errors, const ConvolveError *error, const gchar *file,
    const gchar *function, gint line)
{
  g_autofree gchar *frames = describe_frames (errors, error), *missing = NULL;
  GQuark domain = GST_RESOURCE_ERROR;
  const gchar *text = error->text;
  gchar *debug = NULL;
  gint code = GST_RESOURCE_ERROR_FAILED;

  switch (error->status) {
    case CONVOLVE_OK:
      g_return_if_reached ();
    case CONVOLVE_INVALID:
    case CONVOLVE_UNSUPPORTED:
      domain = GST_LIBRARY_ERROR;
      code = GST_LIBRARY_ERROR_SETTINGS;
      break;
    case CONVOLVE_NO_DEVICE:
      code = GST_RESOURCE_ERROR_NOT_FOUND;
      missing = explain_no_device (errors, error->text);
      text = missing;
      break;
    case CONVOLVE_NO_MEMORY:
    case CONVOLVE_NO_DEVICE_MEMORY:
      code = GST_RESOURCE_ERROR_NO_SPACE_LEFT;
      debug = g_steal_pointer (&frames);
      break;
    case CONVOLVE_DEVICE_FAILED:
      if (convolve_error_is_lasting (error)) {
        /* CUDA reports such an error at the next call of anybody, so nobody knows whose kernel it was. */
        text = "The CUDA device failed. The process can use CUDA again only when it is started again.";
        debug = g_strdup_printf ("%s: %s; the cause may be an earlier error of other CUDA code in this process", frames,
            error->text);
      } else {
        text = "The CUDA device failed.";
        debug = g_strdup_printf ("%s: %s", frames, error->text);
      }
      break;
  }
  gst_cuda_convolve_errors_post_from (errors, domain, code, text, debug, file, function, line);
}
