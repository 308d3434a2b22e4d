/* SPDX-License-Identifier: MIT */
#include "search/translate.h"

#include "documents/documents.h"
#include "corpus/iterator.h"

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
plait_translation_append (const PlaitVocabulary *vocabulary, const PlaitHypothesis *hypothesis, GString *text)
{
  if (vocabulary)
    {
      plait_document_decode (vocabulary, hypothesis->tokens, plait_hypothesis_words (hypothesis), hypothesis->length,
                             text);
      return;
    }
  for (gint64 i = 0; i < hypothesis->length; i++)
    if (hypothesis->words && hypothesis->words[i])
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", hypothesis->words[i]);
    else
      g_string_append_printf (text, "%s%d", text->len > 0 ? " " : "", hypothesis->tokens[i]);
}

/* Returns a text for each line of @corpus: the best hypotheses of the line's tuples, one after another. */
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
            plait_translation_append (vocabulary, &found->hypotheses[0], text);
        }
      g_strv_builder_add (texts, text->str);
    }
  return g_strv_builder_end (texts);
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

  plait_log_progress (log, "%s: %jd of %jd sentences, %.1f/s, %s left", what, done, all,
                      (double)done / MAX (seconds, 1e-9), left);
}

/* Options of a pass through a whole corpus. */
typedef struct
{
  const PlaitCorpus *corpus;
  gint64 batch; /* maximum sentences of a batch */
  const char *what;
  PlaitLog *log;
  const gint *stop;
  PlaitRanks *ranks; /* processes that share the batches, or NULL */
} Pass;

/* Callback for a batch. @own: TRUE if this process computes the batch, FALSE if another process does. */
typedef gboolean (*PassBatch) (gpointer data, const PlaitBatch *batch, gboolean own, GError **error);

/* Calls @take for all batches. With n processes, each process computes every n-th batch. */
static gboolean
pass_batches (const Pass *pass, PassBatch take, gpointer data, GError **error)
{
  g_autoptr (PlaitIterator) iterator = plait_iterator_new_by_length (pass->corpus, pass->batch, error);
  guint processes = plait_ranks_size (pass->ranks), self = plait_ranks_rank (pass->ranks);
  gint64 start = g_get_monotonic_time ();
  gint64 all = plait_corpus_size (pass->corpus);
  gint64 done = 0;

  for (guint turn = 0; iterator && done < all; turn++)
    {
      g_autoptr (PlaitBatch) batch = stopped (pass->stop, error) ? NULL : plait_iterator_next (iterator, error);

      if (!batch || !take (data, batch, turn % processes == self, error))
        break;
      done += batch->n_sentences;
      show (pass->log, pass->what, done, all, start);
    }
  plait_log_progress_end (pass->log);
  return iterator && done == all;
}

/*
 * Functions that exchange hypotheses between processes
 */

/* Header of a hypothesis that is sent to another process. The tokens follow and, if the hypothesis has words, a string
 * for each token, "" for a token without text. All processes run the same build, so the struct is sent unchanged. */
typedef struct
{
  gint64 sentence;
  gsize words;                /* bytes of the strings; 0: the hypothesis has no words */
  PlaitHypothesis hypothesis; /* the hypothesis; its pointers tokens and words are NULL */
} Head;

static const char *
word_of (const PlaitHypothesis *hypothesis, gint64 token)
{
  return hypothesis->words[token] ? hypothesis->words[token] : "";
}

static void
append (GByteArray *bytes, gint64 sentence, const PlaitHypothesis *hypothesis)
{
  Head head = { sentence, 0, *hypothesis };

  head.hypothesis.tokens = NULL;
  head.hypothesis.words = NULL;
  for (gint64 i = 0; hypothesis->words && i < hypothesis->length; i++)
    head.words += strlen (word_of (hypothesis, i)) + 1;
  g_byte_array_append (bytes, (const guint8 *)&head, sizeof head);
  g_byte_array_append (bytes, (const guint8 *)hypothesis->tokens,
                       (guint)(sizeof *hypothesis->tokens * (gsize)hypothesis->length));
  for (gint64 i = 0; hypothesis->words && i < hypothesis->length; i++)
    g_byte_array_append (bytes, (const guint8 *)word_of (hypothesis, i), (guint)strlen (word_of (hypothesis, i)) + 1);
}

