/* SPDX-License-Identifier: MIT */
#include "run/export.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/memory.h"
#include "nn/feed-forward.h"
#include "nn/positions.h"
#include "store/ctranslate2.h"
#include "store/safetensors.h"

/* The files of a CTranslate2 model. */
#define MODEL "model.bin"
#define CONFIG "config.json"
#define SHARED "shared_vocabulary.json"
#define SOURCE "source_vocabulary.json"
#define TARGET "target_vocabulary.json"

gboolean
plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error)
{
  const PlaitParameters *parameters = plait_model_parameters (trained->system->model);
  guint n = plait_parameters_n (parameters);
  g_autofree PlaitNamedTensor *tensors = g_new (PlaitNamedTensor, n);
  g_autofree char *experiment = plait_store_get_string (trained->store, "/", "experiment", error);
  const char *const metadata[] = { "format", "plait", "version", PLAIT_VERSION, "experiment", experiment, NULL };

  if (!experiment)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);

      tensors[i] = (PlaitNamedTensor){ parameter->name, parameter->value };
    }
  return plait_safetensors_write (path, tensors, n, metadata, error);
}

/*
 * CTranslate2
 */

typedef struct
{
  const PlaitTrained *trained;
  const PlaitExperiment *experiment;
  const PlaitSettings *encoder;
  const char *source;
  gint64 asked;        /* positions of each side; 0: as its position_limit says */
  gint64 positions[2]; /* that are written of the source, and of the target */
  GArray *variables;   /* PlaitCtranslate2Variable */
  GPtrArray *memory;   /* their names, and the values of those that are no parameters */
  GHashTable *used;    /* of PlaitParameter */
  GError *fault;
} Export;

static void
export_clear (Export *export)
{
  g_array_unref (export->variables);
  g_ptr_array_unref (export->memory);
  g_hash_table_unref (export->used);
  g_clear_error (&export->fault);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Export, export_clear)

/*
 * Variables
 */

static void
add (Export *export, const char *scope, const char *name, PlaitCtranslate2Variable variable)
{
  char *whole = g_strconcat (scope, name, NULL);

  g_ptr_array_add (export->memory, whole);
  variable.name = whole;
  g_array_append_val (export->variables, variable);
}

static void
add_tensor (Export *export, const char *scope, const char *name, guint rank, PlaitTensor value, gboolean transposed)
{
  add (export, scope, name, (PlaitCtranslate2Variable){ .rank = rank, .value = value, .transposed = transposed });
}

static void
add_number (Export *export, const char *scope, const char *name, PlaitCtranslate2Type type, double number)
{
  add (export, scope, name, (PlaitCtranslate2Variable){ .type = type, .number = number });
}

/* The parameter PREFIX/NAME, which is noted to be exported, or NULL. */
static PlaitParameter *
find (Export *export, const char *prefix, const char *name)
{
  g_autofree char *whole = g_strconcat (prefix, name, NULL);
  PlaitParameter *parameter = plait_parameters_find (plait_model_parameters (export->trained->system->model), whole);

  if (parameter)
    g_hash_table_add (export->used, parameter);
  return parameter;
}

/* The same of one that has to be there. */
static PlaitTensor
take (Export *export, const char *prefix, const char *name)
{
  PlaitParameter *parameter = find (export, prefix, name);

  if (parameter)
    return parameter->value;
  if (!export->fault)
    plait_fail (&export->fault, PLAIT_ERROR_INPUT,
                "the run has no parameter %s%s, so it is no model that CTranslate2 has; export it as safetensors",
                prefix, name);
  return plait_tensor (NULL, 0, 0);
}

static void
add_linear (Export *export, const char *theirs, const char *ours)
{
  PlaitParameter *bias = find (export, ours, "/bias");

  add_tensor (export, theirs, "/weight", 2, take (export, ours, "/weight"), TRUE);
  if (bias)
    add_tensor (export, theirs, "/bias", 1, bias->value, FALSE);
}

static void
add_norm (Export *export, const char *theirs, const char *ours)
{
  add_tensor (export, theirs, "/gamma", 1, take (export, ours, "/gain"), FALSE);
  add_tensor (export, theirs, "/beta", 1, take (export, ours, "/bias"), FALSE);
}

static void
add_optional_norm (Export *export, const char *theirs, const char *ours)
{
  if (find (export, ours, "/gain"))
    add_norm (export, theirs, ours);
}

