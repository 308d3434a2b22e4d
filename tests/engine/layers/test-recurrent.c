/* SPDX-License-Identifier: MIT */
#include "layers/recurrent-stack.h"

#include <string.h>

#include "reference.h"
#include "layers/parameter-set.h"

/* Tests of recurrent cells against a float64 reference and against each other. */

enum
{
  INPUT = 6,
  WIDTH = 4,
};

static const gint64 offsets[] = { 0, 3, 3, 5, 9 };
static const PlaitRagged rows = { 4, offsets };

static const PlaitCellDeclaration declarations[] = {
  { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_BEFORE, .input_width = INPUT, .width = WIDTH },
  { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .input_width = INPUT, .width = WIDTH },
  { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .input_width = INPUT, .width = WIDTH, .recurrent_bias = TRUE },
  { .kind = PLAIT_CELL_LSTM, .input_width = INPUT, .width = WIDTH, .forget_bias = 1 },
};

static const PlaitCellState nothing = { NULL, NULL };

static void
check_gradient (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  reference_check_gradient (parameter, column, the_case, name);
}

/* Calls @visit for each weight of @cell with its name in the reference: @prefix, then W, U or b, then the gate. */
static void
visit_cell (const PlaitCell *cell, const char *the_case, const char *prefix,
            void (*visit) (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name))
{
  const char *gates = cell->declaration.kind == PLAIT_CELL_GRU ? "rzh" : "ifgo";

  for (gint64 i = 0; gates[i] != '\0'; i++)
    {
      g_autofree char *recurrent = g_strdup_printf ("%sU%c", prefix, gates[i]);
      gboolean apart = cell->candidate.weight && i == 2;

      visit (cell->input.weight, i * WIDTH, the_case, plait_test_format ("%sW%c", prefix, gates[i]));
      visit (cell->input.bias, i * WIDTH, the_case, plait_test_format ("%sb%c", prefix, gates[i]));
      visit (apart ? cell->candidate.weight : cell->recurrent.weight, apart ? 0 : i * WIDTH, the_case, recurrent);
    }
  visit (cell->recurrent.bias, 2 * WIDTH, the_case, "ch");
}

/* Checks values and all gradients of the reference's sentence, read forwards; for GRUs also backwards, with the same
 * cell. */
static void
hold_to_reference (const char *name, const PlaitCellDeclaration *declaration)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitCell cell = plait_cell_declare (parameters, "cell", declaration);
  PlaitRagged one = { 1, (gint64[]){ 0, 5 } };
  gboolean lstm = declaration->kind == PLAIT_CELL_LSTM;
  const char *const outputs[] = { "h", lstm ? "c" : "reversed" };
  PlaitNode *x, *projected, *found[2], *roots[2];
  PlaitCellState state;

  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_cell (&cell, name, "", reference_set);
  x = reference_input (&bench, name, "x");
  projected = plait_cell_project (bench.tape, &cell, x);
  state = plait_cell_run (bench.tape, &cell, projected, one, FALSE, nothing);
  found[0] = state.state;
  found[1] = lstm ? state.cell : plait_cell_run (bench.tape, &cell, projected, one, TRUE, nothing).state;
  for (int i = 0; i < 2; i++)
    {
      g_autofree char *path = g_strdup_printf ("outputs/%s", outputs[i]);
      g_autofree char *cotangent = g_strdup_printf ("cotangents/%s", outputs[i]);

      check_tensor (outputs[i], found[i]->value, reference (name, path)->numbers, NEAR);
      roots[i] = bench_weigh (&bench, found[i], reference (name, cotangent)->numbers);
    }
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, 2));
  reference_check_input (x, name, "x");
  visit_cell (&cell, name, "", check_gradient);
}

/* Chen et al. 2017, eq. 2: h_i = GRU (h_{i-1}, s_i) in both directions, with PLAIT_RESET_BEFORE. */
TEST_CASE (recurrent, chen2017_equation_2_gru)
{
  hold_to_reference ("recurrent/gru_before", &declarations[0]);
}

TEST_CASE (recurrent, gru_with_the_reset_after_the_product)
{
  hold_to_reference ("recurrent/gru_after", &declarations[1]);
}

/* The second cell of dl4mt, and cuDNN's GRU, have a bias inside the product that the reset gate multiplies. */
TEST_CASE (recurrent, gru_with_a_bias_within_the_reset)
{
  hold_to_reference ("recurrent/gru_after_ch", &declarations[2]);
}

