/* SPDX-License-Identifier: MIT */
#include "axes/constraints.h"

#include <string.h>

#include "text/separators.h"
#include "axes/exclusions.h"

#define ONLY "only."

/* The constraints zip= and only.AXIS, as they apply to one axis. */
typedef struct
{
  guint leader;               /* index of the first axis in the zip group of this axis; without a group, its own
                                 index */
  guint n_given;              /* number of values that [grid] gives the axis, a repeated value counted each time */
  guint *given;               /* [n_given] index of each of them in the values of the axis, which has each value once */
  PlaitExclusions *condition; /* only cells that meet this condition have the axis; NULL: all cells have the axis */
} Constraint;

struct PlaitAxisConstraints
{
  const PlaitGridGroup *grid;
  PlaitAxis *axes;
  guint n;
  Constraint *list;
};

void
plait_axis_constraints_free (PlaitAxisConstraints *constraints)
{
  if (!constraints)
    return;
  for (guint a = 0; a < constraints->n; a++)
    {
      plait_exclusions_free (constraints->list[a].condition);
      g_free (constraints->list[a].given);
    }
  g_free (constraints->list);
  g_free (constraints);
}

static gboolean
is_zip (const char *key)
{
  return g_str_equal (key, "zip") || g_str_has_prefix (key, "zip.");
}

/* Notes the values that [grid] gives @axis, and removes repeated values from @axis. */
static void
merge_repeated (Constraint *constraint, PlaitAxis *axis)
{
  guint n = 0;

  constraint->n_given = axis->n_values;
  constraint->given = g_new (guint, axis->n_values);
  for (guint i = 0; i < axis->n_values; i++)
    {
      guint index = 0;

      while (index < n && !g_str_equal (axis->values[index], axis->values[i]))
        index++;
      constraint->given[i] = index;
      if (index < n)
        g_free (axis->values[i]);
      else
        axis->values[n++] = axis->values[i];
    }
  axis->n_values = n;
  axis->values[n] = NULL;
}

static gboolean
is_axis (const char *text, gconstpointer data)
{
  const PlaitAxisConstraints *constraints = data;
  guint a = 0;

  while (a < constraints->n && !g_str_equal (constraints->axes[a].key, text))
    a++;
  return a < constraints->n;
}

/* TRUE if axis @a is the first of several axes that vary together. */
static gboolean
is_leader (const PlaitAxisConstraints *constraints, guint a)
{
  for (guint other = a + 1; other < constraints->n; other++)
    if (constraints->list[other].leader == a)
      return TRUE;
  return FALSE;
}

/* Reads one group of zip: "KEY & KEY". */
static void
read_zip (PlaitAxisConstraints *constraints, const char *key, const char *text)
{
  g_auto (GStrv) names = g_strsplit (text, "&", -1);
  guint leader = 0;

  if (g_strv_length (names) < 2)
    plait_grid_problem (constraints->grid, key,
                        "\"%s\" names fewer than two axes; write two or more keys joined by '&', such as KEY & KEY",
                        text);
  for (guint i = 0; names[i]; i++)
    {
      gint place = plait_axes_find (constraints->grid, constraints->axes, constraints->n, g_strstrip (names[i]), key);
      guint a = (guint)place;

      if (place < 0)
        return;
      if (i == 0)
        leader = a;
      /* Refuse a repeated axis. The leader of a group must be the group's first axis in [grid]. */
      if (constraints->list[a].leader != a || (i > 0 && (a == leader || is_leader (constraints, a))))
        plait_grid_problem (constraints->grid, key, "names the axis %s twice; name each axis once", names[i]);
      else if (a < leader)
        plait_grid_problem (constraints->grid, key,
                            "begins with an axis that [grid] lists after %s; name the axes in the order of [grid]",
                            names[i]);
      else if (constraints->list[a].n_given != constraints->list[leader].n_given)
        plait_grid_problem (
            constraints->grid, key, "%s has %u values, but %s has %u; axes that vary together need equally many values",
            names[i], constraints->list[a].n_given, constraints->axes[leader].key, constraints->list[leader].n_given);
      else
        constraints->list[a].leader = leader;
    }
}

/* TRUE if the axes zipped with @leader have the values @values also at a position before @position. Compares only the
 * axes that a cell of @values has. */
static gboolean
is_repeated (const PlaitAxisConstraints *constraints, guint leader, guint position, const guint *values)
{
  gboolean equal = FALSE;

  for (guint i = 0; i < position && !equal; i++)
    {
      equal = TRUE;
      for (guint a = leader; a < constraints->n; a++)
        if (constraints->list[a].leader == leader && !plait_axis_constraints_is_absent (constraints, a, values[a]))
          equal = equal && constraints->list[a].given[i] == values[a];
    }
  return equal;
}

