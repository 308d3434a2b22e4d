/* SPDX-License-Identifier: MIT */
#include "run/average.h"

#include "files/digest.h"
#include "layers/parameter-set.h"
#include "run/environment.h"
#include "setup/trained.h"
#include "tables/table.h"
#include "training/parameters.h"

typedef struct
{
  const PlaitAverageCheckpoint *checkpoints;
  guint n;
  gboolean changed;
  PlaitLog *log;
  PlaitTrained *first; /* run of the first checkpoint; owned */
  double *sums;        /* sums of the parameters, in the order of the first run's values; owned */
  PlaitTable *table;   /* list of the checkpoints, for /average/runs; owned */
  GString *origin;     /* text that identifies the checkpoints; owned */
} Averaging;

static void
averaging_clear (Averaging *averaging)
{
  plait_trained_free (averaging->first);
  g_free (averaging->sums);
  plait_table_free (averaging->table);
  g_string_free (averaging->origin, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Averaging, averaging_clear)

/*
 * Functions that check that the runs can be averaged
 */

/* TRUE if [@group] @key is part of the architecture and its values @old and @new differ. FALSE for dropout rates,
 * because dropout acts only in training. */
static gboolean
is_other_architecture (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  static const char *const of_data[]
      = { "target", "vocabulary", "append_end", "document_starts", "document_roles", NULL };
  static const char *const groups[] = { "predict", "decoder", "output", "combiner", "coverage", NULL };
  gboolean belongs = g_str_equal (group, "experiment") ? g_str_equal (key, "sources")
                     : g_str_equal (group, "data")
                         ? g_strv_contains (of_data, key)
                         : g_strv_contains (groups, group) || g_str_has_prefix (group, "source ");

  return belongs && !g_str_has_suffix (key, "dropout") && g_strcmp0 (old, new) != 0;
}

/* Adds to @sentences the settings of the architecture that differ between @a and @b. */
static void
compare_architectures (const PlaitExperiment *a, const PlaitExperiment *b, GPtrArray *sentences)
{
  g_autofree char *before = plait_experiment_text (a), *now = plait_experiment_text (b);
  g_autoptr (PlaitKeyFile) first = plait_key_file_load_data (before, -1, "before", NULL);
  g_autoptr (PlaitKeyFile) second = plait_key_file_load_data (now, -1, "now", NULL);

  if (first && second)
    plait_key_files_describe_differences (first, first, second, is_other_architecture, NULL, sentences);
}

/* Fails if @second lacks a parameter of @first or has it in another shape; the error names the first such parameter. */
static gboolean
check_parameters (const PlaitParameters *first, const PlaitParameters *second, const char *first_path,
                  const char *second_path, GError **error)
{
  for (guint i = 0; i < plait_parameters_n (first); i++)
    {
      const PlaitParameter *here = plait_parameters_get (first, i);
      const PlaitParameter *there = plait_parameters_find (second, here->name);

      if (!there)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s has the parameter %s, which %s does not have; average runs of one architecture",
                           first_path, here->name, second_path);
      if (there->value.rows != here->value.rows || there->value.width != here->value.width)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "the parameter %s is [%jd, %jd] in %s and [%jd, %jd] in %s; average runs of one "
                           "architecture and vocabulary",
                           here->name, here->value.rows, here->value.width, first_path, there->value.rows,
                           there->value.width, second_path);
    }
  return TRUE;
}

static gboolean
check_vocabularies (const PlaitTrained *first, const PlaitTrained *second, const char *first_path,
                    const char *second_path, GError **error)
{
  g_autofree const char **streams = plait_experiment_streams (first->experiment);

  for (guint i = 0; streams[i]; i++)
    {
      const PlaitVocabulary *here = plait_run_inputs_vocabulary (first->run_inputs, streams[i]);
      const PlaitVocabulary *there = plait_run_inputs_vocabulary (second->run_inputs, streams[i]);

      if (here && there && !g_str_equal (plait_vocabulary_hash (here), plait_vocabulary_hash (there)))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s and %s have different vocabularies \"%s\", so their embeddings belong to different "
                           "words; give the runs one vocabulary with data.vocabulary.NAME",
                           first_path, second_path, streams[i]);
    }
  return TRUE;
}

