/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same bytes on every machine: checksums of what the element makes of a clip, for every preset, boundary and a dozen formats,
 * against those of golden.csv. The file was written by the variant cpu-reference on one machine. CUDACONVOLVE_GOLDEN is
 * its name, and with CUDACONVOLVE_WRITE the file is written.
 *
 * The first setting below has every row of the file; the others have some, or all with CUDACONVOLVE_ALL_CASES.
 */
#include <gst/check/gstcheck.h>
#include <string.h>

#include "common/internal.h"
#include "cpu/loops/levels.h"
#include "element/mask/golden_clip.h"
#include "presets/presets.h"
#include "masks/mask_text.h"
#include "support/cases.h"
#include "support/names.h"

#define HEADER "# Written by: ninja -C build golden\nformat,properties"
#define CUDA "video/x-raw(memory:CUDAMemory)"

enum
{
  DIGITS = 12,       /* of a checksum */
  SOME = 4,          /* one row of so many in a quick run */
  MOST_FAILURES = 12 /* that are printed */
};

static const gchar *const formats[] = { "NV12", "I420", "GRAY8", "RGB", "BGR", "RGBA", "BGRx", "YUY2", "v308",
  "P010_10LE", "I420_10LE", "GRAY16_LE" };

/* Besides every preset in every format. Of samples above 12 bits, only some masks have golden bytes. ' stands for ". */
static const struct
{
  const gchar *formats; /* split by spaces */
  const gchar *properties;
} more_rows[] = {
  { "NV12 RGBA I420_10LE", "mask='0.1 0.25 0.1; 0.2 0.37 0.2; 0.1 0.26 0.11'" },
  { "GRAY8 RGB P010_10LE", "mask='0.31 -0.2 0.13; -0.7 2.1 0.33; 0.01 -0.4 0.7' divisor=1.3 bias=0.1" },
  { "GRAY8 I420_10LE", "mask='5x1: 0.3 0.2 1.1 0.2 -0.3'" },
  { "NV12 GRAY8 RGBA", "sigma=2.5" },
  { "I420 P010_10LE", "sigma=9" },
  { "GRAY8", "mask-width=63" },
  { "NV12 RGB", "mask=unsharp sigma=3" },
  { "GRAY8 I420_10LE", "mask=log sigma=2" },
  { "NV12 GRAY8", "mask=disk mask-width=21" },
  { "RGBA I420_10LE", "mask=motion:30 mask-width=17" },
  { "NV12 P010_10LE", "mask=box mask-width=31" },
  { "I420_10LE GRAY16_LE", "mask=box mask-width=101 mask-height=63" },
  { "NV12 RGB", "mask=sobel divisor=3.7" },
  { "GRAY8 I420_10LE", "mask='0.3 0.1 0.2; 0 0 0; -0.3 -0.11 -0.2' divisor=1 absolute=true" },
  { "NV12 RGBA", "mix=0.3" },
  { "GRAY8 P010_10LE", "mask=log mix=0.7" },
  { "NV12 GRAY8", "sigma=1.3 iterations=3" },
  { "NV12 I420", "components=y sigma=2" },
  { "RGBA BGRx", "components=r+b sigma=2" },
  { "RGBA", "components=r+g+b+a mask=unsharp" },
  { "NV12 RGBA", "boundary-color=0x80336699 sigma=2" },
  { "NV12 RGBA I420_10LE", "apply-to=regions regions='20,30,100,80; 50%,40%,25%,40%' region-strength=0.2" },
  { "I420 BGRx",
      "apply-to=regions regions='20,30,100,80; 60,50,90,90' mask=box region-strength=0.3 region-feather=12" },
  { "NV12 GRAY8", "apply-to=outside-regions regions='70,30,120,90' region-shape=ellipse region-feather=20 sigma=3" },
  { "NV12 RGB", "apply-to=regions regions='21,31,101,83' region-effect=pixelate region-blocks=6" },
  { "NV12 RGB P010_10LE",
      "apply-to=regions regions='21,31,101,83' region-effect=noise-pixelate region-epsilon=4 region-seed=7" },
  { "I420", "apply-to=regions regions='21,31,101,83' region-effect=fill region-color=0xff204060" },
  { "NV12 RGB P010_10LE",
      "apply-to=regions regions='21,31,101,83' region-effect=pixelate region-feather=9 region-opacity=0.4" },
};

/* --- rows --- */

