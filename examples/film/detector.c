/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "detector.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib-unix.h>

#include "json.h"
#include "texts.h"

/* For how long a detector may say nothing. */
#ifndef SILENCE_SECONDS
#define SILENCE_SECONDS 60
#endif
#define FAREWELL (2 * G_TIME_SPAN_SECOND) /* for a detector to end by itself */
#define LONGEST_LINE (4 << 20)
#define LARGEST 16384 /* width and height that a detector may want */
#define KEPT 4096     /* bytes of what the detector writes to its standard error */

const gchar *const film_detector_properties[] = { "apply-to=regions", "region-expand=0.3", "region-hold=500000000",
  "region-lookahead=500000000", NULL };

struct _FilmDetector
{
  gchar **command;   /* ends with NULL */
  const gchar *name; /* for messages */

  GPid pid; /* 0 where none runs */
  int in, out, err;
  GString *answer;     /* read, but not yet used */
  GString *complaints; /* the end of the standard error */

  GstVideoInfo film, small; /* the frames that come, and as the converter makes them */
  GstVideoConverter *converter;
  GstBuffer *converted;
  GByteArray *pixels; /* the same without padding */
};

static void fail (GError **error, const FilmDetector *detector, const gchar *format, ...) G_GNUC_PRINTF (3, 4);

static void
fail (GError **error, const FilmDetector *detector, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "the detector %s%s", detector->name, text);
  g_free (text);
}

/* --- the program --- */

/* The last line that is not empty. To be freed. */
static gchar *
last_line (const gchar *text)
{
  gchar **lines = g_strsplit (text, "\n", -1), *found = NULL;

  for (guint i = g_strv_length (lines); i > 0 && !found; i--)
    if (*g_strstrip (lines[i - 1]))
      found = g_strdup (lines[i - 1]);
  g_strfreev (lines);
  return found ? found : g_strdup ("");
}

/* Ctrl-C is for the program that has the detector, and not for the detector. */
static void
leave_group (gpointer data)
{
  setpgid (0, 0);
}

static gboolean
start (FilmDetector *detector, GError **error)
{
  GError *fault = NULL;

  if (!g_spawn_async_with_pipes (NULL, detector->command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
          leave_group, NULL, &detector->pid, &detector->in, &detector->out, &detector->err, &fault)) {
    detector->pid = 0;
    fail (error, detector, ": %s", fault->message);
    g_error_free (fault);
    return FALSE;
  }
  g_string_truncate (detector->answer, 0);
  g_string_truncate (detector->complaints, 0);
  g_unix_set_fd_nonblocking (detector->in, TRUE, NULL);
  g_unix_set_fd_nonblocking (detector->out, TRUE, NULL);
  g_unix_set_fd_nonblocking (detector->err, TRUE, NULL);
  return TRUE;
}

