/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "pointer-settings.h"

/*
 * Pointer-generator (See, Liu & Manning 2017): each word is generated, or copied from a source by the attention a.
 *
 *     p_gen = sigmoid (w_h h* + w_s s + w_x x + b)                            (eq. 8)
 *     p (v) = p_gen softmax (T s + b)_v + (1 - p_gen) sum_{i: w_i = v} a_i    (eq. 9)
 *
 * h* is the context, s the state, x the embedding of the previous word. If words of several sources are copied, a_i is
 *
 *     with one softmax over all rows (flat)         weight of the row
 *     with attention over contexts (hierarchical)   weight of the context * weight of the row
 *     otherwise                                     softmax (W_h h* + W_s s + W_x x + b)_source * weight of the row
 */

typedef struct
{
  PlaitLinear context;
  PlaitLinear state; /* map of the state, with the bias b */
  PlaitLinear embedded;
} Scores;

typedef struct
{
  guint n; /* number of memories whose words are copied */
  guint *memories;
  Scores gate;
  Scores sources; /* scores of the n copied memories; not declared if n is 1 */
} Pointer;

static Scores
declare_scores (const PlaitOutputBuild *build, const char *name, gint64 width)
{
  g_autofree char *context = g_strdup_printf ("%s%s/context", build->prefix, name);
  g_autofree char *state = g_strdup_printf ("%s%s/state", build->prefix, name);
  g_autofree char *embedded = g_strdup_printf ("%s%s/embedded", build->prefix, name);

  return (Scores){
    .context = plait_linear_declare (build->parameters, context, build->context_width, width, FALSE),
    .state = plait_linear_declare (build->parameters, state, build->state_width, width, TRUE),
    .embedded = plait_linear_declare (build->parameters, embedded, build->embedded_width, width, FALSE),
  };
}

static gboolean
is_chosen (const Settings *settings, const PlaitOutputMemory *memory)
{
  return g_str_equal (settings->source, "all") || g_str_equal (settings->source, memory->source);
}

static gboolean
refuse (const PlaitOutputBuild *build, const Settings *settings, GError **error)
{
  for (guint m = 0; m < build->n_memories; m++)
    if (g_str_equal (settings->source, build->memories[m].source))
      return plait_fail (
          error, PLAIT_ERROR_INPUT,
          "source=%s: the words of this source cannot be copied, because it does not have the vocabulary of the "
          "target, or has rows of sentences; set data.vocabulary=shared, or choose another source",
          settings->source);
  if (g_str_equal (settings->source, "all"))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "no source has the vocabulary of the target and rows of words, so no word can be copied; set "
                       "data.vocabulary=shared, or decoder.output=softmax");
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "source=%s is not a source of the experiment; name one of its sources, or all", settings->source);
}

static gboolean
build (const PlaitOutputBuild *build, gconstpointer data, gpointer state, PlaitOutputShape *shape, GError **error)
{
  const Settings *settings = data;
  Pointer *pointer = state;

  plait_output_declare_table (build, shape);
  shape->context = shape->embedded = TRUE;
  shape->head = (guint)settings->head;
  pointer->memories = plait_parameters_memory (build->parameters, (build->n_memories + 1) * sizeof (guint));
  for (guint m = 0; m < MIN (build->n_memories, PLAIT_OUTPUT_MAX_MEMORIES); m++)
    if (build->memories[m].has_words && is_chosen (settings, &build->memories[m]))
      {
        shape->copies[m] = TRUE;
        pointer->memories[pointer->n++] = m;
      }
  if (pointer->n == 0)
    return refuse (build, settings, error);
  pointer->gate = declare_scores (build, "gate", 1);
  if (pointer->n > 1)
    pointer->sources = declare_scores (build, "sources", pointer->n);
  return TRUE;
}

/* Returns W_h h* + W_s s + W_x x + b. */
static PlaitNode *
score (const PlaitOutputPass *pass, const Scores *scores)
{
  PlaitNode *terms[] = {
    plait_linear_apply (pass->tape, &scores->context, pass->context, PLAIT_ACTIVATION_NONE),
    plait_linear_apply (pass->tape, &scores->state, pass->states, PLAIT_ACTIVATION_NONE),
    plait_linear_apply (pass->tape, &scores->embedded, pass->embedded, PLAIT_ACTIVATION_NONE),
  };

  return plait_add_n (pass->tape, terms, G_N_ELEMENTS (terms));
}

static void
output (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass)
{
  const Pointer *pointer = state;
  gboolean own = pointer->n > 1 && !pass->joint && !pass->shares;
  PlaitNode *shares = own ? plait_softmax (pass->tape, score (pass, &pointer->sources)) : pass->shares;

  pass->logit_states = pass->states;
  pass->gate = score (pass, &pointer->gate);
  for (guint i = 0; i < pointer->n; i++)
    {
      guint m = pointer->memories[i];

      pass->copied[m] = pointer->n > 1 && shares
                            ? plait_output_weigh (pass, m, plait_columns (pass->tape, shares, own ? i : m, 1))
                            : pass->attention[m].weights;
    }
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (Pointer), .build = build, .output = output)
