/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/*
 * plait inspect --keys: every key that --set takes, with what there is to choose from. Completion in a shell asks for
 * it, because plugins say what their keys are.
 */

/* Prints a line a key, "GROUP.KEY=VALUE VALUE", without values where any number or text may stand, and with FILE where
 * a path does; or the same as JSON. The sources, files and the task of keys are those of the experiment file @path;
 * NULL: there is none. */
gboolean plait_keys_print (const char *path, gboolean as_json, GError **error);
