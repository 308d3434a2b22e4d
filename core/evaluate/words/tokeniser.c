/* SPDX-License-Identifier: MIT */
#include "words/tokeniser.h"

#include <string.h>

#include "files/file.h"
#include "process/module.h"
#include "vocabulary/sentencepiece.h"
#include "words/text.h"

#define MODEL_LIMIT ((gsize)1 << 30)

static const char *const names[] = { PLAIT_TOKENS_NAMES, NULL };

static GMutex lock;        /* protects @models and @mecab */
static GHashTable *models; /* path -> open SentencePiece model; NULL until a model is opened */
static gpointer mecab;     /* NULL until MeCab is opened */

static const PlaitMecabTable *
open_mecab_module (GError **error)
{
  static const PlaitModuleWanted wanted = { "tokeniser", "mecab", "the tokeniser ja-mecab",
                                            "libmecab-dev and mecab-ipadic-utf8", sizeof (PlaitMecabTable) };

  return plait_module_open (&wanted, error);
}

static gpointer
open_mecab (GError **error)
{
  const PlaitMecabTable *table = open_mecab_module (error);
  g_autofree char *reason = NULL;

  if (!mecab && table)
    mecab = table->open (&reason);
  if (!mecab && table)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "the tokeniser ja-mecab needs MeCab's dictionary IPA: %s; install mecab-ipadic-utf8 (Debian)", reason);
  return mecab;
}

static gpointer
open_model (const char *path, GError **error)
{
  PlaitSentencePiece *model = models ? g_hash_table_lookup (models, path) : NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (model)
    return model;
  bytes = plait_file_read (path, PLAIT_FILE_REGULAR, MODEL_LIMIT, "a SentencePiece model", error);
  model = bytes ? plait_subwords_open (bytes, path, error) : NULL;
  if (!models)
    models = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (model)
    g_hash_table_insert (models, g_strdup (path), model);
  return model;
}

static gboolean
needs_model (const PlaitTokeniser *tokeniser)
{
  return tokeniser->tokens == PLAIT_TOKENS_FLORES_101 || tokeniser->tokens == PLAIT_TOKENS_FLORES_200;
}

gboolean
plait_tokeniser_open (PlaitTokeniser *tokeniser, GError **error)
{
  const char *name = names[tokeniser->tokens];
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  if (tokeniser->model && !needs_model (tokeniser))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the tokeniser %s reads no SentencePiece model; leave \"model\" out, or give tok=flores200",
                       name);
  if (needs_model (tokeniser) && !tokeniser->model)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the tokeniser %s needs the SentencePiece model of that name; give its path with model=FILE",
                       name);
  if (needs_model (tokeniser))
    tokeniser->resources = open_model (tokeniser->model, error);
  else if (tokeniser->tokens == PLAIT_TOKENS_JAPANESE)
    tokeniser->resources = open_mecab (error);
  else
    return TRUE;
  return tokeniser->resources != NULL;
}

/* Returns the pieces of @line by SentencePiece, with spaces between them; a copy of @line if SentencePiece fails.
 * (transfer full) */
static char *
cut_pieces (const PlaitSentencePiece *model, const char *line)
{
  g_autoptr (GPtrArray) pieces = g_ptr_array_new_null_terminated (8, g_free, TRUE);

  if (!model->table->encode_pieces (model, line, strlen (line), pieces))
    return g_strdup (line);
  return g_strjoinv (" ", (char **)pieces->pdata);
}

char *
plait_tokeniser_cut (const PlaitTokeniser *tokeniser, const char *line)
{
  switch ((PlaitTokens)tokeniser->tokens)
    {
    case PLAIT_TOKENS_13A:
      return plait_tokenise_13a (line);
    case PLAIT_TOKENS_INTERNATIONAL:
      return plait_tokenise_international (line);
    case PLAIT_TOKENS_CHARACTERS:
      return plait_tokenise_characters (line);
    case PLAIT_TOKENS_CHINESE:
      return plait_tokenise_chinese (line);
    case PLAIT_TOKENS_JAPANESE:
      return open_mecab_module (NULL)->cut (tokeniser->resources, line);
    case PLAIT_TOKENS_FLORES_101:
    case PLAIT_TOKENS_FLORES_200:
      return cut_pieces (tokeniser->resources, line);
    case PLAIT_TOKENS_NONE:
      break;
    }
  return g_strdup (line);
}

const char *
plait_tokeniser_signature (const PlaitTokeniser *tokeniser)
{
  return tokeniser->tokens == PLAIT_TOKENS_JAPANESE ? "ja-mecab-0.996-IPA" : names[tokeniser->tokens];
}
