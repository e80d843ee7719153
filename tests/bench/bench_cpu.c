/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the variant cpu costs, beside other libraries in the same process on the same cores. Every round measures each
 * row of the table once, in the opposite order of the round before. The table has medians and minimums. Frames take
 * turns, so that no frame is in the caches from the call before. A mask is measured again where other programs used
 * more than a few per cent of the machine during its rounds.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench_cpu.h"
#include "bench/bench_common.h"
#include "bench/bench_usual.h"
#include "support/random.h"
#include "bench/bench_cpu_paths.h"
#include "convolve_pool.h"
#include "cpu/loops/levels.h"

enum
{
  MAX_ROUNDS = 1001,
  MAX_LIST = 32,
  MAX_PLANES = 2,
  N_PAIRS = 6,
  MAX_SIDE = 63,
  MAX_ATTEMPTS = 12
};

static const double quiet = 0.04; /* the share of the machine that other programs may use */

static const char *const kinds[] = { "any", "gaussian", "box" };

static const struct
{
  const char *name;
  int width, height;
} sizes[] = {
  { "1080p", 1920, 1080 },
  { "4K", 3840, 2160 },
};

typedef struct
{
  const char *format, *size, *csv;
  bool kinds[BENCH_N_KINDS], usual, edges;
  int threads[MAX_LIST], n_threads;
  int sides[MAX_LIST], n_sides;
  int rounds, level;
  bool alone;
} Options;

/* A row of the table: the variant cpu or another library, with a number of threads. */
typedef struct
{
  char name[64];
  int threads;
  bool peer;
  ConvolvePool *pool;
  ConvolvePlan *plans[MAX_PLANES];
  int rounds;
  double us[MAX_ROUNDS];
} Row;

typedef struct
{
  ConvolvePixel pixel;
  int step; /* luma pixels, both ways, for one of this plane */
} Plane;

/* Whole frames, and single planes of frames. */
typedef struct
{
  const char *name;
  int n_planes;
  Plane planes[MAX_PLANES];
} Format;

#define U8(...) \
  { \
    .type = CONVOLVE_SAMPLE_U8, .depth = 8, __VA_ARGS__ \
  }
#define P010(...) \
  { \
    .type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, __VA_ARGS__ \
  }
#define U16(...) \
  { \
    .type = CONVOLVE_SAMPLE_U16, .depth = 16, .samples = 1, .stride = 2, .select = 1, __VA_ARGS__ \
  }

static const Format formats[] = {
  { "gray8", 1, { { U8 (.samples = 1, .stride = 1, .select = 1), 1 } } },
  { "nv12", 2,
      { { U8 (.samples = 1, .stride = 1, .select = 1), 1 }, { U8 (.samples = 2, .stride = 2, .select = 3), 2 } } },
  { "nv12-chroma", 1, { { U8 (.samples = 2, .stride = 2, .select = 3), 2 } } },
  { "rgb", 1, { { U8 (.samples = 3, .stride = 3, .select = 7), 1 } } },
  { "rgba", 1, { { U8 (.samples = 4, .stride = 4, .select = 7), 1 } } },
  { "yuy2-luma", 1, { { U8 (.samples = 1, .stride = 2, .select = 1), 1 } } },
  { "p010", 2,
      { { P010 (.samples = 1, .stride = 2, .select = 1), 1 }, { P010 (.samples = 2, .stride = 4, .select = 3), 2 } } },
  { "p010-luma", 1, { { P010 (.samples = 1, .stride = 2, .select = 1), 1 } } },
  { "gray16", 1, { { U16 (), 1 } } },
  { "gray16-be", 1, { { U16 (.swapped = true), 1 } } },
};

enum
{
  N_FORMATS = sizeof formats / sizeof *formats
};

static void
usage (FILE *file)
{
  fprintf (file,
      "bench_cpu [options]: times the variant cpu, and OpenCV beside it where the build has it\n"
      "  --threads N,N,...  1,2\n"
      "  --sides N,N,...    widths of the masks, 3,5,7,9,15,31; box 63 too\n"
      "  --kind KIND        any, gaussian or box; all of them. usual: the presets and weights of README's table;\n"
      "                     edges: slopes and combinations, without peers\n"
      "  --size SIZE        1080p or 4K; both\n"
      "  --format FORMAT    gray8; or these, with commas between:");
  for (int i = 1; i < N_FORMATS; i++)
    fprintf (file, " %s", formats[i].name);
  fprintf (file,
      "; yuy2-luma and gray16-be without peers\n"
      "  --level LEVEL      an instruction set of this machine:");
  for (int i = 0; i < convolve_cpu_level_count (); i++)
    fprintf (file, " %s", convolve_cpu_level (i)->name);
  fprintf (file,
      "\n"
      "  --rounds N         21\n"
      "  --csv FILE         writes the table there too\n"
      "  --alone yes        without peers\n");
}

