/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/labels.h"
#include "model/search.h"
#include "store/store.h"

/*
 * Coverage dumps, beside those of attention: of each sentence (store/ragged.h) a group a memory that is covered, with
 *
 *     accumulated   [target, row]          the attention that the row has had by this step, the step's own included
 *     state         [target, row, unit]    what the coverage made of it, after the step: what the next one is scored
 *                                          by; [target, row] where it is one number
 *     fertility     [row]                  or as the plugin calls what it knows of each row, if it does
 *
 * With several layers these stand a level deeper, MEMORY/LAYER; a state a head (decoder.coverage_heads) makes a row's
 * units those of all heads, one after the other. Viewers show the state if it is one number a row, else the accumulated
 * attention.
 */

/* Writes the coverage in @attention of one sentence, the item @path; nothing at all if no memory is covered. */
gboolean plait_coverage_write (PlaitStore *store, const char *path, const PlaitSentenceAttention *attention,
                               const PlaitLabels *labels, GError **error);
