/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "model/recurrent-step.h"
#include "models.h"
#include "reference.h"

#include <string.h>

/*
 * Three steps of whole recurrent decoders against the float64 reference: states, contexts, weights, scores of words and
 * all gradients. The reference has embeddings of 4 numbers and, where a combiner has values of its own, contexts of 5;
 * here embeddings are as wide as the readout and contexts as the memories, so that the rest of both is zeros.
 */

#define STEPS 3
#define WORDS 9
#define EMBEDDING 4
#define STATE 6
#define MOST_MEMORIES 2

typedef struct
{
  const char *name; /* of the case */
  const char *combiner;
  const char *projections; /* or NULL */
  gboolean sentinel;
  const char *inputs[MOST_MEMORIES]; /* the memories */
  const char *weights[MOST_MEMORIES];
  gint64 memory_width;
  PlaitDecoderSettings settings;
} Case;

/* A decoder with the parameters of a case, and an output layer. */
typedef struct
{
  const Case *the_case;
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  gpointer combiner_settings;
  PlaitMemorySpecification memories[MOST_MEMORIES];
  guint n_memories;
  PlaitDecoder *decoder;
  PlaitLinear output;
  gboolean checking; /* gradients, instead of setting values */
} Stand;

static const PlaitRecurrent *
recurrent (const Stand *stand)
{
  return (const PlaitRecurrent *)stand->decoder;
}

static void
stand_build (Stand *stand, const Case *the_case)
{
  static const char *const names[MOST_MEMORIES] = { "0", "1" };
  PlaitDecoderBuild build = { .settings = &the_case->settings, .memories = stand->memories };
  g_autoptr (PlaitSettings) settings = NULL;
  GError *error = NULL;
  PlaitPlugin *combiner;
  PlaitTensor values;

  *stand = (Stand){ the_case, plait_registry_new (), plait_parameters_new () };
  combiner = test_plugin (stand->registry, PLAIT_PLUGIN_COMBINER, the_case->combiner);
  settings = test_small_settings (combiner);
  if (the_case->projections)
    plait_settings_set (settings, "projections", the_case->projections, NULL);
  if (the_case->sentinel)
    plait_settings_set (settings, "sentinel", "true", NULL);
  if (plait_schema_parameter (combiner->schema, "context_heads"))
    plait_settings_set (settings, "context_heads", "1", NULL);
  stand->combiner_settings = plait_plugin_new_settings (combiner, settings);
  for (; stand->n_memories < MOST_MEMORIES && the_case->inputs[stand->n_memories]; stand->n_memories++)
    stand->memories[stand->n_memories]
        = (PlaitMemorySpecification){ .name = names[stand->n_memories], .width = the_case->memory_width };
  build.n_memories = stand->n_memories;
  build.combiner = combiner->descriptor->table;
  build.combiner_settings = stand->combiner_settings;
  build.parameters = stand->parameters;
  stand->decoder = plait_decoder_new (&build, &error);
  CHECK_NO_ERROR (error);
  stand->output = plait_linear_declare (stand->parameters, "output", the_case->settings.width, WORDS, TRUE);
  CHECK (plait_parameters_allocate (stand->parameters, &error));
  CHECK_NO_ERROR (error);
  values = plait_parameters_write_values (stand->parameters);
  memset (values.data, 0, (gsize)values.width * sizeof *values.data);
}

static void
stand_clear (Stand *stand)
{
  plait_decoder_free (stand->decoder);
  plait_parameters_free (stand->parameters);
  plait_registry_free (stand->registry);
  g_free (stand->combiner_settings);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stand, stand_clear)

/*
 * Where the reference's weights stand.
 */

/* Rows @from .. @from + @n - 1 of the weight @name stand at row @row, column @column of @parameter (NULL: nowhere). */
static void
visit_rows (const Stand *stand, PlaitParameter *parameter, gint64 row, gint64 column, const char *name, gint64 from,
            gint64 n)
{
  if (!parameter)
    return;
  if (stand->checking)
    reference_check_block (parameter, row, column, stand->the_case->name, name, from, n);
  else
    reference_set_block (parameter, row, column, stand->the_case->name, name, from, n);
}

