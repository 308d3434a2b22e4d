/* SPDX-License-Identifier: MIT */
#include "misbehaving.h"

/* Tests of faulty outputs: of logits, and of a mixture with words that are copied from the first memory. */

typedef struct
{
  PlaitParameters *parameters;
} Own;

/* Differences of the faulty output from the valid one. */
typedef struct
{
  gboolean (*build) (const PlaitOutputBuild *build, PlaitOutputShape *shape, GError **error);
  void (*output) (PlaitOutputPass *pass, PlaitTape *tape, const Own *own);
  gboolean mixture; /* TRUE: the output copies words of the first memory */
} FaultyOutput;

static FaultyOutput faulty_output;

static gboolean
build_output (const PlaitOutputBuild *build, gconstpointer settings, gpointer state, PlaitOutputShape *shape,
              GError **error)
{
  ((Own *)state)->parameters = build->parameters;
  plait_output_declare_table (build, shape);
  shape->copies[0] = faulty_output.mixture;
  return !faulty_output.build || faulty_output.build (build, shape, error);
}

static void
output (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass)
{
  pass->logit_states = pass->states;
  if (faulty_output.mixture)
    {
      pass->gate = plait_columns (pass->tape, pass->states, 0, 1);
      pass->copied[0] = pass->attention[0].weights;
    }
  if (faulty_output.output)
    faulty_output.output (pass, pass->tape, state);
}

static const PlaitOutputTable table = { .state_size = sizeof (Own), .build = build_output, .output = output };

static void
check_output (guint decoders, FaultyOutput faulty, const char *who, const char *sentence)
{
  faulty_output = faulty;
  faulty_plugin = (FaultyPlugin){ .output_table = &table };
  check_fault (decoders, who, sentence);
}

TEST_CASE (misbehaving_outputs, the_sound_ones_run)
{
  for (guint i = 0; i < 2 * PLAIT_FIXTURE_DECODERS; i++)
    {
      CONTEXT ("%u", i);
      faulty_output = (FaultyOutput){ .mixture = i % 2 };
      faulty_plugin = (FaultyPlugin){ .output_table = &table };
      CHECK (release (i / 2, NO_ERROR));
    }
}

/* Gives a copy of the gate, which is a column of the states. */
static void
copy_gate (PlaitOutputPass *pass, PlaitTape *tape, const Own *own)
{
  pass->gate = plait_scale (tape, pass->gate, 1);
}

/* Gives the weights of copied words as a column of a wider node. */
static void
widen_weights (PlaitOutputPass *pass, PlaitTape *tape, const Own *own)
{
  PlaitNode *both[] = { plait_scale (tape, pass->copied[0], 2), pass->copied[0] };

  pass->copied[0] = plait_columns (tape, plait_concatenate_columns (tape, both, 2), 1, 1);
}

TEST_CASE (misbehaving_outputs, columns_count_as_their_copies)
{
  void (*const outputs[]) (PlaitOutputPass * pass, PlaitTape * tape, const Own *own) = { copy_gate, widen_weights };

  for (guint i = 0; i < PLAIT_FIXTURE_DECODERS; i++)
    {
      double expected;

      faulty_plugin = (FaultyPlugin){ .output_table = &table };
      faulty_output = (FaultyOutput){ .mixture = TRUE };
      REQUIRE (release (i, NO_ERROR));
      expected = misbehaving_loss;
      for (guint k = 0; k < G_N_ELEMENTS (outputs); k++)
        {
          CONTEXT ("decoder %u, output %u", i, k);
          faulty_output.output = outputs[k];
          REQUIRE (release (i, NO_ERROR));
          CHECK_NEAR (misbehaving_loss, expected, 1e-6 * expected);
        }
    }
}

#define OUTPUT_BUILD(name, deed, sentence)                                                                             \
  FUNCTION (gboolean, name, (const PlaitOutputBuild *build, PlaitOutputShape *shape, GError **error), TRUE, deed)      \
  TEST_CASE (misbehaving_output_builds, name)                                                                          \
  {                                                                                                                    \
    check_output (BOTH, (FaultyOutput){ .build = name }, OUTPUT, sentence);                                            \
  }
#define OUTPUT_WITH(of_mixture, name, deed, sentence)                                                                  \
  FUNCTION (void, name, (PlaitOutputPass * pass, PlaitTape * tape, const Own *own), , deed)                            \
  TEST_CASE (misbehaving_outputs, name)                                                                                \
  {                                                                                                                    \
    check_output (BOTH, (FaultyOutput){ .output = name, .mixture = of_mixture }, OUTPUT ", output", sentence);         \
  }
#define LOGITS(name, deed, sentence) OUTPUT_WITH (FALSE, name, deed, sentence)
#define MIXTURE(name, deed, sentence) OUTPUT_WITH (TRUE, name, deed, sentence)

#define OWN(suffix, rows, width)                                                                                       \
  plait_parameters_declare (build->parameters,                                                                         \
                            plait_parameters_text (build->parameters, plait_test_format ("%s" suffix, build->prefix)), \
                            rows, width, PLAIT_ZEROS)
#define WORDS (build->vocabulary_size)

/* A parameter that the model does not have. */
static PlaitParameter stranger = { .name = "stranger", .value = { NULL, 1, PLAIT_FIXTURE_WORDS, PLAIT_FIXTURE_WORDS } };

