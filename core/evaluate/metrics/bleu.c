/* SPDX-License-Identifier: MIT */

/*
 * BLEU (Papineni et al. 2002) with sacreBLEU 2's options (Post 2018): its tokenisers; smoothing of Chen & Cherry
 * (2014); the closest reference length, of two equally close lengths the shorter. Also multi-bleu, the score of Moses'
 * multi-bleu.perl, quoted by papers older than sacreBLEU: without smoothing, for tokenised text. That script reads
 * bytes, so only ASCII white space separates words, and only ASCII letters become lower case.
 *
 * A row is [hypothesis length, reference length, matches of order 1 .. 4, n-grams of order 1 .. 4].
 */
#include "metrics/metric-kind.h"

#include "process/unicode.h"
#include "text/error.h"
#include "text/number.h"
#include "text/words.h"
#include "words/text.h"

#include <math.h>
#include <string.h>

#define ORDERS 4
#define WIDTH (2 + 2 * ORDERS)

static const char *const token_names[] = { PLAIT_TOKENS_NAMES, NULL };

typedef enum
{
  CASE_LOWER,
  CASE_MIXED,
} Case;
static const char *const case_names[] = { "lc", "mixed", NULL };

typedef enum
{
  SMOOTH_EXP,
  SMOOTH_FLOOR,
  SMOOTH_ADD_K,
  SMOOTH_NONE,
} Smooth;
static const char *const smooth_names[] = { "exp", "floor", "add-k", "none", NULL };

typedef struct
{
  PlaitMetric parent;
  PlaitTokeniser tokeniser; /* tokeniser of BLEU; not used by multi-bleu */
  guint smooth;
  double value; /* value of the smoothing methods floor and add-k; negative: not given */
  gboolean lowercase;
  gboolean effective;
  guint multi_case; /* how multi-bleu treats case: a value of Case */
} Bleu;

static const PlaitMetricOption options[] = {
  PLAIT_METRIC_TOKENISER (Bleu, tokeniser, token_names, "Tokeniser, by the names of sacreBLEU"),
  { "smooth", PLAIT_METRIC_CHOICE, G_STRUCT_OFFSET (Bleu, smooth), smooth_names,
    .summary = "Smoothing of n-gram counts that are zero" },
  { "value", PLAIT_METRIC_NUMBER, G_STRUCT_OFFSET (Bleu, value), NULL, 0, 1000,
    .summary = "Smoothing value; without it, 0.1 with floor, 1 with add-k" },
  { "lowercase", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Bleu, lowercase), .summary = "Compare in lower case" },
  { "effective", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Bleu, effective),
    .summary = "Leave out n-gram orders for which a text is too short; for scores of single sentences" },
  { NULL },
};

static const PlaitMetricOption multi_options[] = {
  { "case", PLAIT_METRIC_CHOICE, G_STRUCT_OFFSET (Bleu, multi_case), case_names,
    .summary = "lc: compare lower case of ASCII letters, as multi-bleu.perl -lc; mixed: compare text unchanged" },
  { NULL },
};

static gboolean
is_multi (const Bleu *bleu)
{
  return bleu->parent.kind == &plait_metric_multi_bleu;
}

static void
begin (PlaitMetric *metric)
{
  ((Bleu *)metric)->value = -1;
}

static void
begin_multi (PlaitMetric *metric)
{
  Bleu *bleu = (Bleu *)metric;
  begin (metric);
  bleu->smooth = SMOOTH_NONE;
}

static gboolean
takes_value (const Bleu *bleu)
{
  return bleu->smooth == SMOOTH_FLOOR || bleu->smooth == SMOOTH_ADD_K;
}

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  Bleu *bleu = (Bleu *)metric;
  if (bleu->lowercase && !plait_unicode_open (error))
    return FALSE;
  if (!plait_tokeniser_open (&bleu->tokeniser, error))
    {
      g_prefix_error (error, "metric \"%s\": ", metric->text);
      return FALSE;
    }
  if (!takes_value (bleu) && bleu->value >= 0)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "metric \"%s\": \"value\" belongs to smooth=floor and smooth=add-k, but smooth is %s; leave \"value\" out",
        metric->text, smooth_names[bleu->smooth]);
  if (bleu->value < 0)
    bleu->value = bleu->smooth == SMOOTH_FLOOR ? 0.1 : 1;
  return TRUE;
}

/* Adds the words that Perl's split finds in @text, read as bytes; with CASE_LOWER, after Perl's lc. */
static void
add_multi_tokens (const Bleu *bleu, PlaitNgrams *words, const char *text)
{
  g_autofree char *line = bleu->multi_case == CASE_LOWER ? g_ascii_strdown (text, -1) : g_strdup (text);
  gsize size = strlen (line), position = 0, length;
  plait_ngrams_add_sequence (words);
  for (const char *word; (word = plait_words_next (line, size, &position, &length));)
    plait_ngrams_append_word (words, word, length);
}

static void
add_tokens (const Bleu *bleu, PlaitNgrams *words, const char *text)
{
  if (is_multi (bleu))
    {
      add_multi_tokens (bleu, words, text);
      return;
    }
  g_autofree char *line = bleu->lowercase ? plait_text_lower (text) : g_strdup (text);
  plait_text_strip_end (line);
  g_autofree char *tokens = plait_tokeniser_cut (&bleu->tokeniser, line);
  plait_ngrams_add_words (words, tokens);
}

