/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "process/pool.h"

/*
 * Vocabularies: text to ids and back.
 *
 *   words      tokens are separated by ASCII white space; ids by falling frequency (ties in byte order) or by a list
 *   labels     a line is one token, without the white space around it; ids as with words
 *   unigram    SentencePiece, unigram language model
 *   bpe        SentencePiece, byte pair encoding
 *   published  the vocabulary of a published model: byte-level BPE, or SentencePiece (published.h)
 *
 * SentencePiece vocabularies encode a tab as a space, and also U+2581, which SentencePiece writes for a space. Decoding
 * returns a space for each. No piece is learnt for U+2585: it becomes the unknown token, or with byte_fallback the
 * pieces of its bytes. With normalization identity all other known text is decoded unchanged. U+FEFF is an ordinary
 * character; the reader of a file drops the byte order mark before its first line (text-file.h).
 *
 * Files that plait writes have a SHA-256 digest at their beginning, so truncation cannot remove it:
 *
 *   words           "plait words 2 sha256 HEX" instead of the first line "plait words 1"
 *   published       "plait published 2 sha256 HEX" instead of the first line
 *   sentencepiece   80 bytes that SentencePiece skips, an unknown protobuf field: "plait sha256 HEX"
 *
 * The digest is plait_vocabulary_hash: the SHA-256 of the serialised bytes. A run keeps the serialised bytes, which do
 * not contain the digest.
 *
 * Ids 0 to 3 are padding, BOS, EOS and unknown (types/input.h) in every vocabulary, even if a SentencePiece model has
 * other ids for them (id-map.h). Text is never read as a special token: if a piece of text is spelt like one, the
 * special token's name gets brackets, "<<s>>" for "<s>". A vocabulary is immutable, may be used by several threads at
 * once, and may be shared by streams.
 */
typedef struct PlaitVocabulary PlaitVocabulary;

/* Maximum number of ids of a SentencePiece or published vocabulary. */
#define PLAIT_VOCABULARY_MAX_SIZE (1 << 20)

/* Settings for learning a vocabulary from text. Begin with PLAIT_VOCABULARY_DEFAULTS. */
typedef struct
{
  const char *type; /* type of the vocabulary: "words", "labels", "unigram" or "bpe" */
  gint64 size;      /* number of entries, with the special ones; words, labels: keep the most frequent, or all if 0 */
  gint64 minimum_count;      /* words, labels: a word that occurs less often becomes unknown */
  double character_coverage; /* SentencePiece: share of the text's characters that get a piece, .98 to 1 */
  const char *normalization; /* SentencePiece: method, one of identity, nfkc, nmt_nfkc, nfkc_cf, nmt_nfkc_cf */
  gboolean byte_fallback;    /* SentencePiece: characters without a piece become bytes instead of unknown */
  gint64 sentence_limit;     /* SentencePiece: number of lines to learn from, spread evenly over the text; 0: all */
  PlaitPool *pool;           /* words and labels: pool that counts several files at a time; NULL: one after the other */
} PlaitVocabularySettings;

/* Settings for bpe with 8,000 pieces, character coverage 1, identity, no byte fallback, all lines. */
#define PLAIT_VOCABULARY_DEFAULTS                                                                                      \
  {                                                                                                                    \
    .type = "bpe", .size = 8000, .minimum_count = 1, .character_coverage = 1, .normalization = "identity",             \
  }

/* Learns a vocabulary from the lines of all @paths (NULL-terminated, plain or gzip) together, so that several streams
 * may share the vocabulary. Equal text and settings give equal bytes, with any number of threads. (transfer full) */
PlaitVocabulary *plait_vocabulary_train (const PlaitVocabularySettings *settings, const char *const *paths,
                                         GError **error);

/* Loads a vocabulary from @bytes that plait_vocabulary_serialize returned. @format is "words", "labels",
 * "sentencepiece" or "published". Messages call the bytes @name. The bytes are not trusted: a SentencePiece model is
 * tried in a child process first. (transfer full) */
PlaitVocabulary *plait_vocabulary_load (const char *format, GBytes *bytes, const char *name, GError **error);

/* Reads the vocabulary file at @path. Its first bytes determine the format. A wrong digest is an error; a model of
 * another program is checked as far as possible. Logs a warning to @log (may be NULL) if a file that only plait makes
 * lacks its digest. (transfer full) */
