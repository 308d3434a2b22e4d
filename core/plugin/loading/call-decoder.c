/* SPDX-License-Identifier: MIT */
#include "loading/call-private.h"

/* Functions that call decoders. */

gint64
plait_call_memory_width (const PlaitComponent *component, gint64 width, const gint64 *widths, guint n, GError **error)
{
  const PlaitDecoderTable *table = plait_call_table (component);
  PlaitCodeOwner before;

  if (!table->memory_width)
    return width;
  before = plait_crash_set_owner ((PlaitCodeOwner){ component->label, "memory_width" });
  width = table->memory_width (component->settings, width, widths, n);
  plait_crash_set_owner (before);
  if (width >= 1 && width <= PLAIT_CALL_MAX_WIDTH)
    return width;
  plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: memory_width returned %jd; return 1 to %jd columns", component->label,
              width, PLAIT_CALL_MAX_WIDTH);
  return 0;
}

gboolean
plait_call_build_decoder (PlaitInstance *instance, const PlaitComponent *component, PlaitDecoding *decoding,
                          const PlaitDecoderBuild *build, GError **error)
{
  const PlaitDecoderTable *table = plait_call_table (component);
  GError *fault = NULL;
  PlaitCallBuilding before
      = plait_call_begin_build (instance, component, table->state_size, build->parameters, "decoder/");
  gboolean built = table->build (decoding, build, component->settings, instance->state, &fault);

  return plait_call_leave_build (before, build->parameters,
                                 plait_call_end_build (instance, built, fault, build->parameters, error));
}

gboolean
plait_call_check_target_length (const PlaitInstance *instance, gint64 rows, GError **error)
{
  const PlaitComponent *component = instance->component;
  const PlaitDecoderTable *table = plait_call_table (component);
  GError *fault = NULL;
  PlaitCodeOwner before;
  gboolean fits;

  if (!table->check_length)
    return TRUE;
  before = plait_crash_set_owner ((PlaitCodeOwner){ component->label, "check_length" });
  fits = table->check_length (component->settings, instance->state, rows, &fault);
  return plait_call_end (instance, before, "check_length", fits, fault, "[decoder]", error);
}

void
plait_call_begin_decoder (const PlaitInstance *instance, PlaitTape *tape, PlaitDecoding *decoding)
{
  const PlaitDecoderTable *table = plait_call_table (instance->component);
  PlaitCodeOwner before;

  if (!table->begin)
    return;
  before = plait_call_enter (instance, tape, "begin");
  table->begin (decoding, instance->component->settings, instance->state);
  plait_tape_set_caller (tape, before);
}

PlaitNode *
plait_call_decode (const PlaitInstance *instance, PlaitTape *tape, PlaitDecoding *decoding, PlaitNode *embedded)
{
  const PlaitDecoderTable *table = plait_call_table (instance->component);
  gint64 rows = embedded->value.rows, width = embedded->value.width;
  PlaitCodeOwner before = plait_call_enter (instance, tape, "decode");
  PlaitNode *states = table->decode (decoding, instance->component->settings, instance->state, embedded);

  plait_call_expect_node (tape, "states", states, rows, width);
  plait_tape_set_caller (tape, before);
  return states;
}
