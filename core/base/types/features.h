/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Sentences of feature vectors, such as the regions of an image. core/store (foreign/feature.h) reads them from HDF5.
 * core/data makes batches of them without knowing the file format.
 */
typedef struct PlaitFeatures PlaitFeatures;

struct PlaitFeatures
{
  gint64 sentences;
  gint64 positions; /* number of vectors that the file stores for each sentence */
  gint64 width;
  gint32 *lengths; /* [sentences] number of valid positions; NULL: all positions of all sentences are valid */

  /* TRUE if the file is unchanged since it was opened. */
  gboolean (*check) (const PlaitFeatures *self, GError **error);

  /* Reads position @position of @sentence into @row [width]. The position must exist. Fails like @read. */
  gboolean (*read_row) (PlaitFeatures *self, gint64 sentence, gint64 position, PlaitScalar *row, GError **error);

  /* Reads @sentences[0 .. n - 1], in any order, into @rows [sum of their lengths, width]. Fails if a sentence does not
   * exist, if a value is infinite or undefined (the message names its position), if the file cannot be read, or if the
   * file has changed since it was opened. */
  gboolean (*read) (PlaitFeatures *self, const gint64 *sentences, gint64 n, PlaitTensor rows, GError **error);

  void (*free) (PlaitFeatures *self);
};

/* Opens dataset @dataset of the file at @path. (transfer full) */
typedef PlaitFeatures *(*PlaitFeaturesOpen) (const char *path, const char *dataset, GError **error);

static inline void
plait_features_free (PlaitFeatures *self)
{
  if (self)
    self->free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFeatures, plait_features_free)

/* Returns the number of valid positions of @sentence; 0: the sentence is missing. */
static inline gint64
plait_features_length (const PlaitFeatures *self, gint64 sentence)
{
  return self->lengths ? self->lengths[sentence] : self->positions;
}
