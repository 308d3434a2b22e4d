/* SPDX-License-Identifier: MIT */
#include "search/beam-private.h"

#include <math.h>
#include <string.h>

#include "types/input.h"

guint
plait_beam_count_finished (const PlaitBeam *beam, gint64 group)
{
  const PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);
  guint n = 0;

  for (guint i = 0; i < beam->n[group]; i++)
    n += hypotheses[i].ended;
  return n;
}

static double
score (const PlaitBeam *beam, double log_probability, gint64 length)
{
  return plait_hypothesis_score (&beam->settings, log_probability, length);
}

gint32
plait_beam_forced_word (const PlaitBeam *beam, gint64 sentence)
{
  const PlaitRequirement *requirement = &beam->requirements[sentence];

  return beam->steps < requirement->prefix_length ? requirement->prefix[beam->steps] : -1;
}

/* Lists the words that would repeat an n-gram after @hypothesis: the words that followed earlier occurrences of its
 * last n - 1 tokens. A word is listed twice only if the prefix repeats an n-gram. */
static void
ban_repeats (PlaitBeam *beam, const PlaitBeamHypothesis *hypothesis)
{
  gint64 n = beam->settings.no_repeat_ngrams, last = hypothesis->length - n + 1, position = hypothesis->length;
  gint32 *tokens;

  if (n == 0 || last <= 0)
    return;
  g_array_set_size (beam->history, (guint)hypothesis->length);
  tokens = (gint32 *)(gpointer)beam->history->data;
  for (gint64 token = hypothesis->last; token >= 0; token = plait_beam_token (beam, token)->previous)
    tokens[--position] = plait_beam_token (beam, token)->token;
  for (gint64 i = 0; i < last; i++)
    if (memcmp (tokens + i, tokens + last, (gsize)(n - 1) * sizeof *tokens) == 0)
      g_array_append_val (beam->bans, tokens[i + n - 1]);
}

gboolean
plait_beam_is_banned (const PlaitBeam *beam, gint64 row, gint32 word)
{
  for (guint i = beam->row_bans[row]; i < beam->row_bans[row + 1]; i++)
    if (g_array_index (beam->bans, gint32, i) == word)
      return TRUE;
  return FALSE;
}

static void
add_row (PlaitBeam *beam, gint64 row, gint64 sentence, PlaitBeamHypothesis *hypothesis)
{
  const PlaitPhrases *phrases = beam->requirements[sentence].phrases;

  hypothesis->row = row;
  beam->row_tokens[row] = PLAIT_TOKEN_BOS;
  beam->row_parents[row] = sentence;
  beam->row_hypotheses[row] = hypothesis - beam->hypotheses;
  if (hypothesis->last >= 0)
    {
      const PlaitBeamToken *token = plait_beam_token (beam, hypothesis->last);

      beam->row_tokens[row] = token->token;
      beam->row_parents[row] = token->row;
    }
  beam->row_bans[row] = beam->bans->len;
  if (plait_beam_forced_word (beam, sentence) < 0)
    ban_repeats (beam, hypothesis);
  beam->max_bans = MAX (beam->max_bans, beam->bans->len - beam->row_bans[row]);
  if (phrases)
    beam->max_advancing = MAX (beam->max_advancing, (guint)plait_phrases_tokens (phrases));
}

static void
list_rows (PlaitBeam *beam)
{
  gint64 row = 0;

  g_array_set_size (beam->bans, 0);
  beam->max_bans = beam->max_advancing = 0;
  for (gint64 s = 0; s < beam->sentences; s++)
    {
      gint64 first = row;

      beam->offsets[s] = first;
      for (gint64 g = 0; g < beam->groups; g++)
        {
          gint64 group = plait_beam_group (beam, s, g);
          PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);

          for (guint i = 0; i < beam->n[group] && !beam->done[group]; i++)
            if (hypotheses[i].ended)
              continue;
            else if (row > first && plait_beam_shares_row (beam, s))
              hypotheses[i].row = first;
            else
              add_row (beam, row++, s, &hypotheses[i]);
        }
    }
  beam->offsets[beam->sentences] = row;
  beam->row_bans[row] = beam->bans->len;
}

