/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-stand.h"

#include <math.h>
#include <string.h>

/* What search keeps of attention and coverage, against forced decoding of what it has found. */

static void
check_same_weights (const PlaitScalar *a, const PlaitScalar *b, guint heads, gint64 a_length, gint64 b_length,
                    gint64 width)
{
  for (guint h = 0; h < heads; h++)
    for (gint64 t = 0; t < MIN (a_length, b_length); t++)
      for (gint64 i = 0; i < width; i++)
        CHECK_NEAR ((double)a[(h * a_length + t) * width + i], (double)b[(h * b_length + t) * width + i], 1e-4);
}

/* The same rows were weighed, in the same order and with the same weights. */
static void
check_same_choices (const PlaitSentenceAttention *a, const PlaitSentenceAttention *b, guint place)
{
  CHECK (!a->choices[place] == !b->choices[place]);
  for (guint h = 0; a->choices[place] && b->choices[place] && h < a->heads[place]; h++)
    for (gint64 t = 0; t < MIN (a->length, b->length); t++)
      {
        const PlaitSentenceChoice *x = &a->choices[place][h * a->length + t];
        const PlaitSentenceChoice *y = &b->choices[place][h * b->length + t];

        CHECK (x->n > 0 || a->rows[a->memory[place % a->n_attentions]] == 0);
        REQUIRE (x->n == y->n && memcmp (x->offset, y->offset, (gsize)(x->n + 1) * sizeof *x->offset) == 0);
        for (gint64 i = 0; i < x->offset[x->n]; i++)
          {
            CHECK_INT (x->row[i], y->row[i]);
            CHECK_NEAR ((double)x->weights[i], (double)y->weights[i], 1e-4);
          }
      }
}

/* The same of coverage. What fertility has is the attention so far over the fertility of the row, which nothing of the
 * search has added up. */
static void
check_same_coverage (const PlaitSentenceAttention *a, const PlaitSentenceAttention *b, const char *coverage)
{
  gboolean fertility = g_strcmp0 (coverage, "fertility") == 0;

  for (guint place = 0; place < a->n_layers * a->n_memories; place++)
    {
      const PlaitSentenceCoverage *of = &a->coverage[place];
      gint64 rows = a->rows[place % a->n_memories];

      CHECK (coverage ? of->width > 0 : of->width == 0);
      CHECK_INT (of->width, b->coverage[place].width);
      check_same_weights (of->states, b->coverage[place].states, 1, a->length, b->length, rows * of->width);
      CHECK_STRING (of->name, fertility ? "fertility" : NULL);
      for (gint64 i = 0; i < rows && fertility; i++)
        {
          gint64 states = of->width, heads = a->heads[place];
          double paid[2] = { 0, 0 };

          CHECK_NEAR ((double)of->prepared[i], (double)b->coverage[place].prepared[i], 1e-6);
          for (gint64 t = 0; t < a->length; t++)
            {
              /* A state a head, or one of their mean. */
              for (gint64 h = 0; h < heads; h++)
                paid[states > 1 ? h : 0]
                    += (double)a->weights[place][(h * a->length + t) * rows + i] / (double)(states > 1 ? 1 : heads);
              for (gint64 k = 0; k < states; k++)
                CHECK_NEAR ((double)of->states[(t * rows + i) * states + k], paid[k] / (double)of->prepared[i], 1e-5);
            }
        }
    }
}

#define BEAM 4

static void
check_same_attention (const PlaitSentenceAttention *a, const PlaitSentenceAttention *b, const char *combiner,
                      guint decoder, const char *coverage, gboolean sentinel)
{
  guint heads = decoder < 2 ? 2 : 1;

  check_same_coverage (a, b, coverage);
  for (guint place = 0; place < a->n_layers * a->n_memories; place++)
    {
      gint64 width = a->rows[place % a->n_memories];

      CHECK_INT (a->heads[place], heads);
      CHECK (!a->choices[place] == (!g_str_equal (combiner, "descent") || place % a->n_memories > 0));
      check_same_weights (a->weights[place], b->weights[place], a->heads[place], a->length, b->length, width);
      check_same_choices (a, b, place);
    }
  for (guint l = 0; l < a->n_layers; l++)
    {
      CHECK_INT (a->context_heads[l], g_str_equal (combiner, "hierarchical") ? heads : 0);
      check_same_weights (a->contexts[l], b->contexts[l], a->context_heads[l], a->length, b->length, a->n_memories);
      CHECK_INT (a->sentinel_heads[l], sentinel ? 1 : 0);
      check_same_weights (a->sentinels[l], b->sentinels[l], a->sentinel_heads[l], a->length, b->length, 1);
    }
}

/* The attention that a beam paid, followed along the ancestry of each hypothesis, is that of its forced decoding, at
 * every layer, head, source and the contexts; and its rows sum to one. */
static void
check_attention (const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  g_auto (SearchStand) stand = search_stand_new (combiner, decoder, coverage, sentinel);
  g_autoptr (PlaitBatch) batch = search_stand_batch (&stand);
  PlaitDecodeSettings settings = search_stand_settings (BEAM);
  g_autoptr (PlaitSearch) search = plait_search_new (stand.model->model, stand.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitSentenceAttention *beam = NULL;
  PlaitHypotheses *found = plait_search_batch_with_attention (search, batch, &settings, &beam, BEAM, TRUE, NULL);
  CONTEXT ("%s, decoder %u", combiner, decoder);

  REQUIRE (found != NULL);
  for (guint h = 0; h < BEAM; h++)
    {
      PlaitSentenceAttention *forced = NULL;
      g_autoptr (PlaitBatch) targets = NULL;
      double rows[64];
      CONTEXT ("hypothesis %u", h);

      for (guint s = 0; s < 3; s++)
        REQUIRE (h < found[s].n);
      targets = search_stand_forced (&stand, found, h);
      CHECK (plait_search_forced (search, targets, rows, &forced, TRUE, NULL));
      for (gint64 s = 0; s < 3; s++)
        {
          CHECK_INT (beam[h * 3 + s].length, search_stand_steps (&found[s].hypotheses[h]));
          check_same_attention (&beam[h * 3 + s], &forced[s], combiner, decoder, coverage, sentinel);
        }
      plait_sentence_attention_free (forced, 3);
    }
  plait_hypotheses_free (found, 3);
  plait_sentence_attention_free (beam, BEAM * 3);
}

TEST_CASE (search, follows_attention_along_the_ancestry)
{
  for (guint c = 0; c < SEARCH_STAND_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
      check_attention (search_stand_combiners[c], d, NULL, FALSE);
}

/* The sentinel is made of the state before and the word that is read, which are those of the same hypothesis. */
TEST_CASE (search, follows_the_sentinel_along_the_ancestry)
{
  for (guint d = 2; d < PLAIT_SPECIMEN_DECODERS; d++)
    {
      check_attention ("flat", d, NULL, TRUE);
      check_attention ("hierarchical", d, "word", TRUE);
    }
}

/* Coverage follows the ancestry too: it and the weights that it makes are those of forced decoding. */
TEST_CASE (search, follows_coverage_along_the_ancestry)
{
  static const char *const coverages[] = { "word", "fertility", "neighbour", "tree" };

  for (guint v = 0; v < G_N_ELEMENTS (coverages); v++)
    for (guint c = 0; c < SEARCH_STAND_COVERED; c++)
      for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
        {
          CONTEXT ("%s", coverages[v]);

          check_attention (search_stand_combiners[c], d, coverages[v], FALSE);
        }
}
