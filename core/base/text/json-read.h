/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "text/error.h"

/* Reading JSON by Jansson, strictly: what comes from elsewhere is one document of UTF-8, and no object has a name
 * twice. */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (json_t, json_decref)

/* The object that @length bytes at @data are. Refused are duplicate names, NUL in texts, integers beyond 64 bits,
 * nesting deeper than Jansson allows (2,048), and text behind the object; messages begin with @name and the line.
 * (transfer full) */
json_t *plait_json_read_object (const char *data, gsize length, const char *name, GError **error);
