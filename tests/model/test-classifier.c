/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "contract/pass.h"
#include "corpus/batch.h"
#include "harness.h"
#include "search/search.h"
#include "models.h"

/* Tests of models that predict a class: values against sums in doubles, gradients, predictions. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-10
#else
#define AGREEMENT 1e-5
#endif

enum
{
  SENTENCES = PLAIT_PASS_SENTENCES,
  CLASSES = PLAIT_FIXTURE_WORDS - PLAIT_TOKEN_SPECIALS,
};

/* Builds a model with @n sources that predicts @kind. (transfer full) */
static PlaitFixture *
model_of (PlaitRegistry *registry, PlaitPredictKind kind, guint n, PlaitMemoryRow row, const char *memories,
          GError **error)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "transformer");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  PlaitFixtureSource sources[2] = { { encoder, settings }, { encoder, settings } };
  PlaitFixtureDecoder decoder = {
    .settings = plait_fixture_decoder (PLAIT_FIXTURE_TRANSFORMER).settings,
    .predict = { .longest_answer = 2, .kind = kind, .row = row, .memories = memories },
  };

  return plait_fixture_new (sources, n, &decoder, 6, error);
}

/* Builds a model with two sources, of which the second is missing in sentence 1. (transfer full) */
static PlaitFixture *
class_model (PlaitRegistry *registry, PlaitMemoryRow row, const char *memories, GError **error)
{
  return model_of (registry, PLAIT_PREDICT_CLASS, 2, row, memories, error);
}

/* Returns column @c of the row that represents sentence @s of @memory, as @row says. */
static double
pooled (const PlaitMemory *memory, gint64 s, PlaitMemoryRow row, gint64 c)
{
  PlaitTensor states = memory->states->value;
  gint64 first = memory->rows.offsets[s], end = memory->rows.offsets[s + 1];
  double sum = 0;

  if (first == end)
    return 0;
  if (row == PLAIT_ROW_FIRST)
    end = first + 1;
  if (row == PLAIT_ROW_LAST)
    first = end - 1;
  for (gint64 r = first; r < end; r++)
    sum += (double)states.data[r * states.width + c];
  return sum / (double)(end - first);
}

/* Computes, in doubles, the log-probabilities of the classes of sentence @s. Reads the @n memories from number @first
 * on. */
static void
expected (const PlaitFixture *model, const PlaitEncoderOutputs *encoded, guint first, guint n, PlaitMemoryRow row,
          gint64 s, double *log_probabilities)
{
  PlaitTensor hidden = test_parameter (model, "class/hidden/weight"),
              bias = test_parameter (model, "class/hidden/bias");
  PlaitTensor output = test_parameter (model, "class/output/weight"),
              output_bias = test_parameter (model, "class/output/bias");
  double state[64], sum = 0;

  CHECK_INT (hidden.rows, n * hidden.width);
  CHECK_INT (output.rows, CLASSES);
  for (gint64 k = 0; k < hidden.width; k++)
    {
      double x = (double)bias.data[k];

      for (guint m = 0; m < n; m++)
        for (gint64 c = 0; c < hidden.width; c++)
          x += pooled (&encoded->memories[first + m], s, row, c)
               * (double)hidden.data[(m * hidden.width + c) * hidden.width + k];
      state[k] = tanh (x);
    }
  for (gint64 class = 0; class < CLASSES; class ++)
    {
      log_probabilities[class] = (double)output_bias.data[class];
      for (gint64 k = 0; k < hidden.width; k++)
        log_probabilities[class] += state[k] * (double)output.data[class * hidden.width + k];
      sum += exp (log_probabilities[class]);
    }
  for (gint64 class = 0; class < CLASSES; class ++)
    log_probabilities[class] -= log (sum);
}

