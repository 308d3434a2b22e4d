/* SPDX-License-Identifier: MIT */
#include "contract/pass.h"

#include <math.h>
#include <string.h>

#include "autograd/check.h"
#include "text/number.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

const PlaitPassLengths plait_pass_whole = { { { 4, 2, 3 }, { 3, 5, 2 }, { 2, 3, 4 } }, { 3, 1, 4 } };
const PlaitPassLengths plait_pass_missing = { { { 4, 2, 0 }, { 3, 0, 2 }, { 2, 5, 0 } }, { 3, 1, 4 } };

PlaitBatch *
plait_pass_batch (const PlaitFixture *fixture, const PlaitPassLengths *lengths)
{
  const gint64 *const sources[] = { lengths->sources[0], lengths->sources[1], lengths->sources[2] };

  return plait_fixture_batch (fixture, 0, PLAIT_PASS_SENTENCES, sources, lengths->targets);
}

PlaitBatch *
plait_pass_sentence (const PlaitFixture *fixture, const PlaitPassLengths *lengths, gint64 sentence)
{
  const gint64 *const sources[]
      = { lengths->sources[0] + sentence, lengths->sources[1] + sentence, lengths->sources[2] + sentence };

  return plait_fixture_batch (fixture, sentence, 1, sources, lengths->targets + sentence);
}

typedef struct
{
  const PlaitFixture *fixture;
  const PlaitBatch *batch;
  PlaitTape *tape;
  PlaitTapeMode mode;
  guint64 key;
  PlaitPass *pass;
} Running;

static void
run (gpointer data)
{
  const Running *running = data;
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitNode *root;

  plait_tape_begin (running->tape, running->mode, plait_random_key (running->key, "dropout", NULL, 1));
  root = plait_model_loss (running->fixture->model, running->tape, running->batch, &options, &running->pass->sums,
                           running->pass->rows, NULL);
  if (running->mode != PLAIT_TAPE_EVALUATE)
    plait_tape_backward (running->tape, root);
}

gboolean
plait_pass_run (const PlaitFixture *fixture, const PlaitBatch *batch, PlaitTapeMode mode, guint threads, guint64 key,
                PlaitPass *pass, GError **error)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, error);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = pool ? plait_tape_new (pool, arena) : NULL;
  Running running = { fixture, batch, tape, mode, key, pass };

  g_assert (plait_ragged_rows (batch->target_rows) <= PLAIT_PASS_ROWS);
  memset (pass, 0, sizeof *pass);
  plait_parameters_zero_gradients (plait_model_parameters (fixture->model));
  return pool && plait_model_check_batch (fixture->model, batch, error)
         && plait_arena_protect (arena, run, &running, error);
}

gboolean
plait_pass_is_finite (const PlaitPass *pass, const PlaitBatch *batch, GError **error)
{
  char digits[PLAIT_NUMBER_LENGTH];

  for (gint64 s = 0; s < batch->n_sentences; s++)
    for (gint64 row = batch->target_rows.offsets[s]; row < batch->target_rows.offsets[s + 1]; row++)
      if (!isfinite (pass->rows[row]) || pass->rows[row] <= 0)
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "the loss of target row %jd of sentence %jd is %s, expected a finite number above 0; look "
                           "for a division by 0, or a logarithm or root of 0",
                           row - batch->target_rows.offsets[s], s, plait_format_double (digits, pass->rows[row]));
  return TRUE;
}

/* TRUE if all gradients of parameters are finite and at least one is not zero. */
static gboolean
has_gradients (const PlaitFixture *fixture, GError **error)
{
  const PlaitParameters *parameters = plait_model_parameters (fixture->model);
  char digits[PLAIT_NUMBER_LENGTH];
  double norm = 0;

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);

      for (gint64 k = 0; k < parameter->value.rows * parameter->value.width; k++)
        {
          double one = (double)parameter->gradient.data[k];

          if (!isfinite (one))
            return plait_fail (error, PLAIT_ERROR_FAILED,
                               "the gradient of %s contains %s, though the loss is finite; look for a derivative that "
                               "is undefined, such as that of a root at 0",
                               parameter->name, plait_format_double (digits, one));
          norm += one * one;
        }
    }
  return norm > 0
         || plait_fail (
             error, PLAIT_ERROR_FAILED,
             "all gradients are 0, so the model cannot be trained; look for an operator whose backward adds nothing");
}

