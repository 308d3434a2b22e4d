/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/ranks.h"
#include "model/search.h"

/* Of @n sentences each process has the hypotheses of some, and none of the others: now all have all. */
void plait_hypotheses_share (PlaitRanks *ranks, PlaitHypotheses *hypotheses, gint64 n);

/* Makes of each process's work that of all; the seconds stay its own. */
void plait_search_work_add (PlaitRanks *ranks, PlaitSearchWork *work);
