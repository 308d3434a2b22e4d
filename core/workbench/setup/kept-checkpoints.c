/* SPDX-License-Identifier: MIT */
#include "setup/kept-checkpoints.h"

#include "setup/trained.h"
#include "training/parameters.h"
#include "training/settings.h"

static gint
compare_updates (gconstpointer a, gconstpointer b)
{
  gint64 first = *(const gint64 *)a, second = *(const gint64 *)b;

  return first < second ? -1 : first > second;
}

/* Returns the updates of the kept checkpoints of @old, oldest first. (element-type gint64) (transfer full) */
static GArray *
find_kept (PlaitStore *old)
{
  g_auto (GStrv) members = old ? plait_store_members (old, "/checkpoint", NULL) : NULL;
  g_autoptr (GArray) updates = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; members && members[i]; i++)
    {
      gint64 update = plait_checkpoint_update (members[i]);

      if (update > 0)
        g_array_append_val (updates, update);
    }
  g_array_sort (updates, compare_updates);
  return g_steal_pointer (&updates);
}

gboolean
plait_kept_checkpoints_write (const PlaitParameters *parameters, gint64 step, gint64 limit, PlaitStore *old,
                              PlaitStore *store, GError **error)
{
  g_autoptr (GArray) updates = limit > 0 ? find_kept (old) : NULL;
  guint room = (guint)limit - (step > 0);

  if (limit == 0)
    return TRUE;
  for (guint i = updates->len - MIN (updates->len, room); i < updates->len; i++)
    {
      g_autofree char *path
          = g_strdup_printf ("/checkpoint/" PLAIT_KEPT_CHECKPOINT "%jd", g_array_index (updates, gint64, i));

      if (!plait_store_copy (store, old, path, error))
        return FALSE;
    }
  if (step > 0)
    {
      g_autofree char *path = g_strdup_printf ("/checkpoint/" PLAIT_KEPT_CHECKPOINT "%jd/parameters", step);

      return plait_parameters_write (parameters, store, path, error);
    }
  return TRUE;
}
