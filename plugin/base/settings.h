/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The settings on their way from the user's threads to the streaming thread. g_object_set() writes property by
 * property; frames see all properties of one g_object_set() together, or none. The functions are for any thread,
 * where none is named.
 */
#ifndef GST_CUDA_CONVOLVE_SETTINGS_H
#define GST_CUDA_CONVOLVE_SETTINGS_H

#include <gst/gst.h>

#include "properties/properties.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveSettings GstCudaConvolveSettings;

/* The defaults of the table. The element owns the settings, and must outlive them. */
GstCudaConvolveSettings *gst_cuda_convolve_settings_new (GstElement *element, const ConvolvePropertyTable *table);
void gst_cuda_convolve_settings_free (GstCudaConvolveSettings *settings);

/* As convolve_properties_set() and convolve_properties_get(). */
gboolean gst_cuda_convolve_settings_set (GstCudaConvolveSettings *settings, guint index, const GValue *value);
gboolean gst_cuda_convolve_settings_get (GstCudaConvolveSettings *settings, guint index, GValue *value);

/*
 * Lets the element's control bindings set the properties for this stream time. In what they set, numbers become such
 * as a property can have (convolve_properties_set() says how).
 */
void gst_cuda_convolve_settings_sync (GstCudaConvolveSettings *settings, GstClockTime time);

/* One g_object_set() is complete: the next frame uses what was set. */
void gst_cuda_convolve_settings_apply (GstCudaConvolveSettings *settings);

/*
 * Makes the next take() give the settings, changed or not, and the file of mask-location be read again: the element
 * starts.
 */
void gst_cuda_convolve_settings_renew (GstCudaConvolveSettings *settings);

/*
 * The streaming thread takes over what was applied. FALSE where nothing was applied since the last time. What was taken
 * last is what get_used() returns, which is not changed any more.
 */
gboolean gst_cuda_convolve_settings_take (GstCudaConvolveSettings *settings);
ConvolveProperties *gst_cuda_convolve_settings_get_used (GstCudaConvolveSettings *settings);

/* The settings as the user reads them, and as the next frame uses them; to be unreferenced. */
ConvolveProperties *gst_cuda_convolve_settings_ref_set (GstCudaConvolveSettings *settings);
ConvolveProperties *gst_cuda_convolve_settings_ref_applied (GstCudaConvolveSettings *settings);

/*
 * Logs a warning for each sentence in idle, and posts one for each in uncovered; once until a sentence is not among them.
 * Takes both arrays. forget_sentences() makes all sentences new. Both are for the streaming thread.
 */
void gst_cuda_convolve_settings_tell_sentences (GstCudaConvolveSettings *settings, GPtrArray *idle,
    GPtrArray *uncovered);
void gst_cuda_convolve_settings_forget_sentences (GstCudaConvolveSettings *settings);

/*
 * Whether the warning before, which may be NULL, tells the user of the text, too: it is the same, or both begin with one property
 * that a control binding sets. Such a text has another number for each frame.
 */
gboolean gst_cuda_convolve_settings_have_told (GstElement *element, const gchar *before, const gchar *text);

G_END_DECLS

#endif
