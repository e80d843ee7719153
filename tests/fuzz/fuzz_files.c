/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzes the readers of files: .npy, .npz, texts of weights, and pictures. The first byte of an input chooses the reader, the
 * rest is the file. A reader gets the bytes in a block of their own size, or in a file that lies in memory.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/file.h"
#include "fuzz.h"
#include "files/image_file.h"
#include "files/inflate.h"
#include "files/mask_file.h"
#include "files/npy.h"
#include "files/weights.h"
#include "files/zip.h"

static int file = -1;
static gchar *location;

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  file = memfd_create ("fuzz_files", MFD_CLOEXEC);
  if (file < 0)
    fuzz_fail ("there is no file in memory");
  location = g_strdup_printf ("/proc/self/fd/%d", file);
  return 0;
}

static void
write_file (const uint8_t *bytes, size_t size)
{
  static size_t before;

  if (pwrite (file, bytes, size, 0) != (ssize_t) size || (size < before && ftruncate (file, (off_t) size) != 0))
    fuzz_fail ("the file in memory cannot be written");
  before = size;
}

/* --- what every reader promises --- */

/*
 * No input is so large that memory may be short: a message about memory means that a size was believed. What the
 * file has is in quotes. Takes fault.
 */
static void
check_fault (gchar *fault)
{
  const gchar *quote = strchr (fault, '"'), *memory = g_strstr_len (fault, quote ? quote - fault : -1, "no memory");

  if (!g_utf8_validate (fault, -1, NULL) || fault[0] == '\0')
    fuzz_fail ("a fault that cannot be shown: %s", fault);
  if (memory)
    fuzz_fail ("memory for more than the file has: %s", fault);
  g_free (fault);
}

static void
check_error (GError *error)
{
  if (!g_error_matches (error, CONVOLVE_PROPS_ERROR, error ? error->code : 0))
    fuzz_fail ("refused without an error");
  check_fault (g_strdup (error->message));
  g_error_free (error);
}

static void
check_shape (const ConvolveNpy *array, size_t size)
{
  guint64 count = 1;
  g_autofree gchar *shape = convolve_npy_shape (array);

  if (array->n_dimensions > CONVOLVE_NPY_MAX_DIMENSIONS)
    fuzz_fail ("%u dimensions", array->n_dimensions);
  for (guint i = 0; i < array->n_dimensions; i++)
    count *= array->shape[i];
  if (count != array->count || array->count > size)
    fuzz_fail ("%" G_GSIZE_FORMAT " values of the shape %s in %zu bytes", array->count, shape, size);
}

/* --- the readers --- */

/* What both functions read is one value. */
static void
compare_values (const ConvolveNpy *values, const ConvolveNpy *numbers)
{
  if (values->count != numbers->count)
    fuzz_fail ("%" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " values", values->count, numbers->count);
  for (gsize i = 0; i < values->count; i++)
    if (!isfinite (values->values[i]) || values->values[i] != (gfloat) numbers->numbers[i])
      fuzz_fail ("value %" G_GSIZE_FORMAT " is %g and %g", i, values->values[i], numbers->numbers[i]);
}

static void
read_arrays (const uint8_t *bytes, size_t size)
{
  ConvolveNpy values = { 0 }, numbers = { 0 };
  gchar *fault = convolve_npy_read (bytes, size, &values), *other;

  if (!fault)
    check_shape (&values, size);
  other = convolve_npy_read_numbers (bytes, size, &numbers);
  if (!other)
    check_shape (&numbers, size);
  for (gsize i = 0; !other && i < numbers.count; i++)
    if (!isfinite (numbers.numbers[i]))
      fuzz_fail ("number %" G_GSIZE_FORMAT " is %g", i, numbers.numbers[i]);
  if (!fault && other)
    fuzz_fail ("float32 can be read, and double not: %s", other);
  if (!fault)
    compare_values (&values, &numbers);
  convolve_npy_clear (&values);
  convolve_npy_clear (&numbers);
  if (fault)
    check_fault (fault);
  if (other)
    check_fault (other);
}

