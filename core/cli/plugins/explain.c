/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "text/json.h"
#include "command/command.h"
#include "command/options.h"
#include "terminal/terminal.h"
#include "run/random-batches.h"
#include "weights/parameter-groups.h"
#include "setup/experiment-model.h"
#include "layers/parameter-set.h"

/* Implements plait explain: prints the model of an experiment, component by component, without training. */

#define LABEL_WIDTH 12

typedef struct
{
  const PlaitOverride *sets;
  gboolean json;
} Options;

/* Parameters of one shape whose names differ only in parts that are numbers, such as the number of the layer. */
typedef struct
{
  char *name; /* common name, with '*' in place of numbers */
  gint64 rows;
  gint64 width;
  guint times;
} Shape;

typedef struct
{
  const PlaitExperiment *experiment;
  PlaitExperimentModel *experiment_model;
  GPtrArray *parts;   /* (element-type PlaitParameterGroup) */
  double *operations; /* [parts]: multiply-adds for each token; NaN if they were not counted */
} Explanation;

static void
shape_clear (gpointer shape)
{
  g_free (((Shape *)shape)->name);
}

/*
 * Functions for the shapes of parameters
 */

/* Returns @name with "*" in place of each part, between slashes, that is a number, such as the 3 of "layer/3/norm".
 * (transfer full) */
static char *
without_numbers (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);

  for (guint i = 0; parts[i]; i++)
    if (*parts[i] != '\0' && strspn (parts[i], "0123456789") == strlen (parts[i]))
      {
        g_free (parts[i]);
        parts[i] = g_strdup ("*");
      }
  return g_strjoinv ("/", parts);
}

static void
add_shape (GArray *shapes, const PlaitParameterGroup *part, const PlaitParameter *parameter)
{
  Shape shape
      = { without_numbers (parameter->name + strlen (part->prefix)), parameter->value.rows, parameter->value.width, 1 };

  for (guint i = 0; i < shapes->len; i++)
    {
      Shape *other = &g_array_index (shapes, Shape, i);

      if (other->rows != shape.rows || other->width != shape.width || !g_str_equal (other->name, shape.name))
        continue;
      other->times++;
      g_free (shape.name);
      return;
    }
  g_array_append_val (shapes, shape);
}

/* Returns the shapes of the parameters in @part. Parameters with equal shapes, and with names that differ only in
 * numbers, share one Shape. (transfer full) (element-type Shape) */
static GArray *
shapes_of (const PlaitParameterGroup *part)
{
  GArray *shapes = g_array_new (FALSE, FALSE, sizeof (Shape));

  g_array_set_clear_func (shapes, shape_clear);
  for (guint i = 0; i < part->parameters->len; i++)
    add_shape (shapes, part, part->parameters->pdata[i]);
  return shapes;
}

/*
 * Functions for the components of the model
 */

/* Returns the equations that @part computes, separated by ';', or NULL. */
static const char *
equations_of (const PlaitExperiment *experiment, const PlaitParameterGroup *part)
{
  if (part->component)
    return part->component->schema->equations;
  return g_str_equal (part->title, "prediction") ? plait_predict_equations (experiment->predict.kind) : NULL;
}

/* Returns the name of a source, or "target". The operations of @part are counted for each token of this text. */
static const char *
token_of (const PlaitParameterGroup *part)
{
  return part->source ? part->source->name : "target";
}

/*
 * Functions that count operations
 */

typedef struct
{
  const Explanation *explanation;
  PlaitTape *tape;
  const PlaitBatch *batch;
  double *sources; /* [n_sources]: multiply-adds of each source's encoder */
  double decoder;
  double output; /* multiply-adds of the output plugin; note_operations adds those of the vocabulary's table */
} Pass;

