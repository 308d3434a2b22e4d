/* SPDX-License-Identifier: MIT */
#include "cross-attention/cross-attention.h"

#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "kernels/kernels.h"
#include "layers/parameter-set.h"
#include "layers/attention.h"

/* Functions that a combiner calls in build to declare what it needs. The first fault is stored; later calls
 * continue. */

void
plait_cross_fault (PlaitCrossAttention *cross, PlaitErrorCode code, const char *format, ...)
{
  va_list arguments;

  if (cross->fault)
    return;
  va_start (arguments, format);
  cross->fault = g_error_new_valist (PLAIT_ERROR, (gint)code, format, arguments);
  va_end (arguments);
  g_prefix_error (&cross->fault, "%s: ", cross->declared->decoder->combiner->label);
}

/* Fails the step if the model runs, because the function @call may be called only in build. */
static void
expect_building (const PlaitCrossAttention *cross, const char *call)
{
  if (!cross->parameters)
    plait_tape_fail (cross->pass->tape, "calls %s while the model runs: declare in build", call);
}

static const PlaitDecoderSettings *
settings_of (const PlaitCrossAttention *cross)
{
  return cross->declared->decoder->settings;
}

guint
plait_cross_n_memories (const PlaitCrossAttention *cross)
{
  return cross->declared->decoder->n_memories;
}

/* Returns @memory if there is such a memory. Else stores a fault and returns 0 while the model is built, and fails the
 * step while the model runs. */
static guint
check_memory (PlaitCrossAttention *cross, const char *call, guint memory)
{
  guint n = plait_cross_n_memories (cross);

  if (memory < n)
    return memory;
  if (!cross->parameters)
    plait_tape_fail (cross->pass->tape, "%s: there is no memory %u; memories are numbered 0 to %u", call, memory,
                     n - 1);
  plait_cross_fault (cross, PLAIT_ERROR_PLUGIN, "%s: there is no memory %u; memories are numbered 0 to %u", call,
                     memory, n - 1);
  return 0;
}

const PlaitMemorySpecification *
plait_cross_memory (const PlaitCrossAttention *cross, guint memory)
{
  memory = check_memory ((PlaitCrossAttention *)cross, G_STRFUNC, memory);
  return &cross->declared->decoder->memories[memory];
}

gint64
plait_cross_width (const PlaitCrossAttention *cross)
{
  return cross->declared->width;
}

gint64
plait_cross_query_width (const PlaitCrossAttention *cross)
{
  return cross->declared->query_width;
}

PlaitParameters *
plait_cross_parameters (PlaitCrossAttention *cross)
{
  expect_building (cross, G_STRFUNC);
  return cross->parameters;
}

const char *
plait_cross_prefix (const PlaitCrossAttention *cross)
{
  expect_building (cross, G_STRFUNC);
  return cross->prefix;
}

void
plait_cross_declare_residual (PlaitCrossAttention *cross, guint slot)
{
  PlaitCrossAttentionLayer *declared = cross->declared;

  expect_building (cross, G_STRFUNC);
  if (slot != declared->n_slots || slot >= PLAIT_CROSS_MAX_SLOTS)
    {
      plait_cross_fault (
          cross, PLAIT_ERROR_PLUGIN,
          "%s: declares slot %u, but the next slot is %u of at most %d: declare slots in order, each once", G_STRFUNC,
          slot, declared->n_slots, PLAIT_CROSS_MAX_SLOTS);
      return;
    }
  declared->n_slots++;
  if (declared->multi_head)
    {
      g_autofree char *name = g_strdup_printf ("%snormalise/%u", cross->prefix, slot);

      declared->norms[slot] = plait_norm_declare (cross->parameters, name, declared->width);
    }
  /* Only slots before the last have a map R, because R changes the query for later slots. So declare R of the previous
   * slot here. */
  else if (slot > 0)
    {
      g_autofree char *name = g_strdup_printf ("%srefine/%u", cross->prefix, slot - 1);

      declared->refine[slot - 1]
          = plait_linear_declare (cross->parameters, name, declared->width, declared->query_width, FALSE);
    }
}

PlaitDeclaredAttention *
plait_cross_find_attention (const PlaitCrossAttention *cross, PlaitAttentionKind kind, const char *name, guint memory)
{
  for (guint i = 0; i < cross->declared->n_attentions; i++)
    {
      PlaitDeclaredAttention *attention = &cross->declared->attentions[i];

      if (attention->kind == kind && g_strcmp0 (attention->name, name) == 0
          && (kind != PLAIT_ATTEND_MEMORY || attention->first == memory))
        return attention;
    }
  return NULL;
}

