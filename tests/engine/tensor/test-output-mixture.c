/* SPDX-License-Identifier: MIT */
#include "tensor/output-layer.h"

#include <math.h>
#include <string.h>

#include "attention/copied-words.h"
#include "trial.h"

/* Number of ids above the vocabulary that rows can copy (own words). */
#define OWN_WORDS 3

/* Fills @mixture with random copied words for @rows rows. Some rows have no copied words. */
static void
draw_mixture (Trial *trial, PlaitOutputMixture *mixture, gint64 rows, gint64 words)
{
  gint64 most = MIN (words + OWN_WORDS, 12), n = 0;
  gint64 *offsets = trial_memory (trial, sizeof *offsets * (gsize)(rows + 1));
  gint32 *ids = trial_memory (trial, sizeof *ids * (gsize)(rows * most + 1));
  PlaitScalar *copied = trial_vector (trial, rows * most + 1);

  for (gint64 row = 0; row < rows; row++)
    {
      gint64 wanted = trial_number (trial, 0, most), first = n;
      double sum = 0;

      for (gint64 id = trial_number (trial, 0, MAX (1, words / 2)); wanted > 0 && id < words + OWN_WORDS;
           id += trial_number (trial, 1, MAX (1, words / 6)))
        {
          ids[n] = (gint32)id;
          copied[n] = trial_number (trial, 0, 5) == 0 ? 0 : (PlaitScalar)fabs ((double)copied[n]) + (PlaitScalar).01;
          sum += (double)copied[n++];
          wanted--;
        }
      if (sum == 0)
        n = first;
      for (gint64 i = first; i < n; i++)
        copied[i] = (PlaitScalar)((double)copied[i] / sum);
      offsets[row + 1] = n;
    }
  *mixture
      = (PlaitOutputMixture){ .offsets = offsets, .ids = ids, .copied = copied, .gate = trial_vector (trial, rows) };
}

/* Probabilities of all words in one row, in double precision. */
typedef struct
{
  double gate;     /* gate g of the mixture */
  double *softmax; /* [words + OWN_WORDS]: probabilities by the softmax */
  double *copied;
  double *mixed;
} Row;

static Row
slow_row (Trial *trial, const PlaitOutputLayerWork *work, gint64 row)
{
  gint64 words = work->table.rows, all = words + OWN_WORDS;
  const PlaitOutputMixture *mixture = work->mixture;
  gint64 first = mixture->offsets[row], end = mixture->offsets[row + 1];
  Row slow = { .gate = end == first ? 1 : 1 / (1 + exp (-(double)mixture->gate[row])),
               .softmax = trial_memory (trial, sizeof (double) * (gsize)all),
               .copied = trial_memory (trial, sizeof (double) * (gsize)all),
               .mixed = trial_memory (trial, sizeof (double) * (gsize)all) };
  double sum = 0;

  for (gint64 v = 0; v < words; v++)
    {
      slow.softmax[v] = work->bias ? (double)work->bias[v] : 0;
      for (gint64 d = 0; d < work->states.width; d++)
        slow.softmax[v]
            += (double)plait_tensor_row (work->states, row)[d] * (double)plait_tensor_row (work->table, v)[d];
      slow.softmax[v] = exp (slow.softmax[v]);
      sum += slow.softmax[v];
    }
  for (gint64 i = first; i < end; i++)
    slow.copied[mixture->ids[i]] = (double)mixture->copied[i];
  for (gint64 v = 0; v < all; v++)
    {
      slow.softmax[v] /= sum;
      slow.mixed[v] = slow.gate * slow.softmax[v] + (1 - slow.gate) * slow.copied[v];
    }
  return slow;
}

