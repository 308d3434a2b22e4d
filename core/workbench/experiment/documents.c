/* SPDX-License-Identifier: MIT */
/* This file reads and checks the keys of [data] that declare streams of documents. */
#include <string.h>

#include "text/separators.h"
#include "documents/abbreviations.h"
#include "experiment/resolution.h"

/* TRUE if @item, "STREAM" or "STREAM:LANGUAGE", names @stream. */
static gboolean
names_stream (const char *item, const char *stream)
{
  gsize length = strlen (stream);

  return strncmp (item, stream, length) == 0 && (item[length] == '\0' || item[length] == ':');
}

PlaitDocumentSettings
plait_experiment_documents (const PlaitExperiment *experiment, const char *stream)
{
  const PlaitDataSettings *data = &experiment->data;
  g_auto (GStrv) sentences = g_strsplit (data->documents, ";", -1);
  g_auto (GStrv) lines = g_strsplit (data->documents_by_line, ";", -1);
  gboolean is_target = g_str_equal (stream, data->target) && experiment->predict.kind != PLAIT_PREDICT_MASKED;
  PlaitDocumentSettings settings = { .layout = PLAIT_LAYOUT_SENTENCES };

  if (g_strv_contains ((const char *const *)sentences, stream))
    settings.layout = PLAIT_LAYOUT_DOCUMENTS;
  for (guint i = 0; lines[i]; i++)
    if (names_stream (lines[i], stream))
      {
        const char *language = strchr (lines[i], ':');

        settings.layout = PLAIT_LAYOUT_LINES;
        g_strlcpy (settings.language, language ? language + 1 : "", sizeof settings.language);
      }
  if (settings.layout == PLAIT_LAYOUT_SENTENCES)
    return settings;
  settings.start_tokens
      = data->document_starts == PLAIT_DATA_DOCUMENT_STARTS_ALL
        || data->document_starts
               == (is_target ? PLAIT_DATA_DOCUMENT_STARTS_TARGET : PLAIT_DATA_DOCUMENT_STARTS_SOURCES);
  settings.roles = is_target ? 0 : data->document_roles;
  settings.truncates = data->document_cut == PLAIT_DATA_DOCUMENT_CUT_TRUNCATE;
  settings.maximum = is_target ? 0 : data->document_length;
  return settings;
}

gboolean
plait_experiment_is_documents (const PlaitExperiment *experiment, const char *stream)
{
  return plait_experiment_documents (experiment, stream).layout != PLAIT_LAYOUT_SENTENCES;
}

gboolean
plait_experiment_reads_documents (const PlaitExperiment *experiment)
{
  g_autofree const char **streams = plait_experiment_streams (experiment);

  for (guint i = 0; streams[i]; i++)
    if (plait_experiment_is_documents (experiment, streams[i]))
      return TRUE;
  return FALSE;
}

char *
plait_documents_used (const PlaitExperiment *experiment, const char *list)
{
  g_auto (GStrv) items = g_strsplit (list, ";", -1);
  g_autofree const char **streams = plait_experiment_streams (experiment);
  GString *used = g_string_new (NULL);

  for (guint i = 0; items[i]; i++)
    for (guint s = 0; streams[s]; s++)
      if (names_stream (items[i], streams[s]))
        g_string_append_printf (used, "%s%s", used->len > 0 ? ";" : "", items[i]);
  return g_string_free (used, FALSE);
}

/* Adds a problem for each unknown stream or language in @list, the value of @key. If @languages is TRUE, items may have
 * the form STREAM:LANGUAGE. */
static void
check_list (const PlaitResolution *resolution, const char *key, const char *list, gboolean languages)
{
  g_auto (GStrv) items = g_strsplit (list, ";", -1);
  g_autofree const char **known = plait_resolution_streams (resolution);

  for (guint i = 0; items[i]; i++)
    {
      g_autofree char *remedy = plait_item_remedy (items[i], known, ";", "drop it, or add a source");
      char *colon = languages ? strchr (items[i], ':') : NULL;

      if (colon)
        *colon = '\0';
      if (colon && !plait_abbreviation_has_language (colon + 1))
        plait_resolution_problem (resolution, "data", key, "\"%s\" is not a language with known abbreviations; %s",
                                  colon + 1,
                                  strchr (remedy, ';') ? remedy
                                                       : "expected " PLAIT_ABBREVIATION_LANGUAGES
                                                         "; for another language, leave \":LANGUAGE\" out");
      if (g_strv_contains (known, items[i]))
        continue;
      plait_resolution_problem (resolution, "data", key, "no source reads the stream \"%s\", nor is it the target; %s",
                                items[i], remedy);
    }
}

