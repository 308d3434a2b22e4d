/* SPDX-License-Identifier: MIT */
#include "weights/initialisation-private.h"

#include <string.h>

#include "weights/published-settings.h"
#include "weights/published.h"
#include "setup/trained.h"
#include "training/parameters.h"
#include "layers/parameter-set.h"

static PlaitInitialisationGlobs
globs_new (const char *text)
{
  char **globs = g_strsplit (text, ";", -1);

  return (PlaitInitialisationGlobs){ globs, g_new0 (gboolean, g_strv_length (globs)) };
}

static void
globs_clear (PlaitInitialisationGlobs *globs)
{
  g_strfreev (globs->globs);
  g_free (globs->used);
}

static gboolean
matches_any (const PlaitInitialisationGlobs *globs, const char *name)
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

/* A PlaitPublishedWants. FALSE if initialise_take or initialise_leave excludes @tensor or @parameter, or if the model
 * lacks the component of @parameter. */
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
 * Functions that compare vocabularies
 */

/* Returns the name of the vocabulary of text stream @stream (may be NULL) in the run with the experiment @there.
 * (transfer full) */
static char *
text_vocabulary (const PlaitKeyFile *there, const char *stream)
{
  gboolean shared = g_strcmp0 (plait_key_file_value (there, "data", "vocabulary"), "shared") == 0;

  return g_strdup (shared ? "shared" : stream);
}

/* A parameter whose rows or columns are words, labels or tags. */
typedef struct
{
  const char *stream; /* stream of these words in this experiment; NULL: the parameter has no words */
  char *there;        /* name of the vocabulary of these words in the run; NULL if the run's experiment does not tell */
} Words;

/* Finds the words of a parameter of @source. @name is the name of the parameter after "source/NAME/". */
static Words
find_source_words (const PlaitExperimentSource *source, const PlaitKeyFile *there, const char *name)
{
  const char *stream = plait_key_file_value (there, source->encoder->group, "stream");

  if (plait_input_kind_is_text (source->kind) && g_str_has_prefix (name, "embedding/"))
    return (Words){ source->stream, text_vocabulary (there, stream) };
  for (guint f = 0; f < source->n_factors + source->n_tags; f++)
    {
      const char *factor = source->factors[f] + strlen (source->stream) + 1;
      g_autofree char *prefix = g_strdup_printf ("%s/%s/", f < source->n_factors ? "factor" : "tags", factor);

      if (g_str_has_prefix (name, prefix))
        return (Words){ source->factors[f], stream ? g_strdup_printf ("%s.%s", stream, factor) : NULL };
    }
  return (Words){ NULL };
}

static Words
find_words (const PlaitExperiment *here, const PlaitKeyFile *there, const char *name)
{
  const char *target = plait_key_file_value (there, "data", "target");

  for (guint i = 0; i < here->n_sources; i++)
    {
      g_autofree char *prefix = g_strdup_printf ("source/%s/", here->sources[i].name);

      if (g_str_has_prefix (name, prefix))
        return find_source_words (&here->sources[i], there, name + strlen (prefix));
    }
  if (plait_initialisation_has_labels (name))
    return (Words){ here->data.target, g_strdup (target) };
  if (g_str_has_prefix (name, "decoder/embedding/") || g_str_has_prefix (name, "decoder/output/")
      || g_str_has_prefix (name, "masked/output/"))
    return (Words){ here->data.target, text_vocabulary (there, target) };
  return (Words){ NULL };
}

/* TRUE if parameter @name has no words, or if its words have equal vocabularies in @run and in this experiment. */
static gboolean
has_same_words (const PlaitInitialisation *initialisation, const PlaitRunInputs *run_inputs, PlaitStore *run,
                const PlaitKeyFile *there, const char *name)
{
  static const char shared[] = "embedding/";
  Words words = find_words (initialisation->experiment, there, name);
  const PlaitVocabulary *vocabulary;
  g_autofree char *vocabulary_there = words.there;
  g_autofree char *path = NULL;
  g_autofree char *hash = NULL;

  if (g_str_has_prefix (name, shared))
    {
      const char *begin = name + strlen (shared);

      /* The name of a vocabulary is the name of a stream, or "shared". */
      vocabulary_there = g_strndup (begin, strcspn (begin, "/"));
      words.stream = vocabulary_there;
    }
  if (!words.stream)
    return TRUE;
  if (!vocabulary_there)
    return FALSE;
  vocabulary = plait_run_inputs_vocabulary (run_inputs, words.stream);
  path = g_strdup_printf ("/vocabulary/%s", vocabulary_there);
  hash = plait_store_has (run, path) ? plait_store_get_string (run, path, "sha256", NULL) : NULL;
  return hash && vocabulary && g_str_equal (hash, plait_vocabulary_hash (vocabulary));
}

