/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/picture.h"

/*
 * Adds the samples of a plane in one direction. So many side by side hide that 4x4 luma pixels are full, and that a block
 * has 4 samples of the plane, if need be more of them where the plane has less than 4 in the other direction.
 */
static void
add_line (GstCudaConvolveLine *lines, guint *n, gint step, gint count, gint other_step, gint other_count)
{
  gint others = MIN (other_count, MAX (4 / other_step, 2));
  GstCudaConvolveLine line = { step, count, MAX (4 / step, (4 + others - 1) / others) };

  for (guint i = 0; i < *n; i++)
    if (lines[i].step == line.step && lines[i].count == line.count && lines[i].least == line.least)
      return;
  lines[(*n)++] = line;
}

static void
add_lines (GstCudaConvolvePicture *picture, const GstCudaConvolveGroup *group, gint rows)
{
  gint x_step = group->x_step, y_step = group->y_step;

  add_line (picture->across, &picture->n_across, x_step, group->width, y_step, rows);
  add_line (picture->down, &picture->n_down, y_step, rows, x_step, group->width);
}

static gint
least_block (const GstCudaConvolveLine *lines, guint n_lines)
{
  gint block = 1;

  for (guint n = 0; n < n_lines; n++)
    block = MAX (block, lines[n].step * lines[n].least);
  return block;
}

/* Frames of fields may have one more row of chroma than the layout. */
void
gst_cuda_convolve_picture_init (GstCudaConvolvePicture *picture, const GstCudaConvolvePlans *plans)
{
  const GstCudaConvolveLayout *layout = &plans->work.in;
  gboolean fields =
      gst_cuda_convolve_windows_have_kind (&layout->info, plans->field_mode, GST_CUDA_CONVOLVE_SECOND_ROWS);

  *picture = (GstCudaConvolvePicture){
    .width = GST_VIDEO_INFO_WIDTH (&layout->info),
    .height = GST_VIDEO_INFO_HEIGHT (&layout->info),
    .y_unit = 1,
  };
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];

    if (group->pixel.select == 0)
      continue;
    add_lines (picture, group, group->height);
    if (fields)
      add_lines (picture, group, group->height + 1);
    if (fields)
      picture->y_unit = MAX (picture->y_unit, 2 * (gint) group->y_step);
  }
  picture->block = MAX (least_block (picture->across, picture->n_across), least_block (picture->down, picture->n_down));
}