/* All rows of the weight PREFIX/PART, from row @row on. */
static void
visit (const Stand *stand, PlaitParameter *parameter, gint64 row, gint64 column, const char *prefix, const char *part)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", prefix, part);
  g_autofree char *full = g_strdup_printf ("weights/%s", name);

  if (parameter)
    visit_rows (stand, parameter, row, column, name, 0, reference (stand->the_case->name, full)->rows);
}

/* The cell called @name there; what its input has after the first @first numbers is read by @second. */
static void
visit_cell (const Stand *stand, const PlaitCell *cell, const char *name, gint64 first, const PlaitLinear *second,
            gint64 second_width)
{
  gboolean lstm = cell->declaration.kind == PLAIT_CELL_LSTM;
  gint64 width = cell->declaration.width;

  for (gint64 i = 0; i < (lstm ? 4 : 3); i++)
    {
      char gate = (lstm ? "ifgo" : "rzh")[i];
      g_autofree char *input = g_strdup_printf ("%s/W%c", name, gate);
      const char part[][3] = { { 'U', gate }, { 'b', gate } };
      gboolean apart = cell->candidate.weight && i == 2;

      visit_rows (stand, cell->input.weight, 0, i * width, input, 0, first);
      if (second)
        visit_rows (stand, second->weight, 0, i * width, input, first, second_width);
      visit (stand, apart ? cell->candidate.weight : cell->recurrent.weight, 0, apart ? 0 : i * width, name, part[0]);
      visit (stand, cell->input.bias, 0, i * width, name, part[1]);
    }
}

static void
visit_item (const Stand *stand, const PlaitScoredItem *item, const char *name)
{
  visit (stand, item->key.weight, 0, 0, name, "U");
  visit (stand, item->key.bias, 0, 0, name, "b");
  visit (stand, item->bias, 0, 0, name, "e0");
  visit (stand, item->value.weight, 0, 0, name, "V");
  visit (stand, item->value.bias, 0, 0, name, "d");
}

static void
visit_attention (const Stand *stand, const PlaitScoredAttention *attention, const char *name, const char *items)
{
  if (!attention->declared)
    return;
  visit (stand, attention->query.weight, 0, 0, name, "W");
  visit (stand, attention->vector, 0, 0, name, "v");
  for (guint i = 0; i < attention->n_items; i++)
    {
      g_autofree char *item = items ? g_strdup_printf ("%s/%u", items, i) : g_strdup (name);

      visit_item (stand, &attention->items[i], item);
    }
  if (attention->sentinel)
    visit_item (stand, attention->sentinel, "combiner/psi");
}

static void
visit_site (const Stand *stand, const PlaitRecurrentSite *site)
{
  for (guint i = 0; i < stand->n_memories; i++)
    {
      g_autofree char *name = g_strdup_printf ("combiner/attend/%u", i);
      g_autofree char *refine = g_strdup_printf ("%u", i);

      visit_attention (stand, &site->attend[i], name, NULL);
      visit (stand, site->refine[i].weight, 0, 0, "combiner/R", refine);
    }
  if (site->gate.state.weight)
    {
      visit_rows (stand, site->gate.state.weight, 0, 0, "combiner/sentinel/W", 0, STATE);
      visit_rows (stand, site->gate.embedding.weight, 0, 0, "combiner/sentinel/W", STATE, EMBEDDING);
      visit (stand, site->gate.embedding.bias, 0, 0, "combiner/sentinel", "b");
    }
  visit_attention (stand, &site->jointly, "combiner/joint", "combiner/attend");
  visit_attention (stand, &site->contexts, "combiner/joint", "combiner/level2");
}

/* The decoders over the combiners. */
static void
visit_combined (const Stand *stand)
{
  const PlaitRecurrent *r = recurrent (stand);
  gboolean conditional = r->settings->query == PLAIT_QUERY_INTERMEDIATE;
  gint64 state = r->state_width, memory = stand->memories[0].width;
  gint64 context = reference (stand->the_case->name, "outputs/context")->width;

  if (conditional)
    {
      visit_cell (stand, &r->cells[0], "gru1", EMBEDDING, NULL, 0);
      visit_cell (stand, &r->second, "gru2", context, NULL, 0);
      visit (stand, r->second.recurrent.bias, 0, 2 * state, "gru2", "ch");
    }
  else
    visit_cell (stand, &r->cells[0], "gru", EMBEDDING, &r->context, context);
  visit_site (stand, &r->site);
  visit (stand, r->readout.weight, 0, 0, "out", "W1");
  visit (stand, r->readout.weight, state, 0, "out", "W3");
  visit (stand, r->readout.weight, state + memory, 0, "out", "W2");
  visit (stand, r->readout.bias, 0, 0, "out", "b1");
  visit (stand, stand->output.weight, 0, 0, "out", "W");
  visit (stand, stand->output.bias, 0, 0, "out", "b");
}

