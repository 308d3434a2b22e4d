/* SPDX-License-Identifier: MIT */
/* SentencePiece vocabularies: how a model is trained, and what is asked of a model before it is used. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/trial.h"
#include "data/input.h"
#include "data/sentencepiece.h"
#include "data/text-file.h"
#include "data/vocabulary-private.h"

#define TEXT_LIMIT ((gint64)1 << 30) /* bytes of training text: SentencePiece holds it, and counts in 32 bits */
#define PIECE_LIMIT 4096             /* bytes of one piece */

static const char *const normalizations[] = { "identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", NULL };

/* Whether @piece can label an axis: UTF-8 without NUL. */
static gboolean
check_piece (const char *piece, gsize length, int id, const char *name, GError **error)
{
  if (length <= PIECE_LIMIT && g_utf8_validate_len (piece, length, NULL))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: piece %d of the SentencePiece model is not UTF-8 of at most %d bytes; train the model again",
                     name, id, PIECE_LIMIT);
}

static gboolean
check_specials (const PlaitSentencePiece *model, const char *name, GError **error)
{
  int ids[PLAIT_TOKEN_SPECIALS];
  plait_sentencepiece_specials (model, ids);
  if (ids[0] != PLAIT_TOKEN_PAD || ids[1] != PLAIT_TOKEN_BOS || ids[2] != PLAIT_TOKEN_EOS
      || ids[3] != PLAIT_TOKEN_UNKNOWN)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the SentencePiece model has padding %d, BOS %d, EOS %d, unknown %d; expected 0, 1, 2, 3, "
                       "so train it by plait vocabulary or with --pad_id=0 --bos_id=1 --eos_id=2 --unk_id=3",
                       name, ids[0], ids[1], ids[2], ids[3]);
  return TRUE;
}

static gboolean
check_model (const PlaitSentencePiece *model, const char *name, GError **error)
{
  int size = plait_sentencepiece_size (model);
  if (size <= PLAIT_TOKEN_SPECIALS || size > PLAIT_VOCABULARY_MAXIMUM_SIZE)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the SentencePiece model has %d pieces; expected more than %d and at most %d", name, size,
                       PLAIT_TOKEN_SPECIALS, PLAIT_VOCABULARY_MAXIMUM_SIZE);
  g_autoptr (GHashTable) by_piece = g_hash_table_new (g_str_hash, g_str_equal);
  for (int id = 0; id < size; id++)
    {
      gsize length;
      gpointer first;
      const char *piece = plait_sentencepiece_piece (model, id, &length);
      if (!check_piece (piece, length, id, name, error))
        return FALSE;
      if (g_hash_table_lookup_extended (by_piece, piece, NULL, &first))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: pieces %d and %d of the SentencePiece model are both \"%s\"; train the model again",
                           name, GPOINTER_TO_INT (first), id, piece);
      if (!isfinite (plait_sentencepiece_score (model, id)))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: the score of piece %d of the SentencePiece model, \"%s\", is infinite or not a number; "
                           "train the model again",
                           name, id, piece);
      g_hash_table_insert (by_piece, (gpointer)piece, GINT_TO_POINTER (id));
    }
  return TRUE;
}

static PlaitSentencePiece *
load_and_check (GBytes *bytes, const char *name, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  g_autofree char *message = NULL;
  PlaitSentencePiece *model = size > 0 ? plait_sentencepiece_load (data, size, &message) : NULL;
  if (!model)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: is no vocabulary (%s); expected a SentencePiece model or a word vocabulary that plait made", name,
        message ? message : "it is empty");
  if (check_model (model, name, error))
    return model;
  plait_sentencepiece_free (model);
  return NULL;
}

typedef struct
{
  GBytes *bytes;
  const char *name;
} Trial;

/* In the child: load, then use the model the ways it will be used. */
static gboolean
try_model (gpointer data, GError **error)
{
  static const char sample[] = "The quick brown \xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd k\xc5\xaf\xc5\x88, 12.5 "
                               "\xe2\x82\xac! \xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x98\x80 \xe2\x96\x81\xef\xbf\xbd";
  Trial *trial = data;
  PlaitSentencePiece *model = load_and_check (trial->bytes, trial->name, error);
  if (!model)
    return FALSE;
  int size = plait_sentencepiece_size (model);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gint32 id = 0; id < size; id++)
    g_array_append_val (ids, id);
  GString *text = plait_sentencepiece_decode (model, (const gint32 *)ids->data, ids->len);
  gboolean works = text && plait_sentencepiece_encode (model, sample, strlen (sample), ids)
                   && plait_sentencepiece_encode (model, text->str, text->len, ids)
                   && plait_sentencepiece_encode (model, "", 0, ids);
  for (guint i = 0; i < ids->len; i++)
    works = works && g_array_index (ids, gint32, i) >= 0 && g_array_index (ids, gint32, i) < size;
  return works
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: the SentencePiece model cannot encode and decode text; train the model again",
                        trial->name);
}

