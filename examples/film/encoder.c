/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "encoder.h"

#include <string.h>

#include <gst/video/video.h>

/* Encoded frames wait here for the other streams, however far apart the streams lie in the file. */
#define WAIT "queue max-size-time=0 max-size-bytes=0 max-size-buffers=0"
#define LARGEST_OF_OPENH264 (36864 * 256)

/* The first one of a codec that works is taken. Each quality means about the same picture with all of them. */
static const Encoder encoders[] = {
  { "h264", "H.264", "nvh264enc", "rc-mode=constqp qp-const=Q qp-const-i=Q qp-const-p=Q qp-const-b=Q preset=hq", 51, 9,
      "h264parse", "gstreamer1.0-plugins-bad", TRUE, 0 },
  { "h264", "H.264", "vah264enc", "rate-control=cqp qpi=Q qpp=Q qpb=Q", 51, 9, "h264parse", "gstreamer1.0-plugins-bad",
      TRUE, 0 },
  { "h264", "H.264", "x264enc", "pass=qual quantizer=Q speed-preset=fast", 51, 7, "h264parse",
      "gstreamer1.0-plugins-ugly", TRUE, 0 },
  { "h264", "H.264", "openh264enc",
      "rate-control=quality qp-min=Q qp-max=Q bitrate=100000000 enable-frame-skip=false complexity=high gop-size=250",
      51, 9, "h264parse", "gstreamer1.0-plugins-bad", TRUE, LARGEST_OF_OPENH264 },
  { "h265", "H.265", "nvh265enc", "rc-mode=constqp qp-const=Q qp-const-i=Q qp-const-p=Q qp-const-b=Q preset=hq", 51, 9,
      "h265parse", "gstreamer1.0-plugins-bad", TRUE, 0 },
  { "h265", "H.265", "vah265enc", "rate-control=cqp qpi=Q qpp=Q qpb=Q", 51, 9, "h265parse", "gstreamer1.0-plugins-bad",
      TRUE, 0 },
  { "h265", "H.265", "x265enc", "option-string=crf=Q speed-preset=fast log-level=none", 51, 7, "h265parse",
      "gstreamer1.0-plugins-bad", TRUE, 0 },
  { "av1", "AV1", "nvav1enc", "rc-mode=constqp qp-const=Q qp-const-i=Q qp-const-p=Q", 255, 25, "av1parse",
      "gstreamer1.0-plugins-bad", TRUE, 0 },
  { "av1", "AV1", "vaav1enc", "rate-control=cqp qpi=Q qpp=Q", 255, 25, "av1parse", "gstreamer1.0-plugins-bad", TRUE,
      0 },
  { "av1", "AV1", "svtav1enc", "crf=Q preset=8", 63, 5, "av1parse", "gstreamer1.0-plugins-bad", TRUE, 0 },
  { "av1", "AV1", "av1enc", "end-usage=q min-quantizer=Q max-quantizer=Q cpu-used=8 row-mt=true threads=T", 63, 5,
      "av1parse", "gstreamer1.0-plugins-bad", FALSE, 0 },
  { "vp9", "VP9", "vp9enc",
      /* Where frames wait inside libvpx and the bit rate never binds, libvpx swallows some. */
      "deadline=1 cpu-used=4 row-mt=true threads=T end-usage=cq cq-level=Q target-bitrate=400000000 keyframe-max-dist=250 "
      "lag-in-frames=0",
      63, 3, "vp9parse", "gstreamer1.0-plugins-good", FALSE, 0 },
  { "vp8", "VP8", "vp8enc",
      "deadline=1 cpu-used=4 threads=T end-usage=cq cq-level=Q max-quantizer=Q target-bitrate=400000000 keyframe-max-dist=250",
      63, 4, NULL, "gstreamer1.0-plugins-good", FALSE, 0 },
  { "ffv1", "FFV1", "avenc_ffv1", "slices=4 threads=T", 0, 0, NULL, "gstreamer1.0-libav", FALSE, 0 },
  { "prores", "ProRes", "avenc_prores_ks", "bits-per-mb=Q threads=T", 200, 4000, NULL, "gstreamer1.0-libav", TRUE, 0 },
  { "png", "PNG", "pngenc", "compression-level=6", 0, 0, NULL, "gstreamer1.0-plugins-good", FALSE, 0 },
  { "jpeg", "JPEG", "jpegenc", "quality=Q", 40, 98, NULL, "gstreamer1.0-plugins-good", FALSE, 0 },
  { "gif", "GIF", "gifenc", "repeat=-1", 0, 0, NULL,
      "the GIF encoder of gst-plugins-rs, or write film.mkv and make the GIF by ffmpeg", FALSE, 0 },
};

