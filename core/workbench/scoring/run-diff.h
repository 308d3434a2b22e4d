/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/*
 * Differences, bit for bit, between two runs in one group of objects. Leaves out what may differ between equal runs:
 * time and machine (/environment, seconds, tokens per second), status, version, fingerprints, the experiment's text,
 * the digests of the file, the default for viewers, the attributes of /training, and named evaluations (SPLIT.NAME).
 */
typedef struct
{
  const char *name; /* name of the group as users see it, such as "parameters and optimizer" */
  guint compared;   /* number of compared datasets and attributes, and of objects that only one file has */
  guint different;  /* number of compared objects that differ or are in one file only */
  double largest;   /* largest difference of two floating-point numbers in datasets with equally many rows; 0 if none
                       differ */
  char *first;      /* first path that differs, PATH@NAME for an attribute; NULL if none differs */
} PlaitRunDiff;

typedef enum
{
  PLAIT_RUN_DIFF_ALL,
  PLAIT_RUN_DIFF_TRAINING, /* compare checkpoints and training tables */
  PLAIT_RUN_DIFF_LOG,      /* compare training tables */
} PlaitRunDiffScope;

/* Compares the parts of @a and @b that @extent selects. If @updates is not 0, ignores attributes, and ignores rows of
 * training tables after update @updates. Returns an item for each group, also for those that @extent leaves out.
 * (transfer full) (element-type PlaitRunDiff) */
GArray *plait_run_diff_new (PlaitStore *a, PlaitStore *b, PlaitRunDiffScope extent, gint64 updates, GError **error);
