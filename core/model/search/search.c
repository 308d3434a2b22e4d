/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"

#include "autograd/internal.h"
#include "corpus/batch.h"
#include "search/beam.h"
#include "search/unknown.h"
#include "tensor/blas.h"
#include "tensor/product.h"
#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

/* Smallest parts. With fewer sentences, one thread may finish long before another. With fewer rows, each thread reads
 * all weights for too little work. */
#define MIN_SENTENCES 8
#define MIN_ROWS 32

void
plait_search_set_ranks (PlaitSearch *search, PlaitRanks *ranks)
{
  search->ranks = ranks;
}

PlaitRanks *
plait_search_ranks (const PlaitSearch *search)
{
  return search->ranks;
}

/* The search of one batch or of a part of it. Its creator frees what it owns, even if a step ran out of memory. */
typedef struct
{
  PlaitSearch *search;
  PlaitSearchWorkspace *workspace;
  PlaitBatch *part; /* owned; NULL if the batch is searched whole */
  const PlaitBatch *batch;
  PlaitDecodeSettings settings;
  const PlaitRequirement *requirements; /* [sentences], or NULL */
  gboolean recording;
  guint n_recorded;  /* number of hypotheses of each sentence whose attention is recorded: the best ones */
  gboolean replaces; /* unknown tokens are replaced, so that hypotheses with one have recorded attention too */
  gboolean recording_coverage;
  GPtrArray *records;           /* owned; PlaitAttentionRecord of each step, in the batch arena */
  PlaitBeam *beam;              /* owned */
  PlaitDecoderState **states;   /* [members], in the batch arena */
  PlaitEncoderOutputs *encoded; /* [members], in the batch arena */
  PlaitHypotheses *hypotheses;  /* [sentences], to fill */
  PlaitWorkTimes times;
  GError *error;
} Work;

/* Creates arenas of at most @memory bytes each (0: no limit), and their tapes. */
static void
workspace_open (PlaitSearchWorkspace *workspace, PlaitPool *pool, gsize memory)
{
  *workspace = (PlaitSearchWorkspace){ .pool = pool,
                                       .batch_arena = plait_arena_new (memory),
                                       .step_arena = plait_arena_new (memory) };
  workspace->batch_tape = plait_tape_new (pool, workspace->batch_arena);
  workspace->step = plait_tape_new (pool, workspace->step_arena);
}

static void
workspace_close (PlaitSearchWorkspace *workspace)
{
  plait_tape_free (workspace->batch_tape);
  plait_tape_free (workspace->step);
  plait_arena_free (workspace->batch_arena);
  plait_arena_free (workspace->step_arena);
}

PlaitSearch *
plait_search_new (PlaitModel *model, PlaitPool *pool, PlaitPrecision precision, gsize memory, GError **error)
{
  const PlaitSearchMember member = { model, precision, 1 };

  return plait_search_new_ensemble (&member, 1, PLAIT_ENSEMBLE_MEAN, pool, memory, error);
}

PlaitSearch *
plait_search_new_ensemble (const PlaitSearchMember *members, guint n, PlaitEnsembleRule rule, PlaitPool *pool,
                           gsize memory, GError **error)
{
  PlaitSearch *search;

  for (guint i = 0; i < n; i++)
    if (!plait_parameters_pack (plait_model_parameters (members[i].model), pool, members[i].precision, error))
      return NULL;
  search = g_new0 (PlaitSearch, 1);
  search->members = g_memdup2 (members, n * sizeof *members);
  search->n_members = n;
  search->rule = rule;
  search->model = members[0].model;
  search->pool = pool;
  search->memory = memory;
  workspace_open (&search->whole, pool, memory);
  return search;
}

void
plait_search_free (PlaitSearch *search)
{
  if (!search)
    return;
  workspace_close (&search->whole);
  for (guint i = 0; search->parts && i < plait_pool_threads (search->pool); i++)
    workspace_close (&search->parts[i]);
  g_free (search->parts);
  plait_unknown_replacement_free (search->replacement);
  g_free (search->members);
  g_free (search);
}

PlaitSearchWork
plait_search_work (const PlaitSearch *search)
{
  return search->work;
}

