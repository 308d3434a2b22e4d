/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "corpus/batch.h"
#include "hat-models.h"
#include "reference.h"
#include "layers/parameter-set.h"

/* Factors of a source: Sennrich & Haddow 2016, section 2. A model with the embedding E_w + P_p + C_c, or [E_w; P_p;
 * C_c], of each token equals a model without factors whose vocabulary has a token for each triple (w, p, c) with this
 * vector as its embedding. The gradient of E_w is the sum of those of the triples with w; likewise for P_p and C_c. */

enum
{
  WIDTH = 8,
  POS = 5,  /* tokens of the first factor */
  CASE = 3, /* tokens of the second factor */
  SENTENCES = 4,
};

static const gint64 lengths[] = { 5, 0, 1, 7 }, targets[] = { 3, 1, 2, 4 };
static const gint64 *const of_source[] = { lengths };

/* The two models, and the places of the factors in a row of embeddings. */
typedef struct
{
  PlaitFixture *factored, *plain;
  PlaitFactorSpecification factors[2];
  gint64 first[3], widths[3]; /* columns of E_w, P_p and C_c */
} Models;

static void
models_clear (Models *models)
{
  plait_fixture_free (models->factored);
  plait_fixture_free (models->plain);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Models, models_clear)

/* Returns a model of one source, read by a Transformer, with other embeddings than those of the target. */
static PlaitFixture *
model_new (void)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (0);

  decoder.settings.share_embeddings = FALSE;
  return test_documents_model (test_registry (), NULL, test_no_keys, "serial", decoder, NO_ERROR);
}

static void
rebuild (PlaitFixture *fixture, guint64 seed)
{
  plait_model_free (fixture->model);
  fixture->model = plait_model_new (&fixture->specification, NO_ERROR);
  REQUIRE (fixture->model != NULL);
  plait_fixture_initialise (fixture, seed);
}

static const PlaitParameter *
parameter_of (const PlaitFixture *fixture, const char *name)
{
  const PlaitParameter *parameter = plait_parameters_find (plait_model_parameters (fixture->model), name);

  g_assert (parameter);
  return parameter;
}

/* Returns the table of E, P or C. */
static const PlaitParameter *
table_of (const Models *models, guint part)
{
  static const char *const names[]
      = { "source/first/embedding/table", "source/first/factor/pos/table", "source/first/factor/case/table" };

  return parameter_of (models->factored, names[part]);
}

/* Returns the row of E, P or C of the triple @triple. */
static gint64
row_of (gint64 triple, guint part)
{
  return part == 0 ? triple / (POS * CASE) : part == 1 ? triple / CASE % POS : triple % CASE;
}

/* Gives the plain model the values of the factored one. */
static void
copy_values (const Models *models)
{
  PlaitParameters *plain = plait_model_parameters (models->plain->model);
  PlaitTensor values = plait_parameters_write_values (plain);

  for (guint i = 0; i < plait_parameters_n (plain); i++)
    {
      const PlaitParameter *to = plait_parameters_get (plain, i);
      gint64 n = to->value.rows * to->value.width;

      if (g_str_equal (to->name, "source/first/embedding/table"))
        {
          for (gint64 k = 0; k < n; k++)
            values.data[to->offset + k] = 0;
          for (guint part = 0; part < 3; part++)
            for (gint64 triple = 0; triple < to->value.rows; triple++)
              for (gint64 k = 0; k < models->widths[part]; k++)
                values.data[to->offset + triple * WIDTH + models->first[part] + k]
                    += plait_tensor_row (table_of (models, part)->value, row_of (triple, part))[k];
          continue;
        }
      for (gint64 k = 0; k < n; k++)
        values.data[to->offset + k] = parameter_of (models->factored, to->name)->value.data[k];
    }
}

/* @pos, @case_width: widths of the factors; 0: they are added. */
static void
models_set_up (Models *models, gint64 pos, gint64 case_width)
{
  PlaitSourceSpecification *source;

  models->factors[0] = (PlaitFactorSpecification){ "pos", POS, pos };
  models->factors[1] = (PlaitFactorSpecification){ "case", CASE, case_width };
  models->widths[0] = WIDTH - pos - case_width;
  models->widths[1] = pos ? pos : WIDTH;
  models->widths[2] = case_width ? case_width : WIDTH;
  models->first[1] = pos ? models->widths[0] : 0;
  models->first[2] = pos ? models->widths[0] + pos : 0;
  models->factored = model_new ();
  source = &models->factored->sources[0];
  source->factors = models->factors;
  source->n_factors = 2;
  rebuild (models->factored, 5);
  models->plain = model_new ();
  models->plain->sources[0].vocabulary_size = PLAIT_FIXTURE_WORDS * POS * CASE;
  rebuild (models->plain, 6);
  copy_values (models);
}

