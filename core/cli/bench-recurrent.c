/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <string.h>

#include "model/site.h"

/* The recurrent systems that plait bench times (Chen et al. 2017), and one step of their attention. */

/* The widths of a size; all else is the same for all of them. */
#define SIZE(name_, width_, hidden_, vocabulary_)                                                                      \
  {                                                                                                                    \
    .name = (name_), .width = (width_), .hidden = (hidden_), .token_sources = 1, .vocabulary = (vocabulary_),          \
    .batch = 32, .mean = 25, .deviation = 5, .shortest = 15, .longest = 35                                             \
  }

static const PlaitBenchSize sizes[] = {
  SIZE ("h128", 128, 128, 4000),
  SIZE ("h256", 256, 256, 8000),
  SIZE ("h1024", 512, 1024, 30000),
};

const PlaitBenchSize *
plait_bench_recurrent_size (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (g_str_equal (name, sizes[i].name))
      return &sizes[i];
  return NULL;
}

static PlaitDecoderSettings
decoder_settings (const PlaitBenchOptions *options)
{
  PlaitDecoderSettings settings;

  plait_setting_group_defaults (&plait_decoder_group, &settings);
  settings.type = PLAIT_DECODER_GRU;
  settings.layers = 1;
  settings.width = options->size.width;
  settings.state_width = options->size.hidden;
  settings.reset = g_str_equal (options->reset, "after") ? PLAIT_RESET_AFTER : PLAIT_RESET_BEFORE;
  settings.dropout = options->dropout;
  settings.attention_dropout = 0;
  settings.scale_embeddings = FALSE;
  settings.share_embeddings = FALSE;
  settings.tie_output = FALSE;
  settings.output_bias = TRUE;
  settings.combiner = options->combiner;
  settings.coverage = options->coverage;
  return settings;
}

/* bigru, each direction half as wide as the states, and over it bitree-gru where there are trees. */
static gboolean
load_source (PlaitBenchModel *model, const PlaitBenchOptions *options, PlaitRegistry *registry, GError **error)
{
  const PlaitBenchSize *size = &options->size;
  g_autofree char *width = g_strdup_printf ("%" G_GINT64_FORMAT, size->hidden / 2);
  char rate[G_ASCII_DTOSTR_BUF_SIZE];
  const PlaitBenchParameter parameters[] = {
    { "reset", options->reset },
    { "width", width },
    { "dropout", g_ascii_dtostr (rate, sizeof rate, options->dropout) },
  };
  PlaitSourceSpecification *source = model->sources;
  g_autoptr (PlaitPart) sequence
      = plait_bench_part (registry, PLAIT_PLUGIN_ENCODER, "bigru", parameters, G_N_ELEMENTS (parameters), error);
  g_autoptr (PlaitPart) tree = NULL;

  source->name = g_strdup ("text");
  source->kind = PLAIT_INPUT_TOKENS;
  source->vocabulary = "source";
  source->vocabulary_size = size->vocabulary;
  if (sequence && size->trees)
    tree = plait_bench_part (registry, PLAIT_PLUGIN_ENCODER, "bitree-gru", parameters, 1, error);
  if (tree)
    tree->leaves = g_steal_pointer (&sequence);
  source->encoder
      = plait_bench_keep (model, size->trees ? g_steal_pointer (&tree) : g_steal_pointer (&sequence), error);
  return source->encoder != NULL;
}

static gboolean
load_coverage (PlaitBenchModel *model, PlaitModelSpecification *specification, const PlaitBenchOptions *options,
               PlaitRegistry *registry, GError **error)
{
  const PlaitBenchParameter reset = { "reset", options->reset };
  PlaitStructure there = options->size.trees ? PLAIT_STRUCTURE_TREE : PLAIT_STRUCTURE_NONE;
  const PlaitPart *part;

  if (g_str_equal (options->coverage, "none"))
    return TRUE;
  /* Fertility has no gates. */
  part = plait_bench_keep (model,
                           plait_bench_part (registry, PLAIT_PLUGIN_COVERAGE, options->coverage, &reset,
                                             !g_str_equal (options->coverage, "fertility"), error),
                           error);
  if (!part)
    return FALSE;
  if (part->schema->requires_structure & ~there)
    {
      g_autofree char *needed = plait_structure_text (part->schema->requires_structure & ~there);

      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "--coverage %s needs memories with %s links, which plait bench %s does not make%s",
                         options->coverage, needed, options->mode,
                         part->schema->requires_structure == PLAIT_STRUCTURE_TREE ? "; take plait bench tree" : "");
    }
  specification->coverage = part;
  return TRUE;
}

