/* SPDX-License-Identifier: MIT */
#include "store/walk.h"

#include "store/internal.h"

#include <string.h>

typedef struct
{
  char *path;
  guint depth;
} Pending;

static void
pending_clear (gpointer item)
{
  g_free (((Pending *)item)->path);
}

/* Puts the members of a group onto the stack, the first on top. */
static gboolean
push_members (PlaitStore *store, GArray *stack, const char *path, guint depth, GError **error)
{
  g_auto (GStrv) members = plait_store_members_stored (store, path, error);
  if (!members)
    return FALSE;
  for (guint i = g_strv_length (members); i-- > 0;)
    {
      Pending next = { g_strconcat (path[1] == '\0' ? "" : path, "/", members[i], NULL), depth };
      g_array_append_val (stack, next);
    }
  return TRUE;
}

gboolean
plait_store_walk (PlaitStore *store, const char *path, guint maximum_depth, PlaitStoreVisitor visitor, gpointer data,
                  GError **error)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Pending));
  g_array_set_clear_func (stack, pending_clear);
  Pending first = { g_strdup (path), 0 };
  g_array_append_val (stack, first);

  while (stack->len > 0)
    {
      Pending *top = &g_array_index (stack, Pending, stack->len - 1);
      g_autofree char *place = g_steal_pointer (&top->path);
      guint depth = top->depth;
      g_array_set_size (stack, stack->len - 1);

      g_autofree char *link_file = NULL, *link_object = NULL;
      PlaitStoreVisit visit = { .path = place, .depth = depth };
      if (!plait_store_describe_stored (store, place, &visit.object, error))
        return FALSE;
      PlaitStoreKind kind = visit.object.kind;
      if ((kind == PLAIT_STORE_SOFT_LINK || kind == PLAIT_STORE_EXTERNAL_LINK)
          && !plait_store_link_target (store, place, &link_file, &link_object, error))
        return FALSE;
      visit.link_file = link_file;
      visit.link_object = link_object;

      PlaitStoreStep step = visitor (store, &visit, data);
      if (step == PLAIT_STORE_WALK_STOP)
        return TRUE;
      if (step == PLAIT_STORE_WALK_ON && kind == PLAIT_STORE_GROUP && depth < maximum_depth
          && !push_members (store, stack, place, depth + 1, error))
        return FALSE;
    }
  return TRUE;
}
