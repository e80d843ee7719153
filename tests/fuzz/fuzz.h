/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each fuzz target defines. libFuzzer calls these functions, or replay.c where there is no libFuzzer. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Called once before the first input. Returns 0. */
int LLVMFuzzerInitialize (int *argc, char ***argv);

/* Runs one input, and aborts where the project broke a promise. Returns 0. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Prints the text as printf() does and aborts: the project broke a promise. */
#if defined(__GNUC__)
__attribute__ ((noreturn, format (printf, 1, 2)))
#endif
void
fuzz_fail (const char *format, ...);

#endif
