/* SPDX-License-Identifier: MIT */
#include "autograd/check.h"
#include "contract/case.h"
#include "contract/pass.h"

/* Gradients of the whole model, through the plugin, against finite differences. */

#define OTHER_VALUES 2

#ifdef PLAIT_SCALAR_DOUBLE
#define SMALL 0 /* as ever */
#define REMARK NULL
#else
#define SMALL 1 /* differences of floats tell the greatest gradients of a parameter alone */
#define REMARK "floats show gross errors alone"
#endif

typedef struct
{
  const PlaitCase *held;
  const PlaitBatch *batch;
} Build;

static PlaitNode *
build_loss (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  const Build *build = data;
  PlaitVocabularyLossOptions options = { .scale = 0.25, .smoothing = 0.1 };
  PlaitModelSums sums;

  return plait_model_loss (build->held->specimen->model, tape, build->batch, &options, &sums, NULL, NULL);
}

static gboolean
hold_values (const Build *build, GError **error)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  PlaitParameters *parameters = plait_model_parameters (build->held->specimen->model);
  guint n = plait_parameters_n (parameters);
  g_autofree PlaitCheckLeaf *leaves = g_new0 (PlaitCheckLeaf, n);
  PlaitGradientCheck check = {
    .build = build_loss,
    .data = (gpointer)build,
    .leaves = leaves,
    .mode = PLAIT_TAPE_CHECK,
    .key = plait_random_key (3, "sample", NULL, 0),
    .sample = 2,
    .small = SMALL,
  };

  for (guint i = 0; i < n; i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      leaves[check.n_leaves++] = (PlaitCheckLeaf){ parameter->name, parameter->value, parameter->gradient };
    }
  return plait_check_gradients (&check, pool, error);
}

/* A kink (ReLU, a choice of rows) near the values misleads differences: what is wrong is so with other values too. */
static gboolean
hold (PlaitCase *held, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (held->specimen, plait_pass_lengths (held->specimen));
  Build build = { held, batch };

  for (guint64 seed = 1; seed <= OTHER_VALUES; seed++)
    {
      if (hold_values (&build, NULL))
        return TRUE;
      plait_specimen_initialise (held->specimen, seed);
    }
  return hold_values (&build, error);
}

const PlaitProperty plait_contract_gradients = {
  .name = "gradients",
  .summary = "The gradients of all parameters are those of finite differences",
  .least_sources = 3,
  .most_sources = 3,
  .remark = REMARK,
  .hold = hold,
};
