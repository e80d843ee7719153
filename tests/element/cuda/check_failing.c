/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every call of the device is made to fail once, in every scenario and in every way of failing.
 *
 * A scenario runs once undisturbed. That run counts the calls, and its frames are what is expected. Then the
 * scenario runs again for each of the calls. Frames that come out before an error must be the expected ones, and a
 * frame that does not come needs an error. There is one error at most, with a code of plugin/errors.md. After the
 * stop the device must have got everything back, and the same element must start again.
 *
 * Over the driver of a GPU, which has many calls, each scenario has a process of its own, and several run at the same
 * time. A quick run lets about MOST_CALLS calls of a scenario fail, chosen at random; CUDACONVOLVE_MOST_CALLS is
 * another number, also over the device of host memory. CUDACONVOLVE_SCENARIO=N runs scenario number N alone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element/cuda/failing.h"
#include "element/cuda/failing_play.h"
#include "support/element.h"
#include "support/processes.h"

#define MOST_CALLS 60 /* of a scenario and a kind of error, in a quick run over a driver */
#define WAIT 120      /* seconds after which a run counts as standing still */
#define LIMIT 1500    /* seconds for a scenario over a driver */
#define MOST_LOST 8   /* things of the device that GStreamer's own code may lose where one of its calls fails */

/* The calls and the frames of a run in which nothing failed, for comparison. */
typedef struct
{
  gint calls, held; /* held: by the runtime, GStreamer and an element, from the first run on */
  GPtrArray *frames;
  gchar *again; /* the first frame after the next start */
} Reference;

/* How a run was disturbed, for the text of a failure. */
typedef struct
{
  const gchar *scenario;
  gint call, kind;
} Fault;

static const gchar *const kinds[FAILING_N_KINDS] = { "missing", "memory", "once", "lasting", "host memory" };

static gchar *
tell (const Fault *fault, const Play *run)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "\"%s\", call %d (%s) fails, %s:", fault->scenario, fault->call,
      failing.name () ? failing.name () : "none", kinds[fault->kind]);
  for (guint i = 0; i < run->errors->len; i++)
    g_string_append_printf (text, " error: %s", ((GError *) run->errors->pdata[i])->message);
  return g_string_free (text, FALSE);
}

/*
 * GstCuda frees nothing where its context cannot be made current, and a pool whose start fails keeps the buffers that it has
 * made. What is lost by this is held from then on. GstCuda is the only caller of functions whose names end with _v2.
 */
static void
check_held (const Fault *fault, const Play *run, Reference *reference)
{
  g_autofree gchar *what = tell (fault, run);
  gchar text[500];
  gint held = failing.held (text, sizeof (text));

  if (held > reference->held && held <= reference->held + MOST_LOST && failing.name ()
      && g_str_has_suffix (failing.name (), "_v2"))
    reference->held = held;
  fail_unless (held <= reference->held, "%s still held: %s", what, text);
}

/* Every frame of the reference is among the frames in its order; no other frame is, unless there may be others. */
static gboolean
have_frames (const GPtrArray *frames, const GPtrArray *expected, gboolean others)
{
  guint k = 0;

  for (guint i = 0; i < frames->len; i++) {
    if (k < expected->len && g_str_equal (frames->pdata[i], expected->pdata[k]))
      k++;
    else if (!others)
      return FALSE;
  }
  return k == expected->len;
}

/* Whether the frames are the first ones of the reference. */
static gboolean
are_first (const GPtrArray *frames, const GPtrArray *expected)
{
  for (guint i = 0; i < frames->len; i++)
    if (i >= expected->len || !g_str_equal (frames->pdata[i], expected->pdata[i]))
      return FALSE;
  return TRUE;
}

static gint
code_of (gint kind)
{
  return kind == FAILING_MISSING                       ? GST_RESOURCE_ERROR_NOT_FOUND
      : kind == FAILING_MEMORY || kind == FAILING_HOST ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
                                                       : GST_RESOURCE_ERROR_FAILED;
}

/* GStreamer does not tell the element why its own call of the driver failed. */
static gboolean
has_code (const GError *error, gint kind, Memory memory)
{
  return g_error_matches (error, GST_RESOURCE_ERROR, code_of (kind))
      || (memory != IN_SYSTEM_MEMORY
          && (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT)
              || g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED)));
}

