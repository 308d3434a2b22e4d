/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "process/crash.h"
#include "bench.h"
#include "layers/linear.h"
#include "kernels/kernels.h"
#include "tensor/packed.h"
#include "layers/parameter-set.h"

static void
allocate (PlaitParameters *parameters)
{
  g_autoptr (GError) error = NULL;

  plait_parameters_allocate (parameters, &error);
  g_assert_no_error (error);
}

TEST_CASE (parameters, stand_in_two_arrays_in_the_order_of_declaration)
{
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitParameter *a = plait_parameters_declare (parameters, "encoder/a", 3, 5, PLAIT_ZEROS);
  PlaitParameter *b = plait_parameters_declare (parameters, "encoder/b", 1, 7, PLAIT_ONES);
  PlaitParameter *c = plait_parameters_declare (parameters, "decoder/c", 2, 2, PLAIT_ZEROS);
  PlaitTensor values, gradients;

  CHECK_INT (plait_parameters_count (parameters, NULL), 15 + 7 + 4);
  CHECK_INT (plait_parameters_count (parameters, "encoder/"), 15 + 7);
  CHECK (!a->value.data && a->value.rows == 3 && a->value.width == 5);
  allocate (parameters);
  CHECK_INT (plait_parameters_n (parameters), 3);
  CHECK (plait_parameters_get (parameters, 2) == c);
  CHECK (plait_parameters_find (parameters, "encoder/b") == b);
  CHECK (!plait_parameters_find (parameters, "encoder"));

  values = plait_parameters_values (parameters);
  gradients = plait_parameters_gradients (parameters);
  CHECK_INT (gradients.width, values.width);
  CHECK (a->offset < b->offset && b->offset < c->offset && c->offset + 4 <= values.width);
  for (guint i = 0; i < 3; i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      CHECK (parameter->value.data == values.data + parameter->offset);
      CHECK_INT ((gsize)parameter->value.data % 64, 0);
      CHECK (parameter->gradient.data == gradients.data + parameter->offset);
    }

  c->gradient.data[3] = 5;
  plait_parameters_zero_gradients (parameters);
  CHECK_NEAR (c->gradient.data[3], 0, 0);
}

TEST_CASE (parameters, that_no_machine_can_hold_are_refused)
{
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  g_autoptr (GError) error = NULL;

  plait_parameters_declare (parameters, "small", 1, 1, PLAIT_ZEROS);
  plait_parameters_declare (parameters, "large", G_MAXINT64 / 2, 4, PLAIT_ZEROS);
  CHECK (!plait_parameters_allocate (parameters, &error));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "there is no memory for ");
}

TEST_CASE (parameters, that_cannot_be_declared_are_faults)
{
  static const struct
  {
    const char *name;
    gint64 rows, width;
    const char *part;
  } faults[] = {
    { NULL, 1, 1, "\"\" is not a valid name for a parameter" },
    { "", 1, 1, "\"\" is not a valid name for a parameter" },
    { ".", 1, 1, "\".\" is not a valid name for a parameter" },
    { "a/../b", 1, 1, "\"a/../b\" is not a valid name" },
    { "a/./b", 1, 1, "none of them empty, \".\" or \"..\"" },
    { "a//b", 1, 1, "\"a//b\" is not a valid name" },
    { "/a", 1, 1, "\"/a\" is not a valid name" },
    { "a/", 1, 1, "\"a/\" is not a valid name" },
    { "a\nb", 1, 1, "is not a valid name" },
    { "taken", 1, 1, "the parameter taken is declared twice" },
    { "a", 0, 1, "a is declared as [0, 1]: give it at least one row" },
    { "a", 1, 0, "a is declared as [1, 0]" },
    { "a", -2, 3, "a is declared as [-2, 3]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      CONTEXT ("fault %u", i);
      g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
      g_autoptr (GError) error = NULL;
      PlaitParameter *refused;

      plait_parameters_declare (parameters, "taken", 2, 3, PLAIT_ZEROS);
      CHECK (plait_parameters_check (parameters, &error));
      plait_crash_set_owner ((PlaitCodeOwner){ "somebody", "build" });
      refused = plait_parameters_declare (parameters, faults[i].name, faults[i].rows, faults[i].width, PLAIT_ZEROS);
      plait_crash_set_owner ((PlaitCodeOwner){ NULL, NULL });
      REQUIRE (refused != NULL);
      plait_parameters_use (parameters, refused, PLAIT_USE_WEIGHT);
      /* If several declarations are wrong, only the first fault is reported. */
      plait_parameters_declare (parameters, "later", 0, 0, PLAIT_ZEROS);
      CHECK_INT (plait_parameters_n (parameters), 1);
      CHECK (!plait_parameters_check (parameters, &error));
      REQUIRE (error != NULL);
      CHECK (g_str_has_prefix (error->message, "somebody, build: "));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, faults[i].part);
      CHECK (!plait_parameters_allocate (parameters, &error));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, faults[i].part);
    }
}

