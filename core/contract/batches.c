/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* A batch of three gives what three batches of one give, whatever is long, short or missing in it. */

static gboolean
hold (PlaitCase *held, GError **error)
{
  static const PlaitPassLengths *const lengths[]
      = { &plait_pass_whole, &plait_pass_missing, &plait_pass_short, &plait_pass_ragged };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autoptr (PlaitBatch) batch = plait_pass_batch (held->specimen, lengths[i]);

      /* An encoder may say, in check_length, how long a sentence it reads. */
      if (plait_model_check_batch (held->specimen->model, batch, NULL)
          && !plait_pass_is_its_sentences (held->specimen, lengths[i], error))
        return FALSE;
    }
  return TRUE;
}

const PlaitProperty plait_contract_batches = {
  .name = "batches",
  .summary = "Each sentence is read by itself, whatever stands beside it in a batch",
  .hold = hold,
};
