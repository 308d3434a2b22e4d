/* SPDX-License-Identifier: MIT */
#include "setup/run-inputs.h"

#include <string.h>

#include "files/folder.h"
#include "files/problems.h"
#include "setup/training-tuples.h"
#include "setup/vocabularies.h"
#include "foreign/feature.h"

#define HEAD_RULES "/trees/head_rules"

struct PlaitRunInputs
{
  const PlaitExperiment *experiment;
  PlaitFolder *folder;   /* folder of generated text, or NULL */
  GHashTable *generated; /* name of a generated text, such as "SPLIT.STREAM" -> GStrv: the path of its file */
  GPtrArray *others;     /* (element-type PlaitFolder): folders of text that is generated only to learn vocabularies */
  GHashTable *vocabularies; /* name of a vocabulary -> PlaitVocabulary */
  PlaitTreeSettings trees;
  PlaitDigests *digests;
  PlaitTextCache *text_cache; /* cache of large texts; NULL: no cache */
};

const PlaitTextCache *
plait_run_inputs_text_cache (const PlaitRunInputs *run_inputs)
{
  return run_inputs->folder ? NULL : run_inputs->text_cache;
}

/* Computes the digests of all large training texts, in parallel. */
static void
share_digests (const PlaitRunInputs *run_inputs, PlaitPool *pool)
{
  g_autofree const char **streams = plait_experiment_streams (run_inputs->experiment);
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();

  for (guint i = 0; streams[i]; i++)
    {
      const char *const *files = plait_run_inputs_files (run_inputs, "train", streams[i]);

      for (guint f = 0; files[f]; f++)
        if (plait_text_cache_accepts (plait_run_inputs_text_cache (run_inputs), files[f]))
          g_ptr_array_add (paths, (gpointer)files[f]);
    }
  plait_digests_share (run_inputs->digests, paths, pool);
}

/* Adds the generated text @name (transfer full) to run_inputs->generated, with the path of @file in @folder. */
static void
add_generated (const PlaitRunInputs *run_inputs, char *name, const PlaitFolder *folder, const char *file)
{
  char **paths = g_new0 (char *, 2);

  paths[0] = g_build_filename (plait_folder_temporary (folder), file, NULL);
  g_hash_table_insert (run_inputs->generated, name, paths);
}

gboolean
plait_run_inputs_generate (PlaitRunInputs *run_inputs, PlaitLog *log, GError **error)
{
  const PlaitExperiment *experiment = run_inputs->experiment;

  if (!experiment->task || run_inputs->folder)
    return TRUE;
  run_inputs->folder = plait_folder_begin_temporary (error);
  if (!run_inputs->folder)
    return FALSE;
  plait_log_info (log, "generating the corpus of task %s", experiment->task->name);
  /* Do not move the text out of the temporary folder, whose lock keeps other processes from deleting it. */
  for (guint s = 0; s < PLAIT_TASK_SPLITS; s++)
    {
      for (guint i = 0; experiment->task->streams[i]; i++)
        {
          char *name = g_strdup_printf ("%s.%s", plait_task_splits[s], experiment->task->streams[i]);

          add_generated (run_inputs, name, run_inputs->folder, name);
        }
      if (!plait_task_write_split (experiment->task, &experiment->task_settings, s,
                                   plait_folder_temporary (run_inputs->folder), error))
        return FALSE;
    }
  return TRUE;
}

const char *const *
plait_run_inputs_files (const PlaitRunInputs *run_inputs, const char *split, const char *stream)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", split, stream);
  const char *const *generated = g_hash_table_lookup (run_inputs->generated, name);

  return generated ? generated : plait_experiment_data_files (run_inputs->experiment, split, stream);
}

