/* SPDX-License-Identifier: MIT */
#include "spoil.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
missing (const char *file)
{
  plait_test_remove (file);
}

static void
empty (const char *file)
{
  plait_test_write (file, "");
}

static void
folder (const char *file)
{
  plait_test_remove (file);
  plait_test_make_folder (file);
}

static void
link_to (const char *file, const char *target)
{
  plait_test_remove (file);
  CHECK (symlink (target, plait_test_path (file)) == 0);
}

static void
link_to_itself (const char *file)
{
  link_to (file, file);
}

static void
link_to_nothing (const char *file)
{
  link_to (file, "nowhere");
}

static void
endless_device (const char *file)
{
  link_to (file, "/dev/zero");
}

/* Replaces @file by a link to the kernel's log: only root may read it, and reading it would wait for messages. */
static void
waiting_file (const char *file)
{
  link_to (file, "/proc/kmsg");
}

static void
endless_file (const char *file)
{
  link_to (file, "/proc/self/pagemap");
}

/* Replaces @file by a pipe without a writer. */
static void
silent_pipe (const char *file)
{
  plait_test_remove (file);
  CHECK (mkfifo (plait_test_path (file), 0644) == 0);
}

/* Cuts @file to @numerator quarters of its length, less @less bytes. */
static void
cut (const char *file, gsize numerator, gsize less)
{
  g_autoptr (GBytes) bytes = plait_test_read (file);
  gsize length = g_bytes_get_size (bytes) * numerator / 4;

  plait_test_write_bytes (file, g_bytes_get_data (bytes, NULL), length - MIN (length, less));
}

static void
cut_to_a_quarter (const char *file)
{
  cut (file, 1, 0);
}

static void
cut_to_half (const char *file)
{
  cut (file, 2, 1);
}

static void
cut_by_a_byte (const char *file)
{
  cut (file, 4, 1);
}

static void
fill (const char *file, gsize length, gboolean zeros)
{
  g_autofree guint8 *bytes = g_malloc0 (length);
  guint32 state = 12345;

  for (gsize i = 0; i < length && !zeros; i++)
    {
      state = state * 1664525u + 1013904223u;
      bytes[i] = (guint8)(state >> 24);
    }
  plait_test_write_bytes (file, bytes, length);
}

static void
random_bytes (const char *file)
{
  fill (file, 5000, FALSE);
}

static void
zero_bytes (const char *file)
{
  fill (file, 5000, TRUE);
}

static void
endless_line (const char *file)
{
  g_autofree char *line = g_strnfill (3 << 20, 'x');

  plait_test_write (file, line);
}

static void
behind_nul (const char *file)
{
  g_autoptr (GBytes) bytes = plait_test_read (file);
  gsize length = g_bytes_get_size (bytes);
  g_autofree char *spoilt = g_memdup2 (g_bytes_get_data (bytes, NULL), length);

  for (gsize i = length / 2; i < length; i++)
    if (spoilt[i] != '\0')
      {
        spoilt[i] = '\0';
        break;
      }
  plait_test_write_bytes (file, spoilt, length);
}

static void
not_utf8 (const char *file)
{
  g_autoptr (GBytes) bytes = plait_test_read (file);
  gsize length = g_bytes_get_size (bytes);
  g_autofree char *spoilt = g_memdup2 (g_bytes_get_data (bytes, NULL), length);
  gsize at = length / 3;

  /* Skip bytes 0xff: HDF5 itself writes 0xff there. */
  while (spoilt[at] == (char)0xff && at + 1 < length)
    at++;
  spoilt[at] = (char)0xff;
  plait_test_write_bytes (file, spoilt, length);
}

static void
flip (const char *file, gsize eighths)
{
  g_autoptr (GBytes) bytes = plait_test_read (file);
  gsize length = g_bytes_get_size (bytes);
  g_autofree char *spoilt = g_memdup2 (g_bytes_get_data (bytes, NULL), length);

  spoilt[length * eighths / 8] ^= 0x80;
  plait_test_write_bytes (file, spoilt, length);
}

static void
first_bit_flipped (const char *file)
{
  flip (file, 0);
}

static void
late_bit_flipped (const char *file)
{
  flip (file, 7);
}

static void
a_run (const char *file)
{
  plait_test_copy ("text.h5", file);
}

static void
a_dump (const char *file)
{
  plait_test_copy ("dump.h5", file);
}

static void
the_grid (const char *file)
{
  plait_test_copy ("grid/grid.h5", file);
}

static void
features (const char *file)
{
  plait_test_copy ("test.image", file);
}

static void
a_model (const char *file)
{
  plait_test_copy ("pieces.model", file);
}

static void
a_program (const char *file)
{
  g_autofree char *bytes = NULL;
  gsize length;

  CHECK (g_file_get_contents ("/proc/self/exe", &bytes, &length, NULL));
  plait_test_write_bytes (file, bytes, MIN (length, 1 << 20));
}

static void
a_page (const char *file)
{
  plait_test_copy ("page.html", file);
}

static void
utf16 (const char *file)
{
  plait_test_write_bytes (file, "\xff\xfe[\0p\0l\0u\0g\0i\0n\0]\0\n\0", 20);
}

static void
gzip_in_name_only (const char *file)
{
  plait_test_write_bytes (file, "\x1f\x8b\x08\0\0\0\0\0\0\x03garbage and no more", 29);
}

static const struct
{
  const char *name;
  void (*spoil) (const char *file);
} ways[] = {
  { "missing", missing },
  { "empty", empty },
  { "a folder", folder },
  { "a link to itself", link_to_itself },
  { "a link to nothing", link_to_nothing },
  { "/dev/zero", endless_device },
  { "/proc/kmsg", waiting_file },
  { "/proc/self/pagemap", endless_file },
  { "a pipe without a writer", silent_pipe },
  { "cut to a quarter", cut_to_a_quarter },
  { "cut to half", cut_to_half },
  { "cut by a byte", cut_by_a_byte },
  { "random bytes", random_bytes },
  { "zeros", zero_bytes },
  { "an endless line", endless_line },
  { "NUL within", behind_nul },
  { "no UTF-8 within", not_utf8 },
  { "first bit flipped", first_bit_flipped },
  { "a late bit flipped", late_bit_flipped },
  { "a run", a_run },
  { "a dump", a_dump },
  { "a grid", the_grid },
  { "features", features },
  { "a SentencePiece model", a_model },
  { "a program", a_program },
  { "a page", a_page },
  { "UTF-16", utf16 },
  { "no real gzip", gzip_in_name_only },
};

static void
spoil_all (const char *file, const char *command, int code, const char *sound)
{
  g_autofree char *safe = g_strconcat (file, ".sound", NULL);
  g_auto (GStrv) tolerated = g_strsplit (sound ? sound : "", "|", -1);

  plait_test_copy (file, safe);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      CONTEXT ("%s is: %s", file, ways[i].name);

      if (g_strv_contains ((const char *const *)tolerated, plait_test_format ("-%s", ways[i].name)))
        continue;

      ways[i].spoil (file);
      if (g_strv_contains ((const char *const *)tolerated, ways[i].name))
        attempt_refused_or_done (command, NULL, file);
      else
        attempt_refused_with (command, NULL, code, file);
      plait_test_copy (safe, file);
      plait_test_remove ("new");
    }
  plait_test_remove (safe);
}

void
spoil_and_refuse (const char *file, const char *command, const char *sound)
{
  spoil_all (file, command, 2, sound);
}

void
spoil_and_find (const char *file)
{
  spoil_all (file, plait_test_format ("verify %s", file), 1, "a run|a dump|a grid|a SentencePiece model");
}
