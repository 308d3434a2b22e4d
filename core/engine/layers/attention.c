/* SPDX-License-Identifier: MIT */
#include "layers/attention.h"

#include "autograd/internal.h"
#include "attention/attention.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

#include <string.h>

/* Base of the frequencies of rotary positions (Su et al. 2021, eq. 15). */
#define ROTARY_BASE 10000.

/* Checks @declaration and declares the output projection, which all three uses of a layer have. @function: name of the
 * public function, for faults. */
static PlaitAttention
new_attention (PlaitParameters *parameters, const char *function, const char *name,
               const PlaitAttentionDeclaration *declaration)
{
  g_autofree char *output = g_strconcat (name, "/output", NULL);
  PlaitAttention attention = { .declaration = *declaration };
  gint64 width = declaration->width;

  if (width < 1 || declaration->heads < 1 || width % declaration->heads != 0)
    plait_parameters_expect_failed (parameters, function, "heads that divide a width above 0");
  if (!(declaration->dropout >= 0 && declaration->dropout < 1))
    plait_parameters_expect_failed (parameters, function, "dropout from 0 to below 1");
  if (declaration->window < 0)
    plait_parameters_expect_failed (parameters, function, "a window of at least 1, or 0");
  if (declaration->positions == PLAIT_POSITIONS_ROTARY && declaration->heads > 0
      && width % (2 * (gint64)declaration->heads) != 0)
    plait_parameters_expect_failed (parameters, function, "heads of an even width for rotary positions");
  attention.output = plait_linear_declare (parameters, output, width, width, declaration->biases);
  if (declaration->zero_output)
    attention.output.weight->initial = PLAIT_ZEROS;
  return attention;
}

PlaitAttention
plait_attention_declare_self (PlaitParameters *parameters, const char *name,
                              const PlaitAttentionDeclaration *declaration)
{
  g_autofree char *query_key_value = g_strconcat (name, "/query_key_value", NULL);
  PlaitAttention attention = new_attention (parameters, G_STRFUNC, name, declaration);
  gint64 width = declaration->width;

  attention.query_key_value
      = plait_linear_declare_blocks (parameters, query_key_value, width, 3 * width, 3, declaration->biases);
  return attention;
}

/* Declares attention to memories, with room for @n projections of keys and values. */
static PlaitAttention
new_memory_attention (PlaitParameters *parameters, const char *function, const char *name,
                      const PlaitAttentionDeclaration *declaration, guint n)
{
  g_autofree char *query = g_strconcat (name, "/query", NULL);
  PlaitAttention attention = new_attention (parameters, function, name, declaration);

  attention.query
      = plait_linear_declare (parameters, query, declaration->width, declaration->width, declaration->biases);
  attention.key_value = plait_parameters_memory (parameters, n * sizeof (PlaitLinear));
  attention.n_key_values = n;
  return attention;
}

PlaitAttention
plait_attention_declare (PlaitParameters *parameters, const char *name, const PlaitAttentionDeclaration *declaration,
                         gint64 memory_width)
{
  g_autofree char *key_value = g_strconcat (name, "/key_value", NULL);
  PlaitAttention attention = new_memory_attention (parameters, G_STRFUNC, name, declaration, 1);

  attention.key_value[0] = plait_linear_declare_blocks (parameters, key_value, memory_width, 2 * declaration->width, 2,
                                                        declaration->biases);
  return attention;
}

PlaitAttention
plait_attention_declare_joint (PlaitParameters *parameters, const char *name,
                               const PlaitAttentionDeclaration *declaration, const char *const *memory_names,
                               const gint64 *memory_widths, guint n)
{
  PlaitAttention attention = new_memory_attention (parameters, G_STRFUNC, name, declaration, n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *key_value = g_strconcat (name, "/key_value/", memory_names[i], NULL);

      attention.key_value[i] = plait_linear_declare_blocks (parameters, key_value, memory_widths[i],
                                                            2 * declaration->width, 2, declaration->biases);
    }
  return attention;
}

static PlaitAttentionOptions
options_of (const PlaitAttention *attention, gboolean causal)
{
  return (PlaitAttentionOptions){ .heads = attention->declaration.heads,
                                  .causal = causal,
                                  .dropout = attention->declaration.dropout };
}

static PlaitAttentionOptions
self_options_of (const PlaitAttention *attention, gboolean causal)
{
  PlaitAttentionOptions options = options_of (attention, causal);

  options.linear_bias = attention->declaration.positions == PLAIT_POSITIONS_ALIBI;
  options.window = attention->declaration.window;
  return options;
}

