/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "scoring/evaluation.h"
#include "setup/trained.h"

/* Options that translate and score have in common; the first member of their structs. */
typedef struct
{
  const char *const *sources; /* NAME=FILE */
  const char *const *without; /* names of sources that are missing */
  const char *const *sets;    /* keys of search, and what an empty line is */
  const char *tsv;            /* names of the columns of standard input, or NULL */
  const char *checkpoint;
  const char *attention; /* path of a dump, or NULL */
  const char *output;    /* path of the command's own, or NULL */
  gint64 threads;
  gboolean changed; /* plugins may be others than those of training */
  gboolean force;   /* replaces attention and output */
} PlaitInferenceOptions;

/* Their rows, but those of output and force. */
#define PLAIT_INFERENCE_OPTIONS                                                                                        \
  { "source",                                                                                                          \
    's',                                                                                                               \
    PLAIT_OPTION_TEXTS,                                                                                                \
    offsetof (PlaitInferenceOptions, sources),                                                                         \
    "Text (or features) of a source; - is standard input",                                                             \
    "NAME=FILE" },                                                                                                     \
      { "tsv",                                                                                                         \
        0,                                                                                                             \
        PLAIT_OPTION_TEXT,                                                                                             \
        offsetof (PlaitInferenceOptions, tsv),                                                                         \
        "Read the sources from standard input, in columns between tabs; - skips a column",                             \
        "NAME,..." },                                                                                                  \
      { "without", 0, PLAIT_OPTION_TEXTS, offsetof (PlaitInferenceOptions, without), "Leave a source out", "NAME" },   \
      { "set",                                                                                                         \
        0,                                                                                                             \
        PLAIT_OPTION_TEXTS,                                                                                            \
        offsetof (PlaitInferenceOptions, sets),                                                                        \
        "Set a key of [decode], data.empty or data.too_long otherwise than the experiment",                            \
        "G.K=V" },                                                                                                     \
      { "attention",                                                                                                   \
        'a',                                                                                                           \
        PLAIT_OPTION_TEXT,                                                                                             \
        offsetof (PlaitInferenceOptions, attention),                                                                   \
        "Dump attention, and coverage, of every sentence",                                                             \
        "DUMP.h5" },                                                                                                   \
      PLAIT_OPTION_CHECKPOINT (PlaitInferenceOptions), PLAIT_OPTION_THREADS (PlaitInferenceOptions),                   \
      PLAIT_OPTION_CHANGED_PLUGINS (PlaitInferenceOptions)

/*
 * A trained run and the text that it is to read.
 */
typedef struct
{
  const PlaitInferenceOptions *options; /* the invocation's */

  /* Opened by plait_inference_open. */
  PlaitTrained *trained;
  PlaitPool *pool;
  PlaitSearch *search;
  PlaitFeed *feed;
  PlaitBatch *whole;      /* of the feed, or NULL: it is given in parts, as the model cannot read all of it */
  gint64 given;           /* of its sentences */
  gboolean are_files;     /* all that is read: none of it is a pipe */
  gboolean is_unreadable; /* it ends at a sentence that the model cannot read */
  gboolean skips;         /* the batch that was given last is a sentence that is not to be read */
  PlaitStore *dump;       /* or NULL */
  PlaitLog *log;
  const gint *stop;
} PlaitInference;

void plait_inference_clear (PlaitInference *inference);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitInference, plait_inference_clear)

/* Opens the run that @invocation's first argument names, its model for search, the text of its sources, that of the
 * target if @target is not NULL, and the dump. Every source must be named once, by --source, --tsv or --without. */
gboolean plait_inference_open (PlaitInference *inference, const PlaitInvocation *invocation, const char *target,
                               GError **error);

/* The next batch of at most @sentences. NULL at the end with @error left alone; NULL with @error set on bad text, after
 * a signal, and at a sentence that the model cannot read, unless data.too_long says otherwise: with use->skips the
 * batch is such a sentence alone, which has an empty answer. (transfer full) */
PlaitBatch *plait_inference_next_batch (PlaitInference *inference, gint64 sentences, GError **error);

/* Adds the attention of @batch to the dump, if there is one: of the best of @hypotheses, or of the targets if
 * NULL. */
gboolean plait_inference_dump (PlaitInference *inference, const PlaitBatch *batch,
                               const PlaitAttentionRecords *attention, const PlaitHypotheses *hypotheses,
                               GError **error);
