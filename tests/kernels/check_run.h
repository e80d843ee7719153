/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs one case through one variant and holds the result against the oracle. */
#ifndef TESTS_KERNELS_CHECK_RUN_H
#define TESTS_KERNELS_CHECK_RUN_H

#include "kernels/check_case.h"
#include "convolve_device.h"

typedef enum
{
  CHECK_PASSED,
  CHECK_REFUSED, /* the variant cannot do this mask and said why */
  CHECK_FAILED
} CheckVerdict;

typedef struct
{
  CheckVerdict verdict;
  bool device_lost; /* nothing more is to be asked of it */
  bool exact;       /* the plan's word */
  double error;     /* of a plan that is not exact: code values beyond half a one, the largest */
  char reason[640]; /* of a refusal */
} CheckResult;

/*
 * device may be NULL. What went wrong is printed to file, with a map of the differences; with verbose also the case
 * and the plan of a run that passes.
 */
CheckResult check_run (CheckCase *test, const char *variant, ConvolveDevice *device, bool verbose, FILE *file);

/* One variant's part in the final table. */
typedef struct
{
  const char *variant;    /* a name of the table, or auto */
  ConvolveDevice *device; /* NULL for host memory */
  long cases, refused, failed;
  double error_8, error_deep; /* CheckResult.error over all cases of 8-bit and of deeper samples */
  bool device_lost;
} CheckRow;

/* check_run() with the row's variant and device, counted. */
CheckVerdict check_row_run (CheckRow *row, CheckCase *test, bool verbose, FILE *file);

#endif
