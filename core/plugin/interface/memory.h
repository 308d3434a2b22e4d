/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"

/*
 * A memory: the rows of one source that attention reads, all sentences of a batch end to end. An encoder may give
 * several memories; a combiner gets one list of all memories of all sources.
 */

/* The links that the rows of a memory carry. A plugin's schema names the structure that it requires. */
typedef enum
{
  PLAIT_STRUCTURE_NONE = 0,
  PLAIT_STRUCTURE_TREE = 1 << 0,      /* links left, right and parent */
  PLAIT_STRUCTURE_LEVELS = 1 << 1,    /* links level, parent, first_child and n_children */
  PLAIT_STRUCTURE_SENTENCES = 1 << 2, /* each row is a sentence of a document */
  PLAIT_STRUCTURE_ALL = PLAIT_STRUCTURE_TREE | PLAIT_STRUCTURE_LEVELS | PLAIT_STRUCTURE_SENTENCES,
} PlaitStructure;

/* Links between the rows of a memory. Each array has one entry for each row of the memory. Unless a field's comment
 * says otherwise, the entry is the number of a row, counted over the batch, or -1 for no such row. NULL: the memory
 * does not have this link. */
typedef struct
{
  const gint64 *left;
  const gint64 *right;
  const gint64 *parent;
  const gint64 *first_child; /* first child; children are consecutive rows, and two parents may share a child */
  const gint64 *n_children;  /* number of children; 0 for leaves */

  /* Level of the row: 0 for leaves, else one more than the level of the children. Top rows have the parent -1 and come
   * last in their sentence. */
  const gint64 *level;

  const gint64 *previous;
  const gint64 *next;
  const gint64 *sentence; /* number of the sentence within its document, from 0, or -1 */

  /* Position of the source token in its sentence or document, from 0, or -1 for a row that is not a token, such as a
   * latent. If token and sentence are NULL, and every sentence has one row for each token, the host takes row i of a
   * sentence as token i. */
  const gint64 *token;
} PlaitLinks;

typedef struct
{
  PlaitNode *states;       /* [rows, width] states */
  PlaitNode *cells;        /* [rows, width] LSTM cell states, or NULL */
  PlaitRagged rows;        /* rows of each sentence; a sentence without rows is a missing source */
  const PlaitLinks *links; /* links of the rows; NULL if the memory has no structure */
} PlaitMemory;

/* Returns the mean of the rows of each sentence, [sentences, width]; zeros for a sentence without rows. */
PLAIT_API PlaitNode *plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory);

/* The properties of a memory that are known before any sentence is read. */
typedef struct
{
  const char *name; /* name of the source, or SOURCE.PART if the encoder calls this memory PART */
  gint64 width;
  PlaitStructure structure;
  gboolean zero_output; /* TRUE: the output projection of an attention that reads only this memory is initialised with
                           zeros */
} PlaitMemorySpecification;
