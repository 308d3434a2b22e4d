/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

/* A source of documents: the encoder hat over a Transformer. Each of the two has a list of keys and values,
 * NULL-terminated. */
typedef struct
{
  const char *const *keys;
  const char *const *leaves;
} TestDocuments;

/* A list without keys. */
extern const char *const test_no_keys[];

/* Keys with which an inner encoder returns only the embeddings. */
extern const char *const test_embedding_leaves[];

/* Returns settings of @plugin with the values in @keys, a NULL-terminated list of keys and values. All must be valid.
 * (transfer full) */
PlaitSettings *test_settings_with (PlaitPlugin *plugin, const char *const *keys);

/* Builds a model with one source. The source is @documents; if @documents is NULL, a Transformer with the keys
 * @keys. */
PlaitFixture *test_documents_model (PlaitRegistry *registry, const TestDocuments *documents, const char *const *keys,
                                    const char *combiner_name, PlaitFixtureDecoder decoder, GError **error);

/* Builds a model of documents with the combiner serial. The settings must be valid. */
PlaitFixture *test_hat_model (PlaitRegistry *registry, const TestDocuments *documents, PlaitFixtureDecoder decoder);
