/* SPDX-License-Identifier: MIT */
#include "corpus/corpus-private.h"

#include "text/error.h"
#include "trees/tree-binary.h"

static void
free_files (PlaitCorpusFile *files, gint64 n)
{
  for (gint64 i = 0; files && i < n; i++)
    {
      g_free (files[i].path);
      g_free (files[i].trees_path);
    }
  g_free (files);
}

static void
stream_clear (PlaitCorpusStreamState *stream, gint64 n_files)
{
  for (guint f = 0; f < stream->n_factors; f++)
    stream_clear (&stream->factors[f], n_files);
  g_free (stream->factors);
  free_files (stream->files, n_files);
  free_files (stream->link_files, n_files);
  g_free (stream->name);
  plait_vocabulary_unref (stream->vocabulary);
  plait_token_store_free (stream->tokens);
  plait_features_free (stream->features);
  plait_tree_maker_free (stream->trees);
  plait_token_store_free (stream->steps);
  plait_token_store_free (stream->sentences);
  plait_token_store_free (stream->links);
  plait_unknown_words_free (stream->unknown);
  plait_subword_sampler_free (stream->sampler);
  g_free (stream->order);
}

void
plait_corpus_free (PlaitCorpus *corpus)
{
  if (!corpus)
    return;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    stream_clear (&corpus->streams[s], corpus->n_files);
  g_free (corpus->streams);
  g_clear_pointer (&corpus->line_of, g_array_unref);
  g_clear_pointer (&corpus->loss_weights, g_array_unref);
  free_files (corpus->weight_files, corpus->n_files);
  g_free (corpus->split);
  g_free (corpus->first_lines);
  g_free (corpus->weights);
  g_free (corpus);
}

static void
make_stores (const PlaitCorpus *corpus, PlaitCorpusStreamState *stream)
{
  if (!plait_input_kind_is_text (stream->kind))
    return;
  g_clear_pointer (&stream->tokens, plait_token_store_free);
  g_clear_pointer (&stream->steps, plait_token_store_free);
  g_clear_pointer (&stream->sentences, plait_token_store_free);
  g_clear_pointer (&stream->unknown, plait_unknown_words_free);
  stream->tokens = plait_token_store_new (plait_corpus_ids (stream));
  if (stream->unknown_use != PLAIT_UNKNOWN_ID)
    stream->unknown = plait_unknown_words_new ();
  if (stream->trees)
    stream->steps = plait_token_store_new (PLAIT_TREE_LABELS_LIMIT);
  for (guint f = 0; f < stream->n_factors; f++)
    make_stores (corpus, &stream->factors[f]);
  if (stream->documents.layout != PLAIT_LAYOUT_SENTENCES && stream - corpus->streams < corpus->n_sources)
    stream->sentences = plait_token_store_new (G_MAXINT32);
}

/* Returns the number of files of @stream. */
static gint64
count_files (const PlaitCorpusStream *stream)
{
  return stream->paths ? g_strv_length ((char **)stream->paths) : 0;
}

/* Sets state->files, with the stamps from before the files are read. */
static gboolean
set_files (const PlaitCorpus *corpus, PlaitCorpusStreamState *state, const PlaitCorpusStream *stream, GError **error)
{
  gboolean reads_trees = state->trees && plait_tree_maker_reads (state->trees);
  gint64 n = count_files (stream);

  if (!state->absent && n != corpus->n_files)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has %jd files, but another stream has %jd; expected equal numbers, since file i of one "
                       "belongs to file i of the other",
                       stream->paths[0], stream->name, n, corpus->n_files);
  for (gint64 i = 0; i < n; i++)
    {
      PlaitCorpusFile *file = &state->files[i];

      file->path = g_strdup (stream->paths[i]);
      if (state->tokens)
        file->stamp = stream->known ? stream->known[i]->stamp : plait_file_stamp (file->path);
      file->trees_path = reads_trees ? g_strdup (stream->trees_paths[i]) : NULL;
      if (file->trees_path)
        file->trees_stamp = plait_file_stamp (file->trees_path);
    }
  return TRUE;
}

