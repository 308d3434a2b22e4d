/* SPDX-License-Identifier: MIT */

/*
 * ROUGE (Lin 2004) as the package rouge-score computes it: n-grams of one or two words (1, 2), the longest common
 * subsequence of two texts (L), and the union of such subsequences of their sentences, which are lines (Lsum). A text's
 * score is F, the harmonic mean of precision and recall; a corpus's score is the mean over texts. With several
 * references, the first with the largest F counts. Text is compared in lower case. Words are sequences of letters a to
 * z and digits; everything else separates words, even letters with accents. For other scripts, tok= names a tokeniser.
 *
 * A row is [precision, recall, F, 1].
 */
#include "metrics/metric-kind.h"

#include "process/unicode.h"
#include "text/error.h"
#include "text/number.h"
#include "words/stem.h"
#include "words/text.h"

#include <string.h>

#define WIDTH 4
/* Maximum bytes of a text for longest common subsequences. Their time grows with the product of both texts' lengths.
 * For Lsum, so does their memory: one bit for each pair of words. */
#define SUBSEQUENCE_LIMIT (64 * 1024)
/* The package does not stem words of three letters or less. */
#define MIN_STEMMED 4

typedef enum
{
  TYPE_1,
  TYPE_2,
  TYPE_L,
  TYPE_LSUM,
} Type;
static const char *const type_names[] = { "1", "2", "L", "Lsum", NULL };

static const char *const token_names[] = { "a-z0-9", PLAIT_TOKENS_NAMES, NULL };

typedef struct
{
  PlaitMetric parent;
  guint type;
  gboolean stem;
  gboolean cuts; /* TRUE: @tokeniser finds the words; FALSE: words consist of letters a to z and digits */
  PlaitTokeniser tokeniser;
} Rouge;

typedef struct
{
  double precision, recall, f;
} Score;

static const PlaitMetricOption options[] = {
  { "type", PLAIT_METRIC_CHOICE, G_STRUCT_OFFSET (Rouge, type), type_names,
    .summary = "ROUGE-1, ROUGE-2, ROUGE-L, or ROUGE-Lsum over the sentences of a document" },
  { "stem", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Rouge, stem),
    .summary = "Compare stems of words of four letters or more" },
  PLAIT_METRIC_TOKENISER (Rouge, tokeniser, token_names,
                          "a-z0-9: words of English, as rouge-score; other names: tokenisers of sacreBLEU"),
  { NULL },
};

/* Opens the tokeniser that the option tok= names, unless it is a-z0-9. */
static gboolean
open_tokeniser (Rouge *rouge, GError **error)
{
  const char *text = rouge->parent.text;

  rouge->cuts = rouge->tokeniser.tokens > 0;
  if (!rouge->cuts)
    return !rouge->tokeniser.model
           || plait_fail (error, PLAIT_ERROR_INPUT,
                          "metric \"%s\": \"model\" belongs to tok=flores101 and tok=flores200; leave \"model\" out",
                          text);
  rouge->tokeniser.tokens--; /* the first of token_names, "a-z0-9", is not in PlaitTokens */
  if (rouge->stem)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "metric \"%s\": option \"stem\" works only with tok=a-z0-9; leave out \"stem\" or tok=", text);
  if (plait_tokeniser_open (&rouge->tokeniser, error))
    return TRUE;
  g_prefix_error (error, "metric \"%s\": ", text);
  return FALSE;
}

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  Rouge *rouge = (Rouge *)metric;
  metric->title = g_strdup_printf ("ROUGE-%s", type_names[rouge->type]);
  if (rouge->type >= TYPE_L)
    metric->max_bytes = SUBSEQUENCE_LIMIT;
  return plait_unicode_open (error) && open_tokeniser (rouge, error);
}

static gboolean
is_of_word (char c)
{
  return g_ascii_islower (c) || g_ascii_isdigit (c);
}

