/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "files/key-file.h"
#include "text/table.h"
#include "schema/settings.h"
#include "run/result.h"

/* A finished run, opened for comparisons and reports. */
typedef struct
{
  PlaitStore *store;
  char *name;               /* short name of the file or of the grid's cell */
  PlaitKeyFile *experiment; /* the resolved experiment file */
  PlaitRunResult *result;
  double rate;   /* median target tokens per second; NaN if unknown */
  gboolean dump; /* TRUE: a dump of plait translate --attention, which has attention but no scores */
} PlaitRunFile;

/* Returns run @r of @runs (element-type PlaitRunFile). */
static inline const PlaitRunFile *
plait_run_at (const GPtrArray *runs, guint r)
{
  return runs->pdata[r];
}

/* Opens the runs in @paths (NULL-terminated). The file of a grid stands for all runs that it links to. With @dumps,
 * also opens dumps of attention. Changes that other programs made in a file are logged as a warning. (transfer full)
 * (element-type PlaitRunFile) */
GPtrArray *plait_runs_open (char *const *paths, gboolean dumps, PlaitLog *log, GError **error);

/* Returns the lines of /evaluation/@split/@name of a run, such as "hypotheses" or "sources/en", and their number *@n.
 * NULL if the run lacks them or they cannot be read. (transfer full) */
char **plait_run_lines (PlaitStore *store, const char *split, const char *name, gint64 *n);

/* Adds @score as an object to the open JSON array. Its low and high are null if the score has no interval. */
void plait_run_score_add_json (const PlaitRunScore *score, PlaitJson *json);

/* A setting in which runs differ. */
typedef struct
{
  char *key;         /* key of the setting, such as "decoder.combiner" */
  GPtrArray *values; /* (element-type utf8): value of each run; a NULL element if the run does not set it */
  PlaitSettingType type;
} PlaitSettingDifference;

/* Returns the value of the setting in run @run, as its file writes it; "–" if the run does not set it. */
const char *plait_setting_difference_text (const PlaitSettingDifference *difference, guint run);

/* Adds the value of the setting in run @run to the open JSON object: a number, a boolean, a text or null. */
void plait_setting_difference_add_json (const PlaitSettingDifference *difference, guint run, PlaitJson *json);

/* Returns the value @text of [@group] @key in its canonical form. Returns NULL if the value is the default: files of
 * older versions lack some settings, which then count as the default. (transfer full) */
char *plait_run_setting_value (const char *group, const char *key, const char *text);

/* Returns the settings that differ between @runs, in the order in which the files list them. (transfer full)
 * (element-type PlaitSettingDifference) */
GPtrArray *plait_setting_differences (GPtrArray *runs);
