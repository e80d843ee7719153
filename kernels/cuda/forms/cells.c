/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of cells: a description, which both passes read. */
#include "cuda/forms/cells.h"

static const ConvolveFormKind kind = {
  .size = sizeof (ConvolveCellForm),
  .row_unit = 2,
  .rows = { convolve_cells_unpack_rows, convolve_cells_pack_rows },
  .run = convolve_cells_run,
};

/* Whether each sample lies in the cell, on one side of its middle, and belongs to an inner plane that has its place. */
static bool
are_samples_sound (const ConvolveCellPlane *plane)
{
  for (int k = 0; k < plane->n_samples; k++) {
    const ConvolveCellSample *sample = &plane->samples[k];
    int last = sample->shift + sample->bits - 1;

    if (sample->bits < 1 || sample->bits > plane->depth || last >= 8 * plane->cell
        || (sample->shift < 64) != (last < 64) || sample->plane >= CONVOLVE_CELL_INNER
        || sample->index >= plane->counts[sample->plane] || plane->width[sample->plane] < 1)
      return false;
  }
  return plane->n_samples > 0 && plane->n_samples <= CONVOLVE_CELL_SAMPLES;
}

static bool
are_tiles_sound (const ConvolveCellPlane *plane)
{
  return plane->tile_bytes == 0
      || (plane->tile_bytes > 0 && plane->tile_rows > 0
          && (int64_t) plane->tiles_x * plane->tile_bytes >= plane->row_bytes
          && (int64_t) plane->tiles_y * plane->tile_rows >= plane->rows && !(plane->zigzag && plane->tiles_x % 2 == 1));
}

static bool
is_plane_sound (const ConvolveCellPlane *plane)
{
  return plane->cell >= 1 && plane->cell <= 16 && !(plane->big && plane->cell > 8) && plane->row_bytes >= 1
      && plane->rows >= 1 && plane->y_shift >= 0 && plane->y_shift <= 1 && (plane->depth == 8 || plane->depth == 10)
      && are_samples_sound (plane) && are_tiles_sound (plane);
}

ConvolveForm *
convolve_form_new_cells (const ConvolveCells *cells, ConvolveDevice *device, ConvolveError *error)
{
  bool sound = cells->n_planes >= 1 && cells->n_planes <= CONVOLVE_CELL_PLANES;
  ConvolveCellForm *form;

  for (int i = 0; sound && i < cells->n_planes; i++)
    sound = is_plane_sound (&cells->planes[i]);
  if (!sound) {
    convolve_fail (error, CONVOLVE_INVALID, 0, "a description of cells contradicts itself");
    return NULL;
  }
  form = (ConvolveCellForm *) convolve_form_new (&kind, device, error);
  if (form)
    form->cells = *cells;
  return form ? &form->form : NULL;
}