/* Reads what is there. FALSE at the end. */
static gboolean
take (int file, GString *text)
{
  gchar bytes[4096];
  gssize n;

  while ((n = read (file, bytes, sizeof bytes)) > 0)
    g_string_append_len (text, bytes, n);
  return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void
take_complaints (FilmDetector *detector)
{
  take (detector->err, detector->complaints);
  if (detector->complaints->len > KEPT)
    g_string_erase (detector->complaints, 0, detector->complaints->len - KEPT);
}

/* Ends the program, by force where it does not end by itself. Its status as of waitpid (). */
static int
stop (FilmDetector *detector)
{
  const gint64 begin = g_get_monotonic_time ();
  int status = 0;

  if (!detector->pid)
    return 0;
  close (detector->in);
  while (waitpid (detector->pid, &status, WNOHANG) == 0) {
    GString *rest = g_string_new (NULL);

    take (detector->out, rest);
    g_string_free (rest, TRUE);
    take_complaints (detector);
    if (g_get_monotonic_time () - begin > FAREWELL)
      kill (detector->pid, SIGKILL);
    g_usleep (5000);
  }
  take_complaints (detector);
  close (detector->out);
  close (detector->err);
  g_spawn_close_pid (detector->pid);
  detector->pid = 0;
  return status;
}

static void
tell_death (FilmDetector *detector, GError **error)
{
  const int status = stop (detector);
  gchar *why = last_line (detector->complaints->str);

  if (*why)
    fail (error, detector, " ended: %s", why);
  else if (WIFSIGNALED (status))
    fail (error, detector, " ended by signal %d (%s)", WTERMSIG (status), g_strsignal (WTERMSIG (status)));
  else
    fail (error, detector, " ended with status %d before the film did", WEXITSTATUS (status));
  g_free (why);
}

/* Writes what the pipe takes. FALSE where nobody reads any more. */
static gboolean
give (int file, const guint8 **bytes, gsize *size)
{
  const gssize n = write (file, *bytes, *size);

  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  *bytes += n;
  *size -= n;
  return TRUE;
}

/* The first line of the answer, to be freed; NULL where there is none yet. */
static gchar *
take_line (FilmDetector *detector)
{
  const gchar *end = memchr (detector->answer->str, '\n', detector->answer->len);
  gchar *line;

  if (!end)
    return NULL;
  line = g_strndup (detector->answer->str, end - detector->answer->str);
  g_string_erase (detector->answer, 0, end - detector->answer->str + 1);
  return line;
}

/* Sends bytes and waits for a line, to be freed; NULL with error. A detector may write while it still reads. */
static gchar *
ask (FilmDetector *detector, const guint8 *bytes, gsize size, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  gboolean alive = TRUE;
  gchar *line = NULL;

  while (alive && (size > 0 || !(line = take_line (detector)))) {
    GPollFD files[] = { { detector->out, G_IO_IN, 0 }, { detector->err, G_IO_IN, 0 }, { detector->in, G_IO_OUT, 0 } };
    const gsize before = size + detector->answer->len;

    /* The standard error may be closed long before the end, and would wake this loop for ever. */
    g_poll (files, size > 0 ? 3 : 2, 100);
    take_complaints (detector);
    alive = take (detector->out, detector->answer) || memchr (detector->answer->str, '\n', detector->answer->len);
    if (size > 0)
      alive = give (detector->in, &bytes, &size) && alive;
    if (files[1].revents & (G_IO_HUP | G_IO_ERR))
      g_usleep (1000);
    if (size + detector->answer->len != before)
      begin = g_get_monotonic_time ();
    if (g_get_monotonic_time () - begin > SILENCE_SECONDS * G_TIME_SPAN_SECOND) {
      stop (detector);
      fail (error, detector, " has not answered for %d s", SILENCE_SECONDS);
      return NULL;
    }
    if (detector->answer->len > LONGEST_LINE) {
      stop (detector);
      fail (error, detector, " answers with lines of more than %d MiB", LONGEST_LINE >> 20);
      return NULL;
    }
  }
  if (!line)
    tell_death (detector, error);
  return line;
}

/* Whether faces.py has all that it needs. */
static gboolean
check (const FilmDetector *detector, GError **error)
{
  const guint n = g_strv_length (detector->command);
  gchar **command = g_new0 (gchar *, n + 2), *complaints = NULL;
  GError *fault = NULL;
  int status = 0;
  gboolean ok;

  memcpy (command, detector->command, n * sizeof (gchar *));
  command[n] = (gchar *) "--check";
  ok = g_spawn_sync (NULL, command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
      &complaints, &status, &fault);
  if (!ok) {
    fail (error, detector, ": %s; Debian and Ubuntu have it in python3", fault->message);
    g_error_free (fault);
  } else if (!g_spawn_check_wait_status (status, NULL)) {
    gchar *why = last_line (complaints);

    fail (error, detector, ": %s", why);
    g_free (why);
    ok = FALSE;
  }
  g_free (complaints);
  g_free (command);
  return ok;
}

static gboolean
is_model (const gchar *text)
{
  return g_str_has_suffix (text, ".onnx") && (!strchr (text, ' ') || g_file_test (text, G_FILE_TEST_EXISTS));
}

FilmDetector *
film_detector_new (const gchar *model_or_command, GError **error)
{
  FilmDetector *detector = g_new0 (FilmDetector, 1);
  const gboolean own = !model_or_command || is_model (model_or_command);
  GError *fault = NULL;
  gboolean ok = TRUE;

  signal (SIGPIPE, SIG_IGN);
  detector->answer = g_string_new (NULL);
  detector->complaints = g_string_new (NULL);
  detector->pixels = g_byte_array_new ();
  gst_video_info_init (&detector->film);
  if (own) {
    const gchar *command[] = { "python3", "-c", film_faces_py, model_or_command ? "--model" : NULL, model_or_command,
      NULL };

    detector->command = g_strdupv ((gchar **) command);
    detector->name = "faces.py";
    ok = check (detector, error);
  } else {
    ok = g_shell_parse_argv (model_or_command, NULL, &detector->command, &fault);
    detector->name = ok ? detector->command[0] : model_or_command;
    if (!ok) {
      fail (error, detector, ": %s", fault->message);
      g_error_free (fault);
    }
  }
  ok = ok && start (detector, error);
  if (!ok)
    g_clear_pointer (&detector, film_detector_free);
  return detector;
}

static void
forget_film (FilmDetector *detector)
{
  g_clear_pointer (&detector->converter, gst_video_converter_free);
  gst_clear_buffer (&detector->converted);
  gst_video_info_init (&detector->film);
}

void
film_detector_free (FilmDetector *detector)
{
  stop (detector);
  forget_film (detector);
  g_string_free (detector->answer, TRUE);
  g_string_free (detector->complaints, TRUE);
  g_byte_array_unref (detector->pixels);
  g_strfreev (detector->command);
  g_free (detector);
}

/* --- frames --- */

/* Asks the detector for its size, and makes the converter for it. */
static gboolean
begin_film (FilmDetector *detector, const GstVideoInfo *info, GError **error)
{
  const int wide = MAX (1, gst_util_uint64_scale_round (info->width, MAX (info->par_n, 1), MAX (info->par_d, 1)));
  gchar *header = g_strdup_printf ("{\"width\": %d, \"height\": %d}\n", wide, info->height);
  gchar *line = ask (detector, (const guint8 *) header, strlen (header), error);
  Json *answer = line ? json_read (line) : NULL;
  const int width = answer ? json_int (json_member (answer, "width"), 0) : 0;
  const int height = answer ? json_int (json_member (answer, "height"), 0) : 0;
  gboolean ok = line != NULL;

  g_free (header);
  json_free (answer);
  if (ok && (width < 1 || height < 1 || width > LARGEST || height > LARGEST)) {
    fail (error, detector, ": the first line has to be as {\"width\": 640, \"height\": 384}, and is \"%.60s\"", line);
    ok = FALSE;
  }
  g_free (line);
  if (!ok)
    return FALSE;
  gst_video_info_set_format (&detector->small, GST_VIDEO_FORMAT_RGB, width, height);
  /* A converter changes neither of these. */
  detector->small.fps_n = info->fps_n;
  detector->small.fps_d = info->fps_d;
  detector->small.interlace_mode = info->interlace_mode;
  detector->converter = gst_video_converter_new (info, &detector->small,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_THREADS, G_TYPE_UINT, g_get_num_processors (), NULL));
  if (!detector->converter) {
    fail (error, detector, ": %s cannot be converted to RGB",
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
    return FALSE;
  }
  detector->converted = gst_buffer_new_allocate (NULL, detector->small.size, NULL);
  detector->film = *info;
  g_byte_array_set_size (detector->pixels, width * height * 3);
  return TRUE;
}

/* Converts a frame into pixels. */
static gboolean
convert (FilmDetector *detector, GstVideoFrame *frame)
{
  const gsize row = 3 * (gsize) detector->small.width;
  GstVideoFrame small;

  if (!gst_video_frame_map (&small, &detector->small, detector->converted, GST_MAP_READWRITE))
    return FALSE;
  gst_video_converter_frame (detector->converter, frame, &small);
  for (int y = 0; y < detector->small.height; y++)
    memcpy (detector->pixels->data + y * row,
        (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&small, 0) + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&small, 0),
        row);
  gst_video_frame_unmap (&small);
  return TRUE;
}

