/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Globs over names of parameters: '*' stands for any characters, '?' for one. */

gboolean plait_name_glob_matches (const char *glob, const char *name);

/* Whether one of @globs (NULL-terminated) does. */
gboolean plait_name_glob_any (char *const *globs, const char *name);
