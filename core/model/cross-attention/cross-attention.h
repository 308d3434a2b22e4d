/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/coverage.h"
#include "settings/decoder-build.h"
#include "cross-attention/recurrent-attention.h"
#include "layers/attention.h"
#include "layers/norm.h"
#include "attention/sibling-attention.h"

/*
 * The attention site of a decoder: one frame for every decoder, and two ways to score behind it.
 *
 * - In a layer of a Transformer decoder scores are scaled products of several heads (Vaswani et al. 2017), and what
 *   flows through the site are the layer's states: normalise and residual are pre-norm or post-norm.
 * - In a recurrent decoder there is one head, with the scores of scored.h, and what flows through it is the pair
 * (query, context): it starts at (state, 0), and residual gives (query + R c, context + c), R being there only where a
 * later call reads the query. So serial, parallel and flat over one memory are the plain decoders of the papers. A
 * sentinel is sigmoid (W [s'; y] + b) * query, of s', the state of the step before, and y, the word that is read.
 *
 * site-build.c is what a combiner declares, site.c what it calls, site-chosen.c what it calls for chosen rows;
 * site-apart.c is attention that has weights, site-keys.c what stands behind the calls.
 */

#define PLAIT_CROSS_MAX_SLOTS 256
#define PLAIT_CROSS_MAX_ATTENTIONS 256

typedef enum
{
  PLAIT_ATTEND_MEMORY,
  PLAIT_ATTEND_JOINTLY,
  PLAIT_ATTEND_CONTEXTS,
} PlaitAttentionKind;

/* One declared attention. */
typedef struct
{
  PlaitAttentionKind kind;
  const char *name; /* NULL: the one without */
  guint first, n;   /* the memories that it reads; none of contexts */
  guint heads;
  double dropout;            /* of the weights */
  double output_dropout;     /* of the context */
  gboolean weights;          /* are given */
  double scale;              /* that products of queries and keys are multiplied by */
  PlaitAttention multi_head; /* scaled products */
  PlaitRecurrentAttention recurrent;
  PlaitCoveredMemory *covered; /* [n]: coverage beside it, or NULL */
} PlaitDeclaredAttention;

/* How much of the query the sentinel is; not declared where there is none. */
typedef struct
{
  PlaitLinear state;     /* [state, state] */
  PlaitLinear embedding; /* [embedding, state], with the bias */
} PlaitSentinelGate;

/* What a combiner has declared. */
typedef struct
{
  const PlaitDecoderBuild *decoder;
  gboolean multi_head; /* the way to score: scaled products, or those of scored.h */
  gint64 width;        /* of contexts, and of every memory */
  gint64 query_width;
  PlaitInstance combiner;
  guint n_slots;
  PlaitNorm *norms;                   /* [n_slots], scaled */
  PlaitLinear *refine;                /* [n_slots], scored: R of each residual slot; undeclared: not read */
  PlaitDeclaredAttention *attentions; /* [n_attentions] */
  guint n_attentions;
  gboolean *reads_rows; /* [n_memories] */
  PlaitSentinelGate gate;
  const PlaitCoveredMemory **covered; /* [n_covered]: the coverage beside all readers */
  guint n_covered;
  guint n_coverage; /* states of coverage in all */
} PlaitCrossAttentionLayer;

/* Lets the combiner of @decoder, which outlives the site, declare what it will call, below @prefix. */
gboolean plait_cross_layer_build (PlaitCrossAttentionLayer *cross, const PlaitDecoderBuild *decoder, gint64 query_width,
                                  gint64 width, const char *prefix, GError **error);

/* TRUE if a pass depends on the one before. */
static inline gboolean
plait_cross_layer_is_stepwise (const PlaitCrossAttentionLayer *cross)
{
  return cross->n_coverage > 0;
}

/* TRUE if combiner or coverage add losses. */
gboolean plait_cross_layer_has_losses (const PlaitCrossAttentionLayer *cross);

