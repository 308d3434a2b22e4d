/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Random segmentations by the SentencePiece library itself. */

G_BEGIN_DECLS

/* Receives the ids [n] of one segmentation. */
typedef void (*SamplingSeen) (gpointer data, const gint32 *ids, gsize n);

/* Calls @seen with @draws segmentations of @text by the SentencePiece model @model. FALSE if SentencePiece fails. */
gboolean sampling_reference (GBytes *model, const char *text, double strength, gint64 draws, SamplingSeen seen,
                             gpointer data);

G_END_DECLS
