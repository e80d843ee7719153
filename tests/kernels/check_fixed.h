/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that are the same in every run. Each returns the number of failures and prints them. */
#ifndef TESTS_KERNELS_CHECK_FIXED_H
#define TESTS_KERNELS_CHECK_FIXED_H

#include <stdlib.h>
#include <string.h>

#include "kernels/check_run.h"

/* --- what these checks share --- */

static const ConvolvePixel gray_8 = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };

/* Whether the variant takes only masks of equal weights. */
static inline bool
is_box (const CheckRow *row)
{
  return strcmp (row->variant, "box") == 0;
}

/* The weight at a place of a row of size weights, which grow by 1 up to the middle. */
static inline double
triangle (int at, int size)
{
  return size / 2 + 1 - abs (at - size / 2);
}

/* --- the checks --- */

/* The variant table and what the functions answer to wrong arguments. */
int check_fixed_api (FILE *file);

/* Worked images and masks through the row's variant. */
int check_fixed_variant (CheckRow *row, FILE *file);

/* The row's variant on two ConvolveDevices of one GPU, with different masks in turn and no waiting in between. */
int check_fixed_two_devices (CheckRow *row, FILE *file);

/* Frames of three planes by the row's variant, each made of the one before: independent planes have the bytes of others. */
int check_fixed_independent (CheckRow *row, FILE *file);

/*
 * Frames of random planes of one and of two samples to a pixel by the row's variant, `cases` of them: independent planes have
 * the bytes of others.
 */
int check_fixed_two_planes (CheckRow *row, uint64_t seed, long cases, FILE *file);

#endif
