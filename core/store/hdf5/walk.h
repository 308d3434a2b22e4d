/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/*
 * Looking through a file: every object below a path, in the order of its making, groups before their members.
 */
typedef struct
{
  const char *path;
  guint depth; /* below where the walk began */
  PlaitStoreObject object;
  const char *link_file;   /* of an external link: the file it leads to */
  const char *link_object; /* of a link: the path it leads to; links are not followed */
  gint64 id;               /* what has its attributes, open, for core/store; -1 of a link */
} PlaitStoreVisit;

typedef enum
{
  PLAIT_STORE_WALK_CONTINUE,
  PLAIT_STORE_WALK_SKIP, /* not below this one */
  PLAIT_STORE_WALK_STOP, /* no further at all, which is no error */
  PLAIT_STORE_WALK_FAIL, /* *error is set */
} PlaitStoreWalkAction;

/* Called for each object. @visit is gone when it returns. */
typedef PlaitStoreWalkAction (*PlaitStoreVisitor) (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data,
                                                   GError **error);

/* Visits @path and what is below it down to @maximum_depth (0: only @path). Reads names, shapes and types, no data. */
gboolean plait_store_walk (PlaitStore *store, const char *path, guint maximum_depth, PlaitStoreVisitor visitor,
                           gpointer data, GError **error);
