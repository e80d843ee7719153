/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of layers. support/numpy.h writes them as NumPy does; they are read, refused with the right words where
 * something is wrong, and then damaged at random. CUDACONVOLVE_SEED=N in the environment repeats a run.
 */
#define _GNU_SOURCE
#include <gst/check/gstcheck.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/file.h"
#include "support/numpy.h"
#include "support/run.h"
#include "files/inflate.h"
#include "files/weights.h"
#include "files/zip.h"

static gchar *folder; /* for files; removed at the end */

/* A file with the values that expect() compares with. */
static GByteArray *
counted_floats (const gchar *header, guint count)
{
  g_autofree gfloat *values = g_new (gfloat, count);

  for (guint i = 0; i < count; i++)
    values[i] = i * 0.25f - 3;
  return numpy_floats (header, values, count);
}

#define GOOD_HEADER NUMPY_HEADER ("<f4", "False", "(2, 3, 1, 2)")
#define GOOD_BIAS NUMPY_HEADER ("<f4", "False", "(2,)")

static gboolean
load (const GByteArray *bytes, ConvolveWeights *weights, GError **error)
{
  g_autofree gchar *name = g_build_filename (folder, "layer.npz", NULL);

  fail_unless (check_write_file (name, bytes));
  return convolve_weights_load (name, weights, error);
}

/* Loads the bytes, which must be refused with this text after the file's name, and frees them. */
static void
refuse (GByteArray *bytes, const gchar *text)
{
  ConvolveWeights weights, before;
  GError *error = NULL;
  const gchar *said;

  memset (&weights, 0x5a, sizeof weights);
  memset (&before, 0x5a, sizeof before);
  fail_if (load (bytes, &weights, &error), "taken; expected: %s", text);
  fail_unless (memcmp (&weights, &before, sizeof weights) == 0, "weights were touched: %s", text);
  fail_unless (g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER));
  said = strstr (error->message, "layer.npz: ");
  fail_unless (g_str_has_prefix (error->message, "location: ") && said, "%s", error->message);
  said += strlen ("layer.npz: ");
  fail_unless (g_str_has_prefix (said, text), "\"%s\" does not begin with \"%s\"", said, text);
  g_error_free (error);
  g_byte_array_unref (bytes);
}

/*
 * Loads the bytes, which must hold the values of counted_floats() in 2 filters of 3 channels, 1 row and 2 columns,
 * and frees them.
 */
static void
expect (GByteArray *bytes, gboolean bias)
{
  ConvolveWeights weights;
  GError *error = NULL;

  fail_unless (load (bytes, &weights, &error), "%s", error ? error->message : "");
  fail_unless (weights.filters == 2 && weights.channels == 3 && weights.height == 1 && weights.width == 2);
  for (guint i = 0; i < 12; i++)
    fail_unless (weights.weights[i] == i * 0.25f - 3, "%u: %g", i, weights.weights[i]);
  fail_unless_equals_int (weights.bias != NULL, bias);
  for (guint i = 0; bias && i < 2; i++)
    fail_unless (weights.bias[i] == i * 0.25f - 3);
  convolve_weights_clear (&weights);
  g_byte_array_unref (bytes);
}

