/* SPDX-License-Identifier: MIT */
#include "model/search.h"

#include "model/beam.h"
#include "model/tell.h"
#include "tensor/product.h"
#include "tensor/vocabulary.h"

#include <string.h>

/*
 * Data flow: the batch is read and its memories projected on the lasting tape; every step runs on the step tape, whose
 * arena starts anew; the beam alone remembers hypotheses.
 */
struct PlaitSearch
{
  PlaitModel *model;
  PlaitPool *pool;
  PlaitArena *lasting_arena;
  PlaitArena *step_arena;
  PlaitTape *lasting;
  PlaitTape *step;
  PlaitRanks *ranks; /* that share corpora, or NULL */
  PlaitSearchWork work;
};

void
plait_search_deal (PlaitSearch *search, PlaitRanks *ranks)
{
  search->ranks = ranks;
}

PlaitRanks *
plait_search_ranks (const PlaitSearch *search)
{
  return search->ranks;
}

/* One batch being searched. What it owns is freed by whoever made it, even if a step ran out of memory. */
typedef struct
{
  PlaitSearch *search;
  const PlaitBatch *batch;
  PlaitDecodeSettings settings;
  gboolean capturing;
  guint attended;      /* hypotheses of a sentence */
  gboolean covering;   /* capturing coverage too */
  GPtrArray *captures; /* PlaitCapture of each step, in the lasting arena */
  PlaitBeam *beam;
  PlaitReading reading;
  PlaitDecoderState *state;
  PlaitHypotheses *told; /* [sentences], where no sequence is predicted; owned */
  GError *error;
} Work;

PlaitSearch *
plait_search_new (PlaitModel *model, PlaitPool *pool, PlaitPrecision precision, gsize memory, GError **error)
{
  PlaitSearch *search;

  if (!plait_parameters_pack (plait_model_parameters (model), pool, precision, error))
    return NULL;
  search = g_new0 (PlaitSearch, 1);
  search->model = model;
  search->pool = pool;
  search->lasting_arena = plait_arena_new (memory);
  search->step_arena = plait_arena_new (memory);
  search->lasting = plait_tape_new (pool, search->lasting_arena);
  search->step = plait_tape_new (pool, search->step_arena);
  return search;
}

void
plait_search_free (PlaitSearch *search)
{
  if (!search)
    return;
  plait_tape_free (search->lasting);
  plait_tape_free (search->step);
  plait_arena_free (search->lasting_arena);
  plait_arena_free (search->step_arena);
  g_free (search);
}

PlaitSearchWork
plait_search_work (const PlaitSearch *search)
{
  return search->work;
}

void
plait_hypotheses_free (PlaitHypotheses *hypotheses, gint64 n)
{
  for (gint64 s = 0; hypotheses && s < n; s++)
    {
      for (guint i = 0; i < hypotheses[s].n; i++)
        g_free (hypotheses[s].hypotheses[i].tokens);
      g_free (hypotheses[s].hypotheses);
    }
  g_free (hypotheses);
}

/* @result is NULL where the sentence has no such hypothesis. */
static void
follow_hypothesis (const Work *work, gint64 sentence, const PlaitBeamResult *result, PlaitSentenceAttention *attention)
{
  gint64 target = result ? result->length : 0;

  plait_sentence_attention_begin (attention, work->captures->pdata[0], sentence, target);
  for (gint64 token = result ? result->last : -1; token >= 0;)
    {
      const PlaitBeamToken *at = plait_beam_token (work->beam, token);

      plait_sentence_attention_copy (attention, work->captures->pdata[at->step], sentence, at->row, --target);
      token = at->previous;
    }
}

static PlaitSentenceAttention *
follow_attention (const Work *work)
{
  gint64 n = work->batch->n_sentences;
  PlaitSentenceAttention *attention = g_new0 (PlaitSentenceAttention, work->attended * n);
  g_autofree PlaitBeamResult *results = g_new (PlaitBeamResult, work->settings.beam);

  for (gint64 s = 0; s < n && work->captures->len > 0; s++)
    {
      guint found = plait_beam_results (work->beam, s, results);

      for (guint i = 0; i < work->attended; i++)
        follow_hypothesis (work, s, i < found ? &results[i] : NULL, &attention[i * n + s]);
    }
  return attention;
}

/*
 * Searching
 */

static guint
decoder_layers (const Work *work)
{
  return plait_decoder_n_layers (plait_model_decoder (work->search->model));
}

