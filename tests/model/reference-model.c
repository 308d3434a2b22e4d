/* SPDX-License-Identifier: MIT */
#include "reference-model.h"

#include <string.h>

#include "corpus/batch.h"
#include "hat-models.h"
#include "layers/layers.h"
#include "layers/parameter-set.h"

enum
{
  WIDTH = 8
};

void
reference_visit (const ReferenceVisit *to, const char *ours, const char *suffix, gint64 column, const char *theirs,
                 const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", ours, suffix);
  g_autofree char *array = *theirs ? g_strdup_printf ("%s/%s", theirs, name) : g_strdup (name);
  PlaitParameter *parameter = plait_parameters_find (plait_model_parameters (to->model->model), path);

  if (to->checking)
    reference_check_gradient (parameter, column, to->name, array);
  else
    reference_set (parameter, column, to->name, array);
}

void
reference_visit_self (const ReferenceVisit *to, const char *ours, const char *theirs)
{
  reference_visit (to, ours, "query_key_value/weight", 0, theirs, "Wq");
  reference_visit (to, ours, "query_key_value/weight", WIDTH, theirs, "Wk");
  reference_visit (to, ours, "query_key_value/weight", 2 * WIDTH, theirs, "Wv");
  reference_visit (to, ours, "query_key_value/bias", 0, theirs, "bq");
  reference_visit (to, ours, "query_key_value/bias", WIDTH, theirs, "bk");
  reference_visit (to, ours, "query_key_value/bias", 2 * WIDTH, theirs, "bv");
  reference_visit (to, ours, "output/weight", 0, theirs, "Wo");
  reference_visit (to, ours, "output/bias", 0, theirs, "bo");
}

void
reference_visit_attention (const ReferenceVisit *to, const char *ours, const char *theirs)
{
  reference_visit (to, ours, "query/weight", 0, theirs, "Wq");
  reference_visit (to, ours, "query/bias", 0, theirs, "bq");
  reference_visit (to, ours, "key_value/weight", 0, theirs, "Wk");
  reference_visit (to, ours, "key_value/weight", WIDTH, theirs, "Wv");
  reference_visit (to, ours, "key_value/bias", 0, theirs, "bk");
  reference_visit (to, ours, "key_value/bias", WIDTH, theirs, "bv");
  reference_visit (to, ours, "output/weight", 0, theirs, "Wo");
  reference_visit (to, ours, "output/bias", 0, theirs, "bo");
}

void
reference_visit_feed_forward (const ReferenceVisit *to, const char *ours, const char *theirs)
{
  reference_visit (to, ours, "inner/weight", 0, theirs, "W1");
  reference_visit (to, ours, "inner/bias", 0, theirs, "b1");
  reference_visit (to, ours, "outer/weight", 0, theirs, "W2");
  reference_visit (to, ours, "outer/bias", 0, theirs, "b2");
}

void
reference_visit_norm (const ReferenceVisit *to, const char *ours, const char *theirs)
{
  reference_visit (to, ours, "gain", 0, theirs, "g");
  reference_visit (to, ours, "bias", 0, theirs, "b");
}

PlaitFixtureDecoder
reference_model_decoder (gint norm)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (0);

  decoder.more = "layers=1 positions=none";
  decoder.settings.norm = norm;
  decoder.settings.attention_bias = norm == PLAIT_DECODER_NORM_POST; /* the reference has biases with post-norm */
  decoder.settings.scale_embeddings = FALSE;
  decoder.settings.share_embeddings = FALSE;
  decoder.settings.tie_output = FALSE;
  return decoder;
}

void
reference_visit_rows (const ReferenceVisit *to, const char *parameter, const gint32 *ids, const char *name)
{
  PlaitParameter *table = plait_parameters_find (plait_model_parameters (to->model->model), parameter);
  g_autofree char *path = g_strdup_printf (to->checking ? "gradients/inputs/%s" : "inputs/%s", name);
  const ReferenceArray *array = reference (to->name, path);

  for (int i = 0; i < array->rows; i++)
    for (int k = 0; k < array->width; k++)
      {
        double number = array->numbers[i * array->width + k];

        if (to->checking)
          CHECK_NEAR ((double)plait_tensor_row (table->gradient, ids[i])[k], number, AGREEMENT);
        else
          plait_tensor_row (table->value, ids[i])[k] = (PlaitScalar)number;
      }
}

PlaitBatch *
reference_model_batch (const gint32 *tokens, const gint32 *target, gint64 n)
{
  static const gint64 begins[] = { 0, 3, 4, 6 };
  PlaitBatchSource source = { .name = "first",
                              .kind = PLAIT_INPUT_DOCUMENTS,
                              .rows = 6,
                              .has_documents = TRUE,
                              .sentences = 3,
                              .start_tokens = TRUE };
  PlaitBatch *batch = plait_batch_new (1, &source, 1, n + 1, -1, NULL);
  PlaitInput *input = plait_batch_fill (PlaitInput, batch->inputs);

  plait_batch_fill (gint64, batch->sentence)[0] = 0;
  memcpy (plait_batch_fill (gint64, input->rows.offsets), (gint64[]){ 0, 6 }, 2 * sizeof (gint64));
  memcpy (plait_batch_fill (gint32, input->tokens), tokens, 6 * sizeof (gint32));
  input->n_missing = 0;
  memcpy (plait_batch_fill (gint64, input->documents->sentences.offsets), (gint64[]){ 0, 3 }, 2 * sizeof (gint64));
  memcpy (plait_batch_fill (gint64, input->documents->rows), begins, sizeof begins);
  memcpy (plait_batch_fill (gint64, batch->target_rows.offsets), (gint64[]){ 0, n + 1 }, 2 * sizeof (gint64));
  plait_batch_fill_target (batch, PLAIT_TARGET_TEXT, 0, target, n);
  return batch;
}

void
reference_check_states (const char *the_case, const char *output, const PlaitNode *states)
{
  const ReferenceArray *array = reference (the_case, plait_test_format ("outputs/%s", output));

  CHECK_INT (states->value.rows, array->rows);
  check_tensor (output, states->value, array->numbers, AGREEMENT);
}
