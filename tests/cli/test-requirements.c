/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

/* Tests of sampling, beam groups, prefixes and constraints of plait translate. */

#define LINES 8

static void
make_run (void)
{
  plait_test_write ("small.ini", SMALL_TRANSLATION (SMALL_SOURCE ("a"), "beam=4\nmaximum_length=9\n"));
  QUIET (CALL ("run", "small.ini", "-q", "--force"));
  DONE (CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8"));
}

/* Calls plait translate on the text made/test.a with the arguments @.... */
#define TRANSLATE(...) CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", __VA_ARGS__)

/* Returns all words of made/test.target. (transfer full) */
static GStrv
target_words (void)
{
  g_autofree char *text = g_strdup (plait_test_read_text ("made/test.target"));

  g_strdelimit (text, "\n", ' ');
  return g_strsplit (text, " ", -1);
}

/* Samples do not depend on the number of threads or on the batch; other seeds draw other samples. */
TEST_CASE (requirements, samples_are_the_same_in_any_batch)
{
  make_run ();
  PlaitTestCall one = DONE (TRANSLATE ("--n-best", "3", "--format", "json", "--set", "decode.method=sample",
                                       "--threads", "1", "--set", "decode.batch=1"));
  PlaitTestCall several = DONE (TRANSLATE ("--n-best", "3", "--format", "json", "--set", "decode.method=sample",
                                           "--threads", "2", "--set", "decode.batch=5"));
  PlaitTestCall seeded = DONE (
      TRANSLATE ("--n-best", "3", "--format", "json", "--set", "decode.method=sample", "--set", "decode.seed=2"));
  PlaitTestCall first = DONE (TRANSLATE ("--set", "decode.method=sample"));
  PlaitTestCall text = DONE (TRANSLATE ("--n-best", "3", "--set", "decode.method=sample"));
  g_auto (GStrv) firsts = g_strsplit (first.output, "\n", -1), lines = g_strsplit (text.output, "\n", -1);

  CHECK_STRING (one.output, several.output);
  CHECK (strcmp (one.output, seeded.output) != 0);
  /* The first sample of a line does not depend on how many are drawn. */
  REQUIRE (g_strv_length (firsts) == LINES + 1 && g_strv_length (lines) == 3 * LINES + 1);
  for (guint i = 0; i < LINES; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[3 * i], "\t", -1);

      CHECK_STRING (fields[3], firsts[i]);
    }
}

/* A run whose [decode] asks for samples is tested with samples. A run and plait translate may search in groups. */
TEST_CASE (requirements, runs_may_sample_and_search_in_groups)
{
  make_run ();
  DONE (CALL ("run", "small.ini", "-q", "--output", "sampled.h5", "--set", "decode.method=sample", "--set",
              "decode.top_k=3"));
  DONE (CALL ("run", "small.ini", "-q", "--output", "grouped.h5", "--set", "decode.groups=2"));
  PlaitTestCall usual = DONE (CALL ("show", "small.h5", "/evaluation/test/hypotheses"));
  PlaitTestCall sampled = DONE (CALL ("show", "sampled.h5", "/evaluation/test/hypotheses"));
  PlaitTestCall groups = DONE (TRANSLATE ("--n-best", "4", "--set", "decode.groups=4", "--set", "decode.diversity=30"));
  g_auto (GStrv) lines = g_strsplit (groups.output, "\n", -1);

  CHECK (strcmp (usual.output, sampled.output) != 0);
  REQUIRE (g_strv_length (lines) == 4 * LINES + 1);
  for (guint i = 0; i < LINES; i++)
    for (guint k = 1; k < 4; k++)
      {
        g_auto (GStrv) a = g_strsplit (lines[4 * i], "\t", -1), b = g_strsplit (lines[4 * i + k], "\t", -1);

        /* Each group of the beam begins with another word, or ends at once. */
        CHECK (strcspn (a[3], " ") != strcspn (b[3], " ") || strncmp (a[3], b[3], strcspn (a[3], " ")) != 0);
      }
}

/* Translation i begins with prefix i and contains the phrases in line i of the constraints. An empty line requires
 * nothing. */