/* Returns the attention of one hypothesis, gathered along its ancestry; empty if @result is NULL, where the sentence
 * has no such hypothesis. */
static PlaitAttentionRecord *
follow_hypothesis (const Work *work, gint64 sentence, const PlaitBeamResult *result, PlaitArena *arena)
{
  gint64 target = result ? result->length : 0;
  PlaitAttentionRecord *sentence_record
      = plait_attention_record_sentence (arena, work->records->pdata[0], sentence, target);

  for (gint64 token = result ? result->last : -1; token >= 0;)
    {
      const PlaitBeamToken *at = plait_beam_token (work->beam, token);

      plait_attention_record_add_row (sentence_record, --target, work->records->pdata[at->step], sentence, at->row);
      token = at->previous;
    }
  return sentence_record;
}

/* Stores the attention of the sentences of @work, which begin at sentence @first of @all. */
static void
follow_attention (const Work *work, PlaitAttentionRecords *attention, gint64 first, gint64 all)
{
  g_autofree PlaitBeamResult *results = g_new (PlaitBeamResult, plait_decode_width (&work->settings));

  for (gint64 s = 0; s < work->batch->n_sentences && work->records->len > 0; s++)
    {
      guint found = plait_beam_results (work->beam, s, results);
      const PlaitHypotheses *of = &work->hypotheses[s];

      for (guint i = 0; i < work->n_recorded; i++)
        attention->of[i * all + first + s]
            = follow_hypothesis (work, s, i < found ? &results[i] : NULL, attention->arena);
      for (guint i = work->n_recorded; i < of->n && work->replaces; i++)
        if (plait_hypothesis_has_unknown (&of->hypotheses[i]))
          attention->of[i * all + first + s] = follow_hypothesis (work, s, &results[i], attention->arena);
    }
}

/*
 * Functions that search a batch or a part of it
 */

/* Begins @tape. If words are sampled, makes the bits independent of the other sentences of the batch, because a small
 * difference can change the words drawn. */
static void
begin_tape (const Work *work, PlaitTape *tape)
{
  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (work->settings.method == PLAIT_DECODE_METHOD_SAMPLE)
    plait_tape_separate_sentences (tape);
}

static void
encode_batch (gpointer data)
{
  Work *work = data;
  PlaitSearch *search = work->search;
  PlaitTape *tape = work->workspace->batch_tape;
  gint64 steps = plait_beam_max_steps (work->beam),
         rows = work->batch->n_sentences * plait_decode_width (&work->settings);

  work->states = plait_arena_new_array (work->workspace->batch_arena, PlaitDecoderState *, search->n_members);
  work->workspace->weights
      = plait_arena_new_array (work->workspace->batch_arena, double, work->batch->n_sentences * search->n_members);
  plait_search_weigh (search, work->batch, work->workspace->weights);
  work->encoded = plait_arena_new_array (work->workspace->batch_arena, PlaitEncoderOutputs, search->n_members);
  for (guint i = 0; i < search->n_members; i++)
    {
      const PlaitModel *model = search->members[i].model;
      PlaitBatch batch = plait_search_member_batch (search, i, work->batch);

      work->encoded[i] = plait_model_encode (model, tape, &batch, NULL);
      work->encoded[i].rows_weighed = &work->workspace->rows_weighed;
      work->states[i] = plait_decoder_start (plait_model_decoder (model), tape, &work->encoded[i], rows, steps);
    }
}

PlaitAttentionRecord *
plait_search_record (const PlaitSearch *search, PlaitSearchWorkspace *workspace, gboolean coverage)
{
  guint n_memories;

  plait_model_memories (search->model, &n_memories);
  return plait_attention_record_new (
      workspace->batch_arena, plait_decoder_n_layers (plait_model_decoder (search->model)), n_memories, coverage);
}

/* Copies the offsets of @rows into the batch arena, because the attention record outlives the step. */
static PlaitRagged
copy_rows (const Work *work, PlaitRagged rows)
{
  gint64 *offsets = plait_arena_new_array (work->workspace->batch_arena, gint64, rows.n + 1);

  memcpy (offsets, rows.offsets, (rows.n + 1) * sizeof *offsets);
  return (PlaitRagged){ rows.n, offsets };
}

