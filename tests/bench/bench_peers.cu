/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What NVIDIA's own libraries take for the same: one 8-bit plane, replicate boundary, the masks and the way of
 * measuring of bench.c. Not part of the build, since both libraries are large and rarely there:
 *
 *   nvcc -O3 -arch=native tests/bench/bench_peers.cu -lnppif -lnppc -lcudnn -lcufft -o bench_peers
 *
 * -DNO_CUDNN and -DNO_CUFFT do without these.
 *
 * bench_peers [1080p|4K|8K [MASK WIDTH]]
 * bench_peers usual FILE.csv [1080p|4K|8K]     NPP alone, with the masks of bench_usual.c, for tests/bench/tables.py
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include <cuda_runtime.h>
#include <nppcore.h>
#include <nppi_filtering_functions.h>
#ifndef NO_CUDNN
#include <cudnn.h>
#endif
#ifndef NO_CUFFT
#include <cufft.h>
#endif

enum
{
  BATCH = 32,
  ROUNDS = 30,
  MIN_PAIRS = 8,
  PAIR_BYTES = 256 << 20
};

static const struct
{
  const char *name;
  int width, height;
} sizes[] = { { "1080p", 1920, 1080 }, { "4K", 3840, 2160 }, { "8K", 7680, 4320 } };

static const int sides[] = { 3, 5, 7, 9, 15, 31, 63 };

struct Row
{
  const char *name;
  std::function<bool (const Npp8u *, Npp8u *)> run; /* false: refused */
  std::vector<double> us;
  bool refused = false;
};

static cudaStream_t stream;
static cudaEvent_t begin, end;

static double
median (std::vector<double> &values)
{
  std::sort (values.begin (), values.end ());
  return values.empty () ? 0 : values[values.size () / 2];
}

/* Microseconds a frame. */
static double
time_batch (Row &row, const std::vector<Npp8u *> &sources, const std::vector<Npp8u *> &destinations, int count)
{
  static unsigned turn;
  float milliseconds = 0;

  cudaEventRecord (begin, stream);
  for (int i = 0; i < count && !row.refused; i++, turn++)
    row.refused = !row.run (sources[turn % sources.size ()], destinations[turn % sources.size ()]);
  cudaEventRecord (end, stream);
  if (cudaEventSynchronize (end) != cudaSuccess || cudaGetLastError () != cudaSuccess)
    row.refused = true;
  cudaEventElapsedTime (&milliseconds, begin, end);
  return milliseconds * 1e3 / count;
}

template <typename V>
static V *
on_device (const std::vector<V> &values)
{
  V *copy = NULL;

  cudaMalloc (&copy, values.size () * sizeof (V));
  cudaMemcpy (copy, values.data (), values.size () * sizeof (V), cudaMemcpyHostToDevice);
  return copy;
}

#ifndef NO_CUDNN
/* One channel, floats in and out, zero boundary: what a depthwise layer does with a frame that is there as floats. */
static Row
cudnn_row (cudnnHandle_t cudnn, int width, int height, int side)
{
  cudnnTensorDescriptor_t tensor;
  cudnnFilterDescriptor_t filter;
  cudnnConvolutionDescriptor_t convolution;
  cudnnConvolutionFwdAlgoPerf_t best;
  int count = 0;
  float *source, *destination, *taps = on_device (std::vector<float> (side * side, 1.0f / (side * side)));
  void *workspace = NULL;

  cudaMalloc (&source, sizeof (float) * width * height);
  cudaMalloc (&destination, sizeof (float) * width * height);
  cudaMemset (source, 0x3f, sizeof (float) * width * height);
  cudnnCreateTensorDescriptor (&tensor);
  cudnnSetTensor4dDescriptor (tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, height, width);
  cudnnCreateFilterDescriptor (&filter);
  cudnnSetFilter4dDescriptor (filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, side, side);
  cudnnCreateConvolutionDescriptor (&convolution);
  cudnnSetConvolution2dDescriptor (convolution, side / 2, side / 2, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
      CUDNN_DATA_FLOAT);
  bool found = cudnnFindConvolutionForwardAlgorithm (cudnn, tensor, filter, convolution, tensor, 1, &count, &best)
          == CUDNN_STATUS_SUCCESS
      && count > 0 && best.status == CUDNN_STATUS_SUCCESS;
  if (found)
    cudaMalloc (&workspace, best.memory + 1);
  return { "cuDNN fp32", [=] (const Npp8u *, Npp8u *) {
            const float one = 1, zero = 0;

            return found
                && cudnnConvolutionForward (cudnn, &one, tensor, source, filter, taps, convolution, best.algo,
                       workspace, best.memory, &zero, tensor, destination)
                == CUDNN_STATUS_SUCCESS;
          } };
}
#endif

