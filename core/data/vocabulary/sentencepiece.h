/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * SentencePiece behind a C interface, and nothing more: what is asked of it is decided in subwords.c. No exception
 * leaves it. A failure gives SentencePiece's own words in *message (transfer full).
 */
G_BEGIN_DECLS

typedef struct PlaitSentencePiece PlaitSentencePiece;

/* Gives the next line of training text, valid until the next call, or NULL at the end or after a failure of its own. */
typedef const char *(*PlaitSentencePieceLine) (gpointer data, gsize *length);

/* An option as on spm_train's command line. */
typedef struct
{
  const char *key; /* NULL ends a list of them */
  const char *value;
} PlaitSentencePieceOption;

/* Trains with @options. The serialised model. (transfer full) */
GBytes *plait_sentencepiece_train (const PlaitSentencePieceOption *options, PlaitSentencePieceLine next, gpointer data,
                                   char **message);

/* (transfer full) */
PlaitSentencePiece *plait_sentencepiece_load (gconstpointer model, gsize size, char **message);
void plait_sentencepiece_free (PlaitSentencePiece *self);

int plait_sentencepiece_size (const PlaitSentencePiece *self);

/* The ids of padding, BOS, EOS and unknown; -1 where the model has none. */
void plait_sentencepiece_specials (const PlaitSentencePiece *self, int ids[4]);

/* The piece of @id; @length receives its bytes, among which a hostile model may have any. (transfer none) */
const char *plait_sentencepiece_piece (const PlaitSentencePiece *self, int id, gsize *length);
float plait_sentencepiece_score (const PlaitSentencePiece *self, int id);

/* Appends ids to @ids (gint32). FALSE, with nothing appended, if SentencePiece fails. */
gboolean plait_sentencepiece_encode (const PlaitSentencePiece *self, const char *text, gsize length, GArray *ids);

/* Appends the pieces of @text (char *, transfer full), what is unknown as it stands. FALSE as above. */
gboolean plait_sentencepiece_encode_pieces (const PlaitSentencePiece *self, const char *text, gsize length,
                                            GPtrArray *pieces);

/* The text of @ids, whose bytes may be any. NULL if SentencePiece fails. (transfer full) */
GString *plait_sentencepiece_decode (const PlaitSentencePiece *self, const gint32 *ids, gsize n);

/* The same of @pieces; unknown ones come as they stand. */
GString *plait_sentencepiece_decode_pieces (const PlaitSentencePiece *self, const char *const *pieces, gsize n);

G_END_DECLS
