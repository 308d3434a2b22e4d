/* SPDX-License-Identifier: MIT */
#include "cross-attention/cross-attention.h"

#include <string.h>

#include "autograd/internal.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

/* Attention to rows that a combiner selects for each query and head. The cost grows with the number of selected rows
 * only. */

/* A descent into all branches computes dot products of all rows as matrix products only if sentences have at least this
 * many queries on average. */
#define MIN_DENSE_QUERIES 4

/* Returns the declared attention @name to @memory, or NULL while the model is built. Fails the step if the attention
 * has coverage. */
static const PlaitDeclaredAttention *
begin_sparse (PlaitCrossAttention *cross, const char *call, const char *name, guint memory)
{
  const PlaitDeclaredAttention *attention
      = plait_cross_require_attention (cross, call, PLAIT_ATTEND_MEMORY, name, memory);

  if (attention && attention->covered)
    plait_tape_fail (cross->pass->tape,
                     "%s: coverage needs attention to all rows, but this call selects rows: set decoder.coverage=none",
                     call);
  return attention;
}

guint
plait_cross_heads (PlaitCrossAttention *cross, const char *name, guint memory)
{
  const PlaitDeclaredAttention *attention = begin_sparse (cross, G_STRFUNC, name, memory);

  return attention ? attention->heads : 1;
}

/* Fails the step unless @selected has entries for each query and head, and every query selects only rows of its own
 * sentence. */
static void
check_selected (PlaitCrossAttention *cross, const char *call, const PlaitDeclaredAttention *attention,
                const PlaitSelectedRows *selected)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitRagged queries = cross->pass->queries, rows = cross->pass->memories[attention->first].rows;
  gint64 entries = plait_ragged_rows (queries) * attention->heads;

  if (!selected)
    plait_tape_fail (tape, "%s: the selected rows are NULL: give a PlaitSelectedRows", call);
  if (selected->heads != attention->heads || selected->sets.n != entries || !plait_ragged_is_valid (selected->sets)
      || selected->rows.n != plait_ragged_rows (selected->sets) || !plait_ragged_is_valid (selected->rows))
    plait_tape_fail (tape,
                     "%s: selects rows for %u heads in %jd entries; expected %u heads and %jd queries, so %jd entries",
                     call, selected->heads, selected->sets.n, attention->heads, plait_ragged_rows (queries), entries);
  for (gint64 s = 0; s < queries.n; s++)
    {
      const gint64 *sets = selected->sets.offsets + queries.offsets[s] * attention->heads;
      gint64 last = plait_ragged_length (queries, s) * attention->heads;

      for (gint64 i = selected->rows.offsets[sets[0]]; i < selected->rows.offsets[sets[last]]; i++)
        if (selected->row[i] < rows.offsets[s] || selected->row[i] >= rows.offsets[s + 1])
          plait_tape_fail (tape,
                           "%s: row %jd was selected, but the query's sentence has rows %jd to %jd: select only these",
                           call, selected->row[i], rows.offsets[s], rows.offsets[s + 1] - 1);
    }
}

static const PlaitKeyValues *
keys_of (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention)
{
  return &cross->keys->key_values[plait_cross_index (cross->declared, attention, attention->first)];
}

/* Adds @n selected rows to the attention cost of the pass. */
static void
count_rows_weighed (const PlaitCrossAttentionPass *pass, gint64 n)
{
  if (!pass->rows_weighed)
    return;
  pass->rows_weighed->all += n;
  pass->rows_weighed->selected += n;
}

/* Adds @weights, the weights of the rows @selected, to the attention record, if there is one. */
static void
record_selected (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                 const PlaitSelectedRows *selected, const PlaitScalar *weights)
{
  if (cross->pass->record)
    plait_attention_record_selected (cross->pass->record, cross->step->layer, attention->name, attention->first,
                                     selected, weights);
}

