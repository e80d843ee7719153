/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/refusal.h"

#include "cuda/cudamemory.h"
#include "frame/cells.h"
#include "report/debug.h"
#include "frame/formats.h"

#define MOST_LINKS 1000 /* of a chain of elements, in case that it is a ring */

/* --- why caps are refused --- */

/* For streams that are not raw video. */
static gchar *
refuse_media (const gchar *media)
{
  const gchar *cure = "put a decoder before the element, such as decodebin";

  if (g_str_equal (media, "video/x-bayer"))
    cure = "put bayer2rgb before the element";
  else if (g_str_has_prefix (media, "audio/") || g_str_has_prefix (media, "text/"))
    cure = "link a stream of video to the element";
  return g_strdup_printf ("caps: the stream is %s, and the element takes video/x-raw; %s", media, cure);
}

/* The element of GStreamer that brings frames to system memory from where these are. */
static const gchar *
find_download (GstCapsFeatures *features)
{
  static const gchar *const elements[][2] = {
    { GST_CUDA_CONVOLVE_MEMORY, "cudadownload" },
    { "memory:GLMemory", "gldownload" },
    { "memory:D3D11Memory", "d3d11download" },
    { "memory:D3D12Memory", "d3d12download" },
    { "memory:VAMemory", "vapostproc" },
    { "memory:DMABuf", "vapostproc" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (gst_caps_features_contains (features, elements[i][0]))
      return elements[i][1];
  return "an element that makes plain frames in system memory";
}

static gchar *
refuse_features (GstCapsFeatures *features)
{
  g_autofree gchar *names = gst_caps_features_to_string (features);

  return g_strdup_printf ("caps: the element does not take such frames with the features %s; put %s before the element",
      names, find_download (features));
}

static gboolean
is_plain (GstCapsFeatures *features)
{
  return gst_caps_features_is_equal (features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)
      || gst_caps_features_contains (features, GST_CAPS_FEATURE_FORMAT_INTERLACED);
}

/* Of several structures the one that tells most: raw video in system memory before raw video before others. */
static guint
find_telling (const GstCaps *caps)
{
  guint found = 0, best = 0;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    gboolean raw = gst_structure_has_name (gst_caps_get_structure (caps, i), "video/x-raw");
    guint tells = raw ? (is_plain (gst_caps_get_features (caps, i)) ? 2 : 1) : 0;

    if (tells > best) {
      best = tells;
      found = i;
    }
  }
  return found;
}

/* Whether the pad takes one of the formats of the structure in some size. */
static gboolean
takes_format (GstCaps *template, const GstStructure *structure)
{
  g_autoptr (GstCaps) bare = gst_caps_new_empty_simple ("video/x-raw");

  if (!gst_structure_has_field (structure, "format"))
    return TRUE;
  gst_caps_set_value (bare, "format", gst_structure_get_value (structure, "format"));
  return gst_caps_can_intersect (bare, template);
}

static gchar *
refuse_format (GstCaps *caps)
{
  g_autofree gchar *formats = gst_cuda_convolve_name_formats (caps);

  if (g_str_equal (formats, "RGB8P"))
    return g_strdup (
        "caps: the samples of RGB8P are numbers of colours in a palette, and sums of numbers are no colours; "
        "put videoconvert before the element");
  return g_strdup_printf (
      "caps: the frames are %s, and the element takes samples that are integers of 5 to 16 bits; put "
      "videoconvert before the element",
      formats);
}

/* What the subclass says of the caps, or NULL. */
static gchar *
ask_class (GstCudaConvolveBase *base, GstCaps *caps)
{
  GstCudaConvolveBaseClass *klass = GST_CUDA_CONVOLVE_BASE_GET_CLASS (base);

  return klass->refuse_caps ? klass->refuse_caps (base, caps) : NULL;
}

/* A text that says why the element takes no stream with these caps, to be freed; NULL where it takes some. */
static gchar *
explain (GstCudaConvolveBase *base, GstCaps *caps)
{
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (GST_BASE_TRANSFORM_SINK_PAD (base));
  GstStructure *structure;
  GstCapsFeatures *features;
  gchar *fault;
  guint number;

  if (gst_caps_is_any (caps) || gst_caps_is_empty (caps))
    return NULL;
  if (gst_caps_can_intersect (caps, template))
    return ask_class (base, caps);
  number = find_telling (caps);
  structure = gst_caps_get_structure (caps, number);
  features = gst_caps_get_features (caps, number);
  if (!gst_structure_has_name (structure, "video/x-raw"))
    return refuse_media (gst_structure_get_name (structure));
  if (!is_plain (features))
    return refuse_features (features);
  if (takes_format (template, structure))
    return g_strdup_printf ("caps: the element takes no frames of such a size or rate");
  fault = ask_class (base, caps);
  return fault ? fault : refuse_format (caps);
}

/* --- refusals that are final --- */

/* What a subclass refuses beside its template is a matter of settings. */
static gboolean
refuse_caps (GstCudaConvolveBase *base, GstCaps *caps)
{
  g_autofree gchar *fault = explain (base, caps);
  gchar *debug = fault ? gst_info_strdup_printf ("caps: %" GST_PTR_FORMAT, caps) : NULL;

  if (fault && GST_CUDA_CONVOLVE_BASE_GET_CLASS (base)->refuse_caps)
    gst_cuda_convolve_errors_post (base->errors, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, fault, debug);
  else if (fault)
    gst_cuda_convolve_errors_post (base->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, fault, debug);
  return fault != NULL;
}

gboolean
gst_cuda_convolve_refuse_offers (GstCudaConvolveBase *base)
{
  g_autoptr (GstCaps) offers = gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SINK_PAD (base), NULL);

  return refuse_caps (base, offers);
}

