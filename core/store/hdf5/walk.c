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

static gboolean visit_all (Walk *walk, const PlaitStoreLink *link, const char *path, guint depth, GError **error);

/* Visits the member @name of the group at @path. @link: the link to the member, or NULL for an item of a ragged
 * group. */
static gboolean
visit_member (Walk *walk, const PlaitStoreLink *link, const char *name, const char *path, guint depth, GError **error)
{
  g_autofree char *place = g_strconcat (path[1] == '\0' ? "" : path, "/", name, NULL);

  return visit_all (walk, link, place, depth, error);
}

static gboolean
visit_members (Walk *walk, const char *path, PlaitStoreFound *found, guint depth, GError **error)
{
  g_autoptr (GArray) links = found->names ? NULL : plait_store_links_of (walk->store, path, found, error);

  for (guint i = 0; links && i < links->len && !walk->stopped; i++)
    {
      const PlaitStoreLink *link = &g_array_index (links, PlaitStoreLink, i);

      if (!visit_member (walk, link, link->name, path, depth, error))
        return FALSE;
    }
  for (guint i = 0; found->names && found->names[i] && !walk->stopped; i++)
    if (!visit_member (walk, NULL, found->names[i], path, depth, error))
      return FALSE;
  return links || found->names;
}

/* Visits the object at @path and the objects below it. @link: the link at @path, or NULL if the link is not known. */
static gboolean
visit_all (Walk *walk, const PlaitStoreLink *link, const char *path, guint depth, GError **error)
{
  g_autofree char *link_file = NULL, *link_object = NULL;
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  if (!plait_store_find_stored (walk->store, path, link, &found, error))
    return FALSE;
  PlaitStoreKind kind = found.object.kind;
  PlaitStoreVisit visit = { .path = path, .depth = depth, .object = found.object };
  if ((kind == PLAIT_STORE_SOFT_LINK || kind == PLAIT_STORE_EXTERNAL_LINK)
      && !plait_store_link_target (walk->store, path, &link_file, &link_object, error))
    return FALSE;
  visit.link_file = link_file;
  visit.link_object = link_object;
  visit.id = found.names || found.start >= 0 ? -1 : found.id;

  PlaitStoreWalkAction step = walk->visitor (walk->store, &visit, walk->data, error);
  walk->stopped = step == PLAIT_STORE_WALK_STOP;
  if (step != PLAIT_STORE_WALK_CONTINUE || kind != PLAIT_STORE_GROUP || depth >= walk->maximum_depth)
    return step != PLAIT_STORE_WALK_FAIL;
  return visit_members (walk, path, &found, depth + 1, error);
}

gboolean
plait_store_walk (PlaitStore *store, const char *path, guint maximum_depth, PlaitStoreVisitor visitor, gpointer data,
                  GError **error)
{
  Walk walk = { store, maximum_depth, visitor, data, FALSE };

  return visit_all (&walk, NULL, path, 0, error);
}
