/* SPDX-License-Identifier: MIT */

/*
 * Metrics of labels and other answers that are right or wrong as a whole. ASCII white space around a text is ignored.
 * If there are several references, a text needs to match only one of them.
 *
 *   accuracy    share of texts that equal a reference. With "words", for tagging: share of the reference's words that
 *               equal the text's word at the same position
 *   macro-f1    F is computed for each class that a reference has. The score is the mean of these F, so a rare class
 *               counts as much as a frequent one. Equals scikit-learn with labels= set to these classes
 *
 * A row of accuracy is [right, 1]; with "words", [right words, words of the reference]. A row of macro-f1 is [number of
 * classes, 1], then for each class [predicted and right, predicted, reference]. The first two columns give the number
 * of classes from any sum of rows.
 */
#include "metrics/metric-kind.h"

#include "text/error.h"
#include "words/text.h"

#include <string.h>

#define BEGINNING 2 /* number of columns before those of the classes in a row of macro-f1 */
#define EACH 3

/* Maximum number of values in the rows of all sentences, so that they fit into memory. */
#define MAX_NUMBERS ((gsize)1 << 28)

typedef struct
{
  PlaitMetric parent;
  gboolean words;
} Accuracy;

static const PlaitMetricOption accuracy_options[] = {
  { "words", PLAIT_METRIC_SWITCH, G_STRUCT_OFFSET (Accuracy, words),
    .summary = "Score single words: the share that equals the reference's word at the same position" },
  { NULL },
};

/* Returns @text without the white space around it. (transfer full) */
static char *
label_of (const char *text)
{
  gsize first = strspn (text, " \t\r\n\v\f"), end = strlen (text);
  while (end > first && strchr (" \t\r\n\v\f", text[end - 1]))
    end--;
  return g_strndup (text + first, end - first);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, "case:mixed|tok:none|");
}

static gboolean
finish_accuracy (PlaitMetric *metric, GError **error)
{
  metric->title = g_strdup (((Accuracy *)metric)->words ? "word accuracy" : "accuracy");
  return TRUE;
}

/* Counts the words of @text that equal the word of @reference at their position, and the words of @reference. */
static void
count_words (const char *text, const char *reference, double *values)
{
  const char *end = text, *reference_end = reference;
  gboolean more = TRUE;
  values[0] = values[1] = 0;
  while (plait_text_next_word (&reference, &reference_end))
    {
      more = more && plait_text_next_word (&text, &end);
      values[0]
          += more && end - text == reference_end - reference && memcmp (text, reference, (gsize)(end - text)) == 0;
      values[1]++;
      text = end;
      reference = reference_end;
    }
}

/* Sets @values to the counts for the reference with the largest share of right words (ties: the first). A reference
 * without words counts only if all are without words. */
static void
count_best (const PlaitSentence *sentence, double *values)
{
  double counts[2];

  count_words (sentence->texts[0], sentence->texts[1], values);
  for (guint k = 2; k <= sentence->count; k++)
    {
      count_words (sentence->texts[0], sentence->texts[k], counts);
      if (counts[0] * values[1] > values[0] * counts[1] || values[1] == 0)
        memcpy (values, counts, sizeof counts);
    }
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  if (((const Accuracy *)metric)->words)
    {
      count_best (sentence, values);
      return;
    }
  g_autofree char *said = label_of (sentence->texts[0]);
  values[0] = 0;
  for (guint k = 1; k <= sentence->count; k++)
    {
      g_autofree char *expected = label_of (sentence->texts[k]);
      if (strcmp (said, expected) == 0)
        values[0] = 1;
    }
  values[1] = 1;
}

static char *
detail_accuracy (const PlaitMetric *metric, const double *sums)
{
  return g_strdup_printf ("(%.0f of %.0f)", sums[0], sums[1]);
}

const PlaitMetricKind plait_metric_accuracy = {
  .name = "accuracy",
  .summary = "Per cent of texts that equal their reference",
  .width = 2,
  .size = sizeof (Accuracy),
  .options = accuracy_options,
  .larger_is_better = TRUE,
  .finish = finish_accuracy,
  .row = row,
  .score = plait_metric_mean,
  .detail = detail_accuracy,
  .append_signature = append_signature,
};

