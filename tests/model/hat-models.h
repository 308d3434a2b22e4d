/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

/* A source of documents: hat over a Transformer, each with keys and values that end with NULL. */
typedef struct
{
  const char *const *keys;
  const char *const *leaves;
} TestDocuments;

/* Settings left as they are. */
extern const char *const test_no_keys[];

/* Keys of leaves that are the embeddings themselves. */
extern const char *const test_embedding_leaves[];

/* A model whose one source is @documents, or where that is NULL a Transformer with @keys. */
PlaitFixture *test_documents_model (PlaitRegistry *registry, const TestDocuments *documents, const char *const *keys,
                                    const char *combiner_name, PlaitDecoderSettings settings, GError **error);

/* One of documents, under the combiner serial, which is good. */
PlaitFixture *test_hat_model (PlaitRegistry *registry, const TestDocuments *documents, PlaitDecoderSettings settings);
