/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fill_gpu MIB: takes the memory of device 0 until at most MIB MiB of it are free, says so in one line, and holds the
 * memory until its standard input is closed. Exits with 77 where there is no GPU.
 */
#include <stdio.h>
#include <stdlib.h>

#include "element/cuda/neighbour.h"

int
main (int argc, char **argv)
{
  size_t left = (size_t) (argc > 1 ? atoi (argv[1]) : 16) << 20, before;

  if (!neighbour_open ()) {
    printf ("there is no GPU\n");
    return 77;
  }
  before = neighbour_free ();
  neighbour_fill (left);
  printf ("%zu MiB were free, and %zu MiB are left\n", before >> 20, neighbour_free () >> 20);
  fflush (stdout);
  while (getchar () != EOF)
    ;
  return 0;
}
