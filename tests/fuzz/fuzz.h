/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each fuzz target defines. libFuzzer calls these functions, or replay.c where there is no libFuzzer. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called once before the first input. Returns 0. */
int LLVMFuzzerInitialize (int *argc, char ***argv);

/* Runs one input, and aborts where the project broke a promise. Returns 0. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* The bytes of an input, from which a target makes its arguments. Behind the last byte, all bytes are 0. */
typedef struct
{
  const uint8_t *at;
  size_t left;
} FuzzBytes;

uint64_t fuzz_take (FuzzBytes *bytes, int count);          /* 1 to 8 bytes as a number */
int fuzz_range (FuzzBytes *bytes, int low, int high);      /* both included */
bool fuzz_one_in (FuzzBytes *bytes, int n);                /* false at the end of the input */
double fuzz_double (FuzzBytes *bytes);                     /* any double, from 8 bytes */
int64_t fuzz_odd_number (FuzzBytes *bytes, int64_t usual); /* next to a limit of integers, to 0 or to usual, or any */

/* Prints the text as printf() does and aborts: the project broke a promise. */
_Noreturn void fuzz_fail (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

#endif
