/* SPDX-License-Identifier: MIT */
#include "data/labels.h"

#include "base/error.h"
#include "data/input.h"

gboolean
plait_label_check (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n, const char *file, gint64 line,
                   const char *text, gsize length, GError **error)
{
  gint32 size = plait_vocabulary_size (vocabulary);
  g_autoptr (GPtrArray) labels = NULL;
  g_autofree char *label = NULL;
  const char *nearest;

  if (n > 0 && ids[0] != PLAIT_TOKEN_UNKNOWN)
    return TRUE;
  if (n == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": the line is empty; expected a label, one of the %d of training", file,
                       line, size - PLAIT_TOKEN_SPECIALS);
  labels = g_ptr_array_new ();
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < size; id++)
    g_ptr_array_add (labels, (gpointer)plait_vocabulary_piece (vocabulary, id));
  g_ptr_array_add (labels, NULL);
  label = g_strstrip (g_strndup (text, length));
  nearest = plait_nearest_name (label, (const char *const *)labels->pdata);
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT ": the label \"%s\" stands nowhere in training; expected one of its %d "
                     "labels, such as \"%s\"",
                     file, line, label, size - PLAIT_TOKEN_SPECIALS,
                     nearest ? nearest : plait_vocabulary_piece (vocabulary, PLAIT_TOKEN_SPECIALS));
}
