/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/coverage.h"
#include "cross-attention/readings.h"
#include "settings/decoder-components.h"
#include "cross-attention/recurrent-attention.h"
#include "layers/attention.h"
#include "layers/norm.h"
#include "attention/sibling-attention.h"

/*
 * The cross-attention of a decoder. A combiner computes it, through one interface for all decoders.
 *
 * A layer of a Transformer decoder has multi-head attention: scaled dot products of several heads (Vaswani et al.
 * 2017). The residual stream is the layer's states. plait_cross_normalise applies pre-norm, plait_cross_residual
 * post-norm.
 *
 * A GRU or LSTM decoder has recurrent attention: one head with the scores of recurrent-attention.h. The residual stream
 * is a pair (query, context), which begins as (state, 0). To add a context c, plait_cross_residual replaces this pair
 * by (query + R c, context + c). R is a matrix of the slot; the last slot has no R and leaves the query unchanged. So
 * with one memory, the combiners serial, parallel and flat give the plain decoders of the papers. The sentinel is
 * sigmoid (W [s'; y] + b) * query: s' is the previous state, y the embedding of the word that the step reads.
 *
 * attention-declare.c: calls during build; cross-attention.c: calls while running; attention-sparse.c: calls while
 * running, for selected rows; attention-unfused.c: attention that returns weights; attention-keys.c: state of a pass.
 */

#define PLAIT_CROSS_MAX_SLOTS 256
#define PLAIT_CROSS_MAX_ATTENTIONS 256

typedef enum
{
  PLAIT_ATTEND_MEMORY,
  PLAIT_ATTEND_JOINTLY,
  PLAIT_ATTEND_CONTEXTS,
} PlaitAttentionKind;

typedef struct
{
  PlaitAttentionKind kind;
  const char *name; /* NULL: the attention without a name */
  guint first, n;   /* the attention reads memories first .. first + n - 1; n is 0 for attention over contexts */
  guint heads;
  double dropout;            /* dropout rate of the weights */
  double output_dropout;     /* dropout rate of the context */
  gboolean weights;          /* TRUE: return the weights to the combiner */
  double scale;              /* factor of dot products */
  PlaitAttention multi_head; /* parameters of multi-head attention, in a Transformer decoder */
  PlaitRecurrentAttention recurrent;
  PlaitCoveredMemory *covered; /* [n]: coverage of each memory, or NULL */
} PlaitDeclaredAttention;

/* Parameters of the sentinel's gate; the sentinel is gate * query. Not declared if no attention has a sentinel. */
typedef struct
{
  PlaitLinear state;
  PlaitLinear embedding; /* [embedding, state], with a bias */
} PlaitSentinelGate;

/* A cross-attention as its combiner declared it in build. */
typedef struct PlaitCrossAttentionLayer
{
  const PlaitDecoderComponents *decoder;
  gboolean multi_head; /* TRUE: scaled dot products of several heads; FALSE: one head with the scores of
                          recurrent-attention.h */
  gint64 width;        /* width of contexts and of every memory */
  gint64 query_width;
  PlaitScoreFunction score; /* score function of recurrent attention; not used if multi_head */
  gint64 attention_width;   /* width of the tanh layer of additive scores; not used if multi_head or tied */
  PlaitInstance combiner;
  guint n_slots;
  PlaitNorm *norms;    /* norm of each slot, if multi_head: [n_slots] */
  PlaitLinear *refine; /* map R of each slot, if not multi_head: [n_slots]; not declared for the last slot */
  PlaitDeclaredAttention *attentions;
  guint n_attentions;
  guint layer;            /* number of the cross-attention in its decoder, from 0 */
  gboolean reads_queries; /* TRUE if the combiner reads positions, sentences or tokens of the queries */
  gboolean *reads_rows;   /* [n_memories], TRUE if the combiner reads the memory's rows itself */
  PlaitSentinelGate gate;
  const PlaitCoveredMemory **covered; /* [n_covered]: coverage of each memory by each attention that has coverage */
  guint n_covered;
  guint n_coverage;                      /* number of coverage states in all attentions */
  PlaitReadRequest reads[PLAIT_READERS]; /* values that each reader requests from this cross-attention */
} PlaitCrossAttentionLayer;

/* Properties of a cross-attention. plait_cross_layer_build copies them to the fields of PlaitCrossAttentionLayer that
 * have these names. */
