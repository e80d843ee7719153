/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that users name, read as a whole. */
#ifndef CONVOLVE_FILE_H
#define CONVOLVE_FILE_H

#include <glib.h>

/*
 * Reads a regular file of 1 to `most` bytes into *bytes, to be freed, and a 0 behind the last byte. Never waits for a
 * pipe. Returns NULL, or a text that says what is wrong, to be freed; *bytes is NULL then.
 */
gchar *convolve_file_read (const gchar *location, gsize most, guint8 **bytes, gsize *size);

/* The file's name as a message shows it, to be freed: UTF-8 without control characters, a long one by its end alone. */
gchar *convolve_file_show (const gchar *location);

#endif
