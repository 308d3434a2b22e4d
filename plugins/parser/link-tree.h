/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * From what link-grammar prints of a sentence to a line of trees whose words are the sentence's tokens.
 */

/* The bytes of the sentence that a word of link-grammar stands for. */
typedef struct
{
  gsize start;
  gsize end;
} PlaitLinkWord;

/* Appends to @tree the bracketed tree of @sentence. @constituents is link-grammar's BRACKET_TREE:
 *
 *     [S [NP a dog.n NP] [VP barks.v VP] . S]
 *
 * where its words have subscripts and other changes; @words, [@n_words], says where each of them came from. A token
 * that link-grammar split stands at the first of its words, and a constituent that has no token of its own goes. A word
 * without links stands in the constituent around it. Brackets in tokens become -LRB- and -RRB-. FALSE, with @tree as
 * it was, if the words do not make up the white-space tokens one by one. */
gboolean plait_link_tree (const char *constituents, const PlaitLinkWord *words, gsize n_words, const char *sentence,
                          gsize length, GString *tree);
