/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "harness.h"

#include <string.h>

/* plait translate, and plait adversarial, told otherwise than the experiment. */

static const char experiment[] = "[experiment]\nseed=3\n"
                                 "[data]\ngenerate=agreement\nvocabulary_type=words\n"
                                 "generate.train=60\ngenerate.validation=10\ngenerate.test=8\n"
                                 "[source a]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=8\n"
                                 "[decoder]\ncombiner=serial\nlayers=1\nwidth=8\nheads=2\nfeed_forward=8\n"
                                 "[train]\nbatch=6\nepochs=1\n"
                                 "[decode]\nbeam=2\nmaximum_length=6\n[evaluate]\nresamples=10\n";

/* Whether each line of @text has @length words, and whether a word stands twice in one of them. */
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
  g_auto (PlaitTestCall) run = CALL ("run", "small.ini", "-q");
  g_auto (PlaitTestCall) made
      = CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8");
  g_auto (PlaitTestCall) free = CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--set",
                                      "decode.minimum_length=9", "--set", "decode.maximum_length=9");
  g_auto (PlaitTestCall) ruled
      = CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--set", "decode.minimum_length=9", "--set",
              "decode.maximum_length=9", "--set", "decode.no_repeat_ngrams=1", "--set", "decode.batch=3");
  g_auto (PlaitTestCall) scored
      = CALL ("adversarial", "small.h5", "-q", "--set", "evaluate.metrics=rouge:type=L", "--set", "decode.beam=1");
  g_auto (PlaitTestCall) layers = CALL ("adversarial", "small.h5", "-q", "--set", "decoder.layers=1");

  CHECK_INT (run.code, 0);
  CHECK_STRING (run.errors, "");
  CHECK_INT (made.code, 0);
  CHECK_INT (free.code, 0);
  CHECK_INT (ruled.code, 0);
  CHECK (check_words (free.output, 9));
  CHECK (!check_words (ruled.output, 9));
  CHECK_INT (scored.code, 0);
  CHECK_CONTAINS (scored.output, "ROUGE-L");
  plait_test_check_refused (&layers, "takes keys of [decode] and [evaluate] alone");
}