#ifndef NO_CUFFT
static __global__ void
multiply (cufftComplex *spectrum, const cufftComplex *mask, int count, float scale)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    cufftComplex a = spectrum[i], b = mask[i];

    spectrum[i] = make_cuComplex ((a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale);
  }
}

static void
launch_multiply (cufftComplex *spectrum, const cufftComplex *mask, int count, float scale)
{
  /* clang-format 14 breaks the brackets of a launch. */
  /* clang-format off */
  multiply<<<1056, 256, 0, stream>>> (spectrum, mask, count, scale);
  /* clang-format on */
}

/* The next number of which 2, 3, 5 and 7 are all the factors, and 2 is one. */
static int
smooth (int n)
{
  for (;; n++) {
    int rest = n;

    for (int factor : { 2, 3, 5, 7 })
      while (rest % factor == 0)
        rest /= factor;
    if (rest == 1 && n % 2 == 0)
      return n;
  }
}

/*
 * One transform of the whole frame, which is there as floats with its border already: there, times the mask's spectrum,
 * and back. Whatever the weights are.
 */
static Row
cufft_row (int width, int height, int side)
{
  int columns = smooth (width + side - 1), rows = smooth (height + side - 1), count = rows * (columns / 2 + 1);
  cufftHandle forward, inverse;
  cufftReal *source, *destination;
  cufftComplex *spectrum, *mask;

  cudaMalloc (&source, sizeof (cufftReal) * columns * rows);
  cudaMalloc (&destination, sizeof (cufftReal) * columns * rows);
  cudaMalloc (&spectrum, sizeof (cufftComplex) * count);
  cudaMalloc (&mask, sizeof (cufftComplex) * count);
  cudaMemset (source, 0, sizeof (cufftReal) * columns * rows);
  cudaMemset (mask, 0, sizeof (cufftComplex) * count);
  bool made = cufftPlan2d (&forward, rows, columns, CUFFT_R2C) == CUFFT_SUCCESS
      && cufftPlan2d (&inverse, rows, columns, CUFFT_C2R) == CUFFT_SUCCESS
      && cufftSetStream (forward, stream) == CUFFT_SUCCESS && cufftSetStream (inverse, stream) == CUFFT_SUCCESS;
  return { "cuFFT fp32", [=] (const Npp8u *, Npp8u *) {
            if (!made || cufftExecR2C (forward, source, spectrum) != CUFFT_SUCCESS)
              return false;
            launch_multiply (spectrum, mask, count, 1.0f / ((float) columns * rows));
            return cufftExecC2R (inverse, spectrum, destination) == CUFFT_SUCCESS;
          } };
}
#endif

/* The constants of NPP for its fixed sizes of masks. */
static NppiMaskSize
npp_mask (int side)
{
  static const NppiMaskSize masks[] = { NPP_MASK_SIZE_3_X_3, NPP_MASK_SIZE_5_X_5, NPP_MASK_SIZE_7_X_7,
    NPP_MASK_SIZE_9_X_9, NPP_MASK_SIZE_11_X_11, NPP_MASK_SIZE_13_X_13, NPP_MASK_SIZE_15_X_15 };

  return masks[(side - 3) / 2];
}

