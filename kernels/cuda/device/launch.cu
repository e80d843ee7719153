/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all CUDA variants share when they load a kernel and launch it. */
#include "cuda/device/launch.cuh"

#include <stdio.h>
#include <stdlib.h>

#define SHARED_BY_DEFAULT (48 * 1024) /* bytes of shared memory that a block may take unless its kernel asks for more */

/* plan->loaded of the variants that are one kernel over tiles. */
struct Tiles
{
  const void *kernel;
  ConvolveGrid grid;
  const void *mask;
};

ConvolveStatus
convolve_allow_shared (ConvolveDevice *device, const void *kernel, size_t bytes, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  cudaFuncAttributes attributes;
  cudaError_t code;

  if (entry.status != CONVOLVE_OK || bytes <= SHARED_BY_DEFAULT)
    return entry.status;
  code = cudaFuncGetAttributes (&attributes, kernel);
  if (code == cudaSuccess)
    code = cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
        (int) (device->shared_limit - attributes.sharedSizeBytes));
  return code == cudaSuccess ? CONVOLVE_OK
                             : convolve_device_fail (device, code, "cannot set the shared memory of a kernel", error);
}

void *
convolve_new_loaded (ConvolvePlan *plan, size_t bytes, ConvolveError *error)
{
  plan->loaded = calloc (1, bytes);
  if (!plan->loaded)
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no host memory for a plan");
  return plan->loaded;
}

void
convolve_image_init (ConvolveImage *image, const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveRect *region = &plane->region;

  image->source = (const uint8_t *) plane->source;
  image->destination = (uint8_t *) plane->destination;
  image->source_stride = plane->source_stride;
  image->destination_stride = plane->destination_stride;
  image->width = plane->width;
  image->height = plane->height;
  image->x0 = region->x;
  image->x1 = region->x + region->width;
  image->y0 = region->y;
  image->y1 = region->y + region->height;
  image->pixel_stride = pixel->stride;
  image->shift = pixel->shift;
  image->maximum = (1 << pixel->depth) - 1;
  image->select = pixel->select;
  image->swapped = pixel->swapped;
  image->boundary = (uint8_t) plan->boundary;
  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++)
    image->zero[i] = plan->outside_level[i];
  image->mask_width = plan->taps.width;
  image->mask_height = plan->taps.height;
  image->tail = plan->tail;
}

/*
 * The runtime loads the code of all kernels once. Where it could not load a file's, or find a kernel in it, launches
 * fail until the process ends, with an error that speaks of an argument, of the kernel or of memory.
 */
static ConvolveStatus
fail_to_launch (ConvolveDevice *device, const void *kernel, cudaError_t code, const char *name, ConvolveError *error)
{
  cudaFuncAttributes attributes;
  char what[100];

  cudaGetLastError ();
  snprintf (what, sizeof (what), "%s%s", name,
      cudaFuncGetAttributes (&attributes, kernel) == cudaSuccess
          ? ""
          : ": its code is not loaded, which lasts until the process is started again");
  return convolve_device_fail (device, code, what, error);
}

ConvolveStatus
convolve_enqueue (ConvolveDevice *device, const ConvolveLaunch &launch, void **arguments, const char *name,
    ConvolveError *error)
{
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = {};
  ConvolveStatus status = convolve_flush (device, error);

  if (status != CONVOLVE_OK)
    return status;
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = launch.blocks;
  config.blockDim = launch.block;
  config.dynamicSmemBytes = launch.shared;
  config.stream = device->streams[PHASE_KERNEL];
  config.attrs = &overlap;
  config.numAttrs = (launch.waits || launch.ordered) && device->overlaps;
  cudaError_t code = cudaLaunchKernelExC (&config, launch.kernel, arguments);

  device->beside =
      code == cudaSuccess && device->independent && launch.ordered && device->capability == CONVOLVE_BESIDE;

  return code == cudaSuccess ? CONVOLVE_OK : fail_to_launch (device, launch.kernel, code, name, error);
}

static ConvolveLaunch
launch_of (const void *kernel, const ConvolveGrid &grid)
{
  return { kernel, grid.blocks, grid.block, grid.shared, grid.waits, grid.ordered };
}

