/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/*
 * Arrays whose axes have names and labels, for people and viewers.
 *
 * A heatmap is a group with the array, one dataset of positions 0, 1, .. an axis, and one dataset of strings for each
 * axis that has labels (AXIS_labels). Both are attached to the array as HDF5 dimension scales, which h5py, HDFView and
 * h5dump read. The group's NeXus attributes (NX_class, signal, axes) make h5web and silx draw it; these take only
 * numbers for axes, so they get the positions, and the labels beside their numbers as the caption of the axis.
 */
typedef struct
{
  const char *signal; /* name of the array, such as "weights" */
  guint rank;         /* 1 .. PLAIT_STORE_MAX_RANK */
  const gint64 *shape;
  const PlaitScalar *values;        /* row-major */
  const char *const *axes;          /* [rank] names, such as "layer", "head", "target", "row" */
  const char *const *const *labels; /* [rank] lists of shape[i] strings each; NULL, or NULL entries: none */
  const char *title;                /* above the plot; NULL: none */
} PlaitStoreHeatmap;

/* Writes @heatmap as the group @path, compressed. The groups above it open it by default unless they have a default
 * already (see plait_store_set_default). */
gboolean plait_store_write_heatmap (PlaitStore *store, const char *path, const PlaitStoreHeatmap *heatmap,
                                    GError **error);

/* Makes the list @path a dimension scale called @name, which readers of NetCDF ask for. */
gboolean plait_store_make_axis (PlaitStore *store, const char *path, const char *name, GError **error);

/* Makes viewers show the group @path when they open the file or a group on the way to it. */
gboolean plait_store_set_default (PlaitStore *store, const char *path, GError **error);
