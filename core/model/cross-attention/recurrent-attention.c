/* SPDX-License-Identifier: MIT */
#include "cross-attention/recurrent-attention.h"

#include <math.h>

static PlaitLinear
declare_linear (const PlaitRecurrentAttentionDeclaration *declaration, const char *name, const char *part, gint64 in,
                gint64 out, gboolean bias)
{
  g_autofree char *full = g_strdup_printf ("%s/%s", name, part);

  return plait_linear_declare (declaration->parameters, full, in, out, bias);
}

/* Returns the width of keys: attention_width if scores are additive and projections are not tied; else the width of
 * contexts and memories. */
static gint64
key_width (const PlaitRecurrentAttentionDeclaration *declaration)
{
  return declaration->score == PLAIT_SCORE_ADDITIVE && !declaration->tied ? declaration->attention_width
                                                                          : declaration->width;
}

gint64
plait_recurrent_attention_score_width (const PlaitRecurrentAttentionDeclaration *declaration)
{
  return declaration->score == PLAIT_SCORE_ADDITIVE ? key_width (declaration) : 1;
}

/* Declares the parameters of one item (memory, context or sentinel) with rows of width @in. @own: projections to keys
 * and values (one projection if tied), and for additive scores a bias of the score. Not @own: all items share the
 * parameters, which are a key projection if scores are additive, else nothing. */
static void
declare_item (const PlaitRecurrentAttentionDeclaration *declaration, PlaitRecurrentAttentionItem *item,
              const char *name, gint64 in, gboolean own)
{
  gboolean additive = declaration->score == PLAIT_SCORE_ADDITIVE, tied = own && declaration->tied;
  g_autofree char *bias = g_strdup_printf ("%s/bias", name);

  if (additive || own)
    item->key = declare_linear (declaration, name, "key", in, key_width (declaration), additive || tied);
  if (!own)
    return;
  if (additive)
    item->bias = plait_parameters_declare (declaration->parameters, bias, 1, 1, PLAIT_ZEROS);
  item->tied = tied;
  if (!tied)
    item->value = declare_linear (declaration, name, "value", in, declaration->width, TRUE);
}

PlaitRecurrentAttentionItem *
plait_recurrent_attention_declare_sentinel (const PlaitRecurrentAttentionDeclaration *declaration, const char *name)
{
  PlaitRecurrentAttentionItem *sentinel
      = plait_parameters_memory (declaration->parameters, sizeof (PlaitRecurrentAttentionItem));

  declare_item (declaration, sentinel, name, declaration->state_width, TRUE);
  return sentinel;
}

PlaitRecurrentAttention
plait_recurrent_attention_declare (const PlaitRecurrentAttentionDeclaration *declaration, const char *name,
                                   const PlaitMemorySpecification *items, guint n)
{
  PlaitParameters *parameters = declaration->parameters;
  gint64 width = key_width (declaration);
  g_autofree char *vector = g_strdup_printf ("%s/vector", name);
  PlaitRecurrentAttention attention = { .n_items = MAX (n, 1) };

  if (declaration->score != PLAIT_SCORE_DOT)
    attention.query = declare_linear (declaration, name, "query", declaration->state_width, width, FALSE);
  if (declaration->score == PLAIT_SCORE_ADDITIVE)
    attention.vector
        = plait_parameters_declare (parameters, vector, 1, width, PLAIT_UNIFORM (sqrt (3.0 / (double)width)));
  attention.items = plait_parameters_memory (parameters, attention.n_items * sizeof (PlaitRecurrentAttentionItem));
  if (n == 0)
    declare_item (declaration, attention.items, name, declaration->width, FALSE);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *item = g_strdup_printf ("%s/%s", name, items[i].name);

      declare_item (declaration, &attention.items[i], item, declaration->width, TRUE);
    }
  return attention;
}

PlaitKeyValues
plait_recurrent_attention_project (PlaitTape *tape, const PlaitRecurrentAttentionItem *item, PlaitNode *rows,
                                   PlaitRagged ragged)
{
  PlaitNode *keys = item->key.weight ? plait_linear_apply (tape, &item->key, rows, PLAIT_ACTIVATION_NONE) : rows;
  PlaitNode *values = item->tied ? keys : rows;

  if (item->value.weight)
    values = plait_linear_apply (tape, &item->value, rows, PLAIT_ACTIVATION_NONE);
  return (PlaitKeyValues){ .keys = keys, .values = values, .rows = ragged };
}
