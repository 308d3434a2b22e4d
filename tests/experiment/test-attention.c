/* SPDX-License-Identifier: MIT */
#include "experiment/attention.h"
#include "harness.h"

/* Dumps of attention that are made here: two memories of two rows and one, one target row, two heads. */

typedef struct
{
  PlaitScalar first[4];    /* [head, target, row] of memory 0 */
  PlaitScalar second[2];   /* of memory 1 */
  PlaitScalar contexts[4]; /* [head, target, memory] */
  guint heads[2];
} Weights;

static gboolean
write_dump (const char *name, Weights weights, gboolean second_level, GError **error)
{
  static const gint32 target[] = { PLAIT_TOKEN_EOS };
  g_autofree char *path = plait_test_path (name);
  const char *text = "plait words 1\na 1\n";
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_load ("words", bytes, "words", error);
  g_autoptr (PlaitStore) store = plait_store_create (path, error);
  gint64 rows[] = { 2, 1 };
  PlaitScalar *memories[] = { weights.first, weights.second };
  PlaitScalar *contexts[] = { weights.contexts };
  guint context_heads[] = { second_level ? 2 : 0 };
  PlaitSentenceAttention attention = {
    .n_layers = 1,
    .n_memories = 2,
    .length = 1,
    .rows = rows,
    .heads = weights.heads,
    .weights = memories,
    .context_heads = context_heads,
    .contexts = contexts,
  };
  const PlaitAttentionMemory named[] = { { "en", NULL }, { "de", NULL } };
  const PlaitInput *inputs[] = { NULL, NULL };

  return vocabulary && store
         && plait_attention_write (store, "/attention/test/0", &attention, named, inputs, 0, vocabulary, target, TRUE,
                                   error)
         && plait_store_commit (store, error);
}

static const Weights sound = { { .25, .75, 1, 0 }, { 1, 1 }, { .5, .5, 0, 1 }, { 2, 2 } };

TEST_CASE (attention, is_written_with_both_levels_together)
{
  GError *error = NULL;
  g_autofree char *path = plait_test_path ("dump.h5");
  PlaitScalar effective[2];

  CHECK (write_dump ("dump.h5", sound, TRUE, &error));
  CHECK_NO_ERROR (error);
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  REQUIRE (store != NULL);
  /* Means over heads: .25 of the second level for en, .625 and .375 within it. */
  CHECK (plait_store_read (store, "/attention/test/0/en.effective/weights", PLAIT_STORE_SCALAR, 2, effective, &error));
  CHECK_NEAR (effective[0], .25 * .625, 1e-6);
  CHECK_NEAR (effective[1], .25 * .375, 1e-6);
}

TEST_CASE (attention, whose_rows_do_not_sum_to_one_is_refused)
{
  GError *error = NULL;
  Weights joint = { { .25, .25, 0, 0 }, { .5, 1 }, { 0 }, { 2, 2 } };
  Weights first = sound, second = sound, other = sound;

  CHECK (write_dump ("joint.h5", joint, FALSE, &error));
  CHECK_NO_ERROR (error);
  first.first[3] = .5;
  CHECK (!write_dump ("first.h5", first, TRUE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "attention of layer 0, head 1, target row 0 sums to 2.5 instead of 1");
  /* A memory that is not attended to hides nothing of the other. */
  other.heads[0] = 0;
  other.second[1] = .5;
  CHECK (!write_dump ("other.h5", other, FALSE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "attention of layer 0, head 1, target row 0 sums to 0.5 instead of 1");
  second.contexts[0] = .25;
  CHECK (!write_dump ("second.h5", second, TRUE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "second-level attention of layer 0, head 0, target row 0 sums to 0.75");
}