static void
read_batch (gpointer data)
{
  Work *work = data;
  PlaitSearch *search = work->search;
  gint64 steps = plait_beam_most_steps (work->beam);
  PlaitDecoderSources sources;

  work->reading = plait_model_read (search->model, search->lasting, work->batch, NULL);
  sources = plait_reading_sources (&work->reading);
  sources.touched = &search->work.touched;
  work->state = plait_decoder_start (plait_model_decoder (search->model), search->lasting, &sources,
                                     work->batch->n_sentences * work->settings.beam, steps);
}

static PlaitCapture *
new_capture (const Work *work)
{
  PlaitCapture *capture = plait_capture_new (work->search->lasting_arena, decoder_layers (work),
                                             work->reading.n_memories, work->covering);

  g_ptr_array_add (work->captures, capture);
  return capture;
}

/* The capture outlives the step, so the rows that it speaks of must. */
static PlaitRagged
lasting_rows (const Work *work, PlaitRagged rows)
{
  gint64 *offsets = plait_arena_new_array (work->search->lasting_arena, gint64, rows.n + 1);

  memcpy (offsets, rows.offsets, (rows.n + 1) * sizeof *offsets);
  return (PlaitRagged){ rows.n, offsets };
}

/* Where a sentence's limit allows one more token, that is its end, whatever else was proposed. */
static void
leave_the_end (const Work *work, const PlaitNode *states, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  PlaitSearch *search = work->search;
  PlaitRagged rows = plait_beam_rows (work->beam).hypotheses;
  gint64 n = plait_ragged_rows (rows);
  gint32 *ends = plait_arena_new_array (search->step_arena, gint32, n);
  double *losses = NULL;
  PlaitParameter *bias;
  PlaitParameter *output = plait_model_output (search->model, &bias);

  for (gint64 i = 0; i < n; i++)
    ends[i] = PLAIT_TOKEN_EOS;
  for (gint64 s = 0; s < rows.n; s++)
    {
      if (!plait_beam_is_last_step (work->beam, s) || plait_ragged_length (rows, s) == 0)
        continue;
      if (!losses)
        {
          PlaitVocabularyWork ending = {
            .states = states->value,
            .table = output->value,
            .bias = bias ? bias->value.data : NULL,
            .targets = ends,
            .scale = 1,
            .row_losses = losses = plait_arena_new_array (search->step_arena, double, n),
          };

          plait_vocabulary_compute (search->pool, search->step_arena, &ending);
        }
      for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
        {
          for (guint k = 0; k < best; k++)
            ids[row * best + k] = -1;
          ids[row * best] = PLAIT_TOKEN_EOS;
          log_probabilities[row * best] = (PlaitScalar)-losses[row];
        }
    }
}

