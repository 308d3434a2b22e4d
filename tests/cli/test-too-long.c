/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <string.h>

/* Tests of sentences that are too long for a model: its encoder has six learned positions, including the end token.
 * LONG has eight words. */

#define LONG "u v w u v w u v\n"

static void
make_run (void)
{
  plait_test_write ("train.a", "u v\nw u\nv\n");
  plait_test_write ("train.b", "x y\nx\ny\n");
  plait_test_write ("in.a", "u v\n" LONG "w\n" LONG "u\n");
  plait_test_write ("in.b", "x\nx y\ny\nx\ny\n");
  plait_test_write ("limited.ini", "[data]\ntarget=b\nvocabulary_type=words\ntrain.a=train.a\ntrain.b=train.b\n"
                                   "test.a=train.a\ntest.b=train.b\n" SMALL_SOURCE (
                                       "a") "positions=learned\nposition_limit=6\n" TINY_DECODER
                                            "positions=learned\nposition_limit=9\n[train]\nupdates=1\n"
                                            "[decode]\nmaximum_length=3\n[evaluate]\nresamples=0\nattention=0\n");
  DONE (CALL ("run", "limited.ini", "-q", "--force"));
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text; text++)
    n += *text == '\n';
  return n;
}

/* Sentences before the one that is too long are printed, or written to the file, for every batch size. */
TEST_CASE (too_long, stops_with_its_line_and_loses_none_before)
{
  static const char *const batches[] = { "decode.batch=1", "decode.batch=2", "decode.batch=64" };

  make_run ();
  for (guint i = 0; i < G_N_ELEMENTS (batches); i++)
    {
      CONTEXT ("%s", batches[i]);
      PlaitTestCall translate = CALL ("translate", "limited.h5", "-q", "--source", "a=in.a", "--set", batches[i]);
      PlaitTestCall score
          = CALL ("score", "limited.h5", "-q", "--source", "a=in.a", "--target", "in.b", "--set", batches[i]);
      PlaitTestCall file = CALL ("translate", "limited.h5", "-q", "--source", "a=in.a", "--set", batches[i], "-o",
                                 "out.txt", "--force");
      g_autofree char *written = NULL;

      CHECK_INT (translate.code, 2);
      CHECK_INT (score.code, 2);
      CHECK_INT (file.code, 2);
      CHECK_CONTAINS (translate.errors,
                      "in.a:2: [source a]: a sentence has 9 rows, but there are only position_limit=6");
      CHECK_CONTAINS (score.errors, "in.a:2: ");
      CHECK_CONTAINS (translate.errors, "in.a:4: [source a]: a sentence has 9 rows");
      CHECK_CONTAINS (score.errors, "in.a:4: ");
      CHECK_CONTAINS (score.errors, "the lines before the first of these are done");
      CHECK_CONTAINS (translate.errors, "data.too_long=skip");
      CHECK_CONTAINS (translate.errors, "data.too_long=truncate to read only their beginnings");
      CHECK_INT (count_lines (translate.output), 1);
      CHECK_INT (count_lines (score.output), 1);
      CHECK (g_file_get_contents (plait_test_path ("out.txt"), &written, NULL, NULL)
             && g_str_equal (written, translate.output));
    }
}

TEST_CASE (too_long, is_skipped_and_lines_stay_where_they_are)
{
  make_run ();
  PlaitTestCall text = DONE (CALL ("translate", "limited.h5", "--source", "a=in.a", "--set", "data.too_long=skip"));
  PlaitTestCall json
      = CALL ("translate", "limited.h5", "-q", "--source", "a=in.a", "--set", "data.too_long=skip", "--format", "json");
  PlaitTestCall score
      = CALL ("score", "limited.h5", "-q", "--source", "a=in.a", "--target", "in.b", "--set", "data.too_long=skip");
  g_auto (GStrv) lines = g_strsplit (text.output, "\n", -1), scores = g_strsplit (score.output, "\n", -1);

  REQUIRE (g_strv_length (lines) == 6 && g_strv_length (scores) == 6);
  CHECK_STRING (lines[1], "");
  CHECK_STRING (lines[3], "");
  CHECK_STRING (scores[1], "nan\t0");
  CHECK_STRING (scores[3], "nan\t0");
  CHECK (!g_str_has_prefix (scores[4], "nan"));
  CHECK_CONTAINS (text.errors, "warning: in.a:2: skipped");
  CHECK_CONTAINS (text.errors, "warning: in.a:4: skipped");
  CHECK_CONTAINS (json.output, "{\"line\": 4, \"hypotheses\": []}");
}

