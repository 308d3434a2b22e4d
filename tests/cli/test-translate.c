/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "tensor/packed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tests of plait translate and plait adversarial, with settings that differ from the experiment's. */

static const char experiment[] = SMALL_TRANSLATION (SMALL_SOURCE ("a"), "beam=2\nmaximum_length=6\n");

/* Checks that @text has eight lines of @length words. Returns TRUE if some line has a word twice. */
static gboolean
check_words (const char *text, guint length)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean repeats = FALSE;

  CHECK_INT (g_strv_length (lines), 9);
  for (guint i = 0; lines[i] && *lines[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);

      CHECK_INT (g_strv_length (words), length);
      for (guint k = 0; words[k]; k++)
        for (guint j = 0; j < k; j++)
          repeats |= strcmp (words[j], words[k]) == 0;
    }
  return repeats;
}

TEST_CASE (translate_command, takes_keys_of_search)
{
  plait_test_write ("small.ini", experiment);
  QUIET (CALL ("run", "small.ini", "-q"));
  DONE (CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8"));
  PlaitTestCall free = DONE (CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--set",
                                   "decode.minimum_length=9", "--set", "decode.maximum_length=9"));
  PlaitTestCall ruled
      = DONE (CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--set", "decode.minimum_length=9", "--set",
                    "decode.maximum_length=9", "--set", "decode.no_repeat_ngrams=1", "--set", "decode.batch=3"));
  PlaitTestCall scored = DONE (
      CALL ("adversarial", "small.h5", "-q", "--set", "evaluate.metrics=rouge:type=L", "--set", "decode.beam=1"));
  PlaitTestCall noisy = DONE (CALL ("adversarial", "small.h5", "-q", "--source-is", "shuffled;noise", "--json"));
  CHECK_REFUSED (CALL ("adversarial", "small.h5", "-q", "--source-is", "absent"),
                 "reads only one source, so nothing is left if it is absent");
  CHECK_REFUSED (CALL ("adversarial", "small.h5", "-q", "--source-is", "shuffled;gone"),
                 "expected shuffled, noise or absent");
  CHECK_REFUSED (CALL ("adversarial", "small.h5", "-q", "--source-is", "noise;noise"),
                 "names the replacement \"noise\" twice");
  CHECK_REFUSED (CALL ("adversarial", "small.h5", "-q", "--set", "decoder.layers=1"),
                 "accepts only data.too_long, evaluate.metrics");

  CHECK (check_words (free.output, 9));
  CHECK (!check_words (ruled.output, 9));
  CHECK_CONTAINS (scored.output, "ROUGE-L");
  CHECK_CONTAINS (scored.output, "Difference       p  p (Holm)\n");
  CHECK_CONTAINS (scored.output,
                  "p compares with the sources as they are: approximate\n  randomisation, 10000 shuffles");
  CHECK_CONTAINS (noisy.output, "\"disturbance\": \"shuffled\"");
  CHECK_CONTAINS (noisy.output, "\"disturbance\": \"noise\"");
  CHECK_CONTAINS (noisy.output, "\"adjusted_p\": ");
  CHECK_REFUSED (CALL ("adversarial", "small.h5", "-q", "--source-is", "shuffled,noise"),
                 "cannot be \"shuffled,noise\"; did you mean \"shuffled;noise\"?");
}

#define TRANSLATE "translate", "small.h5", "-q", "-s", "a=made/test.a"

/* The keys of --set are checked with the values of --beam and --n-best. The beam of 2 in small.ini would allow neither
 * 3 groups nor 4 hypotheses, and its n_best of 2 would not allow a beam of 1. */
