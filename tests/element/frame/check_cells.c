/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats whose samples share words, or whose rows are cut into tiles: every sample is where GStreamer's own unpacking finds it, and
 * what is no sample stays. Every format of GStreamer is either taken or named here as refused.
 */
#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "common/cells.h"
#include "cpu/loops/levels.h"
#include "frame/layout.h"
#include "frame/cells.h"
#include "support/random.h"
#include "support/run.h"

/* --- which formats are taken --- */

/* Formats of GStreamer that the element refuses, with the reason. */
static const struct
{
  const gchar *name, *reason;
} refused[] = {
  { "RGB8P", "samples are numbers of a palette, between which nothing can be summed up" },
  { "DMA_DRM", "the format is in the caps' drm-format, and the memory is a DMABuf" },
  { "MT2110T", "a sample's lower bits lie in another tile" },
  { "MT2110R", "a sample's lower bits lie in another tile" },
  { "RGBA_F16LE", "floats" },
  { "RGBA_F16BE", "floats" },
  { "RGBA_F32LE", "floats" },
  { "RGBA_F32BE", "floats" },
};

GST_START_TEST (test_every_format)
{
  guint n, n_taken = 0;
  const GstVideoFormat *all = gst_video_formats_raw (&n);

  for (guint i = 0; i < n; i++) {
    const GstVideoFormatInfo *finfo = gst_video_format_get_info (all[i]);
    gboolean named = FALSE, taken;

    taken = gst_cuda_convolve_format_is_supported (finfo) || gst_cuda_convolve_format_has_cells (finfo);
    for (guint k = 0; k < G_N_ELEMENTS (refused); k++)
      named |= g_str_equal (finfo->name, refused[k].name);
    fail_unless (taken != named, "%s is %s", finfo->name, taken ? "taken, and named as refused" : "neither");
    n_taken += taken;
  }
  g_print ("%u of %u formats are taken\n", n_taken, n);
}
GST_END_TEST;

/* --- where samples are --- */

/* A frame in a form: planes of bytes. */
typedef struct
{
  GstVideoInfo info;
  guint8 *bytes;
} Form;

static Form
form_new (const GstVideoInfo *info, CheckRandom *random)
{
  Form form = { .info = *info, .bytes = g_malloc (info->size) };

  check_random_fill (random, form.bytes, info->size);
  return form;
}

/* Random samples within the depth of the inner form. */
static Form
inner_new (const GstVideoInfo *info, CheckRandom *random)
{
  Form form = form_new (info, random);
  gint depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0);

  for (gsize i = 0; depth > 8 && i + 1 < info->size; i += 2)
    *(guint16 *) (void *) (form.bytes + i) &= (1 << depth) - 1;
  return form;
}

static ConvolvePicture
picture_of (const Form *form)
{
  ConvolvePicture picture = { .width = GST_VIDEO_INFO_WIDTH (&form->info),
    .height = GST_VIDEO_INFO_HEIGHT (&form->info) };

  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (&form->info); i++)
    picture.planes[i] =
        (ConvolveFormPlane){ form->bytes + form->info.offset[i], gst_cuda_convolve_stride (&form->info, i) };
  return picture;
}

/* Unpacks source, or packs into packed, where that is not NULL, with an instruction set. */
static void
take_through (const Form *source, const Form *packed, const Form *inner, gint level)
{
  ConvolvePicture from = picture_of (source), through = picture_of (inner), to = picture_of (packed ? packed : source);
  ConvolveError error = { 0 };
  ConvolveForm *form;
  ConvolveCells cells;
  ConvolveStatus status;

  gst_cuda_convolve_cells_describe (&source->info, &cells);
  form = convolve_form_new_cells (&cells, NULL, &error);
  fail_unless (form != NULL, "%s", error.text);
  form->level = level;
  status = packed ? convolve_form_pack (form, &from, &through, &to, &error)
                  : convolve_form_unpack (form, &from, &through, &error);
  fail_unless (status == CONVOLVE_OK, "%s", error.text);
  convolve_form_free (form);
}

/* The same as take_through(), cell by cell, as a device does it. */
static void
take_cells (const Form *source, const Form *packed, const Form *inner)
{
  ConvolveFormJob job = { .original = picture_of (source),
    .inner = picture_of (inner),
    .outer = picture_of (packed ? packed : source) };
  ConvolveCells cells;

  gst_cuda_convolve_cells_describe (&source->info, &cells);
  for (gint i = 0; i < cells.n_planes; i++) {
    const ConvolveCellPlane *plane = &cells.planes[i];
    ConvolveCellJob planes = convolve_cell_job (&job, i);

    for (gint y = 0; y < plane->rows; y++)
      for (gint x = 0; x * plane->cell < plane->row_bytes; x++)
        if (packed)
          convolve_pack_cell (plane, &planes, x, y);
        else
          convolve_unpack_cell (plane, &planes, x, y);
  }
}