/* Sinusoids or zeros for @rows positions. */
static PlaitTensor
make_positions (Export *export, gint kind, gint64 rows)
{
  gint64 width = export->experiment->decoder.width;
  PlaitScalar *values
      = export->fault ? NULL
                      : plait_try_allocate ((gsize)(rows * width), sizeof (PlaitScalar), "positions", &export->fault);
  PlaitTensor table = plait_tensor (values, values ? rows : 0, values ? width : 0);

  if (!values)
    return table;
  g_ptr_array_add (export->memory, values);
  memset (values, 0, sizeof *values * (gsize)(rows * width));
  if (kind != PLAIT_POSITIONS_NONE)
    plait_positions_fill (table, (PlaitPositionKind)kind, 0);
  return table;
}

/* The table of positions: the learned one, or another as far as is asked for, or as learned ones would reach. Returns
 * its rows. */
static gint64
add_positions (Export *export, const char *scope, const char *ours, gint kind, gint64 limit)
{
  gint64 rows = export->asked > 0 ? export->asked : limit;
  PlaitTensor table;

  if (kind != PLAIT_POSITIONS_LEARNED)
    table = make_positions (export, kind, rows);
  else
    {
      table = take (export, ours, "/table");
      if (rows > table.rows && !export->fault)
        plait_fail (
            &export->fault, PLAIT_ERROR_INPUT,
            "its learned positions end after %jd, so %jd cannot be written; ask --positions for fewer, or leave it out",
            table.rows, rows);
      table.rows = MIN (rows, table.rows);
    }
  add_tensor (export, scope, "position_encodings/encodings", 2, table, FALSE);
  return table.rows;
}

/* What both sides have, below @scope; @activation is a place among those of feed-forward layers. */
static void
add_side (Export *export, const char *scope, gint64 heads, gint activation, gboolean pre_norm)
{
  static const gint their_activations[] = {
    [PLAIT_ACTIVATION_RELU] = 0,
    [PLAIT_ACTIVATION_GELU] = 3,
    [PLAIT_ACTIVATION_GELU_TANH] = 1,
    [PLAIT_ACTIVATION_SWISH] = 2,
  };
  const PlaitDecoderSettings *settings = &export->experiment->decoder;

  add_number (export, scope, "num_heads", PLAIT_CTRANSLATE2_INT16, (double)heads);
  add_number (export, scope, "activation", PLAIT_CTRANSLATE2_INT8,
              their_activations[plait_feed_forward_activation (activation)]);
  add_number (export, scope, "pre_norm", PLAIT_CTRANSLATE2_INT8, pre_norm);
  add_number (export, scope, "scale_embeddings", PLAIT_CTRANSLATE2_FLOAT32,
              settings->scale_embeddings ? sqrt ((double)settings->width) : 1);
}

