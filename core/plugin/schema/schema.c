/* SPDX-License-Identifier: MIT */
#include "schema/schema.h"

#include <string.h>

#include "files/key-file.h"
#include "text/number.h"
#include "text/separators.h"
#include "files/path.h"
#include "files/problems.h"

#define LONGEST_NAME 64
#define PARAMETER_PREFIX "parameter."

static const char *const kind_names[PLAIT_PLUGIN_KINDS + 1]
    = { "encoder", "combiner", "coverage", "output", "decoder", NULL };
static const char *const input_names[] = { "tokens", "features", "documents", NULL };
static const char *const structure_names[] = { "tree", "levels", "sentences", NULL };
static const char *const truths[] = { "true", "false", NULL };
static const char *const score_names[] = { "heads", "score", NULL };

static const char *const plugin_keys[] = { "name",    "kind",   "interface", "summary", "reference", "version",
                                           "licence", "author", "equations", "input",   "streams",   NULL };
static const char *const requires_keys[]
    = { "decoder", "attention", "structure", "memories", "leaves", "coverage", "target", NULL };
static const char *const provides_keys[] = { "structure", "attention", "summary", "words", NULL };
static const char *const parameter_keys[]
    = { "type", "default", "minimum", "maximum", "choices", "enum", "summary", "reference", NULL };

const char *
plait_plugin_kind_name (PlaitPluginKind kind)
{
  g_assert ((guint)kind < PLAIT_PLUGIN_KINDS);
  return kind_names[kind];
}

/* Returns the index of @name in @names, or -1. */
static gint
index_of (const char *name, const char *const *names)
{
  for (gint i = 0; names[i] != NULL; i++)
    if (g_str_equal (names[i], name))
      return i;
  return -1;
}

gboolean
plait_plugin_kind_from_name (const char *name, PlaitPluginKind *kind)
{
  gint index = index_of (name, kind_names);

  if (index < 0)
    return FALSE;
  *kind = (PlaitPluginKind)index;
  return TRUE;
}

const char *
plait_input_kind_name (PlaitInputKind kind)
{
  g_assert ((guint)kind + 1 < G_N_ELEMENTS (input_names));
  return input_names[kind];
}

char *
plait_structure_text (PlaitStructure structure)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; structure_names[i] != NULL; i++)
    if ((guint)structure & 1u << i)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", structure_names[i]);
  return g_strdup (text->len > 0 ? text->str : "nothing");
}

gboolean
plait_name_is_valid (const char *name)
{
  gsize length = strlen (name);

  if (length == 0 || length > LONGEST_NAME || !g_ascii_isalpha (*name))
    return FALSE;
  for (const char *p = name; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && *p != '-' && *p != '_')
      return FALSE;
  return TRUE;
}

/*
 * State of reading a schema.
 */

typedef struct
{
  PlaitKeyFile *file;
  PlaitProblems *problems;
  PlaitSchema *schema;
} Reader;

