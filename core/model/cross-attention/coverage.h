/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"
#include "layers/linear.h"
#include "loading/call.h"

/*
 * Coverage of one attention to one memory: an instance of the coverage plugin, and the linear map from coverage states
 * to attention scores. An attention with several heads has one state for the mean of the heads' weights, or one state
 * for each head.
 */
typedef struct
{
  PlaitInstance instance;
  gint64 width;       /* width of a pair's state */
  gint64 score_width; /* width of the term that is added to the scores */
  PlaitLinear score;  /* [width, score width]; not declared if the plugin computes scores itself */
  guint n_states;     /* number of states: 1, or the number of heads */
  guint first_state;  /* index of the first of these states among all states of the cross-attention */
  guint memory;       /* index of the covered memory */
} PlaitCoveredMemory;

/* Builds the coverage plugin @component into @covered. Declares a linear map from states to scores, unless the plugin
 * computes scores itself. */
gboolean plait_covered_memory_build (PlaitCoveredMemory *covered, const PlaitComponent *component,
                                     const PlaitCoverageBuild *build, guint n_states, PlaitLossColumns *losses,
                                     GError **error);

/* Returns the argument of the plugin's functions, in the tape's arena. All fields are set except state and
 * attention. */
PlaitCoverageStep *plait_covered_memory_step (PlaitTape *tape, const PlaitMemory *memory,
                                              const PlaitQueryKeyPairs *pairs, PlaitNode *prepared, PlaitNode *query);

/* Returns the states before the first step: zeros for all @pairs, [pairs, width]. */
PlaitNode *plait_covered_memory_begin (const PlaitCoveredMemory *covered, PlaitTape *tape,
                                       const PlaitQueryKeyPairs *pairs);

/* Returns the term that the coverage @states add to the scores, [pairs, score width]. */
PlaitNode *plait_covered_memory_score (const PlaitCoveredMemory *covered, PlaitTape *tape, const PlaitMemory *memory,
                                       const PlaitQueryKeyPairs *pairs, PlaitNode *prepared, PlaitNode *states,
                                       PlaitNode *query);

/* Returns the new coverage states [pairs, width], which the plugin computes from @states and the attention weights
 * @attention [pairs, 1]. Adds the plugin's losses to @losses. */
PlaitNode *plait_covered_memory_update (const PlaitCoveredMemory *covered, PlaitCoverageStep *step, PlaitNode *states,
                                        PlaitNode *attention, PlaitLossPass *losses);

/* Returns the states [pairs, width] for the pairs of @queries, gathered from @states, which belong to the pairs of
 * @before. Query i continues query parents[i] of @before; both queries belong to one sentence. */
PlaitNode *plait_covered_memory_carry (PlaitTape *tape, PlaitNode *states, const PlaitQueryKeyPairs *before,
                                       PlaitRagged queries, const gint64 *parents);

/* Records the coverage of @memory in @layer: @states [n_states], and @prepared if the plugin names it and it has one
 * number for each row. */
void plait_covered_memory_record (const PlaitCoveredMemory *covered, PlaitAttentionRecord *record, guint layer,
                                  const char *name, guint memory, PlaitNode *const *states, const PlaitNode *prepared);
