/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "axes/keys.h"
#include "setup/fingerprint.h"

/*
 * The cells of a grid: the combinations of the values of its axes, without excluded and repeated cells.
 *
 *     [grid]
 *     decoder.combiner=serial;parallel;flat;hierarchical
 *     experiment.sources=en;en+de+fr
 *     experiment.seed=1;2;3
 *     exclude=experiment.sources=en & decoder.combiner=parallel|flat|hierarchical
 *
 * An axis is a key of another group, written GROUP.KEY. A blank in the group's name is written as a dot, as in
 * source.en.layers. The values of an axis are separated by ';'.
 *
 * The keys exclude and exclude.NAME hold exclusions, separated by ';'. An exclusion is a list of conditions joined by
 * '&'. A condition names an axis and one or more of its values, joined by '|'. A cell that meets all conditions of an
 * exclusion is left out. An exclusion that leaves no cell out is an error, because it is probably a mistake.
 *
 * The first axis varies slowest. Other keys: zip and only.AXIS (constraints.h), match (parameter-match.h), vocabularies
 * (axes/vocabularies.h).
 */
typedef struct
{
  char *key;     /* key that the axis varies, such as "decoder.combiner" */
  char **values; /* values as written, NULL-terminated */
  guint n_values;
} PlaitAxis;

/* A vocabulary of a cell, as tables and grid.h5 describe it. */
typedef struct
{
  char *name; /* name of the vocabulary, such as "shared" */
  char *key;  /* equal keys mean equal vocabularies */
  char *text; /* description, such as "bpe of at most 8000 entries, learnt from train.en, train.cs" */
} PlaitCellVocabulary;

typedef struct
{
  char *label;          /* name of the cell, such as "decoder.combiner=flat experiment.seed=1" */
  guint *value_indices; /* [n_axes]: index of the cell's value of each axis */
  PlaitExperiment *experiment;
  char *training_fingerprint; /* result of plait_training_fingerprint() */
  char *fingerprint;          /* result of plait_run_fingerprint() */
  GPtrArray *vocabularies;    /* (element-type PlaitCellVocabulary); NULL if the grid was read from a grid.h5 */
  char *matched; /* text with the widths that match=parameters chose and the cell's number of parameters; NULL without
                    match=parameters */
} PlaitExperimentCell;

/* An exclusion as written, and the number of cells that it leaves out. */
typedef struct
{
  char *rule; /* text of the exclusion, such as "experiment.sources=en & decoder.combiner=parallel|flat" */
  guint n_cells;
} PlaitExclusion;

/* Settings of the executor, which runs the cells of a grid. See executor-settings.h. */
typedef struct
{
  PlaitSettings *values;  /* owns the texts in @keys */
  PlaitGridSettings keys; /* settings executor and executor.* of [grid]; other settings have their defaults */
  gint64 seconds;         /* executor.time in seconds; 0: no limit */
  gboolean timed;         /* TRUE for executor.time=measured: Slurm's time limit comes from a measurement of the cell */
  char **words;           /* items of executor.options; NULL if the key is missing */
} PlaitExecutorSettings;

typedef struct
{
  char *name; /* name of the grid: experiment.name, or the name of the file */
  guint n_axes;
  PlaitAxis *axes;
  guint n_cells;
  PlaitExperimentCell *cells;
  guint n_excluded; /* number of cells that exclusions leave out */
  guint n_exclusions;
  PlaitExclusion *exclusions;
  PlaitExecutorSettings executor;
  char **duplicates;     /* labels of the cells that are left out because an earlier cell has equal settings and file
                            contents, NULL-terminated */
  char **duplicate_of;   /* labels of the earlier cells, one for each entry of duplicates */
  PlaitDigests *digests; /* digests of the files that the cells read */
  gboolean own_vocabularies; /* vocabularies=own: each cell learns vocabularies from its own text */
  gboolean joined;           /* TRUE if some cells learn vocabularies from text that they do not read */
} PlaitCells;

/* Returns the cells of the grid file at @path. Resolves and checks each cell with its files and modules, and makes the
 * further checks in @more. Reports all faults in one error. A fault of several cells is reported once, with the label
 * of the first of them, or without a label if all cells have the fault. (transfer full) */
PlaitCells *plait_cells_load (const char *path, const PlaitOverride *overrides, PlaitResolveFlags more,
                              PlaitRegistry *registry, GError **error);

/* Returns the cells of the grid file at @path, each resolved with the checks in @flags. Returns NULL after adding
 * faults to @problems. (transfer full) */
PlaitCells *plait_cells_check (const char *path, const PlaitOverride *overrides, PlaitResolveFlags flags,
                               PlaitRegistry *registry, PlaitProblems *problems);

/* Returns a sentence about the cells that are left out because they equal an earlier cell; NULL if no cell is left out.
 * (transfer full) */
char *plait_cells_describe_duplicates (const PlaitCells *cells);

/* Returns sentences for a grid that has one seed: what its p values mean, and how to add seeds. NULL if the grid has
 * several seeds or one cell. (transfer full) */
char *plait_cells_describe_seeds (const PlaitCells *cells);

/* TRUE if @axis varies experiment.seed. */
gboolean plait_axis_is_seed (const PlaitAxis *axis);

/* TRUE if @a and @b have equal values on all axes except experiment.seed. */
gboolean plait_cells_are_seeds (const PlaitCells *cells, const PlaitExperimentCell *a, const PlaitExperimentCell *b);

void plait_cells_free (PlaitCells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCells, plait_cells_free)
