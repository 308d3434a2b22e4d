/* SPDX-License-Identifier: MIT */
#include "scoring/evaluations.h"

#include "scoring/outside-scores.h"
#include "setup/limits.h"
#include "setup/replacement.h"
#include "setup/trained.h"
#include "tables/heatmap.h"
#include "layers/parameter-set.h"

/* The evaluation of one split. */
typedef struct
{
  const char *split; /* name of the split in the experiment */
  char *name;        /* name of the evaluation in the file: "test", "test.greedy" */
  char *fingerprint;
  PlaitEvaluation *evaluation; /* result; NULL: not evaluated (yet) */
  PlaitCorpus *corpus;
  gboolean owned; /* TRUE if this item owns the corpus */
  gboolean due;
} Item;

struct PlaitEvaluations
{
  PlaitEvaluationsSetup setup;
  char *checkpoint; /* name of the evaluated checkpoint, such as "best"; NULL except in the first process */
  GArray *items;
  PlaitEvaluator evaluator; /* set by plait_evaluations_make(); its search is owned by this struct */
};

/* Groups of a file that hold evaluations. */
static const char *const parts[] = { "evaluation", "attention", "coverage", "copy", "descent" };

#define FORCED "-forced"

static void
item_clear (gpointer data)
{
  Item *item = data;

  g_free (item->name);
  g_free (item->fingerprint);
  plait_evaluation_free (item->evaluation);
  if (item->owned)
    plait_corpus_free (item->corpus);
}

/* TRUE if the file has the evaluation @name with @fingerprint. */
static gboolean
has (PlaitStore *store, const char *name, const char *fingerprint)
{
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", name);
  g_autofree char *old = plait_store_get_string (store, group, "key", NULL);

  return g_strcmp0 (old, fingerprint) == 0;
}

PlaitEvaluations *
plait_evaluations_new (const PlaitEvaluationsSetup *setup, GError **error)
{
  const PlaitExperiment *experiment = setup->experiment_model->experiment;
  g_autoptr (PlaitEvaluations) evaluations = g_new0 (PlaitEvaluations, 1);
  g_autofree char *parameters = NULL;
  gboolean first = plait_ranks_is_first (setup->ranks);

  evaluations->setup = *setup;
  evaluations->items = g_array_new (FALSE, TRUE, sizeof (Item));
  g_array_set_clear_func (evaluations->items, item_clear);
  if (!plait_experiment_model_check_alignment (setup->experiment_model, error))
    return NULL;
  if (first)
    {
      g_auto (GStrv) components = NULL;

      parameters = plait_checkpoint_path (setup->trained, experiment->evaluate.checkpoint, error);
      if (!parameters)
        return NULL;
      components = g_strsplit (parameters, "/", -1);
      evaluations->checkpoint = g_strdup (components[2]);
    }
  for (guint i = 0; experiment->test_splits[i]; i++)
    {
      const char *split = experiment->test_splits[i];
      Item item = {
        .split = split,
        .name = setup->name ? g_strconcat (split, ".", setup->name, NULL) : g_strdup (split),
        .fingerprint = plait_evaluation_fingerprint (experiment, split, setup->training_fingerprint,
                                                     plait_run_inputs_digests (setup->run_inputs), error),
        .corpus = setup->tests ? setup->tests[i] : NULL,
      };

      item.due = first && item.fingerprint && !has (setup->trained, item.name, item.fingerprint);
      g_array_append_val (evaluations->items, item);
      if (!item.fingerprint)
        return NULL;
    }
  return g_steal_pointer (&evaluations);
}

void
plait_evaluations_free (PlaitEvaluations *evaluations)
{
  if (!evaluations)
    return;
  g_array_unref (evaluations->items);
  plait_search_free (evaluations->evaluator.search);
  g_free (evaluations->checkpoint);
  g_free (evaluations);
}

guint
plait_evaluations_due (const PlaitEvaluations *evaluations)
{
  guint due = 0;

  for (guint i = 0; i < evaluations->items->len; i++)
    due += g_array_index (evaluations->items, Item, i).due ? 1 : 0;
  return due;
}

