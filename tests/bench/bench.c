/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What whole frames cost on a device: every variant and auto, beside the plain copy of the same bytes, C.
 *
 * Each round times a batch of frames of each row, the copy among them, and rounds go through the rows in alternating
 * order. Frames take turns over so many pairs that the caches have forgotten one when its turn comes again. A single
 * frame, from an idle stream to its end, is timed too. See usage ().
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_common.h"
#include "bench/bench_layer.h"
#include "bench/bench_plot.h"
#include "bench/bench_usual.h"
#include "support/random.h"
#include "convolve_device.h"

enum
{
  SKIPPED = 77,
  MIN_PAIRS = 8,
  MAX_PAIRS = 64,
  PAIR_BYTES = 256 << 20, /* all pairs together, several times any L2 */
  MAX_BATCH = 32,
  MAX_ROUNDS = 200,
  MAX_ROWS = 32,
  MAX_PLANES = 2,
  MAX_SIDES = 16,
  BATCH_US = 4000 /* a batch of slow frames is shorter than that, if it can be */
};

static const struct
{
  const char *name;
  int width, height;
} sizes[] = { { "1080p", 1920, 1080 }, { "4K", 3840, 2160 }, { "8K", 7680, 4320 } };

static const int sides[] = { 3, 5, 7, 9, 15, 31, 63 };

/*
 * As in BenchMask. Five more are made only where they are asked for: weights of 0 and 1 without order and weights of 1,
 * which are exact at any size, fractions without order, and the two lists of bench_usual.h.
 */
static const char *const kinds[] = { "any", "rank-1", "gaussian", "low-rank", "ones", "box", "fractions", "usual",
  "edges" };

/* A plane's size is the frame's divided; its samples begin where those of the plane before end. */
typedef struct
{
  int divided;
  ConvolvePixel pixel;
} Plane;

/*
 * From RGB on, only where they are asked for: pixels of three samples, samples with something between them, samples of 16
 * bits, and the planes of P010 alone.
 */
#define GRAY(...) \
  { \
    1, \
    { \
      .samples = 1, .select = 1, .biased = 1, __VA_ARGS__ \
    } \
  }
#define CHROMA(...) \
  { \
    2, \
    { \
      .samples = 2, .select = 3, __VA_ARGS__ \
    } \
  }
static const struct
{
  const char *name;
  int n_planes;
  Plane planes[MAX_PLANES];
} formats[] = {
  { "GRAY8", 1, { GRAY (.type = CONVOLVE_SAMPLE_U8, .depth = 8, .stride = 1) } },
  { "NV12", 2,
      { GRAY (.type = CONVOLVE_SAMPLE_U8, .depth = 8, .stride = 1, .zero = { 16 }),
          CHROMA (.type = CONVOLVE_SAMPLE_U8, .depth = 8, .stride = 2, .zero = { 128, 128 }) } },
  { "RGBA", 1,
      { { 1, { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 4, .stride = 4, .select = 7, .biased = 7 } } } },
  { "P010", 2,
      { GRAY (.type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .stride = 2, .zero = { 64 }),
          CHROMA (.type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .stride = 4, .zero = { 512, 512 }) } },
  { "RGB", 1,
      { { 1, { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 3, .stride = 3, .select = 7, .biased = 7 } } } },
  { "YUY2-Y", 1, { GRAY (.type = CONVOLVE_SAMPLE_U8, .depth = 8, .stride = 2, .zero = { 16 }) } },
  { "GRAY16", 1, { GRAY (.type = CONVOLVE_SAMPLE_U16, .depth = 16, .stride = 2) } },
  { "P010-Y", 1, { GRAY (.type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .stride = 2, .zero = { 64 }) } },
  { "P010-UV", 1,
      { CHROMA (.type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .stride = 4, .zero = { 512, 512 }) } },
};

enum
{
  N_SIZES = sizeof sizes / sizeof *sizes,
  N_SIDES = sizeof sides / sizeof *sides,
  N_KINDS = sizeof kinds / sizeof *kinds,
  ONES = N_KINDS - 5,
  BOX = N_KINDS - 4,
  FRACTIONS = N_KINDS - 3,
  USUAL = N_KINDS - 2,
  EDGES = N_KINDS - 1,
  N_FORMATS = sizeof formats / sizeof *formats,
  N_USUAL_FORMATS = N_FORMATS - 5
};

