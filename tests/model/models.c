/* SPDX-License-Identifier: MIT */
#include "models.h"

#include "data/batch.h"
#include "harness.h"

#include <string.h>

PlaitDecoderSettings
test_decoder_settings (void)
{
  PlaitDecoderSettings settings;

  plait_setting_group_defaults (&plait_decoder_group, &settings);
  settings.layers = 2;
  settings.width = 8;
  settings.heads = 2;
  settings.feed_forward = 12;
  settings.dropout = settings.attention_dropout = settings.feed_forward_dropout = 0;
  settings.position_limit = 32;
  return settings;
}

PlaitDecoderSettings
test_decoder (guint i)
{
  PlaitDecoderSettings settings = test_decoder_settings ();

  g_assert (i < TEST_DECODERS);
  if (i == 1)
    {
      settings.norm = PLAIT_NORM_POST;
      settings.coverage_heads = PLAIT_COVERAGE_HEADS_EACH;
    }
  if (i < 2)
    return settings;
  settings.type = i < 5 ? PLAIT_DECODER_GRU : PLAIT_DECODER_LSTM;
  settings.layers = i % 2 + 1;
  switch (i)
    {
    case 2:
      break;
    case 3:
      settings.attention = PLAIT_SCORE_MULTIPLICATIVE;
      settings.input_feeding = TRUE;
      settings.state_width = 6;
      break;
    case 4:
      settings.query = PLAIT_QUERY_INTERMEDIATE;
      settings.reset = PLAIT_RESET_AFTER;
      settings.context_width = 6;
      settings.state_width = 5;
      break;
    case 5:
      settings.query = PLAIT_QUERY_CURRENT;
      settings.attention = PLAIT_SCORE_DOT;
      settings.input_feeding = TRUE;
      settings.readout = PLAIT_READOUT_ATTENTIONAL;
      settings.initial = PLAIT_INITIAL_ZERO;
      break;
    default:
      settings.query = PLAIT_QUERY_INTERMEDIATE;
      settings.attention_width = 3;
      settings.output_bias = TRUE;
      break;
    }
  return settings;
}

PlaitSettings *
test_small_settings (PlaitPlugin *plugin)
{
  const PlaitSchema *schema = plait_plugin_schema (plugin, NULL);
  PlaitSettings *settings = plait_settings_new (schema->parameters, schema->n_parameters);

  for (guint i = 0; i < schema->n_parameters; i++)
    {
      const PlaitSettingSpecification *parameter = schema->parameters[i];
      const char *text = plait_settings_text_at (settings, i);

      /* Small, but long enough for what counts rows. */
      if (parameter->type == PLAIT_SETTING_INTEGER && g_ascii_strtoll (text, NULL, 10) > 32)
        plait_settings_set (settings, parameter->name, "32", NULL);
      else if (parameter->type == PLAIT_SETTING_INTEGER && g_ascii_strtoll (text, NULL, 10) > 2)
        plait_settings_set (settings, parameter->name, "2", NULL);
      else if (parameter->type == PLAIT_SETTING_REAL && g_str_has_suffix (parameter->name, "dropout"))
        plait_settings_set (settings, parameter->name, "0", NULL);
    }
  return settings;
}

PlaitPlugin *
test_plugin (PlaitRegistry *registry, PlaitPluginKind kind, const char *name)
{
  GError *error = NULL;
  PlaitPlugin *plugin = plait_registry_find (registry, kind, name, &error);

  if (plugin)
    plait_plugin_load (plugin, &error);
  CHECK_NO_ERROR (error);
  return plugin;
}

/* Adds a little of everything to everything: ones and zeros would hide mistakes. */
static void
stir (PlaitParameters *parameters, guint64 seed)
{
  PlaitTensor values = plait_parameters_write_values (parameters);
  PlaitRandomKey key = plait_random_key (seed, "stir", NULL, 0);

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      for (gint64 k = 0; k < parameter->value.rows * parameter->value.width; k++)
        values.data[parameter->offset + k]
            += (PlaitScalar)(0.1 * plait_random_normal (key, (guint64)(parameter->offset + k)));
    }
}