TEST_CASE (recurrent, lstm)
{
  hold_to_reference ("recurrent/lstm", &declarations[3]);
}

/* A cell with random weights and biases. */
typedef struct
{
  Bench bench;
  PlaitParameters *parameters;
  PlaitCell cell;
} World;

static World
world_new (const PlaitCellDeclaration *declaration, guint threads)
{
  World world = { bench_new (threads), plait_parameters_new () };
  PlaitTensor values;

  world.cell = plait_cell_declare (world.parameters, "cell", declaration);
  CHECK (plait_parameters_allocate (world.parameters, NULL));
  values = plait_parameters_write_values (world.parameters);
  for (gint64 i = 0; i < values.width; i++)
    values.data[i] = (PlaitScalar)(0.7 * plait_random_normal (plait_random_key (1, "test", NULL, 0), (guint64)i));
  return world;
}

static void
world_clear (World *world)
{
  plait_parameters_free (world->parameters);
  bench_clear (&world->bench);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* Returns random initial states of @n sentences, which @number selects. For an LSTM, also returns cell states. */
static PlaitCellState
beginning (World *world, gint64 n, guint64 number)
{
  PlaitCellState state = { bench_random (&world->bench, n, WIDTH, number), NULL };

  if (world->cell.declaration.kind == PLAIT_CELL_LSTM)
    state.cell = bench_random (&world->bench, n, WIDTH, number + 1);
  return state;
}

static void
check_equal (const char *what, const PlaitNode *found, const PlaitNode *expected, double tolerance)
{
  CHECK_INT (!found, !expected);
  for (gint64 row = 0; found && row < expected->value.rows; row++)
    for (gint64 i = 0; i < expected->value.width; i++)
      {
        CONTEXT ("%s[%d, %d]", what, (int)row, (int)i);

        CHECK_NEAR (plait_tensor_row (found->value, row)[i], plait_tensor_row (expected->value, row)[i], tolerance);
      }
}

/* Returns the rows of @x, with the order reversed in each sentence. */
static PlaitNode *
turned (Bench *bench, PlaitNode *x)
{
  gint64 *indices = plait_arena_new_array (bench->arena, gint64, x->value.rows);

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 i = offsets[s]; i < offsets[s + 1]; i++)
      indices[i] = offsets[s] + offsets[s + 1] - 1 - i;
  return plait_gather_rows (bench->tape, x, indices, x->value.rows);
}

TEST_CASE (recurrent, backwards_is_forwards_over_turned_rows)
{
  for (guint i = 0; i < G_N_ELEMENTS (declarations); i++)
    {
      CONTEXT ("cell %u", i);
      g_auto (World) world = world_new (&declarations[i], 2);
      Bench *bench = &world.bench;
      PlaitCellState initial, found, expected;
      PlaitNode *x;

      bench_begin (bench, PLAIT_TAPE_CHECK);
      x = bench_random (bench, 9, INPUT, 1);
      initial = beginning (&world, 4, 2);
      found = plait_cell_run (bench->tape, &world.cell, plait_cell_project (bench->tape, &world.cell, x), rows, TRUE,
                              initial);
      expected
          = plait_cell_run (bench->tape, &world.cell, plait_cell_project (bench->tape, &world.cell, turned (bench, x)),
                            rows, FALSE, initial);
      check_equal ("state", found.state, turned (bench, expected.state), 0);
      if (expected.cell)
        check_equal ("cell", found.cell, turned (bench, expected.cell), 0);
    }
}

/* A batch gives what its single sentences give. One of the sentences is missing. */
TEST_CASE (recurrent, reads_each_sentence_by_itself)
{
  for (guint i = 0; i < G_N_ELEMENTS (declarations); i++)
    for (gboolean backwards = FALSE; backwards <= TRUE; backwards++)
      {
        CONTEXT ("cell %u, backwards %d", i, backwards);
        g_auto (World) world = world_new (&declarations[i], 2);
        Bench *bench = &world.bench;
        PlaitCellState initial, together;
        PlaitNode *projected;

        bench_begin (bench, PLAIT_TAPE_CHECK);
        projected = plait_cell_project (bench->tape, &world.cell, bench_random (bench, 9, INPUT, 1));
        initial = beginning (&world, 4, 2);
        together = plait_cell_run (bench->tape, &world.cell, projected, rows, backwards, initial);
        for (gint64 s = 0; s < 4; s++)
          {
            gint64 first = offsets[s], n = offsets[s + 1] - first;
            PlaitRagged one = { 1, (gint64[]){ 0, n } };
            PlaitCellState begun = { plait_rows (bench->tape, initial.state, s, 1), NULL }, alone;

            if (initial.cell)
              begun.cell = plait_rows (bench->tape, initial.cell, s, 1);
            alone = plait_cell_run (bench->tape, &world.cell, plait_rows (bench->tape, projected, first, n), one,
                                    backwards, begun);
            check_equal ("state", plait_rows (bench->tape, together.state, first, n), alone.state, NEAR);
            if (alone.cell)
              check_equal ("cell", plait_rows (bench->tape, together.cell, first, n), alone.cell, NEAR);
          }
      }
}