static bool
read_list (const char *text, int *list, int *n)
{
  char *end;

  for (*n = 0; *n < MAX_LIST; text = end + 1) {
    list[(*n)++] = (int) strtol (text, &end, 10);
    if (end == text || list[*n - 1] < 1)
      return false;
    if (*end != ',')
      return *end == '\0';
  }
  return false;
}

static bool
read_options (Options *options, int argc, char **argv)
{
  *options = (Options){ .format = "gray8",
    .kinds = { true, true, true },
    .threads = { 1, 2 },
    .n_threads = 2,
    .sides = { 3, 5, 7, 9, 15, 31 },
    .n_sides = 6,
    .rounds = 21,
    .level = -1 };
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *option = argv[i], *value = argv[i + 1];

    if (strcmp (option, "--threads") == 0) {
      if (!read_list (value, options->threads, &options->n_threads))
        return false;
    } else if (strcmp (option, "--sides") == 0) {
      if (!read_list (value, options->sides, &options->n_sides))
        return false;
      for (int s = 0; s < options->n_sides; s++)
        if (options->sides[s] > CONVOLVE_MAX_SIDE || options->sides[s] % 2 == 0)
          return false;
    } else if (strcmp (option, "--kind") == 0) {
      for (int k = 0; k < BENCH_N_KINDS; k++)
        options->kinds[k] = strcmp (value, kinds[k]) == 0;
      options->usual = strcmp (value, "usual") == 0;
      options->edges = strcmp (value, "edges") == 0;
      options->alone = options->alone || options->edges;
    } else if (strcmp (option, "--size") == 0) {
      options->size = value;
    } else if (strcmp (option, "--format") == 0) {
      options->format = value;
    } else if (strcmp (option, "--csv") == 0) {
      options->csv = value;
    } else if (strcmp (option, "--alone") == 0) {
      options->alone = strcmp (value, "yes") == 0;
    } else if (strcmp (option, "--rounds") == 0) {
      options->rounds = atoi (value);
    } else if (strcmp (option, "--level") == 0) {
      for (int l = 0; l < convolve_cpu_level_count (); l++)
        if (strcmp (convolve_cpu_level (l)->name, value) == 0)
          options->level = l;
      if (options->level < 0)
        return false;
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && options->rounds > 0 && options->rounds <= MAX_ROUNDS;
}

/* Seconds of CPU that all other programs have used so far. 0 where the system does not say. */
static double
others_seconds (void)
{
  struct rusage own;
  double user = 0, nice_user = 0, system = 0;
  FILE *file = fopen ("/proc/stat", "r");

  if (!file)
    return 0;
  if (fscanf (file, "cpu %lf %lf %lf", &user, &nice_user, &system) != 3)
    user = nice_user = system = 0;
  fclose (file);
  getrusage (RUSAGE_SELF, &own);
  return (user + nice_user + system) / sysconf (_SC_CLK_TCK) - own.ru_utime.tv_sec - own.ru_utime.tv_usec / 1e6
      - own.ru_stime.tv_sec - own.ru_stime.tv_usec / 1e6;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Gaussians have the sigma that OpenCV takes for sigma 0. Weights without order are fractions. */
static bool
make_mask (ConvolveMask *mask, BenchKind kind, int side)
{
  double sigma = 0.3 * ((side - 1) * 0.5 - 1) + 0.8;
  CheckRandom random;

  if (!convolve_mask_init (mask, side, side))
    return false;
  check_random_init (&random, 3, side);
  mask->divisor = 0;
  for (int k = 0; k < side * side; k++) {
    int x = k % side - side / 2, y = k / side - side / 2;

    mask->taps[k] = kind == BENCH_BOX ? 1
        : kind == BENCH_GAUSSIAN      ? exp (-(x * x + y * y) / (2 * sigma * sigma))
                                      : 0.1 + check_random_unit (&random);
    mask->divisor += mask->taps[k];
  }
  return true;
}

/* What one call of a row works on: a frame's planes, each with the mask for this plane. */
typedef struct
{
  const Format *format;
  BenchKind kind;
  double sigma; /* in luma pixels; 0: from the width, by OpenCV's rule */
  ConvolveMask masks[MAX_PLANES];
  ConvolvePlane planes[MAX_PLANES]; /* without source and destination */
  size_t offsets[MAX_PLANES];       /* of the planes in the frame */
  size_t bytes;                     /* of the frame */
} Frame;

static double
time_row (const Row *row, const Frame *frame, const unsigned char *source, unsigned char *destination)
{
  double start;

  if (row->peer)
    bench_peer_set_threads (row->threads);
  start = bench_now_us ();
  for (int p = 0; p < frame->format->n_planes; p++) {
    const ConvolveMask *mask = &frame->masks[p];
    const Plane *plane = &frame->format->planes[p];
    ConvolvePlane task = frame->planes[p];

    task.source = source + frame->offsets[p];
    task.destination = destination + frame->offsets[p];
    if (row->peer)
      bench_peer_run (&(BenchPeerTask){ frame->kind, task.source, task.destination, task.width, task.height,
          (int) task.source_stride, plane->pixel.samples, plane->pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2, mask->width,
          mask->taps, mask->divisor, frame->sigma / plane->step });
    else
      convolve_run (row->plans[p], &task, NULL);
  }
  return bench_now_us () - start;
}

/* A peer reads pixels with nothing between their samples, in the machine's byte order. */
static bool
has_peer (const Format *format)
{
  for (int p = 0; p < format->n_planes; p++) {
    const ConvolvePixel *pixel = &format->planes[p].pixel;

    if (pixel->swapped || pixel->stride != pixel->samples * (pixel->type == CONVOLVE_SAMPLE_U8 ? 1 : 2))
      return false;
  }
  return true;
}

static int
make_rows (Row *rows, const Options *options, const Frame *frame)
{
  int n = 0;
  bool peers = bench_peer_name (frame->kind) && has_peer (frame->format) && !options->alone;

  for (int t = 0; t < options->n_threads; t++) {
    Row *row = &rows[n++];

    memset (row, 0, sizeof *row);
    row->threads = options->threads[t];
    row->pool = convolve_pool_new (row->threads, NULL);
    for (int p = 0; p < frame->format->n_planes; p++) {
      row->plans[p] = convolve_plan_new (&frame->format->planes[p].pixel, CONVOLVE_BOUNDARY_REPLICATE, &frame->masks[p],
          "cpu", NULL, NULL);
      if (!row->pool || !row->plans[p])
        exit (1);
      if (options->level >= 0)
        convolve_cpu_of (row->plans[p])->level = convolve_cpu_level (options->level);
      convolve_plan_set_pool (row->plans[p], row->pool);
    }
    snprintf (row->name, sizeof row->name, "cpu (%s, %s)", bench_cpu_path (row->plans[0], &frame->planes[0]),
        convolve_cpu_of (row->plans[0])->level->name);
  }
  for (int t = 0; t < options->n_threads && peers; t++) {
    Row *row = &rows[n++];

    memset (row, 0, sizeof *row);
    row->threads = options->threads[t];
    row->peer = true;
    snprintf (row->name, sizeof row->name, "%s", bench_peer_name (frame->kind));
  }
  return n;
}

/* Returns the share of the machine that other programs used. */
static double
measure (Row *rows, int n_rows, const Options *options, const Frame *frame, unsigned char **frames)
{
  double start = bench_now_us (), others = others_seconds ();
  int turn = 0;

  for (int i = 0; i < n_rows; i++)
    rows[i].rounds = 0;
  for (int round = -2; round < options->rounds; round++) { /* the first two warm up */
    for (int i = 0; i < n_rows; i++, turn = (turn + 1) % N_PAIRS) {
      Row *row = &rows[round & 1 ? n_rows - 1 - i : i];
      double us;

      us = time_row (row, frame, frames[2 * turn], frames[2 * turn + 1]);
      if (round >= 0)
        row->us[row->rounds++] = us;
    }
  }
  return (others_seconds () - others) / ((bench_now_us () - start) / 1e6 * sysconf (_SC_NPROCESSORS_ONLN));
}

/* Masks and sizes of the planes; usual is NULL for a mask of the kind with this side. */
static void
init_frame (Frame *frame, const Format *format, int s, BenchKind kind, int side, const BenchUsual *usual)
{
  *frame = (Frame){ .format = format, .kind = kind, .sigma = usual ? usual->sigma : 0 };
  for (int p = 0; p < format->n_planes; p++) {
    const Plane *plane = &format->planes[p];
    int width = sizes[s].width / plane->step, height = sizes[s].height / plane->step;
    size_t stride = ((size_t) width * plane->pixel.stride + 63) / 64 * 64;

    if (usual ? !bench_usual_make (usual, plane->step, &frame->masks[p]) : !make_mask (&frame->masks[p], kind, side))
      exit (1);
    frame->planes[p] =
        (ConvolvePlane){ NULL, NULL, (ptrdiff_t) stride, (ptrdiff_t) stride, width, height, { 0, 0, width, height } };
    frame->offsets[p] = frame->bytes;
    frame->bytes += stride * height;
  }
}

/* Six pairs of frames with random content, made anew where their size changes. */
static unsigned char **
make_frames (size_t bytes)
{
  static unsigned char *frames[2 * N_PAIRS];
  static size_t allocated;

  for (int i = 0; i < 2 * N_PAIRS && allocated != bytes; i++) {
    CheckRandom random;

    free (frames[i]);
    frames[i] = aligned_alloc (64, bytes);
    if (!frames[i])
      exit (1);
    check_random_init (&random, 4, i);
    check_random_fill (&random, frames[i], bytes);
  }
  allocated = bytes;
  return frames;
}

static void
bench_mask (const Options *options, const Format *format, int s, BenchKind kind, int side, const BenchUsual *usual,
    FILE *csv)
{
  static Row rows[2 * MAX_LIST];
  const char *name = usual ? usual->name : kinds[kind];
  Frame frame;
  unsigned char **frames;
  double others = 1;
  int n_rows;

  init_frame (&frame, format, s, kind, side, usual);
  n_rows = make_rows (rows, options, &frame);
  frames = make_frames (frame.bytes);
  for (int i = 0; i < MAX_ATTEMPTS && others > quiet; i++) {
    if (i > 0)
      sleep (2);
    others = measure (rows, n_rows, options, &frame, frames);
  }
  for (int i = 0; i < n_rows; i++) {
    Row *row = &rows[i];

    qsort (row->us, row->rounds, sizeof *row->us, compare_doubles);
    printf ("%-6s %-11s %-16s %2dx%-2d  %-32s %2d %10.1f %10.1f %5.0f%%\n", sizes[s].name, format->name, name, side,
        side, row->name, row->threads, row->us[row->rounds / 2], row->us[0], 100 * others);
    if (csv)
      fprintf (csv, "%s,%s,%s,%d,\"%s\",%d,%.1f,%.1f,%.2f\n", sizes[s].name, format->name, name, side, row->name,
          row->threads, row->us[row->rounds / 2], row->us[0], others);
    for (int p = 0; p < format->n_planes; p++)
      convolve_plan_unref (row->plans[p]);
    convolve_pool_free (row->pool);
  }
  fflush (stdout);
  for (int p = 0; p < format->n_planes; p++)
    convolve_mask_clear (&frame.masks[p]);
}

/* All masks of one size of frame. */
static void
bench_size (const Options *options, const Format *format, int s, FILE *csv)
{
  for (int kind = 0; kind < BENCH_N_KINDS; kind++)
    if (options->kinds[kind]) {
      for (int i = 0; i < options->n_sides; i++)
        bench_mask (options, format, s, kind, options->sides[i], NULL, csv);
      if (kind == BENCH_BOX && options->sides[options->n_sides - 1] == 31)
        bench_mask (options, format, s, kind, MAX_SIDE, NULL, csv);
    }
  for (int u = 0; options->usual && u < bench_usual_count (); u++) {
    const BenchUsual *usual = bench_usual (u);

    bench_mask (options, format, s,
        !usual->preset         ? BENCH_ANY
            : usual->sigma > 0 ? BENCH_GAUSSIAN
                               : BENCH_BOX,
        usual->side, usual, csv);
  }
  for (int e = 0; options->edges && e < bench_edges_count (); e++)
    bench_mask (options, format, s, BENCH_ANY, bench_edges (e)->side, bench_edges (e), csv);
}

/* A list with commas between. */
static bool
is_wanted (const char *list, const char *name)
{
  size_t length = strlen (name);

  for (const char *at = list; at; at = strchr (at, ','), at = at ? at + 1 : NULL)
    if (strncmp (at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
      return true;
  return false;
}

int
main (int argc, char **argv)
{
  Options options;
  FILE *csv = NULL;
  int n_formats = 0;

  if (!read_options (&options, argc, argv)) {
    usage (stderr);
    return 2;
  }
  for (int i = 0; i < N_FORMATS; i++)
    n_formats += is_wanted (options.format, formats[i].name);
  if (n_formats == 0 || (options.csv && !(csv = fopen (options.csv, "w")))) {
    usage (stderr);
    return 2;
  }
  if (csv)
    fprintf (csv, "size,format,kind,side,what,threads,median_us,min_us,others\n");
  printf ("Replicate boundary, random content; microseconds a frame, median and minimum of %d rounds, and what other\n"
          "programs had of the machine meanwhile.\n%-6s %-11s %-16s %-6s %-32s %2s %10s %10s\n",
      options.rounds, "size", "format", "weights", "mask", "what", "threads", "median", "minimum");
  for (int s = 0; s < (int) (sizeof sizes / sizeof *sizes); s++)
    for (int i = 0; i < N_FORMATS; i++)
      if (is_wanted (options.format, formats[i].name) && (!options.size || strcmp (options.size, sizes[s].name) == 0))
        bench_size (&options, &formats[i], s, csv);
  if (csv)
    fclose (csv);
  return 0;
}
