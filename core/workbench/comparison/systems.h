/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/runs.h"

/* A system: runs of one experiment that differ only in their seed. compare, report and plot show such runs together. */

typedef struct
{
  char *name; /* common beginning of the names of the runs, or name of the first run; for several runs, also the number
                 of seeds: "flat, 3 seeds" */
  guint n;
  guint *runs; /* [n]: indices of the runs */
} PlaitRunSystem;

/* Returns system @s of @systems (element-type PlaitRunSystem). */
static inline PlaitRunSystem *
plait_run_system_at (const GArray *systems, guint s)
{
  return &g_array_index (systems, PlaitRunSystem, s);
}

/* Groups @runs into systems, in the order of their first runs. Runs are one system if their seeds differ and all other
 * settings that can change a score, and the contents of their files, are equal. A system has a seed only once: a second
 * run with this seed begins or joins another system. A dump is a system of its own. (transfer full) (element-type
 * PlaitRunSystem) */
GArray *plait_run_systems_new (const GPtrArray *runs);
