/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#include "text/number.h"
#include "text/separators.h"
#include "vocabulary/vocabulary.h"

/* This file reads and checks the factors and tags of sources. */

#define MAX_WIDTH 65536
#define MAX_WEIGHT 1e6

/* Names that factors and tags cannot have, because STREAM.trees, for example, is the stream of trees. */
static const char *const taken[] = { "trees", "alignment", "reference", NULL };

static gboolean
is_name (const char *text, gconstpointer unused)
{
  return plait_name_is_valid (text);
}

static gboolean
is_weight (const char *text, gconstpointer unused)
{
  double weight;

  return plait_parse_double (text, &weight) && weight >= 0 && weight <= MAX_WEIGHT;
}

static gboolean
is_width (const char *text, gconstpointer unused)
{
  return g_ascii_string_to_signed (text, 10, 1, MAX_WIDTH, NULL, NULL);
}

/* If @text is several items with a wrong separator, adds a problem of [@group] @key that shows the items joined with
 * '+', and returns TRUE. */
static gboolean
report_separator (const PlaitResolution *resolution, const char *group, const char *key, const char *text,
                  PlaitIsItem is_item)
{
  g_autofree char *mended = plait_separators_mend (text, "+", is_item, NULL);

  if (mended)
    plait_resolution_problem (resolution, group, key,
                              "\"%s\" is several items; join them with '+': did you mean \"%s\"?", text, mended);
  return mended != NULL;
}

/* Reads factor_widths of @source, which has @n factors. */
static void
read_widths (const PlaitResolution *resolution, PlaitParsedSource *source, guint n)
{
  const char *text = source->settings.factor_widths;
  g_auto (GStrv) widths = g_strsplit (text, "+", -1);
  gboolean concat = source->settings.factor_join == PLAIT_SOURCE_FACTOR_JOIN_CONCAT;
  gboolean good = !concat || n == 0 || g_strv_length (widths) == n;

  source->factor_widths = g_new0 (gint64, n);
  if (*text != '\0' && !(concat && n > 0))
    plait_resolution_problem (
        resolution, source->group, "factor_widths",
        "are for factors with factor_join=concat; set factors and factor_join=concat, or drop the key");
  for (guint f = 0; f < n && concat && good; f++)
    good = g_ascii_string_to_signed (widths[f], 10, 1, MAX_WIDTH, &source->factor_widths[f], NULL);
  if (!good && !report_separator (resolution, source->group, "factor_widths", text, is_width))
    plait_resolution_problem (resolution, source->group, "factor_widths",
                              "\"%s\" does not give each of %u factors a width from 1 to %d; join widths with '+', "
                              "such as 16+8",
                              text, n, MAX_WIDTH);
}

/* Reads tag_weights of @source: a weight for each stream of tags, or one for all. */
static void
read_weights (const PlaitResolution *resolution, PlaitParsedSource *source)
{
  const char *text = source->settings.tag_weights;
  g_auto (GStrv) weights = g_strsplit (text, "+", -1);
  guint n = g_strv_length (weights);
  gboolean good = n == 1 || source->n_tags == 0 || n == source->n_tags;

  source->tag_weights = g_new0 (double, source->n_tags);
  for (guint i = 0; i < n && good; i++)
    good = is_weight (weights[i], NULL);
  for (guint i = 0; i < source->n_tags && good; i++)
    plait_parse_double (weights[n == 1 ? 0 : i], &source->tag_weights[i]);
  if (!good && !report_separator (resolution, source->group, "tag_weights", text, is_weight))
    plait_resolution_problem (resolution, source->group, "tag_weights",
                              "\"%s\" does not give each of %u streams of tags a weight from 0 to %.0f; give one "
                              "number for all, or join weights with '+', such as 1+0.5",
                              text, source->n_tags, MAX_WEIGHT);
}

/* Appends to source->factors the streams that @text, the value of @key, names. Returns the number of appended
 * streams. */