/*
 * Running
 */

/* The embeddings @y with zeros up to the decoder's width. */
static PlaitNode *
widen (Bench *bench, PlaitNode *y, gint64 width)
{
  PlaitNode *parts[] = { y, bench_leaf (bench, y->value.rows, width - y->value.width, NULL) };

  return plait_concatenate_columns (bench->tape, parts, 2);
}

/* What three steps gave, row by row. */
typedef struct
{
  PlaitScalar state[STEPS * 8];
  PlaitScalar cell[STEPS * 8];
  PlaitScalar context[STEPS * 8];
  PlaitScalar feed[STEPS * 8];
  PlaitScalar logits[STEPS * WORDS];
  PlaitScalar weights[MOST_MEMORIES][STEPS * 8];
  PlaitScalar contexts[STEPS * (MOST_MEMORIES + 1)]; /* the sentinel last, where it is of the second level */
  PlaitScalar sentinel[STEPS];
} Given;

/* Copies row 0 of @from to row @t of @to. */
static void
keep (PlaitScalar *to, gint64 t, PlaitTensor from)
{
  memcpy (to + t * from.width, from.data, (gsize)from.width * sizeof *to);
}

static void
keep_weights (Given *given, gint64 t, const PlaitCapture *capture, const PlaitMemory *memories)
{
  guint n = capture->n_memories;
  gboolean sentinel = capture->sentinels[0].heads > 0;
  PlaitScalar *contexts = given->contexts + t * (n + sentinel);

  for (guint m = 0; m < n; m++)
    keep (given->weights[m], t, plait_tensor (capture->memories[m].weights, 1, plait_ragged_rows (memories[m].rows)));
  if (capture->contexts[0].heads > 0)
    keep (contexts, 0, plait_tensor (capture->contexts[0].weights, 1, n));
  if (sentinel)
    contexts[n] = given->sentinel[t] = *capture->sentinels[0].weights;
}

/* Runs the steps from @carried over @embedded; returns what goes back: everything times its cotangent. */
static PlaitNode *
run (Bench *bench, const Stand *stand, const PlaitMemory *memories, PlaitRecurrentCarried carried, PlaitNode *embedded,
     Given *given)
{
  static const gint64 one_query[] = { 0, 1 }, steps[STEPS] = { 0, 1, 2 };
  const PlaitRecurrent *r = recurrent (stand);
  const char *name = stand->the_case->name;
  PlaitTape *tape = bench->tape;
  gboolean feeding = r->settings->input_feeding, cells = plait_recurrent_has_cells (r);
  PlaitScoredKeys keys = plait_recurrent_site_project (&r->site, tape, memories);
  PlaitRecurrentInput input = plait_recurrent_input (r, tape, embedded);
  PlaitNode *terms[STEPS * 3];
  guint n = 0;

  for (gint64 t = 0; t < STEPS; t++)
    {
      PlaitCapture *capture = plait_capture_new (bench->arena, 1, stand->n_memories, FALSE);
      PlaitSitePass pass = plait_site_pass (tape, memories, stand->n_memories, (PlaitRagged){ 1, one_query }, capture);
      PlaitRecurrentStep step
          = plait_recurrent_advance (r, &pass, &keys, plait_recurrent_input_rows (tape, input, steps + t, 1), &carried);
      PlaitNode *readout
          = plait_recurrent_read_out (r, tape, step.state, plait_rows (tape, embedded, t, 1), step.context),
          *logits;

      logits = plait_linear_apply (tape, &stand->output, readout, PLAIT_ACTIVATION_NONE);
      carried.readout = feeding ? readout : NULL;
      keep (given->state, t, step.state->value);
      keep (given->logits, t, logits->value);
      keep_weights (given, t, capture, memories);
      terms[n++] = reference_weigh (bench, logits, name, "logits", t);
      terms[n++] = reference_weigh (bench, step.state, name, "state", t);
      if (cells)
        keep (given->cell, t, carried.layers[0].cell->value);
      if (feeding)
        keep (given->feed, t, readout->value);
      if (!feeding)
        {
          gint64 width = reference (name, "outputs/context")->width;
          PlaitNode *context = plait_columns (tape, step.context, 0, width);

          memcpy (given->context + t * width, context->value.data, (gsize)width * sizeof (PlaitScalar));
          terms[n++] = reference_weigh (bench, context, name, "context", t);
          for (gint64 i = width; i < step.context->value.width; i++)
            CHECK (plait_tensor_row (step.context->value, 0)[i] == 0);
        }
      else
        terms[n++] = plait_sum (tape,
                                (PlaitNode *[]){ reference_weigh (bench, readout, name, "feed", t),
                                                 reference_weigh (bench, carried.layers[0].cell, name, "cell", t) },
                                2);
    }
  return plait_sum (tape, terms, n);
}

