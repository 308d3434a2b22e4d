/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"
#include "corpus/batch.h"

/* Checks that models train on one complete batch, on batches with missing sources, and on batches with long and short
 * sentences. Also checks that a batch of three sentences gives the results of three batches of one sentence. */

static const PlaitPassLengths no_second = { { { 4, 2, 3 }, { 0, 0, 0 }, { 2, 3, 4 } }, { 3, 1, 4 } };
static const PlaitPassLengths none = { .targets = { 3, 1, 4 } };

/* one_row: all source sentences have one row. ragged: source sentences of one row are next to long ones. Each of the
 * two has a target without words. */
static const PlaitPassLengths one_row = { { { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 } }, { 2, 1, 0 } };
static const PlaitPassLengths ragged = { { { 1, 1, 24 }, { 1, 17, 2 }, { 30, 1, 1 } }, { 1, 20, 0 } };

static gboolean
trains (const PlaitContractCase *tested, const PlaitPassLengths *lengths, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, lengths);

  return plait_pass_trains (tested->fixture, batch, error);
}

static gboolean
check_runs (PlaitContractCase *tested, GError **error)
{
  return trains (tested, &plait_pass_whole, error);
}

const PlaitContractProperty plait_contract_runs = {
  .name = "runs",
  .summary = "It builds with its defaults and each of its choices, and trains: losses and gradients are finite",
  .decides = TRUE,
  .check = check_runs,
};

static gboolean
check_missing (PlaitContractCase *tested, GError **error)
{
  g_autoptr (PlaitBatch) empty = plait_pass_batch (tested->fixture, &none);

  /* Remove the features too: a run in which all sources are missing may have no file that gives the width of
   * features. */
  for (guint i = 0; i < tested->fixture->specification.n_sources; i++)
    plait_batch_fill (PlaitInput, empty->inputs)[i].features = (PlaitTensor){ NULL, 0, 0, 0 };
  return trains (tested, &plait_pass_missing, error) && trains (tested, &no_second, error)
         && plait_pass_trains (tested->fixture, empty, error);
}

const PlaitContractProperty plait_contract_missing = {
  .name = "missing",
  .summary = "A sentence, or a whole batch, may lack any or all of its sources",
  .check = check_missing,
};

/* TRUE if the model can read a batch of these lengths. The function check_length of a plugin may refuse long
 * sentences. */
static gboolean
is_read (const PlaitContractCase *tested, const PlaitPassLengths *lengths)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, lengths);

  return plait_model_check_batch (tested->fixture->model, batch, NULL);
}

static gboolean
check_batches (PlaitContractCase *tested, GError **error)
{
  static const PlaitPassLengths *const lengths[] = { &plait_pass_whole, &plait_pass_missing, &one_row, &ragged };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    if (is_read (tested, lengths[i]) && !plait_pass_equals_its_sentences (tested->fixture, lengths[i], error))
      return FALSE;
  return TRUE;
}

const PlaitContractProperty plait_contract_batches = {
  .name = "batches",
  .summary = "The result of a sentence does not depend on other sentences of the batch",
  .check = check_batches,
};

static gboolean
check_length (const PlaitContractCase *tested, const PlaitPassLengths *lengths, const char *what, GError **error)
{
  if (!is_read (tested, lengths) || trains (tested, lengths, error))
    return TRUE;
  g_prefix_error (error, "%s: ", what);
  return FALSE;
}

static gboolean
check_lengths (PlaitContractCase *tested, GError **error)
{
  return check_length (tested, &one_row, "sentences of one token", error)
         && check_length (tested, &ragged, "sentences of one token next to long ones", error);
}

const PlaitContractProperty plait_contract_lengths = {
  .name = "lengths",
  .summary = "Sources of one token or many can be in one batch, and targets can be empty",
  .check = check_lengths,
};
