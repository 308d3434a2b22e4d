/* SPDX-License-Identifier: MIT */
#include "text/word-links.h"

#include <string.h>

#include "text/error.h"
#include "text/number.h"
#include "text/words.h"

#define MAX_WORD 1000000 /* largest index of a word in a link */

static gboolean
parse_link (char *text, PlaitWordLink *link)
{
  char *mark = text + strcspn (text, "-p?");

  link->possible = *mark != '-';
  if (*mark == '\0')
    return FALSE;
  *mark = '\0';
  return plait_parse_integer (text, &link->source) && plait_parse_integer (mark + 1, &link->target) && link->source >= 0
         && link->source <= MAX_WORD && link->target >= 0 && link->target <= MAX_WORD;
}

gboolean
plait_word_links_parse (const char *line, GArray *links, GError **error)
{
  gsize size = strlen (line), position = 0, length;
  const char *word;

  g_array_set_size (links, 0);
  while ((word = plait_words_next (line, size, &position, &length)))
    {
      g_autofree char *text = g_strndup (word, length);
      PlaitWordLink link;

      if (!parse_link (text, &link))
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "\"%.*s\" is not a link of a word alignment; write the positions of the source word and the target word, "
            "counted from 0, as 0-1, or as 0p1 if the link is only possible; separate links by spaces",
            (int)MIN (length, 40), word);
      g_array_append_val (links, link);
    }
  return TRUE;
}
