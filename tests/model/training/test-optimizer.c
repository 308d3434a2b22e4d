/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/operators.h"
#include "harness.h"
#include "optimizer-cases.h"
#include "training/optimizer.h"
#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

static const double tolerance = sizeof (PlaitScalar) == sizeof (double) ? 1e-12 : 2e-6;

static PlaitTrainSettings
train_settings (void)
{
  PlaitTrainSettings settings;

  plait_setting_group_defaults (&plait_train_group, &settings);
  settings.clip = 0;
  return settings;
}

static void
follow_path (const PlaitTrainSettings *settings, double rate, const double path[6][4])
{
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitParameter *parameter = plait_parameters_declare (parameters, "x", 1, 4, PLAIT_ZEROS);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  g_autoptr (PlaitOptimizer) optimizer = NULL;

  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_write_values (parameters);
  for (guint i = 0; i < 4; i++)
    parameter->value.data[i] = (PlaitScalar)adam_start[i];
  optimizer = plait_optimizer_new (settings, parameters, NULL);
  for (guint t = 0; t < 6; t++)
    {
      CONTEXT ("update %u", t + 1);

      for (guint i = 0; i < 4; i++)
        parameter->gradient.data[i] = (PlaitScalar)adam_gradients[t][i];
      plait_optimizer_update (optimizer, tape, t + 1, rate);
      for (guint i = 0; i < 4; i++)
        {
          CHECK_NEAR ((double)parameter->value.data[i], path[t][i], tolerance);
          CHECK ((double)parameter->gradient.data[i] == 0);
        }
    }
}

/* Adam (Kingma & Ba 2014, algorithm 1) with .9, .98 and 1e-9. */
TEST_CASE (optimizer, follows_adam)
{
  PlaitTrainSettings settings = train_settings ();

  follow_path (&settings, 0.1, adam_path);
}

/* Adam with epsilon applied as fairseq and TensorFlow do. */
TEST_CASE (optimizer, follows_adam_with_an_uncorrected_epsilon)
{
  PlaitTrainSettings settings = train_settings ();

  settings.epsilon_place = 1;
  follow_path (&settings, 0.1, adam_hat_path);
}

/* Adadelta (Zeiler 2012, algorithm 1) with .95 and 1e-6. */
TEST_CASE (optimizer, follows_adadelta)
{
  PlaitTrainSettings settings = train_settings ();

  settings.optimizer = PLAIT_TRAIN_OPTIMIZER_ADADELTA;
  follow_path (&settings, 1, adadelta_path);
}

/* The mean square of the updates is taken before they are multiplied by the rate. */
TEST_CASE (optimizer, follows_adadelta_at_a_tenth_of_its_rate)
{
  PlaitTrainSettings settings = train_settings ();

  settings.optimizer = PLAIT_TRAIN_OPTIMIZER_ADADELTA;
  follow_path (&settings, 0.1, adadelta_tenth_path);
}

/* Makes the first update, at rate 1, of @n parameters of one value, which are 0 and have the gradients @gradients [n].
 * Writes the new values to @values [n]. Returns the norm of the gradients. */
static double
update_once (const PlaitTrainSettings *settings, guint n, const double *gradients, double *values)
{
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  g_autoptr (PlaitOptimizer) optimizer = NULL;

  for (guint i = 0; i < n; i++)
    plait_parameters_declare (parameters, plait_test_format ("x%u", i), 1, 1, PLAIT_ZEROS);
  CHECK (plait_parameters_allocate (parameters, NULL));
  optimizer = plait_optimizer_new (settings, parameters, NULL);
  for (guint i = 0; i < n; i++)
    plait_parameters_get (parameters, i)->gradient.data[0] = (PlaitScalar)gradients[i];
  double norm = plait_optimizer_update (optimizer, tape, 1, 1);
  for (guint i = 0; i < n; i++)
    values[i] = (double)plait_parameters_get (parameters, i)->value.data[0];
  return norm;
}

