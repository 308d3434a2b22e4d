/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/batch-builder.h"
#include "setup/experiment-model.h"

/*
 * Sentence tuples that are drawn where an experiment would read its text, and batches of them: for plait explain, which
 * counts over them, and plait-bench, which times over them. Vocabularies have data.vocabulary_size entries.
 *
 * A tuple has the token sources in order, each with its trees if its encoder reads them, and then the target, which
 * ends in the end token; a source does too if data.append_end says so and it has no trees. Every tuple has the same
 * features.
 */
typedef struct
{
  const PlaitExperiment *experiment;
  PlaitDocumentSettings *documents; /* [sources] */
  GPtrArray *streams;               /* (element-type PlaitStreamBuilder) the sources, then the target */
  GArray *batches;                  /* gint64: the first tuple of each batch, and the number of tuples at the end */
} PlaitTuples;

/* Returns the streams that @experiment reads, without tuples. Fails if data.vocabulary_size does not say how many words
 * there are. (transfer full) */
PlaitTuples *plait_tuples_new (const PlaitExperiment *experiment, GError **error);
void plait_tuples_free (PlaitTuples *tuples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTuples, plait_tuples_free)

static inline PlaitStreamBuilder *
plait_tuples_target (const PlaitTuples *tuples)
{
  return tuples->streams->pdata[tuples->experiment->n_sources];
}

/* Returns the tokens of @stream that were appended since the last tuple ended. */
gint64 plait_tuples_words (const PlaitStreamBuilder *stream);

/* Ends a tuple: all that was appended to the streams since the last one. */
void plait_tuples_end (PlaitTuples *tuples);

/* Makes a batch of the tuples that are in none, except the last @left; of none, none. */
void plait_tuples_end_batch (PlaitTuples *tuples, gint64 left);

static inline guint
plait_tuples_n_batches (const PlaitTuples *tuples)
{
  return tuples->batches->len - 1;
}

/* Draws 16 batches by [bench] and [train]: the lengths in a tuple correlate as those of translations do, words follow a
 * Zipf law, trees are those of data.trees or else split uniformly. PLAIT_ERROR_INPUT if they were too large. */
gboolean plait_tuples_draw (PlaitTuples *tuples, GError **error);

typedef struct
{
  PlaitBatch *whole;  /* all tuples */
  GPtrArray *batches; /* (element-type PlaitBatch) parts of @whole */
  PlaitTensor features;
} PlaitRandomBatches;

/* Makes batches of @tuples, at most @max. With @search they are grouped anew by decode.batch and have no targets.
 * (transfer full) */
PlaitRandomBatches *plait_tuples_batch (PlaitTuples *tuples, gboolean search, gint64 max, GError **error);
void plait_random_batches_free (PlaitRandomBatches *drawn);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRandomBatches, plait_random_batches_free)

/* Returns the model of @experiment for such batches: features are as wide as [bench] says. (transfer full) */
PlaitExperimentModel *plait_random_batches_model (const PlaitExperiment *experiment, GError **error);
