/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/contest.h"

/* A side's best of some rounds counts. A round has so many frames that the copies of frames under way overlap as usual. */
#define ROUND_FRAMES 4
#define ROUNDS 5

/*
 * Frames before the rounds. The first frames on the device wake the bus, and are in memory that is not page-locked yet. The
 * first frames on the CPU also wait for what the device has under way.
 */
static const guint warm_up[GST_CUDA_CONVOLVE_N_SIDES] = { 16, 4 };

/* The CPU has to win by one part in this number, which is more than noise. */
#define MARGIN 20

/* The CPU loses without further frames where a round takes so many times as long as the device's best one. */
#define LOST 2

/* A side is hopeless where a frame takes so many times as long as on the other side, and so long. */
#define HOPELESS 4
#define HOPELESS_TIME (10 * GST_MSECOND)
#define HOPELESS_FRAMES 2 /* that are tried */

/* Both sides are timed again after so many frames, times the slower side's time in the faster one's. */
#define CHOICE_FRAMES 4096

/* Both sides are timed again after so many slow frames, and not sooner after a choice, so that timing never costs much. */
#define SLOW 2 /* times as long as a frame took when it was timed */
#define SLOW_FRAMES 16
#define LEAST_FRAMES 512

void
gst_cuda_convolve_contest_begin (GstCudaConvolveContest *contest)
{
  *contest = (GstCudaConvolveContest){ .best = { G_MAXUINT64, G_MAXUINT64 } };
}

static gboolean
is_hopeless (guint64 time, guint64 other)
{
  return time > HOPELESS_TIME && time / HOPELESS > other;
}

static gboolean
settle (GstCudaConvolveContest *contest)
{
  const guint64 *best = contest->best;

  contest->side = best[GST_CUDA_CONVOLVE_HOST] < best[GST_CUDA_CONVOLVE_DEVICE] / MARGIN * (MARGIN - 1)
      ? GST_CUDA_CONVOLVE_HOST
      : GST_CUDA_CONVOLVE_DEVICE;
  contest->settled = TRUE;
  contest->frames = contest->slow = 0;
  return TRUE;
}

/* A frame came after the choice. */
static void
watch (GstCudaConvolveContest *contest, guint64 time)
{
  guint64 faster = MAX (MIN (contest->best[0], contest->best[1]), 1), slower = MAX (contest->best[0], contest->best[1]);

  contest->frames++;
  if (time / SLOW > contest->best[contest->side])
    contest->slow++;
  else if (contest->slow > 0)
    contest->slow--;
  if ((contest->slow >= SLOW_FRAMES && contest->frames >= LEAST_FRAMES)
      || (contest->frames / CHOICE_FRAMES >= slower / faster && !is_hopeless (slower, faster)))
    gst_cuda_convolve_contest_begin (contest);
}

static gboolean
end_round (GstCudaConvolveContest *contest)
{
  guint64 *best = contest->best;
  gboolean host = contest->side == GST_CUDA_CONVOLVE_HOST;

  best[contest->side] = MIN (best[contest->side], contest->sum / ROUND_FRAMES);
  contest->sum = 0;
  if (host && best[GST_CUDA_CONVOLVE_HOST] / LOST > best[GST_CUDA_CONVOLVE_DEVICE])
    return settle (contest);
  if (contest->frames < warm_up[contest->side] + ROUND_FRAMES * ROUNDS)
    return FALSE;
  if (host)
    return settle (contest);
  contest->side = GST_CUDA_CONVOLVE_HOST;
  contest->frames = 0;
  return FALSE;
}

gboolean
gst_cuda_convolve_contest_add (GstCudaConvolveContest *contest, guint64 time)
{
  if (contest->settled) {
    watch (contest, time);
    return FALSE;
  }
  contest->frames++;
  if (contest->side == GST_CUDA_CONVOLVE_HOST && is_hopeless (time, contest->best[GST_CUDA_CONVOLVE_DEVICE])
      && ++contest->slow == HOPELESS_FRAMES) {
    contest->best[GST_CUDA_CONVOLVE_HOST] = MIN (contest->best[GST_CUDA_CONVOLVE_HOST], time);
    return settle (contest);
  }
  if (contest->frames <= warm_up[contest->side])
    return FALSE;
  contest->sum += time;
  return (contest->frames - warm_up[contest->side]) % ROUND_FRAMES == 0 && end_round (contest);
}
