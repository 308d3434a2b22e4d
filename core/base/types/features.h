/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Sentences of vectors, such as the positions of an image a sentence. foreign/feature.h reads them from HDF5; data/
 * makes batches of them and need not know the file format.
 */
typedef struct PlaitFeatures PlaitFeatures;

struct PlaitFeatures
{
  gint64 sentences;
  gint64 positions; /* of the longest sentence */
  gint64 width;
  gint32 *lengths; /* [sentences] positions that count; NULL: all */

  /* TRUE if the file is unchanged since it was opened. */
  gboolean (*check) (const PlaitFeatures *self, GError **error);

  /* Reads position @position, which must exist, of @sentence into @row [width]; fails as read. */
  gboolean (*read_row) (PlaitFeatures *self, gint64 sentence, gint64 position, PlaitScalar *row, GError **error);

  /* Reads @sentences[0 .. n - 1] (each in 0 .. sentences - 1, in any order) into @rows [their lengths, width]. An
   * infinite or undefined value is an error that names its place; a file that changed since it was opened is an
   * error. */
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

/* The positions of @sentence that count; 0: it is missing. */
static inline gint64
plait_features_length (const PlaitFeatures *self, gint64 sentence)
{
  return self->lengths ? self->lengths[sentence] : self->positions;
}