TEST_CASE (translate_command, checks_keys_with_the_given_beam)
{
  plait_test_write ("small.ini", SMALL_TRANSLATION (SMALL_SOURCE ("a"), "beam=2\nn_best=2\nmaximum_length=6\n"));
  QUIET (CALL ("run", "small.ini", "-q"));
  DONE (CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8"));
  PlaitTestCall set = DONE (CALL (TRANSLATE, "--set", "decode.beam=6", "--set", "decode.groups=3"));
  PlaitTestCall given = DONE (CALL (TRANSLATE, "--beam", "6", "--set", "decode.groups=3"));

  CHECK_STRING (given.output, set.output);
  set = DONE (CALL (TRANSLATE, "--set", "decode.beam=4", "--set", "decode.n_best=4"));
  given = DONE (CALL (TRANSLATE, "--beam", "4", "--set", "decode.n_best=4"));
  CHECK_STRING (given.output, set.output);
  given = DONE (CALL (TRANSLATE, "--beam", "1"));
  set = DONE (CALL (TRANSLATE, "--set", "decode.beam=1"));
  CHECK_STRING (given.output, set.output);
  DONE (CALL (TRANSLATE, "--n-best", "4"));
  CHECK_REFUSED (CALL (TRANSLATE, "--beam", "5", "--set", "decode.groups=3"), "3 does not divide the beam of 5");
  CHECK_REFUSED (CALL (TRANSLATE, "--beam", "3", "--set", "decode.n_best=4"), "4 is above the beam of 3");
}

/* A line that is empty in all sources gives an empty translation. */
TEST_CASE (translate_command, leaves_empty_what_is_empty)
{
  plait_test_write ("empty.ini", experiment);
  plait_test_write ("some", "a\n\n b\n \n");
  DONE (CALL ("run", "empty.ini", "-q", "--set", "data.empty=missing"));
  PlaitTestCall done = DONE (CALL ("translate", "empty.h5", "-q", "-s", "a=some", "--set", "decode.minimum_length=3"));
  g_auto (GStrv) lines = g_strsplit (done.output, "\n", -1);

  REQUIRE (g_strv_length (lines) == 5);
  CHECK (*lines[0] != '\0');
  CHECK_STRING (lines[1], "");
  CHECK (*lines[2] != '\0');
  CHECK_STRING (lines[3], "");
}

/* Prints scores, lengths and alignments as tab-separated fields and as JSON lines. A missing source has an empty
 * alignment. */
TEST_CASE (translate_command, tells_scores_and_alignments)
{
  g_autofree char *two = g_strconcat (experiment, SMALL_SOURCE ("b"), NULL);

  plait_test_write ("two.ini", two);
  plait_test_write ("a", "a b\n\nc\n");
  plait_test_write ("b", "d\n\n\n");
  PlaitTestCall run = CALL ("run", "two.ini", "-q", "--set", "data.empty=missing", "--set", "decode.minimum_length=2");
  PlaitTestCall tsv
      = DONE (CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--n-best", "2", "--alignment", "mean"));
  PlaitTestCall json = DONE (CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--n-best", "2",
                                   "--alignment", "0:1", "--format", "json"));
  PlaitTestCall head = CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--alignment", "0:2");
  PlaitTestCall layer = CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--alignment", "first");
  PlaitTestCall text
      = CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--n-best", "2", "--format", "text");
  CHECK_REFUSED (CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--format", "xml"),
                 "--format cannot be \"xml\"");
  g_auto (GStrv) lines = g_strsplit (tsv.output, "\n", -1);
  g_auto (GStrv) objects = g_strsplit (json.output, "\n", -1);
  gint aligned = 0;

  CHECK_STRING (run.errors, "");
  REQUIRE (g_strv_length (lines) == 6 && g_strv_length (objects) == 4);
  for (guint i = 0; i < 5; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);

      REQUIRE (g_strv_length (fields) == 7);
      CHECK_INT (atoi (fields[0]), i < 2 ? 1 : i < 3 ? 2 : 3);
      if (i == 2)
        continue;
      CHECK (g_ascii_strtod (fields[1], NULL) < 0);
      CHECK (atoi (fields[4]) >= 3);
      CHECK (*fields[5] == '\0' || strstr (fields[5], "-"));
      CHECK (i < 3 || *fields[6] == '\0');
      aligned += *fields[5] != '\0';
    }
  CHECK_INT (aligned, 4); /* each line has two hypotheses */
  CHECK_STRING (lines[2], "2\t\t\t\t\t\t");
  CHECK (g_str_has_prefix (objects[0], "{\"line\": 1, \"hypotheses\": [{\"text\": \""));
  CHECK_CONTAINS (objects[0], "\"alignment\": {\"a\": \"");
  CHECK_STRING (objects[1], "{\"line\": 2, \"hypotheses\": []}");
  CHECK_CONTAINS (objects[2], "\"b\": \"\"}}, {\"text\": ");
  CHECK (g_str_has_suffix (objects[2], "\"b\": \"\"}}]}"));
  CHECK_REFUSED (head, "no attention of this layer and head reads the tokens of a");
  CHECK_REFUSED (layer, "--alignment cannot be \"first\"");
  CHECK_REFUSED (CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--alignment", "0,1"),
                 "--alignment cannot be \"0,1\"; did you mean \"0:1\"?");
  CHECK_REFUSED (text, "--format text cannot print what --n-best asks for");
  CHECK_REFUSED (
      CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--format", "text", "--set", "decode.n_best=2"),
      "--format text cannot print what --set decode.n_best asks for");
}

