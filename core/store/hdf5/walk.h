/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* One object that a walk visits. A walk visits a path and the objects below it, in the order of creation, groups before
 * their members. */
typedef struct
{
  const char *path;
  guint depth; /* depth below the start of the walk */
  PlaitStoreObject object;
  const char *link_file;   /* target file of an external link; else NULL */
  const char *link_object; /* target path of a soft or external link, which is not followed; else NULL */
  gint64 id; /* hid_t of the open object, for core/store only; -1 for a link, and for items of a ragged group (ragged.h)
                and their arrays */
} PlaitStoreVisit;

typedef enum
{
  PLAIT_STORE_WALK_CONTINUE,
  PLAIT_STORE_WALK_SKIP, /* does not visit the members of this group */
  PLAIT_STORE_WALK_STOP, /* ends the walk, without an error */
  PLAIT_STORE_WALK_FAIL, /* ends the walk with *error set */
} PlaitStoreWalkAction;

/* Called for each object. @visit is valid during the call only. */
typedef PlaitStoreWalkAction (*PlaitStoreVisitor) (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data,
                                                   GError **error);

/* Visits @path and the objects below it down to @maximum_depth (0: only @path). Reads names, shapes and types, no
 * values. */
gboolean plait_store_walk (PlaitStore *store, const char *path, guint maximum_depth, PlaitStoreVisitor visitor,
                           gpointer data, GError **error);
