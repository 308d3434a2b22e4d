/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "words/ngrams.h"

/*
 * What a file that implements a metric gives. A kind is a constant table; a metric begins with a PlaitMetric and
 * goes on with its settings.
 */
typedef struct PlaitMetricKind PlaitMetricKind;

/* What a row is of. */
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
  guint unit; /* PlaitUnit */
  guint width;
  gsize max_bytes; /* of a text */
};

typedef struct
{
  const char *name;
  PlaitMetricOptionType type;
  gsize offset; /* of the field in the metric */
  const char *const *choices;
  double minimum, maximum;
  const char *summary; /* one line for people */
} PlaitMetricOption;

/* The text of one sentence or document, preprocessed by nobody. @words and @characters are counters for the metric's
 * use, empty. */
typedef struct
{
  const char *const *texts; /* [1 + count]: the hypothesis, then its references */
  guint count;              /* references */
  PlaitNgrams *words;
  PlaitNgrams *characters;
} PlaitSentence;

struct PlaitMetricKind
{
  const char *name;
  const char *summary; /* one line for people */
  const char *title;   /* NULL: it depends on the settings, and so may what follows */
  guint width;
  gsize max_bytes;                  /* 0: PLAIT_TEXT_LIMIT */
  gsize size;                       /* of the metric with its settings */
  const PlaitMetricOption *options; /* ends with a NULL name; NULL: none of its own */
  gboolean larger_is_better;
  gboolean reads_lines; /* the lines of a document; to the others a space stands between its sentences */

  /* Sets the defaults; NULL: all are zero. */
  void (*begin) (PlaitMetric *metric);
  /* Checks the settings against each other and sets what depends on them; NULL: nothing does. */
  gboolean (*finish) (PlaitMetric *metric, GError **error);
  void (*row) (const PlaitMetric *metric, const PlaitSentence *sentence, double *row);
  /* Instead of row, where the width depends on the text: the rows of all of @pairs. Two systems on the same references
   * have the same width. */
  PlaitStatistics *(*rows) (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error);
  double (*score) (const PlaitMetric *metric, const double *sums);
  char *(*detail) (const PlaitMetric *metric, const double *sums); /* may be NULL */
  /* Appends "key:value|" for each setting. */
  void (*append_signature) (const PlaitMetric *metric, GString *signature);
};

/* The width of a metric with rows of its own. */
#define PLAIT_WIDTH_OF_TEXT 0

extern const PlaitMetricKind plait_metric_accuracy;
extern const PlaitMetricKind plait_metric_bleu;
extern const PlaitMetricKind plait_metric_macro_f;
extern const PlaitMetricKind plait_metric_meteor;
extern const PlaitMetricKind plait_metric_multi_bleu;
extern const PlaitMetricKind plait_metric_chrf;
extern const PlaitMetricKind plait_metric_chrf_words;
extern const PlaitMetricKind plait_metric_repetition;
extern const PlaitMetricKind plait_metric_rouge;
extern const PlaitMetricKind plait_metric_span_f;
extern const PlaitMetricKind plait_metric_ter;

/* The score of rows [what a text is worth, 1]: their mean, per cent. */
double plait_metric_mean (const PlaitMetric *metric, const double *sums);

/* A metric of @kind with its defaults, called @text. (transfer full) */
PlaitMetric *plait_metric_new_default (const PlaitMetricKind *kind, const char *text);