typedef struct
{
  const char *size, *format, *kind, *variant, *csv, *svg, *commit;
  int sides[MAX_SIDES], n_sides, rounds;
  double limit_us;
} Options;

typedef struct
{
  const char *name;
  ConvolvePlan *plans[MAX_PLANES]; /* none of the copy */
  const char *refused;             /* instead of numbers */
  char reason[600];
  int batch, rounds;
  double us[MAX_ROUNDS], single_us[MAX_ROUNDS];
} Row;

typedef struct
{
  const Options *options;
  ConvolveDevice *device;
  FILE *csv;
  BenchPlot plot;
  int size, format, kind, side, pairs, turn;
  const BenchUsual *usual; /* the mask of the kinds "usual" and "edges" */
  size_t bytes;            /* of a frame */
  unsigned char *source[MAX_PAIRS], *destination[MAX_PAIRS];
} Bench;

/* The mask for a plane that has the frame's size divided; to be cleared. */
static bool
make_mask (const Bench *bench, int divided, ConvolveMask *mask)
{
  if (bench->kind >= USUAL)
    return bench_usual_make (bench->usual, divided, mask);
  if (bench->kind == FRACTIONS)
    return bench_fractions_make (mask, bench->side);
  if (!bench_make_mask (mask, bench->side, (BenchMask) bench->kind))
    return false;
  if (bench->kind >= ONES) {
    mask->divisor = 0;
    for (int k = 0; k < bench->side * bench->side; k++)
      mask->divisor += mask->taps[k] = bench->kind == BOX ? 1 : (int) mask->taps[k] % 2;
  }
  return true;
}

static void
make_row (Row *row, const Bench *bench, const char *variant)
{
  memset (row, 0, sizeof *row);
  row->name = variant;
  for (int p = 0; p < formats[bench->format].n_planes && !row->refused; p++) {
    const Plane *plane = &formats[bench->format].planes[p];
    ConvolveError error = { .text = "out of memory" };
    ConvolveMask mask;

    if (make_mask (bench, plane->divided, &mask)) {
      row->plans[p] = convolve_plan_new_sized (&plane->pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, variant,
          bench->device,
          (int64_t) (sizes[bench->size].width / plane->divided) * (sizes[bench->size].height / plane->divided), &error);
      convolve_mask_clear (&mask);
    }
    if (!row->plans[p]) {
      snprintf (row->reason, sizeof row->reason, "%s", error.text);
      row->refused = row->reason;
    }
  }
}

static void
clear_row (Row *row)
{
  for (int p = 0; p < MAX_PLANES; p++)
    convolve_plan_unref (row->plans[p]);
}

static bool
run_frame (Bench *bench, const Row *row, ConvolveError *error)
{
  int at = bench->turn++ % bench->pairs;
  size_t offset = 0;
  bool done;

  if (!row->plans[0])
    return convolve_device_copy (bench->device, bench->destination[at], bench->source[at], bench->bytes,
               CONVOLVE_COPY_ON_DEVICE, error)
        == CONVOLVE_OK;
  done = convolve_device_independent (bench->device, true, error) == CONVOLVE_OK;
  for (int p = 0; p < formats[bench->format].n_planes; p++) {
    const Plane *plane = &formats[bench->format].planes[p];
    int width = sizes[bench->size].width / plane->divided, height = sizes[bench->size].height / plane->divided;
    ptrdiff_t stride = (ptrdiff_t) width * plane->pixel.stride;
    ConvolvePlane task = { bench->source[at] + offset, bench->destination[at] + offset, stride, stride, width, height,
      { 0, 0, width, height } };

    done = done && convolve_run (row->plans[p], &task, error) == CONVOLVE_OK;
    offset += stride * height;
  }
  return convolve_device_independent (bench->device, false, done ? error : NULL) == CONVOLVE_OK && done;
}

/* Microseconds of each of count frames, one behind the other; -1 after an error. */
static double
time_frames (Bench *bench, const Row *row, int count, ConvolveError *error)
{
  double nanoseconds;

  convolve_device_timer_start (bench->device);
  for (int i = 0; i < count; i++)
    if (!run_frame (bench, row, error))
      return -1;
  nanoseconds = convolve_device_timer_stop (bench->device);
  return nanoseconds < 0 ? -1 : nanoseconds / 1e3 / count;
}

