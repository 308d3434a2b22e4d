/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Phrases that a translation must contain, each as a run of tokens, in any order; they may overlap. An automaton over
 * all phrases (Aho & Corasick 1975) follows the tokens of a hypothesis.
 */
typedef struct PlaitPhrases PlaitPhrases;

/* Maximum number of phrases of a sentence. */
#define PLAIT_PHRASES_MAX 64

/* Returns @phrases, the @tokens of @phrases.n phrases, none of which is empty; at most PLAIT_PHRASES_MAX. A phrase that
 * occurs again counts once. (transfer full) */
PlaitPhrases *plait_phrases_new (PlaitRagged phrases, const gint32 *tokens);
void plait_phrases_free (PlaitPhrases *phrases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPhrases, plait_phrases_free)

/* The phrases that a hypothesis contains, and the one that its last tokens begin. Zeros: an empty hypothesis. */
typedef struct
{
  guint64 met; /* bit i: phrase i is contained */
  guint node;  /* longest end of the hypothesis that begins a phrase */
} PlaitPhraseState;

/* Returns the state after @token. */
PlaitPhraseState plait_phrases_advance (const PlaitPhrases *phrases, PlaitPhraseState state, gint32 token);

/* Returns the number of tokens in all phrases. */
gint64 plait_phrases_tokens (const PlaitPhrases *phrases);

/* Returns a number of tokens after which a hypothesis can contain all phrases: the tokens of all missing phrases, less
 * those of one of them with which the hypothesis already ends. In each state some token lowers this number. */
gint64 plait_phrases_missing (const PlaitPhrases *phrases, PlaitPhraseState state);

/* Fills @words [plait_phrases_tokens] with the different words that begin or continue a missing phrase, and returns
 * their number. After any other word, the end of the hypothesis begins no missing phrase. */
guint plait_phrases_words (const PlaitPhrases *phrases, PlaitPhraseState state, gint32 *words);

/* The prefix and the phrases that the translation of a sentence must have. */
typedef struct
{
  const gint32 *prefix; /* tokens at its beginning */
  gint64 prefix_length;
  const PlaitPhrases *phrases; /* phrases that it contains, or NULL */
} PlaitRequirement;

/* Returns a number of tokens, EOS included, in which a translation can meet @requirement. */
gint64 plait_requirement_length (const PlaitRequirement *requirement);