/* Self-attention and feed-forward layer; the decoder has attention to the source between them, @cross. */
static void
add_layer (Export *export, const char *theirs, const char *ours, const char *cross)
{
  static const struct
  {
    const char *theirs, *ours;
    gboolean norm, crossed;
  } parts[] = {
    { "/self_attention/linear_0", "/self_attention/query_key_value" },
    { "/self_attention/linear_1", "/self_attention/output" },
    { "/ffn/linear_0", "/feed_forward/inner" },
    { "/ffn/linear_1", "/feed_forward/outer" },
    { "/self_attention/layer_norm", "/self_attention_norm", TRUE },
    { "/ffn/layer_norm", "/feed_forward_norm", TRUE },
    { "/attention/linear_0", "/query", FALSE, TRUE },
    { "/attention/linear_1", "/key_value", FALSE, TRUE },
    { "/attention/linear_2", "/output", FALSE, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *to = g_strconcat (theirs, parts[i].theirs, NULL);
      g_autofree char *from = g_strconcat (parts[i].crossed && cross ? cross : ours, parts[i].ours, NULL);

      if (!parts[i].crossed || cross)
        (parts[i].norm ? add_norm : add_linear) (export, to, from);
    }
}

/*
 * The model
 */

/* A number or choice of a plugin's parameters. */
static PlaitSettingValue
value_of (const PlaitSettings *parameters, const char *key)
{
  guint place = (guint)plait_settings_find (parameters, key);
  PlaitSettingValue value = { 0 };

  g_free (plait_setting_parse (plait_settings_specification (parameters, place),
                               plait_settings_text_at (parameters, place), &value, NULL));
  return value;
}

static void
add_encoder (Export *export)
{
  gboolean pre_norm = export->experiment->decoder.norm == PLAIT_NORM_PRE;
  gint64 layers = value_of (export->encoder, "layers").integer;
  g_autofree char *prefix = g_strdup_printf ("source/%s/", export->source);
  g_autofree char *positions = g_strconcat (prefix, "positions", NULL);
  g_autofree char *embedding_norm = g_strconcat (prefix, "embedding_norm", NULL);
  g_autofree char *norm = g_strconcat (prefix, "norm", NULL);

  if (!g_str_equal (plait_settings_text (export->encoder, "norm"), "decoder"))
    pre_norm = g_str_equal (plait_settings_text (export->encoder, "norm"), "pre");
  add_side (export, "encoder/", value_of (export->encoder, "heads").integer,
            value_of (export->encoder, "activation").choice, pre_norm);
  add_number (export, "encoder/", "embeddings_merge", PLAIT_CTRANSLATE2_INT8, 0);
  add_number (export, "encoder/", "multi_query_attention", PLAIT_CTRANSLATE2_INT8, 0);
  export->positions[0] = add_positions (export, "encoder/", positions, value_of (export->encoder, "positions").choice,
                                        value_of (export->encoder, "position_limit").integer);
  add_optional_norm (export, "encoder/layernorm_embedding", embedding_norm);
  add_optional_norm (export, "encoder/layer_norm", norm);
  for (gint64 i = 0; i < layers; i++)
    {
      g_autofree char *theirs = g_strdup_printf ("encoder/layer_%jd", i);
      g_autofree char *ours = g_strdup_printf ("%slayer/%jd", prefix, i);

      add_layer (export, theirs, ours, NULL);
    }
}

static void
add_decoder (Export *export)
{
  static const char *const off[]
      = { "alibi", "alibi_use_positive_positions", "scale_alibi", "start_from_zero_embedding" };
  const PlaitDecoderSettings *settings = &export->experiment->decoder;

  add_side (export, "decoder/", settings->heads, settings->activation, settings->norm == PLAIT_NORM_PRE);
  add_number (export, "decoder/", "alignment_heads", PLAIT_CTRANSLATE2_INT16, 1);
  add_number (export, "decoder/", "alignment_layer", PLAIT_CTRANSLATE2_INT16, -1);
  for (gsize i = 0; i < G_N_ELEMENTS (off); i++)
    add_number (export, "decoder/", off[i], PLAIT_CTRANSLATE2_INT8, 0);
  export->positions[1]
      = add_positions (export, "decoder/", "decoder/positions", settings->positions, settings->position_limit);
  add_optional_norm (export, "decoder/layernorm_embedding", "decoder/embedding_norm");
  add_optional_norm (export, "decoder/layer_norm", "decoder/norm");
  for (gint64 i = 0; i < settings->layers; i++)
    {
      g_autofree char *theirs = g_strdup_printf ("decoder/layer_%jd", i);
      g_autofree char *ours = g_strdup_printf ("decoder/layer/%jd", i);
      g_autofree char *cross = g_strdup_printf ("%s/combiner/attend/%s", ours, export->source);
      g_autofree char *norm = g_strdup_printf ("%s/combiner/normalise/0", ours);
      g_autofree char *their_norm = g_strconcat (theirs, "/attention/layer_norm", NULL);

      add_layer (export, theirs, ours, cross);
      add_norm (export, their_norm, norm);
    }
}

/* Embeddings and output; a table that serves twice stands there once. */
static void
add_words (Export *export)
{
  static const char source[] = "encoder/embeddings_0/weight", target[] = "decoder/embeddings/weight",
                    output[] = "decoder/projection/weight";
  const PlaitExperiment *experiment = export->experiment;
  const char *source_vocabulary = plait_experiment_vocabulary (experiment, experiment->sources[0].stream);
  const char *target_vocabulary = plait_experiment_vocabulary (experiment, experiment->data.target);
  gboolean shared = experiment->decoder.share_embeddings;
  g_autofree char *of_source = shared ? g_strdup_printf ("embedding/%s", source_vocabulary)
                                      : g_strdup_printf ("source/%s/embedding", export->source);
  g_autofree char *of_target
      = shared ? g_strdup_printf ("embedding/%s", target_vocabulary) : g_strdup ("decoder/embedding");
  PlaitParameter *bias = find (export, "decoder/output", "/bias");

  add_tensor (export, "", target, 2, take (export, of_target, "/table"), FALSE);
  if (g_str_equal (of_source, of_target))
    add (export, "", source, (PlaitCtranslate2Variable){ .same_as = target });
  else
    add_tensor (export, "", source, 2, take (export, of_source, "/table"), FALSE);
  if (experiment->decoder.tie_output)
    add (export, "", output, (PlaitCtranslate2Variable){ .same_as = target });
  else
    add_tensor (export, "", output, 2, take (export, "decoder/output", "/weight"), FALSE);
  if (bias)
    add_tensor (export, "decoder/projection", "/bias", 1, bias->value, FALSE);
}

/* Whether CTranslate2 has such a model, as far as keys say; the rest is found by parameters without a place. */
static gboolean
check (const PlaitExperiment *experiment, GError **error)
{
  static const char *const combiners[] = { "serial", "parallel", NULL };
  const char *what = NULL;

  if (experiment->n_sources != 1)
    what = "it reads several sources";
  else if (!experiment->combiner || experiment->decoder.type != PLAIT_DECODER_TRANSFORMER)
    what = "it has no decoder of type transformer";
  else if (!g_str_equal (experiment->sources[0].encoder->schema->name, "transformer"))
    what = "its encoder is not transformer";
  else if (!g_strv_contains (combiners, experiment->combiner->schema->name))
    what = "its combiner is neither serial nor parallel";
  else if (experiment->coverage)
    what = "it has coverage";
  else if (value_of (experiment->sources[0].encoder->parameters, "layers").integer == 0)
    what = "its encoder has no layers";
  else
    {
      gint64 heads = value_of (experiment->combiner->parameters, "heads").integer;

      if (heads != 0 && heads != experiment->decoder.heads)
        what = "its combiner has other heads than its decoder";
    }
  return !what
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "%s: CTranslate2 has no such model: %s; export it as safetensors, or a Transformer of one source",
             experiment->path, what);
}