/* Returns the tokens that the decoder reads: own words have no embedding, so they are unknown to it. */
static const gint32 *
known_tokens (const Work *work, const PlaitBeamRows *rows)
{
  gint64 n = plait_ragged_rows (rows->hypotheses);
  gint32 *tokens;

  if (work->batch->first_own == 0)
    return rows->tokens;
  tokens = plait_arena_new_array (work->workspace->step_arena, gint32, n);
  for (gint64 i = 0; i < n; i++)
    tokens[i] = plait_batch_known_id (work->batch, rows->tokens[i]);
  return tokens;
}

/* Returns the maximum number of own words of a sentence. Members that cannot copy them give them no probability. */
static gint64
max_own_words (const Work *work)
{
  const PlaitBatch *batch = work->batch;
  gint64 maximum = 0;

  for (gint64 s = 0; batch->first_own > 0 && s < batch->n_sentences; s++)
    maximum = MAX (maximum, plait_ragged_length (batch->own_words, s));
  return maximum;
}

/* Fails the step if a row gives no word a probability, because its values are not finite. @needs_rows: the words come
 * from rows of all log-probabilities, where phrases may leave a row without a word. */
static void
expect_words (const Work *work, gint64 n, guint best, gboolean needs_rows, const gint32 *ids,
              const PlaitScalar *log_probabilities)
{
  gboolean phrases = needs_rows && work->settings.method != PLAIT_DECODE_METHOD_SAMPLE;

  for (gint64 row = 0; row < n; row++)
    if (ids[row * best] < 0 ? !phrases : isnan (log_probabilities[row * best]))
      plait_arena_fail (work->workspace->step_arena,
                        g_error_new_literal (PLAIT_ERROR, PLAIT_ERROR_INPUT,
                                             "search: the model gives no word a probability, because its states are "
                                             "not finite numbers; choose another checkpoint"));
}

static void
make_step (gpointer data)
{
  Work *work = data;
  PlaitSearch *search = work->search;
  PlaitSearchWorkspace *workspace = work->workspace;
  const PlaitModelSpecification *specification = plait_model_specification (search->model);
  gint32 forbidden[4] = { PLAIT_TOKEN_PAD };
  guint n_forbidden = 1;
  PlaitBeamRows rows = plait_beam_rows (work->beam);
  gint64 n = plait_ragged_rows (rows.hypotheses);
  gboolean needs_rows = search->n_members > 1 || plait_beam_needs_rows (work->beam);
  gboolean end = work->settings.at_limit == PLAIT_DECODE_AT_LIMIT_END;
  guint best = needs_rows ? plait_beam_row_columns (work->beam)
                          : (guint)MIN (plait_beam_words (work->beam), specification->target_vocabulary_size);
  PlaitAttentionRecord *record = NULL;
  PlaitWordDistribution *words;
  const gint32 *tokens;
  gint32 *ids;
  PlaitScalar *log_probabilities;

  if (!specification->target_starts)
    forbidden[n_forbidden++] = PLAIT_TOKEN_BOS;
  if (plait_beam_steps (work->beam) < work->settings.minimum_length)
    forbidden[n_forbidden++] = PLAIT_TOKEN_EOS;
  if (work->settings.unknown == PLAIT_DECODE_UNKNOWN_FORBID)
    forbidden[n_forbidden++] = PLAIT_TOKEN_UNKNOWN;
  begin_tape (work, workspace->step);
  if (work->recording)
    {
      record = plait_search_record (search, workspace, work->recording_coverage);
      g_ptr_array_add (work->records, record);
      rows.hypotheses = copy_rows (work, rows.hypotheses);
    }
  tokens = known_tokens (work, &rows);
  words = plait_arena_new_array (workspace->step_arena, PlaitWordDistribution, search->n_members);
  for (guint i = 0; i < search->n_members; i++)
    {
      PlaitNode *states = plait_decoder_step (work->states[i], workspace->step, rows.hypotheses, tokens, rows.parents,
                                              i == 0 ? record : NULL);

      words[i] = plait_model_words (search->members[i].model, workspace->step, &work->encoded[i], states,
                                    rows.hypotheses, i == 0 ? record : NULL);
    }
  ids = plait_arena_new_array (workspace->step_arena, gint32, n * best);
  log_probabilities = plait_arena_new_array (workspace->step_arena, PlaitScalar, n * best);
  if (needs_rows)
    plait_search_row_words (search, workspace, work->beam, words, max_own_words (work), forbidden, n_forbidden, end,
                            best, ids, log_probabilities);
  else
    plait_word_distribution_best (words, workspace->step, forbidden, n_forbidden, best, ids, log_probabilities);
  expect_words (work, n, best, needs_rows, ids, log_probabilities);
  if (end && !needs_rows)
    plait_search_end_words (workspace, work->beam, words, best, ids, log_probabilities);
  workspace->steps += n;
  plait_beam_advance (work->beam, best, ids, log_probabilities);
}

