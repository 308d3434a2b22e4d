/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "models.h"
#include "autograd/layer-operators.h"

#include <math.h>
#include <string.h>

/* Tests of a pyramid over another encoder in a model: rows, links, summary of the leaves, losses. */

/* Builds a model with a pyramid over @leaves_name as its only source. */
static PlaitFixture *
pyramid_model (PlaitRegistry *registry, const char *leaves_name, const char *const *keys, GError **error)
{
  PlaitPlugin *pyramid = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "pyramid");
  PlaitPlugin *leaves = test_plugin (registry, PLAIT_PLUGIN_ENCODER, leaves_name);
  PlaitPlugin *serial = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (pyramid);
  g_autoptr (PlaitSettings) leaves_settings = plait_fixture_settings (leaves);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (serial);
  PlaitFixtureSource source = { pyramid, settings, leaves, leaves_settings };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (2, serial, combiner_settings, NULL, NULL);

  for (; *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  return plait_fixture_new (&source, 1, &decoder, 6, error);
}

typedef struct
{
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTape *tape;
} Stand;

static Stand
fixture_new (void)
{
  Stand fixture = { plait_pool_new (1, NULL), plait_arena_new (0), NULL };

  fixture.tape = plait_tape_new (fixture.pool, fixture.arena);
  plait_tape_begin (fixture.tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  return fixture;
}

static void
fixture_clear (Stand *fixture)
{
  plait_tape_free (fixture->tape);
  plait_arena_free (fixture->arena);
  plait_pool_free (fixture->pool);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stand, fixture_clear)

static const gint64 lengths[] = { 5, 0, 1 }, targets[] = { 3, 1, 2 };
static const gint64 *const of_source[] = { lengths };

/* The first sentence has five leaves below three and two rows, in blocks of two; another has one leaf and no row above.
 * The decoder begins with the last state of the leaves. */
TEST_CASE (pyramid_model, memory_has_links_and_the_leaves_tokens)
{
  static const char *const keys[] = { "levels", "2", NULL };
  static const gint64 tokens[] = { 0, 1, 2, 3, 4, -1, -1, -1, -1, -1, 0 };
  static const gint64 level[] = { 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 0 };
  static const gint64 parents[] = { 5, 5, 6, 6, 7, 8, 8, 9, -1, -1, -1 };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = pyramid_model (registry, "bilstm", keys, NO_ERROR);
  g_auto (Stand) fixture = fixture_new ();
  PlaitEncoderOutputs encoded;
  const PlaitLinks *links;

  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, 3, of_source, targets);
  encoded = plait_model_encode (model->model, fixture.tape, batch, NULL);
  CHECK_INT (encoded.n_memories, 1);
  CHECK_INT (plait_ragged_rows (encoded.memories[0].rows), G_N_ELEMENTS (tokens));
  links = encoded.memories[0].links;
  CHECK (memcmp (links->token, tokens, sizeof tokens) == 0);
  CHECK (memcmp (links->level, level, sizeof level) == 0);
  CHECK (memcmp (links->parent, parents, sizeof parents) == 0);
  CHECK_INT (links->first_child[9], 7);
  CHECK_INT (links->n_children[9], 1);
  CHECK (encoded.memories[0].cells != NULL);
  CHECK_INT (encoded.n_summaries, 1);
  CHECK_INT (encoded.summaries[0]->value.rows, 3);
  CHECK_INT (plait_model_losses (model->model)->n, 0);
}

/* The loss of the model includes tau times the ponder cost of both levels. */
TEST_CASE (pyramid_model, ponder_cost_is_part_of_the_loss)
{
  static const char *const keys[] = { "pool", "act", "tau", "0.25", NULL };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = pyramid_model (registry, "bigru", keys, NO_ERROR);
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, 3, of_source, targets);
  PlaitOutputLossOptions options = { .scale = 0.5 };
  g_auto (Stand) fixture = fixture_new ();
  PlaitModelSums sums;
  double cost, root;

  CHECK_INT (plait_model_losses (model->model)->n, 1);
  CHECK_STRING (plait_model_losses (model->model)->columns[0].name, "first.ponder");
  root = plait_model_loss (model->model, fixture.tape, batch, &options, &sums, NULL, NULL)->value.data[0];
  cost = sums.losses[0];
  /* Eight rows in five blocks: three blocks of two rows, whose remainders are below one, and two blocks of one row,
   * whose remainders are one. */
  CHECK (cost > 8 + 2 && cost < 8 + 5);
  CHECK_NEAR (sums.auxiliary, 0.25 * cost, 1e-5);
  CHECK_NEAR (root, 0.5 * (sums.words.loss + 0.25 * cost), 1e-4);
}

TEST_CASE (pyramid_model, refuses_levels_without_number_or_parameters_to_share)
{
  static const char *const apart[] = { "levels", "0", NULL };
  static const char *const shared[] = { "levels", "0", "shared", "true", NULL };
  static const char *const mean[] = { "levels", "0", "pool", "mean", NULL };
  PlaitRegistry *registry = test_registry ();
  GError *error = NULL;
  g_autoptr (PlaitFixture) refused = pyramid_model (registry, "bigru", apart, &error);

  CHECK (!refused);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "set shared=true");
  g_clear_error (&error);
  g_autoptr (PlaitFixture) one = pyramid_model (registry, "bigru", shared, NO_ERROR);
  g_autoptr (PlaitFixture) other = pyramid_model (registry, "bigru", mean, NO_ERROR);
  CHECK (one && other);
}
