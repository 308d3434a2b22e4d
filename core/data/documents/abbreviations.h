/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Full stops that end no sentence although the rules of Unicode (UAX 29) break there: after and inside abbreviations
 * ("z. B."), after initials in a row ("J. R. R."), and in German between a number of one or two digits and a month.
 * CLDR's own lists of abbreviations are not used: ICU matches their entries at the ends of longer words too, so the
 * German "r." would remove the sentence end after each "Meier."
 *
 * The lists leave out abbreviations that often end a sentence ("etc.", "usw.", "p.m."), single initials and other
 * numbers. Where a listed abbreviation does end a sentence, two sentences stay joined.
 */

/* Languages with a list of abbreviations. */
#define PLAIT_ABBREVIATION_LANGUAGES "cs, de, en, es or fr"

/* TRUE if @language has a list of abbreviations. */
gboolean plait_abbreviation_has_language (const char *language);

/* The rules of Unicode end a sentence at @position of @text (@length bytes of UTF-8, one line). Returns TRUE if the
 * sentence continues there. If @language has no list, recognises only initials; if @language is "", returns FALSE. */
gboolean plait_abbreviation_continues (const char *language, const char *text, gsize length, gsize position);
