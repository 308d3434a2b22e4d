/* SPDX-License-Identifier: MIT */
#include "cross-attention/cross-attention.h"
#include "cross-attention/rows.h"

#include <string.h>

#include "autograd/internal.h"

/* Functions that a combiner calls in combine, while the model runs. */

PlaitTape *
plait_cross_running_tape (PlaitCrossAttention *cross, const char *call)
{
  if (!cross->parameters)
    return cross->pass->tape;
  /* A step cannot be aborted in build, because no step runs. The host reports the fault after build. */
  plait_cross_fault (cross, PLAIT_ERROR_PLUGIN, "calls %s in build: call it in combine, since it computes", call);
  return NULL;
}

void
plait_cross_check_query (const PlaitCrossAttention *cross, const char *call, PlaitResidualStream query)
{
  gint64 rows = plait_ragged_rows (cross->pass->queries), width = cross->declared->query_width;

  if (!query.query || query.query->value.rows != rows || query.query->value.width != width)
    plait_tape_fail (cross->pass->tape, "%s: the query does not have the shape [%jd, %jd]: give a query of this shape",
                     call, rows, width);
}

PlaitTape *
plait_cross_tape (PlaitCrossAttention *cross)
{
  return plait_cross_running_tape (cross, G_STRFUNC);
}

/* Fails the step unless the slot was declared. */
static void
check_slot (PlaitCrossAttention *cross, const char *call, guint slot)
{
  if (slot >= cross->declared->n_slots)
    plait_tape_fail (cross->pass->tape, "%s: slot %u was not declared: declare it in build", call, slot);
}

PlaitResidualStream
plait_cross_normalise (PlaitCrossAttention *cross, guint slot, PlaitResidualStream x)
{
  PlaitTape *tape = plait_cross_running_tape (cross, G_STRFUNC);

  if (!tape)
    return x;
  check_slot (cross, G_STRFUNC, slot);
  plait_cross_check_query (cross, G_STRFUNC, x);
  if (cross->declared->multi_head && cross->declared->decoder->settings->norm == PLAIT_DECODER_NORM_PRE)
    x.query = plait_norm_apply (tape, &cross->declared->norms[slot], x.query);
  return x;
}

static const char *
kind_of (PlaitAttentionKind kind)
{
  return kind == PLAIT_ATTEND_MEMORY ? "to this memory" : kind == PLAIT_ATTEND_JOINTLY ? "jointly" : "over contexts";
}

const PlaitDeclaredAttention *
plait_cross_require_attention (PlaitCrossAttention *cross, const char *call, PlaitAttentionKind kind, const char *name,
                               guint memory)
{
  PlaitTape *tape = plait_cross_running_tape (cross, call);
  const PlaitDeclaredAttention *attention;

  if (!tape)
    return NULL;
  if (kind == PLAIT_ATTEND_MEMORY)
    plait_cross_memory (cross, memory);
  attention = plait_cross_find_attention (cross, kind, name, memory);
  if (!attention)
    plait_tape_fail (tape, "%s: no attention %s%s%s was declared: declare it in build", call, kind_of (kind),
                     name ? " called " : " without a name", name ? name : "");
  return attention;
}

/* Returns the declared attention, or NULL while the model is built. Fails the step if this pass called it before, or if
 * @query has a wrong shape. */
static const PlaitDeclaredAttention *
begin_attention (PlaitCrossAttention *cross, const char *call, PlaitAttentionKind kind, const char *name, guint memory,
                 PlaitResidualStream query)
{
  const PlaitDeclaredAttention *attention = plait_cross_require_attention (cross, call, kind, name, memory);
  PlaitCrossAttentionQuery *of;

  if (!attention)
    return NULL;
  of = &cross->queries[attention - cross->declared->attentions];
  if (of->called)
    plait_tape_fail (cross->pass->tape,
                     "%s: this attention is called twice in a pass: declare a second one with a name", call);
  of->called = TRUE;
  plait_cross_check_query (cross, call, query);
  return attention;
}

