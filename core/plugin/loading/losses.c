/* SPDX-License-Identifier: MIT */
#include "loading/losses.h"

#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "text/number.h"

#define SOURCE_PREFIX "source "

struct PlaitAddedLoss
{
  PlaitAddedLoss *next;
  PlaitNode *loss;
  PlaitCodeOwner caller; /* plugin that added the loss */
  const char *name;
};

void
plait_loss_columns_clear (PlaitLossColumns *columns)
{
  for (guint i = 0; i < columns->n; i++)
    {
      g_free (columns->columns[i].name);
      g_free (columns->columns[i].accuracy);
    }
  columns->n = 0;
}

/* Returns the column name of a loss: "en.leaves.ponder" for "source en/leaves" and "ponder"; "combiner.gate" for
 * "combiner" and "gate", or "<combiner>.gate" if a source called combiner has a loss gate. (transfer full) */
static char *
column_name (const PlaitLossColumns *columns, const PlaitComponent *component, const char *loss)
{
  gboolean source = g_str_has_prefix (component->group, SOURCE_PREFIX);
  const char *group = component->group + (source ? strlen (SOURCE_PREFIX) : 0);
  char *name = g_strdelimit (g_strdup_printf ("%s.%s", group, loss), "/", '.');

  for (guint i = 0; !source && i < columns->n; i++)
    if (columns->columns[i].of_source && g_str_equal (columns->columns[i].name, name))
      {
        g_free (name);
        return g_strdup_printf ("<%s>.%s", group, loss);
      }
  return name;
}

/* Returns the index of the loss @name among the first @n of @losses, or @n if it is missing. */
static guint
index_of (const PlaitLosses *losses, guint n, const char *name)
{
  guint i = 0;

  while (i < n && !g_str_equal (losses->losses[i].name, name))
    i++;
  return i;
}

/* Checks that @loss has the weight and the start of @column, which another instance of @component has declared. */
static gboolean
check_shared (const PlaitLossColumn *column, const PlaitComponent *component, const PlaitLoss *loss, GError **error)
{
  char weight[PLAIT_NUMBER_LENGTH], before[PLAIT_NUMBER_LENGTH];

  if (loss->weight == column->weight && loss->start == column->start)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_PLUGIN,
                     "%s gives its loss \"%s\" the weight %s and the start %jd, but the weight %s and the start %jd in "
                     "an earlier instance: give the loss one weight and one start",
                     component->label, loss->name, plait_format_double (weight, loss->weight), loss->start,
                     plait_format_double (before, column->weight), column->start);
}

gboolean
plait_loss_columns_declare (PlaitLossColumns *columns, const PlaitComponent *component, const PlaitLosses *losses,
                            guint *indices, GError **error)
{
  if (losses->n > PLAIT_MAX_LOSSES)
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s declares %u losses; a component can have up to %d",
                       component->label, losses->n, PLAIT_MAX_LOSSES);
  for (guint i = 0; i < losses->n; i++)
    {
      const PlaitLoss *loss = &losses->losses[i];
      char digits[PLAIT_NUMBER_LENGTH];
      guint index = 0;

      if (!loss->name || !plait_name_is_valid (loss->name))
        return plait_fail (error, PLAIT_ERROR_PLUGIN,
                           "%s declares a loss \"%s\", which is not a valid name: give " PLAIT_NAME_FORM,
                           component->label, loss->name ? loss->name : "");
      if (index_of (losses, i, loss->name) < i)
        return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s declares the loss \"%s\" twice: declare each loss once",
                           component->label, loss->name);
      if (!isfinite (loss->weight))
        return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s gives its loss \"%s\" the weight %s: give it a finite number",
                           component->label, loss->name, plait_format_double (digits, loss->weight));
      if (loss->start < 0)
        return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s starts its loss \"%s\" at update %jd: set start to 0 or more",
                           component->label, loss->name, loss->start);
      g_autofree char *name = column_name (columns, component, loss->name);
      while (index < columns->n && !g_str_equal (columns->columns[index].name, name))
        index++;
      if (index == PLAIT_MAX_LOSS_COLUMNS)
        return plait_fail (
            error, PLAIT_ERROR_PLUGIN,
            "%s: its loss \"%s\" is one too many: a model can have %d losses; use fewer components with losses",
            component->label, loss->name, PLAIT_MAX_LOSS_COLUMNS);
      if (index < columns->n && !check_shared (&columns->columns[index], component, loss, error))
        return FALSE;
      if (index == columns->n)
        columns->columns[columns->n++]
            = (PlaitLossColumn){ .name = g_steal_pointer (&name),
                                 .weight = loss->weight,
                                 .start = loss->start,
                                 .of_source = g_str_has_prefix (component->group, SOURCE_PREFIX) };
      indices[i] = index;
    }
  return TRUE;
}