static guint
read_names (const PlaitResolution *resolution, const PlaitParsedSource *source, const char *key, const char *text)
{
  g_auto (GStrv) names = g_strsplit (g_str_equal (text, "none") ? "" : text, "+", -1);
  guint n = g_strv_length (names);

  for (guint i = 0; i < n; i++)
    {
      char *stream = g_strconcat (source->settings.stream, ".", names[i], NULL);

      if ((!plait_name_is_valid (names[i]) || g_strv_contains (taken, names[i]))
          && !report_separator (resolution, source->group, key, names[i], is_name))
        plait_resolution_problem (resolution, source->group, key,
                                  "\"%s\" is not a name for a stream of %s (trees, alignment and reference are "
                                  "reserved); use " PLAIT_NAME_FORM "; join names with '+', or write none",
                                  names[i], key);
      if (g_ptr_array_find_with_equal_func (source->factors, stream, g_str_equal, NULL))
        plait_resolution_problem (resolution, source->group, key,
                                  "%s is named twice; name each stream once, in factors or in tags", names[i]);
      g_ptr_array_add (source->factors, stream);
    }
  return n;
}

void
plait_resolution_read_factors (const PlaitResolution *resolution, PlaitParsedSource *source)
{
  const PlaitSourceSettings *settings = &source->settings;

  source->factors = g_ptr_array_new_with_free_func (g_free);
  source->n_factors = read_names (resolution, source, "factors", settings->factors);
  source->n_tags = read_names (resolution, source, "tags", settings->tags);
  g_ptr_array_add (source->factors, NULL);
  read_widths (resolution, source, source->n_factors);
  read_weights (resolution, source);
  if (settings->factor_vocabulary_size > 0 && settings->factor_vocabulary_size <= PLAIT_TOKEN_SPECIALS)
    plait_resolution_problem (resolution, source->group, "factor_vocabulary_size",
                              "%jd entries leave no room after the %d special ones; give more, or 0 for all tokens",
                              settings->factor_vocabulary_size, PLAIT_TOKEN_SPECIALS);
}

void
plait_resolution_check_factors (const PlaitResolution *resolution, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *key = source->n_factors > 0 ? "factors" : "tags";

  if (source->n_factors + source->n_tags > 0
      && (source->kind != PLAIT_INPUT_TOKENS || plait_experiment_is_documents (experiment, source->stream)))
    plait_resolution_problem (
        resolution, source->encoder->group, key, "are for words of sentences, but the source has %s; set %s=none",
        source->kind == PLAIT_INPUT_TOKENS ? "documents" : plait_input_kind_name (source->kind), key);
  for (guint f = 0; f < source->n_factors + source->n_tags; f++)
    if (plait_experiment_is_documents (experiment, source->factors[f]))
      plait_resolution_problem (
          resolution, source->encoder->group, key,
          "the stream %s has words of sentences, not documents; drop it from data.documents and data.documents_by_line",
          source->factors[f]);
}

const PlaitParsedSource *
plait_resolution_factor_source (const PlaitResolution *resolution, const char *stream)
{
  const GPtrArray *sources = resolution->experiment->sources;

  for (guint i = 0; i < sources->len; i++)
    {
      const PlaitParsedSource *source = sources->pdata[i];
      gsize length = strlen (source->settings.stream);

      if (g_str_has_prefix (stream, source->settings.stream) && stream[length] == '.'
          && plait_name_is_valid (stream + length + 1) && !g_strv_contains (taken, stream + length + 1))
        return source;
    }
  return NULL;
}

gboolean
plait_resolution_is_factor (const PlaitResolution *resolution, const char *stream)
{
  const PlaitParsedSource *source = plait_resolution_factor_source (resolution, stream);

  return source
         && (plait_key_file_value (resolution->file, source->group, "factors")
             || plait_key_file_value (resolution->file, source->group, "tags"));
}