PlaitNode *
plait_cross_project_query (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                           PlaitResidualStream query)
{
  const PlaitLinear *linear = cross->declared->multi_head ? &attention->multi_head.query : &attention->recurrent.query;
  PlaitCrossAttentionQuery *of = &cross->queries[attention - cross->declared->attentions];

  if (of->query != query.query)
    *of = (PlaitCrossAttentionQuery){
      of->called, query.query,
      linear->weight ? plait_linear_apply (cross->pass->tape, linear, query.query, PLAIT_ACTIVATION_NONE) : query.query
    };
  return of->projected;
}

PlaitNode *
plait_cross_project_output (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitNode *value,
                            const guint8 *present)
{
  PlaitTape *tape = cross->pass->tape;

  if (cross->declared->multi_head)
    {
      value = plait_linear_apply (tape, &attention->multi_head.output, value, PLAIT_ACTIVATION_NONE);
      if (present && attention->multi_head.output.bias)
        value = plait_select_rows (tape, present, value, NULL);
    }
  return plait_dropout (tape, value, attention->output_dropout);
}

const char *
plait_cross_record_name (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention)
{
  for (guint i = 0; attention->kind == PLAIT_ATTEND_JOINTLY && i < cross->declared->n_attentions; i++)
    if (cross->declared->attentions[i].kind == PLAIT_ATTEND_MEMORY && !cross->declared->attentions[i].name)
      return PLAIT_RECORDED_JOINTLY;
  return attention->name;
}

/* Returns the context of @attention, with one softmax for each head over the rows of all memories that it reads. Uses
 * the fused operator, which gives the caller no weights. */
static PlaitNode *
attend_fused (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitResidualStream query)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitKeyValues *key_values = plait_arena_new_array (plait_tape_arena (tape), PlaitKeyValues, attention->n);
  PlaitNode *value;

  memcpy (key_values, cross->keys->key_values + plait_cross_index (cross->declared, attention, attention->first),
          attention->n * sizeof *key_values);
  for (guint i = 0; cross->pass->record && i < attention->n; i++)
    key_values[i].weights = plait_attention_record_weights (cross->pass->record, cross->step->layer,
                                                            plait_cross_record_name (cross, attention),
                                                            attention->first + i, attention->heads);
  value = plait_attention_apply (tape, &attention->multi_head, query.query, cross->pass->queries, key_values,
                                 attention->n);
  return plait_dropout (tape, value, attention->output_dropout);
}

/* Adds the rows that @attention scores to the cost: each head of each query scores every row of its sentence. */
static void
count_rows_weighed (const PlaitCrossAttentionPass *pass, const PlaitDeclaredAttention *attention)
{
  for (guint m = attention->first; pass->rows_weighed && m < attention->first + attention->n; m++)
    for (gint64 s = 0; s < pass->queries.n; s++)
      pass->rows_weighed->all += attention->heads * plait_ragged_length (pass->queries, s)
                                 * plait_ragged_length (pass->memories[m].rows, s);
}

/* Stores, for @reader, one node a memory: the weights of the head that @reader requested, or the mean over heads.
 * @weights [heads]: for each head a node with the weights of all memories, one memory after another. */
static void
read_weights (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitNode *const *weights,
              guint reader)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitNode *read = plait_reading_of_heads (tape, weights, attention->heads, cross->declared->reads[reader].head);
  gint64 from = 0;

  for (guint m = attention->first; m < attention->first + attention->n; m++)
    {
      PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, cross->pass->queries, cross->pass->memories[m].rows);
      gint64 n = plait_query_key_pairs_count (&pairs);

      cross->readings[reader]->weights[m] = plait_rows (tape, read, from, n);
      from += n;
    }
  cross->readings[reader]->joint = attention->kind == PLAIT_ATTEND_JOINTLY;
}

