/* SPDX-License-Identifier: MIT */
#include "weights/initialisation-private.h"

#include <string.h>

#include "tables/table.h"
#include "text/separators.h"

static const char *const outcome_names[] = { "taken", "grown", "fresh", "left", "other shape", "other vocabulary" };

/* TRUE if all parameters whose names begin with the first @length bytes of @prefix have @outcome. */
static gboolean
is_common (const PlaitInitialisation *initialisation, const char *prefix, gsize length,
           PlaitInitialisationOutcome outcome)
{
  for (guint i = 0; i < initialisation->n; i++)
    if (strncmp (initialisation->entries[i].parameter->name, prefix, length) == 0
        && initialisation->entries[i].outcome != outcome)
      return FALSE;
  return TRUE;
}

/* Returns the shortest prefix of @name, such as "source/en/", that only parameters with @outcome have, followed by a
 * star. Returns @name itself if there is no such prefix. (transfer full) */
static char *
shorten (const PlaitInitialisation *initialisation, const char *name, PlaitInitialisationOutcome outcome)
{
  for (const char *slash = strchr (name, '/'); slash; slash = strchr (slash + 1, '/'))
    {
      gsize length = (gsize)(slash - name) + 1;

      if (is_common (initialisation, name, length, outcome))
        return g_strdup_printf ("%.*s*", (int)length, name);
    }
  return g_strdup (name);
}

/* Returns the names of the parameters with @outcome, joined to one text, with patterns for common prefixes. (transfer
 * full) */
static char *
list (const PlaitInitialisation *initialisation, PlaitInitialisationOutcome outcome)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, g_free, TRUE);

  for (guint i = 0; i < initialisation->n; i++)
    {
      g_autofree char *name = NULL;

      if (initialisation->entries[i].outcome != outcome)
        continue;
      name = shorten (initialisation, initialisation->entries[i].parameter->name, outcome);
      if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, g_steal_pointer (&name));
    }
  return g_strjoinv (", ", (char **)names->pdata);
}

static void
log_grown (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  gboolean copied = initialisation->experiment->train.initialise_positions == PLAIT_TRAIN_INITIALISE_POSITIONS_COPIED;

  for (guint i = 0; i < initialisation->n; i++)
    {
      const PlaitInitialisationEntry *entry = &initialisation->entries[i];

      if (entry->outcome == PLAIT_INITIALISATION_GROWN)
        plait_log_info (log, "taken, but with %s from row %jd on: %s", copied ? "repeated rows" : "fresh random values",
                        entry->there[0], entry->parameter->name);
    }
}

gboolean
plait_initialisation_has_labels (const char *name)
{
  return g_str_has_prefix (name, "class/output/") || g_str_has_prefix (name, "tags/output/")
         || g_pattern_match_simple ("source/*/tags/*", name);
}

static void
log_other_vocabulary (const char *name, PlaitLog *log)
{
  if (plait_initialisation_has_labels (name))
    plait_log_info (log, "fresh random values, since the labels differ: %s", name);
  else
    plait_log_warning (log,
                       "fresh random values, since the vocabulary differs: %s; the parameters that are taken are of "
                       "little use with this vocabulary; to take the vocabulary they were trained with, remove "
                       "data.vocabulary.NAME and set train.initialise_vocabulary=taken",
                       name);
}

static void
log_misfits (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  guint n = initialisation->n_outcome[PLAIT_INITIALISATION_OTHER_SHAPE]
            + initialisation->n_outcome[PLAIT_INITIALISATION_OTHER_VOCABULARY];
  guint logged = 0;

  for (guint i = 0; i < initialisation->n && logged < PLAIT_INITIALISATION_MAX_LOGGED; i++)
    {
      const PlaitInitialisationEntry *entry = &initialisation->entries[i];
      const PlaitTensor value = entry->parameter->value;

      if (entry->outcome == PLAIT_INITIALISATION_OTHER_SHAPE)
        plait_log_info (log,
                        "fresh random values, since the shape differs: %s is [%jd, %jd] in this model, but [%jd, %jd] "
                        "in train.initialise",
                        entry->parameter->name, value.rows, value.width, entry->there[0], entry->there[1]);
      else if (entry->outcome == PLAIT_INITIALISATION_OTHER_VOCABULARY)
        log_other_vocabulary (entry->parameter->name, log);
      else
        continue;
      logged++;
    }
  if (n > logged)
    plait_log_info (log, "and %u more parameters have another shape or vocabulary: see /initialisation of the run",
                    n - logged);
}