/* Only the beginning of the sentence is read: five words and the end token. */
TEST_CASE (too_long, is_truncated_to_what_can_be_read)
{
  make_run ();
  plait_test_write ("cut.a", "u v\nu v w u v\nw\nu v w u v\nu\n");
  PlaitTestCall call = DONE (
      CALL ("score", "limited.h5", "--source", "a=in.a", "--target", "in.b", "--set", "data.too_long=truncate"));
  PlaitTestCall cut = CALL ("score", "limited.h5", "--source", "a=cut.a", "--target", "in.b");

  CHECK_STRING (call.output, cut.output);
  CHECK_CONTAINS (call.errors, "warning: in.a:2: truncated to 6 tokens");
}

/* From files, all sentences that are too long are reported; from standard input, which may wait for its writer, only
 * the first. With data.too_long=truncate, only the targets that are too long are reported. Truncating is suggested if
 * it would help some of the reported sentences. */
TEST_CASE (too_long, is_named_as_far_as_nothing_waits)
{
  static const char suggestion[] = "data.too_long=truncate to read only their beginnings";

  make_run ();
  plait_test_write ("long.b", "x\nx y x y x y x y x y x y x y x y\ny\nx\nx y x y x y x y x y x y x y x y\n");
  PlaitTestCall pipe
      = plait_test_call ("u v\n" LONG "w\n" LONG, (const char *[]){ "translate", "limited.h5", "-q", "--source", "a=-",
                                                                    "--set", "decode.batch=1", NULL });
  PlaitTestCall both = CALL ("score", "limited.h5", "-q", "--source", "a=in.a", "--target", "long.b", "--set",
                             "data.too_long=truncate", "--set", "decode.batch=1");
  PlaitTestCall mixed = CALL ("score", "limited.h5", "-q", "--source", "a=in.a", "--target", "long.b");

  CHECK_INT (pipe.code, 2);
  CHECK_CONTAINS (pipe.errors, "standard input:2: ");
  CHECK (!strstr (pipe.errors, "standard input:4: "));
  CHECK_INT (count_lines (pipe.output), 1);
  CHECK_INT (both.code, 2);
  CHECK_CONTAINS (both.errors, "long.b:2: ");
  CHECK_CONTAINS (both.errors, "long.b:5: ");
  CHECK (!strstr (both.errors, "in.a:4: "));
  CHECK_CONTAINS (mixed.errors, "in.a:4: ");
  CHECK_CONTAINS (mixed.errors, "long.b:5: ");
  CHECK_CONTAINS (pipe.errors, suggestion);
  CHECK_CONTAINS (mixed.errors, suggestion);
  CHECK (!strstr (both.errors, suggestion));
}

/* The message does not suggest truncating targets. */
TEST_CASE (too_long, targets_are_not_said_to_be_truncated)
{
  make_run ();
  plait_test_write ("long.a", "u v\n" LONG "v\n");
  plait_test_write ("long.b", "x\nx y x y x y x y x y x y x y x y\ny\n");
  PlaitTestCall call = CALL ("score", "limited.h5", "--source", "a=train.a", "--target", "long.b");

  CHECK_INT (call.code, 2);
  CHECK_CONTAINS (call.errors, "long.b:2: ");
  CHECK_CONTAINS (call.errors, "documents, targets and sources with trees cannot be truncated");
  CHECK (!strstr (call.errors, "data.too_long=truncate"));
  PlaitTestCall both
      = CALL ("score", "limited.h5", "--source", "a=long.a", "--target", "long.b", "--set", "data.too_long=truncate");
  CHECK_INT (both.code, 2);
  CHECK_CONTAINS (both.errors, "warning: long.a:2: truncated to 6 tokens");
  CHECK_CONTAINS (both.errors, "error: long.b:2: [decoder]: a target has");
}

