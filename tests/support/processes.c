/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* dladdr () */
#include "support/processes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the stand-in --- */

/* Meson names the stand-in's folder itself. FALSE where the loader does not look there. */
static gboolean
leave_out_folder (const gchar *folder)
{
  const gchar *before = g_getenv ("LD_LIBRARY_PATH");
  g_auto (GStrv) parts = g_strsplit (before ? before : "", ":", -1);
  g_autoptr (GString) path = g_string_new (NULL);
  gboolean found = FALSE;

  for (guint i = 0; parts[i]; i++)
    if (g_str_equal (parts[i], folder))
      found = TRUE;
    else
      g_string_append_printf (path, "%s%s", path->len > 0 ? ":" : "", parts[i]);
  g_setenv ("LD_LIBRARY_PATH", path->str, TRUE);
  return found;
}

/*
 * The real driver is the one that the loader finds before the stand-in's folder is in its path. Only the project's own
 * plugin stays in GStreamer's path: a search for plugins would let others open the driver, too.
 */
void
stand_in_driver (char **argv)
{
  const gchar *folder = g_getenv ("CUDACONVOLVE_STAND_IN"), *plugins = g_getenv ("GST_PLUGIN_PATH"), *before;
  g_autofree gchar *path = NULL, *own = NULL;
  Dl_info real;
  void *driver;

  if (!folder || g_getenv ("CUDACONVOLVE_REAL_LIBCUDA"))
    return;
  if (leave_out_folder (folder)) {
    execv ("/proc/self/exe", argv);
    g_error ("the program cannot be started again");
  }
  driver = dlopen ("libcuda.so.1", RTLD_LAZY);
  if (!driver || !dlsym (driver, "cuInit") || !dladdr (dlsym (driver, "cuInit"), &real)) {
    g_print ("there is no driver of a GPU: %s\n", driver ? "no cuInit()" : dlerror ());
    exit (PROCESS_SKIPPED);
  }
  before = g_getenv ("LD_LIBRARY_PATH");
  path = g_strdup_printf ("%s%s%s", folder, *before ? ":" : "", before);
  own = plugins ? g_strndup (plugins, strcspn (plugins, ":")) : NULL;
  if (own)
    g_setenv ("GST_PLUGIN_PATH", own, TRUE);
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  g_setenv ("CUDACONVOLVE_REAL_LIBCUDA", real.dli_fname, TRUE);
  g_setenv ("LD_LIBRARY_PATH", path, TRUE);
  g_print ("the real driver is %s\n", real.dli_fname);
  execv ("/proc/self/exe", argv);
  g_error ("the program cannot be started again");
}

/* --- jobs --- */

struct _ProcessJob
{
  gchar *name, **argv, **environment;
  gint output; /* a file */
  GPid pid;
  gint64 begin;
  gboolean killed;
};

ProcessJob *
process_job_new (const gchar *name, gchar **argv)
{
  ProcessJob *job = g_new0 (ProcessJob, 1);

  job->name = g_strdup (name);
  job->argv = g_strdupv (argv);
  job->environment = g_get_environ ();
  job->output = -1;
  return job;
}

void
process_job_free (ProcessJob *job)
{
  g_free (job->name);
  g_strfreev (job->argv);
  g_strfreev (job->environment);
  g_free (job);
}

void
process_job_set (ProcessJob *job, const gchar *variable, gchar *value)
{
  job->environment = value ? g_environ_setenv (job->environment, variable, value, TRUE)
                           : g_environ_unsetenv (job->environment, variable);
  g_free (value);
}

static void
start_job (ProcessJob *job)
{
  gchar *name = NULL;

  job->output = g_file_open_tmp ("cudaconvolve-XXXXXX", &name, NULL);
  if (job->output < 0)
    g_error ("a temporary file cannot be made");
  unlink (name);
  g_free (name);
  job->begin = g_get_monotonic_time ();
  job->pid = fork ();
  if (job->pid != 0)
    return;
  prctl (PR_SET_PDEATHSIG, SIGKILL); /* a job ends with the program that started it */
  dup2 (job->output, STDOUT_FILENO);
  dup2 (job->output, STDERR_FILENO);
  execve ("/proc/self/exe", job->argv, job->environment);
  _exit (1);
}

static gchar *
read_output (ProcessJob *job)
{
  off_t size = lseek (job->output, 0, SEEK_END);
  gchar *text = g_malloc0 (size + 1);

  if (pread (job->output, text, size, 0) != size)
    *text = '\0';
  close (job->output);
  return text;
}

static void
print_job (const gchar *name, const gchar *output, gint status, gpointer seconds)
{
  g_print ("==== %s: %s %d, %.1f s\n%s", name, status < 0 ? "ended by signal" : "status", ABS (status),
      *(gdouble *) seconds, output);
}

/* Whether the job has ended. */
static gboolean
look_at_job (ProcessJob *job, guint seconds, ProcessJudge judge, guint *failed, guint *skipped)
{
  gdouble passed = (g_get_monotonic_time () - job->begin) / 1e6;
  g_autofree gchar *output = NULL;
  gint status;

  if (waitpid (job->pid, &status, WNOHANG) == 0) {
    if (passed > seconds && !job->killed) {
      g_print ("%s stands still after %.0f s\n", job->name, passed);
      job->killed = TRUE;
      kill (job->pid, SIGKILL);
    }
    return FALSE;
  }
  status = WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
  output = read_output (job);
  if (judge)
    judge (job->name, output, status, &passed);
  else
    print_job (job->name, output, status, &passed);
  *failed += status != 0 && status != PROCESS_SKIPPED;
  *skipped += status == PROCESS_SKIPPED;
  return TRUE;
}

int
processes_run (GPtrArray *jobs, guint seconds, ProcessJudge judge)
{
  const gchar *given = g_getenv ("CUDACONVOLVE_PROCESSES");
  guint most = MAX (given ? (guint) atoi (given) : g_get_num_processors (), 1), next = 0, failed = 0, skipped = 0;
  g_autoptr (GPtrArray) running = g_ptr_array_new ();
  gint64 begin = g_get_monotonic_time ();

  while (next < jobs->len || running->len > 0) {
    while (next < jobs->len && running->len < most) {
      start_job (jobs->pdata[next]);
      g_ptr_array_add (running, jobs->pdata[next++]);
    }
    for (guint i = running->len; i-- > 0;)
      if (look_at_job (running->pdata[i], seconds, judge, &failed, &skipped))
        g_ptr_array_remove_index (running, i);
    g_usleep (10000);
  }
  g_print ("%u processes, %u at the same time: %u failed, %u skipped, %.1f s\n", jobs->len, most, failed, skipped,
      (g_get_monotonic_time () - begin) / 1e6);
  return failed > 0 ? 1 : skipped == jobs->len ? PROCESS_SKIPPED : 0;
}
