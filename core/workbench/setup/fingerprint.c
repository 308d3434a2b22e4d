/* SPDX-License-Identifier: MIT */
#include "setup/fingerprint.h"

#include "metrics/metric.h"

#include <string.h>

#include "experiment/groups.h"
#include "foreign/safetensors.h"

struct PlaitDigests
{
  GHashTable *files;          /* path -> PlaitKnownText */
  PlaitTextCache *text_cache; /* may be NULL */
  PlaitStore *run;            /* run whose stored digests replace those of its files, or NULL */
  const PlaitExperiment *own;
  GHashTable *kept;      /* name -> SHA-256 stored in the run */
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

/* Returns the digest of file @name that the run stores, or NULL. */
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

/* TRUE if the digest of file @name is taken from the run. Test splits are an exception: they may be read again, from
 * other files. All other files were read when the run was made. */
static gboolean
is_recorded_in_run (const PlaitDigests *digests, const char *name, const char *path)
{
  g_autofree char *split = g_strndup (name, strcspn (name, "."));

  return digests->run
         && (!g_str_has_prefix (name, "test")
             || (!g_file_test (path, G_FILE_TEST_EXISTS)
                 && g_strcmp0 (plait_experiment_data_file (digests->own, split, name + strlen (split) + 1), path)
                        == 0));
}

/* Returns the file at @path with its present stamp and digest. (transfer full) */
static PlaitKnownText *
look_at (const PlaitDigests *digests, const char *path, GError **error)
{
  g_autofree PlaitKnownText *known = g_new0 (PlaitKnownText, 1);

  return plait_text_cache_digest (digests->text_cache, path, known, error) ? g_steal_pointer (&known) : NULL;
}

/* Returns the state of the file at @path when it was first read, or NULL: later changes of the file do not change what
 * the run has read. */
static const PlaitKnownText *
known_file (PlaitDigests *digests, const char *path, GError **error)
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
  const PlaitKnownText *known = known_file (digests, path, error);

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
    if (known[i])
      g_hash_table_insert (digests->files, g_strdup (paths->pdata[i]), known[i]);
}

/* Visits file @name at @path (NULL: there is no such file). */
static gboolean
visit_file (PlaitDigests *digests, const char *name, const char *path, PlaitDigestVisitor visitor, gpointer data,
            GError **error)
{
  const char *digest = path && is_recorded_in_run (digests, name, path) ? kept_digest (digests, name) : NULL;
  const PlaitKnownText *known = path && !digest ? known_file (digests, path, error) : NULL;

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

/* Returns the digest of @stream of a generated split; for training text of a run, the stored one. */
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

static gboolean
visit_split (PlaitDigests *digests, const PlaitExperiment *experiment, const char *split, PlaitDigestVisitor visitor,
             gpointer data, GError **error)
{
  g_autofree const char **streams = plait_experiment_all_streams (experiment);
  guint generated = experiment->task ? 0 : PLAIT_TASK_SPLITS;

  while (generated < PLAIT_TASK_SPLITS && !g_str_equal (plait_task_splits[generated], split))
    generated++;
  for (guint i = 0; streams[i]; i++)
    {
      const char *path = plait_experiment_data_file (experiment, split, streams[i]);
      const char *const *further = plait_experiment_further_files (experiment, split, streams[i]);
      g_autofree char *name = g_strdup_printf ("%s.%s", split, streams[i]);

      if (generated < PLAIT_TASK_SPLITS ? !visitor (
              name, NULL,
              digest_of_generated (digests, experiment->task, &experiment->task_settings, generated, name, streams[i]),
              data, error)
                                        : !visit_file (digests, name, path, visitor, data, error))
        return FALSE;
      for (guint f = 0; further && further[f]; f++)
        {
          g_autofree char *number = g_strdup_printf ("%s.%u", name, f + 2);

          if (!visit_file (digests, number, further[f], visitor, data, error))
            return FALSE;
        }
    }
  return TRUE;
}

#define INITIALISE "initialise"

/* Visits the file that training begins with and, if it is an index, the files it lists: initialise.1 and so on. */
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
  const PlaitKnownText *known = text->path ? known_file (digests, text->path, error) : NULL;
  const char *stream = text->path ? NULL
                                  : plait_task_parse_text (experiment->task, &experiment->task_settings, text->stream,
                                                           &settings, error);

  return known ? known->digest
         : stream
             ? digest_of_generated (digests, experiment->task, &settings, 0, text->key ? text->key : "train", stream)
             : NULL;
}

/* Visits the texts that vocabulary @name is learnt from, except training text. */
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

