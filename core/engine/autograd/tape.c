/* SPDX-License-Identifier: MIT */
#include "autograd/tape-private.h"
#include "text/error.h"

#include <string.h>

/* Maximum number of elements of a tensor, so that its size in bytes fits into a gint64. */
#define MAX_ELEMENTS (G_MAXINT64 / 64)

PlaitTape *
plait_tape_new (PlaitPool *pool, PlaitArena *arena)
{
  PlaitTape *tape = g_new0 (PlaitTape, 1);

  tape->pool = pool;
  tape->arena = arena;
  tape->mode = PLAIT_TAPE_EVALUATE;
  tape->leaves = g_hash_table_new (NULL, NULL);
  return tape;
}

void
plait_tape_refuse_plugins (PlaitTape *tape, const char *function)
{
  if (tape->caller.who && plait_crash_get_owner ().who)
    plait_tape_fail (tape, "calls %s, which only the host may call: remove the call", function);
}

void
plait_tape_free (PlaitTape *tape)
{
  if (!tape)
    return;
  plait_tape_refuse_plugins (tape, G_STRFUNC);
  g_hash_table_unref (tape->leaves);
  g_free (tape);
}

void
plait_tape_begin (PlaitTape *tape, PlaitTapeMode mode, PlaitRandomKey dropout)
{
  plait_tape_refuse_plugins (tape, G_STRFUNC);
  plait_arena_reset (tape->arena);
  g_hash_table_remove_all (tape->leaves);
  *tape = (PlaitTape){
    .pool = tape->pool,
    .arena = tape->arena,
    .mode = mode,
    .dropout = dropout,
    .leaves = tape->leaves,
  };
}

PlaitCodeOwner
plait_tape_set_caller (PlaitTape *tape, PlaitCodeOwner caller)
{
  PlaitCodeOwner before = tape->caller;

  tape->caller = caller;
  plait_crash_set_owner (caller);
  return before;
}

void
plait_tape_fail (PlaitTape *tape, const char *format, ...)
{
  GError *error = NULL;
  va_list arguments;
  char *sentence;

  va_start (arguments, format);
  sentence = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!tape->caller.who)
    g_error ("%s", sentence);
  plait_fail (&error, PLAIT_ERROR_PLUGIN, "%s, %s: %s", tape->caller.who, tape->caller.call, sentence);
  g_free (sentence);
  plait_arena_fail (tape->arena, error);
}

void
plait_tape_expect_failed (PlaitTape *tape, const char *function, const char *condition)
{
  plait_tape_fail (tape, "%s was called with wrong arguments: it needs %s", function, condition);
}

void
plait_tape_keep_gradients (PlaitTape *tape)
{
  tape->keeps_gradients = TRUE;
}

void
plait_tape_separate_sentences (PlaitTape *tape)
{
  tape->separates_sentences = TRUE;
}

gboolean
plait_tape_separates_sentences (const PlaitTape *tape)
{
  return tape->separates_sentences;
}

void
plait_tape_enable_recompute (PlaitTape *tape)
{
  tape->recomputes = TRUE;
}

void
plait_tape_report_backward (PlaitTape *tape, PlaitTapeReport report, gpointer data)
{
  tape->report = report;
  tape->report_data = data;
}

void
plait_tape_set_precision (PlaitTape *tape, PlaitPrecision precision)
{
  g_assert (plait_precision_runs_here (precision) && precision != PLAIT_PRECISION_INT8);
  tape->precision = precision;
}

PlaitPrecision
plait_tape_precision (const PlaitTape *tape)
{
  return tape->precision;
}

gboolean
plait_tape_keeps_gradients (const PlaitTape *tape)
{
  return tape->keeps_gradients;
}

PlaitTapeMode
plait_tape_mode (const PlaitTape *tape)
{
  return tape->mode;
}

PlaitPool *
plait_tape_pool (const PlaitTape *tape)
{
  return tape->pool;
}

PlaitArena *
plait_tape_arena (const PlaitTape *tape)
{
  return tape->arena;
}

void
plait_tape_note_product (PlaitTape *tape, const PlaitNode *x, const PlaitNode *y, gint64 multiplications)
{
  tape->multiplications += (double)multiplications * (1 + x->needs_gradient + y->needs_gradient);
}

double
plait_tape_multiplications (const PlaitTape *tape)
{
  return tape->multiplications;
}

