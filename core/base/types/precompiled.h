/* SPDX-License-Identifier: MIT */
/* Headers that nearly every file includes. -Dprecompiled=true compiles them once per target. No source file includes
 * precompiled.h. */
#include <glib.h>
#include <string.h>
