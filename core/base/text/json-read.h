/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "text/error.h"

/* Strict reading of JSON with Jansson: input is one UTF-8 document, and no object has two members of one name. */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (json_t, json_decref)

/* Parses the @length bytes at @data as one JSON object. Refuses duplicate names, NUL in texts, integers beyond 64 bits,
 * nesting deeper than Jansson allows (2,048), and text after the object. Messages begin with @name; those about syntax
 * also name the line. (transfer full) */
json_t *plait_json_read_object (const char *data, gsize length, const char *name, GError **error);
