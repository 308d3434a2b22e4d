/* SPDX-License-Identifier: MIT */
#include "setup/vocabularies.h"

#include "setup/trained.h"

/*
 * Functions that find vocabularies in the files of runs
 */

#define GROUP "/vocabulary"

static gboolean
write_into_run (const PlaitVocabulary *vocabulary, PlaitStore *run, const char *name, GError **error)
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

static PlaitVocabulary *
read_of_run (PlaitStore *run, const char *name, GError **error)
{
  enum
  {
    MAX_BYTES = 1 << 30,
  };
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  g_autofree char *model = g_strconcat (path, "/model", NULL);
  g_autofree char *format = plait_store_get_string (run, path, "format", error);
  g_autofree char *what = g_strdup_printf ("%s:%s", plait_store_path (run), model);
  g_autoptr (GBytes) bytes = NULL;

  if (!format)
    return NULL;
  bytes = plait_store_read_bytes (run, model, MAX_BYTES, error);
  return bytes ? plait_vocabulary_load (format, bytes, what, error) : NULL;
}

/* TRUE if @run has a vocabulary @name that is not a list of labels. */
static gboolean
has_of_text (PlaitStore *run, const char *name)
{
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  g_autofree char *format
      = *name && plait_store_has (run, path) ? plait_store_get_string (run, path, "format", NULL) : NULL;

  return format && !g_str_equal (format, "labels");
}

/* Returns the names of the text vocabularies of @run. (transfer full) */
static char **
names_of_text (PlaitStore *run)
{
  g_auto (GStrv) names = plait_store_has (run, GROUP) ? plait_store_members (run, GROUP, NULL) : NULL;
  g_autoptr (GStrvBuilder) text = g_strv_builder_new ();

  for (guint i = 0; names && names[i]; i++)
    if (has_of_text (run, names[i]))
      g_strv_builder_add (text, names[i]);
  return g_strv_builder_end (text);
}

/* Returns the name of the only text vocabulary in @run; NULL if there is none, or several. (transfer full) */
static char *
only_of_text (PlaitStore *run)
{
  g_auto (GStrv) names = names_of_text (run);

  return g_strv_length (names) == 1 ? g_strdup (names[0]) : NULL;
}

static PlaitVocabulary *
open_of_run (const char *path, const char *name, gboolean or_only, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitStore) run = plait_store_open_rewritten (path, log, error);
  g_auto (GStrv) names = NULL;
  g_autofree char *known = NULL;

  if (!run)
    return NULL;
  if (name && has_of_text (run, name))
    return read_of_run (run, name, error);
  names = names_of_text (run);
  if ((!name || or_only) && g_strv_length (names) == 1)
    return read_of_run (run, names[0], error);
  known = g_strjoinv (", ", names);
  if (!*names)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: holds no vocabulary of text; name another run, or a file", path);
  else if (name)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: has no vocabulary \"%s\" (the vocabularies are: %s); name another run, or a file; plait "
                "vocabulary --name takes one of these",
                path, name, known);
  else
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: has several vocabularies (%s); choose one with --name", path, known);
  return NULL;
}

PlaitVocabulary *
plait_run_vocabulary_open (const char *path, const char *name, gboolean or_only, PlaitLog *log, GError **error)
{
  return plait_store_recognize (path) ? open_of_run (path, name, or_only, log, error)
                                      : plait_vocabulary_read (path, log, error);
}

/*
 * Functions that learn vocabularies
 */

/* Learns the labels of @stream, which are its lines or words. Fails if there are fewer than two. */
static PlaitVocabulary *
learn_labels (const PlaitRunInputs *run_inputs, const char *stream, PlaitPool *pool, PlaitLog *log, GError **error)
{
  gboolean tags = plait_experiment_target_kind (plait_run_inputs_experiment (run_inputs), stream) == PLAIT_TARGET_TAGS;
  PlaitVocabularySettings settings = { .type = tags ? "words" : "labels", .minimum_count = 1, .pool = pool };
  const char *const *paths = plait_run_inputs_files (run_inputs, "train", stream);
  g_autoptr (PlaitVocabulary) labels = plait_vocabulary_train (&settings, paths, error);
  gint32 n = labels ? plait_vocabulary_size (labels) - PLAIT_TOKEN_SPECIALS : 0;

  if (n == 1)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: has only the label \"%s\"; expected at least two labels", paths[0],
                plait_vocabulary_piece (labels, PLAIT_TOKEN_SPECIALS));
  if (n < 2)
    return NULL;
  plait_log_info (log, "%d different labels in stream %s", n, stream);
  return g_steal_pointer (&labels);
}

