/* SPDX-License-Identifier: MIT */
#include "setup/digests.h"

#include <string.h>

#include "foreign/safetensors.h"

struct PlaitDigests
{
  GHashTable *files;          /* path of a file -> PlaitKnownText */
  PlaitTextCache *text_cache; /* may be NULL */
  PlaitStore *run;            /* run whose stored digests are used, as is_recorded_in_run() says; or NULL */
  const PlaitExperiment *own;
  GHashTable *kept;      /* name of a file -> SHA-256 that the run stores */
  GHashTable *generated; /* description of a generated split -> GStrv: SHA-256 of each stream of the task */
};

PlaitDigests *
plait_digests_new (PlaitStore *run, const PlaitExperiment *own)
{
  PlaitDigests *digests = g_new0 (PlaitDigests, 1);

  digests->run = run;
  digests->own = own;
  digests->kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  digests->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  digests->text_cache = plait_text_cache_new (NULL);
  digests->generated = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
  return digests;
}

void
plait_digests_free (PlaitDigests *digests)
{
  if (!digests)
    return;
  g_hash_table_unref (digests->kept);
  g_hash_table_unref (digests->files);
  plait_text_cache_free (digests->text_cache);
  g_hash_table_unref (digests->generated);
  g_free (digests);
}

/* Returns the digest that the run stores for the file @name; NULL if it stores none. */
static const char *
kept_digest (PlaitDigests *digests, const char *name)
{
  g_autofree char *group = g_strdup_printf ("/data/%s", name);
  char *digest = g_hash_table_lookup (digests->kept, name);

  if (!digest && plait_store_has (digests->run, group))
    {
      digest = plait_store_get_string (digests->run, group, "sha256", NULL);
      if (digest)
        g_hash_table_insert (digests->kept, g_strdup (name), digest);
    }
  return digest;
}

/* TRUE if the run gives the digest of the file @name at @path. A file of a test split may have changed since, so the
 * run gives its digest only if the file is missing and the run's experiment names this path. */
static gboolean
is_recorded_in_run (const PlaitDigests *digests, const char *name, const char *path)
{
  g_autofree char *split = g_strndup (name, strcspn (name, "."));

  return digests->run
         && (!g_str_has_prefix (name, "test")
             || (!g_file_test (path, G_FILE_TEST_EXISTS)
                 && g_strcmp0 (*plait_experiment_data_files (digests->own, split, name + strlen (split) + 1), path)
                        == 0));
}

/* Returns the path, the current stamp and the current digest of the file at @path. (transfer full) */
static PlaitKnownText *
look_at (const PlaitDigests *digests, const char *path, GError **error)
{
  g_autofree PlaitKnownText *known = g_new0 (PlaitKnownText, 1);

  return plait_text_cache_digest (digests->text_cache, path, known, error) ? g_steal_pointer (&known) : NULL;
}

const PlaitKnownText *
plait_digests_known (PlaitDigests *digests, const char *path, GError **error)
{
  PlaitKnownText *known = g_hash_table_lookup (digests->files, path);

  if (known)
    return known;
  known = look_at (digests, path, error);
  if (known)
    g_hash_table_insert (digests->files, g_strdup (path), known);
  return known;
}

const PlaitKnownText *
plait_digests_file (PlaitDigests *digests, const char *path, GError **error)
{
  const PlaitKnownText *known = plait_digests_known (digests, path, error);

  return known && plait_file_stamp_check (&known->stamp, path, error) ? known : NULL;
}

typedef struct
{
  PlaitDigests *digests;
  GPtrArray *paths;
  PlaitKnownText **known; /* [paths] */
} Share;

static void
take_digest (gpointer data, gint64 piece, guint thread)
{
  const Share *share = data;

  share->known[piece] = look_at (share->digests, share->paths->pdata[piece], NULL);
}

void
plait_digests_share (PlaitDigests *digests, GPtrArray *paths, PlaitPool *pool)
{
  g_autofree PlaitKnownText **known = g_new0 (PlaitKnownText *, paths->len + 1);
  Share share = { digests, paths, known };

  plait_pool_run (pool, paths->len, take_digest, &share);
  for (guint i = 0; i < paths->len; i++)
    if (known[i] && !g_hash_table_contains (digests->files, paths->pdata[i]))
      g_hash_table_insert (digests->files, g_strdup (paths->pdata[i]), known[i]);
    else
      g_free (known[i]);
}