GST_START_TEST (test_types)
{
  static const gdouble values[] = { 0, 1, -2.5, 0.000030517578125, 65504, -0.0999755859375 };
  static const guint16 halves[] = { 0, 0x3c00, 0xc100, 0x0200, 0x7bff, 0xae66 };
  static const struct
  {
    const gchar *type;
    guint size;
    gboolean big;
  } types[] = { { "<f2", 2, FALSE }, { ">f2", 2, TRUE }, { "<f4", 4, FALSE }, { ">f4", 4, TRUE }, { "<f8", 8, FALSE },
    { ">f8", 8, TRUE }, { "=f4", 4, G_BYTE_ORDER == G_BIG_ENDIAN } };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    for (guint version = 1; version <= 3; version++) {
      g_autofree gchar *header =
          g_strdup_printf ("{\"shape\": (1, 1,2,3L), 'fortran_order':False, 'descr':'%s'}", types[i].type);
      GByteArray *bytes = numpy_begin (version, header);
      ConvolveWeights weights;
      GError *error = NULL;

      for (guint k = 0; k < 6; k++) {
        gfloat single = values[k];
        guint64 word = halves[k];
        guint32 low;

        memcpy (&low, &single, 4);
        if (types[i].size == 4)
          word = low;
        else if (types[i].size == 8)
          memcpy (&word, &values[k], 8);
        for (guint b = 0; b < types[i].size; b++)
          g_byte_array_append (bytes, (const guint8[]){ word >> 8 * (types[i].big ? types[i].size - 1 - b : b) }, 1);
      }
      fail_unless (load (bytes, &weights, &error), "%s", error ? error->message : "");
      fail_unless (weights.filters == 1 && weights.channels == 1 && weights.height == 2 && weights.width == 3);
      for (guint k = 0; k < 6; k++)
        fail_unless (weights.weights[k] == (gfloat) values[k], "%s: %g", types[i].type, weights.weights[k]);
      convolve_weights_clear (&weights);
      g_byte_array_unref (bytes);
    }
}
GST_END_TEST;

/* From version 2 on, a header may be longer than 64 KiB. */
GST_START_TEST (test_long_header)
{
  g_autofree gchar *header = g_strdup_printf ("%s%70000s", GOOD_HEADER, "");

  for (guint version = 2; version <= 3; version++) {
    GByteArray *bytes = numpy_begin (version, header);

    for (guint i = 0; i < 12; i++) {
      gfloat value = i;
      guint32 word;

      memcpy (&word, &value, 4);
      numpy_put32 (bytes, word);
    }
    {
      ConvolveWeights weights;
      GError *error = NULL;

      fail_unless (load (bytes, &weights, &error), "%s", error ? error->message : "");
      fail_unless (weights.weights[0] == 0 && weights.weights[11] == 11);
      convolve_weights_clear (&weights);
      g_byte_array_unref (bytes);
    }
  }
}
GST_END_TEST;

GST_START_TEST (test_archives)
{
  g_autofree gchar *longest = g_strnfill (65535, 'x');

  expect (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", counted_floats (GOOD_HEADER, 12)) } }, 1,
              longest),
      FALSE);
  expect (counted_floats (GOOD_HEADER, 12), FALSE);
  expect (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", counted_floats (GOOD_HEADER, 12)) } }, 1, ""),
      FALSE);
  expect (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("bias.npy", counted_floats (GOOD_BIAS, 2)) },
                             { NUMPY_MEMBER ("weight.npy", counted_floats (GOOD_HEADER, 12)) } },
              2, "a comment"),
      TRUE);
  /* Other members of an archive are not read. */
  expect (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", counted_floats (GOOD_HEADER, 12)) },
                             { NUMPY_MEMBER ("mean.npy", counted_floats (NUMPY_HEADER ("<i4", "True", "()"), 9)),
                                 .method = 12 } },
              2, ""),
      FALSE);
  if (convolve_inflate_possible ())
    expect (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", counted_floats (GOOD_HEADER, 12)),
                                                .deflate = TRUE },
                               { NUMPY_MEMBER ("bias.npy", counted_floats (GOOD_BIAS, 2)), .deflate = TRUE } },
                2, ""),
        TRUE);
  else
    refuse (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", counted_floats (GOOD_HEADER, 12)),
                               .deflate = TRUE } },
                1, ""),
        "weight.npy: the member is deflated, and this build has no zlib");
}
GST_END_TEST;

static GByteArray *
with_header (const gchar *header)
{
  return counted_floats (header, 12);
}

static GByteArray *
cut (GByteArray *bytes, guint length)
{
  return g_byte_array_set_size (bytes, length);
}

static GByteArray *
with_word (guint32 word)
{
  GByteArray *bytes = counted_floats (GOOD_HEADER, 11);

  numpy_put32 (bytes, word);
  return bytes;
}

