/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

/* A source of documents: hat over a Transformer, each with a NULL-terminated list of keys and values. */
typedef struct
{
  const char *const *keys;
  const char *const *leaves;
} TestDocuments;

/* An empty list of keys. */
extern const char *const test_no_keys[];

/* Keys of an inner encoder that returns the embeddings. */
extern const char *const test_embedding_leaves[];

/* Returns valid settings of @plugin with the keys and values @keys, NULL-terminated. (transfer full) */
PlaitSettings *test_settings_with (PlaitPlugin *plugin, const char *const *keys);

/* Builds a model whose only source is @documents, or a Transformer with @keys if @documents is NULL. */
PlaitFixture *test_documents_model (PlaitRegistry *registry, const TestDocuments *documents, const char *const *keys,
                                    const char *combiner_name, PlaitFixtureDecoder decoder, GError **error);

/* Builds a valid model of documents with the combiner serial. */
PlaitFixture *test_hat_model (PlaitRegistry *registry, const TestDocuments *documents, PlaitFixtureDecoder decoder);
