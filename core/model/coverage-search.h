/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/site.h"

/* The coverage that a site's steps hand to each other in search, in storage of its own: a step's tape is begun anew. */
typedef struct
{
  const PlaitDeclaredSite *site;
  const PlaitMemory *memories;
  PlaitTensor *states; /* [n_coverage] */
  PlaitRagged queries; /* of the step before */
  gboolean begun;
} PlaitSearchCoverage;

/* Room for at most @hypotheses rows at once, in the arena of the lasting @tape. */
PlaitSearchCoverage plait_search_coverage (const PlaitDeclaredSite *site, PlaitTape *tape, const PlaitMemory *memories,
                                           gint64 hypotheses);

/* The coverage of the pairs of @hypotheses, which continue those of the step before as @parents say. */
PlaitNode **plait_search_coverage_continue (const PlaitSearchCoverage *coverage, PlaitTape *tape,
                                            PlaitRagged hypotheses, const gint64 *parents);

/* Keeps what the step made of it. */
void plait_search_coverage_keep (PlaitSearchCoverage *coverage, PlaitTape *tape, PlaitRagged hypotheses,
                                 PlaitNode *const *states);
