/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Prints every mistake of the experiment file at @path, of all cells where it has a group [grid], as text or JSON;
 * PLAIT_ERROR_INPUT if there is one. */
gboolean plait_check_experiment (const char *path, const char *const *overrides, gboolean as_json, GError **error);