static const Item *
find (const PlaitEvaluations *evaluations, const char *name)
{
  for (guint i = 0; i < evaluations->items->len; i++)
    if (g_str_equal (g_array_index (evaluations->items, Item, i).name, name))
      return &g_array_index (evaluations->items, Item, i);
  return NULL;
}

/* Returns the names of all evaluations in the file. (transfer full) */
static char **
names_in_file (const PlaitEvaluations *evaluations, GError **error)
{
  PlaitStore *trained = evaluations->setup.trained;

  return plait_store_has (trained, "/evaluation") ? plait_store_members (trained, "/evaluation", error)
                                                  : g_new0 (char *, 1);
}

gboolean
plait_evaluations_has_others (const PlaitEvaluations *evaluations)
{
  g_auto (GStrv) names = names_in_file (evaluations, NULL);

  for (guint i = 0; names && names[i] && !evaluations->setup.name; i++)
    if (!plait_evaluation_is_named (names[i]) && !find (evaluations, names[i]))
      return TRUE;
  return FALSE;
}

/*
 * Functions that make evaluations
 */

static gboolean
open_corpus (const PlaitEvaluations *evaluations, Item *item, GError **error)
{
  const PlaitEvaluationsSetup *setup = &evaluations->setup;

  if (item->corpus)
    return TRUE;
  item->corpus = plait_run_inputs_open (setup->run_inputs, item->split, setup->pool, setup->log, error);
  item->owned = item->corpus != NULL;
  /* Check that the text is unchanged, so that the digests describe the text that was read. */
  return item->corpus && plait_corpus_check (item->corpus, error)
         && plait_limits_check_corpus (setup->experiment_model, NULL, item->split, item->corpus, setup->log, error);
}

static gboolean
make (const PlaitEvaluations *evaluations, Item *item, GError **error)
{
  const PlaitEvaluator *evaluator = &evaluations->evaluator;
  g_autofree char *work = NULL;

  item->evaluation = plait_evaluation_new (evaluator, item->name, item->corpus, error);
  if (!item->evaluation
      || (plait_ranks_is_first (evaluations->setup.ranks)
          && !plait_outside_scores_add (item->evaluation, evaluator, error)))
    return FALSE;
  if (!plait_experiment_has_decoder (evaluator->experiment_model->experiment))
    return TRUE;
  work = plait_search_work_text (&item->evaluation->translation->work);
  plait_log_info (evaluator->log, "%s: %s", item->name, work);
  return TRUE;
}

/* In the first process, reads the parameters of the checkpoint. In the others, prepares the parameters for the values
 * that the first process will send. */
static gboolean
read_parameters (const PlaitEvaluations *evaluations, GError **error)
{
  const PlaitEvaluationsSetup *setup = &evaluations->setup;
  PlaitParameters *parameters = plait_model_parameters (setup->experiment_model->model);

  if (plait_ranks_is_first (setup->ranks))
    return plait_checkpoint_read (parameters, setup->trained, evaluations->checkpoint, error);
  plait_parameters_write_values (parameters);
  return TRUE;
}

gboolean
plait_evaluations_make (PlaitEvaluations *evaluations, GError **error)
{
  const PlaitEvaluationsSetup *setup = &evaluations->setup;
  PlaitTensor values = plait_parameters_values (plait_model_parameters (setup->experiment_model->model));
  GArray *items = evaluations->items;

  for (guint i = 0; i < items->len; i++)
    plait_ranks_broadcast (setup->ranks, &g_array_index (items, Item, i).due, sizeof (gboolean), 0);
  if (plait_evaluations_due (evaluations) == 0)
    return TRUE;
  if (!plait_ranks_agree (setup->ranks, read_parameters (evaluations, error), error))
    return FALSE;
  plait_ranks_broadcast (setup->ranks, values.data, sizeof *values.data * (gsize)values.width, 0);
  evaluations->evaluator
      = (PlaitEvaluator){ setup->experiment_model, setup->run_inputs, .log = setup->log, .stop = setup->stop };
  evaluations->evaluator.search = plait_search_new (setup->experiment_model->model, setup->pool,
                                                    setup->experiment_model->experiment->decode.precision, 0, error);
  if (!evaluations->evaluator.search
      || !plait_replacement_prepare (evaluations->evaluator.search, setup->experiment_model, setup->run_inputs, error))
    return FALSE;
  plait_search_set_ranks (evaluations->evaluator.search, setup->ranks);
  /* Report unreadable text before translating anything. */
  for (guint i = 0; i < items->len; i++)
    if (g_array_index (items, Item, i).due && !open_corpus (evaluations, &g_array_index (items, Item, i), error))
      return FALSE;
  for (guint i = 0; i < items->len; i++)
    if (g_array_index (items, Item, i).due && !make (evaluations, &g_array_index (items, Item, i), error))
      return FALSE;
  return TRUE;
}

