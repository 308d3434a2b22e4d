/* SPDX-License-Identifier: MIT */
#include "spoil.h"

/* Damages files of every kind in every way of spoil.c: each time there is one readable error, and no file is written or
 * lost. */

#define EXPERIMENT "cut by a byte|cut to half"

HOSTILE_CASE (hostile_file, experiment)
{
  spoil_and_refuse ("text.ini", "run text.ini -q -o new", EXPERIMENT);
  spoil_and_refuse ("text.ini", "run text.ini --dry-run -o new", EXPERIMENT);
}

HOSTILE_CASE (hostile_file, grid_experiment)
{
  spoil_and_refuse ("grid.ini", "grid grid.ini -q -o new", EXPERIMENT);
  spoil_and_refuse ("grid.ini", "grid grid.ini --dry-run -o new", EXPERIMENT);
}

HOSTILE_CASE (hostile_file, training_text)
{
  spoil_and_refuse ("train.a", "run text.ini -q -o new", "cut by a byte");
}

HOSTILE_CASE (hostile_file, validation_text)
{
  spoil_and_refuse ("validation.target", "run text.ini -q -o new", "cut by a byte");
}

/* plait finds the damage before it spends time on training. */
HOSTILE_CASE (hostile_file, test_text)
{
  spoil_and_refuse ("test.b", "run text.ini -q -o new", "cut by a byte");
}

/* Sources may come through pipes; the command then waits for their writers. */
#define STREAM "cut by a byte|-a pipe without a writer"

HOSTILE_CASE (hostile_file, text_to_translate)
{
  spoil_and_refuse ("test.a", "translate text.h5 -q -s a=test.a -s b=test.b -o new", STREAM);
  spoil_and_refuse ("test.b", "translate text.h5 -q -s a=test.a -s b=test.b -a new", STREAM);
}

HOSTILE_CASE (hostile_file, text_to_score)
{
  spoil_and_refuse ("test.target", "score text.h5 -q -s a=test.a -s b=test.b --target test.target", STREAM);
}

HOSTILE_CASE (hostile_file, text_to_evaluate)
{
  plait_test_copy ("test.target", "reference");
  spoil_and_refuse ("reference", "evaluate -q -r reference -i test.target --resamples 2", STREAM);
  spoil_and_refuse ("reference", "evaluate -q -r test.target -i test.target -i reference --trials 2", STREAM);
  spoil_and_refuse ("reference", "evaluate -q -r test.target -i test.target --source reference --resamples 2", STREAM);
}

HOSTILE_CASE (hostile_file, text_of_a_vocabulary)
{
  spoil_and_refuse ("train.a", "vocabulary -q -o new --size 30 train.a", SOUND_LINES);
  spoil_and_refuse ("train.a", "vocabulary -q -o new --type words train.a", SOUND_LINES);
  spoil_and_refuse ("test.a", "vocabulary -q --encode words.vocabulary test.a",
                    SOUND_LINES "|-a pipe without a writer");
}

/* A run can be used as a vocabulary too. */
HOSTILE_CASE (hostile_file, vocabulary_of_words)
{
  spoil_and_refuse ("words.vocabulary", "vocabulary -q --show words.vocabulary", "a SentencePiece model|a run");
  spoil_and_refuse ("words.vocabulary", "run text.ini -q -o new --set data.vocabulary.shared=words.vocabulary",
                    "a run");
}

HOSTILE_CASE (hostile_file, sentencepiece_model)
{
  spoil_and_refuse ("pieces.model", "vocabulary -q --show pieces.model", "a SentencePiece model|a run");
  spoil_and_refuse ("pieces.model", "run pieces.ini -q -o new", "a SentencePiece model");
}

HOSTILE_CASE (hostile_file, features)
{
  spoil_and_refuse ("train.image", "run image.ini -q -o new", "a late bit flipped|NUL within|no UTF-8 within");
  spoil_and_refuse ("test.image", "translate image.h5 -q -s a=test.a -s image=test.image -o new",
                    "features|a late bit flipped|NUL within|no UTF-8 within");
}

