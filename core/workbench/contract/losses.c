/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* Checks the losses that the tested plugin declares. Each loss must be added, be a finite number, and be a sum over
 * sentences. */

/* TRUE if the tested plugin declares a loss. */
static gboolean
has_losses (const PlaitContractCase *tested)
{
  const PlaitLossColumns *columns = plait_model_losses (tested->fixture->model);
  const char *group = tested->plugin->kind == PLAIT_PLUGIN_ENCODER ? tested->fixture->sources[0].name
                                                                   : plait_plugin_kind_name (tested->plugin->kind);
  g_autofree char *prefix = g_strconcat (group, ".", NULL);

  for (guint i = 0; i < columns->n; i++)
    if (g_str_has_prefix (columns->columns[i].name, prefix))
      return TRUE;
  return FALSE;
}

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  const PlaitLossColumns *columns = plait_model_losses (tested->fixture->model);
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, &plait_pass_whole);
  double sums[PLAIT_MAX_LOSS_COLUMNS] = { 0 };
  PlaitPass together;

  tested->not_applicable = !has_losses (tested);
  if (tested->not_applicable)
    return TRUE;
  if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_CHECK, 1, 1, &together, error))
    return FALSE;
  for (gint64 s = 0; s < PLAIT_PASS_SENTENCES; s++)
    {
      g_autoptr (PlaitBatch) one = plait_pass_sentence (tested->fixture, &plait_pass_whole, s);
      PlaitPass alone;

      if (!plait_pass_run (tested->fixture, one, PLAIT_TAPE_CHECK, 1, 1, &alone, error))
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
                           "the loss %s is declared, but is 0 over all sentences: add to it by that name while "
                           "running, or do not declare it",
                           name);
      if (!plait_pass_nearly_equal (sums[i], loss))
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "the loss %s is %.9g over a batch of %d and %.9g over its sentences one by one, expected "
                           "equal losses: add the sum over the sentences, not the mean",
                           name, loss, PLAIT_PASS_SENTENCES, sums[i]);
    }
  return TRUE;
}

const PlaitContractProperty plait_contract_losses = {
  .name = "losses",
  .summary = "Each declared loss is added, is finite, and is summed over sentences",
  .not_applicable = "it declares no loss",
  .check = check,
};
