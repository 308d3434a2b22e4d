/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "setup/run-inputs.h"

/* The tuples of training as [data] asks for them: weights of their losses, shares, weights of files, subwords. */

/* Reads the weights of the losses of @corpus, and keeps the tuples of data.share. Logs both. Fails if there are fewer
 * tuples. */
gboolean plait_training_tuples_choose (const PlaitRunInputs *run_inputs, PlaitCorpus *corpus, PlaitLog *log,
                                       GError **error);

/* Makes @corpus draw tuples by data.weights and sample subwords for @model, and logs how. Tuples may not be dropped
 * after this. Fails if a file has no tuple, or if a vocabulary has no other segmentations. */
gboolean plait_training_tuples_vary (const PlaitRunInputs *run_inputs, const PlaitModel *model, PlaitCorpus *corpus,
                                     PlaitLog *log, GError **error);