/* What one pass knows beside the parameters; shared by the sites of a decoder. */
typedef struct
{
  PlaitTape *tape;
  const PlaitMemory *memories;
  guint n_memories;
  PlaitRagged queries;
  const guint8 **present;           /* [n_memories]: a byte a query row, or NULL where every sentence has rows */
  const guint8 *any_present;        /* of all memories together; NULL: all */
  PlaitAttentionRecord *record;     /* or NULL */
  PlaitLossPass *losses;            /* or NULL: not wanted */
  PlaitAttentionCost *rows_weighed; /* is added to, or NULL */
  /* The queries of the next pass, number i of which goes on from query parents[i] of this one: coverage is renewed as
   * theirs. NULL: it is as this one's. */
  PlaitRagged next;
  const gint64 *parents;
} PlaitCrossAttentionPass;

/* Works out which queries have something to read. Lives in the tape's arena. */
PlaitCrossAttentionPass plait_cross_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories,
                                          PlaitRagged queries, PlaitAttentionRecord *record);

/*
 * What does not depend on the queries. In the arena of a tape.
 */
typedef struct
{
  PlaitKeyValues *key_values; /* [readers][n_memories]; keys NULL where a reader does not read a memory */
  PlaitNode **coverage;       /* [readers][n_memories]: what coverage prepared, or NULL */
  PlaitNode **prepared;       /* [n_memories]: what the combiner prepared, or NULL */
  PlaitTreeDescent *descents; /* [n_memories]: what walks down a memory have in common, where the combiner reads its
                       rows and these have levels */
  PlaitSiblingGroups *
      *sibling_groups;         /* [n_memories]: of these, NULL where children do not stand in order before their row */
  const PlaitMemory *memories; /* [n_memories] */
} PlaitCrossAttentionKeys;

/* Projects the memories for every declared attention. */
PlaitCrossAttentionKeys plait_cross_project (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                             const PlaitMemory *memories);

/* Lays the keys out for search, which reads them at every step. */
void plait_cross_keys_keep_columns (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionKeys *keys,
                                    PlaitTape *tape);

/* The same as constants of another @tape. */
PlaitCrossAttentionKeys plait_cross_keys_as_constants (const PlaitCrossAttentionLayer *cross,
                                                       const PlaitCrossAttentionKeys *keys, PlaitTape *tape);

/* What words add to the sentinel's gate, for all steps at once: embeddings [r, embedding] -> [r, state]; NULL without a
 * sentinel. */
PlaitNode *plait_cross_sentinel_gate_input (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                            PlaitNode *embedded);

/* The gate of a step from its rows of that and from the states of the step before; NULL from NULL. */
PlaitNode *plait_cross_sentinel_gate (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, PlaitNode *input,
                                      PlaitNode *state);

/* What a pass through one site is given. */
typedef struct
{
  PlaitCrossAttentionKeys keys;
  guint layer;          /* of the capture */
  PlaitNode *gate;      /* of the sentinel, or NULL */
  PlaitNode **coverage; /* [n_coverage]: the states of all pairs; renewed */
} PlaitCrossAttentionStep;

/* Runs the combiner on @query [queries, query width]. */
PlaitResidualStream plait_cross_combine (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionPass *pass,
                                         const PlaitCrossAttentionStep *step, PlaitNode *query);

/* The coverage of a first step over @queries, [n_coverage]: zeros for all pairs. */
PlaitNode **plait_cross_initial_coverage (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                          const PlaitMemory *memories, PlaitRagged queries);

/* A site in search: its keys, laid out for that, and the coverage that steps hand to each other, in storage of its own:
 * a step's tape is begun anew. */
typedef struct
{
  const PlaitCrossAttentionLayer *cross;
  PlaitCrossAttentionKeys keys;
  PlaitTensor *coverage; /* [n_coverage] */
  PlaitRagged queries;   /* of the step before; before the first, one a sentence */
} PlaitCrossAttentionSearch;

/* Room for at most @hypotheses rows at once, in the arena of the lasting @tape. */
PlaitCrossAttentionSearch plait_cross_search (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                              const PlaitMemory *memories, gint64 hypotheses);

