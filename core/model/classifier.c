/* SPDX-License-Identifier: MIT */
#include "model/decoder.h"

#include "base/error.h"
#include "model/memory-row.h"
#include "nn/linear.h"

/*
 * One state for each sentence, that its class is read from (Liu et al. 2019, as its code has it):
 *
 *     x = [row (memory_1); ..; row (memory_n)]
 *     state = dropout (tanh (dropout (x) W + b))
 */
typedef struct
{
  PlaitDecoder decoder;
  const PlaitPredictSettings *settings;
  double dropout;
  guint *memories; /* [n], which are read */
  guint n;
  PlaitLinear hidden;
} Classifier;

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitCapture *capture)
{
  const Classifier *c = (const Classifier *)decoder;
  PlaitNode **parts = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, c->n);
  PlaitNode *x;

  for (guint i = 0; i < c->n; i++)
    parts[i] = plait_memory_row (tape, &sources->memories[c->memories[i]], (PlaitMemoryRow)c->settings->row);
  x = c->n > 1 ? plait_concatenate_columns (tape, parts, c->n) : parts[0];
  x = plait_linear_apply (tape, &c->hidden, plait_dropout (tape, x, c->dropout), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, x, c->dropout);
}

static gboolean
check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  return TRUE;
}

static void
classifier_free (PlaitDecoder *decoder)
{
  g_free (decoder);
}

static const PlaitDecoderTable classifier_table
    = { .check_length = check_length, .forward = forward, .free = classifier_free };

static gboolean
fail_unknown (const PlaitDecoderBuild *build, const char *name, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; i < build->n_memories; i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", build->memories[i].name);
  return plait_fail (error, PLAIT_ERROR_INPUT, "predict.memories: no encoder makes a memory \"%s\"; there are: %s",
                     name, known->str);
}

/* The memories that the settings name, or all; *@width is what their rows have side by side. */
static gboolean
choose_memories (Classifier *c, const PlaitDecoderBuild *build, gint64 *width, GError **error)
{
  g_auto (GStrv) names = g_strsplit (c->settings->memories, ";", -1);
  gboolean all = *c->settings->memories == '\0';

  c->memories = plait_parameters_memory (build->parameters, build->n_memories * sizeof *c->memories);
  *width = 0;
  for (guint i = 0; i < build->n_memories; i++)
    if (all || g_strv_contains ((const char *const *)names, build->memories[i].name))
      {
        c->memories[c->n++] = i;
        *width += build->memories[i].width;
      }
  for (guint k = 0; !all && names[k]; k++)
    {
      guint i = 0;

      while (i < build->n_memories && !g_str_equal (build->memories[i].name, names[k]))
        i++;
      if (i == build->n_memories)
        return fail_unknown (build, names[k], error);
    }
  return TRUE;
}

PlaitDecoder *
plait_classifier_new (const PlaitDecoderBuild *build, GError **error)
{
  g_autofree Classifier *c = g_new0 (Classifier, 1);
  gint64 width;

  c->decoder.table = &classifier_table;
  c->decoder.width = build->settings->width;
  c->settings = build->predict;
  c->dropout = build->settings->dropout;
  if (!choose_memories (c, build, &width, error))
    return NULL;
  c->hidden = plait_linear_declare (build->parameters, "class/hidden", width, c->decoder.width, TRUE);
  return &((Classifier *)g_steal_pointer (&c))->decoder;
}