PlaitBenchModel *
plait_bench_recurrent_new (const PlaitBenchOptions *options, PlaitRegistry *registry, PlaitPool *pool, GError **error)
{
  g_autoptr (PlaitBenchModel) model = plait_bench_model_reserve (1);
  PlaitModelSpecification specification = {
    .sources = model->sources,
    .n_sources = 1,
    .target_vocabulary = "target",
    .target_vocabulary_size = options->size.vocabulary,
    .decoder = decoder_settings (options),
  };

  if (!load_source (model, options, registry, error))
    return NULL;
  specification.combiner = plait_bench_keep (
      model, plait_bench_part (registry, PLAIT_PLUGIN_COMBINER, options->combiner, NULL, 0, error), error);
  if (!specification.combiner || !load_coverage (model, &specification, options, registry, error))
    return NULL;
  model->model = plait_model_new (&specification, error);
  if (!model->model)
    return NULL;
  plait_parameters_initialise (plait_model_parameters (model->model), pool, 1);
  return g_steal_pointer (&model);
}

/*
 * Attention
 */

struct PlaitBenchAttention
{
  PlaitBenchModel *parts; /* the combiner */
  PlaitDecoderSettings settings;
  PlaitMemorySpecification memory;
  PlaitDecoderBuild build;
  PlaitLossColumns losses;
  PlaitDeclaredSite site;
  PlaitParameters *parameters;
  const PlaitParameter *query;
  const PlaitParameter *rows;
  const PlaitParameter *keys;
};

void
plait_bench_attention_free (PlaitBenchAttention *attention)
{
  if (!attention)
    return;
  plait_parameters_free (attention->parameters);
  plait_loss_columns_clear (&attention->losses);
  plait_bench_model_free (attention->parts);
  g_free (attention);
}

PlaitBenchAttention *
plait_bench_attention_new (const PlaitBenchOptions *options, PlaitRegistry *registry, PlaitPool *pool, GError **error)
{
  g_autoptr (PlaitBenchAttention) attention = g_new0 (PlaitBenchAttention, 1);
  gint64 width = options->size.hidden;
  PlaitInitial normal = PLAIT_NORMAL (1);
  const PlaitPart *combiner;

  attention->parts = plait_bench_model_reserve (0);
  combiner = plait_bench_keep (
      attention->parts, plait_bench_part (registry, PLAIT_PLUGIN_COMBINER, options->combiner, NULL, 0, error), error);
  if (!combiner)
    return NULL;
  attention->settings = decoder_settings (options);
  attention->memory = (PlaitMemorySpecification){ "text", width, PLAIT_STRUCTURE_NONE };
  attention->parameters = plait_parameters_new ();
  attention->build = (PlaitDecoderBuild){
    .settings = &attention->settings,
    .combiner = combiner,
    .losses = &attention->losses,
    .memories = &attention->memory,
    .n_memories = 1,
    .parameters = attention->parameters,
  };
  if (!plait_declared_site_build (&attention->site, &attention->build, width, width, "", error))
    return NULL;
  if (attention->site.n_readers != 1 || attention->site.readers[0].reads != PLAIT_READS_MEMORY)
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "--combiner %s does not attend to one memory alone; expected serial or parallel", options->combiner);
      return NULL;
    }
  attention->query = plait_parameters_declare (attention->parameters, "query", 1, width, normal);
  attention->rows = plait_parameters_declare (attention->parameters, "rows", options->positions, width, normal);
  attention->keys = plait_parameters_declare (attention->parameters, "keys", options->positions, width, normal);
  if (!plait_parameters_allocate (attention->parameters, error))
    return NULL;
  plait_parameters_initialise (attention->parameters, pool, 1);
  return g_steal_pointer (&attention);
}

PlaitParameters *
plait_bench_attention_parameters (const PlaitBenchAttention *attention)
{
  return attention->parameters;
}

PlaitNode *
plait_bench_attention_step (const PlaitBenchAttention *attention, PlaitTape *tape)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 *one = plait_arena_new_array (arena, gint64, 2), *all = plait_arena_new_array (arena, gint64, 2);
  PlaitMemory *memory = plait_arena_new_array (arena, PlaitMemory, 1);
  PlaitAttended *attended = plait_arena_new_array (arena, PlaitAttended, 1);
  PlaitNode **nothing = plait_arena_new_array (arena, PlaitNode *, 1);
  PlaitSiteKeys keys = { .attended = attended, .coverage = nothing, .prepared = nothing, .memories = memory };
  PlaitSiteStep step = { .layer = 0 };
  PlaitSitePass pass;

  one[0] = all[0] = 0;
  one[1] = 1;
  all[1] = attention->rows->value.rows;
  *memory = (PlaitMemory){ .states = plait_parameter_node (tape, attention->rows), .rows = { 1, all } };
  *attended = (PlaitAttended){ .keys = plait_parameter_node (tape, attention->keys),
                               .values = memory->states,
                               .rows = memory->rows };
  *nothing = NULL;
  pass = plait_site_pass (tape, memory, 1, (PlaitRagged){ 1, one }, NULL);
  return plait_site_combine (&attention->site, &pass, &keys, &step, plait_parameter_node (tape, attention->query))
      .context;
}
