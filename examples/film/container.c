/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "container.h"

#include <string.h>

static const Container containers[] = {
  { { "mp4", "m4v" }, "MP4", "mp4mux", "gstreamer1.0-plugins-good", "h264 h265 av1 vp9", "h265 av1 vp9 h264", NULL,
      "aac opus", "fragment-duration=1000 streamable=true", TRUE, FALSE },
  { { "mov", "qt" }, "QuickTime", "qtmux", "gstreamer1.0-plugins-good", "h264 h265 prores", "h265 prores h264",
      "prores", "aac", "fragment-duration=1000 streamable=true", TRUE, FALSE },
  { { "mkv" }, "Matroska", "matroskamux", "gstreamer1.0-plugins-good", "h264 h265 vp9 av1 vp8 ffv1",
      "h265 vp9 av1 ffv1 h264", "ffv1", "opus flac vorbis", "streamable=true", FALSE, FALSE },
  { { "webm" }, "WebM", "webmmux", "gstreamer1.0-plugins-good", "vp9 av1 vp8", "vp9 av1 vp8", NULL, "opus vorbis",
      "streamable=true", FALSE, FALSE },
  { { "png" }, "PNG", "identity", "gstreamer1.0-plugins-good", "png", "png", "png", "", "", FALSE, TRUE },
  { { "jpg", "jpeg" }, "JPEG", "identity", "gstreamer1.0-plugins-good", "jpeg", "jpeg", NULL, "", "", FALSE, TRUE },
  { { "gif" }, "GIF", "identity", "the GIF encoder of gst-plugins-rs", "gif", "gif", "gif", "", "", FALSE, FALSE },
};

const Container *
container_named (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (containers); i++)
    for (guint k = 0; containers[i].names[k]; k++)
      if (!g_ascii_strcasecmp (containers[i].names[k], name))
        return &containers[i];
  return NULL;
}

const Container *
container_of (const char *file)
{
  const char *dot = strrchr (file, '.');

  return dot ? container_named (dot + 1) : NULL;
}

char *
container_names (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (containers); i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", containers[i].names[0]);
  return g_string_free (names, FALSE);
}

GstCaps *
container_takes (const Container *container, const char *kind)
{
  GstElementFactory *factory = gst_element_factory_find (container->muxer);
  const GList *templates = factory ? gst_element_factory_get_static_pad_templates (factory) : NULL;
  GstCaps *caps = NULL;

  for (; templates && !caps; templates = templates->next) {
    GstStaticPadTemplate *template = templates->data;

    if (template->direction == GST_PAD_SINK && !strcmp (template->name_template, kind))
      caps = gst_static_pad_template_get_caps (template);
  }
  g_clear_pointer (&factory, gst_object_unref);
  return caps;
}
