/* SPDX-License-Identifier: MIT */
#include "layers/encoder-stack.h"

#include <string.h>

#include "autograd/internal.h"
#include "layers/internal.h"
#include "layers/parameter-set.h"

#define MAX_LAYERS 4096

static PlaitEncoderLayer
declare_layer (PlaitParameters *parameters, const char *name, const PlaitEncoderStackDeclaration *declaration,
               gboolean global)
{
  g_autofree char *attention_norm = g_strconcat (name, "/self_attention_norm", NULL);
  g_autofree char *attention = g_strconcat (name, "/self_attention", NULL);
  g_autofree char *global_attention = g_strconcat (name, "/global_attention", NULL);
  g_autofree char *gate = g_strconcat (name, "/attention_gate", NULL);
  g_autofree char *sentence_norm = g_strconcat (name, "/sentence_attention_norm", NULL);
  g_autofree char *sentence = g_strconcat (name, "/sentence_attention", NULL);
  g_autofree char *feed_forward_norm = g_strconcat (name, "/feed_forward_norm", NULL);
  g_autofree char *feed_forward = g_strconcat (name, "/feed_forward", NULL);
  PlaitEncoderLayer layer = { .attention_norm = plait_norm_declare (parameters, attention_norm, declaration->width) };
  PlaitAttentionDeclaration of_attention = {
    .width = declaration->width,
    .heads = (guint)declaration->heads,
    .dropout = declaration->attention_dropout,
    .biases = declaration->attention_bias,
    .positions = declaration->positions,
    .window = declaration->window,
  };

  layer.attention = plait_attention_declare_self (parameters, attention, &of_attention);
  if (global)
    {
      layer.global = plait_attention_declare_self (parameters, global_attention, &of_attention);
      layer.sum = plait_gated_sum_declare (parameters, gate, declaration->width);
    }
  if (declaration->readers != PLAIT_READERS_NONE)
    {
      of_attention.zero_output = declaration->zero_output;
      of_attention.positions = PLAIT_POSITIONS_NONE;
      of_attention.window = 0;
      layer.sentence_norm = plait_norm_declare (parameters, sentence_norm, declaration->width);
      layer.sentence = plait_attention_declare_self (parameters, sentence, &of_attention);
    }
  layer.feed_forward_norm = plait_norm_declare (parameters, feed_forward_norm, declaration->width);
  layer.feed_forward = plait_feed_forward_declare (
      parameters, feed_forward, declaration->width, declaration->feed_forward,
      plait_feed_forward_activation (declaration->activation), declaration->feed_forward_dropout);
  return layer;
}

gboolean
plait_encoder_stack_declare (PlaitEncoderStack *stack, PlaitParameters *parameters, const char *prefix,
                             const PlaitEncoderStackDeclaration *declaration, GError **error)
{
  g_autofree char *norm = g_strconcat (prefix, "norm", NULL);

  plait_parameters_expect (parameters, declaration->heads > 0 && declaration->width > 0);
  plait_parameters_expect (parameters, declaration->layers >= 0 && declaration->layers <= MAX_LAYERS);
  plait_parameters_expect (parameters, declaration->dropout >= 0 && declaration->dropout < 1);
  plait_parameters_expect (parameters, declaration->window >= 0);
  plait_parameters_expect (parameters, !declaration->groups || declaration->readers == PLAIT_READERS_NONE);
  plait_parameters_expect (parameters, declaration->global_layers >= 0);
  plait_parameters_expect (parameters, declaration->groups || declaration->global_layers == 0);
  if (!plait_parameters_check (parameters, NULL))
    return TRUE; /* plait_parameters_check reports the fault to the host */
  if (declaration->width % declaration->heads != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "heads=%jd do not divide the width of %jd: choose a number of heads that divides the width",
                       declaration->heads, declaration->width);
  if (declaration->positions == PLAIT_POSITIONS_ROTARY && declaration->width / declaration->heads % 2 != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "rotary positions need heads of an even width, but heads=%jd divides the width of %jd into "
                       "heads of width %jd: choose another number of heads",
                       declaration->heads, declaration->width, declaration->width / declaration->heads);
  *stack = (PlaitEncoderStack){
    .pre_norm = declaration->norm == PLAIT_ENCODER_NORM_DECODER ? declaration->pre_norm
                                                                : declaration->norm == PLAIT_ENCODER_NORM_PRE,
    .dropout = declaration->dropout,
    .readers = declaration->readers,
    .groups = declaration->groups,
    .n = declaration->layers,
    .layers = plait_parameters_memory (parameters, declaration->layers * sizeof (PlaitEncoderLayer)),
  };
  for (gint64 i = 0; i < stack->n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%slayer/%jd", prefix, i);

      stack->layers[i] = declare_layer (parameters, name, declaration, i >= stack->n - declaration->global_layers);
    }
  if (stack->pre_norm && declaration->final_norm)
    stack->norm = plait_norm_declare (parameters, norm, declaration->width);
  return TRUE;
}

/* Returns @x after a sublayer with self-attention. With @starts, rows attend only to the rows in @starts; NULL: to all
 * rows of their sequence. */
static PlaitNode *
attend (PlaitTape *tape, const PlaitEncoderStack *stack, const PlaitNorm *norm, const PlaitAttention *attention,
        PlaitNode *x, PlaitRagged rows, const PlaitSentenceStarts *starts)
{
  PlaitNode *y = stack->pre_norm ? plait_norm_apply (tape, norm, x) : x;

  y = starts ? plait_attention_apply_to_starts (tape, attention, y, rows, starts)
             : plait_attention_apply_self (tape, attention, y, rows, FALSE, NULL);
  x = plait_residual (tape, x, y, stack->dropout);
  return stack->pre_norm ? x : plait_norm_apply (tape, norm, x);
}