ConvolveStatus
convolve_launch (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel, const ConvolveGrid &grid,
    const void *mask, ConvolveError *error)
{
  const char *name = plan->variant->name;
  const bool tiled = grid.tile_height > 0;
  const int most_rows = CONVOLVE_MOST_BLOCKS_DOWN * grid.tile_height;
  ConvolveLaunch launch = launch_of (kernel, grid);
  ConvolveEntry entry (plan->device, error);
  ConvolveStatus status = entry.status;
  ConvolveImage image;
  cudaError_t code;

  if (status != CONVOLVE_OK || (status = convolve_flush (plan->device, error)) != CONVOLVE_OK)
    return status;
  if ((code = convolve_frame_enqueue (plan->device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (plan->device, code, name, error);
  convolve_image_init (&image, plan, plane);
  image.beside = grid.ordered && plan->device->beside;
  void *arguments[] = { &image, (void *) mask };

  do {
    int rows = image.y1 - image.y0 < most_rows ? image.y1 - image.y0 : most_rows;

    if (tiled)
      launch.blocks = dim3 ((image.x1 - image.x0 + grid.tile_width - 1) / grid.tile_width,
          (rows + grid.tile_height - 1) / grid.tile_height, plan->pixel.samples);
    status = convolve_enqueue (plan->device, launch, arguments, name, error);
    image.y0 += most_rows;
  } while (tiled && image.y0 < image.y1 && status == CONVOLVE_OK);
  return status;
}

ConvolveStatus
convolve_hold (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolvePrepared &alone,
    const ConvolvePrepared &first, const void *const (&kernels)[CONVOLVE_MOST_TWO], ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status == CONVOLVE_OK ? convolve_flush (device, error) : entry.status;
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if (!device->held)
    device->held = (ConvolveHeld *) malloc (sizeof (ConvolveHeld));
  if (!device->held)
    return convolve_launch (plan, plane, alone.kernel, alone.grid, alone.mask, error);
  if ((code = convolve_frame_enqueue (device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (device, code, plan->variant->name, error);
  device->held->name = plan->variant->name;
  convolve_image_init (&device->held->image, plan, plane);
  device->held->alone = alone;
  device->held->first = first;
  memcpy (device->held->kernels, kernels, sizeof (kernels));
  device->holds = true;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_flush (ConvolveDevice *device, ConvolveError *error)
{
  if (!device->holds)
    return CONVOLVE_OK;
  ConvolveHeld *held = device->held;
  void *arguments[] = { &held->image, held->alone.mask };
  ConvolveEntry entry (device, error);

  device->holds = false;
  if (entry.status != CONVOLVE_OK)
    return entry.status;
  held->image.beside = device->beside;
  return convolve_enqueue (device, launch_of (held->alone.kernel, held->alone.grid), arguments, held->name, error);
}

ConvolveStatus
convolve_launch_two (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel,
    const ConvolvePrepared &second, ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  ConvolveHeld *held = device->held;
  const dim3 first = held->first.grid.blocks, then = second.grid.blocks;
  ConvolveLaunch launch = launch_of (kernel, second.grid);
  ConvolveTwoGrids grids = { { first.x, then.x }, first.y };
  ConvolveEntry entry (device, error);
  ConvolveImage image;
  void *arguments[] = { &held->image, held->first.mask, &image, (void *) second.mask, &grids };
  cudaError_t code;

  device->holds = false;
  if (entry.status != CONVOLVE_OK)
    return entry.status;
  if ((code = convolve_frame_enqueue (device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (device, code, held->name, error);
  convolve_image_init (&image, plan, plane);
  held->image.beside = image.beside = device->beside;
  launch.blocks = dim3 (first.x > then.x ? first.x : then.x, first.y + then.y);
  return convolve_enqueue (device, launch, arguments, held->name, error);
}

ConvolveStatus
convolve_load_tiles (ConvolvePlan *plan, const void *kernel, const ConvolveGrid &grid, const void *mask,
    ConvolveError *error)
{
  Tiles *tiles = (Tiles *) convolve_new_loaded (plan, sizeof (Tiles), error);

  if (!tiles)
    return CONVOLVE_NO_MEMORY;
  *tiles = { kernel, grid, mask };
  return convolve_allow_shared (plan->device, kernel, grid.shared, error);
}

ConvolveStatus
convolve_run_tiles (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Tiles *tiles = (const Tiles *) plan->loaded;

  return convolve_launch (plan, plane, tiles->kernel, tiles->grid, tiles->mask, error);
}

ConvolveStatus
convolve_run_halves (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveCut cut,
    ConvolveStatus (*run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error),
    ConvolveError *error)
{
  ConvolvePlane halves[2] = { *plane, *plane };
  ConvolveRect *first = &halves[0].region, *second = &halves[1].region;

  if (cut == CONVOLVE_SIDE_BY_SIDE) {
    first->width /= 2;
    second->x += first->width;
    second->width -= first->width;
  } else {
    first->height /= 2;
    second->y += first->height;
    second->height -= first->height;
  }
  ConvolveStatus status = run (plan, &halves[0], error);

  return status == CONVOLVE_OK ? run (plan, &halves[1], error) : status;
}
