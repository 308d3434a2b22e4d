/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/* The plugin that a user means by @wanted, NAME or KIND/NAME. Unknown names are refused with the nearest known one, be
 * it that of one of @groups (NULL-terminated; NULL: none), which the command takes too. (transfer none) */
PlaitPlugin *plait_find_plugin (const PlaitRegistry *registry, const char *wanted, const char *const *groups,
                                GError **error);
