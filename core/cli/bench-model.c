/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

static const PlaitBenchSize sizes[] = {
  { .name = "small",
    .width = 128,
    .feed_forward = 512,
    .heads = 4,
    .encoder_layers = 2,
    .decoder_layers = 2,
    .token_sources = 3,
    .vocabulary = 4000,
    .batch = 64,
    .mean = 14,
    .deviation = 4,
    .shortest = 4,
    .longest = 40,
    .decode_steps = 14 },
  { .name = "msmt",
    .width = 256,
    .feed_forward = 2048,
    .heads = 8,
    .encoder_layers = 4,
    .decoder_layers = 6,
    .token_sources = 4,
    .vocabulary = 48000,
    .batch = 24,
    .mean = 28,
    .deviation = 10,
    .shortest = 5,
    .longest = 60,
    .decode_steps = 28 },
  { .name = "mmt",
    .width = 512,
    .feed_forward = 4096,
    .heads = 16,
    .encoder_layers = 6,
    .decoder_layers = 6,
    .token_sources = 1,
    .vocabulary = 40000,
    .batch = 32,
    .mean = 14,
    .deviation = 4,
    .shortest = 4,
    .longest = 40,
    .image_positions = 64,
    .image_width = 2048,
    .decode_steps = 14 },
};

const PlaitBenchSize *
plait_bench_size (const char *name, gboolean recurrent, GError **error)
{
  if (recurrent)
    {
      const PlaitBenchSize *size = plait_bench_recurrent_size (name);

      if (!size)
        plait_fail (error, PLAIT_ERROR_INPUT, "--size cannot be \"%s\"; expected h128, h256 or h1024", name);
      return size;
    }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (g_str_equal (name, sizes[i].name))
      return &sizes[i];
  plait_fail (error, PLAIT_ERROR_INPUT, "--size cannot be \"%s\"; expected small, msmt or mmt", name);
  return NULL;
}

guint
plait_bench_sources (const PlaitBenchSize *size)
{
  return size->token_sources + (size->image_positions > 0 ? 1 : 0);
}

PlaitBenchModel *
plait_bench_model_reserve (guint n_sources)
{
  PlaitBenchModel *model = g_new0 (PlaitBenchModel, 1);

  model->n_sources = n_sources;
  model->sources = g_new0 (PlaitSourceSpecification, n_sources);
  model->parts = g_ptr_array_new ();
  return model;
}

void
plait_bench_model_free (PlaitBenchModel *model)
{
  if (!model)
    return;
  plait_model_free (model->model);
  for (guint i = 0; i < model->parts->len; i++)
    plait_part_free (model->parts->pdata[i]);
  g_ptr_array_unref (model->parts);
  for (guint i = 0; i < model->n_sources; i++)
    g_free ((char *)model->sources[i].name);
  g_free (model->sources);
  g_free (model);
}

PlaitPart *
plait_bench_part (PlaitRegistry *registry, PlaitPluginKind kind, const char *name,
                  const PlaitBenchParameter *parameters, guint n, GError **error)
{
  PlaitPlugin *plugin = plait_registry_find (registry, kind, name, error);
  g_autoptr (PlaitPart) part = plugin ? plait_part_new (plugin, plait_plugin_kind_name (kind)) : NULL;

  for (guint i = 0; part && i < n; i++)
    if (!plait_settings_set (part->parameters, parameters[i].name, parameters[i].value, error))
      {
        g_prefix_error (error, "the plugin %s at %s is not the one that plait bench knows: ", name,
                        plugin->module_path);
        return NULL;
      }
  return g_steal_pointer (&part);
}

PlaitPart *
plait_bench_keep (PlaitBenchModel *model, PlaitPart *part, GError **error)
{
  if (!part)
    return NULL;
  g_ptr_array_add (model->parts, part);
  return plait_part_open (part, error) ? part : NULL;
}

