/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/labels.h"
#include "hdf5/store.h"

/*
 * Dumps of combiners that choose what they look at, of each sentence (tables/ragged.h) a group for each attention that
 * did, called as its heatmap is (attention.h). It tells which rows were weighed against each other, and which way was
 * taken. Offsets within a sentence begin with 0.
 *
 *     extents          [3]: layers L, heads H, targets T
 *     target_labels    [T], row_labels [R]: as beside the heatmap
 *     row_level        [R]: 0 of leaves; 0 of all where the memory has no levels
 *     row_first_child  [R]: -1 of leaves; children stand beside each other
 *     row_children     [R]: how many
 *     entry_offsets    [L * H * T + 1]: layer l, head h and target word t have the sets entry_offsets[(l H + h) T + t]
 *                      up to the next, in the order in which they were weighed: from the top downwards
 *     set_parent       [sets]: the row whose children the set is; -1 of the tops
 *     set_offsets      [sets + 1]: set s has the numbers set_offsets[s] up to set_offsets[s + 1] of those that follow
 *     row              [n]: what was weighed; a row that two neighbours share may stand in the sets of both
 *     weight           [n]: the softmax over the set
 *     path             [n]: the product of the weights from the top to here, which is what leaves are read with, or
 *                      what is divided by its sum first; a row that stands twice is reached by the sum
 *     taken            [n]: 1 where the way goes on through the row, or at a leaf ends
 */

/* Writes what @attention has chosen for the item @path; nothing where all rows are weighed. */
gboolean plait_descent_dump_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                                   const PlaitLabels *labels, GError **error);
