/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* Prints how differently the two files in @paths attend. */
gboolean plait_compare_attention (char *const *paths, gboolean json, PlaitLog *log, GError **error);
