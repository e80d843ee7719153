/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fourier transforms of 512 = 16 * 16 * 2 points by 32 threads. A thread holds 16 points in registers.
 *
 *   registers j = 0 .. 15         exchange                 registers i = 0 .. 15      neighbours
 *   thread t: points t + 32 j     through shared memory    thread t: sum k = t / 2    threads 2 k, 2 k + 1
 *
 *     16-point transform   ->   times exp(-2 pi i k t/512)  ->  16-point transform  ->  2-point transform
 *     over j: sums k = 0..15    thread t has the sums k of      over i                  by a warp shuffle
 *                               threads t % 2 + 2 i
 *
 * The frequencies are not sorted at the end: convolve_fft_frequency () says which is where. The product with a spectrum
 * works in any order, and the inverse transform begins with the order of the transform.
 *
 * For example, the same with 8 = 2 * 2 * 2 points, 4 threads and 2 registers, for the points 1 2 3 4 1 2 3 4:
 *
 *     thread                   0        1        2        3
 *     points t, t + 4          1, 1     2, 2     3, 3     4, 4
 *     sum k = 0, k = 1         2, 0     4, 0     6, 0     8, 0      times 1 and exp(-2 pi i t/8)
 *     after the exchange       2, 6     4, 8     0, 0     0, 0      k = t / 2 of the threads t % 2 and t % 2 + 2
 *     2-point transform        8, -4    12, -4   0, 0     0, 0
 *     threads 0 and 1          8 + 12 = 20, -4 + 4i, 8 - 12 = -4, -4 - 4i: the frequencies 0, 2, 4 and 6
 *     threads 2 and 3          0 at the frequencies 1, 3, 5 and 7
 *
 * (-4 + 4i = -4 + w * -4 and -4 - 4i = -4 - w * -4 with the factor w = exp(-2 pi i/4) = -i.)
 */
#ifndef CONVOLVE_CUDA_FFT_TRANSFORM_CUH
#define CONVOLVE_CUDA_FFT_TRANSFORM_CUH

#include "cuda/fourier/fft.h"

#define POINTS CONVOLVE_FFT_POINTS
#define THREADS CONVOLVE_FFT_THREADS
#define HELD CONVOLVE_FFT_HELD
static_assert (HELD == 16 && THREADS == 2 * HELD, "a transform is 16 points, 16 points and 2 points");

template <typename Real>
struct __align__ (2 * sizeof (Real)) Complex
{
  Real x, y;
};

/* The points of a thread. All indices are constants after unrolling, so that the arrays stay in registers. */
template <typename Real>
struct Points
{
  Real x[HELD], y[HELD];
};

/* Sets point i of a thread. */
template <typename Real>
static __device__ __forceinline__ void
set_point (Points<Real> &points, int i, Complex<Real> value)
{
  points.x[i] = value.x;
  points.y[i] = value.y;
}

/* cos (2 pi k / 32) for k = 0 .. 8. */
static __host__ __device__ constexpr double
quarter_cosine (int k)
{
  return k == 0 ? 1
      : k == 1  ? 0.98078528040323044913
      : k == 2  ? 0.92387953251128675613
      : k == 3  ? 0.83146961230254523708
      : k == 4  ? 0.70710678118654752440
      : k == 5  ? 0.55557023301960222474
      : k == 6  ? 0.38268343236508977173
      : k == 7  ? 0.19509032201612826785
                : 0;
}

/* cos (2 pi k / 32) for k = 0 .. 16. */
static __host__ __device__ constexpr double
cosine (int k)
{
  return k <= 8 ? quarter_cosine (k) : -quarter_cosine (16 - k);
}

/* sin (2 pi k / 32) for k = 0 .. 16. */
static __host__ __device__ constexpr double
sine (int k)
{
  return k <= 8 ? quarter_cosine (8 - k) : quarter_cosine (k - 8);
}

/* k with its bits reversed, for 0 <= k < n; n is a power of 2. For example, 1 = 001 becomes 100 = 4 below 8. */
static __host__ __device__ constexpr int
reversed (int k, int n)
{
  return n == 1 ? 0 : k % 2 * (n / 2) + reversed (k / 2, n / 2);
}