static void
read_archive (const uint8_t *bytes, size_t size)
{
  static const gchar *const names[] = { "weight.npy", "bias.npy", "" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    ConvolveZipMember member;
    gchar *fault = convolve_zip_find (bytes, size, names[i], 1 << 20, &member);

    if (fault) {
      check_fault (fault);
    } else if (member.bytes) {
      if (member.size > 1 << 20
          || (!member.inflated && (member.bytes < bytes || member.bytes + member.size > bytes + size)))
        fuzz_fail ("a member of %" G_GSIZE_FORMAT " bytes in %zu", member.size, size);
    }
    convolve_zip_member_clear (&member);
  }
}

static void
read_layer (const uint8_t *bytes, size_t size)
{
  ConvolveWeights weights = { 0 };
  GError *error = NULL;

  write_file (bytes, size);
  if (!convolve_weights_load (location, &weights, &error)) {
    check_error (error);
    return;
  }
  if (error)
    fuzz_fail ("an error for what was accepted: %s", error->message);
  if (weights.filters < 1 || weights.filters > CONVOLVE_MAX_LAYER_FILTERS
      || (weights.channels != 1 && weights.channels != 3) || weights.width < 1 || weights.width > CONVOLVE_MAX_SIDE
      || weights.height < 1 || weights.height > CONVOLVE_MAX_SIDE)
    fuzz_fail ("%u filters, %u channels, %ux%u", weights.filters, weights.channels, weights.width, weights.height);
  for (gsize i = 0; i < (gsize) weights.filters * weights.channels * weights.height * weights.width; i++)
    if (!isfinite (weights.weights[i]))
      fuzz_fail ("weight %" G_GSIZE_FORMAT " is %g", i, weights.weights[i]);
  for (guint i = 0; weights.bias && i < weights.filters; i++)
    if (!isfinite (weights.bias[i]))
      fuzz_fail ("bias %u is %g", i, weights.bias[i]);
  convolve_weights_clear (&weights);
}

static void
read_mask (const uint8_t *bytes, size_t size)
{
  ConvolveKeptFile *mask;
  ConvolveGrid *grid;
  GError *error = NULL;

  write_file (bytes, size);
  mask = convolve_kept_file_new (&convolve_mask_file, location);
  grid = convolve_kept_file_read (mask, &error);
  if (!grid) {
    check_error (error);
  } else {
    if (grid->values->len != grid->rows * grid->columns || grid->rows < 1 || grid->columns < 1)
      fuzz_fail ("%u rows of %u, %u values", grid->rows, grid->columns, grid->values->len);
    for (guint i = 0; i < grid->values->len; i++)
      if (!isfinite (g_array_index (grid->values, gdouble, i)))
        fuzz_fail ("weight %u is %g", i, g_array_index (grid->values, gdouble, i));
    convolve_grid_unref (grid);
  }
  convolve_kept_file_unref (mask);
}

/* The bytes as a picture of each kind. */
static void
read_images (const uint8_t *bytes, size_t size)
{
  const ConvolveFileKind *kinds[] = { &convolve_matte_file, &convolve_picture_file };

  write_file (bytes, size);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    ConvolveKeptFile *kept = convolve_kept_file_new (kinds[i], location);
    GError *error = NULL;
    ConvolveImage *image = convolve_kept_file_read (kept, &error);

    if (!image) {
      check_error (error);
    } else {
      if (image->width < 1 || image->height < 1 || image->width > CONVOLVE_MAX_MATTE_SIDE
          || image->height > CONVOLVE_MAX_MATTE_SIDE)
        fuzz_fail ("a picture of %dx%d", image->width, image->height);
      convolve_image_unref (image);
    }
    convolve_kept_file_unref (kept);
  }
}

/* --- an archive around an array --- */

