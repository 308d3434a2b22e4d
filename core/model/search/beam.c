/* SPDX-License-Identifier: MIT */
#include "search/beam.h"

#include "types/input.h"

#include <math.h>
#include <string.h>

typedef struct
{
  gint64 last;
  gint64 length;
  double log_probability;
  double rank;
  gint64 row; /* row in the next step; not set if ended */
  gboolean ended;
} Hypothesis;

/* A hypothesis and the word that would extend it, or a finished hypothesis. */
typedef struct
{
  guint from;
  gint32 token; /* word that extends the hypothesis; -1: the hypothesis stays unchanged */
  double log_probability;
  double rank;
} Candidate;

struct PlaitBeam
{
  PlaitDecodeSettings settings;
  gint64 sentences;
  gint64 *limits;
  gint64 steps;
  guint capacity;         /* maximum hypotheses of a sentence: a beam of unfinished ones and a beam of finished ones */
  Hypothesis *hypotheses; /* [sentences][capacity] */
  guint *n;               /* [sentences]: number of hypotheses */
  gboolean *done;
  GArray *tokens;
  Candidate *candidates; /* [capacity]: best candidates of one sentence, best first */
  guint n_candidates;
  guint max_candidates; /* number of candidates to keep */
  Hypothesis *next;     /* [capacity] */
  /* Rows of the next step. */
  gint64 *offsets;
  gint32 *row_tokens;
  gint64 *row_parents;
  guint *row_bans; /* [rows + 1]: first banned word of each row in bans */
  GArray *bans;    /* gint32: words that may not follow a row */
  guint max_bans;  /* maximum number of banned words of a row */
  GArray *history; /* gint32: scratch */
};

static Hypothesis *
hypotheses_of (const PlaitBeam *beam, gint64 sentence)
{
  return beam->hypotheses + sentence * beam->capacity;
}

static gboolean
sets_aside (const PlaitBeam *beam)
{
  return beam->settings.finished != PLAIT_DECODE_FINISHED_COMPETE;
}

static guint
count_finished (const PlaitBeam *beam, gint64 sentence)
{
  const Hypothesis *hypotheses = hypotheses_of (beam, sentence);
  guint n = 0;

  for (guint i = 0; i < beam->n[sentence]; i++)
    n += hypotheses[i].ended;
  return n;
}

static double
score (const PlaitBeam *beam, double log_probability, gint64 length)
{
  return plait_hypothesis_score (&beam->settings, log_probability, length);
}

/* Returns the value that ranks unfinished hypotheses. */
static double
rank (const PlaitBeam *beam, double log_probability, gint64 length)
{
  return beam->settings.ranking == PLAIT_DECODE_RANKING_FINAL ? log_probability : score (beam, log_probability, length);
}

/* Lists the words that followed earlier occurrences of the last n - 1 tokens of @hypothesis: each of them would repeat
 * an n-gram. The words are distinct, since no n-gram has been repeated before. */
static void
ban_repeats (PlaitBeam *beam, const Hypothesis *hypothesis)
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

static gboolean
is_banned (const PlaitBeam *beam, gint64 row, gint32 word)
{
  for (guint i = beam->row_bans[row]; i < beam->row_bans[row + 1]; i++)
    if (g_array_index (beam->bans, gint32, i) == word)
      return TRUE;
  return FALSE;
}

static void
list_rows (PlaitBeam *beam)
{
  gint64 row = 0;

  g_array_set_size (beam->bans, 0);
  beam->max_bans = 0;
  for (gint64 s = 0; s < beam->sentences; s++)
    {
      Hypothesis *hypotheses = hypotheses_of (beam, s);

      beam->offsets[s] = row;
      for (guint i = 0; i < beam->n[s] && !beam->done[s]; i++)
        {
          Hypothesis *hypothesis = &hypotheses[i];

          if (hypothesis->ended)
            continue;
          beam->row_tokens[row] = PLAIT_TOKEN_BOS;
          beam->row_parents[row] = s;
          if (hypothesis->last >= 0)
            {
              const PlaitBeamToken *token = plait_beam_token (beam, hypothesis->last);

              beam->row_tokens[row] = token->token;
              beam->row_parents[row] = token->row;
            }
          beam->row_bans[row] = beam->bans->len;
          ban_repeats (beam, hypothesis);
          beam->max_bans = MAX (beam->max_bans, beam->bans->len - beam->row_bans[row]);
          hypothesis->row = row++;
        }
    }
  beam->offsets[beam->sentences] = row;
  beam->row_bans[row] = beam->bans->len;
}

