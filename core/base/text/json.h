/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Writing JSON, indented, in the order of the calls. Members of an object take a name; items of an array, and the
 * whole, take NULL.
 */
typedef struct PlaitJson PlaitJson;

PlaitJson *plait_json_new (void);

/* One whose whole is an object or an array, begun. (transfer full) */
PlaitJson *plait_json_new_object (void);
PlaitJson *plait_json_new_array (void);

/* One on one line, as JSON lines have it. (transfer full) */
PlaitJson *plait_json_new_line (void);
void plait_json_free (PlaitJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitJson, plait_json_free)

void plait_json_begin_object (PlaitJson *json, const char *name);
void plait_json_end_object (PlaitJson *json);
void plait_json_begin_array (PlaitJson *json, const char *name);
void plait_json_end_array (PlaitJson *json);

/* @text is made valid UTF-8; NULL becomes null. */
void plait_json_text (PlaitJson *json, const char *name, const char *text);
void plait_json_integer (PlaitJson *json, const char *name, gint64 value);

/* Shortest exact digits; null for what is not finite, because JSON has no such numbers. */
void plait_json_real (PlaitJson *json, const char *name, double value);
void plait_json_boolean (PlaitJson *json, const char *name, gboolean value);

/* Arrays of @n items; of texts a negative @n means all before a NULL, of which @texts may be one. */
void plait_json_texts (PlaitJson *json, const char *name, const char *const *texts, gint64 n);
void plait_json_integers (PlaitJson *json, const char *name, const gint64 *values, gint64 n);
void plait_json_reals (PlaitJson *json, const char *name, const double *values, gint64 n);

/* @document is what plait_json_string() gave for another. */
void plait_json_document (PlaitJson *json, const char *name, const char *document);

/* What was written, with a line break at its end. (transfer none) */
const char *plait_json_string (const PlaitJson *json);

/* Ends the object or array that @json is, and prints it on stdout. */
void plait_json_print (PlaitJson *json);
