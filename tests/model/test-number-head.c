/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "contract/pass.h"
#include "corpus/batch.h"
#include "harness.h"
#include "layers/parameter-set.h"
#include "search/search.h"
#include "models.h"

/* Models that predict a number: values against sums in doubles, gradients, predictions. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-10
#else
#define AGREEMENT 1e-5
#endif

enum
{
  SENTENCES = PLAIT_PASS_SENTENCES,
};

/* Builds a model of two sources; the second is missing in sentence 1. (transfer full) */
static PlaitFixture *
number_model (void)
{
  PlaitPlugin *encoder = test_plugin (test_registry (), PLAIT_PLUGIN_ENCODER, "transformer");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  PlaitFixtureSource sources[2] = { { encoder, settings }, { encoder, settings } };
  PlaitFixtureDecoder decoder = {
    .settings = plait_fixture_decoder (PLAIT_FIXTURE_TRANSFORMER).settings,
    .predict = { .kind = PLAIT_PREDICT_NUMBER, .row = PLAIT_ROW_FIRST, .memories = "" },
  };

  decoder.settings.dropout = 0;
  return plait_fixture_new (sources, 2, &decoder, 6, NO_ERROR);
}

/* Returns v . tanh (W [first row of each memory] + b) + c for sentence @s, where a missing source has zeros. */
static double
expected (const PlaitFixture *model, const PlaitEncoderOutputs *encoded, gint64 s)
{
  PlaitTensor hidden = test_parameter (model, "number/hidden/weight"),
              bias = test_parameter (model, "number/hidden/bias"),
              score = test_parameter (model, "number/score/weight");
  double number = (double)test_parameter (model, "number/score/bias").data[0];

  for (gint64 k = 0; k < hidden.width; k++)
    {
      double x = (double)bias.data[k];

      for (guint m = 0; m < 2; m++)
        {
          const PlaitMemory *memory = &encoded->memories[m];

          for (gint64 c = 0; c < hidden.width && plait_ragged_length (memory->rows, s) > 0; c++)
            x += (double)plait_tensor_row (memory->states->value, memory->rows.offsets[s])[c]
                 * (double)hidden.data[(m * hidden.width + c) * hidden.width + k];
        }
      number += tanh (x) * (double)score.data[k];
    }
  return number;
}

/* The loss of a row is the squared error; the criterion weighs it, so the gradient of the last bias is the sum of
 * 2 w (number - target). */
TEST_CASE (number_head, is_a_linear_function_of_the_state)
{
  static const double weights[SENTENCES] = { 1, 2.5, 0.5 };
  g_autoptr (PlaitFixture) model = number_model ();
  g_autoptr (PlaitBatch) batch = model ? plait_pass_batch (model, &plait_pass_missing) : NULL;
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  const PlaitParameters *parameters;
  PlaitDecodeSettings settings = { .beam = 4, .n_best = 4 };
  PlaitHypotheses *found;
  PlaitEncoderOutputs encoded;
  double gradient = 0, sum = 0;
  PlaitPass pass;

  REQUIRE (batch != NULL);
  for (guint s = 0; s < SENTENCES; s++)
    plait_batch_fill (double, batch->weights)[s] = weights[s];
  CHECK (plait_pass_run (model, batch, PLAIT_TAPE_TRAIN, 1, 0, &pass, NO_ERROR));
  g_autoptr (PlaitSearch) search = plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
  found = plait_search_batch (search, batch, &settings, NO_ERROR);
  REQUIRE (found != NULL);
  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  encoded = plait_model_encode (model->model, tape, batch, NULL);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      double number = expected (model, &encoded, s);
      double error = number - (double)plait_number_of_id (batch->target_outputs[s]);

      CHECK_NEAR (pass.rows[s], error * error, AGREEMENT * (1 + error * error));
      sum += error * error;
      gradient += 2 * weights[s] * error;
      REQUIRE (found[s].n == 1 && found[s].hypotheses[0].length == 1);
      CHECK_NEAR (strtod (plait_hypothesis_words (&found[s].hypotheses[0])[0], NULL), number,
                  1e-5 * (1 + fabs (number)));
    }
  CHECK_NEAR (pass.sums.words.negative_log_likelihood, sum, AGREEMENT * (1 + sum));
  parameters = plait_model_parameters (model->model);
  CHECK_NEAR ((double)plait_parameters_find (parameters, "number/score/bias")->gradient.data[0], gradient,
              AGREEMENT * (1 + fabs (gradient)));
  CHECK (plait_pass_has_gradients (model, batch, PLAIT_TAPE_CHECK, 3, NO_ERROR));
  plait_hypotheses_free (found, SENTENCES);
}
