/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "process/random.h"

#include <string.h>

/* Tests of runs that predict a number for each line ([predict] kind=number). */

/* Writes @n lines of good and bad words, and the share of good words in each. */
static void
write_split (const char *split, guint n, guint64 seed)
{
  g_autoptr (GString) words = g_string_new (NULL), shares = g_string_new (NULL);
  PlaitRandomKey key = plait_random_key (seed, "numbers", NULL, 0);

  for (guint i = 0; i < n; i++)
    {
      guint length = 2 + (guint)plait_random_below (key, 16 * i, 6), good = 0;

      for (guint k = 0; k < length; k++)
        {
          gboolean is_good = plait_random_below (key, 16 * i + 1 + k, 2);

          g_string_append_printf (words, "%s%s", k > 0 ? " " : "", is_good ? "good" : "bad");
          good += is_good;
        }
      g_string_append_c (words, '\n');
      g_string_append_printf (shares, "%.4f\n", good / (double)length);
    }
  plait_test_write (plait_test_format ("%s.text", split), words->str);
  plait_test_write (plait_test_format ("%s.share", split), shares->str);
}

#define FILES(split) split ".text=" split ".text\n" split ".share=" split ".share\n"

static void
write_experiment (void)
{
  write_split ("train", 400, 1);
  write_split ("validation", 30, 2);
  write_split ("test", 40, 3);
  plait_test_write (
      "number.ini",
      "[experiment]\nseed=3\n[data]\ntarget=share\nvocabulary_type=words\n" FILES ("train") FILES ("validation")
          FILES ("test") "[predict]\nkind=number\nrow=mean\n" SMALL_SOURCE (
              "text") "[decoder]\nwidth=8\ndropout=0\n[train]\nbatch=16\nepochs=12\nwarm_up=20\n"
                      "learning_rate=0.01\nschedule=constant\nmetric=pearson\n[evaluate]\nresamples=50\n");
}

/* Returns the number after the first @metric in @output. */
static double
score_of (const char *output, const char *metric)
{
  const char *line = strstr (output, metric);

  g_assert (line);
  return g_ascii_strtod (line + strlen (metric), NULL);
}

TEST_CASE (number_runs, learn_and_predict_numbers)
{
  write_experiment ();
  PlaitTestCall run = CALL ("run", "number.ini", "-o", "run.h5");
  PlaitTestCall translated = QUIET (CALL ("translate", "run.h5", "-q", "-s", "text=test.text", "-o", "said"));
  PlaitTestCall evaluated = DONE (CALL ("evaluate", "--reference", "test.share", "--hypothesis", "said", "--metric",
                                        "pearson;spearman;mse", "--resamples", "0"));
  PlaitTestCall compared = DONE (CALL ("compare", "run.h5", "run.h5"));

  CHECK_INT (run.code, 0);
  CHECK (score_of (run.output, "Pearson") > 95);
  CHECK (score_of (run.output, "MSE") < 0.01);
  CHECK_CONTAINS (run.errors, "validation loss 0.");
  CHECK_CONTAINS (run.errors, ", pearson ");
  CHECK (!strstr (run.errors, "perplexity") && !strstr (run.output, "perplexity"));
  CHECK_NEAR (score_of (evaluated.output, " = "), score_of (run.output, "Pearson"), 0.006);
  CHECK_CONTAINS (compared.output, "Spearman");
  CHECK_STRING (translated.output, "");
  DONE (CALL ("report", "run.h5", "-q", "-o", "run.html"));
  CHECK_REFUSED (CALL ("score", "run.h5", "-s", "text=test.text", "--target", "test.share"),
                 "predicts numbers, which have no probability");
}

TEST_CASE (number_runs, need_numbers)
{
  write_experiment ();
  plait_test_write ("many", "0.5\nmany\n");
  plait_test_write ("two", "good\nbad\n");
  CHECK_REFUSED (CALL ("run", "number.ini", "-q", "-o", "run.h5", "--set", "data.train.share=many", "--set",
                       "data.train.text=two"),
                 "many:2: \"many\" is not a number; expected one number, such as 0.75");
  CHECK (!plait_test_exists ("run.h5"));
}
