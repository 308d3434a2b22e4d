/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/labels.h"
#include "search/search.h"
#include "hdf5/store.h"

/*
 * Attention dumps: of each sentence (tables/ragged.h) a heatmap a memory, [layer, head, target, row], whatever the
 * combiner, and one for each attention with a name, "MEMORY:NAME"; where a combiner attends both to each memory and
 * jointly, the latter is "MEMORY:jointly". What a combiner reads of rows that it chose has zeros for the others; where
 * there is attention to contexts also "contexts", [layer, head, target, memory], and for each memory
 * "MEMORY.effective", [layer, target, row], the product of both attentions' head means. A sentinel is one more column
 * of "contexts", or in joint attention a group of its own with one row, called "<sentinel>" each.
 *
 * Of documents the group of a memory also tells whose rows they are: "row_sentence" [row], the numbers of the sentences
 * that tokens belong to, or for rows that stand for sentences the attribute rows=sentences. Rows of a text that stand
 * for neither tokens nor sentences have rows=numbers.
 *
 * Coverage dumps, beside those: of each sentence a group a memory that is covered, with
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

#define PLAIT_ATTENTION_NUMBERED "numbers"

/* What @attention is called in dumps: "en", "en:second". (transfer full) */
char *plait_attention_label (const PlaitRecordedAttention *attention, const PlaitLabels *labels);

/* Writes @attention of one sentence, the item @path. Refuses, writing nothing, weights of either attention whose rows
 * do not sum to one (1e-4; 0 where nothing could be read), naming layer, head and row. */
gboolean plait_attention_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                                const PlaitLabels *labels, GError **error);

/* Writes the coverage in @attention of one sentence, the item @path; nothing at all if no memory is covered. */
gboolean plait_coverage_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                               const PlaitLabels *labels, GError **error);
