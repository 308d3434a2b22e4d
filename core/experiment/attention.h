/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/input.h"
#include "data/vocabulary.h"
#include "model/search.h"
#include "store/store.h"

/*
 * Attention dumps: a group a sentence, below it a heatmap a memory, [layer, head, target, row], whatever the combiner;
 * where there is a second level also "contexts", [layer, head, target, memory], and for each memory "MEMORY.effective",
 * [layer, target, row], the product of both levels' head means. Labels are the tokens; an inner node of a tree has its
 * label, and its first and last token.
 */

/* What labels the rows of one memory: its tokens, or NULL for numbers (positions of an image). */
typedef struct
{
  const char *name;
  const PlaitVocabulary *vocabulary; /* NULL: none */
} PlaitAttentionMemory;

/* Writes @attention of sentence @sentence of a batch below @path. @inputs[m]: what memory m was made of, or NULL.
 * Refuses, writing nothing, weights of either level whose rows do not sum to one (1e-4; 0 where nothing could be read),
 * naming layer, head and row. */
gboolean plait_attention_write (PlaitStore *store, const char *path, const PlaitSentenceAttention *attention,
                                const PlaitAttentionMemory *memories, const PlaitInput *const *inputs, gint64 sentence,
                                const PlaitVocabulary *target_vocabulary, const gint32 *target_tokens,
                                gboolean target_ended, GError **error);
