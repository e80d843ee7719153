/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every call of the driver is made to fail once, from the first call of the process on: that is where the CUDA runtime
 * finds the GPU, makes its context and loads the kernels. Each call has a process of its own, in which one frame is
 * pushed. There is one error of plugin/errors.md, or none and the right frame. Then the same element starts again in
 * the same process.
 *
 * CUDACONVOLVE_MOST_CALLS=N lets about N calls fail in each way, chosen at random, and --setup all all of them. The
 * program runs behind element/driver/libcuda.c, and exits with 77 where there is no GPU.
 */
#include <stdlib.h>
#include <string.h>

#include "element/cuda/failing.h"
#include "element/cuda/failing_play.h"
#include "support/element.h"
#include "support/processes.h"

#define MOST_CALLS 60
#define LIMIT 100 /* seconds for a process */

static const gchar
    *const kinds[] = { [FAILING_MEMORY] = "memory", [FAILING_ONCE] = "once", [FAILING_LASTING] = "lasting" };

/* The numbers of the calls and the right frame, from the process in which nothing fails. */
static gint n_calls;
static gchar *right;

static guint bad;
static GHashTable *outcomes; /* a text to the names of calls */

/* --- one process --- */

/* "right", "no frame", "wrong", or the errors. */
static gchar *
tell (const Play *run)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < run->errors->len; i++) {
    const GError *error = run->errors->pdata[i];
    /* The text ends where the debug text, with places and numbers, begins. */
    g_autofree gchar *first = g_strndup (error->message, strcspn (error->message, "("));

    g_string_append_printf (text, "%s%s %d: %s", i > 0 ? " AND " : "", g_quark_to_string (error->domain), error->code,
        g_strchomp (first));
  }
  if (run->infos->len > 0)
    g_string_append_printf (text, "%s on the CPU", run->errors->len > 0 ? " AND" : "");
  if (run->errors->len == 0)
    g_string_append (text,
        run->frames->len == 0                                                      ? "no frame"
            : !g_getenv ("CUDACONVOLVE_RIGHT")                                     ? "first"
            : g_str_equal (run->frames->pdata[0], g_getenv ("CUDACONVOLVE_RIGHT")) ? "right"
                                                                                   : "wrong");
  return g_string_free (text, FALSE);
}

/* Whether the outcome is one that plugin/errors.md promises. */
static gboolean
is_good (const Play *run)
{
  const GError *error = run->errors->len > 0 ? run->errors->pdata[0] : NULL;

  if (!error)
    return run->frames->len == 1
        && (!g_getenv ("CUDACONVOLVE_RIGHT") || g_str_equal (run->frames->pdata[0], g_getenv ("CUDACONVOLVE_RIGHT")));
  return run->errors->len == 1 && run->frames->len == 0
      && (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)
          || g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT)
          || g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED));
}

static gboolean
says_to_start_again (const Play *run)
{
  return run->errors->len > 0 && strstr (((GError *) run->errors->pdata[0])->message, "started again");
}

GST_START_TEST (test_process)
{
  static const Scenario scenario = { "one frame", "kernel-variant=global", NULL, IN_SYSTEM_MEMORY };
  gint call = atoi (g_getenv ("CUDACONVOLVE_CALL")), kind = atoi (g_getenv ("CUDACONVOLVE_KIND"));
  Play run;
  gboolean good;
  const gchar *name;
  g_autofree gchar *first = NULL, *next = NULL;

  failing_find ();
  play_set_up ();
  run = play_new (&scenario);
  failing.begin (call, kind);
  play_once_more (&run);
  name = failing.name ();
  good = is_good (&run);
  first = tell (&run);
  if (call == 0)
    g_print ("CALLS %d\nFRAME %s\n", failing.count (),
        run.frames->len > 0 ? (const gchar *) run.frames->pdata[0] : "none");
  for (guint i = 0; i < run.errors->len; i++)
    g_print ("call %d (%s), %s: %s\n", call, name, kinds[kind], ((GError *) run.errors->pdata[i])->message);
  play_once_more (&run);
  next = tell (&run);
  /* The next start works, or it says what is to be done. */
  good &= is_good (&run) && (run.errors->len == 0 || kind == FAILING_LASTING || says_to_start_again (&run));
  g_print ("OUTCOME %s: %s; THEN %s\nNAME %s\n", good ? "good" : "BAD", first, next, name ? name : "none");
  failing.begin (0, 0);
  play_free (&run);
  play_tear_down ();
  fail_unless (good);
}
GST_END_TEST;

