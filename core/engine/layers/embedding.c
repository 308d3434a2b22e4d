/* SPDX-License-Identifier: MIT */
#include "layers/embedding.h"
#include "autograd/layer-operators.h"

PlaitEmbedding
plait_embedding_declare (PlaitParameters *parameters, const char *name, gint64 vocabulary, gint64 width,
                         PlaitInitial initial, double scale)
{
  g_autofree char *table = g_strconcat (name, "/table", NULL);

  return (PlaitEmbedding){ plait_parameters_declare (parameters, table, vocabulary, width, initial), scale };
}

PlaitNode *
plait_embedding_apply (PlaitTape *tape, const PlaitEmbedding *embedding, const gint32 *ids, gint64 n)
{
  return plait_embed (tape, plait_parameter_node (tape, embedding->table), ids, n, embedding->scale);
}