/* Returns the context that @attention reads from its memories. Returns an empty context if @attention is NULL, which it
 * is while the model is built. */
static PlaitContext
attend (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitResidualStream query)
{
  PlaitContext context = { .value = NULL };
  const guint8 *present;
  PlaitTape *tape;
  PlaitNode **weights;

  if (!attention)
    return context;
  tape = cross->pass->tape;
  present = attention->kind == PLAIT_ATTEND_MEMORY ? cross->pass->present[attention->first] : cross->pass->any_present;
  context.present = attention->recurrent.sentinel ? NULL : present;
  count_rows_weighed (cross->pass, attention);
  if (cross->declared->multi_head && !attention->covered && !attention->weights
      && !plait_cross_is_read (cross, attention))
    {
      context.value = attend_fused (cross, attention, query);
      return context;
    }
  weights = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, attention->heads);
  context.value = plait_cross_attend_unfused (cross, attention, query, present, weights);
  for (guint r = 0; r < PLAIT_READERS; r++)
    if (plait_cross_is_read_by (cross, attention, r))
      read_weights (cross, attention, weights, r);
  if (attention->weights)
    context.weights = attention->heads == 1 ? weights[0] : plait_concatenate_columns (tape, weights, attention->heads);
  return context;
}

PlaitContext
plait_cross_attend_named (PlaitCrossAttention *cross, const char *name, guint memory, PlaitResidualStream query)
{
  return attend (cross, begin_attention (cross, G_STRFUNC, PLAIT_ATTEND_MEMORY, name, memory, query), query);
}

PlaitContext
plait_cross_attend (PlaitCrossAttention *cross, guint memory, PlaitResidualStream query)
{
  return plait_cross_attend_named (cross, NULL, memory, query);
}

PlaitContext
plait_cross_attend_jointly (PlaitCrossAttention *cross, PlaitResidualStream query)
{
  return attend (cross, begin_attention (cross, G_STRFUNC, PLAIT_ATTEND_JOINTLY, NULL, 0, query), query);
}

static PlaitNode *
attend_contexts_multi_head (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                            PlaitResidualStream query, const PlaitContext *contexts, guint n)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitNode **values = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  const guint8 **present = plait_arena_new_array (plait_tape_arena (tape), const guint8 *, n);
  PlaitScalar *weights = NULL;
  PlaitNode *value;

  for (guint i = 0; i < n; i++)
    {
      values[i] = contexts[i].value;
      present[i] = contexts[i].present;
    }
  if (cross->pass->record)
    weights = plait_attention_record_contexts (cross->pass->record, cross->step->layer, attention->heads);
  value = plait_attention_apply_items (tape, &attention->multi_head, query.query, values, present, n, weights);
  return plait_dropout (tape, value, attention->output_dropout);
}

/* Fails the step unless each context is [queries, width]. */
static void
check_contexts (PlaitCrossAttention *cross, const char *call, const PlaitContext *contexts, guint n)
{
  gint64 rows = plait_ragged_rows (cross->pass->queries), width = cross->declared->width;

  for (guint i = 0; i < n; i++)
    if (!contexts || !contexts[i].value || contexts[i].value->value.rows != rows
        || contexts[i].value->value.width != width)
      plait_tape_fail (cross->pass->tape,
                       "%s: context %u does not have the shape [%jd, %jd]: give a context of this shape", call, i, rows,
                       width);
}

PlaitContext
plait_cross_attend_contexts (PlaitCrossAttention *cross, PlaitResidualStream query, const PlaitContext *contexts)
{
  guint n = plait_cross_n_memories (cross);
  const PlaitDeclaredAttention *attention = begin_attention (cross, G_STRFUNC, PLAIT_ATTEND_CONTEXTS, NULL, 0, query);

  if (!attention)
    return (PlaitContext){ NULL, NULL, NULL };
  check_contexts (cross, G_STRFUNC, contexts, n);
  return (PlaitContext){
    .value = cross->declared->multi_head && !plait_cross_is_read (cross, attention)
                 ? attend_contexts_multi_head (cross, attention, query, contexts, n)
                 : plait_cross_attend_contexts_unfused (cross, attention, query, contexts, n),
    .present = attention->recurrent.sentinel ? NULL : cross->pass->any_present,
  };
}

