/* SPDX-License-Identifier: MIT */
#include "trees/tree-lint.h"

#include "text/error.h"
#include "text/words.h"
#include "lines/text-file.h"
#include "trees/tree-binary.h"

#define FIRST_NODE 201 /* first number of an inner node in triples, as in Chen et al. 2017 */

/* A file of trees, read in step with a file of tokens, and its current line. */
typedef struct
{
  PlaitTextReader *trees;
  PlaitTextReader *tokens; /* reader of the tokens; NULL if trees are read without tokens */
  const char *line;
  gsize length;
  const char *sentence; /* current line of the tokens; NULL if trees are read without tokens */
  gsize sentence_length;
  PlaitTreeMaker *maker;
} Reading;

static void
reading_clear (Reading *reading)
{
  plait_text_reader_free (reading->trees);
  plait_text_reader_free (reading->tokens);
  plait_tree_maker_free (reading->maker);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reading, reading_clear)

static gboolean
reading_open (Reading *reading, const char *trees, const char *tokens, const PlaitTreeSettings *settings,
              GError **error)
{
  reading->trees = plait_text_reader_open_pipe (trees, error);
  if (reading->trees)
    reading->trees = plait_text_reader_join_trees (reading->trees, TRUE);
  if (reading->trees && tokens)
    reading->tokens = plait_text_reader_open_pipe (tokens, error);
  reading->maker = plait_tree_maker_new (settings, NULL);
  return reading->trees && (!tokens || reading->tokens);
}

/* Reads the next line of both files. FALSE at their end, or with @error set. */
static gboolean
next_line (Reading *reading, GError **error)
{
  g_autoptr (GError) cause = NULL;
  reading->line = plait_text_reader_next (reading->trees, &reading->length, &cause);
  reading->sentence = NULL;
  if (!cause && reading->tokens)
    reading->sentence = plait_text_reader_next (reading->tokens, &reading->sentence_length, &cause);
  if (!plait_no_error (&cause, error))
    return FALSE;
  if (reading->tokens && !reading->line != !reading->sentence)
    {
      const PlaitTextReader *ended = !reading->line ? reading->trees : reading->tokens;
      const PlaitTextReader *going = !reading->line ? reading->tokens : reading->trees;
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s:%jd: ends here, but %s continues; expected equal numbers of trees and sentences, since "
                         "tree i belongs to sentence i",
                         plait_text_reader_name (ended), plait_text_reader_line (ended) + 1,
                         plait_text_reader_name (going));
    }
  return reading->line != NULL;
}

static gboolean
make_binary (Reading *reading, GError **error)
{
  const PlaitTree *tree = reading->maker->tree;
  if (tree->root < 0)
    return TRUE;
  if (reading->sentence && !plait_tree_match (tree, reading->sentence, reading->sentence_length, error))
    return FALSE;
  if (tree->n_words > PLAIT_TREE_LEAVES_LIMIT)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the tree has %jd words; expected at most %d, so split the sentence",
                       tree->n_words, PLAIT_TREE_LEAVES_LIMIT);
  return plait_tree_binarise (reading->maker, error);
}

static gboolean
read_tree (Reading *reading, GError **error)
{
  g_array_set_size (reading->maker->steps, 0);
  g_array_set_size (reading->maker->tags, 0);
  if (plait_tree_read (reading->maker->tree, reading->line, reading->length, error) && make_binary (reading, error))
    return TRUE;
  g_prefix_error (error, "%s:%jd: ", plait_text_reader_name (reading->trees), plait_text_reader_line (reading->trees));
  return FALSE;
}

static void
count_arities (const PlaitTree *tree, PlaitTreeCounts *counts)
{
  for (gint64 node = plait_tree_next (tree, -1); node >= 0; node = plait_tree_next (tree, node))
    {
      const PlaitTreeNode *at = plait_tree_node (tree, node);
      gboolean is_tag = at->n_children == 1 && plait_tree_node (tree, at->first_child)->word >= 0;
      if (at->word >= 0 || is_tag)
        continue;
      ++*(at->n_children == 1   ? &counts->unary
          : at->n_children == 2 ? &counts->binary
          : at->n_children == 3 ? &counts->ternary
                                : &counts->wider);
    }
}

gboolean
plait_trees_check (const char *trees, const char *tokens, const PlaitTreeSettings *settings,
                   PlaitTreeLineFunc report_line, gpointer data, PlaitTreeCounts *counts, GError **error)
{
  g_auto (Reading) reading = { 0 };
  g_autoptr (GError) cause = NULL;
  *counts = (PlaitTreeCounts){ 0 };
  if (!reading_open (&reading, trees, tokens, settings, error))
    return FALSE;
  while (next_line (&reading, &cause))
    {
      g_autoptr (GError) fault = NULL;
      counts->lines++;
      if (!read_tree (&reading, &fault))
        {
          counts->bad++;
          report_line (fault->message, data);
          continue;
        }
      counts->with_tree += reading.maker->tree->root >= 0;
      counts->without_tree += reading.maker->tree->root < 0;
      if (reading.maker->tree->root < 0)
        continue;
      counts->leaves += reading.maker->tree->n_words;
      counts->height
          += plait_tree_height ((const PlaitTreeStep *)(gpointer)reading.maker->steps->data, reading.maker->steps->len);
      count_arities (reading.maker->tree, counts);
    }
  return plait_no_error (&cause, error);
}