PlaitSentencePiece *
plait_subwords_open (GBytes *bytes, const char *name, GError **error)
{
  Trial trial = { bytes, name };
  if (!plait_trial (name, PLAIT_ERROR_INPUT, try_model, &trial, PLAIT_TRIAL_LIMITS, error))
    return NULL;
  return load_and_check (bytes, name, error);
}

static gpointer
subwords_load (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, PlaitVocabularyFacts *facts,
               GError **error)
{
  PlaitSentencePiece *model = plait_subwords_open (bytes, name, error);
  if (!model)
    return NULL;
  facts->size = plait_sentencepiece_size (model);
  if (check_specials (model, name, error))
    return model;
  plait_sentencepiece_free (model);
  return NULL;
}

static const char *
subwords_piece (gconstpointer model, gint32 id)
{
  gsize length;
  return plait_sentencepiece_piece (model, id, &length);
}

static double
subwords_score (gconstpointer model, gint32 id)
{
  return (double)plait_sentencepiece_score (model, id);
}

/* A tab is a space, as in what is learnt from. */
static void
subwords_encode (gconstpointer model, const char *text, gsize length, GArray *ids)
{
  gint32 unknown = PLAIT_TOKEN_UNKNOWN;
  g_autofree char *spaced = NULL;
  if (memchr (text, '\t', length))
    text = spaced = g_strdelimit (g_strndup (text, length), "\t", ' ');
  if (!plait_sentencepiece_encode (model, text, length, ids))
    g_array_append_val (ids, unknown);
}

static char *
subwords_decode (gconstpointer model, const gint32 *ids, gsize n)
{
  return plait_vocabulary_make_line (plait_sentencepiece_decode (model, ids, n));
}

/* Training text: the lines of several files one after the other, of which every (lines / limit)-th is given. */
typedef struct
{
  const char *const *paths;
  PlaitTextReader *reader;
  gsize next_path;
  gint64 lines; /* of all files; 0 while they are counted */
  gint64 limit; /* 0: none */
  gint64 line;
  gint64 bytes;
  GString *given;
  GError *error;
} Lines;

static const char *
next_line (Lines *lines, gsize *length)
{
  for (;;)
    {
      if (!lines->reader)
        {
          if (!lines->paths[lines->next_path])
            return NULL;
          lines->reader = plait_text_reader_open (lines->paths[lines->next_path++], &lines->error);
          if (!lines->reader)
            return NULL;
        }
      const char *line = plait_text_reader_next (lines->reader, length, &lines->error);
      if (line || lines->error)
        return line;
      g_clear_pointer (&lines->reader, plait_text_reader_free);
    }
}

/* Whether line @line of @lines is among the @limit that are spread evenly over them. */
static gboolean
is_chosen (gint64 line, gint64 lines, gint64 limit)
{
  if (limit == 0 || limit >= lines)
    return TRUE;
  double step = (double)limit / (double)lines;
  return (gint64)floor ((double)(line + 1) * step) > (gint64)floor ((double)line * step);
}

static const char *
next_training_line (gpointer data, gsize *length)
{
  Lines *lines = data;
  const char *line;
  while (!lines->error && (line = next_line (lines, length)))
    {
      if (!is_chosen (lines->line++, lines->lines, lines->limit) || plait_text_is_blank (line, *length))
        continue;
      lines->bytes += (gint64)*length;
      if (lines->bytes > TEXT_LIMIT)
        {
          plait_fail (&lines->error, PLAIT_ERROR_INPUT,
                      "%s:%jd: there is more than 1 GiB of text to learn a vocabulary from; set a sentence limit",
                      plait_text_reader_name (lines->reader), plait_text_reader_line (lines->reader));
          break;
        }
      /* SentencePiece skips lines with tabs and with U+2585, which it uses for itself. */
      g_string_truncate (lines->given, 0);
      g_string_append_len (lines->given, line, (gssize)*length);
      g_string_replace (lines->given, "\xe2\x96\x85", " ", 0);
      g_strdelimit (lines->given->str, "\t", ' ');
      *length = lines->given->len;
      return lines->given->str;
    }
  return NULL;
}

static void
lines_rewind (Lines *lines)
{
  g_clear_pointer (&lines->reader, plait_text_reader_free);
  lines->next_path = 0;
  lines->line = 0;
}