static PlaitNode *
input_of (Bench *bench, const Case *the_case, const char *path)
{
  return reference_input (bench, the_case->name, path + strlen ("inputs/"));
}

/* Values and gradients; @visit_decoder says where the weights stand. */
static void
check_steps (const Case *the_case, void (*visit_decoder) (const Stand *stand))
{
  CONTEXT ("%s", the_case->name);
  g_auto (Stand) stand = { NULL };
  g_auto (Bench) bench = { NULL };
  gint64 offsets[MOST_MEMORIES][2] = { { 0 } };
  PlaitMemory memories[MOST_MEMORIES] = { { NULL } };
  PlaitNode *y, *s0, *c0 = NULL, *feed = NULL, *coverage[MOST_MEMORIES] = { NULL }, *root;
  PlaitRecurrentCarried carried = { .coverage = coverage };
  PlaitCellState layer;
  Given given = { 0 };

  stand_build (&stand, the_case);
  /* Not before plugins are tried in a forked child, which AddressSanitizer does not survive while threads start. */
  bench = bench_new (1);
  visit_decoder (&stand);
  bench_begin (&bench, PLAIT_TAPE_CHECK);
  for (guint i = 0; i < stand.n_memories; i++)
    {
      memories[i] = (PlaitMemory){ .states = input_of (&bench, the_case, the_case->inputs[i]) };
      offsets[i][1] = memories[i].states->value.rows;
      memories[i].rows = (PlaitRagged){ 1, offsets[i] };
    }
  y = reference_input (&bench, the_case->name, "y");
  s0 = reference_input (&bench, the_case->name, "s0");
  if (plait_recurrent_has_cells (recurrent (&stand)))
    c0 = reference_input (&bench, the_case->name, "c0");
  if (the_case->settings.input_feeding)
    carried.readout = feed = reference_input (&bench, the_case->name, "feed");
  layer = (PlaitCellState){ s0, c0 };
  carried.layers = &layer;
  root = run (&bench, &stand, memories, carried, widen (&bench, y, the_case->settings.width), &given);
  reference_check_output (given.state, the_case->name, "state");
  reference_check_output (given.logits, the_case->name, "logits");
  if (feed)
    reference_check_output (given.feed, the_case->name, "feed");
  else
    reference_check_output (given.context, the_case->name, "context");
  if (c0)
    reference_check_output (given.cell, the_case->name, "cell");
  for (guint i = 0; i < stand.n_memories; i++)
    if (offsets[i][1] > 0)
      reference_check_output (given.weights[i], the_case->name, the_case->weights[i]);
  if (recurrent (&stand)->site.contexts.declared)
    reference_check_output (given.contexts, the_case->name, "level2");
  else if (the_case->sentinel)
    reference_check_output (given.sentinel, the_case->name, "psi");
  plait_tape_backward (bench.tape, root);
  stand.checking = TRUE;
  visit_decoder (&stand);
  reference_check_input (y, the_case->name, "y");
  reference_check_input (s0, the_case->name, "s0");
  if (c0)
    reference_check_input (c0, the_case->name, "c0");
  if (feed)
    reference_check_input (feed, the_case->name, "feed");
  for (guint i = 0; i < stand.n_memories; i++)
    reference_check_input (memories[i].states, the_case->name, the_case->inputs[i] + strlen ("inputs/"));
}

