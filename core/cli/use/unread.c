/* SPDX-License-Identifier: MIT */
/* Batches of text as much as the model can read, and what is done with sentences that it cannot (data.too_long). */
#include "files/problems.h"
#include "use/streams.h"
#include "corpus/batch.h"
#include "setup/fit.h"

/* Returns the stream because of which the model cannot read @part: a source, or the number of sources. */
static guint
unread_stream (const PlaitModel *model, const PlaitBatch *part)
{
  guint stream = 0;

  while (stream < part->n_sources && plait_model_check_input (model, stream, &part->inputs[stream], NULL))
    stream++;
  return stream;
}

/* TRUE if @stream of @part, which the model cannot read, is too long. */
static gboolean
is_too_long (const PlaitModel *model, const PlaitBatch *part, guint stream)
{
  return stream < part->n_sources
         || (part->target_rows.offsets
             && !plait_model_check_length (model, stream, plait_ragged_longest (part->target_rows), NULL));
}

/* TRUE if @stream of a batch @part is a source that can be cut. */
static gboolean
can_truncate (const PlaitBatch *part, guint stream)
{
  const PlaitInput *input = stream < part->n_sources ? &part->inputs[stream] : NULL;

  return input && input->kind == PLAIT_INPUT_TOKENS && !input->trees && !input->documents;
}

/* Cuts source @source of @part, one sentence, to what the model can read. FALSE if no part of it can be read. */
static gboolean
truncate_source (const PlaitTextUse *use, const PlaitBatch *part, guint source)
{
  const PlaitModel *model = use->trained->system->model;
  const PlaitInput *input = &part->inputs[source];
  gint32 *tokens = plait_batch_fill (gint32, input->tokens);
  gint64 rows = plait_ragged_rows (input->rows), fits = plait_fit_limit (model, source, rows);

  if (fits < 2)
    return FALSE;
  if (tokens[rows - 1] == PLAIT_TOKEN_EOS)
    tokens[fits - 1] = PLAIT_TOKEN_EOS;
  plait_batch_fill (gint64, input->rows.offsets)[1] = fits;
  return TRUE;
}

/* Cuts the sources of @part, one sentence, to what the model can read; warns if @tells. FALSE if it cannot. */
static gboolean
cut_sources (const PlaitTextUse *use, PlaitBatch *part, gboolean tells)
{
  const PlaitModel *model = use->trained->system->model;
  guint stream = unread_stream (model, part);

  for (; can_truncate (part, stream) && truncate_source (use, part, stream); stream = unread_stream (model, part))
    {
      g_autofree char *place = plait_feed_place (use->feed, part->sentence[0], stream);

      if (tells)
        plait_log_warning (use->log, "%s: truncated to %jd tokens, which is what the model can read", place,
                           plait_ragged_rows (part->inputs[stream].rows));
    }
  return plait_model_check_batch (model, part, NULL);
}

/* Adds the sentences of use->whole that the model cannot read to @unread, from use->given on. Returns TRUE if one of
 * them can be cut. */
static gboolean
find_unread (PlaitTextUse *use, PlaitProblems *unread)
{
  const PlaitModel *model = use->trained->system->model;
  gboolean cuts = use->trained->experiment->data.too_long == PLAIT_DATA_TOO_LONG_TRUNCATE, truncates = FALSE;

  for (; use->given < use->whole->n_sentences; use->given++)
    {
      g_autoptr (GError) cause = NULL;
      PlaitBatch *part = plait_batch_part (use->whole, use->given, 1, &cause);
      guint stream;

      if (part && cuts)
        cut_sources (use, part, FALSE);
      if (part && !plait_model_check_batch (model, part, &cause)
          && is_too_long (model, part, stream = unread_stream (model, part)))
        {
          g_autofree char *place = plait_feed_place (use->feed, part->sentence[0], stream);

          plait_problems_add (unread, "%s: %s", place, cause->message);
          truncates |= !cuts && can_truncate (part, stream);
        }
      plait_batch_free (part);
    }
  return truncates;
}

