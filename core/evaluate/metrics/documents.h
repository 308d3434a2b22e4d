/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Documents in text: a line is a sentence, and blank lines stand between documents.
 */

/* The documents of line-aligned texts. */
typedef struct
{
  PlaitTextPairs pairs; /* of documents: their lines joined, those that are blank left out */
  gsize *lines;         /* [documents + 1]: document d is of the lines lines[d] .. lines[d + 1] - 1; or NULL */
  char **texts;         /* [1 + sets, documents]: what @pairs points to */
  const char *const **references;
} PlaitDocumentPairs;

/* The documents of @pairs, of valid UTF-8, which end at the lines that are blank in a reference, with @separator, "\n"
 * or a space, between their sentences. PLAIT_ERROR_INPUT names the line that is not blank in all texts then; no
 * documents are an error too. A set that lacks a line lacks the document. Where the texts of @pairs are documents
 * already, they only get @separator in place of LF. (transfer full) */
PlaitDocumentPairs *plait_document_pairs_new (const PlaitTextPairs *pairs, char separator, GError **error);
void plait_document_pairs_free (PlaitDocumentPairs *documents);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDocumentPairs, plait_document_pairs_free)

/* @lines so that they are aligned with @like (both NULL-terminated, of valid UTF-8): as they are, if there are as many,
 * blank wherever those are; a further blank line is an empty sentence then. Else the documents of @lines, which end at
 * their own blank lines, each on the first line of its counterpart, with "\n" between its sentences. @name and
 * @like_name stand in messages. PLAIT_ERROR_INPUT if the documents are not as many. (transfer full) */
char **plait_documents_align (const char *const *lines, const char *name, const char *const *like,
                              const char *like_name, GError **error);
