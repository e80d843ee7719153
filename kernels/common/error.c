/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>

#include "common/plan.h"

ConvolveStatus
convolve_fail (ConvolveError *error, ConvolveStatus status, int native, const char *format, ...)
{
  va_list arguments;

  if (error) {
    error->status = status;
    error->native = native;
    va_start (arguments, format);
    vsnprintf (error->text, sizeof (error->text), format, arguments);
    va_end (arguments);
  }
  return status;
}
