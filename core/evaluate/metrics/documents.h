/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/* Documents in text: one sentence on each line, and blank lines between documents. */

/* The documents of line-aligned texts. */
typedef struct
{
  PlaitTextPairs pairs; /* texts of documents: the joined lines of each, without blank lines */

  /* [documents + 1] First line of each document; document d is lines[d] .. lines[d + 1] - 1. NULL if the texts were
   * documents already. */
  gsize *lines;

  char **texts; /* [1 + sets, documents] texts to which @pairs points */
  const char *const **references;
} PlaitDocumentPairs;

/* Joins the lines of @pairs (valid UTF-8) to documents, with @separator, LF or a space, between sentences. A document
 * ends at a line that is blank in a reference. Fails with PLAIT_ERROR_INPUT, which names the line, if another text is
 * not blank at such a line. Also fails if there are no documents. A set that lacks a line lacks the document. If the
 * texts of @pairs are documents already, only replaces LF by @separator. (transfer full) */
PlaitDocumentPairs *plait_document_pairs_new (const PlaitTextPairs *pairs, char separator, GError **error);
void plait_document_pairs_free (PlaitDocumentPairs *documents);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDocumentPairs, plait_document_pairs_free)

/* Returns @lines aligned with @like (both NULL-terminated, valid UTF-8). If @lines has equally many lines, and is blank
 * wherever @like is, returns a copy; other blank lines are then empty sentences. Else, blank lines divide @lines into
 * documents, and document d of @lines goes to the first line of document d of @like, with LF between sentences. @name
 * and @like_name are for messages. Fails with PLAIT_ERROR_INPUT if the numbers of documents differ. (transfer full) */
char **plait_documents_align (const char *const *lines, const char *name, const char *const *like,
                              const char *like_name, GError **error);