/* The first call loads the kernel. A row that would take too long is left out. */
static bool
warm_up (Bench *bench, Row *row, ConvolveError *error)
{
  double us = 0;

  for (int i = 0; i < 2; i++)
    if ((us = time_frames (bench, row, 1, error)) < 0)
      return false;
  row->batch = us * MAX_BATCH < BATCH_US ? MAX_BATCH : us < BATCH_US ? (int) (BATCH_US / us) : 1;
  if (us > bench->options->limit_us) {
    snprintf (row->reason, sizeof row->reason, "left out: %.0f us", us);
    row->refused = row->reason;
  }
  return true;
}

static void
print_row (Bench *bench, Row *row, double copy_us)
{
  const char *size = sizes[bench->size].name, *format = formats[bench->format].name;
  const char *kind = bench->kind >= USUAL ? bench->usual->name : kinds[bench->kind];
  const char *taken = row->plans[0] ? convolve_plan_variant (row->plans[0]) : "";
  double us, single_us;

  printf ("%-6s %-6s %3dx%-3d %-16s %-16s ", size, format, bench->side, bench->side, kind, row->name);
  if (row->refused) {
    printf ("%s\n", row->refused);
    return;
  }
  us = bench_median (row->us, row->rounds);
  single_us = bench_median (row->single_us, row->rounds);
  printf ("%9.2f %9.2f %9.2f %8.2f %9.2f  %s\n", us, row->us[0], row->us[row->rounds - 1], us / copy_us, single_us,
      strcmp (row->name, "auto") == 0 ? taken : "");
  fflush (stdout);
  if (bench->csv)
    fprintf (bench->csv, "\"%s\",%s,%s,%s,%d,%s,%s,%s,%.3f,%.3f,%.3f,%.3f,%.4f,%.3f,%d\n",
        convolve_device_name (bench->device), bench->options->commit, size, format, bench->side, kind, row->name, taken,
        us, row->us[0], row->us[row->rounds - 1], copy_us, us / copy_us, single_us, row->batch);
  if (strcmp (size, "4K") == 0 && strcmp (format, "GRAY8") == 0 && bench->side <= 63
      && bench->kind <= BENCH_MASK_RANK_1)
    bench_plot_add (&bench->plot, strcmp (row->name, "copy") == 0 ? "copy" : row->name, kind, bench->side, us);
}

/* A list with commas between, or NULL for all. */
static bool
wanted (const char *only, const char *name)
{
  size_t length = strlen (name);

  for (const char *at = only; at; at = strchr (at, ','), at = at ? at + 1 : NULL)
    if (strncmp (at, name, length) == 0 && (at[length] == ',' || at[length] == 0))
      return true;
  return only == NULL;
}

static bool
bench_mask (Bench *bench, ConvolveError *error)
{
  static Row rows[MAX_ROWS];
  const char *only = bench->options->variant;
  int n = 1;
  bool done = true;

  memset (&rows[0], 0, sizeof rows[0]);
  rows[0].name = "copy";
  if (wanted (only, "auto"))
    make_row (&rows[n++], bench, "auto");
  for (int v = 0; v < convolve_variant_count () && n < MAX_ROWS; v++)
    if (convolve_variant_on_device (v) && wanted (only, convolve_variant_name (v)))
      make_row (&rows[n++], bench, convolve_variant_name (v));

  for (int i = 0; i < n && done; i++)
    done = rows[i].refused || warm_up (bench, &rows[i], error);
  for (int round = -1; round < bench->options->rounds && done; round++)
    for (int i = 0; i < n && done; i++) {
      Row *row = &rows[round & 1 ? n - 1 - i : i];
      double us, single_us;

      if (row->refused)
        continue;
      us = time_frames (bench, row, row->batch, error);
      single_us = us < 0 ? -1 : time_frames (bench, row, 1, error);
      done = single_us >= 0;
      if (done && round >= 0) {
        row->single_us[row->rounds] = single_us;
        row->us[row->rounds++] = us;
      }
    }
  if (done) {
    double copy_us = bench_median (rows[0].us, rows[0].rounds);

    for (int i = 0; i < n; i++)
      print_row (bench, &rows[i], copy_us);
  }
  for (int i = 0; i < n; i++)
    clear_row (&rows[i]);
  return done;
}

