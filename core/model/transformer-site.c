/* SPDX-License-Identifier: MIT */
#include "model/transformer-site.h"

#include "tensor/kernels/kernels.h"

#include <string.h>

/*
 * Building
 */

typedef struct
{
  PlaitSite site;
  PlaitTransformerSite *parts;
  const PlaitDecoderSettings *settings;
  PlaitParameters *parameters;
  const char *prefix;
  GError *error; /* the first thing asked for that cannot be */
} Build;

/* Heads that do not divide the width are noted, and replaced so that declaring can go on. */
static PlaitAttentionDeclaration
attention_settings (Build *build, const PlaitSiteAttention *asked)
{
  gint64 heads = asked->heads ? asked->heads : build->settings->heads;

  if (build->parts->width % heads != 0)
    {
      if (!build->error)
        plait_fail (&build->error, PLAIT_ERROR_INPUT,
                    "combiner \"%s\": %" G_GINT64_FORMAT " heads do not divide decoder.width=%" G_GINT64_FORMAT
                    ": choose heads that do",
                    build->settings->combiner, heads, build->parts->width);
      heads = 1;
    }
  return (PlaitAttentionDeclaration){
    .width = build->parts->width,
    .heads = (guint)heads,
    .dropout = asked->dropout < 0 ? build->settings->attention_dropout : asked->dropout,
    .biases = build->settings->attention_bias,
  };
}

/* One projection of keys and values for each memory, or for all of them, @width wide. */
static PlaitAttention
declare_projections (Build *build, const PlaitSiteAttention *asked, const char *name, const gint64 *widths)
{
  const PlaitTransformerSite *parts = build->parts;
  g_autofree const char **names = g_new (const char *, parts->n_memories);
  PlaitAttentionDeclaration settings = attention_settings (build, asked);

  if (asked->sentinel && !build->error)
    plait_fail (&build->error, PLAIT_ERROR_INPUT,
                "combiner \"%s\": a sentinel was asked for, but a Transformer decoder has none: set sentinel=false, or "
                "decoder.type=gru or lstm",
                build->settings->combiner);
  if (asked->projections == PLAIT_PROJECTIONS_TIED && !build->error)
    plait_fail (
        &build->error, PLAIT_ERROR_INPUT,
        "combiner \"%s\": projections=tied makes a key and a value of one projection, but a Transformer decoder "
        "has them apart: set projections=shared or separate, or decoder.type=gru or lstm",
        build->settings->combiner);
  if (asked->projections != PLAIT_PROJECTIONS_SEPARATE)
    return plait_attention_declare (build->parameters, name, &settings, widths[0]);
  for (guint i = 0; i < parts->n_memories; i++)
    names[i] = parts->memories[i].name;
  return plait_attention_declare_joint (build->parameters, name, &settings, names, widths, parts->n_memories);
}

static double
output_dropout (const Build *build, const PlaitSiteAttention *asked)
{
  return asked->output_dropout < 0 ? build->settings->dropout : asked->output_dropout;
}

static void
declare_residual (PlaitSite *site, guint slot)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%snormalise/%u", build->prefix, slot);

  g_assert (slot < build->parts->n_memories);
  build->parts->norms[slot] = plait_norm_declare (build->parameters, name, build->parts->width);
}

static void
declare_attend (PlaitSite *site, guint memory, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  PlaitSiteAttentionLayer *layer = &build->parts->attend[memory];
  g_autofree char *name = g_strdup_printf ("%sattend/%s", build->prefix, site->memories[memory].name);
  PlaitAttentionDeclaration settings = attention_settings (build, asked);

  g_assert (!layer->declared);
  layer->attention = plait_attention_declare (build->parameters, name, &settings, site->memories[memory].width);
  layer->output_dropout = output_dropout (build, asked);
  layer->declared = TRUE;
}

static void
declare_attend_jointly (PlaitSite *site, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  PlaitSiteAttentionLayer *layer = &build->parts->jointly;
  g_autofree char *name = g_strdup_printf ("%sjointly", build->prefix);
  g_autofree gint64 *widths = g_new (gint64, site->n_memories);

  g_assert (!layer->declared);
  if (site->n_memories > PLAIT_ATTENTION_MEMORIES && !build->error)
    plait_fail (
        &build->error, PLAIT_ERROR_INPUT,
        "combiner \"%s\": one softmax over %u memories, at most %d can share one: use fewer sources, or another "
        "combiner",
        build->settings->combiner, site->n_memories, PLAIT_ATTENTION_MEMORIES);
  for (guint i = 0; i < site->n_memories; i++)
    widths[i] = site->memories[i].width;
  layer->attention = declare_projections (build, asked, name, widths);
  layer->output_dropout = output_dropout (build, asked);
  layer->declared = TRUE;
}