typedef struct
{
  gboolean multi_head;
  gint64 width;
  gint64 query_width;
  PlaitScoreFunction score;
  gint64 attention_width;
  guint layer;
} PlaitCrossDeclaration;

/* Builds the combiner of @decoder, which declares its attentions with parameters below @prefix. @decoder must outlive
 * @cross. */
gboolean plait_cross_layer_build (PlaitCrossAttentionLayer *cross, const PlaitDecoderComponents *decoder,
                                  const PlaitCrossDeclaration *declaration, const char *prefix, GError **error);

/* Stores in @cross that the output reads the values in @request. @memories [n_memories] is TRUE for each memory whose
 * attention the output reads. Fails with PLAIT_ERROR_INPUT if the combiner lacks the requested attention to such a
 * memory, or the requested head; the message begins with @reader. */
gboolean plait_cross_layer_read (PlaitCrossAttentionLayer *cross, const PlaitReadRequest *request,
                                 const gboolean *memories, const char *reader, GError **error);

/* Returns the number of heads of the attention called @name (NULL: without a name) to memory @memory; 0 if the combiner
 * has no such attention. */
guint plait_cross_layer_heads (const PlaitCrossAttentionLayer *cross, const char *name, guint memory);

/* Returns the largest number of heads of an attention to memory @memory; 0 if the combiner has no such attention. */
guint plait_cross_layer_max_heads (const PlaitCrossAttentionLayer *cross, guint memory);

/* TRUE if a step depends on the previous step, which is so with coverage. */
static inline gboolean
plait_cross_layer_is_stepwise (const PlaitCrossAttentionLayer *cross)
{
  return cross->n_coverage > 0;
}

/* TRUE if the combiner or coverage adds losses. */
gboolean plait_cross_layer_has_losses (const PlaitCrossAttentionLayer *cross);

/* Position, sentence and input token of each query row, [query rows]. If no combiner reads any of them, all three are
 * NULL. */
typedef struct
{
  const gint64 *positions;
  const gint64 *sentences;
  const gint32 *tokens;
} PlaitQueryRows;

/* Inputs of one pass, shared by the cross-attentions of all layers. */
typedef struct
{
  PlaitTape *tape;
  const PlaitMemory *memories;
  guint n_memories;
  PlaitRagged queries;
  PlaitQueryRows query_rows;
  const guint8 **present;    /* [n_memories]: for each query row a byte, 0 if the memory has no rows for its sentence;
                                an element is NULL if the memory has rows for every sentence */
  const guint8 *any_present; /* [query rows]: 0 if no memory has rows for its sentence; NULL: no byte is 0 */
  PlaitAttentionRecord *record;           /* NULL: record nothing */
  PlaitLossPass *losses;                  /* NULL: losses are not wanted */
  PlaitAttentionCost *rows_weighed;       /* cost to which the pass adds, or NULL */
  PlaitReadings *readings[PLAIT_READERS]; /* where to store the values that each reader reads; NULL: the reader reads
                                             nothing */
  /* Queries of the next pass. Query i of the next pass takes over the coverage states of query parents[i] of this pass.
   * parents NULL: the states stay at the queries of this pass. */
  PlaitRagged next;
  const gint64 *parents;
} PlaitCrossAttentionPass;

/* Returns a pass, and computes its arrays present and any_present in the tape's arena. Sets the queries and memories of
 * @record, unless it is NULL. */
PlaitCrossAttentionPass plait_cross_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories,
                                          PlaitRagged queries, PlaitAttentionRecord *record);

/* Nodes and tables that a cross-attention computes from the memories alone, independent of queries, in the arena of a
 * tape. */
typedef struct
{
  PlaitKeyValues *key_values; /* [attentions][n_memories]; .keys is NULL if the attention does not read the memory */
  PlaitNode **coverage;       /* [attentions][n_memories]: node that the coverage plugin prepared, or NULL */
  PlaitNode **prepared;       /* [n_memories]: node that the combiner prepared, or NULL */
  PlaitTreeDescent *descents; /* [n_memories]: levels and children of the rows; set if the combiner reads the rows
                                 and they have levels */
  PlaitSiblingGroups **sibling_groups; /* [n_memories]: sibling groups of the rows; NULL if the descent has no levels,
                                          or if plait_sibling_groups_find does not accept the memory's tree */
  const PlaitMemory *memories;
} PlaitCrossAttentionKeys;

