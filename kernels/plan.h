/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of one variant. convolve_plan_new () is made of these, and of trials. */
#ifndef CONVOLVE_PLAN_H
#define CONVOLVE_PLAN_H

#include "common/internal.h"

/* What a plan is for. */
typedef struct
{
  const ConvolvePixel *pixel;
  ConvolveBoundary boundary;
  const ConvolveMask *mask;
  ConvolveDevice *device; /* or NULL */
  int64_t pixels;         /* of a plane, roughly; 0: unknown */
} ConvolvePlanRequest;

/*
 * Makes a plan by the variant, or with NULL by the one that the rules of auto.c choose. NULL where there is an error.
 */
ConvolvePlan *convolve_plan_make (const ConvolvePlanRequest *request, const ConvolveVariant *variant,
    ConvolveError *error);

#endif
