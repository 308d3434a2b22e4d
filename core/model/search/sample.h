/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "types/tensor.h"

/* Draws one of @n words and returns its id, or -1 if no word can be drawn. The distribution is made of
 * @log_probabilities [n] by decode.temperature, decode.top_k and decode.nucleus; a word with minus infinity cannot be
 * drawn. @uniform in [0, 1) selects the first word at which the cumulative probability is above @uniform. Words are in
 * the order of their ids; if top_k or nucleus is set, in the order of their probabilities, ties in the order of
 * ids. */
gint32 plait_sample_word (const PlaitDecodeSettings *settings, const PlaitScalar *log_probabilities, gint32 n,
                          double uniform);