gboolean
plait_pass_trains (const PlaitFixture *fixture, const PlaitBatch *batch, GError **error)
{
  PlaitPass pass;

  return plait_pass_run (fixture, batch, PLAIT_TAPE_TRAIN, 1, 1, &pass, error)
         && plait_pass_is_finite (&pass, batch, error) && has_gradients (fixture, error);
}

const PlaitPassLengths *
plait_pass_lengths (const PlaitFixture *fixture)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (fixture, &plait_pass_missing);

  return plait_pass_trains (fixture, batch, NULL) ? &plait_pass_missing : &plait_pass_whole;
}

gboolean
plait_pass_nearly_equal (double a, double b)
{
  double tolerance = sizeof (PlaitScalar) == sizeof (double) ? 1e-11 : 2e-5;

  return fabs (a - b) <= tolerance * (1 + fabs (a));
}

gboolean
plait_pass_equals_its_sentences (const PlaitFixture *fixture, const PlaitPassLengths *lengths, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (fixture, lengths);
  PlaitPass together;

  if (!plait_pass_run (fixture, batch, PLAIT_TAPE_EVALUATE, 1, 1, &together, error))
    return FALSE;
  for (gint64 s = 0; s < PLAIT_PASS_SENTENCES; s++)
    {
      g_autoptr (PlaitBatch) one = plait_pass_sentence (fixture, lengths, s);
      PlaitPass alone;

      if (!plait_pass_run (fixture, one, PLAIT_TAPE_EVALUATE, 1, 1, &alone, error))
        return FALSE;
      for (gint64 t = 0; t <= lengths->targets[s]; t++)
        {
          double in_batch = together.rows[batch->target_rows.offsets[s] + t];

          /* If neither value is finite, say nothing here: another property reports that. */
          if (!plait_pass_nearly_equal (alone.rows[t], in_batch) && (isfinite (alone.rows[t]) || isfinite (in_batch)))
            return plait_fail (
                error, PLAIT_ERROR_FAILED,
                "the loss of target row %jd of sentence %jd is %.9g with the sentence alone and %.9g in a batch of %d, "
                "expected equal losses: a sentence must not depend on other sentences or on their number",
                t, s, alone.rows[t], in_batch, PLAIT_PASS_SENTENCES);
        }
    }
  return TRUE;
}

typedef struct
{
  const PlaitFixture *fixture;
  const PlaitBatch *batch;
} Build;

static PlaitNode *
build_loss (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  const Build *build = data;
  PlaitOutputLossOptions options = { .scale = 0.25, .smoothing = 0.1 };
  PlaitModelSums sums;

  return plait_model_loss (build->fixture->model, tape, build->batch, &options, &sums, NULL, NULL);
}

gboolean
plait_pass_has_gradients (const PlaitFixture *fixture, const PlaitBatch *batch, PlaitTapeMode mode, guint sample,
                          GError **error)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  PlaitParameters *parameters = plait_model_parameters (fixture->model);
  guint n = plait_parameters_n (parameters);
  g_autofree PlaitCheckLeaf *leaves = g_new0 (PlaitCheckLeaf, n);
  PlaitGradientCheck check = {
    .build = build_loss,
    .data = &(Build){ fixture, batch },
    .leaves = leaves,
    .n_leaves = n,
    .mode = mode,
    .key = plait_random_key (3, "sample", NULL, 0),
    .sample = sample,
    .small = sizeof (PlaitScalar) == sizeof (double)
                 ? 0
                 : 1, /* float: finite differences are precise enough only for the largest gradients of a parameter */
  };

  for (guint i = 0; i < n; i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      leaves[i] = (PlaitCheckLeaf){ parameter->name, parameter->value, parameter->gradient };
    }
  return plait_check_gradients (&check, pool, error);
}
