/* SPDX-License-Identifier: MIT */
#include "outputs/output.h"

#include <math.h>
#include <string.h>

#include "corpus/batch.h"
#include "layers/parameter-set.h"
#include "tensor/output-layer.h"

/* Stores in the last cross-attention which of its values the output reads. */
static gboolean
read_cross (PlaitModelOutput *output, const PlaitOutputComponents *components, GError **error)
{
  const PlaitOutputShape *shape = &output->shape;
  const PlaitReadRequest request = { .context = shape->context,
                                     .embedded = shape->embedded,
                                     .attention = output->copies,
                                     .name = shape->attention,
                                     .head = shape->head };

  output->reads = request.context || request.embedded || request.attention;
  if (!request.context && !request.attention)
    return TRUE;
  if (!components->cross)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: this output reads a cross-attention, but the decoder has none; choose another output",
                       components->component->label);
  return plait_cross_layer_read (components->cross, &request, shape->copies, components->component->label, error);
}

PlaitModelOutput *
plait_output_new (const PlaitOutputComponents *components, GError **error)
{
  PlaitModelOutput *output = plait_parameters_memory (components->build.parameters, sizeof *output);

  output->n_memories = components->build.n_memories;
  if (!components->component)
    plait_output_declare_table (&components->build, &output->shape);
  else if (!plait_call_build_output (&output->instance, components->component, &components->build, &output->shape,
                                     error))
    return NULL;
  output->copies = plait_output_copies (&output->shape);
  output->shape.table->use = PLAIT_USE_TABLE;
  return read_cross (output, components, error) ? output : NULL;
}

/* Returns the weights of the attention to @memory, and their pairs, for the output plugin. */
static PlaitOutputAttention
attention_to (PlaitTape *tape, const PlaitOutputInputs *inputs, const PlaitCrossReading *reading, guint memory)
{
  PlaitOutputAttention attention = { reading ? reading->weights[memory] : NULL,
                                     plait_query_key_pairs (tape, inputs->rows, inputs->memories[memory].rows), NULL };
  gint64 *queries
      = plait_arena_new_array (plait_tape_arena (tape), gint64, plait_query_key_pairs_count (&attention.pairs) + 1);
  gint64 pair = 0;

  for (gint64 s = 0; s < inputs->rows.n; s++)
    for (gint64 q = inputs->rows.offsets[s]; q < inputs->rows.offsets[s + 1]; q++)
      for (gint64 i = 0; i < plait_ragged_length (inputs->memories[memory].rows, s); i++)
        queries[pair++] = q;
  attention.queries = queries;
  if (!attention.weights)
    plait_tape_fail (tape,
                     "the output copies words of memory %u, but the combiner did not attend to this memory in the last "
                     "cross-attention: attend to it in combine",
                     memory);
  return attention;
}

/* Sets those fields of @pass that the output plugin reads. @attention [n_memories] is zeroed by the caller. */
static void
fill_pass (const PlaitModelOutput *output, const PlaitOutputInputs *inputs, PlaitOutputPass *pass,
           PlaitOutputAttention *attention)
{
  PlaitTape *tape = pass->tape;
  const PlaitCrossReading *reading
      = plait_readings_join (inputs->readings, tape, inputs->rows, inputs->memories, output->n_memories);

  if (output->shape.embedded)
    pass->embedded = inputs->readings->embedded;
  if (output->shape.context)
    pass->context = reading ? reading->context : NULL;
  if (output->shape.context && !pass->context)
    plait_tape_fail (tape, "the output reads the context of the last cross-attention, but the combiner added no "
                           "context: call plait_cross_residual in combine");
  for (guint m = 0; m < output->n_memories; m++)
    if (m < PLAIT_OUTPUT_MAX_MEMORIES && output->shape.copies[m])
      attention[m] = attention_to (tape, inputs, reading, m);
  pass->shares = output->copies ? reading->shares : NULL;
  pass->joint = output->copies && reading->joint;
}

/* Returns the copied words: the gate and the weights that the output plugin computed. */
static const PlaitOutputCopies *
copies_of (const PlaitOutputPass *pass, const PlaitOutputInputs *inputs)
{
  PlaitArena *arena = plait_tape_arena (pass->tape);
  guint n = inputs->words->n, i = 0;
  PlaitOutputCopies *copies = plait_arena_new_array (arena, PlaitOutputCopies, 1);
  PlaitQueryKeyPairs *pairs = plait_arena_new_array (arena, PlaitQueryKeyPairs, n + 1);
  PlaitNode **weights = plait_arena_new_array (arena, PlaitNode *, n + 1);

  for (guint m = 0; m < pass->n_memories; m++)
    if (pass->copied[m])
      {
        pairs[i] = pass->attention[m].pairs;
        weights[i++] = pass->copied[m];
      }
  *copies = (PlaitOutputCopies){ .gate = pass->gate, .words = inputs->words, .pairs = pairs, .weights = weights };
  return copies;
}

