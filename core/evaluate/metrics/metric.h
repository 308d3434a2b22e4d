/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Metrics as sums over sentences.
 *
 * A metric turns each sentence into a row of numbers, its sufficient statistics, and has a score for the sum of any
 * rows. So text is read once; intervals and tests between systems (statistics.h) only add rows up.
 */

/* A metric with its settings; immutable, so threads may share it. */
typedef struct PlaitMetric PlaitMetric;

/* The longest hypothesis or reference that is taken, in bytes: a longer one is a file that is not line-aligned text. */
#define PLAIT_TEXT_LIMIT (1024 * 1024)

/* What is scored, borrowed from the caller. */
typedef struct
{
  gsize sentences;
  const char *const *hypotheses; /* [sentences] */
  guint reference_sets;
  const char *const *const *references; /* [reference_sets][sentences]; NULL: this set lacks the sentence */

  /* A text is a line, and where the metric is of documents, blank lines end them; or it is a whole document, if it is
   * of several sentences, with LF between them. */
  gboolean documents;
} PlaitTextPairs;

/* The rows of one system on one test set. */
typedef struct
{
  gsize sentences;
  guint width;
  double *values;  /* [sentences, width] */
  gint references; /* references of every sentence, -1 if they differ, 0 if the metric has none */
  gsize *lines;    /* of documents: [sentences + 1], number i is of the lines lines[i] .. lines[i + 1] - 1; else NULL */
} PlaitStatistics;

/* The metric that @text names: NAME or NAME:OPTION,OPTION=VALUE,... such as "bleu", "bleu:tok=none,smooth=floor" or
 * "chrf++:lowercase" (README.md lists all). PLAIT_ERROR_INPUT names the nearest metric, option or choice. (transfer
 * full) */
PlaitMetric *plait_metric_new (const char *text, GError **error);

/* The metrics of a list separated by ';' or blanks (',' separates the options of one metric). A list without metrics
 * and a metric named twice are errors. (transfer full) (element-type PlaitMetric) */
GPtrArray *plait_metric_new_list (const char *text, GError **error);

void plait_metric_free (PlaitMetric *metric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitMetric, plait_metric_free)

/* The names that plait_metric_new knows, NULL-terminated. (transfer container) */
const char **plait_metric_names (void);

/* What an option of a metric takes. */
typedef enum
{
  PLAIT_METRIC_SWITCH,  /* no value */
  PLAIT_METRIC_CHOICE,  /* one of choices */
  PLAIT_METRIC_NUMBER,  /* a number in minimum .. maximum */
  PLAIT_METRIC_INTEGER, /* an integer in minimum .. maximum */
} PlaitMetricOptionType;

/* An option as a user writes it. */
typedef struct
{
  const char *name;
  PlaitMetricOptionType type;
  const char *choices;  /* "13a;intl"; NULL: none */
  const char *standard; /* the default; NULL: it depends on other options */
  const char *minimum;  /* of numbers; else NULL, as is maximum */
  const char *maximum;
  const char *summary;
} PlaitMetricOptionText;

/* What the metric @name computes, one line; of NULL, what the options are that every metric takes. */
const char *plait_metric_summary (const char *name);

/* Sets *@option to option @index of the metric @name, or of those that every metric takes (NULL); its texts belong to
 * @texts. FALSE if there are fewer. */
gboolean plait_metric_option (const char *name, guint index, GStringChunk *texts, PlaitMetricOptionText *option);

/* The text the metric was made from, a key for files and tables. (transfer none) */
const char *plait_metric_text (const PlaitMetric *metric);

/* The name that tables show, such as "BLEU" or "chrF2++". (transfer none) */
const char *plait_metric_title (const PlaitMetric *metric);

/* TRUE if rows are of documents: of the lines between the blank lines of the reference, put together. */
gboolean plait_metric_is_of_documents (const PlaitMetric *metric);

/* TRUE if a larger score is the better one. */
gboolean plait_metric_larger_is_better (const PlaitMetric *metric);

/* The rows of all sentences of @pairs, or of their documents. PLAIT_ERROR_INPUT names the sentence (from 1) that is not
 * UTF-8, too long or without any reference; no sentences are an error too. (transfer full) */
PlaitStatistics *plait_metric_statistics (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error);

/* Checks beforehand that @metric can score translations of the references of @pairs, whose hypotheses are not looked
 * at: what plait_metric_statistics would refuse of the references is refused here. *@failed_at becomes the sentence or
 * document at fault, from 0, or the number of all if it is none alone. */
gboolean plait_metric_check_references (const PlaitMetric *metric, const PlaitTextPairs *pairs, gsize *failed_at,
                                        GError **error);

/* @sentences rows of zeros for statistics that come from elsewhere. (transfer full) */
PlaitStatistics *plait_statistics_new (gsize sentences, guint width);
void plait_statistics_free (PlaitStatistics *statistics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitStatistics, plait_statistics_free)

/* @sums [width]: the sum of the rows. */
void plait_statistics_sum (const PlaitStatistics *statistics, double *sums);

/* The score for summed rows @sums [width]. */
double plait_metric_score (const PlaitMetric *metric, const double *sums);

/* What stands behind the score, in sacreBLEU's words for BLEU ("63.2/42.1/... (BP = ...)"), or NULL. (transfer full) */
char *plait_metric_detail (const PlaitMetric *metric, const double *sums);

/* Everything that the score depends on, in sacreBLEU's form but for the version, which names plait. @resamples 0: no
 * interval was made, so neither it nor @seed is told. (transfer full) */
char *plait_metric_signature (const PlaitMetric *metric, gint references, guint resamples, guint64 seed);
