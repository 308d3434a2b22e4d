/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "cli/output.h"
#include "run/evaluation.h"
#include "run/trained.h"

/*
 * A trained run and the text that it is to read: what plait translate and plait score have in common.
 */
typedef struct
{
  /* Options, filled by the parser; the invocation's. */
  const char *const *sources; /* NAME=FILE */
  const char *const *without; /* names of sources that are missing */
  char *tsv;                  /* names of the columns of standard input, or NULL */
  char *checkpoint;
  const char *const *sets; /* keys of search, and what an empty line is */
  char *attention;         /* path of a dump, or NULL */
  char *output;            /* path of the command's own, or NULL */
  gboolean force;          /* replaces both */
  char *threads;

  /* Opened by plait_text_use_open. */
  PlaitTrained *trained;
  PlaitPool *pool;
  PlaitSearch *search;
  PlaitFeed *feed;
  PlaitStore *dump; /* or NULL */
  PlaitLog *log;
  const gint *stop;
} PlaitTextUse;

void plait_text_use_clear (PlaitTextUse *use);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitTextUse, plait_text_use_clear)

/* Rows of an option table. */
#define PLAIT_TEXT_USE_OPTIONS(use)                                                                                      \
  { "source",                                                                                                            \
    's',                                                                                                                 \
    0,                                                                                                                   \
    G_OPTION_ARG_FILENAME_ARRAY,                                                                                         \
    &(use).sources,                                                                                                      \
    "Text (or features) of a source; - is standard input",                                                               \
    "NAME=FILE" },                                                                                                       \
      { "tsv",      0,                                                                                                   \
        0,          G_OPTION_ARG_FILENAME,                                                                               \
        &(use).tsv, "Read the sources from standard input, in columns between tabs; - skips a column",                   \
        "NAME,..." },                                                                                                    \
      { "without", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &(use).without, "Leave a source out", "NAME" },                    \
      { "set",       0,                                                                                                  \
        0,           G_OPTION_ARG_FILENAME_ARRAY,                                                                        \
        &(use).sets, "Set a key of [decode], or data.empty, otherwise than the experiment, such as decode.batch=8",      \
        "G.K=V" },                                                                                                       \
      { "attention", 'a', 0, G_OPTION_ARG_FILENAME, &(use).attention, "Dump attention, and coverage, of every sentence", \
        "DUMP.h5" },                                                                                                     \
      { "checkpoint",       'c', 0, G_OPTION_ARG_FILENAME, &(use).checkpoint, "Of these parameters; best unless told",   \
        "best|last|average" },                                                                                           \
  {                                                                                                                      \
    "threads", 't', 0, G_OPTION_ARG_FILENAME, &(use).threads, "Threads; else as many as there are processors", "N"       \
  }

/* Opens the run that @invocation's first argument names, its model for search, the text of its sources, that of the
 * target if @target is not NULL, and the dump. Every source must be named once, by --source, --tsv or --without. */
gboolean plait_text_use_open (PlaitTextUse *use, const PlaitInvocation *invocation, const char *target, GError **error);

/* The next batch of at most @sentences. NULL at the end with @error left alone; NULL with @error set on bad text and
 * after a signal. (transfer full) */
PlaitBatch *plait_text_use_next (PlaitTextUse *use, gint64 sentences, GError **error);

/* Adds the attention of @batch to the dump, if there is one: of the best of @hypotheses, or of the targets if
 * NULL. */
gboolean plait_text_use_dump (PlaitTextUse *use, const PlaitBatch *batch, const PlaitSentenceAttention *attention,
                              const PlaitHypotheses *hypotheses, GError **error);
