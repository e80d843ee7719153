/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "gif.h"
#include "progress.h"

#define MOST_INDEX 1000000 /* that a sequence of pictures may begin with */

gboolean
input_is_uri (const char *name)
{
  return strstr (name, "://") && gst_uri_is_valid (name);
}

gboolean
input_is_pipe (const char *name)
{
  return !strcmp (name, "-");
}

/* The place behind a number's conversion such as %d or %05d, if the text begins with one. */
static const char *
behind_number (const char *text)
{
  if (*text++ != '%')
    return NULL;
  while (g_ascii_isdigit (*text))
    text++;
  return *text == 'd' ? text + 1 : NULL;
}

/* A pattern holds one number, and nothing else that printf() would take for one. */
gboolean
input_is_sequence (const char *name)
{
  guint numbers = 0;

  for (const char *at = name; *at; at++)
    if (*at == '%') {
      const char *behind = behind_number (at);

      if (!behind)
        return FALSE;
      numbers++;
      at = behind - 1;
    }
  return numbers == 1;
}

/* The name of a picture of a sequence; to be freed. */
static char *
picture_name (const char *pattern, guint index)
{
  const char *percent = strchr (pattern, '%'), *behind = behind_number (percent);
  const gboolean zeros = percent[1] == '0';
  const int width = atoi (percent + 1);

  return g_strdup_printf (zeros ? "%.*s%0*u%s" : "%.*s%*u%s", (int) (percent - pattern), pattern, width, index, behind);
}

/* The number of the first picture of a sequence, or -1. */
static int
first_of (const char *pattern)
{
  for (guint i = 0; i < MOST_INDEX; i++) {
    char *name = picture_name (pattern, i);
    const gboolean is = g_file_test (name, G_FILE_TEST_EXISTS);

    g_free (name);
    if (is)
      return i;
    /* A search in a folder that is not there, or far away, should not take long. */
    if (i == 20000)
      break;
  }
  return -1;
}

/* Whether a PNG moves: GStreamer would read its first picture alone. The chunk acTL stands before the picture. */
static gboolean
is_animated_png (const char *name)
{
  FILE *file = g_file_test (name, G_FILE_TEST_IS_REGULAR) ? g_fopen (name, "rb") : NULL;
  guint8 head[4096];
  const gsize size = file ? fread (head, 1, sizeof head, file) : 0;
  gsize at = 8;

  g_clear_pointer (&file, fclose);
  if (size < 8 || memcmp (head, "\x89PNG\r\n\x1a\n", 8) != 0)
    return FALSE;
  while (at + 12 <= size && memcmp (head + at + 4, "IDAT", 4) != 0) {
    if (!memcmp (head + at + 4, "acTL", 4))
      return TRUE;
    at += 12 + (gsize) GST_READ_UINT32_BE (head + at);
  }
  return FALSE;
}

gboolean
input_is_there (const char *name)
{
  if (input_is_pipe (name) || input_is_uri (name))
    return TRUE;
  if (input_is_sequence (name) && !g_file_test (name, G_FILE_TEST_EXISTS)) {
    if (first_of (name) >= 0)
      return TRUE;
    complain ("%s: there is no such picture; numbers may begin with 0 to 20000", name);
  } else if (!g_file_test (name, G_FILE_TEST_EXISTS))
    complain ("%s: no such file or folder", name);
  else if (g_access (name, R_OK) != 0)
    complain ("%s: %s", name, g_strerror (errno));
  else if (is_animated_png (name))
    complain (
        "%s: GStreamer reads the first picture of an animated PNG alone; make a film first: ffmpeg -i %s film.mkv",
        name, name);
  else
    return TRUE;
  return FALSE;
}

static GstElement *
make_sequence (const char *pattern, double rate, GError **error)
{
  static const struct
  {
    const char *suffix, *media;
  } kinds[] = { { ".png", "image/png" }, { ".jpg", "image/jpeg" }, { ".jpeg", "image/jpeg" }, { ".bmp", "image/bmp" },
    { ".tif", "image/tiff" }, { ".tiff", "image/tiff" }, { ".webp", "image/webp" } };
  GstElement *source = gst_element_factory_make ("multifilesrc", NULL);
  const char *media = NULL;
  char *lower = g_ascii_strdown (pattern, -1);
  GstCaps *caps;
  int n, d;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_suffix (lower, kinds[i].suffix))
      media = kinds[i].media;
  g_free (lower);
  if (!source || !media) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "%s",
        source ? "pictures of a sequence are .png, .jpg, .bmp, .tif or .webp files"
               : "GStreamer has no element multifilesrc; install gstreamer1.0-plugins-good");
    g_clear_pointer (&source, gst_object_unref);
    return NULL;
  }
  gst_util_double_to_fraction (rate, &n, &d);
  caps = gst_caps_new_simple (media, "framerate", GST_TYPE_FRACTION, n, d, NULL);
  g_object_set (source, "location", pattern, "caps", caps, "start-index", first_of (pattern), "index",
      first_of (pattern), NULL);
  gst_caps_unref (caps);
  return source;
}

GstElement *
input_make (const char *name, double rate, GError **error)
{
  GstElement *source;

  if (input_is_uri (name))
    return gst_element_make_from_uri (GST_URI_SRC, name, NULL, error);
  if (input_is_pipe (name)) {
    source = gst_element_factory_make ("fdsrc", NULL);
    g_object_set (source, "fd", STDIN_FILENO, NULL);
    return source;
  }
  if (input_is_sequence (name) && !g_file_test (name, G_FILE_TEST_EXISTS))
    return make_sequence (name, rate, error);
  if (gif_is (name))
    return gif_make (name, error);
  source = gst_element_factory_make ("filesrc", NULL);
  g_object_set (source, "location", name, NULL);
  return source;
}
