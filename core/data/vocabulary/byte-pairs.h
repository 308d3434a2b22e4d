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

/* From the pieces of a vocab.json, which @ids gives their ids, and a merges.txt, two pieces a line. Pieces are written
 * by 256 visible characters, one a byte. Messages begin with @name. (transfer full) */
PlaitBytePairs *plait_byte_pairs_new (GHashTable *ids, GBytes *merges, const char *name, GError **error);
void plait_byte_pairs_free (PlaitBytePairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBytePairs, plait_byte_pairs_free)

/* Appends the ids of @text (@length bytes of UTF-8) to @ids. */
void plait_byte_pairs_encode (const PlaitBytePairs *self, const char *text, gsize length, GArray *ids);

/* Appends the bytes that @piece stands for; they need not be UTF-8. */
void plait_byte_pairs_decode (const char *piece, GString *bytes);
