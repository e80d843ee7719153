/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the regions of a frame are covered, as far as the picture shows. A fill has one colour, pixelation has one
 * colour in each block, and a blur has no step that its sigma does not let through. A mask as it is cannot be judged.
 */
#ifndef EXAMPLES_HIDDEN_H
#define EXAMPLES_HIDDEN_H

#include "lines.h"

/* Regions by what the picture shows of them. */
typedef struct
{
  guint64 covered, bare, unjudged;
} Counts;

/*
 * Judges each region of a frame's line, and counts. faults gets a sentence for each bare region. tolerance is 0 for the
 * very samples that the element made. Otherwise the film was encoded after the element with losses, and samples may
 * differ by so many code values of 8 bits in the mean: by the root of the mean square.
 */
void hidden_judge (const Samples *samples, const Json *line, const Rules *rules, double tolerance, Counts *counts,
    GPtrArray *faults);

#endif
