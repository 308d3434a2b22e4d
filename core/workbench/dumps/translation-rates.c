/* SPDX-License-Identifier: MIT */
#include "dumps/translation-rates.h"

#include <string.h>

#include "significance/report.h"
#include "metrics/translation-rate.h"
#include "cross-attention/token-attention.h"
#include "tables/table.h"

#define MAX_ROWS 10000000

/* A source and the memory of its words. */
typedef struct
{
  const char *name;
  guint source;
  guint memory;
  PlaitStatistics *statistics;
} Source;

struct PlaitTranslationRates
{
  const PlaitExperiment *experiment;
  const PlaitCorpus *corpus; /* corpus whose rates are computed; must exist until the last sentence is taken */
  const char *of;
  guint n;
  Source *sources; /* [n] */
};

PlaitTranslationRates *
plait_translation_rates_new (const PlaitExperimentModel *experiment_model, const char *of, const PlaitCorpus *corpus)
{
  PlaitTranslationRates *rates = g_new0 (PlaitTranslationRates, 1);
  const PlaitExperiment *experiment = experiment_model->experiment;
  guint n_memories;
  const PlaitMemorySpecification *memories = plait_model_memories (experiment_model->model, &n_memories);

  rates->experiment = experiment;
  rates->corpus = corpus;
  rates->of = of;
  rates->sources = g_new0 (Source, experiment->n_sources + 1);
  for (guint m = 0; m < n_memories; m++)
    for (guint s = 0; s < experiment->n_sources; s++)
      if (plait_input_kind_is_text (experiment->sources[s].kind)
          && g_str_equal (experiment->sources[s].name, memories[m].name))
        rates->sources[rates->n++] = (Source){
          .name = experiment->sources[s].name,
          .source = s,
          .memory = m,
          .statistics = plait_statistics_new ((gsize)plait_corpus_lines (corpus), PLAIT_TRANSLATION_RATE_WIDTH),
        };
  return rates;
}

void
plait_translation_rates_free (PlaitTranslationRates *rates)
{
  if (!rates)
    return;
  for (guint i = 0; i < rates->n; i++)
    plait_statistics_free (rates->sources[i].statistics);
  g_free (rates->sources);
  g_free (rates);
}

/* TRUE except for padding, start and end tokens; the unknown token counts as a word. */
static gboolean
is_word (gint32 token)
{
  return token >= PLAIT_TOKEN_UNKNOWN;
}

static void
count (const PlaitTranslationRates *rates, const Source *source, const PlaitInput *input, gint64 sentence,
       const double *sums, double *row)
{
  const PlaitEvaluateSettings *settings = &rates->experiment->evaluate;
  const gint32 *tokens = input->tokens + input->rows.offsets[sentence];

  for (gint64 i = 0; i < plait_ragged_length (input->rows, sentence); i++)
    {
      row[PLAIT_OVER_TRANSLATION] += is_word (tokens[i]) && sums[i] > settings->translation_rate_over;
      row[PLAIT_UNDER_TRANSLATION] += is_word (tokens[i]) && sums[i] < settings->translation_rate_under;
      row[PLAIT_TRANSLATION_RATE_WIDTH - 1] += is_word (tokens[i]);
    }
}

gboolean
plait_translation_rates_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                              const PlaitAttentionRecord *attention, gpointer data, GError **error)
{
  const PlaitTranslationRates *rates = data;
  gint64 targets = plait_ragged_rows (attention->queries) - (best->ended ? 1 : 0);
  gint64 line = plait_corpus_line (rates->corpus, batch->sentence[sentence]);
  gboolean last = rates->experiment->evaluate.translation_rate_layers == PLAIT_EVALUATE_TRANSLATION_RATE_LAYERS_LAST;
  PlaitAttentionSelection selection = { last ? PLAIT_ATTENTION_LAST : PLAIT_ATTENTION_MEAN, PLAIT_ATTENTION_MEAN };

  for (guint i = 0; i < rates->n; i++)
    {
      const Source *source = &rates->sources[i];
      const PlaitInput *input = &batch->inputs[source->source];
      gint64 tokens = plait_ragged_length (input->rows, sentence);
      g_autofree double *sums = g_new0 (double, tokens + 1);

      if (plait_attention_token_sums (attention, source->memory, tokens, 0, targets, selection, sums))
        count (rates, source, input, sentence, sums, source->statistics->values + line * PLAIT_TRANSLATION_RATE_WIDTH);
    }
  return TRUE;
}