TEST_CASE (requirements, are_met_line_by_line)
{
  g_autoptr (GString) prefixes = g_string_new (NULL), phrases = g_string_new (NULL);

  make_run ();
  g_auto (GStrv) words = target_words ();
  REQUIRE (g_strv_length (words) > 3 * LINES);
  for (guint i = 0; i < LINES; i++)
    {
      g_string_append_printf (prefixes, "%s\n", i % 2 == 0 ? words[i] : "");
      g_string_append_printf (phrases, i % 3 == 0 ? "%s %s\t%s\n" : "\n", words[i + 1], words[i + 2], words[2 * i + 3]);
    }
  plait_test_write ("prefixes", prefixes->str);
  plait_test_write ("phrases", phrases->str);
  PlaitTestCall free = DONE (TRANSLATE ("--set", "decode.minimum_length=2"));
  PlaitTestCall begun = DONE (TRANSLATE ("--prefix", "prefixes", "--set", "decode.minimum_length=2"));
  PlaitTestCall sampled
      = DONE (TRANSLATE ("--prefix", "prefixes", "--set", "decode.method=sample", "--set", "decode.batch=3"));
  PlaitTestCall both = DONE (TRANSLATE ("--prefix", "prefixes", "--constraints", "phrases", "--alignment", "mean"));
  g_auto (GStrv) frees = g_strsplit (free.output, "\n", -1), begins = g_strsplit (begun.output, "\n", -1),
                 samples = g_strsplit (sampled.output, "\n", -1), boths = g_strsplit (both.output, "\n", -1);

  REQUIRE (g_strv_length (begins) == LINES + 1 && g_strv_length (boths) == LINES + 1);
  for (guint i = 0; i < LINES; i++)
    {
      g_auto (GStrv) fields = g_strsplit (boths[i], "\t", -1);
      g_autofree char *phrase = g_strdup_printf (" %s %s ", words[i + 1], words[i + 2]);
      g_autofree char *word = g_strdup_printf (" %s ", words[2 * i + 3]), *text = g_strdup_printf (" %s ", fields[3]);
      CONTEXT ("line %u", i + 1);

      if (i % 2 == 0)
        CHECK (g_str_has_prefix (begins[i], words[i]) && g_str_has_prefix (samples[i], words[i])
               && g_str_has_prefix (fields[3], words[i]));
      else
        CHECK_STRING (begins[i], frees[i]);
      if (i % 3 == 0)
        CHECK (strstr (text, phrase) && strstr (text, word));
    }
}

/* Before anything is written, refuses options and keys that contradict each other, and requirements that no translation
 * can meet. A prefix that just fits into the maximum length is allowed. */
