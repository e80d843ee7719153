/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fourier transforms of 32 T points by T threads. Each thread holds 32 points in registers and transforms those; then
 * the threads exchange them through shared memory, once, and transform T at a time. The result stays in the order in
 * which this leaves it, see convolve_fft_frequency (): the way back begins with that order, and what is done between
 * takes any.
 */
#ifndef CONVOLVE_FFT_TRANSFORM_CUH
#define CONVOLVE_FFT_TRANSFORM_CUH

#include "convolve_fft.h"

#define HELD CONVOLVE_FFT_HELD

template <typename Real>
struct __align__ (2 * sizeof (Real)) Complex
{
  Real x, y;
};

/* What a thread holds. All indices are known to the compiler, so that it stays in registers. */
template <typename Real>
struct Points
{
  Real x[HELD], y[HELD];
};

/* cos (2 pi k / 32) for k = 0 .. 8. */
static __host__ __device__ constexpr double
quarter_cosine (int k)
{
  return k == 0 ? 1 : k == 1 ? 0.98078528040323044913 : k == 2 ? 0.92387953251128675613 : k == 3 ? 0.83146961230254523708
      : k == 4 ? 0.70710678118654752440 : k == 5 ? 0.55557023301960222474 : k == 6 ? 0.38268343236508977173
      : k == 7 ? 0.19509032201612826785 : 0;
}

/* The same for k = 0 .. 16. */
static __host__ __device__ constexpr double
cosine (int k)
{
  return k <= 8 ? quarter_cosine (k) : -quarter_cosine (16 - k);
}

static __host__ __device__ constexpr double
sine (int k)
{
  return k <= 8 ? quarter_cosine (8 - k) : quarter_cosine (k - 8);
}

/* k with its bits reversed, below n. */
static __host__ __device__ constexpr int
reversed (int k, int n)
{
  return n == 1 ? 0 : k % 2 * (n / 2) + reversed (k / 2, n / 2);
}

/* x + iy times exp (-2 pi i k / 32) for k = 0 .. 15, or times its inverse. */
template <bool INVERSE, typename Real>
static __device__ __forceinline__ void
turn (Real &x, Real &y, int k)
{
  const Real half = (Real) 0.70710678118654752440;
  Real a = x, b = y;

  if (k == 4) {
    x = (INVERSE ? a - b : a + b) * half;
    y = (INVERSE ? b + a : b - a) * half;
  } else if (k == 8) {
    x = INVERSE ? -b : b;
    y = INVERSE ? a : -a;
  } else if (k == 12) {
    x = (INVERSE ? -a - b : b - a) * half;
    y = (INVERSE ? a - b : -a - b) * half;
  } else if (k != 0) {
    const Real c = (Real) cosine (k), s = (Real) (INVERSE ? sine (k) : -sine (k));

    x = a * c - b * s;
    y = b * c + a * s;
  }
}

/* Points FIRST .. FIRST + N - 1, in their order, to frequencies in the order of reversed bits. */
template <int N, typename Real>
static __device__ __forceinline__ void
transform (Points<Real> &points, int first)
{
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      int a = first + i / half * 2 * half + i % half, b = a + half;
      Real x = points.x[a] - points.x[b], y = points.y[a] - points.y[b];

      points.x[a] += points.x[b];
      points.y[a] += points.y[b];
      turn<false> (x, y, i % half * (HELD / 2 / half));
      points.x[b] = x;
      points.y[b] = y;
    }
}

/* The way back, N times as large. */
template <int N, typename Real>
static __device__ __forceinline__ void
transform_back (Points<Real> &points, int first)
{
#pragma unroll
  for (int half = 1; half < N; half *= 2)
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      int a = first + i / half * 2 * half + i % half, b = a + half;
      Real x = points.x[b], y = points.y[b];

      turn<true> (x, y, i % half * (HELD / 2 / half));
      points.x[b] = points.x[a] - x;
      points.y[b] = points.y[a] - y;
      points.x[a] += x;
      points.y[a] += y;
    }
}

/* A whole transform's place for what thread t has of frequency k; the threads' turns keep the banks apart. */
template <int T>
static __device__ __forceinline__ int
cell (int k, int t)
{
  return k * T + (t ^ (k & (T - 1)));
}

/*
 * Transforms of 32 T points. Cells for as many points lie at shared, apart columns from each other; roots [k][t] are
 * exp (-2 pi i k t / 32 T). Sync is called where the transform's threads must have come.
 */
template <int T, typename Real, typename Sync>
static __device__ __forceinline__ void
transform_all (Points<Real> &points, Complex<Real> *shared, int columns, const Complex<Real> *roots, int t, Sync sync)
{
  transform<HELD> (points, 0);
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    int at = reversed (k, HELD);
    Complex<Real> value = { points.x[at], points.y[at] };

    if (k > 0) {
      Complex<Real> root = roots[k * T + t];

      value.x = points.x[at] * root.x - points.y[at] * root.y;
      value.y = points.y[at] * root.x + points.x[at] * root.y;
    }
    shared[cell<T> (k, t) * columns] = value;
  }
  sync ();
#pragma unroll
  for (int i = 0; i < HELD; i++) {
    Complex<Real> value = shared[cell<T> (t + i / T * T, i % T) * columns];

    points.x[i] = value.x;
    points.y[i] = value.y;
  }
#pragma unroll
  for (int first = 0; first < HELD; first += T)
    transform<T> (points, first);
}

/* The way back, 32 T times as large. The cells that a thread writes are those that it read on the way forth. */
template <int T, typename Real, typename Sync>
static __device__ __forceinline__ void
transform_all_back (Points<Real> &points, Complex<Real> *shared, int columns, const Complex<Real> *roots, int t,
    Sync sync)
{
#pragma unroll
  for (int first = 0; first < HELD; first += T)
    transform_back<T> (points, first);
#pragma unroll
  for (int i = 0; i < HELD; i++)
    shared[cell<T> (t + i / T * T, i % T) * columns] = { points.x[i], points.y[i] };
  sync ();
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    int at = reversed (k, HELD);
    Complex<Real> value = shared[cell<T> (k, t) * columns];

    points.x[at] = value.x;
    points.y[at] = value.y;
    if (k > 0) {
      Complex<Real> root = roots[k * T + t];

      points.x[at] = value.x * root.x + value.y * root.y;
      points.y[at] = value.y * root.x - value.x * root.y;
    }
  }
  transform_back<HELD> (points, 0);
}

#endif