const char *
plait_run_inputs_text (const PlaitRunInputs *run_inputs, const PlaitVocabularyText *text, GError **error)
{
  const PlaitTask *task = run_inputs->experiment->task;
  const PlaitTaskSettings *own = &run_inputs->experiment->task_settings;
  g_auto (PlaitTaskSettings) settings = { 0 };
  const char *stream = text->path ? NULL : plait_task_parse_text (task, own, text->stream, &settings, error);
  g_autofree char *name = stream ? plait_task_name_text (task, own, stream, &settings) : NULL;
  g_autoptr (PlaitFolder) folder = NULL;
  char **paths = name ? g_hash_table_lookup (run_inputs->generated, name) : NULL;

  if (!name || paths)
    return name ? *paths : text->path;
  if (g_str_equal (name, stream))
    return *plait_run_inputs_files (run_inputs, plait_task_splits[0], stream);
  folder = plait_folder_begin_temporary (error);
  if (!folder || !plait_task_write_split (task, &settings, 0, plait_folder_temporary (folder), error))
    return NULL;
  for (guint s = 0; task->streams[s]; s++)
    {
      g_autofree char *file = g_strconcat (plait_task_splits[0], ".", task->streams[s], NULL);

      add_generated (run_inputs, plait_task_name_text (task, own, task->streams[s], &settings), folder, file);
    }
  g_ptr_array_add (run_inputs->others, g_steal_pointer (&folder));
  paths = g_hash_table_lookup (run_inputs->generated, name);
  return *paths;
}

/* Fails if a source has trees and the vocabulary of a published model, because such a vocabulary does not split each
 * word alone. */
static gboolean
check_tree_vocabularies (const PlaitRunInputs *run_inputs, GError **error)
{
  const PlaitExperiment *experiment = run_inputs->experiment;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];

      if (source->trees
          && g_str_equal (plait_vocabulary_format (plait_run_inputs_vocabulary (run_inputs, source->stream)),
                          "published"))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "source %s has trees, so its words must be split one by one, which the vocabulary of a "
                           "published model does not do; name one learnt by \"plait vocabulary\"",
                           source->name);
    }
  return TRUE;
}

/* Sets up the reading of trees, with the head rules of the experiment, or with those that @run stores. */
static gboolean
find_trees (PlaitRunInputs *run_inputs, PlaitStore *run, GError **error)
{
  enum
  {
    MAX_BYTES = 1 << 24,
  };
  const PlaitExperiment *experiment = run_inputs->experiment;
  const PlaitDataSettings *data = &experiment->data;

  run_inputs->trees = (PlaitTreeSettings){
    .shape = data->trees,
    .binarisation = data->binarisation,
    .no_tree = data->no_tree,
    .seed = (guint64)experiment->experiment.seed,
  };
  if (!plait_experiment_reads_trees (experiment) || data->trees != PLAIT_TREES_GIVEN
      || data->binarisation != PLAIT_BINARISE_HEAD)
    return TRUE;
  if (run)
    {
      g_autofree char *what = g_strdup_printf ("%s:" HEAD_RULES, plait_store_path (run));
      g_autoptr (GBytes) bytes = plait_store_read_bytes (run, HEAD_RULES, MAX_BYTES, error);
      g_autofree char *text = bytes ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)) : NULL;

      if (!text)
        return FALSE;
      run_inputs->trees.head_rules = plait_head_rules_parse (text, what, error);
    }
  else
    run_inputs->trees.head_rules = plait_head_rules_read (experiment->head_rules, error);
  return run_inputs->trees.head_rules != NULL;
}

PlaitRunInputs *
plait_run_inputs_new (const PlaitExperiment *experiment, PlaitStore *run, const PlaitExperiment *own, PlaitPool *pool,
                      PlaitLog *log, GError **error)
{
  g_autoptr (PlaitRunInputs) run_inputs = g_new0 (PlaitRunInputs, 1);

  run_inputs->experiment = experiment;
  run_inputs->generated = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
  run_inputs->others = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_folder_abandon);
  run_inputs->digests = plait_digests_new (own ? run : NULL, own);
  run_inputs->text_cache = plait_text_cache_new (log);
  if (!run && !plait_run_inputs_generate (run_inputs, log, error))
    return NULL;
  share_digests (run_inputs, pool);
  run_inputs->vocabularies = plait_vocabularies_find (run_inputs, run, pool, log, error);
  if (!run_inputs->vocabularies || !check_tree_vocabularies (run_inputs, error) || !find_trees (run_inputs, run, error))
    return NULL;
  return g_steal_pointer (&run_inputs);
}

