/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files as numpy.save() and numpy.savez() write them, byte by byte, good and damaged. */
#ifndef TESTS_SUPPORT_NUMPY_H
#define TESTS_SUPPORT_NUMPY_H

#include <glib.h>

/* Little-endian numbers, and a text without its final 0. */
void numpy_put16 (GByteArray *bytes, guint value);
void numpy_put32 (GByteArray *bytes, guint32 value);
void numpy_put_text (GByteArray *bytes, const gchar *text);

/* An array's file of this major version with this header, padded to 64 bytes; the values are to be added. */
GByteArray *numpy_begin (guint major, const gchar *header);

/* A file of version 1 with float32 values. */
GByteArray *numpy_floats (const gchar *header, const gfloat *values, gsize count);

/* A header, as in NUMPY_HEADER ("<f4", "False", "(2, 3, 1, 2)"). */
#define NUMPY_HEADER(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

/* One file of an archive. */
typedef struct
{
  const gchar *name;
  GByteArray *content; /* numpy_archive() takes it */
  guint flags, method;
  gboolean deflate; /* the content in one stored block of deflate */
  gboolean plain;   /* the sizes stand in front of the member too, as other archivers write them */
  gint size_change; /* added to the unpacked size that the directory states */
} NumpyMember;

#define NUMPY_MEMBER(n, c) .name = n, .content = c

/* An archive of at most four members. */
GByteArray *numpy_archive (const NumpyMember *members, guint count, const gchar *comment);

#endif
