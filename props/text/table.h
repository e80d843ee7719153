/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights in a file of text, as people, spreadsheets and libvips write them. */
#ifndef CONVOLVE_TABLE_H
#define CONVOLVE_TABLE_H

#include "text/grid.h"

/* Reads a text as mask_file.h describes it. Otherwise as convolve_grid_parse(). */
ConvolveGrid *convolve_table_parse (const gchar *name, const gchar *text, GError **error);

#endif