static GByteArray *
with_byte (guint at, guint8 value)
{
  GByteArray *bytes = counted_floats (GOOD_HEADER, 12);

  bytes->data[at] = value;
  return bytes;
}

/* Every fault that an array can have. */
GST_START_TEST (test_bad_arrays)
{
  static const struct
  {
    const gchar *header, *text;
  } rows[] = {
    { NUMPY_HEADER ("<f4", "True", "(2, 3, 1, 2)"), "the order is Fortran's" },
    { NUMPY_HEADER ("|O", "False", "(2, 3, 1, 2)"), "the array holds Python objects" },
    { NUMPY_HEADER ("<i4", "False", "(2, 3, 1, 2)"), "the array holds values of type \"<i4\", not float16" },
    { NUMPY_HEADER ("|u1", "False", "(2, 3, 1, 2)"), "the array holds values of type \"|u1\"" },
    { NUMPY_HEADER ("|f4", "False", "(2, 3, 1, 2)"), "the array holds values of type \"|f4\"" },
    { NUMPY_HEADER ("<f16", "False", "(2, 3, 1, 2)"), "the array holds values of type \"<f16\"" },
    { NUMPY_HEADER ("<c8", "False", "(2, 3, 1, 2)"), "the array holds values of type \"<c8\"" },
    { NUMPY_HEADER ("<M8[ns]extended", "False", "(1,)"), "the array holds values of type \"<M8[ns]extended\"" },
    { NUMPY_HEADER ("", "False", "(1,)"), "the array holds values of type \"\"" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (12,), }", "the array holds records" },
    { NUMPY_HEADER ("<f4", "False", "(12,)"), "the shape (12,) is not (filters, channels, height, width)" },
    { NUMPY_HEADER ("<f4", "False", "(1, 3, 4)"), "the shape (1, 3, 4) is not" },
    { NUMPY_HEADER ("<f4", "False", "(1, 1, 3, 2, 2)"), "the shape (1, 1, 3, 2, 2) is not" },
    { NUMPY_HEADER ("<f4", "False", "(3, 2, 1, 2)"), "the shape (3, 2, 1, 2) has neither 1 channel nor 3" },
    { NUMPY_HEADER ("<f4", "False", "(1, 4, 1, 3)"), "the shape (1, 4, 1, 3) has neither 1 channel nor 3" },
    { NUMPY_HEADER ("<f4", "False", "(0, 3, 1, 2)"), "the shape (0, 3, 1, 2) holds nothing" },
    { NUMPY_HEADER ("<f4", "False", "(2, 3, 1, 3)"),
        "the shape (2, 3, 1, 3) of 4-byte values needs 72 bytes, and the array is cut off after 48" },
    { NUMPY_HEADER ("<f4", "False", "(1, 3, 1, 2)"),
        "the shape (1, 3, 1, 2) of 4-byte values needs 24 bytes, and there are 48" },
    { NUMPY_HEADER ("<f4", "False", "(4294967296, 4294967296, 1, 1)"),
        "the shape (4294967296, 4294967296, 1, 1) is beyond 64 bits" },
    { NUMPY_HEADER ("<f4", "False", "(4611686018427387904, 1, 1, 1)"),
        "the shape (4611686018427387904, 1, 1, 1) is beyond 64 bits" },
    { NUMPY_HEADER ("<f4", "False", "(1000000000, 3, 100, 100)"),
        "the shape (1000000000, 3, 100, 100) of 4-byte values needs " },
    { NUMPY_HEADER ("<f4", "False", "(18446744073709551616, 1, 1, 1)"), "the shape has a number beyond 64 bits" },
    { NUMPY_HEADER ("<f4", "False", "(-2, 3, 1, 2)"), "the header cannot be read at \"-2, 3" },
    { NUMPY_HEADER ("<f4", "False", "(2 3, 1, 2)"), "the header cannot be read at \"3, 1" },
    { NUMPY_HEADER ("<f4", "False", "(2,, 1, 2)"), "the header cannot be read at \", 1" },
    { NUMPY_HEADER ("<f4", "False", "12"), "the header cannot be read at \"12" },
    { NUMPY_HEADER ("<f4", "False", "(2, 3, 1, 2"), "the header cannot be read at " },
    { NUMPY_HEADER ("<f4", "false", "(2, 3, 1, 2)"), "the header cannot be read at \"false" },
    { NUMPY_HEADER ("<f4", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
        "the header cannot be read at \"1)" },
    { "{'descr': '<f4', 'shape': (2, 3, 1, 2), }", "the header has no 'fortran_order'" },
    { "{'descr': '<f4', 'fortran_order': False}", "the header has no 'shape'" },
    { "{'fortran_order': False, 'shape': (2, 3, 1, 2)}", "the header has no 'descr'" },
    { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1, 2)}",
        "the header cannot be read at \"descr" },
    { "{'order': '<f4', 'fortran_order': False, 'shape': (2, 3, 1, 2)}", "the header cannot be read at \"order" },
    { "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3, 1, 2)}",
        "the header cannot be read at \"'fortran_order" },
    { "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3, 1, 2)}",
        "the header cannot be read at \"fortran_order" },
    { NUMPY_HEADER ("<f4", "False", "(2, 3, 1, 2)") "and more", "the header cannot be read at \"and more" },
    { "", "the header cannot be read at \"\"" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    refuse (with_header (rows[i].header), rows[i].text);

  refuse (with_byte (0, 'x'), "the file is neither a .npy nor a .npz file");
  refuse (with_byte (6, 4), "the format has version 4.0, and 1.0 to 3.0 are known");
  refuse (with_byte (6, 0), "the format has version 0.0");
  refuse (with_byte (7, 1), "the format has version 1.1");
  refuse (with_byte (9, 0xff), "the array is cut off in the header");
  refuse (cut (with_header (GOOD_HEADER), 5), "the file is neither");
  refuse (cut (with_header (GOOD_HEADER), 7), "the array is cut off in the version");
  refuse (cut (with_header (GOOD_HEADER), 9), "the array is cut off in the header");
  refuse (cut (with_header (GOOD_HEADER), 40), "the array is cut off in the header");
  refuse (cut (with_header (GOOD_HEADER), 127), "the array is cut off in the header");
  refuse (cut (with_header (GOOD_HEADER), 128 + 47),
      "the shape (2, 3, 1, 2) of 4-byte values needs 48 bytes, and the array is cut off after 47");
  refuse (cut (with_header (GOOD_HEADER), 0), "the file is empty");
  refuse (with_word (0x7fc00000), "value 11 is not a number that float32 holds");
  refuse (with_word (0x7f800000), "value 11 is not a number that float32 holds");
  refuse (with_word (0xff800000), "value 11 is not a number that float32 holds");
  {
    GByteArray *bytes = numpy_begin (1, NUMPY_HEADER ("<f8", "False", "(1, 1, 1, 1)"));
    gdouble large = 1e39;
    guint64 word;

    memcpy (&word, &large, 8);
    numpy_put32 (bytes, word);
    numpy_put32 (bytes, word >> 32);
    refuse (bytes, "value 0 is not a number that float32 holds");
  }
  refuse (counted_floats (NUMPY_HEADER ("<f4", "False", "(4097, 1, 1, 1)"), 4097),
      "the shape (4097, 1, 1, 1) has more than 4096 filters");
  refuse (counted_floats (NUMPY_HEADER ("<f4", "False", "(1, 1, 1, 256)"), 256),
      "the shape (1, 1, 1, 256) has filters of more than 255x255");
}
GST_END_TEST;

/* Every fault that an archive can have. */
GST_START_TEST (test_bad_archives)
{
  GByteArray *good = counted_floats (GOOD_HEADER, 12), *bytes;
  guint size;

#define WEIGHT .name = "weight.npy", .content = g_byte_array_ref (good)
#define BIAS(header, count) \
  numpy_archive ((NumpyMember[]){ { WEIGHT }, { NUMPY_MEMBER ("bias.npy", counted_floats (header, count)) } }, 2, "")
  refuse (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weights.npy", counted_floats (GOOD_HEADER, 12)) } }, 1, ""),
      "the archive holds no weight.npy");
  refuse (numpy_archive (NULL, 0, ""), "the archive holds no weight.npy");
  refuse (numpy_archive ((NumpyMember[]){ { WEIGHT }, { WEIGHT } }, 2, ""), "weight.npy: two members have this name");
  refuse (numpy_archive ((NumpyMember[]){ { WEIGHT, .flags = 1 } }, 1, ""), "weight.npy: the member is encrypted");
  refuse (numpy_archive ((NumpyMember[]){ { WEIGHT, .method = 14 } }, 1, ""),
      "weight.npy: the compression method 14 is neither");
  refuse (numpy_archive ((NumpyMember[]){ { WEIGHT, .size_change = 1 } }, 1, ""),
      "weight.npy: the member is stored as 176 bytes and said to have 177");
  refuse (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy",
                             with_header (NUMPY_HEADER ("<f4", "True", "(2, 3, 1, 2)"))) } },
              1, ""),
      "weight.npy: the order is Fortran's");
  refuse (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy",
                             counted_floats (NUMPY_HEADER ("<f4", "False", "(12,)"), 12)) } },
              1, ""),
      "weight.npy: the shape (12,) is not");
  refuse (numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", g_byte_array_new ()) } }, 1, ""),
      "weight.npy: the bytes do not begin as");
  refuse (BIAS (NUMPY_HEADER ("<f4", "False", "(3,)"), 3),
      "bias.npy: the shape (3,) is not (2,), a number for each filter");
  refuse (BIAS (NUMPY_HEADER ("<f4", "False", "(2, 1)"), 2), "bias.npy: the shape (2, 1) is not (2,)");
  refuse (BIAS (NUMPY_HEADER ("<f4", "False", "()"), 1), "bias.npy: the shape () is not (2,)");
  refuse (BIAS (NUMPY_HEADER ("<f4", "False", "(2,)"), 3), "bias.npy: the shape (2,) of 4-byte values needs 8 bytes");
  if (convolve_inflate_possible ()) {
    for (gint change = -1; change <= 1; change += 2)
      refuse (numpy_archive ((NumpyMember[]){ { WEIGHT, .deflate = TRUE, .size_change = change } }, 1, ""),
          "weight.npy: the deflated bytes are damaged");
    refuse (numpy_archive ((NumpyMember[]){ { WEIGHT, .deflate = TRUE, .size_change = 1 << 20 } }, 1, ""),
        "weight.npy: the member is said to inflate from 181 bytes to 1048752");
    refuse (numpy_archive ((NumpyMember[]){ { WEIGHT, .deflate = TRUE, .size_change = 1 << 30 } }, 1, ""),
        "weight.npy: the member has 1073742000 bytes, more than");
  }

  bytes = numpy_archive ((NumpyMember[]){ { WEIGHT } }, 1, "");
  bytes->data[30 + 10 + 20 + 150] ^= 4;
  refuse (bytes, "weight.npy: the bytes are damaged: the CRC-32 does not match");
  size = 30 + 10 + 20 + good->len; /* where the directory begins */
  for (guint length = 4; length < size + 46 + 10 + 22; length += 3) {
    bytes = numpy_archive ((NumpyMember[]){ { WEIGHT } }, 1, "");
    refuse (cut (bytes, length), "weight.npy: the archive is cut off: the end is missing");
  }
