/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <string.h>

/* Tests of decode.unknown, from the experiment file to the translations. */

#define SPLIT(name) name ".a=in.a\n" name ".b=in.b\n"

/* Trains a model whose target text has mostly unknown words. */
static void
make_run (const char *data, const char *train, const char *decode)
{
  g_autofree char *experiment
      = g_strconcat ("[data]\ntarget=b\nvocabulary=separate\nvocabulary_type=words\nvocabulary_size=5\n", data,
                     SPLIT ("train") SPLIT ("test") SMALL_SOURCE ("a") TINY_DECODER
                     "[train]\nepochs=60\nlearning_rate=0.05\nwarm_up=1\nschedule=constant\n",
                     train, "[decode]\nmaximum_length=4\n", decode, "[evaluate]\nresamples=0\nattention=1\n", NULL);

  plait_test_write ("unknown.ini", experiment);
  DONE (CALL ("run", "unknown.ini", "-q", "--force"));
}

static void
write_text (void)
{
  plait_test_write ("in.a", "Ada u u\nu Bob u\nu u Cid\nDot u u\n");
  plait_test_write ("in.b", "Ada Eve Fay v\nBob Gus Hal v\nCid Ina Jon v\nDot Kai Leo v\n");
}

/* Returns how many words of @text are words of the source, "v" or @more. Sets *@all to the number of all words. */
static guint
count_known (const char *text, const char *more, guint *all)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);
  static const char *const source[] = { "Ada", "Bob", "Cid", "Dot", "u", "v", NULL };
  guint known = 0;

  *all = 0;
  for (guint i = 0; words[i]; i++)
    if (*words[i] != '\0')
      {
        known += g_strv_contains (source, words[i]) || g_str_equal (words[i], more);
        ++*all;
      }
  return known;
}

TEST_CASE (unknown, is_replaced_in_translations_and_tests)
{
  guint n, known;

  write_text ();
  plait_test_write ("dictionary", "u\tUDO\nv\tVIA\n");
  make_run (SPLIT ("validation"), "metric=bleu\n", "unknown=replace\ndictionary=dictionary\n");
  PlaitTestCall kept
      = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a", "--set", "decode.unknown=keep"));
  PlaitTestCall forbidden
      = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a", "--set", "decode.unknown=forbid"));
  PlaitTestCall replaced
      = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a", "--set", "decode.dictionary="));
  PlaitTestCall looked_up = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a"));
  PlaitTestCall best = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a", "--n-best", "2", "--set",
                                   "decode.dictionary=", "--attention", "dump.h5"));
  PlaitTestCall stored = DONE (CALL ("show", "unknown.h5", "/evaluation/test/hypotheses"));
  PlaitTestCall label = DONE (CALL ("show", "dump.h5", "/attention/translation/0/a/target_labels"));
  g_auto (GStrv) lines = g_strsplit (looked_up.output, "\n", -1);

  CHECK_CONTAINS (kept.output, "<unk>");
  CHECK (!strstr (forbidden.output, "<unk>"));
  known = count_known (replaced.output, "", &n);
  CHECK_INT (known, n);
  CHECK (n > 0 && !strstr (replaced.output, "<unk>"));
  CHECK (!strstr (best.output, "<unk>"));
  known = count_known (looked_up.output, "UDO", &n);
  CHECK_INT (known, n);
  CHECK (!strstr (looked_up.output, "<unk>") && !strstr (looked_up.output, "u"));
  for (guint i = 0; i < 4; i++)
    CHECK_CONTAINS (stored.output, lines[i]);
  CHECK (!strstr (label.output, "<unk>"));
}

TEST_CASE (unknown, is_replaced_in_documents)
{
  plait_test_write ("in.a", "Ada u u\nu Bob u\n\nu u Cid\nDot u u\n");
  plait_test_write ("in.b", "Eve Fay Geo\nGus Hal v\n\nIna v Jon Jim\nDon Kai Leo\n");
  make_run ("documents=a;b\n", "", "unknown=replace\n");
  PlaitTestCall kept
      = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a", "--set", "decode.unknown=keep"));
  PlaitTestCall replaced = DONE (CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a"));
  guint n, known = count_known (replaced.output, "", &n);

  CHECK_CONTAINS (kept.output, "<unk>");
  CHECK_INT (known, n);
  CHECK (n > 0);
}

TEST_CASE (unknown, is_refused_where_there_are_no_words)
{
  write_text ();
  plait_test_write ("dictionary", "u UDO\n");
  make_run ("", "", "unknown=keep\ndictionary=dictionary\n");
  PlaitTestCall bad = CALL ("translate", "unknown.h5", "-q", "--source", "a=in.a", "--set", "decode.unknown=replace");
  PlaitTestCall check = CALL ("check", "unknown.ini", "--set", "decode.unknown=replace");
  PlaitTestCall missing
      = CALL ("check", "unknown.ini", "--set", "decode.unknown=replace", "--set", "decode.dictionary=none");

  CHECK_INT (bad.code, 2);
  CHECK_CONTAINS (bad.errors, "dictionary:1: expected an entry of a dictionary");
  CHECK_INT (check.code, 2);
  CHECK_CONTAINS (check.output, "dictionary:1: expected an entry of a dictionary");
  CHECK_INT (missing.code, 2);
  CHECK_CONTAINS (missing.output, "none: cannot be opened");
  plait_test_write ("classes.ini", SMALL_CLASSES "[decode]\nunknown=forbid\n");
  PlaitTestCall classes = CALL ("check", "classes.ini");
  CHECK_INT (classes.code, 2);
  CHECK_CONTAINS (classes.output, "unknown: with this [predict] there is no decoder that writes words");
}

/* Evaluates a split again if the dictionary has changed. */
TEST_CASE (unknown, a_changed_dictionary_is_evaluated_again)
{
  write_text ();
  plait_test_write ("dictionary", "u\tUDO\n");
  make_run ("", "", "unknown=replace\ndictionary=dictionary\n");
  PlaitTestCall same = DONE (CALL ("test", "unknown.h5"));
  plait_test_write ("dictionary", "u\tUTA\n");
  PlaitTestCall changed = DONE (CALL ("test", "unknown.h5"));
  PlaitTestCall stored = DONE (CALL ("show", "unknown.h5", "/evaluation/test/hypotheses"));

  CHECK (!strstr (stored.output, "UDO"));
  CHECK (strcmp (same.errors, changed.errors) != 0);
}
