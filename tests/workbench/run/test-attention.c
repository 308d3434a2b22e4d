/* SPDX-License-Identifier: MIT */
#include "dumps/attention.h"
#include "harness.h"

/* Tests of dumps of attention, coverage and copying. The weights are made by hand, for a memory of two rows and a
 * memory of one row. */

/* Attention of two heads in one target row. */
typedef struct
{
  PlaitScalar first[4];    /* [head, target, row]: weights of memory 0 */
  PlaitScalar second[2];   /* [head, target, row]: weights of memory 1 */
  PlaitScalar contexts[4]; /* [head, target, memory]: weights of contexts */
  guint heads[2];          /* [memory]: number of heads; 0: no attention */
  PlaitScalar sentinel[2]; /* [head, target]: weights of the sentinel */
  guint sentinel_heads;
} Weights;

/* A record with one layer and two memories. Each memory has one attention without a name. There is neither attention to
 * contexts nor a sentinel. */
typedef struct
{
  gint64 targets[2];
  PlaitRecordedAttention attentions[2];
  PlaitRecordedItems none;
  PlaitAttentionRecord record;
} Made;

/* Fills in @made from @layers [memory], for @length target rows. Returns its record. (transfer none) */
static PlaitAttentionRecord *
make (Made *made, gint64 length, PlaitRecordedLayer *layers)
{
  static const gint64 two[] = { 0, 2 }, one[] = { 0, 1 };
  static const PlaitLinks no_links;
  static const PlaitMemory memories[]
      = { { .rows = { 1, two }, .links = &no_links }, { .rows = { 1, one }, .links = &no_links } };

  *made = (Made){ .targets = { 0, length } };
  made->attentions[0] = (PlaitRecordedAttention){ &made->attentions[1], NULL, 0, &layers[0] };
  made->attentions[1] = (PlaitRecordedAttention){ NULL, NULL, 1, &layers[1] };
  made->record = (PlaitAttentionRecord){
    .n_layers = 1,
    .n_memories = 2,
    .queries = { 1, made->targets },
    .memories = memories,
    .attentions = made->attentions,
    .contexts = &made->none,
    .sentinels = &made->none,
  };
  return &made->record;
}

/* Returns labels of a target whose last row is its end token, and of two memories, en and de, whose rows are numbered.
 * (transfer full) */
static PlaitLabels *
new_labels (const PlaitAttentionRecord *attention)
{
  static const PlaitLabelledMemory memories[] = { { .name = "en" }, { .name = "de" } };
  static const gint32 target[] = { 4, 4 };
  const char *text = "plait words 1\na 1\n";
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_load ("words", bytes, "words", NULL);

  return plait_labels_new (memories, attention, 0, vocabulary, target, NULL, TRUE);
}

static gboolean
write_dump (const char *name, Weights weights, gboolean has_contexts, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path (name), error);
  PlaitRecordedLayer layers[] = { { weights.heads[0], weights.first }, { weights.heads[1], weights.second } };
  PlaitRecordedItems contexts = { has_contexts ? 2 : 0, weights.contexts };
  PlaitRecordedItems sentinel = { weights.sentinel_heads, weights.sentinel };
  Made made;
  PlaitAttentionRecord *attention = make (&made, 1, layers);
  g_autoptr (PlaitLabels) labels = new_labels (attention);

  attention->contexts = &contexts;
  attention->sentinels = &sentinel;
  return store && plait_attention_write (store, "/attention/test/0", attention, labels, error)
         && plait_store_commit (store, error);
}

static const Weights sound = { { .25, .75, 1, 0 }, { 1, 1 }, { .5, .5, 0, 1 }, { 2, 2 } };

TEST_CASE (attention, is_written_with_both_attentions_together)
{
  GError *error = NULL;
  PlaitScalar effective[2];

  CHECK (write_dump ("dump.h5", sound, TRUE, NO_ERROR));
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("dump.h5"), &error);
  REQUIRE (store != NULL);
  /* The means over heads are .25 for the context of en, and .625 and .375 for the rows of en. Their products are
   * expected. */
  CHECK (plait_store_read (store, "/attention/test/0/en.effective/weights", PLAIT_STORE_SCALAR, 2, effective, &error));
  CHECK_NEAR (effective[0], .25 * .625, 1e-6);
  CHECK_NEAR (effective[1], .25 * .375, 1e-6);
}

