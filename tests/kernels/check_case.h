/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One case of the kernel checks: a pixel layout, a boundary, a mask, and a plane with its bytes. A case is a pure
 * function of a seed and a number, whichever variant runs the case.
 *
 * The source block ends with the last sample, so that a read beyond that sample leaves the allocation. The
 * destination block has guard bytes on both sides, and all its bytes are random before the run. A tight case leaves the
 * guards out on a device, so that a memory checker sees each byte beyond the plane.
 */
#ifndef TESTS_KERNELS_CHECK_CASE_H
#define TESTS_KERNELS_CHECK_CASE_H

#include <stdio.h>

#include "kernels/check_mask.h"
#include "support/oracle.h"

enum
{
  CHECK_GUARD = 96 /* bytes on each side of a destination */
};

typedef struct
{
  unsigned char *bytes;
  size_t size;
  size_t origin; /* where pixel (0, 0) lies */
  ptrdiff_t stride;
} CheckBlock;

typedef struct
{
  uint64_t seed, number; /* 0, 0 for a fixed case */
  const char *name;      /* of a fixed case, otherwise NULL */

  ConvolvePixel pixel;
  ConvolveBoundary boundary;
  CheckMask mask;
  int width, height;
  ConvolveRect region;

  const char *content; /* a description for messages */
  bool flat;           /* each sample has one value all over the image */
  bool large;          /* too large for the oracle: compared with the variants on the host alone */
  bool tight;          /* device memory has the bytes of the plane alone */
  CheckBlock source, destination;
} CheckCase;

/* With even, pointers and strides of 16-bit samples are even, as devices need them. False where memory is short. */
bool check_case_random (CheckCase *test, uint64_t seed, uint64_t number, bool even);

/* A case of the caller's own pixel, boundary, mask and size over the whole plane; the image is random. */
bool check_case_fixed (CheckCase *test, const char *name, const ConvolvePixel *pixel, ConvolveBoundary boundary,
    int width, int height, const double *taps, int mask_width, int mask_height, double divisor);

void check_case_clear (CheckCase *test);

/* The case's plane in copies of its two blocks. */
ConvolvePlane check_case_plane (const CheckCase *test, const unsigned char *source, unsigned char *destination);

size_t check_sample_size (const ConvolvePixel *pixel);
int check_largest (const ConvolvePixel *pixel);

/* Sample k of pixel (x, y) in a block of this case. */
unsigned char *check_case_sample (const CheckCase *test, const CheckBlock *block, int x, int y, int k);
void check_case_set (const CheckCase *test, const CheckBlock *block, int x, int y, int k, int word);

/* The case as the oracle takes it, with a budget of 0. */
void check_case_oracle (const CheckCase *test, Oracle *oracle);

void check_case_describe (const CheckCase *test, FILE *file);

#endif
