/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "attention/attention.h"
#include "kernels/kernels.h"
#include "autograd/layer-operators.h"

static PlaitAttentionSettings
settings_of (PlaitTape *tape, const PlaitAttentionOptions *options)
{
  PlaitAttentionSettings settings = { .heads = options->heads,
                                      .scale = options->scale,
                                      .causal = options->causal,
                                      .dropout = 0,
                                      .linear_bias = options->linear_bias,
                                      .window = options->window,
                                      .precision = plait_tape_precision (tape) };

  plait_tape_expect (tape, options->dropout >= 0 && options->dropout < 1 && isfinite (options->scale)
                               && options->window >= 0);
  if (options->dropout > 0 && plait_tape_mode (tape) == PLAIT_TAPE_TRAIN)
    {
      settings.dropout = options->dropout;
      settings.key = plait_tape_next_key (tape);
    }
  return settings;
}

static PlaitGradientTarget
target_of (PlaitTape *tape, PlaitNode *input)
{
  PlaitGradientTarget target;

  target.gradient = plait_gradient_if_needed (tape, input, &target.beta);
  return target;
}

/* Returns the number of query-key pairs that attention sees in a sentence of @queries queries and @keys keys. */
static gint64
count_pairs (const PlaitAttentionOptions *options, gint64 queries, gint64 keys)
{
  gint64 window = options->window, pairs = 0;

  if (window == 0)
    return options->causal ? queries * (queries + 1) / 2 : queries * keys;
  for (gint64 t = keys - queries; t < keys; t++)
    pairs += MIN (window, t + 1) + (options->causal ? 0 : MIN (window, keys - t) - 1);
  return pairs;
}

/* Counts the multiplications of scores and contexts, for the query-key pairs that attention may see. */
static void
note_products (PlaitTape *tape, PlaitNode *queries, PlaitRagged query_rows, const PlaitKeyValues *memory,
               const PlaitAttentionOptions *options)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < query_rows.n; s++)
    pairs += count_pairs (options, plait_ragged_length (query_rows, s), plait_ragged_length (memory->rows, s));
  plait_tape_note_product (tape, queries, memory->keys, pairs * queries->value.width);
  plait_tape_note_product (tape, queries, memory->values, pairs * queries->value.width);
}

/* Fails the step if @queries and @memory do not allow a linear bias or a window. */
static void
expect_relative_rows (PlaitTape *tape, PlaitRagged queries, const PlaitKeyValues *memory, gboolean causal)
{
  plait_tape_expect (tape, !memory->transposed_keys);
  for (gint64 s = 0; s < queries.n; s++)
    {
      gint64 n = plait_ragged_length (queries, s), keys = plait_ragged_length (memory->rows, s);

      plait_tape_expect (tape, causal ? keys == n : keys >= n);
    }
}

typedef struct
{
  PlaitAttentionSettings settings;
  PlaitRagged query_rows;
  PlaitTensor log_sums; /* [query rows, heads] log of the softmax denominators, for backward */
  guint n_memories;
  PlaitAttentionMemory memories[];
} AttentionPayload;

/* Returns the kernel's arguments for @node. node->inputs: the queries, then keys and values of each memory. The inputs'
 * values are read afresh, because the tape may have moved them. */
static PlaitAttentionJob
job_of (const PlaitNode *node)
{
  AttentionPayload *payload = node->payload;

  for (guint i = 0; i < payload->n_memories; i++)
    {
      payload->memories[i].keys = node->inputs[1 + 2 * i]->value;
      payload->memories[i].values = node->inputs[2 + 2 * i]->value;
    }
  return (PlaitAttentionJob){ .context = node->value,
                              .queries = node->inputs[0]->value,
                              .query_rows = payload->query_rows,
                              .memories = payload->memories,
                              .n_memories = payload->n_memories,
                              .settings = &payload->settings,
                              .log_sums = payload->log_sums.data };
}

static void
attention_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitAttentionJob job = job_of (node);
  gsize size = job.n_memories * sizeof (PlaitAttentionMemoryGradient);
  PlaitAttentionMemoryGradient *targets = plait_arena_allocate (arena, size);

  job.dcontext = node->gradient;
  job.dqueries = target_of (tape, node->inputs[0]);
  job.dmemories = targets;
  for (guint i = 0; i < job.n_memories; i++)
    {
      targets[i].keys = target_of (tape, node->inputs[1 + 2 * i]);
      targets[i].values = target_of (tape, node->inputs[2 + 2 * i]);
    }
  plait_attention_backward (plait_tape_pool (tape), &job);
  plait_arena_release (arena, targets, size);
}

static const PlaitOperator attention = { "attention", attention_backward };

