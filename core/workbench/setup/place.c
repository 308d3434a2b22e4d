/* SPDX-License-Identifier: MIT */
#include "setup/place.h"

#include "files/file-input.h"
#include "files/file-mark.h"
#include "files/file.h"
#include "files/lock.h"

struct PlaitRunPlace
{
  char *path;
  PlaitLog *log;
  PlaitLock *lock;
  PlaitFileMark own; /* the file as this process found or wrote it */
};

PlaitRunPlace *
plait_run_place_new (const char *path, gboolean over_old, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitRunPlace) place = g_new0 (PlaitRunPlace, 1);
  g_autofree char *busy = g_strdup_printf ("%s: another plait run is writing this file", path);
  g_autoptr (PlaitFile) trial = NULL;

  /* A run reads what it has written; another file may be one of its inputs until it is replaced. */
  if (!g_file_test (path, G_FILE_TEST_EXISTS) || plait_store_recognize (path))
    plait_file_input_own (path);
  trial = plait_file_begin (path, error);

  place->path = g_strdup (path);
  place->log = log;
  if (trial)
    place->lock = plait_lock_take (path, busy, "wait for it, or choose another file with --output", log, error);
  if (!place->lock || !plait_file_check_new (path, over_old, "add --resume to go on with it, ", "--output", error))
    return NULL;
  place->own = plait_file_mark (path);
  return g_steal_pointer (&place);
}

void
plait_run_place_free (PlaitRunPlace *place)
{
  if (!place)
    return;
  plait_lock_release (place->lock);
  g_free (place->path);
  g_free (place);
}

gboolean
plait_run_place_has_file (const PlaitRunPlace *place)
{
  return place->own.number != 0;
}

/* The file itself, or none: it may have been removed, but not replaced. */
static gboolean
check (const PlaitRunPlace *place, GError **error)
{
  PlaitFileMark now = plait_file_mark (place->path);

  return now.number == 0 || plait_file_mark_is (&now, &place->own)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: another program has written this file since the run began, so it is left as it is, and "
                        "the run ends; begin it again with another --output",
                        place->path);
}

/* The check comes behind what it vouches for. */

PlaitStore *
plait_run_place_open (const PlaitRunPlace *place, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open (place->path, error);

  return store && check (place, error) ? g_steal_pointer (&store) : NULL;
}

PlaitStore *
plait_run_place_create (const PlaitRunPlace *place, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (place->path, error);

  if (store && plait_run_place_has_file (place) && plait_file_mark (place->path).number == 0)
    plait_log_warning (place->log, "%s: this file was removed while it was in use; it is written again whole",
                       place->path);
  return store && check (place, error) ? g_steal_pointer (&store) : NULL;
}

gboolean
plait_run_place_commit (PlaitRunPlace *place, PlaitStore *store, GError **error)
{
  if (!plait_store_commit (store, error))
    return FALSE;
  place->own = plait_file_mark (place->path);
  plait_file_input_own (place->path);
  return TRUE;
}