static gboolean
stream_open (const PlaitCorpus *corpus, PlaitCorpusStreamState *state, const PlaitCorpusStream *stream, GError **error)
{
  state->name = g_strdup (stream->name);
  state->files = g_new0 (PlaitCorpusFile, corpus->n_files);
  state->absent = count_files (stream) == 0;
  state->column = stream->column;
  state->trees_column = stream->trees_column;
  state->kind = stream->kind;
  state->append_end = stream->append_end;
  state->target = stream->target;
  state->allow_unknown = stream->allow_unknown;
  state->unknown_use = stream->vocabulary ? stream->unknown : PLAIT_UNKNOWN_ID;
  state->maximum_length = stream->maximum_length;
  state->predicted = stream->predicted;
  if (plait_input_kind_is_text (stream->kind))
    {
      state->vocabulary = stream->vocabulary ? plait_vocabulary_ref (stream->vocabulary) : NULL;
      state->documents = stream->documents;
      if (stream->trees)
        {
          state->trees = plait_tree_maker_new (stream->trees, stream->name);
          state->treeless_dropped = stream->trees->no_tree == PLAIT_NO_TREE_DROP;
        }
      state->factors = g_new0 (PlaitCorpusStreamState, stream->n_factors);
      for (guint f = 0; f < stream->n_factors; f++)
        if (!stream_open (corpus, &state->factors[state->n_factors++], &stream->factors[f], error))
          return FALSE;
      make_stores (corpus, state);
    }
  else if (count_files (stream) > 1)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the features of %s are read from one file only; join the files",
                       stream->paths[0], stream->name);
  else if (!state->absent)
    state->features = stream->open_features (stream->paths[0], stream->dataset, error);
  return (state->tokens || state->features || state->absent) && set_files (corpus, state, stream, error);
}

gboolean
plait_corpus_count_features (PlaitCorpus *corpus, PlaitCorpusStreamState *stream, GError **error)
{
  for (gint64 line = corpus->first; corpus->empty_is_error && line < corpus->lines; line++)
    if (plait_features_length (stream->features, line) == 0)
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s: entry %jd of the features (counted from 0) has the length 0; expected at least one "
                         "position of %s, since empty=error (empty=missing allows a missing source)",
                         stream->files->path, line, stream->name);
  for (gint64 tuple = 0; tuple < corpus->size; tuple++)
    {
      gint64 length = plait_features_length (stream->features, plait_corpus_line (corpus, tuple));

      stream->counts.missing += length == 0;
      stream->counts.longest = MAX (stream->counts.longest, length);
    }
  return TRUE;
}

/* Checks that each features file has one entry per line. */
static gboolean
check_features (PlaitCorpus *corpus, GError **error)
{
  const char *counted_in = NULL;
  for (gint64 s = 0; s < corpus->n_streams && !counted_in; s++)
    if (plait_input_kind_is_text (corpus->streams[s].kind))
      counted_in = corpus->streams[s].files->path;
  for (gint64 s = 0; s < corpus->n_sources; s++)
    {
      PlaitCorpusStreamState *stream = &corpus->streams[s];
      if (stream->kind != PLAIT_INPUT_FEATURES)
        continue;
      gint64 sentences = stream->features->sentences;
      if (!counted_in)
        {
          /* There is no text, so the first features file gives the number of tuples. */
          corpus->lines = corpus->size = corpus->first_lines[1] = sentences;
          counted_in = stream->files->path;
        }
      if (sentences != corpus->lines)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: the features have %jd sentences, but %s has %jd; expected equal numbers, since entry i "
                           "belongs to tuple i",
                           stream->files->path, sentences, counted_in, corpus->lines);
      if (!plait_corpus_count_features (corpus, stream, error))
        return FALSE;
    }
  return TRUE;
}

PlaitCorpus *
plait_corpus_new (const PlaitCorpusSettings *settings, GError **error)
{
  g_autoptr (PlaitCorpus) corpus = g_new0 (PlaitCorpus, 1);
  corpus->split = g_strdup (settings->split);
  corpus->n_sources = settings->n_sources;
  corpus->empty_is_error = settings->empty_is_error;
  corpus->keep_all = settings->keep_all;
  g_assert (!settings->masking || !settings->target);
  corpus->masked = settings->masking != NULL;
  if (corpus->masked)
    corpus->masking = *settings->masking;
  gint64 n_streams = settings->n_sources + (settings->target != NULL);
  corpus->streams = g_new0 (PlaitCorpusStreamState, n_streams);
  corpus->n_streams = n_streams;
  corpus->n_files = 1;
  for (gint64 s = 0; s < n_streams; s++)
    corpus->n_files
        = MAX (corpus->n_files, count_files (s < settings->n_sources ? &settings->sources[s] : settings->target));
  corpus->first_lines = g_new0 (gint64, corpus->n_files + 1);
  for (gint64 s = 0; s < n_streams; s++)
    {
      const PlaitCorpusStream *stream = s < settings->n_sources ? &settings->sources[s] : settings->target;
      if (!stream_open (corpus, &corpus->streams[s], stream, error))
        return NULL;
    }
  return g_steal_pointer (&corpus);
}

void
plait_corpus_clear (PlaitCorpus *corpus)
{
  corpus->first = corpus->lines;
  corpus->size = 0;
  g_clear_pointer (&corpus->line_of, g_array_unref);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    make_stores (corpus, &corpus->streams[s]);
}

