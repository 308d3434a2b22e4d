/* SPDX-License-Identifier: MIT */
/* SentencePiece vocabularies: trains models, and checks models before use. */
#include <math.h>
#include <string.h>

#include "text/error.h"
#include "process/module.h"
#include "process/sandbox.h"
#include "vocabulary/id-map.h"
#include "vocabulary/sentencepiece.h"
#include "lines/text-file.h"
#include "vocabulary/vocabulary-private.h"

#define TEXT_LIMIT                                                                                                     \
  ((gint64)1 << 30)      /* maximum bytes of training text: SentencePiece holds it in memory and counts in 32 bits */
#define PIECE_LIMIT 4096 /* maximum bytes of one piece */
/* Maximum characters of a word for type bpe: SentencePiece counts in 16 bits, and aborts if a word is longer. */
#define WORD_LIMIT 65535

static const char *const normalizations[] = { "identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", NULL };

const PlaitSentencePieceTable *
plait_sentencepiece_open (GError **error)
{
  static const PlaitModuleWanted wanted = { "subwords", "sentencepiece", "a vocabulary of subwords",
                                            "libsentencepiece-dev", sizeof (PlaitSentencePieceTable) };

  return plait_module_open (&wanted, error);
}

/* Checks that @piece is UTF-8 without NUL and not too long, so that it can label an axis. */
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
check_model (const PlaitSentencePiece *model, const char *name, GError **error)
{
  int specials[PLAIT_TOKEN_SPECIALS], size = model->table->size (model), n_specials = 0;
  model->table->specials (model, specials);
  for (int i = 0; i < PLAIT_TOKEN_SPECIALS; i++)
    n_specials += specials[i] >= 0;
  if (size <= n_specials || size > PLAIT_VOCABULARY_MAX_SIZE - PLAIT_TOKEN_SPECIALS + n_specials)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the SentencePiece model has %d pieces, of which %d are special tokens; expected other "
                       "pieces too, and, with the special tokens that plait adds, at most %d in total",
                       name, size, n_specials, PLAIT_VOCABULARY_MAX_SIZE);
  g_autoptr (GHashTable) by_piece = g_hash_table_new (g_str_hash, g_str_equal);
  for (int id = 0; id < size; id++)
    {
      gsize length;
      gpointer first;
      const char *piece = model->table->piece (model, id, &length);
      if (!check_piece (piece, length, id, name, error))
        return FALSE;
      if (g_hash_table_lookup_extended (by_piece, piece, NULL, &first))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: pieces %d and %d of the SentencePiece model are both \"%s\"; train the model again",
                           name, GPOINTER_TO_INT (first), id, piece);
      if (!isfinite (model->table->score (model, id)))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: the score of piece %d of the SentencePiece model, \"%s\", is infinite or not a number; "
                           "train the model again",
                           name, id, piece);
      g_hash_table_insert (by_piece, (gpointer)piece, GINT_TO_POINTER (id));
    }
  return TRUE;
}

/* Returns plait's wording of the @message with which SentencePiece refused a model. @message is NULL if the model has
 * no bytes. */
static const char *
why_not_loaded (const char *message)
{
  static const struct
  {
    const char *theirs, *ours;
  } reasons[] = {
    { "unk is already defined", "the model has two pieces for unknown text" },
    { "unk is not defined", "the model has no piece for unknown text" },
    { "already defined", "the model has one piece twice" },
    { "must not be empty", "the model has an empty piece" },
    { "byte piece", "the model does not have one piece for each of the 256 bytes" },
    { "normalization rule", "the model's normalisation is damaged" },
    { "Self-test", "the model does not split its own test sentences as it should" },
    { "no pieces", "the model has no pieces except special tokens" },
  };

  for (gsize i = 0; message && i < G_N_ELEMENTS (reasons); i++)
    if (strstr (message, reasons[i].theirs))
      return reasons[i].ours;
  return message ? "its bytes are not those of a SentencePiece model" : "it is empty";
}

static PlaitSentencePiece *
load_and_check (GBytes *bytes, const char *name, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  g_autofree char *message = NULL;
  const PlaitSentencePieceTable *sentencepiece = plait_sentencepiece_open (error);
  if (!sentencepiece)
    return NULL;
  PlaitSentencePiece *model = size > 0 ? sentencepiece->load (data, size, &message) : NULL;
  if (!model)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: is not a vocabulary (%s); expected a SentencePiece model or a file that plait vocabulary made", name,
        why_not_loaded (message));
  if (check_model (model, name, error))
    return model;
  model->table->free (model);
  return NULL;
}

typedef struct
{
  GBytes *bytes;
  const char *name;
} ModelBytes;

