/* SPDX-License-Identifier: MIT */
#include "decoders/model-private.h"

#include "autograd/internal.h"
#include "cross-attention/rows.h"

PlaitInput
plait_model_input_read (const PlaitModel *model, const PlaitInput *input)
{
  PlaitInput apart = *input;

  if (model->specification.predict.kind != PLAIT_PREDICT_CHOICE)
    return apart;
  apart.rows = (PlaitRagged){ plait_ragged_rows (input->documents->sentences), input->documents->rows };
  apart.n_missing = 0; /* each sentence has at least one row */
  apart.documents = NULL;
  return apart;
}

/* Adds role embeddings to @embedded: the segment embeddings of Rohde, Wu & Liu 2021, section 4.1. */
static PlaitNode *
add_roles (const PlaitModelSource *source, PlaitTape *tape, const PlaitInput *input, PlaitNode *embedded)
{
  const PlaitDocuments *documents = input->documents;
  gint64 n = plait_ragged_rows (input->rows);
  gint32 *roles = plait_arena_new_array (plait_tape_arena (tape), gint32, n);

  for (gint64 i = 0; i < plait_ragged_rows (documents->sentences); i++)
    for (gint64 row = documents->rows[i]; row < documents->rows[i + 1]; row++)
      roles[row] = documents->roles[i];
  return plait_add (tape, embedded, plait_embedding_apply (tape, &source->roles, roles, n));
}

/* Returns the embeddings of the tokens of @input and of their factors. If factors have widths, these embeddings are
 * concatenated, [E w; E_1 w_1; ...] (Sennrich & Haddow 2016, section 2); else they are added, E w + sum of E_f w_f. */
static PlaitNode *
embed (const PlaitModelSource *source, PlaitTape *tape, const PlaitInput *input)
{
  const PlaitSourceSpecification *specification = source->specification;
  gint64 n = plait_ragged_rows (input->rows);
  PlaitNode **parts = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, specification->n_factors + 1);
  PlaitNode *sum = parts[0] = plait_embedding_apply (tape, source->embedding, input->tokens, n);

  for (guint f = 0; f < specification->n_factors; f++)
    parts[f + 1] = plait_embedding_apply (tape, &source->factors[f], input->factors[f], n);
  if (specification->n_factors > 0 && specification->factors[0].width > 0)
    return plait_concatenate_columns (tape, parts, specification->n_factors + 1);
  for (guint f = 0; f < specification->n_factors; f++)
    sum = plait_add (tape, sum, parts[f + 1]);
  return sum;
}

static void
encode_source (const PlaitModel *model, const PlaitModelSource *source, PlaitTape *tape, const PlaitInput *input,
               PlaitEncoderOutputs *encoded)
{
  const PlaitSourceSpecification *specification = source->specification;
  PlaitInput *read = plait_arena_new_array (plait_tape_arena (tape), PlaitInput, 1);
  PlaitEncoding encoding = { .tape = tape, .input = read };

  *read = plait_model_input_read (model, input);
  read->n_factors = specification->n_factors; /* without tags */
  if (plait_input_kind_is_text (input->kind))
    encoding.embedded = embed (source, tape, input);
  else if (plait_ragged_rows (input->rows) > 0)
    encoding.embedded = plait_leaf (tape, input->features, NULL);
  else /* all sentences are missing: use the width of the specification, because the input may lack it */
    encoding.embedded = plait_leaf (tape, plait_tape_tensor (tape, 0, specification->feature_width), NULL);
  if (specification->roles > 0)
    encoding.embedded = add_roles (source, tape, input, encoding.embedded);
  plait_call_encode (&source->encoder, &encoding, encoded->losses);
  encoded->own[source - model->sources] = encoding.memories[0];
  for (guint i = 0; i < source->encoder.shape.n_memories; i++)
    {
      PlaitMemory *memory = &encoded->memories[encoded->n_memories++];

      *memory = encoding.memories[i];
      if (source->projections[i].weight)
        memory->states = plait_linear_apply (tape, &source->projections[i], memory->states, PLAIT_ACTIVATION_NONE);
    }
  if (source->encoder.shape.summary_width > 0)
    encoded->summaries[encoded->n_summaries++] = encoding.summary;
}

