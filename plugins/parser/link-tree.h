/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Turns link-grammar's output for a sentence into a bracketed tree. The words of the tree are the sentence's tokens. */

/* The bytes of the sentence that a word of link-grammar covers: start .. end - 1. */
typedef struct
{
  gsize start;
  gsize end;
} PlaitLinkWord;

/*
 * Appends to @tree the bracketed tree of @sentence. @constituents is link-grammar's BRACKET_TREE:
 *
 *     [S [NP a dog.n NP] [VP barks.v VP] . S]
 *
 * link-grammar changes words, for example by subscripts, so @words [@n_words] gives the bytes of each word in
 * @sentence. A token that link-grammar split goes where its first word is. A constituent without a token is left out. A
 * word without links belongs to the constituent around it. Parentheses in tokens become -LRB- and -RRB-. Returns FALSE,
 * and leaves @tree unchanged, unless each word lies in one white-space token and each token has a word.
 */
gboolean plait_link_tree (const char *constituents, const PlaitLinkWord *words, gsize n_words, const char *sentence,
                          gsize length, GString *tree);
