/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#include "text/separators.h"

/* This file reads the groups [source NAME] and [source NAME/leaves], and selects those in experiment.sources. */

#define INNER_SUFFIX "/leaves"
#define TREES_SUFFIX ".trees"         /* end of the name of a stream with trees of a source */
#define ALIGNMENT_SUFFIX ".alignment" /* end of the name of a stream with word alignments of a source */

static gboolean
requires_leaves (const PlaitSchema *schema, gconstpointer data)
{
  return schema->requires_leaves;
}

static void
refuse_inner (const PlaitResolution *resolution, const PlaitParsedSource *source)
{
  const char *encoder = source->encoder->plugin->name;

  if (plait_resolution_any_alternative (resolution, PLAIT_PLUGIN_ENCODER, requires_leaves, NULL))
    return;
  if (*source->settings.leaves != '\0')
    plait_resolution_problem (
        resolution, source->group, "leaves",
        "the encoder %s has no inner encoder; drop the key, or choose an encoder with an inner encoder", encoder);
  if (plait_key_file_has_group (resolution->file, source->inner_group))
    plait_resolution_problem (resolution, source->inner_group, NULL,
                              "the encoder %s has no inner encoder; drop the group", encoder);
}

/* Reads the inner encoder of @source, and the parameters of this encoder. */
static void
read_inner (const PlaitResolution *resolution, PlaitParsedSource *source)
{
  PlaitComponent *leaves;

  if (!source->encoder->schema->requires_leaves)
    {
      refuse_inner (resolution, source);
      return;
    }
  if (*source->settings.leaves == '\0')
    {
      plait_resolution_problem (resolution, source->group, "leaves",
                                "is missing: the encoder %s reads the output of an inner encoder; set leaves= to an "
                                "encoder of tokens (plait plugins lists them)",
                                source->encoder->plugin->name);
      return;
    }
  leaves = plait_resolution_read_part (resolution, PLAIT_PLUGIN_ENCODER, source->settings.leaves, source->group,
                                       "leaves", source->inner_group);
  if (leaves && (leaves->schema->requires_leaves || leaves->schema->input != PLAIT_INPUT_TOKENS))
    plait_resolution_problem (
        resolution, source->group, "leaves", "%s %s; expected an encoder that reads tokens and has no inner encoder",
        leaves->plugin->name,
        leaves->schema->requires_leaves ? "needs an inner encoder itself" : "does not read tokens");
  source->encoder->leaves = leaves;
}

/* Reads the group of @source and the group of its inner encoder. */
static void
read_encoders (const PlaitResolution *resolution, PlaitParsedSource *source)
{
  const char *group = source->group;
  PlaitPlugin *plugin;
  g_autoptr (GError) fault = NULL;
  gboolean good;

  if (!plait_name_is_valid (source->name))
    plait_resolution_problem (resolution, group, NULL, "\"%s\" is not a name for a source; use " PLAIT_NAME_FORM,
                              source->name);
  good = plait_resolution_read_host_keys (resolution, group, source->host);
  plait_settings_fill_group (source->host, &plait_source_group, &source->settings);
  if (!good)
    return;
  if (*source->settings.stream == '\0')
    source->settings.stream = source->name;
  source->trees = g_strconcat (source->settings.stream, TREES_SUFFIX, NULL);
  source->alignment = g_strconcat (source->settings.stream, ALIGNMENT_SUFFIX, NULL);
  plait_resolution_read_factors (resolution, source);
  if (!source->settings.encoder)
    {
      plait_resolution_problem (resolution, group, NULL,
                                "encoder is missing; add encoder= and an encoder that the command plait plugins lists");
      return;
    }
  plugin = plait_registry_find (resolution->resolver->registry, PLAIT_PLUGIN_ENCODER, source->settings.encoder, &fault);
  if (!plugin)
    plait_resolution_problem (resolution, group, "encoder", "%s", fault->message);
  else
    {
      source->encoder = plait_component_new (plugin, group);
      plait_resolution_read_plugin_keys (resolution, group, source->host, source->encoder, "encoder");
      read_inner (resolution, source);
    }
}

static void
read_source (const PlaitResolution *resolution, const char *group)
{
  PlaitParsedSource *source = g_new0 (PlaitParsedSource, 1);

  source->group = g_strdup (group);
  source->name = source->group + strlen (PLAIT_SOURCE_PREFIX);
  source->inner_group = g_strconcat (group, INNER_SUFFIX, NULL);
  source->host = plait_settings_new_for_group (&plait_source_group);
  g_ptr_array_add (resolution->experiment->sources, source);
  read_encoders (resolution, source);
}

