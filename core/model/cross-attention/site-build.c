/* SPDX-License-Identifier: MIT */
#include "cross-attention/site.h"

#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "kernels/kernels.h"
#include "layers/parameter-set.h"
#include "layers/attention.h"

/* What a combiner declares at an attention site. The first fault is kept, and declaring goes on. */

void
plait_site_fault (PlaitSite *site, PlaitErrorCode code, const char *format, ...)
{
  va_list arguments;

  if (site->fault)
    return;
  va_start (arguments, format);
  site->fault = g_error_new_valist (PLAIT_ERROR, (gint)code, format, arguments);
  va_end (arguments);
  g_prefix_error (&site->fault, "%s: ", site->declared->decoder->combiner->label);
}

/* Leaves the step unless the site is being built, as @call needs. */
static void
expect_building (const PlaitSite *site, const char *call)
{
  if (!site->parameters)
    plait_tape_fail (site->pass->tape, "calls %s while the model runs: declare in build", call);
}

static const PlaitDecoderSettings *
settings_of (const PlaitSite *site)
{
  return site->declared->decoder->settings;
}

guint
plait_site_n_memories (const PlaitSite *site)
{
  return site->declared->decoder->n_memories;
}

/* The number of a memory that there is; another is a fault, in the phase that it comes in. */
static guint
check_memory (PlaitSite *site, const char *call, guint memory)
{
  guint n = plait_site_n_memories (site);

  if (memory < n)
    return memory;
  if (!site->parameters)
    plait_tape_fail (site->pass->tape, "%s: there is no memory %u; memories are numbered 0 to %u", call, memory, n - 1);
  plait_site_fault (site, PLAIT_ERROR_PLUGIN, "%s: there is no memory %u; memories are numbered 0 to %u", call, memory,
                    n - 1);
  return 0;
}

const PlaitMemorySpecification *
plait_site_memory (const PlaitSite *site, guint memory)
{
  memory = check_memory ((PlaitSite *)site, G_STRFUNC, memory);
  return &site->declared->decoder->memories[memory];
}

gint64
plait_site_width (const PlaitSite *site)
{
  return site->declared->width;
}

gint64
plait_site_query_width (const PlaitSite *site)
{
  return site->declared->query_width;
}

PlaitParameters *
plait_site_parameters (PlaitSite *site)
{
  expect_building (site, G_STRFUNC);
  return site->parameters;
}

const char *
plait_site_prefix (const PlaitSite *site)
{
  expect_building (site, G_STRFUNC);
  return site->prefix;
}

void
plait_site_declare_residual (PlaitSite *site, guint slot)
{
  PlaitDeclaredSite *declared = site->declared;

  expect_building (site, G_STRFUNC);
  if (slot != declared->n_slots || slot >= PLAIT_SITE_MAXIMUM_SLOTS)
    {
      plait_site_fault (
          site, PLAIT_ERROR_PLUGIN,
          "%s: declares slot %u where the next is %u of at most %d: declare slots in their order, each once", G_STRFUNC,
          slot, declared->n_slots, PLAIT_SITE_MAXIMUM_SLOTS);
      return;
    }
  declared->n_slots++;
  if (declared->scaled)
    {
      g_autofree char *name = g_strdup_printf ("%snormalise/%u", site->prefix, slot);

      declared->norms[slot] = plait_norm_declare (site->parameters, name, declared->width);
    }
  /* What a residual adds to the query is read only if another call follows: when the next slot is declared. */
  else if (slot > 0)
    {
      g_autofree char *name = g_strdup_printf ("%srefine/%u", site->prefix, slot - 1);

      declared->refine[slot - 1]
          = plait_linear_declare (site->parameters, name, declared->width, declared->query_width, FALSE);
    }
}

PlaitReader *
plait_site_find_reader (const PlaitSite *site, PlaitReads reads, const char *name, guint memory)
{
  for (guint i = 0; i < site->declared->n_readers; i++)
    {
      PlaitReader *reader = &site->declared->readers[i];

      if (reader->reads == reads && g_strcmp0 (reader->name, name) == 0
          && (reads != PLAIT_READS_MEMORY || reader->first == memory))
        return reader;
    }
  return NULL;
}

/* Names that stand below a site's prefix already. */
static gboolean
is_taken (const char *name)
{
  static const char *const taken[] = { "attend", "jointly", "contexts", "normalise", "refine", "sentinel", NULL };

  return g_strv_contains (taken, name);
}

static gboolean
is_rate (double rate)
{
  return rate == PLAIT_DECODER_DROPOUT || (rate >= 0 && rate < 1);
}

static double
rate_of (double asked, double of_decoder)
{
  return asked == PLAIT_DECODER_DROPOUT ? of_decoder : asked;
}

