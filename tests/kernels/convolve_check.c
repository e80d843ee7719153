/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks and benchmark of the convolution kernels. Both walk the list of variants, so that a new variant is checked
 * and measured without an entry here. usage() lists the options.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/check_arithmetic.h"
#include "kernels/check_border_products.h"
#include "kernels/check_box.h"
#include "kernels/check_cpu.h"
#include "kernels/check_cpu_steps.h"
#include "kernels/check_forms.h"
#include "kernels/check_fft.h"
#include "kernels/check_fixed.h"
#include "kernels/check_integer_tail.h"
#include "kernels/check_measure.h"
#include "kernels/check_packed_wide.h"
#include "kernels/check_pool.h"
#include "kernels/check_products.h"
#include "kernels/check_sets.h"
#include "kernels/check_shrink.h"
#include "kernels/check_tensor.h"
#include "kernels/check_tensor_products.h"
#include "bench/convolve_bench.h"
#include "support/cases.h"

/* The values of --check for the random cases, and for those that are made for each variant. */
#define RANDOM "random"
#define FIXED "fixed"

enum
{
  SKIPPED = 77,
  USAGE = 2,
  MAX_FAILURES = 10
};

typedef struct
{
  bool host, device;     /* the kinds of variants that are checked */
  bool tight;            /* random cases alone, in device memory of exactly the plane's bytes */
  long cases, only_case; /* only_case is -1 where all cases are run */
  long taken;            /* cases that are run until so many were not refused, or 0 for `cases` of them */
  uint64_t seed;
  const char *variant;
  const char *check; /* the only one or the only group of run_named () to run, or RANDOM, FIXED, or NULL */
  bool list, bench;
  const char *once;
  int once_width, once_height;
  BenchOptions bench_options;
} Options;

static void
usage (FILE *file)
{
  fprintf (file,
      "convolve_check [options]: checks every variant against the definition\n"
      "  --host, --device   only the variants of this kind; --device exits 77 where there is none\n"
      "  --variant NAME     only this variant; auto is one too\n"
      "  --cases N          random cases: 4000, or 20000 where CUDACONVOLVE_ALL_CASES is set\n"
      "  --taken N          random cases until N of them were not refused, instead of --cases\n"
      "  --seed S           seed of the random cases; the clock gives one where this is left out\n"
      "  --case I           only case I of the seed, described in words\n"
      "  --tight            random cases alone, in device memory of exactly the plane's bytes: for compute-sanitizer\n"
      "  --check NAME       only this check, as in tensor-digits, or this group: cpu, plans, sets; random for the random\n"
      "                     cases, fixed for each variant's own\n"
      "  --list             prints the variants\n"
      "  --bench            measures instead of checking\n"
      "  --csv FILE         writes the measurements there too\n"
      "  --bench-side N     only masks of this width\n"
      "  --bench-rounds N   rounds on a device, 30\n"
      "  --bench-cpu-rounds N   rounds on the host, 5; 0 for none\n"
      "  --once VARIANT WxH   convolves one image with a 3x3 mask and exits\n");
}

