/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * The one reader of key-files (experiments, schemas), over GKeyFile.
 *
 * GKeyFile alone knows no line numbers and merges duplicates silently. This reader keeps the line of every group and
 * key, and refuses, naming FILE:LINE, what nobody can mean: a group or key given twice, a key outside any group, a line
 * that is neither, text that is not UTF-8, a NUL byte, an unknown escape, a file of more than 16 MiB. It reports all of
 * that at once.
 *
 * The syntax is GKeyFile's: "[group]", "key=value", comments on lines of their own that begin with "#". Blanks around
 * keys and values do not count. In values, \s \t \n \r \\ stand for the usual, and \; in lists for a semicolon.
 *
 * Strings that are returned as const belong to the file and last as long as it, or until the value is set anew.
 */
typedef struct PlaitKeyFile PlaitKeyFile;

/* A file without groups, to be filled by plait_key_file_set. @name stands for it in messages. (transfer full) */
PlaitKeyFile *plait_key_file_new (const char *name);

/* Reads the regular file at @path. (transfer full); NULL with PLAIT_ERROR_INPUT on any of the faults above. */
PlaitKeyFile *plait_key_file_load (const char *path, GError **error);

/* Reads @path, which may be a pipe that somebody writes to already, such as standard input. */
PlaitKeyFile *plait_key_file_load_pipe (const char *path, GError **error);

/* Reads @length bytes of @text (-1: up to a NUL), called @name in messages. (transfer full) */
PlaitKeyFile *plait_key_file_load_data (const char *text, gssize length, const char *name, GError **error);

void plait_key_file_free (PlaitKeyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitKeyFile, plait_key_file_free)

/* What the file is called in messages: its path, for a loaded one. */
const char *plait_key_file_name (const PlaitKeyFile *file);

/* Its groups in order, ended by NULL. */
const char *const *plait_key_file_groups (const PlaitKeyFile *file);

gboolean plait_key_file_has_group (const PlaitKeyFile *file, const char *group);

/* The keys of @group in order, ended by NULL; none if there is no such group. */
const char *const *plait_key_file_keys (const PlaitKeyFile *file, const char *group);

/* The value of @key with its escapes resolved, or NULL if it is not there. */
const char *plait_key_file_value (const PlaitKeyFile *file, const char *group, const char *key);

/* The value of @key cut at its semicolons, blanks around the items taken off; a last empty item is dropped. NULL if the
 * key is not there. (transfer full) */
char **plait_key_file_list (const PlaitKeyFile *file, const char *group, const char *key);

/* Sets @key of @group to @value (written as in a file, with escapes), replacing what was there; group and key are
 * appended if new. @origin, such as "--set decoder.layers=4", takes the place of FILE:LINE in messages about it; NULL
 * leaves the place as it was. FALSE if the names or the value cannot stand in a key-file. */
gboolean plait_key_file_set (PlaitKeyFile *file, const char *group, const char *key, const char *value,
                             const char *origin, GError **error);

/* Takes @key out of @group, if it is there. */
void plait_key_file_remove (PlaitKeyFile *file, const char *group, const char *key);

/* Where @key stands, for a message: "FILE:LINE", or the origin given to plait_key_file_set. For a NULL or absent key
 * the place of its group; for an absent group the name of the file. (transfer full) */
char *plait_key_file_location (const PlaitKeyFile *file, const char *group, const char *key);

/* The line of that place; 0 where it is on none, such as after plait_key_file_set. */
guint plait_key_file_line (const PlaitKeyFile *file, const char *group, const char *key);

/* The whole as text that plait_key_file_load_data reads back to the same groups, keys and values. Without comments.
 * (transfer full) */
char *plait_key_file_text (const PlaitKeyFile *file);
