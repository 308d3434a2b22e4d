/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <math.h>
#include <string.h>

/* Tests of the attention and coverage that search records, against forced decoding of its hypotheses. */

static void
check_same_weights (const PlaitScalar *a, const PlaitScalar *b, guint heads, gint64 a_length, gint64 b_length,
                    gint64 width)
{
  for (guint h = 0; h < heads; h++)
    for (gint64 t = 0; t < MIN (a_length, b_length); t++)
      for (gint64 i = 0; i < width; i++)
        CHECK_NEAR ((double)a[(h * a_length + t) * width + i], (double)b[(h * b_length + t) * width + i], 1e-4);
}

static gint64
length_of (const PlaitAttentionRecord *a)
{
  return plait_ragged_rows (a->queries);
}

static gint64
rows_of (const PlaitAttentionRecord *a, const PlaitRecordedAttention *of)
{
  return plait_ragged_rows (a->memories[of->memory].rows);
}

/* Checks that @a and @b selected @rows rows in equal order and with equal weights. */
static void
check_same_choices (const PlaitRecordedLayer *a, const PlaitRecordedLayer *b, gint64 length, gint64 rows)
{
  CHECK (!a->sets == !b->sets);
  for (gint64 entry = 0; a->sets && b->sets && entry < length * a->heads; entry++)
    {
      const PlaitRecordedSet *x = a->sets[entry].first, *y = b->sets[entry].first;

      CHECK (x || rows == 0);
      for (; x && y; x = x->next, y = y->next)
        {
          REQUIRE (x->n == y->n);
          for (gint64 i = 0; i < x->n; i++)
            {
              CHECK_INT (x->row[i], y->row[i]);
              CHECK (x->row[i] >= 0 && x->row[i] < rows);
              CHECK_NEAR ((double)x->weights[i], (double)y->weights[i], 1e-4);
            }
        }
      CHECK (!x && !y);
    }
}

/* Checks that the coverage of the attention @of equals @other. The state of the plugin fertility is the attention so
 * far divided by the fertility of the row; this function computes it again. */
static void
check_same_coverage (const PlaitAttentionRecord *a, const PlaitRecordedAttention *of, guint l,
                     const PlaitAttentionRecord *b, const PlaitRecordedCoverage *other, const char *coverage)
{
  gboolean fertility = g_strcmp0 (coverage, "fertility") == 0;
  const PlaitRecordedLayer *layer = &of->layers[l];
  const PlaitRecordedCoverage *covered = &layer->coverage;
  gint64 rows = rows_of (a, of);

  CHECK (coverage ? covered->width > 0 : covered->width == 0);
  CHECK_INT (covered->width, other->width);
  check_same_weights (covered->states, other->states, 1, length_of (a), length_of (b), rows * covered->width);
  CHECK_STRING (covered->name, fertility ? "fertility" : NULL);
  for (gint64 i = 0; i < rows && fertility; i++)
    {
      gint64 states = covered->width, heads = layer->heads;
      double paid[2] = { 0, 0 };

      CHECK_NEAR ((double)covered->prepared[i], (double)other->prepared[i], 1e-6);
      for (gint64 t = 0; t < length_of (a); t++)
        {
          /* There is one state for each head, or one for the mean of the heads. */
          for (gint64 h = 0; h < heads; h++)
            paid[states > 1 ? h : 0]
                += (double)layer->weights[(h * length_of (a) + t) * rows + i] / (double)(states > 1 ? 1 : heads);
          for (gint64 k = 0; k < states; k++)
            CHECK_NEAR ((double)covered->states[(t * rows + i) * states + k], paid[k] / (double)covered->prepared[i],
                        1e-5);
        }
    }
}

#define BEAM 4

