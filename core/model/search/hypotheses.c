/* SPDX-License-Identifier: MIT */
#include "search/search-private.h"
#include "search/unknown.h"

static void
clear_hypothesis (PlaitHypothesis *hypothesis)
{
  for (gint64 i = 0; hypothesis->words && i < hypothesis->length; i++)
    g_free (hypothesis->words[i]);
  g_free (hypothesis->words);
  g_free (hypothesis->tokens);
}

void
plait_hypotheses_clear (PlaitHypotheses *hypotheses)
{
  for (guint i = 0; i < hypotheses->n; i++)
    clear_hypothesis (&hypotheses->hypotheses[i]);
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

gboolean
plait_hypothesis_has_unknown (const PlaitHypothesis *hypothesis)
{
  for (gint64 i = 0; i < hypothesis->length; i++)
    if (hypothesis->tokens[i] == PLAIT_TOKEN_UNKNOWN)
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
