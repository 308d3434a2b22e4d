/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Scores that another program or a person gave to each sentence, as a metric with intervals: their mean. A row is
 * [score, 1].
 */

/* Returns the metric with the title @name and the text "score/NAME/larger" or "score/NAME/smaller", which says whether
 * larger scores are better. (transfer full) */
PlaitMetric *plait_metric_new_outside (const char *name, gboolean larger_is_better);

/* Returns the metric whose text is @text, and its name in *@name (transfer full). NULL if @text is not the text of such
 * a metric. (transfer full) */
PlaitMetric *plait_metric_read_outside (const char *text, char **name);

/* Returns a row of statistics for each of @scores [n]. (transfer full) */
PlaitStatistics *plait_outside_statistics (const double *scores, gsize n);