/*
 * Functions that read initial parameters from another run or a safetensors file
 */

/* Source of the parameters: another run, or a safetensors file. */
typedef struct
{
  PlaitStore *run;
  PlaitKeyFile *there; /* experiment of the run, as a key-file */
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
has_same_shape (PlaitInitialisationEntry *entry, PlaitStore *run, const char *path)
{
  PlaitStoreObject object;

  if (!plait_store_describe (run, path, &object, NULL) || object.kind != PLAIT_STORE_DATASET || object.rank != 2)
    return FALSE;
  entry->there[0] = object.shape[0];
  entry->there[1] = object.shape[1];
  return object.shape[0] == entry->parameter->value.rows && object.shape[1] == entry->parameter->value.width;
}

/* TRUE if the parameter has more learned positions than the run or weights have. Then the rows there become the first
 * rows of the parameter. */
static gboolean
has_room (const PlaitInitialisationEntry *entry)
{
  const PlaitParameter *parameter = entry->parameter;

  return parameter->is_positional && entry->there[0] > 0 && entry->there[0] < parameter->value.rows
         && entry->there[1] == parameter->value.width;
}

/* Repeats the first entry->there[0] rows of the parameter in its other rows. */
static void
repeat_rows (const PlaitInitialisationEntry *entry)
{
  PlaitTensor value = entry->parameter->value;

  for (gint64 row = entry->there[0]; row < value.rows; row++)
    memcpy (plait_tensor_row (value, row), plait_tensor_row (value, row - entry->there[0]),
            sizeof (PlaitScalar) * (gsize)value.width);
}

static gboolean
decide_by_run (const PlaitInitialisation *initialisation, PlaitInitialisationEntry *entry, gboolean wanted,
               const PlaitRunInputs *run_inputs, const Origin *origin, GError **error)
{
  const char *name = entry->parameter->name;
  g_autofree char *path = g_strdup_printf ("%s/%s", initialisation->checkpoint, name);

  if (!plait_store_has (origin->run, path))
    entry->outcome = PLAIT_INITIALISATION_FRESH;
  else if (!wanted)
    entry->outcome = PLAIT_INITIALISATION_LEFT;
  else if (!has_same_words (initialisation, run_inputs, origin->run, origin->there, name))
    entry->outcome = PLAIT_INITIALISATION_OTHER_VOCABULARY;
  else if (!has_same_shape (entry, origin->run, path))
    entry->outcome = has_room (entry) ? PLAIT_INITIALISATION_GROWN : PLAIT_INITIALISATION_OTHER_SHAPE;
  return entry->outcome > PLAIT_INITIALISATION_GROWN
         || plait_parameter_read (entry->parameter, entry->there[0], origin->run, path, error);
}

static gboolean
decide_by_weights (PlaitInitialisationEntry *entry, gboolean wanted, const Origin *origin, GError **error)
{
  if (!wanted)
    {
      entry->outcome = PLAIT_INITIALISATION_LEFT;
      return TRUE;
    }
  switch (plait_published_read (origin->published, entry->parameter, entry->there, error))
    {
    case PLAIT_PUBLISHED_FAILED:
      return FALSE;
    case PLAIT_PUBLISHED_ABSENT:
      entry->outcome = PLAIT_INITIALISATION_FRESH;
      break;
    case PLAIT_PUBLISHED_OTHER_SHAPE:
      entry->outcome = PLAIT_INITIALISATION_OTHER_SHAPE;
      break;
    case PLAIT_PUBLISHED_TAKEN:
      entry->outcome = has_room (entry) ? PLAIT_INITIALISATION_GROWN : PLAIT_INITIALISATION_TAKEN;
    }
  return TRUE;
}

static gboolean
decide (PlaitInitialisation *initialisation, PlaitInitialisationEntry *entry, const PlaitRunInputs *run_inputs,
        const Origin *origin, GError **error)
{
  const char *name = entry->parameter->name;
  gboolean wanted = is_wanted (initialisation, name);

  if (!(origin->run ? decide_by_run (initialisation, entry, wanted, run_inputs, origin, error)
                    : decide_by_weights (entry, wanted, origin, error)))
    return FALSE;
  if (entry->outcome == PLAIT_INITIALISATION_GROWN
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
  initialisation->entries = g_new0 (PlaitInitialisationEntry, initialisation->n);
  for (guint i = 0; i < initialisation->n; i++)
    {
      initialisation->entries[i].parameter = plait_parameters_get (parameters, i);
      if (!decide (initialisation, &initialisation->entries[i], run_inputs, origin, error))
        return FALSE;
    }
  return n[PLAIT_INITIALISATION_TAKEN] + n[PLAIT_INITIALISATION_GROWN] > 0
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "%s: train.initialise takes no parameter from this file: %u parameters of this model are missing there, "
             "%u are left out by train.initialise_take and train.initialise_leave, %u have another shape and %u "
             "another vocabulary; name a run of a model that shares components with this one",
             initialisation->experiment->train.initialise, n[PLAIT_INITIALISATION_FRESH], n[PLAIT_INITIALISATION_LEFT],
             n[PLAIT_INITIALISATION_OTHER_SHAPE], n[PLAIT_INITIALISATION_OTHER_VOCABULARY]);
}

static gboolean
open_run (PlaitInitialisation *initialisation, Origin *origin, GError **error)
{
  const PlaitTrainSettings *train = &initialisation->experiment->train;
  g_autoptr (GError) changed = NULL;

  origin->run = plait_trained_open_store (train->initialise, NULL, error);
  /* Check all bytes of the run, because the run's digest, which the fingerprint contains, covers all of them. */
  if (origin->run && plait_store_check (origin->run, error))
    origin->there = plait_trained_key_file (origin->run, error);
  if (!origin->there)
    return FALSE;
  initialisation->checkpoint = plait_checkpoint_path (origin->run, train->initialise_checkpoint, error);
  if (!initialisation->checkpoint)
    g_prefix_error (error, "train.initialise_checkpoint: ");
  if (!plait_experiment_model_check_plugins (initialisation->experiment, origin->run, TRUE, &changed))
    initialisation->otherwise = g_strsplit (changed->message, "\n", -1);
  return initialisation->checkpoint != NULL;
}

/* TRUE if a parameter whose name begins with @prefix was taken. A PlaitPublishedTakes. */
static gboolean
takes_part (gconstpointer data, const char *prefix)
{
  const PlaitInitialisation *initialisation = data;

  for (guint i = 0; i < initialisation->n; i++)
    if (initialisation->entries[i].outcome <= PLAIT_INITIALISATION_GROWN
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
      g_autofree char *names = plait_published_unused (origin.published, PLAIT_INITIALISATION_MAX_LOGGED, &n);

      if (n > 0)
        initialisation->unused_tensors
            = g_strdup_printf ("%u: %s%s", n, names, n > PLAIT_INITIALISATION_MAX_LOGGED ? ", ..." : "");
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

/* Functions that take the optimizer state of the run, and the run's position in the learning-rate schedule */

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
                       "%s: was trained by %s, and train.optimizer=%s cannot use its moments; choose the same "
                       "optimizer, or set train.initialise_state=parameters",
                       train->initialise, there ? there : "an unknown optimizer", here);
  return plait_store_has (run, "/checkpoint/last/optimizer")
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: its last checkpoint has no state of the optimizer; set train.initialise_state=parameters",
                        train->initialise);
}

gboolean
plait_initialisation_take_state (const PlaitInitialisation *initialisation, PlaitTrainer *trainer, PlaitLog *log,
                                 GError **error)
{
  const PlaitExperiment *experiment = initialisation->experiment;
  g_autoptr (GPtrArray) taken = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  g_autoptr (PlaitStore) run = NULL;
  gint64 step;

  if (experiment->train.initialise_state != PLAIT_TRAIN_INITIALISE_STATE_OPTIMIZER)
    return TRUE;
  for (guint i = 0; i < initialisation->n; i++)
    if (initialisation->entries[i].outcome == PLAIT_INITIALISATION_TAKEN)
      g_ptr_array_add (taken, (gpointer)initialisation->entries[i].parameter);
  run = plait_trained_open_store (experiment->train.initialise, NULL, error);
  if (!run || !check_optimizer (experiment, run, error)
      || !plait_trainer_import_moments (trainer, (const PlaitParameter *const *)taken->pdata, run, &step, error))
    return FALSE;
  plait_log_info (log,
                  "the optimizer and the learning-rate schedule continue after update %jd of that run: moments of %u "
                  "of %u parameters are taken",
                  step, taken->len, initialisation->n);
  return TRUE;
}
