/* SPDX-License-Identifier: MIT */
#include "recurrent/scan.h"

#include "trial.h"

/* Slow twin of the scan, which computes each column by itself, in double. */
typedef struct
{
  PlaitTensor states, da, db, dinitial;
} Slow;

static void
slow_column (const PlaitScanJob *job, Slow *slow, gint64 sentence, gint64 column)
{
  gint64 begin = job->rows.offsets[sentence], n = plait_ragged_length (job->rows, sentence);
  double *h = g_new0 (double, n + 1), later = 0;

  h[0] = job->initial.data ? (double)plait_tensor_row (job->initial, sentence)[column] : 0;
  for (gint64 t = 0; t < n; t++)
    {
      h[t + 1] = (double)plait_tensor_row (job->a, begin + t)[column] * h[t]
                 + (double)plait_tensor_row (job->b, begin + t)[column];
      plait_tensor_row (slow->states, begin + t)[column] = (PlaitScalar)h[t + 1];
    }
  for (gint64 t = n - 1; t >= 0; t--)
    {
      later += (double)plait_tensor_row (job->dstates, begin + t)[column];
      plait_tensor_row (slow->da, begin + t)[column] += (PlaitScalar)(later * h[t]);
      plait_tensor_row (slow->db, begin + t)[column] += (PlaitScalar)later;
      later *= (double)plait_tensor_row (job->a, begin + t)[column];
    }
  plait_tensor_row (slow->dinitial, sentence)[column] += (PlaitScalar)later;
  g_free (h);
}

static void
scan_body (Trial *trial)
{
  PlaitRagged sentences = trial_ragged (trial, trial_number (trial, 0, 5), 0, 12);
  gint64 rows = plait_ragged_rows (sentences), width = trial_number (trial, 1, trial_flip (trial) ? 50 : 600);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitScanJob job = { .a = trial_tensor (trial, rows, width),
                       .b = trial_tensor (trial, rows, width),
                       .states = trial_rubbish (trial, rows, width),
                       .rows = sentences,
                       .dstates = trial_tensor (trial, rows, width),
                       .da.beta = beta,
                       .db.beta = beta,
                       .dinitial.beta = beta };
  Slow slow = { .states = trial_tensor (trial, rows, width) };

  job.da.gradient = trial_target (trial, rows, width, beta, &slow.da);
  job.db.gradient = trial_target (trial, rows, width, beta, &slow.db);
  job.dinitial.gradient = trial_target (trial, sentences.n, width, beta, &slow.dinitial);
  if (trial_flip (trial))
    job.initial = trial_tensor (trial, sentences.n, width);
  plait_scan_forward (trial->pool, &job);
  plait_scan_backward (trial->pool, &job);
  for (gint64 s = 0; s < sentences.n; s++)
    for (gint64 column = 0; column < width; column++)
      slow_column (&job, &slow, s, column);
  trial_check (trial, "states", job.states, slow.states);
  trial_check (trial, "da", job.da.gradient, slow.da);
  trial_check (trial, "db", job.db.gradient, slow.db);
  trial_check (trial, "dinitial", job.dinitial.gradient, slow.dinitial);
}

TEST_CASE (scan, equals_its_slow_twin)
{
  trial_run (scan_body, 20);
}
