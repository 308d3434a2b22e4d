/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"

/* Parts of plait report. Each appends to the page @html. */

/* Loss, metric and learning rate over the steps. */
void plait_report_training (GString *html, const PlaitRunComparison *comparison);

/* The table of scores of one split after the other. */
void plait_report_scores (GString *html, const PlaitRunComparison *comparison);

/* Scores by the length of the source, where runs have them. */
gboolean plait_report_lengths (GString *html, const PlaitRunComparison *comparison, GError **error);

/* The table @path of a grid's file: means over seeds with their spread. */
gboolean plait_report_summary (GString *html, PlaitStore *store, const char *path, GError **error);

/* What was set otherwise, and for each run its resolved experiment, its plugins and its data. */
gboolean plait_report_settings (GString *html, const PlaitRunComparison *comparison, GError **error);
