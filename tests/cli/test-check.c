/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

/* Tests of plait check for experiments and plugins. tests/workbench/contract tests the contract of plugins;
 * tests/plugin/outside.py tests plugins that break it. */

TEST_CASE (check_command, prints_a_line_a_property)
{
  PlaitTestCall call = QUIET (CALL ("check", "word", "--property", "missing", "--property", "structure"));

  CHECK (g_str_has_prefix (call.output, "coverage/word  "));
  CHECK_CONTAINS (call.output, "\n  structure  not applicable  only encoders give memories\n");
  CHECK_CONTAINS (call.output, "\n  missing    passed          in 9 models\n");
  CHECK_CONTAINS (call.output, "\n1 passed, 0 failed, 1 not applicable\n");
}

TEST_CASE (check_command, prints_json)
{
  PlaitTestCall call = DONE (CALL ("check", "encoder/features", "--property", "batches", "--json"));

  CHECK_CONTAINS (call.output, "\"kind\": \"encoder\"");
  CHECK_CONTAINS (call.output, "\"name\": \"batches\"");
  CHECK_CONTAINS (call.output, "\"outcome\": \"passed\"");
  CHECK_CONTAINS (call.output, "\"failed\": 0");
  CHECK (!strstr (call.output, "gradients"));
}

TEST_CASE (check_command, refuses)
{
  CHECK_REFUSED (CALL ("check"), "an argument is missing; usage: plait check FILE.ini");
  CHECK_REFUSED (CALL ("check", "serail"), "there is no plugin \"serail\"; did you mean \"serial\"?");
  CHECK_REFUSED (CALL ("check", "train"), "there is no plugin \"train\"");
  CHECK_REFUSED (CALL ("check", "coverage/serial"), "there is no plugin \"coverage/serial\"");
  CHECK_REFUSED (CALL ("check", "serial", "--property", "gradient"),
                 "\"gradient\" is not a property; did you mean \"gradients\"?");
  CHECK_REFUSED (CALL ("check", "serial", "--property", "colour"),
                 "\"colour\" is not a property; expected one of structure, runs, ");
  CHECK_REFUSED (CALL ("check", "serial", "--seconds", "0"), "--seconds");
  CHECK_REFUSED (CALL ("check", "serial", "--seconds", "soon"), "--seconds");
  CHECK_REFUSED (CALL ("check", "serial", "--set", "train.epochs=1"),
                 "--set and --unset are for experiment files, but serial is not one");
  CHECK_REFUSED (CALL ("check", "some.ini", "--seconds", "1"), "are for plugins, but some.ini is an experiment file");
}

/* Writes a combiner plugin whose module is not a library. */
static void
write_broken (void)
{
  plait_test_make_folder ("broken/combiner");
  plait_test_write ("broken/combiner/broken.ini",
                    "[plugin]\nname=broken\nkind=combiner\ninterface=2\nsummary=Broken\n");
  plait_test_write ("broken/combiner/broken.so", "this is not a shared library");
}

static const char mistaken[] = "[data]\n"                /* line 1 */
                               "target=c\n"              /* line 2 */
                               "vocabulary_type=words\n" /* line 3 */
                               "train.a=mistaken.a\n"    /* line 4 */
                               "train.c=mistaken.c\n"    /* line 5 */
                               "test.a=nowhere.a\n"      /* line 6 */
                               "test.c=mistaken.c\n"     /* line 7 */
                               "[source a]\n"            /* line 8 */
                               "encoder=transformer\n"   /* line 9 */
                               "layerz=1\n"              /* line 10 */
                               "[decoder]\n"             /* line 11 */
                               "combiner=broken\n"       /* line 12 */
                               "[train]\n"               /* line 13 */
                               "epochs=-3\n"             /* line 14 */
                               "metric=blue\n"           /* line 15 */
                               "[evaluate]\n"            /* line 16 */
                               "metrics=blue\n"          /* line 17 */
                               "[colour]\n"              /* line 18 */
                               "[grid]\n"                /* line 19 */
                               "train.batch=8;none;0\n"; /* line 20 */

static PlaitTestCall
check_mistaken (const char *option)
{
  plait_test_write ("mistaken.a", "x\ny\nz\n");
  plait_test_write ("mistaken.c", "x\ny\n");
  plait_test_write ("mistaken.ini", mistaken);
  write_broken ();
  return plait_test_call_with_plugins ("broken", (const char *[]){ "check", "mistaken.ini", option, NULL });
}