/* A sticky error, from its first message on, is told as what it is. */
static void
check_error (const Fault *fault, const Play *run)
{
  g_autofree gchar *what = tell (fault, run);
  const GError *error = run->errors->pdata[0];

  fail_unless (run->errors->len == 1, "%s %u errors", what, run->errors->len);
  /* A file that cannot be read is a bad setting, whatever the reason. */
  if (fault->kind == FAILING_HOST && strstr (error->message, "there is no memory"))
    return;
  fail_unless (has_code (error, fault->kind, run->memory), "%s code %d", what, error->code);
  fail_unless (fault->kind != FAILING_LASTING || strstr (error->message, "other CUDA code"), "%s", what);
  fail_unless ((strstr (error->message, "started again") != NULL) == (fault->kind == FAILING_LASTING), "%s", what);
}

/* A frame that was taken comes out before the error, except for those that were under way. */
static void
check_pushed (const Fault *fault, const Play *run)
{
  g_autofree gchar *what = tell (fault, run);

  fail_unless (run->frames->len + run->kept >= run->pushed, "%s %u frames of %u", what, run->frames->len, run->pushed);
}

static void
check_run (const Fault *fault, const Play *run, const Reference *reference)
{
  g_autofree gchar *what = tell (fault, run);
  gboolean on_cpu = run->infos->len > 0;

  if (run->errors->len > 0) {
    check_error (fault, run);
    fail_unless (are_first (run->frames, reference->frames), "%s wrong frames before the error", what);
    check_pushed (fault, run);
  } else {
    fail_unless (!run->failed, "%s a failure without an error", what);
    fail_unless (!on_cpu || fault->kind == FAILING_MISSING, "%s %s", what, "an INFO");
    fail_unless (have_frames (run->frames, reference->frames, on_cpu), "%s %u frames instead of %u, or others", what,
        run->frames->len, reference->frames->len);
  }
}

/* After the failure, the element starts again; after a lasting error of CUDA it says that it cannot. */
static void
check_again (const Fault *fault, Play *run, Reference *reference)
{
  g_autofree gchar *what = NULL;

  play_once_more (run);
  what = tell (fault, run);
  if (fault->kind == FAILING_LASTING) {
    fail_unless (run->failed && run->errors->len > 0, "%s the next start worked", what);
    check_error (fault, run);
    failing.begin (0, 0);
    play_once_more (run);
  }
  fail_unless (run->errors->len == 0 && run->frames->len > 0 && g_str_equal (run->frames->pdata[0], reference->again),
      "%s the next start, %u frames", what, run->frames->len);
  check_held (fault, run, reference);
}

/* One run in which nothing fails. */
static Play
play_undisturbed (const Scenario *scenario)
{
  Play run = play_new (scenario);
  Fault none = { .scenario = scenario->name };

  failing.begin (0, 0);
  scenario->play (&run);
  play_stop (&run);
  fail_unless (!run.failed && run.errors->len == 0, "%s", tell (&none, &run));
  return run;
}

/*
 * The first run is for the runtime, which loads its kernels then and keeps some things of the device for itself. The
 * second one must have the same frames, and must give back all that it took.
 */
static Reference
make_reference (const Scenario *scenario)
{
  Play first = play_undisturbed (scenario), run;
  Fault none = { .scenario = scenario->name };
  gchar text[500];
  Reference reference = { .held = failing.held (text, sizeof (text)) };
  GPtrArray *first_frames = g_ptr_array_ref (first.frames);

  fail_unless (reference.held == 0 || failing.over_driver, "%s still held: %s", scenario->name, text);
  if (reference.held != 0)
    g_print ("%s: held after the first run: %d of %s\n", scenario->name, reference.held, text);
  play_free (&first); /* an element keeps a context of its own until then */
  run = play_undisturbed (scenario);
  reference.calls = failing.count ();
  fail_unless (are_first (run.frames, first_frames) && run.frames->len == first_frames->len);
  reference.frames = g_ptr_array_ref (run.frames);
  check_held (&none, &run, &reference);
  g_ptr_array_unref (first_frames);
  g_ptr_array_unref (run.frames);
  run.frames = g_ptr_array_new_with_free_func (g_free);
  play_once_more (&run);
  fail_unless (run.errors->len == 0 && run.frames->len == 1, "%s the next start", scenario->name);
  reference.again = g_strdup (run.frames->pdata[0]);
  play_free (&run);
  return reference;
}