/* clang-format off */
OUTPUT_BUILD (refuses_without_words, return FALSE, "build returned FALSE without an error: set an error")
OUTPUT_BUILD (accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
OUTPUT_BUILD (refuses, FAIL; return FALSE, "not to my taste")
OUTPUT_BUILD (no_table, shape->table = NULL, "build gives no table of word vectors; call plait_output_declare_table")
OUTPUT_BUILD (table_of_a_stranger, shape->table = &stranger, "build gives a table that is not a parameter of the model")
OUTPUT_BUILD (bias_of_a_stranger, shape->bias = &stranger, "build gives a bias that is not a parameter of the model")
OUTPUT_BUILD (table_of_too_few_words, shape->table = OWN ("a", WORDS - 1, 8), "build gives a table of 10 rows; give one row for each of 11 words")
OUTPUT_BUILD (table_of_nothing, shape->table = OWN ("a", WORDS, 0), "a is declared as [11, 0]")
OUTPUT_BUILD (bias_of_too_few_words, shape->bias = OWN ("a", 1, WORDS - 1), "build gives a bias [1, 10]; expected [1, 11]")
OUTPUT_BUILD (bias_that_stands, shape->bias = OWN ("a", WORDS, 1), "build gives a bias [11, 1]; expected [1, 11]")
OUTPUT_BUILD (parameter_outside, plait_parameters_declare (build->parameters, "decoder/a", 1, 1, PLAIT_ZEROS), "build: the parameter decoder/a is declared, but its name must begin with decoder/output/")
OUTPUT_BUILD (parameter_twice, OWN ("a", 1, 1); OWN ("a", 1, 1), "build: the parameter decoder/output/a is declared twice")
OUTPUT_BUILD (copies_no_memory, shape->copies[2] = TRUE, "build copies memory 2, but there are only 2")
OUTPUT_BUILD (reads_no_head, shape->copies[0] = TRUE; shape->head = 9, "this output copies words by head 9")
OUTPUT_BUILD (reads_no_attention, shape->copies[0] = TRUE; shape->attention = "other", "but combiner \"serial\" of [combiner] has no attention called other to this memory")

/*
 * Outputs that do not run as they declared
 */

LOGITS (gives_nothing, pass->logit_states = NULL, "gave NULL for states of the logits: give a node [")
LOGITS (gives_too_few_rows, pass->logit_states = FEWER (pass->states), "gave states of the logits of the shape [")
LOGITS (gives_too_few_columns, pass->logit_states = NARROWER (pass->states), ", 7], expected [")
LOGITS (gives_a_gate_alone, pass->gate = plait_columns (tape, pass->states, 0, 1), "gave a gate, but PlaitOutputShape.copies is FALSE for all memories")
LOGITS (copies_undeclared, pass->copied[1] = zeros (tape, 1, 1), "copies words of memory 1, which build does not declare")
LOGITS (weighs_undeclared, plait_output_weigh (pass, 1, zeros (tape, pass->states->value.rows, 1)), "plait_output_weigh: memory 1 has no attention weights to read: set copies[1] in build")
LOGITS (weighs_no_memory, plait_output_weigh (pass, 2, zeros (tape, pass->states->value.rows, 1)), "plait_output_weigh was called with wrong arguments")
LOGITS (looks_at_undeclared_weights, if (!pass->attention[1].weights) pass->logit_states = NULL, "gave NULL for states of the logits")
LOGITS (takes_the_tape_away, pass->tape = NULL, "changes fields of the pass that the host filled")
LOGITS (replaces_the_states, pass->states = FEWER (pass->states), "changes fields of the pass that the host filled")
LOGITS (replaces_the_copies, pass->copied = NULL, "changes fields of the pass that the host filled")
LOGITS (parameter_late, plait_parameters_declare (own->parameters, "decoder/output/late", 1, 1, PLAIT_ZEROS); pass->logit_states = plait_scale (tape, pass->states, 1), "the parameter \"decoder/output/late\" is declared while the model runs")
LOGITS (begins_a_pass, plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "a", NULL, 1)), "calls plait_tape_begin, which only the host may call")
LOGITS (goes_back_by_itself, plait_tape_backward (tape, zeros (tape, 1, 1)), "calls plait_tape_backward, which only the host may call")
MIXTURE (forgets_the_gate, pass->gate = NULL, "gave NULL for a gate: give a node [")
MIXTURE (gives_too_few_gates, pass->gate = FEWER (pass->gate), "gave a gate of the shape [")
MIXTURE (gives_two_gates, pass->gate = plait_columns (tape, pass->states, 0, 2), "gave a gate of the shape [")
MIXTURE (copies_nothing, pass->copied[0] = NULL, "gave NULL for weights of copied words: give a node [")
MIXTURE (copies_too_few, pass->copied[0] = FEWER (pass->copied[0]), "gave weights of copied words of the shape [")
MIXTURE (copies_another_memory, pass->copied[1] = pass->copied[0], "copies words of memory 1, which build does not declare")
MIXTURE (copies_less_than_nothing, pass->copied[0] = plait_scale (tape, pass->copied[0], -1), "gave a copied word of memory 0 the weight -")
MIXTURE (copies_no_number, pass->copied[0] = plait_scale (tape, pass->copied[0], INFINITY), "plait_scale")
MIXTURE (weighs_by_nothing, plait_output_weigh (pass, 0, NULL), "plait_output_weigh was called with wrong arguments")
MIXTURE (weighs_by_too_few, plait_output_weigh (pass, 0, zeros (tape, 1, 1)), "plait_output_weigh was called with wrong arguments")
MIXTURE (weighs_too_wide, plait_output_weigh (pass, 0, pass->states), "plait_output_weigh was called with wrong arguments")
/* clang-format on */
