/* SPDX-License-Identifier: MIT */
#include "trees/tree-binary.h"

#include <string.h>

#include "text/error.h"

/* Finds the label maker->scratch in maker->names, or adds it, and sets *@number to its number. */
static gboolean
number_scratch (PlaitTreeMaker *maker, gint32 *number, GError **error)
{
  gpointer found;
  if (g_hash_table_lookup_extended (maker->numbers, maker->scratch->str, NULL, &found))
    {
      *number = GPOINTER_TO_INT (found);
      return TRUE;
    }
  if (maker->scratch->len > PLAIT_TREE_LABEL_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "a label of the tree is %zu bytes long; expected at most %d; shorten the labels, or chains of "
                       "single children, whose labels are joined",
                       maker->scratch->len, PLAIT_TREE_LABEL_BYTES);
  if (maker->names->len == PLAIT_TREE_LABELS_LIMIT)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the trees up to here have more than %d different labels; expected constituents such as NP",
                       PLAIT_TREE_LABELS_LIMIT);
  *number = (gint32)maker->names->len;
  g_ptr_array_add (maker->names, g_strdup (maker->scratch->str));
  g_hash_table_insert (maker->numbers, maker->names->pdata[*number], GINT_TO_POINTER (*number));
  return TRUE;
}

/* Sets *@number to the number of the label "@" + @label, or of the empty label if @label is empty. */
static gboolean
number_of (PlaitTreeMaker *maker, PlaitLabel label, gint32 *number, GError **error)
{
  g_string_truncate (maker->scratch, 0);
  if (label.length > 0)
    {
      g_string_append_c (maker->scratch, '@');
      g_string_append_len (maker->scratch, label.text, (gssize)label.length);
    }
  return number_scratch (maker, number, error);
}

/* Sets *@number to the label number of a chain of single children. This label joins the labels of the chain's nodes by
 * '+', from the top down to @node, leaves left out. */
static gboolean
number_chain (PlaitTreeMaker *maker, gint64 node, gint32 *number, GError **error)
{
  const PlaitTree *tree = maker->tree;
  gint64 top = node;
  for (gint64 above; (above = plait_tree_node (tree, top)->parent) >= 0; top = above)
    if (plait_tree_node (tree, above)->n_children > 1)
      break;
  g_string_truncate (maker->scratch, 0);
  for (;; top = plait_tree_node (tree, top)->first_child)
    {
      const PlaitTreeNode *link = plait_tree_node (tree, top);
      if (link->word < 0 && link->length > 0)
        {
          if (maker->scratch->len > 0)
            g_string_append_c (maker->scratch, '+');
          g_string_append_len (maker->scratch, link->text, (gssize)link->length);
        }
      if (top == node)
        return number_scratch (maker, number, error);
    }
}

typedef struct
{
  PlaitTreeMaker *maker;
  GArray *children; /* (element-type PlaitLabel) labels of the children of one node */
  gint64 *done;     /* [nodes], number of completed children */
  gint64 *pivot;    /* [nodes], the child, from 1, at which joining begins */
} Binariser;

static gint64
find_head (Binariser *self, const PlaitTreeNode *node)
{
  g_array_set_size (self->children, 0);
  for (gint64 child = node->first_child; child >= 0;)
    {
      const PlaitTreeNode *at = plait_tree_node (self->maker->tree, child);
      PlaitLabel label = { at->text, at->word < 0 ? at->length : 0 };
      g_array_append_val (self->children, label);
      child = at->next;
    }
  return plait_head_rules_find (self->maker->settings.head_rules, (PlaitLabel){ node->text, node->length },
                                (const PlaitLabel *)(gpointer)self->children->data, self->children->len);
}

/* Notes that one more child of node @number is complete, and joins the children that can be joined now. Joining begins
 * with the pivot: the first child for a left-branching tree, the last child for a right-branching tree, or the head
 * (Zhang & Clark 2009). When the pivot is complete, it is joined with the children before it, from right to left. When
 * a child after the pivot is complete, that child is joined with the result so far. */
static gboolean
complete_child (Binariser *self, gint64 number, GError **error)
{
  const PlaitTreeNode *node = plait_tree_node (self->maker->tree, number);
  gint64 n = node->n_children;
  if (n == 1)
    return TRUE;
  gint64 child = ++self->done[number];
  if (child == 1)
    self->pivot[number] = self->maker->settings.binarisation == PLAIT_BINARISE_LEFT    ? 1
                          : self->maker->settings.binarisation == PLAIT_BINARISE_RIGHT ? n
                                                                                       : find_head (self, node) + 1;
  gint64 joins = child < self->pivot[number] ? 0 : child == self->pivot[number] ? child - 1 : 1;
  for (gint64 i = 1; i <= joins; i++)
    {
      gboolean whole = child == n && i == joins;
      PlaitTreeStep step = { .leaves = (gint32)self->maker->tags->len };
      if (whole ? !number_chain (self->maker, number, &step.label, error)
                : !number_of (self->maker, (PlaitLabel){ node->text, node->length }, &step.label, error))
        return FALSE;
      g_array_append_val (self->maker->steps, step);
    }
  return TRUE;
}

