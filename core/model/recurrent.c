/* SPDX-License-Identifier: MIT */
#include "model/decoder.h"
#include "model/recurrent-site.h"
#include "nn/recurrent.h"
#include "tensor/elementwise.h"

#include <string.h>

/*
 * Recurrent decoders: GRU (dl4mt; Chen et al. 2017, eq. 3-7) and LSTM (Luong et al. 2015; Eriguchi et al. 2016), one
 * attention site. Which state asks (decoder.query) settles the order of a step:
 *
 *     previous       c = combine (s');          s = cell (s', [y; c])
 *     intermediate   h = cell (s', y);          c = combine (h);    s = second cell (h, c)
 *     current        s = cell (s', y);          c = combine (s)
 *
 * s' being the top layer's state of the step before in the first, the first layer's otherwise. Layers above the first
 * read the states below them. The readout tanh (W [s; y; c] + b) is made once for all steps, unless it is fed to the
 * next one.
 */

typedef struct
{
  PlaitDecoder decoder;
  PlaitDecoderBuild build;
  const PlaitDecoderSettings *settings;
  gint64 state_width;
  PlaitCell *cells;    /* [layers] */
  PlaitCell second;    /* query=intermediate */
  PlaitLinear context; /* query=previous: what the context adds to the first cell's input side */
  PlaitLinear feed;    /* with input feeding: the same of the readout */
  PlaitRecurrentSite site;
  PlaitLinear readout;
  PlaitLinear *initial_states; /* [layers][sources of the first state]; the first source has the bias */
  PlaitLinear *initial_cells;  /* the same of LSTM cells */
  guint n_initial;
} Recurrent;

/* What a step hands to the next. */
typedef struct
{
  PlaitCellState *layers;
  PlaitNode *readout;   /* with input feeding */
  PlaitNode **coverage; /* [n_memories], of pairs; NULL each without */
} Carried;

typedef struct
{
  PlaitNode *state;   /* of the top layer */
  PlaitNode *context; /* what the combiner read */
} Step;

static gboolean
has_cells (const Recurrent *r)
{
  return r->settings->type == PLAIT_DECODER_LSTM;
}

/* Rows @rows of what was carried, as the new rows of the step; -1 is a row of zeros. */
static Carried
carry (const Recurrent *r, PlaitTape *tape, const Carried *carried, const gint64 *rows, gint64 n)
{
  Carried moved = *carried;

  moved.layers = plait_arena_new_array (plait_tape_arena (tape), PlaitCellState, r->settings->layers);
  for (gint64 i = 0; i < r->settings->layers; i++)
    {
      moved.layers[i].state = plait_gather_rows (tape, carried->layers[i].state, rows, n);
      moved.layers[i].cell = has_cells (r) ? plait_gather_rows (tape, carried->layers[i].cell, rows, n) : NULL;
    }
  if (r->settings->input_feeding)
    moved.readout = plait_gather_rows (tape, carried->readout, rows, n);
  return moved;
}

static PlaitNode *
add (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return plait_sum (tape, (PlaitNode *[]){ x, y }, 2);
}

/* tanh (W [state; embedding; context] + b), or without the embedding. */
static PlaitNode *
read_out (const Recurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded, PlaitNode *context)
{
  PlaitNode *parts[3] = { state, context, embedded }, *out;
  guint n = r->settings->readout == PLAIT_READOUT_DEEP ? 3 : 2;

  out = plait_linear_apply (tape, &r->readout, plait_concatenate_columns (tape, parts, n), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, out, r->settings->dropout);
}

static PlaitNode *
combine (const Recurrent *r, const PlaitSitePass *pass, const PlaitScoredKeys *keys, PlaitNode *query,
         const Carried *carried)
{
  return plait_recurrent_site_combine (&r->site, pass, keys, &r->build, query, carried->coverage);
}

/*
 * The coverage of a step's pairs from that of the step before, whose queries were @before (in the first step none
 * were); query i continues query parents[i].
 */