/* Returns the metric, with a title for tables such as "over-translated en" or "over-translated en (forced)". */
static PlaitMetric *
new_metric (const PlaitTranslationRates *rates, const Source *source, PlaitTranslationFault fault)
{
  const PlaitEvaluateSettings *settings = &rates->experiment->evaluate;
  gboolean over = fault == PLAIT_OVER_TRANSLATION;
  g_autofree char *title = g_strdup_printf ("%s-translated %s%s", over ? "over" : "under", source->name,
                                            g_str_equal (rates->of, "forced") ? " (forced)" : "");

  return plait_metric_new_translation_rate (
      fault, over ? settings->translation_rate_over : settings->translation_rate_under, rates->of, source->name,
      plait_experiment_value (rates->experiment, "evaluate", "translation_rate_layers"), title);
}

gboolean
plait_translation_rates_add_results (const PlaitTranslationRates *rates, PlaitLog *log, GPtrArray *results,
                                     GError **error)
{
  const PlaitEvaluateSettings *settings = &rates->experiment->evaluate;

  for (guint i = 0; i < rates->n; i++)
    {
      const Source *source = &rates->sources[i];
      double sums[PLAIT_TRANSLATION_RATE_WIDTH];

      plait_statistics_sum (source->statistics, sums);
      if (sums[PLAIT_TRANSLATION_RATE_WIDTH - 1] == 0)
        plait_log_warning (
            log,
            "there are no rates of over- and under-translation of %s, because no attention reads a word of this source",
            source->name);
      for (guint f = PLAIT_OVER_TRANSLATION; f <= PLAIT_UNDER_TRANSLATION && sums[PLAIT_TRANSLATION_RATE_WIDTH - 1] > 0;
           f++)
        {
          g_autoptr (PlaitMetric) metric = new_metric (rates, source, (PlaitTranslationFault)f);
          PlaitResult *result = plait_result_new (metric, source->statistics, (guint)settings->resamples,
                                                  (guint64)settings->seed, error);

          if (!result)
            return FALSE;
          g_ptr_array_add (results, result);
        }
    }
  return TRUE;
}

/* Columns of the table, in the order of the metric's statistics. */
static const char *const names[PLAIT_TRANSLATION_RATE_WIDTH] = { "over", "under", "words" };

static gboolean
write_source (const Source *source, PlaitStore *store, const char *path, GError **error)
{
  g_autoptr (PlaitTable) table = plait_table_new ();

  for (guint c = 0; c < PLAIT_TRANSLATION_RATE_WIDTH; c++)
    plait_table_column (table, PLAIT_TABLE_COUNTS, names[c]);
  for (gsize i = 0; i < source->statistics->sentences * PLAIT_TRANSLATION_RATE_WIDTH; i++)
    plait_table_integer (table, PLAIT_TABLE_PLAIN, (gint64)source->statistics->values[i]);
  return plait_store_write_table (store, path, table, error);
}

gboolean
plait_translation_rates_write (const PlaitTranslationRates *rates, PlaitStore *store, const char *path, GError **error)
{
  for (guint i = 0; i < rates->n; i++)
    {
      g_autofree char *below = g_strdup_printf ("%s/%s/%s", path, rates->of, rates->sources[i].name);

      if (!write_source (&rates->sources[i], store, below, error))
        return FALSE;
    }
  return TRUE;
}

static PlaitStatistics *
read_source (PlaitStore *store, const char *path, GError **error)
{
  PlaitStoreField fields[PLAIT_TRANSLATION_RATE_WIDTH];
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (double[PLAIT_TRANSLATION_RATE_WIDTH]));
  PlaitStatistics *statistics;

  for (guint c = 0; c < PLAIT_TRANSLATION_RATE_WIDTH; c++)
    fields[c] = (PlaitStoreField){ names[c], PLAIT_STORE_DOUBLE, c * sizeof (double), NULL };
  if (!plait_store_read_table (store, path, fields, PLAIT_TRANSLATION_RATE_WIDTH, MAX_ROWS, rows, error))
    return NULL;
  statistics = plait_statistics_new (rows->len, PLAIT_TRANSLATION_RATE_WIDTH);
  if (rows->len > 0)
    memcpy (statistics->values, rows->data, rows->len * g_array_get_element_size (rows));
  return statistics;
}

PlaitStatistics *
plait_translation_rates_read (PlaitStore *store, const char *path, const char *metric, const char *title,
                              PlaitMetric **scorer, GError **error)
{
  g_autofree char *of = NULL;
  g_autofree char *source = NULL;
  g_autofree char *below = NULL;
  PlaitStatistics *statistics;

  *scorer = plait_metric_read_translation_rate (metric, title, &of, &source);
  if (!*scorer)
    return NULL;
  below = g_strdup_printf ("%s/%s/%s", path, of, source);
  statistics = read_source (store, below, error);
  if (!statistics)
    g_clear_pointer (scorer, plait_metric_free);
  return statistics;
}
