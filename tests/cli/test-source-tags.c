/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "hdf5/store.h"

#include <string.h>

/* Tests of plait with tags of source words, which a model predicts besides its target. */

#define FILES(split) split ".a=a\n" split ".a.pos=pos\n" split ".a.case=case\n" split ".t=t\n"
#define TEXT(more)                                                                                                     \
  "[experiment]\nseed=3\n[data]\nvocabulary_type=words\ntarget=t\n" FILES ("train") FILES ("validation")               \
      FILES ("test") more SMALL_DECODER ("serial") "[train]\nbatch=4\nepochs=2\nwarm_up=4\n"                           \
                                                   "[decode]\nbeam=2\nmaximum_length=6\n"                              \
                                                   "[evaluate]\nresamples=0\nattention=0\n"

static void
write_files (void)
{
  plait_test_write ("a", "x y z\ny\nz z\nx z x y\n");
  plait_test_write ("pos", "N V N\nV\nN N\nN V N V\n");
  plait_test_write ("case", "u l l\nl\nl l\nu l l l\n");
  plait_test_write ("t", "one two three\ntwo three one\nthree three\none one two\n");
  plait_test_write ("tags.ini", TEXT (SMALL_SOURCE ("a") "tags=pos\nfactors=case\n"));
}

static void
check_equal_strings (const char *file, const char *path, const char *other, const char *there)
{
  g_autoptr (PlaitStore) a = plait_store_open (plait_test_path (file), NO_ERROR);
  g_autoptr (PlaitStore) b = plait_store_open (plait_test_path (other), NO_ERROR);
  gint64 n = 0, m = 0;

  REQUIRE (a && b);
  g_auto (GStrv) texts = plait_store_read_strings (a, path, 1 << 20, &n, NO_ERROR);
  g_auto (GStrv) others = plait_store_read_strings (b, there, 1 << 20, &m, NO_ERROR);
  REQUIRE (texts && others);
  CHECK (n > 0 && g_strv_equal ((const char *const *)texts, (const char *const *)others));
}

/* A translation needs the factors, but no tags. */
TEST_CASE (source_tags_program, are_not_asked_for_by_translation)
{
  write_files ();
  PlaitTestCall trained = DONE (CALL ("run", "tags.ini", "-o", "run.h5"));
  CHECK_CONTAINS (trained.errors, "tags.a.pos.accuracy 0.");
  CHECK_CONTAINS (trained.output, "accuracy a.pos");
  QUIET (CALL ("translate", "run.h5", "-q", "-s", "a=a", "-s", "a.case=case"));
  QUIET (CALL ("score", "run.h5", "-q", "-s", "a=a", "-s", "a.case=case", "--target", "t"));
  CHECK_REFUSED (CALL ("translate", "run.h5", "-s", "a=a", "-s", "a.pos=pos", "-s", "a.case=case"),
                 "the run does not read this source; expected one of: a, a.case");
  QUIET (CALL ("encode", "run.h5", "-s", "a=a", "-s", "a.case=case", "-q", "-o", "states.h5"));
  check_equal_strings ("run.h5", "/evaluation/test/tags/a.pos/hypotheses", "states.h5", "/tags/a.pos");
  QUIET (CALL ("adversarial", "run.h5", "-q"));
  PlaitTestCall tested = DONE (CALL ("test", "run.h5", "--as", "again", "--set", "decode.beam=2"));
  CHECK_CONTAINS (tested.output, "accuracy a.pos");
  CHECK_CONTAINS (CALL ("show", "run.h5", "/evaluation/test/metrics").output, "tags/a.pos/accuracy");
  CHECK_CONTAINS (CALL ("show", "run.h5", "/evaluation/test.again/tags/a.pos/references").output, "N V N V");
  CHECK_CONTAINS (CALL ("show", "run.h5", "/training/validation").output, "tags.a.pos.accuracy");
  CHECK_CONTAINS (CALL ("show", "run.h5", "/@experiment").output,
                  "factors=case\nfactor_join=sum\ntags=pos\ntag_weights=1\nfactor_vocabulary_size=0\n");
  CHECK_CONTAINS (CALL ("compare", "run.h5").output, "accuracy a.pos");
  DONE (CALL ("reproduce", "run.h5"));
  DONE (CALL ("verify", "--resume", "run.h5", "--updates", "2"));
  QUIET (CALL ("export", "run.h5", "-q", "-o", "run.safetensors"));
  QUIET (CALL ("average", "run.h5:best", "run.h5:last", "-q", "-o", "average.h5"));
  DONE (CALL ("explain", "tags.ini"));
}

/* A run without tags gives its parameters to one with tags, and the other way round. */
TEST_CASE (source_tags_program, are_added_to_a_trained_run)
{
  write_files ();
  QUIET (CALL ("run", "tags.ini", "-q", "-o", "plain.h5", "--set", "source.a.tags=none"));
  PlaitTestCall warm = DONE (
      CALL ("run", "tags.ini", "-o", "warm.h5", "--set", "train.initialise=plain.h5", "--set", "train.epochs=1"));
  CHECK_CONTAINS (warm.errors, "fresh random values for parameters that are not in that run: source/a/tags/*");
  DONE (CALL ("run", "tags.ini", "-o", "cool.h5", "--set", "train.initialise=warm.h5", "--set", "source.a.tags=none"));
}

