/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* Count of differences between two runs, bit for bit, in one group of objects. Time, machine (/environment, seconds)
 * and status are not compared. */

typedef struct
{
  const char *name; /* name of the group for people, such as "parameters and optimizer" */
  guint compared;   /* number of datasets and their attributes */
  guint different;  /* how many of them differ or are in one file only */
  double largest;   /* largest difference of two numbers; 0 if other things differ */
  char *first;      /* first path that differs, or NULL */
} PlaitRunDiff;

typedef enum
{
  PLAIT_RUN_DIFF_ALL,
  PLAIT_RUN_DIFF_TRAINING, /* checkpoints and training tables */
  PLAIT_RUN_DIFF_LOG,      /* training tables */
} PlaitRunDiffScope;

/* Compares @a with @b. Reads rows of training tables up to update @updates (0: all). (transfer full) (element-type
 * PlaitRunDiff) */
GArray *plait_run_diff_new (PlaitStore *a, PlaitStore *b, PlaitRunDiffScope extent, gint64 updates, GError **error);
