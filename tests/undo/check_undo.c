/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What plugin/regions.md says of regions that resist an attack, and of those that do not, on the face of the clip. The face is the
 * small one, whose figures are those of the larger ones (results/undo.md) in a fraction of the time.
 */
#include <gst/check/gstcheck.h>
#include <math.h>

#include "undo/faces.h"

static Matrix frame;

/* The covered face, and the best of the covered face and of all that comes back. */
static void
attack (const Setting *setting, Score *covered, Score *best)
{
  ConvolveRect face = faces_far.face;
  Matrix original = matrix_part (&frame, face);
  Target target = faces_target (&frame, setting, face, 8);
  Judge judge = judge_new (&original, (ConvolveRect){ 0, 0, face.width, face.height });
  g_autofree gchar *properties = cover_properties (setting, face);

  judge_try (&judge, &target.views[0].seen);
  *covered = judge.best;
  attack_by_least_squares (&target, &judge);
  if (setting->effect == EFFECT_PIXELATE) {
    attack_by_interpolation (&target, cover_size (setting, face), &judge);
  } else {
    attack_by_wiener (&target, &judge);
    attack_by_richardson_lucy (&target, 100, &judge);
  }
  *best = judge.best;
  g_print ("%s: PSNR %.1f, attacked %.1f; correlation %.2f, %.2f; cycles %d, %d\n", properties, covered->psnr,
      best->psnr, covered->correlation, best->correlation, covered->cycles, best->cycles);
  judge_clear (&judge);
  target_clear (&target);
  matrix_clear (&original);
}

/* An attack with another mask than the element's would prove nothing. */
GST_START_TEST (attacker_knows_the_effect)
{
  static const Setting settings[] = { { EFFECT_GAUSSIAN, 0.02 }, { EFFECT_GAUSSIAN, 0.2 }, { EFFECT_GAUSSIAN, 0.9 },
    { EFFECT_BOX, 0.1 }, { EFFECT_BOX, 0.9 }, { EFFECT_PIXELATE, 12 }, { EFFECT_PIXELATE, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    ConvolveRect face = faces_far.face;
    Target target = faces_target (&frame, &settings[i], face, 16);
    const View *view = &target.views[0];
    Matrix model = matrix_sandwich (&view->cover.y, &frame, &view->cover.x);
    gdouble worst = 0;

    for (gint k = 0; k < model.rows * model.columns; k++)
      worst = MAX (worst, fabs (model.at[k] - view->seen.at[k]));
    /* In samples of 16 bits a blur is rounded to 8 bits, and blocks are not. */
    fail_unless (worst < (settings[i].effect == EFFECT_PIXELATE ? 0.01 : 0.52),
        "effect %d, amount %g: the model is off by %g code values", settings[i].effect, settings[i].amount, worst);
    matrix_clear (&model);
    target_clear (&target);
  }
}
GST_END_TEST;

/* Nothing new comes back: neither the band that people recognise faces by, nor more detail than a few cycles. */
GST_START_TEST (strong_effects_resist)
{
  static const Setting settings[] = { { EFFECT_GAUSSIAN, 0.2 }, { EFFECT_GAUSSIAN, 0.3 }, { EFFECT_PIXELATE, 6 },
    { EFFECT_PIXELATE, 4 }, { EFFECT_PIXELATE, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    Score covered, best;

    attack (&settings[i], &covered, &best);
    fail_unless (best.correlation < 0.4, "correlation %g", best.correlation);
    fail_unless (best.cycles <= 5, "%d cycles for each face width", best.cycles);
    fail_unless (best.psnr < covered.psnr + 6, "PSNR %g, and %g after the attack", covered.psnr, best.psnr);
  }
}
GST_END_TEST;

/* The attack finds a weak effect. */
GST_START_TEST (weak_effects_are_undone)
{
  static const Setting settings[] = { { EFFECT_GAUSSIAN, 0.02 }, { EFFECT_GAUSSIAN, 0.05 }, { EFFECT_BOX, 0.05 } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    Score covered, best;

    attack (&settings[i], &covered, &best);
    fail_unless (best.correlation > 0.55, "correlation %g", best.correlation);
    fail_unless (best.cycles >= 8, "%d cycles for each face width", best.cycles);
    fail_unless (best.psnr > covered.psnr + 5, "PSNR %g, and %g after the attack", covered.psnr, best.psnr);
  }
}
GST_END_TEST;

static Suite *
undo_suite (void)
{
  Suite *suite = suite_create ("undo");
  TCase *tc = tcase_create ("undo");

  if (!faces_read (g_getenv ("CUDACONVOLVE_CLIP"), &faces_far, FACES_MIDDLE, 1, &frame))
    exit (1);
  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, attacker_knows_the_effect);
  tcase_add_test (tc, strong_effects_resist);
  tcase_add_test (tc, weak_effects_are_undone);
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (undo);
