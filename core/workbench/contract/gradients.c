/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* Checks that the gradients of the whole model equal finite differences. If they differ, tries again with new random
 * values of all parameters, OTHER_VALUES times. */

#define OTHER_VALUES 2

/* SAMPLE is the number of elements of each parameter whose gradient is checked. */
#ifdef PLAIT_SCALAR_DOUBLE
#define SAMPLE 2
#define REMARK NULL
#else
#define SAMPLE 1
#define REMARK "in single precision only large errors show"
#endif

/* Finite differences fail near a kink (ReLU, top-k). A real error persists, so other random values are tried. */
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
  .summary = "The gradients of all parameters equal finite differences",
  .remark = REMARK,
  .check = check,
};