/* TRUE if the glob @text matches a parameter of the model. */
static gboolean
matches_parameter (const char *text, gconstpointer data)
{
  const PlaitInitialisation *initialisation = data;
  guint i = 0;

  while (i < initialisation->n && !g_pattern_match_simple (text, initialisation->entries[i].parameter->name))
    i++;
  return i < initialisation->n;
}

static void
log_unused_globs (const PlaitInitialisation *initialisation, const PlaitInitialisationGlobs *globs, const char *key,
                  PlaitLog *log)
{
  for (guint i = 0; globs->globs[i]; i++)
    {
      g_autofree char *mended = plait_separators_mend (globs->globs[i], ";", matches_parameter, initialisation);

      if (!globs->used[i])
        plait_log_warning (log, "train.%s: no parameter of this model matches \"%s\"%s%s%s", key, globs->globs[i],
                           mended ? "; did you mean \"" : "", mended ? mended : "", mended ? "\"?" : "");
    }
}

void
plait_initialisation_log (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  g_autofree char *taken = list (initialisation, PLAIT_INITIALISATION_TAKEN);
  g_autofree char *fresh = list (initialisation, PLAIT_INITIALISATION_FRESH);
  g_autofree char *left = list (initialisation, PLAIT_INITIALISATION_LEFT);

  plait_log_info (log, "taken from %s%s%s, %u of %u parameters: %s", initialisation->experiment->train.initialise,
                  initialisation->checkpoint ? ":" : "", initialisation->checkpoint ? initialisation->checkpoint : "",
                  initialisation->n_outcome[PLAIT_INITIALISATION_TAKEN], initialisation->n, taken);
  if (*left)
    plait_log_info (log, "fresh random values for parameters that initialise_take or initialise_leave excludes: %s",
                    left);
  if (*fresh)
    plait_log_info (log, "fresh random values for parameters that are not in that %s: %s",
                    initialisation->checkpoint ? "run" : "file", fresh);
  for (guint i = 0; initialisation->otherwise && initialisation->otherwise[i]; i++)
    plait_log_warning (log, "%s", initialisation->otherwise[i]);
  if (initialisation->unused_tensors)
    plait_log_info (log, "unused tensors of that file: %s", initialisation->unused_tensors);
  log_grown (initialisation, log);
  log_misfits (initialisation, log);
  log_unused_globs (initialisation, &initialisation->take, "initialise_take", log);
  log_unused_globs (initialisation, &initialisation->leave, "initialise_leave", log);
}

guint
plait_initialisation_taken (const PlaitInitialisation *initialisation, guint *all)
{
  *all = initialisation->n;
  return initialisation->n_outcome[PLAIT_INITIALISATION_TAKEN] + initialisation->n_outcome[PLAIT_INITIALISATION_GROWN];
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
      const PlaitInitialisationEntry *entry = &initialisation->entries[i];

      plait_table_text (table, PLAIT_TABLE_PLAIN, entry->parameter->name);
      plait_table_text (table, PLAIT_TABLE_PLAIN, outcome_names[entry->outcome]);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, entry->parameter->value.rows);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, entry->parameter->value.width);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, entry->there[0]);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, entry->there[1]);
    }
  return plait_store_make_group (store, path, error)
         && plait_store_set_string (store, path, "run", train->initialise, error)
         && plait_store_set_string (store, path, "checkpoint",
                                    initialisation->checkpoint ? initialisation->checkpoint : "", error)
         && plait_store_set_string (store, path, "take", train->initialise_take, error)
         && plait_store_set_string (store, path, "leave", train->initialise_leave, error)
         && plait_store_write_table (store, "/initialisation/parameters", table, error);
}
