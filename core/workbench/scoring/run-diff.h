/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* How alike two runs are, bit for bit, by what is compared. What tells time and place (/environment, seconds) is left
 * out, and so is the status. */

typedef struct
{
  const char *name; /* "parameters and optimizer" */
  guint compared;   /* datasets, and attributes beside them */
  guint different;  /* of these, or in one file alone */
  double largest;   /* difference of two numbers; 0 where other things differ */
  char *first;      /* the first path that differs, or NULL */
} PlaitRunDiff;

typedef enum
{
  PLAIT_RUN_DIFF_ALL,
  PLAIT_RUN_DIFF_TRAINING, /* checkpoints and training tables */
  PLAIT_RUN_DIFF_LOG,      /* training tables */
} PlaitRunDiffScope;

/* Compares @a and @b. Of training tables the rows up to update @updates (0: all). (transfer full) (element-type
 * PlaitRunDiff) */
GArray *plait_run_diff_new (PlaitStore *a, PlaitStore *b, PlaitRunDiffScope extent, gint64 updates, GError **error);
