/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "types/tensor.h"

/* Draws one of @n words from the distribution that decode.temperature, decode.top_k and decode.nucleus make of
 * @log_probabilities [n]; minus infinity: the word cannot be drawn. @uniform in [0, 1) selects the word: the first one
 * with which the cumulative probability is above it. Words are in the order of their ids; in that of their
 * probabilities, ties in the order of ids, if top_k or nucleus leaves words out. Returns -1 if no word can be drawn. */
gint32 plait_sample_word (const PlaitDecodeSettings *settings, const PlaitScalar *log_probabilities, gint32 n,
                          double uniform);