static gboolean
load_text (PlaitBenchModel *model, guint place, const PlaitBenchSize *size, double dropout, PlaitRegistry *registry,
           GError **error)
{
  g_autofree char *layers = g_strdup_printf ("%" G_GINT64_FORMAT, size->encoder_layers);
  g_autofree char *heads = g_strdup_printf ("%" G_GINT64_FORMAT, size->heads);
  g_autofree char *feed_forward = g_strdup_printf ("%" G_GINT64_FORMAT, size->feed_forward);
  char rate[G_ASCII_DTOSTR_BUF_SIZE];
  const PlaitBenchParameter parameters[] = {
    { "layers", layers },
    { "heads", heads },
    { "feed_forward", feed_forward },
    { "norm", "pre" },
    { "dropout", g_ascii_dtostr (rate, sizeof rate, dropout) },
    { "attention_dropout", "0" },
    { "feed_forward_dropout", "0" },
  };
  PlaitSourceSpecification *source = &model->sources[place];

  source->encoder = plait_bench_keep (
      model,
      plait_bench_part (registry, PLAIT_PLUGIN_ENCODER, "transformer", parameters, G_N_ELEMENTS (parameters), error),
      error);
  source->kind = PLAIT_INPUT_TOKENS;
  source->vocabulary = "words";
  source->vocabulary_size = size->vocabulary;
  return source->encoder != NULL;
}

static gboolean
load_image (PlaitBenchModel *model, guint place, const PlaitBenchSize *size, PlaitRegistry *registry, GError **error)
{
  const PlaitBenchParameter parameters[] = { { "hidden", "0" }, { "norm", "none" }, { "dropout", "0" } };
  PlaitSourceSpecification *source = &model->sources[place];

  source->encoder = plait_bench_keep (
      model,
      plait_bench_part (registry, PLAIT_PLUGIN_ENCODER, "features", parameters, G_N_ELEMENTS (parameters), error),
      error);
  source->kind = PLAIT_INPUT_FEATURES;
  source->feature_width = size->image_width;
  return source->encoder != NULL;
}

static PlaitDecoderSettings
decoder_settings (const PlaitBenchSize *size, const char *combiner, double dropout)
{
  PlaitDecoderSettings settings;

  plait_setting_group_defaults (&plait_decoder_group, &settings);
  settings.layers = size->decoder_layers;
  settings.width = size->width;
  settings.heads = size->heads;
  settings.feed_forward = size->feed_forward;
  settings.dropout = dropout;
  settings.attention_dropout = 0;
  settings.feed_forward_dropout = 0;
  settings.combiner = combiner;
  return settings;
}

PlaitBenchModel *
plait_bench_model_new (const PlaitBenchOptions *options, PlaitRegistry *registry, PlaitPool *pool, GError **error)
{
  const PlaitBenchSize *size = &options->size;
  guint n = plait_bench_sources (size);
  g_autoptr (PlaitBenchModel) model = plait_bench_model_reserve (n);
  g_autofree char *heads = g_strdup_printf ("%" G_GINT64_FORMAT, size->heads);
  const PlaitBenchParameter parameters[] = { { "heads", heads } };
  PlaitModelSpecification specification = {
    .sources = model->sources,
    .n_sources = n,
    .target_vocabulary = "words",
    .target_vocabulary_size = size->vocabulary,
    .decoder = decoder_settings (size, options->combiner, options->dropout),
  };

  for (guint i = 0; i < n; i++)
    {
      gboolean text = i < size->token_sources;

      model->sources[i].name = text ? g_strdup_printf ("text%u", i) : g_strdup ("image");
      if (!(text ? load_text (model, i, size, options->dropout, registry, error)
                 : load_image (model, i, size, registry, error)))
        return NULL;
    }
  specification.combiner = plait_bench_keep (model,
                                             plait_bench_part (registry, PLAIT_PLUGIN_COMBINER, options->combiner,
                                                               parameters, G_N_ELEMENTS (parameters), error),
                                             error);
  if (!specification.combiner)
    return NULL;
  model->model = plait_model_new (&specification, error);
  if (!model->model)
    return NULL;
  plait_parameters_initialise (plait_model_parameters (model->model), pool, 1);
  return g_steal_pointer (&model);
}
