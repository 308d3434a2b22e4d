/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "tensor/families.h"

/* Operators over families, which the host finds (tensor/families.h); not part of the plugin interface. */

/*
 * Attention from the top of a memory's levels down all branches (tensor/families.h): the rows at the top, and the
 * children of each row, are under one softmax; a row has its weight times what its parent has, and row i of the result
 * is the sum of what the leaves have for query i times their values. queries [query rows, w], keys and values [rows,
 * w]; @families is borrowed.
 */
PlaitNode *plait_attention_over_families (PlaitTape *tape, const PlaitFamilies *families, PlaitRagged query_rows,
                                          PlaitNode *queries, PlaitNode *keys, PlaitNode *values,
                                          const PlaitAttentionOptions *options);

/* What the leaves of @families, which is borrowed, have for each query, from scores [pairs, 1] of its pairs with all
 * rows. *leaves: its pairs with the leaves, as plait_pair_read wants them. */
PlaitNode *plait_family_weights (PlaitTape *tape, const PlaitFamilies *families, PlaitRagged queries, PlaitNode *scores,
                                 PlaitPairs *leaves);