typedef struct
{
  const gchar *format;
  gchar *properties;
  gchar checksums[CONVOLVE_N_BOUNDARIES][DIGITS + 1];
} GoldenRow;

static void
clear_row (gpointer data)
{
  g_free (((GoldenRow *) data)->properties);
}

/* Whether all machines share the arithmetic of the preset on samples of 16 bits. */
static gboolean
is_shared_on_16_bits (const gchar *preset)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U16,
    .depth = 16,
    .samples = 1,
    .stride = 2,
    .select = 1,
    .biased = 1 };
  ConvolveSettings settings;
  ConvolveMask mask;
  ConvolvePlan *plan;
  gboolean shared;

  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strdup (preset);
  fail_unless (convolve_settings_make_mask (&settings, 1, 1, &mask, NULL));
  plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
  fail_unless (plan != NULL);
  shared = plan->n_parts > 0 || plan->arithmetic.kind != CONVOLVE_ARITHMETIC_FREE;
  for (gint k = 0; k < plan->n_parts; k++)
    shared = shared && plan->parts[k].arithmetic.kind != CONVOLVE_ARITHMETIC_FREE;
  convolve_plan_unref (plan);
  convolve_mask_clear (&mask);
  convolve_settings_clear (&settings);
  return shared;
}

static void
add_row (GArray *rows, const gchar *format, gchar *properties)
{
  GoldenRow row = { .format = g_intern_string (format), .properties = properties };

  g_array_append_val (rows, row);
}

static GArray *
make_rows (void)
{
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (GoldenRow));
  guint n;
  const ConvolvePreset *presets = convolve_presets (&n);

  g_array_set_clear_func (rows, clear_row);
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint i = 0; i < n; i++)
      if (!g_str_equal (formats[f], "GRAY16_LE") || is_shared_on_16_bits (presets[i].name))
        add_row (rows, formats[f], g_strdup_printf ("mask=%s", presets[i].name));
  for (guint i = 0; i < G_N_ELEMENTS (more_rows); i++) {
    g_auto (GStrv) names = g_strsplit (more_rows[i].formats, " ", -1);

    for (guint k = 0; names[k]; k++)
      add_row (rows, names[k], g_strdup (more_rows[i].properties));
  }
  return rows;
}

/* --- one checksum --- */

typedef struct
{
  const gchar *name;
  const gchar *properties;
  const gchar *level; /* of the variant cpu: CUDACONVOLVE_LEVEL, or NULL */
  gboolean cuda;      /* frames in CUDA memory */
} Setting;

/* The checksum of all frames behind these elements. */
static void
checksum_of (const gchar *line, const gchar *format, gchar *checksum)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  GstVideoInfo info = info_of (format, GOLDEN_WIDTH, GOLDEN_HEIGHT);
  GstHarness *harness = strchr (line, '!') ? gst_harness_new_parse (line) : harness_new_line (line);
  GstBuffer *out;
  guint frames = 0;

  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  for (guint n = 0; n < GOLDEN_FRAMES; n++)
    push_ok (harness, golden_frame (&info, n));
  gst_harness_push_event (harness, gst_event_new_eos ());
  while ((out = gst_harness_try_pull (harness))) {
    golden_add (sum, &info, out);
    gst_buffer_unref (out);
    frames++;
  }
  fail_unless (frames == GOLDEN_FRAMES, "%s: %u frames", line, frames);
  gst_harness_teardown (harness);
  g_strlcpy (checksum, g_checksum_get_string (sum), DIGITS + 1);
}

static void
find_checksum (const Setting *setting, const GoldenRow *row, gint boundary, gchar *checksum)
{
  g_autofree gchar *element = g_strdup_printf ("cudaconvolve alpha=copy %s boundary=%s %s", row->properties,
      check_boundary_name (boundary), setting->properties);
  g_autofree gchar *line = setting->cuda
      ? g_strdup_printf ("cudaupload ! " CUDA " ! %s ! " CUDA " ! cudadownload", element)
      : g_strdup (element);

  g_strdelimit (line, "'", '"');
  checksum_of (line, row->format, checksum);
}

/* --- the file --- */

