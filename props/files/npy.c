/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file begins with a magic number, a version, the length of the header and the header. The header is a Python
 * dictionary of three entries, as in {'descr': '<f4', 'fortran_order': False, 'shape': (64, 3, 7, 7), }. The values
 * follow without a gap.
 */
#include "files/npy.h"

#include <math.h>
#include <string.h>

#include "text/token.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

gboolean
convolve_npy_is_one (const guint8 *bytes, gsize size)
{
  return size >= MAGIC_LENGTH && memcmp (bytes, MAGIC, MAGIC_LENGTH) == 0;
}

void
convolve_npy_clear (ConvolveNpy *array)
{
  g_clear_pointer (&array->values, g_free);
  g_clear_pointer (&array->numbers, g_free);
}

gchar *
convolve_npy_shape (const ConvolveNpy *array)
{
  GString *text = g_string_new ("(");

  for (guint i = 0; i < array->n_dimensions; i++)
    g_string_append_printf (text, i ? ", %" G_GUINT64_FORMAT : "%" G_GUINT64_FORMAT, array->shape[i]);
  g_string_append (text, array->n_dimensions == 1 ? ",)" : ")");
  return g_string_free (text, FALSE);
}

/* --- the header --- */

typedef struct
{
  const gchar *p, *end;
} Header;

typedef struct
{
  gchar type[8];       /* as in "<f4" */
  const gchar *wanted; /* the types that are taken, for messages */
  gboolean has_type, has_order, has_shape, fortran_order;
} Entries;

static gchar *
refuse_type (const gchar *type, gsize length, const gchar *wanted)
{
  g_autofree gchar *name = convolve_token_quote (type, length);

  return g_strdup_printf ("the array holds values of type %s, not %s", name, wanted);
}

static gchar *
misread (const Header *header)
{
  g_autofree gchar *rest = convolve_token_quote (header->p, header->end - header->p);

  return g_strdup_printf ("the header cannot be read at %s", rest);
}

static void
skip_space (Header *header)
{
  while (header->p < header->end && g_ascii_isspace (*header->p))
    header->p++;
}

/* Moves behind the wanted character, if that is next. */
static gboolean
take (Header *header, gchar wanted)
{
  skip_space (header);
  if (header->p == header->end || *header->p != wanted)
    return FALSE;
  header->p++;
  return TRUE;
}

/* Reads a string in quotes. The strings of such a header have no escapes. */
static gboolean
take_string (Header *header, const gchar **start, gsize *length)
{
  const gchar *stop;

  skip_space (header);
  if (header->p == header->end || (*header->p != '\'' && *header->p != '"'))
    return FALSE;
  stop = memchr (header->p + 1, *header->p, header->end - header->p - 1);
  if (!stop)
    return FALSE;
  *start = header->p + 1;
  *length = stop - *start;
  header->p = stop + 1;
  return TRUE;
}

static gboolean
take_word (Header *header, const gchar *word)
{
  gsize length = strlen (word);

  skip_space (header);
  if ((gsize) (header->end - header->p) < length || memcmp (header->p, word, length) != 0)
    return FALSE;
  header->p += length;
  return TRUE;
}

static gchar *
read_type (Header *header, Entries *entries)
{
  const gchar *start;
  gsize length;

  skip_space (header);
  if (header->p < header->end && *header->p == '[')
    return g_strdup ("the array holds records, not an array of numbers");
  if (!take_string (header, &start, &length))
    return misread (header);
  if (length >= 2 && start[length - 1] == 'O')
    return g_strdup ("the array holds Python objects, not numbers");
  if (length >= sizeof entries->type)
    return refuse_type (start, length, entries->wanted);
  memcpy (entries->type, start, length);
  entries->has_type = TRUE;
  return NULL;
}

static gchar *
read_order (Header *header, Entries *entries)
{
  entries->has_order = TRUE;
  if (take_word (header, "True"))
    entries->fortran_order = TRUE;
  else if (!take_word (header, "False"))
    return misread (header);
  return NULL;
}

static gchar *
read_shape (Header *header, Entries *entries, ConvolveNpy *array)
{
  gboolean more = TRUE;

  if (!take (header, '('))
    return misread (header);
  while (!take (header, ')')) {
    guint64 side = 0;
    const gchar *first;

    skip_space (header);
    first = header->p;
    if (!more || array->n_dimensions == CONVOLVE_NPY_MAX_DIMENSIONS)
      return misread (header);
    for (; header->p < header->end && g_ascii_isdigit (*header->p); header->p++)
      if (!g_uint64_checked_mul (&side, side, 10) || !g_uint64_checked_add (&side, side, *header->p - '0'))
        return g_strdup ("the shape has a number beyond 64 bits");
    if (header->p == first)
      return misread (header);
    array->shape[array->n_dimensions++] = side;
    take (header, 'L'); /* Python 2 writes an L after long numbers */
    more = take (header, ',');
  }
  entries->has_shape = TRUE;
  return NULL;
}

