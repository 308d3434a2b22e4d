/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

/* This file checks the data of experiments that do not predict a sequence. */

static void
check_labels (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *target = experiment->data.target;
  g_autofree char *key = g_strconcat (PLAIT_VOCABULARY_PREFIX, target, NULL);

  if (plait_experiment_is_documents (experiment, target))
    plait_resolution_problem (resolution, "data", "target",
                              "the stream %s has documents, but with this [predict] kind each line is an answer; leave "
                              "it out of documents and documents_by_line",
                              target);
  if (experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SEPARATE
      && plait_experiment_vocabulary_file (experiment, target))
    plait_resolution_problem (resolution, "data", key,
                              "names a vocabulary, but %s uses none: its lines are labels, learnt from training text, "
                              "or numbers; drop the line",
                              target);
}

/* Checks that the first source is text, because its tokens are predicted or get predictions. */
static void
check_first_source (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *source = &experiment->sources[0];

  if (!plait_input_kind_is_text (source->kind))
    plait_resolution_problem (resolution, source->encoder->group, "encoder",
                              "the encoder %s reads %s, but this [predict] kind needs tokens of the first source, %s; "
                              "choose an encoder of tokens or documents, or put another source first in "
                              "experiment.sources",
                              source->encoder->plugin->name, plait_input_kind_name (source->kind), source->name);
}

/* Checks the data of [predict] kind=tags, which predicts a tag for each token of the first source. */
static void
check_tags (const PlaitResolution *resolution)
{
  check_labels (resolution);
  check_first_source (resolution);
  if (resolution->experiment->public.data.document_length > 0)
    plait_resolution_problem (resolution, "data", "document_length",
                              "limits the length of documents, so tokens with tags might be cut off; drop the key");
}

/* Checks [predict] kind=choice, which needs one source of documents and an encoder that reads each sentence alone. */
static void
check_choice (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *source = &experiment->sources[0];
  const char *group = source->encoder->group;

  check_labels (resolution);
  if (experiment->n_sources > 1)
    plait_resolution_problem (resolution, "predict", "kind",
                              "[predict] kind=choice chooses among the sentences of one source, but there are %u; "
                              "choose one with experiment.sources",
                              experiment->n_sources);
  if (!plait_experiment_is_documents (experiment, source->stream))
    plait_resolution_problem (
        resolution, group, NULL,
        "[predict] kind=choice chooses among the sentences of a document, but the stream %s has no documents; name it "
        "in data.documents, with a blank line after each document",
        source->stream);
  if (source->kind != PLAIT_INPUT_TOKENS)
    plait_resolution_problem (
        resolution, group, "encoder",
        "the encoder %s reads %s, but kind=choice encodes each sentence alone; choose an encoder of tokens",
        source->encoder->plugin->name, plait_input_kind_name (source->kind));
  if (experiment->data.document_length > 0)
    plait_resolution_problem (resolution, "data", "document_length",
                              "limits the length of documents, so the correct sentence might be cut off; drop the key");
}

/* Checks [predict] kind=span, whose first source must have documents that begin with a start token. */
static void
check_span (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *source = &experiment->sources[0];
  PlaitDocumentSettings documents = plait_experiment_documents (experiment, source->stream);

  check_labels (resolution);
  check_first_source (resolution);
  if (documents.layout == PLAIT_LAYOUT_SENTENCES || !documents.start_tokens)
    plait_resolution_problem (resolution, source->encoder->group, NULL,
                              "[predict] kind=span marks a question without an answer by a span on the first start "
                              "token, but the stream %s has no documents with start tokens; name the stream in "
                              "data.documents, and set data.document_starts=all or sources",
                              source->stream);
  if (experiment->data.document_length > 0)
    plait_resolution_problem (resolution, "data", "document_length",
                              "limits the length of documents, so answers might be cut off; drop the key");
}

/* Checks [predict] kind=masked: the first source reads the target, and only the first source reads its factors. */
static void
check_masked (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitPredictSettings *predict = &experiment->predict;
  const PlaitExperimentSource *source = &experiment->sources[0];

  check_first_source (resolution);
  if (!g_str_equal (source->stream, experiment->data.target))
    plait_resolution_problem (resolution, "data", "target",
                              "is %s, but [predict] kind=masked predicts tokens of the first source; set target=%s, or "
                              "put the source of %s first in experiment.sources",
                              experiment->data.target, source->stream, experiment->data.target);
  for (guint f = 0; f < source->n_factors; f++)
    for (guint i = 1; i < experiment->n_sources; i++)
      if (g_str_equal (experiment->sources[i].stream, source->factors[f]))
        plait_resolution_problem (resolution, experiment->sources[i].encoder->group, NULL,
                                  "reads the stream %s, a factor of the masked source %s: the model would see what the "
                                  "mask hides; drop this source, or the factor",
                                  source->factors[f], source->name);
  if (predict->mask_share + predict->random_share > 1)
    plait_resolution_problem (resolution, "predict", "random_share",
                              "%g plus mask_share=%g is above 1; lower one of them", predict->random_share,
                              predict->mask_share);
}

void
plait_resolution_check_prediction (const PlaitResolution *resolution)
{
  static void (*const checks[]) (const PlaitResolution *resolution) = {
    [PLAIT_PREDICT_SEQUENCE] = NULL,       [PLAIT_PREDICT_CLASS] = check_labels, [PLAIT_PREDICT_TAGS] = check_tags,
    [PLAIT_PREDICT_CHOICE] = check_choice, [PLAIT_PREDICT_SPAN] = check_span,    [PLAIT_PREDICT_MASKED] = check_masked,
    [PLAIT_PREDICT_NUMBER] = check_labels,
  };
  gint kind = resolution->experiment->public.predict.kind;

  if (checks[kind])
    checks[kind](resolution);
}