static void
make_step (gpointer data)
{
  Work *work = data;
  PlaitSearch *search = work->search;
  gint32 forbidden[3] = { PLAIT_TOKEN_PAD };
  guint n_forbidden = 1;
  PlaitBeamRows rows = plait_beam_rows (work->beam);
  gint64 n = plait_ragged_rows (rows.hypotheses);
  guint best = (guint)MIN (plait_beam_words (work->beam), plait_model_target_vocabulary_size (search->model));
  PlaitParameter *bias;
  PlaitParameter *output = plait_model_output (search->model, &bias);
  PlaitCapture *capture = work->capturing ? new_capture (work) : NULL;
  PlaitNode *states;
  gint32 *ids;
  PlaitScalar *log_probabilities;

  if (!plait_model_target_starts (search->model))
    forbidden[n_forbidden++] = PLAIT_TOKEN_BOS;
  if (plait_beam_steps (work->beam) < work->settings.minimum_length)
    forbidden[n_forbidden++] = PLAIT_TOKEN_EOS;
  plait_tape_begin (search->step, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (capture)
    rows.hypotheses = lasting_rows (work, rows.hypotheses);
  states = plait_decoder_step (work->state, search->step, rows.hypotheses, rows.tokens, rows.parents, capture);
  ids = plait_arena_new_array (search->step_arena, gint32, n * best);
  log_probabilities = plait_arena_new_array (search->step_arena, PlaitScalar, n * best);
  plait_vocabulary_best (search->pool, search->step_arena, states->value, output->packed,
                         bias ? bias->value.data : NULL, forbidden, n_forbidden, NULL, best, ids, log_probabilities);
  if (work->settings.at_limit == PLAIT_LIMIT_END)
    leave_the_end (work, states, best, ids, log_probabilities);
  search->work.steps += n;
  plait_beam_advance (work->beam, best, ids, log_probabilities);
}

static void
search_all (gpointer data)
{
  Work *work = data;

  read_batch (work);
  while (plait_ragged_rows (plait_beam_rows (work->beam).hypotheses) > 0)
    if (!plait_arena_protect (work->search->step_arena, make_step, work, &work->error))
      return;
}

static PlaitBeam *
new_beam (const PlaitBatch *batch, const PlaitDecodeSettings *settings)
{
  g_autofree gint64 *limits = g_new (gint64, batch->n_sentences);

  for (gint64 s = 0; s < batch->n_sentences; s++)
    {
      gint64 longest = 0;

      for (gint64 i = 0; i < batch->n_sources; i++)
        longest = MAX (longest, plait_ragged_length (batch->inputs[i].rows, s));
      limits[s] = settings->maximum_length;
      if (settings->maximum_ratio > 0)
        limits[s] = MIN (limits[s], MAX ((gint64)(settings->maximum_ratio * (double)longest) + settings->maximum_offset,
                                         settings->minimum_length + 1));
    }
  return plait_beam_new (settings, batch->n_sentences, limits);
}

static PlaitHypotheses *
collect (const Work *work)
{
  gint64 n = work->batch->n_sentences;
  PlaitHypotheses *all = g_new0 (PlaitHypotheses, n);
  g_autofree PlaitBeamResult *results = g_new (PlaitBeamResult, work->settings.beam);

  for (gint64 s = 0; s < n; s++)
    {
      guint found = MIN (plait_beam_results (work->beam, s, results), (guint)work->settings.n_best);

      all[s].n = found;
      all[s].hypotheses = g_new0 (PlaitHypothesis, found + 1);
      for (guint i = 0; i < found; i++)
        {
          PlaitHypothesis *hypothesis = &all[s].hypotheses[i];
          gint64 token = results[i].last;
          gint64 place;

          hypothesis->length = results[i].length - (results[i].ended ? 1 : 0);
          hypothesis->log_probability = results[i].log_probability;
          hypothesis->score = results[i].score;
          hypothesis->ended = results[i].ended;
          hypothesis->tokens = g_new (gint32, hypothesis->length + 1);
          if (results[i].ended)
            token = plait_beam_token (work->beam, token)->previous;
          for (place = hypothesis->length; token >= 0; token = plait_beam_token (work->beam, token)->previous)
            hypothesis->tokens[--place] = plait_beam_token (work->beam, token)->token;
        }
    }
  return all;
}

/* Adds what the search came to that began at @start. */
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
  if (!g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
    {
      g_propagate_error (error, cause);
      return FALSE;
    }
  plait_fail (error, PLAIT_ERROR_MEMORY,
              "searching %" G_GINT64_FORMAT " sentences with a beam of %" G_GINT64_FORMAT
              " does not fit (%s): lower decode.batch, decode.beam or decode.maximum_length",
              batch->n_sentences, settings->beam, cause->message);
  g_error_free (cause);
  return FALSE;
}

static void
tell (gpointer data)
{
  Work *work = data;

  plait_tell (work->search->model, work->search->lasting, work->batch, work->settings.n_best, work->told);
}

/* (transfer full) */
static PlaitHypotheses *
tell_at_once (Work *work, gint64 start, GError **error)
{
  gint64 n = work->batch->n_sentences;

  work->told = g_new0 (PlaitHypotheses, n);
  if (plait_arena_protect (work->search->lasting_arena, tell, work, &work->error))
    {
      count_work (&work->search->work, work->told, n, start);
      return work->told;
    }
  plait_hypotheses_free (work->told, n);
  too_large (work->batch, &work->settings, error, work->error);
  return NULL;
}

/* Whether no source has anything of @sentence. */
static gboolean
is_unread (const PlaitBatch *batch, gint64 sentence)
{
  for (gint64 i = 0; i < batch->n_sources; i++)
    if (!plait_input_is_missing (&batch->inputs[i], sentence))
      return FALSE;
  return TRUE;
}

/* What was not read is not translated, so that a model's most usual words do not stand there. */
static void
drop_unread (const PlaitBatch *batch, PlaitHypotheses *hypotheses)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    if (is_unread (batch, s))
      {
        for (guint i = 0; i < hypotheses[s].n; i++)
          g_free (hypotheses[s].hypotheses[i].tokens);
        hypotheses[s].n = 0;
      }
}