static GString *
write_rows (GArray *rows)
{
  GString *text = g_string_new (HEADER);
  const Setting reference = { "cpu-reference", "kernel-variant=cpu-reference", NULL, FALSE };

  for (gint b = 0; b < CONVOLVE_N_BOUNDARIES; b++)
    g_string_append_printf (text, ",%s", check_boundary_name (b));
  g_string_append_c (text, '\n');
  for (guint i = 0; i < rows->len; i++) {
    GoldenRow *row = &g_array_index (rows, GoldenRow, i);

    g_string_append_printf (text, "%s,\"%s\"", row->format, row->properties);
    for (gint b = 0; b < CONVOLVE_N_BOUNDARIES; b++) {
      find_checksum (&reference, row, b, row->checksums[b]);
      g_string_append_printf (text, ",%s", row->checksums[b]);
    }
    g_string_append_c (text, '\n');
  }
  return text;
}

/* Fills the checksums of the rows. Every row of the tables above must be in the file, and no other. */
static void
read_rows (GArray *rows, const gchar *name)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint at = 2; /* behind the header */

  fail_unless (name && g_file_get_contents (name, &text, NULL, NULL), "CUDACONVOLVE_GOLDEN names no file");
  lines = g_strsplit (text, "\n", -1);
  fail_unless (g_strv_length (lines) == rows->len + at + 1, "%s has other rows: ninja -C build golden", name);
  for (guint i = 0; i < rows->len; i++, at++) {
    GoldenRow *row = &g_array_index (rows, GoldenRow, i);
    g_autofree gchar *begin = g_strdup_printf ("%s,\"%s\",", row->format, row->properties);
    g_auto (GStrv) sums = NULL;

    fail_unless (g_str_has_prefix (lines[at], begin), "%s has no row %s", name, begin);
    sums = g_strsplit (lines[at] + strlen (begin), ",", -1);
    fail_unless (g_strv_length (sums) == CONVOLVE_N_BOUNDARIES, "%s: %s", name, lines[at]);
    for (gint b = 0; b < CONVOLVE_N_BOUNDARIES; b++)
      g_strlcpy (row->checksums[b], sums[b], DIGITS + 1);
  }
}

/* --- settings --- */

/* GStreamer 1.22 loses a column or a row of chroma where planes of odd frames go to CUDA memory and back. */
static gboolean
transfer_keeps (const gchar *format)
{
  gchar before[DIGITS + 1], after[DIGITS + 1];

  checksum_of ("identity", format, before);
  checksum_of ("cudaupload ! " CUDA " ! cudadownload", format, after);
  return strcmp (before, after) == 0;
}

static gboolean
has_cuda_format (const gchar *format)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  g_autofree gchar *text =
      g_strdup_printf (CUDA ",format=%s,width=%d,height=%d,framerate=25/1", format, GOLDEN_WIDTH, GOLDEN_HEIGHT);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);

  return gst_caps_can_intersect (caps, template);
}

/* Whether CUDA memory holds the format, and every sample of it; known formats are in the table. */
static gboolean
is_kept (GHashTable *kept, const gchar *format)
{
  gpointer known;

  if (!g_hash_table_lookup_extended (kept, format, NULL, &known)) {
    gboolean has = has_cuda_format (format), keeps = has && transfer_keeps (format);

    if (has && !keeps)
      g_print ("left out: %s, which GStreamer's own cudaupload and cudadownload change\n", format);
    known = GINT_TO_POINTER (keeps);
    g_hash_table_insert (kept, (gpointer) format, known);
  }
  return GPOINTER_TO_INT (known);
}

