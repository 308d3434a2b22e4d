/* SPDX-License-Identifier: MIT */
#pragma once

#include "lines/text-file.h"
#include "vocabulary/vocabulary.h"

/*
 * Documents in text files: reading them, their sentences as tokens, and cutting what is too long for a model.
 *
 * To a corpus a document is what a line is to sentences: document i of each stream belongs to tuple i. Cut into chunks
 * it gives several tuples, one a chunk, in order. Chunks begin and end with sentences and, since document translation
 * needs both sides of a chunk, at the same sentences in all streams: sentence i of a document is a translation of
 * sentence i of the others then.
 */
typedef enum
{
  PLAIT_LAYOUT_SENTENCES, /* a line is a sentence by itself: there are no documents */
  PLAIT_LAYOUT_DOCUMENTS, /* a sentence a line; a document ends with a blank line, the last perhaps with the file */
  PLAIT_LAYOUT_LINES,     /* a document a line, to be split into sentences by the rules of Unicode (UAX 29) */
} PlaitTextLayout;

/* A document of more sentences is a file whose blank lines are missing. */
#define PLAIT_DOCUMENT_SENTENCES_LIMIT 65536

#define PLAIT_DOCUMENT_LANGUAGE_LENGTH 16

/* How the documents of one stream are read. */
typedef struct
{
  PlaitTextLayout layout;

  /* Of PLAIT_LAYOUT_LINES, such as "en": whose abbreviations end no sentence (abbreviations.h); empty: any do. */
  char language[PLAIT_DOCUMENT_LANGUAGE_LENGTH];

  gboolean start_tokens; /* a start token, which is BOS, before each sentence */
  gint64 roles;          /* most roles of one document, told by the prefix "NAME: " of its sentences; 0: no roles */
  gint64 maximum;        /* tokens, start tokens counted and ends not; 0: documents stay whole */
  gboolean truncates;    /* a longer document loses what is behind its maximum; else it is cut into chunks */
} PlaitDocumentSettings;

/* A sentence of a document. */
typedef struct
{
  gint32 tokens; /* its start token counted */
  gint32 role;   /* 0, 1, .. in the order in which they appear in the document */
} PlaitDocumentSentence;

typedef struct PlaitDocumentReader PlaitDocumentReader;

/* Reads what @reader, which stays the caller's and must outlive it, is about to give: documents, or lines that are
 * sentences by themselves. Fails if the rules for sentences are not there. (transfer full) */
PlaitDocumentReader *plait_document_reader_new (PlaitTextReader *reader, const PlaitDocumentSettings *settings,
                                                GError **error);
void plait_document_reader_free (PlaitDocumentReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDocumentReader, plait_document_reader_free)

/* Appends the sentences of the next document to @text, LF between them, and a PlaitDocumentSentence each, whose tokens
 * are still 0, to @sentences; *@line becomes the line where it begins. A document may have no sentences. Of
 * PLAIT_LAYOUT_SENTENCES appends the next line to @text alone. FALSE at the end, with @error left alone, and FALSE with
 * @error set on bad text, on too many sentences or roles, and where the first sentence has no role. */
gboolean plait_document_reader_next (PlaitDocumentReader *self, GString *text, GArray *sentences, gint64 *line,
                                     GError **error);

/* The texts of the file at @path, a line or document each with LF between its sentences, and in @lines, gint64 or NULL,
 * where each begins. (transfer full) (element-type utf8) */
GPtrArray *plait_document_texts (const char *path, const PlaitDocumentSettings *settings, GArray *lines,
                                 GError **error);

/* A document that is read and encoded, of one stream. */
typedef struct
{
  const gint32 *ids;
  const PlaitDocumentSentence *sentences;
  gint64 n; /* sentences; 0: missing in this stream */
  const PlaitDocumentSettings *settings;
  const char *file; /* for messages, as is the line */
  gint64 line;
} PlaitDocument;

/* Appends the ids of the sentences in @text, which LF parts, to @ids, and counts them in @sentences. With @start_tokens
 * BOS stands before each sentence, else before the first where the vocabulary's texts begin with it. A sentence that
 * has no ids in the vocabulary becomes an unknown token. */
void plait_document_encode (const PlaitVocabulary *vocabulary, const char *text, gsize length, gboolean start_tokens,
                            GArray *ids, PlaitDocumentSentence *sentences);

/* Appends the text of @ids [n], of a target, to @text: LF between its sentences, which start tokens part, and before
 * them if there is text already. Blank sentences are left out. */
void plait_document_decode (const PlaitVocabulary *vocabulary, const gint32 *ids, gint64 n, GString *text);

/* Sets @ends to where the chunks of one document end: chunk c has the sentences from ends[c - 1] (0 for the first) to
 * before ends[c], in each of @documents [n_documents], its streams. Each chunk has as many sentences as all maxima
 * allow. Fails on a sentence above its maximum, and on streams of different numbers of sentences. */
gboolean plait_documents_cut (const PlaitDocument *documents, gint64 n_documents, GArray *ends, GError **error);

/* The name of a tuple in files: "3", the number of its line, or where documents are cut "3.0", with that of the chunk
 * in its document. (transfer full) */
char *plait_document_chunk_name (gboolean cut, gint64 document, gint64 chunk);

/* The sentences @first .. @end - 1 of a document, or as many as there are, as a document of *@rows rows, at most its
 * maximum where that truncates: the last sentence may be cut short then. With @drops_start the ids lack
 * the first start token: those of targets, of which it is the one that decoders begin with, do. */
PlaitDocument plait_document_slice (const PlaitDocument *document, gint64 first, gint64 end, gboolean drops_start,
                                    gint64 *rows);

/* Appends the sentences of a part, of a source, of @rows rows to @sentences, PlaitDocumentSentence each. */
void plait_document_append_sentences (const PlaitDocument *part, gint64 rows, GArray *sentences);
