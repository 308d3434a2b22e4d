/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"
#include "corpus/batch.h"

/* Checks that the model does not look ahead: another token in a row of the target must not change results of earlier
 * rows. */

/* Returns another word than @token. */
static gint32
other_word (gint32 token)
{
  return token + 1 < PLAIT_FIXTURE_WORDS ? token + 1 : PLAIT_TOKEN_SPECIALS;
}

/* Fails if the results of sentence @s differ in a row before row @changed. */
static gboolean
compare (const PlaitPass *before, const PlaitPass *after, PlaitRagged rows, gint64 s, gint64 changed, GError **error)
{
  for (gint64 row = rows.offsets[s]; row < changed; row++)
    if (before->rows[row] != after->rows[row])
      return plait_fail (
          error, PLAIT_ERROR_FAILED,
          "another token in row %jd of the target of sentence %jd changes the log-probability of row %jd from %.9g to "
          "%.9g, expected equal bits: a row may depend only on itself and on earlier rows",
          changed - rows.offsets[s], s, row - rows.offsets[s], -before->rows[row], -after->rows[row]);
  return TRUE;
}

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  const PlaitPassLengths *lengths = plait_pass_lengths (tested->fixture);
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, lengths);
  PlaitRagged rows = batch->target_rows;
  PlaitPass before, after;

  if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_EVALUATE, 1, 0, &before, error))
    return FALSE;
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s] + 1; row < rows.offsets[s + 1]; row++)
      {
        gint32 *token = &plait_batch_fill (gint32, batch->target_inputs)[row], kept = *token;

        *token = other_word (kept);
        if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_EVALUATE, 1, 0, &after, error)
            || !compare (&before, &after, rows, s, row, error))
          return FALSE;
        *token = kept;
      }
  return TRUE;
}

const PlaitContractProperty plait_contract_causal = {
  .name = "causal",
  .summary = "A target row depends only on itself and earlier rows: a later token changes no bit of its result",
  .not_applicable = "encoders read no target",
  .kinds = ~(1u << PLAIT_PLUGIN_ENCODER),
  .check = check,
};
