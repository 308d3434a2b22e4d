/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/trees.h"
#include "metrics/pieces.h"
#include "schema/settings.h"
#include "training/settings.h"

/*
 * Groups of an experiment file with keys of the core.
 *
 * The build makes the structs and tables of these groups from schemas/group. core/model declares plait_predict_group,
 * plait_decoder_group and plait_decode_group; core/model/training declares plait_train_group.
 */
#include "experiment/bench-settings.h"
#include "experiment/data-settings.h"
#include "experiment/evaluate-settings.h"
#include "experiment/experiment-settings.h"
#include "experiment/source-settings.h"

/* Returns all groups with keys of the core, in the order of a resolved file; NULL-terminated. (transfer none) */
const PlaitSettingGroup *const *plait_experiment_groups (void);

/* Returns the setting @key of the core's group @group, which may be "source NAME"; NULL if the core has no such key.
 * (transfer none) */
const PlaitSettingSpecification *plait_experiment_setting (const char *group, const char *key);

/* TRUE if another value of [@group] @key can change a score without changing the metric. FALSE for neutral settings
 * (names, folders, log intervals), for decode.batch, and for keys of [evaluate] except checkpoint, join and
 * alignment_attention. */
gboolean plait_experiment_changes_scores (const char *group, const char *key);