/* Returns the references' classes, each with its index. (transfer full) */
static GHashTable *
find_classes (const PlaitTextPairs *pairs)
{
  GHashTable *classes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; i < pairs->sentences; i++)
    for (guint k = 0; k < pairs->reference_sets; k++)
      {
        const char *reference = pairs->references[k][i];
        g_autofree char *name = label_of (reference ? reference : "");
        if (reference && !g_hash_table_contains (classes, name))
          g_hash_table_insert (classes, g_steal_pointer (&name), GUINT_TO_POINTER (g_hash_table_size (classes)));
      }
  return classes;
}

/* Returns the columns of @text's class in the row @values, or NULL if no reference has this class. */
static double *
class_counts (GHashTable *classes, const char *text, double *values)
{
  g_autofree char *name = label_of (text);
  gpointer number;
  return g_hash_table_lookup_extended (classes, name, NULL, &number)
             ? values + BEGINNING + EACH * GPOINTER_TO_UINT (number)
             : NULL;
}

static PlaitStatistics *
rows (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  g_autoptr (GHashTable) classes = find_classes (pairs);
  guint n = g_hash_table_size (classes), width = BEGINNING + EACH * n;
  if (pairs->sentences > MAX_NUMBERS / width)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "the references of %zu sentences have %u different labels, too many for %s; give references that are labels",
        pairs->sentences, n, metric->title);
  PlaitStatistics *statistics = plait_statistics_new (pairs->sentences, width);
  for (gsize i = 0; i < pairs->sentences; i++)
    {
      double *values = statistics->values + i * width, *said = class_counts (classes, pairs->hypotheses[i], values);
      double *expected = NULL;
      for (guint k = 0; k < pairs->reference_sets; k++)
        if (pairs->references[k][i])
          {
            double *other = class_counts (classes, pairs->references[k][i], values);
            if (!expected || other == said)
              expected = other;
          }
      values[0] = n;
      values[1] = 1;
      expected[2] = 1;
      if (said)
        said[1] = 1;
      if (said == expected)
        said[0] = 1;
    }
  return statistics;
}

/* Returns the mean of F in per cent over the classes of the columns of @sums. Skips a class that has neither
 * predictions nor references in @sums. Sets *@counted to the number of the other classes. */
static double
macro_f (const double *sums, guint *counted)
{
  guint classes = sums[1] > 0 ? (guint)(sums[0] / sums[1] + .5) : 0;
  double sum = 0;
  *counted = 0;
  for (guint i = 0; i < classes; i++)
    {
      const double *each = sums + BEGINNING + EACH * i;
      if (each[1] + each[2] <= 0)
        continue;
      sum += 2 * each[0] / (each[1] + each[2]);
      (*counted)++;
    }
  return *counted > 0 ? 100 * sum / *counted : 0;
}

static double
score_f (const PlaitMetric *metric, const double *sums)
{
  guint counted;
  return macro_f (sums, &counted);
}

static char *
detail_f (const PlaitMetric *metric, const double *sums)
{
  guint counted;
  macro_f (sums, &counted);
  return g_strdup_printf ("(%u classes)", counted);
}

/* Appends that the average is over the classes of the references. The number of classes that only hypotheses have
 * cannot be computed from a sum of rows, as resampling would need. */
static void
append_signature_f (const PlaitMetric *metric, GString *signature)
{
  append_signature (metric, signature);
  g_string_append (signature, "classes:references|");
}

const PlaitMetricKind plait_metric_macro_f = {
  .name = "macro-f1",
  .summary = "Mean of the F1 scores of the labels that references have",
  .title = "macro F1",
  .width = PLAIT_WIDTH_OF_TEXT,
  .size = sizeof (PlaitMetric),
  .larger_is_better = TRUE,
  .rows = rows,
  .score = score_f,
  .detail = detail_f,
  .append_signature = append_signature_f,
};