/* Runs one forward pass in evaluation mode and counts its multiply-adds. */
static void
forward (gpointer data)
{
  Pass *pass = data;
  const PlaitModel *model = pass->explanation->experiment_model->model;
  PlaitEncoderOutputs encoded;
  PlaitNode *states;
  double before;

  plait_tape_begin (pass->tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  encoded = plait_model_encode (model, pass->tape, pass->batch, NULL);
  memcpy (pass->sources, encoded.multiplications, plait_model_specification (model)->n_sources * sizeof *pass->sources);
  if (!plait_experiment_has_decoder (pass->explanation->experiment))
    return;
  before = plait_tape_multiplications (pass->tape);
  states = plait_model_states (model, pass->tape, &encoded, pass->batch, NULL);
  pass->decoder = plait_tape_multiplications (pass->tape) - before;
  plait_model_words (model, pass->tape, &encoded, states, pass->batch->target_rows, NULL);
  pass->output = plait_tape_multiplications (pass->tape) - before - pass->decoder;
}

static void
note_operations (const Explanation *explanation, const Pass *pass)
{
  const PlaitModelOutput *output = plait_model_output (explanation->experiment_model->model);
  gboolean decodes = plait_experiment_has_decoder (explanation->experiment);
  double tokens = decodes ? (double)MAX (plait_ragged_rows (pass->batch->target_rows), 1) : 1;
  guint s = 0;

  for (guint i = 0; i < explanation->parts->len; i++)
    {
      const PlaitParameterGroup *part = explanation->parts->pdata[i];
      double *operations = &explanation->operations[i];

      *operations = NAN;
      if (part->source)
        {
          *operations = pass->sources[s] / (double)MAX (plait_ragged_rows (pass->batch->inputs[s].rows), 1);
          s++;
        }
      else if (!decodes)
        continue;
      else if (g_str_equal (part->title, "decoder"))
        *operations = pass->decoder / tokens;
      else if (g_str_equal (part->title, "prediction"))
        *operations
            = (double)(output->shape.table->value.rows * output->shape.table->value.width) + pass->output / tokens;
    }
}

/* Counts the multiply-adds of matrix products and attention in a forward pass over random text. */
static gboolean
count_operations (const Explanation *explanation, GError **error)
{
  const PlaitExperiment *experiment = explanation->experiment;
  g_autoptr (PlaitTuples) tuples = plait_tuples_new (experiment, error);
  g_autoptr (PlaitRandomBatches) data
      = tuples && plait_tuples_draw (tuples, error)
            ? plait_tuples_batch (tuples, !plait_experiment_has_decoder (experiment), 1, error)
            : NULL;
  g_autoptr (PlaitPool) pool = data ? plait_pool_new (1, error) : NULL;
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = pool ? plait_tape_new (pool, arena) : NULL;
  g_autofree double *sources = g_new0 (double, experiment->n_sources);
  Pass pass = { explanation, tape, NULL, sources, 0, 0 };

  if (!tape)
    return FALSE;
  pass.batch = data->batches->pdata[0];
  plait_experiment_model_initialise (explanation->experiment_model, pool);
  if (!plait_model_check_batch (explanation->experiment_model->model, pass.batch, error)
      || !plait_arena_protect (arena, forward, &pass, error))
    return FALSE;
  note_operations (explanation, &pass);
  return TRUE;
}

/*
 * Functions that print
 */

static void
print_part (const Explanation *explanation, guint p, PlaitTerminal *terminal)
{
  const PlaitParameterGroup *part = explanation->parts->pdata[p];
  g_autoptr (GArray) shapes = shapes_of (part);
  g_autofree char *heading = part->component ? g_strdup_printf ("%s: %s", part->title, part->component->plugin->name)
                                             : g_strdup (part->title);
  g_autofree char *parameters = g_strdup_printf ("%jd", part->count);
  guint n_memories;
  const PlaitMemorySpecification *memories = plait_model_memories (explanation->experiment_model->model, &n_memories);
  const char *label = "Memory";

  plait_terminal_heading (terminal, heading);
  plait_terminal_list (terminal, LABEL_WIDTH, "Equations", equations_of (explanation->experiment, part));
  for (guint i = 0; part->source && i < n_memories; i++)
    if (plait_model_memory_is_of (&memories[i], part->source->name))
      {
        g_autofree char *text = g_strdup_printf ("%s [rows, %jd]", memories[i].name, memories[i].width);

        plait_terminal_row (terminal, LABEL_WIDTH, label, text);
        label = "";
      }
  plait_terminal_row (terminal, LABEL_WIDTH, "Parameters", parameters);
  for (guint i = 0; i < shapes->len; i++)
    {
      const Shape *shape = &g_array_index (shapes, Shape, i);
      g_autofree char *times = shape->times > 1 ? g_strdup_printf (", %u times", shape->times) : g_strdup ("");
      g_autofree char *text = g_strdup_printf ("%s [%jd, %jd]%s", shape->name, shape->rows, shape->width, times);

      plait_terminal_row (terminal, LABEL_WIDTH, "", text);
    }
  if (!isnan (explanation->operations[p]))
    {
      const char *token = token_of (part);
      g_autofree char *operations = g_strdup_printf ("%.0f multiply-adds per token of %s", explanation->operations[p],
                                                     g_str_equal (token, "target") ? "the target" : token);

      plait_terminal_row (terminal, LABEL_WIDTH, "Operations", operations);
    }
}

/* Returns the value of train.precision: the number format of matrices that training multiplies. */
static const char *
precision_of (const Explanation *explanation)
{
  return plait_experiment_value (explanation->experiment, "train", "precision");
}

static gint64
parameters_of (const Explanation *explanation)
{
  return plait_parameters_count (plait_model_parameters (explanation->experiment_model->model), NULL);
}

static void
print_text (const Explanation *explanation)
{
  const PlaitExperiment *experiment = explanation->experiment;
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autofree char *sum = g_strdup_printf (
      "%jd parameters, with vocabularies of %jd entries (data.vocabulary_size). Operations are those of matrix "
      "products and attention in a forward pass over random sentences with a mean length of %.0f tokens (plait inspect "
      "bench). The decoder's operations include those of its combiner and coverage.",
      parameters_of (explanation), experiment->data.vocabulary_size, experiment->bench.mean_length);
  g_autofree char *precision = g_strdup_printf ("Training multiplies by weights in %s.", precision_of (explanation));

  for (guint i = 0; i < explanation->parts->len; i++)
    print_part (explanation, i, terminal);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  plait_terminal_paragraph (terminal, 0, 0, sum);
  if (experiment->train.precision != PLAIT_TRAIN_PRECISION_FLOAT)
    plait_terminal_paragraph (terminal, 0, 0, precision);
}

static void
add_part_json (const Explanation *explanation, guint p, PlaitJson *json)
{
  const PlaitParameterGroup *part = explanation->parts->pdata[p];
  const char *lines = equations_of (explanation->experiment, part);
  g_auto (GStrv) equations = g_strsplit (lines ? lines : "", ";", -1);
  g_autoptr (GArray) shapes = shapes_of (part);
  guint n_memories;
  const PlaitMemorySpecification *memories = plait_model_memories (explanation->experiment_model->model, &n_memories);

  plait_json_begin_object (json, NULL);
  plait_json_members (json, "component=%s plugin=%s", part->title,
                      part->component ? part->component->plugin->name : NULL);
  plait_json_texts (json, "equations", (const char *const *)equations, -1);
  plait_json_begin_array (json, "memories");
  for (guint i = 0; part->source && i < n_memories; i++)
    if (plait_model_memory_is_of (&memories[i], part->source->name))
      plait_json_object (json, NULL, "name=%s width=%jd", memories[i].name, memories[i].width);
  plait_json_end_array (json);
  plait_json_integer (json, "parameters", part->count);
  plait_json_begin_array (json, "shapes");
  for (guint i = 0; i < shapes->len; i++)
    {
      const Shape *shape = &g_array_index (shapes, Shape, i);

      plait_json_object (json, NULL, "name=%s rows=%jd width=%jd times=%u", shape->name, shape->rows, shape->width,
                         shape->times);
    }
  plait_json_end_array (json);
  plait_json_members (json, "multiply_adds_a_token=%g token_of=%s", explanation->operations[p],
                      isnan (explanation->operations[p]) ? NULL : token_of (part));
  plait_json_end_object (json);
}

static void
print_json (const Explanation *explanation)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "name=%s parameters=%jd vocabulary_size=%jd training_precision=%s",
                      explanation->experiment->name, parameters_of (explanation),
                      explanation->experiment->data.vocabulary_size, precision_of (explanation));
  plait_json_begin_array (json, "components");
  for (guint i = 0; i < explanation->parts->len; i++)
    add_part_json (explanation, i, json);
  plait_json_end_array (json);
  plait_json_print (json);
}