static void
write_triples (const Reading *reading, GString *out)
{
  gint64 words = reading->maker->tree->n_words, n = reading->maker->steps->len, first = MAX (FIRST_NODE, words + 1);
  g_autofree gint64 *left = g_new (gint64, n), *right = g_new (gint64, n);
  plait_tree_link ((const PlaitTreeStep *)(gpointer)reading->maker->steps->data, n, words, left, right);
  if (n == 0)
    g_string_append_printf (out, "[1,1,%d]", FIRST_NODE);
  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (out, "%s[%jd,%jd,%jd]", i > 0 ? " " : "",
                            left[i] < words ? left[i] + 1 : first + left[i] - words,
                            right[i] < words ? right[i] + 1 : first + right[i] - words, first + i);
}

/* Returns the words of the current line with brackets escaped, as a tree writes them. (transfer full) */
static GStrv
words_of (const Reading *reading)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  gsize position = 0, length;
  const char *token;
  for (guint i = 0; i < reading->maker->tree->nodes->len; i++)
    {
      const PlaitTreeNode *node = plait_tree_node (reading->maker->tree, i);
      if (node->word < 0 || (!node->text && !reading->sentence))
        continue;
      token = node->text;
      length = node->length;
      if (!token)
        token = plait_words_next (reading->sentence, reading->sentence_length, &position, &length);
      g_autoptr (GString) word = g_string_new_len (token, (gssize)length);
      g_string_replace (word, "(", "-LRB-", 0);
      g_string_replace (word, ")", "-RRB-", 0);
      g_strv_builder_add (words, word->str);
    }
  return g_strv_builder_end (words);
}

/* Returns the name of @label. An empty label becomes X, the unknown label of the Penn Treebank. Without a label, the
 * word after the bracket would be read as the label. */
static const char *
label_of (const Reading *reading, gint32 label)
{
  const char *name = plait_tree_label (reading->maker, label);
  return *name != '\0' ? name : "X";
}

static gboolean
write_brackets (const Reading *reading, GString *out, GError **error)
{
  const PlaitTreeStep *steps = (const PlaitTreeStep *)(gpointer)reading->maker->steps->data;
  gint64 words = reading->maker->tree->n_words, n = reading->maker->steps->len;
  g_autofree gint64 *left = g_new (gint64, n), *right = g_new (gint64, n);
  g_auto (GStrv) texts = words_of (reading);
  g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (gint64));
  const gint64 end = -1;
  if (reading->maker->tree->root < 0)
    return TRUE;
  if (g_strv_length (texts) != words)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s:%jd: the triples have no words to be written into brackets; give their sentences with --tokens",
        plait_text_reader_name (reading->trees), plait_text_reader_line (reading->trees));
  plait_tree_link (steps, n, words, left, right);
  /* @rest is a stack of the leaves, nodes and closing brackets (-1) that are still to be written. */
  gint64 item = words + n - 1;
  g_array_append_val (rest, item);
  while (rest->len > 0)
    {
      item = g_array_index (rest, gint64, rest->len - 1);
      g_array_set_size (rest, rest->len - 1);
      if (item != end && out->len > 0)
        g_string_append_c (out, ' ');
      if (item == end)
        g_string_append_c (out, ')');
      else if (item < words)
        g_string_append_printf (out, "(%s %s)", label_of (reading, g_array_index (reading->maker->tags, gint32, item)),
                                texts[item]);
      else
        {
          g_string_append_printf (out, "(%s", label_of (reading, steps[item - words].label));
          g_array_append_val (rest, end);
          g_array_append_val (rest, right[item - words]);
          g_array_append_val (rest, left[item - words]);
        }
    }
  return TRUE;
}

gboolean
plait_trees_convert (const char *trees, const char *tokens, const PlaitTreeSettings *settings, PlaitTreeFormat format,
                     PlaitTreeLineFunc take, gpointer data, GError **error)
{
  g_auto (Reading) reading = { 0 };
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) cause = NULL;
  if (!reading_open (&reading, trees, tokens, settings, error))
    return FALSE;
  while (next_line (&reading, &cause))
    {
      g_string_truncate (out, 0);
      if (!read_tree (&reading, error))
        return FALSE;
      if (format == PLAIT_TREE_TRIPLES)
        write_triples (&reading, out);
      else if (!write_brackets (&reading, out, error))
        return FALSE;
      take (out->str, data);
    }
  return plait_no_error (&cause, error);
}
