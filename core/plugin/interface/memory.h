/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"

/*
 * A memory is what attention reads: the annotations of one source, all sentences of a batch end to end. An encoder may
 * give several; a combiner sees a flat list of them.
 */

/* What the rows of a memory know about each other; a plugin's schema names what it requires. */
typedef enum
{
  PLAIT_STRUCTURE_NONE = 0,
  PLAIT_STRUCTURE_TREE = 1 << 0,      /* left, right and parent */
  PLAIT_STRUCTURE_LEVELS = 1 << 1,    /* level, parent, first child and child count */
  PLAIT_STRUCTURE_SENTENCES = 1 << 2, /* rows stand for sentences of a document */
  PLAIT_STRUCTURE_ALL = PLAIT_STRUCTURE_TREE | PLAIT_STRUCTURE_LEVELS | PLAIT_STRUCTURE_SENTENCES,
} PlaitStructure;

/* Links between rows. Each array has one entry a row of the whole batch: a row number, or -1; NULL where not given. */
typedef struct
{
  const gint64 *left;
  const gint64 *right;
  const gint64 *parent;
  const gint64 *first_child; /* children stand beside each other; neighbours may have one in common */
  const gint64 *n_children;  /* 0 of leaves */
  const gint64 *level;       /* 0 of leaves, and one more than that of the children; parents are -1 at the top */
  const gint64 *previous;
  const gint64 *next;
  const gint64 *sentence; /* number of the sentence within its document */

  /* Place of the source token, or -1: a row that stands for no token, such as a latent. Where it is not given, nor the
   * sentence, the host takes rows for tokens if all sentences have as many of both. */
  const gint64 *token;
} PlaitLinks;

typedef struct
{
  PlaitNode *states;       /* [rows, width] */
  PlaitNode *cells;        /* [rows, width], or NULL: LSTM cells beside the states */
  PlaitRagged rows;        /* a sentence without rows is a missing source */
  const PlaitLinks *links; /* NULL without structure */
} PlaitMemory;

/* What is known of a memory before any sentence is read. */
typedef struct
{
  const char *name; /* of the source, or source.part where an encoder gives several */
  gint64 width;
  PlaitStructure structure;
  gboolean zero_output; /* attention to it alone starts with an output projection of zeros, where it has one */
} PlaitMemorySpecification;
