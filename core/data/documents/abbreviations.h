/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Where a full stop ends no sentence though the rules of Unicode say so: behind abbreviations, or inside of those of
 * several words ("z. B."); behind initials that stand together ("J. R. R."); and in German between a number of one or
 * two digits and a month. CLDR's own lists are not used: ICU takes their entries for the ends of words too, so that by
 * the German "r." a sentence went on behind each "Meier."
 *
 * These are lists: what ends sentences as often ("etc.", "usw.", "p.m.", one initial, numbers) is not on them, and
 * where what is on them does end one, two sentences stay one.
 */

/* The languages of which abbreviations are known. */
#define PLAIT_ABBREVIATION_LANGUAGES "cs, de, en, es or fr"

/* TRUE if @language is one of these. */
gboolean plait_abbreviation_has_language (const char *language);

/* TRUE if the sentence of @text (@length bytes of UTF-8, one line) that would end before @position goes on there.
 * Without a known @language each does end. */
gboolean plait_abbreviation_continues (const char *language, const char *text, gsize length, gsize position);
