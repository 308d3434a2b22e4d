/* SPDX-License-Identifier: MIT */
#include "metrics/metric-kind.h"

#include "text/error.h"
#include "text/number.h"
#include "text/separators.h"
#include "metrics/documents.h"
#include "words/text.h"

#include <math.h>
#include <string.h>

#define VERSION_TOKEN "plait-" PLAIT_VERSION

static const PlaitMetricKind *const kinds[] = { &plait_metric_bleu,
                                                &plait_metric_multi_bleu,
                                                &plait_metric_chrf,
                                                &plait_metric_chrf_words,
                                                &plait_metric_repetition,
                                                &plait_metric_rouge,
                                                &plait_metric_meteor,
                                                &plait_metric_ter,
                                                &plait_metric_accuracy,
                                                &plait_metric_macro_f,
                                                &plait_metric_span_f,
                                                &plait_metric_aer,
                                                &plait_metric_alignment_precision,
                                                &plait_metric_alignment_recall,
                                                &plait_metric_pearson,
                                                &plait_metric_spearman,
                                                &plait_metric_mse };

static const char *const unit_names[] = { "sentence", "document", NULL };

static const PlaitMetricOption common_options[] = {
  { "unit", PLAIT_METRIC_CHOICE, G_STRUCT_OFFSET (PlaitMetric, unit), unit_names, 0, 0,
    "What is scored: each sentence, or each document" },
  { NULL },
};

const char **
plait_metric_names (void)
{
  const char **names = g_new0 (const char *, G_N_ELEMENTS (kinds) + 1);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    names[i] = kinds[i]->name;
  return names;
}

static const PlaitMetricKind *
find_kind (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i]->name, name) == 0)
      return kinds[i];
  return NULL;
}

/* Fails with a message about a name that is not among @names. */
static gboolean
fail_unknown (GError **error, const char *text, const char *what, const char *name, const char *const *names)
{
  g_autofree char *remedy = plait_name_remedy (name, names, NULL);
  return plait_fail (error, PLAIT_ERROR_INPUT, "metric \"%s\": unknown %s \"%s\"; %s", text, what, name, remedy);
}

static gboolean
set_option (PlaitMetric *metric, const PlaitMetricOption *option, const char *value, GError **error)
{
  gpointer field = G_STRUCT_MEMBER_P (metric, option->offset);
  if (option->type == PLAIT_METRIC_SWITCH)
    {
      if (value)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "metric \"%s\": option \"%s\" takes no value, found \"%s\"; write \"%s\" alone or leave it out",
            metric->text, option->name, value, option->name);
      *(gboolean *)field = TRUE;
      return TRUE;
    }

  if (!value || !*value)
    return plait_fail (error, PLAIT_ERROR_INPUT, "metric \"%s\": option \"%s\" needs a value; write \"%s=...\"",
                       metric->text, option->name, option->name);
  if (option->type == PLAIT_METRIC_TEXT)
    {
      *(char **)field = g_strdup (value);
      return TRUE;
    }
  if (option->type == PLAIT_METRIC_CHOICE)
    {
      for (guint i = 0; option->choices[i]; i++)
        if (strcmp (option->choices[i], value) == 0)
          {
            *(guint *)field = i;
            return TRUE;
          }
      g_autofree char *what = g_strdup_printf ("value of option \"%s\":", option->name);
      return fail_unknown (error, metric->text, what, value, option->choices);
    }

  double number;
  if (!plait_parse_double (value, &number) || number < option->minimum || number > option->maximum)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "metric \"%s\": option \"%s\" is \"%s\", but must be a number from %g to %g", metric->text,
                       option->name, value, option->minimum, option->maximum);
  if (option->type == PLAIT_METRIC_NUMBER)
    *(double *)field = number;
  else if (number == floor (number))
    *(guint *)field = (guint)number;
  else
    return plait_fail (error, PLAIT_ERROR_INPUT, "metric \"%s\": \"%s\" must be a whole number; write %s=%d",
                       metric->text, option->name, option->name, (int)number);
  return TRUE;
}

/* Returns the option called @name, or NULL. Adds the names of the options before it, or of all options if no option
 * has this name, to @known. */