/* A row of the sum is absent only if it is absent in all contexts. */
PlaitContext
plait_cross_sum (PlaitCrossAttention *cross, const PlaitContext *contexts, guint n)
{
  PlaitTape *tape = plait_cross_running_tape (cross, G_STRFUNC);
  PlaitNode **values;
  guint8 *present;
  gboolean partial = TRUE;
  gint64 rows;

  if (!tape)
    return (PlaitContext){ NULL, NULL, NULL };
  if (n == 0)
    plait_tape_fail (tape, "%s: receives no contexts: give at least one", G_STRFUNC);
  check_contexts (cross, G_STRFUNC, contexts, n);
  rows = plait_ragged_rows (cross->pass->queries);
  values = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  present = plait_arena_new_array0 (plait_tape_arena (tape), guint8, rows + 1);
  for (guint i = 0; i < n; i++)
    {
      values[i] = contexts[i].value;
      partial = partial && contexts[i].present;
      for (gint64 row = 0; partial && row < rows; row++)
        present[row] |= contexts[i].present[row];
    }
  return (PlaitContext){ .value = n == 1 ? values[0] : plait_add_n (tape, values, n),
                         .present = partial ? present : NULL };
}

/* The row of an absent context is zero, so in a recurrent decoder it changes neither query nor context. */
PlaitResidualStream
plait_cross_residual (PlaitCrossAttention *cross, guint slot, PlaitResidualStream x, PlaitContext context)
{
  PlaitTape *tape = plait_cross_running_tape (cross, G_STRFUNC);
  PlaitCrossReading *read = cross->readings[PLAIT_READER_OUTPUT];
  const PlaitLinear *refine;
  PlaitNode *y;

  if (!tape)
    return x;
  check_slot (cross, G_STRFUNC, slot);
  if (cross->added[slot])
    plait_tape_fail (tape, "%s: slot %u is used twice in a pass: declare another slot", G_STRFUNC, slot);
  cross->added[slot] = TRUE;
  plait_cross_check_query (cross, G_STRFUNC, x);
  check_contexts (cross, G_STRFUNC, &context, 1);
  if (!cross->declared->multi_head)
    {
      refine = &cross->declared->refine[slot];
      if (refine->weight)
        x.query = plait_residual (tape, x.query,
                                  plait_linear_apply (tape, refine, context.value, PLAIT_ACTIVATION_NONE), 0);
      x.context = x.context ? plait_add (tape, x.context, context.value) : context.value;
      return x;
    }
  if (read && cross->declared->reads[PLAIT_READER_OUTPUT].context)
    read->context = read->context ? plait_add (tape, read->context, context.value) : context.value;
  y = plait_residual (tape, x.query, context.value, 0);
  if (cross->declared->decoder->settings->norm != PLAIT_DECODER_NORM_PRE)
    {
      y = plait_norm_apply (tape, &cross->declared->norms[slot], y);
      if (context.present)
        y = plait_select_rows (tape, context.present, y, x.query);
    }
  return (PlaitResidualStream){ .query = y };
}

void
plait_cross_check_rows (PlaitCrossAttention *cross, const char *call, guint memory)
{
  plait_cross_memory (cross, memory);
  if (!cross->declared->reads_rows[memory])
    plait_tape_fail (cross->pass->tape,
                     "%s: the rows of memory %u were not declared: call plait_cross_declare_rows in build", call,
                     memory);
}

const PlaitMemory *
plait_cross_rows (PlaitCrossAttention *cross, guint memory)
{
  if (!plait_cross_running_tape (cross, G_STRFUNC))
    return NULL;
  plait_cross_check_rows (cross, G_STRFUNC, memory);
  return &cross->keys->memories[memory];
}