TEST_CASE (check_command, tells_all_mistakes_of_an_experiment_at_once)
{
  static const char *const parts[] = {
    "mistaken.ini:5: [data] train.c: ",
    " has 2 lines, but train.a has 3",
    "mistaken.ini:6: [data] test.a: there is no file ",
    "mistaken.ini:10: [source a] layerz: no such key; did you mean \"layers\"?",
    "mistaken.ini:12: [decoder] combiner: ",
    "is not a shared library",
    "mistaken.ini:14: [train] epochs: the value \"-3\" is below the minimum",
    "mistaken.ini:17: [evaluate] metrics: ",
    "mistaken.ini:18: [colour]: no such group",
    "mistaken.ini:20: [train] batch: the value \"none\" is not an integer; give an integer from 1 to 100000000",
    "(in the cell train.batch=none)",
    "(in the cell train.batch=0)",
  };
  PlaitTestCall call = check_mistaken (NULL);

  CHECK_INT (call.code, 2);
  CHECK_STRING (call.errors, "error: mistaken.ini: 9 mistakes\n");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    CHECK_CONTAINS (call.output, parts[i]);
}

TEST_CASE (check_command, counts_trees_over_several_lines)
{
  static const char *const ends[] = { "", "(S\n  (A x))\n" };

  plait_test_write ("text", "x y\nz\n");
  plait_test_write ("trees.ini",
                    "[data]\ntrain.a=text\ntrain.a.trees=trees\ntrain.b=text\ntarget=b\n"
                    "vocabulary_type=words\n[source a]\nencoder=tree-lstm\nleaves=bigru\n[decoder]\nwidth=8\n");
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autofree char *trees = g_strconcat ("(S\n  (A x)\n  (B y))\n\n(C z)\n", ends[i], NULL);
      CONTEXT ("%s", ends[i]);

      plait_test_write ("trees", trees);
      PlaitTestCall call = CALL ("check", "trees.ini");
      CHECK_INT (call.code, i == 0 ? 0 : 2);
      if (i > 0)
        CHECK_CONTAINS (call.output, " has 3 trees, but train.a has 2;");
    }
}

/* Trees and word alignments must be well formed; trees of training only if no tuple may be dropped. */
TEST_CASE (check_command, reads_trees_and_alignments)
{
  plait_test_write ("text", "u v\nw\n");
  plait_test_write ("good.trees", "(S (A u) (B v))\n(A w)\n");
  plait_test_write ("bad.trees", "(S (A u) (B v))\n(S (A w)\n");
  plait_test_write ("links", "0-0\n0:0\n");
  plait_test_write ("parsed.ini", "[data]\ntarget=b\ntrain.a=text\ntrain.b=text\ntrain.a.trees=bad.trees\n"
                                  "test.a=text\ntest.b=text\ntest.a.trees=good.trees\n"
                                  "[source a]\nencoder=tree-lstm\nleaves=bigru\n" TINY_DECODER);
  PlaitTestCall train = CALL ("check", "parsed.ini");
  PlaitTestCall dropped = CALL ("check", "parsed.ini", "--set", "data.maximum_source_length=1");
  PlaitTestCall test
      = CALL ("check", "parsed.ini", "--set", "data.maximum_source_length=1", "--set", "data.test.a.trees=bad.trees");
  PlaitTestCall links
      = CALL ("check", "parsed.ini", "--set", "data.train.a.trees=good.trees", "--set", "data.test.a.alignment=links");

  CHECK_CONTAINS (train.output, "[data] train.a.trees: ");
  CHECK_CONTAINS (train.output, "bad.trees:2: 1 brackets are still open");
  CHECK_INT (dropped.code, 0);
  CHECK_CONTAINS (test.output, "[data] test.a.trees: ");
  CHECK_CONTAINS (test.output, "bad.trees:2: 1 brackets are still open");
  CHECK_CONTAINS (links.output, "links:2: \"0:0\" is not a link");
}

TEST_CASE (check_command, tells_mistakes_as_json)
{
  PlaitTestCall call = check_mistaken ("--json");

  CHECK_INT (call.code, 2);
  CHECK_CONTAINS (call.output, "\"mistakes\": 9");
  CHECK_CONTAINS (call.output, "\"place\": \"mistaken.ini:10\"");
  CHECK_CONTAINS (call.output, "\"line\": 10");
  CHECK_CONTAINS (call.output, "\"group\": \"source a\"");
  CHECK_CONTAINS (call.output, "\"key\": \"layerz\"");
}

