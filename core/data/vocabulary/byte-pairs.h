/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/vocabulary.h"

/*
 * Byte-level BPE (Radford et al. 2019, section 2.2), as GPT-2 has it and BART and RoBERTa after it: text is parted
 * where letters, numbers, other characters and white space meet, a space belonging to what follows it; the bytes of
 * each part are merged pair by pair, the pair that stands first in the list of merges first. All text has ids, and
 * comes back as it was. Letters, numbers and white space are those of Unicode as ICU knows it.
 */
typedef struct PlaitBytePairs PlaitBytePairs;

/* From a vocab.json, which gives each piece its id, and a merges.txt, two pieces a line. Pieces are written by 256
 * visible characters, one a byte. Pieces with ids from @size on are left out, unless text could have them. Messages
 * begin with @name. (transfer full) */
PlaitBytePairs *plait_byte_pairs_new (GBytes *vocabulary, GBytes *merges, gint32 size, const char *name,
                                      GError **error);
void plait_byte_pairs_free (PlaitBytePairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBytePairs, plait_byte_pairs_free)

/* The piece of @id as it is written in vocab.json, or NULL if there is none. (transfer none) */
const char *plait_byte_pairs_piece (const PlaitBytePairs *self, gint32 id);

/* Appends the ids of @text (@length bytes of UTF-8) to @ids. */
void plait_byte_pairs_encode (const PlaitBytePairs *self, const char *text, gsize length, GArray *ids);

/* Appends the bytes that piece @id stands for; they need not be UTF-8. */
void plait_byte_pairs_decode (const PlaitBytePairs *self, gint32 id, GString *bytes);
