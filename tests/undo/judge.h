/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much of a face an estimate shows.
 *
 * PSNR counts every frequency alike, and most of a face's energy is its rough shading. People recognise faces by a
 * narrow band: Nasanen, "Spatial frequency bandwidth used in the recognition of facial images", Vision Research 39
 * (1999), finds the highest sensitivity at 8 to 13 cycles per face width; Costen, Parker and Craw, "Spatial content and
 * spatial quantisation effects in face recognition", Perception 23 (1994), find that recognition suffers where a limit
 * falls inside 4.5 to 12.5. So the correlation is that of the band from 4 to 12, which is kind to the attacker at its
 * lower end. Both measures of a band leave the mean and the contrast out of account.
 */
#ifndef TESTS_UNDO_JUDGE_H
#define TESTS_UNDO_JUDGE_H

#include "undo/matrix.h"

#define JUDGE_BAND_LOW 4.0 /* cycles per face width */
#define JUDGE_BAND_HIGH 12.0
#define JUDGE_MOST_CYCLES 40

typedef struct
{
  gdouble psnr;        /* decibels, peak 255 */
  gdouble correlation; /* of the band with the same band of the original, -1 to 1 */
  gint cycles;         /* detail per face width: up to this frequency each ring correlates by 0.5 or more */
} Score;

typedef struct
{
  ConvolveRect face;    /* in the estimates */
  Matrix original;      /* the face alone */
  Matrix rows, columns; /* cosines */
  Matrix spectrum;      /* of the original */
  Score best;           /* of all estimates, each number by itself */
  Matrix picture;       /* the face in the estimate with the largest PSNR */
} Judge;

/* Estimates are pictures whose part `face` is to be compared with the original. */
Judge judge_new (const Matrix *original, ConvolveRect face);
void judge_clear (Judge *judge);

/* Judges anew: forgets the best. */
void judge_restart (Judge *judge);

/* Keeps the best of what was tried. Samples outside 0..255 are cut off first, as in a picture. */
void judge_try (Judge *judge, const Matrix *estimate);

#endif
