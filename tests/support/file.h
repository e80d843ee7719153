/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that tests write. */
#ifndef TESTS_SUPPORT_FILE_H
#define TESTS_SUPPORT_FILE_H

#include <glib.h>
#include <stdio.h>

static inline gboolean
check_write_file (const gchar *name, const GByteArray *bytes)
{
  FILE *file = fopen (name, "wb");
  gboolean written;

  if (!file)
    return FALSE;
  written = fwrite (bytes->data, 1, bytes->len, file) == bytes->len;
  return fclose (file) == 0 && written;
}

#endif