void
plait_run_inputs_free (PlaitRunInputs *run_inputs)
{
  if (!run_inputs)
    return;
  plait_folder_abandon (run_inputs->folder);
  g_hash_table_unref (run_inputs->generated);
  g_ptr_array_unref (run_inputs->others);
  g_clear_pointer (&run_inputs->vocabularies, g_hash_table_unref);
  plait_head_rules_unref (run_inputs->trees.head_rules);
  plait_digests_free (run_inputs->digests);
  plait_text_cache_free (run_inputs->text_cache);
  g_free (run_inputs);
}

PlaitVocabulary *
plait_run_inputs_vocabulary (const PlaitRunInputs *run_inputs, const char *stream)
{
  return g_hash_table_lookup (run_inputs->vocabularies, plait_experiment_vocabulary (run_inputs->experiment, stream));
}

/* Returns what a corpus must store of the unknown words of @stream. @searches is TRUE if translations are made. */
static PlaitUnknownUse
unknown_use (const PlaitRunInputs *run_inputs, const char *stream, gboolean searches)
{
  const PlaitExperiment *experiment = run_inputs->experiment;
  const PlaitVocabulary *vocabulary = plait_run_inputs_vocabulary (run_inputs, stream);

  if (vocabulary && g_str_equal (plait_vocabulary_format (vocabulary), "words")
      && plait_experiment_has_own_words (experiment, stream))
    return PLAIT_UNKNOWN_OWN;
  return searches && experiment->decode.unknown == PLAIT_DECODE_UNKNOWN_REPLACE ? PLAIT_UNKNOWN_TEXT : PLAIT_UNKNOWN_ID;
}

/* Returns the streams of the factors and tags of @source, without files, in an array that @lists owns. */
static PlaitCorpusStream *
streams_of_factors (const PlaitRunInputs *run_inputs, const PlaitExperimentSource *source, GPtrArray *lists)
{
  guint n = source->n_factors + source->n_tags;
  PlaitCorpusStream *factors = g_new0 (PlaitCorpusStream, n);

  for (guint f = 0; f < n; f++)
    factors[f] = (PlaitCorpusStream){ .name = source->factors[f],
                                      .kind = PLAIT_INPUT_TOKENS,
                                      .vocabulary = plait_run_inputs_vocabulary (run_inputs, source->factors[f]),
                                      .predicted = f >= source->n_factors };
  g_ptr_array_add (lists, factors);
  return factors;
}

static PlaitCorpusStream
stream_of_source (const PlaitRunInputs *run_inputs, const PlaitExperimentSource *source, const char *const *paths,
                  const char *const *trees_paths, const PlaitCorpusStream *factors, gboolean searches,
                  gint64 maximum_length)
{
  return (PlaitCorpusStream){
    .name = source->name,
    .kind = source->kind,
    .paths = paths,
    .dataset = source->dataset,
    .open_features = plait_feature_file_open,
    .vocabulary
    = plait_input_kind_is_text (source->kind) ? plait_run_inputs_vocabulary (run_inputs, source->stream) : NULL,
    /* No end token with kind=choice: only the last candidate of a document would get one. */
    .append_end
    = run_inputs->experiment->data.append_end && run_inputs->experiment->predict.kind != PLAIT_PREDICT_CHOICE,
    .unknown = unknown_use (run_inputs, source->stream, searches),
    .maximum_length = maximum_length,
    .trees = source->trees ? &run_inputs->trees : NULL,
    .trees_paths = trees_paths,
    .documents = plait_experiment_documents (run_inputs->experiment, source->stream),
    .factors = factors,
    .n_factors = source->n_factors,
  };
}