static void
close_frames (Bench *bench)
{
  for (int i = 0; i < MAX_PAIRS; i++) {
    convolve_device_release (bench->device, bench->source[i]);
    convolve_device_release (bench->device, bench->destination[i]);
    bench->source[i] = bench->destination[i] = NULL;
  }
}

static bool
open_frames (Bench *bench, ConvolveError *error)
{
  unsigned char *content;
  CheckRandom random;
  bool done;

  bench->bytes = 0;
  for (int p = 0; p < formats[bench->format].n_planes; p++) {
    const Plane *plane = &formats[bench->format].planes[p];

    bench->bytes += (size_t) (sizes[bench->size].width / plane->divided) * plane->pixel.stride
        * (sizes[bench->size].height / plane->divided);
  }
  bench->pairs = (int) (PAIR_BYTES / (2 * bench->bytes)) + 1;
  bench->pairs = bench->pairs < MIN_PAIRS ? MIN_PAIRS : bench->pairs > MAX_PAIRS ? MAX_PAIRS : bench->pairs;
  content = malloc (bench->bytes);
  done = content != NULL;
  check_random_init (&random, 4, bench->bytes);
  if (done)
    check_random_fill (&random, content, bench->bytes);
  for (int i = 0; i < bench->pairs && done; i++) {
    bench->source[i] = convolve_device_alloc (bench->device, bench->bytes, error);
    bench->destination[i] = bench->source[i] ? convolve_device_alloc (bench->device, bench->bytes, error) : NULL;
    done = bench->destination[i]
        && convolve_device_copy (bench->device, bench->source[i], content, bench->bytes, CONVOLVE_COPY_TO_DEVICE, error)
            == CONVOLVE_OK;
  }
  done = convolve_device_finish (bench->device, done ? error : NULL) == CONVOLVE_OK && done;
  free (content);
  return done;
}

/* The masks of a list of bench_usual.h, where the kind is asked for. */
static bool
bench_list (Bench *bench, int kind, ConvolveError *error)
{
  const char *only = bench->options->kind;
  int count = kind == USUAL ? bench_usual_count () : bench_edges_count ();
  bool done = true;

  bench->kind = kind;
  for (int u = 0; u < count && only && wanted (only, kinds[kind]) && done; u++) {
    bench->usual = kind == USUAL ? bench_usual (u) : bench_edges (u);
    bench->side = bench->usual->side;
    done = bench_mask (bench, error);
  }
  return done;
}

static bool
bench_all (Bench *bench, ConvolveError *error)
{
  const Options *options = bench->options;
  bool done = true;

  for (bench->size = 0; bench->size < N_SIZES && done; bench->size++)
    for (bench->format = 0; bench->format < N_FORMATS && done; bench->format++) {
      if (!wanted (options->size, sizes[bench->size].name) || !wanted (options->format, formats[bench->format].name)
          || (!options->format && bench->format >= N_USUAL_FORMATS))
        continue;
      done = open_frames (bench, error);
      for (int i = 0; i < options->n_sides * USUAL && done; i++) {
        bench->side = options->sides[i / USUAL];
        bench->kind = i % USUAL;
        if (options->kind ? wanted (options->kind, kinds[bench->kind]) : bench->kind < ONES)
          done = bench_mask (bench, error);
      }
      done = done && bench_list (bench, USUAL, error) && bench_list (bench, EDGES, error);
      close_frames (bench);
    }
  return done;
}

/* --- what auto takes --- */

/* The place of a column's name in a header with commas between the names; -1 where it is missing. */
static int
find_column (const char *header, const char *name)
{
  int column = 0;
  size_t length = strlen (name);

  for (const char *at = header; *at; at++) {
    if (strncmp (at, name, length) == 0 && strchr (",\r\n", at[length]))
      return column;
    for (; *at && *at != ','; at++) {
    }
    column++;
    if (!*at)
      break;
  }
  return -1;
}

/* The field of a row, which may be in quotes; the row is cut behind the field. Empty where the row has fewer. */
static char *
get_field (char *row, int column)
{
  for (; column > 0 && *row; row++) {
    if (*row == '"')
      row += strcspn (row + 1, "\"") + 1;
    column -= *row == ',';
  }
  row += *row == '"';
  row[strcspn (row, "\",\r\n")] = '\0';
  return row;
}