#define DAMAGED(at, value, text) \
  bytes = numpy_archive ((NumpyMember[]){ { WEIGHT } }, 1, ""); \
  bytes->data[at] = value; \
  refuse (bytes, "weight.npy: " text)
  DAMAGED (size, 0, "the archive's directory is damaged at entry 1");
  DAMAGED (size + 28, 200, "the archive's directory is damaged at entry 1");
  DAMAGED (size + 42, 1, "the member does not lie inside the archive");
  DAMAGED (size + 44, 1, "the member does not lie inside the archive");
  DAMAGED (size + 20, 255, "the member does not lie inside the archive");
  DAMAGED (26, 255, "the member does not lie inside the archive");
  DAMAGED (size + 56 + 4, 1, "the archive is a part of several");
  DAMAGED (size + 56 + 8, 2, "the archive is a part of several");
  DAMAGED (size + 56 + 18, 1, "the directory does not lie inside the archive");
  DAMAGED (size + 56 + 13, 1, "the directory does not lie inside the archive");
  bytes = numpy_archive ((NumpyMember[]){ { WEIGHT } }, 1, "");
  memset (bytes->data + size + 20, 255, 8);
  refuse (bytes, "weight.npy: the member is larger than 4 GiB");
  bytes = numpy_archive ((NumpyMember[]){ { WEIGHT } }, 1, "");
  memset (bytes->data + size + 56 + 8, 255, 4);
  refuse (bytes, "weight.npy: the archive is a ZIP64 one");
  g_byte_array_unref (good);
}
GST_END_TEST;