/* The encoders of sound, the best one of each codec first. */
static const struct
{
  const char *codec, *title, *element, *description;
} sounds[] = {
  { "aac", "AAC", "fdkaacenc", "fdkaacenc bitrate=256000 ! aacparse" },
  { "aac", "AAC", "avenc_aac", "avenc_aac bitrate=256000 ! aacparse" },
  { "aac", "AAC", "voaacenc", "voaacenc bitrate=256000 ! aacparse" },
  { "opus", "Opus", "opusenc", "opusenc bitrate=192000" },
  { "flac", "FLAC", "flacenc", "flacenc ! flacparse" },
  { "vorbis", "Vorbis", "vorbisenc", "vorbisenc quality=0.7" },
};

/* Whether a word is one of a list that is split by spaces. */
static gboolean
is_one_of (const char *list, const char *word)
{
  char **words = g_strsplit (list, " ", -1);
  const gboolean is = g_strv_contains ((const char *const *) words, word);

  g_strfreev (words);
  return is;
}

gboolean
encoder_is_codec (const char *codec)
{
  for (guint i = 0; i < G_N_ELEMENTS (encoders); i++)
    if (!strcmp (encoders[i].codec, codec))
      return TRUE;
  return FALSE;
}

char *
encoder_codecs (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (encoders); i++)
    if (i == 0 || strcmp (encoders[i].codec, encoders[i - 1].codec) != 0)
      g_string_append_printf (names, "%s%s", i ? ", " : "", encoders[i].codec);
  return g_string_free (names, FALSE);
}

/* An encoder of a GPU is registered on machines without that GPU, too; only opening it tells. */
static gboolean
works (const Encoder *encoder)
{
  GstElement *element = gst_element_factory_make (encoder->element, NULL);
  gboolean ok = FALSE;

  if (element) {
    ok = gst_element_set_state (element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
  }
  return ok;
}

void
encoder_each (void (*call) (const Encoder *encoder, gboolean works, gpointer data), gpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (encoders); i++)
    call (&encoders[i], works (&encoders[i]), data);
}

/* --- what a film needs, and what an encoder has --- */

typedef struct
{
  int depth;
  gboolean alpha, subsampled, rgb;
  int width, height;
} Needs;

static Needs
needs_of_format (const GstVideoFormatInfo *format)
{
  Needs needs = { 0 };

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    needs.depth = MAX (needs.depth, (int) GST_VIDEO_FORMAT_INFO_DEPTH (format, i));
  needs.alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA (format);
  needs.rgb = GST_VIDEO_FORMAT_INFO_IS_RGB (format) || GST_VIDEO_FORMAT_INFO_IS_GRAY (format);
  needs.subsampled = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format) > 1 && GST_VIDEO_FORMAT_INFO_W_SUB (format, 1) > 0;
  return needs;
}

static Needs
needs_of (const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const GstVideoFormat format = gst_video_format_from_string (gst_structure_get_string (structure, "format"));
  Needs needs = { .depth = 8 };

  if (format > GST_VIDEO_FORMAT_ENCODED)
    needs = needs_of_format (gst_video_format_get_info (format));
  gst_structure_get (structure, "width", G_TYPE_INT, &needs.width, "height", G_TYPE_INT, &needs.height, NULL);
  return needs;
}

