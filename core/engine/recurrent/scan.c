/* SPDX-License-Identifier: MIT */
#include "recurrent/scan.h"

#include "kernels/kernels.h"

/* Number of columns in a piece: small enough that they stay in the first-level cache from row to row. */
#define COLUMNS 256

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitScanJob *job;
  gboolean backward;
  gint64 pieces; /* number of pieces of COLUMNS columns in each sentence */
} Scan;

static void
scan_piece (gpointer data, gint64 number, guint thread)
{
  const Scan *scan = data;
  gint64 sentence = number / scan->pieces, first = number % scan->pieces * COLUMNS;
  gint64 n = MIN (COLUMNS, scan->job->a.width - first);

  if (scan->backward)
    scan->kernels->scan_backward (scan->job, sentence, first, n,
                                  plait_pool_scratch (scan->pool, thread, sizeof (PlaitScalar) * 2 * COLUMNS));
  else
    scan->kernels->scan (scan->job, sentence, first, n);
}

static void
run (PlaitPool *pool, const PlaitScanJob *job, gboolean backward)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  Scan scan = { plait_kernels (), pool, job, backward, (job->a.width + COLUMNS - 1) / COLUMNS };

  plait_pool_run (pool, job->rows.n * scan.pieces, scan_piece, &scan);
}

void
plait_scan_forward (PlaitPool *pool, const PlaitScanJob *job)
{
  run (pool, job, FALSE);
}

void
plait_scan_backward (PlaitPool *pool, const PlaitScanJob *job)
{
  run (pool, job, TRUE);
}
