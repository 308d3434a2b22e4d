/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* The data of plait report's script, read out of the page as the script does. */
typedef struct
{
  char *json;
  const guint8 *bytes;
  gsize n;
  GBytes *all;
} Pack;

void pack_clear (Pack *pack);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pack, pack_clear)

/* Returns the page of a report over @files, a list separated by blanks. */
const char *page_of (const char *files);

/* Reads the index of the page @html, and the pack number @n of a sentence. */
void read_index (Pack *pack, const char *html);
void read_pack (Pack *pack, const char *html, guint n);
