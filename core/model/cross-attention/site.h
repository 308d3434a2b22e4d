/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/coverage.h"
#include "settings/decoder-build.h"
#include "cross-attention/scored.h"
#include "layers/attention.h"
#include "layers/norm.h"
#include "attention/families.h"

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

#define PLAIT_SITE_MAXIMUM_SLOTS 256
#define PLAIT_SITE_MAXIMUM_READERS 256

typedef enum
{
  PLAIT_READS_MEMORY,
  PLAIT_READS_JOINTLY,
  PLAIT_READS_CONTEXTS,
} PlaitReads;

/* One declared attention. */
typedef struct
{
  PlaitReads reads;
  const char *name; /* NULL: the one without */
  guint first, n;   /* the memories that it reads; none of contexts */
  guint heads;
  double dropout;        /* of the weights */
  double output_dropout; /* of the context */
  gboolean weights;      /* are given */
  double scale;          /* that products of queries and keys are multiplied by */
  PlaitAttention scaled; /* scaled products */
  PlaitScoredAttention scored;
  PlaitCovered *covered; /* [n]: coverage beside it, or NULL */
} PlaitReader;

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
  gboolean scaled; /* the way to score: scaled products, or those of scored.h */
  gint64 width;    /* of contexts, and of every memory */
  gint64 query_width;
  PlaitInstance combiner;
  guint n_slots;
  PlaitNorm *norms;     /* [n_slots], scaled */
  PlaitLinear *refine;  /* [n_slots], scored: R of each residual slot; undeclared: not read */
  PlaitReader *readers; /* [n_readers] */
  guint n_readers;
  gboolean *reads_rows; /* [n_memories] */
  PlaitSentinelGate gate;
  const PlaitCovered **covered; /* [n_covered]: the coverage beside all readers */
  guint n_covered;
  guint n_coverage; /* states of coverage in all */
} PlaitDeclaredSite;

/* Lets the combiner of @decoder, which outlives the site, declare what it will call, below @prefix. */
gboolean plait_declared_site_build (PlaitDeclaredSite *site, const PlaitDecoderBuild *decoder, gint64 query_width,
                                    gint64 width, const char *prefix, GError **error);

/* TRUE if a pass depends on the one before. */
static inline gboolean
plait_declared_site_is_stepwise (const PlaitDeclaredSite *site)
{
  return site->n_coverage > 0;
}

/* TRUE if combiner or coverage add losses. */
gboolean plait_declared_site_has_losses (const PlaitDeclaredSite *site);

/* What one pass knows beside the parameters; shared by the sites of a decoder. */
typedef struct
{
  PlaitTape *tape;
  const PlaitMemory *memories;
  guint n_memories;
  PlaitRagged queries;
  const guint8 **present;    /* [n_memories]: a byte a query row, or NULL where every sentence has rows */
  const guint8 *any_present; /* of all memories together; NULL: all */
  PlaitCapture *capture;     /* or NULL */
  PlaitLossPass *losses;     /* or NULL: not wanted */
  PlaitTouched *touched;     /* is added to, or NULL */
  /* The queries of the next pass, number i of which goes on from query parents[i] of this one: coverage is renewed as
   * theirs. NULL: it is as this one's. */
  PlaitRagged next;
  const gint64 *parents;
} PlaitSitePass;

/* Works out which queries have something to read. Lives in the tape's arena. */
PlaitSitePass plait_site_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories, PlaitRagged queries,
                               PlaitCapture *capture);

/*
 * What does not depend on the queries. In the arena of a tape.
 */
typedef struct
{
  PlaitAttended *attended; /* [readers][n_memories]; keys NULL where a reader does not read a memory */
  PlaitNode **coverage;    /* [readers][n_memories]: what coverage prepared, or NULL */
  PlaitNode **prepared;    /* [n_memories]: what the combiner prepared, or NULL */
  PlaitWalk *walks; /* [n_memories]: what walks down a memory have in common, where the combiner reads its rows and
                       these have levels */
  PlaitFamilies **families;    /* [n_memories]: of these, NULL where children do not stand in order before their row */
  const PlaitMemory *memories; /* [n_memories] */
} PlaitSiteKeys;

/* Projects the memories for every declared attention. */
PlaitSiteKeys plait_site_project (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories);

/* Lays the keys out for search, which reads them at every step. */
void plait_site_keys_keep_columns (const PlaitDeclaredSite *site, const PlaitSiteKeys *keys, PlaitTape *tape);

/* The same as constants of another @tape. */
PlaitSiteKeys plait_site_keys_on (const PlaitDeclaredSite *site, const PlaitSiteKeys *keys, PlaitTape *tape);

/* What words add to the sentinel's gate, for all steps at once: embeddings [r, embedding] -> [r, state]; NULL without a
 * sentinel. */
PlaitNode *plait_site_gate_input (const PlaitDeclaredSite *site, PlaitTape *tape, PlaitNode *embedded);

/* The gate of a step from its rows of that and from the states of the step before; NULL from NULL. */
PlaitNode *plait_site_gate (const PlaitDeclaredSite *site, PlaitTape *tape, PlaitNode *input, PlaitNode *state);

