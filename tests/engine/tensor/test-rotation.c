/* SPDX-License-Identifier: MIT */
#include "tensor/rotation.h"

#include <complex.h>
#include <math.h>

#include "trial.h"

/* Returns a pair of columns as a complex number, rotated: position m multiplies it by e^(i m theta_j), with theta_j =
 * base^(-2 (j - 1) / d) for the pairs j = 1, 2, ... (Su et al. 2021, eq. 13 and 34). */
static double complex
turned (const PlaitScalar *pair, gint64 position, gint64 j, gint64 width, double base)
{
  double theta = 1 / pow (base, 2. * (double)(j - 1) / (double)width);

  return ((double)pair[0] + I * (double)pair[1]) * cexp (I * (double)position * theta);
}

static void
rotation_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 200), pairs = trial_number (trial, 1, 40);
  guint heads = (guint)trial_number (trial, 1, 3);
  gint64 width = 2 * pairs * heads, first = trial_number (trial, 0, 30);
  gint64 *positions = trial_memory (trial, sizeof *positions * (gsize)(rows + 1));
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor x = trial_tensor (trial, rows, width), slow, y = trial_target (trial, rows, width, beta, &slow);
  PlaitTensor copy = trial_copy (trial, x);
  PlaitRotation rotation = { positions, first, heads, trial_rubbish (trial, 50, 2 * pairs) };

  for (gint64 row = 0; row < rows; row++)
    positions[row] = first + trial_number (trial, 0, 49);
  plait_rotation_fill (&rotation, 10000);
  plait_rotate_rows (trial->pool, y, beta, x, &rotation, FALSE);
  for (gint64 row = 0; row < rows; row++)
    for (gint64 i = 0; i < width; i += 2)
      {
        double complex z = turned (plait_tensor_row (x, row) + i, positions[row], i / 2 % pairs + 1, 2 * pairs, 10000);

        plait_tensor_row (slow, row)[i] += (PlaitScalar)creal (z);
        plait_tensor_row (slow, row)[i + 1] += (PlaitScalar)cimag (z);
      }
  trial_check (trial, "rotated", y, slow);

  /* Apply the backward pass, which is the inverse, in place. */
  plait_rotate_rows (trial->pool, copy, 0, copy, &rotation, FALSE);
  plait_rotate_rows (trial->pool, copy, 0, copy, &rotation, TRUE);
  trial_check (trial, "inverse", copy, x);
}

TEST_CASE (rotation, equals_its_slow_twin)
{
  trial_run (rotation_body, 20);
}
