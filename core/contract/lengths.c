/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* Sentences of one token, long ones beside them, and nothing to say. */

static gboolean
hold_one (PlaitCase *held, const PlaitPassLengths *lengths, const char *what, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (held->specimen, lengths);

  /* An encoder may say, in check_length, how long a sentence it reads. */
  if (!plait_model_check_batch (held->specimen->model, batch, NULL) || plait_pass_trains (held->specimen, batch, error))
    return TRUE;
  g_prefix_error (error, "%s: ", what);
  return FALSE;
}

static gboolean
hold (PlaitCase *held, GError **error)
{
  return hold_one (held, &plait_pass_short, "sentences of one token", error)
         && hold_one (held, &plait_pass_ragged, "sentences of one token beside long ones", error);
}

const PlaitProperty plait_contract_lengths = {
  .name = "lengths",
  .summary = "Sentences may have one token or many, side by side, and translations none",
  .hold = hold,
};
