/* SPDX-License-Identifier: MIT */
#include "decoders/guided-alignment.h"

#include <string.h>

#include "cross-attention/rows.h"
#include "decoders/decoder.h"

#define MIN_WEIGHT 1e-30 /* minimum of a weight, because the logarithm of 0 is not finite; replaces smaller weights */

/* The word alignments of a batch: which pairs of a target row and a memory row are linked. */
typedef struct
{
  PlaitQueryKeyPairs pairs;
  gint64 n;
  gint64 *links;       /* index of each linked pair: [n] */
  PlaitScalar *shares; /* 1 / number of links of the pair's target row: [n] */
  gint64 n_rows;       /* number of target rows that have links */
  gint64 *rows;        /* indices of the pairs of each target row that has links, padded by -1: [n_rows][longest] */
  gint64 longest;      /* largest number of memory rows of a sentence */
} Links;

/* Adds target row @target of sentence @sentence. The last @n elements of links->links belong to this row. */
static void
add_row (Links *links, gint64 sentence, gint64 target, gint64 n)
{
  gint64 length = plait_ragged_length (links->pairs.rows, sentence);
  gint64 *row = links->rows + links->n_rows++ * links->longest;

  for (gint64 i = 0; i < links->longest; i++)
    row[i] = i < length ? links->pairs.offsets[sentence] + target * length + i : -1;
  for (gint64 i = links->n - n; i < links->n; i++)
    links->shares[i] = (PlaitScalar)(1.0 / (double)n);
}

/* The links of one sentence, sorted by target row. */
typedef struct
{
  gint64 *bounds; /* row t has the links bounds[t] .. bounds[t + 1] - 1: [target rows + 2] */
  gint64 *tokens; /* source token of each link: [links] */
} SortedLinks;

/* Sorts the links of sentence @sentence, which has @targets target rows. Links of a row keep their order. */
static void
sort_links (SortedLinks *sorted, const PlaitAlignment *alignment, gint64 sentence, gint64 targets)
{
  gint64 first = alignment->links.offsets[sentence], end = alignment->links.offsets[sentence + 1];
  gint64 *next = sorted->bounds + 1; /* index of the next free place for each row: [target rows + 1] */

  memset (sorted->bounds, 0, (gsize)(targets + 2) * sizeof *sorted->bounds);
  for (gint64 i = first; i < end; i++)
    next[alignment->target[i] + 1]++;
  for (gint64 t = 0; t < targets; t++)
    next[t + 1] += next[t];
  for (gint64 i = first; i < end; i++)
    sorted->tokens[next[alignment->target[i]]++] = alignment->source[i];
}

/* Adds the links @sorted of sentence @sentence, except links to tokens without a memory row. @row_of: memory row of
 * each token, from plait_memory_rows_of_tokens. */
static void
add_sentence (Links *links, const SortedLinks *sorted, gint64 sentence, const gint64 *row_of)
{
  gint64 length = plait_ragged_length (links->pairs.rows, sentence);

  for (gint64 t = 0; t < plait_ragged_length (links->pairs.queries, sentence); t++)
    {
      gint64 before = links->n;

      for (gint64 i = sorted->bounds[t]; i < sorted->bounds[t + 1]; i++)
        if (row_of[sorted->tokens[i]] >= 0)
          links->links[links->n++] = links->pairs.offsets[sentence] + t * length + row_of[sorted->tokens[i]];
      if (links->n > before)
        add_row (links, sentence, t, links->n - before);
    }
}

static Links
links_new (PlaitTape *tape, PlaitRagged queries, const PlaitMemory *memory, const PlaitInput *input)
{
  const PlaitAlignment *alignment = input->alignment;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_rows (alignment->links), longest = plait_ragged_longest (memory->rows);
  Links links = { .pairs = plait_query_key_pairs (tape, queries, memory->rows), .longest = longest };
  SortedLinks sorted = { .bounds = plait_arena_new_array (arena, gint64, plait_ragged_longest (queries) + 2),
                         .tokens = plait_arena_new_array (arena, gint64, n + 1) };
  gint64 *row_of = plait_arena_new_array (arena, gint64, plait_ragged_longest (input->rows) + 1);

  links.links = plait_arena_new_array (arena, gint64, n + 1);
  links.shares = plait_arena_new_array (arena, PlaitScalar, n + 1);
  links.rows = plait_arena_new_array (arena, gint64, MIN (n, plait_ragged_rows (queries)) * longest + 1);
  for (gint64 s = 0; s < queries.n; s++)
    if (plait_ragged_length (alignment->links, s) > 0)
      {
        plait_memory_rows_of_tokens (memory, s, row_of, plait_ragged_length (input->rows, s));
        sort_links (&sorted, alignment, s, plait_ragged_length (queries, s));
        add_sentence (&links, &sorted, s, row_of);
      }
  return links;
}

static PlaitNode *
constant (PlaitTape *tape, PlaitScalar value, gint64 n)
{
  PlaitScalar *values = plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, n + 1);

  for (gint64 i = 0; i < n; i++)
    values[i] = value;
  return plait_leaf (tape, plait_tensor (values, n, 1), NULL);
}

static PlaitNode *
safe_log (PlaitTape *tape, PlaitNode *x)
{
  return plait_log (tape, plait_maximum (tape, x, constant (tape, (PlaitScalar)MIN_WEIGHT, x->value.rows)));
}

/* Returns the loss of one memory of @input, or NULL if no token with a memory row is linked. @weights: weights of the
 * pairs of @queries and rows of @memory. */
