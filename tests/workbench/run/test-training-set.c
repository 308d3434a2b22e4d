/* SPDX-License-Identifier: MIT */
#include "run/training-set.h"
#include "harness.h"

/* Runs are compared for each limit of tokens, not only for the limit of the first run. */
TEST_CASE (training_set, compares_batches_of_each_limit)
{
  static const PlaitTrainingSet sets[] = {
    { .tokens = 0, .sentences = 9 },   { .tokens = 100, .sentences = 5 }, { .tokens = 100, .sentences = 5 },
    { .tokens = 200, .sentences = 8 }, { .tokens = 200, .sentences = 4 }, { .tokens = 300, .sentences = 7 },
  };
  static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
  g_auto (GStrv) notes = plait_training_sets_describe_differences (sets, names, G_N_ELEMENTS (sets));

  CHECK_INT (g_strv_length (notes), 1);
  CHECK_STRING (notes[0], "Updates of 200 tokens, which count all text that is read, have different mean numbers of "
                          "sentences: 8.0 in d; 4.0 in e.");
}