static PlaitCorpusStream
stream_of_target (const PlaitRunInputs *run_inputs, const char *const *paths, gint64 maximum_length)
{
  const char *name = run_inputs->experiment->data.target;

  return (PlaitCorpusStream){
    .name = name,
    .kind = PLAIT_INPUT_TOKENS,
    .paths = paths,
    .vocabulary = plait_run_inputs_vocabulary (run_inputs, name),
    .unknown = unknown_use (run_inputs, name, FALSE),
    .target = plait_experiment_target_kind (run_inputs->experiment, name),
    .allow_unknown = run_inputs->experiment->predict.unknown_labels == PLAIT_PREDICT_UNKNOWN_LABELS_WRONG,
    .maximum_length = maximum_length,
    .documents = plait_experiment_documents (run_inputs->experiment, name),
  };
}

static void
warn_of_unknown_labels (const PlaitRunInputs *run_inputs, const char *split, const PlaitCorpus *corpus, PlaitLog *log)
{
  gint64 n;

  if (!plait_corpus_has_target (corpus))
    return;
  n = plait_corpus_counts (corpus, plait_corpus_n_sources (corpus))->unknown_labels;
  if (n > 0)
    plait_log_warning (log, "%s: %jd of %jd lines of %s have a label that training does not have; they count as wrong",
                       split, n, plait_corpus_size (corpus), run_inputs->experiment->data.target);
}

/* If a text file of @streams (element-type PlaitCorpusStream) is large, sets *@text_cache to the cache, so that the
 * encoded corpus is cached, and sets the digests of all text files in @streams, as arrays that @lists owns. Otherwise
 * sets *@text_cache to NULL. FALSE on failure. */
static gboolean
know_files (const PlaitRunInputs *run_inputs, const GPtrArray *streams, GPtrArray *lists,
            const PlaitTextCache **text_cache, GError **error)
{
  gboolean large = FALSE;

  *text_cache = plait_run_inputs_text_cache (run_inputs);
  for (guint i = 0; i < streams->len; i++)
    {
      const PlaitCorpusStream *stream = streams->pdata[i];

      for (guint f = 0; plait_input_kind_is_text (stream->kind) && stream->paths[f]; f++)
        large |= plait_text_cache_accepts (*text_cache, stream->paths[f]);
    }
  if (!large)
    *text_cache = NULL;
  for (guint i = 0; i < streams->len && large; i++)
    {
      PlaitCorpusStream *stream = streams->pdata[i];
      g_autoptr (GPtrArray) known = g_ptr_array_new ();

      for (guint f = 0; plait_input_kind_is_text (stream->kind) && stream->paths[f]; f++)
        {
          g_ptr_array_add (known, (gpointer)plait_digests_file (run_inputs->digests, stream->paths[f], error));
          if (!known->pdata[f])
            return FALSE;
        }
      stream->known = (const PlaitKnownText *const *)g_ptr_array_steal (known, NULL);
      g_ptr_array_add (lists, (gpointer)stream->known);
    }
  return TRUE;
}

/* Reads the word alignments of the sources of @split into @corpus. */
static gboolean
align (const PlaitRunInputs *run_inputs, const char *split, PlaitCorpus *corpus, GError **error)
{
  const PlaitExperiment *experiment = run_inputs->experiment;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const char *const *paths = plait_run_inputs_files (run_inputs, split, experiment->sources[i].alignment);

      if (*paths && !plait_corpus_align (corpus, i, paths, error))
        return FALSE;
    }
  return TRUE;
}

