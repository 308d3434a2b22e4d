/* SPDX-License-Identifier: MIT */
#include "faulty-plugin.h"

#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "loading/registry.h"
#include "schema/schema.h"

static const char sound[] = "[plugin]\n"                /* line 1 */
                            "name=example\n"            /* line 2 */
                            "kind=encoder\n"            /* line 3 */
                            "interface=2\n"             /* line 4 */
                            "summary=An example\n"      /* line 5 */
                            "input=tokens\n"            /* line 6 */
                            "[requires]\n"              /* line 7 */
                            "decoder=transformer;gru\n" /* line 8 */
                            "[provides]\n"              /* line 9 */
                            "structure=tree;levels\n"   /* line 10 */
                            "[parameter.heads]\n"       /* line 11 */
                            "type=integer\n"            /* line 12 */
                            "default=8\n"               /* line 13 */
                            "minimum=1\n"               /* line 14 */
                            "summary=Heads\n";          /* line 15 */

/* Returns the schema read from @text, as if it were the file encoder/example.ini. */
static PlaitSchema *
read_text (const char *text, GError **error)
{
  faulty_plugin_write (plait_test_folder (), "encoder/example.ini", text, -1);
  return plait_schema_read (plait_test_path ("encoder/example.ini"), error);
}

TEST_CASE (schema, a_sound_one)
{
  g_autoptr (PlaitSchema) schema = read_text (sound, NO_ERROR);

  REQUIRE (schema != NULL);
  CHECK_STRING (schema->name, "example");
  CHECK_INT (schema->kind, PLAIT_PLUGIN_ENCODER);
  CHECK_INT (schema->input, PLAIT_INPUT_TOKENS);
  CHECK_INT (schema->provides_structure, PLAIT_STRUCTURE_TREE | PLAIT_STRUCTURE_LEVELS);
  CHECK_INT (schema->requires_structure, PLAIT_STRUCTURE_NONE);
  CHECK (!schema->version);
  CHECK (plait_schema_allows_decoder (schema, &(PlaitSchema){ .name = "gru" }));
  CHECK (!plait_schema_allows_decoder (schema, &(PlaitSchema){ .name = "lstm" }));
  CHECK_INT (schema->n_parameters, 1);
  CHECK_STRING (plait_schema_parameter (schema, "heads")->minimum, "1");
  CHECK (!plait_schema_parameter (schema, "tails"));
}

