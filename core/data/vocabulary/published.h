/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/vocabulary-private.h"

/*
 * Vocabularies of published models.
 *
 * A model is published as a folder. Its config.json says by model_type how its text is cut into pieces, and which ids
 * are special; the pieces are in files beside it:
 *
 *   bart, gpt2, roberta   vocab.json and merges.txt: byte-level BPE (byte-pairs.h)
 *   marian                source.spm and target.spm, SentencePiece models, whose pieces have their ids in vocab.json
 *   t5                    spiece.model, a SentencePiece model
 *   xlm-roberta           sentencepiece.bpe.model, a SentencePiece model whose ids are one less than those published
 *
 * Ids 0 to 3 are padding, BOS, EOS and unknown here too, whether the model has such or not; its other ids follow in
 * their order (a BOS that is EOS, as Marian's, is none). Where config.json counts more ids than there are pieces, as
 * T5's does, no text has them. Text does not spell special tokens, but for one: those of Marian's models that translate
 * into several languages expect a token such as ">>fra<<" in front of a text.
 *
 * What counts of the files is kept in one piece: the line "plait published 1", lines "NAME NUMBER", then for each file
 * a line "file NAME BYTES" and its bytes. In a file the first line is another (vocabulary.h).
 */

/* SentencePiece's file in what is kept, whatever it was called. */
#define PLAIT_PUBLISHED_MODEL "spiece.model"

/* What stands in front: ids are those of the model, -1 where it has none such. */
typedef struct
{
  gint32 size;
  gint32 padding, beginning, end;
  gint32 adds_bos; /* whether each text begins with @beginning */
  gint32 spaced;   /* whether a text that begins without a space gets one */
  gint32 offset;   /* what SentencePiece's ids lack */
} PlaitPublishedNumbers;

/* What is kept of the model in the folder @path, or, of marian, of @path, one of its two SentencePiece models. Fails,
 * naming the file, where one is missing or config.json is not of these. (transfer full) */
GBytes *plait_published_import (const char *path, GError **error);

/* @numbers as they are kept, before any file; and a file. */
GString *plait_published_begin (const PlaitPublishedNumbers *numbers);
void plait_published_append (GString *kept, const char *name, GBytes *file);
