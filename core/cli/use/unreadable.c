/* SPDX-License-Identifier: MIT */
/* This file cuts batches into parts that the model can read, and handles sentences that are too long
 * (data.too_long). */
#include "files/problems.h"
#include "use/inference.h"
#include "corpus/batch.h"
#include "setup/limits.h"

/* Returns the index of the first source of @part that is too long; the number of sources if none is too long. */
static guint
find_long_stream (const PlaitSearch *search, const PlaitBatch *part)
{
  for (guint stream = 0; stream < part->n_sources; stream++)
    {
      guint source;
      const PlaitModel *model = plait_search_reader (search, stream, &source);

      if (plait_model_is_too_long (model, source, &part->inputs[stream]))
        return stream;
    }
  return (guint)part->n_sources;
}

/* TRUE if @part cannot be read because @stream is too long. */
static gboolean
is_too_long (const PlaitSearch *search, const PlaitBatch *part, guint stream)
{
  return stream < part->n_sources
         || (part->target_rows.offsets
             && !plait_search_check_target (search, plait_ragged_longest (part->target_rows)));
}

/* TRUE if @stream of @part is a source that may be truncated: text without trees or documents. */
static gboolean
can_truncate (const PlaitBatch *part, guint stream)
{
  const PlaitInput *input = stream < part->n_sources ? &part->inputs[stream] : NULL;

  return input && input->kind == PLAIT_INPUT_TOKENS && !input->trees && !input->documents;
}

/* Truncates source @stream of @part, which has one sentence, to the limit of its model. If fewer than 2 rows would be
 * left, changes nothing and returns FALSE. */
static gboolean
truncate_source (const PlaitInference *inference, const PlaitBatch *part, guint stream)
{
  guint source;
  const PlaitModel *model = plait_search_reader (inference->search, stream, &source);
  const PlaitInput *input = &part->inputs[stream];
  gint32 *tokens = plait_batch_fill (gint32, input->tokens);
  gint64 rows = plait_ragged_rows (input->rows), fits = plait_limits_max_rows (model, source, rows);

  if (fits < 2)
    return FALSE;
  for (guint f = 0; f < input->n_factors && tokens[rows - 1] == PLAIT_TOKEN_EOS; f++)
    plait_batch_fill (gint32, input->factors[f])[fits - 1] = PLAIT_TOKEN_EOS;
  if (tokens[rows - 1] == PLAIT_TOKEN_EOS)
    tokens[fits - 1] = PLAIT_TOKEN_EOS;
  plait_batch_fill (gint64, input->rows.offsets)[1] = fits;
  return TRUE;
}

/* Truncates sources of @part that are too long, until one cannot be truncated. Warns if @logs. @part has one sentence.
 * TRUE if the model can then read @part. */
static gboolean
cut_sources (const PlaitInference *inference, PlaitBatch *part, gboolean logs)
{
  const PlaitSearch *search = inference->search;
  guint stream = find_long_stream (search, part);

  for (; can_truncate (part, stream) && truncate_source (inference, part, stream);
       stream = find_long_stream (search, part))
    {
      g_autofree char *place = plait_feed_location (inference->feed, part->sentence[0], stream);

      if (logs)
        plait_log_warning (inference->log, "%s: truncated to %jd tokens, the most that the model can read", place,
                           plait_ragged_rows (part->inputs[stream].rows));
    }
  return plait_search_check_batch (search, part, NULL);
}

/* Adds a problem to @unreadable for each sentence of inference->whole, from inference->given on, that is too long. With
 * data.too_long=truncate, truncates sentences first. TRUE if the user can set this value to shorten one of the
 * sentences. Sets inference->given to the end. */
static gboolean
find_unreadable (PlaitInference *inference, PlaitProblems *unreadable)
{
  const PlaitSearch *search = inference->search;
  gboolean cuts = inference->trained->experiment->data.too_long == PLAIT_DATA_TOO_LONG_TRUNCATE, truncates = FALSE;

  for (; inference->given < inference->whole->n_sentences; inference->given++)
    {
      g_autoptr (GError) cause = NULL;
      PlaitBatch *part = plait_batch_slice (inference->whole, inference->given, 1, &cause);
      guint stream;

      if (part && cuts)
        cut_sources (inference, part, FALSE);
      if (part && !plait_search_check_batch (search, part, &cause)
          && is_too_long (search, part, stream = find_long_stream (search, part)))
        {
          g_autofree char *place = plait_feed_location (inference->feed, part->sentence[0], stream);

          plait_problems_add (unreadable, "%s: %s", place, cause->message);
          truncates |= !cuts && can_truncate (part, stream);
        }
      plait_batch_free (part);
    }
  return truncates;
}

