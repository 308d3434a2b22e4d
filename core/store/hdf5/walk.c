/* SPDX-License-Identifier: MIT */
#include "hdf5/walk.h"

#include "hdf5/internal.h"

typedef struct
{
  PlaitStore *store;
  guint maximum_depth;
  PlaitStoreVisitor visitor;
  gpointer data;
  gboolean stopped;
} Walk;

/* Visits what stands in the group @at as @name, at @path of the file, and what is below it. */
static gboolean
visit_all (Walk *walk, hid_t at, const char *name, const char *path, guint depth, GError **error)
{
  g_autofree char *link_file = NULL, *link_object = NULL;
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  if (!plait_store_look (walk->store, at, name, path, &found, error))
    return FALSE;
  PlaitStoreKind kind = found.object.kind;
  PlaitStoreVisit visit = { .path = path, .depth = depth, .object = found.object };
  if ((kind == PLAIT_STORE_SOFT_LINK || kind == PLAIT_STORE_EXTERNAL_LINK)
      && !plait_store_link_target (walk->store, path, &link_file, &link_object, error))
    return FALSE;
  visit.link_file = link_file;
  visit.link_object = link_object;
  visit.id = found.names || found.start >= 0 ? -1 : found.id;

  PlaitStoreStep step = walk->visitor (walk->store, &visit, walk->data, error);
  walk->stopped = step == PLAIT_STORE_WALK_STOP;
  if (step != PLAIT_STORE_WALK_ON || kind != PLAIT_STORE_GROUP || depth >= walk->maximum_depth)
    return step != PLAIT_STORE_WALK_FAIL;
  g_auto (GStrv) members = plait_store_members_of (walk->store, path, &found, error);
  for (guint i = 0; members && members[i] && !walk->stopped; i++)
    {
      g_autofree char *place = g_strconcat (path[1] == '\0' ? "" : path, "/", members[i], NULL);
      if (!visit_all (walk, found.id, members[i], place, depth + 1, error))
        return FALSE;
    }
  return members != NULL;
}

gboolean
plait_store_walk (PlaitStore *store, const char *path, guint maximum_depth, PlaitStoreVisitor visitor, gpointer data,
                  GError **error)
{
  Walk walk = { store, maximum_depth, visitor, data, FALSE };

  return visit_all (&walk, store->file, path, path, 0, error);
}
