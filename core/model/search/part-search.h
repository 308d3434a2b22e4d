/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search-private.h"

/* The search of one batch or of a part of it. Its creator calls plait_part_search_clear, even if a step ran out of
 * memory. */
typedef struct
{
  PlaitSearch *search;
  PlaitSearchWorkspace *workspace;
  PlaitBatch *part; /* owned; NULL if the batch is searched whole */
  const PlaitBatch *batch;
  PlaitDecodeSettings settings;
  const PlaitRequirement *requirements; /* [sentences], or NULL */
  gboolean recording;
  guint n_recorded;  /* attention is recorded for this many hypotheses of each sentence, the best ones */
  gboolean replaces; /* TRUE: unknown tokens are replaced, so the attention of every hypothesis with an unknown token
                        is recorded too */
  gboolean recording_coverage;
  GPtrArray *records;           /* owned; PlaitAttentionRecord of each step, in the batch arena */
  PlaitBeam *beam;              /* owned */
  PlaitDecoderState **states;   /* [members], in the batch arena */
  PlaitEncoderOutputs *encoded; /* [members], in the batch arena */
  PlaitHypotheses *hypotheses;  /* [sentences], filled by the search */
  PlaitWorkTimes times;
  GError *error;
} PlaitPartSearch;

/* TRUE if words are searched step by step, because the model has a decoder; FALSE: predictions are made at once. */
gboolean plait_search_goes_by_steps (const PlaitSearch *search);

/* Searches the sentences of @work. If the search fails, sets work->error. */
void plait_part_search_run (PlaitPartSearch *work);

/* Fills work->hypotheses with the hypotheses that a search by steps has found. */
void plait_part_search_collect (const PlaitPartSearch *work);

/* Stores the attention of the hypotheses of @work in attention->of, [hypotheses][@all sentences of the batch]. The
 * first sentence of @work is sentence @first of the batch. */
void plait_part_search_follow_attention (const PlaitPartSearch *work, PlaitAttentionRecords *attention, gint64 first,
                                         gint64 all);

/* Frees what @work owns, but not @work. */
void plait_part_search_clear (gpointer work);
