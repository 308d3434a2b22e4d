/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Reader of key-files (experiments, schemas), based on GKeyFile.
 *
 * GKeyFile has no line numbers and merges duplicates silently. This reader stores the line number of every group and
 * key. It reports all faults of lines together, each with FILE:LINE: a group or key given twice, an invalid name, a key
 * outside any group, a line that is neither header, key nor comment, an unknown escape. Before it parses lines, it
 * refuses a file of more than 16 MiB, a file of another kind (plait_file_kind), a NUL byte, and a byte that is not
 * UTF-8.
 *
 * The syntax is GKeyFile's: "[group]", "key=value", comment lines that begin with "#". Blanks around keys and values
 * are ignored. Values may contain the escapes \s \t \n \r \\, and \; for a semicolon in a list.
 *
 * A returned const string belongs to the file and is valid until the file is freed or the key is set or removed.
 */
typedef struct PlaitKeyFile PlaitKeyFile;

/* Returns an empty file, to be filled by plait_key_file_set. @name is its name in messages. (transfer full) */
PlaitKeyFile *plait_key_file_new (const char *name);

/* Reads the regular file @path. NULL with PLAIT_ERROR_INPUT if it is not a valid key-file. (transfer full) */
PlaitKeyFile *plait_key_file_load (const char *path, GError **error);

/* Reads @path, which may also be a pipe that already has a writer, such as standard input. (transfer full) */
PlaitKeyFile *plait_key_file_load_pipe (const char *path, GError **error);

/* Parses @length bytes of @text (-1: NUL-terminated), called @name in messages. (transfer full) */
PlaitKeyFile *plait_key_file_load_data (const char *text, gssize length, const char *name, GError **error);

void plait_key_file_free (PlaitKeyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitKeyFile, plait_key_file_free)

/* Returns the name of the file in messages: the path of a loaded file. */
const char *plait_key_file_name (const PlaitKeyFile *file);

/* Returns the groups of the file in order, NULL-terminated. */
const char *const *plait_key_file_groups (const PlaitKeyFile *file);

gboolean plait_key_file_has_group (const PlaitKeyFile *file, const char *group);

/* Returns the keys of @group in order, NULL-terminated; empty if the group does not exist. */
const char *const *plait_key_file_keys (const PlaitKeyFile *file, const char *group);

/* Returns the value of @key with its escapes resolved, or NULL if it is missing. */
const char *plait_key_file_value (const PlaitKeyFile *file, const char *group, const char *key);

/* Returns the items of the list that is the value of @key. Splits the value at each ";" but not at "\;", resolves
 * escapes, strips blanks around the items, and drops the last item if it is empty. NULL if @key is missing. (transfer
 * full) */
char **plait_key_file_list (const PlaitKeyFile *file, const char *group, const char *key);

/* Returns @text with backslashes escaped for a key-file. @text must be one line without blanks at its ends. (transfer
 * full) */
char *plait_key_file_escape (const char *text);

/* Returns @text with backslashes and semicolons escaped, for use as an item of a list. (transfer full) */
char *plait_key_file_escape_item (const char *text);

/* Sets @key of @group to @value (in the syntax of the file, with escapes), and adds missing groups and keys. @origin,
 * such as "--set decoder.layers=4", replaces FILE:LINE in messages about the key; NULL keeps the old location. FALSE if
 * a name or the value is not valid in a key-file. */
gboolean plait_key_file_set (PlaitKeyFile *file, const char *group, const char *key, const char *value,
                             const char *origin, GError **error);

/* Removes @key from @group if it exists. */
void plait_key_file_remove (PlaitKeyFile *file, const char *group, const char *key);

/* Returns the location of @key for messages, or of @group if @key is NULL or missing: "FILE:LINE", else the origin
 * given to plait_key_file_set, else the name of the file. (transfer full) */
char *plait_key_file_location (const PlaitKeyFile *file, const char *group, const char *key);

/* Returns the line of @key, or of @group if @key is NULL or missing. Returns 0 if the group is missing, or if
 * plait_key_file_set has added the key or group or has given the key an origin. A value set without an origin keeps the
 * line. */
guint plait_key_file_line (const PlaitKeyFile *file, const char *group, const char *key);

/* Returns the file as text, without comments. plait_key_file_load_data reads back the same groups, keys and values.
 * (transfer full) */
char *plait_key_file_text (const PlaitKeyFile *file);