/* TRUE if @group is [source NAME/leaves], which is read together with [source NAME]. Adds a problem if there is no such
 * source. */
static gboolean
is_inner_group (const PlaitResolution *resolution, const char *group)
{
  g_autofree char *owner = NULL;

  if (!g_str_has_prefix (group, PLAIT_SOURCE_PREFIX) || !g_str_has_suffix (group, INNER_SUFFIX))
    return FALSE;
  owner = g_strndup (group, strlen (group) - strlen (INNER_SUFFIX));
  if (!plait_key_file_has_group (resolution->file, owner))
    plait_resolution_problem (resolution, group, NULL,
                              "there is no group [%s] to which it could belong; add that group, or drop this one",
                              owner);
  return TRUE;
}

static PlaitParsedSource *
find_source (const PlaitExperimentPrivate *experiment, const char *name)
{
  for (guint i = 0; i < experiment->sources->len; i++)
    {
      PlaitParsedSource *source = experiment->sources->pdata[i];

      if (g_str_equal (source->name, name))
        return source;
    }
  return NULL;
}

static void
use_source (PlaitExperimentPrivate *experiment, PlaitParsedSource *source)
{
  PlaitExperimentSource used = {
    .name = source->name,
    .stream = source->settings.stream,
    .trees = source->encoder && source->encoder->schema->reads_trees ? source->trees : NULL,
    .alignment = source->alignment,
    .factors = source->factors ? (const char *const *)source->factors->pdata : NULL,
    .n_factors = source->n_factors,
    .n_tags = source->n_tags,
    .tag_weights = source->tag_weights,
    .factor_widths = source->factor_widths,
    .factor_vocabulary_size = source->settings.factor_vocabulary_size,
    .dataset = source->settings.dataset,
    .encoder = source->encoder,
    .kind = source->encoder ? source->encoder->schema->input : PLAIT_INPUT_TOKENS,
  };

  g_array_append_val (experiment->used, used);
}

static void
unknown_source (const PlaitResolution *resolution, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    g_ptr_array_add (names, (gpointer)((PlaitParsedSource *)resolution->experiment->sources->pdata[i])->name);
  g_autofree char *remedy = plait_item_remedy (name, (const char *const *)names->pdata, "+", NULL);
  plait_resolution_problem (resolution, "experiment", "sources",
                            "there is no source \"%s\" (names are joined with '+'); %s", name, remedy);
}

/* Selects the sources that experiment.sources names, in its order; all sources if it is empty. */
static void
choose_sources (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *wanted = experiment->public.experiment.sources;
  g_auto (GStrv) names = g_strsplit (wanted, "+", -1);

  if (experiment->sources->len == 0)
    {
      g_autofree char *place = plait_key_file_location (resolution->file, "source", NULL);
      plait_problems_add (resolution->problems,
                          "%s: there is no source; add a group [source NAME] with encoder= for each source", place);
      return;
    }
  if (*wanted == '\0')
    for (guint i = 0; i < experiment->sources->len; i++)
      use_source (experiment, experiment->sources->pdata[i]);
  for (guint i = 0; names[i]; i++)
    {
      PlaitParsedSource *source = find_source (experiment, g_strstrip (names[i]));

      if (!source)
        unknown_source (resolution, names[i]);
      else if (g_strv_contains ((const char *const *)names + i + 1, names[i]))
        plait_resolution_problem (resolution, "experiment", "sources", "%s is named twice; name each source once",
                                  names[i]);
      else
        use_source (experiment, source);
    }
}

void
plait_resolution_read_sources (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *const *groups = plait_key_file_groups (resolution->file);

  for (guint i = 0; groups[i]; i++)
    if (!is_inner_group (resolution, groups[i]) && g_str_has_prefix (groups[i], PLAIT_SOURCE_PREFIX))
      read_source (resolution, groups[i]);
  choose_sources (resolution);
  experiment->public.sources = (const PlaitExperimentSource *)(gpointer)experiment->used->data;
  experiment->public.n_sources = experiment->used->len;
}

void
plait_parsed_source_free (gpointer data)
{
  PlaitParsedSource *source = data;

  g_free (source->group);
  g_free (source->trees);
  g_free (source->alignment);
  g_clear_pointer (&source->factors, g_ptr_array_unref);
  g_free (source->factor_widths);
  g_free (source->tag_weights);
  plait_settings_free (source->host);
  plait_component_free (source->encoder);
  g_free (source->inner_group);
  g_free (source);
}