/* TRUE if an attention cannot be called @name, because parameters that this file declares have the name. */
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
rate_of (double requested, double of_decoder)
{
  return requested == PLAIT_DECODER_DROPOUT ? of_decoder : requested;
}

/* TRUE if the attention can be declared; else stores the fault. */
static gboolean
check_attention (PlaitCrossAttention *cross, const char *call, PlaitAttentionKind kind, guint memory,
                 const PlaitAttendSettings *requested)
{
  if (requested->name && (!plait_name_is_valid (requested->name) || is_taken (requested->name)))
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN,
                       "%s: \"%s\" cannot name an attention: use up to 64 letters, digits, '-' and '_', begin with a "
                       "letter, and avoid attend, jointly, contexts, normalise, refine, sentinel",
                       call, requested->name);
  else if (requested->name && kind != PLAIT_ATTEND_MEMORY)
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN,
                       "%s: has the name \"%s\", but only attention to one memory can have a name: leave name at NULL",
                       call, requested->name);
  else if (plait_cross_find_attention (cross, kind, requested->name, memory))
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN, "%s: declares the same attention twice%s%s: declare each once%s",
                       call, requested->name ? ": " : "", requested->name ? requested->name : "",
                       kind == PLAIT_ATTEND_MEMORY ? ", or give it a name" : "");
  else if (cross->declared->n_attentions == PLAIT_CROSS_MAX_ATTENTIONS)
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN, "%s: declares more than %d attentions: declare fewer", call,
                       PLAIT_CROSS_MAX_ATTENTIONS);
  else if (!is_rate (requested->dropout) || !is_rate (requested->output_dropout))
    plait_cross_fault (
        cross, PLAIT_ERROR_PLUGIN,
        "%s: asks for dropout=%g and output_dropout=%g: give rates from 0 to below 1, or PLAIT_DECODER_DROPOUT", call,
        requested->dropout, requested->output_dropout);
  else if ((guint)requested->projections > PLAIT_PROJECTIONS_PUBLISHED)
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN,
                       "%s: asks for unknown projections %u: give a value of PlaitProjections", call,
                       (guint)requested->projections);
  else if (requested->weights && kind != PLAIT_ATTEND_MEMORY)
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN,
                       "%s: asks for weights, but only attention to one memory returns weights: set weights to FALSE",
                       call);
  else
    return TRUE;
  return FALSE;
}

/* Returns the number of heads. If it does not divide the width, stores the fault and returns 1. */
static guint
heads_of (PlaitCrossAttention *cross, const PlaitAttendSettings *requested)
{
  gint64 heads = requested->heads == PLAIT_DECODER_HEADS ? settings_of (cross)->heads : requested->heads,
         width = cross->declared->width;

  if (width % heads == 0)
    return (guint)heads;
  plait_cross_fault (cross, PLAIT_ERROR_INPUT, "%jd heads do not divide decoder.width=%jd: choose heads that do", heads,
                     width);
  return 1;
}

static void
declare_multi_head (PlaitCrossAttention *cross, PlaitDeclaredAttention *attention, const char *name,
                    const PlaitAttendSettings *requested, guint n_items)
{
  guint n = plait_cross_n_memories (cross);
  gint64 width = cross->declared->width;
  PlaitAttentionDeclaration declaration = {
    .width = width,
    .heads = heads_of (cross, requested),
    .dropout = attention->dropout,
    .biases = settings_of (cross)->attention_bias,
    .zero_output = attention->kind == PLAIT_ATTEND_MEMORY && plait_cross_memory (cross, attention->first)->zero_output,
  };
  g_autofree const char **names = g_new (const char *, n);
  g_autofree gint64 *widths = g_new (gint64, n);

  if (requested->sentinel)
    plait_cross_fault (cross, PLAIT_ERROR_INPUT,
                       "a Transformer decoder cannot have a sentinel: set sentinel=false, or decoder.type=gru or lstm");
  if (requested->projections == PLAIT_PROJECTIONS_TIED)
    plait_cross_fault (cross, PLAIT_ERROR_INPUT,
                       "projections=tied uses one projection for keys and values, but a Transformer decoder needs two: "
                       "set projections=shared or separate, or decoder.type=gru or lstm");
  attention->heads = declaration.heads;
  attention->scale = 1 / sqrt ((double)width / attention->heads);
  for (guint i = 0; i < n; i++)
    {
      names[i] = cross->declared->decoder->memories[i].name;
      widths[i] = width;
    }
  attention->multi_head
      = n_items > 0 ? plait_attention_declare_joint (cross->parameters, name, &declaration, names, widths, n_items)
                    : plait_attention_declare (cross->parameters, name, &declaration, width);
}

