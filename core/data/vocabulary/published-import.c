/* SPDX-License-Identifier: MIT */
/* Imports the vocabulary from the folder of a published model. */
#include "vocabulary/published.h"

#include "text/error.h"
#include "files/file.h"
#include "text/json-read.h"

typedef struct
{
  const char *type;
  const char *files[2]; /* files of the vocabulary, in the folder of config.json */
  gboolean has_sides;   /* source and target have one SentencePiece model each: source.spm and target.spm */
  gboolean adds_bos;
  gint32 offset;
} Kind;

static const Kind kinds[] = {
  { "bart", { "vocab.json", "merges.txt" }, FALSE, TRUE, 0 },
  { "gpt2", { "vocab.json", "merges.txt" }, FALSE, FALSE, 0 },
  { "marian", { "vocab.json" }, TRUE, FALSE, 0 },
  { "roberta", { "vocab.json", "merges.txt" }, FALSE, TRUE, 0 },
  { "t5", { "spiece.model" }, FALSE, FALSE, 0 },
  { "xlm-roberta", { "sentencepiece.bpe.model" }, FALSE, TRUE, 1 },
};

static const Kind *
find_kind (json_t *config, const char *name, GError **error)
{
  const char *type = json_string_value (json_object_get (config, "model_type"));

  for (gsize i = 0; type && i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].type, type))
      return &kinds[i];
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s: model_type is \"%s\"; expected bart, gpt2, marian, roberta, t5 or xlm-roberta", name,
                          type ? type : "");
}

static json_t *
read_json (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = plait_file_read (path, PLAIT_FILE_REGULAR, PLAIT_VOCABULARY_MAX_FILE,
                                              "a JSON file of a published model", error);

  return bytes ? plait_json_read_object (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), path, error) : NULL;
}

/* Sets *@value to the number @key of @config, or to -1 if the number is missing. Fails if the number is not in 0 ..
 * limit - 1, or if it is missing and @needed. */
static gboolean
take_number (json_t *config, const char *key, gboolean needed, gint32 limit, const char *name, gint32 *value,
             GError **error)
{
  json_t *number = json_object_get (config, key);
  json_int_t found = json_is_integer (number) ? json_integer_value (number) : -1;

  *value = -1;
  if (!number || json_is_null (number))
    return !needed
           || plait_fail (error, PLAIT_ERROR_INPUT,
                          "%s: has no %s; expected the number that the model was published with", name, key);
  if (found < 0 || found >= limit)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s is not an integer from 0 to %d", name, key, limit - 1);
  *value = (gint32)found;
  return TRUE;
}

static gboolean
take_numbers (json_t *config, const Kind *kind, const char *name, PlaitPublishedNumbers *numbers, GError **error)
{
  numbers->adds_bos = kind->adds_bos;
  numbers->offset = kind->offset;
  return take_number (config, "vocab_size", TRUE, PLAIT_VOCABULARY_MAX_SIZE, name, &numbers->size, error)
         && take_number (config, "pad_token_id", FALSE, numbers->size, name, &numbers->padding, error)
         && take_number (config, "bos_token_id", FALSE, numbers->size, name, &numbers->beginning, error)
         && take_number (config, "eos_token_id", TRUE, numbers->size, name, &numbers->end, error);
}

/* Sets numbers->spaced from the tokenizer's key add_prefix_space. FALSE only on error. */
static gboolean
take_space (const char *folder, PlaitPublishedNumbers *numbers, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "tokenizer_config.json", NULL);
  g_autoptr (json_t) json = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  json = read_json (path, error);
  if (!json)
    return FALSE;
  numbers->spaced = json_is_true (json_object_get (json, "add_prefix_space"));
  return TRUE;
}

static gboolean
append_file (GString *kept, const char *folder, const char *file, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autoptr (GBytes) bytes
      = plait_file_read (path, PLAIT_FILE_REGULAR, PLAIT_VOCABULARY_MAX_FILE, "a file of the published model", error);

  if (!bytes)
    return FALSE;
  plait_published_append (kept, name, bytes);
  return TRUE;
}

/* TRUE if @path is what @kind needs: a .spm file if the kind has_sides, otherwise a folder. @side: name of the file;
 * NULL for a folder. */
static gboolean
check_side (const Kind *kind, const char *path, const char *side, GError **error)
{
  if (kind->has_sides && !(side && g_str_has_suffix (side, ".spm")))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s: a model of type %s has different vocabularies for source and target; name source.spm or target.spm", path,
        kind->type);
  if (!kind->has_sides && side)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: is only one of the files that make the vocabulary of a model of type %s; name their folder",
                       path, kind->type);
  return TRUE;
}

GBytes *
plait_published_import (const char *path, GError **error)
{
  gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  g_autofree char *folder = is_folder ? g_strdup (path) : g_path_get_dirname (path);
  g_autofree char *side = is_folder ? NULL : g_path_get_basename (path);
  g_autofree char *name = g_build_filename (folder, "config.json", NULL);
  g_autoptr (json_t) config = read_json (name, error);
  const Kind *kind = config ? find_kind (config, name, error) : NULL;
  PlaitPublishedNumbers numbers = { 0 };
  GString *kept;
  gboolean whole;

  if (!kind || !check_side (kind, path, side, error) || !take_numbers (config, kind, name, &numbers, error)
      || !take_space (folder, &numbers, error))
    return NULL;
  kept = plait_published_begin (&numbers);
  whole = !side || append_file (kept, folder, side, PLAIT_PUBLISHED_MODEL, error);
  for (guint i = 0; whole && i < G_N_ELEMENTS (kind->files) && kind->files[i]; i++)
    whole = append_file (kept, folder, kind->files[i],
                         g_str_has_suffix (kind->files[i], ".model") ? PLAIT_PUBLISHED_MODEL : kind->files[i], error);
  if (whole)
    return g_string_free_to_bytes (kept);
  g_string_free (kept, TRUE);
  return NULL;
}
