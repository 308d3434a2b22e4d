/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* It runs at all: forward and backward over a batch that lacks nothing. */

static gboolean
hold (PlaitCase *held, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (held->specimen, &plait_pass_whole);

  return plait_pass_trains (held->specimen, batch, error);
}

const PlaitProperty plait_contract_runs = {
  .name = "runs",
  .summary = "It is built with its defaults and with each of its choices, and trains: losses and gradients are numbers",
  .decides = TRUE,
  .hold = hold,
};
