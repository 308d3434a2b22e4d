/* SPDX-License-Identifier: MIT */
#pragma once

/* Tails of the distributions that tests with estimated variances need. Degrees of freedom are more than 0, and need not
 * be whole. */

/* The chance that a number of Student's t distribution has a magnitude of @t or more. */
double plait_student_p (double t, double degrees);

/* The magnitude that Student's t distribution exceeds with chance @p, more than 0 and less than 1. */
double plait_student_quantile (double p, double degrees);

/* The chance that a ratio of variances of @above and @below degrees of freedom is @ratio or more. */
double plait_variance_ratio_p (double ratio, double above, double below);