/* Adds the loss of @row to @sums, and its gradients to the gradients of the twin. */
static void
slow_loss (const PlaitOutputLayerWork *work, gint64 row, const Row *slow, PlaitOutputLayerSums *sums,
           PlaitTensor dstates, PlaitTensor dtable, PlaitTensor dbias, PlaitScalar *dcopied, PlaitScalar *dgate)
{
  gint64 words = work->table.rows, all = words + OWN_WORDS;
  gint32 target = work->targets[row];
  double each = !work->others ? work->smoothing / (double)words : words > 1 ? work->smoothing / (double)(words - 1) : 0;
  double rest = 1 - work->smoothing - (work->others ? each : 0), mean = 0, of_gate = 0;
  const PlaitOutputMixture *mixture = work->mixture;
  gboolean correct = TRUE;

  sums->negative_log_likelihood -= log (slow->mixed[target]);
  for (gint64 v = 0; v < all; v++)
    {
      double wanted = (v < words ? each : 0) + (v == target ? rest : 0);
      /* Derivative of the loss by the probability of the target word. */
      double d = wanted > 0 ? -wanted / slow->mixed[v] : 0;

      if (wanted > 0)
        sums->loss -= wanted * log (slow->mixed[v]);
      correct &= v < target ? slow->mixed[v] < slow->mixed[target] : slow->mixed[v] <= slow->mixed[target];
      mean += d * slow->gate * slow->softmax[v];
      of_gate += d * (slow->softmax[v] - slow->copied[v]) * slow->gate * (1 - slow->gate);
      for (gint64 i = mixture->offsets[row]; i < mixture->offsets[row + 1]; i++)
        if (mixture->ids[i] == v)
          dcopied[i] = (PlaitScalar)(work->scale * d * (1 - slow->gate));
    }
  sums->correct += correct;
  dgate[row] = (PlaitScalar)(work->scale * of_gate);
  for (gint64 v = 0; v < words; v++)
    {
      double wanted = each + (v == target ? rest : 0);
      double gradient
          = work->scale * slow->softmax[v] * ((wanted > 0 ? -wanted / slow->mixed[v] * slow->gate : 0) - mean);

      dbias.data[v] += (PlaitScalar)gradient;
      for (gint64 d = 0; d < work->states.width; d++)
        {
          plait_tensor_row (dstates, row)[d] += (PlaitScalar)(gradient * (double)plait_tensor_row (work->table, v)[d]);
          plait_tensor_row (dtable, v)[d] += (PlaitScalar)(gradient * (double)plait_tensor_row (work->states, row)[d]);
        }
    }
}

/* Returns a target for @row whose probability is not 0. */
static gint32
draw_target (Trial *trial, const PlaitOutputMixture *mixture, gint64 row, gint64 words)
{
  gint64 first = mixture->offsets[row], end = mixture->offsets[row + 1];
  gint64 word = end > first ? trial_number (trial, first, end - 1) : 0;

  return end > first && mixture->copied[word] > 0 && trial_flip (trial) ? mixture->ids[word]
                                                                        : (gint32)trial_number (trial, 0, words - 1);
}