static void
check_values (PlaitRegistry *registry, PlaitMemoryRow row, const char *memories, guint first, guint n)
{
  g_autoptr (PlaitFixture) model = class_model (registry, row, memories, NO_ERROR);
  g_autoptr (PlaitBatch) batch = model ? plait_pass_batch (model, &plait_pass_missing) : NULL;
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitDecodeSettings settings = { .beam = CLASSES, .n_best = CLASSES };
  PlaitHypotheses *found;
  PlaitEncoderOutputs encoded;
  PlaitPass pass;
  CONTEXT ("row %d of %s", row, memories);

  REQUIRE (batch != NULL);
  CHECK (plait_pass_run (model, batch, PLAIT_TAPE_EVALUATE, 1, 0, &pass, NO_ERROR));
  g_autoptr (PlaitSearch) search = plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
  found = plait_search_batch (search, batch, &settings, NO_ERROR);
  REQUIRE (found != NULL);
  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  encoded = plait_model_encode (model->model, tape, batch, NULL);
  CHECK_INT (plait_ragged_rows (batch->target_rows), SENTENCES);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      double log_probabilities[CLASSES];

      expected (model, &encoded, first, n, row, s, log_probabilities);
      CHECK_NEAR (pass.rows[s], -log_probabilities[batch->target_outputs[s]], AGREEMENT);
      CHECK_INT (found[s].n, CLASSES);
      for (guint i = 0; i < found[s].n; i++)
        {
          const PlaitHypothesis *hypothesis = &found[s].hypotheses[i];

          REQUIRE (hypothesis->length == 1 && hypothesis->tokens[0] >= PLAIT_TOKEN_SPECIALS);
          CHECK_NEAR (hypothesis->log_probability, log_probabilities[hypothesis->tokens[0] - PLAIT_TOKEN_SPECIALS],
                      AGREEMENT);
          CHECK (i == 0 || hypothesis->score <= found[s].hypotheses[i - 1].score);
        }
    }
  plait_hypotheses_free (found, SENTENCES);
}

TEST_CASE (classifier, is_softmax_of_what_rows_say)
{
  PlaitRegistry *registry = test_registry ();

  for (PlaitMemoryRow row = PLAIT_ROW_FIRST; row <= PLAIT_ROW_MEAN; row++)
    {
      check_values (registry, row, "", 0, 2);
      check_values (registry, row, "second", 1, 1);
    }
}

