/* SPDX-License-Identifier: MIT */
#include "loading/call-private.h"

#include <math.h>

/* Functions that call outputs. */

void
plait_output_declare_table (const PlaitOutputBuild *build, PlaitOutputShape *shape)
{
  g_autofree char *weight = g_strconcat (build->prefix, "weight", NULL),
                  *bias = g_strconcat (build->prefix, "bias", NULL);

  shape->table = build->embedding;
  if (!shape->table)
    shape->table = plait_parameters_declare (build->parameters, weight, build->vocabulary_size, build->state_width,
                                             PLAIT_NORMAL (1 / sqrt ((double)build->state_width)));
  if (build->bias)
    shape->bias = plait_parameters_declare (build->parameters, bias, 1, build->vocabulary_size, PLAIT_ZEROS);
}

PlaitNode *
plait_output_weigh (const PlaitOutputPass *pass, guint memory, PlaitNode *numbers)
{
  const PlaitOutputAttention *attention;

  plait_tape_expect (pass->tape, memory < pass->n_memories);
  attention = &pass->attention[memory];
  if (!attention->weights)
    plait_tape_fail (pass->tape, "%s: memory %u has no attention weights to read: set copies[%u] in build", G_STRFUNC,
                     memory, memory);
  plait_tape_expect (pass->tape, numbers && numbers->value.rows == pass->states->value.rows);
  plait_tape_expect (pass->tape, numbers->value.width == 1);
  return plait_multiply (pass->tape, attention->weights,
                         plait_gather_rows (pass->tape, numbers, attention->queries, attention->weights->value.rows));
}

gboolean
plait_output_copies (const PlaitOutputShape *shape)
{
  for (guint m = 0; m < PLAIT_OUTPUT_MAX_MEMORIES; m++)
    if (shape->copies[m])
      return TRUE;
  return FALSE;
}

static gboolean
check_copies (const PlaitComponent *component, const PlaitOutputBuild *build, const PlaitOutputShape *shape,
              GError **error)
{
  for (guint m = 0; m < PLAIT_OUTPUT_MAX_MEMORIES; m++)
    {
      if (!shape->copies[m])
        continue;
      if (m >= build->n_memories)
        return plait_fail (
            error, PLAIT_ERROR_PLUGIN,
            "%s: build copies memory %u, but there are only %u memories, numbered from 0; choose one of them",
            component->label, m, build->n_memories);
      if (!build->memories[m].has_words)
        return plait_fail (
            error, PLAIT_ERROR_PLUGIN,
            "%s: build copies the memory %s, whose rows have no words of the target; copy only memories with has_words",
            component->label, build->memories[m].name);
    }
  return TRUE;
}

/* TRUE if @parameter was declared in @parameters. */
static gboolean
is_declared (const PlaitParameters *parameters, const PlaitParameter *parameter)
{
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    if (plait_parameters_get (parameters, i) == parameter)
      return TRUE;
  return FALSE;
}

static gboolean
check_shape (const PlaitComponent *component, const PlaitOutputBuild *build, const PlaitOutputShape *shape,
             GError **error)
{
  const PlaitParameter *bias = shape->bias;

  if (!shape->table)
    return plait_fail (error, PLAIT_ERROR_PLUGIN,
                       "%s: build gives no table of word vectors; call plait_output_declare_table", component->label);
  if (!is_declared (build->parameters, shape->table) || (bias && !is_declared (build->parameters, bias)))
    return plait_fail (error, PLAIT_ERROR_PLUGIN,
                       "%s: build gives a %s that is not a parameter of the model; declare it with "
                       "plait_parameters_declare, or call plait_output_declare_table",
                       component->label, is_declared (build->parameters, shape->table) ? "bias" : "table");
  if (shape->table->value.rows != build->vocabulary_size)
    return plait_fail (error, PLAIT_ERROR_PLUGIN,
                       "%s: build gives a table of %jd rows; give one row for each of %jd words", component->label,
                       shape->table->value.rows, build->vocabulary_size);
  if (bias && (bias->value.rows != 1 || bias->value.width != build->vocabulary_size))
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: build gives a bias [%jd, %jd]; expected [1, %jd]",
                       component->label, bias->value.rows, bias->value.width, build->vocabulary_size);
  return check_copies (component, build, shape, error);
}