TEST_CASE (source_tags_program, have_weights_that_are_an_axis_of_a_grid)
{
  write_files ();
  plait_test_write ("grid.ini",
                    TEXT (SMALL_SOURCE ("a") "factors=case\n") "[grid]\n"
                                                               "source.a.tags=none;pos\nsource.a.tag_weights=0;0.5\n"
                                                               "exclude=source.a.tags=none & source.a.tag_weights=0\n");
  PlaitTestCall grid = DONE (CALL ("grid", "grid.ini", "-o", "grid"));
  CHECK_CONTAINS (grid.output, "accuracy a.pos");
  CHECK_CONTAINS (grid.errors, "3 cells are finished");
  PlaitTestCall dry = DONE (CALL ("run", "tags.ini", "--dry-run", "--set", "source.a.tag_weights=0.25"));
  CHECK_CONTAINS (dry.output, "training tuples");
}

TEST_CASE (source_tags_program, are_refused_in_words)
{
  write_files ();
#define REFUSED(message, ...)                                                                                          \
  do                                                                                                                   \
    {                                                                                                                  \
      PlaitTestCall check = CALL ("check", "tags.ini", __VA_ARGS__);                                                   \
      CHECK_INT (check.code, 2);                                                                                       \
      CHECK_CONTAINS (check.output, message);                                                                          \
    }                                                                                                                  \
  while (0)
  REFUSED ("there is no file for train.a.ner; add train.a.ner=FILE", "--set", "source.a.tags=ner");
  REFUSED ("there is no file for test.a.ner; add test.a.ner=FILE", "--set", "source.a.tags=pos+ner", "--set",
           "data.train.a.ner=pos", "--set", "data.validation.a.ner=pos");
  REFUSED ("\"alignment\" is not a name for a stream of tags", "--set", "source.a.tags=alignment");
  REFUSED ("did you mean \"pos+ner\"?", "--set", "source.a.tags=pos,ner");
  REFUSED ("case is named twice; name each stream once, in factors or in tags", "--set", "source.a.tags=pos+case");
  REFUSED ("\"-1\" does not give each of 1 streams of tags a weight from 0", "--set", "source.a.tag_weights=-1");
  REFUSED ("\"1+2\" does not give each of 1 streams of tags a weight", "--set", "source.a.tag_weights=1+2");
  REFUSED ("are for words of sentences, but the source has documents; set factors=none", "--set",
           "data.documents_by_line=a;t");
  REFUSED ("tags: the task copy makes no stream", "--unset", "data.train.a", "--unset", "data.train.t", "--set",
           "data.generate=copy", "--set", "data.target=target");
  REFUSED ("add factors=ner or tags=ner to [source b], or drop the line", "--set", "source.b.encoder=transformer",
           "--set", "source.b.stream=b", "--set", "data.train.b.ner=pos");
#undef REFUSED
  plait_test_write ("short", "N V N\nV\nN\nN V N V\n");
  PlaitTestCall mismatch = CALL ("run", "tags.ini", "-q", "-o", "short.h5", "--set", "data.train.a.pos=short");
  CHECK_INT (mismatch.code, 2);
  CHECK_CONTAINS (mismatch.errors, "short:3: the line has 1 tokens, but line ");
}

/* Tags need an encoder with a row for each token, in any order. */
TEST_CASE (source_tags_program, need_an_encoder_with_rows_of_tokens)
{
  const char *folder = plait_test_build_path ("tests/cli/forest");

  write_files ();
  plait_test_write ("features.ini", TEXT ("[source a]\nencoder=features\ntags=pos\n"));
  PlaitTestCall features = CALL ("check", "features.ini");
  CHECK_INT (features.code, 2);
  CHECK_CONTAINS (features.output, "tags: are for words of sentences, but the source has features; set tags=none");
  plait_test_write ("latents.ini", TEXT ("[source a]\nencoder=latents\nrows=2\ntags=pos\n"));
  PlaitTestCall refused
      = plait_test_call_with_plugins (folder, (const char *[]){ "run", "latents.ini", "-q", "-o", "latents.h5", NULL });
  CHECK_INT (refused.code, 2);
  CHECK_CONTAINS (refused.errors, "[source a] tags: token 1 has no row in the first memory of the encoder; choose an");
  plait_test_write ("latents.ini", TEXT ("[source a]\nencoder=latents\nlinked=backwards\ntags=pos\n"));
  PlaitTestCall turned
      = plait_test_call_with_plugins (folder, (const char *[]){ "run", "latents.ini", "-q", "-o", "latents.h5", NULL });
  CHECK_INT (turned.code, 0);
}

/* kind=masked hides the factors of masked words, so no other source may show them. */
TEST_CASE (source_tags_program, let_no_source_show_a_masked_factor)
{
  write_files ();
  plait_test_write ("masked.ini",
                    "[data]\nvocabulary_type=words\ntarget=a\ntrain.a=a\ntrain.a.case=case\n"
                    "train.a.pos=pos\n[predict]\nkind=masked\n" SMALL_SOURCE (
                        "a") "factors=case\ntags=pos\n" SMALL_SOURCE ("shown") "stream=a.case\n" TINY_DECODER
                                                                               "[train]\nbatch=4\nepochs=1\n");
  PlaitTestCall check = CALL ("check", "masked.ini");
  CHECK_INT (check.code, 2);
  CHECK_CONTAINS (check.output,
                  "reads the stream a.case, a factor of the masked source a: the model would see what the mask hides");
  DONE (CALL ("run", "masked.ini", "-o", "masked.h5", "--set", "experiment.sources=a"));
}