/* Adds the hypotheses in @bytes, which another process found, to @hypotheses. */
static void
add_found (PlaitHypotheses *hypotheses, const guint8 *bytes, gsize n)
{
  while (n > 0)
    {
      Head head;
      PlaitHypotheses *of;
      const char *word;
      gsize size;

      memcpy (&head, bytes, sizeof head);
      size = sizeof *head.hypothesis.tokens * (gsize)head.hypothesis.length;
      head.hypothesis.tokens = g_memdup2 (bytes + sizeof head, size);
      word = (const char *)bytes + sizeof head + size;
      for (gint64 i = 0; i < head.hypothesis.length && head.words > 0; i++, word += strlen (word) + 1)
        plait_hypothesis_set_word (&head.hypothesis, i, *word == '\0' ? NULL : g_strdup (word));
      size += head.words;
      of = &hypotheses[head.sentence];
      of->hypotheses = g_renew (PlaitHypothesis, of->hypotheses, of->n + 1);
      of->hypotheses[of->n++] = head.hypothesis;
      bytes += sizeof head + size;
      n -= sizeof head + size;
    }
}

/* Gives every process the hypotheses of all @n sentences. Before the call, only one process has the hypotheses of a
 * sentence. */
static void
share_hypotheses (PlaitRanks *ranks, PlaitHypotheses *hypotheses, gint64 n)
{
  g_autoptr (GByteArray) own = NULL;

  if (!ranks)
    return;
  own = g_byte_array_new ();
  for (gint64 i = 0; i < n; i++)
    for (guint k = 0; k < hypotheses[i].n; k++)
      append (own, i, &hypotheses[i].hypotheses[k]);
  for (guint from = 0; from < plait_ranks_size (ranks); from++)
    {
      gboolean mine = from == plait_ranks_rank (ranks);
      gsize size = own->len;
      g_autofree guint8 *bytes = NULL;

      plait_ranks_broadcast (ranks, &size, sizeof size, from);
      bytes = mine ? g_memdup2 (own->data, size) : g_malloc (size);
      plait_ranks_broadcast (ranks, bytes, size, from);
      if (!mine)
        add_found (hypotheses, bytes, size);
    }
}

/* Sums the counts of work over all processes; seconds are not summed. */
static void
add_work (PlaitRanks *ranks, PlaitSearchWork *work)
{
  /* Counts are below 2^53. */
  double counts[] = { (double)work->words, (double)work->steps, (double)work->rows_weighed.all,
                      (double)work->rows_weighed.selected };

  plait_ranks_all_reduce (ranks, counts, G_N_ELEMENTS (counts));
  work->words = (gint64)counts[0];
  work->steps = (gint64)counts[1];
  work->rows_weighed.all = (gint64)counts[2];
  work->rows_weighed.selected = (gint64)counts[3];
}

/*
 * Functions that translate a corpus
 */

typedef struct
{
  PlaitSearch *search;
  const PlaitDecodeSettings *settings;
  PlaitTranslation *translation;
  PlaitAttentionTaker take;
  gpointer data;
} Translating;

/* Stores the hypotheses of one batch in the order of the corpus. If @attention is not NULL, also calls to->take for the
 * best hypothesis of each sentence with its attention. */
static gboolean
keep (const Translating *to, const PlaitBatch *batch, PlaitHypotheses *hypotheses,
      const PlaitAttentionRecords *attention, GError **error)
{
  gboolean good = TRUE;

  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      to->translation->hypotheses[batch->sentence[i]] = hypotheses[i];
      if (good && attention && hypotheses[i].n > 0)
        good = to->take (batch, i, &hypotheses[i].hypotheses[0], attention->of[i], to->data, error);
    }
  g_free (hypotheses);
  return good;
}

static gboolean
translate_batch (gpointer data, const PlaitBatch *batch, gboolean own, GError **error)
{
  const Translating *to = data;
  g_autoptr (PlaitAttentionRecords) attention = NULL;
  PlaitHypotheses *hypotheses;

  if (!own)
    return TRUE;
  hypotheses = plait_search_batch_with_attention (to->search, batch, to->settings, NULL, to->take ? &attention : NULL,
                                                  1, FALSE, error);
  return hypotheses && keep (to, batch, hypotheses, attention, error);
}

PlaitTranslation *
plait_translate_corpus (PlaitSearch *search, const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary,
                        const PlaitDecodeSettings *settings, const char *what, PlaitLog *log, const gint *stop,
                        PlaitAttentionTaker take, gpointer data, GError **error)
{
  g_autoptr (PlaitTranslation) translation = g_new0 (PlaitTranslation, 1);
  PlaitSearchWork before = plait_search_work (search);
  PlaitRanks *ranks = take ? NULL : plait_search_ranks (search);
  Translating translating = { search, settings, translation, take, data };
  const Pass pass = { corpus, settings->batch, what, log, stop, ranks };

  translation->n = plait_corpus_size (corpus);
  translation->hypotheses = g_new0 (PlaitHypotheses, translation->n);
  translation->n_lines = plait_corpus_lines (corpus);
  if (!plait_ranks_agree (ranks, pass_batches (&pass, translate_batch, &translating, error), error))
    return NULL;
  share_hypotheses (ranks, translation->hypotheses, translation->n);
  translation->text = texts_of (translation->hypotheses, corpus, vocabulary);
  translation->work = plait_search_work_since (search, &before);
  add_work (ranks, &translation->work);
  return g_steal_pointer (&translation);
}