/* Runs in a child process: loads the model, encodes and decodes with it. */
static gboolean
try_model (gpointer data, GError **error)
{
  static const char sample[] = "The quick brown \xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd k\xc5\xaf\xc5\x88, 12.5 "
                               "\xe2\x82\xac! \xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x98\x80 \xe2\x96\x81\xef\xbf\xbd";
  ModelBytes *model_bytes = data;
  PlaitSentencePiece *model = load_and_check (model_bytes->bytes, model_bytes->name, error);
  if (!model)
    return FALSE;
  int size = model->table->size (model);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gint32 id = 0; id < size; id++)
    g_array_append_val (ids, id);
  GString *text = model->table->decode (model, (const gint32 *)ids->data, ids->len);
  gboolean works = text && model->table->encode (model, sample, strlen (sample), ids)
                   && model->table->encode (model, text->str, text->len, ids)
                   && model->table->encode (model, "", 0, ids);
  for (guint i = 0; i < ids->len; i++)
    works = works && g_array_index (ids, gint32, i) >= 0 && g_array_index (ids, gint32, i) < size;
  return works
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: the SentencePiece model cannot encode and decode text; train the model again",
                        model_bytes->name);
}

PlaitSentencePiece *
plait_subwords_open (GBytes *bytes, const char *name, GError **error)
{
  ModelBytes model_bytes = { bytes, name };
  if (!plait_sentencepiece_open (error)
      || !plait_sandbox_run (name, PLAIT_ERROR_INPUT, try_model, &model_bytes, PLAIT_SANDBOX_LIMITS, error))
    return NULL;
  return load_and_check (bytes, name, error);
}

/* A SentencePiece model and the map to our ids. */
typedef struct
{
  PlaitSentencePiece *model;
  PlaitIdMap ids;
  char *absent[PLAIT_TOKEN_SPECIALS]; /* name of each special token that the model lacks; NULL for the others */
} Subwords;

static void
subwords_free (gpointer model)
{
  Subwords *self = model;
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    g_free (self->absent[id]);
  plait_id_map_clear (&self->ids);
  self->model->table->free (self->model);
  g_free (self);
}

static gboolean
has_piece (gconstpointer model, const char *piece)
{
  const Subwords *self = model;
  gsize length;
  for (int id = 0; id < self->model->table->size (self->model); id++)
    if (g_str_equal (self->model->table->piece (self->model, id, &length), piece))
      return TRUE;
  return FALSE;
}

static gpointer
subwords_load (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, PlaitVocabularyFacts *facts,
               GError **error)
{
  PlaitSentencePiece *model = plait_subwords_open (bytes, name, error);
  int specials[PLAIT_TOKEN_SPECIALS];
  if (!model)
    return NULL;
  Subwords *self = g_new0 (Subwords, 1);
  self->model = model;
  model->table->specials (model, specials);
  plait_id_map_init (&self->ids, specials, model->table->size (model));
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    if (specials[id] < 0)
      self->absent[id] = plait_special_unique_name (id, has_piece, self);
  facts->size = self->ids.size;
  return self;
}

static const char *
subwords_piece (gconstpointer model, gint32 id)
{
  const Subwords *self = model;
  gint32 theirs = self->ids.theirs[id];
  gsize length;
  return theirs < 0 ? self->absent[id] : self->model->table->piece (self->model, theirs, &length);
}

static double
subwords_score (gconstpointer model, gint32 id)
{
  const Subwords *self = model;
  gint32 theirs = self->ids.theirs[id];
  return theirs < 0 ? 0 : (double)self->model->table->score (self->model, theirs);
}

/* Appends the ids of @text. A tab is encoded as a space, as in the training text. */
static void
subwords_encode (gconstpointer model, const char *text, gsize length, GArray *ids)
{
  const Subwords *self = model;
  gint32 unknown = PLAIT_TOKEN_UNKNOWN;
  guint first = ids->len;
  g_autofree char *spaced = NULL;
  if (memchr (text, '\t', length))
    text = spaced = g_strdelimit (g_strndup (text, length), "\t", ' ');
  if (self->model->table->encode (self->model, text, length, ids))
    for (guint i = first; i < ids->len; i++)
      g_array_index (ids, gint32, i) = self->ids.ours[g_array_index (ids, gint32, i)];
  else
    g_array_append_val (ids, unknown);
}

static char *
subwords_decode (gconstpointer model, const gint32 *ids, gsize n)
{
  const Subwords *self = model;
  g_autofree gint32 *theirs = g_new (gint32, n);
  gsize known = 0;
  for (gsize i = 0; i < n; i++)
    if (self->ids.theirs[ids[i]] >= 0)
      theirs[known++] = self->ids.theirs[ids[i]];
  return plait_vocabulary_make_line (self->model->table->decode (self->model, theirs, known));
}