/* Reads a whole number; false where the text holds anything else. */
static bool
read_number (const char *text, uint64_t *number)
{
  char *end;

  errno = 0;
  *number = strtoull (text, &end, 0);
  return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

static bool
read_options (Options *options, int argc, char **argv)
{
  struct timespec now;
  uint64_t number;

  clock_gettime (CLOCK_REALTIME, &now);
  *options = (Options){
    .host = true,
    .device = true,
    .cases = check_cases (4000, 20000),
    .only_case = -1,
    .seed = (uint64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000,
    .bench_options = { .rounds = 30, .cpu_rounds = 5 },
  };

  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

    if (strcmp (option, "--host") == 0) {
      options->device = false;
    } else if (strcmp (option, "--device") == 0) {
      options->host = false;
    } else if (strcmp (option, "--list") == 0) {
      options->list = true;
    } else if (strcmp (option, "--bench") == 0) {
      options->bench = true;
    } else if (strcmp (option, "--tight") == 0) {
      options->tight = true;
    } else if (!value) {
      return false;
    } else if (strcmp (option, "--variant") == 0) {
      options->variant = options->bench_options.variant = value, i++;
    } else if (strcmp (option, "--check") == 0) {
      options->check = value, i++;
    } else if (strcmp (option, "--csv") == 0) {
      options->bench_options.csv = value, i++;
    } else if (strcmp (option, "--once") == 0 && i + 2 < argc) {
      options->once = value;
      if (sscanf (argv[i + 2], "%dx%d", &options->once_width, &options->once_height) != 2 || options->once_width < 1
          || options->once_height < 1)
        return false;
      i += 2;
    } else if (!read_number (value, &number)) {
      return false;
    } else if (strcmp (option, "--seed") == 0) {
      options->seed = number, i++;
    } else if (strcmp (option, "--cases") == 0 && number <= LONG_MAX) {
      options->cases = (long) number, i++;
    } else if (strcmp (option, "--taken") == 0 && number <= LONG_MAX) {
      options->taken = (long) number, i++;
    } else if (strcmp (option, "--case") == 0 && number <= LONG_MAX) {
      options->only_case = (long) number, i++;
    } else if (strcmp (option, "--bench-side") == 0 && number <= CONVOLVE_MAX_SIDE) {
      options->bench_options.side = (int) number, i++;
    } else if (strcmp (option, "--bench-rounds") == 0 && number <= INT_MAX) {
      options->bench_options.rounds = (int) number, i++;
    } else if (strcmp (option, "--bench-cpu-rounds") == 0 && number <= INT_MAX) {
      options->bench_options.cpu_rounds = (int) number, i++;
    } else {
      return false;
    }
  }
  return options->host || options->device;
}

/* The rows to check, to be freed: every variant that is asked for, and auto with and without a device. */
static CheckRow *
make_rows (const Options *options, ConvolveDevice *device, int *count)
{
  CheckRow *rows = calloc (convolve_variant_count () + 2, sizeof *rows);
  int n = 0, kept = 0;

  if (!rows)
    abort ();
  for (int v = 0; v < convolve_variant_count (); v++) {
    bool on_device = convolve_variant_on_device (v);

    if (on_device ? options->device && device : options->host)
      rows[n++] = (CheckRow){ .variant = convolve_variant_name (v), .device = on_device ? device : NULL };
  }
  if (options->host)
    rows[n++] = (CheckRow){ .variant = "auto" };
  if (options->device && device)
    rows[n++] = (CheckRow){ .variant = "auto", .device = device };

  for (int i = 0; i < n; i++) {
    if (!options->variant || strcmp (rows[i].variant, options->variant) == 0)
      rows[kept++] = rows[i];
  }
  *count = kept;
  return rows;
}

/*
 * Runs a tight case on a device of its own, so that the device's scratch memory, too, has no bytes left over from a larger
 * case before.
 */
static CheckVerdict
run_tight (CheckRow *row, CheckCase *test, bool verbose)
{
  ConvolveDevice *shared = row->device;
  ConvolveError error = { 0 };
  CheckVerdict verdict = CHECK_FAILED;

  test->tight = true;
  row->device = convolve_device_new (-1, &error);
  if (row->device) {
    verdict = check_row_run (row, test, verbose, stdout);
  } else {
    printf ("FAILED: %s\n", error.text);
    row->failed++;
  }
  convolve_device_free (row->device);
  row->device = shared;
  return verdict;
}

/* Runs one random case, and prints the command that repeats it where it fails. */
static CheckVerdict
run_random (const Options *options, CheckRow *row, uint64_t number, bool verbose)
{
  CheckCase test;
  CheckVerdict verdict = CHECK_FAILED;

  if (!check_case_random (&test, options->seed, number, row->device != NULL)) {
    fprintf (stderr, "FAILED: out of memory in case %" PRIu64 "\n", number);
    row->failed++;
  } else {
    verdict =
        options->tight && row->device ? run_tight (row, &test, verbose) : check_row_run (row, &test, verbose, stdout);
    if (verdict == CHECK_FAILED)
      printf ("  case %" PRIu64 " of seed %" PRIu64 "; to see it again:\n"
              "  convolve_check %s%s --variant %s --seed %" PRIu64 " --case %" PRIu64 "\n",
          number, options->seed, row->device ? "--device" : "--host", options->tight ? " --tight" : "", row->variant,
          options->seed, number);
  }
  check_case_clear (&test);
  return verdict;
}

/* The row that runs a case is chosen from another random stream, so that --variant does not change the case. */
static CheckRow *
pick_row (const Options *options, CheckRow *rows, int n_rows, uint64_t number)
{
  CheckRandom random;

  check_random_init (&random, ~options->seed, number);
  return &rows[check_random_range (&random, 0, n_rows - 1)];
}

static void
print_table (const CheckRow *rows, int n_rows)
{
  printf ("\n%-20s %8s %8s %8s %8s  largest error beyond rounding, masks that are not exact\n", "variant", "cases",
      "bytes", "refused", "failed");
  printf ("%-20s %8s %8s %8s %8s  %14s %14s\n", "", "", "", "", "", "8 bits", "9..16 bits");
  for (int i = 0; i < n_rows; i++) {
    char name[64];

    snprintf (name, sizeof name, "%s%s", rows[i].variant,
        strcmp (rows[i].variant, "auto") != 0 ? ""
            : rows[i].device                  ? " (device)"
                                              : " (host)");
    printf ("%-20s %8ld %8ld %8ld %8ld  %14.3g %14.3g\n", name, rows[i].cases, rows[i].followed, rows[i].refused,
        rows[i].failed, rows[i].error_8, rows[i].error_deep);
  }
}

/* Whether the variant takes masks of several sets. */
static bool
combines (const char *name)
{
  for (int i = 0; convolve_variants[i]; i++)
    if (strcmp (convolve_variants[i]->name, name) == 0)
      return convolve_variants[i]->combines;
  return strcmp (name, "auto") == 0;
}

/* Whether this check was asked for, and no other one. */
static bool
is_check (const Options *options, const char *name)
{
  return options->check && strcmp (options->check, name) == 0;
}

/* Whether a check of this name or of this group is to run; it then counts as known. */
static bool
is_wanted (const Options *options, const char *name, bool *known)
{
  bool wanted = !options->check || is_check (options, name);

  *known = *known || wanted;
  return wanted;
}

/* The checks that no variant is named for, with their groups: all of them, or those that were asked for. */
static int
run_named (const Options *options)
{
  const uint64_t seed = options->seed;
  bool known = is_check (options, RANDOM) || is_check (options, FIXED);
  int failures = 0;

#define RUN(group, name, call) \
  failures += is_wanted (options, group, &known) || is_wanted (options, name, &known) ? (call) : 0
  RUN ("plans", "arithmetic", check_arithmetic (seed, check_cases (4000, 40000), stdout));
  RUN ("plans", "api", check_fixed_api (stdout));
  RUN ("plans", "box", check_box (seed, 400, stdout));
  RUN ("plans", "fft", check_fft (seed, 60, stdout));
  RUN ("plans", "integer-tail", check_integer_tail (seed, 400, stdout));
  RUN ("plans", "tensor-digits", check_tensor_digits (seed, 400, stdout));
  RUN ("plans", "tensor-products", check_tensor_products (seed, 400, stdout));
  RUN ("cpu", "cpu-memory", check_cpu_memory (stdout));
  RUN ("cpu", "cpu-threads", check_cpu_threads (stdout));
  RUN ("cpu", "cpu-tails", check_cpu_tails (stdout));
  RUN ("cpu", "pool", check_pool (stdout));
  RUN ("cpu", "cpu-large", check_cpu_large (stdout));
  RUN ("cpu", "cpu-sigma", check_cpu_sigma (stdout));
  RUN ("cpu", "cpu-double", check_cpu_double (seed, check_cases (100, 300), stdout));
  RUN ("cpu", "cpu-steps", check_cpu_steps (seed, 300, stdout));
  RUN ("cpu", "cpu-bright-boxes", check_cpu_bright_boxes (seed, stdout));
  RUN ("cpu", "forms-light", check_forms_light (seed, check_cases (300, 2000), stdout));
  RUN ("cpu", "forms-quotients", check_forms_quotients (seed, stdout));
  RUN ("cpu", "cpu-fft-bound", check_cpu_fft_bound (stdout));
  RUN ("plans", "measure", check_measure (seed, stdout));
  RUN ("plans", "products", check_products (seed, 400, stdout));
  RUN ("plans", "border-products", check_border_products (seed, 400, stdout));
  RUN ("plans", "packed-wide", check_packed_wide (seed, 400, stdout));
  RUN ("plans", "shrink-bound", check_shrink_bound (seed, check_cases (60, 200), stdout));
  RUN ("cpu", "shrink", check_shrink_planes (seed, check_cases (16, 80), NULL, stdout));
  RUN ("sets", "sets-accepted", check_sets_accepted (stdout));
  RUN ("sets", "sets-memory", check_sets_memory (stdout));
  RUN ("sets", "sets-roots", check_sets_roots (seed, 200, stdout));
  RUN ("sets", "sets-device-roots", check_sets_device_roots (seed, stdout));
  RUN ("sets", "sets-random", check_sets_random (seed, check_cases (200, 600), stdout));
#undef RUN
  if (!known) {
    printf ("FAILED: there is no check '%s'\n", options->check);
    failures++;
  }
  return failures;
}

/* Whether another random case is to be run. */
static bool
goes_on (const Options *options, const CheckRow *rows, int n_rows, long made)
{
  long taken = 0;

  for (int i = 0; i < n_rows; i++)
    taken += rows[i].cases - rows[i].refused;
  return options->taken > 0 ? taken < options->taken && made < INT_MAX : made < options->cases;
}

static int
run_checks (const Options *options, CheckRow *rows, int n_rows)
{
  int failures = 0, made = 0;

  printf ("seed %" PRIu64 ", %ld cases%s\n", options->seed, options->taken > 0 ? options->taken : options->cases,
      options->taken > 0 ? " that are not refused" : "");
  fflush (stdout);
  if (!options->variant && !options->tight)
    failures += run_named (options);
  if (options->check && !is_check (options, RANDOM) && !is_check (options, FIXED))
    return failures > 0;
  for (int i = 0; i < n_rows && !options->tight && (!options->check || is_check (options, FIXED)); i++) {
    /* It takes no mask that others take. */
    if (strcmp (rows[i].variant, "shrink") == 0) {
      failures += check_shrink_planes (options->seed, 60, rows[i].device, stdout);
      continue;
    }
    /* On the host, auto is cpu. */
    if (options->variant || rows[i].device || strcmp (rows[i].variant, "auto") != 0)
      failures += check_fixed_variant (&rows[i], stdout);
    if (rows[i].device && !rows[i].device_lost)
      failures += check_fixed_two_devices (&rows[i], stdout) + check_fixed_independent (&rows[i], stdout)
          + check_fixed_two_planes (&rows[i], options->seed, 200, stdout);
    if (rows[i].device && combines (rows[i].variant))
      failures += check_sets_on_device (&rows[i], options->seed, 400, stdout) + check_sets_all_pairs (&rows[i], stdout);
    if (rows[i].device_lost)
      break;
  }

  for (; !is_check (options, FIXED) && goes_on (options, rows, n_rows, made) && failures < MAX_FAILURES; made++) {
    CheckRow *row = pick_row (options, rows, n_rows, made);

    if (run_random (options, row, made, false) == CHECK_FAILED)
      failures++;
    if (row->device_lost) {
      printf ("the device is lost; no more cases are run\n");
      break;
    }
  }
  print_table (rows, n_rows);
  printf ("%d random cases, %d failures\n", made, failures);
  return failures > 0;
}

static void
list_variants (void)
{
  for (int v = 0; v < convolve_variant_count (); v++)
    printf ("%-16s %-7s %s\n", convolve_variant_name (v), convolve_variant_on_device (v) ? "device" : "host",
        convolve_variant_idea (v));
}

static bool
is_known (const char *variant)
{
  for (int v = 0; v < convolve_variant_count (); v++) {
    if (strcmp (convolve_variant_name (v), variant) == 0)
      return true;
  }
  return strcmp (variant, "auto") == 0;
}

int
main (int argc, char **argv)
{
  CheckRow *rows;
  Options options;
  ConvolveDevice *device = NULL;
  ConvolveError error = { 0 };
  int n_rows, code = 0;

  if (!read_options (&options, argc, argv)) {
    usage (stderr);
    return USAGE;
  }
  if (options.list) {
    list_variants ();
    return 0;
  }
  if (options.variant && !is_known (options.variant)) {
    fprintf (stderr, "there is no variant '%s'; --list names them\n", options.variant);
    return USAGE;
  }
  if (options.once)
    return bench_once (options.once, options.once_width, options.once_height);

  if (options.device) {
    device = convolve_device_new (-1, &error);
    if (device)
      printf ("device: %s\n", convolve_device_name (device));
    else
      printf ("SKIP: CUDA variants: %s\n", error.text);
    if (!device && !options.host)
      return SKIPPED;
  }

  rows = make_rows (&options, device, &n_rows);
  if (n_rows == 0) {
    printf ("SKIP: nothing to run here for '%s'\n", options.variant);
    code = SKIPPED;
  } else if (options.bench) {
    if (!options.host)
      options.bench_options.cpu_rounds = 0;
    code = bench_run (&options.bench_options, device);
  } else if (options.only_case >= 0) {
    CheckRow *row = pick_row (&options, rows, n_rows, options.only_case);

    code = run_random (&options, row, options.only_case, true) == CHECK_FAILED;
  } else {
    code = run_checks (&options, rows, n_rows);
  }
  free (rows);
  convolve_device_free (device);
  return code;
}
