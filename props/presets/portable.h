/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of one double whose last bit is the same on every machine: of IEEE 754 operations alone, which round one by one.
 * The C library's own functions differ by versions and by processors, and a tap that differs in its last bit may become
 * another integer.
 */
#ifndef CONVOLVE_PORTABLE_H
#define CONVOLVE_PORTABLE_H

#include <glib.h>

/* e to the power of x, for x from -10^9 to 0. The relative error is below 2^-50. */
gdouble convolve_portable_exp (gdouble x);

/* For angles of 0 to pi / 2. The error is below 2^-50. */
gdouble convolve_portable_sin (gdouble angle);
gdouble convolve_portable_cos (gdouble angle);

/* The angle 0 to pi / 2 whose sine is x, for x from 0 to 1. The error is below 2^-49. */
gdouble convolve_portable_asin (gdouble x);

/* The length of a vector whose square neither overflows nor underflows. */
gdouble convolve_portable_hypot (gdouble x, gdouble y);

#endif
