/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "auto.h"
#include "convolve_device.h"
#include "measure.h"

/* Plans of one mask by several variants, and a plane to time them on. */
typedef struct
{
  const ConvolvePlanRequest *request;
  const ConvolveMeasurement *measurement;
  ConvolvePlan *plans[CONVOLVE_MOST_CANDIDATES];
  int launches[CONVOLVE_MOST_CANDIDATES]; /* that are timed at once; 0: the plan has not run yet */
  ConvolvePlane plane;
  void *memory; /* of pairs of planes on the device, a source and a destination; NULL before it is needed */
  size_t bytes; /* of a plane */
  int pairs, turn;
} Trial;

static ConvolvePlan *
candidate (Trial *trial, int i)
{
  if (!trial->plans[i])
    trial->plans[i] = convolve_plan_make (trial->request, trial->measurement->rows[i], NULL);
  return trial->plans[i];
}

/*
 * Sets a plane of about the plan's pixels, as wide as a row of video, and memory for pairs of such planes, a source and
 * a destination each. Frames of a film come from memory, but one pair of planes would stay in the device's level 2
 * cache, 50 MB on an H200. So there are more pairs than that cache holds, and each launch takes the next pair. Where
 * there is not enough memory for that, one pair has to do.
 */
static bool
make_plane (Trial *trial)
{
  ConvolveDevice *device = trial->plans[0]->device;
  const double pixels = trial->plans[0]->pixels > 0 ? (double) trial->plans[0]->pixels : 3840 * 2160;
  ConvolvePlane *plane = &trial->plane;

  if (trial->memory)
    return true;
  plane->width = (int) ceil (sqrt (pixels * 16 / 9) / 64) * 64;
  plane->height = (int) ceil (pixels / plane->width);
  plane->region = (ConvolveRect){ 0, 0, plane->width, plane->height };
  plane->source_stride = plane->destination_stride = (ptrdiff_t) plane->width * trial->request->pixel->stride;
  trial->bytes = (size_t) plane->source_stride * plane->height;
  trial->pairs = 1 + (int) (convolve_device_cache_bytes (device) / trial->bytes);
  trial->memory = convolve_device_alloc (device, 2 * trial->bytes * trial->pairs, NULL);
  if (!trial->memory) {
    trial->pairs = 1;
    trial->memory = convolve_device_alloc (device, 2 * trial->bytes, NULL);
  }
  return trial->memory != NULL;
}

/* Runs the plan on the next pair of planes. */
static bool
run_next (Trial *trial, ConvolvePlan *plan)
{
  uint8_t *pair = (uint8_t *) trial->memory + 2 * trial->bytes * trial->turn;

  trial->turn = (trial->turn + 1) % trial->pairs;
  trial->plane.source = pair;
  trial->plane.destination = pair + trial->bytes;
  return convolve_run (plan, &trial->plane, NULL) == CONVOLVE_OK;
}

/* The nanoseconds of a launch, the mean of `count` of them; negative where one failed. */
static double
time_launches (Trial *trial, ConvolvePlan *plan, int count)
{
  bool done = true;

  convolve_device_timer_start (plan->device);
  for (int k = 0; k < count && done; k++)
    done = run_next (trial, plan);
  double taken = convolve_device_timer_stop (plan->device);
  return done && taken >= 0 ? taken / count : -1;
}

/*
 * The nanoseconds of a launch. A candidate's first call loads its code before, and finds how many launches are long
 * enough for the host to be ahead of the device.
 */
static double
time_candidate (void *data, int i)
{
  enum
  {
    ENOUGH_NS = 150 * 1000,
    LEAST = 4,
    MOST = 32
  };
  Trial *trial = data;
  ConvolvePlan *plan = candidate (trial, i);

  if (!plan || !make_plane (trial))
    return -1;
  if (trial->launches[i] == 0) {
    if (time_launches (trial, plan, 1) < 0)
      return -1;
    double taken = time_launches (trial, plan, LEAST);
    double count = taken > 0 ? ENOUGH_NS / taken : LEAST;

    trial->launches[i] = count < LEAST ? LEAST : count > MOST ? MOST : (int) count;
    if (count <= LEAST)
      return taken;
  }
  return time_launches (trial, plan, trial->launches[i]);
}

/* Masks of one kind may have other candidates, for example because of one weight that is too large for a variant. */
static void
add_names (ConvolveMeasurement *measurement)
{
  char *kind = measurement->kind;

  for (int i = 0; i < measurement->count; i++) {
    size_t used = strlen (kind);

    snprintf (kind + used, sizeof (measurement->kind) - used, "%s%s", i > 0 ? "," : " by ", measurement->rows[i]->name);
  }
}

ConvolvePlan *
convolve_trial_best (ConvolvePlan *plan, const ConvolvePlanRequest *request)
{
  ConvolveMeasurement measurement = { .device = convolve_device_name (plan->device), .time = time_candidate };
  Trial trial = { .request = request, .measurement = &measurement, .plans = { plan } };
  int fastest;

  if (plan->taps.width > CONVOLVE_MEASURE_SIDE || plan->taps.height > CONVOLVE_MEASURE_SIDE)
    return plan;
  measurement.count = convolve_auto_candidates (plan, measurement.rows, CONVOLVE_MOST_CANDIDATES);
  if (measurement.count < 2)
    return plan;
  measurement.data = &trial;
  convolve_measure_kind (plan, measurement.kind, sizeof (measurement.kind));
  add_names (&measurement);
  fastest = convolve_measure_fastest (&measurement);
  if (!candidate (&trial, fastest))
    fastest = 0;
  if (trial.memory)
    convolve_device_release (plan->device, trial.memory);
  for (int i = 0; i < measurement.count; i++)
    if (i != fastest)
      convolve_plan_unref (trial.plans[i]);
  return trial.plans[fastest];
}
