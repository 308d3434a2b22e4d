/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "dumps/word-alignment.h"
#include "scoring/evaluation.h"
#include "setup/trained.h"
#include "setup/ensemble.h"

/* Options of plait encode, and the first member of the option structs of plait translate and plait score. */
typedef struct
{
  const char *const *sources;   /* values NAME=FILE of --source, NULL-terminated, or NULL */
  const char *const *without;   /* names of missing sources, NULL-terminated, or NULL */
  const PlaitOverride *sets;    /* values of --set for [decode], data.empty and data.too_long, or NULL */
  const PlaitOverride *implied; /* settings that other options of the command imply, or NULL */
  const char *tsv;              /* value of --tsv: names of the streams in the columns of standard input, or NULL */
  const char *checkpoint;
  const char *ensemble;  /* rule of an ensemble, or NULL */
  const char *weights;   /* weights of the runs of an ensemble, as text, or NULL */
  const char *attention; /* path of the file to which attention is dumped, or NULL */
  const char *alignment; /* attention by which words are aligned, as text, or NULL */
  const char *output;    /* path of the command's output; NULL: standard output; plait encode needs a path */
  gint64 threads;
  gboolean changed; /* TRUE: accept plugins that have changed since training */
  gboolean force;   /* TRUE: replace the files attention and output if they exist */
} PlaitInferenceOptions;

/* Rows of the option table for PlaitInferenceOptions, except output and force. */
#define PLAIT_INFERENCE_OPTIONS                                                                                        \
  PLAIT_OPTION_OF (PlaitInferenceOptions, "source", 's', TEXTS, sources,                                               \
                   "Text or features of a source; - is standard input", "NAME=FILE"),                                  \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "tsv", 0, TEXT, tsv,                                                     \
                       "Read the sources from standard input, in columns between tabs; - skips a column", "NAME,..."), \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "without", 0, TEXTS, without, "Leave a source out", "NAME"),             \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "set", 0, SETS, sets,                                                    \
                       "Change a key of [decode], data.empty or data.too_long", "G.K=V"),                              \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "attention", 'a', TEXT, attention,                                       \
                       "Write the attention and coverage of every sentence to this file", "DUMP.h5"),                  \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "alignment", 0, TEXT, alignment,                                         \
                       "Print which source words each target word attends to: mean (over layers), last, or a layer "   \
                       "from 0; and a head, as in 2:0",                                                                \
                       "LAYER[:HEAD]"),                                                                                \
      PLAIT_OPTION_OF (PlaitInferenceOptions, "ensemble", 0, TEXT, ensemble,                                           \
                       "Combine several runs by the mean of probabilities (the default) or of log-probabilities",      \
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
  const PlaitInferenceOptions *options; /* the command's options */

  /* Members that plait_inference_open() sets. */
  GPtrArray *runs;       /* (element-type PlaitTrained); several runs form an ensemble */
  PlaitTrained *trained; /* the first run; its settings and target are used */
  PlaitPool *pool;
  PlaitSearch *search;
  PlaitFeed *feed;
  PlaitBatch *whole;  /* batch that is returned in parts, because the model cannot read one of its sentences; or NULL */
  gint64 given;       /* number of sentences of @whole that were already returned */
  gboolean are_files; /* TRUE if all inputs are regular files, not pipes */
  gboolean is_unreadable;    /* TRUE if reading ended at a sentence that is too long for the model */
  gboolean skips;            /* TRUE if the last returned batch is a sentence to be skipped */
  PlaitStore *dump;          /* file to which attention is dumped, or NULL */
  PlaitWordAligner *aligner; /* aligner of words; NULL without --alignment */
  PlaitLog *log;
  const gint *stop;
} PlaitInference;

void plait_inference_clear (PlaitInference *inference);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitInference, plait_inference_clear)

/* Opens the runs that the arguments of @invocation name, with their models for search. Also opens the text of their
 * sources, the target text unless @target is NULL, and the dump. Every source must be named exactly once, by --source,
 * --tsv or --without. Runs that have a source of the same name read the same text. */
gboolean plait_inference_open (PlaitInference *inference, const PlaitInvocation *invocation, const char *target,
                               GError **error);

/*
 * Returns the next batch, of at most @sentences sentences. At the end, returns NULL without an error. Returns NULL with
 * an error after a signal, for bad text, and for a sentence that the model cannot read.
 *
 * data.too_long=truncate truncates a sentence that is too long, if possible. With data.too_long=skip, such a sentence
 * is a batch of its own with inference->skips set; the command prints an empty result or nan for it. (transfer full)
 */
PlaitBatch *plait_inference_next_batch (PlaitInference *inference, gint64 sentences, GError **error);

/* Writes the attention of @batch to the dump, if there is one. The targets are the best of @hypotheses; if @hypotheses
 * is NULL, those of the batch. */
gboolean plait_inference_dump (PlaitInference *inference, const PlaitBatch *batch,
                               const PlaitAttentionRecords *attention, const PlaitHypotheses *hypotheses,
                               GError **error);
