/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"
#include "data/batch.h"

/* Sources that are missing: of some sentences, of all, and all of them. */

static const PlaitPassLengths no_second = { { { 4, 2, 3 }, { 0, 0, 0 }, { 2, 3, 4 } }, { 3, 1, 4 } };
static const PlaitPassLengths none = { .targets = { 3, 1, 4 } };

static gboolean
hold_lengths (PlaitCase *held, const PlaitPassLengths *lengths, gboolean no_width, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (held->specimen, lengths);

  /* Where all is missing there may be no file that tells the width of features. */
  for (guint i = 0; i < held->n_sources && no_width; i++)
    plait_batch_fill (PlaitInput, batch->inputs)[i].features = (PlaitTensor){ NULL, 0, 0, 0 };
  return plait_pass_trains (held->specimen, batch, error);
}

static gboolean
hold (PlaitCase *held, GError **error)
{
  return hold_lengths (held, &plait_pass_missing, FALSE, error) && hold_lengths (held, &no_second, FALSE, error)
         && hold_lengths (held, &none, TRUE, error);
}

const PlaitProperty plait_contract_missing = {
  .name = "missing",
  .summary = "Sources may be missing, of a sentence, of a batch, and all of them",
  .hold = hold,
};