/* The end of the archive is the end of the memory: what is read beyond it ends the test. */
GST_START_TEST (test_member_at_the_end)
{
  const gsize page = sysconf (_SC_PAGESIZE);
  GByteArray *content = counted_floats (GOOD_HEADER, 12);
  GByteArray *archive = numpy_archive ((NumpyMember[]){ { .name = "weight.npy", .content = content } }, 1, "");
  gsize room = (archive->len + page - 1) / page * page;
  guint8 *memory = mmap (NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  guint8 *bytes = memory + room - archive->len;
  const gsize offset_at = archive->len - 22 - 56 + 42;

  fail_unless (memory != MAP_FAILED && mprotect (memory + room, page, PROT_NONE) == 0);
  memcpy (bytes, archive->data, archive->len);
  for (gsize before = 0; before <= 30; before++) {
    g_autofree gchar *fault = NULL;
    guint32 offset = GUINT32_TO_LE (archive->len - before);
    ConvolveZipMember member;

    memcpy (bytes + offset_at, &offset, sizeof (offset));
    fault = convolve_zip_find (bytes, archive->len, "weight.npy", G_MAXINT, &member);
    fail_unless_equals_string (fault, "the member does not lie inside the archive");
    convolve_zip_member_clear (&member);
  }
  munmap (memory, room + page);
  g_byte_array_unref (archive);
}
GST_END_TEST;

/* As numpy.savez_compressed() writes it: weights of (1, 1, 3, 3), all 1 but the middle, which is -8. */
GST_START_TEST (test_compressed)
{
  static const gchar file[] =
      "\x50\x4b\x03\x04\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\xa9\x6e\xa5\xcd\xff\xff\xff\xff\xff\xff\xff\xff"
      "\x0a\x00\x14\x00\x77\x65\x69\x67\x68\x74\x2e\x6e\x70\x79\x01\x00\x10\x00\xa4\x00\x00\x00\x00\x00\x00\x00"
      "\x53\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4"
      "\x6e\xa5\xa0\x6e\x93\x66\xa2\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b"
      "\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x86\x3a\x0a\x40\x64\x0c\x44\x9a\x3a\x0a\xb5\x0a\x64"
      "\x00\x2e\x06\x86\x06\x7b\x54\xcc\x70\x10\x5d\x0c\x00\x50\x4b\x03\x04\x2d\x00\x00\x00\x08\x00\x00\x00\x21"
      "\x00\x1a\xae\xd4\x48\xff\xff\xff\xff\xff\xff\xff\xff\x08\x00\x14\x00\x62\x69\x61\x73\x2e\x6e\x70\x79\x01"
      "\x00\x10\x00\x84\x00\x00\x00\x00\x00\x00\x00\x48\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9"
      "\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x6e\x93\x66\xa2\xae\xa3\xa0\x9e\x96\x5f\x54\x52"
      "\x94\x98\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x86\x3a"
      "\x9a\x3a\x0a\xb5\x0a\x14\x00\x2e\x06\x06\x06\x7b\x00\x50\x4b\x01\x02\x2d\x03\x2d\x00\x00\x00\x08\x00\x00"
      "\x00\x21\x00\xa9\x6e\xa5\xcd\x53\x00\x00\x00\xa4\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x80\x01\x00\x00\x00\x00\x77\x65\x69\x67\x68\x74\x2e\x6e\x70\x79\x50\x4b\x01\x02\x2d\x03\x2d\x00\x00"
      "\x00\x08\x00\x00\x00\x21\x00\x1a\xae\xd4\x48\x48\x00\x00\x00\x84\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x80\x01\x8f\x00\x00\x00\x62\x69\x61\x73\x2e\x6e\x70\x79\x50\x4b\x05\x06\x00\x00\x00"
      "\x00\x02\x00\x02\x00\x6e\x00\x00\x00\x11\x01\x00\x00\x00\x00";
  GByteArray *bytes = g_byte_array_append (g_byte_array_new (), (const guint8 *) file, sizeof file - 1);
  ConvolveWeights weights;
  GError *error = NULL;

  if (!convolve_inflate_possible ()) {
    refuse (bytes, "weight.npy: the member is deflated, and this build has no zlib");
    return;
  }
  fail_unless (load (bytes, &weights, &error), "%s", error ? error->message : "");
  fail_unless (weights.filters == 1 && weights.channels == 1 && weights.height == 3 && weights.width == 3);
  for (guint i = 0; i < 9; i++)
    fail_unless (weights.weights[i] == (i == 4 ? -8 : 1));
  fail_unless (weights.bias && weights.bias[0] == 0.5);
  convolve_weights_clear (&weights);
  g_byte_array_unref (bytes);
}
GST_END_TEST;

GST_START_TEST (test_places)
{
  g_autofree gchar *fifo = g_build_filename (folder, "fifo", NULL), *gone = g_build_filename (folder, "gone", NULL);
  ConvolveWeights weights;
  GError *error = NULL;

  fail_unless (mkfifo (fifo, 0600) == 0);
  fail_if (convolve_weights_load (fifo, &weights, &error));
  fail_unless (g_str_has_suffix (error->message, "fifo: not a regular file"), "%s", error->message);
  g_clear_error (&error);
  g_unlink (fifo);
  fail_if (convolve_weights_load (folder, &weights, &error));
  fail_unless (g_str_has_suffix (error->message, ": not a regular file, but a folder"), "%s", error->message);
  g_clear_error (&error);
  fail_if (convolve_weights_load (gone, &weights, &error));
  fail_unless (strstr (error->message, "gone: ") && strlen (strstr (error->message, "gone: ")) > 8, "%s",
      error->message);
  g_clear_error (&error);
}
GST_END_TEST;

/* A sparse file above the largest size is refused before anything is read. */
GST_START_TEST (test_large_file)
{
  g_autofree gchar *name = g_build_filename (folder, "large", NULL);
  FILE *file = fopen (name, "wb");
  ConvolveWeights weights;
  GError *error = NULL;

  fail_unless (file != NULL);
  fail_unless_equals_int (fseek (file, CONVOLVE_MAX_LAYER_FILE, SEEK_SET), 0);
  fail_unless_equals_int (fputc (0, file), 0);
  fail_unless_equals_int (fclose (file), 0);
  fail_if (convolve_weights_load (name, &weights, &error));
  fail_unless (g_str_has_suffix (error->message, "large: the file has 268435457 bytes, more than 268435456"), "%s",
      error->message);
  g_clear_error (&error);
  g_unlink (name);
}
GST_END_TEST;

static void
mutate (GByteArray *bytes, GRand *random)
{
  static const guint8 words[] = { 0, 1, 0x7f, 0x80, 0xff, '\'', '(', ')', ',', '9', 'L', '>', 'O' };

  for (gint i = g_rand_int_range (random, 0, 4); i >= 0 && bytes->len > 1; i--) {
    guint at = g_rand_int_range (random, 0, bytes->len);

    switch (g_rand_int_range (random, 0, 5)) {
      case 0:
        bytes->data[at] ^= 1 << g_rand_int_range (random, 0, 8);
        break;
      case 1:
        bytes->data[at] = words[g_rand_int_range (random, 0, sizeof words)];
        break;
      case 2:
        g_byte_array_remove_range (bytes, at, g_rand_int_range (random, 1, MIN (bytes->len - at, 8) + 1));
        break;
      case 3:
        memset (bytes->data + at, words[g_rand_int_range (random, 0, sizeof words)], MIN (bytes->len - at, 4));
        break;
      default:
        g_byte_array_append (bytes, words, g_rand_int_range (random, 1, sizeof words + 1));
        break;
    }
  }
}

/* A damaged array, alone or in a sound archive, or a damaged archive. */
static GByteArray *
damaged_file (GRand *random)
{
  gint kind = g_rand_int_range (random, 0, 4);
  gboolean deflate = convolve_inflate_possible () && g_rand_boolean (random);
  GByteArray *weight = counted_floats (GOOD_HEADER, 12), *bias = counted_floats (GOOD_BIAS, 2), *archive;

  if (kind < 2)
    mutate (g_rand_int_range (random, 0, 4) ? weight : bias, random);
  if (kind == 0) {
    g_byte_array_unref (bias);
    return weight;
  }
  archive = numpy_archive ((NumpyMember[]){ { NUMPY_MEMBER ("weight.npy", weight), .deflate = deflate },
                               { NUMPY_MEMBER ("bias.npy", bias) } },
      2, "");
  if (kind > 1)
    mutate (archive, random);
  return archive;
}

/* Weights that are read from a damaged file are complete and finite. The sanitizers find everything else. */
GST_START_TEST (test_fuzz)
{
  GRand *random = g_rand_new_with_seed (check_seed ());
  guint taken = 0, refused = 0;

  for (guint round = 0; round < 6000; round++) {
    GByteArray *bytes = damaged_file (random);
    ConvolveWeights weights;
    GError *error = NULL;

    if (load (bytes, &weights, &error)) {
      gsize count = (gsize) weights.filters * weights.channels * weights.height * weights.width;

      taken++;
      fail_unless (count > 0 && count * 2 <= bytes->len && (weights.channels == 1 || weights.channels == 3));
      for (gsize i = 0; i < count; i++)
        fail_unless (isfinite (weights.weights[i]), "round %u", round);
      for (guint i = 0; weights.bias && i < weights.filters; i++)
        fail_unless (isfinite (weights.bias[i]), "round %u", round);
      convolve_weights_clear (&weights);
    } else {
      refused++;
      if (!error || !g_utf8_validate (error->message, -1, NULL) || strpbrk (error->message, "\n\r\x01")
          || strlen (error->message) > 600)
        fail ("round %u: message '%s'", round, error ? error->message : "none");
      g_clear_error (&error);
    }
    g_byte_array_unref (bytes);
  }
  g_rand_free (random);
  fail_unless (taken > 300 && refused > 3000, "%u taken, %u refused", taken, refused);
}
GST_END_TEST;

static void
make_folder (void)
{
  folder = check_folder ();
}

static void
remove_folder (void)
{
  g_autofree gchar *name = g_build_filename (folder, "layer.npz", NULL);

  g_unlink (name);
  check_remove_folder (folder);
}

static Suite *
weights_suite (void)
{
  Suite *suite = suite_create ("weights");
  TCase *tc = tcase_create ("weights");

  tcase_set_timeout (tc, 300);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_types);
  tcase_add_test (tc, test_long_header);
  tcase_add_test (tc, test_archives);
  tcase_add_test (tc, test_bad_arrays);
  tcase_add_test (tc, test_bad_archives);
  tcase_add_test (tc, test_member_at_the_end);
  tcase_add_test (tc, test_compressed);
  tcase_add_test (tc, test_places);
  tcase_add_test (tc, test_large_file);
  tcase_add_test (tc, test_fuzz);
  return suite;
}

GST_CHECK_MAIN (weights);
