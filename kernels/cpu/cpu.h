/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The variant cpu: threads and vector instructions on the host.
 *
 * When a plan is made, cpu/paths/prepare.c chooses a path: the cheapest way to compute the plan's arithmetic, or, where that
 * is FREE, the cheapest one whose error, bounded from the taps, keeps the promise of convolve.h. A second path may be
 * prepared for large regions. For each plane, cpu/paths/cut.c chooses one of the two and cuts the region into jobs, which the
 * threads of a pool take. A job keeps the rows under the mask in a ring, converted and with the boundary applied, and
 * the path moves down the job row by row. Each path is a row of cpu/paths/paths.h, in a file cpu/path_*.c. The loops over a
 * row of elements are in cpu/loops/level_tmpl.c, compiled once for each instruction set.
 *
 * Words
 *
 *   sample, pixel   as in convolve.h: a pixel has 1 to 4 samples
 *   value           a sample as a number from 0 to 2^depth - 1
 *   element         one entry of a row. The samples of a pixel stay side by side, so the neighbour of an element in
 *                   the next pixel is `samples` elements away, and one loop serves all formats.
 *   middle          the middle of the range of values. Values less the middle (signed values) fit 16 bits with a sign.
 *   pair            two 16-bit numbers in a 32-bit word: two elements, or the two taps that multiply these
 *   term            in a sum, the pairs of one row times one pair of taps
 *   group           terms that have a 32-bit sum of their own. Sums of groups are added up exactly: ConvolveWideTerms
 *   product         a column of taps times a row of taps; a factored mask is a sum of up to CONVOLVE_MAX_RANK products
 *   fold            of a product whose row is symmetric: samples that have the same tap are added before the product
 *   few floats      a sum of few taps in float, of a mask or of a column or row, whose loop is unrolled
 *   set             taps of a mask that combines several of them; a part is a set as a plan of its own
 *   couple          two sets whose 16-bit sums are made together
 *   path            one way to convolve: ConvolveCpuPath, and ConvolveCpuPathRow of cpu/paths/paths.h
 *   level           the loops for one instruction set: cpu/loops/level.h
 *   lane            the place of one element in a vector register
 *   strip, band     columns and rows of the region; a job is where a strip and a band cross: cpu/paths/cut.h
 *   job             a rectangle of outputs that one thread convolves: cpu/paths/job.h
 *   batch           rows of outputs whose column sums are made together
 *   square          a square of samples that one Fourier transform takes: cpu/paths/fft.h
 *   tail            what turns a sum into a sample: scale, offset, rounding, clamping (common/tail.h)
 *
 * Pairs
 *
 * One instruction multiplies the pairs of a register by pairs of taps and adds each two products to a 32-bit sum.
 * Integer sums have no order, so the result cannot depend on how a plane was cut.
 *
 * An example: a mask of one column with the taps 1 2 3, over a column with the values 10 20 30 40 (less the middle).
 * Rows are paired: the first two rows give the word (10, 20), which is 10 + 20 * 65536, and the next two (30, 40).
 * Two outputs are made of the same words, and the mask of the lower output begins one row further down:
 *
 *   word        upper taps   lower taps
 *   (10, 20)      (1, 2)       (0, 1)        the upper output is 10 * 1 + 20 * 2 + 30 * 3 + 40 * 0 = 140
 *   (30, 40)      (3, 0)       (2, 3)        the lower output is 10 * 0 + 20 * 1 + 30 * 2 + 40 * 3 = 200
 *
 * Each line is a ConvolveTerm. A wider mask has such terms for each of its columns, `samples` elements apart. Where a
 * pixel is one sample, sums along a row work in the same way: two neighbouring 16-bit elements in memory are a pair.
 */
#ifndef CONVOLVE_CPU_CPU_H
#define CONVOLVE_CPU_CPU_H

#include "convolve_pool.h"
#include "cpu/paths/cut.h"
#include "cpu/paths/prepared.h"

/* Bytes of memory that each thread needs. */
size_t convolve_cpu_memory (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolveCpuCut *cut);

/* Convolves a plane, cut in this way. The variant's run () does so with convolve_cpu_cut (). */
ConvolveStatus convolve_cpu_run_cut (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolveCpuCut *cut,
    ConvolveError *error);

/* The plain loop that all variants are held against, for any plan. */
ConvolveStatus convolve_cpu_reference_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

#endif
