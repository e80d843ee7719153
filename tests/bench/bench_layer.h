/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_BENCH_BENCH_LAYER_H
#define TESTS_BENCH_BENCH_LAYER_H

/*
 * bench --layer [--csv FILE] [--case N] [--variant NAME]: what the variants of layers cost. Returns the exit status,
 * which is 77 where there is no device.
 */
int bench_layer (int argc, char **argv);

#endif
