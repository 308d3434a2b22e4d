/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/labels.h"
#include "hdf5/store.h"

/*
 * Dumps of attentions whose combiner selects rows. Each sentence (tables/ragged.h) has a group for each such attention.
 * The group has the name of the attention's heatmap (attention.h). The group lists sets of rows that were weighed
 * together, and tells which rows were taken. Numbers of rows, sets and elements count from 0 in each group.
 *
 *     extents          [3]: layers L, heads H, targets T
 *     target_labels    [T], row_labels [R]: as in the heatmap
 *     row_level        [R]: 0 for leaves; 0 for all rows of a memory without levels
 *     row_first_child  [R]: -1 for leaves; the children of a row follow each other
 *     row_children     [R]: number of children
 *     entry_offsets    [L * H * T + 1]: layer l, head h and target word t have the sets entry_offsets[e] to
 *                      entry_offsets[e + 1] - 1, with e = (l H + h) T + t. The sets are in the order in which they were
 *                      weighed, from the top down. A row that is alone on its level was not weighed; it is a set by
 *                      itself, with weight 1
 *     set_parent       [sets]: the row whose children are the set; -1 for top rows
 *     set_offsets      [sets + 1]: set s has the elements set_offsets[s] to set_offsets[s + 1] - 1 of the arrays below
 *     row              [n]: a weighed row; a row with two parents may be in the sets of both
 *     weight           [n]: softmax weight within the set
 *     path             [n]: product of the weights from the top to this row, summed over all paths through set_parent;
 *                      leaves are read with it, divided by the sum over all leaves if the combiner says so
 *     taken            [n]: 1 if the descent continues through the row, or ends at it as a leaf
 */

/* Writes the rows that @attention weighed and selected as the item @path. Writes nothing if no attention selects
 * rows. */
gboolean plait_descent_dump_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                                   const PlaitLabels *labels, GError **error);