static void
check_loss (Trial *trial, gint64 rows, gint64 width, gint64 words)
{
  PlaitOutputMixture mixture;
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, rows, width),
                                .table = trial_tensor (trial, words, width),
                                .mixture = &mixture,
                                .smoothing = trial_flip (trial) ? .1 : 0,
                                .others = trial_flip (trial),
                                .scale = .25 };
  gint32 *targets = trial_memory (trial, sizeof *targets * (gsize)(rows + 1));
  PlaitOutputLayerSums sums, slow_sums = { 0 };
  PlaitTensor dstates, dtable, dbias;
  PlaitScalar *dcopied, *dgate = trial_memory (trial, sizeof *dgate * (gsize)(rows + 1));
  gint64 n;
  double tolerance = sizeof (PlaitScalar) == 4 ? 1e-5 : 1e-12;

  for (gint64 row = 0; row < rows; row++)
    for (gint64 d = 0; d < width; d++)
      plait_tensor_row (work.states, row)[d] /= (PlaitScalar)sqrt ((double)width);
  draw_mixture (trial, &mixture, rows, words);
  n = mixture.offsets[rows];
  dcopied = trial_memory (trial, sizeof *dcopied * (gsize)(n + 1));
  mixture.dcopied = trial_memory (trial, sizeof *dcopied * (gsize)(n + 1));
  mixture.dgate = trial_vector (trial, rows + 1);
  for (gint64 row = 0; row < rows; row++)
    targets[row] = draw_target (trial, &mixture, row, words);
  work.targets = targets;
  work.bias = trial_flip (trial) ? trial_vector (trial, words) : NULL;
  work.row_losses = trial_memory (trial, sizeof (double) * (gsize)rows);
  work.dstates = trial_target (trial, rows, width, 0, &dstates);
  work.dtable = trial_target (trial, words, width, 0, &dtable);
  work.dbias = trial_target (trial, 1, words, 0, &dbias);
  sums = plait_output_layer_compute (trial->pool, trial->arena, &work);
  for (gint64 row = 0; row < rows; row++)
    {
      Row slow = slow_row (trial, &work, row);

      slow_loss (&work, row, &slow, &slow_sums, dstates, dtable, dbias, dcopied, dgate);
      CHECK_NEAR (work.row_losses[row], -log (slow.mixed[targets[row]]), tolerance * 10);
    }
  CHECK_NEAR (sums.loss, slow_sums.loss, tolerance * (1 + slow_sums.loss));
  CHECK_NEAR (sums.negative_log_likelihood, slow_sums.negative_log_likelihood, tolerance * (1 + slow_sums.loss));
  CHECK_INT (sums.correct, slow_sums.correct);
  trial_check (trial, "dstates", work.dstates, dstates);
  trial_check (trial, "dtable", work.dtable, dtable);
  trial_check (trial, "dbias", work.dbias, dbias);
  trial_check_vector (trial, "dcopied", mixture.dcopied, dcopied, n);
  trial_check_vector (trial, "dgate", mixture.dgate, dgate, rows);

  /* The losses must be the same if no gradients are computed. */
  work.dstates.data = work.dtable.data = work.dbias.data = mixture.dcopied = mixture.dgate = NULL;
  CHECK (plait_output_layer_compute (trial->pool, trial->arena, &work).loss == sums.loss);
}

static void
loss_body (Trial *trial)
{
  check_loss (trial, trial_number (trial, 0, 60), trial_number (trial, 1, 40), trial_number (trial, 1, 400));
}

TEST_CASE (output_mixture, equals_its_slow_twin)
{
  trial_run (loss_body, 12);
}

static void
chunks_body (Trial *trial)
{
  check_loss (trial, 1100, 3, 130);
}

TEST_CASE (output_mixture, goes_over_several_chunks)
{
  trial_run (chunks_body, 1);
}

/* A target whose probability is 0 in the softmax and in the copied words has a finite loss and finite gradients. */
static void
extreme_body (Trial *trial)
{
  const gint64 offsets[] = { 0, 2, 4 };
  const PlaitScalar copied[] = { 1, 0, (PlaitScalar)1e-38, 1 }, gate[] = { 200, -200 };
  PlaitScalar dcopied[4], dgate[2];
  PlaitOutputMixture mixture
      = { offsets, (const gint32[]){ 2, 9, 1, 7 }, copied, gate, .dcopied = dcopied, .dgate = dgate };
  double losses[2];
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, 2, 4),
                                .table = trial_tensor (trial, 6, 4),
                                .mixture = &mixture,
                                .targets = (const gint32[]){ 9, 1 },
                                .scale = 1,
                                .dstates = trial_rubbish (trial, 2, 4),
                                .row_losses = losses };

  plait_tensor_row (work.table, 1)[0] = -1000;
  plait_tensor_row (work.states, 1)[0] = 1000;
  plait_output_layer_compute (trial->pool, trial->arena, &work);
  for (guint i = 0; i < 2; i++)
    CHECK (isfinite (losses[i]) && losses[i] > 50 && isfinite ((double)dgate[i]));
  for (guint i = 0; i < 4; i++)
    CHECK (isfinite ((double)dcopied[i]));
  for (guint i = 0; i < 8; i++)
    CHECK (isfinite ((double)plait_tensor_row (work.dstates, i / 4)[i % 4]));
}

TEST_CASE (output_mixture, is_finite)
{
  trial_run (extreme_body, 1);
}

