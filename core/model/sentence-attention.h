/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/capture.h"

/* What one sentence's target rows paid to its memories: a capture taken apart. Rows are numbered within it. */

/* Coverage of one memory beside that attention. */
typedef struct
{
  gint64 width;          /* 0: none, or not asked for */
  PlaitScalar *states;   /* [length][rows][width]: after each target row's attention was paid */
  const char *name;      /* what the plugin calls what it knows of each row ("fertility"), or NULL */
  PlaitScalar *prepared; /* [rows], with a name */
} PlaitSentenceCoverage;

/* The levels of a memory's rows, as PlaitLinks has them. */
typedef struct
{
  gint64 *level; /* [rows]; NULL: it has none */
  gint64 *first_child;
  gint64 *n_children;
} PlaitSentenceLevels;

/* Where the rows of a memory of documents come from, as PlaitLinks has it. */
typedef struct
{
  gint64 *sentence; /* [rows]: number of the sentence; NULL: the memory is of no documents */
  gint64 *token;    /* [rows]: place of the source token; NULL: rows stand for sentences */
} PlaitSentencePlaces;

/* The softmaxes over chosen rows of one target row and head, as they were computed one after the other. */
typedef struct
{
  gint64 n;       /* sets */
  gint64 *offset; /* [n + 1]: set i is the numbers offset[i] .. offset[i + 1] - 1 of the others */
  gint64 *row;
  PlaitScalar *weights;
} PlaitSentenceChoice;

typedef struct
{
  guint n_layers;
  guint n_memories;
  gint64 *rows;                    /* [n_memories]: rows of this sentence */
  PlaitSentenceLevels *levels;     /* [n_memories] */
  PlaitSentencePlaces *places;     /* [n_memories] */
  gint64 length;                   /* target rows: tokens and end */
  guint n_attentions;              /* each to one memory: those without a name, one a memory, then the others */
  guint *memory;                   /* [n_attentions] */
  const char **names;              /* [n_attentions], or NULL each */
  guint *heads;                    /* [n_layers][n_attentions]; 0: not attended */
  PlaitScalar **weights;           /* [n_layers][n_attentions]: [heads][length][rows] */
  PlaitSentenceChoice **choices;   /* [n_layers][n_attentions]: [heads][length], or NULL: all rows were weighed */
  guint *context_heads;            /* [n_layers]; 0: no attention to contexts */
  PlaitScalar **contexts;          /* [n_layers]: [heads][length][memories] */
  guint *sentinel_heads;           /* [n_layers]; 0: no sentinel */
  PlaitScalar **sentinels;         /* [n_layers]: [heads][length] */
  PlaitSentenceCoverage *coverage; /* [n_layers][n_attentions] */
  GPtrArray *owned;                /* all of the above */
} PlaitSentenceAttention;

/* Room for the attention of sentence @sentence to @length target rows, as @capture and those like it have it. To be
 * cleared by plait_sentence_attention_free. */
void plait_sentence_attention_begin (PlaitSentenceAttention *attention, const PlaitCapture *capture, gint64 sentence,
                                     gint64 length);

/* Copies what query row @row of @capture paid to target row @target of sentence @sentence. */
void plait_sentence_attention_copy (PlaitSentenceAttention *attention, const PlaitCapture *capture, gint64 sentence,
                                    gint64 row, gint64 target);

/* Frees that of @n sentences; NULL is allowed. */
void plait_sentence_attention_free (PlaitSentenceAttention *attention, gint64 n);
