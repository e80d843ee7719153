/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/oracle_boundary.h"

#include <stdlib.h>

/* The next position of a walk that would leave the image at the edge. Some boundaries turn the direction round. */
static int
pass_edge (OracleBoundary boundary, int at, int size, int *direction)
{
  switch (boundary) {
    case ORACLE_ZERO:
    case ORACLE_CONSTANT:
    case ORACLE_REPLICATE:
      return at;
    case ORACLE_REFLECT: /* the edge is met twice */
      *direction = -*direction;
      return at;
    case ORACLE_REFLECT_101: /* the edge is met once; an image of one sample has nothing else */
      *direction = -*direction;
      return size > 1 ? at + *direction : at;
    case ORACLE_WRAP:
      return *direction < 0 ? size - 1 : 0;
  }
  abort ();
}

int
oracle_inside (OracleBoundary boundary, int position, int size)
{
  int direction = position < 0 ? -1 : 1, at = position < 0 ? 0 : size - 1;
  int steps = position < 0 ? -position : position - (size - 1);

  if (position >= 0 && position < size)
    return position;
  if (boundary == ORACLE_ZERO || boundary == ORACLE_CONSTANT)
    return -1;
  if (boundary == ORACLE_REPLICATE)
    return at; /* without a walk, for paddings of tens of thousands of samples */
  for (; steps > 0; steps--) {
    if (at + direction >= 0 && at + direction < size)
      at += direction;
    else
      at = pass_edge (boundary, at, size, &direction);
  }
  return at;
}
