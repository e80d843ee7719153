/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The boundaries as the oracles define them, by walking from the edge. Includes nothing of the project. */
#ifndef TESTS_SUPPORT_ORACLE_BOUNDARY_H
#define TESTS_SUPPORT_ORACLE_BOUNDARY_H

typedef enum
{
  ORACLE_ZERO,        /* 00|abc, with the sample's zero level for 0 */
  ORACLE_REPLICATE,   /* aa|abc */
  ORACLE_REFLECT,     /* ba|abc */
  ORACLE_REFLECT_101, /* cb|abc */
  ORACLE_WRAP,        /* bc|abc */
  ORACLE_CONSTANT     /* kk|abc, a level of its own */
} OracleBoundary;

/* The position in 0 .. size - 1 whose sample stands for the one at a position anywhere, or -1 for a level. */
int oracle_inside (OracleBoundary boundary, int position, int size);

#endif
