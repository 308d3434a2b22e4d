/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/input.h"

/*
 * Special tokens, which have the ids 0 to 3 in every vocabulary, and maps to the ids of vocabularies from other
 * programs. Our ids begin with padding, BOS, EOS and unknown, even if the other vocabulary lacks some of them; its
 * remaining ids follow in their order.
 */
typedef struct
{
  gint32 size;    /* number of our ids */
  gint32 *ours;   /* [n], our id for each id of the other vocabulary */
  gint32 *theirs; /* [size], the other vocabulary's id for each of our ids, or -1 */
} PlaitIdMap;

/* Fills @map for a vocabulary of another program with @n ids. @specials: its ids of padding, BOS, EOS and unknown, or
 * -1 for a token that it lacks. */
void plait_id_map_init (PlaitIdMap *map, const gint32 specials[PLAIT_TOKEN_SPECIALS], gint32 n);
void plait_id_map_clear (PlaitIdMap *map);

/* Returns the name of the special token @id ("<pad>", "<s>", "</s>" or "<unk>") inside @brackets more pairs of
 * brackets, such as "<<s>>". The brackets distinguish the token from text that is spelt like it. (transfer full) */
char *plait_special_name (gint32 id, gsize brackets);

/* Returns the smallest number of pairs of brackets with which plait_special_name returns a name of @id that is not in
 * @text [length]. */
gsize plait_special_brackets (gint32 id, const char *text, gsize length);

/* TRUE if an ordinary piece of the vocabulary @model is spelt @piece. */
typedef gboolean (*PlaitPieceTaken) (gconstpointer model, const char *piece);

/* Returns a name for the special token @id that differs from all ordinary pieces. (transfer full) */
char *plait_special_unique_name (gint32 id, PlaitPieceTaken is_taken, gconstpointer model);