/* Finds size, format and mask by their names. */
static bool
find_case (Bench *bench, const char *size, const char *format, const char *kind, const char *side)
{
  bool known;

  for (bench->size = 0; bench->size < N_SIZES && strcmp (size, sizes[bench->size].name) != 0;)
    bench->size++;
  for (bench->format = 0; bench->format < N_FORMATS && strcmp (format, formats[bench->format].name) != 0;)
    bench->format++;
  for (bench->kind = 0; bench->kind < USUAL && strcmp (kind, kinds[bench->kind]) != 0;)
    bench->kind++;
  bench->side = atoi (side);
  known = bench->kind < USUAL;
  for (int list = USUAL; list <= EDGES && !known; list++)
    for (int u = 0; u < (list == USUAL ? bench_usual_count () : bench_edges_count ()) && !known; u++) {
      bench->usual = list == USUAL ? bench_usual (u) : bench_edges (u);
      bench->kind = list;
      known = strcmp (kind, bench->usual->name) == 0 && bench->usual->side == bench->side;
    }
  return known && bench->size < N_SIZES && bench->format < N_FORMATS;
}

/* Prints the rows of a CSV file in which auto took another variant than it takes today. The number of them, -1 on error. */
static int
compare_choices (Bench *bench, const char *file)
{
  static const char *const names[] = { "size", "format", "kind", "mask", "variant", "taken" };
  enum
  {
    SIZE,
    FORMAT,
    KIND,
    MASK,
    VARIANT,
    TAKEN,
    N
  };
  int columns[N], others = 0, rows = 0, unknown = 0;
  char line[1000];
  FILE *csv = fopen (file, "r");

  if (!csv || !fgets (line, sizeof line, csv)) {
    fprintf (stderr, "%s: cannot be read\n", file);
    if (csv)
      fclose (csv);
    return -1;
  }
  for (int i = 0; i < N; i++)
    columns[i] = find_column (line, names[i]);
  while (columns[TAKEN] >= 0 && fgets (line, sizeof line, csv)) {
    char fields[N][sizeof line];
    Row row;

    for (int i = 0; i < N; i++) {
      char copy[sizeof line];

      strcpy (copy, line);
      strcpy (fields[i], get_field (copy, columns[i]));
    }
    if (strcmp (fields[VARIANT], "auto") != 0)
      continue;
    rows++;
    if (!find_case (bench, fields[SIZE], fields[FORMAT], fields[KIND], fields[MASK])) {
      unknown++;
      continue;
    }
    make_row (&row, bench, "auto");
    if (row.refused || strcmp (convolve_plan_variant (row.plans[0]), fields[TAKEN]) != 0) {
      others++;
      printf ("%s: %s %s %sx%s %s: %s, now %s\n", file, fields[SIZE], fields[FORMAT], fields[MASK], fields[MASK],
          fields[KIND], fields[TAKEN], row.refused ? row.refused : convolve_plan_variant (row.plans[0]));
    }
    clear_row (&row);
  }
  fclose (csv);
  printf ("%s: %d of %d choices are others now", file, others, rows);
  printf (unknown ? ", %d are of masks that bench does not know\n" : "\n", unknown);
  return columns[TAKEN] < 0 || rows == 0 || unknown > 0 ? -1 : others;
}

/* Odd widths with commas between them. */
static bool
read_sides (const char *text, Options *options)
{
  for (options->n_sides = 0; options->n_sides < MAX_SIDES; text++) {
    char *end;
    long side = strtol (text, &end, 10);

    if (side < 1 || side > CONVOLVE_MAX_SIDE || side % 2 == 0)
      return false;
    options->sides[options->n_sides++] = (int) side;
    text = end;
    if (*text != ',')
      return *text == '\0';
  }
  return false;
}

static int
usage (void)
{
  fprintf (stderr,
      "bench [options]: times the device variants\n"
      "  --size 1080p|4K|8K, --format NAME, --mask WIDTH, --variant NAME|auto,\n"
      "  --kind any|rank-1|gaussian|low-rank|ones|box|fractions|usual|edges\n"
      "                  only these, of each with commas between; usual: the presets and weights of README's table;\n"
      "                  edges: slopes and combinations. Formats: GRAY8, NV12, RGBA, P010; RGB, YUY2-Y, GRAY16,\n"
      "                  P010-Y and P010-UV only where they are asked for\n"
      "  --rounds N      30\n"
      "  --limit US      a frame that takes longer is left out, 5000\n"
      "  --csv FILE      all figures\n"
      "  --svg FILE      a plot of 4K GRAY8 over the mask's width\n"
      "  --commit ID     to be noted in the CSV file\n"
      "bench --choices FILE...: whether auto takes the variants that it took in these CSV files\n"
      "bench --layer [--csv FILE] [--case N] [--variant NAME]: times convolution layers\n"
      "bench --cpu [options]: bench_cpu, the variant cpu beside other libraries\n");
  return 2;
}

