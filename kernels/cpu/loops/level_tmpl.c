/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A level. The file is compiled once for each instruction set: CONVOLVE_CPU_LEVEL is the name of the table, and
 * CONVOLVE_CPU_NAME the name that users read. Nothing but the table is visible outside, because a linker could take a
 * function of one instruction set for its namesake of another. That is why the loops stand in headers.
 */
#include "cpu/loops/level.h"

#include "cpu/loops/cells_tmpl.h"
#include "cpu/loops/fourier_tmpl.h"
#include "cpu/loops/floats_tmpl.h"
#include "cpu/loops/fold_tmpl.h"
#include "cpu/loops/light_tmpl.h"
#include "cpu/loops/pairs_tmpl.h"
#include "cpu/loops/pixels_tmpl.h"
#include "cpu/loops/products_tmpl.h"
#include "cpu/loops/sets_tmpl.h"
#include "cpu/loops/shrink_tmpl.h"
#include "cpu/loops/tail_tmpl.h"
#include "cpu/loops/wide_tmpl.h"
#include "cpu/loops/window_tmpl.h"

extern const ConvolveCpuLevel CONVOLVE_CPU_LEVEL;
const ConvolveCpuLevel CONVOLVE_CPU_LEVEL = {
  .name = CONVOLVE_CPU_NAME,
  .load = load,
  .store = store,
  .stream = stream,
  .stream_words = stream_words,
  .settle = settle,
  .pair_up = pair_up,
  .pair_up_bytes = pair_up_bytes,
  .sum_rows = sum_rows,
  .values_of_rows = values_of_rows,
  .tails_of_rows = tails_of_rows,
  .values_of_row = values_of_row,
  .wide_sums_of_rows = wide_sums_of_rows,
  .wide_values_of_rows = wide_values_of_rows,
  .row_sums_of_neighbours = row_sums_of_neighbours,
  .row_sums_of_pairs = row_sums_of_pairs,
  .row_sums_apart = row_sums_apart,
  .fold_rows = fold_rows,
  .add_centre = add_centre,
  .slide = slide,
  .slide_edges = slide_edges,
  .add_windows = add_windows,
  .window = window,
  .values_of_int_windows = values_of_int_windows,
  .slide_shorts = slide_shorts,
  .values_of_windows = values_of_windows,
  .values_to_floats = values_to_floats,
  .words_to_floats = words_to_floats,
  .sum_floats = sum_floats,
  .sum_columns_of_floats = sum_columns_of_floats,
  .sum_mirrored_columns = sum_mirrored_columns,
  .sum_mirrored_rows = sum_mirrored_rows,
  .sum_few_floats = sum_few_floats,
  .values_of_few_floats = values_of_few_floats,
  .values_of_squares = values_of_squares,
  .sum_floats_in_double = sum_floats_in_double,
  .sum_doubles = sum_doubles,
  .halve_values = halve_values,
  .halve_floats = halve_floats,
  .sum_mirrored = sum_mirrored,
  .enlarge = enlarge,
  .values_between = values_between,
  .magnitude_of_shorts = magnitude_of_shorts,
  .largest_of_shorts = largest_of_shorts,
  .add_squares_of_ints = add_squares_of_ints,
  .add_squares_of_floats = add_squares_of_floats,
  .add_squares_of_doubles = add_squares_of_doubles,
  .larger_of_shifts = larger_of_shifts,
  .replace_by_larger = replace_by_larger,
  .fourier = fourier,
  .multiply = multiply,
  .values_to_doubles = values_to_doubles,
  .add_rounded = add_rounded,
  .unpack_light = unpack_light,
  .pack_light = pack_light,
  .unpack_fours = unpack_fours,
  .pack_fours = pack_fours,
  .ints_to_values = ints_to_values,
  .ints_to_values_in_double = ints_to_values_in_double,
  .floats_to_values = floats_to_values,
  .floats_to_values_in_double = floats_to_values_in_double,
  .doubles_to_values = doubles_to_values,
  .roots_to_values = roots_to_values,
};
