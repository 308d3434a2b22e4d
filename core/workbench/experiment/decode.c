/* SPDX-License-Identifier: MIT */
/* This file checks [decode]. */
#include "experiment/resolution.h"
#include "search/unknown.h"

static gboolean
reads_text (const PlaitExperiment *experiment)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (plait_input_kind_is_text (experiment->sources[i].kind))
      return TRUE;
  return experiment->n_sources == 0;
}

/* Adds a problem if the experiment cannot do what decode.unknown asks for. If the resolver checks files and
 * unknown=replace, also adds a problem if decode.dictionary cannot be read. */
static void
check_unknown (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitDecodeSettings *decode = &experiment->decode;
  g_autoptr (PlaitUnknownReplacement) replacement = NULL;
  g_autoptr (GError) fault = NULL;

  if (decode->unknown == PLAIT_DECODE_UNKNOWN_KEEP)
    return;
  if (!plait_experiment_has_decoder (experiment))
    plait_resolution_problem (resolution, "decode", "unknown",
                              "with this [predict] there is no decoder that writes words; drop the key");
  else if (decode->unknown != PLAIT_DECODE_UNKNOWN_REPLACE)
    return;
  else if (!reads_text (experiment))
    plait_resolution_problem (resolution, "decode", "unknown",
                              "replace takes words of a source, but no source is text; set unknown=forbid, or add a "
                              "source of text");
  else if (resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES)
    replacement = plait_unknown_replacement_new (NULL, 0, decode->dictionary, &fault);
  if (fault)
    plait_resolution_problem (resolution, "decode", "dictionary", "%s", fault->message);
}

/* Adds a problem for @key of [decode] if @set is TRUE, because the key has no effect without the setting @needs. */
static void
check_acts (const PlaitResolution *resolution, const char *key, gboolean set, const char *needs)
{
  if (set)
    plait_resolution_problem (resolution, "decode", key, "has no effect without %s; set that, or drop the key", needs);
}

/* Adds problems for keys of sampling and of beam groups that have no effect or contradict each other. */
static void
check_sampling (const PlaitResolution *resolution)
{
  const PlaitDecodeSettings *decode = &resolution->experiment->public.decode;
  gboolean samples = decode->method == PLAIT_DECODE_METHOD_SAMPLE;
  PlaitDecodeSettings usual;

  plait_setting_group_defaults (&plait_decode_group, &usual);
  check_acts (resolution, "temperature", !samples && decode->temperature != usual.temperature, "method=sample");
  check_acts (resolution, "top_k", !samples && decode->top_k != usual.top_k, "method=sample");
  check_acts (resolution, "nucleus", !samples && decode->nucleus != usual.nucleus, "method=sample");
  check_acts (resolution, "seed", !samples && decode->seed != usual.seed, "method=sample");
  check_acts (resolution, "diversity", decode->groups == 1 && decode->diversity != usual.diversity, "groups above 1");
  if (samples && decode->groups > 1)
    plait_resolution_problem (resolution, "decode", "groups",
                              "groups divide a beam, but method=sample has no beam; drop one of the two keys");
  else if (decode->beam % decode->groups != 0)
    plait_resolution_problem (resolution, "decode", "groups",
                              "%jd does not divide the beam of %jd; choose beam=%jd, or other groups", decode->groups,
                              decode->beam, (decode->beam / decode->groups + 1) * decode->groups);
}

void
plait_resolution_check_decode (const PlaitResolution *resolution)
{
  const PlaitDecodeSettings *decode = &resolution->experiment->public.decode;
  const char *positions, *limit;

  check_unknown (resolution);
  check_sampling (resolution);
  if (!plait_experiment_has_decoder (&resolution->experiment->public)
      || !resolution->experiment->public.decoder_component)
    return;
  positions = plait_experiment_value (&resolution->experiment->public, "decoder", "positions");
  limit = plait_experiment_value (&resolution->experiment->public, "decoder", "position_limit");
  if (decode->method == PLAIT_DECODE_METHOD_BEAM && decode->n_best > decode->beam)
    plait_resolution_problem (resolution, "decode", "n_best",
                              "%jd is above the beam of %jd; raise beam or lower n_best", decode->n_best, decode->beam);
  if (decode->minimum_length > decode->maximum_length)
    plait_resolution_problem (resolution, "decode", "minimum_length",
                              "%jd is above maximum_length=%jd, so no translation is possible; lower minimum_length",
                              decode->minimum_length, decode->maximum_length);
  if (g_strcmp0 (positions, "learned") == 0 && limit && decode->maximum_length > g_ascii_strtoll (limit, NULL, 10))
    plait_resolution_problem (
        resolution, "decode", "maximum_length",
        "%jd is above decoder.position_limit=%s, the number of learned positions; lower one or raise the other",
        decode->maximum_length, limit);
}
