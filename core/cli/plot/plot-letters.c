/* SPDX-License-Identifier: MIT */
#include "plot/plot.h"

#define MAX_NAMED 8

/* Ranges of characters that belong to no single script or need a special package. */
static const struct
{
  gunichar first, last;
  const char *package;
} ranges[] = {
  { 0x2e80, 0x33ff, "fonts-noto-cjk" },           { 0xfe30, 0xfe4f, "fonts-noto-cjk" },
  { 0xff00, 0xffef, "fonts-noto-cjk" },           { 0x2600, 0x27bf, "fonts-symbola" },
  { 0x1f000, 0x1faff, "fonts-noto-color-emoji" },
};

/* Returns the Debian package with a font for @letter. NULL for control characters, private use and unassigned codes. */
static const char *
find_package (gunichar letter)
{
  GUnicodeType type = g_unichar_type (letter);

  if (type == G_UNICODE_CONTROL || type == G_UNICODE_PRIVATE_USE || type == G_UNICODE_UNASSIGNED)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (letter >= ranges[i].first && letter <= ranges[i].last)
      return ranges[i].package;
  switch (g_unichar_get_script (letter))
    {
    case G_UNICODE_SCRIPT_HAN:
    case G_UNICODE_SCRIPT_HANGUL:
    case G_UNICODE_SCRIPT_HIRAGANA:
    case G_UNICODE_SCRIPT_KATAKANA:
    case G_UNICODE_SCRIPT_BOPOMOFO:
      return "fonts-noto-cjk";
    default:
      return "fonts-noto-core";
    }
}

char *
plait_plot_missing_text (const gunichar *letters, guint n)
{
  g_autoptr (GPtrArray) packages = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  g_autoptr (GString) text = g_string_new ("no installed font has");
  g_autofree char *names = NULL;

  for (guint i = 0; i < n; i++)
    {
      const char *package = find_package (letters[i]);

      if (i < MAX_NAMED)
        g_string_append_printf (text, "%s", i > 0 ? ", " : " ");
      if (i < MAX_NAMED && package)
        g_string_append_unichar (text, letters[i]);
      if (i < MAX_NAMED)
        g_string_append_printf (text, package ? " (U+%04X)" : "U+%04X", letters[i]);
      if (package && !g_ptr_array_find_with_equal_func (packages, package, g_str_equal, NULL))
        g_ptr_array_add (packages, (gpointer)package);
    }
  if (n > MAX_NAMED)
    g_string_append_printf (text, " and %u more", n - MAX_NAMED);
  g_string_append (text, n > 1 ? ", which are drawn as boxes; " : ", which is drawn as a box; ");
  if (packages->len == 0)
    {
      g_string_append_printf (text,
                              "no package of fonts has %s: name another font with --font, or use --labels numbers",
                              n > 1 ? "them" : "it");
      return g_string_free (g_steal_pointer (&text), FALSE);
    }
  names = g_strjoinv (" and ", (char **)packages->pdata);
  g_string_append_printf (text, "install %s (Debian), or another font that has %s", names, n > 1 ? "them" : "it");
  return g_string_free (g_steal_pointer (&text), FALSE);
}
