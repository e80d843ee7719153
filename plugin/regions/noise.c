/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/noise.h"

#include <math.h>
#include <sys/random.h>

/* A detector may miss a face for so many frames with other boxes; where there are very many boxes, for none. */
#define MOST_MISSED 50
#define MANY_SEEN 2048

typedef struct
{
  ConvolveRect rect; /* of the last frame that had the box */
  guint64 number;
  guint32 frame; /* that frame */
} Seen;

void
gst_cuda_convolve_noise_init (GstCudaConvolveNoise *noise)
{
  *noise = (GstCudaConvolveNoise){ .seen = g_array_new (FALSE, FALSE, sizeof (Seen)) };
}

void
gst_cuda_convolve_noise_clear (GstCudaConvolveNoise *noise)
{
  g_clear_pointer (&noise->seen, g_array_unref);
}

void
gst_cuda_convolve_noise_forget (GstCudaConvolveNoise *noise)
{
  gst_cuda_convolve_noise_clear (noise);
  gst_cuda_convolve_noise_init (noise);
}

gboolean
gst_cuda_convolve_noise_set_seed (GstCudaConvolveNoise *noise, guint seed)
{
  if (noise->keyed && noise->seed == seed)
    return TRUE;
  noise->key[0] = seed;
  noise->key[1] = 0;
  noise->seed = seed;
  noise->keyed = seed != 0 || getrandom (noise->key, sizeof noise->key, 0) == (gssize) sizeof noise->key;
  return noise->keyed;
}

void
gst_cuda_convolve_noise_begin (GstCudaConvolveNoise *noise)
{
  guint most_missed = noise->seen->len > MANY_SEEN ? 1 : MOST_MISSED;

  noise->frame++;
  for (guint i = noise->seen->len; i > 0; i--)
    if (noise->frame - g_array_index (noise->seen, Seen, i - 1).frame > most_missed)
      g_array_remove_index_fast (noise->seen, i - 1);
}

static gint64
overlap (ConvolveRect a, ConvolveRect b)
{
  gint64 width = MIN (a.x + a.width, b.x + b.width) - MAX (a.x, b.x);
  gint64 height = MIN (a.y + a.height, b.y + b.height) - MAX (a.y, b.y);

  return width > 0 && height > 0 ? width * height : 0;
}

guint64
gst_cuda_convolve_noise_number (GstCudaConvolveNoise *noise, ConvolveRect rect)
{
  Seen *best = NULL, added = { rect, noise->n_boxes, noise->frame };
  gint64 most = 0;

  for (guint i = 0; i < noise->seen->len; i++) {
    Seen *seen = &g_array_index (noise->seen, Seen, i);
    gint64 common = seen->frame == noise->frame ? 0 : overlap (seen->rect, rect);

    if (common > most) {
      most = common;
      best = seen;
    }
  }
  if (best) {
    best->rect = rect;
    best->frame = noise->frame;
    return best->number;
  }
  g_array_append_val (noise->seen, added);
  return noise->n_boxes++;
}

void
gst_cuda_convolve_noise_fill (const GstCudaConvolveNoise *noise, guint64 number, guint group, gint depth,
    gdouble epsilon, ConvolveBlocks *blocks)
{
  blocks->noise = lrint (256 * ((1 << depth) - 1) / epsilon);
  blocks->key[0] = noise->key[0];
  blocks->key[1] = noise->key[1];
  blocks->draws[0] = number << 3 | group << 1;
  blocks->draws[1] = (guint64) noise->frame << 32 | (number & 0x1fffffff) << 3 | group << 1 | 1;
}
