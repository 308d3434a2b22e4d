/* SPDX-License-Identifier: MIT */
#include "weights/initialisation.h"

#include <string.h>

#include "text/separators.h"
#include "weights/published-settings.h"
#include "weights/published.h"
#include "setup/trained.h"
#include "tables/table.h"
#include "training/parameters.h"
#include "layers/parameter-set.h"

#define MAX_LOGGED 6
#define LABELS "class/output/" /* what belongs to the labels of a classifier */

typedef enum
{
  OUTCOME_TAKEN,
  OUTCOME_GROWN, /* its first rows are taken */
  OUTCOME_FRESH,
  OUTCOME_LEFT,
  OUTCOME_OTHER_SHAPE,
  OUTCOME_OTHER_VOCABULARY,
  N_OUTCOMES,
} Outcome;

/* What became of a parameter. */
typedef struct
{
  const PlaitParameter *parameter;
  Outcome outcome;
  gint64 there[2]; /* rows and width in that run; 0: none, or no matrix */
} ParameterOutcome;

/* Globs over names. */
typedef struct
{
  char **globs;
  gboolean *used; /* a name matched it */
} Globs;

struct PlaitInitialisation
{
  const PlaitExperiment *experiment;
  char *checkpoint;     /* path of its parameters in that run; NULL: weights are no run */
  char **otherwise;     /* sentences about settings or plugins that these were not trained with; NULL: none */
  char *unused_tensors; /* tensors of such weights that nothing was made of, as text; NULL: none */
  Globs take;
  Globs leave;
  guint n;
  ParameterOutcome *entries;   /* [n] */
  guint n_outcome[N_OUTCOMES]; /* how many met each */
};

static Globs
globs_new (const char *text)
{
  char **globs = g_strsplit (text, ";", -1);

  return (Globs){ globs, g_new0 (gboolean, g_strv_length (globs)) };
}

static void
globs_clear (Globs *globs)
{
  g_strfreev (globs->globs);
  g_free (globs->used);
}

static gboolean
matches_any (const Globs *globs, const char *name)
{
  gboolean matches = FALSE;

  for (guint i = 0; globs->globs[i]; i++)
    if (g_pattern_match_simple (globs->globs[i], name))
      matches = globs->used[i] = TRUE;
  return matches;
}

static gboolean
is_wanted (const PlaitInitialisation *initialisation, const char *name)
{
  gboolean taken = matches_any (&initialisation->take, name) || !initialisation->take.globs[0];
  gboolean left = matches_any (&initialisation->leave, name);

  return taken && !left;
}

/* TRUE if the model has the part that @parameter is of, and is to begin with what is there for it. */
static gboolean
wants_tensor (gconstpointer data, const char *tensor, const char *parameter)
{
  const PlaitInitialisation *initialisation = data;
  gboolean has_part = FALSE;

  if (matches_any (&initialisation->leave, tensor))
    return FALSE;
  if (!parameter)
    return !initialisation->take.globs[0];
  for (guint i = 0; i < initialisation->n && !has_part; i++)
    has_part = strncmp (initialisation->entries[i].parameter->name, parameter, strcspn (parameter, "/") + 1) == 0;
  return has_part && is_wanted (initialisation, parameter);
}

/*
 * Vocabularies
 */

/* The stream whose words @name has a row each for, here and there; FALSE if it belongs to no words. @there is the
 * experiment of that run. */
static gboolean
find_streams (const PlaitExperiment *here, const PlaitKeyFile *there, const char *name, const char **stream_here,
              const char **stream_there)
{
  for (guint i = 0; i < here->n_sources; i++)
    {
      const PlaitExperimentSource *source = &here->sources[i];
      g_autofree char *prefix = g_strdup_printf ("source/%s/embedding/", source->name);

      if (!plait_input_kind_is_text (source->kind) || !g_str_has_prefix (name, prefix))
        continue;
      *stream_here = source->stream;
      *stream_there = plait_key_file_value (there, source->encoder->group, "stream");
      return TRUE;
    }
  *stream_here = here->data.target;
  *stream_there = plait_key_file_value (there, "data", "target");
  return g_str_has_prefix (name, "decoder/embedding/") || g_str_has_prefix (name, "decoder/output/")
         || g_str_has_prefix (name, LABELS) || g_str_has_prefix (name, "masked/output/");
}

