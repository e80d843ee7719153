/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolves a range of a film:
 *
 *   convolve_segment [OPTION...] INPUT START END OUTPUT.mkv [PROPERTY=VALUE...]
 *
 * START and END are nanoseconds in the film's time, END may be "end". The frames that are shown from START on and before
 * END are written, with the times that they have in the film. Beside OUTPUT.mkv stands a record, OUTPUT.mkv.json. Where
 * both are there already, and the record is of the same input, range, properties, encoder and version, nothing is done.
 *
 * The piece appears under its name when it is complete and on the disk, and has been decoded again. Until then it is in
 * OUTPUT.mkv.XXXXXX.part, under a name of its own, so that two processes cannot write to one file. One process at a time
 * works on a piece where the file system has locks; without locks work may be done twice.
 */
#define _DEFAULT_SOURCE /* what POSIX has beside C11 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "../progress.h"
#include "segment.h"

enum
{
  DONE = 0,
  FAILED = 1,
  USAGE = 2,
  BUSY = 75 /* as EX_TEMPFAIL: it is worth trying again */
};

typedef struct
{
  Segment segment;
  Record record;
  char *output, *json, *part, *lock;
  char *encoder;
  char *fingerprint; /* that the input must have, or NULL */
  gint64 frames;     /* how many are expected, or -1 */
} Run;

static volatile int caught; /* the signal that came */

static void catch (int number)
{
  caught = number;
}

/* --- arguments --- */

static gboolean
read_time (const char *text, GstClockTime *time)
{
  char *rest;

  if (!strcmp (text, "end")) {
    *time = GST_CLOCK_TIME_NONE;
    return TRUE;
  }
  errno = 0;
  *time = g_ascii_strtoull (text, &rest, 10);
  if (g_ascii_isdigit (*text) && !*rest && errno == 0 && *time < G_MAXINT64)
    return TRUE;
  complain ("\"%s\": a time is a whole number of nanoseconds, or end", text);
  return FALSE;
}

/* Whether the output is the input, under whatever name. */
static gboolean
is_input (const Run *run)
{
  GStatBuf input, output;

  return g_stat (run->segment.input, &input) == 0 && g_stat (run->output, &output) == 0 && input.st_dev == output.st_dev
      && input.st_ino == output.st_ino;
}

/* argv has what is left after the options. */
static gboolean
read_arguments (Run *run, char **argv)
{
  Segment *segment = &run->segment;

  if (g_strv_length (argv) < 5) {
    complain ("usage: convolve_segment [OPTION...] INPUT START END OUTPUT.mkv [PROPERTY=VALUE...]; see --help");
    return FALSE;
  }
  segment->input = argv[1];
  run->output = argv[4];
  segment->properties = argv + 5;
  if (!read_time (argv[2], &segment->start) || !read_time (argv[3], &segment->end))
    return FALSE;
  if (segment->start >= segment->end) {
    complain ("the range is empty: START is not before END");
    return FALSE;
  }
  if (!g_str_has_suffix (run->output, ".mkv")) {
    complain ("%s: the name of a piece ends in .mkv", run->output);
    return FALSE;
  }
  if (is_input (run)) {
    complain ("%s: the output is the input; give the output another name", run->output);
    return FALSE;
  }
  return TRUE;
}

static gboolean
parse (Run *run, int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
    { "encoder", 0, 0, G_OPTION_ARG_STRING, &run->encoder,
        "elements that encode, as in a launch line; without loss where left out: avenc_ffv1", "ELEMENTS" },
    { "fingerprint", 0, 0, G_OPTION_ARG_STRING, &run->fingerprint,
        "what the input must be, as a record of the same film has it", "HEX" },
    { "frames", 0, 0, G_OPTION_ARG_INT64, &run->frames, "how many frames the range must have", "N" },
    { "upright", 0, 0, G_OPTION_ARG_NONE, &run->segment.upright,
        "turns frames as the film's tag says, which a Matroska file cannot carry", NULL },
    { 0 },
  };
  GOptionContext *context = g_option_context_new ("INPUT START END OUTPUT.mkv [PROPERTY=VALUE...]");
  GError *error = NULL;
  gboolean ok;

  run->frames = -1;
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, argc, argv, &error);
  g_option_context_free (context);
  if (!ok) {
    complain ("%s", error->message);
    g_error_free (error);
    return FALSE;
  }
  run->segment.encoder = run->encoder ? run->encoder : "avenc_ffv1";
  return read_arguments (run, *argv);
}

/* --- one process at a time, and nothing half made --- */

/*
 * The lock is the kernel's, so that it ends with the process, however that ends. The file stays. Returns 0 where this
 * process may go on.
 */
static int
take_lock (const Run *run, int *file)
{
  int code = FAILED;

  *file = open (run->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*file >= 0 && flock (*file, LOCK_EX | LOCK_NB) == 0)
    return DONE;
  if (*file >= 0 && errno == EWOULDBLOCK) {
    complain ("%s: another process makes this piece", run->output);
    code = BUSY;
  } else if (*file >= 0 && (errno == EOPNOTSUPP || errno == ENOLCK || errno == ENOSYS)) {
    complain ("%s: this file system has no locks, so that work may be done twice", run->lock);
    return DONE;
  } else {
    complain ("%s: %s", run->lock, g_strerror (errno));
  }
  if (*file >= 0)
    close (*file);
  return code;
}