PlaitBeam *
plait_beam_new (const PlaitDecodeSettings *settings, const PlaitBeamSentences *sentences)
{
  PlaitBeam *beam = g_new0 (PlaitBeam, 1);
  gint64 maximum = sentences->n * plait_decode_width (settings);
  gsize n_groups;

  beam->settings = *settings;
  beam->sentences = sentences->n;
  beam->limits = g_memdup2 (sentences->limits, sentences->n * sizeof *beam->limits);
  beam->numbers = g_memdup2 (sentences->numbers, sentences->n * sizeof *beam->numbers);
  beam->requirements = sentences->requirements
                           ? g_memdup2 (sentences->requirements, sentences->n * sizeof *beam->requirements)
                           : g_new0 (PlaitRequirement, sentences->n);
  beam->groups = plait_beam_samples (beam) ? settings->n_best : settings->groups;
  beam->width = (guint)(plait_decode_width (settings) / beam->groups);
  beam->capacity = 2 * beam->width;
  n_groups = sentences->n * beam->groups;
  beam->hypotheses = g_new0 (PlaitBeamHypothesis, n_groups * beam->capacity);
  beam->n = g_new (guint, n_groups);
  beam->done = g_new0 (gboolean, n_groups);
  beam->tokens = g_array_new (FALSE, FALSE, sizeof (PlaitBeamToken));
  beam->candidates = g_new (PlaitBeamCandidate, beam->capacity);
  beam->next = g_new (PlaitBeamHypothesis, beam->capacity);
  beam->taken = g_array_new (FALSE, FALSE, sizeof (gint32));
  beam->offsets = g_new (gint64, sentences->n + 1);
  beam->row_tokens = g_new (gint32, maximum);
  beam->row_parents = g_new (gint64, maximum);
  beam->row_hypotheses = g_new (gint64, maximum);
  beam->row_bans = g_new (guint, maximum + 1);
  beam->bans = g_array_new (FALSE, FALSE, sizeof (gint32));
  beam->history = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gsize i = 0; i < n_groups; i++)
    {
      beam->n[i] = 1;
      plait_beam_hypotheses (beam, i)[0] = (PlaitBeamHypothesis){ .last = -1 };
      beam->done[i] = sentences->limits[i / beam->groups] <= 0;
    }
  list_rows (beam);
  return beam;
}

void
plait_beam_free (PlaitBeam *beam)
{
  if (!beam)
    return;
  g_free (beam->limits);
  g_free (beam->numbers);
  g_free (beam->requirements);
  g_free (beam->hypotheses);
  g_free (beam->n);
  g_free (beam->done);
  g_array_unref (beam->tokens);
  g_free (beam->candidates);
  g_free (beam->next);
  g_array_unref (beam->taken);
  g_free (beam->offsets);
  g_free (beam->row_tokens);
  g_free (beam->row_parents);
  g_free (beam->row_hypotheses);
  g_free (beam->row_bans);
  g_array_unref (beam->bans);
  g_array_unref (beam->history);
  g_free (beam);
}

PlaitBeamRows
plait_beam_rows (const PlaitBeam *beam)
{
  return (PlaitBeamRows){ { beam->sentences, beam->offsets }, beam->row_tokens, beam->row_parents };
}

gint64
plait_beam_max_steps (const PlaitBeam *beam)
{
  gint64 maximum = 0;

  for (gint64 s = 0; s < beam->sentences; s++)
    maximum = MAX (maximum, beam->limits[s]);
  return maximum;
}

guint
plait_beam_words (const PlaitBeam *beam)
{
  return (guint)beam->settings.beam + (beam->settings.finished == PLAIT_DECODE_FINISHED_REFILL) + beam->max_bans;
}

gint64
plait_beam_steps (const PlaitBeam *beam)
{
  return beam->steps;
}

gboolean
plait_beam_is_last_step (const PlaitBeam *beam, gint64 sentence)
{
  return beam->steps + 1 >= beam->limits[sentence];
}

const PlaitBeamToken *
plait_beam_token (const PlaitBeam *beam, gint64 token)
{
  return &g_array_index (beam->tokens, PlaitBeamToken, token);
}

/* Returns an upper bound of the scores that unfinished hypotheses of @group can still reach. A log-probability can only
 * fall, and a diversity penalty can only rise. Length penalty and word reward are greatest at the length limit. So the
 * bound is the highest score at the length limit with the present log-probability and diversity penalty. @penalised:
 * subtract diversity penalties. */
static double
reachable_score (const PlaitBeam *beam, gint64 sentence, gint64 group, gboolean penalised)
{
  const PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);
  double highest = -INFINITY;

  for (guint i = 0; i < beam->n[group]; i++)
    if (!hypotheses[i].ended)
      highest = MAX (highest, score (beam, hypotheses[i].log_probability - (penalised ? hypotheses[i].penalty : 0),
                                     beam->limits[sentence]));
  return highest;
}

/*
 * TRUE if the search of @group can end: all its hypotheses are finished, beam->width of them are finished, or no
 * unfinished hypothesis can exceed the scores of n_best finished ones, neither with diversity penalties nor without.
 */
static gboolean
is_decided (const PlaitBeam *beam, gint64 sentence, gint64 group)
{
  const PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);
  guint n = beam->n[group], n_finished = plait_beam_count_finished (beam, group), n_out_of_reach = 0;
  guint wanted = MIN ((guint)beam->settings.n_best, beam->width);
  gboolean has_penalties = beam->groups > 1;
  double reachable, penalised;

  if (n_finished == n || n_finished == beam->width)
    return TRUE;
  if (n_finished < wanted)
    return FALSE;
  reachable = reachable_score (beam, sentence, group, FALSE);
  penalised = has_penalties ? reachable_score (beam, sentence, group, TRUE) : 0;
  for (guint i = 0; i < n; i++)
    {
      const PlaitBeamHypothesis *hypothesis = &hypotheses[i];

      n_out_of_reach
          += hypothesis->ended && score (beam, hypothesis->log_probability, hypothesis->length) >= reachable
             && (!has_penalties
                 || score (beam, hypothesis->log_probability - hypothesis->penalty, hypothesis->length) >= penalised);
    }
  return n_out_of_reach >= wanted;
}

