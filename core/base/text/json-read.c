/* SPDX-License-Identifier: MIT */
#include "text/json-read.h"

json_t *
plait_json_read_object (const char *data, gsize length, const char *name, GError **error)
{
  json_error_t fault = { .line = 1 };
  g_autoptr (json_t) json = json_loadb (data, length, JSON_REJECT_DUPLICATES, &fault);

  if (!json)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s:%d: is not valid JSON (%s); expected one object", name,
                MAX (fault.line, 1), fault.text);
  else if (!json_is_object (json))
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: is JSON, but not an object; expected {...}", name);
  else
    return g_steal_pointer (&json);
  return NULL;
}