/* Fails if @second, the run of checkpoint @i, cannot be averaged with the first run. */
static gboolean
check_fits (const Averaging *averaging, const PlaitTrained *second, guint i, GError **error)
{
  const PlaitTrained *first = averaging->first;
  const char *a = averaging->checkpoints[0].run, *b = averaging->checkpoints[i].run;
  const PlaitParameters *here = plait_model_parameters (first->experiment_model->model);
  const PlaitParameters *there = plait_model_parameters (second->experiment_model->model);
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_null_terminated (8, g_free, TRUE);
  g_autofree char *differences = NULL;

  if (!check_parameters (here, there, a, b, error) || !check_parameters (there, here, b, a, error))
    return FALSE;
  compare_architectures (first->experiment, second->experiment, sentences);
  differences = g_strjoinv ("; ", (char **)sentences->pdata);
  return (*differences == '\0'
          || plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s and %s have different architectures (%s); average runs of one architecture", a, b,
                         differences))
         && check_vocabularies (first, second, a, b, error);
}

/*
 * Functions that compute the mean
 */

/* Adds the parameters of @second to the sums. Finds them by name, since the runs may declare them in different
 * order. */
static void
add (Averaging *averaging, const PlaitParameters *second)
{
  const PlaitParameters *parameters = plait_model_parameters (averaging->first->experiment_model->model);

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitTensor value = plait_parameters_find (second, parameter->name)->value;
      double *sums = averaging->sums + parameter->offset;

      for (gint64 k = 0; k < value.rows * value.width; k++)
        sums[k] += (double)value.data[k];
    }
}

/* Returns the SHA-256 of the names and values of @parameters. (transfer full) */
static char *
digest_parameters (const PlaitParameters *parameters)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitTensor value = parameter->value;

      g_checksum_update (checksum, (const guchar *)parameter->name, (gssize)strlen (parameter->name) + 1);
      g_checksum_update (checksum, (gconstpointer)value.data,
                         (gssize)(sizeof (PlaitScalar) * (gsize)(value.rows * value.width)));
    }
  return g_strdup (g_checksum_get_string (checksum));
}

/* Adds a row for checkpoint @i to averaging->table, and a line to averaging->origin. */
static void
record (Averaging *averaging, const PlaitTrained *trained, guint i)
{
  const PlaitAverageCheckpoint *checkpoint = &averaging->checkpoints[i];
  g_autofree char *path = g_canonicalize_filename (checkpoint->run, NULL);
  g_autofree char *group = plait_checkpoint_path (trained->store, checkpoint->checkpoint, NULL);
  g_autofree char *digest = digest_parameters (plait_model_parameters (trained->experiment_model->model));
  g_autofree char *key = plait_store_has_attribute (trained->store, "/", "training_key")
                             ? plait_store_get_string (trained->store, "/", "training_key", NULL)
                             : NULL;

  plait_table_text (averaging->table, PLAIT_TABLE_PLAIN, path);
  plait_table_text (averaging->table, PLAIT_TABLE_PLAIN, group);
  plait_table_integer (averaging->table, PLAIT_TABLE_PLAIN, trained->experiment->experiment.seed);
  plait_table_text (averaging->table, PLAIT_TABLE_PLAIN, key ? key : "");
  plait_table_text (averaging->table, PLAIT_TABLE_PLAIN, digest);
  g_string_append_printf (averaging->origin, "%s %s\n", key ? key : "", digest);
}

/* Opens checkpoint @i, checks it, and adds its parameters. */
static gboolean
take (Averaging *averaging, guint i, GError **error)
{
  /* The new run has only this mean, stored as the last checkpoint. It has no best checkpoint, so "best" means the
   * last. */
  static const PlaitOverride overrides[] = { { "evaluate.checkpoint", "best" }, { NULL } };
  const PlaitAverageCheckpoint *checkpoint = &averaging->checkpoints[i];
  g_autoptr (PlaitTrained) trained = plait_trained_open (checkpoint->run, checkpoint->checkpoint, overrides,
                                                         averaging->changed, averaging->log, error);
  const PlaitParameters *parameters = trained ? plait_model_parameters (trained->experiment_model->model) : NULL;

  if (!trained || (i > 0 && !check_fits (averaging, trained, i, error)))
    return FALSE;
  record (averaging, trained, i);
  if (i > 0)
    {
      add (averaging, parameters);
      return TRUE;
    }
  averaging->first = g_steal_pointer (&trained);
  averaging->sums = g_try_new0 (double, (gsize)plait_parameters_values (parameters).width);
  if (!averaging->sums)
    return plait_fail (error, PLAIT_ERROR_MEMORY, "no memory for the sums of the parameters of %s", checkpoint->run);
  add (averaging, parameters);
  return TRUE;
}

