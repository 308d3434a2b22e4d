/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/encoder-outputs.h"
#include "outputs/output.h"

/*
 * Tags of a source's words, such as parts of speech, that a model predicts besides its target, so that the encoder
 * learns both (Luong et al. 2016; Niehues & Cho 2017):
 *
 *     p (tag of a word) = softmax (h V^T + b)
 *
 * h is the row of the word's first piece in the first memory of the encoder. The loss is the sum of - log p over the
 * words of a batch. Unknown tags have no loss, and count as wrong.
 */
typedef struct
{
  guint source;     /* index of the source */
  guint stream;     /* index of the tags in PlaitInput.factors */
  const char *name; /* "SOURCE.NAME" */
  const char *key;  /* key by which users request the tags: "[source SOURCE] tags" */
  double weight;    /* weight of the loss */
  guint column;     /* index of the loss column */
  const PlaitModelOutput *output;
} PlaitSourceTags;

/* Settings of a stream of tags. */
typedef struct
{
  const char *source;
  const char *name;
  gint64 vocabulary_size;
  double weight;
  gint64 width; /* width of the first memory of the encoder */
} PlaitSourceTagsBuild;

/* Declares the parameters of @tags, whose source and stream the caller has set, and its loss column. Fails with
 * PLAIT_ERROR_INPUT if the vocabulary has no tags, or if there are too many losses. */
gboolean plait_source_tags_build (PlaitSourceTags *tags, const PlaitSourceTagsBuild *build, PlaitParameters *parameters,
                                  PlaitLossColumns *columns, GError **error);

/* Returns the loss of @tags in @batch as a summand of the root, times @scale, the weight of @tags and, for each
 * sentence, its weight in @batch. NULL if no tag is known. Sets *@loss to the loss without these factors, and *@items
 * to the numbers of words with tags and of correct predictions. Fails the step if the encoder has no row for a word. */
PlaitNode *plait_source_tags_loss (const PlaitSourceTags *tags, PlaitTape *tape, const PlaitBatch *batch,
                                   const PlaitEncoderOutputs *encoded, double scale, double *loss,
                                   PlaitLossItems *items);

/* Returns the most probable tag of each row of the source: an id of the vocabulary of tags, or PLAIT_TOKEN_PAD for a
 * row that is not text. Needs packed parameters. Fails the step if the encoder has no row for a token, or if no tag has
 * a probability. */
gint32 *plait_source_tags_predict (const PlaitSourceTags *tags, PlaitTape *tape, const PlaitBatch *batch,
                                   const PlaitEncoderOutputs *encoded);
