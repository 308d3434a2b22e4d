/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Over- and under-translation from attention, as a metric like the others, so that it has intervals: the share of
 * source words whose attention, summed over a target, exceeds or misses a bound, in per cent. Rows are [words over,
 * words under, words].
 */
typedef enum
{
  PLAIT_OVER_TRANSLATION,
  PLAIT_UNDER_TRANSLATION,
} PlaitTranslationFault;

#define PLAIT_TRANSLATION_RATE_WIDTH 3

/* @of tells whose attention it is and @layers how layers were put together: they only stand in the metric's text,
 * "over-translation:of=OF,source=SOURCE,layers=LAYERS,bound=1.5". @title is for tables. (transfer full) */
PlaitMetric *plait_metric_new_translation_rate (PlaitTranslationFault fault, double bound, const char *of,
                                                const char *source, const char *layers, const char *title);

/* The rate whose text is @text, and in @of and @source (transfer full) what stands there for them; NULL if it is the
 * text of another metric. (transfer full) */
PlaitMetric *plait_metric_read_translation_rate (const char *text, const char *title, char **of, char **source);
