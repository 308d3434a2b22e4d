/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"

/* Parts of the page that plait report writes. Each function appends to the page @html. */

/* Appends plots of losses, metric, learning rate and speed over the updates of training. */
void plait_report_training (GString *html, const PlaitRunComparison *comparison);

/* Appends the table of scores of each split. */
void plait_report_scores (GString *html, const PlaitRunComparison *comparison);

/* Appends scores as curves over each numeric setting that differs between runs, except the seed. */
void plait_report_axes (GString *html, const PlaitRunComparison *comparison);

/* Appends the scores by length of the source, if runs have them. */
gboolean plait_report_lengths (GString *html, const PlaitRunComparison *comparison, GError **error);

/* Appends the table /summary of a grid's file: means over seeds with their spread. */
gboolean plait_report_summary (GString *html, PlaitStore *store, GError **error);

/* Appends a table of the settings that differ, and each run's resolved experiment, environment, plugins and data. */
gboolean plait_report_settings (GString *html, const PlaitRunComparison *comparison, GError **error);