TEST_CASE (parameters, that_come_late_are_faults)
{
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  g_autoptr (GError) error = NULL;

  plait_parameters_declare (parameters, "early", 2, 3, PLAIT_ZEROS);
  allocate (parameters);
  plait_parameters_declare (parameters, "late", 2, 3, PLAIT_ZEROS);
  CHECK_INT (plait_parameters_n (parameters), 1);
  CHECK (!plait_parameters_check (parameters, &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "\"late\" is declared while the model runs: declare it in build");
}

/* Computes mean, standard deviation and largest magnitude of the values of @parameter. */
static void
look_at (const PlaitParameter *parameter, double *mean, double *deviation, double *greatest)
{
  gint64 n = parameter->value.rows * parameter->value.width;

  *mean = *deviation = *greatest = 0;
  for (gint64 i = 0; i < n; i++)
    {
      double x = parameter->value.data[i];

      *mean += x / (double)n;
      *deviation += x * x / (double)n;
      *greatest = fmax (*greatest, fabs (x));
    }
  *deviation = sqrt (*deviation);
}

TEST_CASE (parameters, start_as_declared)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitParameter *ones = plait_parameters_declare (parameters, "ones", 1, 9, PLAIT_ONES);
  PlaitParameter *zeros = plait_parameters_declare (parameters, "zeros", 1, 9, PLAIT_ZEROS);
  PlaitParameter *normal = plait_parameters_declare (parameters, "normal", 300, 100, PLAIT_NORMAL (0.02));
  PlaitParameter *uniform = plait_parameters_declare (parameters, "uniform", 300, 100, PLAIT_UNIFORM (0.3));
  PlaitLinear plain = plait_linear_declare (parameters, "plain", 100, 200, TRUE);
  PlaitLinear fused = plait_linear_declare_blocks (parameters, "fused", 100, 600, 3, FALSE);
  double bound = sqrt (6. / (100 + 200)), mean, deviation, greatest;

  allocate (parameters);
  plait_parameters_initialise (parameters, pool, 1);
  for (int i = 0; i < 9; i++)
    {
      CHECK_NEAR (ones->value.data[i], 1, 0);
      CHECK_NEAR (zeros->value.data[i], 0, 0);
    }
  look_at (normal, &mean, &deviation, &greatest);
  CHECK_NEAR (mean, 0, 5e-4);
  CHECK_NEAR (deviation, 0.02, 4e-4);
  CHECK (greatest > 0.06);
  look_at (uniform, &mean, &deviation, &greatest);
  CHECK_NEAR (mean, 0, 5e-3);
  CHECK_NEAR (deviation, 0.3 / sqrt (3), 3e-3);
  CHECK (greatest <= 0.3 + 1e-6 && greatest > 0.299);
  for (int i = 0; i < 2; i++)
    {
      look_at (i == 0 ? plain.weight : fused.weight, &mean, &deviation, &greatest);
      CHECK_NEAR (deviation, bound / sqrt (3), 2e-3);
      CHECK (greatest <= bound + 1e-6 && greatest > 0.995 * bound);
    }
  look_at (plain.bias, &mean, &deviation, &greatest);
  CHECK_NEAR (greatest, 0, 0);
  CHECK (!fused.bias);
}