/* Records the gate and, given that a query row copies, the probability of each row of the copied memories. */
static void
record_copies (const PlaitOutputPass *pass, const PlaitOutputCopies *copies, PlaitAttentionRecord *record)
{
  PlaitRagged rows = copies->pairs->queries;
  PlaitTensor gate = plait_tape_value (pass->tape, pass->gate);
  double *totals = plait_arena_new_array0 (plait_tape_arena (pass->tape), double, plait_ragged_rows (rows) + 1);
  PlaitScalar *to = plait_attention_record_gate (record);
  guint i = 0;

  for (gint64 row = 0; row < gate.rows; row++)
    to[row] = (PlaitScalar)(1 / (1 + exp (-(double)gate.data[row])));
  for (guint m = 0; m < copies->words->n; m++)
    for (gint64 pair = 0, s = 0; s < rows.n; s++)
      for (gint64 q = rows.offsets[s]; q < rows.offsets[s + 1]; q++)
        for (gint64 row = copies->pairs[m].rows.offsets[s]; row < copies->pairs[m].rows.offsets[s + 1]; row++, pair++)
          if (copies->words->word[m][row] >= 0)
            totals[q] += (double)copies->weights[m]->value.data[pair];
  for (guint m = 0; m < pass->n_memories; m++)
    {
      PlaitScalar *copied;

      if (!pass->copied[m])
        continue;
      copied = plait_attention_record_copied (record, m);
      for (gint64 pair = 0, s = 0; s < rows.n; s++)
        for (gint64 q = rows.offsets[s]; q < rows.offsets[s + 1]; q++)
          for (gint64 row = copies->pairs[i].rows.offsets[s]; row < copies->pairs[i].rows.offsets[s + 1]; row++, pair++)
            copied[pair] = copies->words->word[i][row] >= 0 && totals[q] > 0
                               ? (PlaitScalar)((double)copies->weights[i]->value.data[pair] / totals[q])
                               : 0;
      i++;
    }
}

PlaitWordDistribution
plait_output_apply (const PlaitModelOutput *output, PlaitTape *tape, PlaitNode *states, const PlaitOutputInputs *inputs)
{
  PlaitOutputPass pass = { .tape = tape, .states = states, .n_memories = output->n_memories, .logit_states = states };
  PlaitWordDistribution words = { .table = output->shape.table, .bias = output->shape.bias };

  if (output->instance.component)
    {
      PlaitArena *arena = plait_tape_arena (tape);
      PlaitOutputAttention *attention = plait_arena_new_array0 (arena, PlaitOutputAttention, output->n_memories + 1);

      pass.logit_states = NULL;
      pass.attention = attention;
      pass.copied = plait_arena_new_array0 (arena, PlaitNode *, output->n_memories + 1);
      if (output->reads)
        fill_pass (output, inputs, &pass, attention);
      plait_call_output (&output->instance, &output->shape, &pass);
    }
  words.states = pass.logit_states;
  if (!output->copies)
    return words;
  words.copies = copies_of (&pass, inputs);
  if (inputs->record)
    record_copies (&pass, words.copies, inputs->record);
  if (plait_tape_mode (tape) == PLAIT_TAPE_EVALUATE)
    {
      words.mixture = plait_arena_new_array (plait_tape_arena (tape), PlaitOutputMixture, 1);
      *words.mixture = plait_output_copies_mixture (tape, words.copies);
    }
  return words;
}

/* TRUE if @id is in @ids [n], which are in ascending order. */
static gboolean
is_among (const gint32 *ids, gint64 n, gint32 id)
{
  for (gint64 i = 0; i < n && ids[i] <= id; i++)
    if (ids[i] == id)
      return TRUE;
  return FALSE;
}

/* Returns @targets with the unknown word in place of each word that its row cannot generate or copy. */
static const gint32 *
reachable (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *targets)
{
  const PlaitCopyableWords *copyable = words->copies->words;
  PlaitRagged rows = words->copies->pairs->queries;
  gint32 *suited = plait_arena_new_array (plait_tape_arena (tape), gint32, plait_ragged_rows (rows) + 1);

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      suited[row] = targets[row] < words->table->value.rows
                            || is_among (copyable->ids + copyable->words.offsets[s],
                                         plait_ragged_length (copyable->words, s), targets[row])
                        ? targets[row]
                        : PLAIT_TOKEN_UNKNOWN;
  return suited;
}

PlaitNode *
plait_word_distribution_loss (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *targets,
                              const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums, double *row_losses)
{
  PlaitNode *bias = plait_parameter_node_if_any (tape, words->bias);
  PlaitOutputLossOptions suited = *options;

  if (plait_tape_mode (tape) == PLAIT_TAPE_EVALUATE)
    suited.packed = words->table->packed;
  suited.copies = words->copies;
  return plait_output_loss (tape, words->states, plait_parameter_node (tape, words->table), bias,
                            words->copies ? reachable (words, tape, targets) : targets, &suited, sums, row_losses);
}

void
plait_word_distribution_losses (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *ids,
                                double *row_losses)
{
  PlaitOutputLayerWork work = {
    .states = words->states->value,
    .table = words->table->value,
    .packed = words->table->packed,
    .bias = words->bias ? words->bias->value.data : NULL,
    .targets = ids,
    .mixture = words->mixture,
    .scale = 1,
    .row_losses = row_losses,
  };

  plait_output_layer_compute (plait_tape_pool (tape), plait_tape_arena (tape), &work);
}

void
plait_word_distribution_rows (const PlaitWordDistribution *words, PlaitTape *tape, gint64 first, gint64 n,
                              gint64 n_words, PlaitScalar *log_probabilities)
{
  PlaitOutputMixture mixture;

  if (words->mixture)
    {
      mixture = *words->mixture;
      mixture.offsets += first;
      mixture.gate += first;
    }
  plait_output_layer_log_probabilities (plait_tape_pool (tape), plait_tape_arena (tape),
                                        plait_tensor_rows (words->states->value, first, n), words->table->packed,
                                        words->bias ? words->bias->value.data : NULL, words->mixture ? &mixture : NULL,
                                        plait_tensor (log_probabilities, n, n_words));
}

void
plait_word_distribution_best (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *forbidden,
                              guint n_forbidden, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  plait_output_layer_top_k (plait_tape_pool (tape), plait_tape_arena (tape), words->states->value, words->table->packed,
                            words->bias ? words->bias->value.data : NULL, forbidden, n_forbidden, NULL, words->mixture,
                            best, ids, log_probabilities);
}
