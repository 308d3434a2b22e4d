/* SPDX-License-Identifier: MIT */
#include "metrics/documents.h"

#include "text/error.h"

#include <string.h>

/* TRUE if @line has only ASCII white space: plait's meaning of a blank line. */
static gboolean
is_blank (const char *line)
{
  return line[strspn (line, " \t\n\v\f\r")] == '\0';
}

/* Returns the sentences of the non-blank items @first .. @end - 1 of @lines, with @separator between sentences. An item
 * may hold several sentences, with LF between them (plait_documents_align). (transfer full) */
static char *
join (const char *const *lines, gsize first, gsize end, char separator)
{
  GString *text = g_string_new (NULL);
  for (gsize i = first; i < end; i++)
    if (!is_blank (lines[i]))
      {
        if (text->len > 0)
          g_string_append_c (text, '\n');
        g_string_append (text, lines[i]);
      }
  return g_strdelimit (g_string_free (text, FALSE), "\n", separator);
}

/* Sets *@between to TRUE if line @line separates documents (is blank in the first reference set that has the line).
 * Fails if such a line is not blank in another text. */
static gboolean
is_between (const PlaitTextPairs *pairs, gsize line, gboolean *between, GError **error)
{
  const char *what = NULL;
  guint first = 0;
  while (first < pairs->reference_sets && !pairs->references[first][line])
    first++;
  *between = first < pairs->reference_sets && is_blank (pairs->references[first][line]);
  if (!*between)
    return TRUE;
  if (!is_blank (pairs->hypotheses[line]))
    what = "the hypothesis";
  for (guint k = first + 1; k < pairs->reference_sets; k++)
    if (pairs->references[k][line] && !is_blank (pairs->references[k][line]))
      what = "another reference";
  if (what)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "line %zu of the reference is blank, which ends a document, but the same line of %s is not; "
                       "give texts with the same documents",
                       line + 1, what);
  return TRUE;
}

/* Returns the first line of each document, and the end of the last. (transfer full) */
static GArray *
find_documents (const PlaitTextPairs *pairs, GError **error)
{
  g_autoptr (GArray) bounds = g_array_new (FALSE, FALSE, sizeof (gsize));
  gboolean inside = FALSE;
  gsize end = 0;
  for (gsize i = 0; i < pairs->sentences; i++)
    {
      gboolean between;
      if (!is_between (pairs, i, &between, error))
        return NULL;
      if (!between && !inside)
        g_array_append_val (bounds, i);
      inside = !between;
      if (inside)
        end = i + 1;
    }
  if (bounds->len == 0)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "there are no documents, because all lines of the reference are blank; give a reference with text");
  g_array_append_val (bounds, end);
  return g_steal_pointer (&bounds);
}

/* Writes the texts of one set to @documents [n]. Document i joins the lines @lines[i] .. @lines[i + 1] - 1, or is line
 * i if @lines is NULL. A document that lacks a line stays NULL. */
static void
join_set (const char *const *set, gsize n, const gsize *lines, char separator, char **documents)
{
  for (gsize d = 0; d < n; d++)
    {
      gsize first = lines ? lines[d] : d, end = lines ? lines[d + 1] : d + 1, line = first;
      while (line < end && set[line])
        line++;
      if (line < end)
        continue;
      documents[d] = lines ? join (set, first, end, separator) : g_strdelimit (g_strdup (set[d]), "\n", separator);
    }
}

PlaitDocumentPairs *
plait_document_pairs_new (const PlaitTextPairs *pairs, char separator, GError **error)
{
  g_autoptr (GArray) bounds = pairs->documents ? NULL : find_documents (pairs, error);
  if (!bounds && !pairs->documents)
    return NULL;
  gsize n = bounds ? bounds->len - 1 : pairs->sentences;
  guint sets = pairs->reference_sets;
  PlaitDocumentPairs *documents = g_new0 (PlaitDocumentPairs, 1);
  documents->texts = g_new0 (char *, (1 + (gsize)sets) * n);
  documents->references = g_new (const char *const *, sets);
  documents->pairs = (PlaitTextPairs){ n, (const char *const *)documents->texts, sets, documents->references };
  if (bounds)
    documents->lines = (gsize *)(gpointer)g_array_free (g_steal_pointer (&bounds), FALSE);
  join_set (pairs->hypotheses, n, documents->lines, separator, documents->texts);
  for (guint k = 0; k < sets; k++)
    {
      char **texts = documents->texts + (1 + k) * n;
      join_set (pairs->references[k], n, documents->lines, separator, texts);
      documents->references[k] = (const char *const *)texts;
    }
  return documents;
}

void
plait_document_pairs_free (PlaitDocumentPairs *documents)
{
  if (!documents)
    return;
  for (gsize i = 0; i < (1 + (gsize)documents->pairs.reference_sets) * documents->pairs.sentences; i++)
    g_free (documents->texts[i]);
  g_free (documents->texts);
  g_free (documents->references);
  g_free (documents->lines);
  g_free (documents);
}

static gboolean
is_aligned (const char *const *lines, const char *const *like)
{
  gsize i = 0;
  for (; lines[i] && like[i]; i++)
    if (is_blank (like[i]) && !is_blank (lines[i]))
      return FALSE;
  return !lines[i] && !like[i];
}

/* Finds the next document at or after line *@line. Sets *@line to the first line of the document, and *@end to the line
 * after the document. FALSE if there are no more documents. */
static gboolean
next_document (const char *const *lines, gsize *line, gsize *end)
{
  while (lines[*line] && is_blank (lines[*line]))
    ++*line;
  for (*end = *line; lines[*end] && !is_blank (lines[*end]);)
    ++*end;
  return *end > *line;
}

static gsize
count_documents (const char *const *lines)
{
  gsize n = 0;
  for (gsize line = 0, end; next_document (lines, &line, &end); line = end)
    n++;
  return n;
}

char **
plait_documents_align (const char *const *lines, const char *name, const char *const *like, const char *like_name,
                       GError **error)
{
  gsize n = count_documents (lines), wanted = count_documents (like);
  if (is_aligned (lines, like))
    return g_strdupv ((char **)lines);
  if (n != wanted)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: has %zu documents, but %s has %zu; blank lines end documents, so give files with the same documents", name,
        n, like_name, wanted);
  gsize n_lines = g_strv_length ((char **)like);
  char **aligned = g_new0 (char *, n_lines + 1);
  for (gsize i = 0; i < n_lines; i++)
    aligned[i] = g_strdup ("");
  for (gsize line = 0, end, place = 0, place_end; next_document (lines, &line, &end); line = end, place = place_end)
    {
      next_document (like, &place, &place_end);
      g_free (aligned[place]);
      aligned[place] = join (lines, line, end, '\n');
    }
  return aligned;
}
