/* SPDX-License-Identifier: MIT */
#include "interface/encoder.h"

#include "autograd/operators.h"
#include "layers/internal.h"

/* Fails the step if the encoder has no inner encoder. @function: the public function to name in the message. */
static void
expect_leaves (const PlaitEncoding *encoding, const char *function)
{
  if (!encoding->leaves)
    plait_tape_fail (encoding->tape, "calls %s without an inner encoder: give leaves=true in the schema of the plugin",
                     function);
}

/* Returns for each sentence the number of rows that its tree covers: all rows except EOS. */
static const gint64 *
count_words (const PlaitEncoding *encoding)
{
  const PlaitInput *input = encoding->input;
  gint64 *words = plait_arena_new_array (plait_tape_arena (encoding->tape), gint64, input->rows.n + 1);

  for (gint64 s = 0; s < input->rows.n; s++)
    {
      gint64 n = plait_ragged_length (input->rows, s);

      words[s] = n > 0 && input->tokens[input->rows.offsets[s + 1] - 1] == PLAIT_TOKEN_EOS ? n - 1 : n;
    }
  return words;
}

const PlaitTreeRows *
plait_encoding_tree (const PlaitEncoding *encoding)
{
  const PlaitTrees *trees = encoding->input->trees;

  expect_leaves (encoding, G_STRFUNC);
  if (!trees)
    plait_tape_fail (encoding->tape, "calls %s without trees: give streams=trees in the schema of the plugin",
                     G_STRFUNC);
  return plait_tree_rows (encoding->tape, encoding->leaves->memories[0].rows, count_words (encoding), trees->nodes,
                          trees->left, trees->right);
}

/* Returns the token positions of @n rows: for row i the token position of row leaf[i] of the inner encoder, or -1 if
 * leaf[i] is -1 or the inner encoder has no token links. */
static const gint64 *
leaf_tokens (const PlaitEncoding *encoding, const gint64 *leaf, gint64 n)
{
  gint64 *token = plait_arena_new_array (plait_tape_arena (encoding->tape), gint64, n + 1);
  const PlaitLinks *links = encoding->leaves->memories[0].links;

  for (gint64 row = 0; row < n; row++)
    token[row] = leaf[row] >= 0 && links && links->token ? links->token[leaf[row]] : -1;
  return token;
}

PlaitMemory
plait_encoding_tree_memory (const PlaitEncoding *encoding, const PlaitTreeRows *tree, PlaitCellState rows)
{
  PlaitLinks *links = plait_arena_new_array (plait_tape_arena (encoding->tape), PlaitLinks, 1);

  expect_leaves (encoding, G_STRFUNC);
  *links = (PlaitLinks){ .left = tree->left,
                         .right = tree->right,
                         .parent = tree->parent,
                         .token = leaf_tokens (encoding, tree->up.leaf, tree->up.rows) };
  return (PlaitMemory){ .states = rows.state, .cells = rows.cell, .rows = tree->rows, .links = links };
}

PlaitNode *
plait_encoding_tree_root (const PlaitEncoding *encoding, const PlaitTreeRows *tree, PlaitNode *x)
{
  gint64 n = tree->rows.n, next = 0;
  gint64 *rows = plait_arena_new_array (plait_tape_arena (encoding->tape), gint64, n + 1);

  for (gint64 s = 0; s < n; s++)
    rows[s] = next < tree->n_roots && tree->roots[next] < tree->rows.offsets[s + 1] ? tree->roots[next++] : -1;
  return plait_gather_rows (encoding->tape, x, rows, n);
}

