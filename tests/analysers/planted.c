/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faults that tests/long/analysers.sh puts at the end of a source in each folder, in a copy of the project. An
 * analyser that does not find them there would not find others.
 */
#include <stdlib.h>
#include <string.h>

int planted_leak (const char *text);
int planted_null (const char *text);

int
planted_leak (const char *text)
{
  char *copy = malloc (strlen (text) + 1);

  if (!copy)
    return -1;
  memcpy (copy, text, strlen (text) + 1);
  if (copy[0] == 'x')
    return 0;
  free (copy);
  return 1;
}

int
planted_null (const char *text)
{
  const int *number = NULL;
  int two = 2;

  if (text[0] == 'x')
    number = &two;
  return *number;
}