/* TRUE if the attention can be declared; faults are noted. */
static gboolean
check_attention (PlaitSite *site, const char *call, PlaitReads reads, guint memory, const PlaitSiteAttention *asked)
{
  if (asked->name && (!plait_name_is_valid (asked->name) || is_taken (asked->name)))
    plait_site_fault (site, PLAIT_ERROR_PLUGIN,
                      "%s: \"%s\" is no name for an attention: give letters, digits, '-' and '_', beginning with a "
                      "letter, and none of attend, jointly, contexts, normalise, refine, sentinel",
                      call, asked->name);
  else if (plait_site_find_reader (site, reads, asked->name, memory))
    plait_site_fault (site, PLAIT_ERROR_PLUGIN,
                      "%s: declares the same attention twice%s%s: declare each once, or give it a name", call,
                      asked->name ? ": " : "", asked->name ? asked->name : "");
  else if (site->declared->n_readers == PLAIT_SITE_MAXIMUM_READERS)
    plait_site_fault (site, PLAIT_ERROR_PLUGIN, "%s: declares more than %d attentions", call,
                      PLAIT_SITE_MAXIMUM_READERS);
  else if (!is_rate (asked->dropout) || !is_rate (asked->output_dropout))
    plait_site_fault (
        site, PLAIT_ERROR_PLUGIN,
        "%s: asks for dropout=%g and output_dropout=%g: give rates from 0 up to 1, or PLAIT_DECODER_DROPOUT", call,
        asked->dropout, asked->output_dropout);
  else if ((guint)asked->projections > PLAIT_PROJECTIONS_PUBLISHED)
    plait_site_fault (site, PLAIT_ERROR_PLUGIN, "%s: asks for projections of kind %u, which there is not", call,
                      (guint)asked->projections);
  else if (asked->weights && reads != PLAIT_READS_MEMORY)
    plait_site_fault (site, PLAIT_ERROR_PLUGIN, "%s: asks for weights, which attention to one memory gives alone",
                      call);
  else
    return TRUE;
  return FALSE;
}

/* Heads of scaled products: those that do not divide the width are noted, and replaced so that declaring can go on. */
static guint
heads_of (PlaitSite *site, const PlaitSiteAttention *asked)
{
  gint64 heads = asked->heads == PLAIT_DECODER_HEADS ? settings_of (site)->heads : asked->heads,
         width = site->declared->width;

  if (width % heads == 0)
    return (guint)heads;
  plait_site_fault (site, PLAIT_ERROR_INPUT, "%jd heads do not divide decoder.width=%jd: choose heads that do", heads,
                    width);
  return 1;
}

static void
declare_scaled (PlaitSite *site, PlaitReader *reader, const char *name, const PlaitSiteAttention *asked, guint n_items)
{
  guint n = plait_site_n_memories (site);
  gint64 width = site->declared->width;
  PlaitAttentionDeclaration declaration = {
    .width = width,
    .heads = heads_of (site, asked),
    .dropout = reader->dropout,
    .biases = settings_of (site)->attention_bias,
    .zero_output = reader->reads == PLAIT_READS_MEMORY && plait_site_memory (site, reader->first)->zero_output,
  };
  g_autofree const char **names = g_new (const char *, n);
  g_autofree gint64 *widths = g_new (gint64, n);

  if (asked->sentinel)
    plait_site_fault (site, PLAIT_ERROR_INPUT,
                      "a sentinel was asked for, but a Transformer decoder has none: set sentinel=false, or "
                      "decoder.type=gru or lstm");
  if (asked->projections == PLAIT_PROJECTIONS_TIED)
    plait_site_fault (site, PLAIT_ERROR_INPUT,
                      "projections=tied makes a key and a value of one projection, but a Transformer decoder has them "
                      "apart: set projections=shared or separate, or decoder.type=gru or lstm");
  reader->heads = declaration.heads;
  reader->scale = 1 / sqrt ((double)width / reader->heads);
  for (guint i = 0; i < n; i++)
    {
      names[i] = site->declared->decoder->memories[i].name;
      widths[i] = width;
    }
  reader->scaled = n_items > 0
                       ? plait_attention_declare_joint (site->parameters, name, &declaration, names, widths, n_items)
                       : plait_attention_declare (site->parameters, name, &declaration, width);
}

static PlaitScoredDeclaration
scored_declaration (const PlaitSite *site, const PlaitSiteAttention *asked)
{
  const PlaitDecoderSettings *settings = settings_of (site);

  return (PlaitScoredDeclaration){
    .parameters = site->parameters,
    .score = settings->attention,
    .state_width = site->declared->query_width,
    .attention_width = settings->attention_width ? settings->attention_width : site->declared->query_width,
    .width = site->declared->width,
    .tied = asked->projections == PLAIT_PROJECTIONS_TIED,
  };
}

