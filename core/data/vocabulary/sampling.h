/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"
#include "vocabulary/vocabulary.h"

/*
 * Random segmentations of text that a SentencePiece vocabulary has encoded, as SentencePiece's SampleEncode draws them:
 *
 *   bpe      BPE dropout (Provilkov et al. 2020): each merge is left out with probability @strength
 *   unigram  subword regularisation (Kudo 2018): each segmentation is drawn with a probability in proportion to p to
 *            the power of @strength, where p is its probability in the unigram language model
 *
 * Unknown text, bytes of characters without a piece, and pieces that a user defined stay as they are.
 */
typedef struct PlaitSubwordSampler PlaitSubwordSampler;

/* Returns a sampler of segmentations by @vocabulary, which must outlive it. Fails with PLAIT_ERROR_INPUT if @vocabulary
 * is not a SentencePiece model of type bpe or unigram. (transfer full) */
PlaitSubwordSampler *plait_subword_sampler_new (const PlaitVocabulary *vocabulary, GError **error);
void plait_subword_sampler_free (PlaitSubwordSampler *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSubwordSampler, plait_subword_sampler_free)

/* Appends to @sampled (gint32) a random segmentation of the text of @ids [n], drawn by @key. May be called by several
 * threads at once. */
void plait_subword_sample (const PlaitSubwordSampler *self, double strength, PlaitRandomKey key, const gint32 *ids,
                           gsize n, GArray *sampled);
