/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What cuDNN takes for the layers of `bench --layer`, with the fastest algorithm of
 * cudnnFindConvolutionForwardAlgorithm(): float32 without TF32, float16 with sums in float32, in both layouts, NCHW and
 * NHWC (channels last). This program is not part of the build:
 *
 *  nvcc -O3 -arch=native tests/bench/bench_layer_peers.cu -lcudnn -o bench_layer_peers
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include "bench/bench_layer_cases.h"

static cudaStream_t stream;
static cudaEvent_t begin, end;

/* Numbers -1 .. 1. */
template <typename T>
static T *
make_tensor (size_t count)
{
  std::vector<T> values (count);
  unsigned state = 1;
  T *copy = NULL;

  for (auto &value : values) {
    state = state * 1664525 + 1013904223;
    value = T ((state >> 8) / 8388608.0f - 1);
  }
  if (cudaMalloc (&copy, count * sizeof (T)) == cudaSuccess)
    cudaMemcpy (copy, values.data (), count * sizeof (T), cudaMemcpyHostToDevice);
  return copy;
}

template <typename T>
static void
time_case (cudnnHandle_t cudnn, const BenchLayerCase &test, cudnnTensorFormat_t layout)
{
  bool single = sizeof (T) == sizeof (float);
  cudnnDataType_t type = single ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF;
  int out = test.side / test.stride, found = 0;
  size_t from = (size_t) test.batch * test.channels * test.side * test.side;
  size_t to = (size_t) test.batch * test.filters * out * out;
  cudnnTensorDescriptor_t source, destination;
  cudnnFilterDescriptor_t filter;
  cudnnConvolutionDescriptor_t convolution;
  cudnnConvolutionFwdAlgoPerf_t perf[8];
  int pairs = std::min<size_t> (BENCH_LAYER_PAIR_BYTES / ((from + to) * sizeof (T)) + 2, 64);
  std::vector<T *> sources, destinations;
  T *weights = make_tensor<T> ((size_t) test.filters * test.channels * test.kernel * test.kernel);
  void *workspace = NULL;

  cudnnCreateTensorDescriptor (&source);
  cudnnSetTensor4dDescriptor (source, layout, type, test.batch, test.channels, test.side, test.side);
  cudnnCreateTensorDescriptor (&destination);
  cudnnSetTensor4dDescriptor (destination, layout, type, test.batch, test.filters, out, out);
  cudnnCreateFilterDescriptor (&filter);
  cudnnSetFilter4dDescriptor (filter, type, layout, test.filters, test.channels, test.kernel, test.kernel);
  cudnnCreateConvolutionDescriptor (&convolution);
  cudnnSetConvolution2dDescriptor (convolution, test.kernel / 2, test.kernel / 2, test.stride, test.stride, 1, 1,
      CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  cudnnSetConvolutionMathType (convolution, single ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
  cudnnFindConvolutionForwardAlgorithm (cudnn, source, filter, convolution, destination, 8, &found, perf);
  printf ("C %2d K %2d %dx%d stride %d, %2d of %4d, %s %s  cuDNN      ", test.channels, test.filters, test.kernel,
      test.kernel, test.stride, test.batch, test.side, single ? "float32" : "float16",
      layout == CUDNN_TENSOR_NHWC ? "NHWC" : "NCHW");
  if (found == 0 || perf[0].status != CUDNN_STATUS_SUCCESS) {
    printf ("nothing found\n");
    return;
  }
  cudnnSetConvolutionMathType (convolution, perf[0].mathType);
  cudaMalloc (&workspace, perf[0].memory + 1);
  T *content = make_tensor<T> (from);
  for (int i = 0; i < pairs; i++) {
    T *memory = NULL;

    cudaMalloc (&memory, from * sizeof (T));
    cudaMemcpy (memory, content, from * sizeof (T), cudaMemcpyDeviceToDevice);
    sources.push_back (memory);
    cudaMalloc (&memory, to * sizeof (T));
    destinations.push_back (memory);
  }
  cudaFree (content);

  std::vector<double> us;
  const float one = 1, zero = 0;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  unsigned turn = 0;
  auto time_runs = [&] (int count) {
    float milliseconds = 0;

    cudaEventRecord (begin, stream);
    for (int i = 0; i < count && status == CUDNN_STATUS_SUCCESS; i++, turn++)
      status = cudnnConvolutionForward (cudnn, &one, source, sources[turn % pairs], filter, weights, convolution,
          perf[0].algo, workspace, perf[0].memory, &zero, destination, destinations[turn % pairs]);
    cudaEventRecord (end, stream);
    cudaEventSynchronize (end);
    cudaEventElapsedTime (&milliseconds, begin, end);
    return milliseconds * 1e3 / count;
  };
  time_runs (1);
  int count = (int) (BENCH_LAYER_US / time_runs (1)) + 1;
  for (int i = 0; i < BENCH_LAYER_ROUNDS; i++)
    us.push_back (time_runs (count));
  std::sort (us.begin (), us.end ());
  double median = us[us.size () / 2];
  double products = (double) out * out * test.batch * test.filters * test.channels * test.kernel * test.kernel;
  if (status != CUDNN_STATUS_SUCCESS || cudaGetLastError () != cudaSuccess)
    printf ("failed: %s\n", cudnnGetErrorString (status));
  else
    printf ("%10.1f us %7.2f T products/s  algorithm %d, math %d, %zu MB\n", median, products / median / 1e6,
        perf[0].algo, perf[0].mathType, perf[0].memory >> 20);
  fflush (stdout);
  for (int i = 0; i < pairs; i++) {
    cudaFree (sources[i]);
    cudaFree (destinations[i]);
  }
  cudaFree (workspace);
  cudaFree (weights);
}

int
main (int argc, char **argv)
{
  cudnnHandle_t cudnn;

  cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking);
  cudaEventCreate (&begin);
  cudaEventCreate (&end);
  cudnnCreate (&cudnn);
  cudnnSetStream (cudnn, stream);
  printf ("cuDNN %zu\n", cudnnGetVersion ());
  for (int i = 0; i < N_BENCH_LAYER_CASES; i++)
    for (cudnnTensorFormat_t layout : { CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC })
      if (argc < 2 || atoi (argv[1]) == i) {
        time_case<float> (cudnn, bench_layer_cases[i], layout);
        time_case<__half> (cudnn, bench_layer_cases[i], layout);
      }
  return 0;
}