/* By hand: the gradient 5 is clipped to 1. The mean squares are .05 and 0, and epsilon is .05: the update is sqrt (.05)
 * / sqrt (.1) = sqrt (1 / 2). */
TEST_CASE (optimizer, clips_for_adadelta)
{
  PlaitTrainSettings settings = train_settings ();
  double value;

  settings.optimizer = PLAIT_TRAIN_OPTIMIZER_ADADELTA;
  settings.clip = 1;
  settings.adadelta_epsilon = .05;
  CHECK_NEAR (update_once (&settings, 1, (double[]){ 5 }, &value), 5, 1e-6);
  CHECK_NEAR (value, -sqrt (.5), 1e-6);
}

/* By hand: the gradients (3, 4) have the norm 5, and clipped to 1 they are (0.6, 0.8). The first moment is a tenth of
 * that. */
TEST_CASE (optimizer, clips_by_the_global_norm)
{
  PlaitTrainSettings settings = train_settings ();
  double values[2];

  settings.clip = 1;
  settings.epsilon = 1; /* so large that the size of the gradient makes a difference */
  CHECK_NEAR (update_once (&settings, 2, (double[]){ 3, 4 }, values), 5, 1e-6);
  CHECK_NEAR (values[0], -0.6 / 1.6, 1e-6);
  CHECK_NEAR (values[1], -0.8 / 1.8, 1e-6);
}

TEST_CASE (optimizer, leaves_parameters_alone_when_gradients_are_not_finite)
{
  PlaitTrainSettings settings = train_settings ();
  double values[2];

  CHECK (!isfinite (update_once (&settings, 2, (double[]){ NAN, 1 }, values)));
  CHECK (values[0] == 0 && values[1] == 0);
}

/* A value without a gradient, such as a position that no sentence reaches, does not change with the smallest epsilon
 * that [train] allows, and a gradient whose square is rounded to 0 makes no large step. */
TEST_CASE (optimizer, makes_no_step_without_a_gradient)
{
  PlaitTrainSettings settings = train_settings ();
  double values[2];

  for (guint i = 0; i < plait_train_group.n_definitions; i++)
    if (g_str_equal (plait_train_group.definitions[i].specification.name, "epsilon"))
      settings.epsilon = g_ascii_strtod (plait_train_group.definitions[i].specification.minimum, NULL);
  CHECK (isfinite (update_once (&settings, 2, (double[]){ 0, 1e-24 }, values)));
  CHECK (values[0] == 0);
  CHECK (fabs (values[1]) <= 1);
}

static void
check_rates (gint schedule, double rate, const double *wanted)
{
  PlaitTrainSettings settings = train_settings ();

  settings.schedule = schedule;
  settings.learning_rate = rate;
  settings.warm_up = 100;
  for (guint i = 0; i < G_N_ELEMENTS (rate_steps); i++)
    {
      CONTEXT ("step %d", rate_steps[i]);

      CHECK_NEAR (plait_learning_rate (&settings, rate_steps[i], 512, 1000, 0), wanted[i], 1e-15);
    }
}

/* The schedule of Vaswani et al. 2017, section 5.3, times 0.2 as in Libovicky et al. 2018, section 4. */
TEST_CASE (schedule, noam)
{
  check_rates (PLAIT_TRAIN_SCHEDULE_NOAM, 0.2, rate_noam);
}

TEST_CASE (schedule, inverse_square_root)
{
  check_rates (PLAIT_TRAIN_SCHEDULE_INVERSE_SQUARE_ROOT, 5e-4, rate_inverse_sqrt);
}

TEST_CASE (schedule, linear_decay_with_warm_up)
{
  check_rates (PLAIT_TRAIN_SCHEDULE_LINEAR, 3e-5, rate_linear);
}

TEST_CASE (schedule, constant_after_warm_up)
{
  PlaitTrainSettings settings = train_settings ();

  settings.schedule = PLAIT_TRAIN_SCHEDULE_CONSTANT;
  settings.learning_rate = 0.5;
  settings.warm_up = 10;
  CHECK_NEAR (plait_learning_rate (&settings, 5, 1, 0, 0), 0.25, 1e-15);
  CHECK_NEAR (plait_learning_rate (&settings, 500, 1, 0, 0), 0.5, 1e-15);
  settings.warm_up = 0;
  CHECK_NEAR (plait_learning_rate (&settings, 1, 1, 0, 0), 0.5, 1e-15);
}

