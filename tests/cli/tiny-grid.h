/* SPDX-License-Identifier: MIT */
#pragma once

/* Writes "tiny.ini": an experiment that trains at once, and @axes below its [grid]. */
void plait_test_write_grid (const char *axes);