PlaitBeam *
plait_beam_new (const PlaitDecodeSettings *settings, gint64 sentences, const gint64 *limits)
{
  PlaitBeam *beam = g_new0 (PlaitBeam, 1);
  gint64 maximum = sentences * settings->beam;

  beam->settings = *settings;
  beam->sentences = sentences;
  beam->limits = g_memdup2 (limits, sentences * sizeof *limits);
  beam->capacity = 2 * (guint)settings->beam;
  beam->hypotheses = g_new0 (Hypothesis, sentences * beam->capacity);
  beam->n = g_new (guint, sentences);
  beam->done = g_new0 (gboolean, sentences);
  beam->tokens = g_array_new (FALSE, FALSE, sizeof (PlaitBeamToken));
  beam->candidates = g_new (Candidate, beam->capacity);
  beam->next = g_new (Hypothesis, beam->capacity);
  beam->offsets = g_new (gint64, sentences + 1);
  beam->row_tokens = g_new (gint32, maximum);
  beam->row_parents = g_new (gint64, maximum);
  beam->row_bans = g_new (guint, maximum + 1);
  beam->bans = g_array_new (FALSE, FALSE, sizeof (gint32));
  beam->history = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gint64 s = 0; s < sentences; s++)
    {
      beam->n[s] = 1;
      hypotheses_of (beam, s)[0] = (Hypothesis){ .last = -1 };
      beam->done[s] = limits[s] <= 0;
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
  g_free (beam->hypotheses);
  g_free (beam->n);
  g_free (beam->done);
  g_array_unref (beam->tokens);
  g_free (beam->candidates);
  g_free (beam->next);
  g_free (beam->offsets);
  g_free (beam->row_tokens);
  g_free (beam->row_parents);
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

/* Ties go to the older hypothesis, then to the lower word. */
static gboolean
precedes (const Candidate *a, const Candidate *b)
{
  if (a->rank != b->rank)
    return a->rank > b->rank;
  return a->from != b->from ? a->from < b->from : a->token < b->token;
}

/* Inserts @candidate if it is among the best so far. FALSE if neither @candidate nor any candidate of lower rank can be
 * among them. */
static gboolean
offer (PlaitBeam *beam, const Candidate *candidate)
{
  guint at = beam->n_candidates;

  if (at < beam->max_candidates)
    beam->n_candidates++;
  else if (!precedes (candidate, &beam->candidates[--at]))
    return candidate->rank == beam->candidates[at].rank;
  for (; at > 0 && precedes (candidate, &beam->candidates[at - 1]); at--)
    beam->candidates[at] = beam->candidates[at - 1];
  beam->candidates[at] = *candidate;
  return TRUE;
}

/* Returns the number of candidates to keep. To refill a beam, twice its width are needed, since each hypothesis may be
 * ended by one word. */
static guint
candidates_wanted (const PlaitBeam *beam, gint64 sentence)
{
  guint width = (guint)beam->settings.beam;

  switch (beam->settings.finished)
    {
    case PLAIT_DECODE_FINISHED_SHRINK:
      return width - count_finished (beam, sentence);
    case PLAIT_DECODE_FINISHED_REFILL:
      return 2 * width;
    default:
      return width;
    }
}

/* Collects the candidates of a sentence. The words of each hypothesis are tried from the most probable on, until one is
 * rejected. */
static void
propose (PlaitBeam *beam, gint64 sentence, guint best, const gint32 *ids, const PlaitScalar *log_probabilities)
{
  const Hypothesis *hypotheses = hypotheses_of (beam, sentence);

  beam->n_candidates = 0;
  beam->max_candidates = candidates_wanted (beam, sentence);
  g_assert (beam->max_candidates > 0);
  for (guint i = 0; i < beam->n[sentence]; i++)
    {
      const Hypothesis *from = &hypotheses[i];
      Candidate candidate = { i, -1, from->log_probability, from->rank };

      if (from->ended && !sets_aside (beam))
        offer (beam, &candidate);
      for (guint k = 0; !from->ended && k < best && ids[from->row * best + k] >= 0; k++)
        {
          candidate.token = ids[from->row * best + k];
          if (is_banned (beam, from->row, candidate.token))
            continue;
          candidate.log_probability = from->log_probability + (double)log_probabilities[from->row * best + k];
          candidate.rank = rank (beam, candidate.log_probability, from->length + 1);
          if (!offer (beam, &candidate))
            break;
        }
    }
}

/* TRUE if candidate @i is kept after @finished finished and @open unfinished hypotheses. With finished=refill, a
 * candidate that ends with EOS is kept only if its rank is below the beam width. */
static gboolean
is_taken (const PlaitBeam *beam, guint i, guint finished, guint open)
{
  guint width = (guint)beam->settings.beam;

  if (beam->settings.finished != PLAIT_DECODE_FINISHED_REFILL)
    return TRUE;
  return beam->candidates[i].token == PLAIT_TOKEN_EOS ? i < width && finished < width : open < width;
}

static Hypothesis
extend (PlaitBeam *beam, const Hypothesis *from, const Candidate *candidate)
{
  PlaitBeamToken token = { candidate->token, beam->steps, from->row, from->last };
  Hypothesis hypothesis = *from;

  if (candidate->token < 0)
    return hypothesis;
  hypothesis.last = (gint64)beam->tokens->len;
  g_array_append_val (beam->tokens, token);
  hypothesis.length++;
  hypothesis.log_probability = candidate->log_probability;
  hypothesis.rank = candidate->rank;
  hypothesis.ended = candidate->token == PLAIT_TOKEN_EOS;
  return hypothesis;
}

static void
choose (PlaitBeam *beam, gint64 sentence)
{
  Hypothesis *hypotheses = hypotheses_of (beam, sentence);
  guint n = 0, finished = 0;

  if (beam->n_candidates == 0)
    {
      beam->done[sentence] = TRUE; /* all candidates are banned, so the sentence ends */
      return;
    }
  for (guint i = 0; i < beam->n[sentence] && sets_aside (beam); i++)
    if (hypotheses[i].ended)
      beam->next[n++] = hypotheses[i];
  finished = n;
  for (guint i = 0; i < beam->n_candidates; i++)
    if (is_taken (beam, i, finished, n - finished))
      {
        const Candidate *candidate = &beam->candidates[i];

        beam->next[n] = extend (beam, &hypotheses[candidate->from], candidate);
        finished += beam->next[n++].ended;
      }
  memcpy (hypotheses, beam->next, n * sizeof *hypotheses);
  beam->n[sentence] = n;
}

/*
 * TRUE if the n best can no longer change: n_best finished hypotheses score at least as high as any unfinished one can.
 * Its log-probability can only fall, and its penalty and rewards are at most those of the length limit. So no
 * unfinished one removes a finished one from the beam either. Also TRUE if all places of the beam are finished.
 */
static gboolean
is_decided (const PlaitBeam *beam, gint64 sentence)
{
  const Hypothesis *hypotheses = hypotheses_of (beam, sentence);
  guint n = beam->n[sentence], n_finished = count_finished (beam, sentence), n_out_of_reach = 0;
  double reachable = -INFINITY;

  if (n_finished == n || n_finished == (guint)beam->settings.beam)
    return TRUE;
  for (guint i = 0; i < n; i++)
    if (!hypotheses[i].ended)
      reachable = MAX (reachable, score (beam, hypotheses[i].log_probability, beam->limits[sentence]));
  for (guint i = 0; i < n; i++)
    n_out_of_reach
        += hypotheses[i].ended && score (beam, hypotheses[i].log_probability, hypotheses[i].length) >= reachable;
  return n_out_of_reach >= (guint)MIN (beam->settings.n_best, beam->settings.beam);
}

void
plait_beam_advance (PlaitBeam *beam, guint best, const gint32 *ids, const PlaitScalar *log_probabilities)
{
  for (gint64 s = 0; s < beam->sentences; s++)
    {
      if (beam->done[s])
        continue;
      propose (beam, s, best, ids, log_probabilities);
      choose (beam, s);
      if (plait_beam_is_last_step (beam, s) || is_decided (beam, s))
        beam->done[s] = TRUE;
    }
  beam->steps++;
  list_rows (beam);
}

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
result (const PlaitBeam *beam, const Hypothesis *hypothesis)
{
  return (PlaitBeamResult){
    .last = hypothesis->last,
    .length = hypothesis->length,
    .log_probability = hypothesis->log_probability,
    .score = score (beam, hypothesis->log_probability, hypothesis->length),
    .ended = hypothesis->ended,
  };
}

guint
plait_beam_results (const PlaitBeam *beam, gint64 sentence, PlaitBeamResult *results)
{
  const Hypothesis *hypotheses = hypotheses_of (beam, sentence);
  guint n = 0;

  for (guint i = 0; i < beam->n[sentence]; i++)
    if (hypotheses[i].ended)
      results[n++] = result (beam, &hypotheses[i]);
  /* Unfinished hypotheses are in the order of their ranks. */
  for (guint i = 0; i < beam->n[sentence] && n < (guint)beam->settings.beam; i++)
    if (!hypotheses[i].ended)
      results[n++] = result (beam, &hypotheses[i]);
  qsort (results, n, sizeof *results, compare_results);
  return n;
}
