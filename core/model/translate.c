/* SPDX-License-Identifier: MIT */
#include "model/translate.h"

#include "data/documents.h"
#include "data/iterator.h"
#include "model/dealt.h"

#include <string.h>

void
plait_translation_free (PlaitTranslation *translation)
{
  if (!translation)
    return;
  plait_hypotheses_free (translation->hypotheses, translation->n);
  g_strfreev (translation->text);
  g_free (translation);
}

void
plait_translation_append (const PlaitVocabulary *vocabulary, const gint32 *tokens, gint64 n, GString *text)
{
  if (vocabulary)
    {
      plait_document_decode (vocabulary, tokens, n, text);
      return;
    }
  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (text, "%s%d", text->len > 0 ? " " : "", tokens[i]);
}

/* The text of the best hypotheses of @corpus. */
static GStrv
texts_of (const PlaitHypotheses *hypotheses, const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary)
{
  g_autoptr (GStrvBuilder) texts = g_strv_builder_new ();
  gint64 n = plait_corpus_size (corpus), tuple = 0;

  for (gint64 line = 0; line < plait_corpus_lines (corpus); line++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (; tuple < n && plait_corpus_line (corpus, tuple) == line; tuple++)
        {
          const PlaitHypotheses *found = &hypotheses[tuple];

          if (found->n > 0)
            plait_translation_append (vocabulary, found->hypotheses[0].tokens, found->hypotheses[0].length, text);
        }
      g_strv_builder_add (texts, text->str);
    }
  return g_strv_builder_end (texts);
}

static PlaitIterator *
by_length (const PlaitCorpus *corpus, gint64 batch, GError **error)
{
  PlaitIteratorSettings settings = plait_iterator_defaults ();

  settings.order = PLAIT_ORDER_LENGTH;
  settings.unit = PLAIT_BATCH_BY_SENTENCES;
  settings.size = batch;
  return plait_iterator_new (corpus, &settings, error);
}

static gboolean
stopped (const gint *stop, GError **error)
{
  if (stop && g_atomic_int_get (stop))
    {
      plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted");
      return TRUE;
    }
  return FALSE;
}

static void
show (PlaitLog *log, const char *what, gint64 done, gint64 all, gint64 start)
{
  double seconds = (double)(g_get_monotonic_time () - start) / 1e6;
  g_autofree char *left = plait_log_duration (seconds / (double)done * (double)(all - done));

  plait_log_progress (log, "%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " sentences, %.1f/s, %s left", what, done,
                      all, (double)done / MAX (seconds, 1e-9), left);
}

/* Keeps the hypotheses of one batch where their sentences belong, and hands over their attention. */
static gboolean
keep (PlaitTranslation *translation, const PlaitBatch *batch, PlaitHypotheses *hypotheses,
      const PlaitSentenceAttention *attention, PlaitAttentionTaker take, gpointer data, GError **error)
{
  gboolean good = TRUE;

  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      translation->hypotheses[batch->sentence[i]] = hypotheses[i];
      if (good && attention && hypotheses[i].n > 0)
        good = take (batch, i, &hypotheses[i].hypotheses[0], &attention[i], data, error);
    }
  g_free (hypotheses);
  return good;
}

static gboolean
translate_batch (PlaitTranslation *translation, PlaitSearch *search, const PlaitBatch *batch,
                 const PlaitDecodeSettings *settings, PlaitAttentionTaker take, gpointer data, GError **error)
{
  PlaitSentenceAttention *attention = NULL;
  PlaitHypotheses *hypotheses
      = plait_search_batch_with_attention (search, batch, settings, take ? &attention : NULL, 1, FALSE, error);
  gboolean kept = hypotheses && keep (translation, batch, hypotheses, attention, take, data, error);

  if (hypotheses)
    plait_sentence_attention_free (attention, batch->n_sentences);
  return kept;
}

/* Of all batches, those that are in turn this process's. */
static gboolean
translate_batches (PlaitTranslation *translation, PlaitSearch *search, const PlaitCorpus *corpus,
                   const PlaitDecodeSettings *settings, const char *what, PlaitLog *log, const gint *stop,
                   PlaitAttentionTaker take, gpointer data, PlaitRanks *ranks, GError **error)
{
  g_autoptr (PlaitIterator) iterator = by_length (corpus, settings->batch, error);
  g_autoptr (GError) local = NULL;
  gint64 start = g_get_monotonic_time ();
  gint64 done = 0;

  if (!iterator)
    return FALSE;
  translation->n = plait_corpus_size (corpus);
  translation->hypotheses = g_new0 (PlaitHypotheses, translation->n);
  translation->n_lines = plait_corpus_lines (corpus);
  for (guint turn = 0;; turn++)
    {
      gboolean own = turn % plait_ranks_n (ranks) == plait_ranks_own (ranks);
      g_autoptr (PlaitBatch) batch = NULL;

      if (stopped (stop, error))
        break;
      batch = plait_iterator_next (iterator, &local);
      if (!batch || (own && !translate_batch (translation, search, batch, settings, take, data, error)))
        break;
      done += batch->n_sentences;
      show (log, what, done, translation->n, start);
    }
  plait_log_progress_end (log);
  if (local)
    g_propagate_error (error, g_steal_pointer (&local));
  return done == translation->n;
}

