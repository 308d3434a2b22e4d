/* SPDX-License-Identifier: MIT */

/*
 * METEOR (Denkowski & Lavie 2011) for English with the weights of version 1.5 (Denkowski & Lavie 2014). It matches
 * equal words and equal stems (Snowball's for English). The original also matches synonyms and paraphrases, and has a
 * list of function words. So compare these scores only with each other, not with those of the original; the signature
 * names the matchers. The score is a harmonic mean of precision and recall, with most weight on recall. A penalty for
 * the number of chunks of the matches reduces the score.
 *
 * The alignment has the most matches possible; of these alignments it has the fewest chunks, then the smallest sum of
 * distances between matched words, then the most equal words. A beam search from left to right looks for this
 * alignment, as in the original.
 *
 * A row is [words of the hypothesis, of the reference, equal words, equal stems, chunks]. If two texts match completely
 * in one chunk, the row has 0 chunks, as in the released scorer (MeteorStats.addStats).
 */
#include "metrics/metric-kind.h"

#include "process/unicode.h"
#include "text/number.h"
#include "words/text.h"

#include <libstemmer.h>
#include <math.h>
#include <string.h>

#define WIDTH 5

/* Maximum bytes of a text: alignment takes time proportional to the product of both texts' lengths. */
#define MAX_BYTES (8 * 1024)

#define BEAM 40

/* Weights of version 1.5 for English. */
#define ALPHA 0.85 /* weight of recall */
#define BETA 0.2
#define GAMMA 0.6
#define STEM 0.6 /* weight of a match of stems; equal words weigh 1 */

typedef enum
{
  TOKENS_13A,
  TOKENS_NONE,
} Tokens;
static const char *const token_names[] = { "13a", "none", NULL };

typedef struct
{
  PlaitMetric parent;
  guint tokens;
  gboolean exact; /* TRUE: match equal words only */
} Meteor;

static const PlaitMetricOption options[] = {
  { "exact", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Meteor, exact),
    .summary = "Match only equal words, not equal stems" },
  { "tok", PLAIT_METRIC_CHOICE, G_STRUCT_OFFSET (Meteor, tokens), token_names, .summary = "Tokeniser" },
  { NULL },
};

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  metric->title = g_strdup (((const Meteor *)metric)->exact ? "METEOR (exact)" : "METEOR (exact, stem)");
  return plait_unicode_open (error) != NULL;
}

/* Adds the words of @text in lower case as the next sequence of @words, and their stems as the next of @stems. If
 * @stemmer is NULL, the stems are the words. */
static void
add_words (const Meteor *meteor, struct sb_stemmer *stemmer, PlaitNgrams *words, PlaitNgrams *stems, const char *text)
{
  g_autofree char *lower = plait_text_lower (text);
  g_autofree char *line = meteor->tokens == TOKENS_13A ? plait_tokenise_13a (lower) : g_steal_pointer (&lower);
  const char *at = line;

  plait_ngrams_add_words (words, line);
  plait_ngrams_add_sequence (stems);
  for (const char *end; plait_text_next_word (&at, &end); at = end)
    {
      const sb_symbol *word = (const sb_symbol *)at;
      int length = (int)(end - at);

      if (stemmer)
        {
          word = sb_stemmer_stem (stemmer, word, length);
          length = sb_stemmer_length (stemmer);
        }
      plait_ngrams_append_word (stems, (const char *)word, (gsize)length);
    }
}

#define NOWHERE (-2) /* position of an unmatched word; the next word cannot continue a chunk after it */

/* A partial alignment of the first words of the hypothesis. */
typedef struct
{
  guint pieces, distance, exact;
  gint last;     /* position in the reference that the last word matches, or NOWHERE */
  guint64 taken; /* hash of the set of matched positions, a sum of hash_position; distinct sets collide with probability
                    2^-64 */
  guint parent;  /* index of the previous state in the previous beam */
  gint rank;     /* rank of the position @last, or NOWHERE */
} State;

typedef struct
{
  const guint32 *words, *stems;
  gint length;
} Side;

typedef struct
{
  State states[BEAM]; /* states, the best first */
  guint n;
  guint8 *used; /* [BEAM, reference], for each state: 1 at the rank of each matched position */
} Beam;

typedef struct
{
  Side hypothesis, reference;
  /* Positions of the reference sorted by stem, then by position; the index in this order is a rank. */
  gint *positions, *ranks; /* [reference] positions by rank, and ranks by position */
  Beam now, next;
} Alignment;

/* TRUE if @x is better than @y; FALSE if they are equal. */
static gboolean
is_better (const State *x, const State *y)
{
  if (x->pieces != y->pieces)
    return x->pieces < y->pieces;
  return x->distance != y->distance ? x->distance < y->distance : x->exact > y->exact;
}