/* Returns the length among sequences 1 .. @count that is closest to @length; if several are equally close, the
 * shortest. */
static gsize
closest_length (const PlaitNgrams *words, gsize length, guint count)
{
  gsize closest = 0, least = G_MAXSIZE;
  for (guint k = 1; k <= count; k++)
    {
      gsize other = plait_ngrams_length (words, k);
      gsize difference = other > length ? other - length : length - other;
      if (difference < least || (difference == least && other < closest))
        {
          least = difference;
          closest = other;
        }
    }
  return closest;
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  const Bleu *bleu = (const Bleu *)metric;
  PlaitNgrams *words = sentence->words;
  for (guint k = 0; k <= sentence->count; k++)
    add_tokens (bleu, words, sentence->texts[k]);

  gsize length = plait_ngrams_length (words, 0);
  values[0] = (double)length;
  values[1] = (double)closest_length (words, length, sentence->count);
  for (guint n = 0; n < ORDERS; n++)
    {
      plait_ngrams_next (words);
      values[2 + n] = (double)plait_ngrams_match (words, 1, 1 + sentence->count);
      values[2 + ORDERS + n] = (double)plait_ngrams_total (words, 0);
    }
}

typedef struct
{
  double precisions[ORDERS]; /* precision of each order, per cent */
  double brevity;
  double score;
} Parts;

/* Returns the logarithm, or a large negative number for 0: the geometric mean becomes zero, but no infinity enters
 * averages. */
static double
floored_log (double value)
{
  return value == 0 ? -9999999999.0 : log (value);
}

static Parts
compute (const Bleu *bleu, const double *sums)
{
  Parts parts = { .brevity = 1 };
  double length = sums[0], reference = sums[1];
  if (length < reference)
    parts.brevity = length > 0 ? exp (1 - reference / length) : 0;

  gboolean any = FALSE;
  for (guint n = 0; n < ORDERS; n++)
    any |= sums[2 + n] > 0;
  if (!any)
    return parts;

  double halving = 1;
  guint effective = ORDERS;
  for (guint n = 0; n < ORDERS; n++)
    {
      double matches = sums[2 + n], total = sums[2 + ORDERS + n];
      if (bleu->smooth == SMOOTH_ADD_K && n > 0)
        {
          matches += bleu->value;
          total += bleu->value;
        }
      if (total == 0)
        break;
      if (bleu->effective)
        effective = n + 1;
      if (matches > 0)
        parts.precisions[n] = 100 * matches / total;
      else if (bleu->smooth == SMOOTH_EXP)
        {
          halving *= 2;
          parts.precisions[n] = 100 / (halving * total);
        }
      else if (bleu->smooth == SMOOTH_FLOOR)
        parts.precisions[n] = 100 * bleu->value / total;
    }

  double logs = 0;
  for (guint n = 0; n < effective; n++)
    logs += floored_log (parts.precisions[n]);
  parts.score = parts.brevity * exp (logs / effective);
  return parts;
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  return compute ((const Bleu *)metric, sums).score;
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  Parts parts = compute ((const Bleu *)metric, sums);
  return plait_format ("%.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %.0f ref_len = %.0f)",
                       parts.precisions[0], parts.precisions[1], parts.precisions[2], parts.precisions[3],
                       parts.brevity, sums[1] > 0 ? sums[0] / sums[1] : 0, sums[0], sums[1]);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  const Bleu *bleu = (const Bleu *)metric;
  if (is_multi (bleu))
    {
      g_string_append_printf (signature, "case:%s|eff:no|tok:none|smooth:none|like:multi-bleu.perl|",
                              bleu->multi_case == CASE_LOWER ? "lc-ascii" : "mixed");
      return;
    }
  g_string_append_printf (signature, "case:%s|eff:%s|tok:%s|smooth:%s", bleu->lowercase ? "lc" : "mixed",
                          bleu->effective ? "yes" : "no", plait_tokeniser_signature (&bleu->tokeniser),
                          smooth_names[bleu->smooth]);
  g_autofree char *value = takes_value (bleu) ? plait_format ("[%.2f]", bleu->value) : NULL;
  g_string_append_printf (signature, "%s|", value ? value : "");
}

#define BLEU_KIND(name_, summary_, title_, options_, begin_)                                                           \
  {                                                                                                                    \
    .name = name_, .summary = summary_, .title = title_, .width = WIDTH, .size = sizeof (Bleu), .options = options_,   \
    .larger_is_better = TRUE, .begin = begin_, .finish = finish, .row = row, .score = score, .detail = detail,         \
    .append_signature = append_signature,                                                                              \
  }

const PlaitMetricKind plait_metric_bleu = BLEU_KIND ("bleu", "BLEU, as sacreBLEU computes it", "BLEU", options, begin);
const PlaitMetricKind plait_metric_multi_bleu
    = BLEU_KIND ("multi-bleu", "BLEU, as multi-bleu.perl of Moses computes it over unchanged tokens", "multi-BLEU",
                 multi_options, begin_multi);
