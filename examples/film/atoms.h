/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The atoms, or boxes, that an MP4 or QuickTime file consists of. */
#ifndef EXAMPLES_ATOMS_H
#define EXAMPLES_ATOMS_H

#include <stdio.h>

#include <glib.h>

typedef struct
{
  guint64 begin, size; /* in the file, with the header */
  guint header;        /* bytes */
} Atom;

/* The size of a file; 0 where it cannot be told. */
guint64 atom_file_size (FILE *file);

/* The atom that begins here, and its name. FALSE where there is none. */
gboolean atom_at (FILE *file, guint64 begin, guint64 end, guint8 name[4], Atom *atom);

/* Looks for an atom among those between begin and end, and among those inside another one. */
gboolean atom_find (FILE *file, guint64 begin, guint64 end, const char *wanted, Atom *atom);
gboolean atom_find_in (FILE *file, const Atom *parent, const char *wanted, Atom *atom);

/* Bytes of a file, with a zero behind them, or NULL; to be freed. The second one reads what is in an atom. */
guint8 *atom_read (FILE *file, guint64 begin, gsize size);
guint8 *atom_content (FILE *file, const Atom *atom, gsize *size);

#endif
