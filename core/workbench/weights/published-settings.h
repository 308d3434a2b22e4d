/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "weights/name-map.h"

/* TRUE if a parameter whose name begins with @prefix is taken from the weights. */
typedef gboolean (*PlaitPublishedTakes) (gconstpointer data, const char *prefix);

/*
 * Returns a sentence for each setting of @experiment that differs from the published model, according to [settings],
 * [config] and special tokens of @map and to config.json beside @weights, if there is one. With such a difference the
 * weights fit, but results differ. Settings of components that @takes rejects are left out. (transfer full)
 */
GStrv plait_published_other_settings (const char *weights, const PlaitNameMap *map, const PlaitExperiment *experiment,
                                      PlaitPublishedTakes takes, gconstpointer data);
