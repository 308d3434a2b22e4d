/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "command/command.h"

/* Joins the other processes where a launcher has started several; *@ranks is NULL where it has not. Those but the first
 * say nothing from now on. PLAIT_ERROR_INPUT without the module ranks/mpi. */
gboolean plait_ranks_join (PlaitRanks **ranks, PlaitInvocation *invocation, GError **error);

/* PLAIT_ERROR_INPUT where a launcher has started several processes, which @what is not for. */
gboolean plait_ranks_refuse (const char *what, GError **error);
