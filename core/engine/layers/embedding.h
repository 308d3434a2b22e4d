/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "layers/parameter.h"

/* An embedding table. It owns nothing; several layers may share the table (tied embeddings). */
typedef struct
{
  PlaitParameter *table; /* [V, w], NAME/table */
  double scale;          /* factor of the looked-up vectors; sqrt (w) in Vaswani et al. 2017, section 3.4 */
} PlaitEmbedding;

/* Declares the table NAME/table, [@vocabulary, @width]. */
PlaitEmbedding plait_embedding_declare (PlaitParameters *parameters, const char *name, gint64 vocabulary, gint64 width,
                                        PlaitInitial initial, double scale);

/* Returns a node [n, w]: the scaled vectors of @n ids below V. @ids is borrowed. */
PlaitNode *plait_embedding_apply (PlaitTape *tape, const PlaitEmbedding *embedding, const gint32 *ids, gint64 n);
