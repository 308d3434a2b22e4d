/* SPDX-License-Identifier: MIT */
/* Headers that nearly every file includes. With -Dprecompiled=true they are compiled once per target. No file includes
 * this one. */
#include <glib.h>
#include <string.h>
