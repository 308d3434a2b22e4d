/* SPDX-License-Identifier: MIT */
#include "run/initialisation-private.h"

#include <string.h>

#include "run/published.h"
#include "run/trained.h"
#include "train/parameters.h"

static gboolean
matches_any (char *const *globs, const char *name)
{
  for (guint i = 0; globs[i]; i++)
    if (g_pattern_match_simple (globs[i], name))
      return TRUE;
  return FALSE;
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
         || g_str_has_prefix (name, PLAIT_INITIALISATION_LABELS) || g_str_has_prefix (name, "masked/output/");
}

/* Whether the rows of parameter @name, if words they are, are the same words in @run. */
static gboolean
has_same_words (const PlaitInitialisation *initialisation, const PlaitMaterials *materials, PlaitStore *run,
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
      vocabulary = plait_materials_vocabulary (materials, vocabulary_there);
    }
  else if (find_streams (here, there, name, &stream_here, &stream_there))
    {
      gboolean one = g_strcmp0 (plait_key_file_value (there, "data", "vocabulary"), "shared") == 0
                     && !g_str_has_prefix (name, PLAIT_INITIALISATION_LABELS);

      vocabulary = plait_materials_vocabulary (materials, stream_here);
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
has_same_shape (PlaitFate *fate, PlaitStore *run, const char *path)
{
  PlaitStoreObject object;

  if (!plait_store_describe (run, path, &object, NULL) || object.kind != PLAIT_STORE_DATASET || object.rank != 2)
    return FALSE;
  fate->there[0] = object.shape[0];
  fate->there[1] = object.shape[1];
  return object.shape[0] == fate->parameter->value.rows && object.shape[1] == fate->parameter->value.width;
}

/* Places that were learned are the first of more. */
static gboolean
has_room (const PlaitFate *fate)
{
  const PlaitParameter *parameter = fate->parameter;

  return parameter->places && fate->there[0] > 0 && fate->there[0] < parameter->value.rows
         && fate->there[1] == parameter->value.width;
}

/* The rows that were not there, from the first again. */
static void
repeat_rows (const PlaitFate *fate)
{
  PlaitTensor value = fate->parameter->value;

  for (gint64 row = fate->there[0]; row < value.rows; row++)
    memcpy (plait_tensor_row (value, row), plait_tensor_row (value, row - fate->there[0]),
            sizeof (PlaitScalar) * (gsize)value.width);
}

static gboolean
decide_by_run (const PlaitInitialisation *initialisation, PlaitFate *fate, gboolean wanted,
               const PlaitMaterials *materials, const Origin *origin, GError **error)
{
  const char *name = fate->parameter->name;
  g_autofree char *path = g_strdup_printf ("%s/%s", initialisation->checkpoint, name);

  if (!plait_store_has (origin->run, path))
    fate->outcome = PLAIT_FATE_FRESH;
  else if (!wanted)
    fate->outcome = PLAIT_FATE_LEFT;
  else if (!has_same_words (initialisation, materials, origin->run, origin->there, name))
    fate->outcome = PLAIT_FATE_OTHER_VOCABULARY;
  else if (!has_same_shape (fate, origin->run, path))
    fate->outcome = has_room (fate) ? PLAIT_FATE_GROWN : PLAIT_FATE_OTHER_SHAPE;
  return fate->outcome > PLAIT_FATE_GROWN
         || plait_parameter_read (fate->parameter, fate->there[0], origin->run, path, error);
}

static gboolean
decide_by_weights (PlaitFate *fate, gboolean wanted, const Origin *origin, GError **error)
{
  if (!wanted)
    {
      fate->outcome = PLAIT_FATE_LEFT;
      return TRUE;
    }
  switch (plait_published_read (origin->published, fate->parameter, fate->there, error))
    {
    case PLAIT_PUBLISHED_FAILED:
      return FALSE;
    case PLAIT_PUBLISHED_ABSENT:
      fate->outcome = PLAIT_FATE_FRESH;
      break;
    case PLAIT_PUBLISHED_OTHER_SHAPE:
      fate->outcome = PLAIT_FATE_OTHER_SHAPE;
      break;
    case PLAIT_PUBLISHED_TAKEN:
      fate->outcome = has_room (fate) ? PLAIT_FATE_GROWN : PLAIT_FATE_TAKEN;
    }
  return TRUE;
}

static gboolean
decide (PlaitInitialisation *initialisation, PlaitFate *fate, const PlaitMaterials *materials, const Origin *origin,
        GError **error)
{
  const char *name = fate->parameter->name;
  gboolean wanted = (!initialisation->take[0] || matches_any (initialisation->take, name))
                    && !matches_any (initialisation->leave, name);

  if (!(origin->run ? decide_by_run (initialisation, fate, wanted, materials, origin, error)
                    : decide_by_weights (fate, wanted, origin, error)))
    return FALSE;
  if (fate->outcome == PLAIT_FATE_GROWN
      && initialisation->experiment->train.initialise_positions == PLAIT_POSITIONS_COPIED)
    repeat_rows (fate);
  initialisation->n_outcome[fate->outcome]++;
  return TRUE;
}

static gboolean
take (PlaitInitialisation *initialisation, const PlaitMaterials *materials, PlaitParameters *parameters,
      const Origin *origin, GError **error)
{
  const guint *n = initialisation->n_outcome;

  plait_parameters_write_values (parameters);
  initialisation->n = plait_parameters_n (parameters);
  initialisation->fates = g_new0 (PlaitFate, initialisation->n);
  for (guint i = 0; i < initialisation->n; i++)
    {
      initialisation->fates[i].parameter = plait_parameters_get (parameters, i);
      if (!decide (initialisation, &initialisation->fates[i], materials, origin, error))
        return FALSE;
    }
  return n[PLAIT_FATE_TAKEN] + n[PLAIT_FATE_GROWN] > 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: train.initialise takes none of its parameters: %u of this model are not there, %u are "
                        "left out by train.initialise_take and train.initialise_leave, %u have another shape and %u "
                        "another vocabulary; name a run of a model that shares parts with this one",
                        initialisation->experiment->train.initialise, n[PLAIT_FATE_FRESH], n[PLAIT_FATE_LEFT],
                        n[PLAIT_FATE_OTHER_SHAPE], n[PLAIT_FATE_OTHER_VOCABULARY]);
}

