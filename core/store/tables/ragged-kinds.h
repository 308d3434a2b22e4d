/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/internal.h"

/*
 * Ragged groups (ragged.h) that are open for reading. ragged-kinds.c reads and checks them, ragged-find.c finds their
 * items.
 */

/* One array of a kind of data. Its dataset holds the values of all items, end to end. */
typedef struct
{
  char *path, *name;
  PlaitStoreObject flat; /* the dataset of all items; flat.kind is PLAIT_STORE_UNKNOWN until the array is opened */
  gboolean text;
  gint64 *offsets; /* [items + 1] element offsets of the items */
  guint rank;
  gint64 *shapes; /* [items][rank] shape of each item; NULL for arrays of one dimension */
  hid_t id;       /* the open dataset; stays open to keep HDF5's cache of decompressed chunks */
} PlaitRaggedArray;

typedef struct
{
  char *path;
  const char *name; /* path of the kind within the ragged group */
  gint64 n;
  char **items;
  GHashTable *indices; /* name of an item -> its index + 1 */
  GPtrArray *arrays;   /* (element-type PlaitRaggedArray) */
  hid_t id;            /* the open HDF5 group */
  gint64 attributes;
} PlaitRaggedKind;

typedef struct
{
  char *path;
  GPtrArray *kinds; /* (element-type PlaitRaggedKind) */
  gboolean known;   /* FALSE while the group is being read: items cannot be found yet */
} PlaitRaggedGroup;

/* Opens the ragged group @path, or returns it if it is open already. NULL with *error set on failure; NULL without an
 * error while the group is being read. (transfer none) */
PlaitRaggedGroup *plait_store_ragged_open (PlaitStore *store, const char *path, GError **error);

/* Opens the array and reads its offsets and shapes, unless it is open already. */
gboolean plait_store_ragged_open_array (PlaitStore *store, const PlaitRaggedKind *kind, PlaitRaggedArray *array,
                                        GError **error);
