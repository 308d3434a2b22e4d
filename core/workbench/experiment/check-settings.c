/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include "cross-attention/token-attention.h"
#include "significance/length-bins.h"

/* This file checks that the settings of [decoder], [train], [evaluate] and [bench] fit together. */

void
plait_resolution_check_decoder (const PlaitResolution *resolution)
{
  const PlaitDecoderSettings *decoder = &resolution->experiment->public.decoder;
  const PlaitComponent *component = resolution->experiment->public.decoder_component;

  if (!plait_experiment_has_decoder (&resolution->experiment->public) || !component)
    return;
  if (component->schema->scores == PLAIT_SCORES_HEADS && decoder->width % decoder->heads != 0)
    plait_resolution_problem (resolution, "decoder", "heads",
                              "%jd heads do not divide the width %jd; choose heads and width so that they do",
                              decoder->heads, decoder->width);
}

/* Adds a problem if train.metric or train.patience is set, but [data] names no validation text. */
static void
check_validation (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitTrainSettings *train = &experiment->train;
  const char *key = *train->metric != '\0' ? "metric" : train->patience > 0 ? "patience" : NULL;
  g_autofree char *file = g_strconcat ("validation.", experiment->data.target, NULL);

  if (key && *experiment->data.target != '\0' && !experiment->task
      && !plait_key_file_value (resolution->file, "data", file))
    plait_resolution_problem (
        resolution, "train", key,
        "needs validation text, but [data] names no such text; add %s=FILE and files for the sources, or drop the key",
        file);
}

static void
check_unit (const PlaitResolution *resolution, const char *group, const char *key, const PlaitMetric *metric)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *target = experiment->data.target;

  if (plait_metric_is_of_documents (metric) && *target != '\0' && !plait_experiment_is_documents (experiment, target))
    plait_resolution_problem (resolution, group, key,
                              "%s scores documents, but the target %s has sentences; leave unit=document out, or name "
                              "the target in data.documents or data.documents_by_line",
                              plait_metric_text (metric), target);
  if (plait_metric_model (metric) && !g_path_is_absolute (plait_metric_model (metric)))
    plait_resolution_problem (resolution, group, key,
                              "%s: a run is read from any folder, so the path of a model must be absolute; write "
                              "model=/...",
                              plait_metric_text (metric));
}

static void
check_schedule (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitTrainSettings *train = &experiment->train;
  g_autofree char *file = g_strconcat ("validation.", experiment->data.target, NULL);
  g_autoptr (GError) fault = NULL;

  if (train->schedule == PLAIT_TRAIN_SCHEDULE_STEPS && !plait_rates_check (train->rates, &fault))
    plait_resolution_problem (resolution, "train", "rates", "%s", fault->message);
  if (train->schedule != PLAIT_TRAIN_SCHEDULE_STEPS && *train->rates != '\0')
    plait_resolution_problem (resolution, "train", "rates",
                              "gives rates for schedule=steps; set schedule=steps, or drop the key");
  if (train->schedule == PLAIT_TRAIN_SCHEDULE_PLATEAU && !experiment->task
      && !plait_key_file_value (resolution->file, "data", file))
    plait_resolution_problem (resolution, "train", "schedule",
                              "plateau needs validation text, but [data] names no such text; add %s=FILE and files for "
                              "the sources, or choose another schedule",
                              file);
}

