/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Writes JSON in the order of the calls, indented or on one line. Members of an object need a name. Items of an array,
 * and the outermost value, have the name NULL.
 */
typedef struct PlaitJson PlaitJson;

PlaitJson *plait_json_new (void);

/* Returns a writer that has begun the outermost object or array. (transfer full) */
PlaitJson *plait_json_new_object (void);
PlaitJson *plait_json_new_array (void);

/* Returns a writer that writes all on one line (JSON Lines). Nothing is begun yet, as with plait_json_new. (transfer
 * full) */
PlaitJson *plait_json_new_line (void);
void plait_json_free (PlaitJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitJson, plait_json_free)

void plait_json_begin_object (PlaitJson *json, const char *name);
void plait_json_end_object (PlaitJson *json);
void plait_json_begin_array (PlaitJson *json, const char *name);
void plait_json_end_array (PlaitJson *json);

/* Writes a string, made valid UTF-8; null if @text is NULL. */
void plait_json_text (PlaitJson *json, const char *name, const char *text);
void plait_json_integer (PlaitJson *json, const char *name, gint64 value);

/* Writes @value like plait_format_double; null if not finite, because JSON has no such numbers. */
void plait_json_real (PlaitJson *json, const char *name, double value);
void plait_json_boolean (PlaitJson *json, const char *name, gboolean value);

/* Writes members of the open object. @members lists them as "NAME=%CONVERSION NAME=%CONVERSION": %s a string or NULL,
 * %jd a gint64, %u a guint, %zu a gsize, %g a double, %d a gboolean. plait_json_object() writes an object of such
 * members. */
void plait_json_members (PlaitJson *json, const char *members, ...) G_GNUC_PRINTF (2, 3);
void plait_json_object (PlaitJson *json, const char *name, const char *members, ...) G_GNUC_PRINTF (3, 4);

/* Write arrays of @n items. With a negative @n, @texts is NULL-terminated, or NULL for an empty array. */
void plait_json_texts (PlaitJson *json, const char *name, const char *const *texts, gint64 n);
void plait_json_integers (PlaitJson *json, const char *name, const gint64 *values, gint64 n);
void plait_json_reals (PlaitJson *json, const char *name, const double *values, gint64 n);

/* Writes @document, the plait_json_string() of another writer, as a value. */
void plait_json_document (PlaitJson *json, const char *name, const char *document);

/* Returns the text written so far. It ends with a line break once the outermost object or array is complete. (transfer
 * none) */
const char *plait_json_string (const PlaitJson *json);

/* Ends the outermost object or array and prints the document on stdout. */
void plait_json_print (PlaitJson *json);