PlaitTranslation *
plait_translate_corpus (PlaitSearch *search, const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary,
                        const PlaitDecodeSettings *settings, const char *what, PlaitLog *log, const gint *stop,
                        PlaitAttentionTaker take, gpointer data, GError **error)
{
  g_autoptr (PlaitTranslation) translation = g_new0 (PlaitTranslation, 1);
  PlaitSearchWork before = plait_search_work (search);
  PlaitRanks *ranks = take ? NULL : plait_search_ranks (search);

  if (!plait_ranks_agree (
          ranks, translate_batches (translation, search, corpus, settings, what, log, stop, take, data, ranks, error),
          error))
    return NULL;
  plait_hypotheses_share (ranks, translation->hypotheses, translation->n);
  translation->text = texts_of (translation->hypotheses, corpus, vocabulary);
  translation->work = plait_search_work_since (search, &before);
  plait_search_work_add (ranks, &translation->work);
  return g_steal_pointer (&translation);
}

/* Of a corpus, by its sentences. */
typedef struct
{
  gint64 *order; /* in which they were computed, by whichever process */
  gint64 *lengths;
  double *log_probabilities;
  gint64 done;
} Scores;

static void
scores_clear (Scores *scores)
{
  g_free (scores->order);
  g_free (scores->lengths);
  g_free (scores->log_probabilities);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scores, scores_clear)

/* Sums of one batch, and its attention handed over as that of the targets. */
static gboolean
keep_scores (const PlaitBatch *batch, const double *rows, const PlaitSentenceAttention *attention, Scores *scores,
             PlaitAttentionTaker take, gpointer data, GError **error)
{
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 first = batch->target_rows.offsets[i];
      gint64 length = plait_ragged_length (batch->target_rows, i);
      double sum = 0;

      for (gint64 row = first; row < first + length; row++)
        sum += rows[row];
      scores->log_probabilities[batch->sentence[i]] = sum;
      if (attention)
        {
          PlaitHypothesis target = {
            .tokens = (gint32 *)batch->target_outputs + first,
            .length = length - 1,
            .log_probability = sum,
            .score = sum,
            .ended = TRUE,
          };

          if (!take (batch, i, &target, &attention[i], data, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
score_batch (PlaitSearch *search, const PlaitBatch *batch, Scores *scores, PlaitAttentionTaker take, gpointer data,
             GError **error)
{
  g_autofree double *rows = g_new (double, plait_ragged_rows (batch->target_rows));
  PlaitSentenceAttention *attention = NULL;
  gboolean kept;

  if (!plait_search_forced (search, batch, rows, take ? &attention : NULL, FALSE, error))
    return FALSE;
  kept = keep_scores (batch, rows, attention, scores, take, data, error);
  plait_sentence_attention_free (attention, batch->n_sentences);
  return kept;
}

/* Of all batches, those that are in turn this process's. */
static gboolean
score_batches (Scores *scores, PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch_size, const char *what,
               PlaitLog *log, const gint *stop, PlaitAttentionTaker take, gpointer data, PlaitRanks *ranks,
               GError **error)
{
  g_autoptr (PlaitIterator) iterator = by_length (corpus, batch_size, error);
  g_autoptr (GError) local = NULL;
  gint64 start = g_get_monotonic_time ();
  gint64 all = plait_corpus_size (corpus);

  scores->order = g_new0 (gint64, all);
  scores->lengths = g_new0 (gint64, all);
  scores->log_probabilities = g_new0 (double, all);
  for (guint turn = 0; iterator && scores->done < all; turn++)
    {
      gboolean own = turn % plait_ranks_n (ranks) == plait_ranks_own (ranks);
      g_autoptr (PlaitBatch) batch = NULL;

      if (stopped (stop, error))
        break;
      batch = plait_iterator_next (iterator, &local);
      if (!batch || (own && !score_batch (search, batch, scores, take, data, error)))
        break;
      for (gint64 i = 0; i < batch->n_sentences; i++)
        {
          scores->order[scores->done++] = batch->sentence[i];
          scores->lengths[batch->sentence[i]] = plait_ragged_length (batch->target_rows, i);
        }
      show (log, what, scores->done, all, start);
    }
  plait_log_progress_end (log);
  if (local)
    g_propagate_error (error, g_steal_pointer (&local));
  return iterator && scores->done == all;
}

gboolean
plait_score_corpus (PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch_size, const char *what, PlaitLog *log,
                    const gint *stop, double *log_probabilities, gint64 *tokens, PlaitAttentionTaker take,
                    gpointer data, GError **error)
{
  g_auto (Scores) scores = { NULL };
  PlaitRanks *ranks = take ? NULL : plait_search_ranks (search);
  gsize lines = (gsize)plait_corpus_lines (corpus);

  if (!plait_ranks_agree (
          ranks, score_batches (&scores, search, corpus, batch_size, what, log, stop, take, data, ranks, error), error))
    return FALSE;
  plait_ranks_add (ranks, scores.log_probabilities, (gsize)scores.done);
  memset (log_probabilities, 0, lines * sizeof *log_probabilities);
  memset (tokens, 0, lines * sizeof *tokens);
  for (gint64 i = 0; i < scores.done; i++)
    {
      gint64 sentence = scores.order[i], line = plait_corpus_line (corpus, sentence);

      log_probabilities[line] += scores.log_probabilities[sentence];
      tokens[line] += scores.lengths[sentence];
    }
  return TRUE;
}