static std::vector<Row>
make_rows (const NppStreamContext &context, int width, int height, int side)
{
  NppiSize size = { width, height }, mask = { side, side };
  NppiPoint origin = { 0, 0 }, anchor = { side / 2, side / 2 };
  std::vector<Npp32s> integers (side * side);
  std::vector<Npp32f> reals (side * side), gauss (side);
  Npp32s sum = 0;
  unsigned state = 1;

  for (auto &tap : integers) {
    state = state * 1664525 + 1013904223;
    sum += tap = 1 + (state >> 16) % 50;
  }
  for (int i = 0; i < side * side; i++)
    reals[i] = (float) integers[i] / sum;
  for (int i = 0; i < side; i++)
    gauss[i] = (side / 2 + 1 - abs (i - side / 2)) / (float) ((side / 2 + 1) * (side / 2 + 1));
  Npp32s *integer_taps = on_device (integers);
  Npp32f *real_taps = on_device (reals), *gauss_taps = on_device (gauss);

  return {
    { "copy",
        [=] (const Npp8u *from, Npp8u *to) {
          return cudaMemcpyAsync (to, from, (size_t) width * height, cudaMemcpyDeviceToDevice, stream) == cudaSuccess;
        } },
    { "NPP FilterBorder",
        [=] (const Npp8u *from, Npp8u *to) {
          return nppiFilterBorder_8u_C1R_Ctx (from, width, size, origin, to, width, size, integer_taps, mask, anchor,
                     sum, NPP_BORDER_REPLICATE, context)
              == NPP_SUCCESS;
        } },
    { "NPP FilterBorder32f",
        [=] (const Npp8u *from, Npp8u *to) {
          return nppiFilterBorder32f_8u_C1R_Ctx (from, width, size, origin, to, width, size, real_taps, mask, anchor,
                     NPP_BORDER_REPLICATE, context)
              == NPP_SUCCESS;
        } },
    { "NPP FilterGaussBorder",
        [=] (const Npp8u *from, Npp8u *to) {
          return side <= 15
              && nppiFilterGaussBorder_8u_C1R_Ctx (from, width, size, origin, to, width, size, npp_mask (side),
                     NPP_BORDER_REPLICATE, context)
              == NPP_SUCCESS;
        } },
    { "NPP FilterGaussAdvancedBorder",
        [=] (const Npp8u *from, Npp8u *to) {
          return nppiFilterGaussAdvancedBorder_8u_C1R_Ctx (from, width, size, origin, to, width, size, side, gauss_taps,
                     NPP_BORDER_REPLICATE, context)
              == NPP_SUCCESS;
        } },
    { "NPP FilterBoxBorder",
        [=] (const Npp8u *from, Npp8u *to) {
          return nppiFilterBoxBorder_8u_C1R_Ctx (from, width, size, origin, to, width, size, mask, anchor,
                     NPP_BORDER_REPLICATE, context)
              == NPP_SUCCESS;
        } },
  };
}

/* Each round times a batch of every row, in alternating order. */
static void
measure (std::vector<Row> &rows, const std::vector<Npp8u *> &sources, const std::vector<Npp8u *> &destinations)
{
  std::vector<int> batches;

  for (auto &row : rows) {
    time_batch (row, sources, destinations, 1);
    double us = time_batch (row, sources, destinations, 1);
    batches.push_back (us * BATCH < 4000 ? BATCH : us < 4000 ? (int) (4000 / us) : 1);
  }
  for (int round = 0; round < ROUNDS; round++)
    for (size_t i = 0; i < rows.size (); i++) {
      size_t at = round & 1 ? rows.size () - 1 - i : i;

      if (!rows[at].refused)
        rows[at].us.push_back (time_batch (rows[at], sources, destinations, batches[at]));
    }
}

/* The masks of bench_usual.c; sigma is 0 where the kind has none. */
enum Kind
{
  GAUSSIAN,
  FRACTIONS,
  BOX
};
static const struct
{
  const char *name;
  Kind kind;
  double sigma;
  int side;
} usuals[] = { { "gaussian sigma=1", GAUSSIAN, 1, 7 }, { "gaussian sigma=2", GAUSSIAN, 2, 13 },
  { "gaussian sigma=4", GAUSSIAN, 4, 25 }, { "gaussian sigma=8", GAUSSIAN, 8, 49 },
  { "fractions 3x3", FRACTIONS, 0, 3 }, { "fractions 5x5", FRACTIONS, 0, 5 }, { "fractions 9x9", FRACTIONS, 0, 9 },
  { "fractions 15x15", FRACTIONS, 0, 15 }, { "fractions 31x31", FRACTIONS, 0, 31 }, { "box 5x5", BOX, 0, 5 },
  { "box 15x15", BOX, 0, 15 }, { "box 31x31", BOX, 0, 31 } };

