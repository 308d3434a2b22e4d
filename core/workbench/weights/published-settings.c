/* SPDX-License-Identifier: MIT */
#include "weights/published-settings.h"

#include <string.h>

#include "files/file.h"
#include "text/json-read.h"
#include "text/number.h"

#define CONFIG "config.json"

enum
{
  CONFIG_LIMIT = 1 << 24, /* maximum size of config.json, in bytes */
};

typedef struct
{
  const char *weights;
  const PlaitExperiment *experiment;
  json_t *config; /* contents of config.json, or NULL */
  GPtrArray *sentences;
} Comparison;

/* Pairs of names of an activation: in config.json, and in plait. */
static const char *const aliases[][2] = {
  { "silu", "swish" },          { "gelu_new", "gelu_tanh" },
  { "gelu_fast", "gelu_tanh" }, { "gelu_pytorch_tanh", "gelu_tanh" },
  { "gelu_python", "gelu" },
};

/* Reads config.json in the folder of the weights. NULL if that fails. (transfer full) */
static json_t *
read_config (const char *weights)
{
  g_autofree char *folder = g_path_get_dirname (weights);
  g_autofree char *path = g_build_filename (folder, CONFIG, NULL);
  g_autoptr (GBytes) bytes = plait_file_read (path, PLAIT_FILE_REGULAR, CONFIG_LIMIT, "a JSON file", NULL);

  return bytes ? plait_json_read_object (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), path, NULL) : NULL;
}

/* Returns the value of @key in config.json, spelled as in experiments. Returns @usual (may be NULL) if the key is
 * missing, or if its value is no string, number or boolean. (transfer full) */
static char *
value_of (const Comparison *comparison, const char *key, const char *usual)
{
  json_t *value = comparison->config ? json_object_get (comparison->config, key) : NULL;

  if (json_is_boolean (value))
    return g_strdup (json_is_true (value) ? "true" : "false");
  if (json_is_integer (value))
    return g_strdup_printf ("%jd", (gint64)json_integer_value (value));
  if (json_is_real (value))
    return plait_format ("%.17g", json_real_value (value));
  for (gsize i = 0; json_is_string (value) && i < G_N_ELEMENTS (aliases); i++)
    if (g_str_equal (json_string_value (value), aliases[i][0]))
      return g_strdup (aliases[i][1]);
  return g_strdup (json_is_string (value) ? json_string_value (value) : usual);
}

static gboolean
is_same (const char *a, const char *b)
{
  double x, y;

  return g_str_equal (a, b) || (plait_parse_double (a, &x) && plait_parse_double (b, &y) && x == y);
}

/* Adds a sentence if @ours, the value of @setting in the experiment, differs from @theirs, the value in the published
 * model. Adds nothing if one of them is NULL. */
static void
compare (const Comparison *comparison, const char *setting, const char *ours, const char *theirs)
{
  if (ours && theirs && !is_same (ours, theirs))
    g_ptr_array_add (
        comparison->sentences,
        g_strdup_printf ("%s: the published model has %s=%s and this model %s, so results with the weights differ",
                         comparison->weights, setting, theirs, ours));
}

/* Adds a sentence for each source whose setting @key differs from @theirs, the value in the published model. Skips
 * sources of which no parameter is taken, as @takes says. */
static void
compare_sources (const Comparison *comparison, const char *key, const char *theirs, PlaitPublishedTakes takes,
                 gconstpointer data)
{
  for (guint i = 0; i < comparison->experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &comparison->experiment->sources[i];
      const PlaitSettings *parameters = source->encoder->parameters;
      g_autofree char *prefix = g_strdup_printf ("source/%s/", source->name);
      g_autofree char *setting = g_strdup_printf ("source.%s.%s", source->name, key);
      const char *ours = plait_settings_find (parameters, key) >= 0 ? plait_settings_text (parameters, key) : NULL;

      if (g_strcmp0 (ours, "decoder") == 0)
        ours = plait_experiment_value (comparison->experiment, "decoder", key);
      if (takes (data, prefix))
        compare (comparison, setting, ours, theirs);
    }
}

/* Adds a sentence for each of padding, BOS and EOS whose row in the map differs from the token's id in config.json. */
static void
compare_words (const Comparison *comparison, const PlaitNameMap *map)
{
  static const char *const ids[] = { "pad_token_id", "bos_token_id", "eos_token_id" };
  static const char *const sizes[] = { "vocab_size", "decoder_vocab_size" };
  PlaitNameMapWords words = plait_name_map_words (map);

  for (gsize i = 0; i < G_N_ELEMENTS (ids) && comparison->config; i++)
    for (gsize k = 0; k < G_N_ELEMENTS (sizes); k++)
      {
        const json_t *id = json_object_get (comparison->config, ids[i]);
        const json_t *size = json_object_get (comparison->config, sizes[k]);
        gint64 row = words.specials[i] == PLAIT_NAME_MAP_LAST ? json_integer_value (size) - 1 : words.specials[i];

        if (!json_is_integer (id) || !json_is_integer (size) || row == PLAIT_NAME_MAP_NONE
            || row == json_integer_value (id))
          continue;
        g_ptr_array_add (
            comparison->sentences,
            g_strdup_printf (
                "%s: " CONFIG
                " beside it has %s=%jd, but the map takes row %jd of %s=%jd, so results with the weights differ",
                comparison->weights, ids[i], (gint64)json_integer_value (id), row, sizes[k],
                (gint64)json_integer_value (size)));
        break;
      }
}

GStrv
plait_published_other_settings (const char *weights, const PlaitNameMap *map, const PlaitExperiment *experiment,
                                PlaitPublishedTakes takes, gconstpointer data)
{
  static const char *const common[] = { "norm", "norm_epsilon", "scale_embeddings", NULL };
  g_autoptr (json_t) config = read_config (weights);
  GPtrArray *sentences = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  const PlaitKeyFile *file = plait_name_map_file (map);
  const char *const *settings = plait_key_file_keys (file, PLAIT_NAME_MAP_SETTINGS);
  const char *const *fixed = plait_key_file_keys (file, PLAIT_NAME_MAP_CONFIG);
  Comparison comparison = { weights, experiment, config, sentences };

  for (guint i = 0; settings[i]; i++)
    {
      const char *key = strchr (settings[i], '.') + 1;
      g_auto (GStrv) value = g_strsplit (plait_key_file_value (file, PLAIT_NAME_MAP_SETTINGS, settings[i]), ":", 2);
      g_autofree char *theirs = value_of (&comparison, value[0], value[1]);

      if (g_str_has_prefix (settings[i], "source."))
        compare_sources (&comparison, key, theirs, takes, data);
      else if (g_strv_contains (common, key) || takes (data, "decoder/"))
        compare (&comparison, settings[i], plait_experiment_value (experiment, "decoder", key), theirs);
    }
  for (guint i = 0; fixed[i]; i++)
    {
      g_autofree char *theirs = value_of (&comparison, fixed[i], NULL);
      const char *ours = plait_key_file_value (file, PLAIT_NAME_MAP_CONFIG, fixed[i]);

      if (theirs && !is_same (ours, theirs))
        g_ptr_array_add (
            sentences,
            g_strdup_printf ("%s: " CONFIG
                             " beside it has %s=%s, but the map is for %s, so results with the weights differ",
                             weights, fixed[i], theirs, ours));
    }
  compare_words (&comparison, map);
  return (GStrv)g_ptr_array_free (sentences, FALSE);
}
