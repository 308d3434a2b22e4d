/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/settings.h"

/* What the core itself computes, in the words of the papers, a line each between ';', as schemas tell of plugins.
 * x <- residual (x, c) and normalise stand for what decoder.norm says. */

/* The decoder's layers or steps around its combiner. (transfer none) */
const char *plait_decoder_equations (const PlaitDecoderSettings *settings);

/* What is predicted of its states, and of what reads memories in its place. (transfer none) */
const char *plait_predict_equations (PlaitPredictKind kind);