/* What a pass through one site is given. */
typedef struct
{
  PlaitSiteKeys keys;
  guint layer;          /* of the capture */
  PlaitNode *gate;      /* of the sentinel, or NULL */
  PlaitNode **coverage; /* [n_coverage]: the states of all pairs; renewed */
} PlaitSiteStep;

/* Runs the combiner on @query [queries, query width]. */
PlaitStream plait_site_combine (const PlaitDeclaredSite *site, const PlaitSitePass *pass, const PlaitSiteStep *step,
                                PlaitNode *query);

/* The coverage of a first step over @queries, [n_coverage]: zeros for all pairs. */
PlaitNode **plait_site_first_coverage (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories,
                                       PlaitRagged queries);

/* A site in search: its keys, laid out for that, and the coverage that steps hand to each other, in storage of its own:
 * a step's tape is begun anew. */
typedef struct
{
  const PlaitDeclaredSite *site;
  PlaitSiteKeys keys;
  PlaitTensor *coverage; /* [n_coverage] */
  PlaitRagged queries;   /* of the step before; before the first, one a sentence */
} PlaitSiteSearch;

/* Room for at most @hypotheses rows at once, in the arena of the lasting @tape. */
PlaitSiteSearch plait_site_search (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories,
                                   gint64 hypotheses);

/* What @pass, a step, is given: its query i goes on from query parents[i] of the step that was kept last, or at first
 * of that sentence. */
PlaitSiteStep plait_site_search_step (const PlaitSiteSearch *search, const PlaitSitePass *pass, const gint64 *parents);

/* Keeps the coverage that @step came to. */
void plait_site_search_keep (PlaitSiteSearch *search, const PlaitSitePass *pass, const PlaitSiteStep *step);

/*
 * For the files of the site.
 */

/* What a pass knows of a declared attention. */
typedef struct
{
  gboolean called;      /* to all rows */
  PlaitNode *query;     /* the last that was projected, or NULL */
  PlaitNode *projected; /* what became of it */
} PlaitSiteQuery;

/* What a combiner holds. */
struct PlaitSite
{
  PlaitDeclaredSite *declared;

  /* While building. */
  PlaitParameters *parameters; /* NULL: running */
  const char *prefix;
  PlaitLosses losses;
  GError *fault; /* the first thing asked for that cannot be */

  /* While running. */
  const PlaitSitePass *pass;
  const PlaitSiteKeys *keys;
  const PlaitSiteStep *step;
  PlaitNode *sentinel;     /* [queries, state width], or NULL */
  PlaitSiteQuery *queries; /* [readers] */
  gboolean *added;         /* [slots]: whether something was added through the slot in this pass */
};

/* Where the keys of @reader for @memory stand. */
static inline guint
plait_site_place (const PlaitDeclaredSite *site, const PlaitReader *reader, guint memory)
{
  return (guint)(reader - site->readers) * site->decoder->n_memories + memory;
}

/* Notes what cannot be asked for in build, behind the combiner's name; the first is kept. */
void plait_site_fault (PlaitSite *site, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* The tape of the pass; NULL, and a fault, where the site is still being built. */
PlaitTape *plait_site_running (PlaitSite *site, const char *call);

/* Leaves the step unless the query is [queries, query width]. */
void plait_site_check_query (const PlaitSite *site, const char *call, PlaitStream query);

/* Leaves the step unless the rows of @memory were declared. */
void plait_site_check_rows (PlaitSite *site, const char *call, guint memory);

/* The declared attention, or NULL. @memory counts where one memory is read. */
PlaitReader *plait_site_find_reader (const PlaitSite *site, PlaitReads reads, const char *name, guint memory);

/* Likewise while running; leaves the step where it was not declared. NULL, and a fault, where the site is still being
 * built. */
const PlaitReader *plait_site_reader (PlaitSite *site, const char *call, PlaitReads reads, const char *name,
                                      guint memory);

/* The queries as an attention compares them with keys: projected at the first call of a pass, and found again later. */
PlaitNode *plait_site_project_query (PlaitSite *site, const PlaitReader *reader, PlaitStream query);

/* What comes out of the attention: output projection of scaled products, dropout; rows not @present are zero. */
PlaitNode *plait_site_project_output (const PlaitSite *site, const PlaitReader *reader, PlaitNode *value,
                                      const guint8 *present);

/* What stands for the attention in captures and dumps: its name, and of joint attention another than that of attention
 * to each memory, where a combiner has both. */
const char *plait_site_captured_name (const PlaitSite *site, const PlaitReader *reader);

/* One softmax a head over the rows of the memories that @reader reads, taken apart: @weights [heads] gets the weights
 * before dropout, memory after memory. Rows not @present are zero. */
PlaitNode *plait_site_attend_apart (PlaitSite *site, const PlaitReader *reader, PlaitStream query,
                                    const guint8 *present, PlaitNode **weights);

/* Attention over @contexts [@n] by the scores of scored.h. */
PlaitNode *plait_site_attend_contexts_apart (PlaitSite *site, const PlaitReader *reader, PlaitStream query,
                                             const PlaitContext *contexts, guint n);