static PlaitNode **
carry_coverage (const Recurrent *r, PlaitTape *tape, const PlaitMemory *memories, PlaitNode *const *coverage,
                const PlaitRagged *before, PlaitRagged queries, const gint64 *parents)
{
  guint n = r->build.n_memories;
  PlaitNode **moved = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);

  for (guint m = 0; m < n; m++)
    {
      const PlaitCovered *covered = &r->site.covered[m];
      PlaitPairs pairs = plait_pairs (tape, before ? *before : queries, memories[m].rows);

      moved[m] = NULL;
      if (covered->table)
        moved[m] = before ? plait_covered_carry (tape, coverage[m], &pairs, queries, parents)
                          : plait_covered_begin (covered, tape, &pairs);
    }
  return moved;
}

/* One step from @carried, which it renews. @input is the embeddings' part of the first cell's input side. */
static Step
advance (const Recurrent *r, const PlaitSitePass *pass, const PlaitScoredKeys *keys, PlaitNode *input, Carried *carried)
{
  PlaitTape *tape = pass->tape;
  gint64 layers = r->settings->layers;
  PlaitNode *context = NULL;

  if (r->settings->input_feeding)
    input = add (tape, input, plait_linear_apply (tape, &r->feed, carried->readout, PLAIT_ACTIVATION_NONE));
  if (r->settings->query == PLAIT_QUERY_PREVIOUS)
    {
      context = combine (r, pass, keys, carried->layers[layers - 1].state, carried);
      input = add (tape, input, plait_linear_apply (tape, &r->context, context, PLAIT_ACTIVATION_NONE));
    }
  carried->layers[0] = plait_cell_step (tape, &r->cells[0], input, carried->layers[0]);
  if (r->settings->query == PLAIT_QUERY_INTERMEDIATE)
    {
      context = combine (r, pass, keys, carried->layers[0].state, carried);
      carried->layers[0]
          = plait_cell_step (tape, &r->second, plait_cell_project (tape, &r->second, context), carried->layers[0]);
    }
  for (gint64 i = 1; i < layers; i++)
    {
      PlaitNode *below = plait_dropout (tape, carried->layers[i - 1].state, r->settings->dropout);

      carried->layers[i]
          = plait_cell_step (tape, &r->cells[i], plait_cell_project (tape, &r->cells[i], below), carried->layers[i]);
    }
  if (r->settings->query == PLAIT_QUERY_CURRENT)
    context = combine (r, pass, keys, carried->layers[layers - 1].state, carried);
  return (Step){ carried->layers[layers - 1].state, context };
}

/*
 * The first state
 */

/* The mean of a memory's rows, [sentences, width]; zeros where there are none. */
static PlaitNode *
mean_of (PlaitTape *tape, const PlaitMemory *memory)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memory->rows.n, rows = plait_ragged_rows (memory->rows);
  gint64 *units = plait_arena_new_array (arena, gint64, n + 1);
  PlaitScalar *shares = plait_arena_new_array (arena, PlaitScalar, rows + 1);
  PlaitPairs pairs;

  for (gint64 s = 0; s <= n; s++)
    units[s] = s;
  for (gint64 s = 0; s < n; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      shares[row] = 1 / (PlaitScalar)plait_ragged_length (memory->rows, s);
  pairs = plait_pairs (tape, (PlaitRagged){ n, units }, memory->rows);
  return plait_pair_read (tape, &pairs, plait_leaf (tape, plait_tensor (shares, rows, 1), NULL), memory->states);
}

/* tanh of the sum of what @linears make of @from; zeros without any. */
static PlaitNode *
first_state (const Recurrent *r, PlaitTape *tape, const PlaitLinear *linears, PlaitNode *const *from, gint64 n)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitNode **terms = plait_arena_new_array (arena, PlaitNode *, r->n_initial + 1);
  PlaitScalar *zeros;

  for (guint i = 0; i < r->n_initial; i++)
    terms[i] = plait_linear_apply (tape, &linears[i], from[i], PLAIT_ACTIVATION_NONE);
  if (r->n_initial > 0)
    return plait_activate (tape, plait_sum (tape, terms, r->n_initial), PLAIT_ACTIVATION_TANH);
  zeros = plait_arena_new_array (arena, PlaitScalar, n * r->state_width + 1);
  memset (zeros, 0, (gsize)(n * r->state_width) * sizeof *zeros);
  return plait_leaf (tape, plait_tensor (zeros, n, r->state_width), NULL);
}

