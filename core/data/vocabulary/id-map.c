/* SPDX-License-Identifier: MIT */
#include "vocabulary/id-map.h"

#include <string.h>

void
plait_id_map_init (PlaitIdMap *map, const gint32 specials[PLAIT_TOKEN_SPECIALS], gint32 n)
{
  map->ours = g_new0 (gint32, n);
  map->theirs = g_new (gint32, n + PLAIT_TOKEN_SPECIALS);
  for (map->size = 0; map->size < PLAIT_TOKEN_SPECIALS; map->size++)
    {
      map->theirs[map->size] = specials[map->size];
      if (specials[map->size] >= 0)
        map->ours[specials[map->size]] = map->size;
    }
  for (gint32 id = 0; id < n; id++)
    if (id != specials[0] && id != specials[1] && id != specials[2] && id != specials[3])
      {
        map->theirs[map->size] = id;
        map->ours[id] = map->size++;
      }
}

void
plait_id_map_clear (PlaitIdMap *map)
{
  g_clear_pointer (&map->ours, g_free);
  g_clear_pointer (&map->theirs, g_free);
}

static const char *const names[PLAIT_TOKEN_SPECIALS] = { "<pad>", "<s>", "</s>", "<unk>" };

char *
plait_special_name (gint32 id, gsize brackets)
{
  g_autofree char *left = g_strnfill (brackets, '<');
  g_autofree char *right = g_strnfill (brackets, '>');

  return g_strconcat (left, names[id], right, NULL);
}

gsize
plait_special_brackets (gint32 id, const char *text, gsize length)
{
  const char *end = text + length, *at = text;
  gsize n = strlen (names[id]), most = 0;

  while ((at = memmem (at, (gsize)(end - at), names[id], n)))
    {
      const char *left = at, *right = at + n;

      for (; left > text && left[-1] == '<' && right < end && *right == '>'; left--)
        right++;
      most = MAX (most, (gsize)(at - left) + 1);
      at += n;
    }
  return most;
}

char *
plait_special_unique_name (gint32 id, PlaitPieceTaken is_taken, gconstpointer model)
{
  char *name = plait_special_name (id, 0);

  for (gsize brackets = 1; is_taken (model, name); brackets++)
    {
      g_free (name);
      name = plait_special_name (id, brackets);
    }
  return name;
}
