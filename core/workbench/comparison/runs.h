/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "files/key-file.h"
#include "text/table.h"
#include "schema/settings.h"
#include "run/result.h"

/*
 * Finished runs as comparisons and reports want them: a file of a run, or all the runs that a grid's file links to.
 */
typedef struct
{
  PlaitStore *store;
  char *name;               /* short: of the file or of the grid's cell */
  PlaitKeyFile *experiment; /* resolved */
  PlaitRunResult *result;
  double rate;   /* median target tokens per second; NaN: unknown */
  gboolean dump; /* of plait translate --attention: attention, and no more */
} PlaitRunFile;

/* Run @r of @runs (element-type PlaitRunFile). */
static inline const PlaitRunFile *
plait_run_at (const GPtrArray *runs, guint r)
{
  return runs->pdata[r];
}

/* Opens the runs in @paths (NULL-terminated), grids unfolded; with @dumps also dumps of attention. What other programs
 * have changed in them is a warning. (transfer full) (element-type PlaitRunFile) */
GPtrArray *plait_runs_open (char *const *paths, gboolean dumps, PlaitLog *log, GError **error);

/* Returns the lines of /evaluation/@split/@name of a run ("hypotheses", "references", "sources/en"), and how many in
 * *@n; NULL if the run has none. (transfer full) */
char **plait_run_lines (PlaitStore *store, const char *split, const char *name, gint64 *n);

/* @score as an item of the array that is open; low and high are null without an interval. */
void plait_run_score_add_json (const PlaitRunScore *score, PlaitJson *json);

/* A setting in which runs differ. */
typedef struct
{
  char *key;         /* "decoder.combiner" */
  GPtrArray *values; /* (element-type utf8), a run; NULL where it is not set */
  PlaitSettingType type;
} PlaitSettingDifference;

/* What run @run has of @difference, as the file has it; "–" where it is not set. */
const char *plait_setting_difference_text (const PlaitSettingDifference *difference, guint run);

/* The same as what it is: a number, a truth value, a text or null. */
void plait_setting_difference_add_json (const PlaitSettingDifference *difference, guint run, PlaitJson *json);

/* The value @text of [@group] @key in the one way to spell it; NULL where it is the default, which counts as if it were
 * not there: a run of an older plait does not have all settings. (transfer full) */
char *plait_run_setting_value (const char *group, const char *key, const char *text);

/* The settings that differ between @runs, in the order of the file. (transfer full)
 * (element-type PlaitSettingDifference) */
GPtrArray *plait_setting_differences (GPtrArray *runs);
