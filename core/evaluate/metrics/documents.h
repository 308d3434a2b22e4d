/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/* Documents in text: one sentence on each line, and blank lines between documents. */

/* The documents of line-aligned texts. */
typedef struct
{
  PlaitTextPairs pairs; /* texts of documents: the joined lines of each, without blank lines */

  /* [documents + 1] First line of each document; document d is lines[d] .. lines[d + 1] - 1, with the blank lines
   * before the next document. NULL if the texts were documents already. */
  gsize *lines;

  char **texts; /* [1 + sets, documents] texts to which @pairs points */
  const char *const **references;
} PlaitDocumentPairs;

/* Joins the lines of @pairs (valid UTF-8) to documents, with @separator (LF or a space) between sentences. A document
 * ends at a line that is blank in the first reference set that has the line. Fails with PLAIT_ERROR_INPUT if this line
 * is not blank in another text, or if there are no documents. A set that lacks a line lacks the document. If the texts
 * of @pairs are documents already, only replaces LF by @separator. (transfer full) */
PlaitDocumentPairs *plait_document_pairs_new (const PlaitTextPairs *pairs, char separator, GError **error);
void plait_document_pairs_free (PlaitDocumentPairs *documents);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDocumentPairs, plait_document_pairs_free)

/* Returns @lines aligned with @like (both NULL-terminated, valid UTF-8). If @lines has as many lines as @like and is
 * blank at each blank line of @like, returns a copy of @lines; its other blank lines are empty sentences. Otherwise
 * divides @lines into documents at blank lines. The result then has as many lines as @like: the first line of document
 * d of @like receives all sentences of document d of @lines, with LF between them, and all other lines are empty. Fails
 * with PLAIT_ERROR_INPUT if the numbers of these documents differ. @name and @like_name are for messages. (transfer
 * full) */
char **plait_documents_align (const char *const *lines, const char *name, const char *const *like,
                              const char *like_name, GError **error);
