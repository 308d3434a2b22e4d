/* SPDX-License-Identifier: MIT */
#include "run/labels.h"

#include "base/display.h"

#define WIDEST_SENTENCE 24 /* columns of a sentence's first words */

/* Numbers the rows that have no label. */
static void
label_numbers (char **labels, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (!labels[i])
      labels[i] = g_strdup_printf ("%jd", i);
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

/* Labels the rows above leaves with what they span. */
static void
label_levels (char **labels, gint64 n, const PlaitLinks *links)
{
  for (gint64 row = 0; row < n; row++)
    {
      gint64 first = row, last = row;

      if (links->n_children[row] == 0)
        continue;
      /* Children stand on a lower level, so this ends. */
      while (links->n_children[first] > 0)
        first = links->first_child[first];
      while (links->n_children[last] > 0)
        last = links->first_child[last] + links->n_children[last] - 1;
      if (!labels[first] || !labels[last])
        labels[row] = first == last ? g_strdup_printf ("[%jd]", first) : g_strdup_printf ("[%jd-%jd]", first, last);
      else
        labels[row]
            = first == last ? g_strdup (labels[first]) : g_strdup_printf ("%s … %s", labels[first], labels[last]);
    }
}

/* The tokens at the head of a memory's rows, then the inner nodes of a tree over them. */
static void
label_tokens (char **labels, gint64 n, const PlaitVocabulary *vocabulary, const PlaitInput *input, gint64 sentence)
{
  gint64 tokens = MIN (plait_ragged_length (input->rows, sentence), n);

  for (gint64 i = 0; i < tokens; i++)
    labels[i] = g_strdup (plait_vocabulary_piece (vocabulary, input->tokens[input->rows.offsets[sentence] + i]));
  if (n > tokens && input->trees && plait_ragged_length (input->trees->nodes, sentence) == n - tokens)
    label_nodes (labels, tokens, n, input->trees, sentence);
}

/* "3: ein Mann": sentence @number of the document @document. (transfer full) */
static char *
sentence_label (const PlaitVocabulary *vocabulary, const PlaitInput *input, gint64 document, gint64 number)
{
  const gint64 *rows = input->documents->rows + input->documents->sentences.offsets[document] + number;
  g_autofree char *text = plait_vocabulary_decode (vocabulary, input->tokens + rows[0], (gsize)(rows[1] - rows[0]));
  g_autofree char *clean = plait_display_clean (text, FALSE);
  g_autofree char *cut = plait_display_cut (clean, WIDEST_SENTENCE);

  return g_strdup_printf ("%jd: %s", number, cut);
}

/* The rows of a memory of documents: tokens, or sentences. */
static void
label_places (char **labels, gint64 n, const PlaitLinks *links, const PlaitLabelledMemory *memory, gint64 document)
{
  const PlaitInput *input = memory->input;

  for (gint64 i = 0; i < n; i++)
    labels[i] = links->token ? g_strdup (plait_vocabulary_piece (
                    memory->vocabulary, input->tokens[input->rows.offsets[document] + links->token[i]]))
                             : sentence_label (memory->vocabulary, input, document, links->sentence[i]);
}

static char **
row_labels (const PlaitLabelledMemory *memory, const PlaitLinks *links, gint64 sentence, gint64 n)
{
  char **labels = g_new0 (char *, n + 1);
  gboolean named = memory->vocabulary && memory->input;

  if (links->level)
    {
      gint64 leaves = 0;

      while (leaves < n && links->n_children[leaves] == 0)
        leaves++;
      if (named)
        label_tokens (labels, leaves, memory->vocabulary, memory->input, sentence);
      label_levels (labels, n, links);
    }
  else if (named && links->sentence)
    label_places (labels, n, links, memory, sentence);
  else if (named)
    label_tokens (labels, n, memory->vocabulary, memory->input, sentence);
  label_numbers (labels, n);
  return labels;
}

/* The sentence of each of the @n rows of a memory of tokens of a document, as its encoder tells, or as they were read;
 * NULL of another one. (transfer full) */
static gint64 *
sentences_of (const PlaitLabelledMemory *memory, const PlaitLinks *links, gint64 document, gint64 n)
{
  const PlaitDocuments *documents = memory->input ? memory->input->documents : NULL;
  gint64 *sentence;

  if (links->sentence)
    return links->token ? g_memdup2 (links->sentence, (gsize)n * sizeof *sentence) : NULL;
  if (!documents || links->level || plait_ragged_length (memory->input->rows, document) != n)
    return NULL;
  sentence = g_new (gint64, n + 1);
  for (gint64 s = documents->sentences.offsets[document]; s < documents->sentences.offsets[document + 1]; s++)
    for (gint64 row = documents->rows[s]; row < documents->rows[s + 1]; row++)
      sentence[row - memory->input->rows.offsets[document]] = s - documents->sentences.offsets[document];
  return sentence;
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
plait_labels_new (const PlaitLabelledMemory *memories, const PlaitCapture *attention, gint64 sentence,
                  const PlaitVocabulary *vocabulary, const gint32 *tokens, gboolean ended)
{
  guint n_memories = attention->n_memories;
  PlaitLabels *labels = g_new0 (PlaitLabels, 1);

  labels->targets = target_labels (vocabulary, tokens, plait_ragged_rows (attention->queries), ended);
  labels->n_memories = n_memories;
  labels->memories = g_new (PlaitMemoryLabels, n_memories);
  for (guint m = 0; m < n_memories; m++)
    {
      const PlaitLinks *links = attention->memories[m].links;
      gint64 rows = plait_ragged_rows (attention->memories[m].rows);

      labels->memories[m] = (PlaitMemoryLabels){
        .name = memories[m].name,
        .rows = row_labels (&memories[m], links, sentence, rows),
        .sentence = sentences_of (&memories[m], links, sentence, rows),
        .of_sentences = links->sentence && !links->token,
      };
    }
  return labels;
}

void
plait_labels_free (PlaitLabels *labels)
{
  if (!labels)
    return;
  for (guint m = 0; m < labels->n_memories; m++)
    {
      g_strfreev (labels->memories[m].rows);
      g_free (labels->memories[m].sentence);
    }
  g_free (labels->memories);
  g_strfreev (labels->targets);
  g_free (labels);
}
