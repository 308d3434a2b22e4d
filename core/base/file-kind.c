/* SPDX-License-Identifier: MIT */
#include "base/file-kind.h"

#include <string.h>

static const struct
{
  const char *beginning;
  const char *kind;
} kinds[] = {
  { "plait-store\n", "a run, a dump or a grid of plait" },
  { "\x89HDF\r\n", "an HDF5 file" },
  { "\x1f\x8b", "a gzip file" },
  { "PK\x03\x04", "a zip file" },
  { "\x7f"
    "ELF",
    "a program" },
  { "<!DOCTYPE", "a page of HTML" },
};

const char *
plait_file_kind (const char *bytes, gsize length)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (length >= strlen (kinds[i].beginning) && memcmp (bytes, kinds[i].beginning, strlen (kinds[i].beginning)) == 0)
      return kinds[i].kind;
  return NULL;
}