PlaitNode *
plait_attention (PlaitTape *tape, PlaitNode *queries, PlaitRagged query_rows, const PlaitKeyValues *memories,
                 guint n_memories, const PlaitAttentionOptions *options)
{
  guint n_inputs = 1 + 2 * n_memories;
  PlaitNode **inputs = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n_inputs);
  gint64 width = queries->value.width;
  PlaitNode *node;
  AttentionPayload *payload;
  PlaitAttentionJob job;

  plait_tape_expect (tape, n_memories > 0 && n_memories <= PLAIT_MAX_ATTENTION_MEMORIES);
  plait_tape_expect (tape, options->heads > 0 && width % options->heads == 0);
  plait_tape_expect (tape, plait_ragged_is_valid (query_rows));
  plait_tape_expect (tape, plait_ragged_rows (query_rows) == queries->value.rows);
  plait_tape_expect (tape, n_memories == 1 || !(options->causal || options->linear_bias || options->window > 0));
  inputs[0] = queries;
  for (guint i = 0; i < n_memories; i++)
    {
      const PlaitKeyValues *memory = &memories[i];

      plait_tape_expect (tape, memory->keys && memory->values && plait_ragged_is_valid (memory->rows));
      plait_tape_expect (tape, memory->keys->value.width == width && memory->values->value.width == width);
      plait_tape_expect (tape,
                         memory->keys->value.rows == memory->values->value.rows && memory->rows.n == query_rows.n);
      plait_tape_expect (tape, memory->gather || plait_ragged_rows (memory->rows) == memory->keys->value.rows);
      if (options->linear_bias || options->window > 0)
        expect_relative_rows (tape, query_rows, memory, options->causal);
      inputs[1 + 2 * i] = memory->keys;
      inputs[2 + 2 * i] = memory->values;
    }
  node = plait_tape_node (tape, &attention, queries->value.rows, width, inputs, n_inputs,
                          sizeof *payload + n_memories * sizeof (PlaitAttentionMemory));
  payload = node->payload;
  payload->settings = settings_of (tape, options);
  payload->query_rows = query_rows;
  payload->n_memories = n_memories;
  for (guint i = 0; i < n_memories; i++)
    {
      const PlaitKeyValues *memory = &memories[i];

      plait_tape_expect (tape, !memory->gather || !node->needs_gradient);
      plait_tape_expect (tape, !memory->transposed_keys || !node->needs_gradient);
      note_products (tape, queries, query_rows, memory, options);
      payload->memories[i] = (PlaitAttentionMemory){ .rows = memory->rows,
                                                     .gather = memory->gather,
                                                     .weights = memory->weights,
                                                     .transposed_keys = memory->transposed_keys };
    }
  if (node->needs_gradient)
    payload->log_sums = plait_tape_save (tape, node, queries->value.rows, options->heads);
  job = job_of (node);
  job.separate = plait_tape_separates_sentences (tape);
  plait_attention_forward (plait_tape_pool (tape), &job);
  return node;
}

typedef struct
{
  PlaitAttentionSettings settings;
  guint n;
  const guint8 *const *present;
  PlaitTensor *tensors; /* tensors of all keys, then of all values: [2 n]; items_job_of sets them */
} ItemsPayload;

/* Returns the kernel's arguments for @node. node->inputs: the queries, then all keys, then all values. */
static PlaitItemsJob
items_job_of (const PlaitNode *node)
{
  ItemsPayload *payload = node->payload;

  for (guint i = 0; i < 2 * payload->n; i++)
    payload->tensors[i] = node->inputs[1 + i]->value;
  return (PlaitItemsJob){ .context = node->value,
                          .queries = node->inputs[0]->value,
                          .keys = payload->tensors,
                          .values = payload->tensors + payload->n,
                          .present = payload->present,
                          .n = payload->n,
                          .settings = &payload->settings };
}

static void
items_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitItemsJob job = items_job_of (node);
  gsize size = 2 * job.n * sizeof (PlaitGradientTarget);
  PlaitGradientTarget *targets = plait_arena_allocate (plait_tape_arena (tape), size);

  job.dcontext = node->gradient;
  job.dqueries = target_of (tape, node->inputs[0]);
  job.dkeys = targets;
  job.dvalues = targets + job.n;
  for (guint i = 0; i < job.n; i++)
    {
      targets[i] = target_of (tape, node->inputs[1 + i]);
      targets[job.n + i] = target_of (tape, node->inputs[1 + job.n + i]);
    }
  plait_items_attention_backward (plait_tape_pool (tape), &job);
  plait_arena_release (plait_tape_arena (tape), targets, size);
}

static const PlaitOperator items = { "attention_over_items", items_backward };