static PlaitNode *
loss_of_memory (PlaitTape *tape, PlaitNode *weights, PlaitRagged queries, const PlaitMemory *memory,
                const PlaitInput *input)
{
  Links links;
  PlaitNode *linked, *sums, *terms[2];

  if (plait_ragged_rows (input->alignment->links) == 0)
    return NULL;
  if (!memory->links || !memory->links->token)
    plait_tape_fail (tape,
                     "the rows of an encoder are not tokens, so words cannot be aligned: drop data.train.*.alignment");
  links = links_new (tape, queries, memory, input);
  if (links.n == 0)
    return NULL;
  linked = safe_log (tape, plait_gather_rows (tape, weights, links.links, links.n));
  terms[0] = plait_multiply (tape, linked, plait_leaf (tape, plait_tensor (links.shares, links.n, 1), NULL));
  terms[0] = plait_scale (tape, plait_reduce_sum (tape, terms[0]), -1);
  sums = plait_linear (tape, plait_gather_windows (tape, weights, links.rows, links.n_rows, links.longest),
                       constant (tape, 1, links.longest), NULL, PLAIT_ACTIVATION_NONE);
  terms[1] = plait_reduce_sum (tape, safe_log (tape, sums));
  return plait_add_n (tape, terms, 2);
}

#define KEY "train.alignment_attention: "

/* Makes @cross store the attention weights of memory @memory for the loss on its alignment. */
static gboolean
read_cross (const PlaitAlignmentSettings *settings, PlaitCrossAttentionLayer *cross, guint memory, const char *name,
            GError **error)
{
  guint heads = plait_cross_layer_heads (cross, settings->name, memory);

  if (heads == 0)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        KEY "%s has no attention%s%s that can learn the alignments to the memory %s; choose another combiner%s, or "
            "drop data.train.*.alignment",
        cross->combiner.component->label, settings->name ? " called " : "", settings->name ? settings->name : "", name,
        settings->name ? " or another train.alignment_name" : ", name an attention with train.alignment_name");
  if (settings->head >= (gint64)heads)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        KEY "there is no head %jd: the attention to the memory %s has %u heads, counted from 0; name one of these",
        settings->head, name, heads);
  cross->reads[PLAIT_READER_ALIGNMENT]
      = (PlaitReadRequest){ .attention = TRUE, .name = settings->name, .head = (guint)(settings->head + 1) };
  return TRUE;
}

gboolean
plait_guided_alignment_build (PlaitGuidedAlignment *guided, const PlaitDecoder *decoder,
                              const PlaitMemorySpecification *memories, guint n, PlaitLossColumns *columns,
                              GError **error)
{
  const PlaitAlignmentSettings *settings = &guided->settings;
  gint64 layers = decoder ? plait_decoder_n_layers (decoder) : 0;
  gint64 layer = settings->layer < 0 ? layers - 1 : settings->layer;

  for (guint m = 0; m < n; m++)
    {
      if (guided->sources[m] < 0)
        continue;
      if (layer < 0 || layer >= layers)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            KEY "there is no layer %jd: the decoder has %jd layers with attention, counted from 0; name one of these",
            MAX (layer, 0), layers);
      if (!read_cross (settings, (PlaitCrossAttentionLayer *)plait_decoder_cross (decoder, (guint)layer), m,
                       memories[m].name, error))
        return FALSE;
      guided->n++;
    }
  if (guided->n == 0)
    return TRUE;
  guided->losses = (PlaitLosses){ 1, { { "alignment", settings->weight } } };
  return plait_loss_columns_add (columns, guided->losses.losses->name, NULL, settings->weight, "data.train.*.alignment",
                                 &guided->column, error);
}

/* Returns the input of @batch whose alignment the attention to memory @memory learns; NULL if there is no such input or
 * alignment. */
static const PlaitInput *
aligned_input (const PlaitGuidedAlignment *guided, const PlaitBatch *batch, guint memory)
{
  const PlaitInput *input = guided->sources[memory] < 0 ? NULL : &batch->inputs[guided->sources[memory]];

  return input && input->alignment ? input : NULL;
}

void
plait_guided_alignment_begin (const PlaitGuidedAlignment *guided, PlaitTape *tape, const PlaitBatch *batch,
                              PlaitEncoderOutputs *encoded)
{
  for (guint m = 0; plait_tape_mode (tape) != PLAIT_TAPE_EVALUATE && guided->n > 0 && m < encoded->n_memories; m++)
    if (aligned_input (guided, batch, m) && !encoded->readings[PLAIT_READER_ALIGNMENT])
      encoded->readings[PLAIT_READER_ALIGNMENT] = plait_arena_new_array0 (plait_tape_arena (tape), PlaitReadings, 1);
}

void
plait_guided_alignment_end (const PlaitGuidedAlignment *guided, PlaitTape *tape, const PlaitBatch *batch,
                            const PlaitEncoderOutputs *encoded)
{
  const PlaitReadings *readings = encoded->readings[PLAIT_READER_ALIGNMENT];
  const PlaitCrossReading *reading
      = readings ? plait_readings_join (readings, tape, batch->target_rows, encoded->memories, encoded->n_memories)
                 : NULL;

  for (guint m = 0; reading && m < encoded->n_memories; m++)
    {
      const PlaitInput *input = reading->weights[m] ? aligned_input (guided, batch, m) : NULL;
      PlaitNode *loss
          = input ? loss_of_memory (tape, reading->weights[m], batch->target_rows, &encoded->memories[m], input) : NULL;

      if (loss)
        plait_loss_pass_add (encoded->losses, tape, &guided->losses, &guided->column, guided->losses.losses->name,
                             loss);
    }
}
