/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_cpu.h"

#include <cstring>
#include <string>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

const char *
bench_peer_name (BenchKind kind)
{
  static const std::string names[BENCH_N_KINDS] = {
    "OpenCV " CV_VERSION " filter2D", "OpenCV " CV_VERSION " GaussianBlur", "OpenCV " CV_VERSION " blur"
  };

  return names[kind].c_str ();
}

void
bench_peer_set_threads (int threads)
{
  cv::setNumThreads (threads);
}

void
bench_peer_run (BenchKind kind, const unsigned char *source, unsigned char *destination, int width, int height,
    int stride, int side, const double *taps, double divisor)
{
  cv::Mat in (height, width, CV_8UC1, (void *) source, stride), out (height, width, CV_8UC1, destination, stride);
  cv::Size size (side, side);

  if (kind == BENCH_GAUSSIAN) {
    cv::GaussianBlur (in, out, size, 0, 0, cv::BORDER_REPLICATE);
  } else if (kind == BENCH_BOX) {
    cv::blur (in, out, size, cv::Point (-1, -1), cv::BORDER_REPLICATE);
  } else {
    cv::Mat mask (side, side, CV_32F);

    for (int k = 0; k < side * side; k++)
      mask.at<float> (k / side, k % side) = (float) (taps[k] / divisor);
    cv::filter2D (in, out, -1, mask, cv::Point (-1, -1), 0, cv::BORDER_REPLICATE);
  }
}