static Carried
begin (const Recurrent *r, PlaitTape *tape, const PlaitDecoderSources *sources, gint64 n)
{
  PlaitArena *arena = plait_tape_arena (tape);
  Carried carried = { .layers = plait_arena_new_array (arena, PlaitCellState, r->settings->layers) };
  PlaitNode **from = plait_arena_new_array (arena, PlaitNode *, r->n_initial + 1);
  gint64 width = r->settings->width;

  for (guint i = 0; i < r->n_initial; i++)
    from[i]
        = r->settings->initial == PLAIT_INITIAL_MEAN ? mean_of (tape, &sources->memories[i]) : sources->summaries[i];
  for (gint64 i = 0; i < r->settings->layers; i++)
    {
      carried.layers[i].state = first_state (r, tape, r->initial_states + i * r->n_initial, from, n);
      carried.layers[i].cell
          = has_cells (r) ? first_state (r, tape, r->initial_cells + i * r->n_initial, from, n) : NULL;
    }
  if (r->settings->input_feeding)
    {
      PlaitScalar *zeros = plait_arena_new_array (arena, PlaitScalar, n * width + 1);

      memset (zeros, 0, (gsize)(n * width) * sizeof *zeros);
      carried.readout = plait_leaf (tape, plait_tensor (zeros, n, width), NULL);
    }
  return carried;
}

static PlaitNode *
embed (const Recurrent *r, PlaitTape *tape, const gint32 *tokens, gint64 n)
{
  return plait_dropout (tape, plait_embedding_apply (tape, r->build.embedding, tokens, n), r->settings->dropout);
}

/*
 * Whole targets: step t works on the sentences that are longer than t.
 */

typedef struct
{
  PlaitRagged queries; /* one row for each sentence that takes part */
  gint64 *before;      /* [rows]: its row in the step before */
  gint64 *target;      /* [rows]: its row of the target */
} Rows;

static Rows
rows_of_step (PlaitArena *arena, PlaitRagged target, gint64 t)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, target.n + 1), n = 0, before = 0;
  Rows rows = { { target.n, offsets },
                plait_arena_new_array (arena, gint64, target.n + 1),
                plait_arena_new_array (arena, gint64, target.n + 1) };

  offsets[0] = 0;
  for (gint64 s = 0; s < target.n; s++)
    {
      gint64 length = plait_ragged_length (target, s);

      if (length > t)
        {
          rows.before[n] = before;
          rows.target[n++] = target.offsets[s] + t;
        }
      /* In the first step what was carried has a row for each sentence, even one without a target. */
      before += t == 0 || length >= t;
      offsets[s + 1] = n;
    }
  return rows;
}

