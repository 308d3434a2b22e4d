/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include <string.h>

#include "autograd/internal.h"
#include "layers/parameter-set.h"

/* Builds a decoder, and runs it over whole targets or step by step. */

/*
 * Functions that build a decoder
 */

gint64
plait_decoder_memory_width (const PlaitComponent *decoder, const PlaitDecoderSettings *settings, const gint64 *widths,
                            guint n, GError **error)
{
  return plait_call_memory_width (decoder, settings->width, widths, n, error);
}

static gboolean
build (PlaitDecoder *decoder, GError **error)
{
  PlaitDecoding building = { .decoder = decoder, .phase = PLAIT_DECODING_BUILD };
  const PlaitComponent *component = decoder->components.decoder;

  if (!plait_call_build_decoder (&decoder->instance, component, &building, &decoder->build, error))
    {
      g_clear_error (&building.fault);
      return FALSE;
    }
  return plait_no_error (&building.fault, error);
}

PlaitDecoder *
plait_decoder_new (const PlaitDecoderComponents *components, GError **error)
{
  static const gint32 starts[] = { PLAIT_TOKEN_BOS, PLAIT_TOKEN_EOS, PLAIT_TOKEN_PAD };
  const PlaitDecoderSettings *settings = components->settings;
  PlaitDecoder *decoder = plait_parameters_memory (components->parameters, sizeof *decoder);

  *decoder = (PlaitDecoder){
    .components = *components,
    .build = { .width = settings->width,
               .heads = (guint)settings->heads,
               .pre_norm = settings->norm == PLAIT_DECODER_NORM_PRE,
               .dropout = settings->dropout,
               .attention_dropout = settings->attention_dropout,
               .attention_bias = settings->attention_bias,
               .memories = components->memories,
               .n_memories = components->n_memories,
               .summaries = components->summaries,
               .n_summaries = components->n_summaries,
               .parameters = components->parameters },
    .primitives
    = plait_parameters_memory (components->parameters, (PLAIT_DECODER_MAX_PRIMITIVES + 1) * sizeof (PlaitPrimitive)),
    .start = starts[settings->start],
  };
  return build (decoder, error) ? decoder : NULL;
}

guint
plait_decoder_n_layers (const PlaitDecoder *decoder)
{
  return decoder->n_cross;
}

const PlaitCrossAttentionLayer *
plait_decoder_cross (const PlaitDecoder *decoder, guint layer)
{
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CROSS && decoder->primitives[i].layer == layer)
      return &decoder->primitives[i].cross;
  g_assert_not_reached ();
}

gboolean
plait_decoder_check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  return plait_call_check_target_length (&decoder->instance, length, error);
}

/*
 * Functions for tokens, roles and embeddings
 */

/* Returns @tokens with the first token of each target replaced by the decoder's start token. */
static const gint32 *
with_start (const PlaitDecoder *decoder, PlaitTape *tape, PlaitRagged rows, const gint32 *tokens)
{
  gint64 n = plait_ragged_rows (rows);
  gint32 *read;

  if (decoder->start == PLAIT_TOKEN_BOS)
    return tokens;
  read = plait_arena_new_array (plait_tape_arena (tape), gint32, n + 1);
  memcpy (read, tokens, sizeof *read * (gsize)n);
  for (gint64 i = 0; i < rows.n; i++)
    read[rows.offsets[i]] = decoder->start;
  return read;
}

/* Returns the role of sentence @i of target document @s: the role of sentence @i of source document @s. If the source
 * document has fewer sentences, returns the role of its last sentence; if the source document is missing, 0. */
static gint32
role_of (const PlaitDocuments *documents, gint64 s, gint64 i)
{
  const gint64 *bounds = documents->sentences.offsets + s;

  return bounds[0] == bounds[1] ? 0 : documents->roles[MIN (bounds[0] + i, bounds[1] - 1)];
}

/* Returns for each row the index of its sentence in the target. A start token begins the next sentence. */
static const gint64 *
sentences_of_targets (PlaitTape *tape, PlaitRagged rows, const gint32 *tokens)
{
  gint64 *sentences = plait_arena_new_array (plait_tape_arena (tape), gint64, plait_ragged_rows (rows) + 1);

  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 sentence = -1;

      for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
        {
          if (row == rows.offsets[s] || tokens[row] == PLAIT_TOKEN_BOS)
            sentence++;
          sentences[row] = sentence;
        }
    }
  return sentences;
}

