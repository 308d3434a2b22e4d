/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/runs.h"

/*
 * Runs that are one system: the same experiment, trained with different seeds. What compare, report and plot show of
 * several seeds is shown of such a system.
 */

typedef struct
{
  char *name; /* of its only run; else what the names of its runs begin with, and how many seeds: "flat, 3 seeds" */
  guint n;
  guint *runs; /* [n], places among all */
} PlaitRunSystem;

/* The systems of @runs, in the order of their first runs. Runs are of one system if all settings that can change a
 * score, and the contents of their files, are the same but for experiment.seed, and their seeds differ: a run beside
 * itself, or a repetition with the same seed, is a system of its own, as is a dump. (transfer full)
 * (element-type PlaitRunSystem) */
GArray *plait_run_systems_new (const GPtrArray *runs);