/* Reads the text of *@corpus and caches it under @key. If the cache cannot be written, logs the reason and reads the
 * text again into a new *@corpus. */
static gboolean
read_and_keep (PlaitCorpus **corpus, const PlaitCorpusSettings *settings, const char *key, PlaitPool *pool,
               GError **error)
{
  const PlaitTextCache *text_cache = settings->text_cache;
  g_autoptr (GError) cause = NULL;

  if (plait_corpus_cache_begin (*corpus, text_cache, key, &cause) && plait_corpus_read (*corpus, pool, &cause)
      && plait_corpus_cache_end (*corpus, text_cache, key, &cause))
    return TRUE;
  if (cause && cause->code != PLAIT_ERROR_FAILED)
    return plait_no_error (&cause, error);
  if (cause)
    plait_log_info (text_cache->log, "the encoded corpus is not cached: %s", cause->message);
  plait_corpus_free (*corpus);
  *corpus = plait_corpus_new (settings, error);
  return *corpus && plait_corpus_read (*corpus, pool, error);
}

PlaitCorpus *
plait_corpus_open (const PlaitCorpusSettings *settings, PlaitPool *pool, GError **error)
{
  g_autoptr (PlaitCorpus) corpus = plait_corpus_new (settings, error);
  g_autofree char *key = corpus && settings->text_cache ? plait_corpus_cache_key (corpus, settings) : NULL;

  if (!corpus)
    return NULL;
  if (!key ? !plait_corpus_read (corpus, pool, error)
           : !plait_corpus_cache_load (corpus, settings->text_cache, key, pool)
                 && !read_and_keep (&corpus, settings, key, pool, error))
    return NULL;
  if (!check_features (corpus, error))
    return NULL;
  if (corpus->size == 0)
    {
      g_auto (GStrv) report = plait_corpus_report (corpus);

      return plait_fail_null (error, PLAIT_ERROR_INPUT,
                              "%s: no tuple of the %s corpus is left (%s); expected at least one; change the limits or "
                              "the data, so that fewer tuples are dropped",
                              corpus->streams[0].files->path, corpus->split,
                              report[0] ? report[0] : "the corpus is empty");
    }
  return g_steal_pointer (&corpus);
}

guint
plait_corpus_n_factors (const PlaitCorpus *corpus, gint64 source)
{
  return corpus->streams[source].n_factors;
}

gint64
plait_corpus_size (const PlaitCorpus *corpus)
{
  return corpus->size;
}

gint64
plait_corpus_lines (const PlaitCorpus *corpus)
{
  return corpus->lines;
}

gint64
plait_corpus_line (const PlaitCorpus *corpus, gint64 tuple)
{
  return corpus->line_of ? g_array_index (corpus->line_of, guint32, tuple) : corpus->first + tuple;
}

gboolean
plait_corpus_cuts (const PlaitCorpus *corpus)
{
  gboolean cuts = FALSE;

  for (gint64 s = 0; s < corpus->n_streams; s++)
    cuts |= corpus->streams[s].documents.maximum > 0 && !corpus->streams[s].documents.truncates;
  return cuts;
}

char *
plait_corpus_name (const PlaitCorpus *corpus, gint64 tuple)
{
  gint64 line = plait_corpus_line (corpus, tuple), first = tuple;

  while (first > 0 && plait_corpus_line (corpus, first - 1) == line)
    first--;
  return plait_document_chunk_name (plait_corpus_cuts (corpus), line, tuple - first);
}

/* Returns the index of the file that has line @line. */
static gint64
file_of (const PlaitCorpus *corpus, gint64 line)
{
  gint64 file = 0;

  while (file + 1 < corpus->n_files && line >= corpus->first_lines[file + 1])
    file++;
  return file;
}

char *
plait_corpus_location (const PlaitCorpus *corpus, gint64 stream, gint64 tuple)
{
  const PlaitCorpusStreamState *state = &corpus->streams[stream];
  gint64 line = plait_corpus_line (corpus, tuple), file = file_of (corpus, line);

  return g_strdup_printf (state->documents.layout == PLAIT_LAYOUT_SENTENCES ? "%s:%jd" : "%s: document %jd",
                          state->files[file].path, line - corpus->first_lines[file] + 1);
}

gint64
plait_corpus_n_sources (const PlaitCorpus *corpus)
{
  return corpus->n_sources;
}

gboolean
plait_corpus_has_target (const PlaitCorpus *corpus)
{
  return corpus->n_streams > corpus->n_sources;
}

const PlaitCorpusCounts *
plait_corpus_counts (const PlaitCorpus *corpus, gint64 stream)
{
  g_assert (stream >= 0 && stream < corpus->n_streams);
  return &corpus->streams[stream].counts;
}

