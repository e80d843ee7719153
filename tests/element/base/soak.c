/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Long and hard use of the element: soak [PART[=AMOUNT]...]. What the process uses must stay flat, the frames at the
 * end must be right, and nothing may post an error or write a critical message. Without an amount each part is short.
 * tests/long/soak.sh has the long amounts.
 *
 * CUDACONVOLVE_SEED=N repeats a run. CUDACONVOLVE_VARIANT=NAME sets kernel-variant. CUDACONVOLVE_OVER_DEVICE=1 says
 * that the plugin has the fake device. Exits with 0, with 1 after a fault, and with 77 where no part that was asked
 * for can run here.
 */
#include "element/base/soak.h"

#include <stdlib.h>
#include <string.h>

#include "support/run.h"

CheckRandom soak_random;
const gchar *soak_part = "start";
gboolean soak_on_fake, soak_judges_device;

static gint faults; /* atomic */

typedef struct
{
  const gchar *name, *unit;
  void (*run) (guint64 amount);
  guint64 amount; /* of a short run */
  gboolean (*can_run) (void);
  const gchar *reason; /* why it cannot */
} Part;

/* A part for the device comes last. The processes run a part each. */
static const Part parts[] = {
  { .name = "states", .unit = "cycles from NULL to PLAYING and back", .run = soak_states, .amount = 100 },
  { .name = "masks", .unit = "changes of the settings", .run = soak_masks, .amount = 300 },
  { .name = "caps", .unit = "changes of caps", .run = soak_caps, .amount = 60 },
  { .name = "seeks", .unit = "seconds of seeks and flushes", .run = soak_seeks, .amount = 2 },
  { .name = "frames", .unit = "frames in system memory", .run = soak_frames, .amount = 4000 },
  { .name = "elements", .unit = "frames in each of forty elements", .run = soak_elements, .amount = 50 },
  { .name = "processes",
      .unit = "changes of the settings in each of four processes",
      .run = soak_processes,
      .amount = 100 },
  { .name = "cuda",
      .unit = "frames in CUDA memory",
      .run = soak_cuda,
      .amount = 20000,
      .can_run = soak_has_cuda,
      .reason = "frames in CUDA memory need a GPU and cudaupload" },
};

#define N_PARTS G_N_ELEMENTS (parts)

/* --- faults --- */

/* Some faults come with every frame, so that only the first ones are printed. */
void
soak_fail (const gchar *format, ...)
{
  gint count = g_atomic_int_add (&faults, 1);
  g_autofree gchar *text = NULL;
  va_list arguments;

  if (count >= 20)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_print ("%s: FAULT: %s\n", soak_part, text);
}

void
soak_compare (const gchar *what, const gchar *found, const gchar *expected)
{
  if (!g_str_equal (found, expected))
    soak_fail ("%s: the checksum is %.16s, not %.16s", what, found, expected);
}

Usage *
soak_usage_new (guint64 operations)
{
  return usage_new (soak_part, operations, soak_judges_device);
}

void
soak_usage_end (Usage *usage)
{
  if (!usage_end (usage))
    soak_fail ("what the process uses is not flat");
}

/* Critical messages and warnings of GLib and of everybody who uses GLib. */
static GLogWriterOutput
watch_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING))
    for (gsize i = 0; i < n_fields; i++)
      if (g_str_equal (fields[i].key, "MESSAGE"))
        soak_fail ("in the log: %s", (const gchar *) fields[i].value);
  return G_LOG_WRITER_HANDLED;
}

/* The plugin nvcodec logs errors where the GPU has no encoder, or where its compiler does not know the GPU. */
static gboolean
is_of_nvcodec (GstDebugCategory *category)
{
  const gchar *name = gst_debug_category_get_name (category);

  return g_str_has_prefix (name, "nvenc") || g_str_equal (name, "cudanvrtc");
}

/* The same for errors in GStreamer's log. */
static void
watch_debug (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level <= GST_LEVEL_ERROR && !is_of_nvcodec (category))
    soak_fail ("in GStreamer's log: %s:%d: %s", file, line, gst_debug_message_get (message));
}

/* --- the run --- */

gchar *
soak_element (void)
{
  const gchar *variant = g_getenv ("CUDACONVOLVE_VARIANT");

  return g_strdup_printf ("cudaconvolve name=c frames-in-flight=4 kernel-variant=%s", variant ? variant : "auto");
}

/* FALSE where the part cannot run here. */
static gboolean
run_part (const Part *part, guint64 amount)
{
  gint64 start = g_get_monotonic_time ();
  gint before = g_atomic_int_get (&faults);

  soak_part = part->name;
  if (part->can_run && !part->can_run ()) {
    g_print ("%s: left out: %s\n", part->name, part->reason);
    return FALSE;
  }
  check_random_init (&soak_random, check_seed (), part - parts);
  part->run (amount);
  g_print ("%s: %" G_GUINT64_FORMAT " %s, %.1f s, %d faults\n", part->name, amount, part->unit,
      (g_get_monotonic_time () - start) / 1e6, g_atomic_int_get (&faults) - before);
  return TRUE;
}

static guint
run_named (const gchar *argument)
{
  g_auto (GStrv) words = g_strsplit (argument, "=", 2);

  for (guint i = 0; i < N_PARTS; i++)
    if (g_strcmp0 (words[0], parts[i].name) == 0)
      return run_part (&parts[i], words[1] ? g_ascii_strtoull (words[1], NULL, 10) : parts[i].amount);
  g_printerr ("%s: not known. Parts, with the amounts of a short run:\n", argument);
  for (guint i = 0; i < N_PARTS; i++)
    g_printerr ("  %s=%" G_GUINT64_FORMAT "  %s\n", parts[i].name, parts[i].amount, parts[i].unit);
  exit (1);
}

int
main (int argc, char **argv)
{
  guint ran = 0;

  usage_init ();
  gst_init (NULL, NULL);
  g_log_set_writer_func (watch_log, NULL, NULL);
  gst_debug_add_log_function (watch_debug, NULL, NULL);
  if (gst_debug_get_default_threshold () < GST_LEVEL_ERROR)
    gst_debug_set_default_threshold (GST_LEVEL_ERROR);
  soak_on_fake = g_getenv ("CUDACONVOLVE_OVER_DEVICE") != NULL;
  soak_judges_device = g_getenv ("CUDACONVOLVE_SOAK_CHILD") == NULL;
  if (argc == 1)
    for (guint i = 0; i < N_PARTS; i++)
      ran += run_part (&parts[i], parts[i].amount);
  for (int i = 1; i < argc; i++)
    ran += run_named (argv[i]);
  gst_deinit ();
  if (g_atomic_int_get (&faults) > 0)
    return 1;
  return ran > 0 ? 0 : 77;
}