static void
check_reader (const PlaitResolution *resolution, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *encoder = source->encoder->plugin->name;
  gboolean documents = plait_experiment_is_documents (experiment, source->stream);
  const char *group = source->encoder->group;

  if (source->kind == PLAIT_INPUT_DOCUMENTS && !documents)
    plait_resolution_problem (resolution, group, "encoder",
                              "the encoder %s reads documents, but the stream %s has no documents; name the stream in "
                              "data.documents or data.documents_by_line",
                              encoder, source->stream);
  if (documents && (source->trees || !plait_input_kind_is_text (source->kind)))
    plait_resolution_problem (
        resolution, group, "encoder",
        "the encoder %s reads %s, but the stream %s has documents; choose an encoder of tokens or of documents",
        encoder, source->trees ? "trees" : plait_input_kind_name (source->kind), source->stream);
}

/* Called if documents are cut into chunks. Adds a problem for each used stream without documents, since a chunk must
 * contain the same sentences of all streams. */
static void
check_chunks (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autofree const char **streams = plait_experiment_streams (experiment);

  for (guint i = 0; streams[i]; i++)
    if (!plait_experiment_is_documents (experiment, streams[i]))
      plait_resolution_problem (resolution, "data", "document_length",
                                "chunks are cut at the same sentences of all streams, but the stream %s has no "
                                "documents; name this stream in documents, or set document_cut=truncate",
                                streams[i]);
}

/* Adds a problem if decoder.roles is set, but no source has roles or the target has no start tokens of sentences. */
static void
check_target_roles (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  PlaitDocumentSettings target = plait_experiment_documents (experiment, experiment->data.target);

  if (experiment->decoder.roles == PLAIT_DECODER_ROLES_NONE)
    return;
  if (experiment->data.document_roles == 0)
    plait_resolution_problem (
        resolution, "decoder", "roles",
        "takes the roles of source sentences, but no source has roles; set data.document_roles, or roles=none");
  else if (target.layout == PLAIT_LAYOUT_SENTENCES || !target.start_tokens)
    plait_resolution_problem (resolution, "decoder", "roles",
                              "needs a target of documents with start tokens, which separate sentences; name the "
                              "target in data.documents and set data.document_starts=all, or roles=none");
}

/* Adds a problem if a source has documents and the combiner pairs sentences of sources with sentences of the target,
 * but the target has no start tokens of sentences. */
static void
check_pairing (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  PlaitDocumentSettings target = plait_experiment_documents (experiment, experiment->data.target);
  gboolean documents = FALSE;

  for (guint i = 0; i < experiment->n_sources; i++)
    documents |= plait_experiment_is_documents (experiment, experiment->sources[i].stream);
  if (documents && experiment->combiner && experiment->combiner->schema->requires_sentences
      && (target.layout == PLAIT_LAYOUT_SENTENCES || !target.start_tokens))
    plait_resolution_problem (resolution, "decoder", "combiner",
                              "the combiner %s pairs sentences of source and target by their numbers, so the target "
                              "needs documents with start tokens, which separate sentences; name the target in "
                              "data.documents and set data.document_starts=all, or choose another combiner",
                              experiment->combiner->schema->name);
}

void
plait_resolution_check_documents (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitDataSettings *data = &experiment->data;
  g_auto (GStrv) sentences = g_strsplit (data->documents, ";", -1);
  g_auto (GStrv) lines = g_strsplit (data->documents_by_line, ";", -1);

  check_list (resolution, "documents", data->documents, FALSE);
  check_list (resolution, "documents_by_line", data->documents_by_line, TRUE);
  for (guint i = 0; sentences[i]; i++)
    for (guint j = 0; lines[j]; j++)
      if (*sentences[i] != '\0' && names_stream (lines[j], sentences[i]))
        plait_resolution_problem (resolution, "data", "documents_by_line",
                                  "the stream %s is also in documents; name the stream in one of the two keys only",
                                  sentences[i]);
  check_target_roles (resolution);
  check_pairing (resolution);
  for (guint i = 0; i < experiment->n_sources; i++)
    check_reader (resolution, &experiment->sources[i]);
  if (data->document_length > 0 && data->document_cut == PLAIT_DATA_DOCUMENT_CUT_CHUNKS
      && plait_experiment_reads_documents (experiment))
    check_chunks (resolution);
}
