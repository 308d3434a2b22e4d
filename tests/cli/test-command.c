/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "call.h"
#include "experiments.h"
#include "files.h"
#include "command/exit-codes.h"
#include "harness.h"

/* Tests of the built program as a user calls it: exit codes, stdout and stderr, plugins, inspect. */

TEST_CASE (command, help_and_version)
{
  PlaitTestCall version = DONE (START ("--version"));
  PlaitTestCall help = QUIET (CALL ("--help"));
  PlaitTestCall of_inspect = DONE (CALL ("inspect", "--help"));
  PlaitTestCall in_words = DONE (CALL ("help", "inspect"));
  PlaitTestCall word = CALL ("help");

  CHECK_STRING (version.output, "plait " PLAIT_VERSION "\n");
  CHECK_CONTAINS (help.output, "Usage: plait COMMAND");
  CHECK_CONTAINS (help.output, "  inspect ");
  CHECK_CONTAINS (of_inspect.output, "Usage: plait inspect [PLUGIN|GROUP|GROUP.KEY|keys] [--json]");
  CHECK_CONTAINS (of_inspect.output, "--json");
  CHECK_STRING (in_words.output, of_inspect.output);
  CHECK_STRING (word.output, help.output);
}

TEST_CASE (command, help_fits_the_terminal)
{
  const char *const calls[][3] = { { "--help", NULL }, { "grid", "--help", NULL }, { "show", "--help", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      PlaitTestCall help = DONE (plait_test_call_on_terminal (72, calls[i]));
      g_auto (GStrv) lines = g_strsplit (help.output, "\n", -1);

      CHECK (g_strv_length (lines) > 10);
      for (guint l = 0; lines[l]; l++)
        {
          CONTEXT ("%s", lines[l]);
          CHECK (strlen (g_strchomp (lines[l])) <= 72);
        }
    }
}

TEST_CASE (command, bad_usage_exits_with_2)
{
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { plait_test_call (NULL, (const char *[]){ NULL }), "Usage: plait COMMAND" },
    { CALL ("inpsect"), "there is no command \"inpsect\"; did you mean \"inspect\"?" },
    { CALL ("zzzzzz"), "there is no command \"zzzzzz\"; plait --help lists the commands" },
    { CALL ("verify"), "an argument is missing; usage: plait verify" },
    { CALL ("inspect", "a", "b"), "1 argument too many; usage: plait inspect" },
    { CALL ("plugins", "--jsno"), "--jsno; did you mean \"--json\"?" },
    { CALL ("run", "--sett=a.b=c"), "--sett=a.b=c; did you mean \"--set\"?" },
    { CALL ("plugins", "--quit"), "--quit; did you mean \"--quiet\"?" },
    { CALL ("plugins", "--zzzzzz"), "--zzzzzz; plait plugins --help lists the options" },
    { CALL ("plugins", "-z"), "-z; plait plugins --help lists the options" },
    { CALL ("run", "x.ini", "--threads", "abc"), "--threads cannot be \"abc\"; expected an integer from 0 to 1024\n" },
    { CALL ("translate", "x.h5", "--threads=-1"), "--threads cannot be \"-1\"; expected an integer" },
    { CALL ("adversarial", "x.h5", "--seed", "1.5"), "--seed cannot be \"1.5\"; expected an integer" },
    { CALL ("test", "x.h5", "--checkpoint", "worst"),
      "--checkpoint cannot be \"worst\"; expected best, last, average or update-N" },
    { CALL ("trees", "--check", "x", "--binarise=up"), "--binarise cannot be \"up\"; expected left, right or head\n" },
    { CALL ("compare", "x.h5", "--format", ""), "--format cannot be \"\"; expected " },
    { CALL ("plot", "x.h5", "--size", "1"), "--size cannot be \"1\"; expected a number from 2 to 40\n" },
    { CALL ("run", "x.ini", "--threads"), "--threads has no value; expected --threads N\n" },
    { CALL ("run", "x.ini", "-s"), "-s has no value; expected -s G.K=V\n" },
    { CALL ("plugins", "--json=no"), "--json takes no value; remove \"=no\" or the option\n" },
    { CALL ("plugins", "-q=no"), "-q takes no value; remove \"=no\" or the option\n" },
    { CALL ("run", "x.ini", "-rz"), "Unknown option -rz; plait run --help lists the options\n" },
    { CALL ("run", "x.ini", "-rt"), "-t has no value; expected -t N\n" },
    { CALL ("run", "x.ini", "-rtabc"), "--threads cannot be \"abc\"; expected an integer from 0 to 1024\n" },
    { CALL ("--json", "plugins"), "--json: the command must come before its options: write plait COMMAND [OPTION...]" },
    { CALL ("help", "inpsect"), "there is no command \"inpsect\"; did you mean \"inspect\"?" },
    { CALL ("inspect", "hierarchcal"), "did you mean \"hierarchical\"?" },
    { CALL ("inspect", "decodr"), "did you mean \"decoder\"?" },
    { CALL ("inspect", "--", "--json"), "there is no plugin or group \"--json\"" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitTestCall call = cases[i].call;

      CHECK_INT (call.code, 2);
      CHECK_STRING (call.output, "");
      CHECK_CONTAINS (call.errors, cases[i].part);
    }
}

TEST_CASE (command, results_that_cannot_be_written_are_a_failure)
{
  PlaitTestCall call
      = plait_test_call_with ((const char *[]){ "plugins", NULL }, &(PlaitTestCallSettings){ .output = "/dev/full" });

  CHECK_INT (call.code, 1);
  CHECK_CONTAINS (call.errors, "standard output cannot be written");
}

TEST_CASE (command, plugins_lists_what_is_found_and_what_is_not)
{
  const char *folder = plait_test_path ("plugins");

  plait_test_make_folder ("plugins/combiner");
  plait_test_write ("plugins/combiner/serial.ini", "[plugin]\nname=serial\nkind=combiner\n");
  PlaitTestCall text = QUIET (plait_test_call_with_plugins (folder, (const char *[]){ "plugins", NULL }));
  PlaitTestCall json = DONE (plait_test_call_with_plugins (folder, (const char *[]){ "plugins", "--json", NULL }));

  CHECK_CONTAINS (text.output, "Combiner\n");
  CHECK_CONTAINS (text.output, "  hierarchical ");
  CHECK_CONTAINS (text.output, "refused");
  CHECK_CONTAINS (text.output, "combiner/serial.ini hides\n");
  CHECK_CONTAINS (text.output, "(PLAIT_PLUGIN_PATH)");
  CHECK_CONTAINS (json.output, "\"name\": \"hierarchical\"");
  CHECK_CONTAINS (json.output, "[plugin] has no key interface");
}

TEST_CASE (command, inspect_shows_all_of_a_plugin)
{
  PlaitTestCall text = DONE (CALL ("inspect", "hierarchical"));
  PlaitTestCall full = CALL ("inspect", "combiner/hierarchical");
  PlaitTestCall json = DONE (CALL ("inspect", "hierarchical", "--json"));

  CHECK_CONTAINS (text.output, "hierarchical  combiner\n  Attend to each memory, then attend over the contexts\n");
  CHECK_CONTAINS (text.output, "Reference  Libovicky et al. 2018, eq. 7-8\n");
  CHECK_CONTAINS (text.output, "plugins/combiner/hierarchical.so\n");
  CHECK_CONTAINS (text.output, "Found in   build tree\n");
  CHECK_CONTAINS (text.output, "Parameters, in [combiner]\n");
  CHECK_CONTAINS (text.output, "context_heads    integer  0 .. 256  default: 0\n");
  CHECK_STRING (full.output, text.output);
  CHECK_CONTAINS (json.output, "\"module_sha256\": \"");
  CHECK_CONTAINS (json.output, "\"maximum\": 256");
  CHECK_CONTAINS (json.output, "\"refused\": null");
}

TEST_CASE (command, inspect_shows_what_plugins_require_and_provide)
{
  plait_test_make_folder ("plugins/combiner");
  plait_test_write ("plugins/combiner/dots.ini", "[plugin]\nname=dots\nkind=combiner\ninterface=2\nsummary=Dots\n"
                                                 "[requires]\ndecoder=gru;lstm\nattention=score\n");
  PlaitTestCall text
      = plait_test_call_with_plugins (plait_test_path ("plugins"), (const char *[]){ "inspect", "dots", NULL });
  PlaitTestCall json = plait_test_call_with_plugins (plait_test_path ("plugins"),
                                                     (const char *[]){ "inspect", "dots", "--json", NULL });

  CHECK_CONTAINS (text.output, "  Decoder    gru, lstm\n  Attention  score\n");
  CHECK_CONTAINS (json.output, "\"attention\": [\n      \"score\"\n    ]");
  CHECK_CONTAINS (json.output, "\"attention\": null");
  json = DONE (CALL ("inspect", "decoder/gru", "--json"));
  CHECK_CONTAINS (json.output, "\"attention\": \"score\"");
  text = DONE (CALL ("inspect", "bigru"));
  json = DONE (CALL ("inspect", "bigru", "--json"));
  CHECK_CONTAINS (text.output, "  Summary    a row for each sentence\n");
  CHECK_CONTAINS (json.output, "\"summary\": true");
  json = DONE (CALL ("inspect", "encoder/transformer", "--json"));
  CHECK_CONTAINS (json.output, "\"summary\": false");
}

TEST_CASE (command, inspect_describes_a_plugin_that_is_refused_and_why)
{
  plait_test_make_folder ("plugins/combiner");
  plait_test_write ("plugins/combiner/lost.ini", "[plugin]\nname=lost\nkind=combiner\ninterface=2\nsummary=Lost\n");
  PlaitTestCall call
      = plait_test_call_with_plugins (plait_test_path ("plugins"), (const char *[]){ "inspect", "lost", NULL });

  CHECK_INT (call.code, 2);
  CHECK_CONTAINS (call.output, "lost  combiner\n  Lost\n");
  CHECK_CONTAINS (call.output, "Refused");
  CHECK_CONTAINS (call.errors, "lost.so: is missing, although its schema is there");
}

TEST_CASE (command, inspect_shows_groups_of_the_core)
{
  static const char *const groups[]
      = { "experiment", "data", "source", "decoder", "train", "decode", "evaluate", "bench" };

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      CONTEXT ("%s", groups[i]);
      PlaitTestCall text = DONE (CALL ("inspect", groups[i]));
      PlaitTestCall json = CALL ("inspect", groups[i], "--json");

      CHECK_CONTAINS (text.output, plait_test_format ("[%s]  ", groups[i]));
      CHECK_CONTAINS (text.output, "Keys\n");
      CHECK_CONTAINS (json.output, plait_test_format ("\"group\": \"%s\"", groups[i]));
    }
}