/* The sink pad whose data leaves by the source pad; NULL where there is none, or several. */
static GstPad *
find_linked_sink (GstPad *pad)
{
  GstIterator *links = gst_pad_iterate_internal_links (pad);
  GValue value = G_VALUE_INIT;
  GstPad *sink = NULL;
  guint n = 0;

  while (links && gst_iterator_next (links, &value) == GST_ITERATOR_OK) {
    g_clear_object (&sink);
    sink = n++ == 0 ? g_value_dup_object (&value) : NULL;
    g_value_reset (&value);
  }
  g_value_unset (&value);
  g_clear_pointer (&links, gst_iterator_free);
  return sink;
}

/* The caps that the source pad has and the sink pad does not have: they are on their way, or were refused. */
static GstCaps *
get_pending_caps (GstPad *source, GstPad *sink)
{
  g_autoptr (GstCaps) sent = gst_pad_get_current_caps (source), arrived = gst_pad_get_current_caps (sink);

  return sent && !(arrived && gst_caps_is_equal (sent, arrived)) ? g_steal_pointer (&sent) : NULL;
}

/* The caps that are on their way to the sink pad, through this link or one further upstream; NULL where none are. */
static GstCaps *
find_pending_caps (GstPad *pad)
{
  GstPad *sink = gst_object_ref (pad);
  GstCaps *pending = NULL;

  for (guint i = 0; sink && !pending && i < MOST_LINKS; i++) {
    g_autoptr (GstPad) source = gst_pad_get_peer (sink);

    pending = source ? get_pending_caps (source, sink) : NULL;
    gst_object_unref (sink);
    sink = source ? find_linked_sink (source) : NULL;
  }
  gst_clear_object (&sink);
  return pending;
}

static gboolean
shares_format (const GstCaps *caps, const GstCaps *sent)
{
  const GstStructure *one = gst_caps_get_structure (sent, 0);
  const GValue *format = gst_structure_get_value (one, "format");

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *other = gst_caps_get_structure (caps, i);
    const GValue *formats = gst_structure_get_value (other, "format");

    if (gst_structure_has_name (other, gst_structure_get_name (one))
        && (!format || !formats || gst_value_can_intersect (format, formats)))
      return TRUE;
  }
  return FALSE;
}

/* Whether the caps are those that upstream has sent, which are refused, or what is left of them on their way. */
static gboolean
are_sent (GstCudaConvolveBase *base, const GstCaps *caps)
{
  g_autoptr (GstCaps) pending = find_pending_caps (GST_BASE_TRANSFORM_SINK_PAD (base));
  g_autofree gchar *fault = pending ? explain (base, pending) : NULL;

  return fault && shares_format (caps, pending);
}

/* The caps that the query is about, or NULL. */
static GstCaps *
asked_caps (GstQuery *query)
{
  GstCaps *caps = NULL;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    gst_query_parse_accept_caps (query, &caps);
  else
    gst_query_parse_caps (query, &caps);
  return caps;
}