PlaitMemory
plait_encoding_pyramid_memory (const PlaitEncoding *encoding, const PlaitPyramidRows *pyramid)
{
  PlaitLinks *links = plait_arena_new_array (plait_tape_arena (encoding->tape), PlaitLinks, 1);

  expect_leaves (encoding, G_STRFUNC);
  *links = (PlaitLinks){ .parent = pyramid->parent,
                         .first_child = pyramid->first_child,
                         .n_children = pyramid->n_children,
                         .level = pyramid->level,
                         .previous = pyramid->previous,
                         .next = pyramid->next,
                         .token = leaf_tokens (encoding, pyramid->leaf, plait_ragged_rows (pyramid->rows)) };
  return (PlaitMemory){ .states = pyramid->states, .cells = pyramid->cells, .rows = pyramid->rows, .links = links };
}

static const PlaitDocuments *
documents_of (const PlaitEncoding *encoding, const char *function)
{
  const PlaitDocuments *documents = encoding->input->documents;

  if (!documents)
    plait_tape_fail (encoding->tape, "calls %s without documents: give input=documents in the schema of the plugin",
                     function);
  return documents;
}

PlaitSentenceStarts
plait_encoding_starts (const PlaitEncoding *encoding)
{
  const PlaitDocuments *documents = documents_of (encoding, G_STRFUNC);
  gint64 rows = plait_ragged_rows (encoding->input->rows);

  if (encoding->leaves && plait_ragged_rows (encoding->leaves->memories[0].rows) != rows)
    plait_tape_fail (encoding->tape,
                     "reads an inner encoder with %jd rows for %jd tokens, but sentences begin at tokens: choose an "
                     "inner encoder with one row for each token",
                     plait_ragged_rows (encoding->leaves->memories[0].rows), rows);
  return (PlaitSentenceStarts){ documents->sentences, documents->rows };
}

PlaitMemory
plait_encoding_token_memory (const PlaitEncoding *encoding, PlaitNode *states, gboolean start_tokens)
{
  const PlaitDocuments *documents = documents_of (encoding, G_STRFUNC);
  PlaitRagged rows = encoding->input->rows;
  PlaitArena *arena = plait_tape_arena (encoding->tape);
  gint64 total = plait_ragged_rows (rows), n = 0;
  gint64 *kept = plait_arena_new_array (arena, gint64, total + 1);
  gint64 *token = plait_arena_new_array (arena, gint64, total + 1);
  gint64 *sentence = plait_arena_new_array (arena, gint64, total + 1);
  gint64 *offsets = plait_arena_new_array (arena, gint64, rows.n + 1);
  PlaitLinks *links = plait_arena_new_array (arena, PlaitLinks, 1);
  gint64 drop = documents->start_tokens && !start_tokens;

  offsets[0] = 0;
  for (gint64 d = 0; d < rows.n; d++)
    {
      gint64 first = documents->sentences.offsets[d];

      for (gint64 s = first; s < documents->sentences.offsets[d + 1]; s++)
        for (gint64 row = documents->rows[s] + drop; row < documents->rows[s + 1]; row++, n++)
          {
            kept[n] = row;
            token[n] = row - rows.offsets[d];
            sentence[n] = s - first;
          }
      offsets[d + 1] = n;
    }
  *links = (PlaitLinks){ .sentence = sentence, .token = token };
  if (n < total)
    states = plait_gather_rows (encoding->tape, states, kept, n);
  return (PlaitMemory){ .states = states, .rows = { rows.n, offsets }, .links = links };
}

PlaitMemory
plait_encoding_sentence_memory (const PlaitEncoding *encoding, PlaitNode *states)
{
  PlaitRagged sentences = documents_of (encoding, G_STRFUNC)->sentences;
  PlaitArena *arena = plait_tape_arena (encoding->tape);
  gint64 *sentence = plait_arena_new_array (arena, gint64, plait_ragged_rows (sentences) + 1);
  PlaitLinks *links = plait_arena_new_array (arena, PlaitLinks, 1);

  for (gint64 d = 0; d < sentences.n; d++)
    for (gint64 s = sentences.offsets[d]; s < sentences.offsets[d + 1]; s++)
      sentence[s] = s - sentences.offsets[d];
  *links = (PlaitLinks){ .sentence = sentence };
  return (PlaitMemory){ .states = states, .rows = sentences, .links = links };
}
