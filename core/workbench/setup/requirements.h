/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "vocabulary/vocabulary.h"

/* Prefixes and phrases that translations must have (--prefix and --constraints of plait translate). They come from
 * files that have a line for each line of the sources. */
typedef struct PlaitRequirements PlaitRequirements;

/* Reads all lines of the files @prefix and @constraints; either path may be NULL. Tabs separate the phrases in a line
 * of @constraints. Lines may be empty. Fails if a line has a word outside @vocabulary, more than PLAIT_PHRASES_MAX
 * phrases, or more tokens than @settings allow. @copies is TRUE if the output copies words that are not in the
 * vocabulary; the error for such a word mentions that. (transfer full) */
PlaitRequirements *plait_requirements_read (const char *prefix, const char *constraints,
                                            const PlaitVocabulary *vocabulary, const PlaitDecodeSettings *settings,
                                            gboolean copies, GError **error);
void plait_requirements_free (PlaitRequirements *requirements);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRequirements, plait_requirements_free)

/* TRUE if a search with @settings can meet constraints. Otherwise sets @error. */
gboolean plait_requirements_check_settings (const PlaitDecodeSettings *settings, GError **error);

/* Sets @requirement to the requirements of line @line (from 0). @requirements owns the arrays in @requirement. Fails if
 * a file has fewer lines. */
gboolean plait_requirements_find (const PlaitRequirements *requirements, gint64 line, PlaitRequirement *requirement,
                                  GError **error);

/* Fails if a file has more than @lines lines, the number of lines of the sources. */
gboolean plait_requirements_check_end (const PlaitRequirements *requirements, gint64 lines, GError **error);