/* Refuses the first value that an axis has twice, or the first combination of zipped axes that occurs twice. */
static void
refuse_repeated (const PlaitAxisConstraints *constraints, guint leader)
{
  const PlaitAxis *axis = &constraints->axes[leader];
  g_autofree guint *values = g_new0 (guint, constraints->n);

  for (guint i = 0; i < constraints->list[leader].n_given; i++)
    {
      for (guint a = leader; a < constraints->n; a++)
        if (constraints->list[a].leader == leader)
          values[a] = constraints->list[a].given[i];
      if (!is_repeated (constraints, leader, i, values))
        continue;
      plait_grid_problem (constraints->grid, axis->key, "has the value \"%s\" twice%s; keep one",
                          axis->values[values[leader]],
                          is_leader (constraints, leader) ? " with the same values of the axes zipped with it" : "");
      return;
    }
}

/* Reads the condition of only.AXIS and adds "" to the values of the axis. */
static void
read_only (PlaitAxisConstraints *constraints, const char *key)
{
  gint a = plait_axes_find (constraints->grid, constraints->axes, constraints->n, key + strlen (ONLY), key);
  PlaitAxis *axis;

  if (a < 0)
    return;
  axis = &constraints->axes[a];
  if (axis->n_values == 0)
    return; /* an axis without values was already reported */
  constraints->list[a].condition = plait_exclusions_new (constraints->grid, constraints->axes, constraints->n);
  plait_exclusions_read (constraints->list[a].condition, key);
  axis->values = g_renew (char *, axis->values, axis->n_values + 2);
  axis->values[axis->n_values++] = g_strdup ("");
  axis->values[axis->n_values] = NULL;
}

PlaitAxisConstraints *
plait_axis_constraints_new (const PlaitGridGroup *grid, const char *const *keys, PlaitAxis *axes, guint n)
{
  PlaitAxisConstraints *constraints = g_new (PlaitAxisConstraints, 1);

  *constraints = (PlaitAxisConstraints){ grid, axes, n, g_new0 (Constraint, n) };
  for (guint a = 0; a < n; a++)
    {
      constraints->list[a].leader = a;
      merge_repeated (&constraints->list[a], &axes[a]);
    }
  for (guint i = 0; keys[i]; i++)
    if (g_str_has_prefix (keys[i], ONLY))
      read_only (constraints, keys[i]);
  for (guint i = 0; keys[i]; i++)
    if (is_zip (keys[i]))
      {
        g_auto (GStrv) groups = plait_key_file_list (grid->file, PLAIT_GRID_GROUP, keys[i]);
        const char *value = plait_key_file_value (grid->file, PLAIT_GRID_GROUP, keys[i]);
        g_autofree char *mended = plait_separators_mend (value, " & ", is_axis, constraints);

        if (mended)
          plait_grid_problem (constraints->grid, keys[i],
                              "\"%s\": axes that vary together have '&' between them; did you mean \"%s\"?", value,
                              mended);
        for (guint g = 0; !mended && groups[g]; g++)
          read_zip (constraints, keys[i], groups[g]);
      }
  for (guint a = 0; a < n; a++)
    if (constraints->list[a].leader == a)
      refuse_repeated (constraints, a);
  return constraints;
}

guint64
plait_axis_constraints_count (const PlaitAxisConstraints *constraints, guint64 max)
{
  guint64 n = 1;

  for (guint a = 0; a < constraints->n && n <= max; a++)
    if (constraints->list[a].leader == a)
      n *= constraints->list[a].n_given;
  return n;
}

gboolean
plait_axis_constraints_next (const PlaitAxisConstraints *constraints, guint *positions)
{
  gboolean advanced = FALSE;

  for (guint a = constraints->n; a-- > 0 && !advanced;)
    {
      if (constraints->list[a].leader != a)
        continue;
      advanced = ++positions[a] < constraints->list[a].n_given;
      if (!advanced)
        positions[a] = 0;
    }
  for (guint a = 0; a < constraints->n; a++)
    positions[a] = positions[constraints->list[a].leader];
  return advanced;
}

/* Sets to "" each axis of @resolved whose condition fails. Repeats this until no axis changes, because a condition may
 * depend on an axis that was set to "". */
static void
drop_conditional (const PlaitAxisConstraints *constraints, guint *resolved)
{
  gboolean changed = TRUE;

  while (changed)
    {
      changed = FALSE;
      for (guint a = 0; a < constraints->n; a++)
        {
          PlaitExclusions *condition = constraints->list[a].condition;

          if (!condition || plait_axis_constraints_is_absent (constraints, a, resolved[a])
              || plait_exclusions_leave_out (condition, resolved))
            continue;
          resolved[a] = constraints->axes[a].n_values - 1;
          changed = TRUE;
        }
    }
}

gboolean
plait_axis_constraints_resolve (const PlaitAxisConstraints *constraints, const guint *positions, guint *resolved)
{
  for (guint a = 0; a < constraints->n; a++)
    resolved[a] = constraints->list[a].given[positions[a]];
  drop_conditional (constraints, resolved);
  for (guint a = 0; a < constraints->n; a++)
    if (constraints->list[a].leader == a && is_repeated (constraints, a, positions[a], resolved))
      return FALSE;
  return TRUE;
}

gboolean
plait_axis_constraints_is_absent (const PlaitAxisConstraints *constraints, guint a, guint index)
{
  return constraints->list[a].condition && index == constraints->axes[a].n_values - 1;
}
