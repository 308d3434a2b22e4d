/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "model/search.h"
#include "models.h"

#include <math.h>
#include <string.h>

/* Search against forced decoding, which knows nothing of caches, hypotheses or ancestry. */

static const gint64 lengths_first[] = { 4, 2, 1 };
static const gint64 lengths_second[] = { 3, 0, 0 };
static const gint64 *const lengths[] = { lengths_first, lengths_second };
static const gint64 targets[] = { 3, 1, 4 };

/* The last reads levels, and coverage has no part in it. */
static const char *const combiners[] = { "serial", "parallel", "flat", "hierarchical", "descent" };
#define COVERED_COMBINERS (G_N_ELEMENTS (combiners) - 1)

typedef struct
{
  PlaitRegistry *registry;
  PlaitPool *pool;
  PlaitSpecimen *model;
} World;

static void
world_clear (World *world)
{
  plait_specimen_free (world->model);
  plait_pool_free (world->pool);
  plait_registry_free (world->registry);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* @first is an encoder that stands on another one, to be the first source, or NULL. */
static World
world_with (const char *first, const char *combiner_name, PlaitDecoderSettings settings, const char *coverage_name,
            gboolean sentinel)
{
  World world = { plait_registry_new (), NULL, NULL };
  PlaitPlugin *encoder = test_plugin (world.registry, PLAIT_PLUGIN_ENCODER, "transformer");
  PlaitPlugin *combiner = test_plugin (world.registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  g_autoptr (PlaitSettings) encoder_settings = plait_specimen_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_specimen_settings (combiner);
  PlaitPlugin *over = first ? test_plugin (world.registry, PLAIT_PLUGIN_ENCODER, first) : NULL;
  g_autoptr (PlaitSettings) over_settings = over ? plait_specimen_settings (over) : NULL;
  PlaitSpecimenSource sources[]
      = { { .encoder = encoder, .settings = encoder_settings }, { .encoder = encoder, .settings = encoder_settings } };
  PlaitPlugin *coverage = coverage_name ? test_plugin (world.registry, PLAIT_PLUGIN_COVERAGE, coverage_name) : NULL;
  g_autoptr (PlaitSettings) coverage_settings = coverage ? plait_specimen_settings (coverage) : NULL;
  PlaitSpecimenDecoder decoder = { combiner, combiner_settings, coverage, coverage_settings, settings };
  GError *error = NULL;

  if (sentinel)
    CHECK (plait_settings_set (combiner_settings, "sentinel", "true", NULL));
  if (over)
    sources[0] = (PlaitSpecimenSource){ over, over_settings, encoder, encoder_settings };
  world.model = plait_specimen_new (sources, 2, &decoder, 11, &error);
  CHECK_NO_ERROR (error);
  /* Not before plugins are tried in a forked child, which AddressSanitizer does not survive while threads start. */
  world.pool = plait_pool_new (2, NULL);
  return world;
}

static World
world_over (const char *first, const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  return world_with (first, combiner, plait_specimen_decoder (decoder), coverage, sentinel);
}

static World
world_new (const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  return world_over (g_str_equal (combiner, "descent") ? "pyramid" : NULL, combiner, decoder, coverage, sentinel);
}

static PlaitDecodeSettings
decode_settings (gint64 beam)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = beam;
  settings.n_best = beam;
  settings.maximum_length = 7;
  return settings;
}

/* The batch with sentence s's target replaced by @hypotheses[s]'s place @place; only ended hypotheses can be a
 * target. */
static PlaitBatch *
batch_with_targets (const PlaitSpecimen *model, const PlaitHypotheses *hypotheses, guint place)
{
  gint64 found[3];
  PlaitBatch *batch;

  for (gint64 s = 0; s < 3; s++)
    found[s] = hypotheses[s].hypotheses[place].length;
  batch = plait_specimen_batch (model, 0, 3, lengths, found);
  for (gint64 s = 0; s < 3; s++)
    {
      const PlaitHypothesis *hypothesis = &hypotheses[s].hypotheses[place];
      gint64 row = batch->target_rows.offsets[s];

      for (gint64 t = 0; t < hypothesis->length; t++)
        {
          ((gint32 *)batch->target_inputs)[row + t + 1] = hypothesis->tokens[t];
          ((gint32 *)batch->target_outputs)[row + t] = hypothesis->tokens[t];
        }
    }
  return batch;
}

static gint64
steps_of (const PlaitHypothesis *hypothesis)
{
  return hypothesis->length + (hypothesis->ended ? 1 : 0);
}

static void
check_scores (World *world, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place)
{
  g_autoptr (PlaitBatch) batch = batch_with_targets (world->model, hypotheses, place);
  double rows[64];
  GError *error = NULL;

  CHECK (plait_search_forced (search, batch, rows, NULL, FALSE, &error));
  CHECK_NO_ERROR (error);
  for (gint64 s = 0; s < 3; s++)
    {
      const PlaitHypothesis *hypothesis = &hypotheses[s].hypotheses[place];
      double sum = 0;

      for (gint64 t = 0; t < steps_of (hypothesis); t++)
        sum += rows[batch->target_rows.offsets[s] + t];
      CHECK_NEAR (hypothesis->log_probability, sum, 1e-4 * (1 + fabs (sum)));
    }
}

static void
check_beam (World *world)
{
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world->model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (4);
  g_autoptr (PlaitSearch) search = plait_search_new (world->model->model, world->pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  GError *error = NULL;
  PlaitHypotheses *found = plait_search_batch (search, batch, &settings, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (found != NULL);
  for (guint place = 0; place < 4; place++)
    check_scores (world, search, found, place);
  plait_hypotheses_free (found, 3);
}

/* Every hypothesis of a beam has the log-probability that forced decoding gives it: caches and ancestry are right. */
TEST_CASE (search, scores_as_forced_decoding_does)
{
  for (guint c = 0; c < G_N_ELEMENTS (combiners); c++)
    for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
      {
        g_auto (World) world = world_new (combiners[c], d, NULL, FALSE);
        CONTEXT ("%s, decoder %u", combiners[c], d);

        check_beam (&world);
      }
}

/* So has it where the decoder reads another token first, and there are no longer the losses that were. */
TEST_CASE (search, begins_with_the_start_that_is_set)
{
  for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
    for (gint start = PLAIT_START_BOS; start <= PLAIT_START_PAD; start++)
      {
        PlaitDecoderSettings settings = plait_specimen_decoder (d);
        static double losses[PLAIT_START_PAD + 1][64];
        GError *error = NULL;
        CONTEXT ("decoder %u, start %d", d, start);

        settings.start = start;
        settings.embedding_norm = TRUE;
        g_auto (World) world = world_with (NULL, "serial", settings, NULL, FALSE);
        g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
        g_autoptr (PlaitSearch) search
            = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

        check_beam (&world);
        CHECK (plait_search_forced (search, batch, losses[start], NULL, FALSE, &error));
        CHECK_NO_ERROR (error);
        for (gint64 s = 0; s < 3; s++)
          for (gint other = 0; other < start; other++)
            CHECK (losses[start][batch->target_rows.offsets[s]] != losses[other][batch->target_rows.offsets[s]]);
      }
}

/* The two memories of documents, and that of a second source, under every combiner of memories. */
TEST_CASE (search, scores_documents_as_forced_decoding_does)
{
  for (guint c = 0; c < COVERED_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
      {
        g_auto (World) world = world_over ("hat", combiners[c], d, NULL, FALSE);
        CONTEXT ("%s, decoder %u", combiners[c], d);

        check_beam (&world);
      }
}

/* So has every hypothesis where the finished ones are set aside, and the beam has as many. */
TEST_CASE (search, sets_finished_hypotheses_aside)
{
  static const guint decoders[] = { 0, 3 };

  for (guint d = 0; d < G_N_ELEMENTS (decoders); d++)
    for (gint finished = PLAIT_FINISHED_SHRINK; finished <= PLAIT_FINISHED_REFILL; finished++)
      {
        CONTEXT ("decoder %u, finished %d", decoders[d], finished);
        g_auto (World) world = world_new ("serial", decoders[d], NULL, FALSE);
        g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
        PlaitDecodeSettings settings = decode_settings (4);
        g_autoptr (PlaitSearch) search
            = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
        PlaitHypotheses *found;

        settings.ranking = PLAIT_RANK_FINAL;
        settings.finished = finished;
        found = plait_search_batch (search, batch, &settings, NULL);
        REQUIRE (found != NULL);
        for (gint64 s = 0; s < 3; s++)
          CHECK_INT (found[s].n, 4);
        for (guint place = 0; place < 4; place++)
          check_scores (&world, search, found, place);
        plait_hypotheses_free (found, 3);
      }
}

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

/* The attention that a beam paid, followed along the winner's ancestry, is that of forced decoding of the winner, at
 * every layer, head, source and the contexts; and its rows sum to one. */
static void
check_attention (const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  g_auto (World) world = world_new (combiner, decoder, coverage, sentinel);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (4);
  g_autoptr (PlaitSearch) search = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitSentenceAttention *beam = NULL;
  PlaitSentenceAttention *forced = NULL;
  g_autoptr (PlaitBatch) winners = NULL;
  double rows[64];
  PlaitHypotheses *found = plait_search_batch_with_attention (search, batch, &settings, &beam, TRUE, NULL);
  guint heads = decoder < 2 ? 2 : 1;
  CONTEXT ("%s, decoder %u", combiner, decoder);

  REQUIRE (found != NULL);
  winners = batch_with_targets (world.model, found, 0);
  CHECK (plait_search_forced (search, winners, rows, &forced, TRUE, NULL));
  for (gint64 s = 0; s < 3; s++)
    {
      const PlaitSentenceAttention *a = &beam[s];
      const PlaitSentenceAttention *b = &forced[s];

      CHECK_INT (a->length, steps_of (&found[s].hypotheses[0]));
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
  plait_hypotheses_free (found, 3);
  plait_sentence_attention_free (beam, 3);
  plait_sentence_attention_free (forced, 3);
}

TEST_CASE (search, follows_attention_along_the_ancestry)
{
  for (guint c = 0; c < G_N_ELEMENTS (combiners); c++)
    for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
      check_attention (combiners[c], d, NULL, FALSE);
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
    for (guint c = 0; c < COVERED_COMBINERS; c++)
      for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
        {
          CONTEXT ("%s", coverages[v]);

          check_attention (combiners[c], d, coverages[v], FALSE);
        }
}

/* With one hypothesis a step is a word; each weighs all rows of both sources in both layers with both heads, but where
 * a combiner chose some. */
TEST_CASE (search, counts_what_it_touches)
{
  static const struct
  {
    const char *combiner;
    guint decoder;
    gint64 attentions; /* layers times heads */
  } cases[]
      = { { "serial", 0, 4 }, { "flat", 1, 4 }, { "hierarchical", 2, 1 }, { "descent", 0, 4 }, { "descent", 2, 1 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_auto (World) world = world_new (cases[c].combiner, cases[c].decoder, NULL, FALSE);
      g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
      PlaitDecodeSettings settings = decode_settings (1);
      g_autoptr (PlaitSearch) search
          = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      PlaitHypotheses *found = plait_search_batch (search, batch, &settings, NULL);
      PlaitSearchWork work = plait_search_work (search), nothing = plait_search_work_since (search, &work);
      gint64 words = 0, of_first = 0, of_second = 0;
      CONTEXT ("%s, decoder %u", cases[c].combiner, cases[c].decoder);

      REQUIRE (found != NULL);
      for (gint64 s = 0; s < 3; s++)
        {
          gint64 steps = steps_of (&found[s].hypotheses[0]);

          words += steps;
          of_first += steps * lengths_first[s] * cases[c].attentions;
          of_second += steps * lengths_second[s] * cases[c].attentions;
        }
      CHECK_INT (work.words, words);
      CHECK_INT (work.steps, words);
      CHECK (work.seconds > 0);
      if (g_str_equal (cases[c].combiner, "descent"))
        {
          CHECK (work.touched.chosen >= words);
          CHECK_INT (work.touched.all, work.touched.chosen + of_second);
        }
      else
        {
          CHECK_INT (work.touched.chosen, 0);
          CHECK_INT (work.touched.all, of_first + of_second);
        }
      CHECK_NEAR (plait_search_work_touched (&work), (double)work.touched.all / (double)words, 1e-12);
      CHECK (nothing.words == 0 && nothing.steps == 0 && nothing.touched.all == 0 && nothing.touched.chosen == 0);
      plait_hypotheses_free (found, 3);
    }
}

/* Greedy search takes the most probable word of forced decoding at every step. */
TEST_CASE (search, is_greedy_with_a_beam_of_one)
{
  g_auto (World) world = world_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (1);
  g_autoptr (PlaitSearch) search = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found = plait_search_batch (search, batch, &settings, NULL);
  PlaitHypotheses *wide;

  REQUIRE (found != NULL);
  for (gint64 s = 0; s < 3; s++)
    {
      CHECK_INT (found[s].n, 1);
      for (gint64 t = 0; t < found[s].hypotheses[0].length; t++)
        CHECK (found[s].hypotheses[0].tokens[t] >= PLAIT_TOKEN_UNKNOWN);
    }
  settings = decode_settings (8);
  settings.length_normalisation = PLAIT_NORMALISE_NONE;
  wide = plait_search_batch (search, batch, &settings, NULL);
  for (gint64 s = 0; s < 3; s++)
    CHECK (wide[s].hypotheses[0].log_probability >= found[s].hypotheses[0].log_probability - 1e-5);
  plait_hypotheses_free (found, 3);
  plait_hypotheses_free (wide, 3);
}

/* A sentence is translated alike alone and in a batch, and for any number of threads. */
TEST_CASE (search, does_not_depend_on_the_batch)
{
  for (guint i = 0; i < G_N_ELEMENTS (combiners) * PLAIT_SPECIMEN_DECODERS; i++)
    {
      guint c = i / PLAIT_SPECIMEN_DECODERS, d = i % PLAIT_SPECIMEN_DECODERS;
      g_auto (World) world = world_new (combiners[c], d, NULL, FALSE);
      g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
      PlaitDecodeSettings settings = decode_settings (3);
      g_autoptr (PlaitSearch) search
          = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      PlaitHypotheses *together = plait_search_batch (search, batch, &settings, NULL);
      CONTEXT ("%s, decoder %u", combiners[c], d);

      for (gint64 s = 0; s < 3; s++)
        {
          const gint64 *const one[] = { lengths_first + s, lengths_second + s };
          g_autoptr (PlaitBatch) alone = plait_specimen_batch (world.model, s, 1, one, targets + s);
          PlaitHypotheses *found = plait_search_batch (search, alone, &settings, NULL);
          const PlaitHypothesis *a = &found[0].hypotheses[0];
          const PlaitHypothesis *b = &together[s].hypotheses[0];

          CHECK_INT (a->length, b->length);
          CHECK (memcmp (a->tokens, b->tokens, MIN (a->length, b->length) * sizeof *a->tokens) == 0);
          CHECK_NEAR (a->log_probability, b->log_probability, 1e-4);
          plait_hypotheses_free (found, 1);
        }
      plait_hypotheses_free (together, 3);
    }
}

/* The fewest and the most tokens are kept, and the limit leaves hypotheses as they stand. */
TEST_CASE (search, keeps_to_the_lengths_that_are_asked_for)
{
  g_auto (World) world = world_new ("flat", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (3);
  g_autoptr (PlaitSearch) search = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found;

  settings.minimum_length = settings.maximum_length = 5;
  found = plait_search_batch (search, batch, &settings, NULL);
  REQUIRE (found != NULL);
  for (gint64 s = 0; s < 3; s++)
    for (guint i = 0; i < found[s].n; i++)
      {
        CHECK_INT (found[s].hypotheses[i].length, 5);
        CHECK (!found[s].hypotheses[i].ended);
      }
  plait_hypotheses_free (found, 3);
}

/* Where the last token that the limit allows is the end, all hypotheses have it, at its own probability; each
 * sentence's limit is its own, @ratio tokens a row of the longest source and @offset. Returns how many sentences came
 * to theirs. */
static guint
check_ends (World *world, gint finished, double ratio, gint64 offset)
{
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world->model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (4);
  g_autoptr (PlaitSearch) search = plait_search_new (world->model->model, world->pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found;
  guint at_limit = 0;

  settings.finished = finished;
  settings.maximum_ratio = ratio;
  settings.maximum_offset = offset;
  settings.at_limit = PLAIT_LIMIT_END;
  found = plait_search_batch (search, batch, &settings, NULL);
  CHECK (found != NULL);
  if (!found)
    return 0;
  for (gint64 s = 0; s < 3; s++)
    {
      gint64 longest
          = MAX (plait_ragged_length (batch->inputs[0].rows, s), plait_ragged_length (batch->inputs[1].rows, s));
      gint64 limit = MIN (settings.maximum_length, MAX ((gint64)(ratio * (double)longest) + offset, 2)), reached = 0;

      for (guint i = 0; i < found[s].n; i++)
        {
          CHECK (found[s].hypotheses[i].ended);
          CHECK (steps_of (&found[s].hypotheses[i]) <= limit);
          reached = MAX (reached, steps_of (&found[s].hypotheses[i]));
        }
      at_limit += reached == limit;
    }
  check_scores (world, search, found, 0);
  plait_hypotheses_free (found, 3);
  return at_limit;
}

TEST_CASE (search, ends_at_the_limit_where_asked)
{
  guint near = 0, far = 0;

  for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
    {
      g_auto (World) world = world_new ("flat", d, NULL, FALSE);

      for (gint finished = PLAIT_FINISHED_COMPETE; finished <= PLAIT_FINISHED_REFILL; finished++)
        {
          CONTEXT ("decoder %u, finished %d", d, finished);

          near += check_ends (&world, finished, 0.5, 1);
          far += check_ends (&world, finished, 0.5, 3);
        }
    }
  /* A model may prefer to end before; that hardly any does so is what drawn weights come to. */
  CHECK (near > 8 * PLAIT_SPECIMEN_DECODERS);
  CHECK (far > 8 * PLAIT_SPECIMEN_DECODERS);
}

/* What is asked for at least is not cut by the limit for short sources. */
TEST_CASE (search, the_fewest_tokens_go_before_the_ratio)
{
  g_auto (World) world = world_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (3);
  g_autoptr (PlaitSearch) search = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found;

  settings.minimum_length = 20;
  settings.maximum_length = 40;
  settings.maximum_ratio = 1;
  found = plait_search_batch (search, batch, &settings, NULL);
  REQUIRE (found != NULL);
  for (gint64 s = 0; s < 3; s++)
    for (guint i = 0; i < found[s].n; i++)
      {
        CHECK (found[s].hypotheses[i].length >= 20);
        CHECK (steps_of (&found[s].hypotheses[i]) == 21);
      }
  plait_hypotheses_free (found, 3);
}

/* How many n-grams of @hypothesis stand there before. */
static guint
count_repeats (const PlaitHypothesis *hypothesis, gint64 n)
{
  guint repeats = 0;

  for (gint64 i = 0; i + n <= hypothesis->length; i++)
    for (gint64 k = 0; k < i; k++)
      repeats += memcmp (hypothesis->tokens + i, hypothesis->tokens + k, (gsize)n * sizeof *hypothesis->tokens) == 0;
  return repeats;
}

/* A model that has learnt nothing says the same again and again; where it may not, no n-gram stands twice, and scores
 * are still those of forced decoding. */
TEST_CASE (search, repeats_no_ngram_that_it_may_not)
{
  g_auto (World) world = world_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
  g_autoptr (PlaitSearch) search = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  for (gint64 n = 1; n <= 3; n++)
    for (gint64 beam = 1; beam <= 4; beam += 3)
      {
        CONTEXT ("%d-grams, beam %d", (int)n, (int)beam);
        PlaitDecodeSettings settings = decode_settings (beam);
        PlaitHypotheses *found[2];
        guint repeats[2] = { 0 };

        settings.minimum_length = 4;
        settings.maximum_length = 12;
        for (guint ruled = 0; ruled < 2; ruled++)
          {
            settings.no_repeat_ngrams = ruled ? n : 0;
            found[ruled] = plait_search_batch (search, batch, &settings, NULL);
            REQUIRE (found[ruled] != NULL);
            for (gint64 s = 0; s < 3; s++)
              for (guint i = 0; i < found[ruled][s].n; i++)
                repeats[ruled] += count_repeats (&found[ruled][s].hypotheses[i], n);
          }
        CHECK (repeats[0] > 0);
        CHECK_INT (repeats[1], 0);
        for (guint place = 0; place < (guint)beam; place++)
          check_scores (&world, search, found[1], place);
        plait_hypotheses_free (found[0], 3);
        plait_hypotheses_free (found[1], 3);
      }
}

/* A limit that nothing fits in is an error that says what to lower, and the search can be used again. */
TEST_CASE (search, says_what_to_lower_when_memory_is_out)
{
  g_auto (World) world = world_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (world.model, 0, 3, lengths, targets);
  PlaitDecodeSettings settings = decode_settings (3);
  g_autoptr (PlaitSearch) search = plait_search_new (world.model->model, world.pool, PLAIT_PRECISION_FLOAT, 4096, NULL);
  GError *error = NULL;

  CHECK (!plait_search_batch (search, batch, &settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "lower decode.batch");
}