/* The sentinel of the site, and its part in the attention. */
static void
declare_sentinel (PlaitSite *site, PlaitReader *reader, const PlaitScoredDeclaration *declaration)
{
  PlaitSentinelGate *gate = &site->declared->gate;
  gint64 state = site->declared->query_width;
  g_autofree char *name = g_strdup_printf ("%ssentinel", site->prefix);
  g_autofree char *of_state = g_strconcat (name, "/state", NULL);
  g_autofree char *of_embedding = g_strconcat (name, "/embedding", NULL);

  if (gate->state.weight)
    {
      plait_site_fault (site, PLAIT_ERROR_PLUGIN,
                        "a second attention with a sentinel is declared: a site has at most one");
      return;
    }
  gate->state = plait_linear_declare (site->parameters, of_state, state, state, FALSE);
  gate->embedding = plait_linear_declare (site->parameters, of_embedding, settings_of (site)->width, state, TRUE);
  reader->scored.sentinel = plait_scored_declare_sentinel (declaration, name);
}

static void
declare_scored (PlaitSite *site, PlaitReader *reader, const char *name, const PlaitSiteAttention *asked, guint n_items)
{
  PlaitScoredDeclaration declaration = scored_declaration (site, asked);

  if (asked->heads > 1)
    plait_site_fault (site, PLAIT_ERROR_INPUT,
                      "%u heads were asked for, but attention in a recurrent decoder has one: leave heads at 0",
                      asked->heads);
  if (asked->sentinel && reader->reads == PLAIT_READS_MEMORY)
    plait_site_fault (
        site, PLAIT_ERROR_PLUGIN,
        "a sentinel was asked for in attention to one memory: joint attention and attention over contexts have one");
  reader->heads = 1;
  reader->scale = 1;
  reader->scored = plait_scored_declare (&declaration, name, site->declared->decoder->memories, n_items);
  if (asked->sentinel)
    declare_sentinel (site, reader, &declaration);
}

/* The coverage of the memories that the attention reads: below @name, or what stands for each memory there. */
static void
declare_coverage (PlaitSite *site, PlaitReader *reader, const char *name, const PlaitSiteAttention *asked)
{
  PlaitDeclaredSite *declared = site->declared;
  const PlaitDecoderBuild *decoder = declared->decoder;
  gboolean each = settings_of (site)->coverage_heads == PLAIT_DECODER_COVERAGE_HEADS_EACH;
  PlaitScoredDeclaration scored = scored_declaration (site, asked);
  guint n_states = each ? reader->heads : 1;
  PlaitCoverageBuild build = {
    .memory_width = declared->width,
    .query_width = declared->query_width,
    .score_width = declared->scaled ? reader->heads / n_states : plait_scored_width (&scored),
    .parameters = site->parameters,
  };

  if (!decoder->coverage)
    return;
  reader->covered = plait_parameters_memory (site->parameters, reader->n * sizeof (PlaitCovered));
  for (guint i = 0; i < reader->n; i++)
    {
      g_autofree char *prefix
          = reader->reads == PLAIT_READS_MEMORY
                ? g_strdup_printf ("%s/coverage/", name)
                : g_strdup_printf ("%s/%s/coverage/", name, decoder->memories[reader->first + i].name);
      GError *error = NULL;

      build.prefix = prefix;
      if (!plait_covered_build (&reader->covered[i], decoder->coverage, &build, n_states, decoder->losses, &error))
        {
          if (site->fault)
            g_error_free (error);
          else
            site->fault = error;
          reader->covered = NULL;
          return;
        }
      reader->covered[i].first_state = declared->n_coverage;
      reader->covered[i].memory = reader->first + i;
      declared->n_coverage += n_states;
      declared->covered[declared->n_covered++] = &reader->covered[i];
    }
}

/* TRUE if each item has a projection of its own. */
static gboolean
is_separate (const PlaitSite *site, const PlaitSiteAttention *asked)
{
  return asked->projections == PLAIT_PROJECTIONS_SEPARATE || asked->projections == PLAIT_PROJECTIONS_TIED
         || (asked->projections == PLAIT_PROJECTIONS_PUBLISHED && !site->declared->scaled);
}

