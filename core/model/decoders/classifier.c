/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include "text/error.h"
#include "text/separators.h"
#include "cross-attention/rows.h"

/*
 * Head for classes, choices and numbers. It computes one state for each sentence from the rows that predict.row and
 * predict.memories select (Liu et al. 2019, as in their code):
 *
 *     x = [row (memory_1); ..; row (memory_n)]
 *     state = dropout (tanh (dropout (x) W + b))
 */
typedef struct
{
  PlaitHead head;
  PlaitMemoryRow row;
  double dropout;
  guint *memories; /* [n]: indices of the memories that are read */
  guint n;
  PlaitLinear hidden;
  PlaitLinear score; /* declared only if choices or numbers are predicted */
} Classifier;

static PlaitNode *
classify (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
          const gint32 *target_inputs)
{
  const Classifier *c = (const Classifier *)head;
  PlaitNode **parts = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, c->n);
  PlaitNode *x;

  for (guint i = 0; i < c->n; i++)
    parts[i] = plait_head_sentence_row (tape, &encoded->memories[c->memories[i]], c->row);
  x = c->n > 1 ? plait_concatenate_columns (tape, parts, c->n) : parts[0];
  x = plait_linear_apply (tape, &c->hidden, plait_dropout (tape, x, c->dropout), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, x, c->dropout);
}

static PlaitNode *
choose (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
        const gint32 *target_inputs)
{
  const Classifier *c = (const Classifier *)head;
  PlaitNode *states = classify (head, tape, encoded, target_rows, target_inputs);

  return plait_pad_logits (tape, plait_linear_apply (tape, &c->score, states, PLAIT_ACTIVATION_NONE),
                           encoded->candidates);
}

static PlaitNode *
estimate (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
          const gint32 *target_inputs)
{
  const Classifier *c = (const Classifier *)head;
  PlaitNode *states = classify (head, tape, encoded, target_rows, target_inputs);

  return plait_linear_apply (tape, &c->score, states, PLAIT_ACTIVATION_NONE);
}

/* Selects the memories that the settings name, or all memories. Sets *@width to the sum of their widths. */
static gboolean
choose_memories (Classifier *c, const PlaitDecoderComponents *components, gint64 *width, GError **error)
{
  g_auto (GStrv) names = g_strsplit (components->predict->memories, ";", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) known = NULL;

  c->memories = plait_parameters_memory (components->parameters, components->n_memories * sizeof *c->memories);
  *width = 0;
  for (guint i = 0; i < components->n_memories; i++)
    {
      g_strv_builder_add (builder, components->memories[i].name);
      if (names[0] && !g_strv_contains ((const char *const *)names, components->memories[i].name))
        continue;
      c->memories[c->n++] = i;
      *width += components->memories[i].width;
    }
  known = g_strv_builder_end (builder);
  for (guint k = 0; names[k]; k++)
    if (!g_strv_contains ((const char *const *)known, names[k]))
      {
        g_autofree char *remedy = plait_item_remedy (names[k], (const char *const *)known, ";", NULL);

        return plait_fail (error, PLAIT_ERROR_INPUT, "predict.memories: no encoder makes a memory \"%s\"; %s", names[k],
                           remedy);
      }
  return TRUE;
}

PlaitHead *
plait_classifier_new (const PlaitDecoderComponents *components, GError **error)
{
  PlaitPredictKind kind = components->predict->kind;
  Classifier *c = plait_parameters_memory (components->parameters, sizeof *c);
  const char *hidden = kind == PLAIT_PREDICT_CHOICE   ? "choice/hidden"
                       : kind == PLAIT_PREDICT_NUMBER ? "number/hidden"
                                                      : "class/hidden";
  gint64 width;

  c->head.predict = kind == PLAIT_PREDICT_CHOICE ? choose : kind == PLAIT_PREDICT_NUMBER ? estimate : classify;
  c->row = components->predict->row;
  c->dropout = components->settings->dropout;
  if (!choose_memories (c, components, &width, error))
    return NULL;
  c->hidden = plait_linear_declare (components->parameters, hidden, width, components->settings->width, TRUE);
  if (kind == PLAIT_PREDICT_CHOICE)
    c->score = plait_linear_declare (components->parameters, "choice/score", components->settings->width, 1, FALSE);
  if (kind == PLAIT_PREDICT_NUMBER)
    c->score = plait_linear_declare (components->parameters, "number/score", components->settings->width, 1, TRUE);
  return &c->head;
}
