/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "process/ranks.h"
#include "command/command.h"
#include "run/random-batches.h"

/*
 * plait-bench times steps of the model that an experiment file describes, over drawn token data.
 *
 * Plugins, widths, dropout, optimizer, coverage, shards and search are the experiment's, and so are the initial values.
 * The program reads no corpus: vocabularies have data.vocabulary_size entries, and sentences are drawn as [bench] says,
 * so that a figure does not depend on the data that a machine has. Batches hold what train.batch or decode.batch says,
 * in random order whatever train.window is.
 */

/* What the command line asks for. */
typedef struct
{
  const PlaitExperiment *experiment; /* of steps: NULL */
  const char *const *overrides;      /* of the file; NULL-terminated, or NULL */
  gboolean forward;                  /* leaves backward out */
  const char *data;                  /* a file of token data; NULL: they are drawn */
  const char *parameters;            /* the file that takes the initial values; NULL: none */
  gboolean force;                    /* replaces that file */
  gint64 steps;
  gint64 warmup;
  gint64 threads;
  gboolean profile; /* measures where the threads' time goes */
  gboolean json;
  PlaitRanks *ranks; /* NULL, or the processes that make each training step together */
} BenchOptions;

/* The amounts of a step. */
typedef struct
{
  double sentences;
  double tokens;          /* of the target; where encoders are timed alone, of the sources */
  double multiplications; /* that the products of the equations need, backward included; 0: unknown */
  double loss; /* mean negative log-likelihood of a target token; of encoders, the sum where backward begins */
} BenchStep;

/* What every kind of step needs. */
typedef struct
{
  const BenchOptions *options;
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTape *tape;
} Bench;

/* A kind of step. */
typedef struct
{
  const char *mode;
  /* Makes all that a step needs, before the timing. (transfer full) */
  gpointer (*make) (const Bench *bench, GError **error);
  gboolean (*step) (gpointer made, gint64 step, BenchStep *done, GError **error);
  void (*free) (gpointer made);
  /* Says what a step is: "a training step of 64 sentences". (transfer full) */
  char *(*describe) (const BenchOptions *options);
} BenchWork;

extern const BenchWork bench_train;  /* an update */
extern const BenchWork bench_decode; /* a whole search, of as many steps as the mean length of sentences */
extern const BenchWork bench_encode; /* the encoders alone, back from the sum of the memories' numbers */

/* Times steps of @work, then the machine's matrix products, and prints medians for people, or everything as JSON. */
gboolean bench_time (const BenchWork *work, const BenchOptions *options, GError **error);

/*
 * plait-bench steps: the cost of one step of a decoder's attention as the memory grows, of several experiments side by
 * side. The experiments must have one source, and no coverage.
 *
 * An encoder that has an inner encoder makes the memory of drawn leaves, with its links; else the memory itself is
 * drawn. The sentences of a batch have one memory each, all alike, and one query each in a step.
 */
typedef struct
{
  const char *lengths; /* "100,1000": leaves of a sentence; NULL: the powers of ten from 100 to bench.positions */
  const char *batches; /* sentences; NULL: 1 */
  gint64 words;        /* 0: a step of search; else forward and backward over targets of this many words */
} BenchSteps;

/* Measures the experiments @files (NULL-terminated), compares the others with the first, and prints a table or JSON.
 * Takes @options->steps samples. */
gboolean bench_steps (const BenchSteps *steps, const char *const *files, const BenchOptions *options, GError **error);

typedef struct
{
  double clock;     /* seconds */
  double processor; /* seconds of all threads together */
} BenchMoment;

BenchMoment bench_now (void);

/* Loads the experiment file @path, which must predict a sequence. (transfer full) */
PlaitExperiment *bench_load (const char *path, const BenchOptions *options, PlaitRegistry *registry, GError **error);

/* Reads tuples and batches from @path (experiments/peers/tokens.py). PLAIT_ERROR_INPUT names file and line. */
gboolean bench_read_tokens (PlaitTuples *tuples, const char *path, GError **error);
