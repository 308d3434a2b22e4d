/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include <glib.h>

/* A text file that the build compiles into the program (embed.py). */
typedef struct
{
  const char *name; /* path without its first folder, such as "report.css"; NULL ends the list */
  const char *text;
} PlaitEmbedded;

extern const PlaitEmbedded plait_embedded[];

/* Returns the text of the embedded file @name, which must exist. (transfer none) */
static inline const char *
plait_embedded_text (const char *name)
{
  const PlaitEmbedded *file = plait_embedded;

  while (!g_str_equal (file->name, name))
    file++;
  return file->text;
}