gboolean
plait_call_build_output (PlaitInstance *instance, const PlaitComponent *component, const PlaitOutputBuild *build,
                         PlaitOutputShape *shape, GError **error)
{
  const PlaitOutputTable *table = plait_call_table (component);
  GError *fault = NULL;
  PlaitCallBuilding before
      = plait_call_begin_build (instance, component, table->state_size, build->parameters, build->prefix);
  gboolean built;

  *shape = (PlaitOutputShape){ .table = NULL };
  built = table->build (build, component->settings, instance->state, shape, &fault);
  return plait_call_leave_build (before, build->parameters,
                                 plait_call_end_build (instance, built, fault, build->parameters, error)
                                     && check_shape (component, build, shape, error));
}

/* Fails the step unless the output gave the gate and the weights of copied words that @shape declares, and no others.
 * Replaces views of columns by copies, because the host reads gate and weights as arrays. */
static void
take_copies (const PlaitOutputShape *shape, PlaitOutputPass *pass)
{
  PlaitTape *tape = pass->tape;
  gboolean copies = plait_output_copies (shape);

  if (!copies && pass->gate)
    plait_tape_fail (tape, "gave a gate, but PlaitOutputShape.copies is FALSE for all memories: set copies for a "
                           "memory, or leave the gate NULL");
  if (copies)
    {
      plait_call_expect_node (tape, "a gate", pass->gate, pass->states->value.rows, 1);
      pass->gate = plait_end_to_end (tape, pass->gate);
    }
  for (guint m = 0; m < pass->n_memories; m++)
    {
      PlaitNode *copied = pass->copied[m];

      if (copied && (m >= PLAIT_OUTPUT_MAX_MEMORIES || !shape->copies[m]))
        plait_tape_fail (tape, "copies words of memory %u, which build does not declare: declare it in build", m);
      if (m >= PLAIT_OUTPUT_MAX_MEMORIES || !shape->copies[m])
        continue;
      plait_call_expect_node (tape, "weights of copied words", copied,
                              plait_query_key_pairs_count (&pass->attention[m].pairs), 1);
      pass->copied[m] = copied = plait_end_to_end (tape, copied);
      for (gint64 i = 0; i < copied->value.rows; i++)
        if (copied->value.data[i] < 0)
          plait_tape_fail (tape, "gave a copied word of memory %u the weight %g: give weights of at least 0", m,
                           (double)copied->value.data[i]);
    }
}

/* Fails the step if the output changed tape, states, n_memories, attention or copied of @pass. @given: the pass before
 * the call. */
static void
expect_given (const PlaitOutputPass *pass, const PlaitOutputPass *given)
{
  if (pass->tape != given->tape || pass->states != given->states || pass->n_memories != given->n_memories
      || pass->attention != given->attention || pass->copied != given->copied)
    plait_tape_fail (
        given->tape,
        "changes fields of the pass that the host filled: fill only logit_states, gate and the elements of copied");
}

void
plait_call_output (const PlaitInstance *instance, const PlaitOutputShape *shape, PlaitOutputPass *pass)
{
  const PlaitOutputTable *table = plait_call_table (instance->component);
  const PlaitOutputPass given = *pass;
  PlaitCodeOwner before = plait_call_enter (instance, pass->tape, "output");

  table->output (instance->component->settings, instance->state, pass);
  expect_given (pass, &given);
  plait_call_expect_node (pass->tape, "states of the logits", pass->logit_states, pass->states->value.rows,
                          shape->table->value.width);
  take_copies (shape, pass);
  plait_tape_set_caller (pass->tape, before);
}
