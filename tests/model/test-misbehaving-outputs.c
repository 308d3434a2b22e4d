/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <string.h>

#include "autograd/internal.h"
#include "process/crash.h"

/* Outputs that break their contract, each in one place, with the message that they end in. */

/* Differences of this output from a valid one that copies the words of both memories. */
static struct
{
  gboolean (*build) (const PlaitOutputBuild *build, PlaitOutputShape *shape, GError **error);
  void (*output) (PlaitOutputPass *pass);
} faulty;

static gboolean
build (const PlaitOutputBuild *from, gconstpointer settings, gpointer state, PlaitOutputShape *shape, GError **error)
{
  plait_output_declare_table (from, shape);
  shape->copies[0] = shape->copies[1] = TRUE;
  return !faulty.build || faulty.build (from, shape, error);
}

/* Returns a constant [rows, width] of @value. */
static PlaitNode *
constant (const PlaitOutputPass *pass, gint64 rows, gint64 width, double value)
{
  PlaitScalar *numbers = plait_arena_new_array (plait_tape_arena (pass->tape), PlaitScalar, rows * width + 1);

  for (gint64 i = 0; i < rows * width; i++)
    numbers[i] = (PlaitScalar)value;
  return plait_leaf (pass->tape, plait_tensor (numbers, rows, width), NULL);
}

static void
output (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass)
{
  pass->logit_states = pass->states;
  pass->gate = constant (pass, pass->states->value.rows, 1, 0);
  for (guint m = 0; m < 2; m++)
    pass->copied[m] = pass->attention[m].weights;
  if (faulty.output)
    faulty.output (pass);
}

typedef struct
{
  PlaitTape *tape;
  PlaitModel *model;
  const PlaitBatch *batch;
} Pass;

static void
run_pass (gpointer data)
{
  const Pass *pass = data;
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  plait_tape_begin (pass->tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_backward (pass->tape,
                       plait_model_loss (pass->model, pass->tape, pass->batch, &options, &sums, NULL, NULL));
}

/* Builds the output into a model with decoder @d, and runs it. */
static gboolean
release (guint d, GError **error)
{
  static const PlaitOutputTable table = { .build = build, .output = output };
  static const gint64 lengths[] = { 3, 2 }, targets[] = { 2, 3 };
  const gint64 *const of_sources[] = { lengths, lengths };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  PlaitPlugin plugin = *test_plugin (registry, PLAIT_PLUGIN_OUTPUT, "pointer");
  PlaitPluginDescriptor descriptor = *plugin.descriptor;
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "transformer"),
              *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  g_autoptr (PlaitSettings) output_settings = plait_fixture_settings (&plugin);
  PlaitFixtureSource sources[]
      = { { .encoder = encoder, .settings = settings }, { .encoder = encoder, .settings = settings } };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (d, combiner, combiner_settings, NULL, NULL);

  descriptor.table = &table;
  plugin.descriptor = &descriptor;
  decoder.output = &plugin;
  decoder.output_settings = output_settings;
  g_autoptr (PlaitFixture) model = plait_fixture_new (sources, 2, &decoder, 3, error);
  if (!model)
    return FALSE;
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, 2, of_sources, targets);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  Pass pass = { tape, model->model, batch };

  return plait_arena_protect (arena, run_pass, &pass, error);
}

/* Checks that the output fails with one message that begins with its name and contains @sentence. */
static void
check_fault (const char *sentence)
{
  for (guint d = 0; d < 3; d += 2)
    {
      g_autoptr (GError) error = NULL;
      CONTEXT ("decoder %u", d);

      CHECK (!release (d, &error));
      CHECK (!plait_crash_get_owner ().who);
      REQUIRE (error != NULL);
      CHECK (g_str_has_prefix (error->message, "output \"pointer\" of [output]"));
      CHECK_CONTAINS (error->message, sentence);
    }
  faulty.build = NULL;
  faulty.output = NULL;
}

TEST_CASE (misbehaving_outputs, the_sound_one_runs)
{
  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      CONTEXT ("decoder %u", d);
      CHECK (release (d, NO_ERROR));
    }
}