static const char sound[] = "[data]\n"
                            "generate=agreement\n"
                            "vocabulary_type=words\n"
                            "[source a]\n"
                            "encoder=transformer\n"
                            "layers=1\n"
                            "[decoder]\n"
                            "layers=1\n"
                            "width=16\n"
                            "heads=2\n";

TEST_CASE (check_command, finds_none_in_a_sound_experiment)
{
  plait_test_write ("sound.ini", sound);
  PlaitTestCall one = DONE (CALL ("check", "sound.ini"));
  PlaitTestCall json = DONE (CALL ("check", "sound.ini", "--json", "--set", "train.epochs=2"));

  CHECK_STRING (one.output, "sound.ini: no mistake was found\n");
  CHECK_CONTAINS (json.output, "\"problems\": []");
}

/* An output plugin whose schema lists no decoders works with every decoder. */
TEST_CASE (check_command, finds_none_under_any_decoder)
{
  static const char *const decoders[]
      = { "decoder.type=convolutional", "decoder.type=gru", "decoder.type=lstm", "decoder.type=mingru" };

  plait_test_write ("sound.ini", sound);
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    {
      PlaitTestCall call = DONE (CALL ("check", "sound.ini", "--set", decoders[i]));

      CHECK_STRING (call.output, "sound.ini: no mistake was found\n");
    }
}

/* In a grid, an axis replaces the value that the group of the key gives. plait run ignores axes and uses the value of
 * the group, so plait check checks this value too. */
TEST_CASE (check_command, checks_what_axes_replace)
{
  g_autofree char *grid = g_strconcat (sound, "[grid]\nsource.a.heads=1;2\ntrain.epochs=1;2\n", NULL);

  plait_test_write ("small.ini", grid);
  DONE (CALL ("check", "small.ini"));
  PlaitTestCall wrong = CALL ("check", "small.ini", "--set", "source.a.heads=many", "--set", "train.epochs=-1", "--set",
                              "train.batch=9");

  CHECK_INT (wrong.code, 2);
  CHECK_CONTAINS (wrong.output, "[source a] heads: the value \"many\"");
  CHECK_CONTAINS (wrong.output, "[train] epochs: ");
  CHECK_CONTAINS (wrong.errors, "2 mistakes");
}

/* Applies --set and --unset in the order in which they are given. */
TEST_CASE (check_command, removes_keys)
{
  g_autofree char *started = g_strconcat (sound, "\n[train]\ninitialise=missing.h5\n", NULL);

  plait_test_write ("started.ini", started);
  plait_test_write ("sound.ini", sound);
  const struct
  {
    PlaitTestCall call;
    const char *mistake; /* part of the message about the only mistake */
  } wrong[] = {
    { CALL ("check", "started.ini"), "missing.h5 does not exist" },
    { CALL ("check", "started.ini", "--unset", "train.initialise", "--set", "train.initialise=other.h5"),
      "other.h5 does not exist" },
    { CALL ("check", "sound.ini", "--unset", "train.patience"),
      "--unset train.patience: the file has no key patience in [train]; leave the option out" },
    { CALL ("check", "sound.ini", "--unset", "train"), "--unset train: is not GROUP.KEY" },
    { CALL ("check", "sound.ini", "--unset", "source.a.encoder"), "encoder is missing" },
  };

  DONE (CALL ("check", "started.ini", "--unset", "train.initialise"));
  DONE (CALL ("check", "started.ini", "--set", "train.epochs=many", "--unset", "train.epochs",
              "--unset=train.initialise"));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      CHECK_INT (wrong[i].call.code, 2);
      CHECK_CONTAINS (wrong[i].call.output, wrong[i].mistake);
      CHECK_CONTAINS (wrong[i].call.errors, "1 mistake");
    }
}

/* --set cannot remove a key, neither as KEY nor as !KEY; --unset does. */
TEST_CASE (check_command, refuses_set_without_a_value)
{
  static const char *const wrong[] = { "train.epochs", "!train.initialise" };

  plait_test_write ("started.ini", plait_test_format ("%s\n[train]\ninitialise=missing.h5\n", sound));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      PlaitTestCall call = CALL ("check", "started.ini", "--set", wrong[i]);

      CHECK_INT (call.code, 2);
      CHECK_CONTAINS (call.errors, plait_test_format ("--set %s: is not GROUP.KEY=VALUE; write it like", wrong[i]));
    }
}