PlaitNode *
plait_cross_sparse_weights (PlaitCrossAttention *cross, const char *name, guint memory, PlaitResidualStream query,
                            const PlaitSelectedRows *selected)
{
  const PlaitDeclaredAttention *attention = begin_sparse (cross, G_STRFUNC, name, memory);
  PlaitTape *tape;
  PlaitNode *projected, *scores, *keys, *weights, *vector;

  if (!attention)
    return NULL;
  tape = cross->pass->tape;
  plait_cross_check_query (cross, G_STRFUNC, query);
  check_selected (cross, G_STRFUNC, attention, selected);
  keys = keys_of (cross, attention)->keys;
  projected = plait_cross_project_query (cross, attention, query);
  vector = plait_parameter_node_if_any (tape, attention->recurrent.vector);
  scores = vector ? plait_sparse_additive_scores (tape, selected, projected, keys, vector)
                  : plait_sparse_dot_scores (tape, selected, projected, keys, attention->scale);
  count_rows_weighed (cross->pass, plait_selected_rows_count (selected));
  weights = plait_sparse_softmax (tape, selected, scores);
  record_selected (cross, attention, selected, plait_tape_value (tape, weights).data);
  return weights;
}

/* Records the weights of all rows: the weights of the selected rows, and 0 for all other rows. */
static void
record (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, const PlaitSelectedRows *selected,
        const PlaitScalar *weights)
{
  PlaitRagged queries = cross->pass->queries, rows = cross->pass->memories[attention->first].rows;
  gint64 n = plait_attention_record_pairs (cross->pass->record, attention->first), before = 0;
  PlaitScalar *to = plait_attention_record_weights (cross->pass->record, cross->step->layer, attention->name,
                                                    attention->first, attention->heads);

  memset (to, 0, (gsize)(n * attention->heads) * sizeof *to);
  for (gint64 s = 0; s < queries.n; s++)
    for (gint64 q = queries.offsets[s]; q < queries.offsets[s + 1]; q++, before += plait_ragged_length (rows, s))
      for (guint h = 0; h < attention->heads; h++)
        {
          const gint64 *sets = selected->sets.offsets + q * attention->heads + h;

          for (gint64 i = selected->rows.offsets[sets[0]]; i < selected->rows.offsets[sets[1]]; i++)
            to[h * n + before + selected->row[i] - rows.offsets[s]] += weights[i];
        }
}

static PlaitContext
context_of (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitNode *value)
{
  const guint8 *present = cross->pass->present[attention->first];

  return (PlaitContext){ .value = plait_cross_project_output (cross, attention, value, present), .present = present };
}

/* Returns the context that @weights give for the rows @selected. Records @weights and stores them for readers. */
static PlaitContext
sparse_context (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, const PlaitSelectedRows *selected,
                PlaitNode *weights)
{
  PlaitTape *tape = cross->pass->tape;

  if (cross->pass->record)
    record (cross, attention, selected, plait_tape_value (tape, weights).data);
  for (guint r = 0; r < PLAIT_READERS; r++)
    if (plait_cross_is_read_by (cross, attention, r))
      cross->readings[r]->weights[attention->first]
          = plait_reading_of_selected (tape, selected, weights, cross->pass->queries,
                                       cross->pass->memories[attention->first].rows, cross->declared->reads[r].head);
  return context_of (cross, attention,
                     plait_sparse_weighted_sum (tape, selected, plait_dropout (tape, weights, attention->dropout),
                                                keys_of (cross, attention)->values));
}

PlaitContext
plait_cross_sparse_context (PlaitCrossAttention *cross, const char *name, guint memory,
                            const PlaitSelectedRows *selected, PlaitNode *weights)
{
  const PlaitDeclaredAttention *attention = begin_sparse (cross, G_STRFUNC, name, memory);

  if (!attention)
    return (PlaitContext){ NULL, NULL, NULL };
  check_selected (cross, G_STRFUNC, attention, selected);
  plait_tape_expect (cross->pass->tape, weights && weights->value.width == 1);
  plait_tape_expect (cross->pass->tape, weights->value.rows == plait_selected_rows_count (selected));
  return sparse_context (cross, attention, selected, weights);
}

