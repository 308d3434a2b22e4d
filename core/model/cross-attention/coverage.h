/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"
#include "layers/linear.h"
#include "loading/call.h"

/*
 * Coverage beside one attention to one memory: the plugin's instance, the states of all pairs, and what they add to the
 * scores. An attention of several heads has one state of the mean of what they pay, or one state a head.
 */
typedef struct
{
  PlaitInstance instance;
  gint64 width;       /* of a pair's state */
  gint64 score_width; /* of what is added to the scores */
  PlaitLinear score;  /* [width, score width]; undeclared where the plugin has its own */
  guint n_states;     /* 1, or one a head */
  guint first_state;  /* among those of the site */
  guint memory;       /* that is read */
} PlaitCoveredMemory;

/* Declares what @component wants of @build, and the map of states into scores unless the part has one. */
gboolean plait_covered_memory_build (PlaitCoveredMemory *covered, const PlaitComponent *component,
                                     const PlaitCoverageBuild *build, guint n_states, PlaitLossColumns *losses,
                                     GError **error);

/* What a step of coverage is about, without places and links: those are filled here. In the tape's arena. */
PlaitCoverageStep *plait_covered_memory_step (PlaitTape *tape, const PlaitMemory *memory,
                                              const PlaitQueryKeyPairs *pairs, PlaitNode *prepared, PlaitNode *query);

/* The states before the first step: zeros for all @pairs. */
PlaitNode *plait_covered_memory_begin (const PlaitCoveredMemory *covered, PlaitTape *tape,
                                       const PlaitQueryKeyPairs *pairs);

/* What @states add to the scores, [pairs, score width]. */
PlaitNode *plait_covered_memory_score (const PlaitCoveredMemory *covered, PlaitTape *tape, const PlaitMemory *memory,
                                       const PlaitQueryKeyPairs *pairs, PlaitNode *prepared, PlaitNode *states,
                                       PlaitNode *query);

/* The states after @attention [pairs, 1] has been paid. */
PlaitNode *plait_covered_memory_update (const PlaitCoveredMemory *covered, PlaitCoverageStep *step, PlaitNode *states,
                                        PlaitNode *attention, PlaitLossPass *losses);

/* The states of the pairs of @before as those of @queries, query i continuing query parents[i] of the same sentence. */
PlaitNode *plait_covered_memory_carry (PlaitTape *tape, PlaitNode *states, const PlaitQueryKeyPairs *before,
                                       PlaitRagged queries, const gint64 *parents);

/* Notes the coverage of memory @memory in @layer: @states [n_states] of all pairs of the pass, side by side, and what
 * the part prepared. */
void plait_covered_memory_record (const PlaitCoveredMemory *covered, PlaitAttentionRecord *record, guint layer,
                                  const char *name, guint memory, PlaitNode *const *states, const PlaitNode *prepared);