PlaitRandomKey
plait_tape_next_key (PlaitTape *tape)
{
  return plait_random_subkey (tape->dropout, tape->n_keys++);
}

PlaitTensor
plait_tape_tensor (PlaitTape *tape, gint64 rows, gint64 width)
{
  PlaitTensor tensor = plait_tensor (NULL, rows, width);
  gint64 n;

  if (__builtin_mul_overflow (rows, width, &n) || n > MAX_ELEMENTS)
    plait_tape_fail (tape, "makes a node [%jd, %jd], which no machine has memory for: make the node smaller", rows,
                     width);
  tensor.data = plait_arena_allocate (tape->arena, plait_tensor_size (tensor));
  return tensor;
}

void
plait_tape_release (PlaitTape *tape, PlaitTensor tensor)
{
  if (tensor.data)
    plait_arena_release (tape->arena, tensor.data, plait_tensor_size (tensor));
}

struct PlaitSavedTensor
{
  PlaitTensor tensor;
  struct PlaitSavedTensor *next;
};

PlaitTensor
plait_tape_save (PlaitTape *tape, PlaitNode *node, gint64 rows, gint64 width)
{
  struct PlaitSavedTensor *saved = plait_arena_allocate (tape->arena, sizeof *saved);

  *saved = (struct PlaitSavedTensor){ plait_tape_tensor (tape, rows, width), node->saved };
  node->saved = saved;
  return saved->tensor;
}

void
plait_tape_release_saved (PlaitTape *tape, PlaitNode *node)
{
  while (node->saved)
    {
      struct PlaitSavedTensor *saved = node->saved;

      node->saved = saved->next;
      plait_tape_release (tape, saved->tensor);
      plait_arena_release (tape->arena, saved, sizeof *saved);
    }
}

/* If @input is a leaf or a view of a leaf, and this is the leaf's first use, sets the leaf's place to that of the next
 * recorded node. */
static void
note_reader (const PlaitTape *tape, PlaitNode *input)
{
  PlaitNode *whole = input->whole ? input->whole : input;

  if (!whole->operation && whole->place == 0)
    whole->place = tape->n_recorded + 1;
}

PlaitNode *
plait_tape_new_node (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs, guint n_inputs)
{
  PlaitNode *node = plait_arena_allocate (tape->arena, sizeof (PlaitNode) + n_inputs * sizeof (PlaitNode *));

  memset (node, 0, sizeof *node);
  node->operation = operation;
  node->inputs = (PlaitNode **)(node + 1);
  node->n_inputs = n_inputs;
  node->maker = tape->caller.who;
  node->older = tape->made;
  tape->made = node;
  for (guint i = 0; i < n_inputs; i++)
    {
      node->inputs[i] = inputs[i];
      if (!inputs[i])
        continue;
      inputs[i]->n_consumers++;
      note_reader (tape, inputs[i]);
      if (inputs[i]->needs_gradient && tape->mode != PLAIT_TAPE_EVALUATE)
        node->needs_gradient = TRUE;
    }
  return node;
}

PlaitNode *
plait_leaf (PlaitTape *tape, PlaitTensor value, const PlaitTensor *gradient)
{
  PlaitNode *node;

  plait_tape_expect (tape, value.rows >= 0 && value.width > 0 && value.stride >= value.width);
  plait_tape_expect (tape, value.data || value.rows == 0);
  node = plait_tape_new_node (tape, NULL, NULL, 0);
  node->value = value;
  if (gradient && tape->mode != PLAIT_TAPE_EVALUATE)
    {
      plait_tape_expect (tape, gradient->rows == value.rows && gradient->width == value.width);
      node->gradient = *gradient;
      node->needs_gradient = TRUE;
    }
  return node;
}

PlaitNode *
plait_tape_keyed_leaf (PlaitTape *tape, gconstpointer key, PlaitTensor value, const PlaitTensor *gradient,
                       const PlaitPacked *packed)
{
  PlaitNode *leaf = g_hash_table_lookup (tape->leaves, key);

  if (leaf)
    return leaf;
  leaf = plait_leaf (tape, value, gradient);
  if (tape->keeps_gradients)
    leaf->gradient.data = NULL;
  leaf->packed = packed;
  g_hash_table_insert (tape->leaves, (gpointer)key, leaf);
  return leaf;
}

