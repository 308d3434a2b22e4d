/* SPDX-License-Identifier: MIT */
#include "trees/trees.h"

#include "text/error.h"
#include "trees/tree-binary.h"

PlaitTreeMaker *
plait_tree_maker_new (const PlaitTreeSettings *settings, const char *source)
{
  PlaitTreeMaker *maker = g_new0 (PlaitTreeMaker, 1);
  maker->settings = *settings;
  if (settings->head_rules)
    plait_head_rules_ref (settings->head_rules);
  maker->source = g_strdup (source);
  maker->names = g_ptr_array_new_with_free_func (g_free);
  maker->numbers = g_hash_table_new (g_str_hash, g_str_equal);
  maker->scratch = g_string_new (NULL);
  g_ptr_array_add (maker->names, g_strdup (""));
  g_hash_table_insert (maker->numbers, maker->names->pdata[0], GINT_TO_POINTER (0));
  maker->tree = plait_tree_new ();
  maker->steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  maker->tags = g_array_new (FALSE, TRUE, sizeof (gint32));
  maker->piece_steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  return maker;
}

void
plait_tree_maker_free (PlaitTreeMaker *maker)
{
  if (!maker)
    return;
  plait_head_rules_unref (maker->settings.head_rules);
  g_hash_table_unref (maker->numbers);
  g_ptr_array_unref (maker->names);
  g_string_free (maker->scratch, TRUE);
  plait_tree_free (maker->tree);
  g_array_unref (maker->steps);
  g_array_unref (maker->tags);
  g_array_unref (maker->piece_steps);
  g_free (maker->source);
  g_free (maker);
}

gboolean
plait_tree_maker_reads (const PlaitTreeMaker *maker)
{
  return maker->settings.shape == PLAIT_TREES_GIVEN;
}

/* Makes the control tree of shape @shape over the words of @line. */
static void
make_control (PlaitTreeMaker *maker, PlaitTreeShape shape, const PlaitTreeLine *line)
{
  PlaitRandomKey key = plait_random_key (maker->settings.seed, "trees", maker->source, (guint64)line->number);
  plait_tree_control (shape, line->words, key, maker->steps);
  g_array_set_size (maker->tags, 0);
  g_array_set_size (maker->tags, (guint)line->words);
}

/* Makes the tree over words: fills maker->steps and maker->tags. Sets *@without to TRUE if the line has no tree and the
 * sentence has several words. */
static gboolean
make_words (PlaitTreeMaker *maker, const PlaitTreeLine *line, gboolean *without, GError **error)
{
  *without = FALSE;
  if (line->words > PLAIT_TREE_LEAVES_LIMIT)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the sentence of the tree has %jd words; expected at most %d, one sentence a line, so split it",
                       line->words, PLAIT_TREE_LEAVES_LIMIT);
  if (maker->settings.shape != PLAIT_TREES_GIVEN)
    {
      make_control (maker, maker->settings.shape, line);
      return TRUE;
    }
  if (!plait_tree_read (maker->tree, line->tree, line->tree_length, error))
    return FALSE;
  if (maker->tree->root >= 0)
    return plait_tree_match (maker->tree, line->sentence, line->sentence_length, error)
           && plait_tree_binarise (maker, error);
  *without = line->words > 1;
  if (*without && maker->settings.no_tree == PLAIT_NO_TREE_ERROR)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the line has no tree; expected one for its sentence of %jd words, since no_tree=error "
                       "(no_tree=leaves allows a missing tree)",
                       line->words);
  /* A single word has only one tree. */
  make_control (maker, PLAIT_TREES_RIGHT, line);
  return TRUE;
}

gboolean
plait_tree_maker_drops (PlaitTreeMaker *maker, const PlaitTreeLine *line)
{
  return plait_tree_maker_reads (maker) && maker->settings.no_tree == PLAIT_NO_TREE_DROP && line->words > 1
         && plait_tree_read (maker->tree, line->tree, line->tree_length, NULL) && maker->tree->root < 0;
}

gboolean
plait_tree_maker_make (PlaitTreeMaker *maker, const PlaitTreeLine *line, GArray *steps, gboolean *without,
                       GError **error)
{
  gboolean none;
  if (!make_words (maker, line, &none, error) || !plait_tree_split_words (maker, line->pieces, line->words, error))
    {
      g_prefix_error (error, "%s:%jd: ", line->file, line->number);
      return FALSE;
    }
  if (without)
    *without = none;
  if (!none || maker->settings.no_tree == PLAIT_NO_TREE_RIGHT)
    g_array_append_vals (steps, maker->piece_steps->data, 2 * maker->piece_steps->len);
  return TRUE;
}

void
plait_tree_maker_fill (const PlaitTreeMaker *maker, const gint32 *steps, gint64 n, gint64 rows, gint64 *left,
                       gint64 *right, const char **labels)
{
  const PlaitTreeStep *nodes = (const PlaitTreeStep *)steps;
  plait_tree_link (nodes, n, rows, left, right);
  for (gint64 i = 0; i < n; i++)
    labels[i] = plait_tree_label (maker, nodes[i].label);
}
