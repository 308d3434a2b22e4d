/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests that text cannot control a terminal, and that text in a pipe is unchanged. */

/* Text with two ways to clear the screen, and with a change of the writing direction. */
#define CLEAR "\033[2Jx"
#define CLEAR_8                                                                                                        \
  "\xc2\x9b"                                                                                                           \
  "2Jy"
#define TURN "\u202ez"

/* Every word of the vocabulary is hostile, so every translation is. */
static const char experiment[] = "[data]\ntarget=target\ntrain.a=text\ntrain.target=text\nvocabulary_type=words\n"
                                 "[source a]\nencoder=transformer\nlayers=1\nheads=1\nfeed_forward=4\n"
                                 "[decoder]\nlayers=1\nwidth=4\nheads=1\nfeed_forward=4\n"
                                 "[train]\nepochs=40\nlearning_rate=1\nwarm_up=1\n"
                                 "[decode]\nmaximum_length=4\n";

static gboolean
is_hostile (const char *text)
{
  return strstr (text, "\033[2J") || strstr (text, "\xc2\x9b") || strstr (text, "\u202e");
}

static void
check_both (const char *const *arguments)
{
  g_autofree char *line = g_strjoinv (" ", (char **)arguments);
  CONTEXT ("plait %s", line);
  PlaitTestCall pipe = DONE (plait_test_call (NULL, arguments));
  PlaitTestCall terminal = DONE (plait_test_call_on_terminal (200, arguments));

  CHECK (is_hostile (pipe.output));
  CHECK (!is_hostile (terminal.output));
  CHECK_CONTAINS (terminal.output, "\ufffd");
}

TEST_CASE (terminal, is_not_commanded_by_lines_of_text)
{
  plait_test_write ("text", CLEAR " " CLEAR_8 "\n" TURN " " CLEAR "\n" CLEAR_8 "\n");
  plait_test_write ("trees", "(" CLEAR " (A " CLEAR_8 ") (B " TURN "))\n");
  DONE (CALL ("vocabulary", "-q", "--type", "words", "-o", "words", "text"));
  PlaitTestCall ids = CALL ("vocabulary", "--encode", "words", "--ids", "text");

  plait_test_write ("ids", ids.output);
  check_both ((const char *[]){ "vocabulary", "--encode", "words", "text", NULL });
  check_both ((const char *[]){ "vocabulary", "--decode", "words", "--ids", "ids", NULL });
  check_both ((const char *[]){ "trees", "--convert", "trees", "--to", "brackets", NULL });
  check_both ((const char *[]){ "generate", "agreement", "--force", "-o", CLEAR, "-s", "train=1", NULL });
}

TEST_CASE (terminal, is_not_commanded_by_translations)
{
  plait_test_write ("text", CLEAR " " CLEAR_8 "\n" TURN " " CLEAR "\n" CLEAR_8 "\n");
  plait_test_write ("text.ini", experiment);
  PlaitTestCall run = CALL ("run", "text.ini", "-q", "--threads", "1");
  CHECK_STRING (run.errors, "");
  check_both ((const char *[]){ "translate", "text.h5", "-q", "-s", "a=text", "--threads", "1", NULL });
  check_both (
      (const char *[]){ "translate", "text.h5", "-q", "-s", "a=text", "--n-best", "2", "--threads", "1", NULL });
}

/* JSON has escapes in place of control characters, in a pipe and on a terminal. */
TEST_CASE (terminal, is_not_commanded_by_json)
{
  plait_test_write ("text", CLEAR " " CLEAR_8 " " TURN "\n");
  DONE (CALL ("vocabulary", "-q", "--type", "words", "-o", "words", "text"));
  const char *const arguments[] = { "vocabulary", "--show", "words", "--json", NULL };
  const PlaitTestCall calls[] = { plait_test_call (NULL, arguments), plait_test_call_on_terminal (200, arguments) };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      CONTEXT ("%s", i == 0 ? "pipe" : "terminal");
      CHECK (!is_hostile (calls[i].output));
      CHECK_CONTAINS (calls[i].output, "\\u001b[2Jx");
      CHECK_CONTAINS (calls[i].output, "\\u009b2Jy");
      CHECK_CONTAINS (calls[i].output, "\\u202ez");
    }
}

TEST_CASE (terminal, is_not_commanded_by_a_value)
{
  g_autofree char *text = g_strconcat (experiment, "[experiment]\nname=" TURN "\n", NULL);

  plait_test_write ("text", "a b\n");
  plait_test_write ("text.ini", text);
  PlaitTestCall run = CALL ("run", "text.ini", "-q", "--threads", "1", "--set", "train.epochs=1");
  CHECK_STRING (run.errors, "");
  check_both ((const char *[]){ "show", "text.h5", "/@name", NULL });
  check_both ((const char *[]){ "run", "text.ini", "-q", "--dry-run", "-o", "new.h5", NULL });
}