/* Calls @visitor for the file @name at @path, if @path is not NULL. */
static gboolean
visit_file (PlaitDigests *digests, const char *name, const char *path, PlaitDigestVisitor visitor, gpointer data,
            GError **error)
{
  const char *digest = path && is_recorded_in_run (digests, name, path) ? kept_digest (digests, name) : NULL;
  const PlaitKnownText *known = path && !digest ? plait_digests_known (digests, path, error) : NULL;

  if (known)
    digest = known->digest;
  return !path || (digest && visitor (name, path, digest, data, error));
}

/*
 * Functions for generated text
 */

/* Returns a text that identifies a generated split. (transfer full) */
static char *
describe_split (const PlaitTask *task, const PlaitTaskSettings *settings, guint split)
{
  g_autoptr (GString) text = g_string_new (task->name);

  g_string_append_printf (text, " %ju %jd", settings->seed, settings->sizes[split]);
  for (gint64 i = 0; i < task->n_parameters; i++)
    g_string_append_printf (text, " %jd", settings->values[i]);
  g_string_append_printf (text, " %s", plait_task_splits[split]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
string_free (gpointer string)
{
  g_string_free (string, TRUE);
}

/* Generates all streams of a split and returns their digests, without writing files. (transfer full) */
static char **
digest_split (const PlaitTask *task, const PlaitTaskSettings *settings, guint split)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (string_free);
  g_autoptr (GPtrArray) checksums = g_ptr_array_new_with_free_func ((GDestroyNotify)g_checksum_free);
  g_autoptr (GStrvBuilder) digests = g_strv_builder_new ();

  for (guint s = 0; task->streams[s]; s++)
    {
      g_ptr_array_add (lines, g_string_new (NULL));
      g_ptr_array_add (checksums, g_checksum_new (G_CHECKSUM_SHA256));
    }
  for (gint64 tuple = 0; tuple < settings->sizes[split]; tuple++)
    {
      plait_task_tuple (task, settings, split, tuple, (GString *const *)lines->pdata);
      for (guint s = 0; s < lines->len; s++)
        {
          GString *line = lines->pdata[s];

          g_string_append_c (line, '\n');
          g_checksum_update (checksums->pdata[s], (const guchar *)line->str, (gssize)line->len);
        }
    }
  for (guint s = 0; s < lines->len; s++)
    g_strv_builder_add (digests, g_checksum_get_string (checksums->pdata[s]));
  return g_strv_builder_end (digests);
}

/* Returns the digest of @stream of a generated split. Except for the test split, returns the digest that digests->run
 * stores as @name, if any. */
static const char *
digest_of_generated (PlaitDigests *digests, const PlaitTask *task, const PlaitTaskSettings *settings, guint split,
                     const char *name, const char *stream)
{
  const char *kept
      = digests->run && !g_str_equal (plait_task_splits[split], "test") ? kept_digest (digests, name) : NULL;
  g_autofree char *description = describe_split (task, settings, split);
  char **found = g_hash_table_lookup (digests->generated, description);
  guint place = 0;

  if (kept)
    return kept;
  if (!found)
    {
      found = digest_split (task, settings, split);
      g_hash_table_insert (digests->generated, g_steal_pointer (&description), found);
    }
  while (!g_str_equal (task->streams[place], stream))
    place++;
  return found[place];
}

/*
 * Functions that visit all files
 */

gboolean
plait_digests_visit_split (PlaitDigests *digests, const PlaitExperiment *experiment, const char *split,
                           PlaitDigestVisitor visitor, gpointer data, GError **error)
{
  g_autofree const char **streams = plait_experiment_all_streams (experiment);
  guint generated = experiment->task ? 0 : PLAIT_TASK_SPLITS;

  while (generated < PLAIT_TASK_SPLITS && !g_str_equal (plait_task_splits[generated], split))
    generated++;
  for (guint i = 0; streams[i]; i++)
    {
      const char *const *paths = plait_experiment_data_files (experiment, split, streams[i]);
      g_autofree char *name = g_strdup_printf ("%s.%s", split, streams[i]);

      if (generated < PLAIT_TASK_SPLITS
          && !visitor (
              name, NULL,
              digest_of_generated (digests, experiment->task, &experiment->task_settings, generated, name, streams[i]),
              data, error))
        return FALSE;
      for (guint f = 0; paths[f]; f++)
        {
          g_autofree char *numbered = g_strdup_printf ("%s.%u", name, f + 1);

          if (!visit_file (digests, f == 0 ? name : numbered, paths[f], visitor, data, error))
            return FALSE;
        }
    }
  return TRUE;
}

#define INITIALISE "initialise"

/* Calls @visitor for the file that training begins with. If the file is an index of weights, also for the files that it
 * lists: initialise.1 and so on. */
static gboolean
visit_initial (PlaitDigests *digests, const char *path, PlaitDigestVisitor visitor, gpointer data, GError **error)
{
  gboolean kept = digests->run && kept_digest (digests, INITIALISE ".1");
  g_auto (GStrv) parts = path && !kept ? plait_safetensors_shards (path, error) : NULL;

  if (path && ((!kept && !parts) || !visit_file (digests, INITIALISE, path, visitor, data, error)))
    return FALSE;
  for (guint i = 0; kept || (parts && parts[i]); i++)
    {
      g_autofree char *name = g_strdup_printf (INITIALISE ".%u", i + 1);
      const char *digest = kept ? kept_digest (digests, name) : NULL;

      if (kept && !digest)
        break;
      if (kept ? !visitor (name, NULL, digest, data, error)
               : !visit_file (digests, name, parts[i], visitor, data, error))
        return FALSE;
    }
  return TRUE;
}

char *
plait_digest_key (const char *name)
{
  return g_strconcat (g_str_has_prefix (name, INITIALISE) ? "train." : "data.", name, NULL);
}

const char *
plait_digests_text (PlaitDigests *digests, const PlaitExperiment *experiment, const PlaitVocabularyText *text,
                    GError **error)
{
  g_auto (PlaitTaskSettings) settings = { 0 };
  const PlaitKnownText *known = text->path ? plait_digests_known (digests, text->path, error) : NULL;
  const char *stream = text->path ? NULL
                                  : plait_task_parse_text (experiment->task, &experiment->task_settings, text->stream,
                                                           &settings, error);

  return known ? known->digest
         : stream
             ? digest_of_generated (digests, experiment->task, &settings, 0, text->key ? text->key : "train", stream)
             : NULL;
}

/* Calls @visitor for the texts, except training text, from which vocabulary @name is learnt. */
static gboolean
visit_texts (PlaitDigests *digests, const PlaitExperiment *experiment, const char *name, PlaitDigestVisitor visitor,
             gpointer data, GError **error)
{
  g_autoptr (GArray) texts = plait_experiment_vocabulary_texts (experiment, name);

  for (guint i = 0; i < texts->len; i++)
    {
      const PlaitVocabularyText *text = &g_array_index (texts, PlaitVocabularyText, i);
      const char *generated = text->key && !text->path ? plait_digests_text (digests, experiment, text, error) : NULL;

      if (!text->key)
        continue;
      if (text->path ? !visit_file (digests, text->key, text->path, visitor, data, error)
                     : !generated || !visitor (text->key, NULL, generated, data, error))
        return FALSE;
    }
  return TRUE;
}

/* Calls @visitor for vocabulary files and, for each vocabulary without a file, for the texts from which the vocabulary
 * is learnt, except training text. */
static gboolean
visit_vocabularies (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor, gpointer data,
                    GError **error)
{
  g_autofree const char **streams = plait_experiment_streams (experiment);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; streams[i]; i++)
    {
      const char *vocabulary = plait_experiment_vocabulary (experiment, streams[i]);
      const char *path = plait_experiment_vocabulary_file (experiment, vocabulary);
      g_autofree char *name = g_strdup_printf ("vocabulary.%s", vocabulary);

      if (!g_hash_table_add (seen, (gpointer)vocabulary))
        continue;
      if (path ? !visit_file (digests, name, path, visitor, data, error)
               : !visit_texts (digests, experiment, vocabulary, visitor, data, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_digests_visit_training (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                              gpointer data, GError **error)
{
  const char *initial = *experiment->train.initialise ? experiment->train.initialise : NULL;

  return plait_digests_visit_split (digests, experiment, "train", visitor, data, error)
         && plait_digests_visit_split (digests, experiment, "validation", visitor, data, error)
         && visit_vocabularies (digests, experiment, visitor, data, error)
         && visit_file (digests, "head_rules", experiment->head_rules, visitor, data, error)
         && visit_initial (digests, initial, visitor, data, error)
         && visit_file (digests, INITIALISE "_map", experiment->name_map, visitor, data, error);
}

gboolean
plait_digests_visit_tests (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                           gpointer data, GError **error)
{
  for (guint i = 0; experiment->test_splits[i]; i++)
    if (!plait_digests_visit_split (digests, experiment, experiment->test_splits[i], visitor, data, error))
      return FALSE;
  return TRUE;
}

gboolean
plait_digests_visit (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                     gpointer data, GError **error)
{
  return plait_digests_visit_training (digests, experiment, visitor, data, error)
         && plait_digests_visit_tests (digests, experiment, visitor, data, error);
}
