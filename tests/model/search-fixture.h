/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "models.h"

/* A small model of two sources for search, and three sentences, of which the later ones lack the second source. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitPool *pool;
  PlaitFixture *model;
} SearchFixture;

#define SEARCH_FIXTURE_COMBINERS 5
/* The last combiner reads levels and does not support coverage. */
#define SEARCH_FIXTURE_COVERED (SEARCH_FIXTURE_COMBINERS - 1)

extern const char *const search_fixture_combiners[SEARCH_FIXTURE_COMBINERS];

/* Lengths of the sentences in each source, and of their targets. */
extern const gint64 *const search_fixture_lengths[2];
extern const gint64 search_fixture_targets[3];

/* Builds a model for search. @first is an encoder with an inner encoder, for the first source, or NULL. */
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

/* Returns a batch with the target of each sentence replaced by its hypothesis at @place, which must have ended. */
PlaitBatch *search_fixture_forced (const SearchFixture *fixture, const PlaitHypotheses *hypotheses, guint place);

/* Returns the number of tokens of a hypothesis, EOS included. */
gint64 search_fixture_steps (const PlaitHypothesis *hypothesis);

/* Checks that forced decoding gives the hypotheses at @place equal scores. */
void search_fixture_check (SearchFixture *fixture, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place);