void
plait_resolution_check_train (const PlaitResolution *resolution)
{
  const PlaitTrainSettings *train = &resolution->experiment->public.train;
  PlaitAttentionSelection selection;
  g_autoptr (GError) fault = NULL;

  check_validation (resolution);
  if (!plait_attention_selection_parse (train->alignment_attention, "the value", &selection, &fault))
    plait_resolution_problem (resolution, "train", "alignment_attention", "%s", fault->message);
  else if (selection.layer == PLAIT_ATTENTION_MEAN)
    plait_resolution_problem (resolution, "train", "alignment_attention",
                              "the mean of all layers does not learn alignments; name a layer, such as last");
  g_clear_error (&fault);
  if (*train->metric != '\0' && resolution->experiment->public.predict.kind == PLAIT_PREDICT_MASKED)
    plait_resolution_problem (resolution, "train", "metric",
                              "[predict] kind=masked makes no text that a metric could score during training; drop the "
                              "key, since loss, perplexity and accuracy of masked tokens are always reported");
  if (train->epochs == 0 && train->updates == 0)
    plait_resolution_problem (resolution, "train", "epochs",
                              "epochs=0 and updates=0: training would never end; set one of them above 0");
  if (train->source_dropout > 0 && plait_predictions[resolution->experiment->public.predict.kind].of_source)
    plait_resolution_problem (
        resolution, "train", "source_dropout",
        "%g would drop the first source too, but this [predict] kind needs its tokens; set source_dropout=0",
        train->source_dropout);
  else if (train->source_dropout > 0 && resolution->experiment->public.n_sources == 1)
    plait_resolution_problem (
        resolution, "train", "source_dropout",
        "%g would leave out a source, but the only source must be read; drop the key, or add a source",
        train->source_dropout);
  check_schedule (resolution);
  if (train->optimizer == PLAIT_TRAIN_OPTIMIZER_ADADELTA && train->schedule == PLAIT_TRAIN_SCHEDULE_NOAM)
    plait_resolution_problem (
        resolution, "train", "schedule",
        "the learning rates of noam are made for adam; adadelta finds its step sizes itself and would hardly move: "
        "drop the key to keep the rate constant, or set schedule=linear to lower it");
  if (*train->metric != '\0')
    {
      g_autoptr (PlaitMetric) metric = plait_metric_new (train->metric, &fault);
      if (!metric)
        plait_resolution_problem (resolution, "train", "metric", "%s", fault->message);
      else
        check_unit (resolution, "train", "metric", metric);
    }
  else if (train->best_by == PLAIT_TRAIN_BEST_BY_METRIC)
    plait_resolution_problem (resolution, "train", "best_by",
                              "best_by=metric needs a metric; add metric=bleu, or set best_by=loss");
}

static void
check_length_bins (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autoptr (GError) fault = NULL;
  gboolean reads_text = FALSE;

  if (*experiment->evaluate.length_bins == '\0')
    return;
  for (guint i = 0; i < experiment->n_sources; i++)
    reads_text |= plait_input_kind_is_text (experiment->sources[i].kind);
  g_autoptr (PlaitLengthBins) bins = plait_length_bins_new (experiment->evaluate.length_bins, &fault);
  if (!bins)
    plait_resolution_problem (resolution, "evaluate", "length_bins", "%s", fault->message);
  else if (!reads_text)
    plait_resolution_problem (
        resolution, "evaluate", "length_bins",
        "no source is text, so there are no words to count; add a source of text, or drop the key");
}

void
plait_resolution_check_evaluate (const PlaitResolution *resolution)
{
  const PlaitEvaluateSettings *evaluate = &resolution->experiment->public.evaluate;
  PlaitAttentionSelection selection;
  g_autoptr (GError) fault = NULL;
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (evaluate->metrics, &fault);

  if (!metrics)
    plait_resolution_problem (resolution, "evaluate", "metrics", "%s", fault->message);
  for (guint i = 0; metrics && i < metrics->len; i++)
    check_unit (resolution, "evaluate", "metrics", metrics->pdata[i]);
  check_length_bins (resolution);
  g_clear_error (&fault);
  if (!plait_attention_selection_parse (evaluate->alignment_attention, "the value", &selection, &fault))
    plait_resolution_problem (resolution, "evaluate", "alignment_attention", "%s", fault->message);
  if (*evaluate->translation_rates != '\0' && !plait_experiment_has_decoder (&resolution->experiment->public))
    plait_resolution_problem (
        resolution, "evaluate", "translation_rates",
        "needs the attention of a decoder, but with this [predict] there is no decoder; drop the key");
  if (evaluate->translation_rate_under > evaluate->translation_rate_over)
    plait_resolution_problem (resolution, "evaluate", "translation_rate_under",
                              "%g is above translation_rate_over=%g, so a word could count as over- and "
                              "under-translated; lower translation_rate_under",
                              evaluate->translation_rate_under, evaluate->translation_rate_over);
}

void
plait_resolution_check_bench (const PlaitResolution *resolution)
{
  const PlaitBenchSettings *bench = &resolution->experiment->public.bench;

  if (bench->shortest_length > bench->longest_length)
    plait_resolution_problem (resolution, "bench", "shortest_length",
                              "%jd is above longest_length=%jd; lower one or raise the other", bench->shortest_length,
                              bench->longest_length);
}
