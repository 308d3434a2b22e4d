/* SPDX-License-Identifier: MIT */
#include "search/beam-private.h"

#include <string.h>

#include "types/input.h"

/* Selects the hypotheses of one group: the rows of the group propose words, and the best proposals are taken. */

gboolean
plait_beam_precedes (const PlaitBeamCandidate *a, const PlaitBeamCandidate *b)
{
  if (a->rank != b->rank)
    return a->rank > b->rank;
  return a->from != b->from ? a->from < b->from : a->token < b->token;
}

/* Inserts @candidate if it is among the best so far. Returns FALSE if the rank of @candidate, and so each lower rank,
 * is too low. */
static gboolean
offer (PlaitBeam *beam, const PlaitBeamCandidate *candidate)
{
  guint at = beam->n_candidates;

  if (at < beam->max_candidates)
    beam->n_candidates++;
  else if (!plait_beam_precedes (candidate, &beam->candidates[--at]))
    return candidate->rank == beam->candidates[at].rank;
  for (; at > 0 && plait_beam_precedes (candidate, &beam->candidates[at - 1]); at--)
    beam->candidates[at] = beam->candidates[at - 1];
  beam->candidates[at] = *candidate;
  return TRUE;
}

/* Returns the number of candidates to keep. finished=refill needs twice the beam's width, because one candidate of each
 * hypothesis may be EOS. */
static guint
candidates_wanted (const PlaitBeam *beam, gint64 group)
{
  switch (beam->settings.finished)
    {
    case PLAIT_DECODE_FINISHED_SHRINK:
      return beam->width - plait_beam_count_finished (beam, group);
    case PLAIT_DECODE_FINISHED_REFILL:
      return 2 * beam->width;
    default:
      return beam->width;
    }
}

/* Returns the rank of a candidate of @length tokens, EOS included: a higher value is better. */
static double
rank (const PlaitBeam *beam, double log_probability, gint64 length)
{
  return beam->settings.ranking == PLAIT_DECODE_RANKING_FINAL
             ? log_probability
             : plait_hypothesis_score (&beam->settings, log_probability, length);
}

/* Returns the penalty of a word that earlier groups took in this step: Hamming diversity (Vijayakumar et al. 2018,
 * section 3.2). */
static double
diversity_penalty (const PlaitBeam *beam, gint32 token)
{
  guint n = 0;

  for (guint i = 0; i < beam->taken->len; i++)
    n += g_array_index (beam->taken, gint32, i) == token;
  return beam->settings.diversity * n;
}

PlaitBeamCandidate
plait_beam_candidate (const PlaitBeam *beam, gint64 group, guint from, gint32 token, double log_probability)
{
  const PlaitBeamHypothesis *hypothesis = &plait_beam_hypotheses (beam, group)[from];
  PlaitBeamCandidate candidate = { from, token, hypothesis->log_probability + log_probability };

  candidate.penalty = hypothesis->penalty + diversity_penalty (beam, token);
  candidate.rank = rank (beam, candidate.log_probability - candidate.penalty, hypothesis->length + 1);
  return candidate;
}

/* Tries the words of each hypothesis from the most probable on, until offer rejects one. With diversity penalties, a
 * less probable word can have a higher rank, so all words are tried. */
void
plait_beam_propose (PlaitBeam *beam, gint64 group, guint best, guint first, guint end, const gint32 *ids,
                    const PlaitScalar *log_probabilities)
{
  const PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);

  beam->n_candidates = 0;
  beam->max_candidates = candidates_wanted (beam, group);
  g_assert (beam->max_candidates > 0);
  for (guint i = 0; i < beam->n[group]; i++)
    {
      const PlaitBeamHypothesis *from = &hypotheses[i];
      gint64 at = from->row * best;

      if (from->ended && !plait_beam_sets_aside (beam))
        offer (beam, &(PlaitBeamCandidate){ i, -1, from->log_probability, from->penalty, from->rank });
      for (guint k = first; !from->ended && k < end && ids[at + k] >= 0; k++)
        {
          PlaitBeamCandidate candidate;

          if (plait_beam_is_banned (beam, from->row, ids[at + k]))
            continue;
          candidate = plait_beam_candidate (beam, group, i, ids[at + k], (double)log_probabilities[at + k]);
          if (!offer (beam, &candidate) && beam->taken->len == 0)
            break;
        }
    }
}

/* TRUE if candidate @i is kept. @finished, @open: number of finished and of unfinished hypotheses that are kept
 * already. finished=refill keeps at most beam->width hypotheses of each kind, and keeps a candidate that ends with EOS
 * only if it is one of the first beam->width candidates. Other settings keep every candidate. */
static gboolean
is_taken (const PlaitBeam *beam, guint i, guint finished, guint open)
{
  if (beam->settings.finished != PLAIT_DECODE_FINISHED_REFILL)
    return TRUE;
  return beam->candidates[i].token == PLAIT_TOKEN_EOS ? i < beam->width && finished < beam->width : open < beam->width;
}

/* Returns the hypothesis that extends @from by @candidate. */
static PlaitBeamHypothesis
extend (PlaitBeam *beam, gint64 sentence, const PlaitBeamHypothesis *from, const PlaitBeamCandidate *candidate)
{
  const PlaitPhrases *phrases = beam->requirements[sentence].phrases;
  gboolean diversifies = beam->settings.groups > 1 && plait_beam_forced_word (beam, sentence) < 0;
  PlaitBeamToken token = { candidate->token, beam->steps, from->row, from->last };
  PlaitBeamHypothesis hypothesis = *from;

  if (candidate->token < 0)
    return hypothesis;
  hypothesis.last = (gint64)beam->tokens->len;
  g_array_append_val (beam->tokens, token);
  if (diversifies)
    g_array_append_val (beam->taken, token.token);
  hypothesis.length++;
  hypothesis.log_probability = candidate->log_probability;
  hypothesis.penalty = candidate->penalty;
  hypothesis.rank = candidate->rank;
  hypothesis.ended = candidate->token == PLAIT_TOKEN_EOS;
  if (phrases && !hypothesis.ended)
    hypothesis.state = plait_phrases_advance (phrases, hypothesis.state, token.token);
  return hypothesis;
}

void
plait_beam_choose (PlaitBeam *beam, gint64 group)
{
  PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);
  guint n = 0, finished = 0;

  if (beam->n_candidates == 0)
    {
      beam->done[group] = TRUE; /* no word can follow, so the group ends */
      return;
    }
  for (guint i = 0; i < beam->n[group] && plait_beam_sets_aside (beam); i++)
    if (hypotheses[i].ended)
      beam->next[n++] = hypotheses[i];
  finished = n;
  for (guint i = 0; i < beam->n_candidates; i++)
    if (is_taken (beam, i, finished, n - finished))
      {
        const PlaitBeamCandidate *candidate = &beam->candidates[i];

        beam->next[n] = extend (beam, group / beam->groups, &hypotheses[candidate->from], candidate);
        finished += beam->next[n++].ended;
      }
  memcpy (hypotheses, beam->next, n * sizeof *hypotheses);
  beam->n[group] = n;
}
