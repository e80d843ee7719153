/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the texts of properties. */
#include <string.h>

#include "fuzz.h"
#include "props.h"

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  ConvolveSettings settings;
  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strndup ((const gchar *) data, size);
  convolve_settings_clear (&settings);
  return 0;
}
