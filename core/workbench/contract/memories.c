/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "contract/case.h"
#include "contract/pass.h"
#include "corpus/batch.h"

/* Checks that models of one, two and three sources read every source. */

/* Replaces every word of @input by another word, keeps start tokens, and adds 1 to all features. */
static void
change (PlaitInput *input)
{
  gint64 rows = plait_ragged_rows (input->rows);

  if (plait_input_kind_is_text (input->kind))
    for (gint64 i = 0; i < rows; i++)
      {
        gint32 word = input->tokens[i] - PLAIT_TOKEN_SPECIALS;

        if (word >= 0)
          plait_batch_fill (gint32, input->tokens)[i]
              = PLAIT_TOKEN_SPECIALS + (word + 1) % (PLAIT_FIXTURE_WORDS - PLAIT_TOKEN_SPECIALS);
      }
  else
    for (gint64 i = 0; i < rows; i++)
      for (gint64 k = 0; k < input->features.width; k++)
        plait_tensor_row (input->features, i)[k] += 1;
}

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, &plait_pass_whole);
  guint n = tested->fixture->specification.n_sources;
  PlaitPass before;

  if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_EVALUATE, 1, 1, &before, error)
      || !plait_pass_is_finite (&before, batch, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (PlaitBatch) other = plait_pass_batch (tested->fixture, &plait_pass_whole);
      PlaitPass after;

      change (&plait_batch_fill (PlaitInput, other->inputs)[i]);
      if (!plait_pass_run (tested->fixture, other, PLAIT_TAPE_EVALUATE, 1, 1, &after, error))
        return FALSE;
      if (memcmp (before.rows, after.rows, sizeof before.rows) == 0)
        return plait_fail (
            error, PLAIT_ERROR_FAILED,
            "in a model of %u sources, changing the input of source %u does not change the loss (sum %.9g), but every "
            "source must be read: attend to every memory, and let the states depend on the input",
            n, i + 1, before.sums.words.negative_log_likelihood);
    }
  return TRUE;
}

const PlaitContractProperty plait_contract_memories = {
  .name = "memories",
  .summary = "It works in models of one, two and three sources, and each source has an effect",
  .fewer_sources = TRUE,
  .check = check,
};