PlaitPart *
test_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group)
{
  PlaitPart *part = plait_part_new (plugin, group);

  plait_settings_free (part->parameters);
  part->parameters = plait_settings_share (settings);
  return part;
}

static const PlaitPart *
open_part (PlaitPart *part)
{
  GError *error = NULL;

  CHECK (plait_part_open (part, &error));
  CHECK_NO_ERROR (error);
  return part;
}

PlaitPart *
test_opened_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group)
{
  PlaitPart *part = test_part (plugin, settings, group);

  open_part (part);
  return part;
}

const PlaitReader *
test_reader (const PlaitDeclaredSite *site, PlaitReads reads, guint memory)
{
  const PlaitSite whole = { .declared = (PlaitDeclaredSite *)site };

  return plait_site_find_reader (&whole, reads, NULL, memory);
}

static const PlaitPart *
keep (TestModel *model, PlaitPart *part)
{
  g_ptr_array_add (model->parts, part);
  return open_part (part);
}

static void
part_free (gpointer part)
{
  plait_part_free (part);
}

TestModel *
test_model_new (const TestSource *sources, guint n, const TestDecoder *decoder, guint64 seed, GError **error)
{
  static const char *const names[TEST_MAXIMUM_SOURCES] = { "first", "second", "third", "fourth" };
  g_autoptr (TestModel) model = g_new0 (TestModel, 1);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);

  g_assert (n <= TEST_MAXIMUM_SOURCES);
  model->parts = g_ptr_array_new_with_free_func (part_free);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *group = g_strdup_printf ("source %s", names[i]);
      g_autofree char *leaves = g_strdup_printf ("%s/leaves", group);
      PlaitPart *encoder = test_part (sources[i].encoder, sources[i].settings, group);

      if (sources[i].leaves)
        encoder->leaves = test_part (sources[i].leaves, sources[i].leaves_settings, leaves);
      model->sources[i] = (PlaitSourceSpecification){
        .name = names[i],
        .kind = encoder->schema->input,
        .encoder = keep (model, encoder),
        .vocabulary = "shared",
        .vocabulary_size = TEST_WORDS,
        .feature_width = TEST_FEATURE_WIDTH,
      };
    }
  model->specification = (PlaitModelSpecification){
    .sources = model->sources,
    .n_sources = n,
    .target_vocabulary = "shared",
    .target_vocabulary_size = TEST_WORDS,
    .decoder = decoder->settings,
    .combiner = keep (model, test_part (decoder->combiner, decoder->combiner_settings, "combiner")),
  };
  if (decoder->coverage)
    model->specification.coverage = keep (model, test_part (decoder->coverage, decoder->coverage_settings, "coverage"));
  model->model = plait_model_new (&model->specification, error);
  if (!model->model)
    return NULL;
  plait_parameters_initialise (plait_model_parameters (model->model), pool, seed);
  stir (plait_model_parameters (model->model), seed);
  return g_steal_pointer (&model);
}

void
test_model_free (TestModel *model)
{
  if (!model)
    return;
  plait_model_free (model->model);
  g_ptr_array_unref (model->parts);
  g_free (model);
}

static void
fill_source (PlaitInput *input, gint64 source, gint64 first, gint64 n, const gint64 *lengths)
{
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);

  offsets[0] = 0;
  input->n_missing = 0;
  for (gint64 s = 0; s < n; s++)
    {
      PlaitRandomKey key = plait_random_key (7, "source", NULL, (guint64)((first + s) * 8 + source));

      offsets[s + 1] = offsets[s] + lengths[s];
      input->n_missing += lengths[s] == 0;
      for (gint64 i = 0; i < lengths[s]; i++)
        if (input->kind == PLAIT_INPUT_TOKENS)
          plait_batch_fill (gint32, input->tokens)[offsets[s] + i]
              = (gint32)(PLAIT_TOKEN_SPECIALS
                         + plait_random_below (key, (guint64)i, TEST_WORDS - PLAIT_TOKEN_SPECIALS));
        else
          for (gint64 k = 0; k < TEST_FEATURE_WIDTH; k++)
            plait_tensor_row (input->features, offsets[s] + i)[k]
                = (PlaitScalar)plait_random_normal (key, (guint64)(i * TEST_FEATURE_WIDTH + k));
    }
}