PlaitNode *
plait_attention_over_items (PlaitTape *tape, PlaitNode *queries, PlaitNode *const *keys, PlaitNode *const *values,
                            const guint8 *const *present, guint n, const PlaitAttentionOptions *options,
                            PlaitScalar *weights)
{
  PlaitArena *arena = plait_tape_arena (tape);
  guint n_inputs = 1 + 2 * n;
  PlaitNode **inputs = plait_arena_new_array (arena, PlaitNode *, n_inputs);
  PlaitTensor *tensors = plait_arena_new_array (arena, PlaitTensor, 2 * n);
  const guint8 **bytes = NULL;
  PlaitTensor shape = queries->value;
  PlaitNode *node;
  PlaitItemsJob job;

  plait_tape_expect (tape, n > 0 && options->heads > 0 && shape.width % options->heads == 0);
  inputs[0] = queries;
  for (guint i = 0; i < n; i++)
    {
      plait_tape_expect (tape, keys[i]->value.rows == shape.rows && keys[i]->value.width == shape.width);
      plait_tape_expect (tape, values[i]->value.rows == shape.rows && values[i]->value.width == shape.width);
      inputs[1 + i] = keys[i];
      inputs[1 + n + i] = values[i];
      plait_tape_note_product (tape, queries, keys[i], shape.rows * shape.width);
      plait_tape_note_product (tape, queries, values[i], shape.rows * shape.width);
    }
  if (present)
    bytes = memcpy (plait_arena_new_array (arena, const guint8 *, n), present, n * sizeof *bytes);
  node = plait_tape_node (tape, &items, shape.rows, shape.width, inputs, n_inputs, sizeof (ItemsPayload));
  *(ItemsPayload *)node->payload = (ItemsPayload){ settings_of (tape, options), n, bytes, tensors };
  job = items_job_of (node);
  job.weights = weights;
  plait_items_attention_forward (plait_tape_pool (tape), &job);
  return node;
}

typedef struct
{
  PlaitAttentionSettings settings;
  PlaitRagged query_rows;
  const PlaitSiblingGroups *sibling_groups;
} SiblingPayload;

/* Returns the kernel's arguments for @node. node->inputs: the queries, the keys, the values. */
static PlaitSiblingAttention
sibling_attention_of (const PlaitNode *node)
{
  const SiblingPayload *payload = node->payload;

  return (PlaitSiblingAttention){ node->inputs[0]->value, node->inputs[1]->value,  node->inputs[2]->value,
                                  payload->query_rows,    payload->sibling_groups, &payload->settings };
}

static void
sibling_attention_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitSiblingAttention from = sibling_attention_of (node);
  PlaitGradientTarget values = target_of (tape, node->inputs[2]), keys = target_of (tape, node->inputs[1]);
  PlaitSiblingAttentionGradients gradients = {
    .values = values,
    .keys = keys,
    .queries = target_of (tape, node->inputs[0]),
    .of_values = PLAIT_GRADIENT_TERM_TENSOR (tape, sibling_attention_value, node->gradient),
    .of_keys = PLAIT_GRADIENT_TERM_TENSOR (tape, sibling_attention_key, from.queries),
    .of_queries = PLAIT_GRADIENT_TERM_TENSOR (tape, sibling_attention_query, from.keys),
  };

  plait_sibling_attention_run (plait_tape_pool (tape), node->gradient, &gradients, &from);
}

static const PlaitOperator sibling_groups
    = { .name = "sibling_attention", .backward = sibling_attention_backward, .ignores_value = TRUE };

PlaitNode *
plait_sibling_attention (PlaitTape *tape, const PlaitSiblingGroups *of, PlaitRagged query_rows, PlaitNode *queries,
                         PlaitNode *keys, PlaitNode *values, const PlaitAttentionOptions *options)
{
  PlaitNode *inputs[] = { queries, keys, values };
  PlaitNode *node = plait_tape_node (tape, &sibling_groups, queries->value.rows, queries->value.width, inputs, 3,
                                     sizeof (SiblingPayload));
  SiblingPayload *payload = node->payload;
  gint64 n = 0, read = 0;
  PlaitSiblingAttention from;

  plait_tape_expect (tape, options->heads > 0 && queries->value.width % options->heads == 0);
  plait_tape_expect (tape, keys->value.width == queries->value.width && values->value.width == queries->value.width);
  plait_tape_expect (tape, query_rows.n == of->rows.n && keys->value.rows == values->value.rows);
  plait_tape_expect (tape, plait_ragged_rows (query_rows) == queries->value.rows);
  plait_tape_expect (tape, plait_ragged_rows (of->rows) == keys->value.rows);
  for (gint64 s = 0; s < query_rows.n; s++)
    {
      n += plait_ragged_length (query_rows, s) * of->weighed[s];
      read += plait_ragged_length (query_rows, s) * plait_sibling_groups_leaves (of, s);
    }
  plait_tape_note_product (tape, queries, keys, n * queries->value.width);
  plait_tape_note_product (tape, queries, values, read * queries->value.width);
  *payload = (SiblingPayload){ settings_of (tape, options), query_rows, of };
  from = sibling_attention_of (node);
  plait_sibling_attention_run (plait_tape_pool (tape), node->value, NULL, &from);
  return node;
}