gboolean
plait_loss_columns_add (PlaitLossColumns *columns, const char *name, const char *accuracy, double weight,
                        const char *key, guint *index, GError **error)
{
  if (columns->n == PLAIT_MAX_LOSS_COLUMNS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the model has %d other losses already, the maximum, so %s cannot be added; remove this key",
                       key, PLAIT_MAX_LOSS_COLUMNS, name);
  *index = columns->n;
  columns->columns[columns->n++]
      = (PlaitLossColumn){ .name = g_strdup (name), .weight = weight, .accuracy = g_strdup (accuracy) };
  return TRUE;
}

PlaitLossPass *
plait_loss_pass_new (PlaitTape *tape)
{
  return plait_arena_new_array0 (plait_tape_arena (tape), PlaitLossPass, 1);
}

void
plait_loss_pass_add (PlaitLossPass *pass, PlaitTape *tape, const PlaitLosses *losses, const guint *indices,
                     const char *name, PlaitNode *loss)
{
  PlaitAddedLoss *added;
  guint i = name ? index_of (losses, losses->n, name) : losses->n;

  if (i == losses->n)
    plait_tape_fail (tape, "adds to the loss \"%s\", which was not declared: declare it in build", name ? name : "");
  if (!loss || loss->value.rows != 1 || loss->value.width != 1)
    plait_tape_fail (tape, "the loss \"%s\" is not a node [1, 1]: sum its elements", name);
  if (!pass)
    return;
  added = plait_arena_new_array (plait_tape_arena (tape), PlaitAddedLoss, 1);
  *added = (PlaitAddedLoss){ pass->first[indices[i]], loss, plait_crash_get_owner (), losses->losses[i].name };
  pass->first[indices[i]] = added;
}

void
plait_loss_pass_expect_finite (const PlaitLossPass *pass, PlaitTape *tape)
{
  for (guint i = 0; i < PLAIT_MAX_LOSS_COLUMNS; i++)
    for (const PlaitAddedLoss *added = pass->first[i]; added; added = added->next)
      {
        double loss = (double)plait_tape_value (tape, added->loss).data[0];
        char digits[PLAIT_NUMBER_LENGTH];

        if (isfinite (loss))
          continue;
        plait_tape_set_caller (tape, added->caller);
        plait_tape_fail (tape,
                         "its loss \"%s\" is %s, although the loss of the targets is finite: look for a division by 0, "
                         "or for a logarithm or a root of a value that can be 0",
                         added->name, plait_format_double (digits, loss));
      }
}

PlaitNode *
plait_loss_pass_sum (const PlaitLossPass *pass, PlaitTape *tape, guint column)
{
  PlaitNode **terms;
  guint n = 0;

  for (const PlaitAddedLoss *added = pass->first[column]; added; added = added->next)
    n++;
  if (n == 0)
    return NULL;
  terms = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  n = 0;
  for (const PlaitAddedLoss *added = pass->first[column]; added; added = added->next)
    terms[n++] = added->loss;
  return n == 1 ? terms[0] : plait_add_n (tape, terms, n);
}
