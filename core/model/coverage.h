/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/capture.h"
#include "nn/linear.h"
#include "plugin/coverage.h"

/*
 * Coverage beside one attention to one memory: the plugin's instance, the states of all pairs, and what they add to the
 * scores.
 */
typedef struct
{
  const PlaitCoverageTable *table; /* NULL: none */
  gconstpointer settings;
  gpointer state;    /* the plugin's, of the registry's memory */
  gint64 width;      /* of a pair's state */
  PlaitLinear score; /* [width, what a score is made of] */
} PlaitCovered;

/* Declares below @prefix what @table wants, and the map of states into scores that are made of @score_width numbers. */
gboolean plait_covered_build (PlaitCovered *covered, const PlaitCoverageTable *table, gconstpointer settings,
                              gint64 memory_width, gint64 query_width, gint64 score_width, PlaitParameters *parameters,
                              const char *prefix, GError **error);

/* What does not depend on the step; NULL if the plugin has no such thing. */
PlaitNode *plait_covered_prepare (const PlaitCovered *covered, PlaitTape *tape, const PlaitMemory *memory);

/* The states before the first step: zeros for all @pairs. */
PlaitNode *plait_covered_begin (const PlaitCovered *covered, PlaitTape *tape, const PlaitPairs *pairs);

/* What the states add to the scores, [pairs, score width]. */
PlaitNode *plait_covered_score (const PlaitCovered *covered, PlaitTape *tape, PlaitNode *states);

/* The states after @attention [pairs, 1] has been paid by @query [queries, query width]. */
PlaitNode *plait_covered_update (const PlaitCovered *covered, PlaitTape *tape, const PlaitMemory *memory,
                                 const PlaitPairs *pairs, PlaitNode *prepared, PlaitNode *states, PlaitNode *attention,
                                 PlaitNode *query);

/* The states of the pairs of @before as those of @queries, query i continuing query parents[i] of the same sentence. */
PlaitNode *plait_covered_carry (PlaitTape *tape, PlaitNode *states, const PlaitPairs *before, PlaitRagged queries,
                                const gint64 *parents);

/* Notes the coverage of memory @memory: @states of all pairs of the pass, and what plait_covered_prepare gave. */
void plait_covered_capture (const PlaitCovered *covered, PlaitCapture *capture, guint memory, const PlaitNode *states,
                            const PlaitNode *prepared);
