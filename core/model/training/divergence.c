/* SPDX-License-Identifier: MIT */
#include "training/trainer-private.h"

/*
 * Detects divergence with finite numbers.
 *
 * The measure is the ratio of the negative log-likelihood to that of guessing, where all words (classes, candidates,
 * rows) are equally probable. The limit is WORSE times the ratio of the first update, but at least WORSE. Training has
 * diverged if the mean ratio of the last updates exceeds the limit and, if there is validation text, the ratio of the
 * current validation exceeds the limit too. Validation alone is not enough, because its text may be of another kind, or
 * the model may have memorised the training text. Only right after update 1, validation alone decides.
 */
enum
{
  WORSE = 3,
  RECENT = 20,  /* time constant of the decaying mean, in updates */
  OUTLIER = 10, /* a ratio above OUTLIER times the limit of divergence is lowered to that value */
};

static double
limit_of (const PlaitTrainer *trainer)
{
  return WORSE * MAX (1, trainer->first_ratio);
}

void
plait_trainer_note_likelihood (PlaitTrainer *trainer)
{
  const PlaitLikelihood *sums = &trainer->sums.update;
  double ratio = sums->negative_log_likelihood / sums->guessing;

  if (sums->guessing <= 0)
    return;
  if (trainer->step == 1)
    trainer->first_ratio = ratio;
  ratio = MIN (ratio, OUTLIER * limit_of (trainer));
  trainer->recent_ratio += (ratio - trainer->recent_ratio) / (double)MIN (trainer->step, RECENT);
}

gboolean
plait_trainer_check_divergence (const PlaitTrainer *trainer, const PlaitLikelihood *sums, GError **error)
{
  double limit = limit_of (trainer);
  double ratio = sums ? sums->negative_log_likelihood / sums->guessing : trainer->recent_ratio;

  /* At step 1, recent_ratio is the ratio of the first update, and the limit is computed from this ratio. So
   * recent_ratio cannot exceed the limit, and only validation can show divergence. */
  if ((sums ? trainer->step > 1 && trainer->recent_ratio <= limit : trainer->recent_ratio <= limit)
      || (sums && (sums->guessing <= 0 || sums->negative_log_likelihood <= limit * sums->guessing)))
    return TRUE;
  return plait_ranks_agree (
      trainer->setup.ranks,
      plait_fail (error, PLAIT_ERROR_FAILED,
                  "update %jd: the loss of %s %.4g times that of guessing: training has diverged; lower "
                  "train.learning_rate or raise train.warm_up",
                  trainer->step, sums ? "validation is" : "the last updates is at least", ratio),
      error);
}
