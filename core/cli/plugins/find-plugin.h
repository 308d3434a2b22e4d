/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/* Returns the plugin that @wanted names, as NAME or KIND/NAME. The error for an unknown name suggests the nearest known
 * name, possibly one of @groups (NULL-terminated, or NULL), which the command accepts too. (transfer none) */
PlaitPlugin *plait_find_plugin (const PlaitRegistry *registry, const char *wanted, const char *const *groups,
                                GError **error);
