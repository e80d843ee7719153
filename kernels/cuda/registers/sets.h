/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of several sets of taps on a device: what their kernels read, and the conditions of the fast kernels. */
#ifndef CONVOLVE_CUDA_SETS_H
#define CONVOLVE_CUDA_SETS_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* The largest side of a mask of several sets for direct and packed. */
#define CONVOLVE_SETS_SIDE 5

/* A part of a kernel's parameters: how the sums of all sets become a sample. */
typedef struct
{
  int count; /* of sets; the two of an absolute value are the set and its negative */
  bool magnitude;
  bool exact;
  bool is_pair; /* the values are those of convolve_root_pair () */
  ConvolveRoot root;
  float multiple[CONVOLVE_MAX_SETS];                    /* convolve_set_multiple () */
  float start[CONVOLVE_MAX_SETS][CONVOLVE_MAX_SAMPLES]; /* of a sum in a magnitude */
  ConvolveTail tail[CONVOLVE_MAX_SETS];                 /* of a largest value, that of each set */
} ConvolveSets;

/* Fills them from the plan of a combination. */
void convolve_sets_fill (const ConvolvePlan *plan, ConvolveSets *sets);

/*
 * By what the taps of set k are multiplied in a kernel that adds them up in single precision: the sums of all sets of a
 * magnitude have one scale. 1 for a largest value.
 */
double convolve_set_multiple (const ConvolvePlan *plan, int k);

/* Whether some set needs sums in double precision. */
bool convolve_sets_need_double (const ConvolvePlan *plan);

/* The number of sets that the kernels of tiled and global sum up together, at least the plan's: 2, 4 or 8. */
int convolve_sets_padded (const ConvolvePlan *plan);

/*
 * Whether the plan is an absolute value whose result is that of a plain mask with the magnitude of the sum: the sum is
 * 0 at the zero level. The plan's own taps and tail are this mask's.
 */
bool convolve_sets_are_magnitude_of_sum (const ConvolvePlan *plan, const char **reason);

/* The conditions of direct and of packed for several sets. An absolute value is the largest of two. */
bool convolve_direct_accepts_sets (const ConvolvePlan *plan, const char **reason);
bool convolve_packed_accepts_sets (const ConvolvePlan *plan, ConvolveFound *found, const char **reason);

ConvolveStatus convolve_global_load_sets (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