/* Training text: lines of several files. Training uses @limit of these lines, evenly spread. */
typedef struct
{
  const char *const *paths;
  PlaitTextReader *reader;
  gsize next_path;
  gint64 lines; /* number of lines in all files; while they are being counted: the number so far */
  gint64 limit; /* number of lines to use, evenly spread; 0: all lines */
  gint64 line;
  gint64 bytes;
  GString *given;
  gsize brackets[PLAIT_TOKEN_SPECIALS]; /* pairs of brackets to add to the name of each special token, so that the text
                                           does not contain the name */
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

/* TRUE if training uses line @line. Training uses @limit lines, spread evenly over all @lines; 0: all lines. */
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
                      "%s:%jd: there is more than 1 GiB of text to learn a vocabulary from; learn from some of its "
                      "lines, with data.vocabulary_sentences (plait vocabulary --lines)",
                      plait_text_reader_name (lines->reader), plait_text_reader_line (lines->reader));
          break;
        }
      /* Replace tabs and U+2585 by spaces, because SentencePiece skips every line that contains one of them. */
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
  if (settings->size <= PLAIT_TOKEN_SPECIALS || settings->size > PLAIT_VOCABULARY_MAX_SIZE)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "Vocabulary size %jd is not allowed; expected more than %d and at most %d", settings->size,
                       PLAIT_TOKEN_SPECIALS, PLAIT_VOCABULARY_MAX_SIZE);
  if (!(settings->character_coverage >= .98 && settings->character_coverage <= 1))
    return plait_fail (error, PLAIT_ERROR_INPUT, "Character coverage %g is not allowed; expected .98 to 1",
                       settings->character_coverage);
  if (!g_strv_contains (normalizations, settings->normalization))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "Normalization \"%s\" is unknown; expected identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf",
                       settings->normalization);
  if (settings->sentence_limit < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "Sentence limit %jd is not allowed; expected 0 or more",
                       settings->sentence_limit);
  return TRUE;
}

/* Sets @error to the reason why training failed. @message is from SentencePiece and may recommend options of
 * SentencePiece; @error recommends keys of plait instead. */
static void
explain_failure (const PlaitVocabularySettings *settings, const char *path, const char *message, GError **error)
{
  static const char few[] = "required_chars. ", many[] = "value <= ";
  const char *needed = strstr (message, few), *given = strstr (message, many);
  g_autofree char *what = g_strdup_printf ("%s: no %s vocabulary of %jd pieces can be made from this text", path,
                                           settings->type, settings->size);

  needed = needed ? strstr (needed, " vs ") : NULL;
  if (needed)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: the characters of the text and the special tokens need %jd pieces%s; raise data.vocabulary_size "
                "(plait vocabulary --size), or lower data.vocabulary_character_coverage (--coverage) below %g, so that "
                "rare characters get no piece",
                what, g_ascii_strtoll (needed + strlen (" vs "), NULL, 10),
                settings->byte_fallback ? ", including the bytes" : "", settings->character_coverage);
  else if (given)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: the text gives %jd pieces at most; lower data.vocabulary_size (plait vocabulary --size) to that "
                "or less, or learn from more text",
                what, g_ascii_strtoll (given + strlen (many), NULL, 10));
  else
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: SentencePiece fails (%s); try another data.vocabulary_size (plait vocabulary --size), or "
                "data.vocabulary_type=%s (--type)",
                what, message, strcmp (settings->type, "bpe") == 0 ? "unigram" : "bpe");
}

/* Raises lines->brackets for each special token, such as <s>, whose name is in @line, because SentencePiece does not
 * learn from text that is spelt like a special token. @identity: SentencePiece does not normalise text, so search
 * @line unchanged. Otherwise search the normalised line, because normalisation can turn other characters into the name
 * of a special token. */
static void
note_specials (Lines *lines, const char *line, gsize length, gboolean identity)
{
  g_autofree char *form = NULL, *folded = NULL;
  if (!memchr (line, '<', length) && (identity || !(strstr (line, "\uff1c") || strstr (line, "\ufe64"))))
    return;
  if (!identity)
    {
      form = g_utf8_normalize (line, (gssize)length, G_NORMALIZE_NFKC);
      line = folded = g_utf8_casefold (form, -1);
      length = strlen (line);
    }
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    lines->brackets[id] = MAX (lines->brackets[id], plait_special_brackets (id, line, length));
}

