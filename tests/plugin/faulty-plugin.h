/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "interface/plugin.h"

/* Installs a faulty plugin in the test's folder: writes the schema of the faulty modules as FOLDER/combiner/NAME.ini,
 * and copies the faulty module @fault (NULL: no module) next to it as NAME.so. Returns the path of FOLDER. (transfer
 * none) */
const char *faulty_plugin_install (const char *folder, const char *name, const char *fault);

/* Does what faulty_plugin_install() does, for a plugin of kind @kind. */
const char *faulty_plugin_install_kind (const char *folder, PlaitPluginKind kind, const char *name, const char *fault);

/* Writes @text [length] to the file NAME in @folder, and creates folders as needed. */
void faulty_plugin_write (const char *folder, const char *name, const char *text, gssize length);
