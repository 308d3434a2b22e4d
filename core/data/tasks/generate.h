/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"

/*
 * Generated corpora: tasks whose answer is known by construction, written as line-aligned text files that are then read
 * like any others.
 *
 * A tuple is a pure function of (task, seed, split, number of the tuple): sizes can be changed without changing the
 * tuples that stay. A task is one file that defines one PlaitTask, and an entry in the table of generate.c.
 */

/* An integer that a task can be given, as the key NAME beside generate=TASK. */
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
  const char *const *streams; /* NULL-terminated: names of the sources (NAME.trees: their trees), then of the target */
  const char *documents;      /* the streams that are documents, ";" between them; NULL: none */
  const PlaitTaskParameter *parameters;
  gint64 n_parameters;

  /* Writes the line of each stream of one tuple to @lines [streams], which are empty, without a line end; of documents
   * their lines, each with its end. @values has one value a parameter. All draws come from @key. */
  void (*generate) (const gint64 *values, PlaitRandomKey key, GString *const *lines);
} PlaitTask;

/* The splits of every task: "train", "validation", "test", with 6,000, 500 and 500 tuples unless told. */
#define PLAIT_TASK_SPLITS 3
extern const char *const plait_task_splits[PLAIT_TASK_SPLITS];

/* Parameters that every task has before its own: "seed", and the sizes of the splits. */
#define PLAIT_TASK_COMMON (1 + PLAIT_TASK_SPLITS)

typedef struct
{
  guint64 seed; /* the corpus's own, apart from the experiment's */
  gint64 sizes[PLAIT_TASK_SPLITS];
  gint64 *values; /* a value a parameter of the task; for g_free */
} PlaitTaskSettings;

/* All tasks, NULL-terminated. (transfer none) */
const PlaitTask *const *plait_tasks (void);

/* The task called @name; an unknown one is an error that names the nearest. (transfer none) */
const PlaitTask *plait_task_find (const char *name, GError **error);

/* All that may be set of @task: what every task has, then its own. (transfer full) (element-type PlaitTaskParameter) */
GArray *plait_task_parameters (const PlaitTask *task);

/* Seed 1, the usual sizes, every parameter at its initial value. To be cleared by plait_task_settings_clear. */
PlaitTaskSettings plait_task_defaults (const PlaitTask *task);
void plait_task_settings_clear (PlaitTaskSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitTaskSettings, plait_task_settings_clear)

/* Sets the one of its parameters that is called @name. */
gboolean plait_task_set (const PlaitTask *task, PlaitTaskSettings *settings, const char *name, gint64 value,
                         GError **error);

/* Reads "STREAM NAME=VALUE ...", training text of @task that is made by @base but for these parameters. Sets
 * *@settings, to be cleared, and returns the stream; NULL with PLAIT_ERROR_INPUT if there is no such stream or
 * parameter. (transfer none) */
const char *plait_task_parse_text (const PlaitTask *task, const PlaitTaskSettings *base, const char *text,
                                   PlaitTaskSettings *settings, GError **error);

/* Writes what reads as training text of @stream that is made by @settings, with @base. (transfer full) */
char *plait_task_name_text (const PlaitTask *task, const PlaitTaskSettings *base, const char *stream,
                            const PlaitTaskSettings *settings);

/* Writes tuple @tuple of split @split to @lines, one GString a stream, emptying them first. */
void plait_task_tuple (const PlaitTask *task, const PlaitTaskSettings *settings, gint64 split, gint64 tuple,
                       GString *const *lines);

/* The names of its files, SPLIT.STREAM for every split and stream. (transfer full) */
GStrv plait_task_files (const PlaitTask *task);

/* Writes the files of split @split into @folder, which is there. */
gboolean plait_task_write_split (const PlaitTask *task, const PlaitTaskSettings *settings, guint split,
                                 const char *folder, GError **error);

/* Writes all of these files into the folder @path, which files/folder.h makes as a whole. */
gboolean plait_task_write (const PlaitTask *task, const PlaitTaskSettings *settings, const char *path, GError **error);

/* The tasks. */
extern const PlaitTask plait_task_agreement;
extern const PlaitTask plait_task_copy;
extern const PlaitTask plait_task_needle;
extern const PlaitTask plait_task_reorder;
extern const PlaitTask plait_task_topic;

/* For tasks: a number drawn uniformly from 0 to @n - 1. */
static inline gint64
plait_task_draw (PlaitRandomKey key, gint64 index, gint64 n)
{
  return (gint64)plait_random_below (key, (guint64)index, (guint64)n);
}

/* A length drawn uniformly from @shortest to @longest, which is no less than @shortest. */
gint64 plait_task_draw_length (gint64 shortest, gint64 longest, PlaitRandomKey key, gint64 index);

/* Appends a space if a word stands before, then @word. */
void plait_task_append (GString *line, const char *word);

/* The same of the stem of word @number, four letters, consonant and vowel in turn. No two numbers below 4,900 have one
 * stem where @multiplier shares no divisor with 4,900; another multiplier makes another language. */
void plait_task_append_stem (GString *line, gint64 number, gint64 multiplier);
