/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* Number of differences, bit for bit, between two runs in one group of objects. Time, machine (/environment, seconds)
 * and status are not compared. */

typedef struct
{
  const char *name; /* name of the group as users see it, such as "parameters and optimizer" */
  guint compared;   /* number of datasets and their attributes */
  guint different;  /* number of compared objects that differ or are in one file only */
  double largest;   /* largest difference between two numbers; 0 if no numbers differ */
  char *first;      /* first path that differs, or NULL */
} PlaitRunDiff;

typedef enum
{
  PLAIT_RUN_DIFF_ALL,
  PLAIT_RUN_DIFF_TRAINING, /* compare checkpoints and training tables */
  PLAIT_RUN_DIFF_LOG,      /* compare training tables */
} PlaitRunDiffScope;

/* Compares the parts of @a and @b that @extent selects. Reads the rows of training tables up to update @updates (0:
 * all). (transfer full) (element-type PlaitRunDiff) */
GArray *plait_run_diff_new (PlaitStore *a, PlaitStore *b, PlaitRunDiffScope extent, gint64 updates, GError **error);