TEST_CASE (classifier, names_the_memories_that_there_are)
{
  PlaitRegistry *registry = test_registry ();
  GError *error = NULL;

  CHECK (!class_model (registry, PLAIT_ROW_FIRST, "first;third", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "predict.memories: no encoder makes a memory \"third\"; expected one of first, second");
  g_clear_error (&error);
  CHECK (!class_model (registry, PLAIT_ROW_FIRST, "first,second", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "did you mean \"first;second\"?");
  g_clear_error (&error);
}

static void
check_gradients (const PlaitFixture *model, const PlaitPassLengths *lengths)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (model, lengths);

  CHECK (plait_pass_has_gradients (model, batch, PLAIT_TAPE_TRAIN, 3, NO_ERROR));
}

TEST_CASE (classifier, gradients_are_those_of_differences)
{
  PlaitRegistry *registry = test_registry ();

  for (PlaitMemoryRow row = PLAIT_ROW_FIRST; row <= PLAIT_ROW_MEAN; row++)
    {
      g_autoptr (PlaitFixture) classes = class_model (registry, row, "", NULL);
      g_autoptr (PlaitFixture) choices = model_of (registry, PLAIT_PREDICT_CHOICE, 1, row, "", NULL);
      CONTEXT ("row %d", row);

      check_gradients (classes, &plait_pass_missing);
      check_gradients (choices, &plait_pass_whole);
    }
  g_autoptr (PlaitFixture) spans = model_of (registry, PLAIT_PREDICT_SPAN, 1, PLAIT_ROW_FIRST, "", NULL);
  check_gradients (spans, &plait_pass_whole);
}

/* The loss of a choice is -log of the exponential of the correct sentence's score divided by the sum over all
 * sentences. Each sentence of a document has the score that it has when it is read alone. */
TEST_CASE (classifier, chooses_by_softmax_over_the_sentences_of_a_document)
{
  PlaitRegistry *registry = test_registry ();
  GError *error = NULL;
  g_autoptr (PlaitFixture) model = model_of (registry, PLAIT_PREDICT_CHOICE, 1, PLAIT_ROW_MEAN, "", NO_ERROR);
  static const PlaitPassLengths lengths = { { { 3, 11, 8 } }, { 0, 0, 0 } };
  g_autoptr (PlaitBatch) batch = model ? plait_pass_batch (model, &lengths) : NULL;
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitDecodeSettings settings = { .beam = 20, .n_best = 20 };
  PlaitTensor hidden, bias, score;
  PlaitHypotheses *found;
  PlaitEncoderOutputs encoded;
  PlaitPass pass;
  gint64 most = 0, fewest = 100;

  REQUIRE (batch != NULL);
  hidden = test_parameter (model, "choice/hidden/weight");
  bias = test_parameter (model, "choice/hidden/bias");
  score = test_parameter (model, "choice/score/weight");
  CHECK (plait_pass_run (model, batch, PLAIT_TAPE_EVALUATE, 1, 0, &pass, NO_ERROR));
  g_autoptr (PlaitSearch) search = plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
  found = plait_search_batch (search, batch, &settings, NO_ERROR);
  REQUIRE (found != NULL);
  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  encoded = plait_model_encode (model->model, tape, batch, NULL);
  for (gint64 d = 0; d < SENTENCES; d++)
    {
      gint64 first = encoded.candidates.offsets[d], n = plait_ragged_length (encoded.candidates, d);
      double logits[20], sum = 0;

      most = MAX (most, n);
      fewest = MIN (fewest, n);
      for (gint64 i = 0; i < n; i++)
        {
          logits[i] = 0;
          for (gint64 k = 0; k < hidden.width; k++)
            {
              double x = (double)bias.data[k];

              for (gint64 c = 0; c < hidden.rows; c++)
                x += pooled (&encoded.memories[0], first + i, PLAIT_ROW_MEAN, c)
                     * (double)hidden.data[c * hidden.width + k];
              logits[i] += tanh (x) * (double)score.data[k];
            }
          sum += exp (logits[i]);
        }
      CHECK_NEAR (pass.rows[d], log (sum) - logits[batch->target_outputs[d]], AGREEMENT);
      CHECK_INT (found[d].n, n);
      for (guint i = 0; i < found[d].n; i++)
        {
          const PlaitHypothesis *hypothesis = &found[d].hypotheses[i];

          REQUIRE (hypothesis->length == 1 && hypothesis->tokens[0] >= 0 && hypothesis->tokens[0] < n);
          CHECK_NEAR (hypothesis->log_probability, logits[hypothesis->tokens[0]] - log (sum), AGREEMENT);
          CHECK (i == 0 || hypothesis->score <= found[d].hypotheses[i - 1].score);
        }
    }
  CHECK (fewest < most);
  plait_hypotheses_free (found, SENTENCES);

  plait_batch_fill (gint32, batch->target_outputs)[0] = 9;
  CHECK (!plait_model_check_batch (model->model, batch, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "sentence 9 is the answer, but there are");
  g_clear_error (&error);
}

static int
descending (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x < y) - (x > y);
}

/* Computes two softmaxes over the rows of each document. The predictions are the best spans within the length limit;
 * "no answer" is one of them. */
TEST_CASE (span_head, predicts_the_best_spans_or_none)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = model_of (registry, PLAIT_PREDICT_SPAN, 1, PLAIT_ROW_FIRST, "", NO_ERROR);
  static const PlaitPassLengths lengths = { { { 3, 11, 8 } }, { 0, 0, 0 } };
  g_autoptr (PlaitBatch) batch = model ? plait_pass_batch (model, &lengths) : NULL;
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitDecodeSettings settings = { .beam = 3, .n_best = 3 };
  int none = 0, across = 0; /* number of predictions without an answer, and of spans across the end of a sentence */

  REQUIRE (batch != NULL);
  for (guint64 seed = 1; seed <= 12; seed++)
    {
      PlaitTensor states, weight = test_parameter (model, "span/score/weight"),
                          bias = test_parameter (model, "span/score/bias");
      PlaitHypotheses *found;
      PlaitPass pass;

      plait_fixture_initialise (model, seed);
      CHECK (plait_pass_run (model, batch, PLAIT_TAPE_EVALUATE, 1, 0, &pass, NO_ERROR));
      g_autoptr (PlaitSearch) search = plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
      found = plait_search_batch (search, batch, &settings, NO_ERROR);
      REQUIRE (found != NULL);
      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      states = plait_model_encode (model->model, tape, batch, NULL).memories[0].states->value;
      for (gint64 d = 0; d < SENTENCES; d++)
        {
          const PlaitInput *input = &batch->inputs[0];
          gint64 first = input->rows.offsets[d], n = plait_ragged_length (input->rows, d), best[2] = { 0, 0 };
          double logits[2][16], sums[2] = { 0, 0 }, most;
          g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (double));
          const PlaitHypothesis *told = &found[d].hypotheses[0];

          for (gint64 i = 0; i < 2 * n; i++)
            {
              double x = (double)bias.data[i % 2];

              for (gint64 c = 0; c < weight.rows; c++)
                x += (double)states.data[(first + i / 2) * states.width + c] * (double)weight.data[2 * c + i % 2];
              logits[i % 2][i / 2] = x;
              sums[i % 2] += exp (x);
            }
          for (guint side = 0; side < 2; side++)
            CHECK_NEAR (pass.rows[2 * d + side], log (sums[side]) - logits[side][batch->target_outputs[2 * d + side]],
                        AGREEMENT);
          most = logits[0][0] + logits[1][0];
          g_array_append_val (all, most);
          for (gint64 i = 0; i < n; i++)
            for (gint64 k = i, starts = 0; k < MIN (n, i + starts + 2); k++)
              if (input->tokens[first + k] == PLAIT_TOKEN_BOS)
                starts++;
              else if (input->tokens[first + i] != PLAIT_TOKEN_BOS)
                {
                  across += starts > 0;
                  double both = logits[0][i] + logits[1][k];

                  g_array_append_val (all, both);
                  if (both <= most)
                    continue;
                  most = both;
                  best[0] = i;
                  best[1] = k;
                }
          g_array_sort (all, descending);
          REQUIRE (found[d].n == MIN (3, all->len));
          for (guint i = 0; i < found[d].n; i++)
            CHECK_NEAR (found[d].hypotheses[i].log_probability,
                        g_array_index (all, double, i) - log (sums[0]) - log (sums[1]), AGREEMENT);
          if (best[0] == 0)
            {
              CHECK_INT (told->length, 1);
              CHECK_INT (told->tokens[0], -1);
              none++;
              continue;
            }
          CHECK_INT (told->length, 2);
          for (guint side = 0; side < 2; side++)
            {
              gint32 number = -1;

              for (gint64 i = 0; i <= best[side]; i++)
                number += input->tokens[first + i] != PLAIT_TOKEN_BOS;
              CHECK_INT (told->tokens[side], number);
            }
        }
      plait_hypotheses_free (found, SENTENCES);
    }
  CHECK (none > 0 && none < 36);
  CHECK (across > 0);
}