TEST_CASE (check_command, builds_the_models_of_all_cells)
{
  g_autofree char *grid = g_strconcat (sound, "[grid]\nsource.a.heads=2;3\n", NULL);

  plait_test_write ("heads.ini", grid);
  PlaitTestCall checked = CALL ("check", "heads.ini");
  PlaitTestCall run = CALL ("run", "heads.ini", "--set", "source.a.heads=3", "--output", "heads.h5");

  CHECK_INT (checked.code, 2);
  CHECK_CONTAINS (checked.output, "heads=3 do not divide the width of 16");
  CHECK_CONTAINS (checked.output, "(in the cell source.a.heads=3)");
  CHECK_INT (run.code, 2);
  CHECK_CONTAINS (run.errors, "heads=3 do not divide the width of 16");
  CHECK (!strstr (run.errors, "learning") && !strstr (run.errors, "generating"));
}

TEST_CASE (check_command, broken_modules_are_told_before_data_are_read)
{
  static const char *const commands[][5] = { { "run", "sound.ini", "--set", "decoder.combiner=broken" },
                                             { "run", "sound.ini", "--dry-run", "--set", "decoder.combiner=broken" } };

  plait_test_write ("sound.ini", sound);
  write_broken ();
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      const char *arguments[6] = { NULL };
      PlaitTestCall call = { 0 };

      memcpy (arguments, commands[i], sizeof commands[i]);
      call = plait_test_call_with_plugins ("broken", arguments);
      CHECK_INT (call.code, 2);
      CHECK_CONTAINS (call.errors, "--set decoder.combiner=broken: [decoder] combiner: ");
      CHECK (!strstr (call.errors, "generating") && !strstr (call.errors, "learning"));
    }
}

/* Comments out each line of a file in turn. plait check reports the missing line if it is required, and a mistake in
 * the last line unless the file cannot be parsed. */
TEST_CASE (check_command, survives_each_line_that_is_missing)
{
  static const struct
  {
    const char *line;
    const char *mistake; /* part of the mistake without the line; NULL: the line may be missing */
    gboolean unparsed;   /* TRUE: without the line, the file cannot be parsed */
  } lines[] = {
    { "[data]", "2: \"target=c\" is before the first group", TRUE },
    { "target=c", "1: [data]: target is missing" },
    { "vocabulary_type=words" },
    { "documents=a;c", "12: [source a] encoder: the encoder hat reads documents, but the stream a has no documents" },
    { "train.a=whole.a", "1: [data]: there is no file for train.a" },
    { "train.b=whole.b", "1: [data]: there is no file for train.b" },
    { "train.c=whole.a", "1: [data]: there is no file for train.c" },
    { "validation.a=whole.a", "1: [data]: there is no file for validation.a" },
    { "validation.b=whole.b", "1: [data]: there is no file for validation.b" },
    { "validation.c=whole.a", "17: [train] metric: needs validation text" },
    { "[source a]", "12: [data] encoder: no such key" },
    { "encoder=hat", "11: [source a]: encoder is missing" },
    { "leaves=transformer", "11: [source a] leaves: is missing" },
    { "[source b]", "15: the key encoder of [source a] is already in line 12", TRUE },
    { "encoder=transformer", "14: [source b]: encoder is missing" },
    { "[train]", "17: [source b] metric: no such key" },
    { "metric=bleu:unit=document" },
    { "patience=2" },
    { "[evaluate]", "20: [train] metrics: no such key" },
    { "metrics=bleu:unit=document" },
    { "[grid]", "22: [evaluate] train.learning_rate: no such key" },
    { "train.learning_rate=.1;.2", "21: [grid]: has no axis" },
  };

  plait_test_write ("whole.a", "x\n\ny\n\n");
  plait_test_write ("whole.b", "x\ny\n");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      CONTEXT ("without %s", lines[i].line);
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint k = 0; k < G_N_ELEMENTS (lines); k++)
        g_string_append_printf (text, "%s%s\n", k == i ? "#" : "", lines[k].line);
      plait_test_write ("part.ini", g_string_append (text, "[decode]\nbeam=0\n")->str);
      PlaitTestCall call = CALL ("check", "part.ini");
      CHECK_INT (call.code, 2);
      if (lines[i].mistake)
        CHECK_CONTAINS (call.output, plait_test_format ("part.ini:%s", lines[i].mistake));
      else
        CHECK_STRING (call.errors, "error: part.ini: 1 mistake\n");
      if (!lines[i].unparsed)
        CHECK_CONTAINS (call.output, "part.ini:24: [decode] beam: ");
    }
}

