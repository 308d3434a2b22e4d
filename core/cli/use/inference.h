/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "scoring/evaluation.h"
#include "setup/trained.h"
#include "use/ensemble.h"

/* Options that translate and score share; the first member of their structs. */
typedef struct
{
  const char *const *sources; /* NAME=FILE, NULL-terminated, or NULL */
  const char *const *without; /* names of missing sources, NULL-terminated, or NULL */
  const char *const *sets;    /* keys of [decode], data.empty and data.too_long */
  const char *tsv;            /* names of the columns of standard input, or NULL */
  const char *checkpoint;
  const char *ensemble;  /* rule of an ensemble, or NULL */
  const char *weights;   /* weights of the runs of an ensemble, or NULL */
  const char *attention; /* path of a dump, or NULL */
  const char *output;    /* path of the command's output, or NULL for standard output */
  gint64 threads;
  gboolean changed; /* TRUE: accept plugins that have changed since training */
  gboolean force;   /* TRUE: replace attention and output if they exist */
} PlaitInferenceOptions;

/* Rows of the option table, without output and force. */
#define PLAIT_INFERENCE_OPTIONS                                                                                        \
  PLAIT_OPTION_OF (PlaitInferenceOptions, "source", 's', TEXTS, sources,                                               \
                   "Text or features of a source; - is standard input", "NAME=FILE"),                                  \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "tsv", 0, TEXT, tsv,                                                     \
                       "Read the sources from standard input, in columns between tabs; - skips a column", "NAME,..."), \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "without", 0, TEXTS, without, "Leave a source out", "NAME"),             \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "set", 0, TEXTS, sets,                                                   \
                       "Change a key of [decode], data.empty or data.too_long", "G.K=V"),                              \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "attention", 'a', TEXT, attention,                                       \
                       "Write the attention and coverage of every sentence to this file", "DUMP.h5"),                  \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "ensemble", 0, TEXT, ensemble,                                           \
                       "How several runs agree: mean of probabilities (the default), or of log-probabilities",         \
                       PLAIT_ENSEMBLE_RULES),                                                                          \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "weights", 0, TEXT, weights,                                             \
                       "Weights of several runs, such as \"0.7;0.3\"; default: equal", "W;..."),                       \
      PLAIT_OPTION_CHECKPOINT (PlaitInferenceOptions), PLAIT_OPTION_THREADS (PlaitInferenceOptions),                   \
      PLAIT_OPTION_CHANGED_PLUGINS (PlaitInferenceOptions)

/*
 * One or several trained runs with the text that they read.
 */
typedef struct
{
  const PlaitInferenceOptions *options; /* options of the invocation */

  /* Opened by plait_inference_open. */
  GPtrArray *runs;       /* PlaitTrained; several form an ensemble */
  PlaitTrained *trained; /* the first run, whose settings and target the command uses */
  PlaitPool *pool;
  PlaitSearch *search;
  PlaitFeed *feed;
  PlaitBatch *whole;  /* batch of the feed that the model cannot read at once, so parts of it are returned; or NULL */
  gint64 given;       /* sentences of whole that were returned */
  gboolean are_files; /* TRUE if all inputs are regular files, not pipes */
  gboolean is_unreadable; /* TRUE if reading ended at a sentence that the model cannot read */
  gboolean skips;         /* TRUE if the last batch is a sentence to skip */
  PlaitStore *dump;       /* file for attention, or NULL */
  PlaitLog *log;
  const gint *stop;
} PlaitInference;

void plait_inference_clear (PlaitInference *inference);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitInference, plait_inference_clear)

/* Opens the runs in @invocation's arguments, their models for search, the text of their sources, the text of the target
 * if @target is not NULL, and the dump. Every source must be named exactly once, by --source, --tsv or --without; runs
 * that have a source of this name all read its text. */
gboolean plait_inference_open (PlaitInference *inference, const PlaitInvocation *invocation, const char *target,
                               GError **error);

/* Returns the next batch with at most @sentences sentences. At the end returns NULL without an error. Returns NULL with
 * an error for bad text, after a signal, and for a sentence that is too long, unless data.too_long allows it: with
 * skip, the batch is this sentence alone, inference->skips is set and the answer must be empty. (transfer full) */
PlaitBatch *plait_inference_next_batch (PlaitInference *inference, gint64 sentences, GError **error);

/* Writes the attention of @batch to the dump, if there is one: for the best of @hypotheses, or for the targets if
 * @hypotheses is NULL. */
gboolean plait_inference_dump (PlaitInference *inference, const PlaitBatch *batch,
                               const PlaitAttentionRecords *attention, const PlaitHypotheses *hypotheses,
                               GError **error);
