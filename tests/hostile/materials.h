/* SPDX-License-Identifier: MIT */
#pragma once

#include "attempt.h"
#include "files.h"

/*
 * Writes valid files of every kind to the test's folder, for tests that then damage them:
 *
 *     train.a train.b train.target, validation.*, test.*   text, 48, 6 and 6 lines
 *     train.image, validation.image, test.image            HDF5, dataset /features [sentence, 3, 4]
 *     words.vocabulary pieces.model                        learnt from the text
 *     text.ini text.h5      experiment with two text sources, and its finished run
 *     begun.h5              interrupted run of text.ini with train.epochs=1000000
 *     image.ini image.h5    experiment with one source of text and one of features, and its finished run
 *     trees.ini trees.h5    experiment with a source of trees in the folder reorder, and its finished run
 *     reorder               train.a train.a.trees train.target, validation.*, test.*; 8, 4 and 4 lines
 *     pieces.ini            experiment with the source a and the vocabulary pieces.model
 *     grid.ini grid         experiment with two cells, and the folder of its finished grid
 *     translated dump.h5    translations of test.a and test.b, and their attention
 *     page.html             a report
 *
 * They are made once in each process. Returns FALSE, with a failed check, if that did not work.
 */
gboolean materials_lay_out (void);

/* Defines a test case whose folder has the files of materials_lay_out(). */
#define HOSTILE_CASE(suite, name)                                                                                      \
  static void hostile_##suite##_##name (void);                                                                         \
  TEST_CASE (suite, name)                                                                                              \
  {                                                                                                                    \
    if (materials_lay_out ())                                                                                          \
      hostile_##suite##_##name ();                                                                                     \
  }                                                                                                                    \
  static void hostile_##suite##_##name (void)

/* Writes the file @name with a dataset /features [sentences, positions, width], whose values are all @value. */
void materials_write_features (const char *name, guint sentences, guint positions, guint width, float value);