/* Damage that may be in parts of a run which the command does not read. */
#define UNREAD "a late bit flipped|NUL within|no UTF-8 within"

HOSTILE_CASE (hostile_file, run_to_translate_with)
{
  spoil_and_refuse ("text.h5", "translate text.h5 -q -s a=test.a -s b=test.b -o new", UNREAD "|a run");
}

static const char *
answer (const char *command)
{
  return DONE (ATTEMPT (command)).output;
}

/* Flips bits all over the file. The answer is an error, or equals the answer for the undamaged file. */
HOSTILE_CASE (hostile_file, run_with_a_flipped_bit)
{
  static const char *const commands[]
      = { "translate text.h5 -q -s a=test.a -s b=test.b", "show text.h5 /training/validation",
          "show text.h5 /evaluation/test/metrics", "show text.h5 /attention/test/0", "show text.h5 --all" };

  g_autoptr (GBytes) bytes = plait_test_read ("text.h5");
  gsize length = g_bytes_get_size (bytes);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      const char *sound = answer (commands[i]);

      for (gsize k = 0; k < 12; k++)
        {
          gsize at = length * (2 * k + 1) / 24;
          CONTEXT ("byte %d of %d, plait %s", (int)at, (int)length, commands[i]);
          g_autofree char *spoilt = g_memdup2 (g_bytes_get_data (bytes, NULL), length);

          spoilt[at] ^= (char)(1 << (k % 8));
          plait_test_write_bytes ("text.h5", spoilt, length);
          PlaitTestCall attempt = ATTEMPT (commands[i]);
          if (attempt.code == 0)
            CHECK_STRING (attempt.output, sound);
          else
            attempt_check (&attempt, 2, "text.h5: is damaged");
          if (i == 0)
            attempt_refused_with ("verify text.h5", NULL, 1, "text.h5");
        }
      plait_test_write_bytes ("text.h5", g_bytes_get_data (bytes, NULL), length);
    }
}

HOSTILE_CASE (hostile_file, files_to_verify)
{
  spoil_and_find ("text.h5");
  spoil_and_find ("words.vocabulary");
  spoil_and_find ("pieces.model");
}

HOSTILE_CASE (hostile_file, run_to_go_on_with)
{
  spoil_and_refuse ("begun.h5", "run text.ini -q -r -o begun.h5", "missing|a run");
}

HOSTILE_CASE (hostile_file, run_to_begin_with)
{
  spoil_and_refuse ("begun.h5", "run text.ini -q --dry-run -o new --set train.initialise=begun.h5", "a run");
}

HOSTILE_CASE (hostile_file, run_to_look_at)
{
  spoil_and_refuse ("text.h5", "score text.h5 -q -s a=test.a -s b=test.b --target test.target", UNREAD "|a run");
  spoil_and_refuse ("text.h5", "compare image.h5 text.h5 -q --trials 2", UNREAD "|a run|a grid");
  spoil_and_refuse ("text.h5", "report text.h5 -q -o new", UNREAD "|a run|a dump|a grid");
  spoil_and_refuse ("text.h5", "show text.h5", UNREAD "|a run|a dump|a grid");
}

/* plait adversarial reads the data whose paths the run stores. */
HOSTILE_CASE (hostile_file, run_to_test)
{
  DONE (ATTEMPT ("run text.ini -q -o own.h5"));
  plait_test_copy ("own.h5", "text.h5");
  spoil_and_refuse ("own.h5", "adversarial own.h5 -q", UNREAD "|a run");
  spoil_and_refuse ("test.a", "adversarial text.h5 -q", NULL);
}

HOSTILE_CASE (hostile_file, dump)
{
  spoil_and_refuse ("dump.h5", "show dump.h5 /attention", UNREAD "|a run|a dump|a grid");
}

HOSTILE_CASE (hostile_file, grid)
{
  spoil_and_refuse ("grid/grid.h5", "report grid/grid.h5 -q -o new", UNREAD "|a run|a dump|a grid");
  spoil_and_refuse ("grid/grid.h5", "compare grid/grid.h5 -q --trials 2", UNREAD "|a run|a grid");
}