TEST_CASE (parameters, start_by_seed_and_name_alone)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (3, NULL), other_pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitParameters) one = plait_parameters_new (), two = plait_parameters_new ();
  PlaitParameter *a = plait_parameters_declare (one, "a", 200, 200, PLAIT_GLOROT);
  PlaitParameter *b = plait_parameters_declare (one, "b", 200, 200, PLAIT_GLOROT);
  PlaitParameter *same;
  gsize size = 200 * 200 * sizeof (PlaitScalar);

  plait_parameters_declare (two, "something before it", 3, 3, PLAIT_NORMAL (1));
  same = plait_parameters_declare (two, "a", 200, 200, PLAIT_GLOROT);
  allocate (one);
  allocate (two);
  plait_parameters_initialise (one, pool, 7);
  plait_parameters_initialise (two, other_pool, 7);
  CHECK (memcmp (a->value.data, same->value.data, size) == 0);
  CHECK (memcmp (a->value.data, b->value.data, size) != 0);
  plait_parameters_initialise (two, pool, 8);
  CHECK (memcmp (a->value.data, same->value.data, size) != 0);
}

TEST_CASE (parameters, are_one_leaf_a_tape_and_step)
{
  enum
  {
    MANY = 200
  };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitParameter *list[MANY];
  PlaitNode *nodes[MANY];

  for (int i = 0; i < MANY; i++)
    list[i] = plait_parameters_declare (parameters, plait_test_format ("%d", i), 1, 1, PLAIT_ONES);
  allocate (parameters);
  plait_parameters_initialise (parameters, bench.pool, 1);
  for (int step = 0; step < 2; step++)
    {
      bench_begin (&bench, PLAIT_TAPE_TRAIN);
      for (int i = 0; i < MANY; i++)
        nodes[i] = plait_parameter_node (bench.tape, list[i]);
      for (int i = 0; i < MANY; i++)
        {
          CHECK (plait_parameter_node (bench.tape, list[i]) == nodes[i]);
          CHECK (nodes[i]->value.data == list[i]->value.data);
          CHECK (nodes[i]->needs_gradient);
        }
      plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_add_n (bench.tape, nodes, MANY)));
    }
  CHECK_NEAR (list[0]->gradient.data[0], 2, 0);
  CHECK_NEAR (list[MANY - 1]->gradient.data[0], 2, 0);
}

TEST_CASE (parameters, are_multiplied_alike_packed_or_not)
{
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitLinear linear = plait_linear_declare (parameters, "linear", 70, 90, TRUE);
  PlaitScalar plain[3 * 90];
  PlaitNode *y;

  allocate (parameters);
  plait_parameters_initialise (parameters, bench.pool, 1);
  for (int packed = 0; packed < 2; packed++)
    {
      if (packed)
        CHECK (plait_parameters_pack (parameters, bench.pool, PLAIT_PRECISION_FLOAT, NO_ERROR));
      CHECK_INT (linear.weight->packed != NULL, packed);
      CHECK (!linear.bias->packed);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      y = plait_linear_apply (bench.tape, &linear, bench_random (&bench, 3, 70, 1), PLAIT_ACTIVATION_RELU);
      for (int i = 0; i < 3 * 90; i++)
        if (packed)
          CHECK_NEAR (y->value.data[i], plain[i], NEAR);
        else
          plain[i] = y->value.data[i];
    }

  /* The packed panels still have the old values. Only evaluation reads them. */
  for (gint64 i = 0; i < 70 * 90; i++)
    linear.weight->value.data[i] = 0;
  for (PlaitTapeMode mode = PLAIT_TAPE_TRAIN; mode <= PLAIT_TAPE_CHECK; mode++)
    {
      bench_begin (&bench, mode);
      y = plait_linear_apply (bench.tape, &linear, bench_random (&bench, 3, 70, 1), PLAIT_ACTIVATION_NONE);
      CHECK_INT (y->value.data[0] != 0, mode == PLAIT_TAPE_EVALUATE);
    }

  /* plait_parameters_write_values() frees the panels, because their values would be old. */
  plait_parameters_write_values (parameters).data[linear.weight->offset] += 1;
  CHECK (!linear.weight->packed);
}

/* A layer whose weight is packed in bfloat16 has the values and gradients of the float weight on tapes that compute
 * gradients. Only evaluation reads the packed weight. */
