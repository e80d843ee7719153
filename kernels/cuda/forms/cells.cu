/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of cells on a device: a thread for each cell, and a layer of blocks for each packed plane. */
#include "cuda/forms/cells.h"

#include "cuda/device/launch.cuh"

#define THREADS_ACROSS 64
#define THREADS_DOWN 4

typedef struct
{
  ConvolveCells cells;
  ConvolveCellJob planes[CONVOLVE_CELL_PLANES];
} Pass;

template <bool PACKS>
static __global__ void __launch_bounds__ (THREADS_ACROSS *THREADS_DOWN)
    convolve_cells_pass (__grid_constant__ const Pass pass)
{
  const ConvolveCellPlane &plane = pass.cells.planes[blockIdx.z];
  const int x = blockIdx.x * THREADS_ACROSS + threadIdx.x;

  convolve_wait ();
  if (x * plane.cell >= plane.row_bytes)
    return;
  for (int y = blockIdx.y * THREADS_DOWN + threadIdx.y; y < plane.rows; y += gridDim.y * THREADS_DOWN)
    if (PACKS)
      convolve_pack_cell (&plane, &pass.planes[blockIdx.z], x, y);
    else
      convolve_unpack_cell (&plane, &pass.planes[blockIdx.z], x, y);
}

/* Blocks that take all cells of all planes, as many across and down as the largest plane needs. */
static dim3
count_blocks (const ConvolveCells *cells)
{
  int across = 1, down = 1;

  for (int i = 0; i < cells->n_planes; i++) {
    const ConvolveCellPlane *plane = &cells->planes[i];
    int n = (plane->row_bytes + plane->cell - 1) / plane->cell;

    across = max (across, (n + THREADS_ACROSS - 1) / THREADS_ACROSS);
    down = max (down, (plane->rows + THREADS_DOWN - 1) / THREADS_DOWN);
  }
  return dim3 (across, down < CONVOLVE_MOST_BLOCKS_DOWN ? down : CONVOLVE_MOST_BLOCKS_DOWN, cells->n_planes);
}

ConvolveStatus
convolve_cells_run (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error)
{
  const ConvolveCells *cells = &((const ConvolveCellForm *) form)->cells;
  ConvolveEntry entry (form->device, error);
  Pass both = { *cells };
  ConvolveLaunch launch = {};
  void *arguments[] = { &both };

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  cudaError_t code = convolve_frame_enqueue (form->device, PHASE_KERNEL);

  if (code != cudaSuccess)
    return convolve_device_fail (form->device, code, "cells", error);
  for (int i = 0; i < cells->n_planes; i++)
    both.planes[i] = convolve_cell_job (job, i);
  launch.kernel =
      pass == CONVOLVE_FORM_PACK ? (const void *) convolve_cells_pass<true> : (const void *) convolve_cells_pass<false>;
  launch.blocks = count_blocks (cells);
  launch.block = dim3 (THREADS_ACROSS, THREADS_DOWN);
  launch.waits = true;
  return convolve_enqueue (form->device, launch, arguments, "cells", error);
}