guint
plait_cross_layer (const PlaitCrossAttention *cross)
{
  return cross->declared->layer;
}

/* Returns positions, sentences and tokens of the queries, or NULL for each while the model is built. Fails the step if
 * the combiner did not declare in build that it reads them. */
static PlaitQueryRows
query_rows_of (PlaitCrossAttention *cross, const char *call)
{
  if (!plait_cross_running_tape (cross, call))
    return (PlaitQueryRows){ NULL, NULL, NULL };
  if (!cross->declared->reads_queries)
    plait_tape_fail (cross->pass->tape, "calls %s without plait_cross_declare_queries: call that in build", call);
  return cross->pass->query_rows;
}

const gint64 *
plait_cross_positions (PlaitCrossAttention *cross)
{
  return query_rows_of (cross, G_STRFUNC).positions;
}

const gint64 *
plait_cross_sentences (PlaitCrossAttention *cross)
{
  return query_rows_of (cross, G_STRFUNC).sentences;
}

const gint32 *
plait_cross_tokens (PlaitCrossAttention *cross)
{
  return query_rows_of (cross, G_STRFUNC).tokens;
}

PlaitRagged
plait_cross_queries (PlaitCrossAttention *cross)
{
  return plait_cross_running_tape (cross, G_STRFUNC) ? cross->pass->queries : (PlaitRagged){ 0, NULL };
}

PlaitQueryKeyPairs
plait_cross_pairs (PlaitCrossAttention *cross, guint memory)
{
  if (!plait_cross_running_tape (cross, G_STRFUNC))
    return (PlaitQueryKeyPairs){ .offsets = NULL };
  plait_cross_memory (cross, memory);
  return plait_query_key_pairs (cross->pass->tape, cross->pass->queries, cross->pass->memories[memory].rows);
}

PlaitNode *
plait_cross_prepared (PlaitCrossAttention *cross, guint memory)
{
  if (!plait_cross_running_tape (cross, G_STRFUNC))
    return NULL;
  plait_cross_check_rows (cross, G_STRFUNC, memory);
  return cross->keys->prepared[memory];
}

void
plait_cross_add_loss (PlaitCrossAttention *cross, const char *name, PlaitNode *loss)
{
  const PlaitInstance *combiner = &cross->declared->combiner;

  if (plait_cross_running_tape (cross, G_STRFUNC))
    plait_loss_pass_add (cross->pass->losses, cross->pass->tape, &combiner->losses, combiner->columns, name, loss);
}

PlaitResidualStream
plait_cross_combine (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionPass *pass,
                     const PlaitCrossAttentionStep *step, PlaitNode *query)
{
  PlaitCrossAttention running = {
    .declared = (PlaitCrossAttentionLayer *)cross,
    .pass = pass,
    .keys = &step->keys,
    .step = step,
    .sentinel = step->gate ? plait_multiply (pass->tape, step->gate, query) : NULL,
    .queries
    = plait_arena_new_array0 (plait_tape_arena (pass->tape), PlaitCrossAttentionQuery, cross->n_attentions + 1),
    .added = plait_arena_new_array0 (plait_tape_arena (pass->tape), gboolean, cross->n_slots + 1),
  };
  PlaitResidualStream x;

  for (guint r = 0; r < PLAIT_READERS; r++)
    if (pass->readings[r] && (cross->reads[r].context || cross->reads[r].attention))
      running.readings[r] = plait_readings_add (pass->readings[r], pass->tape, pass->queries, pass->n_memories);
  x = plait_call_combine (&cross->combiner, pass->tape, &running, (PlaitResidualStream){ .query = query },
                          !cross->multi_head);
  if (running.readings[PLAIT_READER_OUTPUT] && cross->reads[PLAIT_READER_OUTPUT].context && !cross->multi_head)
    running.readings[PLAIT_READER_OUTPUT]->context = x.context;
  return x;
}