/* Reads sources as columns of standard input. An empty field is a missing source with data.empty=missing. */
TEST_CASE (translate_command, reads_columns)
{
  g_autofree char *two = g_strconcat (experiment, SMALL_SOURCE ("b"), NULL);

  plait_test_write ("two.ini", two);
  plait_test_write ("a", "a b\n\nc\nd\n");
  plait_test_write ("b", "d\n\n\na\n");
  PlaitTestCall run = CALL ("run", "two.ini", "-q");
  PlaitTestCall files = DONE (
      CALL ("translate", "two.h5", "-q", "-s", "a=a", "-s", "b=b", "--set", "data.empty=missing", "--format", "tsv"));
  PlaitTestCall table = DONE (
      plait_test_call ("d\tx\ta b\r\n\t\t\n\ty\tc\na\t\td",
                       (const char *[]){ "translate", "two.h5", "-q", "--tsv", "b,-,a", "--set", "data.empty=missing",
                                         "--format", "tsv", "--set", "decode.batch=3", NULL }));
  DONE (plait_test_call (
      "a\n", (const char *[]){ "translate", "two.h5", "-q", "--tsv", "a", "--without", "b", "--n-best", "1", NULL }));
  CHECK_REFUSED (
      plait_test_call ("a\td\nb\t \n", (const char *[]){ "translate", "two.h5", "-q", "--tsv", "a,b", NULL }),
      "standard input:2: the line is empty; expected a sentence of b");
  CHECK_REFUSED (plait_test_call ("a\td\nb\n", (const char *[]){ "translate", "two.h5", "-q", "--tsv", "a,b", NULL }),
                 "standard input:2: the line has 1 fields; expected 2");
  CHECK_REFUSED (plait_test_call ("a\td\tc\n", (const char *[]){ "translate", "two.h5", "-q", "--tsv", "a,b", NULL }),
                 "standard input:1: the line has 3 fields; expected 2");
  CHECK_REFUSED (
      plait_test_call ("a\td\n\xff\td\n", (const char *[]){ "translate", "two.h5", "-q", "--tsv", "a,b", NULL }),
      "standard input:2: byte 1 of the line (0xff) is not UTF-8");
  CHECK_REFUSED (CALL ("translate", "two.h5", "-q", "--tsv", "a,a"), "--tsv a: this name was already given");
  PlaitTestCall both = CALL ("translate", "two.h5", "-q", "--tsv", "a", "-s", "b=-");
  CHECK_REFUSED (CALL ("translate", "two.h5", "-q", "--tsv", "a,z"), "--tsv z: the run does not read this source");
  CHECK_REFUSED (CALL ("translate", "two.h5", "-q", "--tsv", "a"), "source \"b\" is not given");
  CHECK_REFUSED (plait_test_call ("a b\td\nd\ta\n",
                                  (const char *[]){ "score", "two.h5", "-q", "--tsv", "a,b", "--target", "b", NULL }),
                 "standard input:3: ends here, but");
  CHECK_REFUSED (CALL ("translate", "two.h5", "-q", "--tsv", "a,b", "--set", "data.target=b"),
                 "accepts only data.empty, data.too_long and keys of [decode],");

  CHECK_STRING (run.errors, "");
  CHECK_STRING (table.output, files.output);
  CHECK_CONTAINS (files.output, "\n2\t\t\t\t\n3\t-");
  CHECK_REFUSED (both, "standard input cannot be both columns and b");
}

/* Searches with 8-bit integers. Their sums are exact, so neither threads nor the batch change the result. */
TEST_CASE (translate_command, searches_with_bytes)
{
  if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))
    SKIP_TEST ("this processor does not multiply bytes (AVX-512 VNNI)");
  plait_test_write ("small.ini", experiment);
  PlaitTestCall run = CALL ("run", "small.ini", "-q");
  PlaitTestCall made
      = CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8");
  PlaitTestCall together = CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--n-best", "2", "--set",
                                 "decode.precision=int8", "--threads", "1");
  PlaitTestCall alone = CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--n-best", "2", "--set",
                              "decode.precision=int8", "--threads", "2", "--set", "decode.batch=1");
  PlaitTestCall plain = CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--n-best", "2");

  CHECK_INT (run.code + made.code + together.code + alone.code + plain.code, 0);
  CHECK (*together.output != '\0');
  CHECK_STRING (together.output, alone.output);
  CHECK (strcmp (together.output, plain.output) != 0);
}