/* Advances group @group of @sentence. When sampling, it takes the word in column @column. */
static void
advance_group (PlaitBeam *beam, gint64 sentence, gint64 group, guint column, guint best, const gint32 *ids,
               const PlaitScalar *log_probabilities)
{
  if (plait_beam_samples (beam))
    plait_beam_propose (beam, group, best, column, column + 1, ids, log_probabilities);
  else if (beam->requirements[sentence].phrases && plait_beam_forced_word (beam, sentence) < 0)
    plait_beam_propose_by_bank (beam, sentence, best, ids, log_probabilities);
  else
    plait_beam_propose (beam, group, best, 0, best, ids, log_probabilities);
  plait_beam_choose (beam, group);
  if (plait_beam_is_last_step (beam, sentence) || is_decided (beam, sentence, group))
    beam->done[group] = TRUE;
}

void
plait_beam_advance (PlaitBeam *beam, guint best, const gint32 *ids, const PlaitScalar *log_probabilities)
{
  for (gint64 s = 0; s < beam->sentences; s++)
    {
      g_array_set_size (beam->taken, 0);
      for (gint64 g = 0; g < beam->groups; g++)
        if (!beam->done[plait_beam_group (beam, s, g)])
          advance_group (beam, s, plait_beam_group (beam, s, g), plait_beam_shares_row (beam, s) ? (guint)g : 0, best,
                         ids, log_probabilities);
    }
  beam->steps++;
  list_rows (beam);
}

/*
 * Functions that return results
 */

static gint
compare_results (gconstpointer a_pointer, gconstpointer b_pointer)
{
  const PlaitBeamResult *a = a_pointer;
  const PlaitBeamResult *b = b_pointer;

  if (a->score != b->score)
    return a->score > b->score ? -1 : 1;
  return a->last < b->last ? -1 : a->last > b->last;
}

static PlaitBeamResult
result (const PlaitBeam *beam, const PlaitBeamHypothesis *hypothesis)
{
  return (PlaitBeamResult){
    .last = hypothesis->last,
    .length = hypothesis->length,
    .log_probability = hypothesis->log_probability,
    .score = score (beam, hypothesis->log_probability, hypothesis->length),
    .ended = hypothesis->ended,
  };
}

static gboolean
lacks_phrase (const PlaitRequirement *requirement, const PlaitBeamHypothesis *hypothesis)
{
  return requirement->phrases && plait_phrases_missing (requirement->phrases, hypothesis->state) > 0;
}

/* Fills @results with the hypotheses of @group, best first, and returns their number, at most the width of a group. */
static guint
results_of_group (const PlaitBeam *beam, gint64 sentence, gint64 group, PlaitBeamResult *results)
{
  const PlaitBeamHypothesis *hypotheses = plait_beam_hypotheses (beam, group);
  guint n = 0;

  for (guint i = 0; i < beam->n[group]; i++)
    if (hypotheses[i].ended)
      results[n++] = result (beam, &hypotheses[i]);
  /* Unfinished hypotheses are in the order of their ranks. */
  for (guint i = 0; i < beam->n[group] && n < beam->width; i++)
    if (!hypotheses[i].ended && !lacks_phrase (&beam->requirements[sentence], &hypotheses[i]))
      results[n++] = result (beam, &hypotheses[i]);
  qsort (results, n, sizeof *results, compare_results);
  return n;
}

/* Fills @results with at most n_best hypotheses of @sentence, and returns their number. Selects the best of each group,
 * then the second best of each group, and so on. Then sorts the selected ones by score. */
static guint
results_of_groups (const PlaitBeam *beam, gint64 sentence, PlaitBeamResult *results)
{
  guint most = (guint)MIN (beam->settings.n_best, beam->settings.beam), n = 0;
  g_autofree PlaitBeamResult *all = g_new (PlaitBeamResult, beam->groups * beam->capacity);
  g_autofree guint *found = g_new (guint, beam->groups);

  for (gint64 g = 0; g < beam->groups; g++)
    found[g] = results_of_group (beam, sentence, plait_beam_group (beam, sentence, g), all + g * beam->capacity);
  for (guint place = 0; place < beam->width; place++)
    for (gint64 g = 0; g < beam->groups && n < most; g++)
      if (place < found[g])
        results[n++] = all[g * beam->capacity + place];
  qsort (results, n, sizeof *results, compare_results);
  return n;
}

guint
plait_beam_results (const PlaitBeam *beam, gint64 sentence, PlaitBeamResult *results)
{
  guint n = 0;

  if (beam->groups == 1)
    return results_of_group (beam, sentence, sentence, results);
  if (!plait_beam_samples (beam))
    return results_of_groups (beam, sentence, results);
  for (gint64 g = 0; g < beam->groups; g++)
    n += results_of_group (beam, sentence, plait_beam_group (beam, sentence, g), results + n);
  return n;
}