#define BUILD(name, deed, sentence)                                                                                    \
  static gboolean name (const PlaitOutputBuild *from, PlaitOutputShape *shape, GError **error)                         \
  {                                                                                                                    \
    deed;                                                                                                              \
    return TRUE;                                                                                                       \
  }                                                                                                                    \
  TEST_CASE (misbehaving_outputs, name)                                                                                \
  {                                                                                                                    \
    faulty.build = name;                                                                                               \
    check_fault (sentence);                                                                                            \
  }
#define OUTPUT(name, deed, sentence)                                                                                   \
  static void name (PlaitOutputPass *pass)                                                                             \
  {                                                                                                                    \
    deed;                                                                                                              \
  }                                                                                                                    \
  TEST_CASE (misbehaving_outputs, name)                                                                                \
  {                                                                                                                    \
    faulty.output = name;                                                                                              \
    check_fault (sentence);                                                                                            \
  }
#define DECLARE(rows, width)                                                                                           \
  plait_parameters_declare (from->parameters, "decoder/output/other", rows, width, PLAIT_ZEROS)

/* clang-format off */
BUILD (build_refuses_without_words, return FALSE, "build returned FALSE without an error")
BUILD (build_has_no_table, shape->table = NULL, "build gives no table; call plait_output_declare_table")
BUILD (table_of_too_few_words, shape->table = DECLARE (3, 8), "build gives a table of 3 rows; give one row for each of 11 words")
BUILD (bias_of_too_few_words, shape->bias = DECLARE (1, 3), "build gives a bias [1, 3]; expected [1, 11]")
BUILD (copies_no_memory, shape->copies[7] = TRUE, "build copies memory 7; there are 2")
BUILD (reads_no_attention, shape->attention = "other", "the combiner combiner \"serial\" of [combiner] has no attention called other to this memory")
BUILD (reads_no_head, shape->head = 9, "it copies words by head 9")
BUILD (parameter_of_another, plait_parameters_declare (from->parameters, "decoder/own", 1, 1, PLAIT_ZEROS), "names here begin with decoder/output/")
OUTPUT (gives_no_states, pass->logit_states = NULL, "output: gave NULL for states of the logits: give a node [")
OUTPUT (gives_states_of_another_width, pass->logit_states = constant (pass, pass->states->value.rows, 3, 0), "gave states of the logits [")
OUTPUT (gives_no_gate, pass->gate = NULL, "gave NULL for a gate")
OUTPUT (gives_a_wide_gate, pass->gate = pass->states, "gave a gate [")
OUTPUT (copies_too_little, pass->copied[1] = NULL, "gave NULL for weights of copied words")
OUTPUT (copies_too_few, pass->copied[0] = constant (pass, 1, 1, 1), "gave weights of copied words [1, 1], expected [")
OUTPUT (copies_less_than_nothing, pass->copied[1] = constant (pass, pass->copied[1]->value.rows, 1, -0.5), "gave a copied word of memory 1 the weight -0.5: give weights of at least 0")
OUTPUT (weighs_no_memory, plait_output_weigh (pass, 5, pass->gate), "plait_output_weigh was called with wrong arguments")
OUTPUT (weighs_too_much, plait_output_weigh (pass, 0, pass->states), "plait_output_weigh was called with wrong arguments")
/* clang-format on */

static gboolean
copy_nothing (const PlaitOutputBuild *from, PlaitOutputShape *shape, GError **error)
{
  memset (shape->copies, 0, sizeof shape->copies);
  return TRUE;
}

static void
give_a_gate (PlaitOutputPass *pass)
{
  pass->copied[0] = pass->copied[1] = NULL;
}

static void
copy_undeclared (PlaitOutputPass *pass)
{
  pass->gate = NULL;
  pass->copied[1] = pass->states;
}

TEST_CASE (misbehaving_outputs, gives_a_gate_without_copies)
{
  faulty.build = copy_nothing;
  faulty.output = give_a_gate;
  check_fault ("gave a gate, but build declares no memory whose words it copies");
}

TEST_CASE (misbehaving_outputs, copies_what_it_did_not_declare)
{
  faulty.build = copy_nothing;
  faulty.output = copy_undeclared;
  check_fault ("copies words of memory 1, which build does not declare");
}
