/* SPDX-License-Identifier: MIT */
#pragma once

#include "plugin/memory.h"

/*
 * An attention site: the place in a decoder where the memories of all sources are read. Any decoder can offer one; a
 * combiner is written against it once. Caches of keys and values, ancestry of hypotheses, capture of weights, dropout
 * and threads stay on the host's side of it.
 *
 * The four strategies of Libovicky, Helcl & Marecek 2018 in its terms:
 *
 *     serial         for each memory i:  x <- residual (x, attend_i (normalise (x)))
 *     parallel       q <- normalise (x);  x <- residual (x, sum_i attend_i (q))
 *     flat           x <- residual (x, attend_jointly (normalise (x)))
 *     hierarchical   q <- normalise (x);  x <- residual (x, attend_contexts (q, [attend_i (q)]))
 */
typedef struct PlaitSite PlaitSite;

/* What flows through a site: @query [query rows, query width] and @context [query rows, width]. In a Transformer
 * decoder
 * @query is the layer's states and @context is NULL. In a recurrent decoder the pair starts at (state, NULL) and
 * residual grows both. */
typedef struct
{
  PlaitNode *query;
  PlaitNode *context;
} PlaitStream;

/* What attending gave: [query rows, width], with output dropout applied. Rows whose sentence had nothing to read are
 * zero, and 0 in @present (one byte a query row; NULL: all present). */
typedef struct
{
  PlaitNode *value;
  const guint8 *present;
} PlaitContext;

/* Keys and values of what joint attention and attention over contexts choose among. */
typedef enum
{
  PLAIT_PROJECTIONS_SHARED,   /* one projection for all; in a recurrent decoder values are what is chosen itself */
  PLAIT_PROJECTIONS_SEPARATE, /* one for each memory, or context */
  PLAIT_PROJECTIONS_TIED, /* one for each that makes key and value at once, in a recurrent decoder (Libovicky & Helcl
                             2017, where they call it shared); a Transformer decoder refuses it */
  PLAIT_PROJECTIONS_PUBLISHED, /* shared in a Transformer decoder (Libovicky et al. 2018, eq. 5-8), separate in a
                                  recurrent one (Libovicky & Helcl 2017, eq. 6-10) */
} PlaitProjections;

/* Settings of one declared attention. */
typedef struct
{
  guint heads;                  /* 0: as many as the decoder's self-attention has */
  double dropout;               /* of the weights; negative: the decoder's attention dropout */
  double output_dropout;        /* of the context; negative: the decoder's dropout */
  PlaitProjections projections; /* of joint attention, and of attention over contexts */
  gboolean sentinel; /* likewise: one more item, made of the decoder's own state (Libovicky & Helcl 2017), in a
                        recurrent decoder; a Transformer decoder refuses it. At most one attention of a site has it */
} PlaitSiteAttention;

/* The memories that stand at this site, in the order of the experiment's sources. Valid while building and running. */
PLAIT_API guint plait_site_n_memories (const PlaitSite *site);
PLAIT_API const PlaitMemorySpecification *plait_site_memory (const PlaitSite *site, guint memory);

/* Width of contexts, and of every memory. */
PLAIT_API gint64 plait_site_width (const PlaitSite *site);

/* Width of queries: that of contexts in a Transformer decoder; in a recurrent one that of its states
 * (decoder.state_width), which may be another. */
PLAIT_API gint64 plait_site_query_width (const PlaitSite *site);

/*
 * While building: every parameter is declared before anything runs. Names: PREFIX/normalise/SLOT/...,
 * PREFIX/attend/MEMORY/..., PREFIX/jointly/..., PREFIX/contexts/....
 */

/* Layer normalisation number @slot (0 .. memories - 1), for normalise (pre-norm) or residual (post-norm). Once a slot.
 */
PLAIT_API void plait_site_declare_residual (PlaitSite *site, guint slot);

/* The attention that the function of the same name below computes. Once a memory, once jointly, once over contexts. */
PLAIT_API void plait_site_declare_attend (PlaitSite *site, guint memory, const PlaitSiteAttention *attention);
PLAIT_API void plait_site_declare_attend_jointly (PlaitSite *site, const PlaitSiteAttention *attention);
PLAIT_API void plait_site_declare_attend_contexts (PlaitSite *site, const PlaitSiteAttention *attention);

/*
 * While running.
 */

/* What operators of one's own are composed on. */
PLAIT_API PlaitTape *plait_site_tape (PlaitSite *site);

/* Layer norm @slot over the query in a pre-norm Transformer decoder; @x itself in post-norm and in recurrent decoders.
 */
PLAIT_API PlaitStream plait_site_normalise (PlaitSite *site, guint slot, PlaitStream x);

/* Multi-head attention of the queries to one memory (eq. 2-3). */
PLAIT_API PlaitContext plait_site_attend (PlaitSite *site, guint memory, PlaitStream query);

/* One softmax over the rows of all memories (eq. 5-6). */
PLAIT_API PlaitContext plait_site_attend_jointly (PlaitSite *site, PlaitStream query);

/* Attention over contexts, one for each memory (eq. 7-8). Absent contexts get no weight. */
PLAIT_API PlaitContext plait_site_attend_contexts (PlaitSite *site, PlaitStream query, const PlaitContext *contexts);

/* The sum of @n contexts (eq. 4). */
PLAIT_API PlaitContext plait_site_sum (PlaitSite *site, const PlaitContext *contexts, guint n);

/* x + context; in post-norm layer norm @slot of that, and @x itself where the context is absent. */
PLAIT_API PlaitStream plait_site_residual (PlaitSite *site, guint slot, PlaitStream x, PlaitContext context);

/*
 * For decoders: a site is a table of the functions above and what the decoder needs behind them.
 */
typedef struct
{
  void (*declare_residual) (PlaitSite *site, guint slot);
  void (*declare_attend) (PlaitSite *site, guint memory, const PlaitSiteAttention *attention);
  void (*declare_attend_jointly) (PlaitSite *site, const PlaitSiteAttention *attention);
  void (*declare_attend_contexts) (PlaitSite *site, const PlaitSiteAttention *attention);
  PlaitTape *(*tape) (PlaitSite *site);
  PlaitStream (*normalise) (PlaitSite *site, guint slot, PlaitStream x);
  PlaitContext (*attend) (PlaitSite *site, guint memory, PlaitStream query);
  PlaitContext (*attend_jointly) (PlaitSite *site, PlaitStream query);
  PlaitContext (*attend_contexts) (PlaitSite *site, PlaitStream query, const PlaitContext *contexts);
  PlaitContext (*sum) (PlaitSite *site, const PlaitContext *contexts, guint n);
  PlaitStream (*residual) (PlaitSite *site, guint slot, PlaitStream x, PlaitContext context);
} PlaitSiteTable;

struct PlaitSite
{
  const PlaitSiteTable *table;
  const PlaitMemorySpecification *memories;
  guint n_memories;
  gint64 width;       /* of contexts and memories */
  gint64 query_width; /* of queries */
};
