/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/coverage.h"
#include "model/decoder.h"
#include "model/site-pass.h"

/*
 * The attention site of a recurrent decoder. What flows through it is the pair (query, context): it starts at (state,
 * 0), and residual gives (query + R c, context + c), R being there only where a later call reads the query. So serial,
 * parallel and flat over one memory are the plain decoders of the papers. Attention has one head, and its scores are
 * additive (Chen et al. 2017, eq. 7), multiplicative or dot products (Luong et al. 2015). Joint attention and attention
 * over contexts are Libovicky & Helcl 2017, eq. 6-10; either can have a sentinel (ibid.; Lu et al. 2017),
 * a further item that lets the decoder read no memory, sigmoid (W [s'; y] + b) * query, of s', the state of the step
 * before, and y, the word that is read.
 */

/* What an attention has of its own for each memory (or context), or once for all. */
typedef struct
{
  PlaitLinear key;      /* [memory, attention], with a bias in additive scores; undeclared: rows are keys */
  PlaitParameter *bias; /* [1, 1] beside the score, or NULL */
  PlaitLinear value;    /* [memory, context] with a bias, or undeclared: rows are values, or keys where @tied */
  gboolean tied;
} PlaitScoredItem;

typedef struct
{
  gboolean declared;
  PlaitLinear query;      /* [state, attention]; undeclared in dot products */
  PlaitParameter *vector; /* [1, attention], additive scores */
  PlaitScoredItem *items; /* [n_items]: one for all, or one each */
  guint n_items;
  PlaitScoredItem *sentinel; /* of states, not of memories; NULL: none */
  double dropout;            /* of the weights */
  double output_dropout;
} PlaitScoredAttention;

/* How much of the query the sentinel is; not declared where there is none. */
typedef struct
{
  PlaitLinear state;     /* [state, state] */
  PlaitLinear embedding; /* [embedding, state], with the bias */
} PlaitSentinelGate;

typedef struct
{
  const PlaitMemorySpecification *memories;
  guint n_memories;
  gint64 width;       /* of contexts, and of every memory */
  gint64 state_width; /* of queries */
  PlaitAttentionScore score;
  PlaitScoredAttention *attend; /* [n_memories] */
  PlaitScoredAttention jointly;
  PlaitScoredAttention contexts;
  PlaitSentinelGate gate;
  PlaitLinear *refine;   /* [n_memories]: R of each residual slot; undeclared: not read */
  PlaitCovered *covered; /* [n_memories]: of the one attention that reads a memory; without a table: none */
} PlaitRecurrentSite;

/* Lets the combiner of @build declare what it will call, below @prefix. The memories have one width, the site's.
 * PLAIT_ERROR_INPUT for several heads, and for dot products of states and memories of different widths. */
gboolean plait_recurrent_site_build (PlaitRecurrentSite *site, const PlaitDecoderBuild *build, gint64 state_width,
                                     gint64 width, const char *prefix, GError **error);

/* A memory as an attention sees it: keys and values do not depend on the step. NULL where not declared. */
typedef struct
{
  PlaitNode *keys;
  PlaitNode *values;
} PlaitScoredMemory;

typedef struct
{
  PlaitScoredMemory *attend;  /* [n_memories] */
  PlaitScoredMemory *jointly; /* [n_memories] */
  PlaitNode **prepared;       /* [n_memories], by coverage; or NULL each */
} PlaitScoredKeys;

/* Projects the memories for every declared attention. Lives in the tape's arena. */
PlaitScoredKeys plait_recurrent_site_project (const PlaitRecurrentSite *site, PlaitTape *tape,
                                              const PlaitMemory *memories);

/* The same as constants of another @tape. */
PlaitScoredKeys plait_scored_keys_on (const PlaitScoredKeys *keys, guint n_memories, PlaitTape *tape);

/* What words add to the sentinel's gate, for all steps at once: embeddings [r, embedding] -> [r, state]; NULL without a
 * sentinel. */
PlaitNode *plait_recurrent_site_gate_input (const PlaitRecurrentSite *site, PlaitTape *tape, PlaitNode *embedded);

/* The gate of a step from its rows of that and from the states of the step before; NULL from NULL. */
PlaitNode *plait_recurrent_site_gate (const PlaitRecurrentSite *site, PlaitTape *tape, PlaitNode *input,
                                      PlaitNode *state);

/* Runs the combiner with the states @query [queries, state width] and returns the context [queries, width]. @gate is
 * the sentinel's, or NULL. @coverage [n_memories] has the coverage of all pairs, where there is any, and is renewed. */
PlaitNode *plait_recurrent_site_combine (const PlaitRecurrentSite *site, const PlaitSitePass *pass,
                                         const PlaitScoredKeys *keys, const PlaitDecoderBuild *build, PlaitNode *query,
                                         PlaitNode *gate, PlaitNode **coverage);
