/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "loading/component.h"

/*
 * Small models in which plugins stand, and batches for them: what they hold does not matter, only that it is all
 * different. Tests use them too.
 */

#define PLAIT_FIXTURE_MAX_SOURCES 4
#define PLAIT_FIXTURE_WORDS 11 /* of every vocabulary */
#define PLAIT_FIXTURE_FEATURE_WIDTH 6

/* The decoders that a plugin goes through: the Transformer with the norm in both places, and what recurrent decoders
 * can be told. All are small and without dropout. */
#define PLAIT_FIXTURE_DECODERS 7
#define PLAIT_FIXTURE_TRANSFORMER 0 /* the first of each type */
#define PLAIT_FIXTURE_GRU 2
#define PLAIT_FIXTURE_LSTM 5
PlaitDecoderSettings plait_fixture_decoder (guint i);

/* What is set in [decoder] for it: "type=gru layers=1 query=intermediate". (transfer none) */
const char *plait_fixture_decoder_text (guint i);

/* One source. Plugins are loaded; settings are borrowed. */
typedef struct
{
  PlaitPlugin *encoder;
  PlaitSettings *settings;
  PlaitPlugin *leaves; /* the encoder that it stands on, if it does */
  PlaitSettings *inner_settings;
} PlaitFixtureSource;

/* What reads the sources. */
typedef struct
{
  PlaitPlugin *combiner;
  PlaitSettings *combiner_settings;
  PlaitPlugin *coverage; /* or NULL */
  PlaitSettings *coverage_settings;
  PlaitDecoderSettings settings;
  PlaitPredictSettings predict; /* all zero: a sequence. Else there is no combiner */
} PlaitFixtureDecoder;

typedef struct
{
  PlaitModel *model;
  PlaitModelSpecification specification;
  PlaitSourceSpecification sources[PLAIT_FIXTURE_MAX_SOURCES];
  GPtrArray *parts; /* PlaitComponent */
} PlaitFixture;

/* Settings of @plugin (its schema is read) with every integer made small where its range allows, without dropout.
 * (transfer full) */
PlaitSettings *plait_fixture_settings (PlaitPlugin *plugin);

/* The part that @plugin plays with @settings (borrowed) as those of [@group]; not opened. (transfer full) */
PlaitComponent *plait_fixture_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group);

/* A model of @n sources, "first", "second", "third", "fourth", with the values of @seed. (transfer full) */
PlaitFixture *plait_fixture_new (const PlaitFixtureSource *sources, guint n, const PlaitFixtureDecoder *decoder,
                                 guint64 seed, GError **error);
void plait_fixture_free (PlaitFixture *fixture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFixture, plait_fixture_free)

/* Other values, of @seed: biases and gains too are random, so that nothing is neutral. */
void plait_fixture_initialise (PlaitFixture *fixture, guint64 seed);

/*
 * A batch for @fixture: source i of sentence s has lengths[i][s] rows (0: missing), its target targets[s] tokens (at
 * most 63). Contents are keyed by the number first + s of the sentence, so that a sentence is the same in any batch.
 * A target of classes is one label and one of choices the number of a sentence, one of spans the first and last row,
 * whatever @targets is. Tokens have trees, documents sentences that begin with a start token. (transfer full)
 */
PlaitBatch *plait_fixture_batch (const PlaitFixture *fixture, gint64 first, gint64 n, const gint64 *const *lengths,
                                 const gint64 *targets);