/* Projects the memories to keys and values for every declared attention, and lets combiner and coverage prepare their
 * nodes. */
PlaitCrossAttentionKeys plait_cross_project (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                             const PlaitMemory *memories);

/* If multi_head, stores transposed keys for search, which reads them at every step. */
void plait_cross_keys_keep_columns (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionKeys *keys,
                                    PlaitTape *tape);

/* Returns @keys as constants on @tape, which need not be the tape on which they were computed. */
PlaitCrossAttentionKeys plait_cross_keys_as_constants (const PlaitCrossAttentionLayer *cross,
                                                       const PlaitCrossAttentionKeys *keys, PlaitTape *tape);

/* Returns the summand of the sentinel's gate that depends on words, [rows, state], for all steps at once. @embedded
 * [rows, embedding]: embeddings of the words that the steps read. Returns NULL if there is no sentinel. */
PlaitNode *plait_cross_sentinel_gate_input (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                            PlaitNode *embedded);

/* Returns the sentinel's gate in a step; NULL if @input is NULL. @input: the rows of this step in the result of
 * plait_cross_sentinel_gate_input. @state: states of the previous step. */
PlaitNode *plait_cross_sentinel_gate (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, PlaitNode *input,
                                      PlaitNode *state);

/* Inputs of one layer's cross-attention in a pass. */
typedef struct
{
  PlaitCrossAttentionKeys keys;
  guint layer;          /* index of the layer in the attention record */
  PlaitNode *gate;      /* gate of the sentinel, or NULL */
  PlaitNode **coverage; /* [n_coverage]: coverage states, a row for each query and memory row; replaced by the pass */
} PlaitCrossAttentionStep;

/* Runs the combiner on @query [queries, query width] and returns the residual stream that it computes. */
PlaitResidualStream plait_cross_combine (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionPass *pass,
                                         const PlaitCrossAttentionStep *step, PlaitNode *query);

/* Returns the coverage states before the first step over @queries, [n_coverage]: zeros for all pairs. */
PlaitNode **plait_cross_initial_coverage (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                          const PlaitMemory *memories, PlaitRagged queries);

/* A cross-attention in search: the keys, which all steps read, and the coverage states of the previous step. The states
 * are copied, because each step clears its tape. */
typedef struct
{
  const PlaitCrossAttentionLayer *cross;
  PlaitCrossAttentionKeys keys;
  PlaitTensor *coverage;
  PlaitRagged queries; /* queries of the previous step; before the first step, one for each sentence */
} PlaitCrossAttentionSearch;

/* Prepares a search in the arena of @tape, which lasts for the whole search. Each of the n sentences has at most
 * @hypotheses / n hypotheses at once. */
PlaitCrossAttentionSearch plait_cross_search (const PlaitCrossAttentionLayer *cross, PlaitTape *tape,
                                              const PlaitMemory *memories, gint64 hypotheses);

/* Returns keys and coverage of the step with pass @pass; the caller sets layer and gate. Query i of @pass continues
 * query parents[i] of the previous step, which is the last step given to plait_cross_search_keep. In the first step,
 * parents[i] is a sentence. */
PlaitCrossAttentionStep plait_cross_search_step (const PlaitCrossAttentionSearch *search,
                                                 const PlaitCrossAttentionPass *pass, const gint64 *parents);

/* Copies the coverage states of @step and the queries of @pass into @search, for the next step. */
void plait_cross_search_keep (PlaitCrossAttentionSearch *search, const PlaitCrossAttentionPass *pass,
                              const PlaitCrossAttentionStep *step);

/*
 * The declarations below are only for the files of this folder.
 */

/* State of one declared attention in a pass. */
typedef struct
{
  gboolean called;      /* TRUE if this pass computed the attention over all rows or contexts */
  PlaitNode *query;     /* the query projected last, or NULL */
  PlaitNode *projected; /* projection of @query */
} PlaitCrossAttentionQuery;

/* The handle that a combiner receives. */
struct PlaitCrossAttention
{
  PlaitCrossAttentionLayer *declared;