static gboolean
read_box (const Json *value, FilmBox *box)
{
  const gchar *type = json_text (json_member (value, "type"));

  *box = (FilmBox){ g_intern_string (type ? type : "face"), json_number (json_member (value, "x"), NAN),
    json_number (json_member (value, "y"), NAN), json_number (json_member (value, "width"), NAN),
    json_number (json_member (value, "height"), NAN), json_number (json_member (value, "confidence"), NAN) };
  return isfinite (box->x) && isfinite (box->y) && fabs (box->x) < 1e6 && fabs (box->y) < 1e6 && box->width > 0
      && box->width < 1e6 && box->height > 0 && box->height < 1e6;
}

/* From the pixels of the detector to those of the film. */
static void
enlarge (const FilmDetector *detector, FilmBox *box)
{
  const double dx = detector->film.width / (double) detector->small.width;
  const double dy = detector->film.height / (double) detector->small.height;

  box->x *= dx;
  box->width *= dx;
  box->y *= dy;
  box->height *= dy;
}

static gboolean
read_boxes (const FilmDetector *detector, const gchar *line, GArray *boxes, GError **error)
{
  Json *answer = json_read (line);
  gboolean ok = answer && *line == '[';

  for (guint i = 0; ok && i < json_length (answer); i++) {
    FilmBox box;

    ok = read_box (json_element (answer, i), &box);
    enlarge (detector, &box);
    g_array_append_val (boxes, box);
  }
  if (!ok)
    fail (error, detector,
        ": an answer has to be as [{\"x\": 1, \"y\": 2, \"width\": 30, \"height\": 40, \"confidence\": 0.9}], and is "
        "\"%.60s\"",
        line);
  json_free (answer);
  return ok;
}