/* Before training, reports all sentences that are too long, of all splits, in one message. */
TEST_CASE (too_long, is_named_with_all_others_before_training)
{
  make_run ();
  PlaitTestCall call = CALL ("run", "limited.ini", "--force", "--set", "data.test.a=in.a", "--set", "data.test.b=in.b",
                             "--set", "data.validation.a=in.a", "--set", "data.validation.b=in.b");
  PlaitTestCall test = CALL ("test", "limited.h5", "-q", "--set", "data.test.a=in.a", "--set", "data.test.b=in.b");

  CHECK_INT (call.code, 2);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *part = g_strdup_printf ("the %s corpus: %s/in.a:%u: ", i < 2 ? "validation" : "test",
                                               plait_test_folder (), 2 + i % 2 * 2);

      CHECK_CONTAINS (call.errors, part);
      if (i >= 2)
        CHECK_CONTAINS (test.errors, part);
    }
  CHECK_INT (test.code, 2);
  CHECK (!strstr (call.errors, "learning vocabulary"));
  plait_test_write ("long.b", "x\nx y x y x y x y x y x y\ny\n");
  PlaitTestCall target = CALL ("run", "limited.ini", "--force", "--set", "data.train.b=long.b", "--set",
                               "data.vocabulary_type=bpe", "--set", "data.vocabulary_size=20");
  DONE (
      CALL ("run", "limited.ini", "--force", "--set", "data.train.b=long.b", "--set", "data.maximum_target_length=5"));
  CHECK_INT (target.code, 2);
  CHECK_CONTAINS (target.errors, "long.b:2: with each word counted as one token: [decoder]: a target has 13 rows");
  CHECK (!strstr (target.errors, "learning vocabulary"));
}

/* Trains trained.h5 on the files @source and @target with data.too_long=@policy, and sets *@errors to its log. Returns
 * the call that scores train.a and train.b with it. */
static PlaitTestCall
train (const char *policy, const char *source, const char *target, char **errors)
{
  g_autofree char *a = g_strconcat ("data.train.a=", source, NULL), *b = g_strconcat ("data.train.b=", target, NULL);
  g_autofree char *set = g_strconcat ("data.too_long=", policy, NULL);
  PlaitTestCall run = DONE (CALL ("run", "limited.ini", "-o", "trained.h5", "--force", "--set", "train.updates=3",
                                  "--set", "data.vocabulary.shared=limited.h5", "--set", a, "--set", b, "--set", set));

  *errors = g_strdup (run.errors);
  return CALL ("score", "trained.h5", "-q", "--source", "a=train.a", "--target", "train.b", "--set",
               "data.too_long=error");
}

/* If sentences are dropped or truncated, training equals training on the remaining text alone. */
TEST_CASE (too_long, is_dropped_from_training_or_truncated)
{
  static const struct
  {
    const char *policy, *source, *told;
  } cases[] = {
    { "skip", "u v\nw\nu\n", "train: dropped 2 of 5 tuples, since the model cannot read them; the first of them is " },
    { "truncate", "u v\nu v w u v\nw\nu v w u v\nu\n",
      "train: truncated 2 of 5 sentences to 6 tokens, the most that the model can read; the first is " },
  };

  make_run ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *errors = NULL, *other = NULL;

      CONTEXT ("%s", cases[i].policy);
      plait_test_write ("cut.a", cases[i].source);
      plait_test_write ("cut.b", i == 0 ? "x\ny\ny\n" : "x\nx y\ny\nx\ny\n");
      PlaitTestCall trained = DONE (train (cases[i].policy, "in.a", "in.b", &errors));
      PlaitTestCall cut = train ("error", "cut.a", "cut.b", &other);

      CHECK_STRING (trained.output, cut.output);
      CHECK_CONTAINS (errors, cases[i].told);
      CHECK_CONTAINS (errors, "in.a:2");
      CHECK (!strstr (other, "too") && !strstr (other, "dropped"));
    }
}

/* data.too_long=truncate drops a training target that is too long, and refuses a target of a test split. */
TEST_CASE (too_long, is_a_target_that_is_dropped)
{
  make_run ();
  plait_test_write ("long.b", "x\nx y x y x y x y\ny\n");
  PlaitTestCall drop
      = DONE (CALL ("run", "limited.ini", "--force", "--set", "decoder.positions=learned", "--set",
                    "decoder.position_limit=6", "--set", "data.too_long=truncate", "--set", "data.train.b=long.b"));
  PlaitTestCall refused
      = CALL ("run", "limited.ini", "--force", "--set", "decoder.positions=learned", "--set",
              "decoder.position_limit=6", "--set", "data.too_long=truncate", "--set", "data.test.b=long.b");
  PlaitTestCall plain
      = CALL ("run", "limited.ini", "--force", "--set", "data.train.a=in.a", "--set", "data.train.b=in.b");

  CHECK_CONTAINS (drop.errors, "train: dropped 1 of 3 tuples");
  CHECK_CONTAINS (drop.errors, "long.b:2: ");
  CHECK_INT (refused.code, 2);
  CHECK_CONTAINS (refused.errors, "long.b:2: ");
  CHECK_CONTAINS (refused.errors, "trees, documents, features and targets are not truncated");
  CHECK_INT (plain.code, 2);
  CHECK_CONTAINS (plain.errors, "in.a:4: ");
  CHECK_CONTAINS (plain.errors, "data.too_long=skip drops such tuples; data.too_long=truncate reads the beginning");
}