/* A sentence without rows makes no difference to the others, and a batch may have no rows at all. */
TEST_CASE (recurrent, lets_sentences_be_missing)
{
  static const gint64 none[] = { 0, 0, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (declarations); i++)
    {
      CONTEXT ("cell %u", i);
      g_auto (World) world = world_new (&declarations[i], 1);
      Bench *bench = &world.bench;
      PlaitCellState initial, state;

      bench_begin (bench, PLAIT_TAPE_CHECK);
      initial = beginning (&world, 4, 2);
      state = plait_cell_run (bench->tape, &world.cell,
                              plait_cell_project (bench->tape, &world.cell, bench_random (bench, 9, INPUT, 1)), rows,
                              FALSE, initial);
      plait_tape_backward (bench->tape, plait_reduce_sum (bench->tape, state.state));
      for (gint64 s = 0; s < 4; s++)
        for (gint64 k = 0; k < WIDTH; k++)
          CHECK_INT (plait_tensor_row (initial.state->gradient, s)[k] == 0, s == 1);

      bench_begin (bench, PLAIT_TAPE_CHECK);
      state = plait_cell_run (bench->tape, &world.cell,
                              plait_cell_project (bench->tape, &world.cell, bench_random (bench, 0, INPUT, 1)),
                              (PlaitRagged){ 2, none }, TRUE, beginning (&world, 2, 2));
      CHECK_INT (state.state->value.rows, 0);
      plait_tape_backward (bench->tape, plait_reduce_sum (bench->tape, state.state));
    }
}

/* If @first, stores the gradients of all parameters and of the two leaves in @kept; otherwise compares them with
 * @kept. */
static void
check_gradients (World *world, PlaitNode *const *leaves, PlaitScalar *kept, gboolean first)
{
  PlaitTensor gradients = plait_parameters_gradients (world->parameters);
  gint64 n = 0;

  for (gint64 i = 0; i < gradients.width; i++, n++)
    if (first)
      kept[n] = gradients.data[i];
    else
      CHECK_NEAR (gradients.data[i], kept[n], 10 * NEAR);
  for (int leaf = 0; leaf < 2; leaf++)
    for (gint64 i = 0; i < leaves[leaf]->value.rows * leaves[leaf]->value.width; i++, n++)
      if (first)
        kept[n] = leaves[leaf]->gradient.data[i];
      else
        CHECK_NEAR (leaves[leaf]->gradient.data[i], kept[n], 10 * NEAR);
}

/* Single steps, as in a decoder, give the values and gradients of a run over the whole sentence. */
TEST_CASE (recurrent, steps_make_a_run)
{
  static const gint64 both[] = { 0, 3, 6 };
  static const gint64 in_time[] = { 0, 3, 1, 4, 2, 5 };
  const PlaitRagged equal = { 2, both };

  for (guint i = 0; i < G_N_ELEMENTS (declarations); i++)
    {
      CONTEXT ("cell %u", i);
      g_auto (World) world = world_new (&declarations[i], 1);
      Bench *bench = &world.bench;
      PlaitScalar kept[1024];

      for (gboolean stepwise = FALSE; stepwise <= TRUE; stepwise++)
        {
          PlaitCellState state;
          PlaitNode *leaves[2], *projected, *states;

          CONTEXT ("step by step %d", stepwise);
          plait_parameters_zero_gradients (world.parameters);
          bench_begin (bench, PLAIT_TAPE_CHECK);
          leaves[0] = bench_random (bench, 6, INPUT, 1);
          state = beginning (&world, 2, 2);
          leaves[1] = state.state;
          projected = plait_cell_project (bench->tape, &world.cell, leaves[0]);
          if (stepwise)
            {
              PlaitNode *steps[3];

              projected = plait_gather_rows (bench->tape, projected, in_time, 6);
              for (int t = 0; t < 3; t++)
                {
                  state = plait_cell_step (bench->tape, &world.cell, plait_rows (bench->tape, projected, 2 * t, 2),
                                           state);
                  steps[t] = state.state;
                }
              states = plait_concatenate_rows (bench->tape, steps, 3);
            }
          else
            states = plait_gather_rows (bench->tape,
                                        plait_cell_run (bench->tape, &world.cell, projected, equal, FALSE, state).state,
                                        in_time, 6);
          plait_tape_backward (bench->tape,
                               plait_reduce_sum (bench->tape, plait_multiply (bench->tape, states, states)));
          check_gradients (&world, leaves, kept, !stepwise);
        }
    }
}

