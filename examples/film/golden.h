/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares checksums of what the element makes of a computed clip with those of golden.csv, which the program carries in
 * itself. Every machine has to make the same bytes where mask-info says reproducible, which it does for all rows with "auto". A
 * variant that was chosen by name may have results of its own for some masks. These have to be within the promised error of what
 * cpu-reference makes.
 */
#ifndef EXAMPLES_GOLDEN_H
#define EXAMPLES_GOLDEN_H

#include <gst/gst.h>

typedef struct
{
  guint same;          /* rows whose checksums are right */
  guint own;           /* rows in which the variant has other results, which nothing forbids */
  guint wrong;         /* rows whose results are wrong, or that failed */
  guint refused;       /* what the variant cannot do */
  gboolean absent;     /* the variant does not run here at all, for want of a GPU or a build with CUDA */
  GPtrArray *variants; /* names of those that ran, or NULL */
  char *first;         /* the first row that is wrong, or NULL */
  char *why;           /* the first reason of a refusal, or NULL */
} Golden;

/*
 * Compares rows with kernel-variant set to this value: all of them, or one of so many. Each row has one of the boundaries, in turn. Ends
 * when the time, in microseconds, is over; 0 is no limit.
 */
Golden golden_compare (const char *variant, guint step, gint64 limit);
void golden_clear (Golden *golden);

#endif