static gchar *
read_entry (Header *header, Entries *entries, ConvolveNpy *array)
{
  const gchar *key;
  gsize length;

  if (!take_string (header, &key, &length) || !take (header, ':'))
    return misread (header);
  if (length == 5 && memcmp (key, "descr", 5) == 0 && !entries->has_type)
    return read_type (header, entries);
  if (length == 13 && memcmp (key, "fortran_order", 13) == 0 && !entries->has_order)
    return read_order (header, entries);
  if (length == 5 && memcmp (key, "shape", 5) == 0 && !entries->has_shape)
    return read_shape (header, entries, array);
  header->p = key;
  return misread (header);
}

static gchar *
read_header (Header header, Entries *entries, ConvolveNpy *array)
{
  gboolean more = TRUE;

  if (!take (&header, '{'))
    return misread (&header);
  while (!take (&header, '}')) {
    gchar *fault = more ? read_entry (&header, entries, array) : misread (&header);

    if (fault)
      return fault;
    more = take (&header, ',');
  }
  skip_space (&header);
  if (header.p < header.end)
    return misread (&header);
  if (!entries->has_type || !entries->has_order || !entries->has_shape)
    return g_strdup_printf ("the header has no '%s'",
        !entries->has_type        ? "descr"
            : !entries->has_order ? "fortran_order"
                                  : "shape");
  return NULL;
}

/* --- the values --- */

static gfloat
half_to_float (guint16 half)
{
  gint exponent = half >> 10 & 31, fraction = half & 1023;
  gfloat value = exponent == 0 ? ldexpf (fraction, -24)
      : exponent == 31         ? (fraction ? NAN : INFINITY)
                               : ldexpf (1024 + fraction, exponent - 25);

  return half & 0x8000 ? -value : value;
}

/* The bytes of a value as a number of 64 bits. */
static guint64
read_bits (const guint8 *p, guint size, gboolean big)
{
  guint64 bits = 0;

  for (guint i = 0; i < size; i++)
    bits |= (guint64) p[i] << 8 * (big ? size - 1 - i : i);
  return bits;
}

static gdouble
bits_to_float (guint64 bits, guint size)
{
  guint32 word = bits;
  gfloat single;
  gdouble number;

  switch (size) {
    case 2:
      return half_to_float (bits);
    case 4:
      memcpy (&single, &word, 4);
      return single;
    default:
      memcpy (&number, &bits, 8);
      return number;
  }
}

/* Reads the value at p. FALSE where it is not finite as float32. */
static gboolean
read_value (const guint8 *p, guint size, gboolean big, gfloat *value)
{
  gdouble number = bits_to_float (read_bits (p, size, big), size);

  *value = fabs (number) <= G_MAXFLOAT ? number : INFINITY;
  return isfinite (*value);
}

/* Reads the value at p. FALSE where it is not finite, or an integer that double does not hold. */
static gboolean
read_number (const guint8 *p, gchar kind, guint size, gboolean big, gdouble *number)
{
  guint64 bits = read_bits (p, size, big), magnitude = bits;
  gboolean negative = kind == 'i' && bits >> (8 * size - 1);

  if (kind == 'f') {
    *number = bits_to_float (bits, size) + 0.0; /* makes 0 of -0 */
    return isfinite (*number);
  }
  if (negative)
    magnitude = size < 8 ? (G_GUINT64_CONSTANT (1) << 8 * size) - bits : -bits;
  *number = negative ? -(gdouble) magnitude : (gdouble) magnitude;
  return *number > -18446744073709551616.0 && *number < 18446744073709551616.0 && (guint64) fabs (*number) == magnitude;
}

/* The size of a value in bytes, or 0 where the type's kind is not one of kinds, or its size is not known. */
static guint
parse_type (const gchar *type, const gchar *kinds, gboolean *big)
{
  const gchar order = type[0];
  guint size;

  *big = order == '>' || (order == '=' && G_BYTE_ORDER == G_BIG_ENDIAN);
  if (strlen (type) != 3 || !strchr ("<>=|", order) || !strchr (kinds, type[1]))
    return 0;
  size = type[2] - '0';
  if (size == 1)
    return type[1] != 'f' ? 1 : 0;
  return order != '|' && (size == 2 || size == 4 || size == 8) ? size : 0;
}

/* Finds the size of a value, and the number of values, of which there must be as many as the shape says. */
static gchar *
count_values (gsize size, const Entries *entries, const gchar *kinds, ConvolveNpy *array, guint *value_size,
    gboolean *big)
{
  guint64 needed = *value_size = parse_type (entries->type, kinds, big);
  g_autofree gchar *shape = convolve_npy_shape (array);

  if (*value_size == 0)
    return refuse_type (entries->type, strlen (entries->type), entries->wanted);
  if (entries->fortran_order && !strchr (kinds, 'i'))
    return g_strdup ("the order is Fortran's, where the first index runs fastest; numpy.ascontiguousarray() makes the "
                     "last run fastest");
  for (guint i = 0; i < array->n_dimensions; i++) {
    if (array->shape[i] == 0)
      return g_strdup_printf ("the shape %s holds nothing", shape);
    if (!g_uint64_checked_mul (&needed, needed, array->shape[i]))
      return g_strdup_printf ("the shape %s is beyond 64 bits", shape);
  }
  if (needed != size)
    return g_strdup_printf ("the shape %s of %u-byte values needs %" G_GUINT64_FORMAT " bytes, and %s %" G_GSIZE_FORMAT,
        shape, *value_size, needed, size < needed ? "the array is cut off after" : "there are", size);
  array->count = needed / *value_size;
  return NULL;
}

