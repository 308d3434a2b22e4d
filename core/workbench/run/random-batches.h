/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/batch-builder.h"
#include "setup/experiment-model.h"

/*
 * Random sentence tuples in place of an experiment's text, and batches of them. plait explain uses them to count
 * operations, plait-bench to measure time. Vocabularies have data.vocabulary_size entries.
 *
 * A tuple has the token sources in order, each with its tree if its encoder reads trees, then the target. The target
 * has an end token. A source has one if data.append_end is set and the source has no trees. All batches take their
 * features from one random matrix, from its first row on.
 */
typedef struct
{
  const PlaitExperiment *experiment;
  PlaitDocumentSettings *documents; /* [sources] */
  GPtrArray *streams;               /* (element-type PlaitStreamBuilder): the sources, then the target */
  GArray *batches; /* (element-type gint64): first tuple of each batch, then the end of the last batch */
} PlaitTuples;

/* Returns the streams of @experiment, still without tuples. Fails if data.vocabulary_size is 0. @experiment must
 * outlive the tuples. (transfer full) */
PlaitTuples *plait_tuples_new (const PlaitExperiment *experiment, GError **error);
void plait_tuples_free (PlaitTuples *tuples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTuples, plait_tuples_free)

static inline PlaitStreamBuilder *
plait_tuples_target (const PlaitTuples *tuples)
{
  return tuples->streams->pdata[tuples->experiment->n_sources];
}

/* Returns the number of tokens that were added to @stream since the previous tuple ended. */
gint64 plait_tuples_words (const PlaitStreamBuilder *stream);

/* Ends a tuple, which consists of all tokens added to all streams since the previous tuple ended. */
void plait_tuples_end (PlaitTuples *tuples);

/* Makes a batch of all tuples that are in no batch yet, except the last @left tuples. Without such tuples, makes no
 * batch. */
void plait_tuples_end_batch (PlaitTuples *tuples, gint64 left);

static inline guint
plait_tuples_n_batches (const PlaitTuples *tuples)
{
  return tuples->batches->len - 1;
}

/* Draws 16 batches of random tuples by [bench] and [train]. Lengths within a tuple correlate as in translations, words
 * follow a Zipf law, trees have the shape of data.trees; given trees are replaced by random ones. PLAIT_ERROR_INPUT if
 * the batches would be too large. */
gboolean plait_tuples_draw (PlaitTuples *tuples, GError **error);

typedef struct
{
  PlaitBatch *whole;    /* a batch with the tuples of all batches */
  GPtrArray *batches;   /* (element-type PlaitBatch): slices of whole */
  PlaitTensor features; /* [rows of the largest batch, bench.feature_width] features that all batches share; owned */
} PlaitRandomBatches;

/* Returns at most @max batches of @tuples. With @search, first removes the target from @tuples and cuts the tuples into
 * batches of decode.batch sentences, of which the last may have fewer. (transfer full) */
PlaitRandomBatches *plait_tuples_batch (PlaitTuples *tuples, gboolean search, gint64 max, GError **error);
void plait_random_batches_free (PlaitRandomBatches *drawn);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRandomBatches, plait_random_batches_free)

/* Returns the model of @experiment for random batches, with the feature widths of [bench]. (transfer full) */
PlaitExperimentModel *plait_random_batches_model (const PlaitExperiment *experiment, GError **error);
