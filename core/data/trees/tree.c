/* SPDX-License-Identifier: MIT */
#include "trees/tree.h"

#include <string.h>

#include "text/error.h"
#include "text/words.h"

#define EMPTY_ELEMENT "-NONE-"

PlaitTree *
plait_tree_new (void)
{
  PlaitTree *tree = g_new0 (PlaitTree, 1);
  tree->nodes = g_array_new (FALSE, FALSE, sizeof (PlaitTreeNode));
  tree->root = -1;
  return tree;
}

void
plait_tree_free (PlaitTree *tree)
{
  if (!tree)
    return;
  g_array_unref (tree->nodes);
  g_free (tree);
}

gint64
plait_tree_add (PlaitTree *tree, gint64 word, const char *text, gsize length)
{
  PlaitTreeNode node = { -1, -1, -1, -1, 0, word, text, length };
  g_array_append_val (tree->nodes, node);
  return (gint64)tree->nodes->len - 1;
}

void
plait_tree_attach (PlaitTree *tree, gint64 parent, gint64 child)
{
  PlaitTreeNode *above = plait_tree_node (tree, parent);
  plait_tree_node (tree, child)->parent = parent;
  if (above->last_child >= 0)
    plait_tree_node (tree, above->last_child)->next = child;
  else
    above->first_child = child;
  above->last_child = child;
  above->n_children++;
}

gint64
plait_tree_next (const PlaitTree *tree, gint64 node)
{
  gint64 next = tree->root;
  if (node == tree->root)
    return -1;
  if (node >= 0)
    {
      next = plait_tree_node (tree, node)->next;
      if (next < 0)
        return plait_tree_node (tree, node)->parent;
    }
  while (plait_tree_node (tree, next)->first_child >= 0)
    next = plait_tree_node (tree, next)->first_child;
  return next;
}

/* Returns the number of bytes up to the next white space or bracket. */
static gsize
atom_length (const char *text, gsize length)
{
  gsize n = 0;
  while (n < length && !plait_text_is_ascii_space (text[n]) && text[n] != '(' && text[n] != ')')
    n++;
  return n;
}

static gboolean
is_empty_element (const PlaitTreeNode *node)
{
  return node->length == strlen (EMPTY_ELEMENT) && memcmp (node->text, EMPTY_ELEMENT, node->length) == 0;
}

/* A constituent whose bracket is still open. */
typedef struct
{
  gint64 node;
  gboolean dropped; /* TRUE if a child of the constituent was left out because it has no words */
} Open;

/* State of reading brackets. A constituent is attached to its parent only when it closes, because an empty one is left
 * out. */
typedef struct
{
  PlaitTree *tree;
  GArray *open;    /* (element-type Open) open constituents, the innermost last */
  gboolean closed; /* TRUE after the outermost bracket was closed */
} Brackets;

static Open *
innermost (const Brackets *brackets)
{
  return &g_array_index (brackets->open, Open, brackets->open->len - 1);
}

static gboolean
add_word (Brackets *brackets, const char *text, gsize length, gsize byte, GError **error)
{
  if (brackets->open->len == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "byte %zu of the tree is outside of all brackets; a line must begin with the first bracket of "
                       "its tree, so parse the sentence again",
                       byte);
  Open *parent = innermost (brackets);
  if (is_empty_element (plait_tree_node (brackets->tree, parent->node)))
    {
      parent->dropped = TRUE;
      return TRUE;
    }
  plait_tree_attach (brackets->tree, parent->node,
                     plait_tree_add (brackets->tree, brackets->tree->n_words++, text, length));
  return TRUE;
}

static gboolean
close_constituent (Brackets *brackets, gsize byte, GError **error)
{
  if (brackets->open->len == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "byte %zu of the tree closes a bracket that was never opened; parse the line again", byte);
  Open closed = *innermost (brackets);
  const PlaitTreeNode *node = plait_tree_node (brackets->tree, closed.node);
  if (node->n_children == 0 && !closed.dropped)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "byte %zu of the tree closes a constituent (%.*s) that holds nothing; expected a word or "
                       "further constituents in it",
                       byte, (int)node->length, node->text);
  g_array_set_size (brackets->open, brackets->open->len - 1);
  brackets->closed = brackets->open->len == 0;
  if (node->n_children == 0)
    {
      if (!brackets->closed)
        innermost (brackets)->dropped = TRUE;
    }
  else if (brackets->closed)
    brackets->tree->root = closed.node;
  else
    plait_tree_attach (brackets->tree, innermost (brackets)->node, closed.node);
  return TRUE;
}