/* If a number in a model is not finite, there is no best prediction. */
TEST_CASE (predictions, are_refused_without_numbers)
{
  static const struct
  {
    PlaitPredictKind kind;
    const char *parameter;
  } cases[] = {
    { PLAIT_PREDICT_CLASS, "class/hidden/bias" },   { PLAIT_PREDICT_CLASS, "class/output/bias" },
    { PLAIT_PREDICT_CHOICE, "choice/hidden/bias" }, { PLAIT_PREDICT_SPAN, "span/score/bias" },
    { PLAIT_PREDICT_NUMBER, "number/score/bias" },  { PLAIT_PREDICT_TAGS, "tags/output/bias" },
  };
  PlaitRegistry *registry = test_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PlaitFixture) model = model_of (registry, cases[i].kind, 1, PLAIT_ROW_FIRST, "", NO_ERROR);
      g_autoptr (PlaitBatch) batch = model ? plait_pass_batch (model, &plait_pass_whole) : NULL;
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      PlaitDecodeSettings settings = { .beam = 1, .n_best = 1 };
      g_autoptr (GError) error = NULL;
      CONTEXT ("%s", cases[i].parameter);

      REQUIRE (batch != NULL);
      PlaitTensor bias = test_parameter (model, cases[i].parameter);
      for (gint64 k = 0; k < bias.width; k++)
        bias.data[k] = (PlaitScalar)NAN;
      g_autoptr (PlaitSearch) search = plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
      CHECK (!plait_search_batch (search, batch, &settings, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the model predicts nothing, because its states are not finite");
    }
}