TEST_CASE (schema, pipes_are_not_waited_for)
{
  const char *path = plait_test_path ("pipe.ini");
  GError *error = NULL;

  CHECK (mkfifo (path, 0600) == 0);
  CHECK (!plait_schema_read (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "pipe.ini: is not a regular file");
}

/* Returns the text of the sound schema with line @line (from 1) replaced by @replacement. */
static char *
spoil (guint line, const char *replacement)
{
  g_auto (GStrv) lines = g_strsplit (sound, "\n", -1);

  g_free (lines[line - 1]);
  lines[line - 1] = g_strdup (replacement);
  return g_strjoinv ("\n", lines);
}

TEST_CASE (schema, every_fault_has_its_place_and_remedy)
{
  static const struct
  {
    guint line;
    const char *replacement;
    const char *part;
  } cases[] = {
    { 1, "[plugni]", "example.ini: has no group [plugin], so it is not a schema" },
    { 2, "", "example.ini:1: [plugin] has no key name; add name=" },
    { 2, "name=other", "example.ini:2: name=other, but the file is called example.ini" },
    { 3, "kind=encodr", "example.ini:3: the name \"encodr\" is not a kind of plugin; did you mean \"encoder\"?" },
    { 3, "kind=combiner", "example.ini:3: kind=combiner, but the file lies in a folder called encoder" },
    { 3, "", "[plugin] has no key kind" },
    { 4, "interface=3", "example.ini:4: interface=3, but this plait has interface 2; update plait" },
    { 4, "interface=0", "example.ini:4: interface=0, but this plait has interface 2; take a newer plugin" },
    { 4, "interface=one", "example.ini:4: interface=one is not an integer" },
    { 5, "summary=", "example.ini:5: the value of summary is empty" },
    { 5, "summary=a\\tb", "example.ini:5: the value of summary holds the control character 0x09" },
    { 5, "sumary=An example",
      "example.ini:5: the name \"sumary\" is not a key of [plugin]; did you mean \"summary\"?" },
    { 6, "input=trees",
      "example.ini:6: the name \"trees\" is not an input of encoders; expected one of tokens, features, documents" },
    { 6, "", "[plugin] has no key input; add input=tokens, features or documents" },
    { 6, "input=tokens\nstreams=levels",
      "example.ini:7: the name \"levels\" is not a stream that an encoder can read; expected one of trees" },
    { 6, "input=features\nstreams=trees", "example.ini:7: streams=trees needs input=tokens" },
    { 7, "[require]", "example.ini:7: the name \"require\" is not a group of a schema; did you mean \"requires\"?" },
    { 8, "decoder=2gru", "example.ini:8: \"2gru\" is not a valid name of a decoder; give names of decoder plugins" },
    { 8, "attention=head",
      "example.ini:8: the name \"head\" is not an attention of decoders; did you mean \"heads\"?" },
    { 8, "decoder=transformer,gru",
      "\"transformer,gru\" is not the name of a decoder; did you mean \"transformer;gru\"?" },
    { 8, "decoders=gru", "example.ini:8: the name \"decoders\" is not a key of [requires]; did you mean \"decoder\"?" },
    { 8, "memories=one",
      "example.ini:8: this key does not apply: only a decoder, combiner, coverage or output that requires a structure "
      "has this key" },
    { 10, "structure=treee",
      "example.ini:10: the name \"treee\" is not a structure of memories; did you mean \"tree\"?" },
    { 11, "[parameter.two words]", "example.ini:11: \"two words\" is not a valid name for a parameter" },
    { 11, "[parameter.]", "example.ini:11: \"\" is not a valid name for a parameter" },
    { 12, "type=int", "example.ini:12: the name \"int\" is not a type" },
    { 12, "", "example.ini:11: [parameter.heads] has no key type" },
    { 13, "default=zero", "example.ini:11: parameter heads: default: the value \"zero\" is not an integer" },
    { 13, "default=0", "example.ini:11: parameter heads: default: the value \"0\" is below the minimum 1" },
    { 14, "minimum=one", "example.ini:11: parameter heads: the bound minimum=one is not an integer" },
    { 14, "choices=a;b", "example.ini:11: parameter heads: choices=a;b for a setting of type integer" },
    { 15, "", "example.ini:11: [parameter.heads] has no key summary" },
    { 15, "help=Heads", "example.ini:15: the name \"help\" is not a key of [parameter.heads]" },
    { 15, "summary=a\nsummary=b", "example.ini:16: " },
    { 15, "[plugin]", "example.ini:15: " },
    { 15, "no equals sign", "example.ini:15: " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("line %u: %s", cases[i].line, cases[i].replacement);
      g_autofree char *text = spoil (cases[i].line, cases[i].replacement);
      g_autoptr (GError) error = NULL;

      CHECK (!read_text (text, &error));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, cases[i].part);
    }
}

TEST_CASE (schema, all_faults_at_once)
{
  g_autoptr (GError) error = NULL;

  CHECK (!read_text ("[plugin]\nname=example\nkind=encoder\ninterface=7\ninput=words\nlicense=MIT\n", &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "example.ini:4: interface=7");
  CHECK_CONTAINS (error->message, "example.ini:5: the name \"words\"");
  CHECK_CONTAINS (error->message,
                  "example.ini:6: the name \"license\" is not a key of [plugin]; did you mean \"licence\"?");
  CHECK_CONTAINS (error->message, "has no key summary");
}

TEST_CASE (schema, what_only_encoders_have)
{
  static const char text[] = "[plugin]\nname=x\nkind=combiner\ninterface=2\nsummary=S\ninput=tokens\nstreams=trees\n"
                             "[provides]\nstructure=tree\n";
  g_autoptr (GError) error = NULL;

  faulty_plugin_write (plait_test_folder (), "combiner/x.ini", text, -1);
  CHECK (!plait_schema_read (plait_test_path ("combiner/x.ini"), &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "x.ini:6: only an encoder has the key input");
  CHECK_CONTAINS (error->message, "x.ini:7: only an encoder reads streams");
  CHECK_CONTAINS (error->message, "x.ini:9: only an encoder provides a structure");
}

/* Returns the schema of a combiner whose group [requires] has the lines @requires. */
static PlaitSchema *
read_combiner (const char *requires, GError **error)
{
  g_autofree char *text
      = g_strconcat ("[plugin]\nname=x\nkind=combiner\ninterface=2\nsummary=S\n[requires]\n", requires, NULL);

  faulty_plugin_write (plait_test_folder (), "combiner/x.ini", text, -1);
  return plait_schema_read (plait_test_path ("combiner/x.ini"), error);
}

TEST_CASE (schema, all_memories_or_one_of_them)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitSchema) unsaid = read_combiner ("structure=levels\n", NO_ERROR);
  g_autoptr (PlaitSchema) all = read_combiner ("structure=levels\nmemories=all\n", NO_ERROR);
  g_autoptr (PlaitSchema) one = read_combiner ("structure=levels\nmemories=one\n", NO_ERROR);

  REQUIRE (unsaid && all && one);
  CHECK (!unsaid->one_memory_is_enough);
  CHECK (!all->one_memory_is_enough);
  CHECK (one->one_memory_is_enough);
  CHECK (!read_combiner ("structure=levels\nmemories=two\n", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "x.ini:8: the value \"two\" is neither all nor one; write one of these two");
  g_clear_error (&error);
  CHECK (!read_combiner ("memories=one\n", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN,
               "x.ini:7: this key does not apply: only a decoder, combiner, coverage or output that requires a "
               "structure has this key");
}

TEST_CASE (schema, combiners_without_coverage)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitSchema) unsaid = read_combiner ("structure=levels\n", NO_ERROR);
  g_autoptr (PlaitSchema) without = read_combiner ("coverage=none\n", NO_ERROR);
  g_autofree char *text = spoil (8, "coverage=none");

  REQUIRE (unsaid && without);
  CHECK (!unsaid->refuses_coverage);
  CHECK (without->refuses_coverage);
  CHECK (!read_combiner ("coverage=word\n", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "x.ini:7: \"word\" is not a value of coverage; write coverage=none");
  g_clear_error (&error);
  CHECK (!read_text (text, &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN,
               "example.ini:8: this key does not apply: only a combiner can refuse a coverage");
}

TEST_CASE (schema, combiners_that_pair_sentences)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitSchema) unsaid = read_combiner ("coverage=none\n", NO_ERROR);
  g_autoptr (PlaitSchema) paired = read_combiner ("target=sentences\n", NO_ERROR);
  g_autofree char *text = spoil (8, "target=sentences");

  REQUIRE (unsaid && paired);
  CHECK (!unsaid->requires_sentences);
  CHECK (paired->requires_sentences);
  CHECK (!read_combiner ("target=words\n", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "x.ini:7: \"words\" is not a value of target; write target=sentences");
  g_clear_error (&error);
  CHECK (!read_text (text, &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN,
               "example.ini:8: this key does not apply: only a combiner knows the sentences of a target");
}

/* Returns the schema of a plugin of @kind whose group [provides] has the lines @provides. */
static PlaitSchema *
read_provider (const char *kind, const char *provides, GError **error)
{
  g_autofree char *name = g_strconcat (kind, "/x.ini", NULL);
  g_autofree char *text
      = g_strconcat ("[plugin]\nname=x\nkind=", kind, "\ninterface=2\nsummary=S\n[provides]\n", provides, NULL);

  faulty_plugin_write (plait_test_folder (), name, text, -1);
  return plait_schema_read (plait_test_path (name), error);
}

TEST_CASE (schema, outputs_that_write_own_words)
{
  static const struct
  {
    const char *kind, *provides, *expected;
  } bad[] = {
    { "output", "words=all\n", "x.ini:7: \"all\" is not a value of words; write words=own" },
    { "output", "structure=tree\n", "x.ini:7: only an encoder provides a structure; drop the key" },
    { "coverage", "words=own\n", "x.ini:7: this key does not apply: only an output writes words; drop the key" },
    { "coverage", "attention=heads\n", "x.ini:7: only a decoder provides attention; drop the key" },
    { "decoder", "", "[provides] has no key attention; add attention=heads or attention=score" },
    { "decoder", "attention=heds\n",
      "x.ini:7: the name \"heds\" is not an attention of decoders; did you mean \"heads\"?" },
  };
  g_autoptr (PlaitSchema) own = read_provider ("output", "words=own\n", NO_ERROR);
  g_autoptr (PlaitSchema) unsaid = read_provider ("output", "", NO_ERROR);

  REQUIRE (own && unsaid);
  CHECK (own->writes_own_words);
  CHECK (!unsaid->writes_own_words);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      CHECK (!read_provider (bad[i].kind, bad[i].provides, &error));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, bad[i].expected);
    }
}

/* The schemas of plait's own plugins name their equations, which plait explain prints. */
TEST_CASE (schema, those_of_plait_tell_their_equations)
{
  g_autoptr (PlaitRegistry) registry
      = plait_registry_new_for_folders ((const char *[]){ plait_test_build_path ("plugins"), NULL });

  CHECK (plait_registry_n_plugins (registry) >= 19);
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      const PlaitSchema *schema = plait_plugin_schema (plugin, NO_ERROR);

      CONTEXT ("%s", plugin->name);
      CHECK (schema && schema->equations);
    }
}

TEST_CASE (schema, files_that_are_none)
{
  g_autoptr (GError) error = NULL;

  CHECK (!plait_schema_read (plait_test_path ("encoder/nowhere.ini"), &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "nowhere.ini");
  CHECK (!read_text ("", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "has no group [plugin]");
  CHECK (!read_text ("[plugin]\nname=\xff\n", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "example.ini:2");
}

TEST_CASE (schema, names)
{
  CHECK (plait_name_is_valid ("bitree-gru"));
  CHECK (plait_name_is_valid ("a_1"));
  CHECK (!plait_name_is_valid (""));
  CHECK (!plait_name_is_valid ("1a"));
  CHECK (!plait_name_is_valid ("../a"));
  CHECK (!plait_name_is_valid ("a/b"));
  CHECK (!plait_name_is_valid ("a.so"));
  CHECK (!plait_name_is_valid ("é"));
  CHECK (!plait_name_is_valid ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
