/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/labels.h"
#include "search/search.h"
#include "hdf5/store.h"

/*
 * An attention dump has these heatmaps for each sentence (tables/ragged.h):
 *
 *     MEMORY             [layer, head, target, row]      attention to a memory; 0 for rows that a combiner did not
 *                                                        select
 *     MEMORY:NAME        [layer, head, target, row]      attention that has a name; "jointly" is the name of the joint
 *                                                        attention of a combiner that also attends to each memory
 *     <sentinel>         [layer, head, target, 1]        attention to the sentinel of joint attention
 *     contexts           [layer, head, target, memory]   attention to contexts; the sentinel, if there is one, is the
 *                                                        last column
 *     MEMORY.effective   [layer, target, row]            product of the attention to the rows and the attention to
 *                                                        contexts, after averaging each of the two over its heads
 *
 * The names "contexts" and "MEMORY.effective" are in angle brackets if a memory has this name.
 *
 * If the rows of a memory are tokens of documents, its heatmaps also have "row_sentence" [row], the number of each
 * token's sentence. If the rows are sentences, the heatmaps have the attribute rows=sentences. If the rows are made of
 * text, but are neither tokens nor sentences, the attribute is rows=numbers.
 *
 * A coverage dump has one group for each sentence and memory with coverage:
 *
 *     accumulated   [target, row]          attention that the row has received up to and including this step, the mean
 *                                          over heads
 *     state         [target, row, unit]    coverage state after the step, which the next step's score reads;
 *                                          [target, row] if the state is one number
 *     fertility     [row]                  a value of each row that the plugin computes once; the plugin chooses the
 *                                          name of the dataset
 *
 * With several layers, these arrays are in MEMORY/LAYER. With one state for each head (decoder.coverage_heads), the
 * units of all heads follow each other. Viewers show the state if it is one number for each row, otherwise the
 * accumulated attention.
 *
 * A dump of copied words has one group for each sentence and memory that the output copies from:
 *
 *     copied        [target, row]   probability that the word of the row is copied
 *     gate          [target]        probability that the word is not copied; equal in all memories
 *
 * The copied probabilities of all memories and the gate sum to 1 in each target row.
 */

#define PLAIT_ATTENTION_NUMBERED "numbers"

/* Returns the name of @attention in dumps: "en", "en:second". (transfer full) */
char *plait_attention_label (const PlaitRecordedAttention *attention, const PlaitLabels *labels);

/* Writes @attention of one sentence as the item @path. Fails, and writes nothing, if weights do not sum to 1 (within
 * 1e-4); the error names layer, head and target row. If the memories have no rows and there is no sentinel, the weights
 * of contexts must sum to 0. Does not check the weights of rows that a combiner selected. */
gboolean plait_attention_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                                const PlaitLabels *labels, GError **error);

/* Writes the coverage in @attention of one sentence as the item @path. Writes nothing if no memory has coverage. */
gboolean plait_coverage_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                               const PlaitLabels *labels, GError **error);

/* Writes the gate and the copied words in @attention of one sentence as the item @path. Writes nothing if the output
 * copies no words. */
gboolean plait_copy_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *attention,
                           const PlaitLabels *labels, GError **error);
