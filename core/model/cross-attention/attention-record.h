/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "interface/memory.h"
#include "attention/sparse.h"

/*
 * Attention weights of one pass through a decoder, before dropout, and coverage if requested. The pass allocates the
 * arrays in its arena and operators fill them.
 */

/* Coverage states of one attention to one memory. */
typedef struct
{
  gint64 width;          /* width of all coverage states of a pair; 0: this memory has no coverage */
  PlaitScalar *states;   /* coverage states after the step: [pairs][width]; a row has all states of the pair */
  const char *name;      /* name of the numbers that the coverage plugin prepared for the rows, or NULL */
  PlaitScalar *prepared; /* number that the coverage plugin prepared for each memory row; NULL if @name is NULL */
} PlaitRecordedCoverage;

/* A set: one softmax over rows that a combiner selected. Each query and head has a list of sets, in the order of
 * computation. */
typedef struct PlaitRecordedSet PlaitRecordedSet;
struct PlaitRecordedSet
{
  PlaitRecordedSet *next;
  gint64 n;
  const gint64 *row; /* row numbers, counted over the whole batch: [n] */
  const PlaitScalar *weights;
};

typedef struct
{
  PlaitRecordedSet *first, *last; /* NULL: no sets */
} PlaitRecordedSets;

/* Weights of one attention to one memory in one layer. */
typedef struct
{
  guint heads;          /* number of heads; 0: the attention was not computed */
  PlaitScalar *weights; /* [heads][pairs]; the pairs of sentence s are [its queries][its rows], sentences end to end */
  PlaitRecordedSets *sets; /* lists of sets: [query rows][heads]; NULL: the combiner selected no rows */
  PlaitRecordedCoverage coverage;
} PlaitRecordedLayer;

/* One attention to one memory. Joint attention has a PlaitRecordedAttention for each memory. */
typedef struct PlaitRecordedAttention PlaitRecordedAttention;
struct PlaitRecordedAttention
{
  PlaitRecordedAttention *next;
  const char *name; /* name of the attention; NULL: the attention without a name; borrowed */
  guint memory;
  PlaitRecordedLayer *layers;
};

/* Name of joint attention in a record, if the combiner also has an unnamed attention to a memory. No plugin can give an
 * attention this name. */
#define PLAIT_RECORDED_JOINTLY "jointly"

/* Weights of an attention over contexts, or of a sentinel. */
typedef struct
{
  guint heads;          /* number of heads; 0: not recorded */
  PlaitScalar *weights; /* [heads][query rows][memories]; for a sentinel [heads][query rows] */
} PlaitRecordedItems;

/* Number of memory rows that attention has scored: a sum over all queries and heads. */
typedef struct
{
  gint64 all;
  gint64 selected; /* how many of these rows a combiner selected */
} PlaitAttentionCost;

typedef struct
{
  PlaitArena *arena;
  guint n_layers;
  guint n_memories;
  gboolean coverage;   /* TRUE: the record has coverage too */
  PlaitRagged queries; /* query rows of each sentence */
  const PlaitMemory *memories;
  PlaitRecordedAttention *attentions; /* list of attentions: the unnamed attention to each memory first, then named
                                         ones in the order of their first use */
  PlaitRecordedItems *contexts;
  PlaitRecordedItems *sentinels; /* weights of the sentinel that competes with contexts or with the rows of joint
                                    attention: [n_layers] */

  /* Set if the output copies words. */
  PlaitScalar *gate;    /* probability that a row's word is generated, not copied: [query rows] */
  PlaitScalar **copied; /* probability of each memory row, given that the query row copies: [n_memories][pairs];
                           NULL: the memory is not copied */
} PlaitAttentionRecord;

/* Returns an empty record in @arena with @n_layers layers and @n_memories memories. @coverage: record coverage too. */
PlaitAttentionRecord *plait_attention_record_new (PlaitArena *arena, guint n_layers, guint n_memories,
                                                  gboolean coverage);

