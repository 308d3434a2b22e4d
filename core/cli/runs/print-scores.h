/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Prints the scores of the finished run @path on stdout, as a table or as JSON. */
gboolean plait_run_print_scores (const char *path, gboolean as_json, GError **error);
