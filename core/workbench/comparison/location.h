/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* An object in an open HDF5 file of plait, with links followed: grid.h5 links to the files of its cells. */
typedef struct
{
  PlaitStore *store;
  char *path; /* path of a group or dataset in the store, never of a link */
} PlaitLocation;

/* Opens @file and finds @path in it, such as "/training" or "training/"; NULL: the root. Follows links, into other
 * files too. Changes that other programs made in a file are logged as a warning. (transfer full) */
PlaitLocation *plait_location_open (const char *file, const char *path, PlaitLog *log, GError **error);

void plait_location_free (PlaitLocation *location);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLocation, plait_location_free)

/* Joins "/a" and "b" to "/a/b". (transfer full) */
char *plait_location_join (const char *path, const char *name);

/* Returns the names of the members of the group @path, NULL-terminated; empty if there is no such group. (transfer
 * full) */
char **plait_location_members (PlaitStore *store, const char *path, GError **error);
