/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "materials.h"

/* Tests of files that are valid but do not fit each other. */

#define RUN_TEXT "run text.ini -q -o new"
#define RUN_IMAGE "run image.ini -q -o new"
#define TRANSLATE_TEXT "translate text.h5 -q -s a=test.a -s b=test.b"
#define TRANSLATE_IMAGE "translate image.h5 -q -s a=test.a -s image=test.image"

HOSTILE_CASE (hostile_data, line_counts_differ)
{
  plait_test_copy ("validation.b", "train.b");
  REFUSED (RUN_TEXT, "[data] train.b: |train.b has 6 lines, but train.a has 48");
  plait_test_copy ("train.a", "test.b");
  REFUSED (TRANSLATE_TEXT " -o new", "test.a:7: ends here, but test.b continues");
  REFUSED (TRANSLATE_TEXT " -a new", "test.a:7: ends here, but test.b continues");
  REFUSED ("score text.h5 -q -s a=train.a -s b=test.b --target test.target -a new", "test.target:7");
}

/* Uses /dev/null, which is a text without lines. */
HOSTILE_CASE (hostile_data, no_lines)
{
  REFUSED ("translate text.h5 -q -s a=test.a -s b=/dev/null -o new", "/dev/null:1: ends here, but test.a continues");
  REFUSED ("translate text.h5 -q -s a=/dev/zero -s b=test.b -o new", "/dev/zero:1: the line is longer");
  REFUSED ("evaluate -q -r /dev/null -i test.target", "/dev/null: is empty");
  PlaitTestCall attempt = DONE (ATTEMPT ("translate text.h5 -q -s a=/dev/null -s b=/dev/null"));
  CHECK_STRING (attempt.output, "");
  plait_test_write ("validation.a", "");
  plait_test_write ("validation.b", "");
  plait_test_write ("validation.target", "");
  REFUSED (RUN_TEXT, "validation.a: the file is empty");
}

HOSTILE_CASE (hostile_data, empty_lines)
{
  plait_test_write ("test.a", "x\n\n  \ny\nz\nx\n");
  REFUSED (RUN_TEXT, "test.a:2: the line is empty|empty=missing");
  plait_test_write ("train.target", "\n\n\n\n");
  plait_test_copy ("train.target", "train.a");
  plait_test_copy ("train.target", "train.b");
  REFUSED (RUN_TEXT " --set data.empty=missing", "train");
}

HOSTILE_CASE (hostile_data, features_do_not_fit)
{
  materials_write_features ("train.image", 47, 3, 4, 0);
  REFUSED (RUN_IMAGE, "train.image has 47 sentences, but train.a has 48|train.a has 48");
  materials_write_features ("train.image", 48, 3, 4, NAN);
  REFUSED (RUN_IMAGE, "train.image: /features[0, 0, 0] is infinite or not a number");
  materials_write_features ("train.image", 48, 3, 4, 1e30f);
  materials_write_features ("validation.image", 6, 3, 5, 0);
  REFUSED (RUN_IMAGE, "the validation corpus|\"image\": the features are 5 wide|4 in training");
  materials_write_features ("validation.image", 6, 0, 4, 0);
  REFUSED (RUN_IMAGE, "validation.image: /features has the size 0 in dimension 2");

  materials_write_features ("test.image", 6, 3, 5, 0);
  REFUSED (TRANSLATE_IMAGE " -o new", "image|5 wide|4");
  materials_write_features ("test.image", 5, 3, 4, 0);
  REFUSED (TRANSLATE_IMAGE " -o new", "test.image");
  materials_write_features ("test.image", 7, 3, 4, 0);
  REFUSED (TRANSLATE_IMAGE " -o new", "test.image");
  materials_write_features ("test.image", 6, 3, 4, INFINITY);
  REFUSED (TRANSLATE_IMAGE " -o new", "test.image|is infinite");
  REFUSED ("translate image.h5 -q -s a=test.image -s image=test.a", "test.a");
}

/* Features so large that every sum overflows: plait reports an error and stores no result. */
HOSTILE_CASE (hostile_data, numbers_overflow)
{
  materials_write_features ("train.image", 48, 3, 4, 3e38f);
  plait_test_remove ("new");
  attempt_refused_with (RUN_IMAGE, NULL, 1, "update 1: the loss is|has diverged|train.learning_rate");
  materials_write_features ("train.image", 48, 3, 4, 0.5f);
  materials_write_features ("validation.image", 6, 3, 4, 3e38f);
  PlaitTestCall attempt = ATTEMPT (RUN_IMAGE);
  attempt_check (&attempt, 1, "validation after update 4: the loss is|check the data");
}

HOSTILE_CASE (hostile_data, vocabularies_do_not_fit)
{
  REFUSED ("run pieces.ini -q -o new --set data.vocabulary.shared=words.vocabulary --set data.vocabulary.other=x",
           "vocabulary.other");
  REFUSED ("run pieces.ini -q -o new --set data.vocabulary.shared=words.vocabulary",
           "words.vocabulary: is a vocabulary of words, but data.vocabulary_type=bpe expects a SentencePiece model");
  REFUSED ("run text.ini -q -o new --set data.vocabulary.shared=pieces.model",
           "pieces.model: is a SentencePiece model, but data.vocabulary_type=words expects a vocabulary of words");
  REFUSED ("run text.ini -q -o new --set data.vocabulary_type=given",
           "there is no data.vocabulary.shared; name a file");
  DONE (ATTEMPT ("run text.ini -q -o new --dry-run --set data.vocabulary_type=given "
                 "--set data.vocabulary.shared=words.vocabulary"));
  /* Resumes begun.h5 with another vocabulary than its own. */
  plait_test_write ("words.vocabulary", "plait words 1\nx 3\ny 1\n");
  REFUSED ("run text.ini -q -r -o begun.h5 --set train.epochs=1000000 --set data.vocabulary.shared=words.vocabulary",
           "begun.h5");
}

