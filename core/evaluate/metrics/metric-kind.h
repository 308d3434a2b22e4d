/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "words/ngrams.h"
#include "words/tokeniser.h"

/*
 * Interface of a file that implements a metric. A kind is a constant table; the struct of a metric begins with a
 * PlaitMetric, and its settings follow.
 */
typedef struct PlaitMetricKind PlaitMetricKind;

/* The unit of text that has one row of statistics. */
typedef enum
{
  PLAIT_UNIT_SENTENCE,
  PLAIT_UNIT_DOCUMENT,
} PlaitUnit;

struct PlaitMetric
{
  const PlaitMetricKind *kind;
  char *text;
  char *title;
  guint unit; /* unit of text that has one row: a PlaitUnit */
  guint width;
  gsize max_bytes; /* maximum bytes of a text */
};

typedef struct
{
  const char *name;
  PlaitMetricOptionType type;
  gsize offset; /* offset of the option's field in the metric's struct */
  const char *const *choices;
  double minimum, maximum;
  const char *summary; /* summary for users, one line */
} PlaitMetricOption;

/* Options "tok" and "model" of a metric whose struct @type has the PlaitTokeniser @member. @names: the choices of
 * "tok", of type const char *const []. */
#define PLAIT_METRIC_TOKENISER(type, member, names, summary_)                                                          \
  { "tok", PLAIT_METRIC_CHOICE, G_STRUCT_OFFSET (type, member.tokens), names, .summary = summary_ },                   \
  {                                                                                                                    \
    "model", PLAIT_METRIC_TEXT, G_STRUCT_OFFSET (type, member.model),                                                  \
        .summary = "Absolute path of the SentencePiece model of flores101 or flores200",                               \
  }

/* The unprocessed texts of one sentence or document. @words and @characters are empty counters for the metric to
 * use. */
typedef struct
{
  const char *const *texts; /* [1 + count], the hypothesis, then its references */
  guint count;              /* number of references */
  PlaitNgrams *words;
  PlaitNgrams *characters;
} PlaitSentence;

struct PlaitMetricKind
{
  const char *name;
  const char *summary; /* summary for users, one line */
  const char *title;   /* title in tables; NULL: finish or the creator of the metric sets its title */
  guint width;
  gsize max_bytes;                  /* maximum bytes of a text; 0: PLAIT_TEXT_LIMIT */
  gsize size;                       /* size of the metric's struct */
  const PlaitMetricOption *options; /* options, ended by a NULL name; NULL: no options */
  gboolean larger_is_better;
  gboolean reads_lines; /* TRUE: with unit=document, documents keep their line ends; else spaces join their sentences */

  /* Sets the settings of @metric to their defaults; NULL: all defaults are zero. */
  void (*begin) (PlaitMetric *metric);
  /* Checks the settings against each other, and sets title, width and max_bytes if these depend on settings; may be
   * NULL. */
  gboolean (*finish) (PlaitMetric *metric, GError **error);
  /* TRUE if the metric finds a word in @text; NULL: the metric does not look for words. */
  gboolean (*has_words) (const PlaitMetric *metric, const char *text);
  void (*row) (const PlaitMetric *metric, const PlaitSentence *sentence, double *row);
  /* Returns the rows of all @pairs. A metric of texts has either this function or the function row(). It has this
   * function if the width of rows depends on the references; the width never depends on the translations. */
  PlaitStatistics *(*rows) (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error);
  double (*score) (const PlaitMetric *metric, const double *sums);

  /* Returns details of the score (plait_metric_detail); NULL: the metric gives no details. */
  char *(*detail) (const PlaitMetric *metric, const double *sums);

  /* Appends "key:value|" for each setting. */
  void (*append_signature) (const PlaitMetric *metric, GString *signature);
};

/* Value of PlaitMetricKind.width if the function rows chooses the width. */
#define PLAIT_WIDTH_OF_TEXT 0

extern const PlaitMetricKind plait_metric_accuracy;
extern const PlaitMetricKind plait_metric_aer;
extern const PlaitMetricKind plait_metric_alignment_precision;
extern const PlaitMetricKind plait_metric_alignment_recall;
extern const PlaitMetricKind plait_metric_bleu;
extern const PlaitMetricKind plait_metric_macro_f;
extern const PlaitMetricKind plait_metric_meteor;
extern const PlaitMetricKind plait_metric_mse;
extern const PlaitMetricKind plait_metric_multi_bleu;
extern const PlaitMetricKind plait_metric_pearson;
extern const PlaitMetricKind plait_metric_chrf;
extern const PlaitMetricKind plait_metric_chrf_words;
extern const PlaitMetricKind plait_metric_repetition;
extern const PlaitMetricKind plait_metric_rouge;
extern const PlaitMetricKind plait_metric_span_f;
extern const PlaitMetricKind plait_metric_spearman;
extern const PlaitMetricKind plait_metric_ter;

/* Returns @sums[0] / @sums[1] in per cent: the mean value of texts, if rows are [value of a text, 1]. */
double plait_metric_mean (const PlaitMetric *metric, const double *sums);

/* Returns a metric of @kind with default settings and text @text. (transfer full) */
PlaitMetric *plait_metric_new_default (const PlaitMetricKind *kind, const char *text);