PlaitHypotheses *
plait_search_batch_with_attention (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings,
                                   PlaitSentenceAttention **attention, guint attended, gboolean coverage,
                                   GError **error)
{
  g_autoptr (PlaitBeam) beam = NULL;
  g_autoptr (GPtrArray) captures = g_ptr_array_new ();
  PlaitHypotheses *hypotheses = NULL;
  Work work = {
    .search = search,
    .batch = batch,
    .settings = *settings,
    .capturing = attention != NULL,
    .attended = attended,
    .covering = coverage,
    .captures = captures,
  };
  gint64 start = g_get_monotonic_time ();
  gboolean ran;

  if (!plait_model_check_batch (search->model, batch, error))
    return NULL;
  plait_tape_begin (search->lasting, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (!plait_decoder_has_steps (plait_model_decoder (search->model)))
    {
      g_assert (!attention);
      return tell_at_once (&work, start, error);
    }
  beam = work.beam = new_beam (batch, settings);
  if (!plait_decoder_check_length (plait_model_decoder (search->model), plait_beam_most_steps (beam), error))
    return NULL;
  ran = plait_arena_protect (search->lasting_arena, search_all, &work, &work.error);
  if (ran && !work.error)
    {
      hypotheses = collect (&work);
      count_work (&search->work, hypotheses, batch->n_sentences, start);
      if (attention)
        *attention = follow_attention (&work);
      drop_unread (batch, hypotheses);
    }
  else
    too_large (batch, settings, error, work.error);
  return hypotheses;
}

PlaitHypotheses *
plait_search_batch (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings, GError **error)
{
  return plait_search_batch_with_attention (search, batch, settings, NULL, 0, FALSE, error);
}

/*
 * Forced decoding
 */

typedef struct
{
  PlaitSearch *search;
  const PlaitBatch *batch;
  double *row_log_probabilities;
  PlaitCapture *capture;
  gboolean capturing;
  gboolean covering;
} Forced;

static void
force (gpointer data)
{
  Forced *forced = data;
  PlaitVocabularyLossOptions options = { .scale = 1 };
  PlaitModelSums sums;
  gint64 rows = plait_ragged_rows (forced->batch->target_rows);
  guint n_memories;

  plait_model_memories (forced->search->model, &n_memories);
  if (forced->capturing)
    forced->capture = plait_capture_new (forced->search->lasting_arena,
                                         plait_decoder_n_layers (plait_model_decoder (forced->search->model)),
                                         n_memories, forced->covering);
  plait_model_loss (forced->search->model, forced->search->lasting, forced->batch, &options, &sums,
                    forced->row_log_probabilities, forced->capture);
  for (gint64 row = 0; row < rows; row++)
    forced->row_log_probabilities[row] = -forced->row_log_probabilities[row];
}

gboolean
plait_search_forced (PlaitSearch *search, const PlaitBatch *batch, double *row_log_probabilities,
                     PlaitSentenceAttention **attention, gboolean coverage, GError **error)
{
  Forced forced = {
    .search = search,
    .batch = batch,
    .row_log_probabilities = row_log_probabilities,
    .capturing = attention != NULL,
    .covering = coverage,
  };
  g_autoptr (GError) cause = NULL;

  if (!plait_model_check_batch (search->model, batch, error))
    return FALSE;
  plait_tape_begin (search->lasting, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (!plait_arena_protect (search->lasting_arena, force, &forced, &cause))
    {
      if (!g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
        {
          g_propagate_error (error, g_steal_pointer (&cause));
          return FALSE;
        }
      return plait_fail (error, PLAIT_ERROR_MEMORY,
                         "scoring %" G_GINT64_FORMAT " sentences does not fit (%s): lower decode.batch",
                         batch->n_sentences, cause->message);
    }
  if (attention)
    {
      *attention = g_new0 (PlaitSentenceAttention, batch->n_sentences);
      for (gint64 s = 0; s < batch->n_sentences; s++)
        {
          gint64 length = plait_ragged_length (batch->target_rows, s);

          plait_sentence_attention_begin (&(*attention)[s], forced.capture, s, length);
          for (gint64 t = 0; t < length; t++)
            plait_sentence_attention_copy (&(*attention)[s], forced.capture, s, batch->target_rows.offsets[s] + t, t);
        }
    }
  return TRUE;
}