HOSTILE_CASE (hostile_data, run_is_of_another_experiment)
{
  REFUSED ("run text.ini -q -o begun.h5", "begun.h5 exists: add --resume");
  REFUSED ("run text.ini -q -r -o begun.h5", "begun.h5 is a run of another experiment|train.epochs was 1000000, is 1");
  REFUSED ("run text.ini -q -r -o begun.h5 --set train.epochs=1000000 --set decoder.width=16",
           "begun.h5|decoder.width was 8, is 16");
  REFUSED ("run text.ini -q -r -o image.h5", "image.h5");
  REFUSED ("run text.ini -q -r -o dump.h5", "dump.h5");
  REFUSED ("run text.ini -q -r -o grid/grid.h5", "grid/grid.h5");
  /* Changes the text after the run was begun. */
  plait_test_replace ("train.b", "\n", " x\n");
  REFUSED ("run text.ini -q -r -o begun.h5 --set train.epochs=1000000",
           "train.b: this file of data.train.b has changed");
}

HOSTILE_CASE (hostile_data, files_of_another_kind_of_ours)
{
  REFUSED ("translate dump.h5 -q -s a=test.a -s b=test.b -o new", "dump.h5 is not a run");
  REFUSED ("translate grid/grid.h5 -q -s a=test.a -s b=test.b -o new", "grid/grid.h5 is not a run");
  REFUSED ("compare dump.h5 -q", "dump.h5");
  REFUSED ("adversarial dump.h5 -q", "dump.h5 is not a run");
}

/* Changes or removes the file @name while @command, an endless run to "new", still needs it. Then restores the file and
 * resumes the run. */
static void
change_while_training (const char *command, const char *name, gboolean removed)
{
  CONTEXT ("%s, %s %s", command, name, removed ? "removed" : "changed");
  const char *path = plait_test_path ("new");
  g_autofree char *resume = g_strconcat (command, " --resume", NULL);
  const char *changed = plait_test_path (name);
  g_autofree char *told
      = g_strdup_printf ("%s: the file %s while it was in use", name, removed ? "was removed" : "has been changed");
  g_autoptr (GBytes) bytes = plait_test_read (name);
  PlaitTestProcess process = attempt_start (command, NULL);

  for (int i = 0; i < 30000 && !plait_test_exists (path); i++)
    g_usleep (1000);
  if (removed)
    plait_test_remove (name);
  else
    CHECK (g_file_set_contents (changed, "something else\n", -1, NULL)); /* one rename: the name always exists */
  PlaitTestCall attempt = plait_test_call_end (&process);
  attempt_check (&attempt, 2, told);
  plait_test_write_bytes (name, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  process = attempt_start (resume, NULL);
  CHECK (plait_test_call_await (&process, "continuing new after update"));
  kill (process.process, SIGTERM);
  PlaitTestCall rest = plait_test_call_end (&process);
  attempt_check (&rest, 130, "interrupted");
  plait_test_remove ("new");
}

HOSTILE_CASE (hostile_data, files_that_change_while_they_are_in_use)
{
  /* The run checks these files at each checkpoint, because it reads them after training. */
  static const char *const images[] = { "train.image", "validation.image", "test.image" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (images); i++)
    change_while_training ("run image.ini -o new --set train.epochs=1000000", images[i / 2], i % 2);
  for (guint i = 0; i < 2; i++)
    change_while_training ("run text.ini -o new --set train.epochs=1000000", "test.target", i % 2);
}

/* The run's file is removed while it trains. The best parameters, which only that file had, are in the file that is
 * written next. */
HOSTILE_CASE (hostile_data, a_run_that_is_removed_while_it_is_written)
{
  const char *path = plait_test_path ("new");
  PlaitTestProcess process
      = attempt_start ("run text.ini -o new --set train.learning_rate=0 --set train.epochs=1000000", NULL);

  CHECK (plait_test_call_await (&process, "(best)\nupdate"));
  CHECK (g_unlink (path) == 0);
  for (int i = 0; i < 30000 && !plait_test_exists (path); i++)
    g_usleep (1000);
  kill (process.process, SIGTERM);
  PlaitTestCall attempt = plait_test_call_end (&process);
  attempt_check (&attempt, 130, "interrupted");
  DONE (ATTEMPT ("translate new -q -s a=test.a -s b=test.b -c best"));
  plait_test_remove ("new");
}

/* Training diverges because of a high learning rate: it stops with an error, and the last good checkpoint stays. */
HOSTILE_CASE (hostile_data, training_that_diverges)
{
  PlaitTestCall attempt = ATTEMPT ("run text.ini -q -o new --set train.learning_rate=1e6 --set train.warm_up=0 "
                                   "--set train.epochs=1000");

  attempt_check (&attempt, 1, "the loss |has diverged|lower train.learning_rate");
  DONE (ATTEMPT ("translate new -q -s a=test.a -s b=test.b -c last"));
  g_autofree char *folder = attempt_folder ();
  CHECK (!strstr (folder, "partial"));
}