/* Returns the position of each row in its sentence. */
static const gint64 *
positions_of (PlaitTape *tape, PlaitRagged rows)
{
  gint64 *positions = plait_arena_new_array (plait_tape_arena (tape), gint64, plait_ragged_rows (rows) + 1);

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      positions[row] = row - rows.offsets[s];
  return positions;
}

/* Queries, keys and values of self-attention. */
typedef struct
{
  PlaitNode *queries;
  PlaitNode *keys;
  PlaitNode *values;
} Projected;

/* Projects @x. With rotary positions, rotates queries and keys by @positions, else ignores @positions. */
static Projected
project_self (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, const gint64 *positions)
{
  const PlaitAttentionDeclaration *declaration = &attention->declaration;
  gint64 width = declaration->width;
  PlaitNode *projected = plait_linear_apply (tape, &attention->query_key_value, x, PLAIT_ACTIVATION_NONE);
  PlaitNode *rotated = projected;

  if (declaration->positions == PLAIT_POSITIONS_ROTARY)
    rotated = plait_rotate (tape, plait_columns (tape, projected, 0, 2 * width), positions, 2 * declaration->heads,
                            ROTARY_BASE);
  return (Projected){ plait_columns (tape, rotated, 0, width), plait_columns (tape, rotated, width, width),
                      plait_columns (tape, projected, 2 * width, width) };
}

/* Returns self-attention of @x within each sequence: to all its rows, or with @starts only to its rows in @starts. */
static PlaitNode *
apply_self (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitRagged rows,
            const PlaitSentenceStarts *starts, gboolean causal, PlaitScalar *weights)
{
  PlaitAttentionOptions options = self_options_of (attention, causal);
  gboolean rotary = attention->declaration.positions == PLAIT_POSITIONS_ROTARY;
  Projected projected = project_self (tape, attention, x, rotary ? positions_of (tape, rows) : NULL);
  PlaitKeyValues own = { .keys = projected.keys, .values = projected.values, .rows = rows, .weights = weights };
  PlaitNode *context;

  if (starts)
    {
      gint64 n = plait_ragged_rows (starts->sentences);

      plait_tape_expect (tape, !options.linear_bias && options.window == 0);
      own.keys = plait_gather_rows (tape, projected.keys, starts->rows, n);
      own.values = plait_gather_rows (tape, projected.values, starts->rows, n);
      own.rows = starts->sentences;
    }
  context = plait_attention (tape, projected.queries, rows, &own, 1, &options);
  return plait_linear_apply (tape, &attention->output, context, PLAIT_ACTIVATION_NONE);
}

PlaitNode *
plait_attention_apply_self (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitRagged rows,
                            gboolean causal, PlaitScalar *weights)
{
  return apply_self (tape, attention, x, rows, NULL, causal, weights);
}

PlaitNode *
plait_attention_apply_to_starts (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitRagged rows,
                                 const PlaitSentenceStarts *starts)
{
  return apply_self (tape, attention, x, rows, starts, FALSE, NULL);
}

PlaitKeyValues
plait_attention_project (PlaitTape *tape, const PlaitAttention *attention, guint index, PlaitNode *memory,
                         PlaitRagged rows)
{
  gint64 width = attention->declaration.width;
  PlaitNode *projected;

  plait_tape_expect (tape, index < attention->n_key_values);
  projected = plait_linear_apply (tape, &attention->key_value[index], memory, PLAIT_ACTIVATION_NONE);
  return (PlaitKeyValues){ .keys = plait_columns (tape, projected, 0, width),
                           .values = plait_columns (tape, projected, width, width),
                           .rows = rows };
}

void
plait_key_values_transpose (PlaitTape *tape, PlaitKeyValues *key_values)
{
  PlaitTensor keys = key_values->keys->value;
  PlaitScalar *columns = plait_arena_new_array (plait_tape_arena (tape), PlaitScalar,
                                                plait_transposed_keys_size (key_values->rows, keys.width));

  plait_transpose_keys (plait_tape_pool (tape), columns, keys, key_values->rows);
  key_values->transposed_keys = columns;
}

/* Returns one byte for each query row: 1 if its sentence has a key in any memory. Returns NULL if all sentences have a
 * key. */
static const guint8 *
readable_rows (PlaitTape *tape, PlaitRagged query_rows, const PlaitKeyValues *memories, guint n)
{
  guint8 *readable = NULL;

  for (gint64 sentence = 0; sentence < query_rows.n; sentence++)
    {
      gint64 keys = 0;

      for (guint i = 0; i < n; i++)
        keys += plait_ragged_length (memories[i].rows, sentence);
      if (keys > 0)
        continue;
      if (!readable)
        {
          gsize rows = (gsize)MAX (plait_ragged_rows (query_rows), 1);

          readable = plait_arena_allocate (plait_tape_arena (tape), rows);
          memset (readable, 1, rows);
        }
      memset (readable + query_rows.offsets[sentence], 0, (gsize)plait_ragged_length (query_rows, sentence));
    }
  return readable;
}