static int
run_process (void)
{
  Suite *suite = suite_create ("failing_start");
  TCase *tc = tcase_create ("failing_start");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_process);
  return gst_check_run_suite (suite, "failing_start", __FILE__);
}

/* --- all processes --- */

/* The rest of the line that begins with the word, or a text that says that there is none. */
static gchar *
line_after (const gchar *output, const gchar *word)
{
  const gchar *place = strstr (output, word);

  return place ? g_strndup (place + strlen (word), strcspn (place + strlen (word), "\n")) : g_strdup ("nothing");
}

static void
judge (const gchar *name, const gchar *output, gint status, gpointer data)
{
  g_autofree gchar *call = line_after (output, "NAME "), *text = line_after (output, "OUTCOME ");
  gchar *outcome = g_strdup_printf ("%s, %s", name, text);
  GString *calls = g_hash_table_lookup (outcomes, outcome);

  if (status != 0 && bad++ < 10)
    g_print ("%s: %s %d\n%s", name, status < 0 ? "ended by signal" : "status", ABS (status), output);
  if (!calls) {
    calls = g_string_new (NULL);
    g_hash_table_insert (outcomes, g_strdup (outcome), calls);
  }
  g_string_append_printf (calls, " %s", call);
  g_free (outcome);
}

static void
judge_reference (const gchar *name, const gchar *output, gint status, gpointer data)
{
  g_autofree gchar *count = line_after (output, "CALLS ");

  n_calls = status == 0 ? atoi (count) : 0;
  right = line_after (output, "FRAME ");
  g_print ("%s: status %d, %.1f s\n%s", name, status, *(gdouble *) data, output);
}

static ProcessJob *
job_new (gchar **argv, const gchar *name, gint call, gint kind)
{
  ProcessJob *job = process_job_new (name, argv);

  process_job_set (job, "CUDACONVOLVE_CALL", g_strdup_printf ("%d", call));
  process_job_set (job, "CUDACONVOLVE_KIND", g_strdup_printf ("%d", kind));
  process_job_set (job, "CUDACONVOLVE_RIGHT", g_strdup (right));
  return job;
}

static int
run_processes (gchar **argv)
{
  const gchar *given = g_getenv ("CUDACONVOLVE_MOST_CALLS");
  gint most = given ? atoi (given) : MOST_CALLS;
  g_autoptr (GPtrArray) jobs = g_ptr_array_new_with_free_func ((GDestroyNotify) process_job_free);
  GHashTableIter i;
  gpointer outcome, calls;
  int status;

  g_ptr_array_add (jobs, job_new (argv, "nothing fails", 0, FAILING_ONCE));
  if ((status = processes_run (jobs, LIMIT, judge_reference)) != 0)
    return status;
  g_ptr_array_set_size (jobs, 0);
  g_random_set_seed (check_seed ());
  for (gint kind = FAILING_MEMORY; kind <= FAILING_LASTING; kind++)
    for (gint call = 1; call <= n_calls; call++)
      if (n_calls <= most || g_getenv ("CUDACONVOLVE_ALL_CASES") || g_random_int_range (0, n_calls) < most)
        g_ptr_array_add (jobs, job_new (argv, kinds[kind], call, kind));
  outcomes = g_hash_table_new (g_str_hash, g_str_equal);
  status = processes_run (jobs, LIMIT, judge);
  g_hash_table_iter_init (&i, outcomes);
  while (g_hash_table_iter_next (&i, &outcome, &calls))
    g_print ("%s:%s\n", (const gchar *) outcome, ((GString *) calls)->str);
  return status;
}

int
main (int argc, char **argv)
{
  stand_in_driver (argv);
  gst_check_init (&argc, &argv);
  return g_getenv ("CUDACONVOLVE_CALL") ? run_process () : run_processes (argv);
}
