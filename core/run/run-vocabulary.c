/* SPDX-License-Identifier: MIT */
#include "run/run-vocabulary.h"

#include "base/error.h"

#define GROUP "/vocabulary"

gboolean
plait_run_vocabulary_write (const PlaitVocabulary *vocabulary, PlaitStore *run, const char *name, GError **error)
{
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  g_autofree char *model = g_strconcat (path, "/model", NULL);
  g_autofree char *pieces_path = g_strconcat (path, "/pieces", NULL);
  g_autofree char *scores_path = g_strconcat (path, "/scores", NULL);
  GBytes *bytes = plait_vocabulary_serialize (vocabulary);
  gint64 size = plait_vocabulary_size (vocabulary);
  g_autofree const char **pieces = g_new (const char *, size);
  g_autofree double *scores = g_new (double, size);

  for (gint64 i = 0; i < size; i++)
    {
      pieces[i] = plait_vocabulary_piece (vocabulary, (gint32)i);
      scores[i] = plait_vocabulary_score (vocabulary, (gint32)i);
    }
  return plait_store_make_group (run, path, error)
         && plait_store_set_string (run, path, "format", plait_vocabulary_format (vocabulary), error)
         && plait_store_set_string (run, path, "sha256", plait_vocabulary_hash (vocabulary), error)
         && plait_store_write_bytes (run, model, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error)
         && plait_store_write_strings (run, pieces_path, pieces, size, error)
         && plait_store_write (run, scores_path, PLAIT_STORE_DOUBLE, 1, &size, scores, PLAIT_STORE_COMPRESSED, error);
}

PlaitVocabulary *
plait_run_vocabulary_read (PlaitStore *run, const char *name, GError **error)
{
  enum
  {
    LARGEST = 1 << 30,
  };
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  g_autofree char *model = g_strconcat (path, "/model", NULL);
  g_autofree char *format = plait_store_get_string (run, path, "format", error);
  g_autofree char *what = g_strdup_printf ("%s:%s", plait_store_path (run), model);
  g_autoptr (GBytes) bytes = NULL;

  if (!format)
    return NULL;
  bytes = plait_store_read_bytes (run, model, LARGEST, error);
  return bytes ? plait_vocabulary_load (format, bytes, what, error) : NULL;
}

gboolean
plait_run_vocabulary_has (PlaitStore *run, const char *name)
{
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  g_autofree char *format
      = *name && plait_store_has (run, path) ? plait_store_get_string (run, path, "format", NULL) : NULL;

  return format && !g_str_equal (format, "labels");
}

/* The names of the vocabularies of text. (transfer full) */
static char **
names_of_text (PlaitStore *run)
{
  g_auto (GStrv) names = plait_store_has (run, GROUP) ? plait_store_members (run, GROUP, NULL) : NULL;
  g_autoptr (GStrvBuilder) text = g_strv_builder_new ();

  for (guint i = 0; names && names[i]; i++)
    if (plait_run_vocabulary_has (run, names[i]))
      g_strv_builder_add (text, names[i]);
  return g_strv_builder_end (text);
}

char *
plait_run_vocabulary_only (PlaitStore *run)
{
  g_auto (GStrv) names = names_of_text (run);

  return g_strv_length (names) == 1 ? g_strdup (names[0]) : NULL;
}

static PlaitVocabulary *
open_of_run (const char *path, const char *name, gboolean or_only, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitStore) run = plait_store_open_rewritten (path, log, error);
  g_autofree char *only = NULL;
  g_auto (GStrv) names = NULL;
  g_autofree char *known = NULL;

  if (!run)
    return NULL;
  if (name && plait_run_vocabulary_has (run, name))
    return plait_run_vocabulary_read (run, name, error);
  only = !name || or_only ? plait_run_vocabulary_only (run) : NULL;
  if (only)
    return plait_run_vocabulary_read (run, only, error);
  names = names_of_text (run);
  known = g_strjoinv (", ", names);
  if (!*names)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: holds no vocabulary of text; name another run, or a file", path);
  else if (name)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: has no vocabulary \"%s\" (there are: %s); name another run, or a file",
                path, name, known);
  else
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: has several vocabularies (%s); say which one with --name", path, known);
  return NULL;
}

PlaitVocabulary *
plait_run_vocabulary_open (const char *path, const char *name, gboolean or_only, PlaitLog *log, GError **error)
{
  return plait_store_recognize (path) ? open_of_run (path, name, or_only, log, error)
                                      : plait_vocabulary_read (path, log, error);
}