/*
 * A butterfly: the points a and b become a + w b and a - w b, for w = exp (-2 pi i k / 32) with k = 0 .. 15, or for
 * its inverse. Where w has two different parts, the difference is made as 2 a - (a + w b): six fused multiply-adds,
 * not eight.
 */
template <bool INVERSE, typename Real>
static __device__ __forceinline__ void
butterfly (Points<Real> &points, int a, int b, int k)
{
  Real x = points.x[b], y = points.y[b], sum_x, sum_y;

  if (k % 8 == 0) {
    Real turned_x = k == 0 ? x : INVERSE ? -y : y, turned_y = k == 0 ? y : INVERSE ? x : -x;

    sum_x = points.x[a] + turned_x;
    sum_y = points.y[a] + turned_y;
    points.x[b] = points.x[a] - turned_x;
    points.y[b] = points.y[a] - turned_y;
  } else {
    const Real c = (Real) cosine (k), s = (Real) (INVERSE ? sine (k) : -sine (k));

    if (k % 4 == 0) { /* c and s have one magnitude, so that the products are two and not four */
      Real p = k == 4 ? (INVERSE ? x - y : x + y) : (INVERSE ? x + y : x - y);
      Real q = k == 4 ? (INVERSE ? x + y : y - x) : (INVERSE ? x - y : x + y);
      const Real p_factor = c, q_factor = k == 4 ? c : s;

      sum_x = points.x[a] + p_factor * p;
      sum_y = points.y[a] + q_factor * q;
      points.x[b] = points.x[a] - p_factor * p;
      points.y[b] = points.y[a] - q_factor * q;
    } else {
      sum_x = points.x[a] - s * y + c * x;
      sum_y = points.y[a] + s * x + c * y;
      points.x[b] = 2 * points.x[a] - sum_x;
      points.y[b] = 2 * points.y[a] - sum_y;
    }
  }
  points.x[a] = sum_x;
  points.y[a] = sum_y;
}

/* The transform of a thread's N points from `first` on. The result is in the order of reversed bits. */
template <int N, typename Real>
static __device__ __forceinline__ void
transform_registers (Points<Real> &points, int first)
{
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      int a = first + i / half * 2 * half + i % half;

      butterfly<false> (points, a, a + half, reversed (i / half, 16));
    }
}

/* The inverse of transform_registers (), N times as large. */
template <int N, typename Real>
static __device__ __forceinline__ void
inverse_registers (Points<Real> &points, int first)
{
#pragma unroll
  for (int half = 1; half < N; half *= 2)
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      int a = first + i / half * 2 * half + i % half;

      butterfly<true> (points, a, a + half, i % half * (16 / half));
    }
}

/*
 * The cell of shared memory for sum k of thread t. With the exclusive or, threads that read the cells of one t and
 * different k use different banks.
 */
static __device__ __forceinline__ int
cell (int k, int t)
{
  return k * THREADS + (t ^ (2 * k & (THREADS - 1)));
}

/* The value of the other of two threads whose lanes differ in the bit `apart`. */
template <typename Real>
static __device__ __forceinline__ Real
exchange (Real value, int apart)
{
  return __shfl_xor_sync (0xffffffffu, value, apart);
}

/*
 * The 2-point transforms between two threads: the first has the transform of the even terms, the second that of the
 * odd terms. Each thread gives the other one half of its 16 points. The first thread then makes the
 * butterflies k = 0 .. 7. The second makes those of k + 8, whose factor is that of k times -i.
 */
template <typename Real>
static __device__ __forceinline__ void
join_halves (Points<Real> &points, bool second, int apart)
{
  Points<Real> joined;

#pragma unroll
  for (int k = 0; k < HELD / 2; k++) {
    const int low = reversed (k, HELD), high = reversed (k + HELD / 2, HELD);
    Real x = exchange (second ? points.x[low] : points.x[high], apart);
    Real y = exchange (second ? points.y[low] : points.y[high], apart);

    joined.x[k] = second ? x : points.x[low];
    joined.y[k] = second ? y : points.y[low];
    joined.x[k + HELD / 2] = second ? points.y[high] : x;
    joined.y[k + HELD / 2] = second ? -points.x[high] : y;
    butterfly<false> (joined, k, k + HELD / 2, k);
  }
  points = joined;
}

