/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "comparison/attention-difference.h"
#include "harness.h"

TEST_CASE (attention_difference, jensen_shannon_divergence)
{
  const double left[] = { 1, 0 }, right[] = { 0, 2 }, even[] = { .5, .5 }, nothing[] = { 0, 0 };

  CHECK_NEAR (plait_jensen_shannon (left, left, 2), 0, 0);
  CHECK_NEAR (plait_jensen_shannon (left, right, 2), 1, 1e-15); /* rows are scaled to a sum of 1 first */
  /* H (3/4, 1/4) - H (1/2, 1/2) / 2 */
  CHECK_NEAR (plait_jensen_shannon (left, even, 2), .75 * log2 (4. / 3) + .25 * 2 - .5, 1e-15);
  CHECK (isnan (plait_jensen_shannon (left, nothing, 2)));
}
