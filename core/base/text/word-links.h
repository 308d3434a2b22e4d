/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Word alignments in Pharaoh format: "0-0 1-2 2p1": position of a source word, mark, position of a target word;
 * positions count from 0. "-" marks a sure link, "p" or "?" a possible one (Och & Ney 2003).
 */
typedef struct
{
  gint64 source, target;
  gboolean possible;
} PlaitWordLink;

/* Sets @links (element-type PlaitWordLink) to the links of @line, in order. PLAIT_ERROR_INPUT if a word of the line is
 * not a link. */
gboolean plait_word_links_parse (const char *line, GArray *links, GError **error);
