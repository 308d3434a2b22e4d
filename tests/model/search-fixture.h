/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "models.h"

/* A small model with two sources for tests of search, and three sentences. All but the first sentence lack the second
 * source. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitPool *pool;
  PlaitFixture *model;
} SearchFixture;

#define SEARCH_FIXTURE_COMBINERS 5
/* Number of the combiners that support coverage. The last one does not, because it reads levels. */
#define SEARCH_FIXTURE_COVERED (SEARCH_FIXTURE_COMBINERS - 1)

extern const char *const search_fixture_combiners[SEARCH_FIXTURE_COMBINERS];

/* [source][sentence]: lengths of the sentences, and of their targets. */
extern const gint64 *const search_fixture_lengths[2];
extern const gint64 search_fixture_targets[3];

/* Builds a model for search. @first is NULL, or an encoder for the first source that reads an inner encoder. */
SearchFixture search_fixture_with (const char *first, const char *combiner, PlaitFixtureDecoder decoder,
                                   const char *coverage, gboolean sentinel);
SearchFixture search_fixture_over (const char *first, const char *combiner, guint decoder, const char *coverage,
                                   gboolean sentinel);
SearchFixture search_fixture_new (const char *combiner, guint decoder, const char *coverage, gboolean sentinel);
void search_fixture_clear (SearchFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SearchFixture, search_fixture_clear)

PlaitDecodeSettings search_fixture_settings (gint64 beam);

/* Returns a batch of the three sentences. (transfer full) */
PlaitBatch *search_fixture_batch (const SearchFixture *fixture);

/* Returns a batch in which the target of each sentence is its hypothesis number @place, which must have ended. */
PlaitBatch *search_fixture_forced (const SearchFixture *fixture, const PlaitHypotheses *hypotheses, guint place);

/* Returns the number of tokens of @hypothesis, EOS included. */
gint64 search_fixture_steps (const PlaitHypothesis *hypothesis);

/* Checks that forced decoding gives hypothesis number @place of each sentence the score that search gave it. */
void search_fixture_check (SearchFixture *fixture, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place);
