/* SPDX-License-Identifier: MIT */
#pragma once

#include "tables/heatmap.h"

/*
 * Arrays of many items, such as sentences, each with its own shape, in few datasets.
 *
 * A ragged group GROUP has a group KIND (or KIND/PART) for each kind of data of its items. The group KIND contains the
 * dataset sentence. For each array NAME of the kind, the group contains the datasets NAME, NAME_offsets and NAME_shape:
 *
 *     sentence          [n]: the names of the items, in the order of writing
 *     NAME              the values of all items one after another, each row-major
 *     NAME_offsets      [n + 1]: item i is NAME[NAME_offsets[i] .. NAME_offsets[i + 1] - 1]
 *     NAME_shape        [n, rank]: the shape of each item; missing for arrays of one dimension
 *
 * An array of text has the bytes of all strings, with a NUL after each. The attribute sentence_i of NAME is a Python
 * expression for one item. The attribute axes of NAME has the names of the dimensions. If an item lacks an array, the
 * file has an empty array for the item.
 *
 * Readers need not know this layout. After the file is written, the reading functions of store.h accept
 * GROUP/ITEM/KIND/NAME for the array of one item, GROUP/ITEM/KIND for a group of its arrays, and GROUP/ITEM for a group
 * of its kinds. plait_store_members (GROUP) returns the names of items. The stored paths GROUP/KIND can be read, too.
 *
 * Appended rows are buffered until they fill a chunk; a commit writes the rest. An @item is a path GROUP/ITEM. ITEM
 * begins with a digit; the name of a kind never does.
 */

/* Appends the array @name of @kind for @item: @values of @shape [@rank], row-major; strings are const char *const * of
 * rank 1. @axes [@rank]: names of the dimensions, ignored if the array already has names; NULL for no names. */
gboolean plait_store_append (PlaitStore *store, const char *item, const char *kind, const char *name,
                             PlaitStoreType type, guint rank, const gint64 *shape, gconstpointer values,
                             const char *const *axes, GError **error);

/* Adds @item to the items of @kind. If the group of @kind lacks the attribute @name, sets it to @value. */
gboolean plait_store_append_attribute (PlaitStore *store, const char *item, const char *kind, const char *name,
                                       const char *value, GError **error);

/* Appends the arrays of @heatmap to the kind @kind of @item: the values, and AXIS_labels for each axis with labels. If
 * the group of the kind lacks the attributes signal, axes and title, sets them. If the file has no default plot, writes
 * the heatmap to GROUP/<first>, too (plait_store_write_heatmap): viewers cannot cut an item out of an array. */
gboolean plait_store_append_heatmap (PlaitStore *store, const char *item, const char *kind,
                                     const PlaitStoreHeatmap *heatmap, GError **error);