PlaitCorpus *
plait_run_inputs_open (const PlaitRunInputs *run_inputs, const char *split, PlaitPool *pool, PlaitLog *log,
                       GError **error)
{
  const PlaitExperiment *experiment = run_inputs->experiment;
  const PlaitDataSettings *data = &experiment->data;
  gboolean training = g_str_equal (split, "train");
  gboolean masked = experiment->predict.kind == PLAIT_PREDICT_MASKED;
  /* Masks of validation and test splits do not depend on experiment.seed, so that scores of runs can be compared. */
  PlaitMasking masking = {
    .rate = experiment->predict.mask_rate,
    .mask = experiment->predict.mask_share,
    .random = experiment->predict.random_share,
    .seed = (guint64)(training ? experiment->experiment.seed : experiment->evaluate.seed),
  };
  guint n = experiment->n_sources;
  g_autofree PlaitCorpusStream *streams = g_new0 (PlaitCorpusStream, n + 1); /* the last stream is the target */
  PlaitCorpusSettings settings = {
    .split = split,
    .sources = streams,
    .n_sources = n,
    .target = masked ? NULL : &streams[n],
    .masking = masked ? &masking : NULL,
    .empty_is_error = data->empty == PLAIT_DATA_EMPTY_ERROR,
    .keep_all = !training,
  };
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) texts = g_ptr_array_new (); /* streams of the corpus, their factors and tags */
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_auto (GStrv) report = NULL;

  for (guint i = 0; i < n; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      PlaitCorpusStream *factors = streams_of_factors (run_inputs, source, lists);
      guint n_factors
          = source->n_factors + (plait_experiment_has_tags (experiment, split, source) ? source->n_tags : 0);

      g_ptr_array_add (texts, &streams[i]);
      for (guint f = 0; f < n_factors; f++)
        {
          factors[f].paths = plait_run_inputs_files (run_inputs, split, source->factors[f]);
          g_ptr_array_add (texts, &factors[f]);
        }
      streams[i] = stream_of_source (run_inputs, source, plait_run_inputs_files (run_inputs, split, source->stream),
                                     source->trees ? plait_run_inputs_files (run_inputs, split, source->trees) : NULL,
                                     factors, !training, training ? data->maximum_source_length : 0);
      streams[i].n_factors = n_factors;
    }
  streams[n] = stream_of_target (run_inputs, plait_run_inputs_files (run_inputs, split, data->target),
                                 training ? data->maximum_target_length : 0);
  if (!masked)
    g_ptr_array_add (texts, &streams[n]);
  if (!know_files (run_inputs, texts, lists, &settings.text_cache, error))
    return NULL;
  corpus = plait_corpus_open (&settings, pool, error);
  if (!corpus || !align (run_inputs, split, corpus, error))
    return NULL;
  report = plait_corpus_report (corpus);
  for (guint i = 0; report[i]; i++)
    plait_log_info (log, "%s", report[i]);
  warn_of_unknown_labels (run_inputs, split, corpus, log);
  return training && !plait_training_tuples_choose (run_inputs, corpus, log, error) ? NULL : g_steal_pointer (&corpus);
}

PlaitFeed *
plait_run_inputs_open_feed (const PlaitFeedReader *readers, guint n, const char *target_path,
                            const PlaitFeedTable *table, GError **error)
{
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (PlaitCorpusStream));
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func (g_free);
  const char *const target_paths[] = { target_path, NULL };
  PlaitCorpusStream target = stream_of_target (readers[0].run_inputs, target_paths, 0);
  gboolean empty_is_error = FALSE;

  for (guint r = 0; r < n; r++)
    {
      const PlaitFeedReader *reader = &readers[r];
      const PlaitExperiment *experiment = reader->run_inputs->experiment;
      const PlaitTextLocation *factor = reader->factors;

      empty_is_error |= experiment->data.empty == PLAIT_DATA_EMPTY_ERROR;
      for (guint i = 0; i < experiment->n_sources; i++)
        {
          PlaitCorpusStream *factors = streams_of_factors (reader->run_inputs, &experiment->sources[i], lists);
          PlaitCorpusStream source
              = stream_of_source (reader->run_inputs, &experiment->sources[i], reader->sources[i].paths,
                                  reader->trees[i].paths, factors, !target_path, 0);

          for (guint f = 0; f < source.n_factors; f++, factor++)
            {
              factors[f].paths = factor->paths;
              factors[f].column = factor->column;
            }
          source.column = reader->sources[i].column;
          source.trees_column = reader->trees[i].column;
          g_array_append_val (sources, source);
        }
    }
  return plait_feed_open ((const PlaitCorpusStream *)(gpointer)sources->data, sources->len,
                          target_path ? &target : NULL, table, empty_is_error, error);
}

static gboolean
write_digest (const char *name, const char *path, const char *digest, gpointer data, GError **error)
{
  PlaitStore *store = data;
  g_autofree char *group = g_strdup_printf ("/data/%s", name);

  return plait_store_make_group (store, group, error) && plait_store_set_string (store, group, "sha256", digest, error);
}

