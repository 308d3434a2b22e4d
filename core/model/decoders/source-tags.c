/* SPDX-License-Identifier: MIT */
#include "decoders/source-tags.h"

#include "cross-attention/rows.h"
#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

/* Returns a formatted text in memory that belongs to @parameters. */
static const char *G_GNUC_PRINTF (2, 3) text_new (PlaitParameters *parameters, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;
  gsize size;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  size = strlen (text) + 1;
  return memcpy (plait_parameters_memory (parameters, size), text, size);
}

gboolean
plait_source_tags_build (PlaitSourceTags *tags, const PlaitSourceTagsBuild *build, PlaitParameters *parameters,
                         PlaitLossColumns *columns, GError **error)
{
  g_autofree char *prefix = g_strdup_printf ("source/%s/tags/%s/", build->source, build->name);
  g_autofree char *column = g_strdup_printf ("tags.%s.%s", build->source, build->name);
  g_autofree char *accuracy = g_strconcat (column, ".accuracy", NULL);
  const PlaitOutputComponents components = {
    .build = { .state_width = build->width,
               .vocabulary_size = build->vocabulary_size - PLAIT_TOKEN_SPECIALS,
               .bias = TRUE,
               .parameters = parameters,
               .prefix = prefix },
  };

  tags->name = text_new (parameters, "%s.%s", build->source, build->name);
  tags->key = text_new (parameters, "[source %s] tags", build->source);
  tags->weight = build->weight;
  if (components.build.vocabulary_size < 1)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the vocabulary of %s has no tags; name another stream", tags->key,
                       build->name);
  tags->output = plait_output_new (&components, error);
  return tags->output
         && plait_loss_columns_add (columns, column, accuracy, build->weight, tags->key, &tags->column, error);
}

/* Tokens of a source for which tags are predicted. */
typedef struct
{
  gint64 n;
  gint64 *inputs;  /* row of each token in the input */
  gint64 *rows;    /* row of each token in the memory */
  gint32 *targets; /* tag of each token, from 0 */
  double *weights; /* weight of the sentence of each token */
} Tokens;

/* Fails the step because the encoder has no row for token @position of its sentence. */
static void
fail_without_row (const PlaitSourceTags *tags, PlaitTape *tape, gint64 position)
{
  GError *fault = NULL;

  plait_fail (&fault, PLAIT_ERROR_INPUT,
              "%s: token %jd has no row in the first memory of the encoder; choose an encoder with a row for each "
              "token, or set tags=none",
              tags->key, position + 1);
  plait_arena_fail (plait_tape_arena (tape), fault);
}

/* Returns the tokens that have a tag. @ids [rows of the input]: PLAIT_TOKEN_SPECIALS + the tag of the token; smaller if
 * the token has no tag. If @ids is NULL, returns all tokens that are text, with tag 0. */
static Tokens
find_tokens (const PlaitSourceTags *tags, PlaitTape *tape, const PlaitBatch *batch, const PlaitMemory *memory,
             const gint32 *ids)
{
  const PlaitInput *input = &batch->inputs[tags->source];
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 most = plait_ragged_rows (input->rows) + 1;
  gint64 *row_of = plait_arena_new_array (arena, gint64, plait_ragged_longest (input->rows) + 1);
  Tokens tokens = { .inputs = plait_arena_new_array (arena, gint64, most),
                    .rows = plait_arena_new_array (arena, gint64, most),
                    .targets = plait_arena_new_array (arena, gint32, most),
                    .weights = plait_arena_new_array (arena, double, most) };

  for (gint64 s = 0; s < input->rows.n; s++)
    {
      gint64 first = input->rows.offsets[s], n = plait_ragged_length (input->rows, s);

      plait_memory_rows_of_tokens (memory, s, row_of, n);
      for (gint64 i = 0; i < n; i++)
        {
          gboolean text = input->tokens[first + i] >= PLAIT_TOKEN_UNKNOWN;

          if (ids ? ids[first + i] < PLAIT_TOKEN_SPECIALS : !text)
            continue;
          if (row_of[i] < 0)
            fail_without_row (tags, tape, i);
          tokens.inputs[tokens.n] = first + i;
          tokens.rows[tokens.n] = memory->rows.offsets[s] + row_of[i];
          tokens.targets[tokens.n] = ids ? ids[first + i] - PLAIT_TOKEN_SPECIALS : 0;
          tokens.weights[tokens.n++] = batch->weights ? batch->weights[s] : 1;
        }
    }
  return tokens;
}

/* Returns the distribution of tags for @tokens. */
static PlaitWordDistribution
distribution (const PlaitSourceTags *tags, PlaitTape *tape, const PlaitMemory *memory, const Tokens *tokens)
{
  const PlaitOutputInputs none = { 0 };

  return plait_output_apply (tags->output, tape, plait_gather_rows (tape, memory->states, tokens->rows, tokens->n),
                             &none);
}

PlaitNode *
plait_source_tags_loss (const PlaitSourceTags *tags, PlaitTape *tape, const PlaitBatch *batch,
                        const PlaitEncoderOutputs *encoded, double scale, double *loss, PlaitLossItems *items)
{
  const PlaitInput *input = &batch->inputs[tags->source];
  const PlaitMemory *memory = &encoded->own[tags->source];
  const gint32 *ids = input->factors[tags->stream];
  Tokens tokens = find_tokens (tags, tape, batch, memory, ids);
  PlaitOutputLossOptions options = { .scale = scale * tags->weight, .weights = tokens.weights };
  PlaitWordDistribution words;
  PlaitOutputLossSums sums = { 0 };
  PlaitNode *root = NULL;

  *items = (PlaitLossItems){ 0 };
  for (gint64 row = 0; row < plait_ragged_rows (input->rows); row++)
    items->n += ids[row] >= PLAIT_TOKEN_UNKNOWN;
  if (tokens.n > 0)
    {
      words = distribution (tags, tape, memory, &tokens);
      root = plait_word_distribution_loss (&words, tape, tokens.targets, &options, &sums, NULL);
    }
  items->correct = sums.correct;
  *loss = sums.loss;
  return root;
}

gint32 *
plait_source_tags_predict (const PlaitSourceTags *tags, PlaitTape *tape, const PlaitBatch *batch,
                           const PlaitEncoderOutputs *encoded)
{
  const PlaitMemory *memory = &encoded->own[tags->source];
  PlaitArena *arena = plait_tape_arena (tape);
  Tokens tokens = find_tokens (tags, tape, batch, memory, NULL);
  gint32 *of_rows = plait_arena_new_array0 (arena, gint32, plait_ragged_rows (batch->inputs[tags->source].rows) + 1);
  gint32 *best = plait_arena_new_array (arena, gint32, tokens.n + 1);
  PlaitScalar *log_probabilities = plait_arena_new_array (arena, PlaitScalar, tokens.n + 1);
  PlaitWordDistribution words;

  if (tokens.n == 0)
    return of_rows;
  words = distribution (tags, tape, memory, &tokens);
  plait_word_distribution_best (&words, tape, NULL, 0, 1, best, log_probabilities);
  for (gint64 i = 0; i < tokens.n; i++)
    {
      if (!isfinite (log_probabilities[i]))
        plait_arena_fail (arena, g_error_new (PLAIT_ERROR, PLAIT_ERROR_INPUT,
                                              "%s: the model gives no tag a probability, because its states are not "
                                              "finite numbers; choose another checkpoint, or check the data",
                                              tags->key));
      of_rows[tokens.inputs[i]] = PLAIT_TOKEN_SPECIALS + best[i];
    }
  return of_rows;
}
