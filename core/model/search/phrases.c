/* SPDX-License-Identifier: MIT */
#include "search/phrases.h"

/* A node of the automaton: a sequence of tokens with which at least one phrase begins. */
typedef struct
{
  gint32 token; /* last token of the sequence */
  guint depth;  /* number of tokens in the sequence */
  guint child, sibling;
  guint suffix;   /* node of the longest proper suffix of the sequence, among those that have a node */
  guint64 begins; /* bit i is set if phrase i begins with the sequence */
  guint64 ends;   /* bit i is set if phrase i is a suffix of the sequence */
} Node;

struct PlaitPhrases
{
  guint n;
  gint64 *lengths; /* [n] */
  GArray *nodes;   /* element-type Node; node 0 is the empty sequence */
  gint64 tokens;
};

static Node *
node_at (const PlaitPhrases *phrases, guint i)
{
  return &g_array_index (phrases->nodes, Node, i);
}

/* Returns the child of @node with @token, or 0 if there is no such child. */
static guint
find_child (const PlaitPhrases *phrases, guint node, gint32 token)
{
  guint child = node_at (phrases, node)->child;

  while (child > 0 && node_at (phrases, child)->token != token)
    child = node_at (phrases, child)->sibling;
  return child;
}

static guint
add_child (PlaitPhrases *phrases, guint node, gint32 token)
{
  Node *parent = node_at (phrases, node);
  guint child = phrases->nodes->len;
  Node added = { .token = token, .depth = parent->depth + 1, .sibling = parent->child };

  parent->child = child;
  g_array_append_val (phrases->nodes, added);
  return child;
}

/* TRUE if the phrase @tokens was added before. */
static gboolean
has_phrase (const PlaitPhrases *phrases, const gint32 *tokens, gint64 n)
{
  guint node = 0;

  for (gint64 i = 0; i < n; i++)
    {
      node = find_child (phrases, node, tokens[i]);
      if (node == 0)
        return FALSE;
    }
  return node_at (phrases, node)->ends != 0;
}

static void
add_phrase (PlaitPhrases *phrases, const gint32 *tokens, gint64 n)
{
  guint64 bit = G_GUINT64_CONSTANT (1) << phrases->n;
  guint node = 0;

  if (has_phrase (phrases, tokens, n))
    return;
  for (gint64 i = 0; i < n; i++)
    {
      guint child = find_child (phrases, node, tokens[i]);

      node = child > 0 ? child : add_child (phrases, node, tokens[i]);
      node_at (phrases, node)->begins |= bit;
    }
  node_at (phrases, node)->ends = bit;
  phrases->lengths[phrases->n++] = n;
  phrases->tokens += n;
}

/* Returns the node after @token: appends @token to the sequence of @node, and takes the longest suffix of the result
 * that has a node. */
static guint
follow (const PlaitPhrases *phrases, guint node, gint32 token)
{
  for (;; node = node_at (phrases, node)->suffix)
    {
      guint child = find_child (phrases, node, token);

      if (child > 0 || node == 0)
        return child;
    }
}

/* Sets the suffixes of all nodes, shorter nodes before longer ones. */
static void
link_suffixes (PlaitPhrases *phrases)
{
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (guint));
  guint root = 0;

  g_array_append_val (queue, root);
  for (guint i = 0; i < queue->len; i++)
    {
      guint parent = g_array_index (queue, guint, i);

      for (guint child = node_at (phrases, parent)->child; child > 0; child = node_at (phrases, child)->sibling)
        {
          Node *node = node_at (phrases, child);

          if (parent > 0)
            node->suffix = follow (phrases, node_at (phrases, parent)->suffix, node->token);
          node->ends |= node_at (phrases, node->suffix)->ends;
          g_array_append_val (queue, child);
        }
    }
}

PlaitPhrases *
plait_phrases_new (PlaitRagged phrases, const gint32 *tokens)
{
  PlaitPhrases *made = g_new0 (PlaitPhrases, 1);

  g_assert (phrases.n <= PLAIT_PHRASES_MAX);
  made->lengths = g_new (gint64, phrases.n);
  made->nodes = g_array_new (FALSE, TRUE, sizeof (Node));
  g_array_set_size (made->nodes, 1);
  for (gint64 i = 0; i < phrases.n; i++)
    add_phrase (made, tokens + phrases.offsets[i], plait_ragged_length (phrases, i));
  link_suffixes (made);
  return made;
}

void
plait_phrases_free (PlaitPhrases *phrases)
{
  if (!phrases)
    return;
  g_free (phrases->lengths);
  g_array_unref (phrases->nodes);
  g_free (phrases);
}

PlaitPhraseState
plait_phrases_advance (const PlaitPhrases *phrases, PlaitPhraseState state, gint32 token)
{
  guint node = follow (phrases, state.node, token);

  return (PlaitPhraseState){ state.met | node_at (phrases, node)->ends, node };
}

gint64
plait_phrases_tokens (const PlaitPhrases *phrases)
{
  return phrases->tokens;
}

gint64
plait_phrases_missing (const PlaitPhrases *phrases, PlaitPhraseState state)
{
  guint node = state.node;
  gint64 missing = 0;

  for (guint i = 0; i < phrases->n; i++)
    if (!(state.met >> i & 1))
      missing += phrases->lengths[i];
  while (node > 0 && (node_at (phrases, node)->begins & ~state.met) == 0)
    node = node_at (phrases, node)->suffix;
  return missing - node_at (phrases, node)->depth;
}

guint
plait_phrases_words (const PlaitPhrases *phrases, PlaitPhraseState state, gint32 *words)
{
  guint n = 0;

  for (guint node = state.node;; node = node_at (phrases, node)->suffix)
    {
      for (guint child = node_at (phrases, node)->child; child > 0; child = node_at (phrases, child)->sibling)
        {
          const Node *next = node_at (phrases, child);
          guint i = 0;

          while (i < n && words[i] != next->token)
            i++;
          if (i == n && (next->begins & ~state.met) != 0)
            words[n++] = next->token;
        }
      if (node == 0)
        return n;
    }
}

gint64
plait_requirement_length (const PlaitRequirement *requirement)
{
  PlaitPhraseState state = { 0 };

  if (!requirement->phrases)
    return requirement->prefix_length + 1;
  for (gint64 i = 0; i < requirement->prefix_length; i++)
    state = plait_phrases_advance (requirement->phrases, state, requirement->prefix[i]);
  return requirement->prefix_length + plait_phrases_missing (requirement->phrases, state) + 1;
}