/* Returns the rows of each sentence of all targets. @sentences: index of the sentence of each row. */
static PlaitRagged
rows_of_sentences (PlaitTape *tape, PlaitRagged rows, const gint64 *sentences)
{
  gint64 *offsets = plait_arena_new_array (plait_tape_arena (tape), gint64, plait_ragged_rows (rows) + 1), n = 0;

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      if (row == rows.offsets[s] || sentences[row] != sentences[row - 1])
        offsets[n++] = row;
  offsets[n] = plait_ragged_rows (rows);
  return (PlaitRagged){ n, offsets };
}

/* Sets sentence_rows and sentence_ancestry of @decoding. The cache rows of a hypothesis's current sentence are the last
 * rows of its ancestry. */
static void
find_sentence_ancestry (PlaitDecoding *decoding, const gint32 *tokens, const gint64 *parents, gint64 n)
{
  PlaitDecoderState *state = decoding->search;
  PlaitArena *arena = plait_tape_arena (decoding->tape);
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1), *swap = state->length, *rows;

  offsets[0] = 0;
  for (gint64 i = 0; i < n; i++)
    {
      state->next_length[i] = tokens[i] == PLAIT_TOKEN_BOS ? 1 : state->length[parents[i]] + 1;
      offsets[i + 1] = offsets[i] + state->next_length[i];
    }
  rows = plait_arena_new_array (arena, gint64, offsets[n] + 1);
  for (gint64 i = 0; i < n; i++)
    memcpy (rows + offsets[i], state->ancestry + decoding->ancestry_rows.offsets[i + 1] - state->next_length[i],
            (gsize)state->next_length[i] * sizeof *rows);
  state->length = state->next_length;
  state->next_length = swap;
  decoding->sentence_rows = (PlaitRagged){ n, offsets };
  decoding->sentence_ancestry = rows;
}

/* Returns the index of the sentence of each row of a step, valid until the next step. A start token begins the next
 * sentence of the hypothesis. */
static const gint64 *
sentences_of_step (PlaitDecoderState *state, PlaitRagged hypotheses, const gint32 *tokens, const gint64 *parents)
{
  gint64 *swap = state->sentence;

  for (gint64 row = 0; row < plait_ragged_rows (hypotheses); row++)
    state->next_sentence[row] = state->sentence[parents[row]] + (tokens[row] == PLAIT_TOKEN_BOS);
  state->sentence = state->next_sentence;
  state->next_sentence = swap;
  return state->sentence;
}

/* Returns the role of each row; NULL if the target has no roles. */
static const gint32 *
roles_of (const PlaitDocuments *documents, PlaitTape *tape, PlaitRagged rows, const gint64 *sentences)
{
  gint32 *roles;

  if (!documents)
    return NULL;
  roles = plait_arena_new_array (plait_tape_arena (tape), gint32, plait_ragged_rows (rows) + 1);
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      roles[row] = role_of (documents, s, sentences[row]);
  return roles;
}

/* TRUE if a combiner reads positions, sentences or tokens of its queries. */
static gboolean
reads_queries (const PlaitDecoder *decoder)
{
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CROSS && decoder->primitives[i].cross.reads_queries)
      return TRUE;
  return FALSE;
}

/* Returns position, sentence and token of each row. If no combiner reads any of them, all three are NULL. The first row
 * of each target has position @first. */
static PlaitQueryRows
query_rows (const PlaitDecoder *decoder, PlaitTape *tape, PlaitRagged rows, gint64 first, const gint64 *sentences,
            const gint32 *tokens)
{
  gint64 *positions;

  if (!reads_queries (decoder))
    return (PlaitQueryRows){ NULL, NULL, NULL };
  positions = plait_arena_new_array (plait_tape_arena (tape), gint64, plait_ragged_rows (rows) + 1);
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      positions[row] = first + row - rows.offsets[s];
  return (PlaitQueryRows){ positions, sentences, tokens };
}

/* Returns the embeddings of @n target tokens. Unless @roles is NULL, adds role embeddings: the segment embeddings of
 * Rohde, Wu & Liu 2021, section 4.1. If the output reads values of the decoder, starts new readings that hold the
 * result. */
static PlaitNode *
embed (const PlaitDecoding *decoding, const gint32 *tokens, const gint32 *roles, gint64 n)
{
  const PlaitDecoderComponents *components = &decoding->decoder->components;
  PlaitTape *tape = decoding->tape;
  PlaitNode *embedded = plait_embedding_apply (tape, components->embedding, tokens, n);

  if (roles)
    embedded = plait_add (tape, embedded, plait_embedding_apply (tape, components->roles, roles, n));
  if (decoding->encoded->readings[PLAIT_READER_OUTPUT])
    *decoding->encoded->readings[PLAIT_READER_OUTPUT] = (PlaitReadings){ .embedded = embedded };
  return embedded;
}

