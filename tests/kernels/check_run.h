/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs one case through one variant and holds the result against the oracle. */
#ifndef TESTS_KERNELS_CHECK_RUN_H
#define TESTS_KERNELS_CHECK_RUN_H

#include "kernels/check_case.h"
#include "convolve_device.h"

typedef enum
{
  CHECK_PASSED,
  CHECK_REFUSED, /* the variant does not take this mask, and says why */
  CHECK_FAILED
} CheckVerdict;

typedef struct
{
  CheckVerdict verdict;
  bool device_lost; /* no further case can run on the device */
  bool exact;       /* convolve_plan_is_exact() */
  bool followed;    /* the bytes were compared with those of README's arithmetic */
  double error;     /* the largest error beyond the rounding of half a code value, of a plan that is not exact */
  char reason[640]; /* why the variant refused */
} CheckResult;

/*
 * device may be NULL. What went wrong is printed to file, with a map of the differences; with verbose also the case
 * and the plan of a run that passes.
 */
CheckResult check_run (CheckCase *test, const char *variant, ConvolveDevice *device, bool verbose, FILE *file);

/* One row of the table at the end: a variant on the host or on a device. */
typedef struct
{
  const char *variant;    /* the name of a variant, or auto */
  ConvolveDevice *device; /* NULL for host memory */
  long cases, followed, refused, failed;
  double error_8, error_deep; /* CheckResult.error over all cases of 8-bit and of deeper samples */
  bool device_lost;
} CheckRow;

/* check_run() with the row's variant and device, counted. */
CheckVerdict check_row_run (CheckRow *row, CheckCase *test, bool verbose, FILE *file);

#endif