/* A detector knows one size. For another one, and after a fault, a new detector begins. */
static gboolean
prepare (FilmDetector *detector, const GstVideoInfo *info, GError **error)
{
  if (detector->pid && gst_video_info_is_equal (&detector->film, info))
    return TRUE;
  if (detector->converter)
    stop (detector);
  forget_film (detector);
  return (detector->pid || start (detector, error)) && begin_film (detector, info, error);
}

static gboolean
find (FilmDetector *detector, GstVideoFrame *frame, GArray *boxes, GError **error)
{
  gchar *line;
  gboolean ok;

  if (!prepare (detector, &frame->info, error))
    return FALSE;
  if (!convert (detector, frame)) {
    fail (error, detector, ": no memory for a frame");
    return FALSE;
  }
  line = ask (detector, detector->pixels->data, detector->pixels->len, error);
  ok = line && read_boxes (detector, line, boxes, error);
  g_free (line);
  return ok;
}

gboolean
film_detector_find (FilmDetector *detector, GstVideoFrame *frame, GArray *boxes, GError **error)
{
  g_array_set_size (boxes, 0);
  if (find (detector, frame, boxes, error))
    return TRUE;
  stop (detector);
  return FALSE;
}

void
film_boxes_attach (GstBuffer *frame, const GArray *boxes)
{
  for (guint i = 0; i < boxes->len; i++) {
    const FilmBox *box = &g_array_index (boxes, FilmBox, i);
    const double left = MAX (floor (box->x), 0), top = MAX (floor (box->y), 0);
    const double right = ceil (box->x + box->width), bottom = ceil (box->y + box->height);
    GstVideoRegionOfInterestMeta *meta;

    if (right <= left || bottom <= top)
      continue;
    meta = gst_buffer_add_video_region_of_interest_meta (frame, box->type, left, top, right - left, bottom - top);
    if (!isnan (box->confidence))
      gst_video_region_of_interest_meta_add_param (meta,
          gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, box->confidence, NULL));
  }
}
