/* SPDX-License-Identifier: MIT */
#pragma once

/* Tail probabilities for tests with estimated variances. Degrees of freedom are positive and need not be whole. */

/* Returns the probability that |T| >= |@t| for Student's t distribution. */
double plait_student_p (double t, double degrees);

/* Returns the value that |T| exceeds with probability @p (0 < p < 1) for Student's t distribution. */
double plait_student_quantile (double p, double degrees);

/* Returns the probability that a ratio of variances with @above and @below degrees of freedom (F distribution) is at
 * least @ratio. */
double plait_variance_ratio_p (double ratio, double above, double below);
