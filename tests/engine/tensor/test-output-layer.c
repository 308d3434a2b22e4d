/* SPDX-License-Identifier: MIT */
#include "tensor/output-layer.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "trial.h"

typedef struct
{
  PlaitTensor dstates;
  PlaitTensor dtable;
  PlaitTensor dbias;
  double *row_losses;
  PlaitOutputLayerSums sums;
} Slow;

static double
slow_logit (const PlaitOutputLayerWork *work, gint64 row, gint64 word)
{
  double sum = work->bias ? (double)work->bias[word] : 0;

  for (gint64 d = 0; d < work->states.width; d++)
    sum += (double)plait_tensor_row (work->states, row)[d] * (double)plait_tensor_row (work->table, word)[d];
  return sum;
}

static void
slow_compute (const PlaitOutputLayerWork *work, Slow *slow)
{
  gint64 words = work->table.rows;
  double *logits = g_new (double, words);

  for (gint64 row = 0; row < work->states.rows && trial_compares (); row++)
    {
      double greatest = -INFINITY, sum = 0, log_sum;
      gint32 target = work->targets[row];
      gboolean correct = TRUE;

      for (gint64 v = 0; v < words; v++)
        {
          logits[v] = slow_logit (work, row, v);
          greatest = MAX (greatest, logits[v]);
        }
      for (gint64 v = 0; v < words; v++)
        {
          sum += exp (logits[v] - greatest);
          correct &= v < target ? logits[v] < logits[target] : logits[v] <= logits[target];
        }
      log_sum = greatest + log (sum);
      slow->sums.correct += correct;
      slow->row_losses[row] = log_sum - logits[target];
      slow->sums.negative_log_likelihood += log_sum - logits[target];
      for (gint64 v = 0; v < words; v++)
        {
          double wanted = work->others ? (v == target ? 1 - work->smoothing : work->smoothing / (double)(words - 1))
                                       : work->smoothing / (double)words + (v == target ? 1 - work->smoothing : 0);
          double gradient = work->scale * (exp (logits[v] - log_sum) - wanted);

          slow->sums.loss -= wanted * (logits[v] - log_sum);
          slow->dbias.data[v] += (PlaitScalar)gradient;
          for (gint64 d = 0; d < work->states.width; d++)
            {
              plait_tensor_row (slow->dstates, row)[d]
                  += (PlaitScalar)(gradient * (double)plait_tensor_row (work->table, v)[d]);
              plait_tensor_row (slow->dtable, v)[d]
                  += (PlaitScalar)(gradient * (double)plait_tensor_row (work->states, row)[d]);
            }
        }
    }
  g_free (logits);
}

static void
check_loss (Trial *trial, gint64 rows, gint64 width, gint64 words)
{
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, rows, width),
                                .table = trial_tensor (trial, words, width),
                                .smoothing = trial_flip (trial) ? .1 : 0,
                                .others = trial_flip (trial),
                                .scale = .25 };
  Slow slow = { .row_losses = trial_memory (trial, sizeof (double) * (gsize)rows) };
  gint32 *targets = trial_memory (trial, sizeof (gint32) * (gsize)(rows + 1));
  PlaitOutputLayerSums sums;
  double tolerance = sizeof (PlaitScalar) == 4 ? 1e-5 : 1e-12;

  for (gint64 i = 0; i < rows; i++)
    targets[i] = (gint32)trial_number (trial, 0, words - 1);
  work.targets = targets;
  work.bias = trial_flip (trial) ? trial_vector (trial, words) : NULL;
  work.row_losses = trial_memory (trial, sizeof (double) * (gsize)rows);
  work.dstates = trial_target (trial, rows, width, 0, &slow.dstates);
  work.dtable_beta = (PlaitScalar)trial_number (trial, 0, 1);
  work.dbias_beta = (PlaitScalar)trial_number (trial, 0, 1);
  work.dtable = trial_target (trial, words, width, work.dtable_beta, &slow.dtable);
  work.dbias = trial_target (trial, 1, words, work.dbias_beta, &slow.dbias);
  slow_compute (&work, &slow);

  sums = plait_output_layer_compute (trial->pool, trial->arena, &work);
  trial_digest (trial, (const double[]){ sums.loss, sums.negative_log_likelihood, (double)sums.correct },
                3 * sizeof (double));
  trial_digest (trial, work.row_losses, sizeof (double) * (gsize)rows);
  if (trial_compares ())
    {
      CHECK_NEAR (sums.loss, slow.sums.loss, tolerance * (1 + slow.sums.loss));
      CHECK_NEAR (sums.negative_log_likelihood, slow.sums.negative_log_likelihood, tolerance * (1 + slow.sums.loss));
      CHECK_INT (sums.correct, slow.sums.correct);
      for (gint64 i = 0; i < rows; i++)
        CHECK_NEAR (work.row_losses[i], slow.row_losses[i], tolerance * 10);
    }
  trial_check (trial, "dstates", work.dstates, slow.dstates);
  trial_check (trial, "dtable", work.dtable, slow.dtable);
  trial_check (trial, "dbias", work.dbias, slow.dbias);

  /* The losses must be the same if no gradients are computed. */
  work.dstates.data = work.dtable.data = work.dbias.data = NULL;
  CHECK (plait_output_layer_compute (trial->pool, trial->arena, &work).loss == sums.loss);
}