/* The functions of one pixel format. NPP has no gaussian and no box of two samples, so of NV12 and P010 the luma alone. */
#define NPP(suffix, sample) \
  (kind == GAUSSIAN     ? nppiFilterGaussAdvancedBorder_##suffix##_Ctx ((const sample *) from, step, size, origin, \
           (sample *) to, step, size, side, gauss_taps, NPP_BORDER_REPLICATE, context) \
          : kind == BOX ? nppiFilterBoxBorder_##suffix##_Ctx ((const sample *) from, step, size, origin, \
                (sample *) to, step, size, mask, anchor, NPP_BORDER_REPLICATE, context) \
                        : nppiFilterBorder32f_##suffix##_Ctx ((const sample *) from, step, size, origin, \
                            (sample *) to, step, size, real_taps, mask, anchor, NPP_BORDER_REPLICATE, context))
enum Format
{
  NV12_LUMA,
  RGB,
  RGBA,
  P010_LUMA
};
static const struct
{
  const char *name;
  Format format;
  int pixel_bytes;
} formats[] = { { "NV12 luma", NV12_LUMA, 1 }, { "RGB", RGB, 3 }, { "RGBA", RGBA, 4 }, { "P010 luma", P010_LUMA, 2 } };

static Row
usual_row (const NppStreamContext &context, Format format, int step, NppiSize size, Kind kind, double sigma, int side)
{
  NppiSize mask = { side, side };
  NppiPoint origin = { 0, 0 }, anchor = { side / 2, side / 2 };
  std::vector<Npp32f> reals (side * side), gauss (side);
  double sum = 0, gauss_sum = 0;
  unsigned state = 1;

  for (auto &tap : reals) {
    state = state * 1664525 + 1013904223;
    sum += tap = 0.1f + (state >> 8) / 16777216.0f;
  }
  for (auto &tap : reals)
    tap = (float) (tap / sum);
  for (int i = 0; i < side && kind == GAUSSIAN; i++)
    gauss_sum += gauss[i] = (float) exp (-0.5 * (i - side / 2) * (i - side / 2) / (sigma * sigma));
  for (auto &tap : gauss)
    tap = (float) (tap / gauss_sum);
  Npp32f *real_taps = on_device (reals), *gauss_taps = on_device (gauss);
  const char *name = kind == GAUSSIAN ? "NPP FilterGaussAdvancedBorder"
      : kind == BOX                   ? "NPP FilterBoxBorder"
                                      : "NPP FilterBorder32f";

  return { name, [=] (const Npp8u *from, Npp8u *to) {
            return (format == NV12_LUMA     ? NPP (8u_C1R, Npp8u)
                           : format == RGB  ? NPP (8u_C3R, Npp8u)
                           : format == RGBA ? NPP (8u_AC4R, Npp8u)
                                            : NPP (16u_C1R, Npp16u))
                == NPP_SUCCESS;
          } };
}

/* Frames that take turns, several times the size of any L2 together. */
static void
make_frames (size_t bytes, std::vector<Npp8u *> &sources, std::vector<Npp8u *> &destinations)
{
  std::vector<Npp8u> content (bytes);

  for (auto &byte : content)
    byte = rand () >> 7;
  for (size_t i = 0; i < MIN_PAIRS || i < PAIR_BYTES / (2 * bytes) + 1; i++) {
    Npp8u *destination;

    sources.push_back (on_device (content));
    cudaMalloc (&destination, bytes);
    destinations.push_back (destination);
  }
}