typedef struct
{
  gint64 step;
  double rate;
} StepRate;

static void
check_schedule (const PlaitTrainSettings *settings, gint64 updates, const StepRate *wanted, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      CONTEXT ("step %jd", wanted[i].step);
      CHECK_NEAR (plait_learning_rate (settings, wanted[i].step, 1, updates, 0), wanted[i].rate, 1e-12);
    }
}

static PlaitTrainSettings
schedule_settings (gint schedule)
{
  PlaitTrainSettings settings = train_settings ();

  settings.schedule = schedule;
  settings.learning_rate = 0.8;
  settings.minimum_rate = 0.2;
  settings.warm_up = 20;
  return settings;
}

/* Half a period of a cosine, from .8 to .2, over the updates 20 to 100. After a quarter of it, the rate is .5 + .3 sqrt
 * (1 / 2). */
TEST_CASE (schedule, cosine)
{
  PlaitTrainSettings settings = schedule_settings (PLAIT_TRAIN_SCHEDULE_COSINE);
  const StepRate wanted[]
      = { { 5, 0.2 }, { 20, 0.8 }, { 40, 0.5 + 0.3 * sqrt (0.5) }, { 60, 0.5 }, { 100, 0.2 }, { 120, 0.2 } };

  check_schedule (&settings, 100, wanted, G_N_ELEMENTS (wanted));
  settings.minimum_rate = 1;
  CHECK_NEAR (plait_learning_rate (&settings, 100, 1, 100, 0), 0.8, 1e-12);
}

/* torch's OneCycleLR: a cosine that rises from a 25th of the rate, then one that falls to the lowest rate. */
TEST_CASE (schedule, one_cycle)
{
  PlaitTrainSettings settings = schedule_settings (PLAIT_TRAIN_SCHEDULE_ONE_CYCLE);
  const StepRate wanted[]
      = { { 10, (0.8 / 25 + 0.8) / 2 }, { 20, 0.8 }, { 40, 0.5 + 0.3 * sqrt (0.5) }, { 60, 0.5 }, { 100, 0.2 } };

  check_schedule (&settings, 100, wanted, G_N_ELEMENTS (wanted));
}

/* After the warm-up, periods of 8 and 16 updates (Loshchilov & Hutter 2017, eq. 5, with T_mult 2), or of 8 each. */
TEST_CASE (schedule, restarts)
{
  PlaitTrainSettings settings = schedule_settings (PLAIT_TRAIN_SCHEDULE_RESTARTS);
  const StepRate wanted[] = { { 10, 0.4 }, { 21, 0.8 }, { 23, 0.5 + 0.3 * sqrt (0.5) }, { 25, 0.5 }, { 29, 0.8 },
                              { 37, 0.5 }, { 45, 0.8 } };
  const StepRate equal[] = { { 21, 0.8 }, { 29, 0.8 }, { 33, 0.5 }, { 37, 0.8 } };

  settings.restart_every = 8;
  settings.restart_growth = 2;
  check_schedule (&settings, 0, wanted, G_N_ELEMENTS (wanted));
  settings.restart_growth = 1;
  check_schedule (&settings, 0, equal, G_N_ELEMENTS (equal));
}

TEST_CASE (schedule, plateau)
{
  PlaitTrainSettings settings = schedule_settings (PLAIT_TRAIN_SCHEDULE_PLATEAU);

  settings.plateau_factor = 0.5;
  CHECK_NEAR (plait_learning_rate (&settings, 10, 1, 0, 0), 0.4, 1e-12);
  CHECK_NEAR (plait_learning_rate (&settings, 50, 1, 0, 0), 0.8, 1e-12);
  CHECK_NEAR (plait_learning_rate (&settings, 50, 1, 0, 1), 0.4, 1e-12);
  CHECK_NEAR (plait_learning_rate (&settings, 50, 1, 0, 5), 0.2, 1e-12);
}

