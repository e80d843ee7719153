/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that are the same in every run. Each returns the number of failures and prints them. */
#ifndef TESTS_KERNELS_CHECK_FIXED_H
#define TESTS_KERNELS_CHECK_FIXED_H

#include "kernels/check_run.h"

/* The variant table and what the functions answer to wrong arguments. */
int check_fixed_api (FILE *file);

/* Worked images and masks through the row's variant. */
int check_fixed_variant (CheckRow *row, FILE *file);

/* The row's variant on two ConvolveDevices of one GPU, with different masks in turn and no waiting in between. */
int check_fixed_two_devices (CheckRow *row, FILE *file);

#endif
