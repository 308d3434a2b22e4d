/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"
#include "model/site.h"
#include "plugin/part.h"

/* Small models and batches for tests: what they hold does not matter, only that it is all different. */

#define TEST_MAXIMUM_SOURCES 4
#define TEST_WORDS 11 /* of every vocabulary */
#define TEST_FEATURE_WIDTH 6

/* One source of a test model. */
typedef struct
{
  PlaitPlugin *encoder;    /* loaded */
  PlaitSettings *settings; /* of the encoder; borrowed */
  PlaitPlugin *leaves;     /* the encoder that it stands on, if it does */
  PlaitSettings *leaves_settings;
} TestSource;

/* What reads the sources. */
typedef struct
{
  PlaitPlugin *combiner; /* loaded */
  PlaitSettings *combiner_settings;
  PlaitPlugin *coverage; /* or NULL */
  PlaitSettings *coverage_settings;
  PlaitDecoderSettings settings;
} TestDecoder;

typedef struct
{
  PlaitModel *model;
  PlaitModelSpecification specification;
  PlaitSourceSpecification sources[TEST_MAXIMUM_SOURCES];
  GPtrArray *parts; /* PlaitPart */
} TestModel;

/* Decoder settings of a small Transformer without dropout: 2 layers, width 8, 2 heads. */
PlaitDecoderSettings test_decoder_settings (void);

/* The decoders that tests go through: the Transformer with the norm in both places, and what recurrent decoders can be
 * told. The first two are Transformers. */
#define TEST_DECODERS 7
PlaitDecoderSettings test_decoder (guint i);

/* Settings of @plugin (its schema is read) with every integer made small where its range allows. (transfer full) */
PlaitSettings *test_small_settings (PlaitPlugin *plugin);

/* The part that @plugin plays with @settings (borrowed) as those of [@group]; not opened. (transfer full) */
PlaitPart *test_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group);

/* The same opened; fails the test case if it cannot be. (transfer full) */
PlaitPart *test_opened_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group);

/* The attention without a name that @site declared, or NULL. */
const PlaitReader *test_reader (const PlaitDeclaredSite *site, PlaitReads reads, guint memory);

/* A model of @n sources, initialised with @seed: biases and gains too are made random, so that nothing is neutral.
 * (transfer full) */
TestModel *test_model_new (const TestSource *sources, guint n, const TestDecoder *decoder, guint64 seed,
                           GError **error);
void test_model_free (TestModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TestModel, test_model_free)

/* The plugin of @kind called @name of the build tree, loaded; fails the test case if there is none. (transfer none) */
PlaitPlugin *test_plugin (PlaitRegistry *registry, PlaitPluginKind kind, const char *name);

/*
 * A batch for @model: source i of sentence s has lengths[i][s] rows (0: missing), its target targets[s] tokens.
 * Contents are keyed by the number first + s of the sentence, so that a sentence is the same in any batch. (transfer
 * full)
 */
PlaitBatch *test_batch (const TestModel *model, gint64 first, gint64 n, const gint64 *const *lengths,
                        const gint64 *targets);
