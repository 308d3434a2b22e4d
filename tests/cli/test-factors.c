/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <string.h>

/* Tests of source factors in experiments and runs. */

#define FILES(split) split ".a=a\n" split ".a.pos=pos\n" split ".a.case=case\n" split ".t=t\n"
#define KEYS "factors=pos+case\n"

static const char *const experiment = "[experiment]\nseed=3\n[data]\nvocabulary_type=words\ntarget=t\n" FILES ("train")
    FILES ("validation") FILES ("test") SMALL_SOURCE ("a")
        KEYS SMALL_DECODER ("serial") "[train]\nbatch=4\nepochs=2\nwarm_up=4\n[decode]\nbeam=2\nmaximum_length=6\n"
                                      "[evaluate]\nresamples=0\nattention=0\n";

#define GIVEN "-s", "a=a", "-s", "a.pos=pos", "-s", "a.case=case"

static void
write_files (void)
{
  plait_test_write ("a", "x y z\ny\nz z\nx z x y\n");
  plait_test_write ("pos", "N V N\nV\nN N\nN V N V\n");
  plait_test_write ("other", "V N N\nV\nN N\nN V N V\n");
  plait_test_write ("case", "u l l\nl\nl l\nu l l l\n");
  plait_test_write ("t", "one two three\ntwo three one\nthree three\none one two\n");
  plait_test_write ("factors.ini", experiment);
}

TEST_CASE (factors, are_trained_with_and_translated_with)
{
  write_files ();
  QUIET (CALL ("run", "factors.ini", "-q", "-o", "run.h5"));
  PlaitTestCall translated = QUIET (CALL ("translate", "run.h5", "-q", GIVEN));
  PlaitTestCall columns
      = plait_test_call ("x y z\tN V N\tu l l\ny\tV\tl\nz z\tN N\tl l\nx z x y\tN V N V\tu l l l\n",
                         (const char *[]){ "translate", "run.h5", "-q", "--tsv", "a,a.pos,a.case", NULL });
  PlaitTestCall score = DONE (CALL ("score", "run.h5", "-q", GIVEN, "--target", "t"));
  PlaitTestCall other
      = DONE (CALL ("score", "run.h5", "-q", "-s", "a=a", "-s", "a.pos=other", "-s", "a.case=case", "--target", "t"));
  const char *rest = strchr (score.output, '\n');

  CHECK_STRING (columns.output, translated.output);
  CHECK (strcmp (score.output, other.output) != 0);
  CHECK_STRING (strchr (other.output, '\n'), rest); /* only the first line has other factors */
  QUIET (CALL ("encode", "run.h5", GIVEN, "-q", "-o", "states.h5"));
  QUIET (CALL ("adversarial", "run.h5", "-q"));
  QUIET (CALL ("test", "run.h5", "-q", "--as", "again"));

  CHECK_REFUSED (CALL ("translate", "run.h5", "-s", "a=a", "-s", "a.pos=pos"),
                 "a.case is not given, but source \"a\" needs it: add --source a.case=FILE");
  CHECK_REFUSED (CALL ("translate", "run.h5", "-s", "a=a", "-s", "a.tag=pos"), "expected one of: a, a.pos, a.case");
  CHECK_REFUSED (CALL ("translate", "run.h5", "-s", "a=-", "-s", "a.pos=pos", "-s", "a.case=-"),
                 "standard input cannot be both a and a.case");
  plait_test_write ("short", "N V N\nV\nN\nN V N V\n");
  PlaitTestCall mismatch = CALL ("translate", "run.h5", "-q", "-s", "a=a", "-s", "a.pos=short", "-s", "a.case=case");
  CHECK_INT (mismatch.code, 2);
  CHECK_CONTAINS (mismatch.errors, "short:3: the line has 1 tokens, but line 3 of ");
}

