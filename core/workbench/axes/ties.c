/* SPDX-License-Identifier: MIT */
#include "axes/ties.h"

#include <string.h>

#include "text/separators.h"
#include "axes/exclusions.h"

#define ONLY "only."

/* What is known of an axis. */
typedef struct
{
  guint leader;               /* the axis that it varies with; itself if it is the first of them or alone */
  PlaitExclusions *condition; /* of the cells that have it; NULL: all */
} Tie;

struct PlaitTies
{
  const PlaitKeyFile *file; /* while they are read */
  PlaitAxis *axes;
  guint n;
  Tie *list; /* [n] */
};

void
plait_ties_free (PlaitTies *ties)
{
  if (!ties)
    return;
  for (guint a = 0; a < ties->n; a++)
    plait_exclusions_free (ties->list[a].condition);
  g_free (ties->list);
  g_free (ties);
}

gboolean
plait_ties_have_key (const char *key)
{
  return g_str_equal (key, "zip") || g_str_has_prefix (key, "zip.") || g_str_has_prefix (key, ONLY);
}

/* Values that the user gave it. */
static guint
values_of (const PlaitTies *ties, guint a)
{
  return ties->axes[a].n_values - (ties->list[a].condition != NULL);
}

static gboolean
is_axis (const char *text, gconstpointer data)
{
  const PlaitTies *ties = data;
  guint a = 0;

  while (a < ties->n && !g_str_equal (ties->axes[a].key, text))
    a++;
  return a < ties->n;
}

/* "KEY & KEY". */
static void
read_zip (PlaitTies *ties, const char *key, const char *text, PlaitProblems *problems)
{
  g_auto (GStrv) names = g_strsplit (text, "&", -1);
  guint leader = 0;

  if (g_strv_length (names) < 2)
    plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key,
                            "\"%s\" has less than two axes; write KEY & KEY", text);
  for (guint i = 0; names[i]; i++)
    {
      gint place = plait_axes_find (ties->axes, ties->n, g_strstrip (names[i]), ties->file, key, problems);
      guint a = (guint)place;

      if (place < 0)
        return;
      if (i == 0)
        leader = a;
      /* The leader comes first in the order of axes too, so that the others can follow it. */
      if (ties->list[a].leader != a || (i > 0 && a == leader))
        plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key, "names the axis %s twice", names[i]);
      else if (a < leader)
        plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key,
                                "names %s after an axis that stands behind it; write them in their order", names[i]);
      else if (values_of (ties, a) != values_of (ties, leader))
        plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, key,
                                "%s has %u values, but %s has %u; axes that vary together have as many", names[i],
                                values_of (ties, a), ties->axes[leader].key, values_of (ties, leader));
      else
        ties->list[a].leader = leader;
    }
}

/* The condition of an axis, which gets the value "". */
static void
read_only (PlaitTies *ties, const char *key, PlaitProblems *problems)
{
  gint a = plait_axes_find (ties->axes, ties->n, key + strlen (ONLY), ties->file, key, problems);
  PlaitAxis *axis;

  if (a < 0)
    return;
  axis = &ties->axes[a];
  if (axis->n_values == 0)
    return; /* which is told already */
  ties->list[a].condition = plait_exclusions_new (ties->file);
  plait_exclusions_read (ties->list[a].condition, key, ties->axes, ties->n, problems);
  axis->values = g_renew (char *, axis->values, axis->n_values + 2);
  axis->values[axis->n_values++] = g_strdup ("");
  axis->values[axis->n_values] = NULL;
}

PlaitTies *
plait_ties_new (const PlaitKeyFile *file, const char *const *keys, PlaitAxis *axes, guint n, PlaitProblems *problems)
{
  PlaitTies *ties = g_new (PlaitTies, 1);

  *ties = (PlaitTies){ file, axes, n, g_new0 (Tie, n) };
  for (guint a = 0; a < n; a++)
    ties->list[a].leader = a;
  for (guint i = 0; keys[i]; i++)
    if (g_str_has_prefix (keys[i], ONLY))
      read_only (ties, keys[i], problems);
  for (guint i = 0; keys[i]; i++)
    if (plait_ties_have_key (keys[i]) && !g_str_has_prefix (keys[i], ONLY))
      {
        g_auto (GStrv) groups = plait_key_file_list (ties->file, PLAIT_GRID_GROUP, keys[i]);
        const char *value = plait_key_file_value (ties->file, PLAIT_GRID_GROUP, keys[i]);
        g_autofree char *mended = plait_separators_mend (value, " & ", is_axis, ties);

        if (mended)
          plait_problems_add_key (problems, ties->file, PLAIT_GRID_GROUP, keys[i],
                                  "\"%s\": axes that vary together have '&' between them; did you mean \"%s\"?", value,
                                  mended);
        for (guint g = 0; !mended && groups[g]; g++)
          read_zip (ties, keys[i], groups[g], problems);
      }
  return ties;
}

guint64
plait_ties_count (const PlaitTies *ties, guint64 most)
{
  guint64 n = 1;

  for (guint a = 0; a < ties->n && n <= most; a++)
    if (ties->list[a].leader == a)
      n *= values_of (ties, a);
  return n;
}

gboolean
plait_ties_advance (const PlaitTies *ties, guint *places)
{
  gboolean advanced = FALSE;

  for (guint a = ties->n; a-- > 0 && !advanced;)
    {
      if (ties->list[a].leader != a)
        continue;
      advanced = ++places[a] < values_of (ties, a);
      if (!advanced)
        places[a] = 0;
    }
  for (guint a = 0; a < ties->n; a++)
    places[a] = places[ties->list[a].leader];
  return advanced;
}

gboolean
plait_ties_settle (const PlaitTies *ties, const guint *places, guint *settled)
{
  memcpy (settled, places, ties->n * sizeof *places);
  for (guint a = 0; a < ties->n; a++)
    {
      PlaitExclusions *condition = ties->list[a].condition;

      if (!condition || plait_exclusions_leave_out (condition, settled))
        continue;
      settled[a] = values_of (ties, a);
      if (places[a] > 0 && ties->list[a].leader == a)
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_ties_is_absent (const PlaitTies *ties, guint a, guint place)
{
  return place >= values_of (ties, a);
}