static PlaitRecurrentAttentionDeclaration
recurrent_declaration (const PlaitCrossAttention *cross, const PlaitAttendSettings *requested)
{
  return (PlaitRecurrentAttentionDeclaration){
    .parameters = cross->parameters,
    .score = cross->declared->score,
    .state_width = cross->declared->query_width,
    .attention_width = cross->declared->attention_width,
    .width = cross->declared->width,
    .tied = requested->projections == PLAIT_PROJECTIONS_TIED,
  };
}

/* Declares the gate of the sentinel in the cross-attention, and the sentinel's projections in @attention. Stores a
 * fault if another attention has a sentinel. */
static void
declare_sentinel (PlaitCrossAttention *cross, PlaitDeclaredAttention *attention,
                  const PlaitRecurrentAttentionDeclaration *declaration)
{
  PlaitSentinelGate *gate = &cross->declared->gate;
  gint64 state = cross->declared->query_width;
  g_autofree char *name = g_strdup_printf ("%ssentinel", cross->prefix);
  g_autofree char *of_state = g_strconcat (name, "/state", NULL);
  g_autofree char *of_embedding = g_strconcat (name, "/embedding", NULL);

  if (gate->state.weight)
    {
      plait_cross_fault (
          cross, PLAIT_ERROR_PLUGIN,
          "declares a second attention with a sentinel, but a decoder layer has at most one: remove the other");
      return;
    }
  gate->state = plait_linear_declare (cross->parameters, of_state, state, state, FALSE);
  gate->embedding = plait_linear_declare (cross->parameters, of_embedding, settings_of (cross)->width, state, TRUE);
  attention->recurrent.sentinel = plait_recurrent_attention_declare_sentinel (declaration, name);
}

static void
declare_recurrent (PlaitCrossAttention *cross, PlaitDeclaredAttention *attention, const char *name,
                   const PlaitAttendSettings *requested, guint n_items)
{
  PlaitRecurrentAttentionDeclaration declaration = recurrent_declaration (cross, requested);

  if (requested->heads > 1)
    plait_cross_fault (cross, PLAIT_ERROR_INPUT,
                       "%u heads were requested, but attention in a recurrent decoder has one: leave heads at 0",
                       requested->heads);
  if (requested->sentinel && attention->kind == PLAIT_ATTEND_MEMORY)
    plait_cross_fault (
        cross, PLAIT_ERROR_PLUGIN,
        "attention to one memory cannot have a sentinel: request it for joint attention or attention over contexts");
  attention->heads = 1;
  attention->scale = 1;
  attention->recurrent
      = plait_recurrent_attention_declare (&declaration, name, cross->declared->decoder->memories, n_items);
  if (requested->sentinel)
    declare_sentinel (cross, attention, &declaration);
}

/* If the decoder has coverage, declares it for each memory that @attention reads. The parameters of coverage are below
 * @name/coverage, for joint attention below @name/MEMORY/coverage. */
static void
declare_coverage (PlaitCrossAttention *cross, PlaitDeclaredAttention *attention, const char *name,
                  const PlaitAttendSettings *requested)
{
  PlaitCrossAttentionLayer *declared = cross->declared;
  const PlaitDecoderComponents *decoder = declared->decoder;
  gboolean each = settings_of (cross)->coverage_heads == PLAIT_DECODER_COVERAGE_HEADS_EACH;
  PlaitRecurrentAttentionDeclaration recurrent = recurrent_declaration (cross, requested);
  guint n_states = each ? attention->heads : 1;
  PlaitCoverageBuild build = {
    .memory_width = declared->width,
    .query_width = declared->query_width,
    .score_width
    = declared->multi_head ? attention->heads / n_states : plait_recurrent_attention_score_width (&recurrent),
    .parameters = cross->parameters,
  };

  if (!decoder->coverage)
    return;
  attention->covered = plait_parameters_memory (cross->parameters, attention->n * sizeof (PlaitCoveredMemory));
  for (guint i = 0; i < attention->n; i++)
    {
      g_autofree char *prefix
          = attention->kind == PLAIT_ATTEND_MEMORY
                ? g_strdup_printf ("%s/coverage/", name)
                : g_strdup_printf ("%s/%s/coverage/", name, decoder->memories[attention->first + i].name);
      GError *error = NULL;

      build.prefix = prefix;
      if (!plait_covered_memory_build (&attention->covered[i], decoder->coverage, &build, n_states, decoder->losses,
                                       &error))
        {
          if (cross->fault)
            g_error_free (error);
          else
            cross->fault = error;
          attention->covered = NULL;
          return;
        }
      attention->covered[i].first_state = declared->n_coverage;
      attention->covered[i].memory = attention->first + i;
      declared->n_coverage += n_states;
      declared->covered[declared->n_covered++] = &attention->covered[i];
    }
}

