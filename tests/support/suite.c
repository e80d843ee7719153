/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A test that fails leaves its pipeline in play, and gst_deinit (), which GStreamer's check library calls at the end of the
 * program, waits for its threads for ever. So a program with a failed test ends here. The linker puts this in the place of
 * gst_check_run_suite ().
 */
#include <gst/check/gstcheck.h>

#include <stdio.h>
#include <unistd.h>

gint __real_gst_check_run_suite (Suite *suite, const gchar *name, const gchar *path);
gint __wrap_gst_check_run_suite (Suite *suite, const gchar *name, const gchar *path);

gint
__wrap_gst_check_run_suite (Suite *suite, const gchar *name, const gchar *path)
{
  gint failed = __real_gst_check_run_suite (suite, name, path);

  if (failed) {
    fflush (NULL);
    _exit (1);
  }
  return 0;
}
