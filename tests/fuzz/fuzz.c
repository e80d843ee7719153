/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all fuzz targets share. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

uint64_t
fuzz_take (FuzzBytes *bytes, int count)
{
  uint64_t number = 0;

  for (int i = 0; i < count && bytes->left > 0; i++, bytes->left--)
    number |= (uint64_t) *bytes->at++ << 8 * i;
  return number;
}

int
fuzz_range (FuzzBytes *bytes, int low, int high)
{
  uint64_t count = (uint64_t) ((int64_t) high - low) + 1;

  return (int) (low + (int64_t) (fuzz_take (bytes, count <= 256 ? 1 : count <= 65536 ? 2 : 4) % count));
}

bool
fuzz_one_in (FuzzBytes *bytes, int n)
{
  return (int) fuzz_take (bytes, 1) % n == n - 1;
}

double
fuzz_double (FuzzBytes *bytes)
{
  uint64_t bits = fuzz_take (bytes, 8);
  double number;

  memcpy (&number, &bits, sizeof number);
  return number;
}

int64_t
fuzz_odd_number (FuzzBytes *bytes, int64_t usual)
{
  static const int64_t limits[] = { 0, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, UINT32_MAX, INT64_C (1) << 28,
    INT64_C (1) << 62 };
  const int kind = fuzz_range (bytes, 0, 10);
  uint64_t by = (uint64_t) (int64_t) fuzz_range (bytes, -3, 3);

  if (kind < 8)
    return (int64_t) ((uint64_t) limits[kind] + by);
  if (kind == 8)
    return (int64_t) ((uint64_t) usual + by);
  return kind == 9 ? (int64_t) ((uint64_t) -usual + by) : (int64_t) fuzz_take (bytes, 8);
}
