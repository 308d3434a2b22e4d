/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/*
 * A place in one of our files as a user names it, links followed: a grid's file leads on into those of its cells.
 */
typedef struct
{
  PlaitStore *store;
  char *path; /* a group or dataset of the store, no link */
} PlaitLocation;

/* Opens @file and finds @path in it ("/training", "training/"; NULL: the root). Links on the way are followed, into
 * other files of ours too; what other programs have changed in them is a warning. (transfer full) */
PlaitLocation *plait_location_open (const char *file, const char *path, PlaitLog *log, GError **error);

void plait_location_free (PlaitLocation *location);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLocation, plait_location_free)

/* "/a" and "b" to "/a/b". (transfer full) */
char *plait_location_join (const char *path, const char *name);

/* Names of the members of the group @path, NULL-terminated; none where there is no such group. (transfer full) */
char **plait_location_members (PlaitStore *store, const char *path, GError **error);
