/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "process/pool.h"

/*
 * Vocabularies: text to ids and back.
 *
 *   words      tokens are what stands between ASCII white space; ids by falling frequency, ties in byte order
 *   labels     a line is one token, less the white space around it; ids as with words
 *   unigram    SentencePiece, unigram language model
 *   bpe        SentencePiece, byte pair encoding
 *   published  that of a published model: byte-level BPE, or SentencePiece (published.h)
 *
 * To SentencePiece a tab is a space, and so is U+2581, by which it writes spaces: decoding gives a space for either. It
 * learns no U+2585, which is unknown, or bytes with byte_fallback. With identity all else comes back as it was, but for
 * what is unknown. U+FEFF is a character like others; the byte order mark before a file's first line is dropped where
 * the file is read (text-file.h).
 *
 * Files that plait writes carry the SHA-256 of what they hold, in front of it, so that no cut removes it:
 *
 *   words           "plait words 2 sha256 HEX" in the place of the first line "plait words 1"
 *   published       the same, "plait published 2 sha256 HEX"
 *   sentencepiece   80 bytes that SentencePiece passes over, a field of an unknown number: "plait sha256 HEX"
 *
 * The digest is plait_vocabulary_hash, that of the bytes without it; these are what a run keeps.
 *
 * Ids 0 to 3 are padding, BOS, EOS and unknown (types/input.h) in all of them, whatever ids a SentencePiece model gives
 * to them (id-map.h). Text can be spelt like a special token, but never is one: where it is, the token's name is
 * another, "<<s>>" for "<s>". A vocabulary is immutable, may be used by
 * several threads at once, and may be shared by any number of streams.
 */
typedef struct PlaitVocabulary PlaitVocabulary;

/* Most pieces of a SentencePiece vocabulary. */
#define PLAIT_VOCABULARY_MAX_SIZE (1 << 20)

/* How to make a vocabulary from text. Begin with PLAIT_VOCABULARY_DEFAULTS. */
typedef struct
{
  const char *type;          /* "words", "labels", "unigram" or "bpe" */
  gint64 size;               /* entries, the four special ones included; words: the most frequent ones, 0 keeps all */
  gint64 minimum_count;      /* words: rarer ones become unknown */
  double character_coverage; /* SentencePiece: share of the characters of the text that get a piece, .98 to 1 */
  const char *normalization; /* SentencePiece: identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf */
  gboolean byte_fallback;    /* SentencePiece: characters without a piece become bytes instead of unknown */
  gint64 sentence_limit;     /* SentencePiece: learn from this many lines, spread evenly over the text; 0: from all */
  PlaitPool *pool;           /* words and labels: counts several files at a time; NULL: one after the other */
} PlaitVocabularySettings;

/* bpe of 8,000 pieces, character coverage 1, identity, no byte fallback, all lines. */
#define PLAIT_VOCABULARY_DEFAULTS                                                                                      \
  {                                                                                                                    \
    .type = "bpe", .size = 8000, .minimum_count = 1, .character_coverage = 1, .normalization = "identity",             \
  }

/* Makes a vocabulary from the lines of all @paths (NULL-terminated; plain or gzip) together: a shared vocabulary is
 * trained on several files. The same text and settings give the same bytes, whatever threads the pool has.
 * (transfer full) */
PlaitVocabulary *plait_vocabulary_train (const PlaitVocabularySettings *settings, const char *const *paths,
                                         GError **error);

/* From what plait_vocabulary_serialize gave. @format is "words", "labels", "sentencepiece" or "published"; @name stands
 * for the bytes in messages. The bytes are not trusted: a SentencePiece model is tried in a child process first.
 * (transfer full) */
PlaitVocabulary *plait_vocabulary_load (const char *format, GBytes *bytes, const char *name, GError **error);

/* From the file at @path, whose format is told by its first bytes. What plait wrote carries a digest, which must be
 * right; a model made elsewhere is checked as far as it can be. @log (may be NULL) is told of one that only plait
 * makes and has no digest. (transfer full) */
PlaitVocabulary *plait_vocabulary_read (const char *path, PlaitLog *log, GError **error);

/* That of the published model in folder @path, or, of Marian's, of @path, which is its source.spm or target.spm
 * (published.h). (transfer full) */
PlaitVocabulary *plait_vocabulary_from_published (const char *path, GError **error);

/* A word vocabulary of the list at @path, in its order: lines of WORD, or of WORD COUNT, as fairseq's dict.txt and
 * subword-nmt's vocabulary have them. The names of special tokens are left out: *@left_out is their number.
 * (transfer full) */
PlaitVocabulary *plait_vocabulary_from_list (const char *path, guint *left_out, GError **error);

/* TRUE if the file at @path is a vocabulary with a digest, and both are right. */
gboolean plait_vocabulary_verify (const char *path, GError **error);

/* TRUE if a file that begins with @length bytes at @beginning is a vocabulary that plait wrote,
 * if maybe a damaged one. */
gboolean plait_vocabulary_is_ours (gconstpointer beginning, gsize length);

/* The bytes of a file with @vocabulary, its digest with it. (transfer full) */
GBytes *plait_vocabulary_to_file (const PlaitVocabulary *vocabulary);

PlaitVocabulary *plait_vocabulary_ref (PlaitVocabulary *vocabulary);
void plait_vocabulary_unref (PlaitVocabulary *vocabulary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitVocabulary, plait_vocabulary_unref)

/* "words", "labels", "sentencepiece" or "published". (transfer none) */
const char *plait_vocabulary_format (const PlaitVocabulary *vocabulary);

/* What a run stores. A SentencePiece vocabulary is a model that SentencePiece's own tools read, as is its file.
 * (transfer none) */
GBytes *plait_vocabulary_serialize (const PlaitVocabulary *vocabulary);

/* SHA-256 of the serialised bytes, in hexadecimal. (transfer none) */
const char *plait_vocabulary_hash (const PlaitVocabulary *vocabulary);

/* The number of ids. */
gint32 plait_vocabulary_size (const PlaitVocabulary *vocabulary);

/* The piece of @id (in 0 .. size - 1), as it labels the axis of a plot. (transfer none) */
const char *plait_vocabulary_piece (const PlaitVocabulary *vocabulary, gint32 id);

/* SentencePiece's score of @id; words: how often the word occurred; published: 0. */
double plait_vocabulary_score (const PlaitVocabulary *vocabulary, gint32 id);

/* Appends the ids of @text (@length bytes of UTF-8) to @ids, an array of gint32. No BOS or EOS is added, and none is
 * ever read out of the text. */
void plait_vocabulary_encode (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids);

/* TRUE if each text, in sources and targets alike, begins with BOS, as BART's do. */
gboolean plait_vocabulary_adds_bos (const PlaitVocabulary *vocabulary);

/* The ids of a text as streams have them: with BOS, where texts begin with it. */
void plait_vocabulary_encode_text (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids);

/* As plait_vocabulary_encode, white-space token by token, and to @pieces, an array of gint32, how many ids each token
 * has. The ids are those of the text as a whole where single spaces part its tokens and no piece spans them. */
void plait_vocabulary_encode_words (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids,
                                    GArray *pieces);

/* The text of @ids[0 .. n - 1]; padding, BOS and EOS are left out. (transfer full) */
char *plait_vocabulary_decode (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n);

/* @words [n]: the number of the word, as white space parts the text of @ids, that each of them belongs to; a space
 * belongs to the word behind it, padding, BOS and EOS to none, -1. How many words there are. */
gint64 plait_vocabulary_count_words (const PlaitVocabulary *vocabulary, const gint32 *ids, gint64 n, gint64 *words);