/* Returns the id of the word of each row of @memory, or -1 for a row that is not a token. It is the token's id in
 * @input, or the id of the sentence's own word (a word outside the vocabulary). */
static const gint32 *
words_of_rows (PlaitArena *arena, const PlaitMemory *memory, const PlaitInput *input)
{
  const gint64 *token = memory->links ? memory->links->token : NULL;
  const gint32 *words = input->own_ids ? input->own_ids : input->tokens;
  gint32 *ids = plait_arena_new_array (arena, gint32, plait_ragged_rows (memory->rows) + 1);

  for (gint64 s = 0; s < memory->rows.n; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      ids[row] = token && token[row] >= 0 ? words[input->rows.offsets[s] + token[row]] : -1;
  return ids;
}

/* Prepares what the output will read: allocates the readings of the decoder, and lists the words that can be copied. */
static void
begin_output (const PlaitModel *model, PlaitArena *arena, const PlaitBatch *batch, PlaitEncoderOutputs *encoded)
{
  PlaitRagged *rows = plait_arena_new_array (arena, PlaitRagged, model->n_memories + 1);
  const gint32 **ids = plait_arena_new_array (arena, const gint32 *, model->n_memories + 1);
  guint n = 0, memory = 0;

  encoded->readings[PLAIT_READER_OUTPUT] = plait_arena_new_array0 (arena, PlaitReadings, 1);
  for (guint i = 0; i < model->specification.n_sources; i++)
    for (guint m = 0; m < model->sources[i].encoder.shape.n_memories; m++, memory++)
      if (memory < PLAIT_OUTPUT_MAX_MEMORIES && model->output->shape.copies[memory])
        {
          rows[n] = encoded->memories[memory].rows;
          ids[n++] = words_of_rows (arena, &encoded->memories[memory], &batch->inputs[i]);
        }
  if (n > 0)
    encoded->words = plait_copyable_words_new (arena, rows, ids, n);
}

PlaitEncoderOutputs
plait_model_encode (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, PlaitLossPass *losses)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitEncoderOutputs encoded = {
    .memories = plait_arena_new_array (arena, PlaitMemory, model->n_memories),
    .own = plait_arena_new_array0 (arena, PlaitMemory, model->specification.n_sources),
    .summaries = plait_arena_new_array (arena, PlaitNode *, model->specification.n_sources),
    .multiplications = plait_arena_new_array (arena, double, model->specification.n_sources),
    .losses = losses,
  };

  for (guint i = 0; i < model->specification.n_sources; i++)
    {
      double before = plait_tape_multiplications (tape);

      encode_source (model, &model->sources[i], tape, &batch->inputs[i], &encoded);
      encoded.multiplications[i] = plait_tape_multiplications (tape) - before;
    }
  if (model->specification.predict.kind == PLAIT_PREDICT_CHOICE)
    encoded.candidates = batch->inputs[0].documents->sentences;
  if (model->specification.predict.kind == PLAIT_PREDICT_TAGS)
    plait_tag_head_find_tokens (&batch->inputs[0], arena, &encoded);
  if (model->role_source)
    encoded.documents = batch->inputs[model->role_source - model->sources].documents;
  if (model->output && model->output->reads)
    begin_output (model, arena, batch, &encoded);
  return encoded;
}

PlaitNode *
plait_model_states (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                    const PlaitBatch *batch, PlaitAttentionRecord *record)
{
  if (model->decoder)
    return plait_decoder_forward (model->decoder, tape, encoded, batch->target_rows, batch->target_inputs, record);
  return model->head->predict (model->head, tape, encoded, batch->target_rows, batch->target_inputs);
}

PlaitWordDistribution
plait_model_words (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitNode *states,
                   PlaitRagged rows, PlaitAttentionRecord *record)
{
  const PlaitOutputInputs inputs
      = { encoded->readings[PLAIT_READER_OUTPUT], encoded->memories, encoded->words, rows, record };

  return plait_output_apply (model->output, tape, states, &inputs);
}