/* Returns a handle for a pass over @rows, in the arena of @tape, because backward may compute layers again with this
 * handle. */
static PlaitDecoding *
new_decoding (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged rows)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitDecoding *decoding = plait_arena_new_array (arena, PlaitDecoding, 1);
  PlaitEncoderOutputs *outputs = plait_arena_new_array (arena, PlaitEncoderOutputs, 1);

  *outputs = *encoded;

  *decoding = (PlaitDecoding){ .decoder = (PlaitDecoder *)decoder,
                               .phase = PLAIT_DECODING_DECODE,
                               .tape = tape,
                               .encoded = outputs,
                               .rows = rows,
                               .called = plait_arena_new_array0 (arena, guint8, decoder->n_primitives + 1),
                               .carried = plait_arena_new_array0 (arena, PlaitNode *, decoder->n_primitives + 1) };
  return decoding;
}

/* Calls decode of the plugin, and checks which primitives it called. */
static PlaitNode *
decode (PlaitDecoding *decoding, PlaitNode *embedded)
{
  const PlaitDecoder *decoder = decoding->decoder;
  PlaitDecoderState *search = decoding->search;
  PlaitNode *states = plait_call_decode (&decoder->instance, decoding->tape, decoding, embedded);
  PlaitCodeOwner before
      = plait_tape_set_caller (decoding->tape, (PlaitCodeOwner){ decoder->instance.component->label, "decode" });

  plait_decoding_expect_cross (decoding);
  if (search && search->steps == 0)
    memcpy (search->called, decoding->called, decoder->n_primitives);
  if (search)
    plait_decoding_expect_calls (decoding, search->called);
  plait_tape_set_caller (decoding->tape, before);
  return states;
}

/*
 * Functions that run over whole targets
 */

/* If the decoder has carried rows, projects the memories for all cross-attentions, once for all steps. */
static void
project_keys (PlaitDecoding *decoding)
{
  const PlaitDecoder *decoder = decoding->decoder;

  if (decoder->n_carried == 0)
    return;
  decoding->keys
      = plait_arena_new_array (plait_tape_arena (decoding->tape), PlaitCrossAttentionKeys, decoder->n_primitives);
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CROSS)
      decoding->keys[i]
          = plait_cross_project (&decoder->primitives[i].cross, decoding->tape, decoding->encoded->memories);
}

PlaitNode *
plait_decoder_forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                       PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record)
{
  PlaitDecoding *decoding = new_decoding (decoder, tape, encoded, target_rows);
  const gint64 *sentences = encoded->documents || reads_queries (decoder) || decoder->attends_sentences
                                ? sentences_of_targets (tape, target_rows, target_inputs)
                                : NULL;
  const gint32 *roles = roles_of (encoded->documents, tape, target_rows, sentences);

  target_inputs = with_start (decoder, tape, target_rows, target_inputs);
  decoding->pass = plait_cross_pass (tape, encoded->memories, decoder->components.n_memories, target_rows, record);
  decoding->pass.query_rows = query_rows (decoder, tape, target_rows, 0, sentences, target_inputs);
  decoding->pass.losses = encoded->losses;
  decoding->pass.rows_weighed = encoded->rows_weighed;
  memcpy (decoding->pass.readings, encoded->readings, sizeof encoded->readings);
  if (decoder->attends_sentences)
    decoding->sentence_rows = rows_of_sentences (tape, target_rows, sentences);
  project_keys (decoding);
  return decode (decoding, embed (decoding, target_inputs, roles, plait_ragged_rows (target_rows)));
}

/*
 * Functions for steps of a search
 */

static PlaitKept
kept_for (const PlaitDecoding *decoding, const PlaitPrimitive *primitive, PlaitNode *first, gint64 hypotheses,
          gint64 steps)
{
  PlaitTape *tape = decoding->tape;
  gint64 n = decoding->encoded->memories[0].rows.n;
  PlaitKept kept = { .state.n = n, .cell.n = n };

  switch (primitive->kind)
    {
    case PLAIT_PRIMITIVE_ATTEND:
      kept.cache.keys_values = plait_tape_tensor (tape, hypotheses * steps, 2 * decoding->decoder->build.width);
      break;
    case PLAIT_PRIMITIVE_CROSS:
      kept.cross = plait_cross_search (&primitive->cross, tape, decoding->encoded->memories, hypotheses);
      break;
    default:
      kept.state = plait_kept_rows (tape, hypotheses, primitive->width);
      plait_kept_rows_store (&kept.state, tape, first ? first : plait_zeros (tape, n, primitive->width));
      if (primitive->kind != PLAIT_PRIMITIVE_RECUR || primitive->cell.declaration.kind != PLAIT_CELL_LSTM)
        break;
      kept.cell = plait_kept_rows (tape, hypotheses, primitive->width);
      plait_kept_rows_store (&kept.cell, tape, plait_zeros (tape, n, primitive->width));
    }
  return kept;
}

