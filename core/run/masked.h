/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/translate.h"

/* Masked tokens as text, so that they are scored as text is: of each line or document of @corpus the pieces, with a
 * space between them, those that @found tells of each tuple, or with NULL those that were there. (transfer full)
 * NULL-terminated */
char **plait_masked_text (const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary, const PlaitHypotheses *found,
                          GError **error);
