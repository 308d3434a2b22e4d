/* SPDX-License-Identifier: MIT */
#include "link-tree.h"

#include <string.h>

#include "text/words.h"

/* An open constituent: where it begins in the output, and where its content begins. */
typedef struct
{
  gsize begin;
  gsize inside;
} Open;

typedef struct
{
  const char *sentence;
  gsize length;
  gsize position; /* byte after the current token */
  gsize start;    /* bytes of the current token: start .. end - 1 */
  gsize end;
  gboolean written; /* TRUE if the current token has been written, or if there is no current token yet */
  GArray *open;     /* (element-type Open) */
  gboolean closed;  /* TRUE if the outermost constituent is closed */
  GString *tree;
} Mapping;

static void
open_constituent (Mapping *mapping, const char *label, gsize length)
{
  Open open = { mapping->tree->len, 0 };
  if (mapping->open->len > 0)
    g_string_append_c (mapping->tree, ' ');
  g_string_append_c (mapping->tree, '(');
  g_string_append_len (mapping->tree, label, (gssize)length);
  open.inside = mapping->tree->len;
  g_array_append_val (mapping->open, open);
}

static void
close_constituent (Mapping *mapping)
{
  Open open = g_array_index (mapping->open, Open, mapping->open->len - 1);
  g_array_set_size (mapping->open, mapping->open->len - 1);
  if (mapping->tree->len == open.inside)
    g_string_truncate (mapping->tree, open.begin);
  else
    g_string_append_c (mapping->tree, ')');
  mapping->closed = mapping->open->len == 0;
}

/* Moves to the next token. FALSE if there is no next token or the current one has not been written. */
static gboolean
next_token (Mapping *mapping)
{
  gsize length;
  const char *token = plait_words_next (mapping->sentence, mapping->length, &mapping->position, &length);
  if (!token || !mapping->written)
    return FALSE;
  mapping->start = (gsize)(token - mapping->sentence);
  mapping->end = mapping->start + length;
  mapping->written = FALSE;
  return TRUE;
}

static void
write_token (Mapping *mapping)
{
  g_string_append_c (mapping->tree, ' ');
  for (gsize i = mapping->start; i < mapping->end; i++)
    if (mapping->sentence[i] == '(' || mapping->sentence[i] == ')')
      g_string_append (mapping->tree, mapping->sentence[i] == '(' ? "-LRB-" : "-RRB-");
    else
      g_string_append_c (mapping->tree, mapping->sentence[i]);
  mapping->written = TRUE;
}

static gboolean
add_word (Mapping *mapping, PlaitLinkWord word)
{
  if (mapping->open->len == 0)
    return FALSE;
  while (word.start >= mapping->end)
    if (!next_token (mapping))
      return FALSE;
  if (word.start < mapping->start || word.end > mapping->end)
    return FALSE;
  if (!mapping->written)
    write_token (mapping);
  return TRUE;
}

/* Adds one item of the constituents: "[LABEL", "LABEL]" or a word. Words contain no square brackets: link-grammar
 * prints braces instead. */
static gboolean
add_item (Mapping *mapping, const char *item, gsize length, const PlaitLinkWord *words, gsize n_words, gsize *word)
{
  if (mapping->closed)
    return FALSE;
  if (item[0] == '[')
    {
      open_constituent (mapping, item + 1, length - 1);
      return TRUE;
    }
  if (item[length - 1] != ']')
    return *word < n_words && add_word (mapping, words[(*word)++]);
  if (mapping->open->len == 0)
    return FALSE;
  close_constituent (mapping);
  return TRUE;
}

gboolean
plait_link_tree (const char *constituents, const PlaitLinkWord *words, gsize n_words, const char *sentence,
                 gsize length, GString *tree)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  Mapping mapping = { .sentence = sentence, .length = length, .written = TRUE, .open = open, .tree = tree };
  gsize before = tree->len, n = strlen (constituents), word = 0, position = 0, size;
  const char *item;
  gboolean good = TRUE;
  while (good && (item = plait_words_next (constituents, n, &position, &size)))
    good = add_item (&mapping, item, size, words, n_words, &word);
  good = good && mapping.closed && word == n_words && tree->len > before && mapping.written && !next_token (&mapping);
  if (!good)
    g_string_truncate (tree, before);
  return good;
}