/* The case recurrent/NAME: a plain or a conditional GRU decoder over two memories. */
static void
check_gru (const char *name, const char *combiner, const char *projections)
{
  g_autofree char *path = g_strdup_printf ("recurrent/%s", name);
  gboolean conditional = g_str_has_prefix (name, "conditional");
  Case the_case = {
    .name = path,
    .combiner = combiner,
    .projections = projections,
    .sentinel = strstr (name, "_sentinel_") != NULL,
    .inputs = { "inputs/memory0", "inputs/memory1" },
    .weights = { "weights0", "weights1" },
    .memory_width = 8,
    .settings = test_decoder_settings (),
  };

  the_case.settings.type = PLAIT_DECODER_GRU;
  the_case.settings.layers = 1;
  the_case.settings.width = 7;
  the_case.settings.state_width = STATE;
  the_case.settings.attention_width = 7;
  the_case.settings.initial = PLAIT_INITIAL_ZERO;
  the_case.settings.query = conditional ? PLAIT_QUERY_INTERMEDIATE : PLAIT_QUERY_PREVIOUS;
  the_case.settings.reset = conditional ? PLAIT_RESET_AFTER : PLAIT_RESET_BEFORE;
  check_steps (&the_case, visit_combined);
}

TEST_CASE (recurrent_steps, chen2017_equations_3_to_7_over_two_memories)
{
  check_gru ("plain_parallel_32", "parallel", NULL);
}

TEST_CASE (recurrent_steps, dl4mt_conditional_gru)
{
  check_gru ("conditional_parallel_32", "parallel", NULL);
}

TEST_CASE (recurrent_steps, serial_refines_the_query)
{
  check_gru ("plain_serial_32", "serial", NULL);
  check_gru ("conditional_serial_30", "serial", NULL);
}

TEST_CASE (recurrent_steps, libovicky2017_equations_6_to_8_flat)
{
  check_gru ("plain_flat_30", "flat", "separate");
  check_gru ("conditional_flat_32", "flat", "separate");
}

TEST_CASE (recurrent_steps, flat_with_one_projection_for_all)
{
  check_gru ("plain_flat_shared_32", "flat", "shared");
}

TEST_CASE (recurrent_steps, libovicky2017_equations_9_and_10_hierarchical)
{
  check_gru ("plain_hierarchical_32", "hierarchical", NULL);
  check_gru ("conditional_hierarchical_30", "hierarchical", NULL);
}

TEST_CASE (recurrent_steps, libovicky2017_sentinel_in_one_softmax)
{
  check_gru ("plain_flat_sentinel_32", "flat", "separate");
  check_gru ("conditional_flat_sentinel_30", "flat", "separate");
}

TEST_CASE (recurrent_steps, libovicky2017_sentinel_over_contexts)
{
  check_gru ("plain_hierarchical_sentinel_30", "hierarchical", "separate");
  check_gru ("conditional_hierarchical_sentinel_32", "hierarchical", NULL);
}

static void
visit_luong (const Stand *stand)
{
  const PlaitRecurrent *r = recurrent (stand);

  visit_cell (stand, &r->cells[0], "lstm", EMBEDDING, &r->feed, STATE);
  visit_rows (stand, r->readout.weight, 0, 0, "Wc", 0, 2 * STATE);
  visit_rows (stand, r->readout.bias, 0, 0, "bc", 0, 1);
  visit_rows (stand, stand->output.weight, 0, 0, "W", 0, STATE);
  visit_rows (stand, stand->output.bias, 0, 0, "b", 0, 1);
}

TEST_CASE (recurrent_steps, luong2015_section_3_input_feeding_lstm)
{
  Case the_case = {
    .name = "recurrent/luong",
    .combiner = "serial",
    .inputs = { "inputs/m" },
    .weights = { "weights" },
    .memory_width = STATE,
    .settings = test_decoder_settings (),
  };

  the_case.settings.type = PLAIT_DECODER_LSTM;
  the_case.settings.layers = 1;
  the_case.settings.width = STATE;
  the_case.settings.query = PLAIT_QUERY_CURRENT;
  the_case.settings.attention = PLAIT_SCORE_DOT;
  the_case.settings.input_feeding = TRUE;
  the_case.settings.readout = PLAIT_READOUT_ATTENTIONAL;
  the_case.settings.initial = PLAIT_INITIAL_ZERO;
  check_steps (&the_case, visit_luong);
}