/* TRUE if the rows of parameter @name, if words they are, are the same words in @run. */
static gboolean
has_same_words (const PlaitInitialisation *initialisation, const PlaitRunInputs *run_inputs, PlaitStore *run,
                const PlaitKeyFile *there, const char *name)
{
  const PlaitExperiment *here = initialisation->experiment;
  static const char shared[] = "embedding/";
  const char *stream_here;
  const char *stream_there;
  const PlaitVocabulary *vocabulary;
  g_autofree char *vocabulary_there = NULL;
  g_autofree char *path = NULL;
  g_autofree char *hash = NULL;

  if (g_str_has_prefix (name, shared))
    {
      const char *begin = name + strlen (shared);

      /* A vocabulary is called as a stream that has it, or shared. */
      vocabulary_there = g_strndup (begin, strcspn (begin, "/"));
      vocabulary = plait_run_inputs_vocabulary (run_inputs, vocabulary_there);
    }
  else if (find_streams (here, there, name, &stream_here, &stream_there))
    {
      gboolean one = g_strcmp0 (plait_key_file_value (there, "data", "vocabulary"), "shared") == 0
                     && !g_str_has_prefix (name, LABELS);

      vocabulary = plait_run_inputs_vocabulary (run_inputs, stream_here);
      vocabulary_there = g_strdup (one ? "shared" : stream_there);
    }
  else
    return TRUE;
  if (!vocabulary_there)
    return FALSE;
  path = g_strdup_printf ("/vocabulary/%s", vocabulary_there);
  hash = plait_store_has (run, path) ? plait_store_get_string (run, path, "sha256", NULL) : NULL;
  return hash && vocabulary && g_str_equal (hash, plait_vocabulary_hash (vocabulary));
}

/*
 * Taking
 */

/* What parameters are taken from: another run, or weights in a safetensors file. */
typedef struct
{
  PlaitStore *run;
  PlaitKeyFile *there; /* its experiment */
  PlaitPublished *published;
} Origin;

static void
origin_clear (Origin *origin)
{
  plait_published_free (origin->published);
  plait_key_file_free (origin->there);
  plait_store_free (origin->run);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Origin, origin_clear)

static gboolean
has_same_shape (ParameterOutcome *entry, PlaitStore *run, const char *path)
{
  PlaitStoreObject object;

  if (!plait_store_describe (run, path, &object, NULL) || object.kind != PLAIT_STORE_DATASET || object.rank != 2)
    return FALSE;
  entry->there[0] = object.shape[0];
  entry->there[1] = object.shape[1];
  return object.shape[0] == entry->parameter->value.rows && object.shape[1] == entry->parameter->value.width;
}

/* Places that were learned are the first of more. */
static gboolean
has_room (const ParameterOutcome *entry)
{
  const PlaitParameter *parameter = entry->parameter;

  return parameter->is_positional && entry->there[0] > 0 && entry->there[0] < parameter->value.rows
         && entry->there[1] == parameter->value.width;
}

/* The rows that were not there, from the first again. */
static void
repeat_rows (const ParameterOutcome *entry)
{
  PlaitTensor value = entry->parameter->value;

  for (gint64 row = entry->there[0]; row < value.rows; row++)
    memcpy (plait_tensor_row (value, row), plait_tensor_row (value, row - entry->there[0]),
            sizeof (PlaitScalar) * (gsize)value.width);
}

static gboolean
decide_by_run (const PlaitInitialisation *initialisation, ParameterOutcome *entry, gboolean wanted,
               const PlaitRunInputs *run_inputs, const Origin *origin, GError **error)
{
  const char *name = entry->parameter->name;
  g_autofree char *path = g_strdup_printf ("%s/%s", initialisation->checkpoint, name);

  if (!plait_store_has (origin->run, path))
    entry->outcome = OUTCOME_FRESH;
  else if (!wanted)
    entry->outcome = OUTCOME_LEFT;
  else if (!has_same_words (initialisation, run_inputs, origin->run, origin->there, name))
    entry->outcome = OUTCOME_OTHER_VOCABULARY;
  else if (!has_same_shape (entry, origin->run, path))
    entry->outcome = has_room (entry) ? OUTCOME_GROWN : OUTCOME_OTHER_SHAPE;
  return entry->outcome > OUTCOME_GROWN
         || plait_parameter_read (entry->parameter, entry->there[0], origin->run, path, error);
}