/* Embeddings of factors and output layers of tags are taken from a run only if the vocabularies are equal. */
TEST_CASE (factors, of_another_vocabulary_are_not_taken)
{
  static const struct
  {
    const char *factors, *tags, *message;
  } cases[] = { { "pos+case", "none", "since the vocabulary differs: source/a/factor/pos/table" },
                { "case", "pos", "since the labels differ: source/a/tags/pos/weight" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *first = plait_test_format ("first%u.h5", i);
      const char *factors = plait_test_format ("source.a.factors=%s", cases[i].factors);
      const char *tags = plait_test_format ("source.a.tags=%s", cases[i].tags);

      write_files ();
      QUIET (CALL ("run", "factors.ini", "-q", "-o", first, "--set", factors, "--set", tags));
      for (guint other = 0; other < 2; other++)
        {
          const char *output = plait_test_format ("second%u%u.h5", i, other);
          PlaitTestCall second
              = CALL ("run", "factors.ini", "-o", output, "--set", factors, "--set", tags, "--set",
                      plait_test_format ("train.initialise=%s", first), "--set", "train.initialise_vocabulary=learnt");

          CONTEXT ("%s, %s", factors, second.errors);
          CHECK_INT (second.code, 0);
          CHECK_INT (strstr (second.errors, cases[i].message) != NULL, other);
          plait_test_write ("pos", "D A D\nA\nD D\nD A D A\n");
        }
    }
}

/* A run with factors takes all other parameters from a run without factors. With factor_join=concat, the embeddings of
 * words are narrower by the widths of the factors. */
TEST_CASE (factors, are_added_to_a_trained_run)
{
  write_files ();
  QUIET (CALL ("run", "factors.ini", "-q", "-o", "plain.h5", "--set", "source.a.factors=none"));
  PlaitTestCall warm
      = CALL ("run", "factors.ini", "-o", "warm.h5", "--set", "train.initialise=plain.h5", "--set", "train.epochs=1");
  CHECK_INT (warm.code, 0);
  CHECK_CONTAINS (warm.errors, "fresh random values for parameters that are not in that run: source/a/factor/*");
  CHECK_CONTAINS (CALL ("show", "plain.h5", "/@experiment").output,
                  "[source a]\nencoder=transformer\nstream=a\nlayers");
  CHECK_CONTAINS (CALL ("show", "warm.h5", "/@experiment").output,
                  "stream=a\nfactors=pos+case\nfactor_join=sum\nfactor_vocabulary_size=0\n");
  QUIET (CALL ("run", "factors.ini", "-q", "-o", "concat.h5", "--set", "source.a.factor_join=concat", "--set",
               "source.a.factor_widths=2+1", "--set", "decoder.share_embeddings=false", "--set",
               "source.a.factor_vocabulary_size=5", "--set", "train.precision=bfloat16_emulated"));
  PlaitTestCall shapes = CALL ("show", "concat.h5", "/checkpoint/best/parameters", "--all");
  CHECK_CONTAINS (shapes.output, "embedding\n  │     │  └─ table  float32 [10, 5]");
  CHECK_CONTAINS (shapes.output, "case\n  │     │     └─ table  float32 [5, 1]");
  QUIET (CALL ("translate", "concat.h5", "-q", GIVEN));
}

TEST_CASE (factors, are_an_axis_of_a_grid)
{
  write_files ();
  plait_test_write ("grid.ini", plait_test_format ("%s[grid]\nsource.a.factors=none;pos;pos+case\n", experiment));
  PlaitTestCall grid = DONE (CALL ("grid", "grid.ini", "-q", "--dry-run"));
  PlaitTestCall explained = CALL ("explain", "grid.ini", "--set", "data.vocabulary_size=9");

  CHECK_CONTAINS (grid.output, "pos+case");
  CHECK_STRING (explained.errors, "");
  /* A factor that only other cells read, with a name like the reserved name trees. */
  DONE (CALL ("check", "factors.ini", "--set", "data.train.a.tree=pos", "--set", "data.test.a.tree=pos"));
}

TEST_CASE (factors, are_refused_in_words)
{
  write_files ();
#define REFUSED(message, ...)                                                                                          \
  do                                                                                                                   \
    {                                                                                                                  \
      PlaitTestCall check = CALL ("check", "factors.ini", __VA_ARGS__);                                                \
      CHECK_INT (check.code, 2);                                                                                       \
      CHECK_CONTAINS (check.output, message);                                                                          \
    }                                                                                                                  \
  while (0)
  REFUSED ("there is no file for train.a.tag; add train.a.tag=FILE", "--set", "source.a.factors=tag");
  REFUSED ("\"trees\" is not a name for a stream of factors", "--set", "source.a.factors=pos+trees");
  REFUSED ("\"pos;case\" is several items; join them with '+': did you mean \"pos+case\"?", "--set",
           "source.a.factors=pos;case");
  REFUSED ("did you mean \"3+2\"?", "--set", "source.a.factor_widths=3,2", "--set", "source.a.factor_join=concat");
  REFUSED ("pos is named twice", "--set", "source.a.factors=pos+pos");
  REFUSED ("are for factors with factor_join=concat", "--set", "source.a.factor_widths=3+2");
  REFUSED ("\"3\" does not give each of 2 factors a width", "--set", "source.a.factor_widths=3", "--set",
           "source.a.factor_join=concat");
  REFUSED ("4 entries leave no room after the 4 special ones", "--set", "source.a.factor_vocabulary_size=4");
  REFUSED ("set decoder.share_embeddings=false", "--set", "source.a.factor_join=concat", "--set",
           "source.a.factor_widths=3+2");
  REFUSED ("are for words of sentences, but the source has documents", "--set", "data.documents_by_line=a;t");
  REFUSED ("add factors=pos or tags=pos to [source a], or drop the line", "--unset", "source.a.factors");
  plait_test_write ("short", "u l l\nl\n");
  REFUSED ("short", "--set", "data.train.a.case=short");
#undef REFUSED
}
