/* SPDX-License-Identifier: MIT */
#include "text/number.h"
#include "bench.h"
#include "types/input.h"
#include "lines/text-file.h"

/* Files of token data (experiments/peers/tokens.py). */

#define MAX_FILE ((gsize)1 << 30)

/* Appends the numbers of @text, each at least @min and below @end. */
static gboolean
read_numbers (GArray *numbers, const char *text, gint64 min, gint64 end, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (guint i = 0; words[i]; i++)
    {
      gint64 number;

      if (!plait_parse_integer (words[i], &number) || number < min || number >= end)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "\"%.40s\" is not an id; expected an integer from %jd to %jd, ids separated by single spaces", words[i],
            min, end - 1);
      gint32 id = (gint32)number;
      g_array_append_val (numbers, id);
    }
  return TRUE;
}

/* Appends the tree @text over the tokens of the current tuple: left and right child of each inner node, numbered like
 * PlaitTrees. */
static gboolean
read_tree (PlaitStreamBuilder *stream, const char *text, GError **error)
{
  GArray *children = stream->steps;
  gint64 first = children->len, words = plait_tuples_words (stream);
  g_autofree guint8 *has_parent = g_new0 (guint8, 2 * words);

  if (words == 1 && *text == '\0')
    return TRUE;
  if (!read_numbers (children, text, 0, 2 * words - 2, error))
    return FALSE;
  if (children->len - first != 2 * (words - 1))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "the tree has %jd numbers for %jd tokens; expected %jd: the left and the right child of each inner node",
        children->len - first, words, 2 * (words - 1));
  for (gint64 i = 0; i < 2 * (words - 1); i++)
    {
      gint32 child = g_array_index (children, gint32, first + i);

      if (child >= words + i / 2 || has_parent[child]++)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "in the tree, child %d of node %jd %s; expected each child once, and before its parent",
                           child, words + i / 2, child >= words + i / 2 ? "is not before the node" : "is named twice");
    }
  return TRUE;
}

/* Fails if a line does not have @n texts: each source's text, its trees, and the target. */
static gboolean
check_texts (const PlaitTuples *tuples, guint n, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < tuples->streams->len; i++)
    {
      const PlaitStreamBuilder *stream = tuples->streams->pdata[i];

      if (plait_input_kind_is_text (stream->kind))
        g_ptr_array_add (names, (gpointer)stream->name);
      if (stream->linked)
        g_ptr_array_add (names, (gpointer) "its trees");
    }
  if (n == names->len)
    return TRUE;
  g_ptr_array_add (names, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **)names->pdata);
  return plait_fail (error, PLAIT_ERROR_INPUT, "the line has %u streams; expected %u, separated by tabs: %s", n,
                     names->len - 1, list);
}

static gboolean
read_line (PlaitTuples *tuples, const char *line, GError **error)
{
  g_auto (GStrv) texts = g_strsplit (line, "\t", -1);
  GArray *target = plait_tuples_target (tuples)->ids;
  char **text = texts;

  if (!texts[0])
    {
      plait_tuples_end_batch (tuples, 0);
      return TRUE;
    }
  if (!check_texts (tuples, g_strv_length (texts), error))
    return FALSE;
  for (guint i = 0; i < tuples->streams->len; i++)
    {
      PlaitStreamBuilder *stream = tuples->streams->pdata[i];

      if (plait_input_kind_is_text (stream->kind)
          && !read_numbers (stream->ids, *text++, PLAIT_TOKEN_EOS, tuples->experiment->data.vocabulary_size, error))
        return FALSE;
      if (stream->linked && !read_tree (stream, *text++, error))
        return FALSE;
    }
  if (plait_tuples_words (plait_tuples_target (tuples)) == 0
      || g_array_index (target, gint32, target->len - 1) != PLAIT_TOKEN_EOS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the target does not end in %d, which marks the end of a sentence; add this number",
                       PLAIT_TOKEN_EOS);
  g_array_set_size (target, target->len - 1); /* the batch adds EOS */
  plait_tuples_end (tuples);
  return TRUE;
}

gboolean
bench_read_tokens (PlaitTuples *tuples, const char *path, GError **error)
{
  g_auto (GStrv) lines = plait_text_file_lines (path, FALSE, MAX_FILE, error);

  if (!lines)
    return FALSE;
  for (guint i = 0; lines[i]; i++)
    if (!read_line (tuples, lines[i], error))
      {
        g_prefix_error (error, "%s:%u: ", path, i + 1);
        return FALSE;
      }
  plait_tuples_end_batch (tuples, 0);
  return plait_tuples_n_batches (tuples) > 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: holds no sentences; experiments/peers/tokens.py writes such a file", path);
}