PlaitVocabulary *plait_vocabulary_read (const char *path, PlaitLog *log, GError **error);

/* Makes a vocabulary of the published model in folder @path, or of Marian's source.spm or target.spm at @path
 * (published.h). (transfer full) */
PlaitVocabulary *plait_vocabulary_from_published (const char *path, GError **error);

/* Makes a word vocabulary of the list at @path, in its order: lines of WORD or of WORD COUNT, as in fairseq's dict.txt
 * and subword-nmt's vocabularies. Leaves out names of special tokens and sets *@left_out to their number. (transfer
 * full) */
PlaitVocabulary *plait_vocabulary_from_list (const char *path, guint *left_out, GError **error);

/* TRUE if the file at @path is a vocabulary with a correct digest; else sets @error. */
gboolean plait_vocabulary_verify (const char *path, GError **error);

/* TRUE if the first @length bytes of a file, at @beginning, are those of a vocabulary that plait wrote, even a damaged
 * one. */
gboolean plait_vocabulary_is_ours (gconstpointer beginning, gsize length);

/* Returns the contents of a file of @vocabulary, with the digest. @vocabulary must not be of labels. (transfer full) */
GBytes *plait_vocabulary_to_file (const PlaitVocabulary *vocabulary);

PlaitVocabulary *plait_vocabulary_ref (PlaitVocabulary *vocabulary);
void plait_vocabulary_unref (PlaitVocabulary *vocabulary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitVocabulary, plait_vocabulary_unref)

/* Returns the format of @vocabulary: "words", "labels", "sentencepiece" or "published". (transfer none) */
const char *plait_vocabulary_format (const PlaitVocabulary *vocabulary);

/* Returns the bytes that a run stores. SentencePiece's own tools can read a SentencePiece vocabulary from them, and
 * from its file. (transfer none) */
GBytes *plait_vocabulary_serialize (const PlaitVocabulary *vocabulary);

/* Returns the SHA-256 of the serialised bytes, in hexadecimal. (transfer none) */
const char *plait_vocabulary_hash (const PlaitVocabulary *vocabulary);

/* Returns the number of ids. */
gint32 plait_vocabulary_size (const PlaitVocabulary *vocabulary);

/* Returns the piece of @id (0 .. size - 1), for example as a label in plots. (transfer none) */
const char *plait_vocabulary_piece (const PlaitVocabulary *vocabulary, gint32 id);

/* Returns SentencePiece's score of @id; words and labels: the word's count that the vocabulary stores; published: 0. */
double plait_vocabulary_score (const PlaitVocabulary *vocabulary, gint32 id);

/* Appends the ids of @text (@length bytes of UTF-8) to @ids (gint32), without BOS and EOS. Text is never read as a
 * special token. */
void plait_vocabulary_encode (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids);

/* TRUE if every text, source or target, begins with BOS, as BART's do. */
gboolean plait_vocabulary_adds_bos (const PlaitVocabulary *vocabulary);

/* Appends the ids of a text as streams store them: with BOS first if the vocabulary adds it. */
void plait_vocabulary_encode_text (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids);

/* Encodes @text by white-space tokens, and appends the number of ids of each token to @pieces (gint32). The ids equal
 * those of plait_vocabulary_encode if single spaces separate the tokens and no piece spans two tokens. They can
 * differ if byte-level BPE does not add a space before a text (published.h). */
void plait_vocabulary_encode_words (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids,
                                    GArray *pieces);

/* Returns the text of @ids [n] without padding, BOS and EOS. (transfer full) */
char *plait_vocabulary_decode (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n);

/* Returns the text of @ids [n] like plait_vocabulary_decode, but with words[i], if it is not NULL, in place of ids[i]
 * as a separate word. @words: [n], or NULL. (transfer full) */
char *plait_vocabulary_decode_words (const PlaitVocabulary *vocabulary, const gint32 *ids, const char *const *words,
                                     gsize n);

/* Writes to @words [n] the number, from 0, of the word (between white space) that contains each of @ids [n]. A space
 * belongs to the word after it; spaces at the end, padding, BOS and EOS get -1. Returns the number of words. */
gint64 plait_vocabulary_count_words (const PlaitVocabulary *vocabulary, const gint32 *ids, gint64 n, gint64 *words);