static PlaitNode *
descend_additively (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                    const PlaitSiblingGroups *sibling_groups, PlaitNode *query, PlaitNode *vector)
{
  PlaitTape *tape = cross->pass->tape;
  const PlaitKeyValues *key_values = keys_of (cross, attention);
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, cross->pass->queries, sibling_groups->rows), leaves;
  PlaitNode *scores = plait_additive_scores (tape, &pairs, query, key_values->keys, NULL, vector, NULL);
  PlaitNode *weights = plait_sibling_softmax (tape, sibling_groups, pairs.queries, scores, &leaves);

  return plait_weighted_sum (tape, &leaves, plait_dropout (tape, weights, attention->dropout), key_values->values);
}

/* Descends into all branches at once with matrix products and returns the weighted sum of the leaves. Returns NULL if
 * that is not possible: the memory's tree does not allow it, there are too few queries for dot products, or the weights
 * are recorded or read. The caller then descends row by row. */
static PlaitNode *
descend_dense (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitNode *query,
               PlaitNode *vector)
{
  const PlaitSiblingGroups *sibling_groups = cross->keys->sibling_groups[attention->first];
  const PlaitKeyValues *key_values = keys_of (cross, attention);
  PlaitAttentionOptions options
      = { .heads = attention->heads, .scale = attention->scale, .dropout = attention->dropout };
  PlaitRagged queries = cross->pass->queries;

  if (!sibling_groups || cross->pass->record || plait_cross_is_read (cross, attention)
      || (!vector && query->value.rows < MIN_DENSE_QUERIES * queries.n))
    return NULL;
  for (gint64 s = 0; s < queries.n; s++)
    count_rows_weighed (cross->pass, attention->heads * plait_ragged_length (queries, s) * sibling_groups->weighed[s]);
  if (vector)
    return descend_additively (cross, attention, sibling_groups, query, vector);
  return plait_sibling_attention (cross->pass->tape, sibling_groups, queries, query, key_values->keys,
                                  key_values->values, &options);
}

PlaitContext
plait_cross_descend (PlaitCrossAttention *cross, const char *name, guint memory, PlaitResidualStream query,
                     gint64 branches, gboolean normalise)
{
  const PlaitDeclaredAttention *attention = begin_sparse (cross, G_STRFUNC, name, memory);
  const PlaitKeyValues *key_values;
  PlaitTape *tape;
  PlaitNode *projected, *weights, *dense, *vector;
  PlaitTreeDescentResult result;
  PlaitTreeDescent descent;

  if (!attention)
    return (PlaitContext){ NULL, NULL, NULL };
  tape = cross->pass->tape;
  plait_cross_check_query (cross, G_STRFUNC, query);
  plait_cross_check_rows (cross, G_STRFUNC, memory);
  descent = cross->keys->descents[memory];
  if (!descent.level)
    plait_tape_fail (tape, "%s: the rows of memory %u have no levels: descend only memories with levels", G_STRFUNC,
                     memory);
  if (branches < 0)
    plait_tape_fail (tape, "%s: branches=%jd is out of range: give 1 or more, or 0 for all", G_STRFUNC, branches);
  descent.queries = cross->pass->queries;
  descent.heads = attention->heads;
  descent.branches = branches > 0 ? branches : G_MAXINT64;
  descent.normalise = normalise;
  projected = plait_cross_project_query (cross, attention, query);
  vector = plait_parameter_node_if_any (tape, attention->recurrent.vector);
  dense = branches == 0 ? descend_dense (cross, attention, projected, vector) : NULL;
  if (dense)
    return context_of (cross, attention, dense);
  key_values = keys_of (cross, attention);
  weights = plait_tree_descent (tape, &descent, projected, key_values->keys, key_values->values, attention->scale,
                                vector, cross->pass->record != NULL, &result);
  record_selected (cross, attention, &result.all, result.weights);
  count_rows_weighed (cross->pass, result.weighed);
  return sparse_context (cross, attention, &result.leaves, weights);
}