/* Counts an error that was posted. FALSE where the scenario ended before the call came. */
static gboolean
fail_one (const Scenario *scenario, Reference *reference, gint call, gint kind, guint *told)
{
  Fault fault = { scenario->name, call, kind };
  Play run = play_new (scenario);
  gboolean came;

  alarm (WAIT);
  failing.begin (call, kind);
  scenario->play (&run);
  play_stop (&run);
  came = failing.name () != NULL;
  if (run.errors->len > 0 && (*told)++ == 0) {
    g_autofree gchar *what = tell (&fault, &run);

    g_print ("first error of %s\n", what);
  }
  check_run (&fault, &run, reference);
  check_held (&fault, &run, reference);
  if (came)
    check_again (&fault, &run, reference);
  play_free (&run);
  alarm (0);
  return came;
}

/* Whether call number `call` is to fail in this run. */
static gboolean
is_due (gint call, gint calls)
{
  const gchar *most = g_getenv ("CUDACONVOLVE_MOST_CALLS");
  gint number = most ? atoi (most) : MOST_CALLS;

  if ((!failing.over_driver && !most) || calls <= number || g_getenv ("CUDACONVOLVE_ALL_CASES"))
    return TRUE;
  return g_random_int_range (0, calls) < number;
}

static void
fail_calls (const Scenario *scenario)
{
  Reference reference = make_reference (scenario);
  gint64 begin = g_get_monotonic_time ();

  for (gint kind = 0; kind < FAILING_N_KINDS; kind++) {
    guint runs = 0, told = 0;

    /* The number of calls varies: memory that is new for every frame is page-locked less and less often. */
    for (gint call = 1, came = TRUE; came; call++) {
      /* A device is missing from the beginning, or not at all. */
      if ((kind == FAILING_MISSING && call > 2) || (kind % FAILING_HOST == 0 && failing.over_driver))
        break;
      if (!is_due (call, reference.calls)) {
        came = call <= reference.calls;
        continue;
      }
      came = fail_one (scenario, &reference, call, kind, &told);
      runs += came;
    }
    g_print ("%s, %s: %u of %d calls failed, %u errors\n", scenario->name, kinds[kind], runs, reference.calls, told);
  }
  g_print ("%s: %.1f s\n", scenario->name, (g_get_monotonic_time () - begin) / 1e6);
  g_ptr_array_unref (reference.frames);
  g_free (reference.again);
}

GST_START_TEST (test_scenario)
{
  if (play_is_possible (&scenarios[__i__]))
    fail_calls (&scenarios[__i__]);
  else
    g_print ("%s: left out, for want of CUDA memory\n", scenarios[__i__].name);
}
GST_END_TEST;

static void
set_up (void)
{
  fake_device_fault (NULL);
  g_random_set_seed (check_seed ());
  failing_find ();
  play_set_up ();
}

static void
tear_down (void)
{
  failing.begin (0, 0);
  play_tear_down ();
}

static Suite *
failing_suite (guint first, guint end)
{
  Suite *suite = suite_create ("failing");
  TCase *tc = tcase_create ("failing");

  tcase_set_timeout (tc, 3600);
  tcase_add_unchecked_fixture (tc, set_up, tear_down);
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_scenario, first, end);
  return suite;
}

/* Runs each scenario in a process of its own. */
static int
run_processes (gchar **argv)
{
  g_autoptr (GPtrArray) jobs = g_ptr_array_new_with_free_func ((GDestroyNotify) process_job_free);

  for (guint i = 0; i < n_scenarios; i++) {
    ProcessJob *job = process_job_new (scenarios[i].name, argv);

    process_job_set (job, "CUDACONVOLVE_SCENARIO", g_strdup_printf ("%u", i));
    process_job_set (job, "CUDACONVOLVE_SEED", g_strdup_printf ("%u", check_seed ()));
    g_ptr_array_add (jobs, job);
  }
  return processes_run (jobs, LIMIT, NULL);
}

int
main (int argc, char **argv)
{
  const gchar *scenario = g_getenv ("CUDACONVOLVE_SCENARIO");
  guint number = scenario ? (guint) atoi (scenario) : 0;

  stand_in_driver (argv);
  gst_check_init (&argc, &argv);
  if (g_getenv ("CUDACONVOLVE_STAND_IN") && !scenario)
    return run_processes (argv);
  return gst_check_run_suite (failing_suite (number, scenario ? number + 1 : n_scenarios), "failing", __FILE__);
}
