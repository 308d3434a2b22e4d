/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/*
 * Vocabulary files that plait writes carry the SHA-256 of what they hold, in front of it, so that no cut removes it:
 *
 *   words           "plait words 2 sha256 HEX" in the place of the first line "plait words 1"
 *   published       the same, "plait published 2 sha256 HEX"
 *   sentencepiece   80 bytes that SentencePiece passes over, a field of an unknown number: "plait sha256 HEX"
 *
 * The digest is plait_vocabulary_hash, that of the bytes without it; these are what a run keeps.
 */

/* @bytes, a serialised vocabulary of @format, as they stand in a file. (transfer full) */
GBytes *plait_vocabulary_seal (const char *format, GBytes *bytes);

/* Whether bytes that begin so, @length of them, claim to be sealed, though the seal may be damaged. */
gboolean plait_vocabulary_is_sealed (gconstpointer beginning, gsize length);

/* The vocabulary that the file @file holds, with *@sealed set to whether it had a seal, which must be right. @name
 * stands for the file in messages. (transfer full) */
GBytes *plait_vocabulary_unseal (GBytes *file, const char *name, gboolean *sealed, GError **error);
