/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"
#include "search/unknown.h"

void
plait_hypothesis_clear (PlaitHypothesis *hypothesis)
{
  for (gint64 i = 0; hypothesis->words && i < hypothesis->length; i++)
    g_free (hypothesis->words[i]);
  g_clear_pointer (&hypothesis->words, g_free);
  g_clear_pointer (&hypothesis->tokens, g_free);
}

void
plait_hypotheses_clear (PlaitHypotheses *hypotheses)
{
  for (guint i = 0; i < hypotheses->n; i++)
    plait_hypothesis_clear (&hypotheses->hypotheses[i]);
  g_clear_pointer (&hypotheses->hypotheses, g_free);
  hypotheses->n = 0;
}

void
plait_hypotheses_free (PlaitHypotheses *hypotheses, gint64 n)
{
  for (gint64 s = 0; hypotheses && s < n; s++)
    plait_hypotheses_clear (&hypotheses[s]);
  g_free (hypotheses);
}

void
plait_hypothesis_set_word (PlaitHypothesis *hypothesis, gint64 token, char *word)
{
  if (!word)
    return;
  if (!hypothesis->words)
    hypothesis->words = g_new0 (char *, hypothesis->length);
  g_free (hypothesis->words[token]);
  hypothesis->words[token] = word;
}

const char *const *
plait_hypothesis_words (const PlaitHypothesis *hypothesis)
{
  return (const char *const *)hypothesis->words;
}

void
plait_hypothesis_read_own_words (PlaitHypothesis *hypothesis, const PlaitBatch *batch, gint64 sentence)
{
  for (gint64 i = 0; batch->first_own > 0 && i < hypothesis->length; i++)
    {
      plait_hypothesis_set_word (hypothesis, i,
                                 g_strdup (plait_batch_own_word (batch, sentence, hypothesis->tokens[i])));
      hypothesis->tokens[i] = plait_batch_known_id (batch, hypothesis->tokens[i]);
    }
}

PlaitHypothesis
plait_hypothesis_of_target (const PlaitBatch *batch, gint64 sentence)
{
  const gint32 *outputs = batch->target_outputs + batch->target_rows.offsets[sentence];
  PlaitHypothesis target = { .length = plait_ragged_length (batch->target_rows, sentence) - 1, .ended = TRUE };

  target.tokens = g_memdup2 (outputs, (gsize)(target.length + 1) * sizeof *outputs);
  plait_hypothesis_read_own_words (&target, batch, sentence);
  return target;
}

gboolean
plait_hypothesis_has_unknown (const PlaitHypothesis *hypothesis)
{
  for (gint64 i = 0; i < hypothesis->length; i++)
    if (hypothesis->tokens[i] == PLAIT_TOKEN_UNKNOWN && !(hypothesis->words && hypothesis->words[i]))
      return TRUE;
  return FALSE;
}

void
plait_search_set_replacement (PlaitSearch *search, PlaitUnknownReplacement *replacement)
{
  plait_unknown_replacement_free (search->replacement);
  search->replacement = replacement;
}

gboolean
plait_search_replace_unknown (const PlaitSearch *search, const PlaitBatch *batch,
                              const PlaitAttentionRecords *attention, PlaitHypotheses *hypotheses, GError **error)
{
  for (gint64 s = 0; s < batch->n_sentences; s++)
    for (guint i = 0; i < hypotheses[s].n; i++)
      if (plait_hypothesis_has_unknown (&hypotheses[s].hypotheses[i])
          && !plait_unknown_replace (search->replacement, batch, s, attention->of[i * batch->n_sentences + s],
                                     &hypotheses[s].hypotheses[i], error))
        return FALSE;
  return TRUE;
}