/* TRUE if each memory or context is projected to keys and values with its own parameters. */
static gboolean
is_separate (const PlaitCrossAttention *cross, const PlaitAttendSettings *requested)
{
  return requested->projections == PLAIT_PROJECTIONS_SEPARATE || requested->projections == PLAIT_PROJECTIONS_TIED
         || (requested->projections == PLAIT_PROJECTIONS_PUBLISHED && !cross->declared->multi_head);
}

static void
declare (PlaitCrossAttention *cross, const char *call, PlaitAttentionKind kind, guint memory,
         const PlaitAttendSettings *requested)
{
  static const char *const folders[] = { "attend", "jointly", "contexts" };
  PlaitCrossAttentionLayer *declared = cross->declared;
  guint n = plait_cross_n_memories (cross);
  g_autofree char *named = NULL, *name = NULL;
  PlaitDeclaredAttention *attention;

  expect_building (cross, call);
  if (!requested)
    plait_cross_fault (cross, PLAIT_ERROR_PLUGIN,
                       "%s: the settings of the attention are NULL: give a PlaitAttendSettings", call);
  if (!requested || !check_attention (cross, call, kind, memory, requested))
    return;
  named = requested->name ? g_strconcat (requested->name, "/", NULL) : g_strdup ("");
  name = kind == PLAIT_ATTEND_MEMORY
             ? g_strdup_printf ("%s%sattend/%s", cross->prefix, named, declared->decoder->memories[memory].name)
             : g_strdup_printf ("%s%s%s", cross->prefix, named, folders[kind]);
  attention = &declared->attentions[declared->n_attentions++];
  *attention = (PlaitDeclaredAttention){
    .kind = kind,
    .first = kind == PLAIT_ATTEND_MEMORY ? memory : 0,
    .n = kind == PLAIT_ATTEND_MEMORY    ? 1
         : kind == PLAIT_ATTEND_JOINTLY ? n
                                        : 0,
    .dropout = rate_of (requested->dropout, settings_of (cross)->attention_dropout),
    .output_dropout = rate_of (requested->output_dropout, settings_of (cross)->dropout),
    .weights = requested->weights,
  };
  if (requested->name)
    attention->name = plait_parameters_text (cross->parameters, requested->name);
  (declared->multi_head ? declare_multi_head : declare_recurrent) (
      cross, attention, name, requested, kind != PLAIT_ATTEND_MEMORY && is_separate (cross, requested) ? n : 0);
  declare_coverage (cross, attention, name, requested);
}

void
plait_cross_declare_attend (PlaitCrossAttention *cross, guint memory, const PlaitAttendSettings *requested)
{
  declare (cross, G_STRFUNC, PLAIT_ATTEND_MEMORY, check_memory (cross, G_STRFUNC, memory), requested);
}

void
plait_cross_declare_attend_jointly (PlaitCrossAttention *cross, const PlaitAttendSettings *requested)
{
  guint n = plait_cross_n_memories (cross);

  if (n > PLAIT_MAX_ATTENTION_MEMORIES)
    plait_cross_fault (cross, PLAIT_ERROR_INPUT,
                       "one softmax is to cover %u memories, but at most %d can share a softmax: use fewer sources, or "
                       "another combiner",
                       n, PLAIT_MAX_ATTENTION_MEMORIES);
  declare (cross, G_STRFUNC, PLAIT_ATTEND_JOINTLY, 0, requested);
}

void
plait_cross_declare_attend_contexts (PlaitCrossAttention *cross, const PlaitAttendSettings *requested)
{
  declare (cross, G_STRFUNC, PLAIT_ATTEND_CONTEXTS, 0, requested);
}

void
plait_cross_declare_rows (PlaitCrossAttention *cross, guint memory)
{
  expect_building (cross, G_STRFUNC);
  cross->declared->reads_rows[check_memory (cross, G_STRFUNC, memory)] = TRUE;
}

void
plait_cross_declare_queries (PlaitCrossAttention *cross)
{
  expect_building (cross, G_STRFUNC);
  cross->declared->reads_queries = TRUE;
}