/* If the update gate z is 1, the state stays; if z is 0, the candidate replaces it (Cho et al. 2014b). */
TEST_CASE (recurrent, update_gate_keeps_the_old_state)
{
  for (guint i = 0; i < 3; i++)
    {
      CONTEXT ("cell %u", i);
      g_auto (World) world = world_new (&declarations[i], 1);
      Bench *bench = &world.bench;

      for (int kept = 0; kept <= 1; kept++)
        {
          PlaitCellState initial;
          PlaitNode *projected, *found;

          bench_begin (bench, PLAIT_TAPE_EVALUATE);
          initial = beginning (&world, 2, 2);
          projected = bench_random (bench, 2, 3 * WIDTH, 1);
          for (gint64 row = 0; row < 2; row++)
            for (gint64 k = 0; k < WIDTH; k++)
              {
                plait_tensor_row (projected->value, row)[WIDTH + k] = kept ? 60 : -60;
                plait_tensor_row (projected->value, row)[2 * WIDTH + k] = 60; /* large, so that the candidate is 1 */
              }
          found = plait_cell_step (bench->tape, &world.cell, projected, initial).state;
          for (gint64 k = 0; k < 2 * WIDTH; k++)
            CHECK_NEAR (found->value.data[k], kept ? (double)initial.state->value.data[k] : 1, NEAR);
        }
    }
}

/* Evaluation gives what training gives, although it packs weights and keeps the gates of only one step. */
TEST_CASE (recurrent, evaluation_gives_what_training_gives)
{
  for (guint i = 0; i < G_N_ELEMENTS (declarations); i++)
    {
      CONTEXT ("cell %u", i);
      g_auto (World) world = world_new (&declarations[i], 1);
      Bench *bench = &world.bench;
      PlaitScalar kept[9 * WIDTH];

      for (int pass = 0; pass < 3; pass++)
        {
          PlaitNode *x, *found;

          CONTEXT ("pass %d", pass);
          bench_begin (bench, pass == 0 ? PLAIT_TAPE_TRAIN : PLAIT_TAPE_EVALUATE);
          if (pass == 2)
            CHECK (plait_parameters_pack (world.parameters, bench->pool, PLAIT_PRECISION_FLOAT, NULL));
          x = bench_random (bench, 9, INPUT, 1);
          found = plait_cell_run (bench->tape, &world.cell, plait_cell_project (bench->tape, &world.cell, x), rows,
                                  FALSE, nothing)
                      .state;
          for (gint64 k = 0; k < 9 * WIDTH; k++)
            {
              PlaitScalar number = plait_tensor_row (found->value, k / WIDTH)[k % WIDTH];

              if (pass == 0)
                kept[k] = number;
              else
                CHECK_NEAR (number, kept[k], NEAR);
            }
        }
    }
}

TEST_CASE (recurrent, parameters_have_names_and_begin_as_declared)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitCell before = plait_cell_declare (parameters, "before", &declarations[0]);
  PlaitCell biased = plait_cell_declare (parameters, "biased", &declarations[2]);
  PlaitCell lstm = plait_cell_declare (parameters, "lstm", &declarations[3]);

  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_initialise (parameters, pool, 1);
  CHECK (plait_parameters_find (parameters, "before/input/weight") == before.input.weight);
  CHECK (plait_parameters_find (parameters, "before/recurrent/weight") == before.recurrent.weight);
  CHECK (plait_parameters_find (parameters, "before/candidate/weight") == before.candidate.weight);
  CHECK (plait_parameters_find (parameters, "biased/recurrent/bias") == biased.recurrent.bias);
  CHECK (!before.recurrent.bias && !lstm.candidate.weight);
  for (gint64 i = 0; i < 4 * WIDTH; i++)
    CHECK_NEAR (lstm.input.bias->value.data[i], i / WIDTH == 1 ? 1 : 0, 0);
  for (gint64 i = 0; i < 3 * WIDTH; i++)
    CHECK_NEAR (before.input.bias->value.data[i], 0, 0);
}