PlaitTensor
plait_tape_keyed_gradient (const PlaitTape *tape, gconstpointer key)
{
  const PlaitNode *leaf = g_hash_table_lookup (tape->leaves, key);

  return leaf ? leaf->gradient : (PlaitTensor){ NULL, 0, 0, 0 };
}

gint
plait_tape_keyed_place (const PlaitTape *tape, gconstpointer key)
{
  const PlaitNode *leaf = g_hash_table_lookup (tape->leaves, key);

  return leaf && leaf->place > 0 ? leaf->place : G_MAXINT;
}

PlaitNode *
plait_tape_view (PlaitTape *tape, PlaitNode *input, PlaitTensor value)
{
  PlaitNode *node = plait_tape_new_node (tape, NULL, &input, 1);

  node->value = value;
  node->whole = input->whole ? input->whole : input;
  node->whole->pinned = TRUE;
  return node;
}

PlaitTensor
plait_tape_value (PlaitTape *tape, PlaitNode *node)
{
  if (!node->value.data && node->operation)
    {
      node->value = plait_tape_tensor (tape, node->value.rows, node->value.width);
      for (guint i = 0; i < node->n_inputs; i++)
        if (node->inputs[i])
          plait_tape_value (tape, node->inputs[i]);
      node->operation->recompute (tape, node);
    }
  return node->value;
}

PlaitTensor
plait_tape_value_if_any (PlaitTape *tape, PlaitNode *node)
{
  return !node ? (PlaitTensor){ NULL, 0, 0, 0 } : plait_tape_value (tape, node);
}

PlaitRnnWeight
plait_tape_rnn_weight (PlaitTape *tape, PlaitNode *weight)
{
  return (PlaitRnnWeight){ .weight = plait_tape_value_if_any (tape, weight), .precision = tape->precision };
}

void
plait_tape_record (PlaitTape *tape, PlaitNode *node)
{
  plait_tape_expect (tape, !tape->went_back);
  node->previous = tape->last;
  node->place = ++tape->n_recorded;
  tape->last = node;
}

static PlaitNode *
complete (PlaitTape *tape, PlaitNode *node, gsize payload_size)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i])
      plait_tape_value (tape, node->inputs[i]);
  if (payload_size > 0)
    node->payload = plait_arena_allocate_zeros (tape->arena, 1, payload_size);
  node->payload_size = payload_size;
  if (node->needs_gradient)
    plait_tape_record (tape, node);
  return node;
}

PlaitNode *
plait_tape_node (PlaitTape *tape, const PlaitOperator *operation, gint64 rows, gint64 width, PlaitNode *const *inputs,
                 guint n_inputs, gsize payload_size)
{
  PlaitNode *node;

  plait_tape_expect (tape, rows >= 0 && width > 0);
  plait_tape_expect (tape, operation && operation->backward && (inputs || n_inputs == 0));
  node = plait_tape_new_node (tape, operation, inputs, n_inputs);
  node->value = plait_tape_tensor (tape, rows, width);
  return complete (tape, node, payload_size);
}

/* TRUE if the storage of the value can be released. */
static gboolean
can_be_given_up (const PlaitNode *node)
{
  return node->value.data && node->operation && node->operation->recompute && node->operation->ignores_value
         && !node->pinned;
}

PlaitNode *
plait_tape_node_in_place (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs, guint n_inputs,
                          guint from, gsize payload_size)
{
  PlaitNode *node = plait_tape_new_node (tape, operation, inputs, n_inputs);
  PlaitNode *giver = inputs[from];

  complete (tape, node, payload_size);
  node->value = giver->value;
  if (giver->n_consumers == 1 && can_be_given_up (giver))
    giver->value.data = NULL;
  else
    node->value = plait_tape_tensor (tape, giver->value.rows, giver->value.width);
  return node;
}

void
plait_tape_mark_discardable (PlaitTape *tape, PlaitNode *node)
{
  g_assert (node->operation->recompute && node->operation->ignores_value);
  if (!node->needs_gradient)
    return;
  node->next_discardable = tape->discardable;
  tape->discardable = node;
}

void
plait_tape_discard_values (PlaitTape *tape)
{
  PlaitNode **link = &tape->discardable;

  while (*link)
    {
      PlaitNode *node = *link;

      if (node->n_consumers == 0)
        {
          link = &node->next_discardable;
          continue;
        }
      *link = node->next_discardable;
      if (!can_be_given_up (node))
        continue;
      plait_tape_release (tape, node->value);
      node->value.data = NULL;
    }
}
