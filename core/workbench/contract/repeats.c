/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "contract/case.h"
#include "contract/pass.h"
#include "layers/parameter-set.h"

/* Checks that repeated passes give equal bits, with one, two and three threads. */

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, plait_pass_lengths (tested->fixture));
  gint64 n_rows = plait_ragged_rows (batch->target_rows);
  PlaitTensor gradients = plait_parameters_gradients (plait_model_parameters (tested->fixture->model));
  g_autofree PlaitScalar *before = NULL;
  PlaitPass first;

  if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_TRAIN, 1, 1, &first, error))
    return FALSE;
  before = g_memdup2 (gradients.data, gradients.width * sizeof *before);
  for (guint threads = 1; threads <= 3; threads++)
    {
      PlaitPass again;

      if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_TRAIN, threads, 1, &again, error))
        return FALSE;
      for (gint64 row = 0; row < n_rows; row++)
        if (memcmp (&first.rows[row], &again.rows[row], sizeof *first.rows) != 0)
          return plait_fail (error, PLAIT_ERROR_FAILED,
                             "the loss of target row %jd is %.17g in a first pass with 1 thread, but %.17g in a later "
                             "pass (threads: %u), expected equal bits: do not change variables of the module, draw "
                             "random numbers with plait_tape_next_key only, and do not depend on the number of threads",
                             row, first.rows[row], again.rows[row], threads);
      if (memcmp (before, gradients.data, gradients.width * sizeof *before) != 0)
        return plait_fail (
            error, PLAIT_ERROR_FAILED,
            "the gradients differ between a first pass with 1 thread and a later pass (threads: %u), though the losses "
            "have equal bits: look for an operator whose backward adds numbers in an order that varies",
            threads);
    }
  return TRUE;
}

const PlaitContractProperty plait_contract_repeats = {
  .name = "repeats",
  .summary = "A repeated pass gives equal bits, with any number of threads",
  .check = check,
};
