/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/*
 * Arrays whose axes have names and labels, for people and viewers.
 *
 * A heatmap is a group with the array, a dataset AXIS of positions 0, 1, .. for each axis, and strings AXIS_labels for
 * each axis with labels. Datasets of positions and labels are HDF5 dimension scales of the array; h5py, HDFView and
 * h5dump read scales. The group has NeXus attributes (NX_class, signal, axes), from which h5web and silx draw the
 * array. h5web and silx accept only numbers on an axis, so they show positions, and a caption with the first labels.
 */
typedef struct
{
  const char *signal; /* name of the array, such as "weights" */
  guint rank;         /* number of axes, 1 .. PLAIT_STORE_MAX_RANK */
  const gint64 *shape;
  const PlaitScalar *values; /* values of the array, row-major */
  const char *const *axes;   /* [rank] names of the axes, such as "layer", "head", "target", "row" */

  /* [rank] labels of each axis: shape[i] strings, or NULL if axis i has no labels. NULL if no axis has labels */
  const char *const *const *labels;

  const char *title; /* title of the plot; may be NULL */
} PlaitStoreHeatmap;

/* Writes @heatmap as the group @path, compressed. Viewers then show it by default, unless the file or a parent group
 * already has a default (plait_store_set_default). */
gboolean plait_store_write_heatmap (PlaitStore *store, const char *path, const PlaitStoreHeatmap *heatmap,
                                    GError **error);

/* Makes the list @path a dimension scale called @name, because readers of NetCDF need dimension scales. Does nothing if
 * the list is stored as a group. */
gboolean plait_store_make_axis (PlaitStore *store, const char *path, const char *name, GError **error);

/* Makes viewers show the group @path when they open the file or a parent group. */
gboolean plait_store_set_default (PlaitStore *store, const char *path, GError **error);