static const PlaitMetricOption *
find_option (const PlaitMetricOption *options, const char *name, GPtrArray *known)
{
  for (; options && options->name; options++)
    {
      if (strcmp (options->name, name) == 0)
        return options;
      g_ptr_array_add (known, (gpointer)options->name);
    }
  return NULL;
}

static gboolean
set_options (PlaitMetric *metric, const char *text, GError **error)
{
  if (!*text)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "metric \"%s\": there is no option after the colon; leave the colon out", metric->text);
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  for (guint i = 0; parts[i]; i++)
    {
      char *value = strchr (parts[i], '=');
      if (value)
        *value++ = '\0';
      g_autoptr (GPtrArray) known = g_ptr_array_new_null_terminated (8, NULL, TRUE);
      const PlaitMetricOption *option = find_option (metric->kind->options, parts[i], known);
      if (!option)
        option = find_option (common_options, parts[i], known);
      if (!option)
        return fail_unknown (error, metric->text, "option", parts[i], (const char *const *)known->pdata);
      for (guint k = 0; k < i; k++)
        if (strcmp (parts[k], parts[i]) == 0)
          return plait_fail (error, PLAIT_ERROR_INPUT, "metric \"%s\": option \"%s\" is given twice; keep one",
                             metric->text, parts[i]);
      if (!set_option (metric, option, value, error))
        return FALSE;
    }
  return TRUE;
}

PlaitMetric *
plait_metric_new_default (const PlaitMetricKind *kind, const char *text)
{
  PlaitMetric *metric = g_malloc0 (kind->size);
  metric->kind = kind;
  metric->text = g_strdup (text);
  metric->title = g_strdup (kind->title);
  metric->width = kind->width;
  metric->max_bytes = kind->max_bytes > 0 ? kind->max_bytes : PLAIT_TEXT_LIMIT;
  if (kind->begin)
    kind->begin (metric);
  return metric;
}

PlaitMetric *
plait_metric_new (const char *text, GError **error)
{
  const char *colon = strchr (text, ':');
  g_autofree char *name = colon ? g_strndup (text, (gsize)(colon - text)) : g_strdup (text);
  const PlaitMetricKind *kind = find_kind (name);
  if (!kind)
    {
      g_autofree const char **names = plait_metric_names ();
      fail_unknown (error, text, "name", name, names);
      return NULL;
    }

  g_autoptr (PlaitMetric) metric = plait_metric_new_default (kind, text);
  if ((colon && !set_options (metric, colon + 1, error)) || (kind->finish && !kind->finish (metric, error)))
    return NULL;
  if (metric->unit == PLAIT_UNIT_DOCUMENT && !kind->reads_lines)
    {
      g_autofree char *title = g_steal_pointer (&metric->title);
      metric->title = g_strconcat ("d-", title, NULL);
    }
  return g_steal_pointer (&metric);
}

static gboolean
is_metric (const char *text, gconstpointer data)
{
  g_autofree char *name = g_strndup (text, strcspn (text, ":"));

  (void)data;
  return find_kind (name) != NULL;
}

/* Returns @text with ';' between metrics, "bleu:lowercase;chrf" for "bleu:lowercase,chrf". Returns NULL if @text is not
 * a list of metrics separated by ','. (transfer full) */
static char *
separate_metrics (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  g_autoptr (GString) separated = g_string_new (parts[0]);

  for (guint i = 1; parts[0] && parts[i]; i++)
    g_string_append_printf (separated, "%c%s", is_metric (parts[i], NULL) ? ';' : ',', parts[i]);
  return parts[0] && is_metric (parts[0], NULL) && strchr (separated->str, ';') ? g_strdup (separated->str) : NULL;
}

/* Returns a corrected list if the separators of @text are wrong, else NULL. @before is the previous metric, or NULL. If
 * @text is an option of @before, returns the text of @before with this option. (transfer full) */
static char *
mend_separators (const char *text, const PlaitMetric *before)
{
  g_autofree char *option = g_strndup (text, strcspn (text, "="));
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  char *mended = separate_metrics (text);

  if (!mended)
    mended = plait_separators_mend (text, ";", is_metric, NULL);
  if (!mended && before
      && (find_option (before->kind->options, option, known) || find_option (common_options, option, known)))
    mended = g_strdup_printf ("%s%c%s", before->text, strchr (before->text, ':') ? ',' : ':', text);
  return mended;
}