static void
search_all (gpointer data)
{
  Work *work = data;

  encode_batch (work);
  while (plait_ragged_rows (plait_beam_rows (work->beam).hypotheses) > 0)
    if (!plait_arena_protect (work->workspace->step_arena, make_step, work, &work->error))
      return;
}

/* Returns the maximum number of tokens of a translation of @sentence, EOS included. decode.maximum_ratio leaves room
 * for @required tokens. */
static gint64
limit_of (const PlaitBatch *batch, const PlaitDecodeSettings *settings, gint64 sentence, gint64 required)
{
  gint64 longest = 0, by_ratio;

  for (gint64 i = 0; i < batch->n_sources; i++)
    longest = MAX (longest, plait_ragged_length (batch->inputs[i].rows, sentence));
  if (settings->maximum_ratio <= 0)
    return settings->maximum_length;
  by_ratio = (gint64)(settings->maximum_ratio * (double)longest) + settings->maximum_offset;
  return MIN (settings->maximum_length, MAX (by_ratio, MAX (settings->minimum_length + 1, required)));
}

static PlaitBeam *
new_beam (const Work *work)
{
  const PlaitBatch *batch = work->batch;
  g_autofree gint64 *limits = g_new (gint64, batch->n_sentences);

  for (gint64 s = 0; s < batch->n_sentences; s++)
    limits[s] = limit_of (batch, &work->settings, s,
                          work->requirements ? plait_requirement_length (&work->requirements[s]) : 0);
  return plait_beam_new (&work->settings,
                         &(PlaitBeamSentences){ batch->n_sentences, limits, batch->sentence, work->requirements });
}

static void
collect (const Work *work)
{
  g_autofree PlaitBeamResult *results = g_new (PlaitBeamResult, plait_decode_width (&work->settings));

  for (gint64 s = 0; s < work->batch->n_sentences; s++)
    {
      guint found = MIN (plait_beam_results (work->beam, s, results), (guint)work->settings.n_best);
      PlaitHypotheses *of = &work->hypotheses[s];

      of->n = found;
      of->hypotheses = g_new0 (PlaitHypothesis, found + 1);
      for (guint i = 0; i < found; i++)
        {
          PlaitHypothesis *hypothesis = &of->hypotheses[i];
          gint64 token = results[i].last;
          gint64 position;

          hypothesis->length = results[i].length - (results[i].ended ? 1 : 0);
          hypothesis->log_probability = results[i].log_probability;
          hypothesis->score = results[i].score;
          hypothesis->ended = results[i].ended;
          hypothesis->tokens = g_new (gint32, hypothesis->length + 1);
          if (results[i].ended)
            token = plait_beam_token (work->beam, token)->previous;
          for (position = hypothesis->length; token >= 0; token = plait_beam_token (work->beam, token)->previous)
            hypothesis->tokens[--position] = plait_beam_token (work->beam, token)->token;
          plait_hypothesis_read_own_words (hypothesis, work->batch, s);
        }
    }
}

/* Adds the words and seconds of the search that began at @start. */
static void
count_work (PlaitSearchWork *work, const PlaitHypotheses *hypotheses, gint64 n, gint64 start)
{
  work->seconds += (double)(g_get_monotonic_time () - start) / 1e6;
  for (gint64 s = 0; s < n; s++)
    if (hypotheses[s].n > 0)
      work->words += hypotheses[s].hypotheses[0].length + hypotheses[s].hypotheses[0].ended;
}

