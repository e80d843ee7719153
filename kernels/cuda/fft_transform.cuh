/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fourier transforms of 512 points by 32 threads. Each thread holds 16 points in registers and transforms those; the
 * threads exchange them through shared memory, once, and transform 16 again; and what is left, two points of each
 * frequency, is done by pairs of threads. The result stays in the order in which this leaves it, see
 * convolve_fft_frequency (): the way back begins with that order, and what is done between takes any.
 */
#ifndef CONVOLVE_CUDA_FFT_TRANSFORM_CUH
#define CONVOLVE_CUDA_FFT_TRANSFORM_CUH

#include "cuda/fft.h"

#define POINTS CONVOLVE_FFT_POINTS
#define THREADS CONVOLVE_FFT_THREADS
#define HELD CONVOLVE_FFT_HELD
static_assert (HELD == 16 && THREADS == 32, "16 points, 16 points, and two threads' 2");

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

/*
 * a and b become a + w b and a - w b for w = exp (-2 pi i k / 32), k = 0 .. 15, or for its inverse. Where w has to be
 * multiplied, the difference is made of the sum: six operations and not eight.
 */
template <bool INVERSE, typename Real>
static __device__ __forceinline__ void
combine (Points<Real> &points, int a, int b, int k)
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

    if (k % 4 == 0) { /* c and s are the same but for signs */
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

/* Points FIRST .. FIRST + N - 1, in their order, to frequencies in the order of reversed bits. */
template <int N, typename Real>
static __device__ __forceinline__ void
transform (Points<Real> &points, int first)
{
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      int a = first + i / half * 2 * half + i % half;

      combine<false> (points, a, a + half, reversed (i / half, 16));
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
      int a = first + i / half * 2 * half + i % half;

      combine<true> (points, a, a + half, i % half * (16 / half));
    }
}

/* A whole transform's place for what thread t has of frequency k; the threads' turns keep the banks apart. */
static __device__ __forceinline__ int
cell (int k, int t)
{
  return k * THREADS + (t ^ (2 * k & (THREADS - 1)));
}

/* What the other of two threads gives. They are apart lanes from each other. */
template <typename Real>
static __device__ __forceinline__ Real
exchange (Real value, int apart)
{
  return __shfl_xor_sync (0xffffffffu, value, apart);
}

/*
 * The last two points of each frequency are in two threads. Each gives the other half of what it has, and then makes
 * 8 sums and as many differences: the first thread with factors exp (-2 pi i k / 32), k = 0 .. 7, the second with those
 * of k + 8, which are the same turned by a quarter.
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
    combine<false> (joined, k, k + HELD / 2, k);
  }
  points = joined;
}

/* The way back. */
template <typename Real>
static __device__ __forceinline__ void
part_halves (Points<Real> &points, bool second, int apart)
{
  Points<Real> parted;

#pragma unroll
  for (int k = 0; k < HELD / 2; k++) {
    const int low = reversed (k, HELD), high = reversed (k + HELD / 2, HELD);
    const Real c = (Real) cosine (k), s = (Real) sine (k);
    Real sum_x = points.x[k] + points.x[k + HELD / 2], sum_y = points.y[k] + points.y[k + HELD / 2];
    Real rest_x = points.x[k] - points.x[k + HELD / 2], rest_y = points.y[k] - points.y[k + HELD / 2];
    Real x = k == 0 ? rest_x : rest_x * c - rest_y * s, y = k == 0 ? rest_y : rest_y * c + rest_x * s;
    Real turned_x = second ? -y : x, turned_y = second ? x : y;
    Real other_x = exchange (second ? sum_x : turned_x, apart), other_y = exchange (second ? sum_y : turned_y, apart);

    parted.x[low] = second ? other_x : sum_x;
    parted.y[low] = second ? other_y : sum_y;
    parted.x[high] = second ? turned_x : other_x;
    parted.y[high] = second ? turned_y : other_y;
  }
  points = parted;
}

/*
 * A whole transform. Its cells lie at shared, apart columns from each other, and so do its threads in their warp;
 * roots [k][t] are exp (-2 pi i k t / 512). Sync is called where the transform's threads must have come.
 */
template <typename Real, typename Sync>
static __device__ __forceinline__ void
transform_all (Points<Real> &points, Complex<Real> *shared, int columns, const Complex<Real> *roots, int t, Sync sync)
{
  transform<HELD> (points, 0);
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    int at = reversed (k, HELD);
    Complex<Real> value = { points.x[at], points.y[at] };

    if (k > 0) {
      Complex<Real> root = roots[k * THREADS + t];

      value = { value.x * root.x - value.y * root.y, value.y * root.x + value.x * root.y };
    }
    shared[cell (k, t) * columns] = value;
  }
  sync ();
#pragma unroll
  for (int i = 0; i < HELD; i++)
    set_point (points, i, shared[cell (t / 2, t % 2 + 2 * i) * columns]);
  transform<HELD> (points, 0);
  join_halves (points, t % 2, columns);
}

/* The way back, 512 times as large. The cells that a thread writes are those that it read on the way forth. */
template <typename Real, typename Sync>
static __device__ __forceinline__ void
transform_all_back (Points<Real> &points, Complex<Real> *shared, int columns, const Complex<Real> *roots, int t,
    Sync sync)
{
  part_halves (points, t % 2, columns);
  transform_back<HELD> (points, 0);
#pragma unroll
  for (int i = 0; i < HELD; i++)
    shared[cell (t / 2, t % 2 + 2 * i) * columns] = { points.x[i], points.y[i] };
  sync ();
#pragma unroll
  for (int k = 0; k < HELD; k++) {
    int at = reversed (k, HELD);
    Complex<Real> value = shared[cell (k, t) * columns];

    if (k > 0) {
      Complex<Real> root = roots[k * THREADS + t];

      value = { value.x * root.x + value.y * root.y, value.y * root.x - value.x * root.y };
    }
    set_point (points, at, value);
  }
  transform_back<HELD> (points, 0);
}

#endif