/* Deletes what processes left that were killed: OUTPUT.mkv.*.part and OUTPUT.mkv.*.part.json. */
static void
sweep (const Run *run)
{
  char *folder = g_path_get_dirname (run->output), *name = g_path_get_basename (run->output);
  char *begin = g_strconcat (name, ".", NULL);
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *entry;

  while (dir && (entry = g_dir_read_name (dir)))
    if (g_str_has_prefix (entry, begin)
        && (g_str_has_suffix (entry, ".part") || g_str_has_suffix (entry, ".part.json"))) {
      char *path = g_build_filename (folder, entry, NULL);

      g_unlink (path);
      g_free (path);
    }
  if (dir)
    g_dir_close (dir);
  g_free (begin);
  g_free (name);
  g_free (folder);
}

/* Makes the file, empty, that the piece is written to. */
static gboolean
begin_part (Run *run)
{
  int file;

  run->part = g_strconcat (run->output, ".XXXXXX.part", NULL);
  file = g_mkstemp_full (run->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    complain ("%s: %s", run->part, g_strerror (errno));
    return FALSE;
  }
  close (file);
  run->segment.part = run->part;
  return TRUE;
}

static gboolean
give_name (const char *from, const char *to)
{
  if (g_rename (from, to) == 0)
    return TRUE;
  complain ("%s: %s", to, g_strerror (errno));
  return FALSE;
}

/*
 * Gives the finished piece its name, then its record. The record that was there belongs to another piece, so it goes
 * first: a piece without a record is not a result.
 */
static gboolean
publish (Run *run)
{
  char *folder = g_path_get_dirname (run->output), *part = g_strconcat (run->part, ".json", NULL);
  gboolean ok = record_sync (run->part) && (run->record.sum = record_sum (run->part, &run->record.size))
      && record_write (&run->record, part);

  if (ok) {
    g_unlink (run->json);
    ok = give_name (run->part, run->output) && give_name (part, run->json) && record_sync (folder);
  }
  if (!ok)
    g_unlink (part);
  g_free (part);
  g_free (folder);
  return ok;
}

static gboolean
make (Run *run)
{
  Record *record = &run->record;
  const gint64 begun = g_get_monotonic_time ();
  gboolean ok = begin_part (run) && segment_make (&run->segment, record);

  if (ok && run->frames >= 0 && record->frames != (guint64) run->frames) {
    complain ("%s: %" G_GUINT64_FORMAT " frames in this range, and %" G_GINT64_FORMAT " are wanted", run->segment.input,
        record->frames, run->frames);
    ok = FALSE;
  }
  ok = ok && segment_check (&run->segment, record);
  record->seconds = (g_get_monotonic_time () - begun) / 1e6;
  ok = ok && publish (run);
  if (!ok && run->segment.part)
    g_unlink (run->part);
  return ok;
}

/* Fills in what the result depends on. */
static gboolean
describe (Run *run)
{
  Record *record = &run->record;

  record->input = run->segment.input;
  record->start = run->segment.start;
  record->end = run->segment.end;
  record->encoder = run->segment.encoder;
  record->properties = g_strjoinv (" ", run->segment.properties);
  record->property_files = record_property_files (run->segment.properties);
  record->version = segment_element_version ();
  record->fingerprint = record_fingerprint (run->segment.input);
  if (!record->property_files || !record->version || !record->fingerprint)
    return FALSE;
  if (!run->fingerprint || !strcmp (run->fingerprint, record->fingerprint))
    return TRUE;
  complain ("%s: not the file that is wanted: its fingerprint is %s", run->segment.input, record->fingerprint);
  return FALSE;
}

static int
work (Run *run)
{
  Record *record = &run->record;
  int lock, code = take_lock (run, &lock);

  if (code != DONE)
    return code;
  code = FAILED;
  sweep (run);
  if (describe (run)) {
    if (record_fits (record, run->json, run->output)) {
      g_print ("%s: there already\n", run->output);
      code = DONE;
    } else if (make (run)) {
      g_print ("%s: %" G_GUINT64_FORMAT
               " frames, %.3f s: decoding %.3f, convolving %.3f (%s), encoding %.3f, checking %.3f\n",
          run->output, record->frames, record->seconds, record->seconds_decoding, record->seconds_convolving,
          record->device, record->seconds_encoding, record->seconds_checking);
      code = DONE;
    }
  }
  record_clear (record);
  close (lock);
  return code;
}

int
main (int argc, char **argv)
{
  Run run = { 0 };
  int code;

  if (!parse (&run, &argc, &argv))
    return USAGE;
  signal (SIGTERM, catch);
  signal (SIGINT, catch);
  run.segment.signal = &caught;
  run.json = g_strconcat (run.output, ".json", NULL);
  run.lock = g_strconcat (run.output, ".lock", NULL);
  code = work (&run);
  g_free (run.json);
  g_free (run.lock);
  g_free (run.part);
  g_free (run.encoder);
  g_free (run.fingerprint);
  return code;
}
