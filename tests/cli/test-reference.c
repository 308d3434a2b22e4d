/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

/* Tests that the manual page and completion have all options of --help, and tests of plait in a shell. */

/* Returns the names of the commands that plait --help lists. (transfer full) */
static GPtrArray *
commands (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  PlaitTestCall help = CALL ("--help");
  const char *list = strstr (help.output, "Commands:\n");
  g_auto (GStrv) lines = g_strsplit (list ? list : "", "\n", -1);

  for (guint i = 1; lines[0] && lines[i] && *lines[i] != '\0'; i++)
    if (strncmp (lines[i], "  ", 2) == 0 && lines[i][2] != ' ')
      g_ptr_array_add (names, g_strndup (lines[i] + 2, strcspn (lines[i] + 2, " ")));
  return names;
}

/* Returns @text from @begin to the next @end, or to the end of @text; "" if @begin is missing. (transfer full) */
static char *
part_of (const char *text, const char *begin, const char *end)
{
  const char *first = strstr (text, begin);
  const char *last = first ? strstr (first + strlen (begin), end) : NULL;

  return !first ? g_strdup ("") : last ? g_strndup (first, (gsize)(last - first)) : g_strdup (first);
}

/* Returns "--set" for a line "  -s, --set=G.K=V  Set a key"; NULL for other lines. (transfer full) */
static char *
option_of (const char *line)
{
  const char *option = strstr (line, "--");

  if (strncmp (line, "  -", 3) != 0 || !option || option - line > 6)
    return NULL;
  return g_strndup (option, strcspn (option, "= "));
}

/* Runs the shell line @line in the test's folder, with this build's plait in PATH, and returns its output. */
static const char *
shell (const char *line)
{
  return plait_test_call_shell (plait_test_format ("PATH=${PLAIT%%/*}:$PATH; %s", line)).output;
}

/* Returns bash's completions of the last word of the command line @words. */
static const char *
answer (const char *words)
{
  return shell (plait_test_format ("source ./plait.bash; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                                   "_plait; printf '%%s ' \"${COMPREPLY[@]}\"",
                                   words));
}

/* Returns the option specifications that completion gives to zsh's _arguments for the command @name. */
static const char *
zsh_options (const char *name)
{
  return shell (plait_test_format ("cat > list.zsh <<'END'\n_describe () { }\n_arguments () { print -rl -- $@ }\n"
                                   "CURRENT=3; words=(plait %s '')\n. ./_plait\nEND\nzsh -f list.zsh 2>&1",
                                   name));
}

TEST_CASE (reference, has_every_option_of_help)
{
  PlaitTestCall manual = DONE (CALL ("help", "--man"));
  PlaitTestCall bash = DONE (CALL ("help", "--bash"));
  PlaitTestCall zsh = DONE (CALL ("help", "--zsh"));
  g_autoptr (GPtrArray) names = commands ();
  g_autofree char *has_zsh = g_find_program_in_path ("zsh");
  guint n = 0;

  plait_test_write ("plait.bash", bash.output);
  plait_test_write ("_plait", zsh.output);
  CHECK (names->len > 15);
  for (guint c = 0; c < names->len; c++)
    {
      const char *name = names->pdata[c];
      PlaitTestCall help = CALL (name, "--help");
      g_autofree char *of_manual = part_of (manual.output, plait_test_format (".SS plait %s\n", name), "\n.SS ");
      const char *of_bash = answer (plait_test_format ("plait %s -", name));
      const char *of_zsh = has_zsh ? zsh_options (name) : NULL;
      g_auto (GStrv) lines = g_strsplit (help.output, "\n", -1);

      CONTEXT ("%s", name);
      for (guint l = 0; lines[l]; l++)
        {
          g_autofree char *option = option_of (lines[l]);

          if (!option)
            continue;
          g_auto (GStrv) parts = g_strsplit (option, "-", -1);
          g_autofree char *in_roff = g_strjoinv ("\\-", parts);

          CONTEXT ("%s", option);
          CHECK_CONTAINS (of_manual, in_roff);
          CHECK_CONTAINS (of_bash, option);
          if (has_zsh)
            CHECK_CONTAINS (of_zsh, option);
          n++;
        }
    }
  CHECK (n > 100);
}

static const char first[] = "[data]\ngenerate=agreement\ntest2.a=text\n[source a]\nencoder=transformer\n";