/* Returns a random-looking number for @position, for sums that identify sets. */
static guint64
hash_position (gint position)
{
  guint64 x = ((guint64)position + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Inserts @state into @beam if it is among the best. Of two states with the same matched set and last position, only
 * the better one stays. FALSE if the beam is full and has no worse state. */
static gboolean
offer (Beam *beam, const State *state)
{
  guint at = beam->n;

  if (beam->n == BEAM && !is_better (state, &beam->states[BEAM - 1]))
    return FALSE;
  for (guint k = 0; k < beam->n; k++)
    if (beam->states[k].taken == state->taken && beam->states[k].last == state->last)
      {
        if (!is_better (state, &beam->states[k]))
          return TRUE;
        beam->n--;
        memmove (beam->states + k, beam->states + k + 1, (beam->n - k) * sizeof *state);
        break;
      }
  beam->n = MIN (beam->n + 1, BEAM);
  for (at = beam->n - 1; at > 0 && is_better (state, &beam->states[at - 1]); at--)
    beam->states[at] = beam->states[at - 1];
  beam->states[at] = *state;
  return TRUE;
}

/* Offers a new state: state @parent, extended by a match of word @i of the hypothesis with the position of rank
 * @rank. */
static gboolean
offer_match (Alignment *alignment, guint parent, gint i, gint rank)
{
  State state = alignment->now.states[parent];
  gint position = alignment->positions[rank];

  state.pieces += state.last + 1 != position;
  state.distance += (guint)ABS (i - position);
  state.exact += alignment->reference.words[position] == alignment->hypothesis.words[i];
  state.taken += hash_position (position);
  state.last = position;
  state.rank = rank;
  state.parent = parent;
  return offer (&alignment->next, &state);
}

static gint
count (const guint32 *numbers, gint from, gint end, guint32 number)
{
  gint n = 0;

  for (gint i = from; i < end; i++)
    n += numbers[i] == number;
  return n;
}

/* Offers the extensions of state @parent by word @i of the hypothesis. The ranks @first .. @end - 1 belong to the
 * reference words with the stem of this word. @left words of the hypothesis have this stem, from word @i on. */
static void
follow (Alignment *alignment, guint parent, gint i, gint first, gint end, gint left)
{
  const State *before = &alignment->now.states[parent];
  const guint8 *used = alignment->now.used + (gsize)parent * (gsize)alignment->reference.length;
  gint follows = before->last + 1, taken = 0, below = first, above;

  for (gint rank = first; rank < end; rank++)
    taken += used[rank];
  if (left > end - first - taken) /* word @i may stay unmatched: enough later words have this stem */
    {
      State state = *before;

      state.last = state.rank = NOWHERE;
      state.parent = parent;
      offer (&alignment->next, &state);
    }
  /* Offer first the position that continues the chunk, then the others from the nearest on, until the beam refuses
   * one. */
  if (follows >= 0 && follows < alignment->reference.length && alignment->ranks[follows] >= first
      && alignment->ranks[follows] < end && !used[alignment->ranks[follows]])
    offer_match (alignment, parent, i, alignment->ranks[follows]);
  while (below < end && alignment->positions[below] < i)
    below++;
  above = below--;
  for (;;)
    {
      const guint8 *found = above < end ? memchr (used + above, 0, (gsize)(end - above)) : NULL;
      gboolean nearer;

      above = found ? (gint)(found - used) : end;
      found = below >= first ? memrchr (used + first, 0, (gsize)(below + 1 - first)) : NULL;
      below = found ? (gint)(found - used) : first - 1;
      if (above >= end && below < first)
        return;
      nearer = above >= end || (below >= first && i - alignment->positions[below] <= alignment->positions[above] - i);
      if (!offer_match (alignment, parent, i, nearer ? below-- : above++))
        return;
    }
}

/* Makes the next beam the current one. */
static void
step (Alignment *alignment)
{
  gsize length = (gsize)alignment->reference.length;
  Beam swap = alignment->now;

  for (guint k = 0; k < alignment->next.n; k++)
    {
      const State *state = &alignment->next.states[k];

      memcpy (alignment->next.used + k * length, alignment->now.used + state->parent * length, length);
      if (state->rank != NOWHERE)
        alignment->next.used[k * length + (gsize)state->rank] = 1;
    }
  alignment->now = alignment->next;
  alignment->next = swap;
  alignment->next.n = 0;
}

/* Returns how many of the first @n numbers are below @number. */
static gint
count_below (const guint32 *numbers, gint n, guint32 number)
{
  gint below = 0;

  for (gint i = 0; i < n; i++)
    below += numbers[i] < number;
  return below;
}

/* Fills the row @values for one hypothesis and one reference. */
static void
align (const Side *hypothesis, const Side *reference, double *values)
{
  gsize length = (gsize)reference->length;
  g_autofree gint *positions = g_new (gint, length + 1), *ranks = g_new (gint, length + 1);
  g_autofree guint8 *one = g_new0 (guint8, BEAM * (length + 1)), *other = g_new0 (guint8, BEAM * (length + 1));
  Alignment alignment = { *hypothesis, *reference, positions, ranks, { .n = 1, .used = one }, { .used = other } };
  gsize matches = 0;

  for (gint j = 0; j < reference->length; j++)
    {
      ranks[j] = count_below (reference->stems, reference->length, reference->stems[j])
                 + count (reference->stems, 0, j, reference->stems[j]);
      positions[ranks[j]] = j;
    }
  alignment.now.states[0] = (State){ .last = NOWHERE, .rank = NOWHERE };
  for (gint i = 0; i < hypothesis->length; i++)
    {
      guint32 stem = hypothesis->stems[i];
      gint first = count_below (reference->stems, reference->length, stem);
      gint end = first + count (reference->stems, 0, reference->length, stem);
      gint left = count (hypothesis->stems, i, hypothesis->length, stem);

      for (guint k = 0; k < alignment.now.n; k++)
        follow (&alignment, k, i, first, end, left);
      step (&alignment);
    }
  for (gsize rank = 0; rank < length; rank++)
    matches += alignment.now.used[rank];
  values[0] = hypothesis->length;
  values[1] = reference->length;
  values[2] = alignment.now.states[0].exact;
  values[3] = (double)matches - alignment.now.states[0].exact;
  values[4] = alignment.now.states[0].pieces;
  if (values[4] == 1 && matches == length && hypothesis->length == reference->length)
    values[4] = 0;
}

typedef struct
{
  double precision, recall, penalty, score;
} Parts;

static Parts
compute (const double *sums)
{
  Parts parts = { 0 };
  double matches = sums[2] + sums[3], weight = sums[2] + STEM * sums[3];

  if (matches == 0)
    return parts;
  parts.precision = weight / sums[0];
  parts.recall = weight / sums[1];
  parts.penalty = GAMMA * pow (sums[4] / matches, BETA);
  parts.score = 100 * (1 - parts.penalty) / ((1 - ALPHA) / parts.precision + ALPHA / parts.recall);
  return parts;
}

static Side
side_of (const PlaitSentence *sentence, guint sequence)
{
  return (Side){ plait_ngrams_symbols (sentence->words, sequence),
                 plait_ngrams_symbols (sentence->characters, sequence),
                 (gint)plait_ngrams_length (sentence->words, sequence) };
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  const Meteor *meteor = (const Meteor *)metric;
  struct sb_stemmer *stemmer = meteor->exact ? NULL : sb_stemmer_new ("english", NULL);
  PlaitNgrams *stems = sentence->characters; /* despite its name, this counter holds words here */
  double best = -1;

  for (guint k = 0; k <= sentence->count; k++)
    add_words (meteor, stemmer, sentence->words, stems, sentence->texts[k]);
  if (stemmer)
    sb_stemmer_delete (stemmer);
  Side hypothesis = side_of (sentence, 0);
  for (guint k = 1; k <= sentence->count; k++)
    {
      Side reference = side_of (sentence, k);
      double found[WIDTH], scored;

      align (&hypothesis, &reference, found);
      scored = compute (found).score;
      if (scored > best)
        {
          best = scored;
          memcpy (values, found, sizeof found);
        }
    }
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  return compute (sums).score;
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  Parts parts = compute (sums);
  return plait_format ("(P = %.2f R = %.2f penalty = %.3f)", 100 * parts.precision, 100 * parts.recall, parts.penalty);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  const Meteor *meteor = (const Meteor *)metric;

  g_string_append_printf (signature, "lang:en|match:%s|weights:1.5|function-words:none|case:lc|tok:%s|",
                          meteor->exact ? "exact" : "exact+stem", token_names[meteor->tokens]);
}

const PlaitMetricKind plait_metric_meteor = {
  .name = "meteor",
  .summary = "METEOR 1.5 for English with equal words and equal stems",
  .width = WIDTH,
  .max_bytes = MAX_BYTES,
  .size = sizeof (Meteor),
  .options = options,
  .larger_is_better = TRUE,
  .finish = finish,
  .row = row,
  .score = score,
  .detail = detail,
  .append_signature = append_signature,
};