void
plait_cross_declare_loss (PlaitCrossAttention *cross, const char *name, double weight)
{
  expect_building (cross, G_STRFUNC);
  if (cross->losses.n < PLAIT_MAX_LOSSES)
    cross->losses.losses[cross->losses.n]
        = (PlaitLoss){ name ? plait_parameters_text (cross->parameters, name) : NULL, weight };
  cross->losses.n++;
}

gboolean
plait_cross_layer_build (PlaitCrossAttentionLayer *cross, const PlaitDecoderComponents *decoder,
                         const PlaitCrossDeclaration *declaration, const char *prefix, GError **error)
{
  PlaitParameters *parameters = decoder->parameters;
  PlaitInstance *combiner = &cross->combiner;
  PlaitCrossAttention building = { .declared = cross, .parameters = parameters, .prefix = prefix };

  *cross = (PlaitCrossAttentionLayer){
    .decoder = decoder,
    .multi_head = declaration->multi_head,
    .width = declaration->width,
    .query_width = declaration->query_width,
    .score = declaration->score,
    .attention_width = declaration->attention_width,
    .layer = declaration->layer,
    .norms = plait_parameters_memory (parameters, PLAIT_CROSS_MAX_SLOTS * sizeof (PlaitNorm)),
    .refine = plait_parameters_memory (parameters, PLAIT_CROSS_MAX_SLOTS * sizeof (PlaitLinear)),
    .attentions = plait_parameters_memory (parameters, PLAIT_CROSS_MAX_ATTENTIONS * sizeof (PlaitDeclaredAttention)),
    .covered = plait_parameters_memory (parameters, PLAIT_CROSS_MAX_ATTENTIONS * decoder->n_memories
                                                        * sizeof (PlaitCoveredMemory *)),
    .reads_rows = plait_parameters_memory (parameters, decoder->n_memories * sizeof (gboolean)),
  };
  if (!plait_call_build_combiner (combiner, decoder->combiner, &building, parameters, error))
    {
      g_clear_error (&building.fault);
      return FALSE;
    }
  if (!plait_no_error (&building.fault, error))
    return FALSE;
  if (decoder->last_cross)
    *decoder->last_cross = cross;
  combiner->losses = building.losses;
  return plait_loss_columns_declare (decoder->losses, decoder->combiner, &combiner->losses, combiner->columns, error);
}

gboolean
plait_cross_layer_has_losses (const PlaitCrossAttentionLayer *cross)
{
  guint n = cross->combiner.losses.n;

  for (guint i = 0; i < cross->n_covered; i++)
    n += cross->covered[i]->instance.losses.n;
  return n > 0;
}

guint
plait_cross_layer_heads (const PlaitCrossAttentionLayer *cross, const char *name, guint memory)
{
  for (guint i = 0; i < cross->n_attentions; i++)
    {
      const PlaitDeclaredAttention *attention = &cross->attentions[i];

      if (attention->kind != PLAIT_ATTEND_CONTEXTS && g_strcmp0 (attention->name, name) == 0
          && memory >= attention->first && memory < attention->first + attention->n)
        return attention->heads;
    }
  return 0;
}

guint
plait_cross_layer_max_heads (const PlaitCrossAttentionLayer *cross, guint memory)
{
  guint heads = 0;

  for (guint i = 0; i < cross->n_attentions; i++)
    if (memory >= cross->attentions[i].first && memory < cross->attentions[i].first + cross->attentions[i].n)
      heads = MAX (heads, cross->attentions[i].heads);
  return heads;
}

gboolean
plait_cross_layer_read (PlaitCrossAttentionLayer *cross, const PlaitReadRequest *request, const gboolean *memories,
                        const char *reader, GError **error)
{
  for (guint m = 0; request->attention && m < cross->decoder->n_memories; m++)
    {
      guint heads = memories[m] ? plait_cross_layer_heads (cross, request->name, m) : 0;

      if (!memories[m])
        continue;
      if (heads == 0)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: this output copies words by the attention to memory \"%s\", but %s has no "
                           "attention%s%s to this memory; choose another combiner",
                           reader, cross->decoder->memories[m].name, cross->combiner.component->label,
                           request->name ? " called " : "", request->name ? request->name : "");
      if (request->head > heads)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: this output copies words by head %u, but the attention to memory \"%s\" has only heads "
                           "1 to %u; choose one of these heads, or 0 for the mean of all heads",
                           reader, request->head, cross->decoder->memories[m].name, heads);
    }
  cross->reads[PLAIT_READER_OUTPUT] = *request;
  return TRUE;
}
