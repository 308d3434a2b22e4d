/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Over- and under-translation from attention, as a metric with intervals: the percentage of source words whose
 * attention, summed over the target, is above or below a bound. A row is [words above, words below, words].
 */
typedef enum
{
  PLAIT_OVER_TRANSLATION,
  PLAIT_UNDER_TRANSLATION,
} PlaitTranslationFault;

#define PLAIT_TRANSLATION_RATE_WIDTH 3

/* Returns the metric "over-translation:of=OF,source=SOURCE,layers=LAYERS,bound=1.5", or "under-translation:...". @of
 * says whose attention was counted, @layers how layers were combined. These values and @bound only appear in the text.
 * @title is for tables. (transfer full) */
PlaitMetric *plait_metric_new_translation_rate (PlaitTranslationFault fault, double bound, const char *of,
                                                const char *source, const char *layers, const char *title);

/* Returns the metric whose text is @text, and its values of= and source= in *@of and *@source (transfer full). NULL if
 * @text is not the text of such a metric. (transfer full) */
PlaitMetric *plait_metric_read_translation_rate (const char *text, const char *title, char **of, char **source);
