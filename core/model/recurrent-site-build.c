/* SPDX-License-Identifier: MIT */
#include "model/recurrent-site.h"

#include <math.h>

/* What a combiner declares at the attention site of a recurrent decoder. */

typedef struct
{
  PlaitSite site;
  PlaitRecurrentSite *parts;
  const PlaitDecoderBuild *decoder;
  const PlaitDecoderSettings *settings;
  gint64 attention_width;
  PlaitParameters *parameters;
  const char *prefix;
  GError *error; /* the first thing asked for that cannot be */
} Build;

static PlaitLinear
declare_linear (const Build *build, const char *name, const char *part, gint64 in, gint64 out, gboolean bias)
{
  g_autofree char *full = g_strdup_printf ("%s/%s", name, part);

  return plait_linear_declare (build->parameters, full, in, out, bias);
}

/* Keys that are values too are as wide as contexts. */
static gint64
attention_width (const Build *build, gboolean tied)
{
  return tied ? build->parts->width : build->attention_width;
}

/* The part of a memory, @in wide, in an attention; @own: it has values of its own, and a bias beside its score. */
static void
declare_item (const Build *build, PlaitScoredItem *item, const char *name, gint64 in, gboolean own, gboolean tied)
{
  gboolean additive = build->parts->score == PLAIT_SCORE_ADDITIVE;
  gint64 width = build->parts->width, score = additive ? attention_width (build, tied) : width;
  g_autofree char *bias = g_strdup_printf ("%s/bias", name);

  if (additive || own)
    item->key = declare_linear (build, name, "key", in, score, additive || tied);
  if (!own)
    return;
  if (additive)
    item->bias = plait_parameters_declare (build->parameters, bias, 1, 1, PLAIT_ZEROS);
  item->tied = tied;
  if (!tied)
    item->value = declare_linear (build, name, "value", in, width, TRUE);
}

/* The sentinel of the site, and its part in @attention. */
static void
declare_sentinel (const Build *build, PlaitScoredAttention *attention, gboolean tied)
{
  PlaitSentinelGate *gate = &build->parts->gate;
  gint64 state = build->parts->state_width;
  g_autofree char *name = g_strdup_printf ("%ssentinel", build->prefix);

  g_assert (!gate->state.weight);
  gate->state = declare_linear (build, name, "state", state, state, FALSE);
  gate->embedding = declare_linear (build, name, "embedding", build->settings->width, state, TRUE);
  attention->sentinel = plait_parameters_memory (build->parameters, sizeof (PlaitScoredItem));
  declare_item (build, attention->sentinel, name, state, TRUE, tied);
}

static void
declare (Build *build, PlaitScoredAttention *attention, const char *name, const PlaitSiteAttention *asked,
         guint n_items)
{
  const PlaitRecurrentSite *parts = build->parts;
  gboolean tied = asked->projections == PLAIT_PROJECTIONS_TIED;
  gint64 width = attention_width (build, tied);
  g_autofree char *vector = g_strdup_printf ("%s/vector", name);

  g_assert (!attention->declared);
  if (asked->heads > 1 && !build->error)
    plait_fail (
        &build->error, PLAIT_ERROR_INPUT,
        "combiner \"%s\": %u heads were asked for, but attention in a recurrent decoder has one: leave heads at 0",
        build->settings->combiner, asked->heads);
  switch (parts->score)
    {
    case PLAIT_SCORE_ADDITIVE:
      attention->query = declare_linear (build, name, "query", parts->state_width, width, FALSE);
      attention->vector
          = plait_parameters_declare (build->parameters, vector, 1, width, PLAIT_UNIFORM (sqrt (3.0 / (double)width)));
      break;
    case PLAIT_SCORE_MULTIPLICATIVE:
      attention->query = declare_linear (build, name, "query", parts->state_width, parts->width, FALSE);
      break;
    case PLAIT_SCORE_DOT:
      break;
    }
  attention->items = plait_parameters_memory (build->parameters, MAX (n_items, 1) * sizeof (PlaitScoredItem));
  attention->n_items = MAX (n_items, 1);
  if (n_items == 0)
    declare_item (build, attention->items, name, parts->width, FALSE, FALSE);
  for (guint i = 0; i < n_items; i++)
    {
      g_autofree char *item = g_strdup_printf ("%s/%s", name, parts->memories[i].name);

      declare_item (build, &attention->items[i], item, parts->width, TRUE, tied);
    }
  if (asked->sentinel)
    declare_sentinel (build, attention, tied);
  attention->dropout = asked->dropout < 0 ? build->settings->attention_dropout : asked->dropout;
  attention->output_dropout = asked->output_dropout < 0 ? build->settings->dropout : asked->output_dropout;
  attention->declared = TRUE;
}

