/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "interface/plugin.h"

/* Writes FOLDER/combiner/NAME.ini, the schema that the faulty modules were made for, below the test case's folder, and
 * copies the faulty module called @fault (NULL: none) beside it as NAME.so. Returns the path of FOLDER. (transfer
 * none) */
const char *faulty_plugin_install (const char *folder, const char *name, const char *fault);

/* The same for a plugin of another kind. */
const char *faulty_plugin_install_kind (const char *folder, PlaitPluginKind kind, const char *name, const char *fault);

/* Writes @text to NAME below @folder, making folders on the way. */
void faulty_plugin_write (const char *folder, const char *name, const char *text, gssize length);