gboolean
plait_run_inputs_write (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error)
{
  if (run_inputs->trees.head_rules)
    {
      g_autofree char *rules = plait_head_rules_text (run_inputs->trees.head_rules);

      if (!plait_store_make_group (store, "/trees", error)
          || !plait_store_write_bytes (store, HEAD_RULES, rules, strlen (rules), error))
        return FALSE;
    }
  return plait_vocabularies_write (run_inputs->experiment, run_inputs->vocabularies, store, error)
         && plait_store_make_group (store, "/data", error)
         && plait_digests_visit (run_inputs->digests, run_inputs->experiment, write_digest, store, error);
}

typedef gboolean (*VisitDigests) (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                                  gpointer data, GError **error);

typedef struct
{
  PlaitStore *run;
  PlaitProblems *changed;
} DigestCheck;

static gboolean
check_digest (const char *name, const char *path, const char *digest, gpointer data, GError **error)
{
  const DigestCheck *check = data;
  PlaitStore *run = check->run;
  g_autofree char *group = g_strdup_printf ("/data/%s", name);
  g_autofree char *key = plait_digest_key (name);
  g_autofree char *expected = NULL;

  if (path && !plait_store_has (run, group))
    {
      plait_problems_add (check->changed,
                          "%s: the run %s was begun without this file of %s; leave the file out, or begin a new run",
                          path, plait_store_path (run), key);
      return TRUE;
    }
  expected = plait_store_get_string (run, group, "sha256", error);
  if (!expected)
    return FALSE;
  if (!g_str_equal (expected, digest))
    plait_problems_add (check->changed,
                        "%s: this file of %s has changed since %s was begun (SHA-256 is %.12s..., was %.12s...): put "
                        "the old one back, or begin a new run",
                        path ? path : "generated text", key, plait_store_path (run), digest, expected);
  return TRUE;
}

/* Adds a problem for each stream for which @run read more training files than there are now. */
static void
check_numbers (const PlaitRunInputs *run_inputs, PlaitStore *run, PlaitProblems *changed)
{
  g_autofree const char **streams = plait_experiment_all_streams (run_inputs->experiment);

  for (guint i = 0; streams[i]; i++)
    {
      guint n = g_strv_length ((char **)plait_run_inputs_files (run_inputs, "train", streams[i]));
      g_autofree char *next = g_strdup_printf ("/data/train.%s.%u", streams[i], MAX (n, 1) + 1);

      if (plait_store_has (run, next))
        plait_problems_add (changed, "%s was trained on more files of data.train.%s than these %u: name all of them",
                            plait_store_path (run), streams[i], n);
    }
}

/* Checks the digests of the files that @visit visits against those in @run. The error names up to 100 changed files. */
static gboolean
check_digests (const PlaitRunInputs *run_inputs, PlaitStore *run, VisitDigests visit, GError **error)
{
  g_autoptr (PlaitProblems) changed = plait_problems_new ();
  DigestCheck check = { run, changed };

  if (!visit (run_inputs->digests, run_inputs->experiment, check_digest, &check, error))
    return FALSE;
  check_numbers (run_inputs, run, changed);
  return plait_problems_report (changed, PLAIT_ERROR_INPUT, error);
}

gboolean
plait_run_inputs_check (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error)
{
  return check_digests (run_inputs, run, plait_digests_visit, error);
}

gboolean
plait_run_inputs_write_tests (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error)
{
  return plait_digests_visit_tests (run_inputs->digests, run_inputs->experiment, write_digest, store, error);
}

gboolean
plait_run_inputs_check_training (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error)
{
  return check_digests (run_inputs, run, plait_digests_visit_training, error);
}

const PlaitExperiment *
plait_run_inputs_experiment (const PlaitRunInputs *run_inputs)
{
  return run_inputs->experiment;
}

PlaitDigests *
plait_run_inputs_digests (const PlaitRunInputs *run_inputs)
{
  return run_inputs->digests;
}