/* If the attention to all rows with words rounds to 0, the gradients are finite. */
static void
unattended_body (Trial *trial)
{
  static const gint64 one[] = { 0, 1 }, two[] = { 0, 2 };
  const PlaitRagged rows = { 1, two };
  const gint32 ids[] = { 3, 4 }, *const of_memory[] = { ids };
  const PlaitScalar weights[] = { 0, 0 }, *const given[] = { weights }, dcopied[] = { (PlaitScalar)-1e12, 1 };
  PlaitScalar dweights[] = { 1, 1 };
  PlaitQueryKeyPairs pairs = plait_query_key_pairs_new (trial->arena, (PlaitRagged){ 1, one }, rows);
  PlaitCopyableWords *words = plait_copyable_words_new (trial->arena, &rows, of_memory, 1);
  PlaitCopiedWords copied = plait_copied_words_forward (trial->pool, trial->arena, words, &pairs, given);

  plait_copied_words_backward (trial->pool, words, &copied, &pairs, 0, dcopied, dweights, TRUE);
  CHECK (isfinite ((double)dweights[0]) && dweights[0] < 0 && isfinite ((double)dweights[1]) && dweights[1] > 0);
}

TEST_CASE (output_mixture, is_finite_without_attention)
{
  trial_run (unattended_body, 1);
}

static void
best_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 12), width = trial_number (trial, 1, 40);
  gint64 words = trial_number (trial, 1, 900), all = words + OWN_WORDS;
  guint best = (guint)trial_number (trial, 1, MIN (words, 12)), n_forbidden = (guint)trial_number (trial, 0, 1);
  PlaitOutputMixture mixture;
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, rows, width),
                                .table = trial_tensor (trial, words, width),
                                .mixture = &mixture };
  gint32 *ids = trial_memory (trial, sizeof (gint32) * (gsize)(rows + 1) * best);
  PlaitScalar *log_probabilities = trial_vector (trial, (rows + 1) * best),
              *of_all = trial_vector (trial, rows * all + 1);
  gint32 forbidden[] = { (gint32)trial_number (trial, 0, words - 1) };
  g_autoptr (PlaitPacked) packed = plait_pack (trial->pool, work.table, TRUE, PLAIT_PRECISION_FLOAT);

  draw_mixture (trial, &mixture, rows, words);
  plait_output_layer_top_k (trial->pool, trial->arena, work.states, packed, NULL, forbidden, n_forbidden, NULL,
                            &mixture, best, ids, log_probabilities);
  plait_output_layer_log_probabilities (trial->pool, trial->arena, work.states, packed, NULL, &mixture,
                                        plait_tensor (of_all, rows, all));
  for (gint64 row = 0; row < rows; row++)
    {
      Row slow = slow_row (trial, &work, row);

      for (gint64 v = 0; v < all; v++)
        if (slow.mixed[v] > 0)
          CHECK_NEAR (of_all[row * all + v], log (slow.mixed[v]), 2e-5 * (1 - log (slow.mixed[v])));
        else
          CHECK (of_all[row * all + v] == -(PlaitScalar)INFINITY);
      if (n_forbidden > 0)
        slow.mixed[forbidden[0]] = 0;
      for (guint i = 0; i < best; i++)
        {
          gint64 choice = 0;
          gint32 found = ids[row * best + i];

          for (gint64 v = 0; v < all; v++)
            if (slow.mixed[v] > slow.mixed[choice])
              choice = v;
          if (!(slow.mixed[choice] > 0))
            {
              CHECK_INT (found, -1);
              continue;
            }
          REQUIRE (found >= 0 && found < all);
          /* In floats, words of nearly equal probability may come in another order. */
          CHECK_NEAR (log (slow.mixed[found]), log (slow.mixed[choice]), 1e-4);
          CHECK_NEAR (log_probabilities[row * best + i], log (slow.mixed[found]), 2e-5 * (1 - log (slow.mixed[found])));
          slow.mixed[found] = 0;
        }
    }
  for (gint64 i = 0; i < rows * all; i++)
    of_all[i] = MAX (of_all[i], -1e6F);
  trial_check_vector (trial, "all words", of_all, of_all, rows * all);
}

TEST_CASE (output_mixture, finds_the_best_words)
{
  trial_run (best_body, 20);
}
