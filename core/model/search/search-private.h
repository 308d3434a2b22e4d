/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "cross-attention/attention-record.h"
#include "search/search.h"

/* What sentences that are searched together take: what reads them and what makes a step, and the work done so far. */
typedef struct
{
  PlaitPool *pool; /* borrowed */
  PlaitArena *batch_arena;
  PlaitArena *step_arena;
  PlaitTape *batch_tape; /* of a batch */
  PlaitTape *step;
  gint64 steps; /* of hypotheses */
  PlaitAttentionCost rows_weighed;
} PlaitSearchWorkspace;

/*
 * Data flow: the batch is read and its memories projected on the lasting tape of a room; every step runs on the step
 * tape, whose arena starts anew; the beam alone remembers hypotheses.
 */
struct PlaitSearch
{
  PlaitModel *model;
  PlaitPool *pool;
  gsize memory;
  PlaitSearchWorkspace whole;
  PlaitSearchWorkspace *parts; /* a thread each, once a batch has been dealt to them */
  PlaitRanks *ranks;           /* that share corpora, or NULL */
  PlaitSearchWork work;
};

/*
 * In how many parts, 1 or as many as threads, a batch of @sentences with beams of @beam is searched: a step of few rows
 * gives threads less to do than to wait for each other, so each takes its sentences through the whole search. The bits
 * of a row do not depend on the rows beside it, hence not on the parts: these may follow the number of threads.
 */
gint64 plait_search_parts (const PlaitPool *pool, gint64 sentences, gint64 beam);

/* An empty capture of a pass or a step of the model, in the lasting arena of @workspace. */
PlaitAttentionRecord *plait_search_record (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                           gboolean coverage);

/* What @model, which predicts no sequence, tells of the sentences of @batch: reads them on @tape, whose values are
 * evaluated, and fills @predictions [n_sentences], all zero before, as plait_search_batch says. Of classes, choices and
 * spans the @n_best best. Leaves by the tape's arena where that is full; what is told by then is the caller's. */
void plait_predict (PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, gint64 n_best,
                    PlaitHypotheses *predictions);