/* Steps' rows, in the order in which they came, as rows of the target. */
static PlaitNode *
in_order (PlaitTape *tape, PlaitNode *const *steps, gint64 n_steps, const gint64 *places, gint64 rows)
{
  return plait_gather_rows (tape, plait_concatenate_rows (tape, steps, (guint)n_steps), places, rows);
}

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitCapture *capture)
{
  const Recurrent *r = (const Recurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  guint n_memories = r->build.n_memories;
  gint64 n = plait_ragged_rows (target_rows), longest = 0, done = 0;
  PlaitScoredKeys keys = plait_recurrent_site_project (&r->site, tape, sources->memories);
  PlaitNode *embedded = embed (r, tape, target_inputs, n), *inputs = plait_cell_project (tape, &r->cells[0], embedded);
  Carried carried = begin (r, tape, sources, target_rows.n);
  PlaitRagged before = { 0 };
  PlaitNode **states, **contexts;
  gint64 *places = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 s = 0; s < target_rows.n; s++)
    longest = MAX (longest, plait_ragged_length (target_rows, s));
  states = plait_arena_new_array (arena, PlaitNode *, longest + 1);
  contexts = plait_arena_new_array (arena, PlaitNode *, longest + 1);
  if (capture)
    plait_site_pass (tape, sources->memories, n_memories, target_rows, capture);
  for (gint64 t = 0; t < longest; t++)
    {
      Rows rows = rows_of_step (arena, target_rows, t);
      gint64 here = plait_ragged_rows (rows.queries);
      PlaitCapture *own = capture ? plait_capture_new (arena, 1, n_memories) : NULL;
      PlaitSitePass pass = plait_site_pass (tape, sources->memories, n_memories, rows.queries, own);
      Step step;

      carried = carry (r, tape, &carried, rows.before, here);
      carried.coverage = carry_coverage (r, tape, sources->memories, carried.coverage, t > 0 ? &before : NULL,
                                         rows.queries, rows.before);
      before = rows.queries;
      step = advance (r, &pass, &keys, plait_gather_rows (tape, inputs, rows.target, here), &carried);
      if (r->settings->input_feeding)
        carried.readout = step.state
            = read_out (r, tape, step.state, plait_gather_rows (tape, embedded, rows.target, here), step.context);
      states[t] = step.state;
      contexts[t] = step.context;
      for (gint64 i = 0; i < here; i++)
        places[rows.target[i]] = done + i;
      done += here;
      if (capture)
        plait_capture_add_step (capture, own, t);
    }
  if (r->settings->input_feeding)
    return in_order (tape, states, longest, places, n);
  return read_out (r, tape, in_order (tape, states, longest, places, n), embedded,
                   in_order (tape, contexts, longest, places, n));
}

/*
 * Search
 */

/* What is carried stands in storage of its own, since a step's tape is begun anew. */
typedef struct
{
  PlaitTensor *tensors; /* [layers][state, cell], then the readout */
} Stored;

typedef struct
{
  PlaitDecoderState state;
  const Recurrent *recurrent;
  const PlaitMemory *memories;
  PlaitScoredKeys keys;
  PlaitRagged sentences;
  Carried first; /* a row a sentence, on the lasting tape */
  Stored stored;
  gint64 rows;           /* of the step before */
  PlaitRagged queries;   /* likewise */
  PlaitTensor *coverage; /* [n_memories] */
  gint64 steps;
} State;

static PlaitNode **
node_of (Carried *carried, gint64 i, gint64 layers)
{
  if (i == 2 * layers)
    return &carried->readout;
  return i % 2 ? &carried->layers[i / 2].cell : &carried->layers[i / 2].state;
}

/* Room for the coverage of all pairs, and for the offsets of the hypotheses. */
static void
start_coverage (State *state, PlaitArena *arena, gint64 hypotheses)
{
  const Recurrent *r = state->recurrent;
  gint64 n = state->memories[0].rows.n;

  state->queries = (PlaitRagged){ n, plait_arena_new_array (arena, gint64, n + 1) };
  state->coverage = plait_arena_new_array (arena, PlaitTensor, r->build.n_memories);
  for (guint m = 0; m < r->build.n_memories; m++)
    {
      gint64 width = r->site.covered[m].table ? r->site.covered[m].width : 0;
      gint64 pairs = n > 0 ? hypotheses / n * plait_ragged_rows (state->memories[m].rows) : 0;

      state->coverage[m] = plait_tensor (plait_arena_new_array (arena, PlaitScalar, pairs * width + 1), pairs, width);
    }
}

static PlaitDecoderState *
start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources, gint64 hypotheses,
       gint64 steps)
{
  const Recurrent *r = (const Recurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers;
  State *state = plait_arena_take (arena, sizeof *state);

  *state = (State){ .state.table = decoder->table, .recurrent = r, .memories = sources->memories };
  state->keys = plait_recurrent_site_project (&r->site, tape, sources->memories);
  state->first = begin (r, tape, sources, r->build.n_memories ? sources->memories[0].rows.n : 0);
  state->stored.tensors = plait_arena_new_array (arena, PlaitTensor, 2 * layers + 1);
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      gint64 width = i == 2 * layers ? r->settings->width : r->state_width;

      state->stored.tensors[i]
          = plait_tensor (plait_arena_new_array (arena, PlaitScalar, hypotheses * width), hypotheses, width);
    }
  start_coverage (state, arena, hypotheses);
  return &state->state;
}

