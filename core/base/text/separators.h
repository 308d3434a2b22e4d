/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* A separator of lists in keys and options. A message about a wrong separator names the right one. */
typedef struct
{
  const char *separator; /* the separator, such as ";" */
  const char *between;   /* what the separator separates, in words for the user */
  const char *example;
} PlaitSeparator;

/* The table of all separators; in the last row all members are NULL. */
extern const PlaitSeparator plait_separators[];

/* TRUE if @text is an item of the list. */
typedef gboolean (*PlaitIsItem) (const char *text, gconstpointer data);

/* Returns @text with @separator between its items if it uses another separator and @is_item accepts every part; else
 * NULL. (transfer full) */
char *plait_separators_mend (const char *text, const char *separator, PlaitIsItem is_item, gconstpointer data);

/* Returns the end of a message about @wanted, an item of a list that is not in @names (NULL-terminated). If @wanted has
 * several items, NAME or NAME:OPTIONS, with a wrong separator: "did you mean "A;B"?"; else the text of
 * plait_name_remedy. (transfer full) */
char *plait_item_remedy (const char *wanted, const char *const *names, const char *separator, const char *otherwise);
