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
    plait_exclusions_free (constraints->list[a].condition);
  g_free (constraints->list);
  g_free (constraints);
}

static gboolean
is_zip (const char *key)
{
  return g_str_equal (key, "zip") || g_str_has_prefix (key, "zip.");
}

/* Returns the number of values that the user gave axis @a. */
static guint
values_of (const PlaitAxisConstraints *constraints, guint a)
{
  return constraints->axes[a].n_values - (constraints->list[a].condition != NULL);
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
    plait_grid_problem (constraints->grid, key, "\"%s\" has fewer than two axes; write KEY & KEY", text);
  for (guint i = 0; names[i]; i++)
    {
      gint place = plait_axes_find (constraints->grid, constraints->axes, constraints->n, g_strstrip (names[i]), key);
      guint a = (guint)place;

      if (place < 0)
        return;
      if (i == 0)
        leader = a;
      /* Refuse a repeated axis. Also refuse an axis that comes before the leader in [grid], because all axes of the
       * group copy the index of the leader. */
      if (constraints->list[a].leader != a || (i > 0 && (a == leader || is_leader (constraints, a))))
        plait_grid_problem (constraints->grid, key, "names the axis %s twice; name each axis once", names[i]);
      else if (a < leader)
        plait_grid_problem (
            constraints->grid, key,
            "names %s after an axis that comes later in [grid]; write the axes in their order in [grid]", names[i]);
      else if (values_of (constraints, a) != values_of (constraints, leader))
        plait_grid_problem (
            constraints->grid, key, "%s has %u values, but %s has %u; axes that vary together need equally many values",
            names[i], values_of (constraints, a), constraints->axes[leader].key, values_of (constraints, leader));
      else
        constraints->list[a].leader = leader;
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
    constraints->list[a].leader = a;
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
  return constraints;
}

guint64
plait_axis_constraints_count (const PlaitAxisConstraints *constraints, guint64 max)
{
  guint64 n = 1;

  for (guint a = 0; a < constraints->n && n <= max; a++)
    if (constraints->list[a].leader == a)
      n *= values_of (constraints, a);
  return n;
}

gboolean
plait_axis_constraints_next (const PlaitAxisConstraints *constraints, guint *value_indices)
{
  gboolean advanced = FALSE;

  for (guint a = constraints->n; a-- > 0 && !advanced;)
    {
      if (constraints->list[a].leader != a)
        continue;
      advanced = ++value_indices[a] < values_of (constraints, a);
      if (!advanced)
        value_indices[a] = 0;
    }
  for (guint a = 0; a < constraints->n; a++)
    value_indices[a] = value_indices[constraints->list[a].leader];
  return advanced;
}

/* Sets to "" each axis of @resolved whose condition fails. Repeats this, because a condition also fails if it names an
 * axis that was set to "". */
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

          if (!condition || resolved[a] == values_of (constraints, a)
              || plait_exclusions_leave_out (condition, resolved))
            continue;
          resolved[a] = values_of (constraints, a);
          changed = TRUE;
        }
    }
}

/* TRUE if the cell of @resolved has axis @leader or an axis that varies together with @leader. */
static gboolean
has_group (const PlaitAxisConstraints *constraints, guint leader, const guint *resolved)
{
  for (guint a = leader; a < constraints->n; a++)
    if (constraints->list[a].leader == leader && !plait_axis_constraints_is_absent (constraints, a, resolved[a]))
      return TRUE;
  return FALSE;
}

gboolean
plait_axis_constraints_resolve (const PlaitAxisConstraints *constraints, const guint *value_indices, guint *resolved)
{
  memcpy (resolved, value_indices, constraints->n * sizeof *value_indices);
  drop_conditional (constraints, resolved);
  for (guint a = 0; a < constraints->n; a++)
    if (constraints->list[a].leader == a && value_indices[a] > 0 && !has_group (constraints, a, resolved))
      return FALSE;
  return TRUE;
}

gboolean
plait_axis_constraints_is_absent (const PlaitAxisConstraints *constraints, guint a, guint index)
{
  return index >= values_of (constraints, a);
}