static void G_GNUC_PRINTF (2, 3) say (GPtrArray *report, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (report, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static void
report_stream (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, GPtrArray *report)
{
  const PlaitCorpusCounts *counts = &stream->counts;
  gint64 tuples = corpus->lines - corpus->cut + corpus->chunks;

  if (counts->dropped_long > 0)
    say (report, "%s: dropped %jd of %jd tuples where %s is longer than %jd tokens", corpus->split,
         counts->dropped_long, tuples, stream->name, stream->maximum_length);
  if (counts->dropped_empty > 0)
    say (report, "%s: dropped %jd of %jd tuples where the target %s is empty", corpus->split, counts->dropped_empty,
         tuples, stream->name);
  if (counts->dropped_treeless > 0)
    say (report, "%s: dropped %jd of %jd tuples where %s has no tree", corpus->split, counts->dropped_treeless, tuples,
         stream->name);
  if (counts->without_tree > 0)
    say (report, "%s: %jd of %jd sentences of %s have no tree%s", corpus->split, counts->without_tree, corpus->size,
         stream->name, stream->treeless_dropped ? ", but only leaves here, since no tuple may be dropped" : "");
  if (counts->truncated > 0)
    say (report, "%s: truncated %jd of %jd documents of %s to %jd tokens; %jd were lost", corpus->split,
         counts->truncated, corpus->lines, stream->name, stream->documents.maximum, counts->tokens_lost);
}

GStrv
plait_corpus_report (const PlaitCorpus *corpus)
{
  GPtrArray *report = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  if (corpus->cut > 0)
    say (report, "%s: cut %jd of %jd documents into %jd chunks of at most %jd tokens", corpus->split, corpus->cut,
         corpus->lines, corpus->chunks, corpus->streams[0].documents.maximum);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    report_stream (corpus, &corpus->streams[s], report);
  return (GStrv)g_ptr_array_free (report, FALSE);
}

/* TRUE if @files did not change since they were read. */
static gboolean
check_stamps (const PlaitCorpus *corpus, const PlaitCorpusFile *files, GError **error)
{
  for (gint64 i = 0; i < corpus->n_files; i++)
    {
      const PlaitCorpusFile *file = &files[i];

      if (!plait_file_stamp_check (&file->stamp, file->path, error)
          || (file->trees_path && !plait_file_stamp_check (&file->trees_stamp, file->trees_path, error)))
        return FALSE;
    }
  return TRUE;
}

/* TRUE if no file of @stream changed since it was read or opened. */
static gboolean
check_stream (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, GError **error)
{
  for (guint f = 0; f < stream->n_factors; f++)
    if (!check_stamps (corpus, stream->factors[f].files, error))
      return FALSE;
  if (stream->link_files && !check_stamps (corpus, stream->link_files, error))
    return FALSE;
  return stream->features ? stream->features->check (stream->features, error)
                          : check_stamps (corpus, stream->files, error);
}

gboolean
plait_corpus_check (const PlaitCorpus *corpus, GError **error)
{
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (!check_stream (corpus, &corpus->streams[s], error))
      return FALSE;
  return !corpus->weight_files || check_stamps (corpus, corpus->weight_files, error);
}

GStrv
plait_corpus_text (const PlaitCorpus *corpus, gint64 stream_index, GError **error)
{
  const PlaitCorpusStreamState *stream = &corpus->streams[stream_index];
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GStrvBuilder) kept = g_strv_builder_new ();

  g_assert (plait_input_kind_is_text (stream->kind));
  for (gint64 i = 0; i < corpus->n_files; i++)
    {
      const PlaitCorpusFile *file = &stream->files[i];
      g_autoptr (GError) cause = NULL;
      GPtrArray *more = plait_document_texts (file->path, &stream->documents, NULL, &cause);

      if (more)
        g_ptr_array_extend_and_steal (texts, more);
      if (!plait_file_stamp_check (&file->stamp, file->path, error) || !plait_no_error (&cause, error))
        return NULL;
    }
  if (texts->len != corpus->lines)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: this stream has %u texts, but had %jd before; restore its old files, and leave them "
                            "unchanged during a run",
                            stream->files->path, texts->len, corpus->lines);
  for (gint64 tuple = 0; tuple < corpus->size; tuple++)
    if (tuple == 0 || plait_corpus_line (corpus, tuple) > plait_corpus_line (corpus, tuple - 1))
      g_strv_builder_add (kept, texts->pdata[plait_corpus_line (corpus, tuple)]); /* the whole document once, even if it
                                                                                     is cut into several tuples */
  return g_strv_builder_end (kept);
}