TEST_CASE (reference, bash_completes)
{
  const struct
  {
    const char *words;
    const char *answer;
  } cases[] = {
    { "plait expl", "explain " },
    { "plait expo", "export " },
    { "plait run --out", "--output " },
    { "plait export run.h5 --checkpoint ''", "best last average " },
    { "plait export run.h5 --checkpoint = l", "last " },
    { "plait export run.h5 -c a", "average " },
    { "plait run first.ini --set decoder.comb", "decoder.combiner= " },
    { "plait run first.ini --set = decoder.comb", "decoder.combiner= " },
    { "plait run first.ini --set decoder.combiner = fl", "flat " },
    { "plait run first.ini --set = decoder.combiner = fl", "flat " },
    { "plait run first.ini --set decoder.combiner =", "descent flat group hierarchical parallel serial " },
    { "plait run first.ini -s combiner.context_h", "combiner.context_heads= " },
    { "plait run first.ini --set combiner.context_dropout = ''", "attention none " },
    { "plait run first.ini --set combiner.sentinel = ''", "true false " },
    { "plait run first.ini --set coverage.reset = ''", "before after " },
    { "plait run first.ini --set decoder.layers = ''", " " },
    { "plait run first.ini --set source.a.feed", "source.a.feed_forward= source.a.feed_forward_dropout= " },
    { "plait run first.ini --set source.a.encoder = tree-", "tree-gru tree-lstm " },
    { "plait run first.ini --set source.b.feed", " " },
    { "plait run gone.ini --set decoder.comb", "decoder.combiner= " },
    { "plait run first.ini --set data.generate.n", "data.generate.nouns= " },
    { "plait run first.ini --set data.generate = agr", "agreement " },
    { "plait run first.ini --set data.folder = plait.b", "plait.bash " },
    { "plait run first.ini --set data.test2.a = plait.b", "plait.bash " },
    { "plait translate run.h5 -s en = plait.b", "plait.bash " },
    { "plait run plait.b", "plait.bash " },
    { "plait run first.ini --output = plait.b", "plait.bash " },
    { "plait translate run.h5 --source en = plait.b", "plait.bash " },
    { "plait run first.ini --threads ''", " " },
    { "plait help verif", "verify " },
    { "plait inspect hierarch", "hierarchical " },
    { "plait inspect decode", "decoder decode decoders " },
  };

  PlaitTestCall completion = CALL ("help", "--bash");

  plait_test_write ("plait.bash", completion.output);
  plait_test_write ("first.ini", first);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *said = answer (cases[i].words);

      CONTEXT ("%s", cases[i].words);
      CHECK_STRING (said, cases[i].answer);
    }
}

/* Returns zsh's completions of @word after --set. Functions of zsh are replaced by stubs. */
static const char *
zsh_answer (const char *word)
{
  g_autofree char *line = g_strdup_printf (
      "cat > ask.zsh <<'END'\n"
      "compset () { [[ $PREFIX = *=* ]] || return 1; IPREFIX+=${PREFIX%%%%=*}=; PREFIX=${PREFIX#*=} }\n"
      "compadd () { [[ $1 = -a ]] && print -r -- ${(P)2} || print -r -- ${(M)@[4,-1]:#$PREFIX*} }\n"
      "_files () { print files }\n_describe () { }\n_arguments () { }\n"
      "CURRENT=2; words=(plait run)\n. ./_plait\n"
      "words=(run first.ini --set '%s'); PREFIX='%s'; IPREFIX=\n_plait_keys\n"
      "END\nzsh -f ask.zsh 2>&1",
      word, word);

  return shell (line);
}

TEST_CASE (reference, zsh_completes_settings)
{
  const struct
  {
    const char *word;
    const char *answer;
  } cases[] = {
    { "decoder.comb", "decoder.combiner\n" },
    { "decoder.combiner=", "descent flat group hierarchical parallel serial\n" },
    { "combiner.context_h", "combiner.context_heads\n" },
    { "combiner.context_dropout=", "attention none\n" },
    { "source.a.feed", "source.a.feed_forward source.a.feed_forward_dropout\n" },
    { "data.folder=", "files\n" },
    { "data.test2.a=te", "files\n" },
  };
  g_autofree char *program = g_find_program_in_path ("zsh");
  PlaitTestCall completion = CALL ("help", "--zsh");

  if (!program)
    SKIP_TEST ("zsh is not installed");
  plait_test_write ("_plait", completion.output);
  plait_test_write ("first.ini", first);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *said = zsh_answer (cases[i].word);

      CONTEXT ("%s", cases[i].word);
      CHECK_STRING (said, cases[i].answer);
    }
}