static void
declare_attend_contexts (PlaitSite *site, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  PlaitSiteAttentionLayer *layer = &build->parts->contexts;
  g_autofree char *name = g_strdup_printf ("%scontexts", build->prefix);
  g_autofree gint64 *widths = g_new (gint64, site->n_memories);

  g_assert (!layer->declared);
  for (guint i = 0; i < site->n_memories; i++)
    widths[i] = build->parts->width;
  layer->attention = declare_projections (build, asked, name, widths);
  layer->output_dropout = output_dropout (build, asked);
  layer->declared = TRUE;
}

static const PlaitSiteTable build_table = {
  .declare_residual = declare_residual,
  .declare_attend = declare_attend,
  .declare_attend_jointly = declare_attend_jointly,
  .declare_attend_contexts = declare_attend_contexts,
};

gboolean
plait_transformer_site_build (PlaitTransformerSite *site, const PlaitDecoderSettings *settings,
                              const PlaitCombinerTable *combiner, gconstpointer combiner_settings,
                              const PlaitMemorySpecification *memories, guint n_memories, PlaitParameters *parameters,
                              const char *prefix, GError **error)
{
  Build build = {
    .site = { &build_table, memories, n_memories, settings->width, settings->width },
    .parts = site,
    .settings = settings,
    .parameters = parameters,
    .prefix = prefix,
  };

  *site = (PlaitTransformerSite){
    .memories = memories,
    .n_memories = n_memories,
    .width = settings->width,
    .pre_norm = settings->norm == PLAIT_NORM_PRE,
    .norms = plait_parameters_memory (parameters, n_memories * sizeof (PlaitNorm)),
    .attend = plait_parameters_memory (parameters, n_memories * sizeof (PlaitSiteAttentionLayer)),
  };
  if (!combiner->build (&build.site, combiner_settings, error))
    {
      g_clear_error (&build.error);
      return FALSE;
    }
  if (build.error)
    {
      g_propagate_error (error, build.error);
      return FALSE;
    }
  return TRUE;
}

/*
 * Running
 */

typedef struct
{
  PlaitSite site;
  const PlaitTransformerSite *parts;
  const PlaitSitePass *pass;
  const PlaitSiteKeys *keys;
  guint layer;
} Run;

static PlaitTape *
run_tape (PlaitSite *site)
{
  return ((Run *)site)->pass->tape;
}

static PlaitStream
normalise (PlaitSite *site, guint slot, PlaitStream x)
{
  Run *run = (Run *)site;

  if (run->parts->pre_norm)
    x.query = plait_norm_apply (run->pass->tape, &run->parts->norms[slot], x.query);
  return x;
}

static PlaitContext
attend (PlaitSite *site, guint memory, PlaitStream query)
{
  Run *run = (Run *)site;
  const PlaitSiteAttentionLayer *layer = &run->parts->attend[memory];
  PlaitAttended attended = run->keys->attend[memory];
  PlaitNode *value;

  g_assert (layer->declared);
  if (run->pass->capture)
    attended.weights
        = plait_capture_memory (run->pass->capture, run->layer, memory, layer->attention.declaration.heads);
  value = plait_attention_apply (run->pass->tape, &layer->attention, query.query, run->pass->queries, &attended, 1);
  return (PlaitContext){ plait_dropout (run->pass->tape, value, layer->output_dropout), run->pass->present[memory] };
}

static PlaitContext
attend_jointly (PlaitSite *site, PlaitStream query)
{
  Run *run = (Run *)site;
  const PlaitSiteAttentionLayer *layer = &run->parts->jointly;
  PlaitArena *arena = plait_tape_arena (run->pass->tape);
  PlaitAttended *attended = plait_arena_new_array (arena, PlaitAttended, site->n_memories);
  PlaitNode *value;

  g_assert (layer->declared);
  memcpy (attended, run->keys->jointly, site->n_memories * sizeof *attended);
  for (guint i = 0; run->pass->capture && i < site->n_memories; i++)
    attended[i].weights = plait_capture_memory (run->pass->capture, run->layer, i, layer->attention.declaration.heads);
  value = plait_attention_apply (run->pass->tape, &layer->attention, query.query, run->pass->queries, attended,
                                 site->n_memories);
  return (PlaitContext){ plait_dropout (run->pass->tape, value, layer->output_dropout), run->pass->any_present };
}

