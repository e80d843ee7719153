/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all fuzz targets share. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
fuzz_fail (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  vfprintf (stderr, format, arguments);
  va_end (arguments);
  fputc ('\n', stderr);
  abort ();
}