/* All ways of a pass write the same bytes, and leave the same bytes alone. */
static void
check_all (const Form *source, const Form *packed, const Form *inner)
{
  const Form *written = packed ? packed : inner;
  gsize size = written->info.size;
  g_autofree guint8 *before = g_memdup2 (written->bytes, size), *by_cells = NULL;

  take_cells (source, packed, inner);
  by_cells = g_memdup2 (written->bytes, size);
  for (gint level = 0; level < convolve_cpu_level_count (); level++) {
    memcpy (written->bytes, before, size);
    take_through (source, packed, inner, level);
    fail_unless (memcmp (written->bytes, by_cells, size) == 0, "%s %dx%d, %s by %s",
        GST_VIDEO_INFO_NAME (&source->info), source->info.width, source->info.height, packed ? "packed" : "unpacked",
        convolve_cpu_level (level)->name);
  }
}

/* A sample of the inner form, whose description says where. */
static gint
inner_sample (const Form *inner, guint c, gint x, gint y)
{
  const guint8 *at = inner->bytes + GST_VIDEO_INFO_COMP_OFFSET (&inner->info, c)
      + y * GST_VIDEO_INFO_COMP_STRIDE (&inner->info, c) + x * GST_VIDEO_INFO_COMP_PSTRIDE (&inner->info, c);

  return GST_VIDEO_INFO_COMP_DEPTH (&inner->info, 0) > 8 ? *(const guint16 *) (const void *) at : *at;
}

/* Whether GStreamer's rows have no room for the last V of some odd widths, as UYVP's before 1.28. It is then the V before. */
static gboolean
has_no_room (const GstVideoInfo *info, guint c, gint x)
{
  gint width = GST_VIDEO_INFO_WIDTH (info);
  gboolean is_short = FALSE;

  if (g_str_has_suffix (GST_VIDEO_INFO_NAME (info), "10LE32"))
    is_short = width % 6 == 3;
  else if (g_str_equal (GST_VIDEO_INFO_NAME (info), "UYVP"))
    is_short = width % 8 == 3 && 5 * ((width + 1) / 2) > GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  else if (g_str_equal (GST_VIDEO_INFO_NAME (info), "NV12_10BE_8L128"))
    is_short = 10 * (width + 1) > 64 * GST_VIDEO_TILE_X_TILES (GST_VIDEO_INFO_PLANE_STRIDE (info, 1));
  return is_short && width % 2 == 1 && c == GST_VIDEO_COMP_V && x == width / 2;
}

/*
 * Compares all samples with those that GStreamer unpacks. Those of few bits are compared in these bits, because GStreamer
 * leaves the bits below the two of alpha 0.
 */
static void
check_samples (const Form *packed, const Form *inner, const gchar *what)
{
  static const gint place[4] = { 1, 2, 3, 0 }; /* of a component in AYUV and ARGB */
  const GstVideoInfo *info = &packed->info;
  const GstVideoFormatInfo *finfo = info->finfo;
  gint width = GST_VIDEO_INFO_WIDTH (info), depth = GST_VIDEO_INFO_COMP_DEPTH (&inner->info, 0);
  g_autofree guint16 *line = g_new0 (guint16, 4 * (width + 16));
  gpointer data[GST_VIDEO_MAX_PLANES];

  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++)
    data[i] = packed->bytes + info->offset[i];
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++) {
    finfo->unpack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, line, data, info->stride, 0, y, width);
    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); c++) {
      gint x_sub = GST_VIDEO_FORMAT_INFO_W_SUB (finfo, c), y_sub = GST_VIDEO_FORMAT_INFO_H_SUB (finfo, c);
      gint bits = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, c);

      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c) && y % (1 << y_sub) == 0; x++) {
        gint at = 4 * (x << x_sub) + place[c], found = inner_sample (inner, c, x, y >> y_sub) >> (depth - bits);
        gint wanted = depth == 8 ? ((guint8 *) line)[at] >> (8 - bits) : line[at] >> (16 - bits);

        if (has_no_room (info, c, x))
          wanted = inner_sample (inner, c, x - 1, y >> y_sub);
        if (found != wanted)
          fail ("%s, %s %dx%d: component %u at %d,%d is %d and not %d", what, finfo->name, width,
              GST_VIDEO_INFO_HEIGHT (info), c, x, y >> y_sub, found, wanted);
      }
    }
  }
}

