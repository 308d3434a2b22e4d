/* SPDX-License-Identifier: MIT */
#include "data/labels.h"

#include "base/error.h"
#include "data/input.h"

gboolean
plait_label_check (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n, const PlaitTargetLine *line,
                   GError **error)
{
  gint32 size = plait_vocabulary_size (vocabulary);
  g_autoptr (GPtrArray) labels = NULL;
  g_autofree char *label = NULL;
  const char *nearest;

  if (n > 0 && ids[0] != PLAIT_TOKEN_UNKNOWN)
    return TRUE;
  if (n == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": the line is empty; expected a label, one of the %d of training",
                       line->file, line->line, size - PLAIT_TOKEN_SPECIALS);
  labels = g_ptr_array_new ();
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < size; id++)
    g_ptr_array_add (labels, (gpointer)plait_vocabulary_piece (vocabulary, id));
  g_ptr_array_add (labels, NULL);
  label = g_strstrip (g_strndup (line->text, line->length));
  nearest = plait_nearest_name (label, (const char *const *)labels->pdata);
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT ": the label \"%s\" stands nowhere in training; expected one of its %d "
                     "labels, such as \"%s\"",
                     line->file, line->line, label, size - PLAIT_TOKEN_SPECIALS,
                     nearest ? nearest : plait_vocabulary_piece (vocabulary, PLAIT_TOKEN_SPECIALS));
}

void
plait_choice_encode (const char *text, gsize length, GArray *ids)
{
  g_autofree char *number = g_strstrip (g_strndup (text, length));
  guint64 value;
  gint32 id;

  if (!g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT32, &value, NULL))
    return;
  id = (gint32)value;
  g_array_append_val (ids, id);
}

gboolean
plait_choice_check (const gint32 *ids, gsize n, gint64 choices, const PlaitTargetLine *line, GError **error)
{
  g_autofree char *number = NULL;

  if (choices == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT
                       ": belongs to a document without sentences, so there is nothing to choose "
                       "from; give it some",
                       line->file, line->line);
  if (n == 1 && ids[0] < choices)
    return TRUE;
  number = g_strstrip (g_strndup (line->text, line->length));
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT ": \"%s\" is none of the %" G_GINT64_FORMAT
                     " sentences of the document; expected the number of the right one, from 0 to %" G_GINT64_FORMAT,
                     line->file, line->line, number, choices, choices - 1);
}
