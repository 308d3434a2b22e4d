/* SPDX-License-Identifier: MIT */
#include "nn/encoder-layer.h"

#include <string.h>

#include "autograd/internal.h"

PlaitEncoderLayer
plait_encoder_layer_declare (PlaitParameters *parameters, const char *name,
                             const PlaitEncoderLayerDeclaration *declaration)
{
  g_autofree char *attention_norm = g_strconcat (name, "/self_attention_norm", NULL);
  g_autofree char *attention = g_strconcat (name, "/self_attention", NULL);
  g_autofree char *sentence_norm = g_strconcat (name, "/sentence_attention_norm", NULL);
  g_autofree char *sentence = g_strconcat (name, "/sentence_attention", NULL);
  g_autofree char *feed_forward_norm = g_strconcat (name, "/feed_forward_norm", NULL);
  g_autofree char *feed_forward = g_strconcat (name, "/feed_forward", NULL);
  PlaitEncoderLayer layer = {
    .pre_norm = declaration->pre_norm,
    .dropout = declaration->dropout,
    .readers = declaration->readers,
  };
  PlaitAttentionDeclaration of_attention = {
    .width = declaration->width,
    .heads = declaration->heads,
    .dropout = declaration->attention_dropout,
    .biases = declaration->attention_bias,
  };

  layer.attention_norm = plait_norm_declare (parameters, attention_norm, declaration->width);
  layer.attention = plait_attention_declare_self (parameters, attention, &of_attention);
  if (layer.readers != PLAIT_READERS_NONE)
    {
      of_attention.zero_output = declaration->zero_output;
      layer.sentence_norm = plait_norm_declare (parameters, sentence_norm, declaration->width);
      layer.sentence = plait_attention_declare_self (parameters, sentence, &of_attention);
    }
  layer.feed_forward_norm = plait_norm_declare (parameters, feed_forward_norm, declaration->width);
  layer.feed_forward
      = plait_feed_forward_declare (parameters, feed_forward, declaration->width, declaration->feed_forward,
                                    declaration->activation, declaration->feed_forward_dropout);
  return layer;
}

/* The sub-layer of @attention, to @starts alone where they are given. */
static PlaitNode *
attend (PlaitTape *tape, const PlaitEncoderLayer *layer, const PlaitNorm *norm, const PlaitAttention *attention,
        PlaitNode *x, PlaitRagged rows, const PlaitStarts *starts)
{
  PlaitNode *y = layer->pre_norm ? plait_norm_apply (tape, norm, x) : x;

  y = starts ? plait_attention_apply_to_starts (tape, attention, y, rows, starts)
             : plait_attention_apply_self (tape, attention, y, rows, FALSE, NULL);
  x = plait_residual (tape, x, y, layer->dropout);
  return layer->pre_norm ? x : plait_norm_apply (tape, norm, x);
}

static PlaitNode *
feed (PlaitTape *tape, const PlaitEncoderLayer *layer, PlaitNode *x)
{
  PlaitNode *y = layer->pre_norm ? plait_norm_apply (tape, &layer->feed_forward_norm, x) : x;

  y = plait_feed_forward_apply (tape, &layer->feed_forward, y);
  x = plait_residual (tape, x, y, layer->dropout);
  return layer->pre_norm ? x : plait_norm_apply (tape, &layer->feed_forward_norm, x);
}

/* x with the rows of @starts from @made. */
static PlaitNode *
put_starts (PlaitTape *tape, PlaitNode *x, PlaitNode *made, const PlaitStarts *starts)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 rows = x->value.rows;
  guint8 *is_start = plait_arena_take (arena, (gsize)MAX (rows, 1));
  gint64 *place = plait_arena_new_array (arena, gint64, rows + 1);

  memset (is_start, 0, (gsize)rows);
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
read_starts (PlaitTape *tape, const PlaitEncoderLayer *layer, PlaitNode *x, PlaitRagged rows, const PlaitStarts *starts)
{
  PlaitNode *made;

  plait_tape_expect (tape, starts != NULL);
  if (layer->readers == PLAIT_READERS_ALL)
    return attend (tape, layer, &layer->sentence_norm, &layer->sentence, x, rows, starts);
  made = plait_gather_rows (tape, x, starts->rows, plait_ragged_rows (starts->sentences));
  made = attend (tape, layer, &layer->sentence_norm, &layer->sentence, made, starts->sentences, NULL);
  return put_starts (tape, x, made, starts);
}

PlaitNode *
plait_encoder_layer_apply (PlaitTape *tape, const PlaitEncoderLayer *layer, PlaitNode *x, PlaitRagged rows,
                           const PlaitStarts *starts)
{
  gboolean reads = layer->readers != PLAIT_READERS_NONE;

  x = attend (tape, layer, &layer->attention_norm, &layer->attention, x, rows, reads ? NULL : starts);
  if (reads)
    x = read_starts (tape, layer, x, rows, starts);
  return feed (tape, layer, x);
}
