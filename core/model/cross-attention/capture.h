/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "interface/memory.h"
#include "attention/chosen.h"

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
} PlaitCapturedCoverage;

/* One softmax over rows that a combiner chose, and the one that was computed next. */
typedef struct PlaitCapturedSet PlaitCapturedSet;
struct PlaitCapturedSet
{
  PlaitCapturedSet *next;
  gint64 n;
  const gint64 *row;          /* [n], of the whole batch */
  const PlaitScalar *weights; /* [n] */
};

typedef struct
{
  PlaitCapturedSet *first, *last; /* NULL: none */
} PlaitCapturedSets;

/* What an attention paid to a memory in one layer. */
typedef struct
{
  guint heads;          /* 0: it was not computed */
  PlaitScalar *weights; /* [heads][pairs]: the pairs of sentence s are [its queries][its rows], sentences end to end */
  PlaitCapturedSets *sets; /* [query rows][heads] where rows were chosen; else NULL */
  PlaitCapturedCoverage coverage;
} PlaitCapturedLayer;

/* An attention to a memory: of joint attention, its part in that memory. */
typedef struct PlaitCapturedAttention PlaitCapturedAttention;
struct PlaitCapturedAttention
{
  PlaitCapturedAttention *next;
  const char *name; /* NULL: the one without a name; borrowed */
  guint memory;
  PlaitCapturedLayer *layers; /* [n_layers] */
};

/* The name of joint attention where the memories are attended to without a name too: no attention is called so. */
#define PLAIT_CAPTURED_JOINTLY "jointly"

/* What an attention paid to contexts, or to a sentinel. */
typedef struct
{
  guint heads;          /* 0: nothing */
  PlaitScalar *weights; /* [heads][query rows][memories, or 1] */
} PlaitCapturedItems;

/* How many rows of memories attentions have weighed against queries, a head being one more that does. */
typedef struct
{
  gint64 all;
  gint64 chosen; /* those of them that a combiner had chosen */
} PlaitTouched;

typedef struct
{
  PlaitArena *arena;
  guint n_layers;
  guint n_memories;
  gboolean coverage;                  /* is wanted */
  PlaitRagged queries;                /* of the pass */
  const PlaitMemory *memories;        /* [n_memories] */
  PlaitCapturedAttention *attentions; /* first those without a name, one a memory, then the others as they came */
  PlaitCapturedItems *contexts;       /* [n_layers] */
  PlaitCapturedItems *sentinels;      /* [n_layers], beside the contexts where there are, else the rows */
} PlaitCapture;

/* Empty room in @arena for @n_layers x @n_memories, with @coverage also for coverage. */
PlaitCapture *plait_capture_new (PlaitArena *arena, guint n_layers, guint n_memories, gboolean coverage);

/* How many weights a head of memory @memory has: the sum over sentences of queries * rows. */
gint64 plait_capture_pairs (const PlaitCapture *capture, guint memory);

/* What the attention @name (NULL: the one without a name) paid to @memory in @layer; NULL where nothing is noted. */
PlaitCapturedLayer *plait_capture_find (const PlaitCapture *capture, guint layer, const char *name, guint memory);

/* The same, made where there is none. */
PlaitCapturedLayer *plait_capture_layer (PlaitCapture *capture, guint layer, const char *name, guint memory);

/* Room for the weights of that attention; noted in the capture. */
PlaitScalar *plait_capture_weights (PlaitCapture *capture, guint layer, const char *name, guint memory, guint heads);

/* Notes softmaxes over chosen rows of that attention, whose weights are zeros where none were noted. */
void plait_capture_chosen (PlaitCapture *capture, guint layer, const char *name, guint memory,
                           const PlaitChosen *chosen, const PlaitScalar *weights);

/* Room for the coverage of that attention, whose states are @width wide; noted in the capture. */
PlaitScalar *plait_capture_coverage (PlaitCapture *capture, guint layer, const char *name, guint memory, gint64 width);

/* Copies what a pass over row @step of the sentences that have one captured, @from of one layer and the same arena, to
 * the places of those rows in @layer of @capture, whose queries and memories are set. */
void plait_capture_add_step (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step);

/* Room for the weights of contexts of @layer; noted in the capture. */
PlaitScalar *plait_capture_contexts (PlaitCapture *capture, guint layer, guint heads);

/* Room for the sentinel's weights in @layer; noted in the capture. */
PlaitScalar *plait_capture_sentinel (PlaitCapture *capture, guint layer, guint heads);

/*
 * What one sentence paid is a capture of that sentence alone, whose queries are its target rows: weights are
 * [heads][target rows][rows] then. It borrows nothing of the pass but names. Its memories are rows and links without
 * states; the links, never NULL, are level, first_child and n_children, all or none, left and right, both or none, and
 * where rows come from, sentence and token.
 */

/* Empty room in @arena for what @length target rows of sentence @sentence of @batch paid. */
PlaitCapture *plait_capture_sentence (PlaitArena *arena, const PlaitCapture *batch, gint64 sentence, gint64 length);

/* Copies what query row @row of @from, one of sentence @sentence, paid to target row @target of @capture, which is of
 * that sentence alone. */
void plait_capture_add_row (PlaitCapture *capture, gint64 target, const PlaitCapture *from, gint64 sentence,
                            gint64 row);

/* What several sentences paid, each alone. */
typedef struct
{
  PlaitArena *arena; /* of all of them */
  PlaitCapture **of; /* NULL each until it is made */
} PlaitCaptures;

/* Places for @n. (transfer full) */
PlaitCaptures *plait_captures_new (gint64 n);
void plait_captures_free (PlaitCaptures *captures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCaptures, plait_captures_free)
