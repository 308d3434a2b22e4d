/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sparse.h"
#include "autograd/operators.h"
#include "interface/memory.h"

/*
 * Values of a decoder, other than its states, that two readers read: the context and attention weights of a
 * cross-attention, and the embeddings of the target tokens.
 */

/* The two readers. */
typedef enum
{
  PLAIT_READER_OUTPUT,    /* the output; reads the cross-attention that was declared last */
  PLAIT_READER_ALIGNMENT, /* the loss on word alignments; reads the attention that train.alignment_attention selects */
  PLAIT_READERS,
} PlaitReader;

/* Values that a reader wants. If all fields are 0, it wants no values. */
typedef struct
{
  gboolean context;
  gboolean embedded;
  gboolean attention;
  const char *name; /* name of the attention; NULL: the attention without a name */
  guint head;       /* number of the head, from 1; 0: the mean of all heads */
} PlaitReadRequest;

/* Values that one pass stored for a reader. A pass computes whole targets at once, one step of them, or one step of a
 * search. */
typedef struct PlaitCrossReading PlaitCrossReading;
struct PlaitCrossReading
{
  PlaitCrossReading *next;
  PlaitRagged queries;
  PlaitNode *context;  /* sum of the contexts that were added to the residual stream: [queries, width], or NULL */
  PlaitNode **weights; /* attention weights [pairs of queries and memory rows, 1] of each memory: [n_memories]; an
                          element is NULL if the requested attention did not read the memory */
  PlaitNode *shares;   /* weights of the attention over contexts: [queries, n_memories], or NULL */
  gboolean joint;      /* TRUE: one softmax over the rows of all memories */
};

/* Values that a reader receives from one run of the decoder: one reading for each pass, in order. */
typedef struct
{
  PlaitNode *embedded; /* embeddings of the target tokens: [rows, width], or NULL */
  PlaitCrossReading *first, *last;
} PlaitReadings;

/* Appends an empty reading for a pass over @queries to @readings, and returns it. If a decoder layer is running, turns
 * its recomputation off (plait_tape_keep_piece), because the nodes in the reading are used after the layer. */
PlaitCrossReading *plait_readings_add (PlaitReadings *readings, PlaitTape *tape, PlaitRagged queries, guint n_memories);

/* Joins the readings of all passes into one for the rows of @queries, and returns it. @queries: whole targets, or one
 * step of a search. NULL if @readings is empty. */
const PlaitCrossReading *plait_readings_join (const PlaitReadings *readings, PlaitTape *tape, PlaitRagged queries,
                                              const PlaitMemory *memories, guint n_memories);

/* Returns weights[head - 1] of @weights [n], one node for each head; if @head is 0, their mean. */
PlaitNode *plait_reading_of_heads (PlaitTape *tape, PlaitNode *const *weights, guint n, guint head);

/* Returns the weights [pairs of @queries and @rows, 1] of head @head, from 1; if @head is 0, the mean of the heads.
 * @weights [selected, 1] are the weights of the rows in @selected; other rows get 0. */
PlaitNode *plait_reading_of_selected (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *weights,
                                      PlaitRagged queries, PlaitRagged rows, guint head);
