/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* What a file is that begins with these bytes, such as "a gzip file"; NULL: nothing that is known here. (transfer
 * none) */
const char *plait_file_kind (const char *bytes, gsize length);
