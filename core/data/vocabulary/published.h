/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/vocabulary-private.h"

/*
 * Vocabularies of published models.
 *
 * A model is published as a folder. The model_type in its config.json determines how text is split into pieces;
 * config.json also names the special ids. The pieces are in files next to it:
 *
 *   bart, gpt2, roberta   vocab.json and merges.txt: byte-level BPE (byte-pairs.h)
 *   marian                source.spm and target.spm, SentencePiece models, whose pieces have their ids in vocab.json
 *   t5                    spiece.model, a SentencePiece model
 *   xlm-roberta           sentencepiece.bpe.model, a SentencePiece model whose ids are one less than the published ids
 *
 * Our ids 0 to 3 are padding, BOS, EOS and unknown even if the model lacks some of them; its other ids follow in their
 * order. If BOS equals EOS, as in Marian's models, it counts as EOS only. Ids without a piece, which T5 has, occur in
 * no text. Text is never read as a special token. Marian's multilingual models are an exception: a text may begin with
 * a language token such as ">>fra<<".
 *
 * A run keeps the vocabulary as one block of bytes: the line "plait published 1", lines "NAME NUMBER", then for each
 * file a line "file NAME BYTES" and its bytes. In a vocabulary file the first line differs (vocabulary.h).
 */

/* Name of the SentencePiece model in the kept bytes; its file may have another name. */
#define PLAIT_PUBLISHED_MODEL "spiece.model"

/* Numbers at the beginning of the kept bytes. Ids are those of the published model; -1 if it lacks the token. */
typedef struct
{
  gint32 size;
  gint32 padding, beginning, end;
  gint32 adds_bos; /* TRUE: each text begins with @beginning */
  gint32 spaced;   /* TRUE: a text that begins without a space gets one */
  gint32 offset;   /* published id minus SentencePiece's id */
} PlaitPublishedNumbers;

/* Returns a vocabulary in the form in which runs store it, made from the published model in the folder @path, or, for
 * marian, from the SentencePiece model @path. Fails, naming the file, if a file is missing or config.json has another
 * type of model. (transfer full) */
GBytes *plait_published_import (const char *path, GError **error);

/* plait_published_begin returns the beginning of kept bytes, with @numbers (transfer full). plait_published_append adds
 * a file to @kept. */
GString *plait_published_begin (const PlaitPublishedNumbers *numbers);
void plait_published_append (GString *kept, const char *name, GBytes *file);