TEST_CASE (requirements, refuse_what_cannot_be_met)
{
  make_run ();
  g_auto (GStrv) words = target_words ();
  g_autofree char *known = g_strdup_printf ("%s\n\n\n\n\n\n\n\n", words[0]);
  g_autofree char *strange = g_strdup_printf ("\n%s qqq\n", words[0]);
  g_autofree char *phrase = g_strdup_printf ("\n\n%s %s %s %s\t%s %s %s %s\t%s\n", words[0], words[1], words[2],
                                             words[3], words[4], words[5], words[6], words[7], words[8]);
  g_autoptr (GString) many = g_string_new (words[0]);

  for (guint i = 0; i < 64; i++)
    g_string_append_printf (many, "\t%s", words[1]);
  plait_test_write ("known", known);
  plait_test_write ("strange", strange);
  plait_test_write ("long", phrase);
  plait_test_write ("many", many->str);
  plait_test_write ("short", "\n\n");
  plait_test_write ("longer", "\n\n\n\n\n\n\n\n\n");
  CHECK_REFUSED (TRANSLATE ("--constraints", "strange", "--output", "out"),
                 "strange:2: \"qqq\" is not in the vocabulary of the target");
  CHECK_REFUSED (TRANSLATE ("--prefix", "strange"), "strange:2: \"qqq\" is not in the vocabulary of the target");
  DONE (CALL ("run", "small.ini", "-q", "-o", "pointer.h5", "-s", "decoder.output=pointer"));
  CHECK_REFUSED (CALL ("translate", "pointer.h5", "-q", "-s", "a=made/test.a", "--constraints", "strange"),
                 "strange:2: \"qqq\" is not in the vocabulary of the target: the output may copy this word from a "
                 "source, but the word cannot be required");
  CHECK_REFUSED (TRANSLATE ("--constraints", "long"),
                 "long:3: these phrases need 10 tokens, the end token included, but decode.maximum_length allows 9");
  CHECK_REFUSED (TRANSLATE ("--prefix", "known", "--set", "decode.maximum_length=1"),
                 "known:1: the prefix needs 2 tokens, the end token included, but decode.maximum_length allows 1");
  PlaitTestCall fits = DONE (TRANSLATE ("--prefix", "known", "--set", "decode.maximum_length=2"));
  CHECK (g_str_has_prefix (fits.output, words[0]));
  CHECK_REFUSED (TRANSLATE ("--constraints", "many", "--set", "decode.maximum_length=200"),
                 "many:1: has 65 phrases, but at most 64 can be required");
  CHECK_REFUSED (TRANSLATE ("--prefix", "short", "--output", "out"),
                 "short ends after line 2, but the sources have more lines");
  CHECK_REFUSED (TRANSLATE ("--prefix", "longer", "--output", "out"),
                 "longer has 9 lines, but the sources have only 8");
  CHECK (!plait_test_exists ("out"));
  CHECK_REFUSED (TRANSLATE ("--prefix", "-"), "--prefix: standard input is for sources");
  CHECK_REFUSED (TRANSLATE ("--prefix", "known", "--output", "known", "--force"), "is the same file as known");
  CHECK_REFUSED (TRANSLATE ("--constraints", "known", "--set", "decode.method=sample"),
                 "--constraints needs a beam, and decode.method=sample has none");
  CHECK_REFUSED (TRANSLATE ("--constraints", "known", "--set", "decode.groups=2"),
                 "cannot be used with decode.groups=2");
  CHECK_REFUSED (TRANSLATE ("--constraints", "known", "--set", "decode.finished=refill"),
                 "cannot be used with decode.finished=refill");
  CHECK_REFUSED (TRANSLATE ("--constraints", "known", "--set", "decode.no_repeat_ngrams=2"),
                 "cannot be used with decode.no_repeat_ngrams=2");
  CHECK_REFUSED (TRANSLATE ("--beam", "3", "--set", "decode.method=sample"), "decode.method=sample has no beam");
  CHECK_REFUSED (TRANSLATE ("--beam", "5", "--set", "decode.groups=2"),
                 "[decode] groups: 2 does not divide the beam of 5; choose beam=6");
  CHECK_REFUSED (TRANSLATE ("--set", "decode.nucleus=0.5"), "nucleus: has no effect without method=sample");
}

/* Sampling copies words that are not in the vocabulary, as beam search does. */
TEST_CASE (requirements, samples_copy_own_words)
{
  static const char names[] = "from Ada to Bob\nfrom Cid to Eve\nfrom Gus to Ina\nfrom Leo to Mia\n";

  plait_test_write ("in.a", names);
  plait_test_write ("pointer.ini",
                    "[data]\ntarget=b\nvocabulary=shared\nvocabulary_type=words\nvocabulary_size=6\ntrain.a=in.a\n"
                    "train.b=in.a\ntest.a=in.a\ntest.b=in.a\n" SMALL_SOURCE ("a") TINY_DECODER
                    "output=pointer\n"
                    "[train]\nepochs=1\n[decode]\nmaximum_length=6\n[evaluate]\nresamples=0\n");
  DONE (CALL ("run", "pointer.ini", "-q", "--force"));
  PlaitTestCall samples = DONE (CALL ("translate", "pointer.h5", "-q", "-s", "a=in.a", "--n-best", "50", "--set",
                                      "decode.method=sample", "--set", "decode.batch=3"));
  static const char *const own[] = { "Ada", "Bob", "Cid", "Eve", "Gus", "Ina", "Leo", "Mia" };
  g_auto (GStrv) lines = g_strsplit (samples.output, "\n", -1);

  REQUIRE (g_strv_length (lines) == 4 * 50 + 1);
  for (guint i = 0; i < 4; i++)
    for (guint k = 0; k < G_N_ELEMENTS (own); k++)
      {
        guint n = 0;

        for (guint sample = 0; sample < 50; sample++)
          n += strstr (lines[50 * i + sample], own[k]) != NULL;
        CHECK_INT (n > 0, k / 2 == i);
      }
}
