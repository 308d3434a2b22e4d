/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "vocabulary/vocabulary.h"

/* Prefixes and phrases that translations must have, of files with a line for each line of the sources: --prefix and
 * --constraints of plait translate. */
typedef struct PlaitRequirements PlaitRequirements;

/* Reads all lines of @prefix, and of @constraints with phrases between tabs; a path may be NULL, and a line empty.
 * Fails at a line with a word outside @vocabulary, or with more tokens than @settings allow. @copies: TRUE if the
 * output copies words outside the vocabulary, which the error says. (transfer full) */
PlaitRequirements *plait_requirements_read (const char *prefix, const char *constraints,
                                            const PlaitVocabulary *vocabulary, const PlaitDecodeSettings *settings,
                                            gboolean copies, GError **error);
void plait_requirements_free (PlaitRequirements *requirements);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRequirements, plait_requirements_free)

/* TRUE if the search settings @settings can meet constraints; else sets @error. */
gboolean plait_requirements_check_settings (const PlaitDecodeSettings *settings, GError **error);

/* Copies the requirement of line @line, from 0, to @requirement, which borrows it. Fails if a file has fewer lines. */
gboolean plait_requirements_find (const PlaitRequirements *requirements, gint64 line, PlaitRequirement *requirement,
                                  GError **error);

/* Fails if a file has more than @lines lines, the number of lines of the sources. */
gboolean plait_requirements_check_end (const PlaitRequirements *requirements, gint64 lines, GError **error);