/* Returns the error of the first external score that failed, or NULL. */
static const GError *
find_fault (const PlaitEvaluations *evaluations)
{
  for (guint i = 0; i < evaluations->items->len; i++)
    {
      const PlaitEvaluation *evaluation = g_array_index (evaluations->items, Item, i).evaluation;

      if (evaluation && evaluation->fault)
        return evaluation->fault;
    }
  return NULL;
}

gboolean
plait_evaluations_check (const PlaitEvaluations *evaluations, GError **error)
{
  const GError *fault = find_fault (evaluations);

  return !fault
         || plait_fail (
             error, (PlaitErrorCode)fault->code,
             "%s; everything else is stored; correct the key of this score, then run plait again or use plait test",
             fault->message);
}

#define INCOMPLETE "incomplete "

char *
plait_evaluations_seal (const PlaitEvaluations *evaluations, const char *fingerprint)
{
  return g_strconcat (find_fault (evaluations) ? INCOMPLETE : "", fingerprint, NULL);
}

gboolean
plait_evaluations_is_incomplete (const char *key)
{
  return g_str_has_prefix (key, INCOMPLETE);
}

/*
 * Functions that write evaluations
 */

static gboolean
copy_if_there (PlaitStore *store, PlaitStore *from, const char *path, GError **error)
{
  return !plait_store_has (from, path) || plait_store_copy (store, from, path, error);
}

/* Copies the evaluation @name of the old file. */
static gboolean
keep (const PlaitEvaluations *evaluations, PlaitStore *store, const char *name, GError **error)
{
  PlaitStore *from = evaluations->setup.trained;
  g_autofree char *times = g_strdup_printf ("/environment/evaluation/%s", name);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *path = g_strdup_printf ("/%s/%s", parts[i], name);
      g_autofree char *forced = g_strconcat (path, FORCED, NULL);

      if (!copy_if_there (store, from, path, error) || !copy_if_there (store, from, forced, error))
        return FALSE;
    }
  return copy_if_there (store, from, times, error);
}

/* Writes the settings of a named evaluation to the attribute "set" of @group. */
static gboolean
write_set (const PlaitOverride *set, PlaitStore *store, const char *group, GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_null_terminated (8, g_free, TRUE);

  for (; set && set->key; set++)
    g_ptr_array_add (texts, plait_override_text (set));
  return plait_store_set_list (store, group, "set", PLAIT_STORE_STRING, texts->len, texts->pdata, error);
}

/* Returns @experiment with the settings that write_set() wrote to @group; NULL if they are missing or no longer valid.
 * (transfer full) */
static PlaitExperiment *
read_set (const PlaitExperiment *experiment, PlaitStore *store, const char *group)
{
  g_autofree char *text = plait_experiment_text (experiment);
  gint64 n;
  g_auto (GStrv) texts = plait_store_get_list (store, group, "set", PLAIT_STORE_STRING, &n, NULL);
  g_autofree PlaitOverride *set = g_new0 (PlaitOverride, texts ? n + 1 : 1);

  for (gint64 i = 0; texts && i < n; i++)
    if (!plait_override_split (texts[i], &set[i], NULL))
      return NULL;
  return texts ? plait_experiment_parse (text, group, set, experiment->sources[0].encoder->plugin->registry, NULL)
               : NULL;
}

