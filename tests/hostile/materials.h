/* SPDX-License-Identifier: MIT */
#pragma once

#include "attempt.h"
#include "files.h"

/*
 * Lays out valid files of every kind in the test's folder, which tests then damage:
 *
 *   train.a train.b train.target, validation.*, test.*   text, 48, 6 and 6 lines
 *   train.image, validation.image, test.image            HDF5, dataset /features [sentence, 3, 4]
 *   words.vocabulary pieces.model                        learnt from the text
 *   text.ini text.h5      experiment with two sources of text, and its finished run
 *   begun.h5              interrupted run of text.ini
 *   image.ini image.h5    one source of text and one of features
 *   trees.ini trees.h5    a source of trees, with the files of reorder, and its finished run
 *   reorder               train.a train.a.trees train.target, validation.*, test.*; 8, 4 and 4 lines
 *   pieces.ini            text.ini with the vocabulary pieces.model
 *   grid.ini grid         an experiment with two cells, and its folder
 *   dump.h5               attention of translations
 *   page.html             a report
 *
 * They are made once per process. FALSE, with a failed check, if that did not work.
 */
gboolean materials_lay_out (void);

/* A test case that begins with these files in its folder. */
#define HOSTILE_CASE(suite, name)                                                                                      \
  static void hostile_##suite##_##name (void);                                                                         \
  TEST_CASE (suite, name)                                                                                              \
  {                                                                                                                    \
    if (materials_lay_out ())                                                                                          \
      hostile_##suite##_##name ();                                                                                     \
  }                                                                                                                    \
  static void hostile_##suite##_##name (void)

/* Writes features [sentences, positions, width], all @value, as the dataset /features of the file @name. */
void materials_write_features (const char *name, guint sentences, guint positions, guint width, float value);