GPtrArray *
plait_metric_new_list (const char *text, GError **error)
{
  g_autoptr (GPtrArray) metrics = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_metric_free);
  g_auto (GStrv) parts = g_strsplit_set (text, "; \t\n", -1);
  for (guint i = 0; parts[i]; i++)
    {
      if (!*parts[i])
        continue;
      g_autofree char *mended
          = mend_separators (parts[i], metrics->len > 0 ? g_ptr_array_index (metrics, metrics->len - 1) : NULL);
      if (mended)
        return plait_fail_null (
            error, PLAIT_ERROR_INPUT,
            "metrics \"%s\": metrics are separated by ';', options of a metric by ','; did you mean \"%s\"?", text,
            mended);
      PlaitMetric *metric = plait_metric_new (parts[i], error);
      if (!metric)
        return NULL;
      g_ptr_array_add (metrics, metric);
      for (guint j = 0; j + 1 < metrics->len; j++)
        if (strcmp (plait_metric_text (g_ptr_array_index (metrics, j)), metric->text) == 0)
          return plait_fail_null (error, PLAIT_ERROR_INPUT, "metrics \"%s\": \"%s\" is given twice; keep one", text,
                                  metric->text);
    }
  if (metrics->len == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "the list of metrics \"%s\" is empty; name at least one metric, such as \"bleu; chrf\"",
                            text);
  return g_steal_pointer (&metrics);
}

const char *
plait_metric_summary (const char *name)
{
  return name ? find_kind (name)->summary : "Options of all metrics";
}

gboolean
plait_metric_option (const char *name, guint index, GStringChunk *texts, PlaitMetricOptionText *option)
{
  const PlaitMetricKind *kind = name ? find_kind (name) : kinds[0];
  g_autoptr (PlaitMetric) metric = plait_metric_new_default (kind, kind->name);
  const PlaitMetricOption *found = name ? kind->options : common_options;
  char minimum[PLAIT_NUMBER_LENGTH], maximum[PLAIT_NUMBER_LENGTH], value[PLAIT_NUMBER_LENGTH];
  gconstpointer field;
  double number;

  for (guint i = 0; found && found->name && i < index; i++)
    found++;
  if (!found || !found->name)
    return FALSE;
  *option = (PlaitMetricOptionText){ .name = found->name, .type = found->type, .summary = found->summary };
  field = G_STRUCT_MEMBER_P (metric, found->offset);
  if (found->type == PLAIT_METRIC_SWITCH)
    option->standard = "false";
  if (found->type == PLAIT_METRIC_CHOICE)
    {
      g_autofree char *choices = g_strjoinv (";", (char **)found->choices);

      option->choices = g_string_chunk_insert (texts, choices);
      option->standard = found->choices[*(const guint *)field];
    }
  if (found->type != PLAIT_METRIC_NUMBER && found->type != PLAIT_METRIC_INTEGER)
    return TRUE;
  number = found->type == PLAIT_METRIC_NUMBER ? *(const double *)field : *(const guint *)field;
  option->minimum = g_string_chunk_insert (texts, plait_format_double (minimum, found->minimum));
  option->maximum = g_string_chunk_insert (texts, plait_format_double (maximum, found->maximum));
  if (number >= found->minimum)
    option->standard = g_string_chunk_insert (texts, plait_format_double (value, number));
  return TRUE;
}

void
plait_metric_free (PlaitMetric *metric)
{
  if (!metric)
    return;
  for (const PlaitMetricOption *option = metric->kind->options; option && option->name; option++)
    if (option->type == PLAIT_METRIC_TEXT)
      g_free (G_STRUCT_MEMBER (char *, metric, option->offset));
  g_free (metric->text);
  g_free (metric->title);
  g_free (metric);
}

const char *
plait_metric_text (const PlaitMetric *metric)
{
  return metric->text;
}

const char *
plait_metric_model (const PlaitMetric *metric)
{
  for (const PlaitMetricOption *option = metric->kind->options; option && option->name; option++)
    if (option->type == PLAIT_METRIC_TEXT)
      return G_STRUCT_MEMBER (char *, metric, option->offset);
  return NULL;
}

const char *
plait_metric_title (const PlaitMetric *metric)
{
  return metric->title;
}