static gchar *
read_values (const guint8 *bytes, gsize size, const Entries *entries, ConvolveNpy *array)
{
  guint value_size;
  gboolean big;
  gchar *fault = count_values (size, entries, "f", array, &value_size, &big);

  if (fault)
    return fault;
  array->values = g_try_new (gfloat, array->count);
  if (!array->values) {
    g_autofree gchar *shape = convolve_npy_shape (array);

    return g_strdup_printf ("there is no memory for the shape %s", shape);
  }
  for (gsize i = 0; i < array->count; i++)
    if (!read_value (bytes + i * value_size, value_size, big, &array->values[i])) {
      convolve_npy_clear (array);
      return g_strdup_printf ("value %" G_GSIZE_FORMAT " is not a number that float32 holds", i);
    }
  return NULL;
}

/* The index of value i in NumPy's notation, to be freed. */
static gchar *
index_of (const ConvolveNpy *array, gsize i)
{
  GString *text = g_string_new ("]");

  for (guint k = 0; k < array->n_dimensions; k++) {
    guint d = array->fortran_order ? k : array->n_dimensions - 1 - k;
    g_autofree gchar *number = g_strdup_printf ("%" G_GUINT64_FORMAT, i % array->shape[d]);

    g_string_insert (text, array->fortran_order ? (gssize) text->len - 1 : 0, number);
    if (k + 1 < array->n_dimensions)
      g_string_insert (text, array->fortran_order ? (gssize) text->len - 1 : 0, ", ");
    i /= array->shape[d];
  }
  g_string_prepend_c (text, '[');
  return g_string_free (text, FALSE);
}

static gchar *
read_numbers (const guint8 *bytes, gsize size, const Entries *entries, ConvolveNpy *array)
{
  guint value_size;
  gboolean big;
  gchar *fault = count_values (size, entries, "fiu", array, &value_size, &big);

  if (fault)
    return fault;
  array->fortran_order = entries->fortran_order;
  array->numbers = g_try_new (gdouble, array->count);
  if (!array->numbers) {
    g_autofree gchar *shape = convolve_npy_shape (array);

    return g_strdup_printf ("there is no memory for the shape %s", shape);
  }
  for (gsize i = 0; i < array->count; i++)
    if (!read_number (bytes + i * value_size, entries->type[1], value_size, big, &array->numbers[i])) {
      g_autofree gchar *index = index_of (array, i);

      convolve_npy_clear (array);
      return g_strdup_printf ("the value at index %s is not a finite number that float64 holds", index);
    }
  return NULL;
}

/* Finds the header, reads its entries, and sets *start to the first byte of the values. */
static gchar *
read_front (const guint8 *bytes, gsize size, Entries *entries, ConvolveNpy *array, gsize *start)
{
  gsize length;
  const gchar *header;

  *array = (ConvolveNpy){ 0 };
  if (!convolve_npy_is_one (bytes, size))
    return g_strdup ("the bytes do not begin as a NumPy array does");
  if (size < MAGIC_LENGTH + 2)
    return g_strdup ("the array is cut off in the version");
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
    return g_strdup_printf ("the format has version %u.%u, and 1.0 to 3.0 are known", bytes[6], bytes[7]);
  *start = bytes[6] == 1 ? 10 : 12;
  if (size < *start)
    return g_strdup ("the array is cut off in the header");
  length = bytes[8] | bytes[9] << 8;
  if (bytes[6] > 1)
    length |= (gsize) bytes[10] << 16 | (gsize) bytes[11] << 24;
  if (length > size - *start)
    return g_strdup ("the array is cut off in the header");
  header = (const gchar *) bytes + *start;
  *start += length;
  return read_header ((Header){ header, header + length }, entries, array);
}

gchar *
convolve_npy_read (const guint8 *bytes, gsize size, ConvolveNpy *array)
{
  Entries entries = { .wanted = "float16, float32 or float64" };
  gsize start = 0;
  gchar *fault = read_front (bytes, size, &entries, array, &start);

  return fault ? fault : read_values (bytes + start, size - start, &entries, array);
}

gchar *
convolve_npy_read_numbers (const guint8 *bytes, gsize size, ConvolveNpy *array)
{
  Entries entries = { .wanted = "a float or an integer of up to 64 bits" };
  gsize start = 0;
  gchar *fault = read_front (bytes, size, &entries, array, &start);

  return fault ? fault : read_numbers (bytes + start, size - start, &entries, array);
}