static gboolean
decide_by_weights (ParameterOutcome *entry, gboolean wanted, const Origin *origin, GError **error)
{
  if (!wanted)
    {
      entry->outcome = OUTCOME_LEFT;
      return TRUE;
    }
  switch (plait_published_read (origin->published, entry->parameter, entry->there, error))
    {
    case PLAIT_PUBLISHED_FAILED:
      return FALSE;
    case PLAIT_PUBLISHED_ABSENT:
      entry->outcome = OUTCOME_FRESH;
      break;
    case PLAIT_PUBLISHED_OTHER_SHAPE:
      entry->outcome = OUTCOME_OTHER_SHAPE;
      break;
    case PLAIT_PUBLISHED_TAKEN:
      entry->outcome = has_room (entry) ? OUTCOME_GROWN : OUTCOME_TAKEN;
    }
  return TRUE;
}

static gboolean
decide (PlaitInitialisation *initialisation, ParameterOutcome *entry, const PlaitRunInputs *run_inputs,
        const Origin *origin, GError **error)
{
  const char *name = entry->parameter->name;
  gboolean wanted = is_wanted (initialisation, name);

  if (!(origin->run ? decide_by_run (initialisation, entry, wanted, run_inputs, origin, error)
                    : decide_by_weights (entry, wanted, origin, error)))
    return FALSE;
  if (entry->outcome == OUTCOME_GROWN
      && initialisation->experiment->train.initialise_positions == PLAIT_TRAIN_INITIALISE_POSITIONS_COPIED)
    repeat_rows (entry);
  initialisation->n_outcome[entry->outcome]++;
  return TRUE;
}

static gboolean
take (PlaitInitialisation *initialisation, const PlaitRunInputs *run_inputs, PlaitParameters *parameters,
      const Origin *origin, GError **error)
{
  const guint *n = initialisation->n_outcome;

  plait_parameters_write_values (parameters);
  initialisation->n = plait_parameters_n (parameters);
  initialisation->entries = g_new0 (ParameterOutcome, initialisation->n);
  for (guint i = 0; i < initialisation->n; i++)
    {
      initialisation->entries[i].parameter = plait_parameters_get (parameters, i);
      if (!decide (initialisation, &initialisation->entries[i], run_inputs, origin, error))
        return FALSE;
    }
  return n[OUTCOME_TAKEN] + n[OUTCOME_GROWN] > 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: train.initialise takes none of its parameters: %u of this model are not there, %u are "
                        "left out by train.initialise_take and train.initialise_leave, %u have another shape and %u "
                        "another vocabulary; name a run of a model that shares parts with this one",
                        initialisation->experiment->train.initialise, n[OUTCOME_FRESH], n[OUTCOME_LEFT],
                        n[OUTCOME_OTHER_SHAPE], n[OUTCOME_OTHER_VOCABULARY]);
}

static gboolean
open_run (PlaitInitialisation *initialisation, Origin *origin, GError **error)
{
  const PlaitTrainSettings *train = &initialisation->experiment->train;
  g_autoptr (GError) changed = NULL;

  origin->run = plait_trained_open_store (train->initialise, NULL, error);
  /* The run's key depends on all of its bytes. */
  if (origin->run && plait_store_check (origin->run, error))
    origin->there = plait_trained_key_file (origin->run, error);
  if (!origin->there)
    return FALSE;
  initialisation->checkpoint
      = plait_checkpoint_path (origin->run, plait_checkpoint_names[train->initialise_checkpoint], error);
  if (!initialisation->checkpoint)
    g_prefix_error (error, "train.initialise_checkpoint: ");
  if (!plait_experiment_model_check_plugins (initialisation->experiment, origin->run, TRUE, &changed))
    initialisation->otherwise = g_strsplit (changed->message, "\n", -1);
  return initialisation->checkpoint != NULL;
}

/* TRUE if a parameter whose name begins with @prefix was taken. */
static gboolean
takes_part (gconstpointer data, const char *prefix)
{
  const PlaitInitialisation *initialisation = data;

  for (guint i = 0; i < initialisation->n; i++)
    if (initialisation->entries[i].outcome <= OUTCOME_GROWN
        && g_str_has_prefix (initialisation->entries[i].parameter->name, prefix))
      return TRUE;
  return FALSE;
}