PlaitMetric *
plait_metric_new_as (const char *kind, const char *text, const char *title)
{
  PlaitMetric *metric = plait_metric_new (kind, NULL);

  g_free (metric->text);
  g_free (metric->title);
  metric->text = g_strdup (text);
  metric->title = g_strdup (title);
  return metric;
}

gboolean
plait_metric_is_of_documents (const PlaitMetric *metric)
{
  return metric->unit == PLAIT_UNIT_DOCUMENT;
}

gboolean
plait_metric_larger_is_better (const PlaitMetric *metric)
{
  return metric->kind->larger_is_better;
}

PlaitStatistics *
plait_statistics_new (gsize sentences, guint width)
{
  PlaitStatistics *statistics = g_new0 (PlaitStatistics, 1);
  statistics->sentences = sentences;
  statistics->width = width;
  statistics->values = g_new0 (double, sentences *width);
  return statistics;
}

void
plait_statistics_free (PlaitStatistics *statistics)
{
  if (!statistics)
    return;
  g_free (statistics->values);
  g_free (statistics->lines);
  g_free (statistics);
}

void
plait_statistics_sum (const PlaitStatistics *statistics, double *sums)
{
  memset (sums, 0, statistics->width * sizeof (double));
  const double *row = statistics->values;
  for (gsize i = 0; i < statistics->sentences; i++, row += statistics->width)
    for (guint k = 0; k < statistics->width; k++)
      sums[k] += row[k];
}

static guint
count_references (const PlaitTextPairs *pairs, gsize sentence)
{
  guint count = 0;
  for (guint k = 0; k < pairs->reference_sets; k++)
    count += pairs->references[k][sentence] != NULL;
  return count;
}

static gboolean
check_text (const PlaitMetric *metric, PlaitUnit unit, const char *text, const char *what, gsize sentence,
            GError **error)
{
  gsize length = strlen (text);
  if (length > metric->max_bytes)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the %s of %s %zu has %zu bytes, more than the limit of %zu bytes of %s; split the text, leave "
                       "that metric out, or give line-aligned text instead of documents",
                       what, unit_names[unit], sentence + 1, length, metric->max_bytes, metric->title);
  if (!g_utf8_validate (text, (gssize)length, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT, "the %s of %s %zu is not valid UTF-8; convert the file to UTF-8", what,
                       unit_names[unit], sentence + 1);
  return TRUE;
}

/* TRUE if each of @pairs has a reference and all texts are valid for the metric; else sets *@failed_at to the index of
 * the invalid pair. @unit is for messages. */
static gboolean
check_pairs (const PlaitMetric *metric, PlaitUnit unit, const PlaitTextPairs *pairs, gsize *failed_at, GError **error)
{
  for (gsize i = 0; i < pairs->sentences; i++)
    {
      *failed_at = i;
      if (count_references (pairs, i) == 0)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s %zu has no reference; give a reference, which can be empty",
                           unit_names[unit], i + 1);
      for (guint k = 0; k < pairs->reference_sets; k++)
        if (pairs->references[k][i] && !check_text (metric, unit, pairs->references[k][i], "reference", i, error))
          return FALSE;
      if (!check_text (metric, unit, pairs->hypotheses[i], "hypothesis", i, error))
        return FALSE;
    }
  return TRUE;
}

static void
fill_rows (const PlaitMetric *metric, const PlaitTextPairs *pairs, PlaitStatistics *statistics)
{
  g_autoptr (PlaitNgrams) words = plait_ngrams_new ();
  g_autoptr (PlaitNgrams) characters = plait_ngrams_new ();
  g_autofree const char **texts = g_new (const char *, 1 + pairs->reference_sets);
  PlaitSentence sentence = { .texts = texts, .words = words, .characters = characters };
  for (gsize i = 0; i < pairs->sentences; i++)
    {
      texts[0] = pairs->hypotheses[i];
      sentence.count = 0;
      for (guint k = 0; k < pairs->reference_sets; k++)
        if (pairs->references[k][i])
          texts[++sentence.count] = pairs->references[k][i];
      plait_ngrams_clear (words);
      plait_ngrams_clear (characters);
      metric->kind->row (metric, &sentence, statistics->values + i * metric->width);
    }
}

