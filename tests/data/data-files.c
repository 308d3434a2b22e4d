/* SPDX-License-Identifier: MIT */
#include "data-files.h"

#include <gio/gio.h>
#include <string.h>

#include "harness.h"
#include "hdf5/store.h"

char *
data_write (const char *name, const char *bytes, gssize length)
{
  char *path = plait_test_path (name);
  g_autoptr (GError) error = NULL;
  CHECK (g_file_set_contents (path, bytes, length, &error));
  return path;
}

GBytes *
data_gzip (const char *bytes, gssize length)
{
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6));
  g_autoptr (GOutputStream) out = g_converter_output_stream_new (memory, converter);
  CHECK (g_output_stream_write_all (out, bytes, length < 0 ? strlen (bytes) : (gsize)length, NULL, NULL, NULL));
  CHECK (g_output_stream_close (out, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

char *
data_write_gzip (const char *name, const char *bytes, gssize length)
{
  g_autoptr (GBytes) packed = data_gzip (bytes, length);
  return data_write (name, g_bytes_get_data (packed, NULL), (gssize)g_bytes_get_size (packed));
}

char *
data_features (const char *name, gint64 sentences, const gint32 *lengths)
{
  char *path = plait_test_path (name);
  const gint64 shape[] = { sentences, 2, 3 };
  g_autofree float *values = g_new (float, sentences * 6);
  for (gint64 i = 0; i < sentences * 6; i++)
    values[i] = (float)(i / 6 * 100 + i / 3 % 2 * 10 + i % 3);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (path, &error);
  CHECK (plait_store_write (store, "/images", PLAIT_STORE_FLOAT, 3, shape, values, PLAIT_STORE_PLAIN, &error));
  if (lengths)
    CHECK (
        plait_store_write (store, "/images_lengths", PLAIT_STORE_INT32, 1, shape, lengths, PLAIT_STORE_PLAIN, &error));
  CHECK (plait_store_commit (store, &error));
  CHECK_NO_ERROR (error);
  return path;
}

PlaitVocabulary *
data_words (const char *text)
{
  g_autofree char *path = data_write ("vocabulary-text", text, -1);
  const char *const paths[] = { path, NULL };
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  settings.type = "words";
  settings.size = 0;
  g_autoptr (GError) error = NULL;
  PlaitVocabulary *vocabulary = plait_vocabulary_train (&settings, paths, &error);
  CHECK_NO_ERROR (error);
  return vocabulary;
}

PlaitCorpusStream
data_tokens (const char *name, const char *path, PlaitVocabulary *vocabulary)
{
  return (PlaitCorpusStream){ .name = name, .kind = PLAIT_INPUT_TOKENS, .path = path, .vocabulary = vocabulary };
}

void
data_text_set_up (DataText *text, const char *one, const char *two, const char *target)
{
  text->vocabulary = data_words ("a a a a b b b c c d\n");
  text->paths[0] = data_write ("one", one, -1);
  text->paths[1] = data_write_gzip ("two.gz", two, -1);
  text->paths[2] = data_write ("target", target, -1);
  text->sources[0] = data_tokens ("one", text->paths[0], text->vocabulary);
  text->sources[1] = data_tokens ("two", text->paths[1], text->vocabulary);
  text->target = data_tokens ("out", text->paths[2], text->vocabulary);
  text->settings
      = (PlaitCorpusSettings){ .split = "train", .sources = text->sources, .n_sources = 2, .target = &text->target };
}

void
data_text_clear (DataText *text)
{
  plait_vocabulary_unref (text->vocabulary);
  for (int i = 0; i < 3; i++)
    g_free (text->paths[i]);
}

static void
append_sentence (GString *text, gint64 i, gint64 words)
{
  for (gint64 j = 0; j < words; j++)
    g_string_append_printf (text, j > 0 ? " w%02d" : "w%02d", (int)((i + j) % 50));
  g_string_append_c (text, '\n');
}

PlaitCorpus *
data_corpus (gint64 n)
{
  g_autoptr (GString) words = g_string_new (NULL), one = g_string_new (NULL), two = g_string_new (NULL),
                      target = g_string_new (NULL);
  for (int i = 0; i < 50; i++)
    g_string_append_printf (words, "w%02d\n", i);
  for (gint64 i = 0; i < n; i++)
    {
      append_sentence (one, i, i % 7 + 1);
      append_sentence (two, i, i % 3);
      append_sentence (target, i, i % 5 + 1);
    }
  g_autoptr (PlaitVocabulary) vocabulary = data_words (words->str);
  g_autofree char *one_path = data_write ("one", one->str, -1);
  g_autofree char *two_path = data_write_gzip ("two", two->str, -1);
  g_autofree char *target_path = data_write ("target", target->str, -1);
  PlaitCorpusStream sources[]
      = { data_tokens ("one", one_path, vocabulary), data_tokens ("two", two_path, vocabulary) };
  PlaitCorpusStream target_stream = data_tokens ("target", target_path, vocabulary);
  sources[1].append_end = TRUE;
  PlaitCorpusSettings settings = { .split = "train", .sources = sources, .n_sources = 2, .target = &target_stream };
  g_autoptr (GError) error = NULL;
  PlaitCorpus *corpus = plait_corpus_open (&settings, NULL, &error);
  CHECK_NO_ERROR (error);
  return corpus;
}
