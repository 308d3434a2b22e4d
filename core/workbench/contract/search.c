/* SPDX-License-Identifier: MIT */
#include "search/search.h"

#include <math.h>

#include "contract/case.h"
#include "contract/pass.h"
#include "corpus/batch.h"

/* Checks that every hypothesis of a beam has the score that forced decoding computes for its whole target. For decoders
 * and outputs, also checks that training without dropout gives each word of a batch the loss that evaluation gives. */

#define BEAM 4
#define MAX_LENGTH 7

/* Returns the batch of @lengths in which each target is replaced by hypothesis @rank (0: the best) of the sentence, or
 * by the last hypothesis if the sentence has fewer. */
static PlaitBatch *
batch_of (const PlaitContractCase *tested, PlaitPassLengths lengths, const PlaitHypotheses *found, guint rank,
          const PlaitHypothesis **hypotheses)
{
  PlaitBatch *batch;

  for (gint64 s = 0; s < PLAIT_PASS_SENTENCES; s++)
    {
      hypotheses[s] = &found[s].hypotheses[MIN (rank, found[s].n - 1)];
      lengths.targets[s] = hypotheses[s]->length;
    }
  batch = plait_pass_batch (tested->fixture, &lengths);
  for (gint64 s = 0; s < PLAIT_PASS_SENTENCES; s++)
    plait_batch_fill_target (batch, PLAIT_TARGET_TEXT, batch->target_rows.offsets[s], hypotheses[s]->tokens,
                             hypotheses[s]->length);
  return batch;
}

static gboolean
check_hypothesis (const PlaitContractCase *tested, const PlaitPassLengths *lengths, PlaitSearch *search,
                  const PlaitHypotheses *found, guint rank, GError **error)
{
  const PlaitHypothesis *hypotheses[PLAIT_PASS_SENTENCES];
  g_autoptr (PlaitBatch) batch = batch_of (tested, *lengths, found, rank, hypotheses);
  double rows[PLAIT_PASS_ROWS];

  if (!plait_search_forced (search, batch, rows, NULL, FALSE, error))
    return FALSE;
  for (gint64 s = 0; s < PLAIT_PASS_SENTENCES; s++)
    {
      gint64 first = batch->target_rows.offsets[s], n = hypotheses[s]->length + (hypotheses[s]->ended ? 1 : 0);
      double sum = 0;

      for (gint64 t = 0; t < n; t++)
        sum += rows[first + t];
      if (!(fabs (hypotheses[s]->log_probability - sum) <= 1e-4 * (1 + fabs (sum))))
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "hypothesis %u of sentence %jd has log-probability %.7g in search and %.7g in forced "
                           "decoding, expected equal values: the result for a query must depend on that query and the "
                           "memories only, not on other rows of the target or on the number of queries",
                           rank + 1, s, hypotheses[s]->log_probability, sum);
    }
  return TRUE;
}

/* Fails if training without dropout and evaluation give different losses. Checks only decoders and outputs: combiners
 * such as descent may compute something else in training. */
static gboolean
check_training (const PlaitContractCase *tested, const PlaitBatch *batch, GError **error)
{
  PlaitPass trained, evaluated;

  if (tested->plugin->kind != PLAIT_PLUGIN_DECODER && tested->plugin->kind != PLAIT_PLUGIN_OUTPUT)
    return TRUE;
  if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_CHECK, 1, 1, &trained, error)
      || !plait_pass_run (tested->fixture, batch, PLAIT_TAPE_EVALUATE, 1, 1, &evaluated, error))
    return FALSE;
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    if (!plait_pass_nearly_equal (trained.rows[row], evaluated.rows[row]))
      return plait_fail (error, PLAIT_ERROR_FAILED,
                         "the loss of target row %jd is %.9g in training without dropout and %.9g in evaluation, "
                         "expected equal losses: only dropout may depend on plait_tape_mode",
                         row, trained.rows[row], evaluated.rows[row]);
  return TRUE;
}

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  const PlaitPassLengths *lengths = plait_pass_lengths (tested->fixture);
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, lengths);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitSearch) search = plait_search_new (tested->fixture->model, pool, PLAIT_PRECISION_FLOAT, 0, error);
  PlaitDecodeSettings settings;
  PlaitHypotheses *found;
  gboolean holds = TRUE;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = settings.n_best = BEAM;
  settings.maximum_length = MAX_LENGTH;
  found = search ? plait_search_batch (search, batch, &settings, error) : NULL;
  for (guint rank = 0; found && rank < BEAM && holds; rank++)
    holds = check_hypothesis (tested, lengths, search, found, rank, error);
  if (!found)
    return FALSE;
  plait_hypotheses_free (found, PLAIT_PASS_SENTENCES);
  return holds && check_training (tested, batch, error);
}

const PlaitContractProperty plait_contract_search = {
  .name = "search",
  .summary = "Beam search, forced decoding and training without dropout give equal scores",
  .check = check,
};