static PlaitStatistics *
rows_of (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  PlaitStatistics *statistics = metric->kind->rows ? metric->kind->rows (metric, pairs, error)
                                                   : plait_statistics_new (pairs->sentences, metric->width);
  if (!statistics)
    return NULL;
  if (metric->kind->row)
    fill_rows (metric, pairs, statistics);
  statistics->references = (gint)count_references (pairs, 0);
  for (gsize i = 1; i < pairs->sentences; i++)
    if ((gint)count_references (pairs, i) != statistics->references)
      statistics->references = -1;
  return statistics;
}

/* Checks @pairs. If the metric scores documents, or the texts of @pairs are documents, joins the sentences of each
 * document and stores the result in *@documents. */
static gboolean
prepare (const PlaitMetric *metric, const PlaitTextPairs *pairs, PlaitDocumentPairs **documents, gsize *failed_at,
         GError **error)
{
  char separator = metric->unit == PLAIT_UNIT_DOCUMENT && metric->kind->reads_lines ? '\n' : ' ';

  *failed_at = pairs->sentences;
  if (pairs->sentences == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there are no sentences to score with %s; give at least one",
                       metric->title);
  if (!check_pairs (metric, PLAIT_UNIT_SENTENCE, pairs, failed_at, error))
    return FALSE;
  *failed_at = pairs->sentences;
  if (metric->unit == PLAIT_UNIT_SENTENCE && !pairs->documents)
    return TRUE;
  *documents = plait_document_pairs_new (pairs, separator, error);
  return *documents && check_pairs (metric, PLAIT_UNIT_DOCUMENT, &(*documents)->pairs, failed_at, error);
}

PlaitStatistics *
plait_metric_statistics (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  g_autoptr (PlaitDocumentPairs) documents = NULL;
  PlaitStatistics *statistics;
  gsize failed_at;

  g_assert (metric->kind->row || metric->kind->rows);
  if (!prepare (metric, pairs, &documents, &failed_at, error))
    return NULL;
  statistics = rows_of (metric, documents ? &documents->pairs : pairs, error);
  if (statistics && documents)
    statistics->lines = g_steal_pointer (&documents->lines);
  return statistics;
}

gboolean
plait_metric_check_references (const PlaitMetric *metric, const PlaitTextPairs *pairs, gsize *failed_at, GError **error)
{
  g_autoptr (PlaitDocumentPairs) documents = NULL;
  g_autoptr (PlaitStatistics) statistics = NULL;
  PlaitTextPairs own = *pairs;

  own.hypotheses = pairs->references[0];
  if (!prepare (metric, &own, &documents, failed_at, error))
    return FALSE;
  *failed_at = pairs->sentences;
  if (metric->kind->rows)
    statistics = metric->kind->rows (metric, documents ? &documents->pairs : &own, error);
  return !metric->kind->rows || statistics;
}

gsize
plait_metric_count_wordless (const PlaitMetric *metric, const PlaitTextPairs *pairs, gsize *references)
{
  gsize count = 0;

  *references = 0;
  for (guint k = 0; metric->kind->has_words && k < pairs->reference_sets; k++)
    for (gsize i = 0; i < pairs->sentences; i++)
      {
        const char *text = pairs->references[k][i];

        *references += text != NULL;
        count += text && plait_text_count_words (text) > 0 && !metric->kind->has_words (metric, text);
      }
  return count;
}

double
plait_metric_score (const PlaitMetric *metric, const double *sums)
{
  return metric->kind->score (metric, sums);
}

double
plait_metric_mean (const PlaitMetric *metric, const double *sums)
{
  return sums[1] > 0 ? 100 * sums[0] / sums[1] : 0;
}

char *
plait_metric_detail (const PlaitMetric *metric, const double *sums)
{
  return metric->kind->detail ? metric->kind->detail (metric, sums) : NULL;
}

char *
plait_metric_signature (const PlaitMetric *metric, gint references, guint resamples, guint64 seed)
{
  GString *signature = g_string_new (NULL);
  if (references > 0)
    g_string_append_printf (signature, "nrefs:%d|", references);
  else if (references < 0)
    g_string_append (signature, "nrefs:var|");
  if (resamples > 0)
    g_string_append_printf (signature, "bs:%u|seed:%ju|", resamples, seed);
  if (metric->unit == PLAIT_UNIT_DOCUMENT)
    g_string_append (signature, "unit:document|");
  metric->kind->append_signature (metric, signature);
  g_string_append (signature, "version:" VERSION_TOKEN);
  return g_string_free (signature, FALSE);
}
