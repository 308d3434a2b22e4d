/* SPDX-License-Identifier: MIT */
#pragma once

#include "tables/heatmap.h"

/*
 * Arrays of many items, such as sentences, each of its own shape, in few datasets.
 *
 * A ragged group GROUP has, for each kind of thing that items have, a group KIND (or KIND/PART ..), below it
 *
 *     sentence          [n]: the names of the items, in the order of their writing
 *     NAME              the values of all items one after the other, each row-major
 *     NAME_offsets      [n + 1]: item i is NAME[NAME_offsets[i] .. NAME_offsets[i + 1]]
 *     NAME_shape        [n, rank]: its shape; not of numbers of one dimension
 *
 * for each array that the kind has. Text is the bytes of all strings of an item, with a NUL after each. The attribute
 * sentence_i of NAME says in Python how to cut an item out, "axes" what its dimensions are. An item that lacks an array
 * which others of its kind have has an empty one.
 *
 * Readers need to know none of this: once the file is written, the functions of store.h that read take
 * GROUP/ITEM/KIND/NAME for the array of one item, GROUP/ITEM/KIND for a group with those, GROUP/ITEM for one with its
 * kinds, and plait_store_members (GROUP) names the items. Those of GROUP/KIND, as it is stored, are at their paths too.
 *
 * What is appended is held until it fills a chunk, and all of it is in the file when that is committed. A path @item is
 * GROUP/ITEM; ITEM begins with a digit, and no kind does.
 */

/* Appends the array @name of @kind of @item: @values of @shape [@rank], row-major; strings are const char *const * of
 * rank 1. @axes [@rank] are the names of its dimensions, told with the first; NULL: none. */
gboolean plait_store_append (PlaitStore *store, const char *item, const char *kind, const char *name,
                             PlaitStoreType type, guint rank, const gint64 *shape, gconstpointer values,
                             const char *const *axes, GError **error);

/* Gives the group of @kind, which @item has, the attribute @name unless it has it. */
gboolean plait_store_append_attribute (PlaitStore *store, const char *item, const char *kind, const char *name,
                                       const char *value, GError **error);

/* Appends @heatmap: its signal, and AXIS_labels of each axis that has labels. Attributes of the kind tell signal, axes
 * and title. If nothing else is what viewers open the file with, the heatmap also stands at GROUP/<first> as
 * plait_store_write_heatmap writes it: viewers cannot cut. */
gboolean plait_store_append_heatmap (PlaitStore *store, const char *item, const char *kind,
                                     const PlaitStoreHeatmap *heatmap, GError **error);
