/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "process/ranks.h"
#include "corpus/batch.h"
#include "experiment/file.h"
#include "layers/parameter.h"
#include "setup/system.h"

/*
 * What plait bench measures: steps of the model that an experiment file describes, over drawn token data.
 *
 * Plugins, widths, dropout, optimizer, coverage, shards and search are the experiment's, and so are the initial values,
 * by the same code as a run's. Nothing is read of its corpus: vocabularies have data.vocabulary_size entries, and
 * sentences are drawn as [bench] tells, so that a figure depends on the file alone and not on which data a machine has.
 * Batches hold what train.batch or decode.batch says, in random order whatever train.window is.
 */

/* What was asked for. */
typedef struct
{
  const char *mode; /* a row of the table in bench.c */
  const PlaitExperiment *experiment;
  const char *const *overrides; /* of the file, for the record; NULL-terminated, or NULL */
  gboolean forward;             /* encode, attend: leave backward out */
  const char *data;             /* a file of token data; NULL: they are drawn */
  const char *parameters;       /* the file that takes the initial values; NULL: none */
  gboolean force;               /* replaces it */
  gint64 steps;
  gint64 warmup;
  guint threads;
  gboolean profile; /* where the time goes */
  gboolean json;
  PlaitRanks *ranks; /* train: NULL, or the processes that make each step together */
} PlaitBenchOptions;

/* What a step came to. */
typedef struct
{
  double sentences;
  double tokens;          /* of the target; of the texts that are read where encoders are timed alone; 0: none */
  double multiplications; /* that the equations' products need, backward included (autograd/internal.h); 0: not told */
  double loss;            /* mean negative log-likelihood of a target token; of parts, the sum where backward begins */
} PlaitBenchStep;

/* Beside the options, what all that is timed has. */
typedef struct
{
  const PlaitBenchOptions *options;
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTape *tape;
} PlaitBench;

/* Something whose steps are timed. */
typedef struct
{
  /* Makes ready all that a step needs, before the timing. (transfer full) */
  gpointer (*make) (const PlaitBench *bench, GError **error);
  gboolean (*step) (gpointer made, gint64 step, PlaitBenchStep *done, GError **error);
  void (*free) (gpointer made);
  /* In words: "a training step of 64 sentences". (transfer full) */
  char *(*describe) (const PlaitBenchOptions *options);
} PlaitBenchWork;

extern const PlaitBenchWork plait_bench_train;  /* a whole training step: an update */
extern const PlaitBenchWork plait_bench_decode; /* a whole search, of so many steps as sentences are long in the mean */
extern const PlaitBenchWork plait_bench_encode; /* the encoders alone, back from the sum of the memories' numbers */
extern const PlaitBenchWork plait_bench_attend; /* one query of the decoder over a long memory whose keys are there
                                                   already, back from the sum of the context's numbers */

/* Times steps of @work, measures the machine's rate of matrix products after them, and prints it all: medians for
 * people, or everything as JSON. */
gboolean plait_bench_time (const PlaitBenchWork *work, const PlaitBenchOptions *options, GError **error);

/*
 * plait bench steps: what one step of a decoder's attention costs as the memory grows, of several experiments side by
 * side. The experiments must have one source, and no coverage.
 *
 * Nothing is read of a corpus. A memory is what the source's encoder makes of leaves that are drawn at random, where it
 * stands on another encoder; else it is drawn itself. So it has the links that the encoder gives it, and its numbers
 * are nobody's. The sentences of a batch have one memory each, all alike, and in a step one query each.
 */
typedef struct
{
  char *lengths; /* "100,1000": rows that a sentence's encoder makes its memory of; NULL: 100,1000,10000 */
  char *batches; /* sentences; NULL: 1 */
  char *words;   /* NULL: a step of search; else forward and backward over targets of so many */
} PlaitBenchSteps;

/* Measures the experiments @files (NULL-terminated), with the first of which the others are compared, and prints a
 * table or JSON. @options->steps samples are taken, whose medians are told; the experiment of @options is not read. */
gboolean plait_bench_steps (const PlaitBenchSteps *steps, const char *const *files, const PlaitBenchOptions *options,
                            GError **error);

/* Seconds on the clock, and seconds that the process has spent on processors. */
typedef struct
{
  double clock;
  double processor;
} PlaitBenchMoment;

PlaitBenchMoment plait_bench_now (void);

/*
 * For those.
 */

/* Whether the experiment predicts a sequence, as plait bench @mode needs. */
gboolean plait_bench_has_decoder (const PlaitExperiment *experiment, const char *mode, GError **error);

/* Begins a step of a part of the model on the tape. */
void plait_bench_begin (const PlaitBench *bench, gint64 step);

/* Ends it: goes back from the sum of the numbers of the @n nodes, unless that is to be left out. */
void plait_bench_end (const PlaitBench *bench, PlaitNode *const *nodes, guint n, PlaitBenchStep *done);

/* Writes the initial values to the file that is to take them, if there is one. */
gboolean plait_bench_write_parameters (const PlaitBench *bench, const PlaitParameters *parameters, GError **error);

/* The model of @experiment with vocabularies of data.vocabulary_size entries and features as [bench] has them.
 * (transfer full) */
PlaitSystem *plait_bench_system (const PlaitExperiment *experiment, GError **error);

/* Token data as batches. */
typedef struct
{
  PlaitBatch *whole;  /* all their tuples */
  GPtrArray *batches; /* PlaitBatch, parts of it */
  PlaitTensor features;
} PlaitBenchData;

/*
 * Batches of the sentences that options->data holds (experiments/peers/README.md; PLAIT_ERROR_INPUT names file and
 * line), or of 16 batches' worth of drawn ones: the lengths of one tuple agree as those of translations do, words
 * follow a Zipf law, trees are those of data.trees or else split uniformly. A tuple has the token sources in order,
 * each followed by its trees if its encoder reads them, and then the target, which ends in the end token; a source does
 * too if data.append_end says so and it has no trees. Every sentence has the same features.
 *
 * With @search they are grouped by decode.batch and have no targets, else by [train]. At most @most batches are made.
 * (transfer full)
 */
PlaitBenchData *plait_bench_data_new (const PlaitBenchOptions *options, gboolean search, guint most, GError **error);
void plait_bench_data_free (PlaitBenchData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchData, plait_bench_data_free)