/* Compares the checksums of the rows first, first + step and so on; each has the next boundary unless all is set. */
static guint
compare_rows (GArray *rows, const Setting *setting, guint first, guint step, gboolean all, guint failures)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (GHashTable) kept = g_hash_table_new (g_str_hash, g_str_equal);
  guint made = 0, wrong = 0;

  if (setting->level)
    g_setenv ("CUDACONVOLVE_LEVEL", setting->level, TRUE);
  for (guint i = first; i < rows->len; i += step) {
    const GoldenRow *row = &g_array_index (rows, GoldenRow, i);

    if (setting->cuda && !is_kept (kept, row->format))
      continue;
    for (gint b = 0; b < CONVOLVE_N_BOUNDARIES; b++) {
      gchar checksum[DIGITS + 1];

      if (!all && b != (gint) ((i / step + first) % CONVOLVE_N_BOUNDARIES))
        continue;
      find_checksum (setting, row, b, checksum);
      made++;
      if (strcmp (checksum, row->checksums[b]) == 0)
        continue;
      if (failures + wrong++ < MOST_FAILURES)
        g_print ("FAILED %s: %s %s boundary=%s gives %s, not %s\n", setting->name, row->format, row->properties,
            check_boundary_name (b), checksum, row->checksums[b]);
    }
  }
  g_print ("%-24s %5u checksums, %u wrong, %.1f s\n", setting->name, made, wrong,
      (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  return wrong;
}

/* All rows and boundaries with the first setting, unless it is of CUDA memory, which is slow; the others take turns. */
static void
compare_settings (GArray *rows, const Setting *settings, guint n)
{
  gboolean all = check_cases (0, 1);
  guint wrong = 0;

  for (guint i = 0; i < n; i++)
    wrong += (i == 0 && !settings->cuda) || all ? compare_rows (rows, &settings[i], 0, 1, TRUE, wrong)
                                                : compare_rows (rows, &settings[i], i % SOME, SOME, FALSE, wrong);
  fail_unless (wrong == 0, "%u checksums are wrong", wrong);
}

static GArray *rows;

/* What the element takes by itself: the CPU, or a GPU for some work. */
GST_START_TEST (system_memory)
{
  static const Setting settings[] = {
    { "auto", "", NULL, FALSE },
    { "one thread", "kernel-variant=cpu n-threads=1", NULL, FALSE },
    { "two threads", "kernel-variant=cpu n-threads=2", NULL, FALSE },
    { "three threads", "kernel-variant=cpu n-threads=3", NULL, FALSE },
    { "eight threads", "kernel-variant=cpu n-threads=8", NULL, FALSE },
    { "two frames in flight", "frames-in-flight=2", NULL, FALSE },
    { "three frames in flight", "frames-in-flight=3", NULL, FALSE },
    { "four frames in flight", "frames-in-flight=4", NULL, FALSE },
  };

  compare_settings (rows, settings, G_N_ELEMENTS (settings));
}
GST_END_TEST;

GST_START_TEST (instruction_sets)
{
  static const Setting settings[] = {
    { "baseline", "kernel-variant=cpu n-threads=2", "0", FALSE },
    { "AVX2", "kernel-variant=cpu n-threads=2", "1", FALSE },
    { "AVX-512", "kernel-variant=cpu n-threads=2", "2", FALSE },
    { "AVX-512 with VNNI", "kernel-variant=cpu n-threads=2", "3", FALSE },
  };
  guint n = convolve_cpu_level_count ();

  g_print ("%u instruction sets on this machine\n", n);
  compare_settings (rows, settings, n);
}
GST_END_TEST;

GST_START_TEST (cuda_memory)
{
  static const Setting settings[] = {
    { "CUDA memory", "", NULL, TRUE },
    { "CUDA memory, two frames", "frames-in-flight=2", NULL, TRUE },
    { "CUDA memory, three frames", "frames-in-flight=3", NULL, TRUE },
    { "CUDA memory, four frames", "frames-in-flight=4", NULL, TRUE },
  };
  g_autoptr (GstElementFactory) upload = gst_element_factory_find ("cudaupload");

  if (!upload || !has_cuda_format ("NV12"))
    g_print ("SKIP: CUDA memory: %s\n", upload ? "not in this build" : "no element cudaupload, or no GPU");
  else
    compare_settings (rows, settings, G_N_ELEMENTS (settings));
}
GST_END_TEST;

GST_START_TEST (write_file)
{
  const gchar *name = g_getenv ("CUDACONVOLVE_GOLDEN");
  GString *text = write_rows (rows);

  fail_unless (name && g_file_set_contents (name, text->str, text->len, NULL), "the file cannot be written");
  g_string_free (text, TRUE);
}
GST_END_TEST;

static void
prepare (void)
{
  rows = make_rows ();
  if (!g_getenv ("CUDACONVOLVE_WRITE"))
    read_rows (rows, g_getenv ("CUDACONVOLVE_GOLDEN"));
}

static void
finish (void)
{
  g_array_unref (rows);
}

static Suite *
golden_suite (void)
{
  Suite *suite = suite_create ("golden");
  TCase *tc = tcase_create ("golden");

  tcase_set_timeout (tc, 0);
  tcase_add_unchecked_fixture (tc, prepare, finish);
  if (g_getenv ("CUDACONVOLVE_WRITE")) {
    tcase_add_test (tc, write_file);
  } else if (g_getenv ("CUDACONVOLVE_LEVELS")) {
    tcase_add_test (tc, instruction_sets);
  } else {
    tcase_add_test (tc, system_memory);
    tcase_add_test (tc, cuda_memory);
  }
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (golden);
