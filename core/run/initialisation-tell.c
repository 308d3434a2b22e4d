/* SPDX-License-Identifier: MIT */
#include "run/initialisation-private.h"

#include <string.h>

#include "store/table.h"

/* What was taken, told in a few lines and written. */

static const char *const outcome_names[] = { "taken", "grown", "fresh", "left", "other shape", "other vocabulary" };

/* Whether all parameters whose names begin with the @length bytes of @prefix met @outcome. */
static gboolean
is_common (const PlaitInitialisation *initialisation, const char *prefix, gsize length, PlaitFateOutcome outcome)
{
  for (guint i = 0; i < initialisation->n; i++)
    if (strncmp (initialisation->fates[i].parameter->name, prefix, length) == 0
        && initialisation->fates[i].outcome != outcome)
      return FALSE;
  return TRUE;
}

/* "source/en/STAR" where all below source/en met @outcome, else the name. (transfer full) */
static char *
shorten (const PlaitInitialisation *initialisation, const char *name, PlaitFateOutcome outcome)
{
  for (const char *slash = strchr (name, '/'); slash; slash = strchr (slash + 1, '/'))
    {
      gsize length = (gsize)(slash - name) + 1;

      if (is_common (initialisation, name, length, outcome))
        return g_strdup_printf ("%.*s*", (int)length, name);
    }
  return g_strdup (name);
}

/* The parameters that met @outcome, as few names as it takes. (transfer full) */
static char *
list (const PlaitInitialisation *initialisation, PlaitFateOutcome outcome)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < initialisation->n; i++)
    {
      g_autofree char *name = NULL;

      if (initialisation->fates[i].outcome != outcome)
        continue;
      name = shorten (initialisation, initialisation->fates[i].parameter->name, outcome);
      if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, g_steal_pointer (&name));
    }
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **)names->pdata);
}

static void
tell_grown (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  gboolean copied = initialisation->experiment->train.initialise_positions == PLAIT_POSITIONS_COPIED;

  for (guint i = 0; i < initialisation->n; i++)
    {
      const PlaitFate *fate = &initialisation->fates[i];

      if (fate->outcome == PLAIT_FATE_GROWN)
        plait_log_info (log, "taken, and %s from row %" G_GINT64_FORMAT " on: %s", copied ? "the same again" : "fresh",
                        fate->there[0], fate->parameter->name);
    }
}

static void
tell_other_vocabulary (const char *name, PlaitLog *log)
{
  if (g_str_has_prefix (name, PLAIT_INITIALISATION_LABELS))
    plait_log_info (log, "fresh, of other labels: %s", name);
  else
    plait_log_warning (log,
                       "fresh, of another vocabulary: %s; what was trained with it knows little without: leave "
                       "data.vocabulary.NAME out and train.initialise_vocabulary at taken, which takes its vocabulary "
                       "with it",
                       name);
}

static void
tell_misfits (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  guint n = initialisation->n_outcome[PLAIT_FATE_OTHER_SHAPE] + initialisation->n_outcome[PLAIT_FATE_OTHER_VOCABULARY];
  guint told = 0;

  for (guint i = 0; i < initialisation->n && told < PLAIT_INITIALISATION_MOST_TOLD; i++)
    {
      const PlaitFate *fate = &initialisation->fates[i];
      const PlaitTensor value = fate->parameter->value;

      if (fate->outcome == PLAIT_FATE_OTHER_SHAPE)
        plait_log_info (log,
                        "fresh, does not fit: %s is [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                        "] here, [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "] there",
                        fate->parameter->name, value.rows, value.width, fate->there[0], fate->there[1]);
      else if (fate->outcome == PLAIT_FATE_OTHER_VOCABULARY)
        tell_other_vocabulary (fate->parameter->name, log);
      else
        continue;
      told++;
    }
  if (n > told)
    plait_log_info (log, "and %u more that do not fit: see /initialisation of the run", n - told);
}

static void
tell_idle_globs (const PlaitInitialisation *initialisation, char *const *globs, const char *key, PlaitLog *log)
{
  for (guint g = 0; globs[g]; g++)
    {
      gboolean idle = TRUE;

      for (guint i = 0; i < initialisation->n && idle; i++)
        idle = !g_pattern_match_simple (globs[g], initialisation->fates[i].parameter->name);
      if (idle)
        plait_log_warning (log, "train.%s: no parameter of this model is called %s", key, globs[g]);
    }
}

void
plait_initialisation_tell (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  g_autofree char *taken = list (initialisation, PLAIT_FATE_TAKEN);
  g_autofree char *fresh = list (initialisation, PLAIT_FATE_FRESH);
  g_autofree char *left = list (initialisation, PLAIT_FATE_LEFT);

  plait_log_info (log, "taken from %s%s%s, %u of %u parameters: %s", initialisation->experiment->train.initialise,
                  initialisation->checkpoint ? ":" : "", initialisation->checkpoint ? initialisation->checkpoint : "",
                  initialisation->n_outcome[PLAIT_FATE_TAKEN], initialisation->n, taken);
  if (*left)
    plait_log_info (log, "fresh, left out by initialise_take and initialise_leave: %s", left);
  if (*fresh)
    plait_log_info (log, "fresh, not in that %s: %s", initialisation->checkpoint ? "run" : "file", fresh);
  if (initialisation->unread)
    plait_log_info (log, "not used of that file: %s", initialisation->unread);
  tell_grown (initialisation, log);
  tell_misfits (initialisation, log);
  tell_idle_globs (initialisation, initialisation->take, "initialise_take", log);
  tell_idle_globs (initialisation, initialisation->leave, "initialise_leave", log);
}

gboolean
plait_initialisation_write (const PlaitInitialisation *initialisation, PlaitStore *store, GError **error)
{
  static const char path[] = "/initialisation";
  const PlaitTrainSettings *train = &initialisation->experiment->train;
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "name");
  plait_table_column (table, PLAIT_TABLE_WORDS, "outcome");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "rows");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "width");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "rows_there");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "width_there");
  for (guint i = 0; i < initialisation->n; i++)
    {
      const PlaitFate *fate = &initialisation->fates[i];

      plait_table_text (table, PLAIT_TABLE_PLAIN, fate->parameter->name);
      plait_table_text (table, PLAIT_TABLE_PLAIN, outcome_names[fate->outcome]);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, fate->parameter->value.rows);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, fate->parameter->value.width);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, fate->there[0]);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, fate->there[1]);
    }
  return plait_store_make_group (store, path, error)
         && plait_store_set_string (store, path, "run", train->initialise, error)
         && plait_store_set_string (store, path, "checkpoint",
                                    initialisation->checkpoint ? initialisation->checkpoint : "", error)
         && plait_store_set_string (store, path, "take", train->initialise_take, error)
         && plait_store_set_string (store, path, "leave", train->initialise_leave, error)
         && plait_store_write_filled (store, "/initialisation/parameters", table, error);
}