/* What the hypotheses continue, as leaves of @tape. */
static Carried
continued (State *state, PlaitTape *tape, PlaitRagged hypotheses, const gint64 *parents)
{
  const Recurrent *r = state->recurrent;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers, n = plait_ragged_rows (hypotheses);
  Carried before = { .layers = plait_arena_new_array (arena, PlaitCellState, layers) };
  gint64 *sentences;

  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      PlaitNode *first = *node_of (&state->first, i, layers);
      PlaitTensor tensor = state->steps > 0 ? plait_tensor_rows (state->stored.tensors[i], 0, state->rows)
                           : first          ? first->value
                                            : (PlaitTensor){ 0 };

      *node_of (&before, i, layers) = first ? plait_leaf (tape, tensor, NULL) : NULL;
    }
  if (state->steps > 0)
    return carry (r, tape, &before, parents, n);
  sentences = plait_arena_new_array (arena, gint64, n + 1);
  for (gint64 s = 0; s < hypotheses.n; s++)
    for (gint64 row = hypotheses.offsets[s]; row < hypotheses.offsets[s + 1]; row++)
      sentences[row] = s;
  return carry (r, tape, &before, sentences, n);
}

static PlaitNode **
continued_coverage (const State *state, PlaitTape *tape, PlaitRagged hypotheses, const gint64 *parents)
{
  const Recurrent *r = state->recurrent;
  PlaitNode **before = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, r->build.n_memories);

  for (guint m = 0; m < r->build.n_memories && state->steps > 0; m++)
    {
      PlaitPairs pairs = plait_pairs (tape, state->queries, state->memories[m].rows);

      before[m] = plait_leaf (tape, plait_tensor_rows (state->coverage[m], 0, plait_pairs_number (&pairs)), NULL);
    }
  return carry_coverage (r, tape, state->memories, before, state->steps > 0 ? &state->queries : NULL, hypotheses,
                         parents);
}

static void
store_coverage (State *state, PlaitTape *tape, PlaitRagged hypotheses, PlaitNode *const *coverage)
{
  for (guint m = 0; m < state->recurrent->build.n_memories; m++)
    if (coverage[m])
      plait_tensor_accumulate (plait_tape_pool (tape),
                               plait_tensor_rows (state->coverage[m], 0, coverage[m]->value.rows), 0, 1,
                               coverage[m]->value);
  memcpy ((gint64 *)state->queries.offsets, hypotheses.offsets, (gsize)(hypotheses.n + 1) * sizeof (gint64));
}

static PlaitNode *
step (PlaitDecoderState *base, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens, const gint64 *parents,
      PlaitCapture *capture)
{
  State *state = (State *)base;
  const Recurrent *r = state->recurrent;
  gint64 n = plait_ragged_rows (hypotheses), layers = r->settings->layers;
  PlaitSitePass pass = plait_site_pass (tape, state->memories, r->build.n_memories, hypotheses, capture);
  PlaitScoredKeys keys = plait_scored_keys_on (&state->keys, r->build.n_memories, tape);
  PlaitNode *embedded = embed (r, tape, tokens, n), *out;
  Carried carried = continued (state, tape, hypotheses, parents);
  Step made;

  carried.coverage = continued_coverage (state, tape, hypotheses, parents);
  made = advance (r, &pass, &keys, plait_cell_project (tape, &r->cells[0], embedded), &carried);

  out = read_out (r, tape, made.state, embedded, made.context);
  if (r->settings->input_feeding)
    carried.readout = out;
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      PlaitNode *node = *node_of (&carried, i, layers);

      if (node)
        plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (state->stored.tensors[i], 0, n), 0, 1,
                                 node->value);
    }
  store_coverage (state, tape, hypotheses, carried.coverage);
  state->rows = n;
  state->steps++;
  return out;
}