  /* Set only while the model is built: */
  PlaitParameters *parameters; /* NULL while running */
  const char *prefix;
  PlaitLosses losses;
  GError *fault; /* first fault, or NULL */

  /* Set only while the model runs: */
  const PlaitCrossAttentionPass *pass;
  const PlaitCrossAttentionKeys *keys;
  const PlaitCrossAttentionStep *step;
  PlaitNode *sentinel;
  PlaitCrossAttentionQuery *queries;          /* [n_attentions] */
  gboolean *added;                            /* [n_slots]: TRUE if this pass added a residual through the slot */
  PlaitCrossReading *readings[PLAIT_READERS]; /* where to store the values that each reader reads in this pass; NULL:
                                                 nothing */
};

/* TRUE if @reader reads the weights of @attention in this pass. */
static inline gboolean
plait_cross_is_read_by (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, guint reader)
{
  const PlaitReadRequest *read = &cross->declared->reads[reader];

  return cross->readings[reader] && read->attention
         && (attention->kind == PLAIT_ATTEND_CONTEXTS || g_strcmp0 (attention->name, read->name) == 0);
}

/* TRUE if a reader reads the weights of @attention in this pass. */
static inline gboolean
plait_cross_is_read (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention)
{
  gboolean read = FALSE;

  for (guint r = 0; r < PLAIT_READERS; r++)
    read |= plait_cross_is_read_by (cross, attention, r);
  return read;
}

/* Returns the index in PlaitCrossAttentionKeys.key_values of @attention's keys for @memory. */
static inline guint
plait_cross_index (const PlaitCrossAttentionLayer *cross, const PlaitDeclaredAttention *attention, guint memory)
{
  return (guint)(attention - cross->attentions) * cross->decoder->n_memories + memory;
}

/* Stores a fault of the combiner in build, with the combiner's name before the message. Keeps only the first fault. */
void plait_cross_fault (PlaitCrossAttention *cross, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Returns the tape of the pass. A call while the model is built stores a fault and returns NULL. */
PlaitTape *plait_cross_running_tape (PlaitCrossAttention *cross, const char *call);

/* Fails the step unless the query is [queries, query width]. */
void plait_cross_check_query (const PlaitCrossAttention *cross, const char *call, PlaitResidualStream query);

/* Fails the step unless the combiner declared in build that it reads the rows of @memory. */
void plait_cross_check_rows (PlaitCrossAttention *cross, const char *call, guint memory);

/* Returns the declared attention with @kind and @name, or NULL. @memory is used only for PLAIT_ATTEND_MEMORY. */
PlaitDeclaredAttention *plait_cross_find_attention (const PlaitCrossAttention *cross, PlaitAttentionKind kind,
                                                    const char *name, guint memory);

/* Returns the declared attention with @kind, @name and @memory; fails the step if it was not declared. A call while the
 * model is built always stores a fault and returns NULL. */
const PlaitDeclaredAttention *plait_cross_require_attention (PlaitCrossAttention *cross, const char *call,
                                                             PlaitAttentionKind kind, const char *name, guint memory);

/* Returns the projected query of an attention. Stores the projection, and returns it again until another query is
 * projected or the pass ends. */
PlaitNode *plait_cross_project_query (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                      PlaitResidualStream query);

/* Returns the context made of the weighted sum @value. If multi_head, applies the output projection, and sets the rows
 * to zero whose byte in @present is 0. Then applies dropout. */
PlaitNode *plait_cross_project_output (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                       PlaitNode *value, const guint8 *present);

/* Returns the name of the attention in records and dumps: its own name, or PLAIT_RECORDED_JOINTLY for joint attention
 * if there is also unnamed attention to a memory. */
const char *plait_cross_record_name (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention);

/* Returns the context of @attention, with one softmax for each head over the rows of the memories that it reads.
 * @weights [heads] receives one node for each head: the weights before dropout, those of all memories end to end, then
 * those of the sentinel. If there is no sentinel, the rows of the context whose byte in @present is 0 are zero. */
PlaitNode *plait_cross_attend_unfused (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                       PlaitResidualStream query, const guint8 *present, PlaitNode **weights);

/* Returns the context of an attention over @contexts [n], computed in separate steps: scores, softmax, weighted sum. */
PlaitNode *plait_cross_attend_contexts_unfused (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                                PlaitResidualStream query, const PlaitContext *contexts, guint n);
