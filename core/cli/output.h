/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* Whether the file @output, which @option names, is another one than @input, which the command reads, or than another
 * output. Either may be NULL. PLAIT_ERROR_INPUT if both are one file: writing it would lose what is there. */
gboolean plait_output_differs (const char *option, const char *output, const char *input, GError **error);