static gboolean
explain (const PlaitExperiment *experiment, gboolean as_json, GError **error)
{
  g_autoptr (PlaitExperimentModel) experiment_model = plait_random_batches_model (experiment, error);
  g_autoptr (GPtrArray) parts
      = experiment_model ? plait_parameter_groups_new (experiment, plait_model_parameters (experiment_model->model))
                         : NULL;
  g_autofree double *operations = parts ? g_new (double, parts->len) : NULL;
  const Explanation explanation = { experiment, experiment_model, parts, operations };

  if (!experiment_model || !count_operations (&explanation, error))
    return FALSE;
  if (as_json)
    print_json (&explanation);
  else
    print_text (&explanation);
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  /* Count operations over a few sentences, whatever batch size the file sets. */
  static const PlaitOverride few[]
      = { { "train.batch", "8" }, { "train.batch_unit", "sentences" }, { "decode.batch", "8" } };
  g_autoptr (GArray) all = g_array_new (TRUE, FALSE, sizeof (PlaitOverride));

  for (guint i = 0; options->sets && options->sets[i].key; i++)
    g_array_append_val (all, options->sets[i]);
  g_array_append_vals (all, few, G_N_ELEMENTS (few));
  registry = plait_registry_new ();
  experiment = plait_experiment_load (invocation->arguments[0], (const PlaitOverride *)(gpointer)all->data,
                                      PLAIT_RESOLVE_WITHOUT_DATA, registry, error);
  return experiment && explain (experiment, options->json, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("set", 's', SETS, sets, "Set a key, such as decoder.combiner=flat", "G.K=V"),
  PLAIT_OPTION_UNSET (Options, sets),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_explain = {
  .name = "explain",
  .synopsis = "FILE [--set G.K=V]... [--unset G.K]... [--json]",
  .summary = "Show the equations, shapes and costs of an experiment's model",
  .details
  = "For each component of the model it prints: the equations, from the plugins' schemas and the decoder's settings; "
    "the memories of an encoder; the number and shapes of parameters, equal layers in one line; and the multiply-adds "
    "of matrix products and attention per token of a forward pass. No data are read: vocabularies have "
    "data.vocabulary_size entries, and operations are counted over random sentences as the group [bench] describes.\n"
    "\n"
    "Examples:\n"
    "  plait explain first.ini\n"
    "  plait explain first.ini --set decoder.combiner=flat --json",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 1,
  .run = run_command,
};
