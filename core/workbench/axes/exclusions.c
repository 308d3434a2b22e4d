/* SPDX-License-Identifier: MIT */
#include "axes/exclusions.h"

#include <string.h>

#include "text/separators.h"

/* One condition of an exclusion, KEY=VALUE|VALUE. */
typedef struct
{
  guint axis;
  gboolean *meets; /* [n_values of the axis]: TRUE for the values that the condition names */
} Condition;

typedef struct
{
  const char *key; /* key that holds the exclusion or condition: "exclude", "exclude.NAME" or "only.AXIS" */
  char *text;      /* text of the exclusion as written in the file */
  GArray *conditions;
  guint n_cells; /* number of cells that the exclusion leaves out */
} Exclusion;

struct PlaitExclusions
{
  const PlaitGridGroup *grid;
  const PlaitAxis *axes;
  guint n;
  GPtrArray *list; /* (element-type Exclusion) */
};

static void
exclusion_free (gpointer data)
{
  Exclusion *exclusion = data;

  for (guint i = 0; i < exclusion->conditions->len; i++)
    g_free (g_array_index (exclusion->conditions, Condition, i).meets);
  g_array_unref (exclusion->conditions);
  g_free (exclusion->text);
  g_free (exclusion);
}

PlaitExclusions *
plait_exclusions_new (const PlaitGridGroup *grid, const PlaitAxis *axes, guint n)
{
  PlaitExclusions *exclusions = g_new (PlaitExclusions, 1);

  *exclusions = (PlaitExclusions){ grid, axes, n, g_ptr_array_new_with_free_func (exclusion_free) };
  return exclusions;
}

void
plait_exclusions_free (PlaitExclusions *exclusions)
{
  if (!exclusions)
    return;
  g_ptr_array_unref (exclusions->list);
  g_free (exclusions);
}

gboolean
plait_exclusions_have_key (const char *key)
{
  return g_str_equal (key, "exclude") || g_str_has_prefix (key, "exclude.");
}

gint
plait_axes_find (const PlaitGridGroup *grid, const PlaitAxis *axes, guint n, const char *name, const char *key)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < n; i++)
    {
      if (g_str_equal (axes[i].key, name))
        return (gint)i;
      g_ptr_array_add (names, axes[i].key);
    }
  g_autofree char *remedy = plait_name_remedy (name, (const char *const *)names->pdata, NULL);
  plait_grid_problem (grid, key, "\"%s\" is not an axis of this grid; %s", name, remedy);
  return -1;
}

/* TRUE if @text looks like a condition, GROUP.KEY=VALUE. */
static gboolean
is_condition (const char *text, gconstpointer data)
{
  const char *equals = strchr (text, '=');

  (void)data;
  return equals && memchr (text, '.', (gsize)(equals - text));
}

/* Reads one condition, KEY=VALUE|VALUE, from @text, which it changes. */
static void
read_condition (const PlaitExclusions *exclusions, Exclusion *exclusion, char *text)
{
  g_autofree char *several = plait_separators_mend (text, " & ", is_condition, NULL);
  char *equals = strchr (text, '=');
  Condition condition = { 0 };
  gint place;

  if (several)
    {
      plait_grid_problem (exclusions->grid, exclusion->key, "\"%s\" is not one condition; did you mean \"%s\"?", text,
                          several);
      return;
    }
  if (!equals)
    {
      plait_grid_problem (exclusions->grid, exclusion->key,
                          "\"%s\" is not a condition; write KEY=VALUE|VALUE & KEY=VALUE; ...", g_strstrip (text));
      return;
    }
  *equals = '\0';
  place = plait_axes_find (exclusions->grid, exclusions->axes, exclusions->n, g_strstrip (text), exclusion->key);
  if (place < 0)
    return;

  const PlaitAxis *axis = &exclusions->axes[place];
  g_auto (GStrv) values = g_strsplit (equals + 1, "|", -1);
  condition.axis = (guint)place;
  condition.meets = g_new0 (gboolean, axis->n_values + 1);
  for (guint i = 0; values[i]; i++)
    {
      guint v = 0;

      g_strstrip (values[i]);
      while (v < axis->n_values && !g_str_equal (axis->values[v], values[i]))
        v++;
      if (v < axis->n_values)
        condition.meets[v] = TRUE;
      else
        {
          g_autofree char *remedy = plait_item_remedy (values[i], (const char *const *)axis->values, "|", NULL);
          plait_grid_problem (exclusions->grid, exclusion->key, "\"%s\" is not a value of the axis %s; %s", values[i],
                              axis->key, remedy);
        }
    }
  g_array_append_val (exclusion->conditions, condition);
}

void
plait_exclusions_read (PlaitExclusions *exclusions, const char *key)
{
  g_auto (GStrv) texts = plait_key_file_list (exclusions->grid->file, PLAIT_GRID_GROUP, key);

  for (guint i = 0; texts[i]; i++)
    {
      g_auto (GStrv) conditions = g_strsplit (texts[i], "&", -1);
      const char *before = i > 0 ? texts[i - 1] : "";
      Exclusion *exclusion = g_new0 (Exclusion, 1);

      exclusion->key = key;
      exclusion->text = g_strdup (texts[i]);
      exclusion->conditions = g_array_new (FALSE, FALSE, sizeof (Condition));
      g_ptr_array_add (exclusions->list, exclusion);
      if (!strchr (texts[i], '=') && strchr (before, '='))
        plait_grid_problem (
            exclusions->grid, key,
            "\"%s\" is not a condition; separate the values of a condition by '|': did you mean \"%s|%s\"?", texts[i],
            before, texts[i]);
      else
        for (guint c = 0; conditions[c]; c++)
          read_condition (exclusions, exclusion, conditions[c]);
    }
}

gboolean
plait_exclusions_leave_out (PlaitExclusions *exclusions, const guint *value_indices)
{
  gboolean excluded = FALSE;

  for (guint e = 0; e < exclusions->list->len; e++)
    {
      Exclusion *exclusion = exclusions->list->pdata[e];
      gboolean meets = TRUE;

      for (guint c = 0; c < exclusion->conditions->len; c++)
        {
          const Condition *condition = &g_array_index (exclusion->conditions, Condition, c);
          meets = meets && condition->meets[value_indices[condition->axis]];
        }
      exclusion->n_cells += meets;
      excluded = excluded || meets;
    }
  return excluded;
}

PlaitExclusion *
plait_exclusions_list (const PlaitExclusions *exclusions, guint *n)
{
  PlaitExclusion *listed = g_new (PlaitExclusion, exclusions->list->len);

  *n = exclusions->list->len;
  for (guint e = 0; e < *n; e++)
    {
      const Exclusion *exclusion = exclusions->list->pdata[e];

      listed[e] = (PlaitExclusion){ g_strdup (exclusion->text), exclusion->n_cells };
      if (exclusion->n_cells == 0)
        plait_grid_problem (exclusions->grid, exclusion->key,
                            "\"%s\" excludes no cell; correct or remove this exclusion", exclusion->text);
    }
  return listed;
}