/* Returns the rows of each sentence as ragged rows; @starts: the first rows of the sentences. */
static PlaitRagged
group_rows (PlaitTape *tape, PlaitRagged rows, const PlaitSentenceStarts *starts)
{
  gint64 n = plait_ragged_rows (starts->sentences);
  gint64 *offsets = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);

  memcpy (offsets, starts->rows, (gsize)n * sizeof *offsets);
  offsets[n] = plait_ragged_rows (rows);
  return (PlaitRagged){ n, offsets };
}

/* Returns @x after the group attention of @layer: within the sentences @groups and, if @layer is global, also within
 * the documents @rows. */
static PlaitNode *
attend_in_groups (PlaitTape *tape, const PlaitEncoderStack *stack, const PlaitEncoderLayer *layer, PlaitNode *x,
                  PlaitRagged rows, PlaitRagged groups)
{
  PlaitNode *read = stack->pre_norm ? plait_norm_apply (tape, &layer->attention_norm, x) : x;
  PlaitNode *y = plait_attention_apply_self (tape, &layer->attention, read, groups, FALSE, NULL);

  if (layer->sum.gate.weight)
    y = plait_gated_sum_apply (tape, &layer->sum, y,
                               plait_attention_apply_self (tape, &layer->global, read, rows, FALSE, NULL));
  x = plait_residual (tape, x, y, stack->dropout);
  return stack->pre_norm ? x : plait_norm_apply (tape, &layer->attention_norm, x);
}

static PlaitNode *
feed (PlaitTape *tape, const PlaitEncoderStack *stack, const PlaitEncoderLayer *layer, PlaitNode *x)
{
  PlaitNode *y = stack->pre_norm ? plait_norm_apply (tape, &layer->feed_forward_norm, x) : x;

  y = plait_feed_forward_apply (tape, &layer->feed_forward, y);
  x = plait_residual (tape, x, y, stack->dropout);
  return stack->pre_norm ? x : plait_norm_apply (tape, &layer->feed_forward_norm, x);
}

/* Returns @x with the rows of @starts replaced by the rows of @made. */
static PlaitNode *
put_starts (PlaitTape *tape, PlaitNode *x, PlaitNode *made, const PlaitSentenceStarts *starts)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 rows = x->value.rows;
  guint8 *is_start = plait_arena_new_array0 (arena, guint8, rows);
  gint64 *place = plait_arena_new_array (arena, gint64, rows + 1);

  for (gint64 row = 0; row < rows; row++)
    place[row] = -1;
  for (gint64 i = 0; i < made->value.rows; i++)
    {
      is_start[starts->rows[i]] = 1;
      place[starts->rows[i]] = i;
    }
  return plait_select_rows (tape, is_start, plait_gather_rows (tape, made, place, rows), x);
}

static PlaitNode *
read_starts (PlaitTape *tape, const PlaitEncoderStack *stack, const PlaitEncoderLayer *layer, PlaitNode *x,
             PlaitRagged rows, const PlaitSentenceStarts *starts)
{
  PlaitNode *made;

  plait_tape_expect (tape, starts != NULL);
  if (stack->readers == PLAIT_READERS_ALL)
    return attend (tape, stack, &layer->sentence_norm, &layer->sentence, x, rows, starts);
  made = plait_gather_rows (tape, x, starts->rows, plait_ragged_rows (starts->sentences));
  made = attend (tape, stack, &layer->sentence_norm, &layer->sentence, made, starts->sentences, NULL);
  return put_starts (tape, x, made, starts);
}

/* Arguments of apply_layer: a layer, its input @x, and the rows of @x in each sequence. */
typedef struct
{
  const PlaitEncoderStack *stack;
  const PlaitEncoderLayer *layer;
  PlaitNode *x;
  PlaitRagged rows;
  PlaitRagged groups; /* rows of each sentence, if the stack has groups */
  const PlaitSentenceStarts *starts;
} Reading;

static PlaitNode *
apply_layer (PlaitTape *tape, gconstpointer data)
{
  const Reading *reading = data;
  const PlaitEncoderStack *stack = reading->stack;
  const PlaitEncoderLayer *layer = reading->layer;
  gboolean reads = stack->readers != PLAIT_READERS_NONE;
  PlaitNode *x = stack->groups ? attend_in_groups (tape, stack, layer, reading->x, reading->rows, reading->groups)
                               : attend (tape, stack, &layer->attention_norm, &layer->attention, reading->x,
                                         reading->rows, reads ? NULL : reading->starts);

  if (reads)
    x = read_starts (tape, stack, layer, x, reading->rows, reading->starts);
  return feed (tape, stack, layer, x);
}

PlaitNode *
plait_encoder_stack_apply (PlaitTape *tape, const PlaitEncoderStack *stack, PlaitNode *x, PlaitRagged rows,
                           const PlaitSentenceStarts *starts)
{
  Reading reading = { .stack = stack, .x = x, .rows = rows };

  plait_tape_expect (tape, !stack->groups || starts);
  if (stack->groups)
    reading.groups = group_rows (tape, rows, starts);
  if (starts)
    reading.starts = memcpy (plait_arena_allocate (plait_tape_arena (tape), sizeof *starts), starts, sizeof *starts);
  for (gint64 i = 0; i < stack->n; i++)
    {
      reading.layer = &stack->layers[i];
      reading.x = plait_tape_recomputed (tape, apply_layer, &reading, sizeof reading);
    }
  return stack->norm.gain ? plait_norm_apply (tape, &stack->norm, reading.x) : reading.x;
}
