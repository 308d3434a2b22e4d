/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

/* What a run asks of the data that predicts no sequence. */

static void
check_labels (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const GArray *files = resolution->experiment->data->vocabulary_files;
  const char *target = experiment->data.target;

  if (plait_experiment_documents (experiment, target).layout != PLAIT_LAYOUT_SENTENCES)
    plait_resolution_problem (resolution, "data", "target",
                              "the stream %s is documents, but [predict] kind=class has a label a line there; leave it "
                              "out of documents and documents_by_line",
                              target);
  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);

      if (experiment->data.vocabulary == PLAIT_VOCABULARY_SEPARATE && g_str_equal (file->stream, target))
        plait_resolution_problem (resolution, "data", file->key,
                                  "names a vocabulary, but the labels of %s are learnt from training; drop the line",
                                  target);
    }
}

/* The target is the one source itself. */
static void
check_masked (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitPredictSettings *predict = &experiment->predict;
  g_autofree char *group = g_strconcat (PLAIT_SOURCE_PREFIX, experiment->sources[0].name, NULL);

  if (experiment->n_sources > 1)
    plait_resolution_problem (resolution, "predict", "kind",
                              "masked tokens are those of one source, but there are %u; choose one with "
                              "experiment.sources",
                              experiment->n_sources);
  else if (!g_str_equal (experiment->sources[0].stream, experiment->data.target))
    plait_resolution_problem (resolution, "data", "target",
                              "is %s, but with [predict] kind=masked the source's own tokens are predicted; set "
                              "target=%s",
                              experiment->data.target, experiment->sources[0].stream);
  if (!plait_input_kind_is_text (experiment->sources[0].kind))
    plait_resolution_problem (resolution, group, "encoder",
                              "reads no tokens that could be masked; choose an encoder of tokens or documents");
  if (predict->mask_share + predict->random_share > 1)
    plait_resolution_problem (resolution, "predict", "random_share",
                              "%g and mask_share=%g are more than all masked tokens together; lower one of them",
                              predict->random_share, predict->mask_share);
}

void
plait_resolution_check_prediction (const PlaitResolution *resolution)
{
  switch (resolution->experiment->public.predict.kind)
    {
    case PLAIT_PREDICT_CLASS:
      check_labels (resolution);
      break;
    case PLAIT_PREDICT_MASKED:
      check_masked (resolution);
      break;
    default:
      break;
    }
}