PlaitInitialisation *
plait_initialisation_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                          const PlaitExperimentModel *experiment_model, GError **error)
{
  const PlaitTrainSettings *train = &experiment->train;
  g_autoptr (PlaitInitialisation) initialisation = g_new0 (PlaitInitialisation, 1);
  g_auto (Origin) origin = { NULL };
  guint n = 0;

  initialisation->experiment = experiment;
  initialisation->take = globs_new (train->initialise_take);
  initialisation->leave = globs_new (train->initialise_leave);
  if (plait_safetensors_is_named (train->initialise))
    origin.published = plait_published_open (train->initialise, experiment->name_map, error);
  else if (!open_run (initialisation, &origin, error))
    return NULL;
  if ((!origin.published && !origin.run)
      || !take (initialisation, run_inputs, plait_model_parameters (experiment_model->model), &origin, error))
    return NULL;
  if (origin.published && !plait_published_check_unused (origin.published, wants_tensor, initialisation, error))
    return NULL;
  if (origin.published)
    {
      g_autofree char *names = plait_published_unused (origin.published, MAX_LOGGED, &n);

      if (n > 0)
        initialisation->unused_tensors = g_strdup_printf ("%u: %s%s", n, names, n > MAX_LOGGED ? ", ..." : "");
    }
  if (origin.published && plait_published_map (origin.published))
    initialisation->otherwise = plait_published_other_settings (
        train->initialise, plait_published_map (origin.published), experiment, takes_part, initialisation);
  return g_steal_pointer (&initialisation);
}

void
plait_initialisation_free (PlaitInitialisation *initialisation)
{
  if (!initialisation)
    return;
  g_free (initialisation->checkpoint);
  g_free (initialisation->unused_tensors);
  g_strfreev (initialisation->otherwise);
  globs_clear (&initialisation->take);
  globs_clear (&initialisation->leave);
  g_free (initialisation->entries);
  g_free (initialisation);
}

/*
 * The optimizer of the run that training begins with, and its place in the schedule
 */

static gboolean
check_optimizer (const PlaitExperiment *experiment, PlaitStore *run, GError **error)
{
  const PlaitTrainSettings *train = &experiment->train;
  const char *here = plait_experiment_value (experiment, "train", "optimizer");
  g_autoptr (PlaitKeyFile) file = plait_trained_key_file (run, error);
  const char *there;

  if (!file)
    return FALSE;
  there = plait_key_file_value (file, "train", "optimizer");
  if (g_strcmp0 (there, here) != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: was trained by %s, whose moments train.optimizer=%s cannot go on with; choose the same "
                       "optimizer, or set train.initialise_state=parameters",
                       train->initialise, there ? there : "an optimizer that it does not name", here);
  return plait_store_has (run, "/checkpoint/last/optimizer")
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: its last checkpoint holds no optimizer; set train.initialise_state=parameters",
                        train->initialise);
}

gboolean
plait_initialisation_take_state (const PlaitInitialisation *initialisation, PlaitTrainer *trainer, PlaitLog *log,
                                 GError **error)
{
  const PlaitExperiment *experiment = initialisation->experiment;
  g_autoptr (GPtrArray) taken = g_ptr_array_new ();
  g_autoptr (PlaitStore) run = NULL;
  gint64 step;

  if (experiment->train.initialise_state != PLAIT_TRAIN_INITIALISE_STATE_OPTIMIZER)
    return TRUE;
  for (guint i = 0; i < initialisation->n; i++)
    if (initialisation->entries[i].outcome == OUTCOME_TAKEN)
      g_ptr_array_add (taken, (gpointer)initialisation->entries[i].parameter);
  g_ptr_array_add (taken, NULL);
  run = plait_trained_open_store (experiment->train.initialise, NULL, error);
  if (!run || !check_optimizer (experiment, run, error)
      || !plait_trainer_import_moments (trainer, (const PlaitParameter *const *)taken->pdata, run, "/checkpoint/last",
                                        &step, error))
    return FALSE;
  plait_log_info (
      log,
      "the optimizer goes on after its update %jd, and the schedule with it: moments of %u of %u parameters are taken",
      step, taken->len - 1, initialisation->n);
  return TRUE;
}

/*
 * What was taken, told in a few lines and written
 */

static const char *const outcome_names[] = { "taken", "grown", "fresh", "left", "other shape", "other vocabulary" };

/* TRUE if all parameters whose names begin with the @length bytes of @prefix met @outcome. */
static gboolean
is_common (const PlaitInitialisation *initialisation, const char *prefix, gsize length, Outcome outcome)
{
  for (guint i = 0; i < initialisation->n; i++)
    if (strncmp (initialisation->entries[i].parameter->name, prefix, length) == 0
        && initialisation->entries[i].outcome != outcome)
      return FALSE;
  return TRUE;
}

/* "source/en/STAR" where all below source/en met @outcome, else the name. (transfer full) */
static char *
shorten (const PlaitInitialisation *initialisation, const char *name, Outcome outcome)
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
list (const PlaitInitialisation *initialisation, Outcome outcome)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < initialisation->n; i++)
    {
      g_autofree char *name = NULL;

      if (initialisation->entries[i].outcome != outcome)
        continue;
      name = shorten (initialisation, initialisation->entries[i].parameter->name, outcome);
      if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, g_steal_pointer (&name));
    }
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **)names->pdata);
}

