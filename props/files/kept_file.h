/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that a property names, and what was read of it. */
#ifndef CONVOLVE_KEPT_FILE_H
#define CONVOLVE_KEPT_FILE_H

#include "text/error.h"

G_BEGIN_DECLS

/* What a property's files are: one value for each property, such as convolve_mask_file. */
typedef struct
{
  const gchar *property; /* its name, which errors begin with */
  gsize most;            /* bytes of a file */
  ConvolvePropsError code;

  /*
   * Makes the content of the bytes, behind which is a 0: memory of g_atomic_rc_box. name is the property and the file, as
   * messages begin. NULL with error.
   */
  gpointer (*parse) (const gchar *name, const guint8 *bytes, gsize size, GError **error);
  void (*unref) (gpointer content);
} ConvolveFileKind;

/*
 * Reference counted, for any thread. All copies of the settings share the file, so that it is read once: a change of
 * another property does not read it again. Setting the property makes a new one, even with the same name.
 */
typedef struct _ConvolveKeptFile ConvolveKeptFile;

ConvolveKeptFile *convolve_kept_file_new (const ConvolveFileKind *kind, const gchar *location);
ConvolveKeptFile *convolve_kept_file_ref (ConvolveKeptFile *file);
void convolve_kept_file_unref (ConvolveKeptFile *file);

/* The name of the file as the user wrote it; NULL where file is NULL. */
const gchar *convolve_kept_file_location (const ConvolveKeptFile *file);

/* What messages begin with, to be freed: the property and the name of the file. */
gchar *convolve_kept_file_name (const ConvolveKeptFile *file);

/*
 * The content, to be unreferenced. The first call that succeeds reads the file. NULL with error, which names the property,
 * the file and what is wrong.
 */
gpointer convolve_kept_file_read (ConvolveKeptFile *file, GError **error);

/* Makes the next call of convolve_kept_file_read() read the file again. */
void convolve_kept_file_forget (ConvolveKeptFile *file);

G_END_DECLS

#endif
