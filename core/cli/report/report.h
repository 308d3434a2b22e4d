/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"
#include "comparison/map.h"
#include "comparison/place.h"

/* Parts of plait report. Each appends to the page @html. */

/* All heatmaps right below the group @path of @store. */
gboolean plait_report_attention (GString *html, PlaitStore *store, const char *path, GError **error);

/* What the descents of a page share. Begin with zeros. */
typedef struct
{
  guint n;                /* descents so far */
  gboolean drawn[2][101]; /* [taken][hundredths]: the cells that they use */
} PlaitReportDescents;

/* All descents right below the group @path of @store, if there is one. */
gboolean plait_report_descents (PlaitReportDescents *descents, GString *html, PlaitStore *store, const char *path,
                                GError **error);

/* The cells that the descents of the page are drawn with, behind the last one. */
void plait_report_descents_end (const PlaitReportDescents *descents, GString *html);

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