TEST_CASE (command, inspect_shows_keys_of_plugins_and_grids)
{
  const struct
  {
    PlaitTestCall call;
    const char *parts[3];
  } cases[] = {
    { CALL ("inspect", "combiner"), { "[combiner]  ", "\nflat  ", "\n  context_heads " } },
    { CALL ("inspect", "coverage"), { "[coverage]  ", "\nfertility  ", "\n  maximum  real " } },
    { CALL ("inspect", "encoder"), { "[source NAME]  ", "\nbigru  ", "\n  feed_forward " } },
    { CALL ("inspect", "grid"), { "[grid]  ", "\n  match.vary ", "\n  executor.options " } },
    { CALL ("inspect", "grid.executor.jobs"), { "[grid]  ", "Keys\n  executor.jobs  integer  1 .. 1024", "" } },
    { CALL ("inspect", "train.batch"), { "[train]  ", "Keys\n  batch  integer  1 .. ", "" } },
    { CALL ("inspect", "source.en.stream"), { "[source]  ", "Keys\n  stream  text", "" } },
    { CALL ("inspect", "coverage", "--json"), { "\"group\": \"coverage\"", "\"name\": \"word\"", "\"maximum\"" } },
    { CALL ("inspect", "metrics"), { "every metric  ", "\nbleu  ", "\n  smooth     choice  exp | floor " } },
    { CALL ("inspect", "keys"), { "\nSeparators\n  ;  ", "\n[train]  ", "\nchrf++  " } },
    { CALL ("inspect", "grid", "--json"), { "\"group\": \"grid\"", "\"name\": \"zip\"", "\"minimum\": 1" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitTestCall call = QUIET (cases[i].call);

      for (guint k = 0; k < 3; k++)
        CHECK_CONTAINS (call.output, cases[i].parts[k]);
    }
  PlaitTestCall key = CALL ("inspect", "train.batchsize");
  CHECK_REFUSED (CALL ("inspect", "grid.executer"), "[grid] has no key \"executer\"; did you mean \"executor\"?");
  PlaitTestCall group = CALL ("inspect", "trian");
  CHECK_REFUSED (key, "[train] has no key \"batchsize\"; did you mean \"batch\"?");
  CHECK_REFUSED (group, "there is no plugin or group \"trian\"; did you mean \"train\"?");
  CHECK_REFUSED (CALL ("inspect", "train", "--format", "man"),
                 "--format works only for all keys and without --json; write plait inspect keys");
}

TEST_CASE (command, inspect_without_a_name_lists_the_groups)
{
  PlaitTestCall text = DONE (CALL ("inspect"));
  PlaitTestCall json = DONE (CALL ("inspect", "--json"));

  CHECK_CONTAINS (text.output, "\n  train ");
  CHECK_CONTAINS (text.output, "\n  decode ");
  CHECK_CONTAINS (text.output, "plait inspect GROUP shows the keys of a group");
  CHECK_CONTAINS (json.output, "\"groups\": [");
  CHECK_CONTAINS (json.output, "\"name\": \"train\"");
}

TEST_CASE (command, the_locale_changes_nothing)
{
  PlaitTestCall plain = CALL ("inspect", "train");

  g_setenv ("LC_ALL", "de_DE.UTF-8", TRUE);
  PlaitTestCall german = CALL ("inspect", "train");
  g_setenv ("LC_ALL", "C", TRUE);
  PlaitTestCall c = CALL ("inspect", "train");
  CHECK_STRING (german.output, plain.output);
  CHECK_STRING (c.output, plain.output);
}

static const char *const small = "[data]\ngenerate=agreement\nvocabulary_type=words\n"
                                 "generate.train=32\ngenerate.validation=4\ngenerate.test=8\n" SMALL_SOURCE ("a")
                                     TINY_DECODER "[train]\nepochs=100000\nbatch=8\n";

/* Interrupts a run during training and returns its exit code. */
static int
interrupt_run (void)
{
  PlaitTestProcess process;

  plait_test_write ("small.ini", small);
  process
      = plait_test_call_begin ((const char *[]){ "run", "small.ini", "--quiet", "--log", "small.jsonl", NULL }, NULL);
  for (guint i = 0; i < 3000 && plait_test_size ("small.jsonl") <= 0; i++)
    g_usleep (10000);
  kill (process.process, SIGINT);
  PlaitTestCall call = plait_test_call_end (&process);
  return call.code;
}

/* Calls a command that should end with the exit code @code, and returns its exit code. */
static int
end_with (int code)
{
  PlaitTestCall call = { 0 };

  switch (code)
    {
    case PLAIT_EXIT_DONE:
      call = CALL ("plugins");
      return call.code;
    case PLAIT_EXIT_FAILED:
      plait_test_write ("not-whole.h5", "no such file of plait");
      call = CALL ("verify", "not-whole.h5");
      return call.code;
    case PLAIT_EXIT_USAGE:
      call = CALL ("plugins", "--no-such-option");
      return call.code;
    case PLAIT_EXIT_INTERRUPTED:
      return interrupt_run ();
    default:
      return -1; /* no command is known that gives this code */
    }
}

TEST_CASE (command, every_exit_code_is_told_and_reached)
{
  const char *path = plait_test_source_path ("README.md");
  g_autofree char *readme = NULL;
  PlaitTestCall help = CALL ("--help");
  PlaitTestCall manual = CALL ("help", "--man");
  const char *in_help = strstr (help.output, "\nExit codes:\n");
  const char *in_manual = strstr (manual.output, ".SH \"EXIT STATUS\"\n");
  guint n = 0;

  REQUIRE (g_file_get_contents (path, &readme, NULL, NULL) && in_help && in_manual);
  for (const PlaitExitCode *exit = plait_exit_codes; exit->summary; exit++, n++)
    {
      CONTEXT ("%d", exit->code);
      g_autofree char *tag
          = g_strdup_printf ("\n.TP\n%d\n%c%s", exit->code, g_ascii_toupper (exit->summary[0]), exit->summary + 1);

      CHECK_CONTAINS (readme, plait_test_format ("\n| %d | %s", exit->code, exit->summary));
      CHECK_CONTAINS (in_help, plait_test_format ("\n  %d ", exit->code));
      CHECK_CONTAINS (in_help, exit->summary);
      CHECK_CONTAINS (in_manual, tag);
      CHECK_INT (end_with (exit->code), exit->code);
    }
  CHECK_INT (n, 4);
}

/* Replaces "~" in the value of an option, where a shell does not. */
TEST_CASE (command, a_tilde_behind_an_option_is_the_own_folder)
{
  const char *path = plait_test_path ("out.trees");

  plait_test_write ("in.trees", "(S (A a) (B b))\n");
  g_setenv ("HOME", plait_test_folder (), TRUE);
  DONE (CALL ("trees", "--convert", "in.trees", "--to", "triples", "--output=~/out.trees"));
  CHECK_REFUSED (CALL ("trees", "--convert", "in.trees", "--to", "triples", "-o", "~no-such-user/a.txt"),
                 "~no-such-user: there is no user no-such-user");
  CHECK_REFUSED (CALL ("translate", "run.h5", "--source", "en=~no-such-user/a.txt"),
                 "~no-such-user: there is no user no-such-user");

  const char *text = plait_test_read_text (path);
  CHECK_CONTAINS (text, "[1,2,");
}
