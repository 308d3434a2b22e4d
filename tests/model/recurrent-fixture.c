/* SPDX-License-Identifier: MIT */
#include "recurrent-fixture.h"

#include "harness.h"
#include "layers/parameter-set.h"

#include <string.h>

const Recurrent *
recurrent_fixture_state (const RecurrentFixture *fixture)
{
  return fixture->decoder->instance.state;
}

const PlaitCrossAttentionLayer *
recurrent_fixture_cross (const RecurrentFixture *fixture)
{
  return &fixture->decoder->primitives[recurrent_fixture_state (fixture)->cross].cross;
}

/* Returns the settings of @plugin that @text names, such as "layers=1 attention=dot". (transfer full) */
static PlaitSettings *
parameters_of (PlaitPlugin *plugin, const char *text)
{
  PlaitSettings *settings = plait_fixture_settings (plugin);
  g_auto (GStrv) pairs = g_strsplit (text, " ", -1);

  for (guint i = 0; pairs[i]; i++)
    {
      g_auto (GStrv) pair = g_strsplit (pairs[i], "=", 2);

      CHECK (plait_settings_set (settings, pair[0], pair[1], NO_ERROR));
    }
  return settings;
}

void
recurrent_fixture_build (RecurrentFixture *fixture, const RecurrentCase *the_case)
{
  static const char *const names[MAX_MEMORIES] = { "0", "1" };
  static const PlaitPredictSettings sequence = { .kind = PLAIT_PREDICT_SEQUENCE };
  PlaitDecoderComponents build = {
    .settings = &the_case->settings, .predict = &sequence, .memories = fixture->memories, .losses = &fixture->losses
  };
  g_autoptr (PlaitSettings) settings = NULL;
  g_autoptr (PlaitSettings) own = NULL;
  PlaitPlugin *combiner, *plugin;
  PlaitTensor values;

  *fixture = (RecurrentFixture){ the_case, test_registry (), plait_parameters_new () };
  combiner = test_plugin (fixture->registry, PLAIT_PLUGIN_COMBINER, the_case->combiner);
  settings = plait_fixture_settings (combiner);
  if (the_case->projections)
    plait_settings_set (settings, "projections", the_case->projections, NULL);
  if (the_case->sentinel)
    plait_settings_set (settings, "sentinel", "true", NULL);
  if (plait_schema_parameter (combiner->schema, "context_heads"))
    plait_settings_set (settings, "context_heads", "1", NULL);
  fixture->combiner = test_opened_part (combiner, settings, "combiner");
  for (; fixture->n_memories < MAX_MEMORIES && the_case->inputs[fixture->n_memories]; fixture->n_memories++)
    fixture->memories[fixture->n_memories]
        = (PlaitMemorySpecification){ .name = names[fixture->n_memories], .width = the_case->memory_width };
  plugin = test_plugin (fixture->registry, PLAIT_PLUGIN_DECODER, the_case->settings.type);
  own = parameters_of (plugin, the_case->parameters);
  fixture->plugin = test_opened_part (plugin, own, "decoder");
  build.decoder = fixture->plugin;
  build.n_memories = fixture->n_memories;
  build.combiner = fixture->combiner;
  build.parameters = fixture->parameters;
  fixture->decoder = plait_decoder_new (&build, NO_ERROR);
  fixture->output = plait_linear_declare (fixture->parameters, "output", the_case->settings.width, WORDS, TRUE);
  CHECK (plait_parameters_allocate (fixture->parameters, NO_ERROR));
  values = plait_parameters_write_values (fixture->parameters);
  memset (values.data, 0, (gsize)values.width * sizeof *values.data);
}

void
recurrent_fixture_clear (RecurrentFixture *fixture)
{
  plait_parameters_free (fixture->parameters);
  plait_component_free (fixture->plugin);
  plait_component_free (fixture->combiner);
  plait_loss_columns_clear (&fixture->losses);
}

/*
 * Positions of the reference's weights in the parameters
 */

/* Visits rows @from to @from + @n - 1 of the reference's weight @name. In @parameter they begin at row @row and column
 * @column. If @parameter is NULL, does nothing. */
static void
visit_rows (const RecurrentFixture *fixture, PlaitParameter *parameter, gint64 row, gint64 column, const char *name,
            gint64 from, gint64 n)
{
  if (!parameter)
    return;
  if (fixture->checking)
    reference_check_block (parameter, row, column, fixture->the_case->name, name, from, n);
  else
    reference_set_block (parameter, row, column, fixture->the_case->name, name, from, n);
}

/* Visits all rows of the reference's weight PREFIX/PART. In @parameter they begin at row @row. */
static void
visit (const RecurrentFixture *fixture, PlaitParameter *parameter, gint64 row, gint64 column, const char *prefix,
       const char *part)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", prefix, part);
  g_autofree char *full = g_strdup_printf ("weights/%s", name);

  if (parameter)
    visit_rows (fixture, parameter, row, column, name, 0, reference (fixture->the_case->name, full)->rows);
}

/* Visits the weights of the reference's cell @name. Its input has @first numbers, which @cell reads, and then others,
 * which @second reads. */