/* Fails because sentence inference->given is too long. The error also reports later sentences that are too long: all of
 * them if all inputs are files, else those of the batch that was read. Returns NULL. */
static PlaitBatch *
refuse_unreadable (PlaitInference *inference, GError **error)
{
  enum
  {
    SENTENCES = 256, /* number of sentences to read at a time */
  };
  g_autoptr (PlaitProblems) unreadable = plait_problems_new ();
  g_autoptr (GError) fault = NULL;
  gboolean truncates = find_unreadable (inference, unreadable);

  while (inference->are_files && inference->whole && !g_atomic_int_get (inference->stop))
    {
      plait_batch_free (inference->whole);
      inference->given = 0;
      /* Ignore errors of the text itself: they are reported after the user has fixed the sentences found here. */
      inference->whole = plait_feed_next (inference->feed, SENTENCES, NULL);
      if (inference->whole && !plait_search_check_batch (inference->search, inference->whole, NULL))
        truncates |= find_unreadable (inference, unreadable);
    }
  inference->is_unreadable = TRUE;
  plait_problems_report (unreadable, PLAIT_ERROR_INPUT, &fault);
  return plait_fail_null (
      error, PLAIT_ERROR_INPUT,
      "%s; the lines before %s are done; add --set data.too_long=skip to give long lines an empty output%s",
      fault->message, plait_problems_count (unreadable) > 1 ? "the first of these" : "this line",
      truncates ? ", or --set data.too_long=truncate to read only their beginnings"
                : " (documents, targets and sources with trees cannot be truncated)");
}

/* Takes ownership of @part, sentence inference->given of the batch. @cause says why the model cannot read @part. If
 * @part is too long and data.too_long allows it, skips or truncates the sentence and returns @part. Otherwise fails and
 * returns NULL. */
static PlaitBatch *
handle_unreadable (PlaitInference *inference, PlaitBatch *part, GError *cause, GError **error)
{
  const PlaitSearch *search = inference->search;
  gint policy = inference->trained->experiment->data.too_long;
  gint64 line = plait_feed_line (inference->feed, part->sentence[0]) + 1;
  guint stream = find_long_stream (search, part);
  gboolean is_long = is_too_long (search, part, stream);

  if (is_long && policy == PLAIT_DATA_TOO_LONG_SKIP)
    {
      g_autofree char *place = plait_feed_location (inference->feed, part->sentence[0], stream);

      plait_log_warning (inference->log, "%s: skipped, so its output is empty: %s", place, cause->message);
      inference->skips = TRUE;
      inference->given++;
      return part;
    }
  if (is_long && policy == PLAIT_DATA_TOO_LONG_TRUNCATE && cut_sources (inference, part, TRUE))
    {
      inference->given++;
      return part;
    }
  plait_batch_free (part);
  if (is_long)
    return refuse_unreadable (inference, error);
  return plait_fail_null (error, cause->code, "line %jd: %s", line, cause->message);
}

/* Returns the next sentences of inference->whole that fit the model, or handles an unreadable one. (transfer full) */
static PlaitBatch *
next_part (PlaitInference *inference, GError **error)
{
  const PlaitSearch *search = inference->search;
  gint64 first = inference->given;

  if (first == 0 && plait_search_check_batch (search, inference->whole, NULL))
    return g_steal_pointer (&inference->whole);
  for (; inference->given < inference->whole->n_sentences; inference->given++)
    {
      PlaitBatch *part = plait_batch_slice (inference->whole, inference->given, 1, error);
      g_autoptr (GError) cause = NULL;

      if (!part)
        return NULL;
      if (!plait_search_check_batch (search, part, &cause) && inference->given == first)
        return handle_unreadable (inference, part, cause, error);
      plait_batch_free (part);
      if (cause)
        break;
    }
  return plait_batch_slice (inference->whole, first, inference->given - first, error);
}

PlaitBatch *
plait_inference_next_batch (PlaitInference *inference, gint64 sentences, GError **error)
{
  inference->skips = FALSE;
  if (!inference->whole || inference->given == inference->whole->n_sentences)
    {
      plait_batch_free (inference->whole);
      inference->given = 0;
      inference->whole = plait_feed_next (inference->feed, sentences, error);
    }
  if (!inference->whole)
    return NULL;
  if (!g_atomic_int_get (inference->stop))
    return next_part (inference, error);
  return plait_fail_null (error, PLAIT_ERROR_INTERRUPTED, "interrupted before line %jd",
                          plait_feed_line (inference->feed, inference->whole->sentence[inference->given]) + 1);
}