/* Returns the name under which the cache stores the vocabulary learnt from @paths; NULL if the cache never stores this
 * vocabulary. (transfer full) */
static char *
name_kept (const PlaitRunInputs *run_inputs, const PlaitVocabularySettings *settings, const GPtrArray *paths)
{
  /* Increase the 2 when a change of plait makes equal text and settings give another vocabulary. */
  g_autoptr (GString) text = g_string_new ("plait vocabulary 2 of plait " PLAIT_VERSION "\n");
  gboolean large = FALSE;

  g_string_append_printf (text, "%s %jd %jd %a %s %d %jd\n", settings->type, settings->size, settings->minimum_count,
                          settings->character_coverage, settings->normalization, settings->byte_fallback,
                          settings->sentence_limit);
  for (guint i = 0; i < paths->len; i++)
    large |= plait_text_cache_accepts (plait_run_inputs_text_cache (run_inputs), paths->pdata[i]);
  for (guint i = 0; i < paths->len && large; i++)
    {
      const PlaitKnownText *known = plait_digests_file (plait_run_inputs_digests (run_inputs), paths->pdata[i], NULL);

      if (!known)
        return NULL;
      g_string_append_printf (text, "%s\n", known->digest);
    }
  g_autofree char *key = large ? plait_digest_bytes (text->str, text->len) : NULL;
  return key ? g_strconcat (key, ".vocabulary", NULL) : NULL;
}

/* Learns vocabulary @name from @paths, or reads it from the cache. */
static PlaitVocabulary *
learn_from (const PlaitRunInputs *run_inputs, const char *name, const PlaitVocabularySettings *settings,
            const GPtrArray *paths, PlaitLog *log, GError **error)
{
  const PlaitTextCache *text_cache = plait_run_inputs_text_cache (run_inputs);
  g_autofree char *kept = name_kept (run_inputs, settings, paths);
  g_autofree char *after = NULL;
  g_autofree char *path = kept ? plait_text_cache_find (text_cache, paths->pdata[0], kept) : NULL;
  g_autoptr (PlaitVocabulary) vocabulary = path ? plait_vocabulary_read (path, log, NULL) : NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (vocabulary)
    {
      plait_log_info (log, "vocabulary %s (%s) from the cache: %s", name, settings->type, path);
      return g_steal_pointer (&vocabulary);
    }
  plait_log_info (log, "learning vocabulary %s (%s) from %u files", name, settings->type, paths->len);
  vocabulary = plait_vocabulary_train (settings, (const char *const *)paths->pdata, error);
  after = vocabulary && kept ? name_kept (run_inputs, settings, paths) : NULL;
  if (!after || !g_str_equal (after, kept)) /* learning failed, the texts are too small to cache, or a text changed */
    return g_steal_pointer (&vocabulary);
  bytes = plait_vocabulary_to_file (vocabulary);
  plait_text_cache_store (text_cache, paths->pdata[0], kept, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  return g_steal_pointer (&vocabulary);
}

/* Learns vocabulary @name from the texts that plait_experiment_vocabulary_texts() lists. */
static PlaitVocabulary *
learn (const PlaitRunInputs *run_inputs, const char *name, PlaitPool *pool, PlaitLog *log, GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);
  const PlaitDataSettings *data = &experiment->data;
  PlaitVocabularySettings settings = {
    .type = plait_experiment_value (experiment, "data", "vocabulary_type"),
    .size = data->vocabulary_size,
    .minimum_count = data->vocabulary_minimum_count,
    .character_coverage = data->vocabulary_character_coverage,
    .normalization = plait_experiment_value (experiment, "data", "vocabulary_normalisation"),
    .byte_fallback = data->vocabulary_byte_fallback,
    .sentence_limit = data->vocabulary_sentences,
    .pool = pool,
  };
  const PlaitExperimentSource *source = plait_experiment_factor_source (experiment, name);
  g_autoptr (GArray) texts = plait_experiment_vocabulary_texts (experiment, name);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  if (source)
    {
      settings.type = "words";
      settings.size = source->factor_vocabulary_size;
      settings.minimum_count = 1;
    }

  for (guint i = 0; i < texts->len; i++)
    {
      const PlaitVocabularyText *text = &g_array_index (texts, PlaitVocabularyText, i);

      const char *path = plait_run_inputs_text (run_inputs, text, error);

      if (!path)
        return NULL;
      g_ptr_array_add (paths, (gpointer)path);
    }
  if (data->vocabulary_type == PLAIT_DATA_VOCABULARY_TYPE_GIVEN && !source)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "data.vocabulary_type=given, so no vocabulary is learnt, but there is no "
                            "data.vocabulary.%s; name a file, or set another data.vocabulary_type",
                            name);
  return learn_from (run_inputs, name, &settings, paths, log, error);
}

