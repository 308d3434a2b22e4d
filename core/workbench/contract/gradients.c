/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* Gradients of the whole model, through the plugin, against finite differences. */

#define OTHER_VALUES 2

/* So many numbers of each parameter. */
#ifdef PLAIT_SCALAR_DOUBLE
#define SAMPLE 2
#define REMARK NULL
#else
#define SAMPLE 1
#define REMARK "floats show gross errors alone"
#endif

/* A kink (ReLU, a choice of rows) near the values misleads differences: what is wrong is so with other values too. */
static gboolean
check (PlaitContractCase *tested, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, plait_pass_lengths (tested->fixture));

  for (guint64 seed = 1; seed <= OTHER_VALUES; seed++)
    {
      if (plait_pass_has_gradients (tested->fixture, batch, PLAIT_TAPE_CHECK, SAMPLE, NULL))
        return TRUE;
      plait_fixture_initialise (tested->fixture, seed);
    }
  return plait_pass_has_gradients (tested->fixture, batch, PLAIT_TAPE_CHECK, SAMPLE, error);
}

const PlaitContractProperty plait_contract_gradients = {
  .name = "gradients",
  .summary = "The gradients of all parameters are those of finite differences",
  .remark = REMARK,
  .check = check,
};