/* Whether everything is there, and everything has been given a place. */
static gboolean
check_whole (Export *export, GError **error)
{
  const PlaitParameters *parameters = plait_model_parameters (export->trained->system->model);

  for (guint i = 0; i < plait_parameters_n (parameters) && !export->fault; i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      if (!g_hash_table_contains (export->used, parameter))
        plait_fail (&export->fault, PLAIT_ERROR_INPUT, "CTranslate2 has no place for %s; export the run as safetensors",
                    parameter->name);
    }
  if (!export->fault)
    return TRUE;
  g_propagate_prefixed_error (error, g_steal_pointer (&export->fault),
                              "%s: ", plait_store_path (export->trained->store));
  return FALSE;
}

/*
 * Files
 */

static gboolean
has_piece (const PlaitVocabulary *vocabulary, const char *piece)
{
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < plait_vocabulary_size (vocabulary); id++)
    if (g_str_equal (plait_vocabulary_piece (vocabulary, id), piece))
      return TRUE;
  return FALSE;
}

/* Sets @names to those of the special tokens, which CTranslate2 has once for both sides and finds by their spelling.
 * What a text can spell is no special token: a blank tells their names from the words of a text, but for the unknown's,
 * which a word that is spelt like it is anyhow. */
static void
name_specials (const PlaitVocabulary *source, const PlaitVocabulary *target, char *names[PLAIT_TOKEN_SPECIALS])
{
  gboolean words = g_str_equal (plait_vocabulary_format (source), "words")
                   || g_str_equal (plait_vocabulary_format (target), "words");

  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    {
      names[id]
          = g_strconcat (words && id != PLAIT_TOKEN_UNKNOWN ? " " : "", plait_vocabulary_piece (target, id), NULL);
      while (has_piece (source, names[id]) || has_piece (target, names[id]))
        {
          g_autofree char *inner = names[id];

          names[id] = g_strdup_printf ("<%s>", inner);
        }
    }
}

static gboolean
write_vocabulary (const PlaitVocabulary *vocabulary, char *const *specials, const char *folder, const char *name,
                  GError **error)
{
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_array (json, NULL);
  for (gint32 id = 0; id < plait_vocabulary_size (vocabulary); id++)
    plait_json_text (json, NULL, id < PLAIT_TOKEN_SPECIALS ? specials[id] : plait_vocabulary_piece (vocabulary, id));
  plait_json_end_array (json);
  return plait_file_replace_text (folder, name, plait_json_string (json), error);
}

static gboolean
write_config (const Export *export, gboolean begins, char *const *specials, const char *folder, GError **error)
{
  static const gint32 starts[] = { PLAIT_TOKEN_BOS, PLAIT_TOKEN_EOS, PLAIT_TOKEN_PAD };
  const PlaitExperiment *experiment = export->experiment;
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  plait_json_boolean (json, "add_source_bos", begins);
  plait_json_boolean (json, "add_source_eos", experiment->data.append_end);
  plait_json_text (json, "bos_token", specials[PLAIT_TOKEN_BOS]);
  plait_json_text (json, "decoder_start_token", specials[starts[experiment->decoder.start]]);
  plait_json_text (json, "eos_token", specials[PLAIT_TOKEN_EOS]);
  plait_json_real (json, "layer_norm_epsilon", experiment->decoder.norm_epsilon);
  plait_json_boolean (json, "multi_query_attention", FALSE);
  plait_json_text (json, "unk_token", specials[PLAIT_TOKEN_UNKNOWN]);
  plait_json_end_object (json);
  return plait_file_replace_text (folder, CONFIG, plait_json_string (json), error);
}