/* Some binary tree over each sentence: neighbours are joined until one node is left. Every third sentence has none. */
static void
fill_trees (PlaitInput *input, gint64 first)
{
  const PlaitTrees *trees = input->trees;
  gint64 *offsets = plait_batch_fill (gint64, trees->nodes.offsets);
  gint64 *left = plait_batch_fill (gint64, trees->left), *right = plait_batch_fill (gint64, trees->right);

  offsets[0] = 0;
  for (gint64 s = 0; s < input->rows.n; s++)
    {
      gint64 n = plait_ragged_length (input->rows, s), node = offsets[s];
      g_autofree gint64 *open = g_new (gint64, n + 1);
      PlaitRandomKey key = plait_random_key (7, "tree", NULL, (guint64)(first + s));

      for (gint64 i = 0; i < n; i++)
        open[i] = i;
      for (gint64 still = n; still > 1 && (first + s) % 3 != 1; still--, node++)
        {
          gint64 at = (gint64)plait_random_below (key, (guint64)still, (guint64)still - 1);

          left[node] = open[at];
          right[node] = open[at + 1];
          plait_batch_fill (const char *, trees->labels)[node] = "X";
          open[at] = n + node - offsets[s];
          memmove (open + at + 1, open + at + 2, (gsize)(still - at - 2) * sizeof *open);
        }
      offsets[s + 1] = node;
    }
}

PlaitBatch *
test_batch (const TestModel *model, gint64 first, gint64 n, const gint64 *const *lengths, const gint64 *targets)
{
  PlaitBatchSource sources[TEST_MAXIMUM_SOURCES] = { { NULL } };
  guint n_sources = model->specification.n_sources;
  gint64 rows = n;
  gint64 row = 0;
  PlaitBatch *batch;

  for (guint i = 0; i < n_sources; i++)
    {
      sources[i].name = model->sources[i].name;
      sources[i].kind = model->sources[i].kind;
      sources[i].width = TEST_FEATURE_WIDTH;
      for (gint64 s = 0; s < n; s++)
        {
          sources[i].rows += lengths[i][s];
          sources[i].nodes += (first + s) % 3 != 1 ? MAX (lengths[i][s] - 1, 0) : 0;
        }
      sources[i].has_trees = sources[i].kind == PLAIT_INPUT_TOKENS;
    }
  for (gint64 s = 0; s < n; s++)
    rows += targets[s];
  batch = plait_batch_new (n, sources, n_sources, rows, NULL);
  for (guint i = 0; i < n_sources; i++)
    {
      PlaitInput *input = &plait_batch_fill (PlaitInput, batch->inputs)[i];

      fill_source (input, i, first, n, lengths[i]);
      if (input->trees)
        fill_trees (input, first);
    }
  for (gint64 s = 0; s < n; s++)
    {
      gint32 ids[64];
      PlaitRandomKey key = plait_random_key (7, "target", NULL, (guint64)(first + s));

      for (gint64 t = 0; t < targets[s]; t++)
        ids[t]
            = (gint32)(PLAIT_TOKEN_SPECIALS + plait_random_below (key, (guint64)t, TEST_WORDS - PLAIT_TOKEN_SPECIALS));
      plait_batch_fill (gint64, batch->sentence)[s] = first + s;
      plait_batch_fill (gint64, batch->target_rows.offsets)[s] = row;
      plait_batch_fill_target (batch, row, ids, targets[s]);
      row += targets[s] + 1;
    }
  plait_batch_fill (gint64, batch->target_rows.offsets)[n] = row;
  return batch;
}
