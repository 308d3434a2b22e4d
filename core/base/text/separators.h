/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * The separators of lists in keys and options. A user who takes a wrong one is told the right one.
 */
typedef struct
{
  const char *separator; /* as it is written, such as ";" */
  const char *between;   /* what it separates, for people */
  const char *example;
} PlaitSeparator;

/* All separators; the last row has none. */
extern const PlaitSeparator plait_separators[];

/* TRUE if @text is an item of the list. */
typedef gboolean (*PlaitIsItem) (const char *text, gconstpointer data);

/* Returns @text with @separator between its items, if another separator stands there and each part of @text is an item
 * by @is_item; else NULL. (transfer full) */
char *plait_separators_mend (const char *text, const char *separator, PlaitIsItem is_item, gconstpointer data);

/* How a message about @wanted, an item of a list that is none of @names (NULL-terminated), ends: "did you mean "A;B"?"
 * if @wanted is several names with a wrong separator, each perhaps with ':' and more after it; else as
 * plait_name_remedy says. (transfer full) */
char *plait_item_remedy (const char *wanted, const char *const *names, const char *separator, const char *otherwise);
