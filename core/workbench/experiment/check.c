/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

/* This file checks that the parts of an experiment fit together, from the plugins' schemas and the settings alone. */

static void
check_decoder_allowed (const PlaitResolution *resolution, const PlaitSchema *schema, const char *group, const char *key)
{
  const PlaitSchema *decoder = resolution->experiment->public.decoder_component->schema;
  g_autofree char *allowed = NULL, *needed = NULL;

  if (plait_schema_allows_decoder (schema, decoder))
    return;
  allowed = schema->decoders ? plait_choices_text (schema->decoders) : g_strdup ("any");
  needed = schema->attentions ? g_strdup_printf (" with attention=%s", schema->attentions) : g_strdup ("");
  plait_resolution_problem (
      resolution, group, key, "the %s %s cannot be used in a decoder of type %s; choose one of these types: %s%s (%s)",
      plait_plugin_kind_name (schema->kind), schema->name, decoder->name, allowed, needed, schema->path);
}

/* Adds a problem if the schema @reader requires a structure of at least one memory and no source provides it. @reader
 * is the schema of the plugin that @key of [decoder] names. */
static void
check_structure_of_one (const PlaitResolution *resolution, const PlaitSchema *reader, const char *key)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  PlaitStructure needed = reader->requires_structure;
  g_autofree char *text = plait_structure_text (needed);

  if (!reader->one_memory_is_enough)
    return;
  for (guint i = 0; i < experiment->n_sources; i++)
    if ((experiment->sources[i].encoder->schema->provides_structure & needed) == needed)
      return;
  plait_resolution_problem (resolution, "decoder", key,
                            "the %s %s needs at least one memory with %s, which no source provides; choose an encoder "
                            "with such memories for one source, or another %s",
                            plait_plugin_kind_name (reader->kind), reader->name, text,
                            plait_plugin_kind_name (reader->kind));
}

/* Adds a problem unless the memories of @encoder have the structure that the schema @reader requires of all memories.
 * @reader belongs to a decoder, combiner, coverage or output. */
static void
check_structure (const PlaitResolution *resolution, const PlaitSchema *reader, const PlaitSchema *encoder,
                 const char *group)
{
  PlaitStructure lacking = reader->requires_structure & ~encoder->provides_structure;
  g_autofree char *needed = plait_structure_text (lacking);
  const char *kind = plait_plugin_kind_name (reader->kind);

  if (lacking != PLAIT_STRUCTURE_NONE && !reader->one_memory_is_enough)
    plait_resolution_problem (resolution, group, "encoder",
                              "the %s %s needs memories with %s, which the encoder %s does not provide; choose an "
                              "encoder that provides this structure, or another %s",
                              kind, reader->name, needed, encoder->name, kind);
}

static void
check_source (const PlaitResolution *resolution, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitSchema *encoder = source->encoder->schema;
  const char *group = source->encoder->group;

  plait_resolution_check_factors (resolution, source);
  if (experiment->combiner)
    check_decoder_allowed (resolution, encoder, group, "encoder");
  if (encoder->requires_structure != PLAIT_STRUCTURE_NONE)
    {
      g_autofree char *needed = plait_structure_text (encoder->requires_structure);
      plait_resolution_problem (
          resolution, group, "encoder",
          "the encoder %s needs input with the structure %s, which %s do not have; choose another encoder",
          encoder->name, needed, plait_input_kind_name (encoder->input));
    }
  if (experiment->combiner)
    {
      check_structure (resolution, experiment->decoder_component->schema, encoder, group);
      check_structure (resolution, experiment->combiner->schema, encoder, group);
      check_structure (resolution, experiment->output->schema, encoder, group);
    }
  if (experiment->coverage)
    check_structure (resolution, experiment->coverage->schema, encoder, group);
  if (g_str_equal (source->stream, experiment->data.target)
      && (experiment->predict.kind != PLAIT_PREDICT_MASKED || source != &experiment->sources[0]))
    plait_resolution_problem (resolution, group, NULL,
                              "reads the stream %s, which is data.target: the model would see what it must predict; "
                              "drop the source, or set stream= to another stream",
                              source->stream);
}

/* Checks that the combiner, the coverage and the output allow the decoder's type, that the combiner accepts the
 * coverage, and that a memory has the structure that these plugins or the decoder require of one memory. */
static void
check_combiner (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  check_structure_of_one (resolution, experiment->decoder_component->schema, "type");
  check_decoder_allowed (resolution, experiment->combiner->schema, "decoder", "combiner");
  check_structure_of_one (resolution, experiment->combiner->schema, "combiner");
  check_decoder_allowed (resolution, experiment->output->schema, "decoder", "output");
  check_structure_of_one (resolution, experiment->output->schema, "output");
  if (!experiment->coverage)
    return;
  check_decoder_allowed (resolution, experiment->coverage->schema, "decoder", "coverage");
  check_structure_of_one (resolution, experiment->coverage->schema, "coverage");
  if (experiment->combiner->schema->refuses_coverage)
    plait_resolution_problem (resolution, "decoder", "coverage",
                              "the combiner %s cannot be used with a coverage; set coverage=none, or choose another "
                              "combiner (%s says: coverage=none)",
                              experiment->combiner->schema->name, experiment->combiner->schema->path);
}

void
plait_resolution_check_compatibility (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (experiment->combiner)
    check_combiner (resolution);
  for (guint i = 0; i < experiment->n_sources; i++)
    check_source (resolution, &experiment->sources[i]);
  plait_resolution_check_prediction (resolution);
  plait_resolution_check_kinds (resolution);
  plait_resolution_check_documents (resolution);
  plait_resolution_check_data (resolution);
}