/* Visits vocabulary files, and the texts that other vocabularies are learnt from. */
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

  return visit_split (digests, experiment, "train", visitor, data, error)
         && visit_split (digests, experiment, "validation", visitor, data, error)
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
    if (!visit_split (digests, experiment, experiment->test_splits[i], visitor, data, error))
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

/*
 * Functions that compute and compare fingerprints
 */

static gboolean
append_digest (const char *name, const char *path, const char *digest, gpointer data, GError **error)
{
  g_autofree char *key = plait_digest_key (name);

  g_string_append_printf (data, "%s=%s\n", key, digest);
  return TRUE;
}

static gboolean
append_plugin (PlaitPlugin *plugin, gpointer data, GError **error)
{
  if (!plait_plugin_digest (plugin, error))
    return FALSE;
  g_string_append_printf (data, "plugin.%s.%s=%s %s\n", plait_plugin_kind_name (plugin->kind), plugin->name,
                          plugin->schema_digest, plugin->module_digest);
  return TRUE;
}

/* Appends the digest of each model that a tokeniser of @metrics reads. */
static gboolean
append_models (const char *metrics, PlaitDigests *digests, GString *text, GError **error)
{
  g_autoptr (GPtrArray) list = *metrics ? plait_metric_new_list (metrics, error) : g_ptr_array_new ();

  for (guint i = 0; list && i < list->len; i++)
    {
      const char *path = plait_metric_model (list->pdata[i]);
      const PlaitKnownText *known = path ? known_file (digests, path, error) : NULL;

      if (known)
        g_string_append_printf (text, "%s=%s\n", plait_metric_text (list->pdata[i]), known->digest);
      else if (path)
        return FALSE;
    }
  return list != NULL;
}

/* Appends the digest of the dictionary, if translations are made with it. */
static gboolean
append_dictionary (const PlaitExperiment *experiment, PlaitDigests *digests, GString *text, GError **error)
{
  const char *path = experiment->decode.dictionary;
  const PlaitKnownText *known;

  if (*path == '\0' || experiment->decode.unknown != PLAIT_DECODE_UNKNOWN_REPLACE)
    return TRUE;
  known = known_file (digests, path, error);
  if (known)
    g_string_append_printf (text, "decode.dictionary=%s\n", known->digest);
  return known != NULL;
}

/* Appends the digests of the files of scores. */
static gboolean
append_scores (const PlaitExperiment *experiment, PlaitDigests *digests, GString *text, GError **error)
{
  for (guint i = 0; i < experiment->n_scores; i++)
    {
      const PlaitExperimentScore *score = &experiment->scores[i];
      const PlaitKnownText *known = score->path ? known_file (digests, score->path, error) : NULL;

      if (score->path && !known)
        return FALSE;
      if (known)
        g_string_append_printf (text, "evaluate.scores.%s=%s\n", score->name, known->digest);
    }
  return TRUE;
}

char *
plait_training_fingerprint (const PlaitExperiment *experiment, PlaitDigests *digests, GError **error)
{
  g_autofree char *settings = plait_experiment_training_fingerprint_text (experiment, PLAIT_FINGERPRINT_BRIEF);
  g_autoptr (GString) text = g_string_new (settings);

  if ((experiment->train.best_by == PLAIT_TRAIN_BEST_BY_METRIC
       && !(append_dictionary (experiment, digests, text, error)
            && append_models (experiment->train.metric, digests, text, error)))
      || !plait_digests_visit_training (digests, experiment, append_digest, text, error)
      || !plait_experiment_each_plugin (experiment, append_plugin, text, error))
    return NULL;
  return plait_digest_bytes (text->str, text->len);
}

char *
plait_evaluation_fingerprint (const PlaitExperiment *experiment, const char *split, const char *training_fingerprint,
                              PlaitDigests *digests, GError **error)
{
  g_autofree char *settings = plait_experiment_evaluation_fingerprint_text (experiment, PLAIT_FINGERPRINT_BRIEF);
  g_autoptr (GString) text = g_string_new (training_fingerprint);

  g_string_append_printf (text, "\n%s\n%s", split, settings);
  if (!append_dictionary (experiment, digests, text, error) || !append_scores (experiment, digests, text, error)
      || !append_models (experiment->evaluate.metrics, digests, text, error)
      || !visit_split (digests, experiment, split, append_digest, text, error))
    return NULL;
  return plait_digest_bytes (text->str, text->len);
}

char *
plait_run_fingerprint (const PlaitExperiment *experiment, const char *training_fingerprint, PlaitDigests *digests,
                       GError **error)
{
  g_autoptr (GString) text = g_string_new (training_fingerprint);

  for (guint i = 0; experiment->test_splits[i]; i++)
    {
      g_autofree char *key
          = plait_evaluation_fingerprint (experiment, experiment->test_splits[i], training_fingerprint, digests, error);

      if (!key)
        return NULL;
      g_string_append_printf (text, "\n%s", key);
    }
  return plait_digest_bytes (text->str, text->len);
}