/* Whether two packed frames have the same bytes in all rows of samples, and the second frame another one's outside. */
static void
check_bytes (const Form *wanted, const Form *found, const Form *outside)
{
  g_autofree guint8 *expected = g_memdup2 (outside->bytes, outside->info.size);
  ConvolveCells cells;

  gst_cuda_convolve_cells_describe (&wanted->info, &cells);
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (&wanted->info); i++) {
    const ConvolveCellPlane *plane = &cells.planes[i];
    gint stride = gst_cuda_convolve_stride (&wanted->info, i);
    gint rows =
        i == 0 ? GST_VIDEO_INFO_HEIGHT (&wanted->info) : GST_VIDEO_INFO_COMP_HEIGHT (&wanted->info, GST_VIDEO_COMP_U);

    for (gint y = 0; y < rows; y++)
      for (gint b = 0; b < plane->row_bytes; b++) {
        gsize at = wanted->info.offset[i] + convolve_cell_offset (plane, stride, y, b);

        fail_unless (at < wanted->info.size);
        expected[at] = wanted->bytes[at];
      }
  }
  for (gsize k = 0; k < wanted->info.size; k++)
    if (found->bytes[k] != expected[k])
      fail ("%s %dx%d: byte %" G_GSIZE_FORMAT " is %u and not %u", GST_VIDEO_INFO_NAME (&wanted->info),
          GST_VIDEO_INFO_WIDTH (&wanted->info), GST_VIDEO_INFO_HEIGHT (&wanted->info), k, found->bytes[k], expected[k]);
}

static void
check_size (GstVideoFormat format, gint width, gint height, CheckRandom *random)
{
  GstVideoInfo info, inner_info;
  Form first, second, third, inner, other;

  fail_unless (gst_video_info_set_format (&info, format, width, height));
  gst_cuda_convolve_cells_inner (&info, &inner_info);
  first = form_new (&info, random);
  second = form_new (&info, random);
  third = form_new (&info, random);
  inner = inner_new (&inner_info, random);
  other = inner_new (&inner_info, random);

  check_all (&first, NULL, &inner);
  check_samples (&first, &inner, "unpacked");

  /* Other samples, and then the first ones again: what is no sample is still there, and third is written nowhere else. */
  {
    Form outside = third, kept = { .info = info, .bytes = g_memdup2 (third.bytes, info.size) };

    outside.bytes = kept.bytes;
    check_all (&first, &second, &other);
    take_through (&second, NULL, &other, 0);
    check_samples (&second, &other, "packed");
    take_through (&second, &third, &inner, 0);
    check_bytes (&first, &third, &outside);
    g_free (kept.bytes);
  }
  g_free (first.bytes);
  g_free (second.bytes);
  g_free (third.bytes);
  g_free (inner.bytes);
  g_free (other.bytes);
}

GST_START_TEST (test_samples)
{
  static const gint sizes[][2] = { { 1, 1 }, { 2, 2 }, { 3, 5 }, { 6, 4 }, { 37, 21 }, { 64, 64 }, { 89, 33 },
    { 131, 70 }, { 300, 18 } };
  guint n, n_packed = 0;
  const GstVideoFormat *all = gst_video_formats_raw (&n);
  CheckRandom random;

  check_random_init (&random, check_seed (), 0);
  for (guint i = 0; i < n; i++) {
    if (!gst_cuda_convolve_format_has_cells (gst_video_format_get_info (all[i])))
      continue;
    n_packed++;
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
      check_size (all[i], sizes[k][0], sizes[k][1], &random);
    for (guint k = 0; k < 8; k++)
      check_size (all[i], check_random_range (&random, 1, 150), check_random_range (&random, 1, 70), &random);
  }
  fail_unless (n_packed >= 21);
}
GST_END_TEST;

/* A sample of few bits comes back from the wider one, white stays white, and a wider one goes to the nearest. */
GST_START_TEST (test_widths)
{
  for (gint depth = 8; depth <= 10; depth++)
    for (gint bits = 1; bits <= depth; bits++) {
      gint few = (1 << bits) - 1, most = (1 << depth) - 1;

      fail_unless_equals_int (convolve_widen (few, bits, depth), most);
      for (gint value = 0; value <= few; value++)
        fail_unless_equals_int (convolve_narrow (convolve_widen (value, bits, depth), bits, depth), value);
      for (gint value = 0; value <= most; value++)
        fail_unless (
            fabs ((gdouble) value / most - (gdouble) convolve_narrow (value, bits, depth) / few) <= 0.5 / few + 1e-12);
    }
}
GST_END_TEST;

static Suite *
cells_suite (void)
{
  Suite *suite = suite_create ("cells");
  TCase *tc = tcase_create ("cells");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_test (tc, test_every_format);
  tcase_add_test (tc, test_samples);
  tcase_add_test (tc, test_widths);
  return suite;
}

GST_CHECK_MAIN (cells);
