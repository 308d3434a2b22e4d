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

void
plait_resolution_check_prediction (const PlaitResolution *resolution)
{
  if (resolution->experiment->public.predict.kind == PLAIT_PREDICT_CLASS)
    check_labels (resolution);
}
