/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* The data for the script of plait report, read from the page as the script reads them. */
typedef struct
{
  char *json;
  const guint8 *bytes;
  gsize n;
  GBytes *all;
} Pack;

void pack_clear (Pack *pack);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pack, pack_clear)

/* Returns the page that plait report makes of @files, a list of file names separated by blanks. */
const char *page_of (const char *files);

/* read_index() unpacks the index of the page @html, read_pack() the pack number @n of a sentence. */
void read_index (Pack *pack, const char *html);
void read_pack (Pack *pack, const char *html, guint n);
