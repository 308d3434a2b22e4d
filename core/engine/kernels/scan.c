/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/gradient-terms.h"

/* Returns the state before row @row of the sentence, from column @first on; NULL: zeros. */
static const PlaitScalar *
previous_state (const PlaitScanJob *job, gint64 sentence, gint64 row, gint64 first)
{
  if (row > job->rows.offsets[sentence])
    return plait_tensor_row (job->states, row - 1) + first;
  return job->initial.data ? plait_tensor_row (job->initial, sentence) + first : NULL;
}

void
KERNEL (scan) (const PlaitScanJob *job, gint64 sentence, gint64 first, gint64 n)
{
  for (gint64 row = job->rows.offsets[sentence]; row < job->rows.offsets[sentence + 1]; row++)
    {
      const PlaitScalar *previous = previous_state (job, sentence, row, first);
      const PlaitScalar *a = plait_tensor_row (job->a, row) + first, *b = plait_tensor_row (job->b, row) + first;
      PlaitScalar *state = plait_tensor_row (job->states, row) + first;

      if (!previous)
        memcpy (state, b, sizeof *state * (gsize)n);
      else
        INDEPENDENT
      for (gint64 i = 0; i < n; i++)
        state[i] = a[i] * previous[i] + b[i];
    }
}

/* Writes @n scalars of a row of a target: target = beta * target + gradient. */
static void
write_row (const PlaitGradientTarget *target, gint64 row, gint64 first, const PlaitScalar *gradient, gint64 n)
{
  if (target->gradient.data)
    KERNEL (accumulate) (plait_tensor_row (target->gradient, row) + first, target->beta, 1, gradient, n);
}

/* Goes from the last row to the first. Let g be the gradient of h_t, including that from later rows. Then
 * da_t = g * h_(t - 1) and db_t = g; row t - 1, or the initial state, gets a_t * g. */
void
KERNEL (scan_backward) (const PlaitScanJob *job, gint64 sentence, gint64 first, gint64 n, PlaitScalar *scratch)
{
  PlaitScalar *carried = scratch, *part = scratch + n;

  memset (carried, 0, sizeof *carried * (gsize)n);
  for (gint64 row = job->rows.offsets[sentence + 1] - 1; row >= job->rows.offsets[sentence]; row--)
    {
      const PlaitScalar *previous = previous_state (job, sentence, row, first);
      const PlaitScalar *a = plait_tensor_row (job->a, row) + first;
      const PlaitScalar *gradient = plait_tensor_row (job->dstates, row) + first;

      INDEPENDENT
      for (gint64 i = 0; i < n; i++)
        carried[i] = gradient[i] + PLAIT_GRADIENT_TERM (scan_carried, carried[i]);
      INDEPENDENT
      for (gint64 i = 0; i < n; i++)
        part[i] = previous ? PLAIT_GRADIENT_TERM (scan_factor, carried[i] * previous[i]) : 0;
      write_row (&job->da, row, first, part, n);
      INDEPENDENT
      for (gint64 i = 0; i < n; i++)
        {
          part[i] = PLAIT_GRADIENT_TERM (scan_summand, carried[i]);
          carried[i] *= a[i];
        }
      write_row (&job->db, row, first, part, n);
    }
  PLAIT_GRADIENT_TERM_NUMBERS (scan_initial, carried, n);
  write_row (&job->dinitial, sentence, first, carried, n);
}
