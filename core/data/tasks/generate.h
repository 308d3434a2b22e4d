/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"

/*
 * Generated corpora: tasks whose answer is known by construction, written as line-aligned text files and then read like
 * other text.
 *
 * A tuple is a pure function of (task, parameters of the task, seed, split, number of the tuple), so a larger corpus
 * contains the smaller one. A task is one file that defines one PlaitTask, and an entry in the table of generate.c.
 */

/* An integer parameter of a task, set with the key NAME next to generate=TASK. */
typedef struct
{
  const char *name;
  gint64 initial;
  gint64 minimum;
  gint64 maximum;
  const char *summary;
} PlaitTaskParameter;

typedef struct
{
  const char *name;
  const char *summary;
  const char *const *streams; /* NULL-terminated: names of the sources (NAME.trees: trees of NAME), then the target */
  const char *documents;      /* streams that are documents, separated by ";", or NULL */
  const PlaitTaskParameter *parameters;
  gint64 n_parameters;

  /* Writes one tuple to @lines [streams], which are empty. A stream gets one line, without its line end; a stream of
   * documents gets all lines of one document, with their line ends. @values has one value per entry of @parameters. All
   * random numbers come from @key. */
  void (*generate) (const gint64 *values, PlaitRandomKey key, GString *const *lines);
} PlaitTask;

/* Splits of every task: "train", "validation", "test", by default with 6,000, 500 and 500 tuples. */
#define PLAIT_TASK_SPLITS 3
extern const char *const plait_task_splits[PLAIT_TASK_SPLITS];

/* Number of parameters that every task has before its own: "seed" and the sizes of the splits. */
#define PLAIT_TASK_COMMON (1 + PLAIT_TASK_SPLITS)

typedef struct
{
  guint64 seed; /* seed of the corpus, independent of the experiment's seed */
  gint64 sizes[PLAIT_TASK_SPLITS];
  gint64 *values; /* one value per entry of PlaitTask.parameters; free with g_free */
} PlaitTaskSettings;

/* Returns all tasks, NULL-terminated. (transfer none) */
const PlaitTask *const *plait_tasks (void);

/* Returns the task called @name; for an unknown name, fails and names a similar task or all tasks. (transfer none) */
const PlaitTask *plait_task_find (const char *name, GError **error);

/* Returns the parameters of @task, common ones first. (transfer full) (element-type PlaitTaskParameter) */
GArray *plait_task_parameters (const PlaitTask *task);

/* Returns seed 1, default sizes, and every parameter at its initial value. Release with plait_task_settings_clear. */
PlaitTaskSettings plait_task_defaults (const PlaitTask *task);
void plait_task_settings_clear (PlaitTaskSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitTaskSettings, plait_task_settings_clear)

gboolean plait_task_set (const PlaitTask *task, PlaitTaskSettings *settings, const char *name, gint64 value,
                         GError **error);

/* Parses "STREAM NAME=VALUE ...", which describes training text of @task: the text of STREAM, generated with the
 * settings @base except for the named parameters. Returns the stream and fills *@settings, to be cleared by the caller.
 * NULL with PLAIT_ERROR_INPUT if the stream or a parameter is unknown, or a value is not allowed. (transfer none) */
const char *plait_task_parse_text (const PlaitTask *task, const PlaitTaskSettings *base, const char *text,
                                   PlaitTaskSettings *settings, GError **error);

/* Returns a text "STREAM NAME=VALUE ...", from which plait_task_parse_text with @base returns @stream and @settings,
 * except the sizes of validation and test. (transfer full) */
char *plait_task_name_text (const PlaitTask *task, const PlaitTaskSettings *base, const char *stream,
                            const PlaitTaskSettings *settings);

/* Writes tuple @tuple of split @split to @lines, one GString per stream, which it empties first. */
void plait_task_tuple (const PlaitTask *task, const PlaitTaskSettings *settings, gint64 split, gint64 tuple,
                       GString *const *lines);

/* Returns the names of the task's files, SPLIT.STREAM for every split and stream. (transfer full) */
GStrv plait_task_files (const PlaitTask *task);

/* Writes the files of split @split into the existing folder @folder. */
gboolean plait_task_write_split (const PlaitTask *task, const PlaitTaskSettings *settings, guint split,
                                 const char *folder, GError **error);

/* Writes the files of all splits into the folder @path, which appears only when complete (files/folder.h). */
gboolean plait_task_write (const PlaitTask *task, const PlaitTaskSettings *settings, const char *path, GError **error);

extern const PlaitTask plait_task_agreement;
extern const PlaitTask plait_task_copy;
extern const PlaitTask plait_task_names;
extern const PlaitTask plait_task_needle;
extern const PlaitTask plait_task_reorder;
extern const PlaitTask plait_task_topic;

/* Returns a number drawn uniformly from 0 to @n - 1, for use by tasks. */
static inline gint64
plait_task_draw (PlaitRandomKey key, gint64 index, gint64 n)
{
  return (gint64)plait_random_below (key, (guint64)index, (guint64)n);
}

/* Returns a length drawn uniformly from @shortest to MAX (@longest, @shortest). */
gint64 plait_task_draw_length (gint64 shortest, gint64 longest, PlaitRandomKey key, gint64 index);

/* Appends @word to @line, after a space unless @line is empty or ends in white space. */
void plait_task_append (GString *line, const char *word);

/* Appends the stem of word @number with plait_task_append. A stem is consonant, vowel, consonant, vowel. Numbers below
 * 4,900 have different stems if 4,900 and @multiplier have no common divisor. Each multiplier makes a new language. */
void plait_task_append_stem (GString *line, gint64 number, gint64 multiplier);
