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

/* The table of modules of the kind subwords. */
typedef struct
{
  /* Trains with @options. Returns the serialised model. (transfer full) */
  GBytes *(*train) (const PlaitSentencePieceOption *options, PlaitSentencePieceLine next, gpointer data,
                    char **message);

  /* Loads a model. (transfer full) */
  PlaitSentencePiece *(*load) (gconstpointer model, gsize size, char **message);
  void (*free) (PlaitSentencePiece *self);

  /* Returns how many pieces there are. */
  int (*size) (const PlaitSentencePiece *self);

  /* Sets @ids to those of padding, BOS, EOS and unknown; -1 where the model has none. */
  void (*specials) (const PlaitSentencePiece *self, int ids[4]);

  /* Returns the piece of @id; @length receives its bytes, among which a hostile model may have any. (transfer none) */
  const char *(*piece) (const PlaitSentencePiece *self, int id, gsize *length);
  float (*score) (const PlaitSentencePiece *self, int id);

  /* Appends ids to @ids (gint32). FALSE, with nothing appended, if SentencePiece fails. */
  gboolean (*encode) (const PlaitSentencePiece *self, const char *text, gsize length, GArray *ids);

  /* Appends the pieces of @text (char *, transfer full), what is unknown as it stands. FALSE as above. */
  gboolean (*encode_pieces) (const PlaitSentencePiece *self, const char *text, gsize length, GPtrArray *pieces);

  /* Returns the text of @ids, whose bytes may be any. NULL if SentencePiece fails. (transfer full) */
  GString *(*decode) (const PlaitSentencePiece *self, const gint32 *ids, gsize n);

  /* Returns the text of @pieces; unknown ones come as they stand. NULL as above. (transfer full) */
  GString *(*decode_pieces) (const PlaitSentencePiece *self, const char *const *pieces, gsize n);
} PlaitSentencePieceTable;

/* A model begins with this. */
struct PlaitSentencePiece
{
  const PlaitSentencePieceTable *table;
};

/* Returns the functions of the module, or NULL with PLAIT_ERROR_INPUT if there is none. (transfer none) */
const PlaitSentencePieceTable *plait_sentencepiece_open (GError **error);

G_END_DECLS