static void
loss_body (Trial *trial)
{
  check_loss (trial, trial_number (trial, 0, 100), trial_number (trial, 1, 90), trial_number (trial, 1, 700));
}

TEST_CASE (vocabulary_loss, equals_its_slow_twin)
{
  trial_run (loss_body, 12);
}

static void
chunks_body (Trial *trial)
{
  check_loss (trial, 1100, 9, 130);
}

TEST_CASE (vocabulary_loss, goes_over_several_chunks)
{
  trial_run (chunks_body, 1);
}

static void
ties_body (Trial *trial)
{
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, 3, 4),
                                .table = trial_tensor (trial, 300, 4),
                                .scale = 1,
                                .targets = (const gint32[]){ 0, 1, 299 } };

  for (gint64 v = 1; v < 300; v++)
    memcpy (plait_tensor_row (work.table, v), work.table.data, sizeof (PlaitScalar) * 4);
  CHECK_INT (plait_output_layer_compute (trial->pool, trial->arena, &work).correct, 1);
}

TEST_CASE (vocabulary_loss, counts_the_lowest_of_equal_words)
{
  trial_run (ties_body, 1);
}

static void
strange_body (Trial *trial)
{
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, 3, 4),
                                .table = trial_tensor (trial, 300, 4),
                                .scale = 1,
                                .targets = (const gint32[]){ 0, 1, 299 } };

  plait_tensor_row (work.table, 290)[1] = (PlaitScalar)NAN;
  CHECK (isnan (plait_output_layer_compute (trial->pool, trial->arena, &work).loss));
}

TEST_CASE (vocabulary_loss, keeps_nan)
{
  trial_run (strange_body, 1);
}

static void
best_body (Trial *trial)
{
  gboolean many = trial_number (trial, 0, 7) == 0;
  gint64 rows = many ? trial_number (trial, 250, 600) : trial_number (trial, 0, 12),
         width = trial_number (trial, 1, 40);
  gint64 words = trial_number (trial, 1, many ? 100 : 3000);
  guint best = (guint)trial_number (trial, 1, MIN (words, 12)), n_forbidden = (guint)trial_number (trial, 0, 2);
  PlaitOutputLayerWork work
      = { .states = trial_tensor (trial, rows, width), .table = trial_tensor (trial, words, width) };
  gint32 *ids = trial_memory (trial, sizeof (gint32) * (gsize)(rows + 1) * best);
  PlaitScalar *log_probabilities = trial_vector (trial, (rows + 1) * best);
  gint32 forbidden[2] = { (gint32)trial_number (trial, 0, words - 1), 0 };
  guint8 *forbid = trial_flip (trial) ? trial_bytes (trial, rows) : NULL;
  g_autoptr (PlaitPacked) packed = NULL;

  if (words > 1)
    forbidden[1] = (forbidden[0] + 1) % (gint32)words;
  else
    n_forbidden = MIN (n_forbidden, 1);
  /* Give some words equal rows, so that their logits are equal. */
  for (gint64 v = 0; v + 1 < words; v += 7)
    memcpy (plait_tensor_row (work.table, words - 1 - v), plait_tensor_row (work.table, v / 2),
            sizeof (PlaitScalar) * (gsize)width);
  work.bias = trial_flip (trial) ? trial_vector (trial, words) : NULL;
  packed = plait_pack (trial->pool, work.table, TRUE, PLAIT_PRECISION_FLOAT);
  plait_output_layer_top_k (trial->pool, trial->arena, work.states, packed, work.bias, forbidden, n_forbidden, forbid,
                            NULL, best, ids, log_probabilities);
  trial_digest (trial, ids, sizeof *ids * (gsize)rows * best);
  for (gint64 row = 0; row < rows && trial_compares (); row++)
    {
      g_autofree double *logits = g_new (double, words);
      g_autofree PlaitScalar *rounded = g_new (PlaitScalar, words);
      PlaitTensor y = plait_tensor (rounded, 1, words);
      double greatest = -INFINITY, sum = 0;

      /* The twin selects from logits with the same bits, so that equal logits are equal for both. */
      plait_packed_product (trial->pool, y, 0, plait_tensor_rows (work.states, row, 1), packed,
                            &(PlaitEpilogue){ .bias = work.bias });
      for (gint64 v = 0; v < words; v++)
        {
          logits[v] = slow_logit (&work, row, v);
          greatest = MAX (greatest, logits[v]);
        }
      for (gint64 v = 0; v < words; v++)
        sum += exp (logits[v] - greatest);
      for (guint i = 0; i < n_forbidden && (!forbid || forbid[row]); i++)
        rounded[forbidden[i]] = -(PlaitScalar)INFINITY;
      for (guint i = 0; i < best; i++)
        {
          gint64 choice = -1;

          for (gint64 v = 0; v < words; v++)
            if (rounded[v] > -(PlaitScalar)INFINITY && (choice < 0 || rounded[v] > rounded[choice]))
              choice = v;
          CHECK_INT (ids[row * best + i], choice);
          if (choice < 0)
            {
              CHECK (isinf (log_probabilities[row * best + i]));
              continue;
            }
          CHECK_NEAR (log_probabilities[row * best + i], logits[choice] - greatest - log (sum), 2e-5);
          rounded[choice] = -(PlaitScalar)INFINITY;
        }
    }
  /* Add the bits to the digest, which must be equal for all numbers of threads. */
  trial_check_vector (trial, "log-probabilities", log_probabilities, log_probabilities,
                      n_forbidden > 0 ? 0 : rows * best);
}