static gboolean
check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  return TRUE;
}

static void
recurrent_free (PlaitDecoder *decoder)
{
  g_free (decoder);
}

static const PlaitDecoderTable recurrent_table = {
  .check_length = check_length,
  .forward = forward,
  .start = start,
  .step = step,
  .free = recurrent_free,
};

/*
 * Building
 */

static PlaitCell
declare_cell (const Recurrent *r, const char *name, gint64 input_width)
{
  PlaitCellDeclaration declaration = {
    .kind = has_cells (r) ? PLAIT_CELL_LSTM : PLAIT_CELL_GRU,
    .reset = (PlaitResetPlace)r->settings->reset,
    .input_width = input_width,
    .width = r->state_width,
    .forget_bias = 1,
  };

  return plait_cell_declare (r->build.parameters, name, &declaration);
}

/* One linear map of each source of the first state, for each layer; the first has the bias. */
static PlaitLinear *
declare_initial (const Recurrent *r, const char *part)
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
declare_parts (Recurrent *r, GError **error)
{
  const PlaitDecoderSettings *settings = r->settings;
  PlaitParameters *parameters = r->build.parameters;
  gint64 context = r->build.memories[0].width, gates = has_cells (r) ? 4 : 3, parts;

  r->cells = plait_parameters_memory (parameters, settings->layers * sizeof *r->cells);
  for (gint64 i = 0; i < settings->layers; i++)
    {
      g_autofree char *name = g_strdup_printf ("decoder/layer/%" G_GINT64_FORMAT "/cell", i);

      r->cells[i] = declare_cell (r, name, i == 0 ? settings->width : r->state_width);
    }
  if (settings->query == PLAIT_QUERY_INTERMEDIATE)
    r->second = declare_cell (r, "decoder/layer/0/second_cell", context);
  if (settings->query == PLAIT_QUERY_PREVIOUS)
    r->context = plait_linear_declare_blocks (parameters, "decoder/layer/0/context", context, gates * r->state_width,
                                              (guint)gates, FALSE);
  if (settings->input_feeding)
    r->feed = plait_linear_declare_blocks (parameters, "decoder/layer/0/feed", settings->width, gates * r->state_width,
                                           (guint)gates, FALSE);
  if (!plait_recurrent_site_build (&r->site, &r->build, r->state_width, context, "decoder/combiner/", error))
    return FALSE;
  parts = r->state_width + context + (settings->readout == PLAIT_READOUT_DEEP ? settings->width : 0);
  r->readout = plait_linear_declare (parameters, "decoder/readout", parts, settings->width, TRUE);
  r->initial_states = declare_initial (r, "state");
  r->initial_cells = has_cells (r) ? declare_initial (r, "cell") : NULL;
  return TRUE;
}

PlaitDecoder *
plait_recurrent_decoder_new (const PlaitDecoderBuild *build, GError **error)
{
  g_autofree Recurrent *r = g_new0 (Recurrent, 1);
  const PlaitDecoderSettings *settings = build->settings;

  r->decoder.table = &recurrent_table;
  r->decoder.width = settings->width;
  r->decoder.n_layers = 1;
  r->build = *build;
  r->settings = settings;
  r->state_width = settings->state_width ? settings->state_width : settings->width;
  if (settings->initial == PLAIT_INITIAL_SUMMARY && build->n_summaries == 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "decoder.initial=summary: no encoder of this model gives a summary: take initial=mean, or an encoder "
                  "that gives one");
      return NULL;
    }
  if (settings->initial != PLAIT_INITIAL_ZERO)
    r->n_initial = settings->initial == PLAIT_INITIAL_MEAN ? build->n_memories : build->n_summaries;
  if (!declare_parts (r, error))
    return NULL;
  return &((Recurrent *)g_steal_pointer (&r))->decoder;
}