static PlaitContext
attend_contexts (PlaitSite *site, PlaitStream query, const PlaitContext *contexts)
{
  Run *run = (Run *)site;
  const PlaitSiteAttentionLayer *layer = &run->parts->contexts;
  PlaitArena *arena = plait_tape_arena (run->pass->tape);
  PlaitNode **values = plait_arena_new_array (arena, PlaitNode *, site->n_memories);
  const guint8 **present = plait_arena_new_array (arena, const guint8 *, site->n_memories);
  PlaitScalar *weights = NULL;
  PlaitNode *value;

  g_assert (layer->declared);
  for (guint i = 0; i < site->n_memories; i++)
    {
      values[i] = contexts[i].value;
      present[i] = contexts[i].present;
    }
  if (run->pass->capture)
    weights = plait_capture_contexts (run->pass->capture, run->layer, layer->attention.declaration.heads);
  value = plait_attention_apply_items (run->pass->tape, &layer->attention, query.query, values, present,
                                       site->n_memories, weights);
  return (PlaitContext){ plait_dropout (run->pass->tape, value, layer->output_dropout), run->pass->any_present };
}

static PlaitContext
sum (PlaitSite *site, const PlaitContext *contexts, guint n)
{
  return plait_site_pass_sum (((Run *)site)->pass, contexts, n);
}

static PlaitStream
residual (PlaitSite *site, guint slot, PlaitStream x, PlaitContext context)
{
  Run *run = (Run *)site;
  PlaitTape *tape = run->pass->tape;
  PlaitNode *y = plait_residual (tape, x.query, context.value, 0);

  if (!run->parts->pre_norm)
    {
      y = plait_norm_apply (tape, &run->parts->norms[slot], y);
      if (context.present)
        y = plait_select_rows (tape, context.present, y, x.query);
    }
  return (PlaitStream){ .query = y };
}

static const PlaitSiteTable run_table = {
  .tape = run_tape,
  .normalise = normalise,
  .attend = attend,
  .attend_jointly = attend_jointly,
  .attend_contexts = attend_contexts,
  .sum = sum,
  .residual = residual,
};

PlaitSiteKeys
plait_transformer_site_project (const PlaitTransformerSite *site, PlaitTape *tape, const PlaitMemory *memories)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gsize size = site->n_memories * sizeof (PlaitAttended);
  PlaitSiteKeys keys = { plait_arena_take (arena, size), plait_arena_take (arena, size) };

  memset (keys.attend, 0, size);
  memset (keys.jointly, 0, size);
  for (guint i = 0; i < site->n_memories; i++)
    {
      const PlaitAttention *attention = &site->attend[i].attention;
      const PlaitAttention *jointly = &site->jointly.attention;

      if (site->attend[i].declared)
        keys.attend[i] = plait_attention_project (tape, attention, 0, memories[i].states, memories[i].rows);
      if (site->jointly.declared)
        keys.jointly[i] = plait_attention_project (tape, jointly, jointly->n_key_values > 1 ? i : 0, memories[i].states,
                                                   memories[i].rows);
    }
  return keys;
}

void
plait_site_keys_keep_columns (const PlaitSiteKeys *keys, guint n_memories, PlaitTape *tape)
{
  for (guint i = 0; i < n_memories; i++)
    {
      if (keys->attend[i].keys)
        plait_attended_keep_columns (tape, &keys->attend[i]);
      if (keys->jointly[i].keys)
        plait_attended_keep_columns (tape, &keys->jointly[i]);
    }
}

static PlaitAttended
on_tape (PlaitAttended attended, PlaitTape *tape)
{
  if (attended.keys)
    {
      attended.keys = plait_leaf (tape, attended.keys->value, NULL);
      attended.values = plait_leaf (tape, attended.values->value, NULL);
    }
  return attended;
}

PlaitSiteKeys
plait_site_keys_on (const PlaitSiteKeys *keys, guint n_memories, PlaitTape *tape)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitSiteKeys moved = {
    plait_arena_new_array (arena, PlaitAttended, n_memories),
    plait_arena_new_array (arena, PlaitAttended, n_memories),
  };

  for (guint i = 0; i < n_memories; i++)
    {
      moved.attend[i] = on_tape (keys->attend[i], tape);
      moved.jointly[i] = on_tape (keys->jointly[i], tape);
    }
  return moved;
}

PlaitNode *
plait_transformer_site_combine (const PlaitTransformerSite *site, const PlaitSitePass *pass, const PlaitSiteKeys *keys,
                                guint layer, const PlaitCombinerTable *combiner, gconstpointer combiner_settings,
                                PlaitNode *x)
{
  Run run = {
    .site = { &run_table, site->memories, site->n_memories, site->width, site->width },
    .parts = site,
    .pass = pass,
    .keys = keys,
    .layer = layer,
  };

  return combiner->combine (&run.site, combiner_settings, (PlaitStream){ .query = x }).query;
}
