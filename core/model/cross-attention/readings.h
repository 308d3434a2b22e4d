/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sparse.h"
#include "autograd/operators.h"
#include "interface/memory.h"

/*
 * Values that are read of a decoder besides its states: contexts and attention weights of a cross-attention, and the
 * embeddings of the target tokens. The output reads the cross-attention that was declared last; the loss on word
 * alignments reads the one that train.alignment_attention names.
 */
typedef enum
{
  PLAIT_READER_OUTPUT,
  PLAIT_READER_ALIGNMENT,
  PLAIT_READERS,
} PlaitReader;

/* The values that a reader wants. All zero: no values. */
typedef struct
{
  gboolean context;
  gboolean embedded;
  gboolean attention;
  const char *name; /* name of the attention; NULL: the attention without a name */
  guint head;       /* 0: the mean of the heads; else the number of a head, from 1 */
} PlaitReadRequest;

/* Values of one pass, which has the whole targets, one step of them or one step of a search. */
typedef struct PlaitCrossReading PlaitCrossReading;
struct PlaitCrossReading
{
  PlaitCrossReading *next;
  PlaitRagged queries;
  PlaitNode *context;  /* [queries, width] sum of all contexts that were added, or NULL */
  PlaitNode **weights; /* [n_memories], each [pairs of queries and memory rows, 1], or NULL if nothing attended to it */
  PlaitNode *shares;   /* [queries, n_memories] weights of the attention over contexts, or NULL */
  gboolean joint;      /* TRUE: one softmax over the rows of all memories */
};

/* The readings of one run of the decoder, in the order of its steps. */
typedef struct
{
  PlaitNode *embedded; /* [rows, width], or NULL */
  PlaitCrossReading *first, *last;
} PlaitReadings;

/* Appends an empty reading of a pass over @queries to @readings, and returns it. The layer that adds one is not
 * computed again in the backward pass. */
PlaitCrossReading *plait_readings_add (PlaitReadings *readings, PlaitTape *tape, PlaitRagged queries, guint n_memories);

/* Returns the reading of @queries, whole targets or one step of a search, from the readings of one pass or of all
 * steps. NULL if there is none. */
const PlaitCrossReading *plait_readings_join (const PlaitReadings *readings, PlaitTape *tape, PlaitRagged queries,
                                              const PlaitMemory *memories, guint n_memories);

/* Returns the mean of @weights [n], one node for each head, or one of them as @head says. */
PlaitNode *plait_reading_of_heads (PlaitTape *tape, PlaitNode *const *weights, guint n, guint head);

/* Returns the weights [pairs of @queries and @rows, 1] of selected rows, from @weights [selected, 1]; the mean of the
 * heads, or one of them as @head says. Other rows get 0. */
PlaitNode *plait_reading_of_selected (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *weights,
                                      PlaitRagged queries, PlaitRagged rows, guint head);
