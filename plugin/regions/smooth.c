/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/smooth.h"

#include <math.h>
#include <string.h>

#include "presets/portable.h"

#define WHOLE 65536 /* a share of 1 */

void
gst_cuda_convolve_smooth_forget (GstCudaConvolveSmooth *smooth)
{
  smooth->then = (GstCudaConvolveMoment){ 0 };
}

void
gst_cuda_convolve_smooth_clear (GstCudaConvolveSmooth *smooth)
{
  g_free (smooth->state);
  g_free (smooth->target);
  convolve_batch_free (smooth->batch);
  for (guint i = 0; i < GST_CUDA_CONVOLVE_SMOOTH_PLANES; i++)
    g_free (smooth->planes[i]);
  *smooth = (GstCudaConvolveSmooth){ 0 };
}

/* Makes room for frames of that size, and chooses the plane of the next frame. */
static gboolean
make_room (GstCudaConvolveSmooth *smooth, gint width, gint height)
{
  gsize n = (gsize) width * height;

  if (width != smooth->width || height != smooth->height)
    gst_cuda_convolve_smooth_clear (smooth);
  if (!smooth->state) {
    smooth->state = g_try_new (guint16, n);
    smooth->target = g_try_malloc (n);
    smooth->batch = convolve_batch_new (NULL, NULL);
    if (!smooth->state || !smooth->target || !smooth->batch) {
      gst_cuda_convolve_smooth_clear (smooth);
      return FALSE;
    }
    smooth->width = width;
    smooth->height = height;
  }
  smooth->current = (smooth->current + 1) % GST_CUDA_CONVOLVE_SMOOTH_PLANES;
  if (!smooth->planes[smooth->current])
    smooth->planes[smooth->current] = g_try_malloc (n);
  return smooth->planes[smooth->current] != NULL;
}

/* Blends 255 into 0 by the weights of the area. */
static gboolean
draw_target (GstCudaConvolveSmooth *smooth, const ConvolveArea *area, ConvolvePool *pool)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  const gint white = 255;
  const gsize n = (gsize) smooth->width * smooth->height;
  ConvolvePlane plane = { .source_stride = smooth->width,
    .destination_stride = smooth->width,
    .width = smooth->width,
    .height = smooth->height,
    .region = { 0, 0, smooth->width, smooth->height } };
  ConvolveError error;
  void *effect;

  memset (smooth->target, 0, n);
  if (!area)
    return TRUE;
  convolve_batch_set_pool (smooth->batch, pool);
  if (convolve_batch_begin (smooth->batch, n, &effect, &error) != CONVOLVE_OK)
    return FALSE;
  plane.source = plane.destination = effect;
  if (convolve_batch_fill (smooth->batch, &pixel, &white, &plane, &error) != CONVOLVE_OK)
    return FALSE;
  plane.destination = smooth->target;
  return convolve_batch_blend (smooth->batch, &pixel, area, &plane, &error) == CONVOLVE_OK
      && convolve_batch_run (smooth->batch, &error) == CONVOLVE_OK;
}

static void
follow (GstCudaConvolveSmooth *smooth, guint32 share)
{
  const gsize n = (gsize) smooth->width * smooth->height;
  const guint8 *target = smooth->target;
  guint8 *plane = smooth->planes[smooth->current];
  guint16 *state = smooth->state;

  for (gsize i = 0; i < n; i++) {
    gint32 way = 256 * target[i] - state[i];
    guint32 step = ((guint32) ABS (way) * share + (WHOLE - 1)) / WHOLE;

    state[i] += way < 0 ? -(gint32) step : (gint32) step;
    plane[i] = (state[i] + 128) / 256;
  }
}

static void
jump (GstCudaConvolveSmooth *smooth)
{
  const gsize n = (gsize) smooth->width * smooth->height;

  for (gsize i = 0; i < n; i++)
    smooth->state[i] = 256 * smooth->target[i];
  memcpy (smooth->planes[smooth->current], smooth->target, n);
}

gboolean
gst_cuda_convolve_smooth_advance (GstCudaConvolveSmooth *smooth, gint width, gint height, const ConvolveArea *area,
    const GstCudaConvolveMoment *now, GstClockTime constant, ConvolvePool *pool)
{
  const GstCudaConvolveMoment then = smooth->then;
  gboolean first = then.frame == 0 || width != smooth->width || height != smooth->height;

  if (!first && then.frame == now->frame)
    return TRUE;
  if (!make_room (smooth, width, height) || !draw_target (smooth, area, pool))
    return FALSE;
  if (first) {
    jump (smooth);
  } else {
    gdouble ages = (gdouble) gst_cuda_convolve_moments_distance (now, &then) / (gdouble) constant;
    gdouble share = floor (WHOLE * (1 - convolve_portable_exp (-MIN (ages, 100))) + 0.5);

    follow (smooth, MIN (share, WHOLE - 1));
  }
  smooth->then = *now;
  return TRUE;
}

const guint8 *
gst_cuda_convolve_smooth_plane (const GstCudaConvolveSmooth *smooth)
{
  return smooth->planes[smooth->current];
}