PlaitDecoderState *
plait_decoder_start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                     gint64 hypotheses, gint64 steps)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitDecoderState *state = plait_arena_new_array (arena, PlaitDecoderState, 1);
  gint64 n = encoded->memories[0].rows.n;
  PlaitDecoding *decoding = new_decoding (decoder, tape, encoded, plait_ragged_units (arena, n));

  *state = (PlaitDecoderState){ .decoder = decoder,
                                .encoded = *encoded,
                                .kept = plait_arena_new_array (arena, PlaitKept, decoder->n_primitives + 1),
                                .called = plait_arena_new_array0 (arena, guint8, decoder->n_primitives + 1),
                                .limit = steps };
  plait_decoding_begin (decoding, n);
  for (guint i = 0; i < decoder->n_primitives; i++)
    state->kept[i] = kept_for (decoding, &decoder->primitives[i], decoding->carried[i], hypotheses, steps);
  if (decoder->n_attend > 0)
    {
      state->ancestry = plait_arena_new_array (arena, gint64, hypotheses * steps);
      state->next_ancestry = plait_arena_new_array (arena, gint64, hypotheses * steps);
    }
  if (decoder->attends_sentences)
    {
      state->length = plait_arena_new_array0 (arena, gint64, hypotheses);
      state->next_length = plait_arena_new_array0 (arena, gint64, hypotheses);
    }
  if (encoded->documents || reads_queries (decoder))
    {
      state->sentence = plait_arena_new_array (arena, gint64, hypotheses);
      state->next_sentence = plait_arena_new_array (arena, gint64, hypotheses);
      for (gint64 i = 0; i < hypotheses; i++)
        state->sentence[i] = -1;
    }
  return state;
}

/* Appends the new cache row of each hypothesis to the ancestry of its parent, and returns the offsets of the
 * ancestries. A row has one number in the caches of all layers. */
static PlaitRagged
follow_ancestry (PlaitDecoderState *state, PlaitArena *arena, const gint64 *parents, gint64 n)
{
  gint64 before = state->steps, length = before + 1;
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);
  gint64 *swap = state->ancestry;

  for (gint64 i = 0; i < n; i++)
    {
      gint64 *line = state->next_ancestry + i * length;

      memcpy (line, state->ancestry + parents[i] * before, (gsize)before * sizeof *line);
      line[before] = state->used + i;
      offsets[i] = i * length;
    }
  offsets[n] = n * length;
  state->used += n;
  state->ancestry = state->next_ancestry;
  state->next_ancestry = swap;
  return (PlaitRagged){ n, offsets };
}

PlaitNode *
plait_decoder_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                    const gint64 *parents, PlaitAttentionRecord *record)
{
  const PlaitDecoder *decoder = state->decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_rows (hypotheses);
  PlaitRagged units = plait_ragged_units (arena, n);
  const gint64 *sentences = state->sentence ? sentences_of_step (state, hypotheses, tokens, parents) : NULL;
  const gint32 *roles = roles_of (state->encoded.documents, tape, hypotheses, sentences), *given = tokens;
  PlaitDecoding *decoding = new_decoding (decoder, tape, &state->encoded, units);
  PlaitNode *states;

  g_assert (state->steps < state->limit);
  if (state->steps == 0)
    tokens = with_start (decoder, tape, units, tokens);
  decoding->search = state;
  decoding->parents = parents;
  decoding->first_position = state->steps;
  decoding->pass = plait_cross_pass (tape, state->encoded.memories, decoder->components.n_memories, hypotheses, record);
  decoding->pass.query_rows = query_rows (decoder, tape, units, state->steps, sentences, tokens);
  decoding->pass.rows_weighed = state->encoded.rows_weighed;
  memcpy (decoding->pass.readings, state->encoded.readings, sizeof state->encoded.readings);
  if (decoder->n_attend > 0)
    decoding->ancestry_rows = follow_ancestry (state, arena, parents, n);
  if (decoder->attends_sentences)
    find_sentence_ancestry (decoding, given, parents, n);
  states = decode (decoding, embed (decoding, tokens, roles, n));
  state->steps++;
  return states;
}
