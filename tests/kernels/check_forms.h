/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inner forms on the CPU, with each instruction set. */
#ifndef TESTS_KERNELS_CHECK_FORMS_H
#define TESTS_KERNELS_CHECK_FORMS_H

#include <stdint.h>
#include <stdio.h>

/*
 * Random pictures of 8 to 16 bits through both passes of the form of light: every byte is what the words of
 * kernels/README.md say, by rows and by the formulas that a device has for a sample. No byte beside the samples is
 * written. Returns the number of failures.
 */
int check_forms_light (uint64_t seed, int cases, FILE *file);

/* All words, divided by many values of alpha: the quotients are those of integers. Returns the number of failures. */
int check_forms_quotients (uint64_t seed, FILE *file);

#endif
