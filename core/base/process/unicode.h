/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* The table of modules of the kind unicode: what ICU does and GLib does not, or does otherwise. */
typedef struct
{
  /* Returns @text, which is UTF-8, in lower case by the rules of no language. (transfer full) */
  char *(*lower) (const char *text);

  /* Returns rules for the ends of sentences; NULL, with ICU's reason, if it has none. (transfer full) */
  gpointer (*sentences_new) (const char **reason);
  void (*sentences_free) (gpointer sentences);

  /* Begins with @line, which is UTF-8 and must stay until the next line or the end. */
  void (*sentences_begin) (gpointer sentences, const char *line, gsize length);

  /* Returns the byte after the next sentence, or -1 after the last one. */
  gssize (*sentences_next) (gpointer sentences);
} PlaitUnicodeTable;

/* Returns the functions of the module, or NULL with PLAIT_ERROR_INPUT if there is none. (transfer none) */
const PlaitUnicodeTable *plait_unicode_open (GError **error);
