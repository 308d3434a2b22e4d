/* SPDX-License-Identifier: MIT */
#include "decoders/model-private.h"

#include "schema/schema.h"

/* TRUE if each of @ids is valid in its sentence of @rows. Ids below @size are in the vocabulary. The next ids stand for
 * the sentence's own words: source words outside the vocabulary. @own: number of own words of each sentence; no offsets
 * if there are none. */
static gboolean
check_ids (const char *what, const gint32 *ids, PlaitRagged rows, const gint64 *sentence, gint64 size, PlaitRagged own,
           GError **error)
{
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s], end = size + (own.offsets ? plait_ragged_length (own, s) : 0);
         row < rows.offsets[s + 1]; row++)
      if (ids[row] < 0 || ids[row] >= end)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s, sentence %jd: token id %d is outside the vocabulary of %jd pieces: use the vocabulary "
                           "that the model was trained with",
                           what, sentence[s] + 1, ids[row], size);
  return TRUE;
}

gboolean
plait_model_check_length (const PlaitModel *model, guint source, gint64 rows, GError **error)
{
  if (source == model->specification.n_sources)
    return !model->decoder || plait_decoder_check_length (model->decoder, rows, error);
  return plait_call_check_length (&model->sources[source].encoder, rows, error);
}

static gboolean
check_choices (const PlaitBatch *batch, GError **error)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    {
      gint64 n = plait_ragged_length (batch->inputs[0].documents->sentences, s);

      if (batch->target_outputs[s] < 0 || batch->target_outputs[s] >= n)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "the target, document %jd: sentence %d is the answer, but there are %jd sentences, counted "
                           "from 0: correct the target",
                           batch->sentence[s] + 1, batch->target_outputs[s], n);
    }
  return TRUE;
}

gboolean
plait_model_check_input (const PlaitModel *model, guint source, const PlaitInput *input, GError **error)
{
  PlaitInput read = plait_model_input_read (model, input);

  return plait_model_check_length (model, source, plait_ragged_longest (read.rows), error)
         && plait_call_check_input (&model->sources[source].encoder, &read, error);
}

gboolean
plait_model_has_input_check (const PlaitModel *model, guint source)
{
  return plait_call_has_input_check (&model->sources[source].encoder);
}

gboolean
plait_model_is_too_long (const PlaitModel *model, guint source, const PlaitInput *input)
{
  gint64 longest = plait_ragged_longest (plait_model_input_read (model, input).rows);

  return !plait_model_check_length (model, source, longest, NULL)
         || (input->documents && !plait_model_check_input (model, source, input, NULL));
}

gboolean
plait_model_check_batch (const PlaitModel *model, const PlaitBatch *batch, GError **error)
{
  if (batch->n_sources != model->specification.n_sources)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the model reads %u sources, but %jd were given: give every source",
                       model->specification.n_sources, batch->n_sources);
  for (guint i = 0; i < model->specification.n_sources; i++)
    {
      const PlaitSourceSpecification *expected = model->sources[i].specification;
      const PlaitInput *input = &batch->inputs[i];

      if (input->kind != expected->kind)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "source \"%s\" must have %s, but has %s: give the kind of input that the model was trained with",
            expected->name, plait_input_kind_name (expected->kind), plait_input_kind_name (input->kind));
      if (input->kind == PLAIT_INPUT_FEATURES && input->n_missing < batch->n_sentences
          && input->features.width != expected->feature_width)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "source \"%s\": features are %jd wide, but the model was built for %jd: give features of this width",
            expected->name, input->features.width, expected->feature_width);
      if (plait_input_kind_is_text (input->kind)
          && !check_ids (expected->name, input->tokens, input->rows, batch->sentence, expected->vocabulary_size,
                         (PlaitRagged){ 0 }, error))
        return FALSE;
      if (input->n_factors != expected->n_factors && input->n_factors != expected->n_factors + expected->n_tags)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "source \"%s\" must have %u factors, but has %u: give every factor", expected->name,
                           expected->n_factors, input->n_factors);
      for (guint f = 0; f < input->n_factors; f++)
        if (!check_ids (expected->factors[f].name, input->factors[f], input->rows, batch->sentence,
                        expected->factors[f].vocabulary_size, (PlaitRagged){ 0 }, error))
          return FALSE;
      if (!plait_model_check_input (model, i, input, error))
        return FALSE;
    }
  if (!batch->target_rows.offsets)
    return TRUE;
  if (!plait_model_check_length (model, model->specification.n_sources, plait_ragged_longest (batch->target_rows),
                                 error))
    return FALSE;
  if (model->specification.predict.kind == PLAIT_PREDICT_CHOICE)
    return check_choices (batch, error);
  if (model->specification.predict.kind == PLAIT_PREDICT_SPAN
      || model->specification.predict.kind == PLAIT_PREDICT_NUMBER)
    return TRUE; /* already checked when the corpus was read */
  return check_ids ("the target", batch->target_outputs, batch->target_rows, batch->sentence,
                    model->specification.target_vocabulary_size, batch->own_words, error);
}