static gboolean
read_brackets (Brackets *brackets, const char *line, gsize length, GError **error)
{
  for (gsize i = 0; i < length;)
    {
      gsize byte = i + 1;
      if (plait_text_is_ascii_space (line[i]))
        i++;
      else if (brackets->closed)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "byte %zu comes after the end of the tree; a tree must begin on a line of its own; parse the text again",
            byte);
      else if (line[i] == '(')
        {
          for (i++; i < length && plait_text_is_ascii_space (line[i]); i++)
            ;
          gsize n = atom_length (line + i, length - i);
          Open open = { plait_tree_add (brackets->tree, -1, line + i, n), FALSE };
          g_array_append_val (brackets->open, open);
          i += n;
        }
      else if (line[i] == ')')
        {
          if (!close_constituent (brackets, byte, error))
            return FALSE;
          i++;
        }
      else
        {
          gsize n = atom_length (line + i, length - i);
          if (!add_word (brackets, line + i, n, byte, error))
            return FALSE;
          i += n;
        }
    }
  if (brackets->open->len > 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%u brackets are still open at the end of the tree; parse the sentence again, or, if the tree "
                       "takes several lines, begin each line except the first with a space",
                       brackets->open->len);
  return TRUE;
}

/* TRUE if @line, whose first word is @word, is "null" or has only balanced brackets: the sentence has no tree. */
static gboolean
says_none (const char *line, gsize length, const char *word, gsize word_length)
{
  gsize position = (gsize)(word - line) + word_length, next_length;
  gint64 depth = 0;
  if (word_length == strlen ("null") && memcmp (word, "null", word_length) == 0)
    return !plait_words_next (line, length, &position, &next_length);
  for (gsize i = 0; i < length; i++)
    {
      if (line[i] != '(' && line[i] != ')' && !plait_text_is_ascii_space (line[i]))
        return FALSE;
      depth += (line[i] == '(') - (line[i] == ')');
      if (depth < 0)
        return FALSE;
    }
  return depth == 0;
}

gboolean
plait_tree_read (PlaitTree *tree, const char *line, gsize length, GError **error)
{
  gsize position = 0, word_length;
  const char *word = plait_words_next (line, length, &position, &word_length);
  g_array_set_size (tree->nodes, 0);
  tree->root = -1;
  tree->n_words = 0;
  if (!word || says_none (line, length, word, word_length))
    return TRUE;
  if (*word == '[')
    return plait_tree_read_triples (tree, line, length, error);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  Brackets brackets = { .tree = tree, .open = open };
  return read_brackets (&brackets, line, length, error);
}

/* Escapes of the Penn Treebank for characters that have another meaning in trees. */
static const struct
{
  const char *written;
  char meant;
} escapes[] = {
  { "-LRB-", '(' }, { "-RRB-", ')' }, { "-LSB-", '[' }, { "-RSB-", ']' },
  { "-LCB-", '{' }, { "-RCB-", '}' }, { "\\/", '/' },   { "\\*", '*' },
};

/* Returns the length of the escape for the character @meant at the start of @word; 0 if it has no such escape. */
static gsize
escape_length (const char *word, gsize length, char meant)
{
  for (gsize i = 0; i < G_N_ELEMENTS (escapes); i++)
    {
      gsize n = strlen (escapes[i].written);
      if (escapes[i].meant == meant && n <= length && memcmp (word, escapes[i].written, n) == 0)
        return n;
    }
  return 0;
}

/* TRUE if @word, as written in a tree, stands for @token. */
static gboolean
is_token (const char *word, gsize word_length, const char *token, gsize token_length)
{
  if (word_length == 2 && (memcmp (word, "``", 2) == 0 || memcmp (word, "''", 2) == 0) && token_length == 1
      && *token == '"')
    return TRUE;
  gsize i = 0;
  for (gsize j = 0; j < token_length; j++)
    {
      gsize n = i < word_length && word[i] == token[j] ? 1 : escape_length (word + i, word_length - i, token[j]);
      if (n == 0)
        return FALSE;
      i += n;
    }
  return i == word_length;
}

gboolean
plait_tree_match (const PlaitTree *tree, const char *sentence, gsize length, GError **error)
{
  gsize position = 0, token_length;
  const char *token;
  gint64 tokens = 0;
  guint node = 0;
  while ((token = plait_words_next (sentence, length, &position, &token_length)))
    {
      /* Leaves are stored in the order of their words. */
      while (node < tree->nodes->len && plait_tree_node (tree, node)->word < 0)
        node++;
      const PlaitTreeNode *leaf = node < tree->nodes->len ? plait_tree_node (tree, node++) : NULL;
      tokens++;
      if (leaf && leaf->text && !is_token (leaf->text, leaf->length, token, token_length))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "word %jd of the tree is \"%.*s\", but token %jd of the sentence is \"%.*s\"; expected the "
                           "words to be the tokens, in their order, so parse this tokenised text",
                           tokens, (int)leaf->length, leaf->text, tokens, (int)token_length, token);
    }
  if (tokens != tree->n_words)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the tree has %jd words, but the sentence has %jd tokens; expected the words to be the tokens, "
                       "in their order, so parse this tokenised text",
                       tree->n_words, tokens);
  return TRUE;
}
