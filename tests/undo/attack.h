/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks on covered boxes by somebody who knows the effect exactly, and who sees the pixels around the box as they
 * were. Each attack runs with many settings of its own, and a judge who knows the original takes the best: no real
 * attacker can do better with the same attack.
 */
#ifndef TESTS_UNDO_ATTACK_H
#define TESTS_UNDO_ATTACK_H

#include "undo/cover.h"
#include "undo/judge.h"

/* One covered picture of the face. */
typedef struct
{
  ConvolveRect box; /* in the frame that was covered */
  Cover cover;      /* from the frame that is attacked */
  Matrix seen;      /* the covered box */
} View;

void view_clear (View *view);

/*
 * What is attacked: the covered frame, and the box in which its pixels are unknown. views[0] is that box of that frame;
 * further views are of the same face in other frames. Estimates have the size of the box.
 */
typedef struct
{
  Matrix frame;
  ConvolveRect box; /* inside the frame, with at least one pixel around */
  View *views;      /* owned */
  gint n_views;
} Target;

void target_clear (Target *target);

/* Nothing of the box: the smoothest surface between the pixels around the box, which satisfies Laplace's equation. */
void attack_by_surroundings (const Target *target, Judge *judge);
Matrix attack_surface (const Target *target);

/*
 * Wiener's filter in the frequency domain, by the discrete Fourier transform of a window around the box. Outside the
 * box the window holds the convolution of the known pixels and of the estimate so far, in several rounds. The ratios of
 * noise to signal go from 1e-1 to 1e-10, the same for all frequencies or in proportion to the frequency's square. For masks.
 */
void attack_by_wiener (const Target *target, Judge *judge);

/*
 * Wiener's filter without a transform's periodicity: the most likely picture where the rounding is white noise, and the
 * face differs from attack_surface() by noise of a power that falls with the square of the frequency. Sines up to
 * ATTACK_MOST_CYCLES for each face width, conjugate gradients, ratios of noise to signal from 1e-1 to 1e-12. From any
 * number of views, for every effect; with several views this is super-resolution.
 */
#define ATTACK_MOST_CYCLES 48
void attack_by_least_squares (const Target *target, Judge *judge);

/* Richardson's and Lucy's iteration, up to `iterations`, with the pixels around the box known. For one view. */
void attack_by_richardson_lucy (const Target *target, gint iterations, Judge *judge);

/* Bicubic interpolation between the centres of blocks of that many pixels. For pixelate. */
void attack_by_interpolation (const Target *target, gint block, Judge *judge);

#endif
