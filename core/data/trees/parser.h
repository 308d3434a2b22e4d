/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "lines/text-file.h"

/*
 * Parses text with a library that may crash, hang or use up memory: child processes with limits parse the sentences, so
 * a bad sentence costs only its own tree. Trees are returned in the order of the lines.
 */

typedef enum
{
  PLAIT_PARSE_COMPLETE,  /* a tree, all words linked */
  PLAIT_PARSE_PARTIAL,   /* a tree, some words not linked */
  PLAIT_PARSE_NONE,      /* no tree: the grammar finds no parse */
  PLAIT_PARSE_UNMATCHED, /* no tree: the parser's words do not match the tokens, or the tree exceeds a line's limit */
  PLAIT_PARSE_TOO_LONG,  /* no tree: more tokens than the limit */
  PLAIT_PARSE_TIMED_OUT, /* no tree: the time limit was reached */
  PLAIT_PARSE_CRASHED,   /* no tree: the process crashed or reached its memory limit */
  PLAIT_PARSE_EMPTY,     /* no tree: the line is empty */
} PlaitParseOutcome;

#define PLAIT_N_PARSE_OUTCOMES 8

/* A sentence parser, as modules of the kind parser provide it. Its functions run in a child process that has no
 * terminal and cannot write files. */
typedef struct
{
  const char *name;

  /* Loads the parser. At most @unlinked words of a sentence may stay without links. If loading fails, plait_parse fails
   * with the error. (transfer full) */
  gpointer (*open) (gint64 unlinked, GError **error);

  /* Appends the tree of @sentence, which has at least one token, to @tree and returns PLAIT_PARSE_COMPLETE or
   * PLAIT_PARSE_PARTIAL; else returns PLAIT_PARSE_NONE or PLAIT_PARSE_UNMATCHED. */
  PlaitParseOutcome (*parse) (gpointer self, const char *sentence, gsize length, GString *tree);
} PlaitSentenceParser;

typedef struct
{
  gint64 unlinked;   /* maximum words without links in a sentence */
  gint64 tokens;     /* maximum tokens; longer sentences get no tree */
  gint64 seconds;    /* time limit for one sentence */
  guint n_processes; /* number of child processes, > 0; does not affect the trees */
} PlaitParseSettings;

/* Receives the tree of the next line, without line end; "" if there is no tree. */
typedef void (*PlaitParseFunc) (const char *tree, PlaitParseOutcome end, gpointer data);

/* Parses the lines of @reader until it ends, or until *@stop (atomic) is not 0, which fails with
 * PLAIT_ERROR_INTERRUPTED. Also fails if the text cannot be read, the parser does not load, or no process can be
 * started. Forks, so no other thread may run. */
gboolean plait_parse (const PlaitSentenceParser *parser, const PlaitParseSettings *settings, PlaitTextReader *reader,
                      const gint *stop, PlaitParseFunc take, gpointer data, GError **error);