gboolean
plait_tree_binarise (PlaitTreeMaker *maker, GError **error)
{
  guint n = maker->tree->nodes->len;
  g_autofree gint64 *counters = g_new0 (gint64, 2 * n);
  g_autoptr (GArray) children = g_array_new (FALSE, FALSE, sizeof (PlaitLabel));
  Binariser self = { maker, children, counters, counters + n };
  g_array_set_size (maker->steps, 0);
  g_array_set_size (maker->tags, 0);
  for (gint64 node = plait_tree_next (maker->tree, -1); node >= 0; node = plait_tree_next (maker->tree, node))
    {
      const PlaitTreeNode *at = plait_tree_node (maker->tree, node);
      gint32 tag;
      if (at->word >= 0)
        {
          if (!number_chain (maker, node, &tag, error))
            return FALSE;
          g_array_append_val (maker->tags, tag);
        }
      if (at->parent >= 0 && !complete_child (&self, at->parent, error))
        return FALSE;
    }
  return TRUE;
}

/* State of building a tree over pieces from a tree over words. */
typedef struct
{
  PlaitTreeMaker *maker;
  GByteArray *present; /* one per tree on the stack: TRUE if the tree has pieces */
  gint32 pieces;       /* number of pieces so far */
} Splitter;

static void
push (Splitter *self, gboolean present)
{
  guint8 byte = present != FALSE;
  g_byte_array_append (self->present, &byte, 1);
}

static gboolean
add_word (Splitter *self, gint32 tag, gint32 pieces, GError **error)
{
  PlaitTreeStep step = { 0 };
  const char *name = plait_tree_label (self->maker, tag);
  if (pieces > PLAIT_TREE_LEAVES_LIMIT - self->pieces)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the sentence of the tree has more than %d tokens; expected one sentence a line, so split it",
                       PLAIT_TREE_LEAVES_LIMIT);
  if (pieces > 2 && !number_of (self->maker, (PlaitLabel){ name, strlen (name) }, &step.label, error))
    return FALSE;
  for (gint32 i = 1; i <= pieces; i++)
    {
      step.leaves = ++self->pieces;
      if (i == pieces)
        step.label = tag;
      if (i > 1)
        g_array_append_val (self->maker->piece_steps, step);
    }
  push (self, pieces > 0);
  return TRUE;
}

static void
join (Splitter *self, gint32 label)
{
  guint n = self->present->len;
  gboolean left = self->present->data[n - 2], right = self->present->data[n - 1];
  PlaitTreeStep step = { self->pieces, label };
  g_byte_array_set_size (self->present, n - 2);
  push (self, left || right);
  if (left && right)
    g_array_append_val (self->maker->piece_steps, step);
}

gboolean
plait_tree_split_words (PlaitTreeMaker *maker, const gint32 *pieces, gint64 words, GError **error)
{
  g_autoptr (GByteArray) present = g_byte_array_new ();
  Splitter self = { maker, present, 0 };
  gint64 word = 0;
  g_array_set_size (maker->piece_steps, 0);
  for (guint i = 0; i <= maker->steps->len; i++)
    {
      const PlaitTreeStep *step = i < maker->steps->len ? &g_array_index (maker->steps, PlaitTreeStep, i) : NULL;
      for (; word < (step ? step->leaves : words); word++)
        if (!add_word (&self, g_array_index (maker->tags, gint32, word), pieces[word], error))
          return FALSE;
      if (step)
        join (&self, step->label);
    }
  return TRUE;
}

void
plait_tree_link (const PlaitTreeStep *steps, gint64 n, gint64 first, gint64 *left, gint64 *right)
{
  g_autofree gint64 *stack = g_new (gint64, n + 1);
  gint64 top = 0, leaves = 0;
  for (gint64 i = 0; i < n; i++)
    {
      while (leaves < steps[i].leaves)
        stack[top++] = leaves++;
      right[i] = stack[--top];
      left[i] = stack[--top];
      stack[top++] = first + i;
    }
}

gint64
plait_tree_height (const PlaitTreeStep *steps, gint64 n)
{
  g_autofree gint64 *heights = g_new0 (gint64, n + 1);
  gint64 top = 0, leaves = 0;
  for (gint64 i = 0; i < n; i++)
    {
      for (; leaves < steps[i].leaves; leaves++)
        heights[top++] = 0;
      top--;
      heights[top - 1] = 1 + MAX (heights[top - 1], heights[top]);
    }
  return heights[0];
}
