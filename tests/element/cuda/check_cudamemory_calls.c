/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the element calls of the CUDA driver for each frame. */
#include "element/cuda/check_cudamemory.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Runs a pipeline of this many frames, and counts the calls of each function of the CUDA driver. NULL where another tool,
 * such as compute-sanitizer, holds the place from which calls are counted.
 */
static GHashTable *
count_calls (const gchar *line, guint frames)
{
  g_autofree gchar *name = g_build_filename (g_get_tmp_dir (), "cudaconvolve-calls", NULL);
  g_autofree gchar *command = g_strdup_printf ("gst-launch-1.0 -q videotestsrc num-buffers=%u ! %s", frames, line);
  g_auto (GStrv) environment = g_get_environ (), lines = NULL;
  g_autofree gchar *text = NULL;
  gchar **arguments;
  GHashTable *calls = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GError *error = NULL;
  gint status;

  environment = g_environ_setenv (environment, "CUDA_INJECTION64_PATH", g_getenv ("CUDACONVOLVE_CALLS"), TRUE);
  environment = g_environ_setenv (environment, "CUDA_CALLS", name, TRUE);
  fail_unless (g_shell_parse_argv (command, NULL, &arguments, &error));
  fail_unless (g_spawn_sync (NULL, arguments, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, &error)
          && status == 0,
      "%s: %s, status %d", command, error ? error->message : "", status);
  g_strfreev (arguments);
  if (!g_file_get_contents (name, &text, NULL, NULL)) {
    g_hash_table_unref (calls);
    return NULL;
  }
  g_unlink (name);
  lines = g_strsplit (text, "\n", -1);
  for (gchar **at = lines; *at; at++) {
    gchar *space = strchr (*at, ' ');

    if (space)
      g_hash_table_insert (calls, g_strndup (*at, space - *at), GUINT_TO_POINTER (atoi (space)));
  }
  return calls;
}

/* Functions that may not be called for each frame, by the beginning of their names. */
static const gchar *const not_per_frame[] = { "cuMemAlloc", "cuMemFree", "cuMemHost", "cuMemcpyHtoD_v2",
  "cuMemcpyDtoH_v2", "cuMemcpy2D_v2", "cuCtxSynchronize", "cuCtxCreate", "cuStreamCreate", "cuStreamSynchronize",
  "cuEventCreate", "cuModule", "cuLibrary", "cuFuncSet", "NULL-stream" };

/* A thousand frames more make a thousand times the same few calls. */
GST_START_TEST (test_calls)
{
  static const struct
  {
    const gchar *line;
    guint launches; /* of a frame */
  } rows[] = {
    { "video/x-raw,format=NV12,width=320,height=240 ! cudaconvolve ! fakesink", 2 },
    { "video/x-raw,format=I420,width=320,height=240 ! cudaconvolve frames-in-flight=3 ! fakesink", 3 },
    { "video/x-raw,format=RGBA,width=320,height=240 ! cudaconvolve alpha=copy mask=\"1 2 3; 4 5 6; 7 8 10\" ! fakesink",
        1 },
  };

  if (!g_getenv ("CUDACONVOLVE_CALLS")) {
    g_print ("nothing to count CUDA's calls with\n");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GHashTable *few = count_calls (rows[i].line, 200), *many = count_calls (rows[i].line, 1200);
    GHashTableIter iter;
    gpointer name, count;

    if (!few || !many) {
      g_print ("another tool counts CUDA's calls\n");
      return;
    }
    g_print ("%s\n", rows[i].line);
    g_hash_table_iter_init (&iter, many);
    while (g_hash_table_iter_next (&iter, &name, &count)) {
      gint more = GPOINTER_TO_INT (count) - GPOINTER_TO_INT (g_hash_table_lookup (few, name));

      if (more != 0)
        g_print ("  %s: %.3f a frame\n", (gchar *) name, more / 1000.0);
      for (guint k = 0; k < G_N_ELEMENTS (not_per_frame); k++)
        if (g_str_has_prefix (name, not_per_frame[k]))
          fail_unless (more == 0, "%s: %s is called %d times more in 1000 frames more", rows[i].line, (gchar *) name,
              more);
      if (g_str_equal (name, "cuLaunchKernel"))
        fail_unless_equals_int (more, 1000 * rows[i].launches);
    }
    fail_unless (g_hash_table_contains (many, "cuLaunchKernel") || g_hash_table_contains (many, "cuLaunchKernelEx"));
    g_hash_table_unref (few);
    g_hash_table_unref (many);
  }
}
GST_END_TEST;

TCase *
calls_of_frames (void)
{
  TCase *tc = tcase_create ("calls");

  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_calls);
  return tc;
}
