/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variant cpu-reference: the definition of a layer as plain loops, with sums in double. This variant is slow; the
 * results of the others are compared with its results.
 */
#include <math.h>
#include <stdlib.h>

#include "layer/cpu/cpu.h"

/*
 * For each position of a padded side, the row or column of the image that stands for it, or -1 for zero. The caller
 * frees the table. Returns NULL where memory is short.
 */
static int *
make_index (ConvolveBoundary boundary, int before, int size, int after)
{
  int padded = before + size + after;
  int *index = malloc (padded * sizeof (int));

  for (int i = 0; i < padded && index; i++)
    index[i] = convolve_boundary_index (boundary, i - before, size);
  return index;
}

typedef struct
{
  const ConvolveLayerPlan *plan;
  const ConvolveLayerJob *job;
  int *rows, *columns; /* from make_index() */
  int image;           /* of the batch */
} Reference;

/* Output (y, x) of filter k before pooling. */
static double
convolve_at (const Reference *reference, int k, int y, int x)
{
  const ConvolveLayer *layer = &reference->plan->layer;
  const ConvolveLayerTensor *from = &reference->job->task.source;
  const float *weight = layer->weights + k * convolve_layer_filter_size (layer);
  int first_channel = convolve_layer_first_channel (reference->plan, k);
  double sum = layer->bias[k];

  for (int c = 0; c < reference->plan->group_channels; c++) {
    const uint8_t *plane = convolve_layer_plane (from, reference->image, first_channel + c);

    for (int j = 0; j < layer->kernel_height; j++)
      for (int i = 0; i < layer->kernel_width; i++, weight++) {
        int row = reference->rows[y * layer->stride_y + j * layer->dilation_y];
        int column = reference->columns[x * layer->stride_x + i * layer->dilation_x];

        if (row >= 0 && column >= 0)
          sum += (double) *weight
              * convolve_layer_load (layer, plane + row * from->row_stride + column * from->column_stride);
      }
  }
  switch (layer->activation) {
    case CONVOLVE_ACTIVATION_RELU:
      return sum > 0 ? sum : 0;
    case CONVOLVE_ACTIVATION_ABSOLUTE:
      return fabs (sum);
    default:
      return sum;
  }
}

/* Output (y, x) of filter k: the largest of what there is under the pooling window. */
static double
pool_at (const Reference *reference, int k, int y, int x)
{
  const ConvolveLayer *layer = &reference->plan->layer;
  const ConvolveLayerJob *job = reference->job;
  double largest = -INFINITY;

  for (int j = 0; j < layer->pool_height; j++)
    for (int i = 0; i < layer->pool_width; i++) {
      int row = y * layer->pool_stride_y + j * layer->pool_dilation_y - layer->pool_pad_top;
      int column = x * layer->pool_stride_x + i * layer->pool_dilation_x - layer->pool_pad_left;

      if (row >= 0 && row < job->conv_height && column >= 0 && column < job->conv_width)
        largest = fmax (largest, convolve_at (reference, k, row, column));
    }
  return largest;
}

ConvolveStatus
convolve_layer_cpu_reference_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  const ConvolveLayerTask *task = &job->task;
  const ConvolveLayerTensor *to = &task->destination;
  Reference reference = { .plan = plan, .job = job };
  ConvolveStatus status = CONVOLVE_OK;

  reference.rows = make_index (layer->boundary, layer->pad_top, task->height, layer->pad_bottom);
  reference.columns = make_index (layer->boundary, layer->pad_left, task->width, layer->pad_right);
  if (!reference.rows || !reference.columns)
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for tables of %d rows and %d columns",
        task->height, task->width);
  for (int b = 0; b < task->batch && status == CONVOLVE_OK; b++) {
    reference.image = b;
    for (int k = 0; k < layer->filters; k++)
      for (int y = task->first_row; y < task->end_row; y++) {
        uint8_t *at = convolve_layer_plane (to, b, k) + y * to->row_stride;

        for (int x = 0; x < job->out_width; x++, at += to->column_stride) {
          double value = pool_at (&reference, k, y, x);

          if (layer->type == CONVOLVE_LAYER_U8)
            value = value * layer->out_scale + layer->out_offset;
          convolve_layer_store (layer->type, at, (float) value);
        }
      }
  }
  free (reference.rows);
  free (reference.columns);
  return status;
}

const ConvolveLayerVariant convolve_layer_variant_cpu_reference = {
  .name = "cpu-reference",
  .number = 18,
  .idea = "the definition as loops in double on the host, with which the tests compare the other variants",
  .run = convolve_layer_cpu_reference_run,
};
