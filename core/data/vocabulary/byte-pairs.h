/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/vocabulary.h"

/*
 * Byte-level BPE (Radford et al. 2019, section 2.2), as GPT-2, BART and RoBERTa use it. Text is split where letters,
 * numbers, other characters and white space meet; a space belongs to the part after it. The bytes of each part are
 * merged pair by pair, in the order of the list of merges. Every text can be encoded and is decoded unchanged. Letters
 * and numbers are GLib's Unicode classes.
 */
typedef struct PlaitBytePairs PlaitBytePairs;

/* Makes an encoder from the pieces of a vocab.json with their @ids (piece -> id) and a merges.txt with two pieces a
 * line. Pieces are written with 256 visible characters, one per byte. Messages begin with @name. (transfer full) */
PlaitBytePairs *plait_byte_pairs_new (GHashTable *ids, GBytes *merges, const char *name, GError **error);
void plait_byte_pairs_free (PlaitBytePairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBytePairs, plait_byte_pairs_free)

/* Appends the ids of @text (@length bytes of UTF-8) to @ids. */
void plait_byte_pairs_encode (const PlaitBytePairs *self, const char *text, gsize length, GArray *ids);

/* Appends to @bytes the bytes that the characters of @piece stand for, which may be invalid UTF-8. A character that
 * stands for no byte is appended itself. */
void plait_byte_pairs_decode (const char *piece, GString *bytes);
