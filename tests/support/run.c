/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/run.h"

#include <glib/gstdio.h>

guint32
check_seed (void)
{
  static gboolean known;
  static guint32 seed;
  const gchar *given = g_getenv ("CUDACONVOLVE_SEED");

  if (!known) {
    known = TRUE;
    seed = given ? g_ascii_strtoull (given, NULL, 10) : g_random_int ();
    g_print ("seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);
  }
  return seed;
}

gchar *
check_folder (void)
{
  GError *error = NULL;
  gchar *folder = g_dir_make_tmp ("cudaconvolve-XXXXXX", &error);

  if (!folder)
    g_error ("%s", error->message); /* before the first test there is no test to fail */
  return folder;
}

void
check_remove_folder (gchar *folder)
{
  if (folder && g_rmdir (folder) != 0)
    g_printerr ("%s is not empty\n", folder);
  g_free (folder);
}
