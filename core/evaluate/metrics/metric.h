/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Metrics as sums over sentences.
 *
 * A metric turns each sentence into a row of numbers, its sufficient statistics, and computes a score from any sum of
 * rows. So text is read once; intervals and tests between systems (statistics.h) only add rows.
 */

/* A metric with its settings. Immutable, so threads may share it. */
typedef struct PlaitMetric PlaitMetric;

/* Maximum bytes of a hypothesis or reference, unless the metric has a lower limit. A longer one is probably not
 * line-aligned text. */
#define PLAIT_TEXT_LIMIT (1024 * 1024)

/* The texts to score, owned by the caller. */
typedef struct
{
  gsize sentences;
  const char *const *hypotheses; /* [sentences] hypotheses */
  guint reference_sets;

  /* [reference_sets][sentences] references; NULL where a set lacks the sentence */
  const char *const *const *references;

  /* TRUE: each text is a whole document, with LF between its sentences. FALSE: each text is a line, and metrics of
   * documents find the ends of documents at blank lines. */
  gboolean documents;
} PlaitTextPairs;

/* The rows of a metric for one system's texts on one test set. */
typedef struct
{
  gsize sentences;
  guint width;
  double *values;  /* [sentences, width] rows */
  gint references; /* number of references of each sentence; -1 if it varies, 0 if the metric uses no references */

  /* [sentences + 1], if lines were joined to documents: document i has the lines lines[i] .. lines[i + 1] - 1, with the
   * blank lines before the next document. NULL if no lines were joined. */
  gsize *lines;
} PlaitStatistics;

/* Returns the metric for @text: NAME or NAME:OPTION,OPTION=VALUE,... such as "bleu", "bleu:tok=none,smooth=floor" or
 * "chrf++:lowercase". Fails with PLAIT_ERROR_INPUT. (transfer full) */
PlaitMetric *plait_metric_new (const char *text, GError **error);

/* Returns the metrics of a list separated by ';' or blanks (',' separates options of one metric). Fails on an empty
 * list, and on a metric given twice. (transfer full) (element-type PlaitMetric) */
GPtrArray *plait_metric_new_list (const char *text, GError **error);

/* Returns the metric that plait_metric_new makes from @kind, which must be valid, but with text @text and title @title.
 * (transfer full) */
PlaitMetric *plait_metric_new_as (const char *kind, const char *text, const char *title);

void plait_metric_free (PlaitMetric *metric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitMetric, plait_metric_free)

/* Returns the names that plait_metric_new knows, NULL-terminated. (transfer container) */
const char **plait_metric_names (void);

typedef enum
{
  PLAIT_METRIC_SWITCH,  /* an option without a value */
  PLAIT_METRIC_CHOICE,  /* one of @choices */
  PLAIT_METRIC_NUMBER,  /* a number in minimum .. maximum */
  PLAIT_METRIC_INTEGER, /* an integer in minimum .. maximum */
  PLAIT_METRIC_TEXT,    /* any text without ',' and ';' */
} PlaitMetricOptionType;

/* An option of a metric, with values as users write them. */
typedef struct
{
  const char *name;
  PlaitMetricOptionType type;
  const char *choices;  /* choices of PLAIT_METRIC_CHOICE, such as "13a;intl"; NULL for other types */
  const char *standard; /* default; NULL if the type is a text, or if the default depends on other options */
  const char *minimum;  /* smallest number; @minimum and @maximum are NULL if the type is not a number */
  const char *maximum;
  const char *summary;
} PlaitMetricOptionText;

/* Returns one line about the metric @name; with @name NULL, one line about the options of all metrics. (transfer
 * none) */
const char *plait_metric_summary (const char *name);

/* Sets *@option to option @index of the metric @name; with @name NULL, to option @index of the options that all metrics
 * have. The strings of @option are valid as long as @texts. FALSE if there are not so many options. */
gboolean plait_metric_option (const char *name, guint index, GStringChunk *texts, PlaitMetricOptionText *option);

/* Returns the text that names the metric in files and tables, such as "bleu:tok=none". (transfer none) */
const char *plait_metric_text (const PlaitMetric *metric);

/* Returns the path of the model that the tokeniser reads, or NULL. (transfer none) */
const char *plait_metric_model (const PlaitMetric *metric);

/* Returns the title for tables, such as "BLEU" or "chrF2++". (transfer none) */
const char *plait_metric_title (const PlaitMetric *metric);

/* TRUE if each row is a document. */
gboolean plait_metric_is_of_documents (const PlaitMetric *metric);

/* TRUE if larger scores are better. */
gboolean plait_metric_larger_is_better (const PlaitMetric *metric);

/* Returns the rows of all sentences of @pairs, or of their documents. Fails with PLAIT_ERROR_INPUT if there are no
 * sentences, or if @metric cannot score one of them; messages count from 1. (transfer full) */
PlaitStatistics *plait_metric_statistics (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error);

/* Checks that @metric can score hypotheses against the references of @pairs, whose first set must be complete; ignores
 * the hypotheses of @pairs. On failure sets *@failed_at to the index of the sentence or document that is too long, not
 * UTF-8 or without reference; to pairs->sentences for another fault. */
gboolean plait_metric_check_references (const PlaitMetric *metric, const PlaitTextPairs *pairs, gsize *failed_at,
                                        GError **error);

/* Returns the number of references of @pairs that are not blank but in which @metric finds no word. Such references
 * score 0. Sets *@references to the number of all references of @pairs, without missing ones; to 0 if @metric does not
 * look for words. */
gsize plait_metric_count_wordless (const PlaitMetric *metric, const PlaitTextPairs *pairs, gsize *references);

/* Format of the warning about references without words. Arguments: the text of the metric, the number of such
 * references, the number of all references. */
#define PLAIT_WORDLESS_FORMAT                                                                                          \
  "%s: finds no word in %zu of %zu references, which score 0; choose a tokeniser for their script, such as tok=intl"

/* Returns @sentences rows of zeros, for the caller to fill. (transfer full) */
PlaitStatistics *plait_statistics_new (gsize sentences, guint width);
void plait_statistics_free (PlaitStatistics *statistics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitStatistics, plait_statistics_free)

/* Sets @sums [width] to the sum of the rows. */
void plait_statistics_sum (const PlaitStatistics *statistics, double *sums);

/* Returns the score for summed rows @sums [width]. */
double plait_metric_score (const PlaitMetric *metric, const double *sums);

/* Returns details of the score, for BLEU as sacreBLEU prints them ("63.2/42.1/... (BP = ...)"), or NULL. (transfer
 * full) */
char *plait_metric_detail (const PlaitMetric *metric, const double *sums);

/* Returns all settings that the score depends on, in sacreBLEU's format except the version, which names plait. If
 * @resamples is 0, the signature lacks @resamples and @seed. (transfer full) */
char *plait_metric_signature (const PlaitMetric *metric, gint references, guint resamples, guint64 seed);
