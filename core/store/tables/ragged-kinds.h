/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/internal.h"

/*
 * What is known of ragged groups (ragged.h) that are read: ragged-kinds.c reads and checks it, ragged-find.c finds
 * items by it.
 */

/* One array of all items. */
typedef struct
{
  char *path, *name;
  PlaitStoreObject flat; /* of no kind: nothing is known yet */
  gboolean text;
  gint64 *offsets; /* [items + 1] */
  guint rank;
  gint64 *shapes; /* [items][rank] */
  hid_t id;       /* kept open: its chunks are unpacked once for all the items in them */
} PlaitRaggedArray;

typedef struct
{
  char *path;
  const char *name; /* below the group */
  gint64 n;
  char **items;
  GHashTable *indices; /* of the items, from 1 */
  GPtrArray *arrays;   /* (element-type PlaitRaggedArray) */
  hid_t id;            /* kept open, as those of arrays are */
  gint64 attributes;
} PlaitRaggedKind;

typedef struct
{
  char *path;
  GPtrArray *kinds; /* (element-type PlaitRaggedKind) */
  gboolean known;   /* not while it is read, when nothing may be looked for in it */
} PlaitRaggedGroup;

/* The ragged group @path, from now on known; NULL with *error, or without while it is being read. (transfer none) */
PlaitRaggedGroup *plait_store_ragged_open (PlaitStore *store, const char *path, GError **error);

/* Opens the array, and reads where its items lie, unless that is known. */
gboolean plait_store_ragged_open_array (PlaitStore *store, const PlaitRaggedKind *kind, PlaitRaggedArray *array,
                                        GError **error);