static void
losses_of (const PlaitFixture *model, const PlaitBatch *batch, double *losses)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  plait_parameters_zero_gradients (plait_model_parameters (model->model));
  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  plait_tape_backward (bench.tape, plait_model_loss (model->model, bench.tape, batch, &options, &sums, losses, NULL));
}

static void
check_gradients (const Models *models)
{
  const PlaitParameters *plain = plait_model_parameters (models->plain->model);
  const PlaitParameter *triples = parameter_of (models->plain, "source/first/embedding/table");

  for (guint part = 0; part < 3; part++)
    for (gint64 row = 0; row < table_of (models, part)->value.rows; row++)
      for (gint64 k = 0; k < models->widths[part]; k++)
        {
          double expected = 0;
          CONTEXT ("table %u, row %d, column %d", part, (int)row, (int)k);

          for (gint64 triple = 0; triple < triples->value.rows; triple++)
            if (row_of (triple, part) == row)
              expected += (double)plait_tensor_row (triples->gradient, triple)[models->first[part] + k];
          CHECK_NEAR ((double)plait_tensor_row (table_of (models, part)->gradient, row)[k], expected,
                      AGREEMENT * (1 + fabs (expected)));
        }
  for (guint i = 0; i < plait_parameters_n (plain); i++)
    {
      const PlaitParameter *expected = plait_parameters_get (plain, i);
      const PlaitParameter *found = parameter_of (models->factored, expected->name);

      for (gint64 k = 0; expected != triples && k < expected->value.rows * expected->value.width; k++)
        CHECK_NEAR ((double)found->gradient.data[k], (double)expected->gradient.data[k],
                    AGREEMENT * (1 + fabs ((double)expected->gradient.data[k])));
    }
}

TEST_CASE (factors, equal_a_vocabulary_of_triples)
{
  for (gint64 concat = 0; concat < 2; concat++)
    {
      g_auto (Models) models = { 0 };
      g_autoptr (PlaitBatch) batch = NULL;
      g_autofree gint32 *words = NULL;
      gint32 pos[16], cases[16];
      const gint32 *factors[] = { pos, cases };
      double losses[32], expected[32];
      g_autoptr (GError) error = NULL;
      PlaitInput *input;
      gint64 rows;
      CONTEXT ("concat %d", (int)concat);

      models_set_up (&models, 3 * concat, 2 * concat);
      batch = plait_fixture_batch (models.factored, 0, SENTENCES, of_source, targets);
      input = plait_batch_fill (PlaitInput, batch->inputs);
      rows = plait_ragged_rows (input->rows);
      words = g_memdup2 (input->tokens, (gsize)rows * sizeof (gint32));
      for (gint64 i = 0; i < rows; i++)
        {
          pos[i] = (gint32)(i * i % POS);
          cases[i] = (gint32)(i / 2 % CASE);
          plait_batch_fill (gint32, input->tokens)[i] = (words[i] * POS + pos[i]) * CASE + cases[i];
        }
      CHECK (plait_model_check_batch (models.plain->model, batch, NO_ERROR));
      losses_of (models.plain, batch, expected);
      for (gint64 i = 0; i < rows; i++)
        plait_batch_fill (gint32, input->tokens)[i] = words[i];
      CHECK (!plait_model_check_batch (models.factored->model, batch, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "must have 2 factors, but has 0");
      input->factors = factors;
      input->n_factors = 2;
      CHECK (plait_model_check_batch (models.factored->model, batch, NO_ERROR));
      losses_of (models.factored, batch, losses);
      for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
        CHECK_NEAR (losses[row], expected[row], AGREEMENT * (1 + expected[row]));
      check_gradients (&models);
      cases[2] = CASE;
      CHECK (!plait_model_check_batch (models.factored->model, batch, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "case, sentence 1: token id 3 is outside the vocabulary of 3 pieces");
    }
}

TEST_CASE (factors, need_room_beside_words)
{
  PlaitFactorSpecification factor = { "pos", POS, WIDTH };
  g_autoptr (PlaitFixture) fixture = model_new ();
  g_autoptr (GError) error = NULL;

  fixture->sources[0].factors = &factor;
  fixture->sources[0].n_factors = 1;
  CHECK (!plait_model_new (&fixture->specification, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "the factors of the source \"first\" need a width of 8, so decoder.width=8 leaves no width for");
  factor.width = 2;
  fixture->specification.decoder.share_embeddings = TRUE;
  CHECK (!plait_model_new (&fixture->specification, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "streams share the embedding of vocabulary shared, but with factor_join=concat one stream needs the "
               "width 6 and another the width 8");
}
