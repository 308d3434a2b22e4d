/* SPDX-License-Identifier: MIT */
#pragma once

#include "lines/text-file.h"
#include "vocabulary/vocabulary.h"

/*
 * Documents in text files: reads them, encodes their sentences, and cuts documents that are too long for a model.
 *
 * To a corpus a document is like a line: document i of all streams is one tuple. If it is cut into chunks, it is
 * several tuples, one per chunk, in order. Chunks begin and end with sentences, and at the same sentences in all
 * streams: document translation needs the source and the target of a chunk, so sentence i of a document must translate
 * sentence i of the other streams.
 */
typedef enum
{
  PLAIT_LAYOUT_SENTENCES, /* each line is a sentence by itself; there are no documents */
  PLAIT_LAYOUT_DOCUMENTS, /* each line is a sentence; a blank line, or the end of the file, ends a document */
  PLAIT_LAYOUT_LINES,     /* each line is a document, split into sentences by the rules of Unicode (UAX 29) */
} PlaitTextLayout;

/* Maximum sentences of one document. A longer document is an error: the file probably does not separate documents. */
#define PLAIT_DOCUMENT_SENTENCES_LIMIT 65536

#define PLAIT_DOCUMENT_LANGUAGE_LENGTH 16

/* Settings for reading the documents of one stream. */
typedef struct
{
  PlaitTextLayout layout;

  /* For PLAIT_LAYOUT_LINES: language whose abbreviations end no sentence, such as "en" (abbreviations.h); "": ignore
   * abbreviations. */
  char language[PLAIT_DOCUMENT_LANGUAGE_LENGTH];

  gboolean start_tokens; /* TRUE: put a start token (BOS) before each sentence */
  gint64 roles;          /* maximum roles of a document; a sentence names its role by a prefix "NAME: "; 0: no roles */
  gint64 maximum;     /* maximum tokens of a chunk, counting start tokens but not end tokens; 0: documents stay whole */
  gboolean truncates; /* TRUE: drop the rest of a document after @maximum tokens instead of cutting it into chunks */
} PlaitDocumentSettings;

typedef struct
{
  gint32 tokens; /* number of tokens of the sentence, its start token included */
  gint32 role;   /* role of the sentence: 0, 1, ... in the order in which the document names roles */
} PlaitDocumentSentence;

typedef struct PlaitDocumentReader PlaitDocumentReader;

/* Returns a reader of the documents in @reader; for PLAIT_LAYOUT_SENTENCES, of its lines. The caller keeps @reader,
 * which must outlive the result. For PLAIT_LAYOUT_LINES, fails if the module unicode/icu is missing or has no rules for
 * sentences. (transfer full) */
PlaitDocumentReader *plait_document_reader_new (PlaitTextReader *reader, const PlaitDocumentSettings *settings,
                                                GError **error);
void plait_document_reader_free (PlaitDocumentReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDocumentReader, plait_document_reader_free)

/* Appends the sentences of the next document to @text, separated by LF. Appends a PlaitDocumentSentence with tokens = 0
 * for each sentence to @sentences. Sets *@line to the number of the document's first line. A document may have no
 * sentences. For PLAIT_LAYOUT_SENTENCES, only appends the next line to @text. At the end, returns FALSE without setting
 * @error. Fails on bad text, too many sentences, too many roles, and a first sentence without a role if documents have
 * roles. */
gboolean plait_document_reader_next (PlaitDocumentReader *self, GString *text, GArray *sentences, gint64 *line,
                                     GError **error);

/* Returns the texts of the file at @path, one per line or document, with LF between the sentences of a document;
 * NULL-terminated. Appends the line number at which each begins (gint64) to @lines, unless it is NULL. (transfer full)
 * (element-type utf8) */
GPtrArray *plait_document_texts (const char *path, const PlaitDocumentSettings *settings, GArray *lines,
                                 GError **error);

/* An encoded document of one stream. */
typedef struct
{
  const gint32 *ids;
  const PlaitDocumentSentence *sentences;
  gint64 n; /* number of sentences; 0: this stream lacks the document */
  const PlaitDocumentSettings *settings;
  const char *file; /* file of the document, for messages */
  gint64 line;
} PlaitDocument;

/* Encodes @text, whose sentences are separated by LF: appends the ids to @ids, and writes the number of tokens of each
 * sentence to @sentences. If @start_tokens, puts BOS before each sentence; otherwise only before the first one, if the
 * vocabulary begins texts with BOS. A sentence that encodes to nothing becomes an unknown token. */
void plait_document_encode (const PlaitVocabulary *vocabulary, const char *text, gsize length, gboolean start_tokens,
                            GArray *ids, PlaitDocumentSentence *sentences);

/* Appends the text of @ids [n], a target's document in which start tokens separate sentences, to @text. Puts LF between
 * sentences and after the earlier text of @text. Skips blank sentences. @words (may be NULL): texts that stand for ids,
 * as in plait_vocabulary_decode_words. */
void plait_document_decode (const PlaitVocabulary *vocabulary, const gint32 *ids, const char *const *words, gint64 n,
                            GString *text);

/* Cuts one document into chunks at the same sentences of all its streams @documents [n_documents]. Chunk c holds the
 * sentences ends[c - 1] (0 for c = 0) to ends[c] - 1. Each chunk has as many sentences as the maxima of all streams
 * allow. Fails on a sentence above the maximum of its stream, and on non-empty documents with different numbers of
 * sentences. */
gboolean plait_documents_cut (const PlaitDocument *documents, gint64 n_documents, GArray *ends, GError **error);

/* Returns the name that files give to a tuple: the number @document, such as "3". If documents are @cut, the number of
 * the chunk follows, such as "3.0". (transfer full) */
char *plait_document_chunk_name (gboolean cut, gint64 document, gint64 chunk);

/* Returns the sentences @first .. @end - 1 of @document (or fewer, at its end) as a document, and sets *@rows to its
 * number of rows. If settings->truncates, leaves out the rows after settings->maximum, so the last sentence can lose
 * rows. If @drops_start, leaves out the first start token, because decoders add it to targets themselves. Never changes
 * the tokens of a PlaitDocumentSentence. */
PlaitDocument plait_document_slice (const PlaitDocument *document, gint64 first, gint64 end, gboolean drops_start,
                                    gint64 *rows);

/* Appends the sentences of @part, a source's document of @rows rows, to @sentences (PlaitDocumentSentence). If
 * plait_document_slice left out rows, subtracts them from the tokens of the last sentence. */
void plait_document_append_sentences (const PlaitDocument *part, gint64 rows, GArray *sentences);