static GBytes *
train (const PlaitVocabularySettings *settings, Lines *lines, GError **error)
{
  const PlaitSentencePieceTable *sentencepiece = plait_sentencepiece_open (error);
  if (!sentencepiece)
    return NULL;
  char size[32], coverage[G_ASCII_DTOSTR_BUF_SIZE], longest[32];
  g_snprintf (size, sizeof size, "%jd", settings->size);
  g_snprintf (longest, sizeof longest, "%d", PLAIT_TEXT_LINE_LIMIT + 1);
  g_ascii_dtostr (coverage, sizeof coverage, settings->character_coverage);
  gboolean identity = strcmp (settings->normalization, "identity") == 0;
  g_auto (GStrv) specials = g_new0 (char *, PLAIT_TOKEN_SPECIALS + 1);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    specials[id] = plait_special_name (id, lines->brackets[id]);
  const PlaitSentencePieceOption options[] = {
    { "model_type", settings->type },
    { "vocab_size", size },
    { "character_coverage", coverage },
    { "normalization_rule_name", settings->normalization },
    /* Keep repeated spaces with normalization identity, so that decoding returns the encoded text unchanged. */
    { "remove_extra_whitespaces", identity ? "false" : "true" },
    { "byte_fallback", settings->byte_fallback ? "true" : "false" },
    { "pad_id", "0" },
    { "bos_id", "1" },
    { "eos_id", "2" },
    { "unk_id", "3" },
    { "pad_piece", specials[PLAIT_TOKEN_PAD] },
    { "bos_piece", specials[PLAIT_TOKEN_BOS] },
    { "eos_piece", specials[PLAIT_TOKEN_EOS] },
    { "unk_piece", specials[PLAIT_TOKEN_UNKNOWN] },
    /* Equal text must give an equal model: one thread, no sampling, no line dropped for its length. */
    { "num_threads", "1" },
    { "input_sentence_size", "0" },
    { "shuffle_input_sentence", "false" },
    { "max_sentence_length", longest },
    { "minloglevel", "3" },
    { NULL },
  };
  g_autofree char *message = NULL;
  g_autoptr (GBytes) bytes = sentencepiece->train (options, next_training_line, lines, &message);
  if (!plait_no_error (&lines->error, error))
    return NULL;
  if (!bytes)
    explain_failure (settings, lines->paths[0], message, error);
  return g_steal_pointer (&bytes);
}

/* TRUE if @line has a visible character other than U+2581, U+2585 and U+FFFD. SentencePiece learns only from such
 * lines. */
static gboolean
is_visible (const char *line, gsize length)
{
  for (const char *at = line; at < line + length; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);
      if (g_unichar_isgraph (c) && c != 0x2581 && c != 0x2585 && c != 0xfffd)
        return TRUE;
    }
  return FALSE;
}

/* Fails if @line has more characters in sequence without a space than byte pair encoding can count. */
static gboolean
check_words (const Lines *lines, const char *line, gsize length, GError **error)
{
  glong run = 0;
  for (const char *at = line; length > WORD_LIMIT && at < line + length; at = g_utf8_next_char (at))
    {
      run = plait_text_is_ascii_space (*at) || g_utf8_get_char (at) == 0x2581 ? 0 : run + 1;
      if (run > WORD_LIMIT)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s:%jd: more than %d characters without a space, more than type bpe can handle; separate "
                           "them by spaces, or use data.vocabulary_type=unigram (plait vocabulary --type)",
                           plait_text_reader_name (lines->reader), plait_text_reader_line (lines->reader), WORD_LIMIT);
    }
  return TRUE;
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
  gboolean identity = strcmp (settings->normalization, "identity") == 0, bpe = strcmp (settings->type, "bpe") == 0;
  while ((line = next_line (&lines, &length)))
    {
      if (bpe && !check_words (&lines, line, length, &lines.error))
        break;
      lines.lines++;
      filled += is_visible (line, length);
      note_specials (&lines, line, length, identity);
    }
  lines_rewind (&lines);
  if (lines.error)
    g_propagate_error (error, g_steal_pointer (&lines.error));
  else if (filled == 0)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: has no text; give text, from which the vocabulary is learnt",
                paths[0] ? paths[0] : "vocabulary");
  else
    bytes = train (settings, &lines, error);
  lines_rewind (&lines);
  g_string_free (lines.given, TRUE);
  return bytes;
}

const PlaitVocabularyFormat plait_sentencepiece_format = {
  .format = "sentencepiece",
  .seal = "\xc2\x3e\x4dplait sha256 ", /* begins with tag and length of a protobuf field that SentencePiece skips:
                                          field number 1000, with 77 bytes: these 13 and 64 of a digest */
  .piece = subwords_piece,
  .score = subwords_score,
  .encode = subwords_encode,
  .decode = subwords_decode,
  .free = subwords_free,
  .load = subwords_load,
  .train = subwords_train,
};