/* Coverage of memory @memory, beside the attention @name. */
static void
declare_coverage (Build *build, const char *name, guint memory, gboolean tied)
{
  g_autofree char *prefix = g_strdup_printf ("%s/coverage/", name);
  gint64 score = build->parts->score == PLAIT_SCORE_ADDITIVE ? attention_width (build, tied) : 1;
  GError *error = NULL;

  if (build->decoder->coverage
      && !plait_covered_build (&build->parts->covered[memory], build->decoder->coverage,
                               build->decoder->coverage_settings, build->parts->width, build->parts->state_width, score,
                               build->parameters, prefix, &error)
      && !build->error)
    build->error = g_steal_pointer (&error);
  g_clear_error (&error);
}

/* What a residual adds to the query is read only if another call follows: when the next slot is declared. */
static void
declare_residual (PlaitSite *site, guint slot)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%srefine", build->prefix);
  g_autofree char *part = g_strdup_printf ("%u", slot - 1);

  g_assert (slot < build->parts->n_memories);
  if (slot > 0)
    build->parts->refine[slot - 1]
        = declare_linear (build, name, part, build->parts->width, build->parts->state_width, FALSE);
}

static void
declare_attend (PlaitSite *site, guint memory, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%sattend/%s", build->prefix, site->memories[memory].name);

  declare (build, &build->parts->attend[memory], name, asked, 0);
  declare_coverage (build, name, memory, FALSE);
}

static void
declare_attend_jointly (PlaitSite *site, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%sjointly", build->prefix);

  declare (build, &build->parts->jointly, name, asked,
           asked->projections == PLAIT_PROJECTIONS_SHARED ? 0 : site->n_memories);
  for (guint i = 0; i < site->n_memories; i++)
    {
      g_autofree char *item = g_strdup_printf ("%s/%s", name, site->memories[i].name);

      declare_coverage (build, item, i, asked->projections == PLAIT_PROJECTIONS_TIED);
    }
}

static void
declare_attend_contexts (PlaitSite *site, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%scontexts", build->prefix);

  declare (build, &build->parts->contexts, name, asked,
           asked->projections == PLAIT_PROJECTIONS_SHARED ? 0 : site->n_memories);
}

static const PlaitSiteTable build_table = {
  .declare_residual = declare_residual,
  .declare_attend = declare_attend,
  .declare_attend_jointly = declare_attend_jointly,
  .declare_attend_contexts = declare_attend_contexts,
};

gboolean
plait_recurrent_site_build (PlaitRecurrentSite *site, const PlaitDecoderBuild *decoder, gint64 state_width,
                            gint64 width, const char *prefix, GError **error)
{
  const PlaitDecoderSettings *settings = decoder->settings;
  guint n = decoder->n_memories;
  Build build = {
    .site = { &build_table, decoder->memories, n, width, state_width },
    .parts = site,
    .decoder = decoder,
    .settings = settings,
    .attention_width = settings->attention_width ? settings->attention_width : state_width,
    .parameters = decoder->parameters,
    .prefix = prefix,
  };

  *site = (PlaitRecurrentSite){
    .memories = decoder->memories,
    .n_memories = n,
    .width = width,
    .state_width = state_width,
    .score = (PlaitAttentionScore)settings->attention,
    .attend = plait_parameters_memory (decoder->parameters, n * sizeof (PlaitScoredAttention)),
    .refine = plait_parameters_memory (decoder->parameters, n * sizeof (PlaitLinear)),
    .covered = plait_parameters_memory (decoder->parameters, n * sizeof (PlaitCovered)),
  };
  if (site->score == PLAIT_SCORE_DOT && state_width != width)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.attention=dot: states are %" G_GINT64_FORMAT " wide and memories %" G_GINT64_FORMAT
                       ": set decoder.context_width=%" G_GINT64_FORMAT ", or take attention=multiplicative",
                       state_width, width, state_width);
  if (!decoder->combiner->build (&build.site, decoder->combiner_settings, error))
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
