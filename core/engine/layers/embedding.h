/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "layers/parameter.h"

/* A table of vectors by vocabulary id. A value of this type owns nothing; the table may be shared (tying). */
typedef struct
{
  PlaitParameter *table; /* [V, w], NAME/table */
  double scale;          /* of what is read; Vaswani et al. 2017, 3.4: sqrt (w) */
} PlaitEmbedding;

/* Declares NAME/table, [@vocabulary, @width]. */
PlaitEmbedding plait_embedding_declare (PlaitParameters *parameters, const char *name, gint64 vocabulary, gint64 width,
                                        PlaitInitial initial, double scale);

/* @n ids of 0 .. V - 1, borrowed -> [n, w]. */
PlaitNode *plait_embedding_apply (PlaitTape *tape, const PlaitEmbedding *embedding, const gint32 *ids, gint64 n);