TEST_CASE (attention, to_a_sentinel_is_a_row_or_a_column_more)
{
  GError *error = NULL;
  const char *joint_path = plait_test_path ("sentinel.h5"), *contexts_path = plait_test_path ("sentinels.h5");
  Weights joint = { { .25, .25, 0, 0 }, { .25, 1 }, { 0 }, { 2, 2 }, { .25, 0 }, 2 };
  Weights hierarchical = sound;
  static const PlaitScalar expected[] = { .25, .5, .25, 0, 1, 0 };
  PlaitScalar read[6];

  CHECK (write_dump ("sentinel.h5", joint, FALSE, NO_ERROR));
  g_autoptr (PlaitStore) store = plait_store_open (joint_path, &error);
  REQUIRE (store != NULL);
  CHECK (plait_store_read (store, "/attention/test/0/<sentinel>/weights", PLAIT_STORE_SCALAR, 2, read, &error));
  CHECK (read[0] == (PlaitScalar).25 && read[1] == 0);
  joint.sentinel[0] = .5;
  CHECK (!write_dump ("more.h5", joint, FALSE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "attention of layer 0, head 0, target row 0 sums to 1.25 instead of 1");

  hierarchical.contexts[0] = .25;
  hierarchical.contexts[1] = .5;
  hierarchical.sentinel[0] = .25;
  hierarchical.sentinel_heads = 2;
  CHECK (write_dump ("sentinels.h5", hierarchical, TRUE, NO_ERROR));
  g_autoptr (PlaitStore) second = plait_store_open (contexts_path, &error);
  REQUIRE (second != NULL);
  CHECK (plait_store_read (second, "/attention/test/0/contexts/weights", PLAIT_STORE_SCALAR, 6, read, &error));
  CHECK (memcmp (read, expected, sizeof read) == 0);
}

TEST_CASE (attention, whose_rows_do_not_sum_to_one_is_refused)
{
  GError *error = NULL;
  Weights joint = { { .25, .25, 0, 0 }, { .5, 1 }, { 0 }, { 2, 2 } };
  Weights first = sound, second = sound, other = sound;

  CHECK (write_dump ("joint.h5", joint, FALSE, NO_ERROR));
  first.first[3] = .5;
  CHECK (!write_dump ("first.h5", first, TRUE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "attention of layer 0, head 1, target row 0 sums to 2.5 instead of 1");
  /* The fault in memory 1 is found although no head attends to memory 0. */
  other.heads[0] = 0;
  other.second[1] = .5;
  CHECK (!write_dump ("other.h5", other, FALSE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "attention of layer 0, head 1, target row 0 sums to 0.5 instead of 1");
  second.contexts[0] = .25;
  CHECK (!write_dump ("second.h5", second, TRUE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "attention to contexts of layer 0, head 0, target row 0 sums to 0.75");
}

/* Writes coverage of two target rows. The memory en has two rows and the coverage @of_en; de has one row and no
 * coverage. */
static gboolean
write_coverage (const char *name, const PlaitRecordedCoverage *of_en, GError **error)
{
  static PlaitScalar en[] = { .25, .75, .5, .5 }, de[] = { 1, 1 };
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path (name), error);
  PlaitRecordedLayer layers[] = { { 1, en, .coverage = *of_en }, { 1, de } };
  Made made;
  const PlaitAttentionRecord *attention = make (&made, 2, layers);
  g_autoptr (PlaitLabels) labels = new_labels (attention);

  return store && plait_coverage_write (store, "/coverage/test/0", attention, labels, error)
         && plait_store_commit (store, error);
}

static void
check_values (PlaitStore *store, const char *name, gint64 n, const PlaitScalar *expected)
{
  g_autofree char *path = g_strconcat ("/coverage/test/0/en/", name, NULL);
  PlaitScalar values[8];
  CONTEXT ("%s", name);

  CHECK (plait_store_read (store, path, PLAIT_STORE_SCALAR, n, values, NO_ERROR));
  for (gint64 i = 0; i < n; i++)
    CHECK_NEAR (values[i], expected[i], 1e-6);
}

static void
check_attribute (PlaitStore *store, const char *path, const char *name, const char *expected)
{
  g_autofree char *text = plait_store_attribute_text (store, path, name, 1000, NULL);

  CHECK_STRING (text, expected);
}

static const PlaitScalar accumulated[] = { .25, .75, .75, 1.25 };

TEST_CASE (coverage_dump, has_states_and_the_attention_so_far)
{
  PlaitScalar states[] = { 1, -1, 2, -2, 3, -3, 4, -4 };
  PlaitRecordedCoverage coverage = { .width = 2, .states = states };
  GError *error = NULL;

  CHECK (write_coverage ("coverage.h5", &coverage, NO_ERROR));
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("coverage.h5"), &error);
  REQUIRE (store != NULL);
  check_values (store, "accumulated", 4, accumulated);
  check_values (store, "state", 8, states);
  check_attribute (store, "/coverage/test/0/en", "signal", "accumulated");
  check_attribute (store, "/coverage/test/0/en/state", "axes", "target, row, unit");
  CHECK (!plait_store_has (store, "/coverage/test/0/de"));
}

TEST_CASE (coverage_dump, shows_a_state_that_is_one_number)
{
  PlaitScalar states[] = { .25, 1.5, .75, 2.5 }, fertility[] = { 1, .5 };
  PlaitRecordedCoverage coverage = { 1, states, "fertility", fertility };
  GError *error = NULL;

  CHECK (write_coverage ("coverage.h5", &coverage, NO_ERROR));
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("coverage.h5"), &error);
  REQUIRE (store != NULL);
  check_values (store, "accumulated", 4, accumulated);
  check_values (store, "state", 4, states);
  check_values (store, "fertility", 2, fertility);
  check_attribute (store, "/coverage/test/0/en", "signal", "state");
  check_attribute (store, "/coverage/test/0/en/fertility", "axes", "row");
}

/* The source en has the words a and b; de has a word that cannot be copied. In target row 0, p_gen is 3/4 and the
 * attention copies a and b by 3:1. In row 1, p_gen is 0 and b is copied. What is copied from a row is (1 - p_gen) times
 * its part of the attention (See et al. 2017, eq. 9). */
TEST_CASE (copy_dump, has_p_gen_and_what_is_copied_from_where)
{
  PlaitScalar gate[] = { .75, 0 }, en[] = { .75, .25, 0, 1 }, de[] = { 0, 0 };
  PlaitScalar *copied[] = { en, de };
  static const PlaitScalar expected[] = { .1875, .0625, 0, 1 };
  PlaitRecordedLayer layers[] = { { 0, NULL }, { 0, NULL } };
  PlaitScalar values[4];
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("copy.h5"), NO_ERROR);
  Made made;
  PlaitAttentionRecord *record = make (&made, 2, layers);
  g_autoptr (PlaitLabels) labels = new_labels (record);

  REQUIRE (plait_copy_write (store, "/copy/test/0", record, labels, NO_ERROR));
  CHECK (!plait_store_has (store, "/copy/test/0"));
  record->gate = gate;
  record->copied = copied;
  REQUIRE (plait_copy_write (store, "/copy/test/0", record, labels, NO_ERROR));
  REQUIRE (plait_store_commit (store, NO_ERROR));
  g_autoptr (PlaitStore) read = plait_store_open (plait_test_path ("copy.h5"), NO_ERROR);
  REQUIRE (read != NULL);
  CHECK (plait_store_read (read, "/copy/test/0/en/copied", PLAIT_STORE_SCALAR, 4, values, NO_ERROR));
  CHECK (memcmp (values, expected, sizeof expected) == 0);
  CHECK (plait_store_read (read, "/copy/test/0/de/copied", PLAIT_STORE_SCALAR, 2, values, NO_ERROR));
  CHECK (values[0] == 0 && values[1] == 0);
  for (guint m = 0; m < 2; m++)
    {
      g_autofree char *path = g_strdup_printf ("/copy/test/0/%s/gate", m == 0 ? "en" : "de");

      CHECK (plait_store_read (read, path, PLAIT_STORE_SCALAR, 2, values, NO_ERROR));
      CHECK (memcmp (values, gate, sizeof gate) == 0);
    }
  check_attribute (read, "/copy/test/0/en", "signal", "copied");
  check_attribute (read, "/copy/test/0/en", "axes", "target, row");
}