static void problem (const Reader *reader, const char *group, const char *key, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static void
problem (const Reader *reader, const char *group, const char *key, const char *format, ...)
{
  g_autofree char *index = plait_key_file_location (reader->file, group, key);
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *sentence = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  plait_problems_add (reader->problems, "%s: %s", index, sentence);
}

/* Returns the index of @name in @known. For an unknown name, returns -1 and reports "the name NAME is not WHAT" with
 * the nearest known name, or with all known names. @is_list: TRUE if @name is an item of a list. */
static gint
find_name (const Reader *reader, const char *group, const char *key, const char *what, const char *name,
           const char *const *known, gboolean is_list)
{
  gint index = index_of (name, known);

  if (index >= 0)
    return index;
  g_autofree char *remedy
      = is_list ? plait_item_remedy (name, known, ";", NULL) : plait_name_remedy (name, known, NULL);
  problem (reader, group, key, "the name \"%s\" is not %s; %s", name, what, remedy);
  return -1;
}

static gint
expect_name (const Reader *reader, const char *group, const char *key, const char *what, const char *name,
             const char *const *known)
{
  return find_name (reader, group, key, what, name, known, FALSE);
}

static gint
expect_item (const Reader *reader, const char *group, const char *key, const char *what, const char *name,
             const char *const *known)
{
  return find_name (reader, group, key, what, name, known, TRUE);
}

static void
check_keys (const Reader *reader, const char *group, const char *const *known)
{
  const char *const *keys = plait_key_file_keys (reader->file, group);
  g_autofree char *what = g_strdup_printf ("a key of [%s]", group);

  for (guint i = 0; keys[i] != NULL; i++)
    expect_name (reader, group, keys[i], what, keys[i], known);
}

/* Returns the value of @key, owned by the schema; NULL if it is missing. If the value has a control character,
 * or is empty without @may_be_empty, reports this and returns NULL. */
static const char *
text (const Reader *reader, const char *group, const char *key, gboolean may_be_empty)
{
  const char *value = plait_key_file_value (reader->file, group, key);

  if (!value)
    return NULL;
  for (const char *p = value; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      {
        problem (reader, group, key, "the value of %s holds the control character 0x%02x; give plain text on one line",
                 key, (guchar)*p);
        return NULL;
      }
  if (*value == '\0' && !may_be_empty)
    {
      problem (reader, group, key, "the value of %s is empty; give a value or drop the line", key);
      return NULL;
    }
  return g_string_chunk_insert (reader->schema->texts, value);
}

/* Returns the list at @key as "a;b", owned by the schema, or NULL if it is missing. */
static const char *
list (const Reader *reader, const char *group, const char *key)
{
  g_auto (GStrv) items = plait_key_file_list (reader->file, group, key);
  g_autofree char *joined = items ? g_strjoinv (";", items) : NULL;

  return joined ? g_string_chunk_insert (reader->schema->texts, joined) : NULL;
}

static const char *
required (const Reader *reader, const char *group, const char *key, const char *remedy)
{
  if (!plait_key_file_value (reader->file, group, key))
    {
      problem (reader, group, NULL, "[%s] has no key %s; add %s", group, key, remedy);
      return NULL;
    }
  return text (reader, group, key, FALSE);
}

/* Reads name and kind, which must agree with the path KIND/NAME.ini. */
static void
read_identity (const Reader *reader, const char *path)
{
  PlaitSchema *schema = reader->schema;
  g_autofree char *base = plait_path_stem (path, ".ini");
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *folder_name = g_path_get_basename (folder);
  const char *name = required (reader, "plugin", "name", "name= and the name of this file without .ini");
  const char *kind = required (reader, "plugin", "kind", "kind=encoder, combiner, coverage, output or decoder");
  gint index;

  if (name && !g_str_equal (name, base))
    problem (reader, "plugin", "name", "name=%s, but the file is called %s.ini; give both the same name", name, base);
  schema->name = g_string_chunk_insert (schema->texts, base);
  if (!plait_name_is_valid (base))
    problem (reader, "plugin", "name", "\"%s\" is not a valid name for a plugin; use " PLAIT_NAME_FORM, base);
  index = kind ? expect_name (reader, "plugin", "kind", "a kind of plugin", kind, kind_names) : -1;
  if (index < 0)
    return;
  schema->kind = (PlaitPluginKind)index;
  if (!g_str_equal (kind, folder_name))
    problem (reader, "plugin", "kind",
             "kind=%s, but the file lies in a folder called %s; move the file to a folder %s/", kind, folder_name,
             kind);
}

static void
read_interface (const Reader *reader)
{
  const char *interface = required (reader, "plugin", "interface", "interface=2");

  if (!interface)
    return;
  if (!plait_parse_integer (interface, &reader->schema->interface))
    problem (reader, "plugin", "interface", "interface=%s is not an integer; give interface=%d", interface,
             PLAIT_PLUGIN_INTERFACE);
  else if (reader->schema->interface != PLAIT_PLUGIN_INTERFACE)
    problem (reader, "plugin", "interface", "interface=%s, but this plait has interface %d; %s", interface,
             PLAIT_PLUGIN_INTERFACE,
             reader->schema->interface > PLAIT_PLUGIN_INTERFACE
                 ? "update plait, or take an older plugin"
                 : "take a newer plugin, or change this one as core/plugin/interface/plugin.h says");
}

static void
read_input (const Reader *reader)
{
  PlaitSchema *schema = reader->schema;
  const char *kind = plait_key_file_value (reader->file, "plugin", "kind"), *input;
  gint index;

  if (!kind || index_of (kind, kind_names) < 0)
    return;
  if (schema->kind != PLAIT_PLUGIN_ENCODER)
    {
      if (plait_key_file_value (reader->file, "plugin", "input"))
        problem (reader, "plugin", "input", "only an encoder has the key input; drop the line");
      return;
    }
  input = required (reader, "plugin", "input", "input=tokens, features or documents");
  index = input ? expect_name (reader, "plugin", "input", "an input of encoders", input, input_names) : -1;
  if (index >= 0)
    schema->input = (PlaitInputKind)index;
}

/* Reads the streams that an encoder needs besides its input. */
static void
read_streams (const Reader *reader)
{
  static const char *const known[] = { "trees", NULL };
  g_auto (GStrv) streams = plait_key_file_list (reader->file, "plugin", "streams");

  for (guint i = 0; streams && streams[i]; i++)
    expect_item (reader, "plugin", "streams", "a stream that an encoder can read", streams[i], known);
  reader->schema->reads_trees = streams && g_strv_contains ((const char *const *)streams, "trees");
  if (streams && reader->schema->kind != PLAIT_PLUGIN_ENCODER)
    problem (reader, "plugin", "streams", "only an encoder reads streams; drop the line");
  else if (reader->schema->reads_trees && reader->schema->input != PLAIT_INPUT_TOKENS)
    problem (reader, "plugin", "streams", "streams=trees needs input=tokens; give input=tokens, or drop streams=trees");
}

static void
read_plugin (const Reader *reader, const char *path)
{
  PlaitSchema *schema = reader->schema;

  check_keys (reader, "plugin", plugin_keys);
  read_identity (reader, path);
  read_interface (reader);
  read_input (reader);
  read_streams (reader);
  schema->summary = required (reader, "plugin", "summary", "summary= and one line that says what the plugin does");
  schema->reference = text (reader, "plugin", "reference", FALSE);
  schema->version = text (reader, "plugin", "version", FALSE);
  schema->licence = text (reader, "plugin", "licence", FALSE);
  schema->author = text (reader, "plugin", "author", FALSE);
  schema->equations = text (reader, "plugin", "equations", FALSE);
}

static PlaitStructure
read_structure (const Reader *reader, const char *group)
{
  g_auto (GStrv) names = plait_key_file_list (reader->file, group, "structure");
  guint structure = 0;

  for (guint i = 0; names && names[i]; i++)
    {
      gint index = expect_item (reader, group, "structure", "a structure of memories", names[i], structure_names);

      structure |= index < 0 ? 0 : 1u << index;
    }
  return (PlaitStructure)structure;
}

/* Returns 0 if [@group] @key is @values[0], 1 if it is @values[1], else -1. Reports any other value. If @applies is
 * FALSE, reports a key that is present, with the reason @elsewhere. */
static gint
read_choice (const Reader *reader, const char *group, const char *key, const char *const *values, gboolean applies,
             const char *elsewhere)
{
  const char *value = plait_key_file_value (reader->file, group, key);

  if (!value)
    return -1;
  if (index_of (value, values) < 0)
    problem (reader, group, key, "the value \"%s\" is neither %s nor %s; write one of these two", value, values[0],
             values[1]);
  if (!applies)
    problem (reader, group, key, "this key does not apply: %s; drop the key", elsewhere);
  return index_of (value, values);
}

/* TRUE if [@group] has @key. Reports any value except @only. If @applies is FALSE, reports a key that is present,
 * with the reason @elsewhere. */
static gboolean
read_mark (const Reader *reader, const char *group, const char *key, const char *only, gboolean applies,
           const char *elsewhere)
{
  const char *value = plait_key_file_value (reader->file, group, key);

  if (value && !g_str_equal (value, only))
    problem (reader, group, key, "\"%s\" is not a value of %s; write %s=%s, or drop the key", value, key, key, only);
  if (value && !applies)
    problem (reader, group, key, "this key does not apply: %s; drop the key", elsewhere);
  return value != NULL;
}

static gboolean
is_name (const char *text, gconstpointer data)
{
  return plait_name_is_valid (text);
}

static void
check_decoder_name (const Reader *reader, const char *name)
{
  g_autofree char *mended = plait_separators_mend (name, ";", is_name, NULL);

  if (mended)
    problem (reader, "requires", "decoder", "\"%s\" is not the name of a decoder; did you mean \"%s\"?", name, mended);
  else if (!plait_name_is_valid (name))
    problem (reader, "requires", "decoder", "\"%s\" is not a valid name of a decoder; give names of decoder plugins",
             name);
}

static void
read_requires (const Reader *reader)
{
  static const char *const memories[] = { "all", "one", NULL };
  PlaitSchema *schema = reader->schema;
  gboolean encoder = schema->kind == PLAIT_PLUGIN_ENCODER, combiner = schema->kind == PLAIT_PLUGIN_COMBINER;
  g_auto (GStrv) decoders = plait_key_file_list (reader->file, "requires", "decoder");

  g_auto (GStrv) attentions = plait_key_file_list (reader->file, "requires", "attention");

  check_keys (reader, "requires", requires_keys);
  for (guint i = 0; decoders && decoders[i]; i++)
    check_decoder_name (reader, decoders[i]);
  for (guint i = 0; attentions && attentions[i]; i++)
    expect_item (reader, "requires", "attention", "an attention of decoders", attentions[i], score_names);
  if (decoders && decoders[0])
    schema->decoders = list (reader, "requires", "decoder");
  if (attentions && attentions[0])
    schema->attentions = list (reader, "requires", "attention");
  schema->requires_structure = read_structure (reader, "requires");
  schema->one_memory_is_enough
      = read_choice (reader, "requires", "memories", memories,
                     !encoder && schema->requires_structure != PLAIT_STRUCTURE_NONE,
                     "only a decoder, combiner, coverage or output that requires a structure has this key")
        == 1;
  schema->requires_leaves
      = read_choice (reader, "requires", "leaves", truths, encoder, "only an encoder can have an inner encoder") == 0;
  schema->refuses_coverage
      = read_mark (reader, "requires", "coverage", "none", combiner, "only a combiner can refuse a coverage");
  schema->requires_sentences = read_mark (reader, "requires", "target", "sentences", combiner,
                                          "only a combiner knows the sentences of a target");
}

/* Reads how the cross-attentions of a decoder score rows. */
static void
read_scores (const Reader *reader)
{
  const char *value = plait_key_file_value (reader->file, "provides", "attention");
  gint index = -1;

  if (!value)
    problem (reader, "provides", NULL, "[provides] has no key attention; add attention=heads or attention=score");
  else
    index = expect_name (reader, "provides", "attention", "an attention of decoders", value, score_names);
  if (index >= 0)
    reader->schema->scores = (PlaitCrossScores)index;
}

static void
read_provides (const Reader *reader)
{
  PlaitPluginKind kind = reader->schema->kind;

  check_keys (reader, "provides", provides_keys);
  if (plait_key_file_value (reader->file, "provides", "structure") && kind != PLAIT_PLUGIN_ENCODER)
    problem (reader, "provides", "structure", "only an encoder provides a structure; drop the key");
  if (kind == PLAIT_PLUGIN_DECODER)
    read_scores (reader);
  else if (plait_key_file_value (reader->file, "provides", "attention"))
    problem (reader, "provides", "attention", "only a decoder provides attention; drop the key");
  reader->schema->provides_structure = read_structure (reader, "provides");
  reader->schema->writes_own_words
      = read_mark (reader, "provides", "words", "own", kind == PLAIT_PLUGIN_OUTPUT, "only an output writes words");
  reader->schema->provides_summary = read_choice (reader, "provides", "summary", truths, kind == PLAIT_PLUGIN_ENCODER,
                                                  "only an encoder provides a summary")
                                     == 0;
}

/* TRUE if @name is a valid name without '-', because it names a field of Settings. settings.py refuses keywords of
 * C. */
static gboolean
is_parameter_name (const char *name)
{
  return plait_name_is_valid (name) && !strchr (name, '-');
}

static const PlaitSettingSpecification *
read_parameter (const Reader *reader, const char *group)
{
  PlaitSettingSpecification *parameter = g_new0 (PlaitSettingSpecification, 1);
  const char *name = group + strlen (PARAMETER_PREFIX);
  const char *type = required (reader, group, "type", "type=integer, real, boolean, text, choice or list");
  g_autoptr (GError) fault = NULL;
  gint index;

  check_keys (reader, group, parameter_keys);
  if (!is_parameter_name (name))
    problem (
        reader, group, NULL,
        "\"%s\" is not a valid name for a parameter; use up to 64 letters, digits and '_', beginning with a letter",
        name);
  parameter->name = g_string_chunk_insert (reader->schema->texts, name);
  parameter->summary = required (reader, group, "summary", "summary= and one line that says what the parameter means");
  parameter->reference = text (reader, group, "reference", FALSE);
  parameter->standard = text (reader, group, "default", TRUE);
  parameter->minimum = text (reader, group, "minimum", FALSE);
  parameter->maximum = text (reader, group, "maximum", FALSE);
  parameter->choices = list (reader, group, "choices");
  index = type ? expect_name (reader, group, "type", "a type", type, plait_setting_type_names) : -1;
  if (index < 0)
    return parameter;
  parameter->type = (PlaitSettingType)index;
  if (!plait_setting_check (parameter, &fault))
    problem (reader, group, NULL, "parameter %s: %s", name, fault->message);
  return parameter;
}

static void
read_groups (const Reader *reader, GPtrArray *parameters)
{
  static const char *const known[] = { "plugin", "requires", "provides", "parameter.NAME", NULL };
  const char *const *groups = plait_key_file_groups (reader->file);

  for (guint i = 0; groups[i] != NULL; i++)
    if (g_str_has_prefix (groups[i], PARAMETER_PREFIX))
      g_ptr_array_add (parameters, (gpointer)read_parameter (reader, groups[i]));
    else
      expect_name (reader, groups[i], NULL, "a group of a schema", groups[i], known);
}

PlaitSchema *
plait_schema_read (const char *path, GError **error)
{
  g_autoptr (PlaitKeyFile) file = plait_key_file_load (path, error);
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitSchema) schema = NULL;
  g_autoptr (GPtrArray) parameters = g_ptr_array_new ();

  if (!file)
    {
      if (error && *error)
        (*error)->code = PLAIT_ERROR_PLUGIN;
      return NULL;
    }
  schema = g_new0 (PlaitSchema, 1);
  schema->texts = g_string_chunk_new (1024);
  schema->path = g_string_chunk_insert (schema->texts, path);

  Reader reader = { file, problems, schema };
  if (!plait_key_file_has_group (file, "plugin"))
    plait_problems_add (problems,
                        "%s: has no group [plugin], so it is not a schema; see the schemas of installed plugins", path);
  else
    {
      read_plugin (&reader, path);
      read_requires (&reader);
      read_provides (&reader);
      read_groups (&reader, parameters);
    }
  schema->n_parameters = parameters->len;
  schema->parameters
      = (const PlaitSettingSpecification *const *)g_ptr_array_free (g_steal_pointer (&parameters), FALSE);
  if (!plait_problems_report (problems, PLAIT_ERROR_PLUGIN, error))
    return NULL;
  return g_steal_pointer (&schema);
}

void
plait_schema_free (PlaitSchema *schema)
{
  if (!schema)
    return;
  for (guint i = 0; i < schema->n_parameters; i++)
    g_free ((gpointer)schema->parameters[i]);
  g_free ((gpointer)schema->parameters);
  g_string_chunk_free (schema->texts);
  g_free (schema);
}

/* TRUE if the list @names, such as "gru;lstm", has @name, or is NULL. */
static gboolean
contains (const char *names, const char *name)
{
  g_auto (GStrv) items = names ? g_strsplit (names, ";", -1) : NULL;

  return !items || g_strv_contains ((const char *const *)items, name);
}

gboolean
plait_schema_allows_decoder (const PlaitSchema *schema, const PlaitSchema *decoder)
{
  return contains (schema->decoders, decoder->name) && contains (schema->attentions, score_names[decoder->scores]);
}

const char *
plait_cross_scores_name (PlaitCrossScores scores)
{
  return score_names[scores];
}

const PlaitSettingSpecification *
plait_schema_parameter (const PlaitSchema *schema, const char *name)
{
  gint index = plait_setting_find (schema->parameters, schema->n_parameters, name);

  return index < 0 ? NULL : schema->parameters[index];
}