TEST_CASE (translate_command, tells_labels)
{

  plait_test_write ("class.ini", SMALL_CLASSES);
  PlaitTestCall run = CALL ("run", "class.ini", "-q");
  PlaitTestCall masked = CALL ("run", "class.ini", "-q", "--set", "predict.kind=masked", "--set", "data.target=text",
                               "--output", "masked.h5");
  DONE (CALL ("generate", "topic", "-o", "topics", "-s", "train=60", "-s", "validation=10", "-s", "test=8", "-s",
              "topics=3"));
  PlaitTestCall best = CALL ("translate", "class.h5", "-q", "-s", "text=topics/test.text");
  PlaitTestCall all = CALL ("translate", "class.h5", "-q", "-s", "text=topics/test.text", "--n-best", "5");
  PlaitTestCall json = CALL ("translate", "class.h5", "-q", "-s", "text=topics/test.text", "--format", "json");
  CHECK_REFUSED (CALL ("translate", "class.h5", "-q", "-s", "text=topics/test.text", "--attention", "dump.h5"),
                 "class.h5 has no decoder, so no attention");
  CHECK_REFUSED (CALL ("translate", "class.h5", "-q", "-s", "text=topics/test.text", "--prefix", "prefixes"),
                 "--prefix: class.h5 has no decoder, so it does not search");
  CHECK_REFUSED (CALL ("translate", "class.h5", "-q", "-s", "text=topics/test.text", "--set", "decode.method=sample"),
                 "has no effect");
  DONE (CALL ("score", "class.h5", "-q", "-s", "text=topics/test.text", "--target", "topics/test.topic"));
  CHECK_REFUSED (CALL ("translate", "masked.h5", "-q", "-s", "text=topics/test.text"),
                 "masked.h5 predicts the masked tokens of its own corpus");
  PlaitTestCall shuffled = DONE (CALL ("adversarial", "class.h5", "-q"));
  CHECK_REFUSED (CALL ("adversarial", "masked.h5", "-q"),
                 "masked.h5 predicts a part of its own source, so this source cannot be replaced");
  PlaitTestCall compared = CALL ("compare", "class.h5", "class.h5");
  CHECK_REFUSED (plait_test_call_program ("plait-bench", (const char *[]){ "train", "class.ini", NULL }),
                 "its [predict] kind has no decoder, but plait-bench measures");

  CHECK_STRING (run.errors, "");
  CHECK_STRING (masked.errors, "");
  /* A label always counts as complete. */
  CHECK_CONTAINS (json.output, "\"ended\": true");
  CHECK (!strstr (json.output, "\"ended\": false"));
  g_auto (GStrv) labels = g_strsplit (best.output, "\n", -1);
  g_auto (GStrv) lines = g_strsplit (all.output, "\n", -1);
  REQUIRE (g_strv_length (labels) == 9 && g_strv_length (lines) == 3 * 8 + 1);
  for (guint i = 0; i < 8; i++)
    {
      double sum = 0;

      for (guint k = 0; k < 3; k++)
        {
          g_auto (GStrv) fields = g_strsplit (lines[3 * i + k], "\t", -1);

          REQUIRE (g_strv_length (fields) == 5);
          sum += exp (g_ascii_strtod (fields[2], NULL));
          if (k == 0)
            CHECK_STRING (fields[3], labels[i]);
        }
      CHECK_NEAR (sum, 1, 1e-4);
    }
  CHECK_CONTAINS (shuffled.output, "macro F1");
  CHECK_CONTAINS (compared.output, "accuracy");
}

/* The length of a span is the number of target rows, two, also without an answer. plait score counts the rows too. */
TEST_CASE (translate, counts_the_rows_of_spans)
{
  plait_test_write ("text", "a b c\n\nd e f\n");
  plait_test_write ("answer", "-1\n0 1\n");
  plait_test_write (
      "span.ini",
      "[experiment]\nseed=3\n[data]\ntarget=answer\nvocabulary_type=words\ndocuments=text\ntrain.text=text\n"
      "train.answer=answer\n[predict]\nkind=span\n" SMALL_SOURCE (
          "text") "[decoder]\nwidth=8\n[train]\nbatch=2\nupdates=1\n");
  DONE (CALL ("run", "span.ini", "-q", "-o", "span.h5"));
  PlaitTestCall scored = DONE (CALL ("score", "span.h5", "-q", "-s", "text=text", "--target", "answer"));
  PlaitTestCall found = DONE (CALL ("translate", "span.h5", "-q", "-s", "text=text", "--n-best", "9"));
  g_auto (GStrv) lines = g_strsplit (found.output, "\n", -1);
  guint unanswered = 0;

  for (guint i = 0; lines[i] && *lines[i] != '\0'; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);

      REQUIRE (g_strv_length (fields) == 5);
      CHECK_STRING (fields[4], "2");
      unanswered += g_str_equal (fields[3], "-1");
    }
  CHECK_INT (unanswered, 2);
  g_auto (GStrv) scores = g_strsplit (scored.output, "\n", -1);
  REQUIRE (g_strv_length (scores) >= 2);
  CHECK (g_str_has_suffix (scores[0], "\t2") && g_str_has_suffix (scores[1], "\t2"));
}