static GstCaps *
caps_of_encoder (const Encoder *encoder)
{
  GstElementFactory *factory = gst_element_factory_find (encoder->element);
  const GList *templates = factory ? gst_element_factory_get_static_pad_templates (factory) : NULL;
  GstCaps *caps = NULL;

  for (; templates && !caps; templates = templates->next) {
    GstStaticPadTemplate *template = templates->data;

    if (template->direction == GST_PAD_SINK)
      caps = gst_static_pad_template_get_caps (template);
  }
  g_clear_pointer (&factory, gst_object_unref);
  return caps;
}

/* Whether the encoder has a format with this depth and, where wanted, with transparency. */
static gboolean
has_format (const GstCaps *caps, int depth, gboolean alpha)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GValue *formats = gst_structure_get_value (gst_caps_get_structure (caps, i), "format");
    const guint n = !formats ? 0 : GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_size (formats) : 1;

    for (guint k = 0; k < n; k++) {
      const GValue *value = GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_value (formats, k) : formats;
      const GstVideoFormat format = gst_video_format_from_string (g_value_get_string (value));
      Needs has;

      if (format <= GST_VIDEO_FORMAT_ENCODED)
        continue;
      has = needs_of_format (gst_video_format_get_info (format));
      if (has.depth >= depth && (has.alpha || !alpha))
        return TRUE;
    }
  }
  return FALSE;
}

static gboolean
keeps (const Encoder *encoder, int depth, gboolean alpha)
{
  GstCaps *caps = caps_of_encoder (encoder);
  const gboolean ok = caps && has_format (caps, depth, alpha);

  g_clear_pointer (&caps, gst_caps_unref);
  return ok;
}

/* Some encoders take odd sizes only where chroma has the size of luma. */
static gboolean
takes_size (const Encoder *encoder, const Needs *needs)
{
  return !(encoder->even && (needs->width % 2 || needs->height % 2))
      && (!encoder->most || needs->width * needs->height <= encoder->most);
}

/* The first encoder of these codecs, in their order, that keeps what is asked for. */
static const Encoder *
find (const char *codecs, const Needs *needs, int depth, gboolean alpha)
{
  char **names = g_strsplit (codecs, " ", -1);
  const Encoder *found = NULL;

  for (char **name = names; *name && !found; name++)
    for (guint i = 0; i < G_N_ELEMENTS (encoders) && !found; i++)
      if (!strcmp (encoders[i].codec, *name) && takes_size (&encoders[i], needs) && keeps (&encoders[i], depth, alpha)
          && works (&encoders[i]))
        found = &encoders[i];
  g_strfreev (names);
  return found;
}

/* Packages of Debian that have encoders for the codecs. */
static char *
packages_of (const char *codecs)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (encoders); i++)
    if (is_one_of (codecs, encoders[i].codec) && !strstr (text->str, encoders[i].package))
      g_string_append_printf (text, "%s%s", text->len ? ", " : "", encoders[i].package);
  return g_string_free (text, FALSE);
}

const Encoder *
encoder_choose (const Container *container, const char *codec, const GstCaps *caps, GError **error)
{
  const Needs needs = needs_of (caps);
  const char *codecs = codec ? codec : needs.depth > 8 ? container->deep : container->codecs;
  const Encoder *found = NULL;
  char *packages;

  if (codec && !is_one_of (container->codecs, codec)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
        "--codec=%s: %s holds no such video; write one of %s", codec, container->title, container->codecs);
    return NULL;
  }
  if (needs.alpha && !codec && container->clear)
    found = find (container->clear, &needs, MIN (needs.depth, 10), TRUE);
  if (!found && needs.alpha)
    found = find (codecs, &needs, MIN (needs.depth, 10), TRUE);
  for (int depth = needs.depth; !found && depth > 0; depth -= 2)
    found = find (codecs, &needs, depth, FALSE);
  if (found)
    return found;
  packages = packages_of (codecs);
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "no encoder for %s works here for frames of %dx%d; install %s, or write another kind of file", container->title,
      needs.width, needs.height, packages);
  g_free (packages);
  return NULL;
}