/* Refuses sentence use->given, which the model cannot read, and names those behind it too: of files all, of pipes those
 * that were read with it. */
static PlaitBatch *
refuse_unread (PlaitTextUse *use, GError **error)
{
  enum
  {
    SENTENCES = 256, /* at a time */
  };
  g_autoptr (PlaitProblems) unread = plait_problems_new ();
  g_autoptr (GError) fault = NULL;
  gboolean truncates = find_unread (use, unread);

  while (use->are_files && use->whole && !g_atomic_int_get (use->stop))
    {
      plait_batch_free (use->whole);
      use->given = 0;
      /* Text that is bad behind these sentences is told once they are mended. */
      use->whole = plait_feed_next (use->feed, SENTENCES, NULL);
      if (use->whole && !plait_model_check_batch (use->trained->system->model, use->whole, NULL))
        truncates |= find_unread (use, unread);
    }
  use->is_unread = TRUE;
  plait_problems_report (unread, PLAIT_ERROR_INPUT, &fault);
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s; what is before %s is done; --set data.too_long=skip gives such a line an empty answer%s",
                          fault->message, plait_problems_count (unread) > 1 ? "the first" : "it",
                          truncates ? ", data.too_long=truncate reads its beginning"
                                    : ", and what has trees, is documents or is a target is not truncated");
}

/* Does with sentence use->given, which @part is and the model cannot read for @cause, what data.too_long says. */
static PlaitBatch *
give_unread (PlaitTextUse *use, PlaitBatch *part, GError *cause, GError **error)
{
  const PlaitModel *model = use->trained->system->model;
  gint policy = use->trained->experiment->data.too_long;
  guint stream = unread_stream (model, part);
  gboolean is_long = is_too_long (model, part, stream);

  if (is_long && policy == PLAIT_DATA_TOO_LONG_SKIP)
    {
      g_autofree char *place = plait_feed_place (use->feed, part->sentence[0], stream);

      plait_log_warning (use->log, "%s: skipped, its answer is empty: %s", place, cause->message);
      use->skips = TRUE;
      use->given++;
      return part;
    }
  if (is_long && policy == PLAIT_DATA_TOO_LONG_TRUNCATE && cut_sources (use, part, TRUE))
    {
      use->given++;
      return part;
    }
  plait_batch_free (part);
  if (is_long)
    return refuse_unread (use, error);
  g_propagate_error (error, g_error_copy (cause));
  return NULL;
}

/* Gives what comes next of the batch that the feed gave: as much as the model can read. */
static PlaitBatch *
next_part (PlaitTextUse *use, GError **error)
{
  const PlaitModel *model = use->trained->system->model;
  gint64 first = use->given;

  if (first == 0 && plait_model_check_batch (model, use->whole, NULL))
    return g_steal_pointer (&use->whole);
  for (; use->given < use->whole->n_sentences; use->given++)
    {
      PlaitBatch *part = plait_batch_part (use->whole, use->given, 1, error);
      g_autoptr (GError) cause = NULL;

      if (!part)
        return NULL;
      if (!plait_model_check_batch (model, part, &cause) && use->given == first)
        return give_unread (use, part, cause, error);
      plait_batch_free (part);
      if (cause)
        break;
    }
  return plait_batch_part (use->whole, first, use->given - first, error);
}

PlaitBatch *
plait_text_use_next (PlaitTextUse *use, gint64 sentences, GError **error)
{
  use->skips = FALSE;
  if (!use->whole || use->given == use->whole->n_sentences)
    {
      plait_batch_free (use->whole);
      use->given = 0;
      use->whole = plait_feed_next (use->feed, sentences, error);
    }
  if (!use->whole)
    return NULL;
  if (!g_atomic_int_get (use->stop))
    return next_part (use, error);
  return plait_fail_null (error, PLAIT_ERROR_INTERRUPTED, "interrupted before line %jd",
                          plait_feed_line (use->feed, use->whole->sentence[use->given]) + 1);
}
