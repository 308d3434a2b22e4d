/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * A C interface to SentencePiece; subwords.c decides how it is used. No function throws an exception. On failure
 * *message is SentencePiece's own message (transfer full).
 */
G_BEGIN_DECLS

typedef struct PlaitSentencePiece PlaitSentencePiece;

/* Returns the next line of training text, valid until the next call; NULL at the end or on an error that @data
 * keeps. */
typedef const char *(*PlaitSentencePieceLine) (gpointer data, gsize *length);

/* An option of spm_train's command line. */
typedef struct
{
  const char *key; /* name of the option; NULL ends the list */
  const char *value;
} PlaitSentencePieceOption;

/* Functions that the module of kind subwords provides. */
typedef struct
{
  /* Trains with @options and returns the serialised model. (transfer full) */
  GBytes *(*train) (const PlaitSentencePieceOption *options, PlaitSentencePieceLine next, gpointer data,
                    char **message);

  /* Loads a model. (transfer full) */
  PlaitSentencePiece *(*load) (gconstpointer model, gsize size, char **message);
  void (*free) (PlaitSentencePiece *self);

  /* Returns the number of pieces. */
  int (*size) (const PlaitSentencePiece *self);

  /* Sets @ids to the ids of padding, BOS, EOS and unknown; -1 if the model lacks one. */
  void (*specials) (const PlaitSentencePiece *self, int ids[4]);

  /* Returns the piece of @id, and its length in @length. A hostile model may have any bytes in it. (transfer none) */
  const char *(*piece) (const PlaitSentencePiece *self, int id, gsize *length);
  float (*score) (const PlaitSentencePiece *self, int id);

  /* Appends the ids of @text to @ids (gint32). Returns FALSE and appends nothing if SentencePiece fails. */
  gboolean (*encode) (const PlaitSentencePiece *self, const char *text, gsize length, GArray *ids);

  /* Appends the pieces of @text (char *, transfer full), unknown text unchanged. Returns FALSE and appends nothing if
   * SentencePiece fails. */
  gboolean (*encode_pieces) (const PlaitSentencePiece *self, const char *text, gsize length, GPtrArray *pieces);

  /* Returns the text of @ids, which may be invalid UTF-8; NULL if SentencePiece fails. (transfer full) */
  GString *(*decode) (const PlaitSentencePiece *self, const gint32 *ids, gsize n);

  /* Returns the text of @pieces, unknown pieces unchanged; NULL if SentencePiece fails. (transfer full) */
  GString *(*decode_pieces) (const PlaitSentencePiece *self, const char *const *pieces, gsize n);
} PlaitSentencePieceTable;

/* Base of a loaded model: the first member of the module's own struct. */
struct PlaitSentencePiece
{
  const PlaitSentencePieceTable *table;
};

/* Returns the functions of the module, or NULL with PLAIT_ERROR_INPUT if the module is missing or cannot be loaded.
 * (transfer none) */
const PlaitSentencePieceTable *plait_sentencepiece_open (GError **error);

/* Loads the SentencePiece model @bytes after a trial in a child process. Messages begin with @name. The special tokens
 * of the model may have any ids. (transfer full) */
PlaitSentencePiece *plait_subwords_open (GBytes *bytes, const char *name, GError **error);

G_END_DECLS