/* What @pass, a step, is given: its query i goes on from query parents[i] of the step that was kept last, or at first
 * of that sentence. */
PlaitCrossAttentionStep plait_cross_search_step (const PlaitCrossAttentionSearch *search,
                                                 const PlaitCrossAttentionPass *pass, const gint64 *parents);

/* Keeps the coverage that @step came to. */
void plait_cross_search_keep (PlaitCrossAttentionSearch *search, const PlaitCrossAttentionPass *pass,
                              const PlaitCrossAttentionStep *step);

/*
 * For the files of the site.
 */

/* What a pass knows of a declared attention. */
typedef struct
{
  gboolean called;      /* to all rows */
  PlaitNode *query;     /* the last that was projected, or NULL */
  PlaitNode *projected; /* what became of it */
} PlaitCrossAttentionQuery;

/* What a combiner holds. */
struct PlaitCrossAttention
{
  PlaitCrossAttentionLayer *declared;

  /* While building. */
  PlaitParameters *parameters; /* NULL: running */
  const char *prefix;
  PlaitLosses losses;
  GError *fault; /* the first thing asked for that cannot be */

  /* While running. */
  const PlaitCrossAttentionPass *pass;
  const PlaitCrossAttentionKeys *keys;
  const PlaitCrossAttentionStep *step;
  PlaitNode *sentinel;               /* [queries, state width], or NULL */
  PlaitCrossAttentionQuery *queries; /* [readers] */
  gboolean *added;                   /* [slots]: whether something was added through the slot in this pass */
};

/* Where the keys of @attention for @memory stand. */
static inline guint
plait_cross_index (const PlaitCrossAttentionLayer *cross, const PlaitDeclaredAttention *attention, guint memory)
{
  return (guint)(attention - cross->attentions) * cross->decoder->n_memories + memory;
}

/* Notes what cannot be asked for in build, behind the combiner's name; the first is kept. */
void plait_cross_fault (PlaitCrossAttention *cross, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* The tape of the pass; NULL, and a fault, where the site is still being built. */
PlaitTape *plait_cross_running_tape (PlaitCrossAttention *cross, const char *call);

/* Leaves the step unless the query is [queries, query width]. */
void plait_cross_check_query (const PlaitCrossAttention *cross, const char *call, PlaitResidualStream query);

/* Leaves the step unless the rows of @memory were declared. */
void plait_cross_check_rows (PlaitCrossAttention *cross, const char *call, guint memory);

/* The declared attention, or NULL. @memory counts where one memory is read. */
PlaitDeclaredAttention *plait_cross_find_attention (const PlaitCrossAttention *cross, PlaitAttentionKind kind,
                                                    const char *name, guint memory);

/* Likewise while running; leaves the step where it was not declared. NULL, and a fault, where the site is still being
 * built. */
const PlaitDeclaredAttention *plait_cross_require_attention (PlaitCrossAttention *cross, const char *call,
                                                             PlaitAttentionKind kind, const char *name, guint memory);

/* The queries as an attention compares them with keys: projected at the first call of a pass, and found again later. */
PlaitNode *plait_cross_project_query (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                      PlaitResidualStream query);

/* What comes out of the attention: output projection of scaled products, dropout; rows not @present are zero. */
PlaitNode *plait_cross_project_output (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                       PlaitNode *value, const guint8 *present);

/* What stands for the attention in captures and dumps: its name, and of joint attention another than that of attention
 * to each memory, where a combiner has both. */
const char *plait_cross_record_name (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention);

/* One softmax a head over the rows of the memories that @attention reads, taken apart: @weights [heads] gets the
 * weights before dropout, memory after memory. Rows not @present are zero. */
PlaitNode *plait_cross_attend_unfused (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                       PlaitResidualStream query, const guint8 *present, PlaitNode **weights);

/* Attention over @contexts [@n] by the scores of scored.h. */
PlaitNode *plait_cross_attend_contexts_unfused (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                                PlaitResidualStream query, const PlaitContext *contexts, guint n);
