/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Every key that --set takes, since plugins say what their keys are: completion asks for it as plait inspect --keys. A
 * line a key, "GROUP.KEY=VALUE VALUE", without values where any number or text may stand, and with FILE where a path
 * does; or the same as JSON. The sources, files and the task of keys are those of the experiment file @path; NULL:
 * there is none. */
gboolean plait_keys_print (const char *path, gboolean as_json, GError **error);