static void
visit_cell (const RecurrentFixture *fixture, const PlaitCell *cell, const char *name, gint64 first,
            const PlaitLinear *second, gint64 second_width)
{
  gboolean lstm = cell->declaration.kind == PLAIT_CELL_LSTM;
  gint64 width = cell->declaration.width;

  for (gint64 i = 0; i < (lstm ? 4 : 3); i++)
    {
      char gate = (lstm ? "ifgo" : "rzh")[i];
      g_autofree char *input = g_strdup_printf ("%s/W%c", name, gate);
      const char part[][3] = { { 'U', gate }, { 'b', gate } };
      gboolean apart = cell->candidate.weight && i == 2;

      visit_rows (fixture, cell->input.weight, 0, i * width, input, 0, first);
      if (second)
        visit_rows (fixture, second->weight, 0, i * width, input, first, second_width);
      visit (fixture, apart ? cell->candidate.weight : cell->recurrent.weight, 0, apart ? 0 : i * width, name, part[0]);
      visit (fixture, cell->input.bias, 0, i * width, name, part[1]);
    }
}

static void
visit_item (const RecurrentFixture *fixture, const PlaitRecurrentAttentionItem *item, const char *name)
{
  visit (fixture, item->key.weight, 0, 0, name, "U");
  visit (fixture, item->key.bias, 0, 0, name, "b");
  visit (fixture, item->bias, 0, 0, name, "e0");
  visit (fixture, item->value.weight, 0, 0, name, "V");
  visit (fixture, item->value.bias, 0, 0, name, "d");
}

static void
visit_attention (const RecurrentFixture *fixture, const PlaitDeclaredAttention *declared, const char *name,
                 const char *items)
{
  const PlaitRecurrentAttention *attention;

  if (!declared)
    return;
  attention = &declared->recurrent;
  visit (fixture, attention->query.weight, 0, 0, name, "W");
  visit (fixture, attention->vector, 0, 0, name, "v");
  for (guint i = 0; i < attention->n_items; i++)
    {
      g_autofree char *item = items ? g_strdup_printf ("%s/%u", items, i) : g_strdup (name);

      visit_item (fixture, &attention->items[i], item);
    }
  if (attention->sentinel)
    visit_item (fixture, attention->sentinel, "combiner/psi");
}

static void
visit_cross_attention (const RecurrentFixture *fixture, const PlaitCrossAttentionLayer *cross)
{
  for (guint i = 0; i < fixture->n_memories; i++)
    {
      g_autofree char *name = g_strdup_printf ("combiner/attend/%u", i);

      visit_attention (fixture, test_declared_attention (cross, PLAIT_ATTEND_MEMORY, i), name, NULL);
      visit (fixture, cross->refine[i].weight, 0, 0, "combiner/R", plait_test_format ("%u", i));
    }
  if (cross->gate.state.weight)
    {
      visit_rows (fixture, cross->gate.state.weight, 0, 0, "combiner/sentinel/W", 0, STATE);
      visit_rows (fixture, cross->gate.embedding.weight, 0, 0, "combiner/sentinel/W", STATE, EMBEDDING);
      visit (fixture, cross->gate.embedding.bias, 0, 0, "combiner/sentinel", "b");
    }
  visit_attention (fixture, test_declared_attention (cross, PLAIT_ATTEND_JOINTLY, 0), "combiner/joint",
                   "combiner/attend");
  visit_attention (fixture, test_declared_attention (cross, PLAIT_ATTEND_CONTEXTS, 0), "combiner/joint",
                   "combiner/level2");
}

void
recurrent_fixture_visit_gru (const RecurrentFixture *fixture)
{
  const Recurrent *r = recurrent_fixture_state (fixture);
  gboolean conditional = r->settings.query == RECURRENT_QUERY_INTERMEDIATE;
  gint64 state = r->state_width, memory = fixture->memories[0].width;
  gint64 context = reference (fixture->the_case->name, "outputs/context")->width;

  if (conditional)
    {
      visit_cell (fixture, &r->cells[0], "gru1", EMBEDDING, NULL, 0);
      visit_cell (fixture, &r->second, "gru2", context, NULL, 0);
      visit (fixture, r->second.recurrent.bias, 0, 2 * state, "gru2", "ch");
    }
  else
    visit_cell (fixture, &r->cells[0], "gru", EMBEDDING, &r->context, context);
  visit_cross_attention (fixture, recurrent_fixture_cross (fixture));
  visit (fixture, r->readout.weight, 0, 0, "out", "W1");
  visit (fixture, r->readout.weight, state, 0, "out", "W3");
  visit (fixture, r->readout.weight, state + memory, 0, "out", "W2");
  visit (fixture, r->readout.bias, 0, 0, "out", "b1");
  visit (fixture, fixture->output.weight, 0, 0, "out", "W");
  visit (fixture, fixture->output.bias, 0, 0, "out", "b");
}

void
recurrent_fixture_visit_luong (const RecurrentFixture *fixture)
{
  const Recurrent *r = recurrent_fixture_state (fixture);

  visit_cell (fixture, &r->cells[0], "lstm", EMBEDDING, &r->feed, STATE);
  visit_rows (fixture, r->readout.weight, 0, 0, "Wc", 0, 2 * STATE);
  visit_rows (fixture, r->readout.bias, 0, 0, "bc", 0, 1);
  visit_rows (fixture, fixture->output.weight, 0, 0, "W", 0, STATE);
  visit_rows (fixture, fixture->output.bias, 0, 0, "b", 0, 1);
}