static gboolean
write_new (const PlaitEvaluations *evaluations, PlaitStore *store, const Item *item, GError **error)
{
  const PlaitEvaluationsSetup *setup = &evaluations->setup;
  const PlaitExperiment *experiment = setup->experiment_model->experiment;
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", item->name);
  g_autofree char *settings = plait_experiment_evaluation_fingerprint_text (experiment, PLAIT_FINGERPRINT_FULL);
  g_autofree char *key = g_strconcat (item->evaluation->fault ? INCOMPLETE : "", item->fingerprint, NULL);

  return plait_evaluation_write (item->evaluation, store, error)
         && plait_store_set_string (store, group, "key", key, error)
         && plait_store_set_string (store, group, "checkpoint", evaluations->checkpoint, error)
         && plait_store_set_string (store, group, "settings", settings, error)
         && (!setup->name || write_set (setup->set, store, group, error))
         && plait_evaluation_write_attention (&evaluations->evaluator, item->name, item->corpus,
                                              experiment->evaluate.attention, store, error);
}

/* Sets the object that viewers show first, unless a new evaluation has set one: the default object of the old file if
 * @store has this object, else the training curve if @store has one. */
static gboolean
find_default (const PlaitEvaluations *evaluations, PlaitStore *store, GError **error)
{
  PlaitStore *from = evaluations->setup.trained;
  g_autoptr (GString) path = g_string_new ("");

  if (plait_store_has_attribute (store, "/", "default"))
    return TRUE;
  while (plait_store_has_attribute (from, path->len > 0 ? path->str : "/", "default"))
    {
      g_autofree char *next = plait_store_get_string (from, path->len > 0 ? path->str : "/", "default", error);

      if (!next)
        return FALSE;
      g_string_append_printf (path, "/%s", next);
    }
  if (path->len == 0 || !plait_store_has (store, path->str))
    g_string_assign (path, PLAIT_EVALUATIONS_CURVE);
  return !plait_store_has (store, path->str) || plait_store_set_default (store, path->str, error);
}

/* TRUE if the settings of the named evaluation @name, with the present experiment, still give its fingerprint. */
static gboolean
still_counts (const PlaitEvaluations *evaluations, const char *name)
{
  const PlaitEvaluationsSetup *setup = &evaluations->setup;
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", name);
  g_autofree char *split = plait_evaluation_split (name);
  g_autoptr (PlaitExperiment) changed = read_set (setup->experiment_model->experiment, setup->trained, group);
  g_autofree char *fingerprint = changed
                                     ? plait_evaluation_fingerprint (changed, split, setup->training_fingerprint,
                                                                     plait_run_inputs_digests (setup->run_inputs), NULL)
                                     : NULL;

  return fingerprint && has (setup->trained, name, fingerprint);
}

/* Copies evaluations of the old file. If the new evaluations are named, copies all that the new ones do not replace;
 * else copies the named ones that are still valid. */
static gboolean
keep_others (const PlaitEvaluations *evaluations, PlaitStore *store, GError **error)
{
  gboolean beside = evaluations->setup.name != NULL;
  g_auto (GStrv) names = names_in_file (evaluations, error);

  for (guint i = 0; names && names[i]; i++)
    {
      if (find (evaluations, names[i]) || !(beside || plait_evaluation_is_named (names[i])))
        continue;
      if (!beside && !still_counts (evaluations, names[i]))
        plait_log_warning (evaluations->setup.log,
                           "the run has changed since the evaluation %s was made, so this evaluation is left out; "
                           "plait test --as makes it again",
                           names[i]);
      else if (!keep (evaluations, store, names[i], error))
        return FALSE;
    }
  return names != NULL;
}

gboolean
plait_evaluations_write (const PlaitEvaluations *evaluations, PlaitStore *store, GError **error)
{
  gboolean beside = evaluations->setup.name != NULL;

  /* Write the run's own evaluations before the named evaluations. */
  if (beside && !keep_others (evaluations, store, error))
    return FALSE;
  for (guint i = 0; i < evaluations->items->len; i++)
    {
      const Item *item = &g_array_index (evaluations->items, Item, i);

      if (item->evaluation ? !write_new (evaluations, store, item, error)
                           : !keep (evaluations, store, item->name, error))
        return FALSE;
    }
  return (beside || keep_others (evaluations, store, error)) && find_default (evaluations, store, error);
}
