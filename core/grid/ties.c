/* SPDX-License-Identifier: MIT */
#include "grid/ties.h"

#include <string.h>

#include "grid/exclusions.h"

#define ONLY "only."

/* What is known of an axis. */
typedef struct
{
  guint leader;               /* the axis that it varies with; itself if it is the first of them or alone */
  PlaitExclusions *condition; /* of the cells that have it; NULL: all */
} Tie;

struct PlaitTies
{
  const PlaitKeyFile *file;
  GArray *list; /* Tie, as many as axes once they are read */
};

static void
tie_clear (gpointer data)
{
  plait_exclusions_free (((Tie *)data)->condition);
}

PlaitTies *
plait_ties_new (const PlaitKeyFile *file)
{
  PlaitTies *ties = g_new (PlaitTies, 1);

  *ties = (PlaitTies){ file, g_array_new (FALSE, TRUE, sizeof (Tie)) };
  g_array_set_clear_func (ties->list, tie_clear);
  return ties;
}

void
plait_ties_free (PlaitTies *ties)
{
  if (!ties)
    return;
  g_array_unref (ties->list);
  g_free (ties);
}

gboolean
plait_ties_have_key (const char *key)
{
  return g_str_equal (key, "zip") || g_str_has_prefix (key, "zip.") || g_str_has_prefix (key, ONLY);
}

static Tie *
tie_of (const PlaitTies *ties, guint a)
{
  return &g_array_index (ties->list, Tie, a);
}

/* Values that the user gave it. */
static guint
values_of (const PlaitTies *ties, const GArray *axes, guint a)
{
  return g_array_index (axes, PlaitAxis, a).n_values - (tie_of (ties, a)->condition != NULL);
}

/* The axis @name; a problem of @key if there is none. */
static gboolean
find_axis (const PlaitTies *ties, const char *key, const char *name, const GArray *axes, guint *place,
           PlaitProblems *problems)
{
  gint found = plait_axes_find ((const PlaitAxis *)(gpointer)axes->data, axes->len, name);

  *place = (guint)found;
  if (found < 0)
    plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key, "\"%s\" is no axis of this grid", name);
  return found >= 0;
}

/* "KEY & KEY". */
static void
read_zip (PlaitTies *ties, const char *key, const char *text, const GArray *axes, PlaitProblems *problems)
{
  g_auto (GStrv) names = g_strsplit (text, "&", -1);
  guint leader = 0;

  if (g_strv_length (names) < 2)
    plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key,
                            "\"%s\" has less than two axes; write KEY & KEY", text);
  for (guint i = 0; names[i]; i++)
    {
      guint a;

      if (!find_axis (ties, key, g_strstrip (names[i]), axes, &a, problems))
        return;
      if (i == 0)
        leader = a;
      /* The leader comes first in the order of axes too, so that the others can follow it. */
      if (tie_of (ties, a)->leader != a || (i > 0 && a == leader))
        plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key, "names the axis %s twice", names[i]);
      else if (a < leader)
        plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key,
                                "names %s after an axis that stands behind it; write them in their order", names[i]);
      else if (values_of (ties, axes, a) != values_of (ties, axes, leader))
        plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key,
                                "%s has %u values, but %s has %u; axes that vary together have as many", names[i],
                                values_of (ties, axes, a), g_array_index (axes, PlaitAxis, leader).key,
                                values_of (ties, axes, leader));
      else
        tie_of (ties, a)->leader = leader;
    }
}

/* The condition of an axis, which gets the value "". */
static void
read_only (PlaitTies *ties, const char *key, GArray *axes, PlaitProblems *problems)
{
  PlaitAxis *axis;
  char **values;
  guint a;

  if (!find_axis (ties, key, key + strlen (ONLY), axes, &a, problems))
    return;
  axis = &g_array_index (axes, PlaitAxis, a);
  if (axis->n_values == 0)
    return; /* which is told already */
  tie_of (ties, a)->condition = plait_exclusions_new (ties->file);
  plait_exclusions_read (tie_of (ties, a)->condition, key, (const PlaitAxis *)(gpointer)axes->data, axes->len,
                         problems);
  values = g_renew (char *, (gpointer)axis->values, axis->n_values + 2);
  values[axis->n_values++] = g_strdup ("");
  values[axis->n_values] = NULL;
  axis->values = (const char *const *)values;
}

void
plait_ties_read (PlaitTies *ties, const char *const *keys, GArray *axes, PlaitProblems *problems)
{
  g_array_set_size (ties->list, axes->len);
  for (guint a = 0; a < axes->len; a++)
    tie_of (ties, a)->leader = a;
  for (guint i = 0; keys[i]; i++)
    if (g_str_has_prefix (keys[i], ONLY))
      read_only (ties, keys[i], axes, problems);
  for (guint i = 0; keys[i]; i++)
    if (plait_ties_have_key (keys[i]) && !g_str_has_prefix (keys[i], ONLY))
      {
        g_auto (GStrv) groups = plait_key_file_list (ties->file, PLAIT_GRID_GROUP, keys[i]);

        for (guint g = 0; groups[g]; g++)
          read_zip (ties, keys[i], groups[g], axes, problems);
      }
}

guint64
plait_ties_count (const PlaitTies *ties, const GArray *axes, guint64 most)
{
  guint64 n = 1;

  for (guint a = 0; a < axes->len && n <= most; a++)
    if (tie_of (ties, a)->leader == a)
      n *= values_of (ties, axes, a);
  return n;
}

gboolean
plait_ties_advance (const PlaitTies *ties, const GArray *axes, guint *places)
{
  gboolean advanced = FALSE;

  for (guint a = axes->len; a-- > 0 && !advanced;)
    {
      if (tie_of (ties, a)->leader != a)
        continue;
      advanced = ++places[a] < values_of (ties, axes, a);
      if (!advanced)
        places[a] = 0;
    }
  for (guint a = 0; a < axes->len; a++)
    places[a] = places[tie_of (ties, a)->leader];
  return advanced;
}

gboolean
plait_ties_settle (const PlaitTies *ties, const GArray *axes, const guint *places, guint *settled)
{
  memcpy (settled, places, axes->len * sizeof *places);
  for (guint a = 0; a < axes->len; a++)
    {
      PlaitExclusions *condition = tie_of (ties, a)->condition;

      if (!condition || plait_exclusions_leave_out (condition, settled))
        continue;
      settled[a] = values_of (ties, axes, a);
      if (places[a] > 0 && tie_of (ties, a)->leader == a)
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_ties_is_absent (const PlaitTies *ties, const GArray *axes, guint a, guint place)
{
  return place >= values_of (ties, axes, a);
}