static void
check_same_attention (const PlaitAttentionRecord *a, const PlaitAttentionRecord *b, const char *combiner, guint decoder,
                      const char *coverage, gboolean sentinel)
{
  guint heads = decoder < 2 ? 2 : 1;

  for (const PlaitRecordedAttention *of = a->attentions; of; of = of->next)
    for (guint l = 0; l < a->n_layers; l++)
      {
        const PlaitRecordedLayer *x = &of->layers[l], *y = plait_attention_record_find (b, l, of->name, of->memory);

        REQUIRE (y != NULL);
        check_same_coverage (a, of, l, b, &y->coverage, coverage);
        CHECK_INT (x->heads, heads);
        CHECK (!x->sets == (!g_str_equal (combiner, "descent") || of->memory > 0));
        check_same_weights (x->weights, y->weights, x->heads, length_of (a), length_of (b), rows_of (a, of));
        check_same_choices (x, y, MIN (length_of (a), length_of (b)), rows_of (a, of));
      }
  for (guint l = 0; l < a->n_layers; l++)
    {
      CHECK_INT (a->contexts[l].heads, g_str_equal (combiner, "hierarchical") ? heads : 0);
      check_same_weights (a->contexts[l].weights, b->contexts[l].weights, a->contexts[l].heads, length_of (a),
                          length_of (b), a->n_memories);
      CHECK_INT (a->sentinels[l].heads, sentinel ? 1 : 0);
      check_same_weights (a->sentinels[l].weights, b->sentinels[l].weights, a->sentinels[l].heads, length_of (a),
                          length_of (b), 1);
    }
}

/* Checks that the attention of a beam, followed through the ancestors of each hypothesis, is that of forced decoding,
 * for every layer, head, source and the contexts. Checks that the rows of weights sum to one. */
static void
check_attention (const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  g_auto (SearchFixture) fixture = search_fixture_new (combiner, decoder, coverage, sentinel);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitDecodeSettings settings = search_fixture_settings (BEAM);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  g_autoptr (PlaitAttentionRecords) beam = NULL;
  PlaitHypotheses *found = plait_search_batch_with_attention (search, batch, &settings, NULL, &beam, BEAM, TRUE, NULL);
  CONTEXT ("%s, decoder %u", combiner, decoder);

  REQUIRE (found != NULL);
  for (guint h = 0; h < BEAM; h++)
    {
      g_autoptr (PlaitAttentionRecords) forced = NULL;
      g_autoptr (PlaitBatch) targets = NULL;
      double rows[64];
      CONTEXT ("hypothesis %u", h);

      for (guint s = 0; s < 3; s++)
        REQUIRE (h < found[s].n);
      targets = search_fixture_forced (&fixture, found, h);
      CHECK (plait_search_forced (search, targets, rows, &forced, TRUE, NULL));
      for (gint64 s = 0; s < 3; s++)
        {
          CHECK_INT (length_of (beam->of[h * 3 + s]), search_fixture_steps (&found[s].hypotheses[h]));
          check_same_attention (beam->of[h * 3 + s], forced->of[s], combiner, decoder, coverage, sentinel);
        }
    }
  plait_hypotheses_free (found, 3);
}

TEST_CASE (search, follows_attention_along_the_ancestry)
{
  for (guint c = 0; c < SEARCH_FIXTURE_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      check_attention (search_fixture_combiners[c], d, NULL, FALSE);
}

/* The sentinel depends on the previous state and the current word of each hypothesis. */
TEST_CASE (search, follows_the_sentinel_along_the_ancestry)
{
  for (guint d = 2; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      check_attention ("flat", d, NULL, TRUE);
      check_attention ("hierarchical", d, "word", TRUE);
    }
}

/* Coverage follows the ancestors of a hypothesis too: states and weights equal those of forced decoding. */
TEST_CASE (search, follows_coverage_along_the_ancestry)
{
  static const char *const coverages[] = { "word", "fertility", "neighbour", "tree" };

  for (guint v = 0; v < G_N_ELEMENTS (coverages); v++)
    for (guint c = 0; c < SEARCH_FIXTURE_COVERED; c++)
      for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
        {
          CONTEXT ("%s", coverages[v]);

          check_attention (search_fixture_combiners[c], d, coverages[v], FALSE);
        }
}
