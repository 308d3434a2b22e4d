/* SPDX-License-Identifier: MIT */
#include "model/recurrent-step.h"
#include "model/steps.h"

/* Recurrent decoders; recurrent-step.h has the equations. */

/*
 * Whole targets: step t works on the sentences that are longer than t.
 */

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitCapture *capture)
{
  const PlaitRecurrent *r = (const PlaitRecurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  guint n_memories = r->build.n_memories;
  gint64 n = plait_ragged_rows (target_rows), steps = plait_steps (target_rows);
  PlaitSiteKeys keys = plait_site_project (&r->site, tape, sources->memories);
  PlaitNode *embedded = plait_recurrent_embed (r, tape, target_inputs, sources->roles, n);
  PlaitRecurrentInput inputs = plait_recurrent_input (r, tape, embedded);
  PlaitRecurrentCarried carried = plait_recurrent_begin (r, tape, sources, target_rows.n);
  PlaitStepRows rows = plait_step_rows (arena, target_rows, 0);
  PlaitNode **states = plait_arena_new_array (arena, PlaitNode *, steps + 1);
  PlaitNode **contexts = plait_arena_new_array (arena, PlaitNode *, steps + 1);

  if (capture)
    plait_site_pass (tape, sources->memories, n_memories, target_rows, capture);
  for (gint64 t = 0; t < steps; t++)
    {
      PlaitStepRows next = plait_step_rows (arena, target_rows, t + 1);
      gint64 here = plait_ragged_rows (rows.queries);
      PlaitCapture *own = capture ? plait_capture_new (arena, 1, n_memories, capture->coverage) : NULL;
      PlaitSitePass pass = plait_site_pass (tape, sources->memories, n_memories, rows.queries, own);
      PlaitRecurrentStep step;

      carried = plait_recurrent_carry (r, tape, &carried, rows.before, here);
      if (t == 0)
        carried.coverage
            = plait_site_carry_coverage (&r->site, tape, sources->memories, NULL, NULL, rows.queries, NULL);
      pass.losses = sources->losses;
      pass.touched = sources->touched;
      pass.next = next.queries;
      pass.parents = next.before;
      step = plait_recurrent_advance (r, &pass, &keys, plait_recurrent_input_rows (tape, inputs, rows.target, here),
                                      &carried);
      if (r->settings->input_feeding)
        carried.readout = step.state = plait_recurrent_read_out (
            r, tape, step.state, plait_gather_rows (tape, embedded, rows.target, here), step.context);
      states[t] = step.state;
      contexts[t] = step.context;
      if (capture)
        plait_capture_add_step (capture, 0, own, t);
      rows = next;
    }
  if (r->settings->input_feeding)
    return plait_steps_in_order (tape, states, steps, target_rows);
  return plait_recurrent_read_out (r, tape, plait_steps_in_order (tape, states, steps, target_rows), embedded,
                                   plait_steps_in_order (tape, contexts, steps, target_rows));
}

static const PlaitDecoderTable recurrent_table = {
  .forward = forward,
  .start = plait_recurrent_start,
  .step = plait_recurrent_step,
};

/*
 * Building
 */

static PlaitCell
declare_cell (const PlaitRecurrent *r, const char *name, gint64 input_width, gboolean recurrent_bias)
{
  PlaitCellDeclaration declaration = {
    .kind = plait_recurrent_has_cells (r) ? PLAIT_CELL_LSTM : PLAIT_CELL_GRU,
    .reset = (PlaitResetPlace)r->settings->reset,
    .input_width = input_width,
    .width = r->state_width,
    .forget_bias = 1,
    .recurrent_bias = recurrent_bias,
  };

  return plait_cell_declare (r->build.parameters, name, &declaration);
}

/* One linear map of each source of the first state, for each layer; the first has the bias. */
static PlaitLinear *
declare_initial (const PlaitRecurrent *r, const char *part)
{
  PlaitLinear *linears
      = plait_parameters_memory (r->build.parameters, (r->settings->layers * r->n_initial + 1) * sizeof *linears);

  for (gint64 i = 0; i < r->settings->layers; i++)
    for (guint m = 0; m < r->n_initial; m++)
      {
        gboolean mean = r->settings->initial == PLAIT_INITIAL_MEAN;
        const PlaitSummarySpecification *summary = mean ? NULL : &r->build.summaries[m];
        g_autofree char *name = g_strdup_printf ("decoder/layer/%" G_GINT64_FORMAT "/initial/%s/%s", i, part,
                                                 mean ? r->build.memories[m].name : summary->name);

        linears[i * r->n_initial + m] = plait_linear_declare (
            r->build.parameters, name, mean ? r->build.memories[m].width : summary->width, r->state_width, m == 0);
      }
  return linears;
}

static gboolean
declare_parts (PlaitRecurrent *r, GError **error)
{
  const PlaitDecoderSettings *settings = r->settings;
  PlaitParameters *parameters = r->build.parameters;
  gint64 context = r->build.memories[0].width, gates = plait_recurrent_has_cells (r) ? 4 : 3, parts;

  r->cells = plait_parameters_memory (parameters, settings->layers * sizeof *r->cells);
  for (gint64 i = 0; i < settings->layers; i++)
    {
      g_autofree char *name = g_strdup_printf ("decoder/layer/%" G_GINT64_FORMAT "/cell", i);

      r->cells[i] = declare_cell (r, name, i == 0 ? settings->width : r->state_width, FALSE);
    }
  /* The bias of dl4mt's second candidate stands within its reset. */
  if (settings->query == PLAIT_QUERY_INTERMEDIATE)
    r->second = declare_cell (r, "decoder/layer/0/second_cell", context,
                              !plait_recurrent_has_cells (r) && settings->reset == PLAIT_RESET_AFTER);
  if (settings->query == PLAIT_QUERY_PREVIOUS)
    r->context = plait_linear_declare_blocks (parameters, "decoder/layer/0/context", context, gates * r->state_width,
                                              (guint)gates, FALSE);
  if (settings->input_feeding)
    r->feed = plait_linear_declare_blocks (parameters, "decoder/layer/0/feed", settings->width, gates * r->state_width,
                                           (guint)gates, FALSE);
  if (settings->attention == PLAIT_SCORE_DOT && r->state_width != context)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.attention=dot: states are %" G_GINT64_FORMAT " wide and memories %" G_GINT64_FORMAT
                       ": set decoder.context_width=%" G_GINT64_FORMAT ", or take attention=multiplicative",
                       r->state_width, context, r->state_width);
  if (!plait_declared_site_build (&r->site, &r->build, r->state_width, context, "decoder/combiner/", error))
    return FALSE;
  parts = r->state_width + context + (settings->readout == PLAIT_READOUT_DEEP ? settings->width : 0);
  r->readout = plait_linear_declare (parameters, "decoder/readout", parts, settings->width, TRUE);
  r->initial_states = declare_initial (r, "state");
  r->initial_cells = plait_recurrent_has_cells (r) ? declare_initial (r, "cell") : NULL;
  return TRUE;
}

PlaitDecoder *
plait_recurrent_decoder_new (const PlaitDecoderBuild *build, GError **error)
{
  g_autofree PlaitRecurrent *r = g_new0 (PlaitRecurrent, 1);
  const PlaitDecoderSettings *settings = build->settings;

  r->decoder.table = &recurrent_table;
  r->decoder.width = settings->width;
  r->decoder.n_layers = 1;
  r->build = *build;
  r->settings = settings;
  r->state_width = settings->state_width ? settings->state_width : settings->width;
  if (settings->initial == PLAIT_INITIAL_SUMMARY && build->n_summaries == 0)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "decoder.initial=summary: no encoder of this model gives a summary: take initial=mean, or an encoder "
        "that gives one");
  if (settings->initial != PLAIT_INITIAL_ZERO)
    r->n_initial = settings->initial == PLAIT_INITIAL_MEAN ? build->n_memories : build->n_summaries;
  if (!declare_parts (r, error))
    return NULL;
  return &((PlaitRecurrent *)g_steal_pointer (&r))->decoder;
}