static gboolean
too_large (const PlaitBatch *batch, const PlaitDecodeSettings *settings, GError **error, GError *cause)
{
  g_autoptr (GError) held = cause;

  if (!g_error_matches (held, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
    return plait_no_error (&held, error);
  if (settings->method == PLAIT_DECODE_METHOD_SAMPLE)
    return plait_fail (error, PLAIT_ERROR_MEMORY,
                       "sampling %jd translations of each of %jd sentences does not fit (%s): lower decode.batch, "
                       "decode.n_best or decode.maximum_length",
                       settings->n_best, batch->n_sentences, held->message);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "searching %jd sentences with a beam of %jd does not fit (%s): lower decode.batch, decode.beam or "
                     "decode.maximum_length",
                     batch->n_sentences, settings->beam, held->message);
}

static void
predict (gpointer data)
{
  Work *work = data;

  plait_predict (work->search->model, work->workspace->batch_tape, work->batch, work->settings.n_best,
                 work->hypotheses);
}

/* Removes the hypotheses of sentences that were missing in all sources: the model would invent frequent words. */
static void
drop_unread (const PlaitBatch *batch, PlaitHypotheses *hypotheses)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    if (plait_search_is_unread (batch, s))
      plait_hypotheses_clear (&hypotheses[s]);
}

/*
 * Functions that cut batches into parts
 */

static gboolean
goes_by_steps (const PlaitSearch *search)
{
  return plait_model_decoder (search->model) != NULL;
}

/* Searches the sentences of @work, and sets its error if that fails. */
static void
search_part (Work *work)
{
  const PlaitSearch *search = work->search;

  begin_tape (work, work->workspace->batch_tape);
  if (!goes_by_steps (search))
    {
      plait_arena_protect (work->workspace->batch_arena, predict, work, &work->error);
      return;
    }
  work->records = g_ptr_array_new ();
  work->beam = new_beam (work);
  for (guint i = 0; i < search->n_members && !work->error; i++)
    plait_decoder_check_length (plait_model_decoder (search->members[i].model), plait_beam_max_steps (work->beam),
                                &work->error);
  if (!work->error)
    plait_arena_protect (work->workspace->batch_arena, search_all, work, &work->error);
}

static void
part_piece (gpointer data, gint64 part, guint thread)
{
  Work *work = (Work *)data + part;

  plait_pool_profile_nested (work->workspace->pool, work->search->pool);
  search_part (work);
  work->times = plait_pool_times (work->workspace->pool);
}

static void
work_clear (gpointer data)
{
  Work *work = data;

  if (work->records)
    g_ptr_array_unref (work->records);
  plait_beam_free (work->beam);
  plait_batch_free (work->part);
  g_clear_error (&work->error);
}

gint64
plait_search_parts (const PlaitPool *pool, gint64 sentences, gint64 width)
{
  gint64 threads = plait_pool_threads (pool);

  /* BLAS may compute other bits for a row if its product has other rows, so batches are not cut then. */
  if (plait_blas_rows (plait_kernels (), FALSE) > 0 || sentences < threads * MIN_SENTENCES
      || sentences * width < threads * MIN_ROWS)
    return 1;
  return threads;
}

/* Returns the workspace of part @part of @n. */
static PlaitSearchWorkspace *
workspace_of (PlaitSearch *search, gint64 part, gint64 n)
{
  guint threads = plait_pool_threads (search->pool);

  if (n == 1)
    return &search->whole;
  if (!search->parts)
    {
      search->parts = g_new0 (PlaitSearchWorkspace, threads);
      for (guint i = 0; i < threads; i++)
        workspace_open (&search->parts[i], plait_pool_for_thread (search->pool, i), search->memory / threads);
    }
  return &search->parts[part];
}

