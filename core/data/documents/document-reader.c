/* SPDX-License-Identifier: MIT */
/* Reads documents from files: finds the ends of documents and sentences, and the roles of sentences. */
#include "documents/documents.h"

#include <string.h>

#include "text/error.h"
#include "process/unicode.h"
#include "documents/abbreviations.h"

#define MAX_ROLE 64 /* maximum bytes of the name of a role and its colon */

struct PlaitDocumentReader
{
  PlaitTextReader *reader;
  PlaitDocumentSettings settings;
  const PlaitUnicodeTable *unicode; /* functions that find sentence ends, for PLAIT_LAYOUT_LINES; else NULL */
  gpointer rules;                   /* iterator over sentences, from @unicode; NULL without @unicode */

  gint64 n;          /* number of sentences of the current document so far */
  gint32 role;       /* role of the last sentence */
  GHashTable *roles; /* name -> role */
};

PlaitDocumentReader *
plait_document_reader_new (PlaitTextReader *reader, const PlaitDocumentSettings *settings, GError **error)
{
  g_autoptr (PlaitDocumentReader) self = g_new0 (PlaitDocumentReader, 1);

  self->reader = reader;
  self->settings = *settings;
  self->roles = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (settings->layout == PLAIT_LAYOUT_LINES)
    {
      const char *reason;

      self->unicode = plait_unicode_open (error);
      if (!self->unicode)
        return NULL;
      self->rules = self->unicode->sentences_new (&reason);
      if (!self->rules)
        return plait_fail_null (
            error, PLAIT_ERROR_FAILED,
            "%s: cannot be split into sentences, since ICU has no rules for sentences (%s); install the data of ICU",
            plait_text_reader_name (reader), reason);
    }
  return g_steal_pointer (&self);
}

void
plait_document_reader_free (PlaitDocumentReader *self)
{
  if (!self)
    return;
  g_hash_table_unref (self->roles);
  if (self->rules)
    self->unicode->sentences_free (self->rules);
  g_free (self);
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail_here (const PlaitDocumentReader *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s:%jd: %s", plait_text_reader_name (self->reader),
                     plait_text_reader_line (self->reader), what);
}

/* Returns the name before the colon if @sentence begins with "NAME: " or is "NAME:"; else NULL. (transfer full) */
static char *
role_name (const char *sentence, gsize length)
{
  const char *colon = memchr (sentence, ':', MIN (length, MAX_ROLE));
  gsize n = colon ? (gsize)(colon - sentence) : 0;

  if (n == 0 || plait_text_is_blank (sentence, n) || (n + 1 < length && !plait_text_is_ascii_space (colon[1])))
    return NULL;
  return g_strstrip (g_strndup (sentence, n));
}

/* Sets self->role to the role that @sentence begins with; without one, keeps the role of the previous sentence. Fails
 * if the first sentence of the document has no role, or if the document has too many roles. */
static gboolean
find_role (PlaitDocumentReader *self, const char *sentence, gsize length, GError **error)
{
  g_autofree char *name = role_name (sentence, length);
  gpointer role;

  if (!name)
    return self->n > 0
           || fail_here (self, error,
                         "the document begins without a role; expected NAME: before its first sentence, since "
                         "documents have roles");
  if (g_hash_table_lookup_extended (self->roles, name, NULL, &role))
    {
      self->role = GPOINTER_TO_INT (role);
      return TRUE;
    }
  self->role = (gint32)g_hash_table_size (self->roles);
  if (self->role == self->settings.roles)
    return fail_here (self, error,
                      "the role \"%s\" is one more than the %jd roles that a document may have; raise document_roles",
                      name, self->settings.roles);
  g_hash_table_insert (self->roles, g_steal_pointer (&name), GINT_TO_POINTER (self->role));
  return TRUE;
}

static gboolean
add_sentence (PlaitDocumentReader *self, const char *sentence, gsize length, GString *text, GArray *sentences,
              GError **error)
{
  PlaitDocumentSentence entry = { 0 };

  if (self->n == PLAIT_DOCUMENT_SENTENCES_LIMIT)
    return fail_here (
        self, error, "the document has more than %d sentences; expected %s", PLAIT_DOCUMENT_SENTENCES_LIMIT,
        self->settings.layout == PLAIT_LAYOUT_DOCUMENTS ? "a blank line between documents" : "a document a line");
  if (self->settings.roles > 0 && !find_role (self, sentence, length, error))
    return FALSE;
  entry.role = self->role;
  if (self->n++ > 0)
    g_string_append_c (text, '\n');
  g_string_append_len (text, sentence, (gssize)length);
  g_array_append_val (sentences, entry);
  return TRUE;
}

static gboolean
split (PlaitDocumentReader *self, const char *line, gsize length, GString *text, GArray *sentences, GError **error)
{
  gboolean good = TRUE;
  gsize start = 0;

  self->unicode->sentences_begin (self->rules, line, length);
  for (gssize next; good && (next = self->unicode->sentences_next (self->rules)) >= 0;)
    {
      gsize end = (gsize)next;

      if (plait_abbreviation_continues (self->settings.language, line, length, end))
        continue;
      while (start < end && plait_text_is_ascii_space (line[start]))
        start++;
      while (end > start && plait_text_is_ascii_space (line[end - 1]))
        end--;
      good = start == end || add_sentence (self, line + start, end - start, text, sentences, error);
      start = (gsize)next;
    }
  return good;
}

gboolean
plait_document_reader_next (PlaitDocumentReader *self, GString *text, GArray *sentences, gint64 *line, GError **error)
{
  g_autoptr (GError) cause = NULL;
  const char *next;
  gsize length;

  *line = 0;
  self->n = 0;
  self->role = 0;
  g_hash_table_remove_all (self->roles);
  while ((next = plait_text_reader_next (self->reader, &length, &cause)))
    {
      if (*line == 0)
        *line = plait_text_reader_line (self->reader);
      if (self->settings.layout == PLAIT_LAYOUT_SENTENCES)
        {
          g_string_append_len (text, next, (gssize)length);
          return TRUE;
        }
      if (self->settings.layout == PLAIT_LAYOUT_LINES)
        return split (self, next, length, text, sentences, error);
      if (plait_text_is_blank (next, length))
        return TRUE;
      if (!add_sentence (self, next, length, text, sentences, error))
        return FALSE;
    }
  if (!plait_no_error (&cause, error))
    return FALSE;
  return *line > 0;
}

GPtrArray *
plait_document_texts (const char *path, const PlaitDocumentSettings *settings, GArray *lines, GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_null_terminated (8, g_free, TRUE);
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (PlaitDocumentReader) documents = reader ? plait_document_reader_new (reader, settings, error) : NULL;
  g_autoptr (GArray) sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) fault = NULL;

  for (gint64 line; documents && plait_document_reader_next (documents, text, sentences, &line, &fault);)
    {
      g_ptr_array_add (texts, g_strndup (text->str, text->len));
      if (lines)
        g_array_append_val (lines, line);
      g_string_truncate (text, 0);
      g_array_set_size (sentences, 0);
    }
  return documents && plait_no_error (&fault, error) ? g_steal_pointer (&texts) : NULL;
}
