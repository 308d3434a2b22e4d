/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "command/command.h"

/* Joins the processes that a launcher such as mpirun started together. Sets *@ranks to them, or to NULL if there is
 * only one process. Mutes the log of all processes except the first. PLAIT_ERROR_INPUT if the module ranks/mpi cannot
 * be loaded, or if MPI reports another number of processes than the launcher. */
gboolean plait_ranks_join (PlaitRanks **ranks, PlaitInvocation *invocation, GError **error);

/* Returns FALSE with PLAIT_ERROR_INPUT if a launcher started several processes. The error says that @what, a command or
 * an option, runs as one process. */
gboolean plait_ranks_refuse (const char *what, GError **error);