static void
declare (PlaitSite *site, const char *call, PlaitReads reads, guint memory, const PlaitSiteAttention *asked)
{
  static const char *const folders[] = { "attend", "jointly", "contexts" };
  PlaitDeclaredSite *declared = site->declared;
  guint n = plait_site_n_memories (site);
  g_autofree char *named = NULL, *name = NULL;
  PlaitReader *reader;

  expect_building (site, call);
  if (!asked)
    plait_site_fault (site, PLAIT_ERROR_PLUGIN, "%s: is given NULL for the settings of an attention: give them", call);
  if (!asked || !check_attention (site, call, reads, memory, asked))
    return;
  named = asked->name ? g_strconcat (asked->name, "/", NULL) : g_strdup ("");
  name = reads == PLAIT_READS_MEMORY
             ? g_strdup_printf ("%s%sattend/%s", site->prefix, named, declared->decoder->memories[memory].name)
             : g_strdup_printf ("%s%s%s", site->prefix, named, folders[reads]);
  reader = &declared->readers[declared->n_readers++];
  *reader = (PlaitReader){
    .reads = reads,
    .first = reads == PLAIT_READS_MEMORY ? memory : 0,
    .n = reads == PLAIT_READS_MEMORY    ? 1
         : reads == PLAIT_READS_JOINTLY ? n
                                        : 0,
    .dropout = rate_of (asked->dropout, settings_of (site)->attention_dropout),
    .output_dropout = rate_of (asked->output_dropout, settings_of (site)->dropout),
    .weights = asked->weights,
  };
  if (asked->name)
    reader->name = plait_parameters_text (site->parameters, asked->name);
  (declared->scaled ? declare_scaled : declare_scored) (
      site, reader, name, asked, reads != PLAIT_READS_MEMORY && is_separate (site, asked) ? n : 0);
  declare_coverage (site, reader, name, asked);
}

void
plait_site_declare_attend (PlaitSite *site, guint memory, const PlaitSiteAttention *asked)
{
  declare (site, G_STRFUNC, PLAIT_READS_MEMORY, check_memory (site, G_STRFUNC, memory), asked);
}

void
plait_site_declare_attend_jointly (PlaitSite *site, const PlaitSiteAttention *asked)
{
  guint n = plait_site_n_memories (site);

  if (n > PLAIT_ATTENTION_MEMORIES)
    plait_site_fault (site, PLAIT_ERROR_INPUT,
                      "one softmax over %u memories, at most %d can share one: use fewer sources, or another combiner",
                      n, PLAIT_ATTENTION_MEMORIES);
  declare (site, G_STRFUNC, PLAIT_READS_JOINTLY, 0, asked);
}

void
plait_site_declare_attend_contexts (PlaitSite *site, const PlaitSiteAttention *asked)
{
  declare (site, G_STRFUNC, PLAIT_READS_CONTEXTS, 0, asked);
}

void
plait_site_declare_rows (PlaitSite *site, guint memory)
{
  expect_building (site, G_STRFUNC);
  site->declared->reads_rows[check_memory (site, G_STRFUNC, memory)] = TRUE;
}

void
plait_site_declare_loss (PlaitSite *site, const char *name, double weight)
{
  expect_building (site, G_STRFUNC);
  if (site->losses.n < PLAIT_MAXIMUM_LOSSES)
    site->losses.losses[site->losses.n]
        = (PlaitLoss){ name ? plait_parameters_text (site->parameters, name) : NULL, weight };
  site->losses.n++;
}

gboolean
plait_declared_site_build (PlaitDeclaredSite *site, const PlaitDecoderBuild *decoder, gint64 query_width, gint64 width,
                           const char *prefix, GError **error)
{
  PlaitParameters *parameters = decoder->parameters;
  PlaitInstance *combiner = &site->combiner;
  PlaitSite building = { .declared = site, .parameters = parameters, .prefix = prefix };

  *site = (PlaitDeclaredSite){
    .decoder = decoder,
    .scaled = decoder->settings->type == PLAIT_DECODER_TYPE_TRANSFORMER,
    .width = width,
    .query_width = query_width,
    .norms = plait_parameters_memory (parameters, PLAIT_SITE_MAXIMUM_SLOTS * sizeof (PlaitNorm)),
    .refine = plait_parameters_memory (parameters, PLAIT_SITE_MAXIMUM_SLOTS * sizeof (PlaitLinear)),
    .readers = plait_parameters_memory (parameters, PLAIT_SITE_MAXIMUM_READERS * sizeof (PlaitReader)),
    .covered
    = plait_parameters_memory (parameters, PLAIT_SITE_MAXIMUM_READERS * decoder->n_memories * sizeof (PlaitCovered *)),
    .reads_rows = plait_parameters_memory (parameters, decoder->n_memories * sizeof (gboolean)),
  };
  if (!plait_call_build_combiner (combiner, decoder->combiner, &building, parameters, error))
    {
      g_clear_error (&building.fault);
      return FALSE;
    }
  if (!plait_no_fault (&building.fault, error))
    return FALSE;
  combiner->losses = building.losses;
  return plait_loss_columns_declare (decoder->losses, decoder->combiner, &combiner->losses, combiner->columns, error);
}

gboolean
plait_declared_site_has_losses (const PlaitDeclaredSite *site)
{
  guint n = site->combiner.losses.n;

  for (guint i = 0; i < site->n_covered; i++)
    n += site->covered[i]->instance.losses.n;
  return n > 0;
}
