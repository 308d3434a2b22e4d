/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "setup/run-inputs.h"

/* Chooses training tuples and weights them as [data] says: loss weights, shares, weights of files, sampling of
 * subwords. */

/* Reads the loss weights of the tuples of @corpus, and keeps the share of tuples that data.share sets. Logs the file of
 * weights and the number of kept tuples. Fails if data.share asks for more tuples than @corpus has. */
gboolean plait_training_tuples_choose (const PlaitRunInputs *run_inputs, PlaitCorpus *corpus, PlaitLog *log,
                                       GError **error);

/* Makes @corpus draw tuples by data.weights and sample subwords for @model, and logs how. No tuples may be dropped
 * after this call. Fails if data.weights is set and a file has no tuple, or if subwords are to be sampled and a
 * vocabulary has only one segmentation of each word. */
gboolean plait_training_tuples_vary (const PlaitRunInputs *run_inputs, const PlaitModel *model, PlaitCorpus *corpus,
                                     PlaitLog *log, GError **error);
