/* SPDX-License-Identifier: MIT */
#include "search/part-search.h"

#include "autograd/internal.h"
#include "corpus/batch.h"

#include <math.h>
#include <string.h>

gboolean
plait_search_goes_by_steps (const PlaitSearch *search)
{
  return plait_model_decoder (search->model) != NULL;
}

/* Begins @tape. If words are sampled, makes the bits of a sentence independent of the other sentences of the batch,
 * because a tiny difference can change the word drawn. */
static void
begin_tape (const PlaitPartSearch *work, PlaitTape *tape)
{
  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  if (work->settings.method == PLAIT_DECODE_METHOD_SAMPLE)
    plait_tape_separate_sentences (tape);
}

static void
encode_batch (gpointer data)
{
  PlaitPartSearch *work = data;
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

/* Copies the offsets of @rows into the batch arena, because the attention record outlives the step. */
static PlaitRagged
copy_rows (const PlaitPartSearch *work, PlaitRagged rows)
{
  gint64 *offsets = plait_arena_new_array (work->workspace->batch_arena, gint64, rows.n + 1);

  memcpy (offsets, rows.offsets, (rows.n + 1) * sizeof *offsets);
  return (PlaitRagged){ rows.n, offsets };
}

/* Returns the tokens that the decoder reads. Own words (source words outside the vocabulary) have no embedding, so they
 * are replaced by the unknown token. */
static const gint32 *
known_tokens (const PlaitPartSearch *work, const PlaitBeamRows *rows)
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

/* Returns how many own words (source words outside the vocabulary) the sentence with the most own words has. Members
 * that cannot copy own words give them probability 0. */
static gint64
max_own_words (const PlaitPartSearch *work)
{
  const PlaitBatch *batch = work->batch;
  gint64 maximum = 0;

  for (gint64 s = 0; batch->first_own > 0 && s < batch->n_sentences; s++)
    maximum = MAX (maximum, plait_ragged_length (batch->own_words, s));
  return maximum;
}

/* Fails the step if the values of a row are not finite, so that no word has a probability. If the words come from
 * plait_beam_row_words (@needs_rows), a row without words is not an error: phrases or forbidden n-grams can exclude all
 * words. */
static void
expect_words (const PlaitPartSearch *work, gint64 n, guint best, gboolean needs_rows, const gint32 *ids,
              const PlaitScalar *log_probabilities)
{
  gboolean samples = work->settings.method == PLAIT_DECODE_METHOD_SAMPLE;

  for (gint64 row = 0; row < n; row++)
    if (samples || ids[row * best] >= 0 ? isnan (log_probabilities[row * best]) : !needs_rows)
      plait_arena_fail (work->workspace->step_arena,
                        g_error_new_literal (PLAIT_ERROR, PLAIT_ERROR_INPUT,
                                             "search: the model gives no word a probability, because its states are "
                                             "not finite numbers; choose another checkpoint"));
}

static void
make_step (gpointer data)
{
  PlaitPartSearch *work = data;
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
  PlaitPartSearch *work = data;

  encode_batch (work);
  while (plait_ragged_rows (plait_beam_rows (work->beam).hypotheses) > 0)
    if (!plait_arena_protect (work->workspace->step_arena, make_step, work, &work->error))
      return;
}

/* Returns the maximum number of tokens of a translation of @sentence, EOS included. decode.maximum_ratio cannot make
 * this maximum smaller than @required or decode.minimum_length + 1; decode.maximum_length can. */
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
new_beam (const PlaitPartSearch *work)
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
predict (gpointer data)
{
  PlaitPartSearch *work = data;

  plait_predict (work->search->model, work->workspace->batch_tape, work->batch, work->settings.n_best,
                 work->hypotheses);
}

void
plait_part_search_run (PlaitPartSearch *work)
{
  const PlaitSearch *search = work->search;

  begin_tape (work, work->workspace->batch_tape);
  if (!plait_search_goes_by_steps (search))
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

void
plait_part_search_collect (const PlaitPartSearch *work)
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

/* Returns the attention of one hypothesis, collected from the steps of its tokens. If the sentence has no such
 * hypothesis, @result is NULL, and the record has no target rows. */
static PlaitAttentionRecord *
follow_hypothesis (const PlaitPartSearch *work, gint64 sentence, const PlaitBeamResult *result, PlaitArena *arena)
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

void
plait_part_search_follow_attention (const PlaitPartSearch *work, PlaitAttentionRecords *attention, gint64 first,
                                    gint64 all)
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

void
plait_part_search_clear (gpointer data)
{
  PlaitPartSearch *work = data;

  if (work->records)
    g_ptr_array_unref (work->records);
  plait_beam_free (work->beam);
  plait_batch_free (work->part);
  g_clear_error (&work->error);
}