static gboolean
open_run (PlaitInitialisation *initialisation, Origin *origin, GError **error)
{
  static const char *const checkpoints[] = { NULL, "last", "average" };
  const PlaitTrainSettings *train = &initialisation->experiment->train;

  origin->run = plait_trained_open_store (train->initialise, NULL, error);
  /* The run's key depends on all of its bytes. */
  if (origin->run && plait_store_check (origin->run, error))
    origin->there = plait_trained_key_file (origin->run, error);
  if (!origin->there)
    return FALSE;
  initialisation->checkpoint = plait_checkpoint_path (origin->run, checkpoints[train->initialise_checkpoint], error);
  if (!initialisation->checkpoint)
    g_prefix_error (error, "train.initialise_checkpoint: ");
  return initialisation->checkpoint != NULL;
}

PlaitInitialisation *
plait_initialisation_new (const PlaitExperiment *experiment, const PlaitMaterials *materials, const PlaitSystem *system,
                          GError **error)
{
  const PlaitTrainSettings *train = &experiment->train;
  g_autoptr (PlaitInitialisation) initialisation = g_new0 (PlaitInitialisation, 1);
  g_auto (Origin) origin = { NULL };
  guint n = 0;

  initialisation->experiment = experiment;
  initialisation->take = g_strsplit (train->initialise_take, ";", -1);
  initialisation->leave = g_strsplit (train->initialise_leave, ";", -1);
  if (g_str_has_suffix (train->initialise, PLAIT_SAFETENSORS_SUFFIX))
    origin.published = plait_published_open (train->initialise, experiment->name_map, error);
  else if (!open_run (initialisation, &origin, error))
    return NULL;
  if ((!origin.published && !origin.run)
      || !take (initialisation, materials, plait_model_parameters (system->model), &origin, error))
    return NULL;
  if (origin.published)
    {
      g_autofree char *names = plait_published_left (origin.published, PLAIT_INITIALISATION_MOST_TOLD, &n);

      if (n > 0)
        initialisation->unread
            = g_strdup_printf ("%u: %s%s", n, names, n > PLAIT_INITIALISATION_MOST_TOLD ? ", ..." : "");
    }
  return g_steal_pointer (&initialisation);
}

void
plait_initialisation_free (PlaitInitialisation *initialisation)
{
  if (!initialisation)
    return;
  g_free (initialisation->checkpoint);
  g_free (initialisation->unread);
  g_strfreev (initialisation->take);
  g_strfreev (initialisation->leave);
  g_free (initialisation->fates);
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

  if (experiment->train.initialise_state != PLAIT_INITIAL_TRAINING_OPTIMIZER)
    return TRUE;
  for (guint i = 0; i < initialisation->n; i++)
    if (initialisation->fates[i].outcome == PLAIT_FATE_TAKEN)
      g_ptr_array_add (taken, (gpointer)initialisation->fates[i].parameter);
  g_ptr_array_add (taken, NULL);
  run = plait_trained_open_store (experiment->train.initialise, NULL, error);
  if (!run || !check_optimizer (experiment, run, error)
      || !plait_trainer_take (trainer, (const PlaitParameter *const *)taken->pdata, run, "/checkpoint/last", &step,
                              error))
    return FALSE;
  plait_log_info (log,
                  "the optimizer goes on after its update %" G_GINT64_FORMAT
                  ", and the schedule with it: moments of %u "
                  "of %u parameters are taken",
                  step, taken->len - 1, initialisation->n);
  return TRUE;
}
