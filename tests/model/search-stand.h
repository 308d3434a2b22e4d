/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "models.h"

/* A small model of two sources to be searched in, and three sentences; the later ones lack the second source. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitPool *pool;
  PlaitSpecimen *model;
} SearchStand;

#define SEARCH_STAND_COMBINERS 5
/* The last reads levels, and coverage has no part in it. */
#define SEARCH_STAND_COVERED (SEARCH_STAND_COMBINERS - 1)

extern const char *const search_stand_combiners[SEARCH_STAND_COMBINERS];

/* The lengths of the sentences in each source, and of their targets. */
extern const gint64 *const search_stand_lengths[2];
extern const gint64 search_stand_targets[3];

/* @first is an encoder that stands on another one, to be the first source, or NULL. */
SearchStand search_stand_with (const char *first, const char *combiner, PlaitDecoderSettings settings,
                               const char *coverage, gboolean sentinel);
SearchStand search_stand_over (const char *first, const char *combiner, guint decoder, const char *coverage,
                               gboolean sentinel);
SearchStand search_stand_new (const char *combiner, guint decoder, const char *coverage, gboolean sentinel);
void search_stand_clear (SearchStand *stand);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SearchStand, search_stand_clear)

PlaitDecodeSettings search_stand_settings (gint64 beam);

/* The three sentences. (transfer full) */
PlaitBatch *search_stand_batch (const SearchStand *stand);

/* The same with the target of each sentence replaced by its hypothesis at @place; only ended ones can be targets. */
PlaitBatch *search_stand_forced (const SearchStand *stand, const PlaitHypotheses *hypotheses, guint place);

/* Tokens of a hypothesis, its end counted. */
gint64 search_stand_steps (const PlaitHypothesis *hypothesis);

/* Checks that the hypotheses at @place have what forced decoding gives them. */
void search_stand_check (SearchStand *stand, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place);
