/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Data of a page of plait report, unpacked as the script of the page does: a JSON text, and @n bytes of weights, which
 * belong to @all. */
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

/* Returns @html without its data and its script, the only contents of script elements. (transfer full) */
char *page_without_scripts (const char *html);

/* read_index() unpacks the index of the page @html, read_pack() pack @n of its sentences, from 0. */
void read_index (Pack *pack, const char *html);
void read_pack (Pack *pack, const char *html, guint n);
