/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "contract/case.h"
#include "contract/pass.h"

/* Losses that are declared are given: numbers, summed over the sentences. */

/* TRUE if the model has a loss of the plugin's. */
static gboolean
has_losses (const PlaitCase *held)
{
  const PlaitLossColumns *columns = plait_model_losses (held->specimen->model);
  const char *group = held->plugin->kind == PLAIT_PLUGIN_ENCODER ? held->specimen->sources[0].name
                                                                 : plait_plugin_kind_name (held->plugin->kind);
  g_autofree char *prefix = g_strconcat (group, ".", NULL);

  for (guint i = 0; i < columns->n; i++)
    if (g_str_has_prefix (columns->columns[i].name, prefix))
      return TRUE;
  return FALSE;
}

static gboolean
hold (PlaitCase *held, GError **error)
{
  const PlaitLossColumns *columns = plait_model_losses (held->specimen->model);
  g_autoptr (PlaitBatch) batch = plait_pass_batch (held->specimen, &plait_pass_whole);
  double sums[PLAIT_LOSS_COLUMNS_MAXIMUM] = { 0 };
  PlaitPass together;

  held->nothing = !has_losses (held);
  if (held->nothing)
    return TRUE;
  if (!plait_pass_run (held->specimen, batch, PLAIT_TAPE_CHECK, 1, 1, &together, error))
    return FALSE;
  for (gint64 s = 0; s < PLAIT_PASS_SENTENCES; s++)
    {
      g_autoptr (PlaitBatch) one = plait_pass_sentence (held->specimen, &plait_pass_whole, s);
      PlaitPass alone;

      if (!plait_pass_run (held->specimen, one, PLAIT_TAPE_CHECK, 1, 1, &alone, error))
        return FALSE;
      for (guint i = 0; i < columns->n; i++)
        sums[i] += alone.sums.losses[i];
    }
  for (guint i = 0; i < columns->n; i++)
    {
      const char *name = columns->columns[i].name;
      double loss = together.sums.losses[i];

      if (loss == 0 && sums[i] == 0)
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "the loss %s is declared and came to 0 over all sentences, as if it were never given: add "
                           "to it by that name while running, or do not declare it",
                           name);
      if (!plait_pass_near (sums[i], loss))
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "the loss %s is %.9g over a batch of %d and %.9g over its sentences one by one, expected is "
                           "the same: add the sum over the sentences, no mean",
                           name, loss, PLAIT_PASS_SENTENCES, sums[i]);
    }
  return TRUE;
}

const PlaitProperty plait_contract_losses = {
  .name = "losses",
  .summary = "Each declared loss is given, is a number, and is summed over sentences",
  .nothing = "it declares no loss",
  .hold = hold,
};