/* References that a metric cannot score are reported by every command that scores translations, before it trains or
 * searches. */
TEST_CASE (check_command, references_are_held_to_the_metrics)
{
  g_autoptr (GString) target = g_string_new ("x y\n");
  static const struct
  {
    const char *settings, *part;
  } cases[] = {
    { "evaluate.metrics=bleu;meteor", "[evaluate] metrics: |test.target:2: the reference of sentence 2 has 8999 bytes, "
                                      "more than the limit of 8192 bytes of METEOR" },
    { "train.metric=meteor", "[train] metric: |test.target:2: the reference of sentence 2" },
    { "evaluate.metrics=ter;rouge:type=L;chrf", NULL },
  };

  for (guint i = 0; i < 4500; i++)
    g_string_append (target, i > 0 ? " w" : "w");
  g_string_append (target, "\nx\n");
  plait_test_write ("test.target", target->str);
  plait_test_write ("test.a", "a b\na\nb\n");
  plait_test_write ("long.ini", "[data]\ntarget=target\nvocabulary_type=words\n"
                                "train.a=test.a\ntrain.target=test.a\ntest.a=test.a\ntest.target=test.target\n"
                                "validation.a=test.a\nvalidation.target=test.target\n" SMALL_SOURCE ("a") TINY_DECODER
                    "[train]\nupdates=1\nbatch=2\n"
                    "[decode]\nmaximum_length=3\n[evaluate]\nresamples=0\nattention=0\n"
                    "[grid]\nexperiment.seed=1;2\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].settings);
      PlaitTestCall check = CALL ("check", "long.ini", "--set", cases[i].settings);
      PlaitTestCall plan = CALL ("run", "long.ini", "--dry-run", "--set", cases[i].settings);

      CHECK_INT (check.code, cases[i].part ? 2 : 0);
      CHECK_INT (plan.code, cases[i].part ? 2 : 0);
      g_auto (GStrv) parts = g_strsplit (cases[i].part ? cases[i].part : "", "|", -1);
      for (guint k = 0; parts[k]; k++)
        {
          CHECK_CONTAINS (check.output, parts[k]);
          CHECK_CONTAINS (plan.errors, parts[k]);
        }
    }
  /* sentences of a document, which are scored together */
  PlaitTestCall documents
      = CALL ("check", "long.ini", "--set", "data.documents=a;target", "--set", "evaluate.metrics=meteor");
  CHECK_CONTAINS (documents.output, "test.target:1: the reference of sentence 1 has 900");
  PlaitTestCall grid = CALL ("grid", "long.ini", "-q", "--set", "evaluate.metrics=meteor");
  CHECK_REFUSED (grid, "test.target:2: the reference of sentence 2 has 8999 bytes");
  CHECK (!plait_test_exists ("long"));
  CHECK_REFUSED (CALL ("evaluate", "-r", "test.target", "-i", "test.a", "-m", "meteor"),
                 "test.target: the reference of sentence 2 has 8999 bytes");
  /* when the run is evaluated, before the search */
  DONE (CALL ("run", "long.ini", "-q"));
  PlaitTestCall test = CALL ("test", "long.h5", "--set", "evaluate.metrics=meteor");
  CHECK_REFUSED (test, "test: the reference of sentence 2 has 8999 bytes");
  CHECK (!strstr (test.errors, "searching"));
  /* a text that a task generates */
  plait_test_write ("made.ini", "[data]\ngenerate=copy\ngenerate.train=4\ngenerate.test=2\ngenerate.shortest=3000\n"
                                "generate.longest=3000\ntarget=target\nvocabulary_type=words\n" SMALL_SOURCE ("a")
                                    TINY_DECODER "[train]\nupdates=1\nbatch=1\n"
                                                 "[evaluate]\nmetrics=meteor\n");
  CHECK_REFUSED (CALL ("run", "made.ini", "--dry-run", "-q"), "test: the reference of sentence 1 has ");
}

/* A training step with 100,000 tokens takes minutes, so plait run --dry-run estimates its time instead of measuring
 * it. */
