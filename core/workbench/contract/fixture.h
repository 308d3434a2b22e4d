/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "loading/component.h"

/* Small models for testing plugins, and batches with random contents. Tests use them too. */

#define PLAIT_FIXTURE_MAX_SOURCES 4
#define PLAIT_FIXTURE_WORDS 11 /* size of a vocabulary; a vocabulary of labels lacks the special tokens */
#define PLAIT_FIXTURE_FEATURE_WIDTH 6

/* Decoders for testing a plugin: the Transformer with pre-norm and post-norm, and recurrent decoders with different
 * settings. All are small and without dropout. */
#define PLAIT_FIXTURE_DECODERS 7
#define PLAIT_FIXTURE_TYPES 3
#define PLAIT_FIXTURE_TRANSFORMER 0 /* numbers of the first decoder of each type */
#define PLAIT_FIXTURE_GRU 2
#define PLAIT_FIXTURE_LSTM 5
/* One source of a small model. The plugins must be loaded; settings are borrowed. */
typedef struct
{
  PlaitPlugin *encoder;
  PlaitSettings *settings;
  PlaitPlugin *leaves; /* inner encoder, or NULL */
  PlaitSettings *inner_settings;
} PlaitFixtureSource;

/* The decoder of a small model, with its combiner, coverage and output. */
typedef struct
{
  PlaitPlugin *plugin; /* decoder plugin; NULL: the one that settings.type names, from the combiner's registry */
  PlaitSettings *plugin_settings; /* parameters of the plugin; NULL: small values, then the settings in the fields
                                     parameters and more */
  const char *parameters;         /* settings of [decoder], such as "type=gru layers=1 query=intermediate" */
  const char *more;               /* further settings of [decoder], or NULL */
  PlaitPlugin *combiner;
  PlaitSettings *combiner_settings;
  PlaitPlugin *coverage; /* coverage, or NULL */
  PlaitSettings *coverage_settings;
  PlaitDecoderSettings settings;
  PlaitPredictSettings predict; /* settings of [predict]; all fields 0: kind=sequence, the only kind with a combiner */
  PlaitPlugin *output;          /* output plugin; NULL: a softmax of the decoder's states */
  PlaitSettings *output_settings;
} PlaitFixtureDecoder;

/* Returns test decoder @i, from 0 to PLAIT_FIXTURE_DECODERS - 1, without combiner and coverage. */
PlaitFixtureDecoder plait_fixture_decoder (guint i);

/* Returns test decoder @i with a combiner and a coverage (or NULL), and their settings. */
PlaitFixtureDecoder plait_fixture_decoder_with (guint i, PlaitPlugin *combiner, PlaitSettings *combiner_settings,
                                                PlaitPlugin *coverage, PlaitSettings *coverage_settings);

typedef struct
{
  PlaitModel *model;
  PlaitModelSpecification specification;
  PlaitSourceSpecification sources[PLAIT_FIXTURE_MAX_SOURCES];
  GPtrArray *parts; /* (element-type PlaitComponent): the model's components, which the fixture owns */
} PlaitFixture;

/* Returns settings of @plugin for small models: small integers where the range allows them, no dropout. The schema must
 * have been read. (transfer full) */
PlaitSettings *plait_fixture_settings (PlaitPlugin *plugin);

/* Returns a component of @plugin for the group [@group]. The component shares @settings (plait_settings_share()) and is
 * not open yet. (transfer full) */
PlaitComponent *plait_fixture_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group);

/* Creates a model of @n sources, "first", "second", "third", "fourth", with values drawn from @seed. (transfer full) */
PlaitFixture *plait_fixture_new (const PlaitFixtureSource *sources, guint n, const PlaitFixtureDecoder *decoder,
                                 guint64 seed, GError **error);
void plait_fixture_free (PlaitFixture *fixture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFixture, plait_fixture_free)

/* Draws new values of all parameters from @seed. Draws biases and gains too, because a bias of 0 or a gain of 1 would
 * have no effect. */
void plait_fixture_initialise (PlaitFixture *fixture, guint64 seed);

/*
 * Returns a batch of @n sentences with random contents. Source i of sentence s has lengths[i][s] rows; the source is
 * missing if this length is 0. Apart from lengths, the contents of sentence s depend only on its number, first + s. So
 * a sentence is equal in all batches.
 *
 * A source of tokens has trees; every third sentence lacks its tree. The sentences in a source of documents begin with
 * a start token. If the model predicts choices or spans, all sources have such sentences and no source has trees.
 *
 * The target of sentence s has at most 63 rows before its end. @targets is used only if the model predicts text:
 *
 *     text       targets[s] words
 *     class      one label
 *     choice     the number of a sentence of the first source
 *     span       the numbers of the first and of the last row of the first source
 *     tags       one tag for each row of the first source
 *     number     one number
 *
 * (transfer full)
 */
PlaitBatch *plait_fixture_batch (const PlaitFixture *fixture, gint64 first, gint64 n, const gint64 *const *lengths,
                                 const gint64 *targets);