/* zsh completes the words of a choice, and files and folders for a path, for both names of an option, of one letter and
 * long. Brackets in a help text are escaped. */
TEST_CASE (reference, zsh_knows_what_options_take)
{
  g_autofree char *program = g_find_program_in_path ("zsh");
  PlaitTestCall completion = CALL ("help", "--zsh");

  if (!program)
    SKIP_TEST ("zsh is not installed");
  plait_test_write ("_plait", completion.output);
  const char *translate = zsh_options ("translate"), *grid = zsh_options ("grid"), *check = zsh_options ("check");
  CHECK_CONTAINS (translate,
                  "\n*--checkpoint=[Parameters to use; default\\: best, else last]:value:(best last average)\n"
                  "*-c+[Parameters to use; default\\: best, else last]:value:(best last average)\n");
  CHECK_CONTAINS (translate, "\n*--output=[Output file; default\\: standard output]:FILE:_files\n"
                             "*-o+[Output file; default\\: standard output]:FILE:_files\n");
  CHECK_CONTAINS (translate,
                  "\n*--set=[Change a key of \\[decode\\], data.empty or data.too_long]:G.K=V:_plait_keys\n");
  CHECK_CONTAINS (translate, "\n--force[Replace existing files instead of failing]\n");
  CHECK_CONTAINS (translate, "\n*:argument:_files\n");
  CHECK_CONTAINS (grid, "]:FOLDER:_files -/\n");
  CHECK_CONTAINS (check, "\n*:argument:_plait_names\n");
}

/* zsh, mandoc and man, if they are installed, find no faults in the completion and the manual pages. */
TEST_CASE (reference, checkers_find_nothing)
{
  PlaitTestCall zsh = CALL ("help", "--zsh");
  PlaitTestCall manual = CALL ("help", "--man");
  PlaitTestCall keys = CALL ("inspect", "keys", "--format", "man");
  const struct
  {
    const char *program;
    const char *line;
  } checkers[] = {
    { "zsh", "zsh -f -n _plait 2>&1" },
    { "mandoc", "mandoc -T lint -W warning plait.1 plait-keys.5" },
    { "man", "MANROFFSEQ= LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Z plait.1 plait-keys.5 2>&1 >/dev/null" },
  };

  CHECK_CONTAINS (manual.output, ".SH \"EXIT STATUS\"");
  plait_test_write ("plait.1", manual.output);
  plait_test_write ("plait-keys.5", keys.output);
  plait_test_write ("_plait", zsh.output);
  for (guint i = 0; i < G_N_ELEMENTS (checkers); i++)
    {
      g_autofree char *found = g_find_program_in_path (checkers[i].program);
      if (!found)
        continue;
      CHECK_STRING (shell (checkers[i].line), "");
    }
}

/* plait works if the home folder is missing, is not writable or is not named by a variable, as for a system service. */
TEST_CASE (reference, no_home_is_needed)
{
  static const char *const homes[] = { "export HOME=/nonexistent", "export HOME=/proc", "unset HOME" };

  plait_test_write ("small.ini", "[data]\ngenerate=agreement\nvocabulary_type=words\n"
                                 "generate.train=32\ngenerate.validation=4\ngenerate.test=8\n" SMALL_SOURCE ("a")
                                     TINY_DECODER "[train]\nupdates=1\n");
  for (guint i = 0; i < G_N_ELEMENTS (homes); i++)
    {
      g_autofree char *line = g_strdup_printf (
          "unset XDG_DATA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME; %s; "
          "plait plugins > /dev/null && plait inspect hierarchical > /dev/null && "
          "plait generate agreement --set train=4 --set validation=2 --set test=2 --output made --force > /dev/null && "
          "plait run small.ini --quiet --force > /dev/null && plait show small.h5 > /dev/null && echo done",
          homes[i]);
      const char *said = shell (line);

      CONTEXT ("%s", homes[i]);
      CHECK_STRING (said, "done\n");
    }
}
