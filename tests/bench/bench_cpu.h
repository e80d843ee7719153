/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Other libraries' convolutions, for bench_cpu to measure beside the variant cpu: bench_cpu_opencv.cpp, or none. */
#ifndef TESTS_BENCH_BENCH_CPU_H
#define TESTS_BENCH_BENCH_CPU_H

#ifdef __cplusplus
extern "C"
{
#endif

typedef enum
{
  BENCH_ANY, /* unordered weights */
  BENCH_GAUSSIAN,
  BENCH_BOX,
  BENCH_N_KINDS
} BenchKind;

/* NULL where there is no peer for this kind of mask. */
const char *bench_peer_name (BenchKind kind);
void bench_peer_set_threads (int threads);

/* One 8-bit plane, replicate boundary; taps are side x side, to be divided by divisor. */
void bench_peer_run (BenchKind kind, const unsigned char *source, unsigned char *destination, int width, int height,
    int stride, int side, const double *taps, double divisor);

#ifdef __cplusplus
}
#endif

#endif
