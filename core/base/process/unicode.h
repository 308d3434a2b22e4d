/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Functions that a module of kind unicode provides, because GLib lacks them or implements them in another way than
 * ICU. */
typedef struct
{
  /* Returns @text (UTF-8) in lower case by language-independent rules. (transfer full) */
  char *(*lower) (const char *text);

  /* Returns an iterator over sentences, used by the functions below; NULL with ICU's reason in *@reason if it fails.
   * (transfer full) */
  gpointer (*sentences_new) (const char **reason);
  void (*sentences_free) (gpointer sentences);

  /* Sets the text to split: @line (UTF-8), which must stay valid until the next line or sentences_free. */
  void (*sentences_begin) (gpointer sentences, const char *line, gsize length);

  /* Returns the offset of the byte after the next sentence, or -1 after the last one. */
  gssize (*sentences_next) (gpointer sentences);
} PlaitUnicodeTable;

/* Returns the functions of the module, or NULL with PLAIT_ERROR_INPUT if the module is missing or cannot be loaded.
 * (transfer none) */
const PlaitUnicodeTable *plait_unicode_open (GError **error);