/* A source whose tokens have tags is not truncated, because its tags would then belong to other tokens. */
TEST_CASE (too_long, is_not_truncated_where_tokens_have_tags)
{
  plait_test_write ("train.a", "u v\n" LONG "v\n");
  plait_test_write ("train.b", "x y\nx y z x y z x y\ny\n");
  plait_test_write ("short.a", "u v\n");
  plait_test_write ("short.b", "x y\n");
  plait_test_write ("tags.ini", "[data]\ntarget=b\nvocabulary_type=words\ntrain.a=train.a\ntrain.b=train.b\n"
                                "test.a=short.a\ntest.b=short.b\n[predict]\nkind=tags\n" SMALL_SOURCE (
                                    "a") "positions=learned\nposition_limit=6\n[decoder]\nwidth=8\n"
                                         "[train]\nupdates=1\n[evaluate]\nresamples=0\n");
  PlaitTestCall plain = CALL ("run", "tags.ini", "--force");
  PlaitTestCall drop = DONE (CALL ("run", "tags.ini", "--force", "--set", "data.too_long=truncate"));
  PlaitTestCall refused = CALL ("run", "tags.ini", "--force", "--set", "data.too_long=truncate", "--set",
                                "data.test.a=train.a", "--set", "data.test.b=train.b");

  CHECK_INT (plain.code, 2);
  CHECK_CONTAINS (plain.errors, "data.too_long=skip drops such tuples");
  CHECK (!strstr (plain.errors, "truncate"));
  CHECK_CONTAINS (drop.errors, "train: dropped 1 of 3 tuples");
  CHECK_CONTAINS (drop.errors, "train.a:2: ");
  CHECK_INT (refused.code, 2);
  CHECK_CONTAINS (refused.errors, "train.a:2: ");
}

/* A line to be scored is never dropped: either its beginning is read, or the command fails. */
TEST_CASE (too_long, is_never_dropped_from_what_is_scored)
{
#define TEST_IN "--set", "data.test.a=in.a", "--set", "data.test.b=in.b"
  make_run ();
  PlaitTestCall skip = CALL ("run", "limited.ini", "--force", TEST_IN, "--set", "data.too_long=skip");
  PlaitTestCall beside = DONE (CALL ("test", "limited.h5", TEST_IN, "--as", "cut", "--set", "data.too_long=truncate"));
  PlaitTestCall truncate = DONE (CALL ("run", "limited.ini", "--force", TEST_IN, "--set", "data.too_long=truncate",
                                       "--set", "data.validation.a=in.a", "--set", "data.validation.b=in.b"));
  PlaitTestCall adversarial = DONE (CALL ("adversarial", "limited.h5"));
  PlaitTestCall strict = CALL ("adversarial", "limited.h5", "--set", "data.too_long=error");

  CHECK_INT (skip.code, 2);
  CHECK_CONTAINS (skip.errors, "in.a:2: ");
  CHECK_CONTAINS (skip.errors, "data.too_long=skip drops only training text");
  CHECK_CONTAINS (beside.errors, "test: truncated 2 of 5 sentences");
  CHECK_CONTAINS (truncate.errors, "validation: truncated 2 of 5 sentences");
  CHECK_CONTAINS (truncate.errors, "test: truncated 2 of 5 sentences");
  CHECK_CONTAINS (adversarial.errors, "test: truncated 2 of 5 sentences");
  CHECK_INT (strict.code, 2);
  CHECK_CONTAINS (strict.errors, "in.a:4: ");
}