TEST_CASE (vocabulary_best, equals_its_slow_twin)
{
  trial_run (best_body, 20);
}

/* The best words of a row must have the bits that they have in a list of all words, and the probabilities of a row sum
 * to one. */
static void
all_words_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 12), width = trial_number (trial, 1, 40);
  gint64 words = trial_number (trial, 1, 3000);
  guint best = (guint)trial_number (trial, 1, MIN (words, 12));
  PlaitTensor states = trial_tensor (trial, rows, width), table = trial_tensor (trial, words, width);
  const PlaitScalar *bias = trial_flip (trial) ? trial_vector (trial, words) : NULL;
  gint32 *ids = trial_memory (trial, sizeof (gint32) * (gsize)(rows + 1) * best);
  PlaitScalar *of_best = trial_vector (trial, (rows + 1) * best), *of_all = trial_vector (trial, rows * words + 1);
  g_autoptr (PlaitPacked) packed = plait_pack (trial->pool, table, TRUE, PLAIT_PRECISION_FLOAT);

  plait_output_layer_top_k (trial->pool, trial->arena, states, packed, bias, NULL, 0, NULL, NULL, best, ids, of_best);
  plait_output_layer_log_probabilities (trial->pool, trial->arena, states, packed, bias, NULL,
                                        plait_tensor (of_all, rows, words));
  for (gint64 row = 0; row < rows; row++)
    {
      double sum = 0;

      for (guint i = 0; i < best; i++)
        CHECK (of_all[row * words + ids[row * best + i]] == of_best[row * best + i]);
      for (gint64 v = 0; v < words; v++)
        sum += exp ((double)of_all[row * words + v]);
      CHECK_NEAR (sum, 1, 1e-4);
    }
  trial_check_vector (trial, "all words", of_all, of_all, rows * words);
}

TEST_CASE (vocabulary_best, has_the_bits_of_all_words)
{
  trial_run (all_words_body, 20);
}

static void
logits_body (Trial *trial)
{
  const char *const variants[] = { "v1", "v3", "v4" };
  gint64 n = trial_number (trial, 1, 300);
  PlaitScalar *from = trial_vector (trial, n), *bias = trial_flip (trial) ? trial_vector (trial, n) : NULL;
  gint64 strange = trial_number (trial, 0, 3) == 0 ? trial_number (trial, 0, n - 1) : -1;
  PlaitScalar slow_greatest = -(PlaitScalar)INFINITY;
  double slow = 0;

  if (strange >= 0)
    from[strange] = (PlaitScalar)NAN;
  from[trial_number (trial, 0, n - 1)] -= 200;
  for (gint64 i = 0; i < n; i++)
    slow_greatest = fmax (slow_greatest, from[i] + (bias ? bias[i] : 0));
  for (gint64 i = 0; i < n; i++)
    slow += exp ((double)(from[i] + (bias ? bias[i] : 0)) - (double)slow_greatest);
  for (guint v = 0; v < G_N_ELEMENTS (variants); v++)
    {
      g_autofree PlaitScalar *x = g_memdup2 (from, sizeof (PlaitScalar) * (gsize)n);
      PlaitScalar greatest;
      double sum;

      if (!plait_kernels_choose (variants[v]))
        continue;
      sum = plait_kernels ()->logits (x, bias, n, &greatest);
      CHECK (greatest == slow_greatest);
      CHECK (isnan (slow) ? isnan (sum) : fabs (sum - slow) <= 1e-5 * slow);
      for (gint64 i = 0; i < n; i++)
        CHECK (i == strange || x[i] == from[i] + (bias ? bias[i] : 0));
    }
  plait_kernels_choose (NULL);
}

TEST_CASE (vocabulary_best, logits_equal_their_slow_twin)
{
  trial_run (logits_body, 40);
}
