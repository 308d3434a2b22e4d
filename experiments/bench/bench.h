/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "process/ranks.h"
#include "command/command.h"
#include "run/random-batches.h"

/*
 * plait-bench times steps of the model of an experiment file on random token data, or on a file of token data.
 *
 * Plugins, widths, dropout, optimizer, coverage, shards, search and initial values are those of the experiment. No
 * corpus is read: vocabularies have data.vocabulary_size entries, and sentences are drawn as [bench] says, so results
 * do not depend on local data. Batches have the size of train.batch or decode.batch, whatever train.window is.
 */

/* Options of the command line. */
typedef struct
{
  const PlaitExperiment *experiment; /* NULL for the command steps */
  const PlaitOverride *overrides;    /* --set options */
  gboolean forward;                  /* TRUE: no backward pass */
  const char *data;                  /* file of token data; NULL: random data */
  const char *parameters;            /* output file for the initial values; may be NULL */
  gboolean force;                    /* TRUE: may overwrite that file */
  gint64 steps;
  gint64 warmup;
  gint64 threads;
  gint64 members;   /* models of the ensemble that searches */
  gboolean profile; /* TRUE: measures how threads spend their time */
  gboolean json;
  PlaitRanks *ranks; /* processes that share each training step; NULL: a single process */
} BenchOptions;

/* Amounts of work in a step, and its loss. */
typedef struct
{
  double sentences;
  double tokens;          /* target tokens; source tokens for encode */
  double multiplications; /* multiplications in matrix products, backward included; 0: unknown */
  double loss; /* mean loss of a target token, smoothing included; for decode, minus the mean score of all hypotheses;
                  for encode, the sum that backward begins from */
} BenchStep;

/* Common objects of all kinds of steps. */
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
  /* Makes all that a step needs, before the time is measured. (transfer full) */
  gpointer (*make) (const Bench *bench, GError **error);
  gboolean (*step) (gpointer made, gint64 step, BenchStep *done, GError **error);
  void (*free) (gpointer made);
  /* Describes a step: "a training step of 64 sentences". (transfer full) */
  char *(*describe) (const BenchOptions *options);
} BenchWork;

extern const BenchWork bench_train;  /* one update */
extern const BenchWork bench_decode; /* one search, with as many steps as the mean length of sentences */
extern const BenchWork bench_encode; /* the encoders only, backward from the sum of all memory values */

/* Times steps of @work, then matrix products of the machine. Prints medians as text, or everything as JSON. */
gboolean bench_time (const BenchWork *work, const BenchOptions *options, GError **error);

/*
 * plait-bench steps: the cost of one step of a decoder's attention as the memory grows, for several experiments. Each
 * experiment must have one source and no coverage.
 *
 * An encoder with an inner encoder computes the memory, with its links, from random leaves; else the memory itself is
 * random. The sentences of a batch have identical memories, and one query each in a step.
 */
typedef struct
{
  const char *lengths; /* "100,1000": leaves of a sentence; NULL: 100, 1000, ... below bench.positions, and
                          bench.positions */
  const char *batches; /* sentences in a batch, such as "1,8"; NULL: 1 */
  gint64 words;        /* 0: a step of search; else forward and backward over targets of this many words */
} BenchSteps;

/* Measures the experiments @files (NULL-terminated), compares each with the first, and prints a table or JSON. Each
 * time is the median of @options->steps samples. */
gboolean bench_steps (const BenchSteps *steps, const char *const *files, const BenchOptions *options, GError **error);

typedef struct
{
  double clock;     /* seconds */
  double processor; /* seconds, summed over all threads */
} BenchMoment;

BenchMoment bench_now (void);

/* Loads the experiment file @path, which must predict a sequence. (transfer full) */
PlaitExperiment *bench_load (const char *path, const BenchOptions *options, PlaitRegistry *registry, GError **error);

/* Reads tuples and batches from @path (experiments/peers/tokens.py). PLAIT_ERROR_INPUT names file and line. */
gboolean bench_read_tokens (PlaitTuples *tuples, const char *path, GError **error);