/* --- bins --- */

/* Sets NAME=VALUE for each property that this version of the element has. */
static void
set_settings (GstElement *element, const Encoder *encoder, int quality)
{
  const int quantizer = encoder->worst + (encoder->best - encoder->worst) * quality / 100;
  char **settings = g_strsplit (encoder->settings, " ", -1);

  for (char **setting = settings; *setting; setting++) {
    char *equals = strchr (*setting, '='), *value = g_strdup (equals + 1);
    char *letter = strchr (value, 'Q');

    *equals = '\0';
    if (letter || !strcmp (value, "T")) {
      char *number = letter ? g_strdup_printf ("%.*s%d", (int) (letter - value), value, quantizer)
                            : g_strdup_printf ("%u", MIN (g_get_num_processors (), 16));

      g_free (value);
      value = number;
    }
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), *setting))
      gst_util_set_object_arg (G_OBJECT (element), *setting, value);
    g_free (value);
  }
  g_strfreev (settings);
}

GstElement *
encoder_make (const Encoder *encoder, const GstCaps *caps, int quality, const char **lost, GError **error)
{
  const Needs needs = needs_of (caps);
  const gboolean any = is_one_of ("ffv1 prores png jpeg gif", encoder->codec);
  /* Players know chroma of half the size, and little else. */
  const char *usual = needs.rgb && !any ? " ! video/x-raw,format={ I420, NV12, YV12, I420_10LE, P010_10LE }" : "";
  GstElementFactory *factory = encoder->parser ? gst_element_factory_find (encoder->parser) : NULL;
  char *description =
      g_strdup_printf ("queue max-size-buffers=4 max-size-bytes=0 max-size-time=0 ! videoconvert n-threads=%u%s"
                       " ! %s name=encoder ! %s%s" WAIT,
          MIN (g_get_num_processors (), 8), usual, encoder->element, factory ? encoder->parser : "",
          factory ? " ! " : "");
  GstElement *bin = gst_parse_bin_from_description_full (description, TRUE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);

  *lost = NULL;
  if (bin) {
    GstElement *element = gst_bin_get_by_name (GST_BIN (bin), "encoder");

    set_settings (element, encoder, quality);
    gst_object_unref (element);
    if (needs.alpha && !keeps (encoder, 8, TRUE))
      *lost = "transparency is left out";
    else if (needs.depth > 10 && !keeps (encoder, needs.depth, FALSE) && keeps (encoder, 10, FALSE))
      *lost = "10 bits are left of each sample";
    else if (needs.depth > 8 && !keeps (encoder, needs.depth, FALSE))
      *lost = "8 bits are left of each sample";
  }
  g_clear_pointer (&factory, gst_object_unref);
  g_free (description);
  return bin;
}

char *
encoder_for_sound (const Container *container, const char **title)
{
  char **codecs = g_strsplit (container->sound, " ", -1), *description = NULL;

  for (char **codec = codecs; *codec && !description; codec++)
    for (guint i = 0; i < G_N_ELEMENTS (sounds) && !description; i++)
      if (!strcmp (sounds[i].codec, *codec)) {
        GstElementFactory *factory = gst_element_factory_find (sounds[i].element);

        if (factory) {
          description = g_strdup_printf ("audioconvert ! audioresample ! %s ! " WAIT, sounds[i].description);
          *title = sounds[i].title;
          gst_object_unref (factory);
        }
      }
  g_strfreev (codecs);
  return description;
}