/* The inverse of join_halves (), 2 times as large. */
template <typename Real>
static __device__ __forceinline__ void
split_halves (Points<Real> &points, bool second, int apart)
{
  Points<Real> split;

#pragma unroll
  for (int k = 0; k < HELD / 2; k++) {
    const int low = reversed (k, HELD), high = reversed (k + HELD / 2, HELD);
    const Real c = (Real) cosine (k), s = (Real) sine (k);
    Real sum_x = points.x[k] + points.x[k + HELD / 2], sum_y = points.y[k] + points.y[k + HELD / 2];
    Real rest_x = points.x[k] - points.x[k + HELD / 2], rest_y = points.y[k] - points.y[k + HELD / 2];
    Real x = k == 0 ? rest_x : rest_x * c - rest_y * s, y = k == 0 ? rest_y : rest_y * c + rest_x * s;
    Real turned_x = second ? -y : x, turned_y = second ? x : y;
    Real other_x = exchange (second ? sum_x : turned_x, apart), other_y = exchange (second ? sum_y : turned_y, apart);

    split.x[low] = second ? other_x : sum_x;
    split.y[low] = second ? other_y : sum_y;
    split.x[high] = second ? turned_x : other_x;
    split.y[high] = second ? turned_y : other_y;
  }
  points = split;
}

/*
 * The transform of 512 points by the 32 threads t = 0 .. 31. A block does `columns` transforms at once: cell c of this
 * one is shared[c * columns], and thread t is `columns` lanes from thread t + 1. twiddles[k * 32 + t] is
 * exp (-2 pi i k t / 512). sync () waits for all threads of the transform.
 */
template <typename Real, typename Sync>
static __device__ __forceinline__ void
transform_512 (Points<Real> &points, Complex<Real> *shared, int columns, const Complex<Real> *twiddles, int t,
    Sync sync)
{
  transform_registers<HELD> (points, 0);
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    int at = reversed (k, HELD);
    Complex<Real> value = { points.x[at], points.y[at] };

    if (k > 0) {
      Complex<Real> twiddle = twiddles[k * THREADS + t];

      value = { value.x * twiddle.x - value.y * twiddle.y, value.y * twiddle.x + value.x * twiddle.y };
    }
    shared[cell (k, t) * columns] = value;
  }
  sync ();
#pragma unroll
  for (int i = 0; i < HELD; i++)
    set_point (points, i, shared[cell (t / 2, t % 2 + 2 * i) * columns]);
  transform_registers<HELD> (points, 0);
  join_halves (points, t % 2, columns);
}

/*
 * The inverse of transform_512 (), 512 times as large. A thread writes the cells that it read in transform_512 (), so
 * that no wait is needed between the two.
 */
template <typename Real, typename Sync>
static __device__ __forceinline__ void
inverse_512 (Points<Real> &points, Complex<Real> *shared, int columns, const Complex<Real> *twiddles, int t, Sync sync)
{
  split_halves (points, t % 2, columns);
  inverse_registers<HELD> (points, 0);
#pragma unroll
  for (int i = 0; i < HELD; i++)
    shared[cell (t / 2, t % 2 + 2 * i) * columns] = { points.x[i], points.y[i] };
  sync ();
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    int at = reversed (k, HELD);
    Complex<Real> value = shared[cell (k, t) * columns];

    if (k > 0) {
      Complex<Real> twiddle = twiddles[k * THREADS + t];

      value = { value.x * twiddle.x + value.y * twiddle.y, value.y * twiddle.x - value.x * twiddle.y };
    }
    set_point (points, at, value);
  }
  inverse_registers<HELD> (points, 0);
}

#endif
