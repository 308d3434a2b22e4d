/* SPDX-License-Identifier: MIT */
#include "recurrent-stand.h"

#include "harness.h"
#include "layers/parameter-set.h"

#include <string.h>

const PlaitRecurrent *
recurrent_stand_decoder (const RecurrentStand *stand)
{
  return (const PlaitRecurrent *)stand->decoder;
}

void
recurrent_stand_build (RecurrentStand *stand, const RecurrentCase *the_case)
{
  static const char *const names[MOST_MEMORIES] = { "0", "1" };
  static const PlaitPredictSettings sequence = { .kind = PLAIT_PREDICT_SEQUENCE };
  PlaitDecoderBuild build = {
    .settings = &the_case->settings, .predict = &sequence, .memories = stand->memories, .losses = &stand->losses
  };
  g_autoptr (PlaitSettings) settings = NULL;
  PlaitPlugin *combiner;
  PlaitTensor values;

  *stand = (RecurrentStand){ the_case, plait_registry_new (), plait_parameters_new () };
  combiner = test_plugin (stand->registry, PLAIT_PLUGIN_COMBINER, the_case->combiner);
  settings = plait_specimen_settings (combiner);
  if (the_case->projections)
    plait_settings_set (settings, "projections", the_case->projections, NULL);
  if (the_case->sentinel)
    plait_settings_set (settings, "sentinel", "true", NULL);
  if (plait_schema_parameter (combiner->schema, "context_heads"))
    plait_settings_set (settings, "context_heads", "1", NULL);
  stand->combiner = test_opened_part (combiner, settings, "combiner");
  for (; stand->n_memories < MOST_MEMORIES && the_case->inputs[stand->n_memories]; stand->n_memories++)
    stand->memories[stand->n_memories]
        = (PlaitMemorySpecification){ .name = names[stand->n_memories], .width = the_case->memory_width };
  build.n_memories = stand->n_memories;
  build.combiner = stand->combiner;
  build.parameters = stand->parameters;
  stand->decoder = plait_decoder_new (&build, NO_ERROR);
  stand->output = plait_linear_declare (stand->parameters, "output", the_case->settings.width, WORDS, TRUE);
  CHECK (plait_parameters_allocate (stand->parameters, NO_ERROR));
  values = plait_parameters_write_values (stand->parameters);
  memset (values.data, 0, (gsize)values.width * sizeof *values.data);
}

void
recurrent_stand_clear (RecurrentStand *stand)
{
  plait_parameters_free (stand->parameters);
  plait_part_free (stand->combiner);
  plait_registry_free (stand->registry);
  plait_loss_columns_clear (&stand->losses);
}

/*
 * Where the reference's weights stand.
 */

/* Rows @from .. @from + @n - 1 of the weight @name stand at row @row, column @column of @parameter (NULL: nowhere). */
static void
visit_rows (const RecurrentStand *stand, PlaitParameter *parameter, gint64 row, gint64 column, const char *name,
            gint64 from, gint64 n)
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
visit (const RecurrentStand *stand, PlaitParameter *parameter, gint64 row, gint64 column, const char *prefix,
       const char *part)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", prefix, part);
  g_autofree char *full = g_strdup_printf ("weights/%s", name);

  if (parameter)
    visit_rows (stand, parameter, row, column, name, 0, reference (stand->the_case->name, full)->rows);
}

/* The cell called @name there; what its input has after the first @first numbers is read by @second. */
static void
visit_cell (const RecurrentStand *stand, const PlaitCell *cell, const char *name, gint64 first,
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

      visit_rows (stand, cell->input.weight, 0, i * width, input, 0, first);
      if (second)
        visit_rows (stand, second->weight, 0, i * width, input, first, second_width);
      visit (stand, apart ? cell->candidate.weight : cell->recurrent.weight, 0, apart ? 0 : i * width, name, part[0]);
      visit (stand, cell->input.bias, 0, i * width, name, part[1]);
    }
}

static void
visit_item (const RecurrentStand *stand, const PlaitScoredItem *item, const char *name)
{
  visit (stand, item->key.weight, 0, 0, name, "U");
  visit (stand, item->key.bias, 0, 0, name, "b");
  visit (stand, item->bias, 0, 0, name, "e0");
  visit (stand, item->value.weight, 0, 0, name, "V");
  visit (stand, item->value.bias, 0, 0, name, "d");
}

static void
visit_attention (const RecurrentStand *stand, const PlaitReader *reader, const char *name, const char *items)
{
  const PlaitScoredAttention *attention;

  if (!reader)
    return;
  attention = &reader->scored;
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
visit_site (const RecurrentStand *stand, const PlaitDeclaredSite *site)
{
  for (guint i = 0; i < stand->n_memories; i++)
    {
      g_autofree char *name = g_strdup_printf ("combiner/attend/%u", i);

      visit_attention (stand, test_reader (site, PLAIT_READS_MEMORY, i), name, NULL);
      visit (stand, site->refine[i].weight, 0, 0, "combiner/R", plait_test_format ("%u", i));
    }
  if (site->gate.state.weight)
    {
      visit_rows (stand, site->gate.state.weight, 0, 0, "combiner/sentinel/W", 0, STATE);
      visit_rows (stand, site->gate.embedding.weight, 0, 0, "combiner/sentinel/W", STATE, EMBEDDING);
      visit (stand, site->gate.embedding.bias, 0, 0, "combiner/sentinel", "b");
    }
  visit_attention (stand, test_reader (site, PLAIT_READS_JOINTLY, 0), "combiner/joint", "combiner/attend");
  visit_attention (stand, test_reader (site, PLAIT_READS_CONTEXTS, 0), "combiner/joint", "combiner/level2");
}

void
recurrent_stand_visit_gru (const RecurrentStand *stand)
{
  const PlaitRecurrent *r = recurrent_stand_decoder (stand);
  gboolean conditional = r->settings->query == PLAIT_DECODER_QUERY_INTERMEDIATE;
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

void
recurrent_stand_visit_luong (const RecurrentStand *stand)
{
  const PlaitRecurrent *r = recurrent_stand_decoder (stand);

  visit_cell (stand, &r->cells[0], "lstm", EMBEDDING, &r->feed, STATE);
  visit_rows (stand, r->readout.weight, 0, 0, "Wc", 0, 2 * STATE);
  visit_rows (stand, r->readout.bias, 0, 0, "bc", 0, 1);
  visit_rows (stand, stand->output.weight, 0, 0, "W", 0, STATE);
  visit_rows (stand, stand->output.bias, 0, 0, "b", 0, 1);
}
