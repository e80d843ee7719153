/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_cpu.h"

#include <cstring>
#include <string>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

const char *
bench_peer_name (BenchKind kind)
{
  static const std::string names[BENCH_N_KINDS] = { "OpenCV " CV_VERSION " filter2D",
    "OpenCV " CV_VERSION " GaussianBlur", "OpenCV " CV_VERSION " blur" };

  return names[kind].c_str ();
}

void
bench_peer_set_threads (int threads)
{
  cv::setNumThreads (threads);
}

void
bench_peer_run (const BenchPeerTask *task)
{
  int type = CV_MAKETYPE (task->bytes == 1 ? CV_8U : CV_16U, task->samples);
  cv::Mat in (task->height, task->width, type, (void *) task->source, task->stride);
  cv::Mat out (task->height, task->width, type, task->destination, task->stride);
  cv::Size size (task->side, task->side);

  if (task->kind == BENCH_GAUSSIAN) {
    cv::GaussianBlur (in, out, size, task->sigma, task->sigma, cv::BORDER_REPLICATE);
  } else if (task->kind == BENCH_BOX) {
    cv::blur (in, out, size, cv::Point (-1, -1), cv::BORDER_REPLICATE);
  } else {
    cv::Mat mask (task->side, task->side, CV_32F);

    for (int k = 0; k < task->side * task->side; k++)
      mask.at<float> (k / task->side, k % task->side) = (float) (task->taps[k] / task->divisor);
    cv::filter2D (in, out, -1, mask, cv::Point (-1, -1), 0, cv::BORDER_REPLICATE);
  }
}