TEST_CASE (schedule, steps)
{
  PlaitTrainSettings settings = schedule_settings (PLAIT_TRAIN_SCHEDULE_STEPS);
  const StepRate wanted[] = { { 1, 0.1 }, { 9, 0.1 }, { 10, 0.05 }, { 99, 0.05 }, { 100, 0 }, { 1000, 0 } };
  static const char *const wrong[] = { "", "2:0.1", "1:0.1;1:0.2", "1:0.1;5:0.2;3:0.1", "1:-1", "1:x", "1", "1:nan" };

  settings.rates = "1:0.1;10:0.05;100:0";
  CHECK (plait_rates_check (settings.rates, NO_ERROR));
  check_schedule (&settings, 0, wanted, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      CHECK (!plait_rates_check (wrong[i], &error));
      CHECK (error != NULL);
    }
}

/* Lion (Chen et al. 2023, algorithm 2), computed in doubles. */
TEST_CASE (optimizer, follows_lion)
{
  PlaitTrainSettings settings = train_settings ();
  double path[6][4], value[4], moment[4] = { 0 };

  settings.optimizer = PLAIT_TRAIN_OPTIMIZER_LION;
  settings.beta1 = 0.9;
  settings.beta2 = 0.99;
  settings.weight_decay = 0.1;
  memcpy (value, adam_start, sizeof value);
  for (guint t = 0; t < 6; t++)
    for (guint i = 0; i < 4; i++)
      {
        double update = 0.9 * moment[i] + 0.1 * adam_gradients[t][i];

        value[i] -= 0.05 * (copysign (update != 0, update) + 0.1 * value[i]);
        moment[i] = 0.99 * moment[i] + 0.01 * adam_gradients[t][i];
        path[t][i] = value[i];
      }
  follow_path (&settings, 0.05, path);
}

/* Gradients that stay on the tape make the same update as gradients of the parameters, and leave the latter
 * unchanged. */
TEST_CASE (optimizer, takes_the_gradients_that_the_tape_keeps)
{
  PlaitTrainSettings settings = train_settings ();
  PlaitScalar values[2][4];

  for (guint keeps = 0; keeps < 2; keeps++)
    {
      g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
      PlaitParameter *x = plait_parameters_declare (parameters, "x", 1, 2, PLAIT_NORMAL (1));
      PlaitParameter *unused = plait_parameters_declare (parameters, "unused", 1, 2, PLAIT_NORMAL (1));
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
      g_autoptr (PlaitOptimizer) optimizer = NULL;

      settings.clip = 0.5;
      CHECK (plait_parameters_allocate (parameters, NULL));
      plait_parameters_initialise (parameters, pool, 1);
      optimizer = plait_optimizer_new (&settings, parameters, NULL);
      for (gint64 step = 1; step <= 3; step++)
        {
          PlaitNode *node;

          plait_tape_begin (tape, PLAIT_TAPE_TRAIN, (PlaitRandomKey){ 0 });
          if (keeps)
            plait_tape_keep_gradients (tape);
          node = plait_parameter_node (tape, x);
          plait_tape_backward (tape, plait_reduce_sum (tape, plait_multiply (tape, node, node)));
          CHECK ((plait_tape_keyed_gradient (tape, x).data != x->gradient.data) == keeps);
          CHECK_NEAR ((double)plait_tape_keyed_gradient (tape, x).data[0], 2 * (double)x->value.data[0], 1e-6);
          plait_optimizer_update (optimizer, tape, step, 0.1);
          CHECK ((double)x->gradient.data[0] == 0);
        }
      memcpy (values[keeps], x->value.data, 2 * sizeof (PlaitScalar));
      memcpy (values[keeps] + 2, unused->value.data, 2 * sizeof (PlaitScalar));
    }
  CHECK (memcmp (values[0], values[1], sizeof values[0]) == 0);
}
