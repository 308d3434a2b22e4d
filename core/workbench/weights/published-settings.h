/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "weights/name-map.h"

/* TRUE if a parameter whose name begins with @prefix is taken from the weights. @data is what the caller passed. */
typedef gboolean (*PlaitPublishedTakes) (gconstpointer data, const char *prefix);

/*
 * Returns a sentence for each setting of @experiment that differs from the published model, and for each value of
 * config.json that differs from [config] or the special tokens of @map. In spite of such a difference the weights fit,
 * but results differ. config.json is in the folder of @weights; it may be missing. Leaves out settings of components of
 * which no parameter is taken, as @takes says, except settings of [decoder] that encoders use too. (transfer full)
 */
GStrv plait_published_other_settings (const char *weights, const PlaitNameMap *map, const PlaitExperiment *experiment,
                                      PlaitPublishedTakes takes, gconstpointer data);
