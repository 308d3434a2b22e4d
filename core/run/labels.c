/* SPDX-License-Identifier: MIT */
#include "run/labels.h"

static char **
number_labels (gint64 n)
{
  char **labels = g_new0 (char *, n + 1);

  for (gint64 i = 0; i < n; i++)
    labels[i] = g_strdup_printf ("%" G_GINT64_FORMAT, i);
  return labels;
}

/* Labels @first .. of inner nodes: their own, and what they span. */
static void
label_nodes (char **labels, gint64 first, gint64 n, const PlaitTrees *trees, gint64 sentence)
{
  gint64 at = trees->nodes.offsets[sentence];
  g_autofree gint64 *begin = g_new (gint64, n + 1);
  g_autofree gint64 *end = g_new (gint64, n + 1);

  for (gint64 row = 0; row < n; row++)
    {
      gint64 node = at + row - first;

      begin[row] = row < first ? row : begin[trees->left[node]];
      end[row] = row < first ? row : end[trees->right[node]];
      if (row >= first)
        labels[row] = g_strdup_printf ("%s %s…%s", trees->labels ? trees->labels[node] : "", labels[begin[row]],
                                       labels[end[row]]);
    }
}

/* The rows of a memory: tokens, then the inner nodes of a tree over them. */
static char **
row_labels (const PlaitVocabulary *vocabulary, const PlaitInput *input, gint64 sentence, gint64 n)
{
  char **labels = g_new0 (char *, n + 1);
  gint64 tokens = MIN (plait_ragged_length (input->rows, sentence), n);

  for (gint64 i = 0; i < tokens; i++)
    labels[i] = g_strdup (plait_vocabulary_piece (vocabulary, input->tokens[input->rows.offsets[sentence] + i]));
  if (n > tokens && input->trees && plait_ragged_length (input->trees->nodes, sentence) == n - tokens)
    label_nodes (labels, tokens, n, input->trees, sentence);
  for (gint64 i = tokens; i < n; i++)
    if (!labels[i])
      labels[i] = g_strdup_printf ("%" G_GINT64_FORMAT, i);
  return labels;
}

/* The pieces of a target of @length rows; the last is its end if it @ended. */
static char **
target_labels (const PlaitVocabulary *vocabulary, const gint32 *tokens, gint64 length, gboolean ended)
{
  char **labels = g_new0 (char *, length + 1);

  for (gint64 i = 0; i < length; i++)
    labels[i] = g_strdup (plait_vocabulary_piece (vocabulary, ended && i == length - 1 ? PLAIT_TOKEN_EOS : tokens[i]));
  return labels;
}

PlaitLabels *
plait_labels_new (const PlaitLabelledMemory *memories, const gint64 *rows, guint n_memories, gint64 sentence,
                  const PlaitVocabulary *vocabulary, const gint32 *tokens, gint64 length, gboolean ended)
{
  PlaitLabels *labels = g_new0 (PlaitLabels, 1);

  labels->n_memories = n_memories;
  labels->names = g_new0 (const char *, n_memories + 1);
  labels->targets = target_labels (vocabulary, tokens, length, ended);
  labels->rows = g_new0 (char **, n_memories + 1);
  for (guint m = 0; m < n_memories; m++)
    {
      labels->names[m] = memories[m].name;
      labels->rows[m] = memories[m].vocabulary && memories[m].input
                            ? row_labels (memories[m].vocabulary, memories[m].input, sentence, rows[m])
                            : number_labels (rows[m]);
    }
  return labels;
}

void
plait_labels_free (PlaitLabels *labels)
{
  if (!labels)
    return;
  for (guint m = 0; m < labels->n_memories; m++)
    g_strfreev (labels->rows[m]);
  g_free (labels->rows);
  g_free (labels->names);
  g_strfreev (labels->targets);
  g_free (labels);
}