/* Sets the parameters of the first run to the means, by dividing the sums. */
static void
divide (const Averaging *averaging)
{
  PlaitTensor values
      = plait_parameters_write_values (plait_model_parameters (averaging->first->experiment_model->model));

  for (gint64 i = 0; i < values.width; i++)
    values.data[i] = (PlaitScalar)(averaging->sums[i] / averaging->n);
}

/*
 * Functions that write the file
 */

static gboolean
write_header (const Averaging *averaging, const char *command, PlaitStore *store, GError **error)
{
  const PlaitExperiment *experiment = averaging->first->experiment;
  g_autofree char *text = plait_experiment_text (experiment);
  g_autofree char *key = plait_digest_bytes (averaging->origin->str, averaging->origin->len);

  return plait_store_set_string (store, "/", "version", PLAIT_VERSION, error)
         && plait_store_set_string (store, "/", "name", experiment->name, error)
         && plait_store_set_string (store, "/", "experiment", text, error)
         && plait_store_set_string (store, "/", "key", key, error)
         && plait_store_set_string (store, "/", "training_key", key, error)
         && plait_store_set_int (store, "/", "seed", experiment->experiment.seed, error)
         && plait_store_set_string (store, "/", "status", "complete", error)
         && plait_environment_write (store, command, 1, error);
}

/* Copies the objects of the first run, except those in left[]. Of /environment, copies only the plugins. */
static gboolean
copy_inputs (const Averaging *averaging, PlaitStore *store, GError **error)
{
  static const char *const left[]
      = { "checkpoint", "training", "environment", "evaluation", "attention",      "coverage",
          "copy",       "descent",  "experiment",  "average",    "initialisation", NULL };
  PlaitStore *from = averaging->first->store;
  g_auto (GStrv) members = plait_store_members (from, "/", error);

  for (guint i = 0; members && members[i]; i++)
    {
      g_autofree char *path = g_strconcat ("/", members[i], NULL);

      if (!g_strv_contains (left, members[i]) && !plait_store_copy (store, from, path, error))
        return FALSE;
    }
  return members
         && (!plait_store_has (from, "/environment/plugins")
             || plait_store_copy (store, from, "/environment/plugins", error));
}

static gboolean
write_run (const Averaging *averaging, const char *command, const char *output, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (output, error);

  return store && write_header (averaging, command, store, error) && copy_inputs (averaging, store, error)
         && plait_store_make_group (store, "/training", error)
         && plait_parameters_write (plait_model_parameters (averaging->first->experiment_model->model), store,
                                    "/checkpoint/last/parameters", error)
         && plait_store_make_group (store, PLAIT_AVERAGE, error)
         && plait_store_write_table (store, PLAIT_AVERAGE "/runs", averaging->table, error)
         && plait_store_commit (store, error);
}

gboolean
plait_average (const PlaitAverageCheckpoint *checkpoints, guint n, const char *output, gboolean changed,
               const char *command, PlaitLog *log, GError **error)
{
  g_auto (Averaging) averaging = { .checkpoints = checkpoints,
                                   .n = n,
                                   .changed = changed,
                                   .log = log,
                                   .table = plait_table_new (),
                                   .origin = g_string_new ("average\n") };

  plait_table_column (averaging.table, PLAIT_TABLE_WORDS, "run");
  plait_table_column (averaging.table, PLAIT_TABLE_WORDS, "checkpoint");
  plait_table_column (averaging.table, PLAIT_TABLE_COUNTS, "seed");
  plait_table_column (averaging.table, PLAIT_TABLE_WORDS, "training_key");
  plait_table_column (averaging.table, PLAIT_TABLE_WORDS, "sha256");
  for (guint i = 0; i < n; i++)
    if (!take (&averaging, i, error))
      return FALSE;
  divide (&averaging);
  return write_run (&averaging, command, output, error);
}