/* A program of its own, for its peers are a library that nothing else here needs; arguments are what follows --cpu. */
static int
run_beside (char **argv, const char *name)
{
  const char *slash = strrchr (argv[0], '/');
  char path[4096];

  snprintf (path, sizeof (path), "%.*s%s", slash ? (int) (slash + 1 - argv[0]) : 0, argv[0], name);
  argv[1] = path;
  execvp (path, argv + 1);
  perror (path);
  return 1;
}

int
main (int argc, char **argv)
{
  Options options = { .rounds = 30, .limit_us = 5000, .commit = "" };
  static Bench bench = { .options = NULL };
  ConvolveError error = { .text = "out of memory" };
  bool done;

  if (argc > 1 && strcmp (argv[1], "--cpu") == 0)
    return run_beside (argv, "bench_cpu");
  if (argc > 1 && strcmp (argv[1], "--layer") == 0)
    return bench_layer (argc - 2, argv + 2);
  for (options.n_sides = 0; options.n_sides < N_SIDES; options.n_sides++)
    options.sides[options.n_sides] = sides[options.n_sides];
  if (argc > 2 && strcmp (argv[1], "--choices") == 0) {
    int others = 0;

    bench.device = convolve_device_new (-1, &error);
    if (!bench.device) {
      printf ("SKIP: %s\n", error.text);
      return SKIPPED;
    }
    for (int i = 2; i < argc; i++)
      others |= compare_choices (&bench, argv[i]);
    convolve_device_free (bench.device);
    return others != 0;
  }
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    const struct
    {
      const char *name, **value;
    } texts[] = { { "--size", &options.size }, { "--format", &options.format }, { "--kind", &options.kind },
      { "--variant", &options.variant }, { "--csv", &options.csv }, { "--svg", &options.svg },
      { "--commit", &options.commit } };
    bool known = false;

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      if (strcmp (name, texts[k].name) == 0) {
        *texts[k].value = value;
        known = true;
      }
    if (strcmp (name, "--mask") == 0) {
      if (!read_sides (value, &options))
        return usage ();
    } else if (strcmp (name, "--rounds") == 0)
      options.rounds = atoi (value);
    else if (strcmp (name, "--limit") == 0)
      options.limit_us = atof (value);
    else if (!known)
      return usage ();
  }
  if (argc % 2 == 0 || options.rounds < 1 || options.rounds > MAX_ROUNDS)
    return usage ();

  bench.options = &options;
  bench.device = convolve_device_new (-1, &error);
  if (!bench.device) {
    printf ("SKIP: %s\n", error.text);
    return SKIPPED;
  }
  if (options.csv && !(bench.csv = fopen (options.csv, "w"))) {
    fprintf (stderr, "cannot write %s\n", options.csv);
    return 1;
  }
  if (bench.csv)
    fprintf (bench.csv,
        "device,commit,size,format,mask,kind,variant,taken,median_us,min_us,max_us,copy_us,ratio,"
        "single_us,batch\n");
  printf (
      "%s: microseconds a frame, random content, replicate boundary; the median, minimum and maximum of %d rounds of\n"
      "batches of up to %d frames, the median over that of the copy, and the median of a frame by itself.\n\n",
      convolve_device_name (bench.device), options.rounds, MAX_BATCH);
  printf ("%-6s %-6s %-7s %-16s %-16s %9s %9s %9s %8s %9s\n", "size", "format", "mask", "kind", "variant", "median",
      "min", "max", "ratio", "single");
  done = bench_all (&bench, &error);
  if (!done)
    fprintf (stderr, "the benchmark stopped: %s\n", error.text);
  if (bench.csv)
    fclose (bench.csv);
  if (options.svg && !bench_plot_write (&bench.plot, options.svg, convolve_device_name (bench.device)))
    fprintf (stderr, "cannot write %s\n", options.svg);
  convolve_device_free (bench.device);
  return !done;
}