/* The CRC-32 of ZIP, bit by bit: the sources of the project use zlib. */
static guint32
crc32_of (const uint8_t *bytes, size_t size)
{
  guint32 crc = 0xffffffff;

  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (guint k = 0; k < 8; k++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static void
put (GByteArray *archive, guint64 number, guint count)
{
  for (guint i = 0; i < count; i++) {
    const guint8 byte = number >> 8 * i;

    g_byte_array_append (archive, &byte, 1);
  }
}

/* The members' fields that the header and the directory both have. */
static void
put_fields (GByteArray *archive, guint method, const uint8_t *bytes, guint packed, guint size)
{
  put (archive, 20, 2); /* version */
  put (archive, 0, 2);  /* flags */
  put (archive, method, 2);
  put (archive, 0, 4); /* time */
  put (archive, crc32_of (bytes, size), 4);
  put (archive, packed, 4);
  put (archive, size, 4);
  put (archive, strlen ("weight.npy"), 2);
}

/*
 * An archive with the right sizes and checksums, so that its member is always read: the bytes themselves, or
 * deflated into one block without compression.
 */
static GByteArray *
make_archive (const uint8_t *bytes, guint size, gboolean deflated)
{
  GByteArray *archive = g_byte_array_new ();
  const guint packed = deflated ? size + 5 : size, method = deflated ? 8 : 0;
  guint directory;

  put (archive, 0x04034b50, 4);
  put_fields (archive, method, bytes, packed, size);
  put (archive, 0, 2);
  g_byte_array_append (archive, (const guint8 *) "weight.npy", strlen ("weight.npy"));
  if (deflated) {
    put (archive, 1, 1); /* the last block, stored */
    put (archive, size, 2);
    put (archive, ~size, 2);
  }
  g_byte_array_append (archive, bytes, size);
  directory = archive->len;
  put (archive, 0x02014b50, 4);
  put (archive, 20, 2);
  put_fields (archive, method, bytes, packed, size);
  put (archive, 0, 8);
  put (archive, 0, 8);
  g_byte_array_append (archive, (const guint8 *) "weight.npy", strlen ("weight.npy"));
  put (archive, 0x06054b50, 4);
  put (archive, 0, 4);
  put (archive, 1 | 1 << 16, 4);
  put (archive, archive->len - 12 - directory, 4);
  put (archive, directory, 4);
  put (archive, 0, 2);
  return archive;
}

/* Weights are the same in an archive and alone. A build without zlib refuses all that is deflated. */
static void
compare_layers (const uint8_t *bytes, size_t size, gboolean deflated)
{
  GByteArray *archive;
  ConvolveWeights alone = { 0 }, packed = { 0 };
  gboolean can_alone, can_packed;
  GError *error = NULL;

  if (size == 0 || size > 65535 || !convolve_npy_is_one (bytes, size))
    return;
  write_file (bytes, size);
  can_alone = convolve_weights_load (location, &alone, NULL) && (!deflated || convolve_inflate_possible ());
  archive = make_archive (bytes, size, deflated);
  write_file (archive->data, archive->len);
  can_packed = convolve_weights_load (location, &packed, &error);
  if (can_alone != can_packed)
    fuzz_fail ("read %s alone, and not the other way: %s", can_alone ? "" : "not", error ? error->message : "");
  if (error)
    check_error (error);
  if (can_alone
      && (alone.filters != packed.filters || alone.width != packed.width
          || memcmp (alone.weights, packed.weights,
                 sizeof (gfloat) * alone.filters * alone.channels * alone.height * alone.width)
              != 0))
    fuzz_fail ("other weights in an archive");
  convolve_weights_clear (&alone);
  convolve_weights_clear (&packed);
  g_byte_array_unref (archive);
}

static void
read_stored (const uint8_t *bytes, size_t size)
{
  compare_layers (bytes, size, FALSE);
}

static void
read_deflated (const uint8_t *bytes, size_t size)
{
  compare_layers (bytes, size, TRUE);
}

static void (*const readers[]) (const uint8_t *bytes, size_t size) = { read_arrays, read_archive, read_layer, read_mask,
  read_stored, read_deflated, read_images };

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  uint8_t *bytes;

  if (size == 0)
    return 0;
  /* A block that begins and ends with the file. */
  bytes = g_memdup2 (data + 1, size - 1);
  readers[data[0] % G_N_ELEMENTS (readers)](bytes, size - 1);
  g_free (bytes);
  return 0;
}