/* A document is too long if one of its sentences is. */
TEST_CASE (too_long, is_a_sentence_of_a_document)
{
#define IN_TEST "--set", "data.test.a=d.a", "--set", "data.test.t=d.t"
  plait_test_write ("d.a", "u v\nw\n\nu v w u v w u v\nw\n\nu\nv\n");
  plait_test_write ("d.t", "x\ny\nx y\n");
  plait_test_write ("short.a", "u v\n\nw u\n");
  plait_test_write ("short.t", "x\ny\n");
  plait_test_write (
      "d.ini",
      "[data]\ntarget=t\nvocabulary_type=words\ndocuments=a\ntrain.a=d.a\ntrain.t=d.t\n"
      "test.a=short.a\ntest.t=short.t\n"
      "[source a]\nencoder=hat\nleaves=transformer\nheads=2\nfeed_forward=8\n"
      "[source a/leaves]\nlayers=1\nheads=2\nfeed_forward=8\npositions=learned\nposition_limit=6\n" SMALL_DECODER (
          "hierarchical") "[train]\nbatch=2\nupdates=1\n[decode]\nmaximum_length=3\n[evaluate]\nresamples=0\nattention="
                          "0\n");
  PlaitTestCall refused = CALL ("run", "d.ini");
  PlaitTestCall dropped = DONE (CALL ("run", "d.ini", "--set", "data.too_long=truncate"));
  PlaitTestCall scored = CALL ("run", "d.ini", "--force", IN_TEST, "--set", "data.too_long=skip");

  CHECK_INT (refused.code, 2);
  CHECK_CONTAINS (refused.errors, "d.a: document 2: ");
  CHECK_CONTAINS (refused.errors, "data.too_long=skip drops such tuples");
  CHECK (!strstr (refused.errors, "truncate"));
  CHECK_CONTAINS (dropped.errors,
                  "train: dropped 1 of 3 tuples, since the model cannot read them; the first of them is ");
  CHECK_INT (scored.code, 2);
  CHECK_CONTAINS (scored.errors, "the test corpus: ");
}

/* A training sentence that data.share leaves out may be too long. */
TEST_CASE (too_long, may_be_left_out_by_the_share)
{
  guint read = 0;

  make_run ();
  plait_test_write ("train.a", "u v\n" LONG "v\n");
  for (guint seed = 1; seed <= 4; seed++)
    {
      CONTEXT ("seed %u", seed);
      PlaitTestCall run = CALL ("run", "limited.ini", "-q", "-o", plait_test_format ("%u.h5", seed), "--set",
                                "data.share=0.4", "--set", plait_test_format ("experiment.seed=%u", seed), "--set",
                                "data.test.a=in.b", "--set", "data.test.b=in.b", "--set", "evaluate.metrics=bleu");

      if (run.code != 0)
        CHECK_CONTAINS (run.errors, "train.a:2: [source a]: a sentence has 9 rows");
      read += run.code == 0;
    }
  CHECK (read > 0 && read < 4);
}

/* A document has one score, and each of its sentences one score, also if one of its chunks is skipped. */
TEST_CASE (too_long, chunks_of_documents_are_skipped_within_their_document)
{
  plait_test_write ("train.a", "u v\nw\n\nv\n");
  plait_test_write ("train.b", "x y\nx\n\ny\n");
  plait_test_write ("in.a", "u v\nw\nu w\n\nv\n");
  plait_test_write ("in.b", "x\ny y y y y y y y y\nx\n\ny\n");
  plait_test_write ("limited.ini",
                    "[data]\ntarget=b\nvocabulary_type=words\ndocuments=a;b\ndocument_length=3\n"
                    "train.a=train.a\ntrain.b=train.b\ntest.a=train.a\ntest.b=train.b\n" SMALL_SOURCE ("a") TINY_DECODER
                    "positions=learned\nposition_limit=9\n[train]\nupdates=1\n"
                    "[decode]\nmaximum_length=3\n[evaluate]\nresamples=0\nattention=0\n");
  DONE (CALL ("run", "limited.ini", "-q"));
  PlaitTestCall whole
      = CALL ("score", "limited.h5", "-q", "-s", "a=in.a", "--target", "in.b", "--set", "data.too_long=skip");
  PlaitTestCall apart = CALL ("score", "limited.h5", "-q", "-s", "a=in.a", "--target", "in.b", "--set",
                              "data.too_long=skip", "--sentences");
  PlaitTestCall objects = CALL ("score", "limited.h5", "-q", "-s", "a=in.a", "--target", "in.b", "--set",
                                "data.too_long=skip", "--sentences", "--json");
  g_auto (GStrv) lines = g_strsplit (whole.output, "\n", -1), scores = g_strsplit (apart.output, "\n", -1);

  CHECK_CONTAINS (apart.errors, "document 1: skipped");
  REQUIRE (g_strv_length (lines) == 3 && g_strv_length (scores) == 6);
  CHECK_STRING (lines[0], "nan\t4");
  CHECK (!g_str_has_prefix (lines[1], "nan"));
  CHECK (g_str_has_suffix (scores[0], "\t2") && g_str_has_suffix (scores[2], "\t2"));
  CHECK_STRING (scores[1], "nan\t0");
  CHECK_STRING (scores[3], "");
  CHECK_STRING (scores[4], lines[1]);
  CHECK_CONTAINS (objects.output, "{\"line\": 1, \"sentence\": 2, \"log_probability\": null, \"tokens\": 0}\n"
                                  "{\"line\": 1, \"sentence\": 3, ");
}