static void
log_grown (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  gboolean copied = initialisation->experiment->train.initialise_positions == PLAIT_TRAIN_INITIALISE_POSITIONS_COPIED;

  for (guint i = 0; i < initialisation->n; i++)
    {
      const ParameterOutcome *entry = &initialisation->entries[i];

      if (entry->outcome == OUTCOME_GROWN)
        plait_log_info (log, "taken, and %s from row %jd on: %s", copied ? "the same again" : "fresh", entry->there[0],
                        entry->parameter->name);
    }
}

static void
log_other_vocabulary (const char *name, PlaitLog *log)
{
  if (g_str_has_prefix (name, LABELS))
    plait_log_info (log, "fresh, of other labels: %s", name);
  else
    plait_log_warning (
        log,
        "fresh, of another vocabulary: %s; what was trained with it knows little without: leave data.vocabulary.NAME "
        "out and train.initialise_vocabulary at taken, which takes its vocabulary with it",
        name);
}

static void
log_misfits (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  guint n = initialisation->n_outcome[OUTCOME_OTHER_SHAPE] + initialisation->n_outcome[OUTCOME_OTHER_VOCABULARY];
  guint logged = 0;

  for (guint i = 0; i < initialisation->n && logged < MAX_LOGGED; i++)
    {
      const ParameterOutcome *entry = &initialisation->entries[i];
      const PlaitTensor value = entry->parameter->value;

      if (entry->outcome == OUTCOME_OTHER_SHAPE)
        plait_log_info (log, "fresh, does not fit: %s is [%jd, %jd] here, [%jd, %jd] there", entry->parameter->name,
                        value.rows, value.width, entry->there[0], entry->there[1]);
      else if (entry->outcome == OUTCOME_OTHER_VOCABULARY)
        log_other_vocabulary (entry->parameter->name, log);
      else
        continue;
      logged++;
    }
  if (n > logged)
    plait_log_info (log, "and %u more that do not fit: see /initialisation of the run", n - logged);
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
log_unused_globs (const PlaitInitialisation *initialisation, const Globs *globs, const char *key, PlaitLog *log)
{
  for (guint i = 0; globs->globs[i]; i++)
    {
      g_autofree char *mended = plait_separators_mend (globs->globs[i], ";", matches_parameter, initialisation);

      if (!globs->used[i])
        plait_log_warning (log, "train.%s: no parameter of this model is called %s%s%s%s", key, globs->globs[i],
                           mended ? "; did you mean \"" : "", mended ? mended : "", mended ? "\"?" : "");
    }
}

void
plait_initialisation_log (const PlaitInitialisation *initialisation, PlaitLog *log)
{
  g_autofree char *taken = list (initialisation, OUTCOME_TAKEN);
  g_autofree char *fresh = list (initialisation, OUTCOME_FRESH);
  g_autofree char *left = list (initialisation, OUTCOME_LEFT);

  plait_log_info (log, "taken from %s%s%s, %u of %u parameters: %s", initialisation->experiment->train.initialise,
                  initialisation->checkpoint ? ":" : "", initialisation->checkpoint ? initialisation->checkpoint : "",
                  initialisation->n_outcome[OUTCOME_TAKEN], initialisation->n, taken);
  if (*left)
    plait_log_info (log, "fresh, left out by initialise_take and initialise_leave: %s", left);
  if (*fresh)
    plait_log_info (log, "fresh, not in that %s: %s", initialisation->checkpoint ? "run" : "file", fresh);
  for (guint i = 0; initialisation->otherwise && initialisation->otherwise[i]; i++)
    plait_log_warning (log, "%s", initialisation->otherwise[i]);
  if (initialisation->unused_tensors)
    plait_log_info (log, "not used of that file: %s", initialisation->unused_tensors);
  log_grown (initialisation, log);
  log_misfits (initialisation, log);
  log_unused_globs (initialisation, &initialisation->take, "initialise_take", log);
  log_unused_globs (initialisation, &initialisation->leave, "initialise_leave", log);
}

guint
plait_initialisation_taken (const PlaitInitialisation *initialisation, guint *all)
{
  *all = initialisation->n;
  return initialisation->n_outcome[OUTCOME_TAKEN] + initialisation->n_outcome[OUTCOME_GROWN];
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
      const ParameterOutcome *entry = &initialisation->entries[i];

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
