/* SPDX-License-Identifier: MIT */
#include "comparison/location.h"

#include <string.h>

/* So many links one after another count as a cycle. */
#define MAX_LINKS 32

char *
plait_location_join (const char *path, const char *name)
{
  return g_strconcat (path[1] == '\0' ? "" : path, "/", name, NULL);
}

char **
plait_location_members (PlaitStore *store, const char *path, GError **error)
{
  return plait_store_has (store, path) ? plait_store_members (store, path, error) : g_new0 (char *, 1);
}

void
plait_location_free (PlaitLocation *location)
{
  plait_store_free (location->store);
  g_free (location->path);
  g_free (location);
}

/* Returns the path of a link's @target, which is absolute or relative to the group of the link @location. (transfer
 * full) */
static char *
target_path (const char *location, const char *target)
{
  if (*target == '/')
    return g_strdup (target);
  g_autofree char *folder = g_path_get_dirname (location);
  return plait_location_join (folder, target);
}

/* Follows @path from the root to its end or to its first link. Returns the part of the path that was followed. Sets
 * *@rest to the remaining part, or to NULL at the end of the path. (transfer full) */
static char *
go_down (PlaitStore *store, const char *path, const char **rest, PlaitStoreObject *object, GError **error)
{
  const char *end = path;

  for (;;)
    {
      const char *next = *end == '\0' ? NULL : strchr (end + 1, '/');
      g_autofree char *head = next ? g_strndup (path, (gsize)(next - path)) : g_strdup (path);

      if (!plait_store_describe (store, head, object, error))
        return NULL;
      if (!next || object->kind == PLAIT_STORE_SOFT_LINK || object->kind == PLAIT_STORE_EXTERNAL_LINK)
        {
          *rest = next;
          return g_steal_pointer (&head);
        }
      end = next;
    }
}

/* Replaces @location by the target of the link at @link. Appends the path @rest to the target. */
static gboolean
follow (PlaitLocation *location, const char *link, const char *rest, PlaitLog *log, GError **error)
{
  g_autofree char *file = NULL, *object = NULL;

  if (!plait_store_link_target (location->store, link, &file, &object, error))
    return FALSE;
  if (file)
    {
      g_autofree char *folder = g_path_get_dirname (plait_store_path (location->store));
      g_autofree char *other = g_path_is_absolute (file) || strcmp (folder, ".") == 0
                                   ? g_strdup (file)
                                   : g_build_filename (folder, file, NULL);
      PlaitStore *store = plait_store_open_rewritten (other, log, error);

      if (!store)
        {
          g_prefix_error (error, "%s: %s leads to another file: ", plait_store_path (location->store), link);
          return FALSE;
        }
      plait_store_free (location->store);
      location->store = store;
    }
  g_autofree char *target = target_path (link, object);
  g_autofree char *path = g_strconcat (rest && target[1] == '\0' ? "" : target, rest, NULL);
  g_free (location->path);
  location->path = g_steal_pointer (&path);
  return TRUE;
}

PlaitLocation *
plait_location_open (const char *file, const char *path, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitLocation) location = g_new0 (PlaitLocation, 1);

  location->store = plait_store_open_rewritten (file, log, error);
  if (!location->store)
    return NULL;
  location->path = g_strconcat (path && *path == '/' ? "" : "/", path, NULL);
  for (gsize n = strlen (location->path); n > 1 && location->path[n - 1] == '/'; n--)
    location->path[n - 1] = '\0';

  for (guint links = 0; links < MAX_LINKS; links++)
    {
      PlaitStoreObject object;
      const char *rest;
      g_autofree char *reached = go_down (location->store, location->path, &rest, &object, error);

      if (!reached)
        return NULL;
      if (object.kind != PLAIT_STORE_SOFT_LINK && object.kind != PLAIT_STORE_EXTERNAL_LINK)
        return g_steal_pointer (&location);
      if (!follow (location, reached, rest, log, error))
        return NULL;
    }
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s: %d or more links follow one another from %s; expected fewer links, without a cycle",
                          file, MAX_LINKS, path ? path : "/");
}