/* Adds the words of @text [length], which is in lower case, as one sequence. */
static void
add_words (const Rouge *rouge, PlaitNgrams *words, const char *text, gsize length)
{
  g_autoptr (GString) stem = g_string_new (NULL);
  if (rouge->cuts)
    {
      g_autofree char *line = g_strndup (text, length);
      g_autofree char *tokens = plait_tokeniser_cut (&rouge->tokeniser, plait_text_strip_end (line));
      plait_ngrams_add_words (words, tokens);
      return;
    }
  plait_ngrams_add_sequence (words);
  for (gsize at = 0, begin; at < length; at++)
    {
      for (begin = at; at < length && is_of_word (text[at]);)
        at++;
      if (at == begin)
        continue;
      g_string_truncate (stem, 0);
      g_string_append_len (stem, text + begin, (gssize)(at - begin));
      if (rouge->stem && stem->len >= MIN_STEMMED)
        plait_stem (stem);
      plait_ngrams_append_word (words, stem->str, stem->len);
    }
}

/* Adds a text as one sequence, or for Lsum each non-empty line. Returns the number of sequences. */
static guint
add_text (const Rouge *rouge, PlaitNgrams *words, const char *text)
{
  g_autofree char *lower = plait_text_lower (text);
  if (rouge->type != TYPE_LSUM)
    {
      add_words (rouge, words, lower, strlen (lower));
      return 1;
    }
  guint lines = 0;
  for (const char *line = lower; *line;)
    {
      gsize length = strcspn (line, "\n");
      if (length > 0)
        {
          add_words (rouge, words, line, length);
          lines++;
        }
      line += length;
      line += *line == '\n';
    }
  return lines;
}

/* TRUE if @text has a word. */
static gboolean
has_words (const PlaitMetric *metric, const char *text)
{
  const Rouge *rouge = (const Rouge *)metric;
  g_autoptr (PlaitNgrams) words = plait_ngrams_new ();
  g_autofree char *lower = plait_text_lower (text);
  add_words (rouge, words, lower, strlen (lower));
  return plait_ngrams_length (words, 0) > 0;
}

static Score
score_of (double matches, gsize hypothesis, gsize reference)
{
  Score score = { 0 };
  if (hypothesis > 0)
    score.precision = matches / (double)hypothesis;
  if (reference > 0)
    score.recall = matches / (double)reference;
  if (score.precision + score.recall > 0)
    score.f = 2 * score.precision * score.recall / (score.precision + score.recall);
  return score;
}

static Score
score_ngrams (PlaitNgrams *words, guint order)
{
  for (guint n = 0; n < order; n++)
    plait_ngrams_next (words);
  return score_of ((double)plait_ngrams_match (words, 1, 2), plait_ngrams_total (words, 0),
                   plait_ngrams_total (words, 1));
}

typedef struct
{
  const guint32 *symbols;
  gsize n;
} Sequence;

static Sequence
sequence_of (const PlaitNgrams *words, guint number)
{
  return (Sequence){ plait_ngrams_symbols (words, number), plait_ngrams_length (words, number) };
}

/* Returns the length of the longest common subsequence of @a and @b. @lengths is scratch memory for b.n + 1 numbers.
 * @back (zeroed; may be NULL) has one bit for each pair of symbols: bit i * b.n + j for symbol i of @a and symbol j of
 * @b. Sets the bit if backtracking from this pair steps back in @b only. */
static guint32
longest_common (Sequence a, Sequence b, guint32 *lengths, guint64 *back)
{
  memset (lengths, 0, (b.n + 1) * sizeof *lengths);
  for (gsize i = 0; i < a.n; i++)
    for (gsize j = 0, diagonal = 0; j < b.n; j++)
      {
        guint32 above = lengths[j + 1];
        gsize bit = i * b.n + j;
        if (a.symbols[i] == b.symbols[j])
          lengths[j + 1] = (guint32)diagonal + 1;
        else if (lengths[j] > above)
          {
            lengths[j + 1] = lengths[j];
            if (back)
              back[bit / 64] |= G_GUINT64_CONSTANT (1) << bit % 64;
          }
        diagonal = above;
      }
  return lengths[b.n];
}

/* Marks in @common [a.n] the symbols of a longest common subsequence; if there are several, the one that the package
 * finds. */
static void
mark_common (Sequence a, Sequence b, guint32 *lengths, gboolean *common)
{
  g_autofree guint64 *back = g_new0 (guint64, a.n * b.n / 64 + 1);
  gsize i = a.n, j = b.n;
  longest_common (a, b, lengths, back);
  while (i > 0 && j > 0)
    {
      gsize bit = (i - 1) * b.n + j - 1;
      if (a.symbols[i - 1] == b.symbols[j - 1])
        {
          common[--i] = TRUE;
          j--;
        }
      else if (back[bit / 64] >> bit % 64 & 1)
        j--;
      else
        i--;
    }
}