static void
free_frames (std::vector<Npp8u *> &sources, std::vector<Npp8u *> &destinations)
{
  for (size_t i = 0; i < sources.size (); i++) {
    cudaFree (sources[i]);
    cudaFree (destinations[i]);
  }
}

static int
bench_usual (const NppStreamContext &context, const char *csv_name, const char *only_size)
{
  FILE *csv = fopen (csv_name, "w");
  cudaDeviceProp properties;

  if (!csv)
    return 1;
  cudaGetDeviceProperties (&properties, context.nCudaDeviceId);
  fprintf (csv, "device,npp,size,format,mask,kind,what,median_us,min_us,rounds\n");
  for (auto &size : sizes) {
    if (only_size && strcmp (only_size, size.name) != 0)
      continue;
    for (auto &format : formats) {
      std::vector<Npp8u *> sources, destinations;

      make_frames ((size_t) size.width * size.height * format.pixel_bytes, sources, destinations);
      for (auto &usual : usuals) {
        std::vector<Row> rows = { usual_row (context, format.format, size.width * format.pixel_bytes,
            { size.width, size.height }, usual.kind, usual.sigma, usual.side) };
        Row &row = rows[0];

        measure (rows, sources, destinations);
        if (row.refused) {
          printf ("%-6s %-10s %-16s %-30s refused\n", size.name, format.name, usual.name, row.name);
          continue;
        }
        printf ("%-6s %-10s %-16s %-30s %10.2f\n", size.name, format.name, usual.name, row.name, median (row.us));
        fprintf (csv, "\"%s\",%d.%d,%s,%s,%d,%s,%s,%.2f,%.2f,%zu\n", properties.name, nppGetLibVersion ()->major,
            nppGetLibVersion ()->minor, size.name, format.name, usual.side, usual.name, row.name, median (row.us),
            row.us[0], row.us.size ());
        fflush (stdout);
      }
      free_frames (sources, destinations);
    }
  }
  fclose (csv);
  return 0;
}

static NppStreamContext
stream_context (void)
{
  NppStreamContext context = {};
  cudaDeviceProp properties;

  cudaGetDevice (&context.nCudaDeviceId);
  cudaGetDeviceProperties (&properties, context.nCudaDeviceId);
  context.hStream = stream;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  cudaStreamGetFlags (stream, &context.nStreamFlags);
  printf ("%s: microseconds a frame, the median of %d rounds of %d frames, and over that of the copy.\n\n",
      properties.name, ROUNDS, BATCH);
  return context;
}

int
main (int argc, char **argv)
{
  cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking);
  cudaEventCreate (&begin);
  cudaEventCreate (&end);
  NppStreamContext context = stream_context ();
  if (argc > 2 && strcmp (argv[1], "usual") == 0)
    return bench_usual (context, argv[2], argc > 3 ? argv[3] : NULL);
#ifndef NO_CUDNN
  cudnnHandle_t cudnn;
  cudnnCreate (&cudnn);
  cudnnSetStream (cudnn, stream);
#endif

  for (auto &size : sizes) {
    size_t bytes = (size_t) size.width * size.height;
    std::vector<Npp8u *> sources, destinations;

    if (argc > 1 && strcmp (argv[1], size.name) != 0)
      continue;
    make_frames (bytes, sources, destinations);
    for (int side : sides) {
      if (argc > 2 && atoi (argv[2]) != side)
        continue;
      std::vector<Row> rows = make_rows (context, size.width, size.height, side);
#ifndef NO_CUDNN
      rows.push_back (cudnn_row (cudnn, size.width, size.height, side));
#endif
#ifndef NO_CUFFT
      rows.push_back (cufft_row (size.width, size.height, side));
#endif
      measure (rows, sources, destinations);
      double copy = median (rows[0].us);
      for (auto &row : rows) {
        if (row.refused)
          printf ("%-6s %2dx%-2d %-30s refused\n", size.name, side, side, row.name);
        else
          printf ("%-6s %2dx%-2d %-30s %10.2f %8.2f\n", size.name, side, side, row.name, median (row.us),
              median (row.us) / copy);
      }
      fflush (stdout);
    }
    free_frames (sources, destinations);
  }
  return 0;
}