const char *const plait_ctranslate2_files[] = { CONFIG, SHARED, SOURCE, TARGET, MODEL, NULL };

static gboolean
write_files (const Export *export, const char *folder, GError **error)
{
  const PlaitExperiment *experiment = export->experiment;
  const PlaitMaterials *materials = export->trained->materials;
  PlaitVocabulary *source = plait_materials_vocabulary (materials, experiment->sources[0].stream);
  PlaitVocabulary *target = plait_materials_vocabulary (materials, experiment->data.target);
  gboolean shared = g_str_equal (plait_vocabulary_hash (source), plait_vocabulary_hash (target));
  g_autofree char *path = g_build_filename (folder, MODEL, NULL);
  g_auto (GStrv) specials = g_new0 (char *, PLAIT_TOKEN_SPECIALS + 1);

  name_specials (source, target, specials);
  return (shared ? write_vocabulary (target, specials, folder, SHARED, error)
                 : write_vocabulary (source, specials, folder, SOURCE, error)
                       && write_vocabulary (target, specials, folder, TARGET, error))
         && write_config (export, plait_vocabulary_begins (source), specials, folder, error)
         && plait_ctranslate2_write ((const PlaitCtranslate2Variable *)(gpointer) export->variables->data,
                                     export->variables->len, path, error);
}

/* Says how the model expects documents of @stream, and by @which what first sentences have. */
static void
tell_documents (const PlaitExperiment *experiment, const char *stream, const char *which, PlaitLog *log)
{
  PlaitDocumentSettings settings = plait_experiment_documents (experiment, stream);

  if (settings.layout == PLAIT_LAYOUT_SENTENCES)
    return;
  if (settings.starts)
    plait_log_info (
        log, "%s is documents: the model expects the bos_token of its config.json before each of their sentences%s",
        stream, which);
  if (settings.maximum > 0)
    plait_log_info (log, "%s is documents: the model does not cut them at data.document_length=%jd", stream,
                    settings.maximum);
}

/* Says what the model can do less than the run. */
static void
tell_limits (const Export *export, PlaitLog *log)
{
  const PlaitExperiment *experiment = export->experiment;

  plait_log_info (
      log, "the model has positions for %jd tokens of a source and %jd of a translation, start and end counted%s",
      export->positions[0], export->positions[1], export->asked > 0 ? "" : "; --positions asks for others");
  plait_log_info (log, "CTranslate2 cuts sources after 1024 tokens, unless its max_input_length says otherwise");
  tell_documents (experiment, experiment->sources[0].stream, ", the first one too", log);
  tell_documents (experiment, experiment->data.target, " except the first", log);
  if (experiment->decode.precision != PLAIT_PRECISION_FLOAT)
    plait_log_info (log, "its weights are floats; decode.precision=int8 is not applied");
}

gboolean
plait_export_ctranslate2 (const PlaitTrained *trained, const char *path, gint64 positions, PlaitLog *log,
                          GError **error)
{
  const PlaitExperiment *experiment = trained->experiment;
  g_auto (Export) export = {
    .trained = trained,
    .experiment = experiment,
    .encoder = experiment->n_sources > 0 ? experiment->sources[0].encoder->parameters : NULL,
    .source = experiment->n_sources > 0 ? experiment->sources[0].name : "",
    .asked = positions,
    .variables = g_array_new (FALSE, FALSE, sizeof (PlaitCtranslate2Variable)),
    .memory = g_ptr_array_new_with_free_func (g_free),
    .used = g_hash_table_new (NULL, NULL),
  };
  g_autoptr (PlaitFolder) folder = NULL;

  if (!check (experiment, error))
    return FALSE;
  add_encoder (&export);
  add_decoder (&export);
  add_words (&export);
  folder = check_whole (&export, error) ? plait_folder_begin (path, error) : NULL;
  if (!folder)
    return FALSE;
  if (!write_files (&export, plait_folder_temporary (folder), error))
    return plait_folder_fail (folder, error);
  if (!plait_folder_commit (g_steal_pointer (&folder), plait_ctranslate2_files, error))
    return FALSE;
  tell_limits (&export, log);
  return TRUE;
}