/* A setting that decides which keys a group has: all keys, or those that begin with @prefix. */
typedef struct
{
  const char *group;
  const char *prefix;
  const char *deciding_group; /* group of @deciding_key; NULL: @group itself */
  const char *deciding_key;
} Deciding;

static const Deciding deciding[] = {
  { "combiner", "", "decoder", "combiner" },     { "coverage", "", "decoder", "coverage" },
  { "output", "", "decoder", "output" },         { "data", "generate.", NULL, "generate" },
  { "data", "train.", "experiment", "sources" }, { "data", "validation.", "experiment", "sources" },
  { "data", "test", "experiment", "sources" },
};

static gboolean
is_equal (const PlaitKeyFile *a, const PlaitKeyFile *b, const char *group, const char *key)
{
  return g_strcmp0 (plait_key_file_value (a, group, key), plait_key_file_value (b, group, key)) == 0;
}

/* TRUE if the difference of [@group] @key follows from another difference, such as the plugin that has the
 * parameter. */
static gboolean
follows (const PlaitKeyFile *a, const PlaitKeyFile *b, const char *group, const char *key)
{
  g_autofree char *outer = g_strndup (group, strcspn (group, "/"));

  /* A source that only one file has differs as a whole, so its keys add nothing. */
  if (!plait_key_file_has_group (a, outer) || !plait_key_file_has_group (b, outer))
    return TRUE;
  if (g_str_equal (group, "decoder") && !plait_experiment_setting (group, key) && !is_equal (a, b, group, "type"))
    return TRUE;
  if (g_str_has_prefix (group, "source ") && !g_str_equal (key, "encoder")
      && (!is_equal (a, b, outer, "encoder") || (strchr (group, '/') && !is_equal (a, b, outer, "leaves"))))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (deciding); i++)
    if (g_str_equal (group, deciding[i].group) && g_str_has_prefix (key, deciding[i].prefix)
        && !is_equal (a, b, deciding[i].deciding_group ? deciding[i].deciding_group : group, deciding[i].deciding_key))
      return TRUE;
  return FALSE;
}

/* Returns @value as messages show it. */
static const char *
shown (const char *value)
{
  return !value ? "not there" : *value ? value : "empty";
}

void
plait_key_files_describe_differences (const PlaitKeyFile *listed, const PlaitKeyFile *before, const PlaitKeyFile *now,
                                      PlaitSettingDiffers differs, gconstpointer data, GPtrArray *sentences)
{
  const char *const *groups = plait_key_file_groups (listed);

  for (guint g = 0; groups[g]; g++)
    {
      const char *const *keys = plait_key_file_keys (listed, groups[g]);

      for (guint k = 0; keys[k]; k++)
        {
          const char *old = plait_key_file_value (before, groups[g], keys[k]);
          const char *new = plait_key_file_value (now, groups[g], keys[k]);
          g_autofree char *name = g_strdup_printf ("%s.%s", groups[g], keys[k]);

          if (differs (groups[g], keys[k], old, new, data))
            g_ptr_array_add (sentences, g_strdup_printf ("%s was %s, is %s", g_strdelimit (name, " ", '.'), shown (old),
                                                         shown (new)));
        }
    }
}

typedef struct
{
  const PlaitKeyFile *before, *now;
} Keys;

static gboolean
has_changed (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  const Keys *keys = data;

  return g_strcmp0 (old, new) != 0 && !follows (keys->before, keys->now, group, key);
}

static gboolean
is_gone (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  return !new &&has_changed (group, key, old, new, data);
}

char *
plait_fingerprint_difference (const char *before, const char *now)
{
  g_autoptr (PlaitKeyFile) a = plait_key_file_load_data (before, -1, "before", NULL);
  g_autoptr (PlaitKeyFile) b = plait_key_file_load_data (now, -1, "now", NULL);
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);
  const Keys keys = { a, b };

  if (g_str_equal (before, now))
    return NULL;
  if (a && b)
    {
      plait_key_files_describe_differences (b, a, b, has_changed, &keys, sentences);
      plait_key_files_describe_differences (a, a, b, is_gone, &keys, sentences);
    }
  if (sentences->len == 0)
    g_ptr_array_add (sentences, g_strdup ("its sources or keys are in another order"));
  g_ptr_array_add (sentences, NULL);
  return g_strjoinv ("; ", (char **)sentences->pdata);
}