/* Returns the output projection of @context; rows whose @readable is 0 stay zero in spite of the bias. */
static PlaitNode *
apply_output (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *context, const guint8 *readable)
{
  PlaitNode *output = plait_linear_apply (tape, &attention->output, context, PLAIT_ACTIVATION_NONE);

  if (!readable || !attention->output.bias)
    return output;
  return plait_select_rows (tape, readable, output, NULL);
}

PlaitNode *
plait_attention_apply (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitRagged query_rows,
                       const PlaitKeyValues *memories, guint n)
{
  PlaitAttentionOptions options = options_of (attention, FALSE);
  PlaitNode *queries = plait_linear_apply (tape, &attention->query, x, PLAIT_ACTIVATION_NONE);
  PlaitNode *context = plait_attention (tape, queries, query_rows, memories, n, &options);

  return apply_output (tape, attention, context, readable_rows (tape, query_rows, memories, n));
}

/* Returns one byte for each row: 1 if any of the @n items is present. Returns NULL if @present or one of its entries is
 * NULL, because every row then has an item. */
static const guint8 *
rows_with_items (PlaitTape *tape, gint64 rows, const guint8 *const *present, guint n)
{
  guint8 *some;

  if (!present)
    return NULL;
  for (guint i = 0; i < n; i++)
    if (!present[i])
      return NULL;
  some = plait_arena_new_array0 (plait_tape_arena (tape), guint8, rows);
  for (guint i = 0; i < n; i++)
    for (gint64 row = 0; row < rows; row++)
      some[row] |= present[i][row];
  return some;
}

PlaitNode *
plait_attention_apply_items (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitNode *const *items,
                             const guint8 *const *present, guint n, PlaitScalar *weights)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 width = attention->declaration.width;
  PlaitAttentionOptions options = options_of (attention, FALSE);
  PlaitNode **keys = plait_arena_new_array (arena, PlaitNode *, n);
  PlaitNode **values = plait_arena_new_array (arena, PlaitNode *, n);
  PlaitNode *queries = plait_linear_apply (tape, &attention->query, x, PLAIT_ACTIVATION_NONE);
  PlaitNode *context;

  plait_tape_expect (tape, attention->n_key_values == 1 || attention->n_key_values == n);
  for (guint i = 0; i < n; i++)
    {
      const PlaitLinear *key_value = &attention->key_value[attention->n_key_values > 1 ? i : 0];
      PlaitNode *projected = plait_linear_apply (tape, key_value, items[i], PLAIT_ACTIVATION_NONE);

      keys[i] = plait_columns (tape, projected, 0, width);
      values[i] = plait_columns (tape, projected, width, width);
    }
  context = plait_attention_over_items (tape, queries, keys, values, present, n, &options, weights);
  return apply_output (tape, attention, context, rows_with_items (tape, x->value.rows, present, n));
}

PlaitNode *
plait_attention_step (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitAttentionCache *cache,
                      PlaitRagged rows, const gint64 *gather, PlaitScalar *weights)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 width = attention->declaration.width, n = x->value.rows;
  gint64 *positions = plait_arena_new_array (arena, gint64, n + 1);
  PlaitAttentionOptions options = self_options_of (attention, FALSE);
  PlaitKeyValues own = { .rows = rows, .gather = gather, .weights = weights };
  PlaitTensor added, passed;
  Projected projected;
  PlaitNode *context;

  plait_tape_expect (tape, plait_tape_mode (tape) == PLAIT_TAPE_EVALUATE && rows.n == n);
  plait_tape_expect (tape, cache->keys_values.width == 2 * width && cache->used + n <= cache->keys_values.rows);
  for (gint64 i = 0; i < n; i++)
    positions[i] = plait_ragged_length (rows, i) - 1;
  projected = project_self (tape, attention, x, positions);
  added = plait_tensor_rows (cache->keys_values, cache->used, n);
  plait_tensor_accumulate (pool, plait_tensor_columns (added, 0, width), 0, 1, projected.keys->value);
  plait_tensor_accumulate (pool, plait_tensor_columns (added, width, width), 0, 1, projected.values->value);
  cache->used += n;

  passed = plait_tensor_rows (cache->keys_values, 0, cache->used);
  own.keys = plait_leaf (tape, plait_tensor_columns (passed, 0, width), NULL);
  own.values = plait_leaf (tape, plait_tensor_columns (passed, width, width), NULL);
  context = plait_attention (tape, projected.queries, plait_ragged_units (arena, n), &own, 1, &options);
  return plait_linear_apply (tape, &attention->output, context, PLAIT_ACTIVATION_NONE);
}