/*
 * Functions that read vocabularies from files
 */

/* Returns the name of the type of @vocabulary, for messages. */
static const char *
kind_of (const PlaitVocabulary *vocabulary)
{
  const char *format = plait_vocabulary_format (vocabulary);

  return g_str_equal (format, "words")       ? "a vocabulary of words"
         : g_str_equal (format, "published") ? "the vocabulary of a published model"
         : g_str_equal (format, "labels")    ? "a list of labels"
                                             : "a SentencePiece model";
}

/* Fails if @vocabulary, called @name, has a type that the experiment does not allow. In the error, @from names the
 * origin of the vocabulary, and @else_do advises the user. */
static gboolean
check_kind (const PlaitExperiment *experiment, const char *name, const PlaitVocabulary *vocabulary, const char *from,
            const char *else_do, GError **error)
{
  gint type = (gint)experiment->data.vocabulary_type;
  gboolean words = g_str_equal (plait_vocabulary_format (vocabulary), "words");

  if (plait_experiment_factor_source (experiment, name))
    return words
           || plait_fail (error, PLAIT_ERROR_INPUT,
                          "%s: is %s, but %s has a vocabulary of words; name a vocabulary of words", from,
                          kind_of (vocabulary), name);
  return type == PLAIT_DATA_VOCABULARY_TYPE_GIVEN || words == (type == PLAIT_DATA_VOCABULARY_TYPE_WORDS)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: is %s, but data.vocabulary_type=%s expects %s; %s, or set data.vocabulary_type=%s", from,
                        kind_of (vocabulary), plait_experiment_value (experiment, "data", "vocabulary_type"),
                        words ? "a SentencePiece model" : "a vocabulary of words", else_do, words ? "words" : "bpe");
}

/* Reads vocabulary @name from @file, a run or a file of one vocabulary. */
static PlaitVocabulary *
read_named (const PlaitExperiment *experiment, const char *name, const char *file, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitVocabulary) vocabulary = plait_run_vocabulary_open (file, name, TRUE, log, error);

  return vocabulary && check_kind (experiment, name, vocabulary, file, "name another file", error)
             ? g_steal_pointer (&vocabulary)
             : NULL;
}

/*
 * Functions that take vocabularies from the run that training begins with
 */

/* TRUE if the experiment of @run has a stream @stream. */
static gboolean
knows_stream (PlaitStore *run, const char *stream)
{
  g_autoptr (PlaitKeyFile) file = plait_trained_key_file (run, NULL);
  const char *const *groups = file ? plait_key_file_groups (file) : NULL;
  gboolean found = file && g_strcmp0 (plait_key_file_value (file, "data", "target"), stream) == 0;

  for (guint i = 0; groups && groups[i] && !found; i++)
    found = g_str_has_prefix (groups[i], "source ")
            && g_strcmp0 (plait_key_file_value (file, groups[i], "stream"), stream) == 0;
  return found;
}

/* Returns the name in @run of the text vocabulary that this experiment calls @name; NULL if @run lacks the vocabulary.
 * @shared is TRUE if the streams of this experiment share one vocabulary. (transfer full) */
static char *
name_there (PlaitStore *run, const char *name, gboolean shared)
{
  if (has_of_text (run, name))
    return g_strdup (name);
  if (shared)
    return only_of_text (run);
  return has_of_text (run, "shared") && knows_stream (run, name) ? g_strdup ("shared") : NULL;
}

/* If vocabularies are taken from the run of train.initialise, opens this run as *@run, and sets *@there to the name
 * of vocabulary @name in the run (NULL: the run lacks it). Otherwise sets nothing. */
static gboolean
find_initial (const PlaitExperiment *experiment, const char *name, PlaitLog *log, PlaitStore **run, char **there,
              GError **error)
{
  const char *path = experiment->train.initialise;

  if (experiment->train.initialise_vocabulary != PLAIT_TRAIN_INITIALISE_VOCABULARY_TAKEN
      || !plait_store_recognize (path))
    return TRUE;
  *run = plait_trained_open_store (path, log, error);
  if (!*run)
    return FALSE;
  *there = name_there (*run, name,
                       experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SHARED
                           && !plait_experiment_factor_source (experiment, name));
  if (!*there)
    plait_log_info (log, "%s, which train.initialise names, has no vocabulary for %s, so a new one is learnt", path,
                    name);
  return TRUE;
}

