/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Phrases that a translation must contain. A phrase is a sequence of consecutive tokens; phrases may come in any order
 * and overlap. An automaton over all phrases (Aho & Corasick 1975) reads the tokens of a hypothesis.
 */
typedef struct PlaitPhrases PlaitPhrases;

/* Maximum number of phrases of a sentence. */
#define PLAIT_PHRASES_MAX 64

/* Returns an automaton for @phrases.n phrases, at most PLAIT_PHRASES_MAX. @phrases has the offsets of each phrase in
 * @tokens; no phrase is empty. A phrase that occurs twice counts once. (transfer full) */
PlaitPhrases *plait_phrases_new (PlaitRagged phrases, const gint32 *tokens);
void plait_phrases_free (PlaitPhrases *phrases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPhrases, plait_phrases_free)

/* State of the automaton: the phrases that a hypothesis contains, and the longest suffix of the hypothesis that is the
 * beginning of a phrase. Zeros: an empty hypothesis. */
typedef struct
{
  guint64 met; /* bit i is set if the hypothesis contains phrase i */
  guint node;  /* node of the longest suffix of the hypothesis that is the beginning of a phrase */
} PlaitPhraseState;

/* Returns the state after @token. */
PlaitPhraseState plait_phrases_advance (const PlaitPhrases *phrases, PlaitPhraseState state, gint32 token);

/* Returns the number of tokens in all phrases. */
gint64 plait_phrases_tokens (const PlaitPhrases *phrases);

/* Returns a number of further tokens that is enough to complete all phrases. It is the total length of the missing
 * phrases, minus the length of the longest suffix of the hypothesis that is the beginning of a missing phrase. If a
 * phrase is missing, there is a next token that lowers this number. */
gint64 plait_phrases_missing (const PlaitPhrases *phrases, PlaitPhraseState state);

/* Fills @words [plait_phrases_tokens] with the distinct words after which the hypothesis ends with a missing phrase or
 * a beginning of one. Returns the number of these words. */
guint plait_phrases_words (const PlaitPhrases *phrases, PlaitPhraseState state, gint32 *words);

/* The prefix with which the translation of a sentence must begin, and the phrases that it must contain. */
typedef struct
{
  const gint32 *prefix; /* tokens with which the translation begins */
  gint64 prefix_length;
  const PlaitPhrases *phrases; /* phrases that the translation contains, or NULL */
} PlaitRequirement;

/* Returns a number of tokens, EOS included, that is enough for a translation to meet @requirement. */
gint64 plait_requirement_length (const PlaitRequirement *requirement);
