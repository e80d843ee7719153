/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layers that are timed, here and with cuDNN. Images are square, both strides are equal, and zeros around the
 * image make n / stride outputs of n inputs.
 */
#ifndef TESTS_BENCH_BENCH_LAYER_CASES_H
#define TESTS_BENCH_BENCH_LAYER_CASES_H

typedef struct
{
  int channels, filters, kernel, stride, side, batch;
} BenchLayerCase;

static const BenchLayerCase bench_layer_cases[] = {
  { 1, 1, 5, 1, 4096, 1 },
  { 1, 1, 7, 1, 4096, 1 },
  { 3, 3, 7, 1, 4096, 1 },
  { 1, 16, 5, 1, 1024, 8 },
  { 1, 32, 7, 1, 256, 32 },
  { 3, 16, 5, 1, 1024, 8 },
  { 3, 64, 7, 1, 1024, 4 },
  { 3, 64, 7, 2, 1024, 8 },
  { 4, 32, 5, 1, 512, 32 },
  { 4, 64, 7, 1, 2048, 1 },
  { 8, 16, 5, 1, 2048, 1 },
  { 16, 16, 7, 1, 1024, 4 },
  { 16, 32, 5, 1, 512, 16 },
  { 32, 32, 7, 1, 512, 8 },
  { 32, 64, 5, 1, 256, 32 },
  { 64, 64, 5, 1, 256, 16 },
  { 64, 64, 7, 1, 256, 8 },
  { 64, 64, 3, 1, 256, 32 },
  { 64, 64, 1, 1, 512, 16 },
  { 64, 64, 5, 1, 1024, 1 },
};

enum
{
  N_BENCH_LAYER_CASES = sizeof bench_layer_cases / sizeof *bench_layer_cases,
  BENCH_LAYER_ROUNDS = 11,
  BENCH_LAYER_US = 3000,             /* the minimum of a round */
  BENCH_LAYER_PAIR_BYTES = 256 << 20 /* the size of all pairs of tensors that take turns, several times any L2 cache */
};

#endif
