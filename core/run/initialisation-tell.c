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
  guint n = initialisation->n;
  g_autofree const char **names = g_new (const char *, n);
  g_autofree const char **outcomes = g_new (const char *, n);
  g_autofree gint64 *shapes = g_new (gint64, 4 * (gsize)n);
  PlaitStoreColumn columns[] = {
    { "name", PLAIT_STORE_STRING, names, NULL },
    { "outcome", PLAIT_STORE_STRING, outcomes, NULL },
    { "rows", PLAIT_STORE_INT64, shapes, NULL },
    { "width", PLAIT_STORE_INT64, shapes + n, NULL },
    { "rows_there", PLAIT_STORE_INT64, shapes + 2 * (gsize)n, NULL },
    { "width_there", PLAIT_STORE_INT64, shapes + 3 * (gsize)n, NULL },
  };

  for (guint i = 0; i < n; i++)
    {
      const PlaitFate *fate = &initialisation->fates[i];

      names[i] = fate->parameter->name;
      outcomes[i] = outcome_names[fate->outcome];
      shapes[i] = fate->parameter->value.rows;
      shapes[n + i] = fate->parameter->value.width;
      shapes[2 * n + i] = fate->there[0];
      shapes[3 * n + i] = fate->there[1];
    }
  return plait_store_make_group (store, path, error)
         && plait_store_set_string (store, path, "run", train->initialise, error)
         && plait_store_set_string (store, path, "checkpoint",
                                    initialisation->checkpoint ? initialisation->checkpoint : "", error)
         && plait_store_set_string (store, path, "take", train->initialise_take, error)
         && plait_store_set_string (store, path, "leave", train->initialise_leave, error)
         && plait_store_write_table (store, "/initialisation/parameters", columns, G_N_ELEMENTS (columns), n, NULL,
                                     NULL, error);
}