/* Appends part @part of @n to @works, as a copy of @common with its own sentences. */
static gboolean
add_part (GArray *works, const Work *common, gint64 part, gint64 n, GError **error)
{
  const PlaitBatch *batch = common->batch;
  gint64 first = batch->n_sentences * part / n, end = batch->n_sentences * (part + 1) / n;
  Work work = *common;

  work.workspace = workspace_of (work.search, part, n);
  work.hypotheses += first;
  if (work.requirements)
    work.requirements += first;
  if (n > 1)
    {
      work.part = plait_batch_slice (batch, first, end - first, error);
      if (!work.part)
        return FALSE;
      work.batch = work.part;
    }
  g_array_append_val (works, work);
  return TRUE;
}

/* Adds up the work of all parts, and reports the first error. */
static gboolean
join_parts (GArray *works, const Work *common, GError **error)
{
  PlaitSearch *search = common->search;
  GError *cause = NULL;

  for (guint i = 0; i < works->len; i++)
    {
      Work *work = &g_array_index (works, Work, i);

      search->work.steps += work->workspace->steps;
      search->work.rows_weighed.all += work->workspace->rows_weighed.all;
      search->work.rows_weighed.selected += work->workspace->rows_weighed.selected;
      work->workspace->steps = 0;
      work->workspace->rows_weighed = (PlaitAttentionCost){ 0 };
      if (works->len > 1)
        plait_pool_add_nested_times (search->pool, &work->times);
      if (!cause)
        cause = g_steal_pointer (&work->error);
    }
  return !cause || too_large (common->batch, &common->settings, error, cause);
}

/* Searches the batch of @common in @n parts, which it appends to @works. */
static gboolean
run_parts (GArray *works, const Work *common, gint64 n, GError **error)
{
  for (gint64 part = 0; part < n; part++)
    if (!add_part (works, common, part, n, error))
      return FALSE;
  if (n == 1)
    search_part (&g_array_index (works, Work, 0));
  else
    plait_pool_run (common->search->pool, n, part_piece, works->data);
  return join_parts (works, common, error);
}

PlaitHypotheses *
plait_search_batch_with_attention (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings,
                                   const PlaitRequirement *requirements, PlaitAttentionRecords **attention,
                                   guint n_recorded, gboolean coverage, GError **error)
{
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (Work));
  gboolean by_steps = goes_by_steps (search);
  gint64 n = by_steps ? plait_search_parts (search->pool, batch->n_sentences, plait_decode_width (settings)) : 1;
  gint64 start = g_get_monotonic_time ();
  PlaitHypotheses *hypotheses = g_new0 (PlaitHypotheses, batch->n_sentences);
  gboolean replaces = by_steps && search->replacement && settings->unknown == PLAIT_DECODE_UNKNOWN_REPLACE;
  g_autoptr (PlaitAttentionRecords) records = NULL;
  const Work common = { .search = search,
                        .batch = batch,
                        .settings = *settings,
                        .requirements = requirements,
                        .recording = attention || replaces,
                        .replaces = replaces,
                        .n_recorded = n_recorded,
                        .recording_coverage = coverage,
                        .hypotheses = hypotheses };

  g_assert (by_steps || !attention);
  g_array_set_clear_func (works, work_clear);
  if (!plait_search_check_batch (search, batch, error) || !run_parts (works, &common, n, error))
    {
      plait_hypotheses_free (hypotheses, batch->n_sentences);
      return NULL;
    }
  if (common.recording)
    records = plait_attention_records_new (MAX (n_recorded, replaces ? settings->n_best : 0) * batch->n_sentences);
  for (guint i = 0; by_steps && i < works->len; i++)
    {
      const Work *work = &g_array_index (works, Work, i);

      collect (work);
      if (records)
        follow_attention (work, records, work->hypotheses - hypotheses, batch->n_sentences);
    }
  if (replaces && !plait_search_replace_unknown (search, batch, records, hypotheses, error))
    {
      plait_hypotheses_free (hypotheses, batch->n_sentences);
      return NULL;
    }
  if (attention)
    *attention = g_steal_pointer (&records);
  count_work (&search->work, hypotheses, batch->n_sentences, start);
  if (by_steps)
    drop_unread (batch, hypotheses);
  return hypotheses;
}

PlaitHypotheses *
plait_search_batch (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings, GError **error)
{
  return plait_search_batch_with_attention (search, batch, settings, NULL, NULL, 0, FALSE, error);
}
