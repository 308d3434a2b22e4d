/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "loading/component.h"

/* Small models for testing plugins, and batches with random contents. Tests use them too. */

#define PLAIT_FIXTURE_MAX_SOURCES 4
#define PLAIT_FIXTURE_WORDS 11 /* size of every vocabulary */
#define PLAIT_FIXTURE_FEATURE_WIDTH 6

/* Decoders for testing a plugin: the Transformer with pre-norm and post-norm, and recurrent decoders with different
 * settings. All are small and without dropout. */
#define PLAIT_FIXTURE_DECODERS 7
#define PLAIT_FIXTURE_TYPES 3
#define PLAIT_FIXTURE_TRANSFORMER 0 /* first decoder of each type */
#define PLAIT_FIXTURE_GRU 2
#define PLAIT_FIXTURE_LSTM 5
/* One source. Plugins must be loaded; settings are borrowed. */
typedef struct
{
  PlaitPlugin *encoder;
  PlaitSettings *settings;
  PlaitPlugin *leaves; /* inner encoder, or NULL */
  PlaitSettings *inner_settings;
} PlaitFixtureSource;

/* Decoder, with its combiner, coverage and output. */
typedef struct
{
  PlaitPlugin *plugin;            /* NULL: the decoder of the combiner's registry that settings.type names */
  PlaitSettings *plugin_settings; /* NULL: small settings, changed by @parameters and @more */
  const char *parameters;         /* settings of [decoder], such as "type=gru layers=1 query=intermediate" */
  const char *more;               /* further settings, or NULL */
  PlaitPlugin *combiner;
  PlaitSettings *combiner_settings;
  PlaitPlugin *coverage; /* may be NULL */
  PlaitSettings *coverage_settings;
  PlaitDecoderSettings settings;
  PlaitPredictSettings predict; /* zeros predict a sequence; for other kinds @combiner is NULL */
  PlaitPlugin *output;          /* NULL: softmax of the states */
  PlaitSettings *output_settings;
} PlaitFixtureDecoder;

/* Returns decoder @i, without combiner and coverage. */
PlaitFixtureDecoder plait_fixture_decoder (guint i);

/* Returns decoder @i with a combiner and a coverage (or NULL), and their settings. */
PlaitFixtureDecoder plait_fixture_decoder_with (guint i, PlaitPlugin *combiner, PlaitSettings *combiner_settings,
                                                PlaitPlugin *coverage, PlaitSettings *coverage_settings);

typedef struct
{
  PlaitModel *model;
  PlaitModelSpecification specification;
  PlaitSourceSpecification sources[PLAIT_FIXTURE_MAX_SOURCES];
  GPtrArray *parts; /* PlaitComponent */
} PlaitFixture;

/* Returns settings of @plugin for small models: small integers where the range allows, no dropout. The schema must have
 * been read. (transfer full) */
PlaitSettings *plait_fixture_settings (PlaitPlugin *plugin);

/* Returns a component of @plugin with @settings (borrowed), named [@group]; it is not opened. (transfer full) */
PlaitComponent *plait_fixture_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group);

/* Creates a model of @n sources, "first", "second", "third", "fourth", with values drawn from @seed. (transfer full) */
PlaitFixture *plait_fixture_new (const PlaitFixtureSource *sources, guint n, const PlaitFixtureDecoder *decoder,
                                 guint64 seed, GError **error);
void plait_fixture_free (PlaitFixture *fixture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFixture, plait_fixture_free)

/* Draws new values from @seed. Biases and gains are random too, so that none is neutral. */
void plait_fixture_initialise (PlaitFixture *fixture, guint64 seed);

/*
 * Returns a batch: source i of sentence s has lengths[i][s] rows (0: missing), its target targets[s] tokens (at most
 * 63). Contents depend on the sentence number first + s only, so a sentence is equal in all batches. The target of
 * classes is one label, of choices the number of a sentence, of spans the first and last row, for any @targets. Tokens
 * have trees; documents have sentences that begin with a start token. (transfer full)
 */
PlaitBatch *plait_fixture_batch (const PlaitFixture *fixture, gint64 first, gint64 n, const gint64 *const *lengths,
                                 const gint64 *targets);
