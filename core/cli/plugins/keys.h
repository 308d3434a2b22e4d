/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Prints every key that --set accepts, which shell completion needs since plugins declare keys (plait inspect --keys).
 * One key a line, "GROUP.KEY=VALUE VALUE": without values for numbers and texts, with FILE for a path; or as JSON.
 * Sources, files and the task are those of the experiment file @path, or none if @path is NULL. */
gboolean plait_keys_print (const char *path, gboolean as_json, GError **error);
