/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "interface/plugin.h"

/* Writes FOLDER/combiner/NAME.ini, the schema of the faulty modules, in the test case's folder, and copies the faulty
 * module @fault (NULL: no module) next to it as NAME.so. Returns the path of FOLDER. (transfer none) */
const char *faulty_plugin_install (const char *folder, const char *name, const char *fault);

/* Like faulty_plugin_install, for a plugin of kind @kind. */
const char *faulty_plugin_install_kind (const char *folder, PlaitPluginKind kind, const char *name, const char *fault);

/* Writes @text to the file NAME in @folder, creating folders as needed. */
void faulty_plugin_write (const char *folder, const char *name, const char *text, gssize length);