/* Reads vocabulary @there of the run that training begins with, and checks that it can serve as vocabulary @name. */
static PlaitVocabulary *
take_initial (const PlaitExperiment *experiment, const char *name, PlaitStore *run, const char *there, PlaitLog *log,
              GError **error)
{
  const char *path = experiment->train.initialise;
  g_autoptr (PlaitVocabulary) vocabulary = read_of_run (run, there, error);
  g_autofree char *from = g_strdup_printf ("%s:/vocabulary/%s (with train.initialise)", path, there);

  if (!vocabulary
      || !check_kind (experiment, name, vocabulary, from,
                      "set train.initialise_vocabulary=learnt, which draws embeddings anew", error))
    return NULL;
  plait_log_info (log, "vocabulary %s is taken from %s:/vocabulary/%s, %d entries (train.initialise)", name, path,
                  there, plait_vocabulary_size (vocabulary));
  return g_steal_pointer (&vocabulary);
}

/*
 * Functions for all vocabularies of an experiment
 */

PlaitVocabularyOrigin
plait_vocabulary_origin (const PlaitExperiment *experiment, const char *stream)
{
  const char *name = plait_experiment_vocabulary (experiment, stream);
  g_autoptr (PlaitStore) run = NULL;
  g_autofree char *there = NULL;

  if (plait_target_has_labels (plait_experiment_target_kind (experiment, stream)))
    return PLAIT_VOCABULARY_OF_LABELS;
  if (plait_experiment_vocabulary_file (experiment, name))
    return PLAIT_VOCABULARY_OF_FILE;
  /* If the run cannot be opened, the error is reported when the run is read. */
  return find_initial (experiment, name, NULL, &run, &there, NULL) && !there ? PLAIT_VOCABULARY_LEARNT
                                                                             : PLAIT_VOCABULARY_OF_INITIAL;
}

gint64
plait_vocabulary_given_size (const PlaitExperiment *experiment, const char *stream)
{
  const char *name = plait_experiment_vocabulary (experiment, stream);
  const char *file = plait_experiment_vocabulary_file (experiment, name);
  g_autoptr (PlaitVocabulary) vocabulary = NULL;
  g_autoptr (PlaitStore) initial = NULL;
  g_autofree char *there = NULL;

  if (plait_target_has_labels (plait_experiment_target_kind (experiment, stream)))
    return 0;
  if (file)
    vocabulary = read_named (experiment, name, file, NULL, NULL);
  else if (find_initial (experiment, name, NULL, &initial, &there, NULL) && there)
    vocabulary = take_initial (experiment, name, initial, there, NULL, NULL);
  return vocabulary ? plait_vocabulary_size (vocabulary) : 0;
}

static PlaitVocabulary *
find (const PlaitRunInputs *run_inputs, PlaitStore *run, const char *stream, PlaitPool *pool, PlaitLog *log,
      GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);
  const char *name = plait_experiment_vocabulary (experiment, stream);
  const char *file = plait_experiment_vocabulary_file (experiment, name);
  g_autoptr (PlaitStore) initial = NULL;
  g_autofree char *there = NULL;

  if (run)
    return read_of_run (run, name, error);
  if (plait_target_has_labels (plait_experiment_target_kind (experiment, stream)))
    return learn_labels (run_inputs, stream, pool, log, error);
  if (file)
    return read_named (experiment, name, file, log, error);
  if (!find_initial (experiment, name, log, &initial, &there, error))
    return NULL;
  return there ? take_initial (experiment, name, initial, there, log, error)
               : learn (run_inputs, name, pool, log, error);
}

GHashTable *
plait_vocabularies_find (const PlaitRunInputs *run_inputs, PlaitStore *run, PlaitPool *pool, PlaitLog *log,
                         GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);
  g_autofree const char **streams = plait_experiment_first_streams (experiment);
  g_autoptr (GHashTable) vocabularies
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)plait_vocabulary_unref);

  for (guint i = 0; streams[i]; i++)
    {
      PlaitVocabulary *vocabulary = find (run_inputs, run, streams[i], pool, log, error);

      if (!vocabulary)
        return NULL;
      g_hash_table_insert (vocabularies, g_strdup (plait_experiment_vocabulary (experiment, streams[i])), vocabulary);
    }
  return g_steal_pointer (&vocabularies);
}

gboolean
plait_vocabularies_write (const PlaitExperiment *experiment, GHashTable *vocabularies, PlaitStore *store,
                          GError **error)
{
  g_autofree const char **streams = plait_experiment_first_streams (experiment);

  for (guint i = 0; streams[i]; i++)
    {
      const char *name = plait_experiment_vocabulary (experiment, streams[i]);

      if (!write_into_run (g_hash_table_lookup (vocabularies, name), store, name, error))
        return FALSE;
    }
  return TRUE;
}
