/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/bench.h"

/*
 * plait bench steps: what one step of a decoder's attention costs as the memory grows, of several experiments side by
 * side. The experiments must have one source, and no coverage.
 *
 * Nothing is read of a corpus. A memory is what the source's encoder makes of leaves that are drawn at random, where it
 * stands on another encoder; else it is drawn itself. So it has the links that the encoder gives it, and its numbers
 * are nobody's. The sentences of a batch have one memory each, all alike, and in a step one query each.
 */
typedef struct
{
  char *lengths; /* "100,1000": rows that a sentence's encoder makes its memory of; NULL: 100,1000,10000 */
  char *batches; /* sentences; NULL: 1 */
  char *words;   /* NULL: a step of search; else forward and backward over targets of so many */
} PlaitBenchSteps;

/* Measures the experiments @files (NULL-terminated), with the first of which the others are compared, and prints a
 * table or JSON. @options->steps samples are taken, whose medians are told; the experiment of @options is not read. */
gboolean plait_bench_steps (const PlaitBenchSteps *steps, const char *const *files, const PlaitBenchOptions *options,
                            GError **error);
