/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "models.h"

/* A small model of two sources to be searched in, and three sentences; the later ones lack the second source. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitPool *pool;
  PlaitFixture *model;
} SearchFixture;

#define SEARCH_STAND_COMBINERS 5
/* The last reads levels, and coverage has no part in it. */
#define SEARCH_STAND_COVERED (SEARCH_STAND_COMBINERS - 1)

extern const char *const search_fixture_combiners[SEARCH_STAND_COMBINERS];

/* The lengths of the sentences in each source, and of their targets. */
extern const gint64 *const search_fixture_lengths[2];
extern const gint64 search_fixture_targets[3];

/* @first is an encoder that stands on another one, to be the first source, or NULL. */
SearchFixture search_fixture_with (const char *first, const char *combiner, PlaitDecoderSettings settings,
                                   const char *coverage, gboolean sentinel);
SearchFixture search_fixture_over (const char *first, const char *combiner, guint decoder, const char *coverage,
                                   gboolean sentinel);
SearchFixture search_fixture_new (const char *combiner, guint decoder, const char *coverage, gboolean sentinel);
void search_fixture_clear (SearchFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SearchFixture, search_fixture_clear)

PlaitDecodeSettings search_fixture_settings (gint64 beam);

/* The three sentences. (transfer full) */
PlaitBatch *search_fixture_batch (const SearchFixture *fixture);

/* The same with the target of each sentence replaced by its hypothesis at @place; only ended ones can be targets. */
PlaitBatch *search_fixture_forced (const SearchFixture *fixture, const PlaitHypotheses *hypotheses, guint place);

/* Tokens of a hypothesis, its end counted. */
gint64 search_fixture_steps (const PlaitHypothesis *hypothesis);

/* Checks that the hypotheses at @place have what forced decoding gives them. */
void search_fixture_check (SearchFixture *fixture, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place);