TEST_CASE (check_command, a_plan_estimates_what_takes_long)
{
  g_autoptr (GString) source = g_string_new ("a b\na\n");

  for (guint i = 0; i < 100000; i++)
    g_string_append (source, "a ");
  plait_test_write ("estimated.a", source->str);
  plait_test_write ("estimated.b", "x y\nx\nx\n");
  plait_test_write ("estimated.ini",
                    "[data]\ntarget=b\nvocabulary_type=words\ntrain.a=estimated.a\ntrain.b=estimated.b\n"
                    "validation.a=estimated.a\nvalidation.b=estimated.b\n" SMALL_SOURCE ("a") TINY_DECODER
                    "[train]\nbatch=2\n");
  PlaitTestCall plan = DONE (CALL ("run", "estimated.ini", "--dry-run", "-q"));
  PlaitTestCall json = CALL ("run", "estimated.ini", "--dry-run", "-q", "--json");
  PlaitTestCall shorter
      = CALL ("run", "estimated.ini", "--dry-run", "-q", "--json", "--set", "data.maximum_source_length=9");

  CHECK_CONTAINS (plan.output, "a step, estimated ");
  CHECK_CONTAINS (json.output, "\"step_is_estimated\": true");
  CHECK_CONTAINS (shorter.output, "\"step_is_estimated\": false");
}

/* The first rows of a long sentence are measured even if later tokens of it are masked. A sentence with word alignments
 * is not cut. */
TEST_CASE (check_command, a_plan_of_long_sentences_reads_only_rows_that_are_left)
{
  g_autoptr (GString) source = g_string_new ("a b\n"), links = g_string_new ("0-0\n");
  static const char *const cases[]
      = { "target=a\n[predict]\nkind=masked\n", "target=b\ntrain.b=cut.a\ntrain.a.alignment=cut.links\n" };

  for (guint i = 0; i < 4200; i++)
    {
      g_string_append (source, i % 3 > 0 ? "a " : "b ");
      g_string_append_printf (links, "%s%u-%u", i > 0 ? " " : "", i, i);
    }
  plait_test_write ("cut.a", source->str);
  plait_test_write ("cut.links", links->str);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i]);
      plait_test_write ("cut.ini", plait_test_format ("[data]\nvocabulary_type=words\ntrain.a=cut.a\n%s"
                                                      "%s%s[train]\nbatch=1\n",
                                                      cases[i], SMALL_SOURCE ("a"), TINY_DECODER));
      PlaitTestCall plan = DONE (CALL ("run", "cut.ini", "--dry-run", "-q"));

      CHECK_CONTAINS (plan.output, "a step, estimated ");
    }
}

/* Before a run learns a vocabulary, it reports each fault of its files once: numbers of lines and of trees, empty
 * lines, invalid UTF-8. */
TEST_CASE (check_command, a_run_finds_files_that_do_not_go_together_before_it_learns)
{
  static const char *const parts[]
      = { "[data] validation.b: ",  "odd.b has 3 lines, but validation.a has 2",
          "[data] test.b: ",        "bad.b:2: ",
          "[data] test2.a: ",       "blank.a:2: the line is empty; expected a sentence of a, since empty=error",
          "[data] test2.a.trees: ", "three.trees has 3 trees, but test2.b has 2" };

  plait_test_write ("even.a", "u v\nw\n");
  plait_test_write ("odd.b", "x\ny\nz\n");
  plait_test_write ("bad.b", "x\ny\xff\n");
  plait_test_write ("blank.a", "x\n \n");
  plait_test_write ("two.trees", "(S (A u) (B v))\n(A w)\n");
  plait_test_write ("three.trees", "(A x)\n(A y)\n(A z)\n");
  plait_test_write ("apart.ini",
                    "[data]\ntarget=b\nvocabulary_type=words\ntrain.a=even.a\ntrain.b=even.a\n"
                    "validation.a=even.a\nvalidation.b=odd.b\ntest.a=even.a\ntest.b=bad.b\n"
                    "test2.a=blank.a\ntest2.b=even.a\ntrain.a.trees=two.trees\nvalidation.a.trees=two.trees\n"
                    "test.a.trees=two.trees\ntest2.a.trees=three.trees\n"
                    "[source a]\nencoder=tree-lstm\nleaves=bigru\n" TINY_DECODER "[train]\nupdates=1\n");
  PlaitTestCall call = CALL ("run", "apart.ini");

  CHECK_INT (call.code, 2);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      CHECK_CONTAINS (call.errors, parts[i]);
      CHECK (strstr (call.errors, parts[i]) == g_strrstr (call.errors, parts[i]));
    }
  CHECK (!strstr (call.errors, "learning vocabulary"));
  PlaitTestCall check = CALL ("check", "apart.ini");
  CHECK_CONTAINS (check.errors, "4 mistakes");
  PlaitTestCall taken = CALL ("check", "apart.ini", "--set", "data.empty=missing");
  CHECK (!strstr (taken.output, "blank.a"));
}
