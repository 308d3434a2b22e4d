/* SPDX-License-Identifier: MIT */
#include "cross-attention/token-attention.h"

#include <string.h>

#include "text/error.h"
#include "text/number.h"
#include "text/separators.h"

#define MAX_INDEX 1000000 /* largest index of a layer or head in a text; no decoder has so many */

static gboolean
parse_number (const char *text, gint64 *number)
{
  return plait_parse_integer (text, number) && *number >= 0 && *number <= MAX_INDEX;
}

static gboolean
is_part (const char *text, gconstpointer data)
{
  gint64 number;

  (void)data;
  return parse_number (text, &number) || g_str_equal (text, "mean") || g_str_equal (text, "last");
}

gboolean
plait_attention_selection_parse (const char *text, const char *name, PlaitAttentionSelection *selection, GError **error)
{
  const char *colon = strchr (text, ':');
  g_autofree char *layer = colon ? g_strndup (text, (gsize)(colon - text)) : g_strdup (text);
  g_autofree char *mended = plait_separators_mend (text, ":", is_part, NULL);
  gboolean good = TRUE;

  *selection = (PlaitAttentionSelection){ PLAIT_ATTENTION_MEAN, PLAIT_ATTENTION_MEAN };
  if (g_str_equal (layer, "last"))
    selection->layer = PLAIT_ATTENTION_LAST;
  else if (!g_str_equal (layer, "mean"))
    good = parse_number (layer, &selection->layer);
  if (good && (!colon || parse_number (colon + 1, &selection->head)))
    return TRUE;
  if (mended)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s cannot be \"%s\"; did you mean \"%s\"?", name, text, mended);
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s cannot be \"%s\"; expected mean, last or the number of a layer from 0, optionally with a "
                     "colon and the number of a head, such as 2:0",
                     name, text);
}

/* Returns how many heads of @of in layer @l are in @selection and read @memory. PLAIT_ATTENTION_LAST selects all layers
 * here. */
static guint
count_selected_heads (const PlaitRecordedAttention *of, guint l, guint memory, PlaitAttentionSelection selection)
{
  guint heads = of->layers[l].heads;

  if (of->memory != memory || (selection.layer >= 0 && selection.layer != (gint64)l) || selection.head >= (gint64)heads)
    return 0;
  return selection.head >= 0 ? 1 : heads;
}

gboolean
plait_attention_sums (const PlaitAttentionRecord *attention, guint memory, gint64 begin, gint64 end,
                      PlaitAttentionSelection selection, double *sums)
{
  gboolean last_layer = selection.layer == PLAIT_ATTENTION_LAST;
  gint64 rows = plait_ragged_rows (attention->memories[memory].rows);
  gint64 length = plait_ragged_rows (attention->queries);
  guint first = 0;
  guint attending = 0;

  for (guint l = 0; l < attention->n_layers; l++)
    for (const PlaitRecordedAttention *of = attention->attentions; of; of = of->next)
      if (count_selected_heads (of, l, memory, selection) > 0)
        {
          attending = last_layer && l != first ? 1 : attending + 1;
          first = last_layer ? l : first;
        }
  if (attending == 0)
    return FALSE;
  for (guint l = first; l < attention->n_layers; l++)
    for (const PlaitRecordedAttention *of = attention->attentions; of; of = of->next)
      {
        guint heads = count_selected_heads (of, l, memory, selection);
        guint from = selection.head >= 0 ? (guint)selection.head : 0;
        double share = heads > 0 ? 1.0 / heads / attending : 0;

        for (guint h = from; h < from + heads; h++)
          for (gint64 t = begin; t < end; t++)
            for (gint64 k = 0; k < rows; k++)
              sums[k] += share * (double)of->layers[l].weights[(h * length + t) * rows + k];
      }
  return TRUE;
}

void
plait_attention_spread (const PlaitLinks *links, gint64 rows, double *sums)
{
  g_autofree gint64 *below = g_new (gint64, rows + 1); /* number of leaves under each row; a leaf counts itself */

  /* Children precede their parents, so their numbers of leaves are known. */
  for (gint64 row = 0; row < rows; row++)
    below[row] = links->left[row] < 0 ? 1 : below[links->left[row]] + below[links->right[row]];
  for (gint64 row = rows - 1; row >= 0; row--)
    if (links->left[row] >= 0)
      {
        gint64 left = links->left[row], right = links->right[row];

        sums[left] += sums[row] * (double)below[left] / (double)below[row];
        sums[right] += sums[row] * (double)below[right] / (double)below[row];
        sums[row] = 0;
      }
}

void
plait_attention_spread_levels (const PlaitLinks *links, gint64 rows, double *sums)
{
  g_autofree gint64 *below = g_new0 (gint64, rows + 1); /* number of leaves under each row; a leaf counts itself */
  gint64 highest = 0;

  for (gint64 i = 0; i < rows; i++)
    {
      highest = MAX (highest, links->level[i]);
      below[i] = links->n_children[i] == 0;
    }
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
}

/* TRUE if each inner node has two children, both before it. */
static gboolean
is_ordered (const PlaitLinks *links, gint64 rows)
{
  for (gint64 row = 0; row < rows; row++)
    if ((links->left[row] < 0) != (links->right[row] < 0) || links->left[row] >= row || links->right[row] >= row)
      return FALSE;
  return TRUE;
}

gboolean
plait_attention_has_tokens (const PlaitMemory *memory)
{
  gint64 rows = plait_ragged_rows (memory->rows);

  for (gint64 row = 0; memory->links->token && row < rows; row++)
    if (memory->links->token[row] >= 0)
      return !memory->links->left || is_ordered (memory->links, rows);
  return FALSE;
}

gboolean
plait_attention_token_sums (const PlaitAttentionRecord *attention, guint memory, gint64 tokens, gint64 begin,
                            gint64 end, PlaitAttentionSelection selection, double *sums)
{
  const PlaitMemory *attended_memory = &attention->memories[memory];
  const PlaitLinks *links = attended_memory->links;
  gint64 rows = plait_ragged_rows (attended_memory->rows);
  g_autofree double *paid = g_new0 (double, rows + 1);

  if (!plait_attention_has_tokens (attended_memory)
      || !plait_attention_sums (attention, memory, begin, end, selection, paid))
    return FALSE;
  if (links->level)
    plait_attention_spread_levels (links, rows, paid);
  else if (links->left)
    plait_attention_spread (links, rows, paid);
  for (gint64 row = 0; row < rows; row++)
    sums[links->token[row] >= 0 ? links->token[row] : tokens] += paid[row];
  return TRUE;
}