void
gst_cuda_convolve_refuse_query (GstCudaConvolveBase *base, GstQuery *query)
{
  GstCaps *caps = asked_caps (query);
  g_autofree gchar *fault = caps ? explain (base, caps) : NULL;

  if (fault && are_sent (base, caps))
    refuse_caps (base, caps);
  else if (!gst_cuda_convolve_refuse_offers (base) && fault)
    GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, is_plain (gst_caps_get_features (caps, 0)) ? GST_LEVEL_WARNING : GST_LEVEL_INFO,
        GST_BASE_TRANSFORM_SINK_PAD (base), "%s", fault);
}

void
gst_cuda_convolve_refuse_missing_caps (GstCudaConvolveBase *base)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (GST_BASE_TRANSFORM_SINK_PAD (base));

  if (peer && !gst_pad_has_current_caps (peer))
    gst_cuda_convolve_errors_post (base->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "caps: the stream has none, and the element takes video/x-raw; put a decoder before the element, such as "
        "decodebin",
        NULL);
}

static gboolean
has_size (const GstCaps *caps)
{
  const GstStructure *fields = gst_caps_get_structure (caps, 0);

  return gst_structure_has_field (fields, "width") && gst_structure_has_field (fields, "height")
      && gst_structure_has_field (fields, "format");
}

gboolean
gst_cuda_convolve_refuse_size (GstCudaConvolveBase *base, GstCaps *caps, GstVideoInfo *info)
{
  if (gst_video_info_from_caps (info, caps))
    return FALSE;
  gst_cuda_convolve_errors_post (base->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      has_size (caps)
          ? "caps: GStreamer cannot describe frames with these caps: their bytes are too many, or the fields "
            "contradict each other"
          : "caps: width and height are missing, or the format; appsrc needs all three",
      gst_info_strdup_printf ("caps: %" GST_PTR_FORMAT, caps));
  return TRUE;
}

/* Whether interlaced frames have a row of chroma more than others, in a format with cells. */
static gboolean
has_loose_row (const GstVideoInfo *info)
{
  GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE (info);

  return gst_cuda_convolve_format_has_cells (info->finfo)
      && (mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED || mode == GST_VIDEO_INTERLACE_MODE_MIXED)
      && GST_VIDEO_INFO_N_PLANES (info) == 2 && GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, GST_VIDEO_COMP_U) == 1
      && GST_VIDEO_INFO_HEIGHT (info) % 4 != 0;
}

/* Each field, or each view, is in memory of its own, of which a mapped frame would have the first one alone. */
gboolean
gst_cuda_convolve_refuse_parts (GstCudaConvolveBase *base, const GstVideoInfo *info)
{
  static const gchar fields[] = "interlace-mode: the caps say fields, which puts each field into memory of its own; "
                                "the element takes progressive, "
                                "interleaved, mixed, and alternate";
  static const gchar fault_of_row[] =
      "interlace-mode: the height of interlaced 4:2:0 frames in tiles, or with samples that share words, is no multiple "
      "of 4; put videoconvert before the element";
  static const gchar fault[] =
      "multiview-mode: the caps say separated, which puts each view into memory of its own; the "
      "element takes mono, views in one frame (side-by-side, top-bottom and kin), and frame-by-frame";

  if (GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    gst_cuda_convolve_errors_post (base->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, fields, NULL);
    return TRUE;
  }
  if (has_loose_row (info)) {
    gst_cuda_convolve_errors_post (base->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, fault_of_row,
        g_strdup_printf ("%d rows of %s", GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_NAME (info)));
    return TRUE;
  }
  if (GST_VIDEO_INFO_MULTIVIEW_MODE (info) != GST_VIDEO_MULTIVIEW_MODE_SEPARATED)
    return FALSE;
  gst_cuda_convolve_errors_post (base->errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, fault,
      g_strdup_printf ("%d views", GST_VIDEO_INFO_VIEWS (info)));
  return TRUE;
}

gboolean
gst_cuda_convolve_is_refusal (GstQuery *query)
{
  gboolean accepted = TRUE;
  GstCaps *caps = NULL;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    gst_query_parse_accept_caps_result (query, &accepted);
  else if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    gst_query_parse_caps_result (query, &caps);
  return !accepted || (caps && gst_caps_is_empty (caps));
}
