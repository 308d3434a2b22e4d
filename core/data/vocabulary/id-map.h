/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/input.h"

/*
 * The special tokens, which have the ids 0 to 3 in every vocabulary, and the ids of vocabularies that were made
 * elsewhere. Ours begin with padding, BOS, EOS and unknown, whether such a vocabulary has them or not; its other ids
 * follow in their order.
 */
typedef struct
{
  gint32 size;    /* number of our ids */
  gint32 *ours;   /* [theirs] our id of each of their ids */
  gint32 *theirs; /* [size] their id of each of our ids; -1: they have none such */
} PlaitIdMap;

/* Fills @map for @n ids, of which @specials are padding, BOS, EOS and unknown; -1: there is none. */
void plait_id_map_init (PlaitIdMap *map, const gint32 specials[PLAIT_TOKEN_SPECIALS], gint32 n);
void plait_id_map_clear (PlaitIdMap *map);

/* The name of the special token @id, "<pad>", "<s>", "</s>" or "<unk>", in @brackets further brackets: "<<s>>". It is
 * called so where text is spelt like its name, so that nobody takes one for the other. (transfer full) */
char *plait_special_name (gint32 id, gsize brackets);

/* How many further brackets the name of @id needs so as not to stand in the @length bytes of @text. */
gsize plait_special_brackets (gint32 id, const char *text, gsize length);

/* TRUE if an ordinary piece of the vocabulary @model is spelt @piece. */
typedef gboolean (*PlaitPieceTaken) (gconstpointer model, const char *piece);

/* The name of the special token @id that no ordinary piece has. (transfer full) */
char *plait_special_unique_name (gint32 id, PlaitPieceTaken is_taken, gconstpointer model);
