/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "lines/text-file.h"

/*
 * Parsing text with a library that may crash, hang or eat all memory: sentences are handed to processes with limits,
 * and what a sentence does to its process costs that sentence alone. Trees come out in the order of the lines.
 */

/* What became of a line. */
typedef enum
{
  PLAIT_PARSE_COMPLETE,  /* it has a tree, and all its words are linked */
  PLAIT_PARSE_PARTIAL,   /* it has a tree, with some words unlinked */
  PLAIT_PARSE_NONE,      /* the grammar finds nothing in it */
  PLAIT_PARSE_UNMATCHED, /* the parser's words could not be put down to the tokens */
  PLAIT_PARSE_TOO_LONG,  /* it has more tokens than the limit */
  PLAIT_PARSE_TIMED_OUT, /* it was not done within the limit */
  PLAIT_PARSE_CRASHED,   /* its process crashed, or wanted more than the memory allowed */
  PLAIT_PARSE_EMPTY,     /* the line is */
} PlaitParseOutcome;

#define PLAIT_N_PARSE_OUTCOMES 8

/* A parser of sentences, the table of modules of the kind parser. Both functions are called in a process of its own,
 * without terminal and files. */
typedef struct
{
  const char *name;

  /* Loads it; up to @unlinked words may be left without links. The error comes out of plait_parse. (transfer full) */
  gpointer (*open) (gint64 unlinked, GError **error);

  /* Appends the tree of @sentence, which has tokens, to @tree: PLAIT_PARSE_COMPLETE or PARTIAL. Otherwise NONE or
   * UNMATCHED. */
  PlaitParseOutcome (*parse) (gpointer self, const char *sentence, gsize length, GString *tree);
} PlaitSentenceParser;

typedef struct
{
  gint64 unlinked;   /* words that may be left without links */
  gint64 tokens;     /* longer sentences get no tree */
  gint64 seconds;    /* after which a sentence is given up */
  guint n_processes; /* > 0; changes no tree */
} PlaitParseSettings;

/* Takes the tree of the next line, "" for none, without its end. */
typedef void (*PlaitParseFunc) (const char *tree, PlaitParseOutcome end, gpointer data);

/* Parses what @reader gives until it ends; or until *@stop (atomic) is raised, with PLAIT_ERROR_INTERRUPTED. FALSE also
 * if text or parser cannot be read, or there are no processes. No other thread may run. */
gboolean plait_parse (const PlaitSentenceParser *parser, const PlaitParseSettings *settings, PlaitTextReader *reader,
                      const gint *stop, PlaitParseFunc take, gpointer data, GError **error);