static gsize
count_words (const PlaitNgrams *words, guint first, guint last)
{
  gsize n = 0;
  for (guint s = first; s < last; s++)
    n += plait_ngrams_length (words, s);
  return n;
}

static Score
score_subsequence (const PlaitNgrams *words)
{
  Sequence hypothesis = sequence_of (words, 0), reference = sequence_of (words, 1);
  g_autofree guint32 *lengths = g_new (guint32, hypothesis.n + 1);
  return score_of (longest_common (reference, hypothesis, lengths, NULL), hypothesis.n, reference.n);
}

/* Scores the union: a word of a reference sentence matches if it is in the longest common subsequence with any sentence
 * of the hypothesis. Sequences 0 .. @lines - 1 are the hypothesis, @lines .. @all_lines - 1 the reference. A word
 * counts at most as often as it occurs in the hypothesis. */
static Score
score_union (const PlaitNgrams *words, guint lines, guint all_lines)
{
  gsize n_hypothesis = count_words (words, 0, lines), n_reference = count_words (words, lines, all_lines);
  g_autofree guint32 *left = g_new0 (
      guint32, n_hypothesis + n_reference + 1); /* [symbols], unused occurrences of each word of the hypothesis */
  g_autofree guint32 *lengths = g_new (guint32, n_hypothesis + 1);
  gsize matches = 0;
  for (guint s = 0; s < lines; s++)
    for (gsize i = 0; i < plait_ngrams_length (words, s); i++)
      left[plait_ngrams_symbols (words, s)[i]]++;
  for (guint r = lines; r < all_lines; r++)
    {
      Sequence reference = sequence_of (words, r);
      g_autofree gboolean *common = g_new0 (gboolean, reference.n + 1);
      for (guint s = 0; s < lines; s++)
        mark_common (reference, sequence_of (words, s), lengths, common);
      for (gsize i = 0; i < reference.n; i++)
        if (common[i] && left[reference.symbols[i]] > 0)
          {
            left[reference.symbols[i]]--;
            matches++;
          }
    }
  return score_of ((double)matches, n_hypothesis, n_reference);
}

static Score
score_pair (const Rouge *rouge, PlaitNgrams *words, const char *hypothesis, const char *reference)
{
  plait_ngrams_clear (words);
  guint lines = add_text (rouge, words, hypothesis);
  guint all_lines = lines + add_text (rouge, words, reference);
  switch (rouge->type)
    {
    case TYPE_L:
      return score_subsequence (words);
    case TYPE_LSUM:
      return score_union (words, lines, all_lines);
    default:
      return score_ngrams (words, rouge->type == TYPE_2 ? 2 : 1);
    }
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  const Rouge *rouge = (const Rouge *)metric;
  Score best = { .f = -1 };
  for (guint k = 1; k <= sentence->count; k++)
    {
      Score score = score_pair (rouge, sentence->words, sentence->texts[0], sentence->texts[k]);
      if (score.f > best.f)
        best = score;
    }
  values[0] = best.precision;
  values[1] = best.recall;
  values[2] = best.f;
  values[3] = 1;
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  return 100 * sums[2] / sums[3];
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  return plait_format ("(P = %.2f R = %.2f)", 100 * sums[0] / sums[3], 100 * sums[1] / sums[3]);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  const Rouge *rouge = (const Rouge *)metric;
  g_string_append_printf (signature, "type:%s|stem:%s|tok:%s|like:rouge-score|", type_names[rouge->type],
                          rouge->stem ? "porter" : "no",
                          rouge->cuts ? plait_tokeniser_signature (&rouge->tokeniser) : token_names[0]);
}

const PlaitMetricKind plait_metric_rouge = {
  .name = "rouge",
  .summary = "ROUGE as rouge-score computes it",
  .width = WIDTH,
  .size = sizeof (Rouge),
  .options = options,
  .larger_is_better = TRUE,
  .reads_lines = TRUE,
  .finish = finish,
  .has_words = has_words,
  .row = row,
  .score = score,
  .detail = detail,
  .append_signature = append_signature,
};
