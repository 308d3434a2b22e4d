/* SPDX-License-Identifier: MIT */
#include "run/token-attention.h"

/* How many heads of what @of pays to @memory in layer @l @part takes. */
static guint
heads_taken (const PlaitCapturedAttention *of, guint l, guint memory, PlaitAttentionPart part)
{
  guint heads = of->layers[l].heads;

  if (of->memory != memory || (part.layer >= 0 && part.layer != (gint64)l) || part.head >= (gint64)heads)
    return 0;
  return part.head >= 0 ? 1 : heads;
}

gboolean
plait_attention_sums (const PlaitCapture *attention, guint memory, gint64 begin, gint64 end, PlaitAttentionPart part,
                      double *sums)
{
  gboolean last_layer = part.layer == PLAIT_ATTENTION_LAST;
  gint64 rows = plait_ragged_rows (attention->memories[memory].rows);
  gint64 length = plait_ragged_rows (attention->queries);
  guint first = 0;
  guint attending = 0;

  for (guint l = 0; l < attention->n_layers; l++)
    for (const PlaitCapturedAttention *of = attention->attentions; of; of = of->next)
      if (heads_taken (of, l, memory, part) > 0)
        {
          attending = last_layer && l != first ? 1 : attending + 1;
          first = last_layer ? l : first;
        }
  if (attending == 0)
    return FALSE;
  for (guint l = first; l < attention->n_layers; l++)
    for (const PlaitCapturedAttention *of = attention->attentions; of; of = of->next)
      {
        guint heads = heads_taken (of, l, memory, part);
        guint from = part.head >= 0 ? (guint)part.head : 0;
        double share = heads > 0 ? 1.0 / heads / attending : 0;

        for (guint h = from; h < from + heads; h++)
          for (gint64 t = begin; t < end; t++)
            for (gint64 k = 0; k < rows; k++)
              sums[k] += share * (double)of->layers[l].weights[(h * length + t) * rows + k];
      }
  return TRUE;
}

void
plait_attention_spread (const PlaitTrees *trees, gint64 sentence, gint64 leaves, double *sums)
{
  gint64 first = trees->nodes.offsets[sentence];
  gint64 n = plait_ragged_length (trees->nodes, sentence);
  g_autofree gint64 *below = g_new (gint64, leaves + n + 1); /* leaves below a leaf or node, itself included */

  for (gint64 i = 0; i < leaves; i++)
    below[i] = 1;
  for (gint64 i = 0; i < n; i++)
    below[leaves + i] = below[trees->left[first + i]] + below[trees->right[first + i]];
  for (gint64 i = n - 1; i >= 0; i--)
    {
      gint64 node = leaves + i;
      gint64 left = trees->left[first + i];
      gint64 right = trees->right[first + i];

      sums[left] += sums[node] * (double)below[left] / (double)below[node];
      sums[right] += sums[node] * (double)below[right] / (double)below[node];
      sums[node] = 0;
    }
}

gint64
plait_attention_spread_levels (const PlaitLinks *links, gint64 rows, double *sums)
{
  g_autofree gint64 *below = g_new0 (gint64, rows + 1); /* leaves below a row, itself included */
  gint64 leaves = 0, highest = 0;

  for (gint64 i = 0; i < rows; i++)
    {
      highest = MAX (highest, links->level[i]);
      below[i] = links->n_children[i] == 0;
    }
  while (leaves < rows && below[leaves])
    leaves++;
  for (gint64 level = 1; level <= highest; level++)
    for (gint64 i = 0; i < rows; i++)
      for (gint64 k = 0; links->level[i] == level && k < links->n_children[i]; k++)
        below[i] += below[links->first_child[i] + k];
  for (gint64 level = highest; level > 0; level--)
    for (gint64 i = 0; i < rows; i++)
      if (links->level[i] == level && links->n_children[i] > 0)
        {
          for (gint64 k = links->first_child[i]; k < links->first_child[i] + links->n_children[i]; k++)
            sums[k] += sums[i] * (double)below[k] / (double)below[i];
          sums[i] = 0;
        }
  return leaves;
}

gboolean
plait_attention_token_sums (const PlaitCapture *attention, guint memory, const PlaitInput *input, gint64 sentence,
                            gint64 begin, gint64 end, PlaitAttentionPart part, double *sums)
{
  const PlaitLinks *links = attention->memories[memory].links;
  gint64 leaves = plait_ragged_length (input->rows, sentence);
  gint64 rows = plait_ragged_rows (attention->memories[memory].rows),
         nodes = 0; /* inner ones, where the source has trees */

  if (!plait_attention_sums (attention, memory, begin, end, part, sums))
    return FALSE;
  if (links->level)
    rows = plait_attention_spread_levels (links, rows, sums);
  if (rows != leaves && input->trees)
    nodes = plait_ragged_length (input->trees->nodes, sentence);
  /* Another memory than one of words, and of nodes above them. */
  if (rows != leaves + nodes)
    return FALSE;
  if (nodes > 0)
    plait_attention_spread (input->trees, sentence, leaves, sums);
  return TRUE;
}