/* Returns the number of weights of one head to @memory: the sum over sentences of queries * rows. */
gint64 plait_attention_record_pairs (const PlaitAttentionRecord *record, guint memory);

/* Returns the record of attention @name (NULL: the unnamed one) to @memory in @layer; NULL if there is no such
 * record. */
PlaitRecordedLayer *plait_attention_record_find (const PlaitAttentionRecord *record, guint layer, const char *name,
                                                 guint memory);

/* Returns the record of attention @name (NULL: the unnamed one) to @memory in @layer; adds an empty one if needed. */
PlaitRecordedLayer *plait_attention_record_layer (PlaitAttentionRecord *record, guint layer, const char *name,
                                                  guint memory);

/* Allocates the weights of attention @name to @memory in @layer, [heads][pairs], and stores them in the record. */
PlaitScalar *plait_attention_record_weights (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                             guint heads);

/* Records the sets of @selected with their weights @weights [selected rows]. If the attention has no dense weights yet,
 * allocates these as zeros. */
void plait_attention_record_selected (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                      const PlaitSelectedRows *selected, const PlaitScalar *weights);

/* Allocates the coverage of attention @name to @memory in @layer, [pairs][width], and stores it in the record. */
PlaitScalar *plait_attention_record_coverage (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                              gint64 width);

/* Copies @from, the record of step @step, into layer @layer of @record. @from has one layer, and one query row for each
 * sentence whose target has more than @step rows. @record has a query row for each target row; its queries and memories
 * must be set before the call. */
void plait_attention_record_add_step (PlaitAttentionRecord *record, guint layer, const PlaitAttentionRecord *from,
                                      gint64 step);

/* Allocates the weights of the contexts in @layer, [heads][query rows][memories], and stores them in the record. */
PlaitScalar *plait_attention_record_contexts (PlaitAttentionRecord *record, guint layer, guint heads);

/* Allocates the sentinel's weights in @layer, [heads][query rows], and stores them in the record. */
PlaitScalar *plait_attention_record_sentinel (PlaitAttentionRecord *record, guint layer, guint heads);

/* Allocates the gate [query rows], and stores it in the record. */
PlaitScalar *plait_attention_record_gate (PlaitAttentionRecord *record);

/* Allocates an array in the record, [pairs], for the probability of each row of @memory, given that the query row
 * copies. Returns the array. */
PlaitScalar *plait_attention_record_copied (PlaitAttentionRecord *record, guint memory);

/*
 * The record of one sentence. Its queries are the target rows of the sentence, so weights are [heads][target
 * rows][memory rows]. The record holds copies of all data except names. Its memories have rows and links (never NULL),
 * but no states. The links are left and right (both or none), level, first_child and n_children (all or none),
 * sentence, and token.
 */

/* Returns an empty record in @arena for @length target rows of sentence @sentence of @batch. */
PlaitAttentionRecord *plait_attention_record_sentence (PlaitArena *arena, const PlaitAttentionRecord *batch,
                                                       gint64 sentence, gint64 length);

/* Copies query row @row of @from, counted over all sentences, to target row @target of @record. The row belongs to
 * sentence @sentence of @from; @record is the record of this sentence. */
void plait_attention_record_add_row (PlaitAttentionRecord *record, gint64 target, const PlaitAttentionRecord *from,
                                     gint64 sentence, gint64 row);

/* Attention records, one for each sentence, or one for each hypothesis of each sentence. */
typedef struct
{
  PlaitArena *arena;         /* owns all records */
  PlaitAttentionRecord **of; /* [n]; a record is NULL until it is made */
} PlaitAttentionRecords;

/* Returns @n records that are still NULL. (transfer full) */
PlaitAttentionRecords *plait_attention_records_new (gint64 n);
void plait_attention_records_free (PlaitAttentionRecords *records);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitAttentionRecords, plait_attention_records_free)