TEST_CASE (parameters, have_the_gradients_of_their_float_values)
{
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitLinear linear = plait_linear_declare (parameters, "linear", 70, 90, TRUE);
  PlaitTensor gradients;
  g_autofree PlaitScalar *plain = NULL;

  allocate (parameters);
  plait_parameters_initialise (parameters, bench.pool, 1);
  gradients = plait_parameters_gradients (parameters);
  for (guint uses = 1; uses <= 6; uses += 5) /* a weight that is used often is packed by the tape */
    for (PlaitTapeMode mode = PLAIT_TAPE_TRAIN; mode <= PLAIT_TAPE_CHECK; mode++)
      {
        PlaitScalar values[3 * 90], of_x[3 * 70];
        CONTEXT ("%u uses, mode %d", uses, (int)mode);

        for (guint packed = 0; packed < 2; packed++)
          {
            PlaitNode *x, *y[6];

            plait_parameters_write_values (parameters); /* frees the panels */
            if (packed)
              CHECK (plait_parameters_pack (parameters, bench.pool, PLAIT_PRECISION_BFLOAT16_EMULATED, NO_ERROR));
            CHECK_INT (linear.weight->packed != NULL, packed);
            plait_parameters_zero_gradients (parameters);
            bench_begin (&bench, mode);
            x = bench_random (&bench, 3, 70, 1);
            for (guint i = 0; i < uses; i++)
              y[i] = plait_linear_apply (bench.tape, &linear, x, PLAIT_ACTIVATION_TANH);
            if (packed)
              CHECK_INT (memcmp (y[0]->value.data, values, sizeof values) != 0, mode == PLAIT_TAPE_EVALUATE);
            memcpy (values, y[0]->value.data, sizeof values);
            if (mode == PLAIT_TAPE_EVALUATE)
              continue;
            plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_add_n (bench.tape, y, uses)));
            if (packed)
              {
                CHECK (memcmp (x->gradient.data, of_x, sizeof of_x) == 0);
                CHECK (memcmp (gradients.data, plain, sizeof *plain * (gsize)gradients.width) == 0);
              }
            memcpy (of_x, x->gradient.data, sizeof of_x);
            g_free (plain);
            plain = g_memdup2 (gradients.data, sizeof *plain * (gsize)gradients.width);
            CHECK (linear.weight->gradient.data[0] != 0);
          }
      }
}

/* Weights of linear layers are packed as int8, weights of recurrences not. */
TEST_CASE (parameters, are_packed_as_bytes_where_the_processor_multiplies_them)
{
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  g_autoptr (GError) error = NULL;
  PlaitLinear linear = plait_linear_declare (parameters, "linear", 70, 90, FALSE);
  PlaitLinear step = plait_linear_declare (parameters, "step", 70, 90, FALSE);
  PlaitNode *x, *y;
  PlaitScalar plain[90];

  plait_parameters_use (parameters, step.weight, PLAIT_USE_STEP);
  allocate (parameters);
  plait_parameters_initialise (parameters, bench.pool, 1);
  CHECK (plait_kernels_choose ("v1"));
  CHECK (!plait_parameters_pack (parameters, bench.pool, PLAIT_PRECISION_INT8, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "decode.precision=int8 needs a processor with AVX-512 VNNI");
  CHECK (!linear.weight->packed);
  plait_kernels_choose (NULL);
  if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))
    SKIP_TEST ("this processor does not multiply bytes (AVX-512 VNNI)");

  for (PlaitPrecision precision = PLAIT_PRECISION_FLOAT; precision <= PLAIT_PRECISION_INT8; precision++)
    {
      CHECK (plait_parameters_pack (parameters, bench.pool, precision, &error));
      CHECK_INT (plait_packed_precision (linear.weight->packed), precision);
      CHECK_INT (plait_packed_precision (step.weight->packed), PLAIT_PRECISION_FLOAT);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      x = bench_random (&bench, 1, 70, 1);
      y = plait_linear_apply (bench.tape, &linear, x, PLAIT_ACTIVATION_NONE);
      for (int i = 0; i < 90; i++)
        if (precision == PLAIT_PRECISION_FLOAT)
          plain[i] = y->value.data[i];
        else
          CHECK_NEAR (y->value.data[i], plain[i], .05);
      CHECK_INT (memcmp (plain, y->value.data, sizeof plain) != 0, precision);
    }
}
