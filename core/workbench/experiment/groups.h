/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/trees.h"
#include "metrics/pieces.h"
#include "schema/settings.h"
#include "training/settings.h"

/*
 * The groups of an experiment file that the core itself reads. The build makes their structs and tables from
 * schemas/group. Those of other floors: plait_predict_group, plait_decoder_group, plait_decode_group (core/model),
 * plait_train_group (core/model/training).
 */
#include "experiment/bench-settings.h"
#include "experiment/data-settings.h"
#include "experiment/evaluate-settings.h"
#include "experiment/experiment-settings.h"
#include "experiment/source-settings.h"

/* All groups with keys of the core, in the order of a resolved file, NULL-terminated. */
const PlaitSettingGroup *const *plait_experiment_groups (void);

/* The setting @key of the core's group @group, which may be "source NAME". NULL: the core has none. */
const PlaitSettingSpecification *plait_experiment_setting (const char *group, const char *key);

/* TRUE if the value of [@group] @key can change a score. Names, log intervals, batches of search and what is dumped
 * cannot, nor what [evaluate] says of intervals and bins or of which scores there are: a rate with another bound is
 * another score. */
gboolean plait_experiment_changes_scores (const char *group, const char *key);
