/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "interface/memory.h"
#include "attention/sparse.h"

/*
 * Attention weights of one pass through a decoder, before dropout, and if wanted coverage. The pass asks for room and
 * operators write there; the room is the arena's of the pass.
 */

/* Coverage of one attention to a memory. */
typedef struct
{
  gint64 width;          /* 0: this memory is not covered */
  PlaitScalar *states;   /* [pairs][width], after the attention was paid */
  const char *name;      /* of what is known of each row, or NULL */
  PlaitScalar *prepared; /* [memory rows], with a name */
} PlaitRecordedCoverage;

/* One softmax over rows that a combiner chose, and the one that was computed next. */
typedef struct PlaitRecordedSet PlaitRecordedSet;
struct PlaitRecordedSet
{
  PlaitRecordedSet *next;
  gint64 n;
  const gint64 *row;          /* [n], of the whole batch */
  const PlaitScalar *weights; /* [n] */
};

typedef struct
{
  PlaitRecordedSet *first, *last; /* NULL: none */
} PlaitRecordedSets;

/* What an attention paid to a memory in one layer. */
typedef struct
{
  guint heads;          /* 0: it was not computed */
  PlaitScalar *weights; /* [heads][pairs]: the pairs of sentence s are [its queries][its rows], sentences end to end */
  PlaitRecordedSets *sets; /* [query rows][heads] where rows were chosen; else NULL */
  PlaitRecordedCoverage coverage;
} PlaitRecordedLayer;

/* An attention to a memory: of joint attention, its part in that memory. */
typedef struct PlaitRecordedAttention PlaitRecordedAttention;
struct PlaitRecordedAttention
{
  PlaitRecordedAttention *next;
  const char *name; /* NULL: the one without a name; borrowed */
  guint memory;
  PlaitRecordedLayer *layers; /* [n_layers] */
};

/* The name of joint attention where the memories are attended to without a name too: no attention is called so. */
#define PLAIT_RECORDED_JOINTLY "jointly"

/* What an attention paid to contexts, or to a sentinel. */
typedef struct
{
  guint heads;          /* 0: nothing */
  PlaitScalar *weights; /* [heads][query rows][memories, or 1] */
} PlaitRecordedItems;

/* How many rows of memories attentions have weighed against queries, a head being one more that does. */
typedef struct
{
  gint64 all;
  gint64 selected; /* those of them that a combiner had chosen */
} PlaitAttentionCost;

typedef struct
{
  PlaitArena *arena;
  guint n_layers;
  guint n_memories;
  gboolean coverage;                  /* is wanted */
  PlaitRagged queries;                /* of the pass */
  const PlaitMemory *memories;        /* [n_memories] */
  PlaitRecordedAttention *attentions; /* first those without a name, one a memory, then the others as they came */
  PlaitRecordedItems *contexts;       /* [n_layers] */
  PlaitRecordedItems *sentinels;      /* [n_layers], beside the contexts where there are, else the rows */
} PlaitAttentionRecord;

/* Empty room in @arena for @n_layers x @n_memories, with @coverage also for coverage. */
PlaitAttentionRecord *plait_attention_record_new (PlaitArena *arena, guint n_layers, guint n_memories,
                                                  gboolean coverage);

/* How many weights a head of memory @memory has: the sum over sentences of queries * rows. */
gint64 plait_attention_record_pairs (const PlaitAttentionRecord *record, guint memory);

/* What the attention @name (NULL: the one without a name) paid to @memory in @layer; NULL where nothing is noted. */
PlaitRecordedLayer *plait_attention_record_find (const PlaitAttentionRecord *record, guint layer, const char *name,
                                                 guint memory);

/* The same, made where there is none. */
PlaitRecordedLayer *plait_attention_record_layer (PlaitAttentionRecord *record, guint layer, const char *name,
                                                  guint memory);

/* Room for the weights of that attention; noted in the capture. */
PlaitScalar *plait_attention_record_weights (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                             guint heads);

/* Notes softmaxes over chosen rows of that attention, whose weights are zeros where none were noted. */
void plait_attention_record_selected (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                      const PlaitSelectedRows *selected, const PlaitScalar *weights);

/* Room for the coverage of that attention, whose states are @width wide; noted in the capture. */
PlaitScalar *plait_attention_record_coverage (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                              gint64 width);

/* Copies what a pass over row @step of the sentences that have one captured, @from of one layer and the same arena, to
 * the places of those rows in @layer of @record, whose queries and memories are set. */
void plait_attention_record_add_step (PlaitAttentionRecord *record, guint layer, const PlaitAttentionRecord *from,
                                      gint64 step);

/* Room for the weights of contexts of @layer; noted in the capture. */
PlaitScalar *plait_attention_record_contexts (PlaitAttentionRecord *record, guint layer, guint heads);

/* Room for the sentinel's weights in @layer; noted in the capture. */
PlaitScalar *plait_attention_record_sentinel (PlaitAttentionRecord *record, guint layer, guint heads);

/*
 * What one sentence paid is a capture of that sentence alone, whose queries are its target rows: weights are
 * [heads][target rows][rows] then. It borrows nothing of the pass but names. Its memories are rows and links without
 * states; the links, never NULL, are level, first_child and n_children, all or none, left and right, both or none, and
 * where rows come from, sentence and token.
 */

/* Empty room in @arena for what @length target rows of sentence @sentence of @batch paid. */
PlaitAttentionRecord *plait_attention_record_sentence (PlaitArena *arena, const PlaitAttentionRecord *batch,
                                                       gint64 sentence, gint64 length);

/* Copies what query row @row of @from, one of sentence @sentence, paid to target row @target of @record, which is of
 * that sentence alone. */
void plait_attention_record_add_row (PlaitAttentionRecord *record, gint64 target, const PlaitAttentionRecord *from,
                                     gint64 sentence, gint64 row);

/* What several sentences paid, each alone. */
typedef struct
{
  PlaitArena *arena;         /* of all of them */
  PlaitAttentionRecord **of; /* NULL each until it is made */
} PlaitAttentionRecords;

/* Places for @n. (transfer full) */
PlaitAttentionRecords *plait_attention_records_new (gint64 n);
void plait_attention_records_free (PlaitAttentionRecords *records);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitAttentionRecords, plait_attention_records_free)
