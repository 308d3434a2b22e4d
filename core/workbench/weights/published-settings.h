/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "weights/name-map.h"

/* TRUE if a parameter whose name begins with @prefix is made of the weights. */
typedef gboolean (*PlaitPublishedTakes) (gconstpointer data, const char *prefix);

/*
 * Returns a sentence for each setting of @experiment that is not that of the model whose weights are the file @weights,
 * as [settings], [config] and the rows of special tokens of @map and the file config.json beside the weights, if there
 * is one, say: the weights fit all the same, but compute other numbers. Left out are settings of parts that @takes
 * refuses. (transfer full)
 */
GStrv plait_published_other_settings (const char *weights, const PlaitNameMap *map, const PlaitExperiment *experiment,
                                      PlaitPublishedTakes takes, gconstpointer data);