/* Checks a layer with both directions: values, cell states and all gradients. */
static void
hold_stack_to_reference (const char *name, const PlaitCellDeclaration *cell)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitRecurrentStackDeclaration declaration = { .cell = *cell, .layers = 1 };
  PlaitRecurrentStack stack = plait_recurrent_stack_declare (parameters, "layer", &declaration);
  PlaitRagged one = { 1, (gint64[]){ 0, 5 } };
  PlaitRecurrentStates found;
  PlaitNode *x, *roots[2];

  CHECK (plait_parameters_allocate (parameters, NULL));
  CHECK (plait_parameters_find (parameters, "layer/0/backward/input/weight") == stack.cells[1].input.weight);
  visit_cell (&stack.cells[0], name, "fwd/", reference_set);
  visit_cell (&stack.cells[1], name, "bwd/", reference_set);
  x = reference_input (&bench, name, "x");
  found = plait_recurrent_stack_apply (bench.tape, &stack, x, one);
  check_tensor ("h", found.states->value, reference (name, "outputs/h")->numbers, NEAR);
  roots[0] = bench_weigh (&bench, found.states, reference (name, "cotangents/h")->numbers);
  CHECK_INT (found.cells != NULL, cell->kind == PLAIT_CELL_LSTM);
  if (found.cells)
    {
      check_tensor ("c", found.cells->value, reference (name, "outputs/c")->numbers, NEAR);
      roots[1] = bench_weigh (&bench, found.cells, reference (name, "cotangents/c")->numbers);
    }
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, found.cells ? 2 : 1));
  reference_check_input (x, name, "x");
  visit_cell (&stack.cells[0], name, "fwd/", check_gradient);
  visit_cell (&stack.cells[1], name, "bwd/", check_gradient);
}

TEST_CASE (recurrent, chen2017_equation_2_annotations_of_both_directions)
{
  hold_stack_to_reference ("recurrent/bigru_before", &declarations[0]);
}

TEST_CASE (recurrent, lstm_in_both_directions)
{
  hold_stack_to_reference ("recurrent/bilstm", &declarations[3]);
}

/* The second layer reads the output of the first. The summary is the last state of each direction, or zeros if the
 * sentence is missing. */
TEST_CASE (recurrent, layers_stand_on_one_another_and_end_in_a_summary)
{
  static const PlaitDirections all[] = { PLAIT_DIRECTIONS_BOTH, PLAIT_DIRECTIONS_FORWARD, PLAIT_DIRECTIONS_BACKWARD };

  for (guint d = 0; d < G_N_ELEMENTS (all); d++)
    {
      CONTEXT ("directions %u", d);
      g_auto (Bench) bench = bench_new (1);
      g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
      PlaitRecurrentStackDeclaration declaration = { .cell = declarations[3], .layers = 2, .directions = all[d] };
      PlaitRecurrentStack stack = plait_recurrent_stack_declare (parameters, "layer", &declaration), first = stack,
                          second = stack;
      PlaitRecurrentStates found, expected;
      PlaitNode *x;

      CHECK (plait_parameters_allocate (parameters, NULL));
      plait_parameters_initialise (parameters, bench.pool, 3);
      x = bench_random (&bench, 9, INPUT, 1);
      found = plait_recurrent_stack_apply (bench.tape, &stack, x, rows);
      first.declaration.layers = second.declaration.layers = 1;
      second.cells += stack.n_directions;
      expected = plait_recurrent_stack_apply (bench.tape, &first, x, rows);
      expected = plait_recurrent_stack_apply (bench.tape, &second, expected.states, rows);
      check_equal ("states", found.states, expected.states, 0);
      check_equal ("cells", found.cells, expected.cells, 0);

      for (gint64 s = 0; s < rows.n; s++)
        for (gint64 k = 0; k < stack.width; k++)
          {
            gboolean backwards = all[d] == PLAIT_DIRECTIONS_BACKWARD || k >= WIDTH;
            gint64 end = backwards ? offsets[s] : offsets[s + 1] - 1;
            gboolean missing = offsets[s] == offsets[s + 1];

            CHECK_NEAR (plait_tensor_row (found.summary->value, s)[k],
                        missing ? 0 : plait_tensor_row (found.states->value, end)[k], 0);
            CHECK_NEAR (plait_tensor_row (found.summary_cell->value, s)[k],
                        missing ? 0 : plait_tensor_row (found.cells->value, end)[k], 0);
          }
    }
}