/*
 * Functions that score a corpus
 */

typedef struct
{
  PlaitSearch *search;
  gint64 done; /* number of sentences in the batches so far, those of other processes included */
  gint64 *order;
  gint64 *lengths;           /* number of tokens and end tokens of each target: [sentences of the corpus] */
  double *log_probabilities; /* log-probability of each target, 0 if another process computes it: [sentences of the
                                corpus] */
  PlaitAttentionTaker take;
  gpointer data;
} Scoring;

/* Stores the log-probability of each sentence of @batch. If @attention is not NULL, also calls to->take for each target
 * with its attention. */
static gboolean
keep_scores (const Scoring *to, const PlaitBatch *batch, const double *rows, const PlaitAttentionRecords *attention,
             GError **error)
{
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 first = batch->target_rows.offsets[i];
      gint64 length = plait_ragged_length (batch->target_rows, i);
      double sum = 0;

      for (gint64 row = first; row < first + length; row++)
        sum += rows[row];
      to->log_probabilities[batch->sentence[i]] = sum;
      if (attention)
        {
          g_auto (PlaitHypothesis) target = plait_hypothesis_of_target (batch, i);

          target.log_probability = target.score = sum;
          if (!to->take (batch, i, &target, attention->of[i], to->data, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
score_own_batch (const Scoring *to, const PlaitBatch *batch, GError **error)
{
  g_autofree double *rows = g_new (double, plait_ragged_rows (batch->target_rows));
  g_autoptr (PlaitAttentionRecords) attention = NULL;

  return plait_search_forced (to->search, batch, rows, to->take ? &attention : NULL, FALSE, error)
         && keep_scores (to, batch, rows, attention, error);
}

static gboolean
score_batch (gpointer data, const PlaitBatch *batch, gboolean own, GError **error)
{
  Scoring *to = data;

  if (own && !score_own_batch (to, batch, error))
    return FALSE;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      to->order[to->done++] = batch->sentence[i];
      to->lengths[batch->sentence[i]] = plait_ragged_length (batch->target_rows, i);
    }
  return TRUE;
}

gboolean
plait_score_corpus (PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch_size, const char *what, PlaitLog *log,
                    const gint *stop, double *log_probabilities, gint64 *tokens, PlaitAttentionTaker take,
                    gpointer data, GError **error)
{
  gint64 all = plait_corpus_size (corpus);
  PlaitRanks *ranks = take ? NULL : plait_search_ranks (search);
  g_autofree gint64 *order = g_new0 (gint64, all), *lengths = g_new0 (gint64, all);
  g_autofree double *sums = g_new0 (double, all);
  Scoring scoring = { search, 0, order, lengths, sums, take, data };
  const Pass pass = { corpus, batch_size, what, log, stop, ranks };
  gsize lines = (gsize)plait_corpus_lines (corpus);

  if (!plait_ranks_agree (ranks, pass_batches (&pass, score_batch, &scoring, error), error))
    return FALSE;
  plait_ranks_all_reduce (ranks, sums, (gsize)all);
  memset (log_probabilities, 0, lines * sizeof *log_probabilities);
  memset (tokens, 0, lines * sizeof *tokens);
  /* Add up the sentences of each document in the order in which a single process would. */
  for (gint64 i = 0; i < all; i++)
    {
      gint64 sentence = order[i], line = plait_corpus_line (corpus, sentence);

      log_probabilities[line] += sums[sentence];
      tokens[line] += lengths[sentence];
    }
  return TRUE;
}

/*
 * Functions that encode a corpus
 */

typedef struct
{
  PlaitSearch *search;
  PlaitEncodingTaker take;
  gpointer data;
} Encoding;

static gboolean
encode_batch (gpointer data, const PlaitBatch *batch, gboolean own, GError **error)
{
  const Encoding *to = data;
  PlaitEncoderOutputs outputs;

  if (!plait_search_encode (to->search, batch, &outputs, error))
    return FALSE;
  to->take (batch, &outputs, to->data);
  return TRUE;
}

gboolean
plait_encode_corpus (PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch, const char *what, PlaitLog *log,
                     const gint *stop, PlaitEncodingTaker take, gpointer data, GError **error)
{
  Encoding encoding = { search, take, data };
  const Pass pass = { corpus, batch, what, log, stop, NULL };

  return pass_batches (&pass, encode_batch, &encoding, error);
}
