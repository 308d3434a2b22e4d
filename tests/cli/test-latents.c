/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "comparison/heatmap.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

/* Tests of encoders whose rows are not tokens, and of the messages about attention to them. */

static const char experiment[] = "[data]\ntrain.a=text\ntrain.b=text\nvalidation.a=text\nvalidation.b=text\ntarget=b\n"
                                 "vocabulary_type=words\ntrees=right\n" SMALL_DECODER (
                                     "serial") "[train]\nbatch=10\nepochs=1\nvalidate_every=10\n"
                                               "[decode]\nbeam=1\nminimum_length=2\nmaximum_length=9\n"
                                               "[evaluate]\nresamples=10\n";

/* Calls plait with the plugin folder forest/. */
#define FOREST(...) forest_call ((const char *[]){ __VA_ARGS__, NULL })

static PlaitTestCall
forest_call (const char *const *words)
{
  return plait_test_call_with_plugins (plait_test_build_path ("tests/cli/forest"), words);
}

/* Returns the row labels of source a, separated by blanks, in the attention of sentence @sentence in dump.h5; "" if it
 * cannot be read. (transfer full) */
static char *
labels_of (guint sentence)
{
  g_autofree char *place = g_strdup_printf ("/attention/translation/%u/a", sentence);
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("dump.h5"), NULL);
  g_autoptr (PlaitHeatmap) heatmap
      = store ? plait_heatmap_read (store, place, PLAIT_HEATMAP_SELECTION_DEFAULT, NULL) : NULL;

  return heatmap ? g_strjoinv (" ", heatmap->columns) : g_strdup ("");
}

TEST_CASE (latents, are_numbered_unless_they_stand_for_tokens)
{
  static const struct
  {
    const char *source;
    const char *labels;
    const char *of_five; /* row labels for a sentence of five tokens */
    gboolean aligned;
  } cases[] = {
    { "encoder=latents\nrows=2\n", "0 1", "0 1", FALSE },
    { "encoder=latents\nrows=7\n", "0 1 2 3 4 5 6", "0 1 2 3 4 5 6", FALSE },
    { "encoder=latents\nrows=4\n", "0 1 2 3", "0 1 2 3", FALSE },
    { "encoder=latents\n", "a b c </s>", "a b c a </s>", TRUE },
    { "encoder=latents\nlinked=nowhere\n", "0 1 2 3", "0 1 2 3 4", FALSE },
    { "encoder=latents\nrows=3\nlinked=nowhere\n", "0 1 2", "0 1 2", FALSE },
    { "encoder=latents\nlinked=backwards\n", "</s> c b a", "</s> a c b a", TRUE },
    { "encoder=latents\nrows=2\nlinked=backwards\n", "</s> c", "</s> a", TRUE },
    { "encoder=pyramid\nleaves=latents\nblock=2\nlevels=1\n[source a/leaves]\nrows=3\n", "0 1 2 [0-1] [2]",
      "0 1 2 [0-1] [2]", FALSE },
    { "encoder=pyramid\nleaves=latents\nblock=2\nlevels=1\n[source a/leaves]\nlinked=nowhere\n", "0 1 2 3 [0-1] [2-3]",
      "0 1 2 3 4 [0-1] [2-3] [4]", FALSE },
    { "encoder=pyramid\nleaves=latents\nblock=2\nlevels=1\n[source a/leaves]\nlinked=backwards\n",
      "</s> c b a </s> … c b … a", "</s> a c b a </s> … a c … b a", TRUE },
    { "encoder=tree-lstm\nleaves=latents\n[source a/leaves]\nlinked=nowhere\n", "0 1 2 3 [1-2] [0-2]",
      "0 1 2 3 4 [2-3] [1-3] [0-3]", FALSE },
    { "encoder=tree-lstm\nleaves=latents\n", "a b c </s>  b…c  a…c", "a b c a </s>  c…a  b…a  a…a", TRUE },
  };

  plait_test_write ("text", "a b c\na b c a\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].source);
      plait_test_write ("x.ini", plait_test_format ("%s[source a]\n%s", experiment, cases[i].source));
      PlaitTestCall run = FOREST ("run", "x.ini", "-q", "-o", "x.h5", "--force");
      PlaitTestCall dump = FOREST ("translate", "x.h5", "-q", "-s", "a=text", "--attention", "dump.h5", "--force");
      CHECK_STRING (run.errors, "");
      CHECK_STRING (dump.errors, "");
      g_autofree char *labels = labels_of (0), *of_five = labels_of (1);
      CHECK_STRING (labels, cases[i].labels);
      CHECK_STRING (of_five, cases[i].of_five);
      /* Rows that are not tokens cannot be compared, because row 0 of one model need not correspond to row 0 of
       * another. */
      PlaitTestCall compared = FOREST ("compare", "--attention", "dump.h5", "dump.h5");
      CHECK_CONTAINS (compared.output, cases[i].aligned ? "  2 sentences\n"
                                                        : "  0 sentences; 2 sentences left out: their tokens, layers "
                                                          "or heads differ, or their rows are not tokens\n");
      PlaitTestCall aligned = FOREST ("translate", "x.h5", "-q", "-s", "a=text", "--alignment", "mean");
      CHECK_INT (aligned.code, cases[i].aligned ? 0 : 2);
      if (!cases[i].aligned)
        CHECK_CONTAINS (aligned.errors, "--alignment: the encoder of a makes rows that are not tokens");
    }
}

/* A sentence that an encoder refuses for another reason than its length is neither skipped nor truncated. */
TEST_CASE (latents, are_refused_for_what_is_not_length)
{
  static const char *const policies[] = { "data.too_long=error", "data.too_long=skip", "data.too_long=truncate" };

  plait_test_write ("text", "a b c\na b\n");
  plait_test_write ("in", "a b\na\na b\n");
  plait_test_write ("least.ini", plait_test_format ("%s[source a]\nencoder=latents\nleast=3\n", experiment));
  DONE (FOREST ("run", "least.ini", "-q", "--set", "train.updates=1"));
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      CONTEXT ("%s", policies[i]);
      PlaitTestCall call = FOREST ("translate", "least.h5", "-q", "--source", "a=in", "--set", policies[i]);

      CHECK_INT (call.code, 2);
      CHECK_STRING (call.errors, "error: line 2: [source a]: a sentence has fewer than least=3 tokens\n");
    }
}
