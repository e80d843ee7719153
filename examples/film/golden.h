/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares checksums of what the element makes of a computed clip with those of golden.csv, which the program carries in
 * itself. Every machine has to make the same bytes.
 */
#ifndef EXAMPLES_GOLDEN_H
#define EXAMPLES_GOLDEN_H

#include <gst/gst.h>

typedef struct
{
  guint made, wrong;
  guint refused; /* what the variant cannot do */
  guint same;    /* refusals with the reason of the first one */
  char *first;   /* the first row that is wrong, or NULL; to be freed */
  char *why;     /* the first reason of a refusal, or NULL; to be freed */
} Golden;

/*
 * Compares rows with kernel-variant set to this value: all of them, or one of so many. Each row has one of the boundaries, in turn. Ends
 * when the time, in microseconds, is over; 0 is no limit.
 */
Golden golden_compare (const char *variant, guint step, gint64 limit);

#endif
