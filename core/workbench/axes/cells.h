/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "axes/keys.h"
#include "setup/fingerprint.h"

/*
 * The cells of a grid: every combination of the values of its axes, less what is excluded.
 *
 *     [grid]
 *     decoder.combiner=serial;parallel;flat;hierarchical
 *     experiment.sources=en;en+de+fr
 *     experiment.seed=1;2;3
 *     exclude=experiment.sources=en & decoder.combiner=parallel|flat|hierarchical
 *
 * A key of the form GROUP.KEY is an axis (a blank in the group's name is a dot: source.en.layers), its values stand
 * between ';'. exclude holds exclusions between ';', and so does any key exclude.NAME: a cell is left out when it meets
 * all conditions of one, joined by '&', each naming an axis and one or more of its values, joined by '|'. An exclusion
 * that leaves nothing out is an error, because it is a slip. match=parameters is told in match.h, vocabularies= in
 * vocabularies.h. The first axis varies slowest.
 */
typedef struct
{
  char *key;     /* "decoder.combiner" */
  char **values; /* NULL-terminated */
  guint n_values;
} PlaitAxis;

/* A vocabulary of a cell. */
typedef struct
{
  char *name; /* "shared" */
  char *key;  /* equal keys: equal vocabularies */
  char *text; /* "bpe of at most 8000 entries, learnt from train.en, train.cs" */
} PlaitCellVocabulary;

typedef struct
{
  char *label;          /* "decoder.combiner=flat experiment.seed=1" */
  guint *value_indices; /* [n_axes]: which value of each axis */
  PlaitExperiment *experiment;
  char *training_fingerprint; /* plait_training_fingerprint */
  char *key;                  /* plait_run_fingerprint */
  GPtrArray *vocabularies;    /* (element-type PlaitCellVocabulary); NULL in a grid that is told by its file */
  char *matched;              /* what match.h made of its widths, and how many parameters it has; NULL without */
} PlaitExperimentCell;

/* An exclusion as it is written, and how many cells it leaves out. */
typedef struct
{
  char *rule; /* "experiment.sources=en & decoder.combiner=parallel|flat" */
  guint n_cells;
} PlaitExclusion;

/* Who runs the cells, and how: executor-settings.h. */
typedef struct
{
  PlaitSettings *values;  /* which have the texts */
  PlaitGridSettings keys; /* those of the executor */
  gint64 seconds;         /* executor.time: that a cell may run; 0: as long as it likes */
  gboolean timed;         /* Slurm gives it the time that it was measured to take */
  char **words;           /* the items of executor.options; or NULL */
} PlaitExecutorSettings;

typedef struct
{
  char *name; /* of the grid: experiment.name, or the file's */
  guint n_axes;
  PlaitAxis *axes;
  guint n_cells;
  PlaitExperimentCell *cells;
  guint n_excluded; /* cells that one exclusion or more leaves out */
  guint n_exclusions;
  PlaitExclusion *exclusions;
  PlaitExecutorSettings executor;
  char **duplicates;     /* labels of the cells that are left out, NULL-terminated: their settings and the content of
                      their files are those of a cell before them */
  char **duplicate_of;   /* labels of these cells before them */
  PlaitDigests *digests; /* of the files that the cells read */
  gboolean own_vocabularies; /* each cell learns its own: vocabularies.h */
  gboolean joined;           /* some cells learn from text that they do not read themselves */
} PlaitCells;

/* The cells of the grid file at @path, each resolved and checked, modules loaded, and what @more asks for. All faults
 * are told at once; what is wrong in some cells only names them. (transfer full) */
PlaitCells *plait_cells_load (const char *path, const char *const *overrides, PlaitResolveFlags more,
                              PlaitRegistry *registry, GError **error);

/* The same with what @flags ask for; NULL where it adds to @problems. (transfer full) */
PlaitCells *plait_cells_check (const char *path, const char *const *overrides, PlaitResolveFlags flags,
                               PlaitRegistry *registry, PlaitProblems *problems);

/* Returns what is left out as the same as a cell before, in a sentence; NULL if nothing is. (transfer full) */
char *plait_cells_describe_duplicates (const PlaitCells *cells);

/* Says of cells that differ and have one seed each what p tells of them, and how to have more; NULL: they have several.
 * (transfer full) */
char *plait_cells_describe_seeds (const PlaitCells *cells);

/* TRUE if its values are seeds. */
gboolean plait_axis_is_seed (const PlaitAxis *axis);

/* TRUE if @a and @b differ in nothing but their seed. */
gboolean plait_cells_are_seeds (const PlaitCells *cells, const PlaitExperimentCell *a, const PlaitExperimentCell *b);

/* Its arrays are allocated by themselves. */
void plait_cells_free (PlaitCells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCells, plait_cells_free)
