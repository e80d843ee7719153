/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work that a batch has collected. batch.c collects it; cpu/regions/batch.c does it on the host, and cuda/regions/batch.cu on a
 * device.
 */
#ifndef CONVOLVE_COMMON_BATCH_H
#define CONVOLVE_COMMON_BATCH_H

#include "convolve_region.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef enum
{
  CONVOLVE_WORK_CONVOLVE,
  CONVOLVE_WORK_BLUR,
  CONVOLVE_WORK_PIXELATE,
  CONVOLVE_WORK_FILL,
  CONVOLVE_WORK_DRAW,
  CONVOLVE_WORK_COPY,
  CONVOLVE_WORK_BLEND
} ConvolveWorkKind;

typedef struct
{
  ConvolveWorkKind kind;
  ConvolvePixel pixel; /* of all but a copy */
  ConvolvePlane plane; /* of a copy, pointers, strides and height alone */
  union
  {
    const ConvolvePlan *plan; /* of a convolution */
    struct
    {
      const ConvolveBlur *blur;
      ConvolveBoundary boundary;
    } blur;
    ConvolveBlocks blocks;
    int values[CONVOLVE_MAX_SAMPLES];
    ConvolveDrawing drawing;
    size_t row_bytes; /* of a copy */
    struct
    {
      ConvolveArea area; /* without the pointers to boxes and extras, which move while the batch grows */
      size_t first_box, first_outline;
      bool outlined;   /* the area has polygons */
      bool has_shapes; /* the weight of a pixel is not that of one box alone: see find_shapes () */
      int n_mattes;
      size_t first_matte;
    } blend;
  };
} ConvolveWork;

/* Where the planes of works are now; those of a first run have not moved. */
typedef struct
{
  const ConvolveMove *list;
  int count;
} ConvolveMoves;

/* Where memory that a work names is now. */
static inline void *
convolve_moved (const ConvolveMoves *moves, const void *memory)
{
  for (int i = 0; i < moves->count; i++) {
    uintptr_t distance = (uintptr_t) memory - (uintptr_t) moves->list[i].from;

    if (distance < moves->list[i].bytes)
      return (uint8_t *) moves->list[i].to + distance;
  }
  return (void *) memory;
}

/*
 * The plane of a work where it is now. The memory of effects does not move, and a pointer to the first pixel of a plane there
 * may lie anywhere.
 */
static inline ConvolvePlane
convolve_moved_plane (const ConvolveMoves *moves, const ConvolveWork *work)
{
  ConvolvePlane moved = work->plane;

  if (work->kind != CONVOLVE_WORK_BLEND)
    moved.source = convolve_moved (moves, moved.source);
  if (work->kind == CONVOLVE_WORK_BLEND || work->kind == CONVOLVE_WORK_COPY)
    moved.destination = convolve_moved (moves, moved.destination);
  return moved;
}

struct ConvolveBatch
{
  ConvolveDevice *device;
  ConvolvePool *pool; /* of the host, or NULL */
  bool has_run;       /* since begin () */
  void *memory;       /* of the effects: on the host or on the device */
  size_t bytes;
  ConvolveWork *works;
  size_t n_works, works_room;
  ConvolveRect *boxes;
  size_t n_boxes, boxes_room;
  ConvolveOutline *outlines; /* of the areas that have polygons */
  size_t n_outlines, outlines_room;
  ConvolvePoint *corners;
  size_t n_corners, corners_room;
  ConvolveMatte *mattes;
  size_t n_mattes, mattes_room;
  void *loaded; /* what the device keeps for the batch, or NULL */
  void *tasks;  /* what the host keeps for it, or NULL */
};

/* The area of a blend with its boxes, and with its extras, for which there is room at extras. */
static inline ConvolveArea
convolve_batch_area (const ConvolveBatch *batch, const ConvolveWork *work, ConvolveExtras *extras)
{
  ConvolveArea area = work->blend.area;

  area.boxes = area.count > 0 ? batch->boxes + work->blend.first_box : NULL;
  *extras = (ConvolveExtras){ .outlines = work->blend.outlined ? batch->outlines + work->blend.first_outline : NULL,
    .corners = batch->corners,
    .n_corners = (int) batch->n_corners };
  if (work->blend.n_mattes > 0) { /* a batch without mattes has none to point to */
    extras->mattes = batch->mattes + work->blend.first_matte;
    extras->n_mattes = work->blend.n_mattes;
  }
  area.extras = work->blend.outlined || work->blend.n_mattes > 0 ? extras : NULL;
  return area;
}

/*
 * The device's parts. begin () makes room for batch->memory, of at least `bytes` bytes. run () is the first one after begin ()
 * where batch->has_run is not set.
 */
ConvolveStatus convolve_device_batch_begin (ConvolveBatch *batch, size_t bytes, ConvolveError *error);
ConvolveStatus convolve_device_batch_run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error);
void convolve_device_batch_clear (ConvolveBatch *batch); /* frees the memory and what is loaded */

/* Does the work of the batch at once, with batch->device as plans of the host would. */
ConvolveStatus convolve_host_batch_run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error);
void convolve_host_batch_clear (ConvolveBatch *batch);

/* Whether the arguments of a work are in their ranges; otherwise INVALID. */
ConvolveStatus convolve_check_area (const ConvolveArea *area, ConvolveError *error);
ConvolveStatus convolve_check_blocks (const ConvolveBlocks *blocks, ConvolveError *error);
ConvolveStatus convolve_check_values (const ConvolvePixel *pixel, const int *values, ConvolveError *error);
ConvolveStatus convolve_check_drawing (const ConvolveDrawing *drawing, ConvolveError *error);
ConvolveStatus convolve_check_part (const ConvolvePixel *pixel, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_check_blend (const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane,
    ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
