/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "interface/plugin.h"

/* Writes FOLDER/combiner/NAME.ini, the schema that the zoo's modules were made for, below the test case's folder, and
 * copies the module of the zoo called @animal (NULL: none) beside it as NAME.so. Returns the path of FOLDER. (transfer
 * none) */
const char *zoo_cage (const char *folder, const char *name, const char *animal);

/* The same for a plugin of another kind. */
const char *zoo_cage_kind (const char *folder, PlaitPluginKind kind, const char *name, const char *animal);

/* Writes @text to NAME below @folder, making folders on the way. */
void zoo_write (const char *folder, const char *name, const char *text, gssize length);