static gboolean
check_settings (const PlaitVocabularySettings *settings, GError **error)
{
  if (strcmp (settings->type, "unigram") != 0 && strcmp (settings->type, "bpe") != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "Vocabulary type \"%s\" is unknown; expected words, unigram or bpe",
                       settings->type);
  if (settings->size <= PLAIT_TOKEN_SPECIALS || settings->size > PLAIT_VOCABULARY_MAXIMUM_SIZE)
    return plait_fail (error, PLAIT_ERROR_INPUT, "Vocabulary size %jd cannot be; expected more than %d and at most %d",
                       settings->size, PLAIT_TOKEN_SPECIALS, PLAIT_VOCABULARY_MAXIMUM_SIZE);
  if (!(settings->character_coverage >= .98 && settings->character_coverage <= 1))
    return plait_fail (error, PLAIT_ERROR_INPUT, "Character coverage %g cannot be; expected .98 to 1",
                       settings->character_coverage);
  if (!g_strv_contains (normalizations, settings->normalization))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "Normalization \"%s\" is unknown; expected identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf",
                       settings->normalization);
  if (settings->sentence_limit < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "Sentence limit %jd cannot be; expected 0 or more",
                       settings->sentence_limit);
  return TRUE;
}

static GBytes *
train (const PlaitVocabularySettings *settings, Lines *lines, GError **error)
{
  char size[32], coverage[G_ASCII_DTOSTR_BUF_SIZE], longest[32];
  g_snprintf (size, sizeof size, "%jd", settings->size);
  g_snprintf (longest, sizeof longest, "%d", PLAIT_TEXT_LINE_LIMIT + 1);
  g_ascii_dtostr (coverage, sizeof coverage, settings->character_coverage);
  gboolean identity = strcmp (settings->normalization, "identity") == 0;
  const PlaitSentencePieceOption options[] = {
    { "model_type", settings->type },
    { "vocab_size", size },
    { "character_coverage", coverage },
    { "normalization_rule_name", settings->normalization },
    /* Under identity, decoding gives the very text that was encoded: runs of spaces are kept as well. */
    { "remove_extra_whitespaces", identity ? "false" : "true" },
    { "byte_fallback", settings->byte_fallback ? "true" : "false" },
    { "pad_id", "0" },
    { "bos_id", "1" },
    { "eos_id", "2" },
    { "unk_id", "3" },
    /* The same text gives the same model: one thread, no sampling, no line left out for its length. */
    { "num_threads", "1" },
    { "input_sentence_size", "0" },
    { "shuffle_input_sentence", "false" },
    { "max_sentence_length", longest },
    { "minloglevel", "3" },
    { NULL },
  };
  g_autofree char *message = NULL;
  g_autoptr (GBytes) bytes = plait_sentencepiece_train (options, next_training_line, lines, &message);
  if (!plait_no_fault (&lines->error, error))
    return NULL;
  if (!bytes)
    {
      /* What stands before the last bracket is a place in SentencePiece's source. */
      const char *said = strrchr (message, ']');
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: no %s vocabulary of %jd pieces can be made from this text: %s",
                  lines->paths[0], settings->type, settings->size, said ? g_strstrip ((char *)said + 1) : message);
    }
  return g_steal_pointer (&bytes);
}

static GBytes *
subwords_train (const PlaitVocabularyFormat *format, const PlaitVocabularySettings *settings, const char *const *paths,
                GError **error)
{
  if (!check_settings (settings, error))
    return NULL;
  Lines lines = { .paths = paths, .limit = settings->sentence_limit, .given = g_string_new (NULL) };
  GBytes *bytes = NULL;
  gint64 filled = 0;
  gsize length;
  const char *line;
  while ((line = next_line (&lines, &length)))
    {
      lines.lines++;
      filled += !plait_text_is_blank (line, length);
    }
  lines_rewind (&lines);
  if (lines.error)
    g_propagate_error (error, g_steal_pointer (&lines.error));
  else if (filled == 0)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: has no text; expected text to make a vocabulary from",
                paths[0] ? paths[0] : "vocabulary");
  else
    bytes = train (settings, &lines, error);
  lines_rewind (&lines);
  g_string_free (lines.given, TRUE);
  return bytes;
}

const PlaitVocabularyFormat plait_sentencepiece_format = {
  .format = "sentencepiece",
  .seal = "\xc2\x3e\x4dplait sha256 ", /* tag and length of the field 1000, 13 + 64 bytes long */
  .piece = subwords_piece,
  .score = subwords_score,
  .encode = subwords_encode,
  .decode = subwords_decode,
  .free = (GDestroyNotify)plait_sentencepiece_free,
  .load = subwords_load,
  .train = subwords_train,
};
