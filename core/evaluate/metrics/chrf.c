/* SPDX-License-Identifier: MIT */

/*
 * chrF (Popović 2015) and chrF++ (Popović 2017) with sacreBLEU 2's options (Post 2018): by default n-grams of up to 6
 * characters, without white space; for chrF++ also n-grams of up to 2 words. Without the option epsilon, precision and
 * recall are averaged over the orders that hypothesis and reference both have. With several references, each sentence
 * uses the one with the best score.
 *
 * A row is [n-grams of the hypothesis, of the reference, matches] for each character order, then for each word order.
 */
#include "metrics/metric-kind.h"

#include "process/unicode.h"
#include "words/text.h"

#include <string.h>

#define CHARACTER_ORDERS 6
#define WORD_ORDERS 2 /* highest order of words of chrF++ */
#define MAX_ORDERS 20

typedef struct
{
  PlaitMetric parent;
  guint beta;              /* weight of recall against precision */
  guint characters, words; /* highest orders of n-grams of characters and of words */
  gboolean lowercase;
  gboolean whitespace; /* TRUE: white space counts as characters */
  gboolean epsilon; /* TRUE: the score is the mean of the F scores of all orders. FALSE: the score is the F score of the
                       mean precision and the mean recall over the orders that hypothesis and reference both have */
} Chrf;

static const PlaitMetricOption options[] = {
  { "beta", PLAIT_METRIC_INTEGER, G_STRUCT_OFFSET (Chrf, beta), NULL, 1, 100, .summary = "Weight of recall" },
  { "characters", PLAIT_METRIC_INTEGER, G_STRUCT_OFFSET (Chrf, characters), NULL, 1, MAX_ORDERS,
    .summary = "Maximum length of character n-grams" },
  { "words", PLAIT_METRIC_INTEGER, G_STRUCT_OFFSET (Chrf, words), NULL, 0, MAX_ORDERS,
    .summary = "Maximum length of word n-grams" },
  { "lowercase", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Chrf, lowercase), .summary = "Compare in lower case" },
  { "whitespace", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Chrf, whitespace), .summary = "Count white space too" },
  { "epsilon", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Chrf, epsilon),
    .summary = "Average the F scores of all orders, instead of precision and recall" },
  { NULL },
};

static void
begin (PlaitMetric *metric)
{
  Chrf *chrf = (Chrf *)metric;
  chrf->beta = 2;
  chrf->characters = CHARACTER_ORDERS;
  chrf->words = metric->kind == &plait_metric_chrf_words ? WORD_ORDERS : 0;
}

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  const Chrf *chrf = (const Chrf *)metric;
  g_autofree char *plus = g_strnfill (chrf->words, '+');
  metric->title = g_strdup_printf ("chrF%u%s", chrf->beta, plus);
  metric->width = 3 * (chrf->characters + chrf->words);
  return !chrf->lowercase || plait_unicode_open (error);
}

/* Adds the words of @text. An ASCII punctuation mark at the end of a word, or else one at its beginning, becomes a
 * separate word. */
static void
add_words (PlaitNgrams *words, const char *text)
{
  plait_ngrams_add_sequence (words);
  for (const char *end; plait_text_next_word (&text, &end); text = end)
    {
      const char *second = g_utf8_next_char (text), *last = g_utf8_prev_char (end);
      const char *cut = end;
      if (second < end && g_ascii_ispunct (*last))
        cut = last;
      else if (second < end && g_ascii_ispunct (*text))
        cut = second;
      plait_ngrams_append_word (words, text, (gsize)(cut - text));
      if (cut < end)
        plait_ngrams_append_word (words, cut, (gsize)(end - cut));
    }
}

static double
f_score (const Chrf *chrf, const double *sums)
{
  const double tiny = 1e-16;
  guint orders = chrf->parent.width / 3, shared = 0;
  double factor = chrf->beta * chrf->beta;
  double sum = 0, precisions = 0, recalls = 0;
  for (guint n = 0; n < orders; n++)
    {
      double hypothesis = sums[3 * n], reference = sums[3 * n + 1], match = sums[3 * n + 2];
      double precision = hypothesis > 0 ? match / hypothesis : tiny;
      double recall = reference > 0 ? match / reference : tiny;
      double below = factor * precision + recall;
      sum += below > 0 ? (1 + factor) * precision * recall / below : tiny;
      if (hypothesis > 0 && reference > 0)
        {
          precisions += precision;
          recalls += recall;
          shared++;
        }
    }

  if (chrf->epsilon)
    return 100 * sum / orders;
  if (shared == 0 || precisions + recalls == 0)
    return 0;
  precisions /= shared;
  recalls /= shared;
  return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls));
}

/* Moves @ngrams to the next order and counts the n-grams of this order. For each reference, writes three numbers into
 * triple @order of the row of the reference in @values [count, width]: n-grams of the hypothesis, of the reference, and
 * in common. The first number is 0 if the second is 0. */
static void
count_order (PlaitNgrams *ngrams, guint order, guint count, guint width, double *values)
{
  plait_ngrams_next (ngrams);
  double own = (double)plait_ngrams_total (ngrams, 0);
  for (guint k = 0; k < count; k++)
    {
      double *triple = values + k * width + 3 * order;
      triple[1] = (double)plait_ngrams_total (ngrams, 1 + k);
      triple[0] = triple[1] > 0 ? own : 0; /* an order that the reference lacks does not count */
      triple[2] = (double)plait_ngrams_match (ngrams, 1 + k, 2 + k);
    }
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  const Chrf *chrf = (const Chrf *)metric;
  guint width = metric->width;
  for (guint k = 0; k <= sentence->count; k++)
    {
      g_autofree char *line = chrf->lowercase ? plait_text_lower (sentence->texts[k]) : g_strdup (sentence->texts[k]);
      plait_text_strip_end (line);
      plait_ngrams_add_characters (sentence->characters, line, chrf->whitespace);
      if (chrf->words > 0)
        add_words (sentence->words, line);
    }

  g_autofree double *all = g_new (double, (gsize)sentence->count *width);
  for (guint n = 0; n < width / 3; n++)
    count_order (n < chrf->characters ? sentence->characters : sentence->words, n, sentence->count, width, all);

  double best = -1;
  for (guint k = 0; k < sentence->count; k++)
    {
      double score = f_score (chrf, all + (gsize)k * width);
      if (score > best)
        {
          best = score;
          memcpy (values, all + (gsize)k * width, width * sizeof (double));
        }
    }
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  return f_score ((const Chrf *)metric, sums);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  const Chrf *chrf = (const Chrf *)metric;
  g_string_append_printf (signature, "case:%s|eff:%s|nc:%u|nw:%u|space:%s|", chrf->lowercase ? "lc" : "mixed",
                          chrf->epsilon ? "no" : "yes", chrf->characters, chrf->words, chrf->whitespace ? "yes" : "no");
}

#define CHRF_KIND(name_, summary_)                                                                                     \
  {                                                                                                                    \
    .name = name_, .summary = summary_, .size = sizeof (Chrf), .options = options, .larger_is_better = TRUE,           \
    .begin = begin, .finish = finish, .row = row, .score = score, .append_signature = append_signature,                \
  }

const PlaitMetricKind plait_metric_chrf
    = CHRF_KIND ("chrf", "chrF2: F score of character n-grams, as sacreBLEU computes it");
const PlaitMetricKind plait_metric_chrf_words
    = CHRF_KIND ("chrf++", "chrF2++: F score of character and word n-grams, as sacreBLEU computes it");
