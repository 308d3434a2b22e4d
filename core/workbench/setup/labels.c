/* SPDX-License-Identifier: MIT */
#include "setup/labels.h"

#include "text/display.h"

#define MAX_SENTENCE_WIDTH 24 /* maximum width of the label of a sentence, in columns of a terminal */

/* Gives each row without a label its number as label. */
static void
label_numbers (char **labels, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (!labels[i])
      labels[i] = g_strdup_printf ("%jd", i);
}

/* Returns the label of the span of rows @first .. @last. (transfer full) */
static char *
span_label (char **labels, gint64 first, gint64 last)
{
  if (!labels[first] || !labels[last])
    return first == last ? g_strdup_printf ("[%jd]", first) : g_strdup_printf ("[%jd-%jd]", first, last);
  return first == last ? g_strdup (labels[first]) : g_strdup_printf ("%s … %s", labels[first], labels[last]);
}

/* Labels the inner nodes of a tree with the span of their tokens. If @trees has labels, puts the node's own label
 * first. */
static void
label_nodes (char **labels, gint64 n, const PlaitLinks *links, const PlaitTrees *trees, gint64 sentence)
{
  gint64 node = trees ? trees->nodes.offsets[sentence] : 0, inner = 0;
  gboolean named;

  for (gint64 row = 0; row < n; row++)
    inner += links->left[row] >= 0;
  named = trees && plait_ragged_length (trees->nodes, sentence) == inner;
  for (gint64 row = 0; row < n; row++)
    {
      gint64 first = row, last = row;

      if (links->left[row] < 0)
        continue;
      for (gint64 steps = 0; steps < n && links->left[first] >= 0; steps++)
        first = links->left[first];
      for (gint64 steps = 0; steps < n && links->right[last] >= 0; steps++)
        last = links->right[last];
      if (named && labels[first] && labels[last])
        labels[row]
            = g_strdup_printf ("%s %s…%s", trees->labels ? trees->labels[node] : "", labels[first], labels[last]);
      else
        labels[row] = span_label (labels, first, last);
      node++;
    }
}

/* Labels the rows above the leaves with the span of their leaves. */
static void
label_levels (char **labels, gint64 n, const PlaitLinks *links)
{
  for (gint64 row = 0; row < n; row++)
    {
      gint64 first = row, last = row;

      if (links->n_children[row] == 0)
        continue;
      /* Children are on a lower level, so this ends. */
      while (links->n_children[first] > 0)
        first = links->first_child[first];
      while (links->n_children[last] > 0)
        last = links->first_child[last] + links->n_children[last] - 1;
      g_free (labels[row]);
      labels[row] = span_label (labels, first, last);
    }
}

/* Returns the label of sentence @number of document @document, such as "3: ein Mann". (transfer full) */
static char *
sentence_label (const PlaitVocabulary *vocabulary, const PlaitInput *input, gint64 document, gint64 number)
{
  const gint64 *rows = input->documents->rows + input->documents->sentences.offsets[document] + number;
  g_autofree char *text = plait_vocabulary_decode (vocabulary, input->tokens + rows[0], (gsize)(rows[1] - rows[0]));
  g_autofree char *clean = plait_display_sanitise (text, FALSE);
  g_autofree char *cut = plait_display_truncate (clean, MAX_SENTENCE_WIDTH);

  return g_strdup_printf ("%jd: %s", number, cut);
}

/* Returns the label of token @row of memory->input: the subword, or the word of the text if the token is unknown. */
static const char *
token_label (const PlaitLabelledMemory *memory, gint64 row)
{
  const PlaitInput *input = memory->input;
  const char *word = input->unknown_words ? input->unknown_words[row] : NULL;

  return word ? word : plait_vocabulary_piece (memory->vocabulary, input->tokens[row]);
}

/* Labels the rows that are tokens, or sentences of documents. */
static void
label_tokens_and_sentences (char **labels, gint64 n, const PlaitLinks *links, const PlaitLabelledMemory *memory,
                            gint64 sentence)
{
  const PlaitInput *input = memory->input;

  for (gint64 i = 0; i < n; i++)
    if (links->token && links->token[i] >= 0)
      labels[i] = g_strdup (token_label (memory, input->rows.offsets[sentence] + links->token[i]));
    else if (!links->token && links->sentence && links->sentence[i] >= 0 && input->documents)
      labels[i] = sentence_label (memory->vocabulary, input, sentence, links->sentence[i]);
}

static char **
row_labels (const PlaitLabelledMemory *memory, const PlaitLinks *links, gint64 sentence, gint64 n)
{
  char **labels = g_new0 (char *, n + 1);

  if (memory->vocabulary && memory->input)
    label_tokens_and_sentences (labels, n, links, memory, sentence);
  if (links->level)
    label_levels (labels, n, links);
  else if (links->left)
    label_nodes (labels, n, links, memory->input ? memory->input->trees : NULL, sentence);
  label_numbers (labels, n);
  return labels;
}

/* TRUE if @memory was made of text, and none of its @n rows is a token or a sentence. */
static gboolean
is_numbered (const PlaitLabelledMemory *memory, const PlaitLinks *links, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if ((links->token ? links->token[i] : links->sentence ? links->sentence[i] : -1) >= 0)
      return FALSE;
  return memory->vocabulary && memory->input;
}

/* Returns the sentence of each of the @n rows of a memory of document tokens. Reads it from the encoder's links or from
 * the text. NULL for other memories. (transfer full) */
static gint64 *
sentences_of (const PlaitLabelledMemory *memory, const PlaitLinks *links, gint64 document, gint64 n)
{
  const PlaitDocuments *documents = memory->input ? memory->input->documents : NULL;
  g_autofree gint64 *sentence = g_new (gint64, n + 1);
  gint64 first;

  if (!links->token)
    return NULL;
  if (links->sentence)
    return g_memdup2 (links->sentence, (gsize)n * sizeof *sentence);
  if (!documents || links->level)
    return NULL;
  first = documents->sentences.offsets[document];
  for (gint64 row = 0; row < n; row++)
    {
      gint64 token = memory->input->rows.offsets[document] + links->token[row];
      gint64 s = first;

      if (links->token[row] < 0)
        return NULL;
      while (documents->rows[s + 1] <= token)
        s++;
      sentence[row] = s - first;
    }
  return g_steal_pointer (&sentence);
}

/* Returns the labels of the @length rows of a target. The label of row i is words[i] or, if words[i] or @words is NULL,
 * the piece of tokens[i]. If the target @ended, the last row is labelled as end token. (transfer full) */
static char **
target_labels (const PlaitVocabulary *vocabulary, const gint32 *tokens, const char *const *words, gint64 length,
               gboolean ended)
{
  char **labels = g_new0 (char *, length + 1);

  for (gint64 i = 0; i < length; i++)
    {
      gboolean end = ended && i == length - 1;

      labels[i] = g_strdup (!end && words && words[i]
                                ? words[i]
                                : plait_vocabulary_piece (vocabulary, end ? PLAIT_TOKEN_EOS : tokens[i]));
    }
  return labels;
}

PlaitLabels *
plait_labels_new (const PlaitLabelledMemory *memories, const PlaitAttentionRecord *attention, gint64 sentence,
                  const PlaitVocabulary *vocabulary, const gint32 *tokens, const char *const *words, gboolean ended)
{
  guint n_memories = attention->n_memories;
  PlaitLabels *labels = g_new0 (PlaitLabels, 1);

  labels->targets = target_labels (vocabulary, tokens, words, plait_ragged_rows (attention->queries), ended);
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
        .numbered = is_numbered (&memories[m], links, rows),
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
