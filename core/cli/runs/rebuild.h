/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/folder.h"
#include "text/json.h"
#include "scoring/run-diff.h"
#include "run/run.h"

/* A run made again from its own record: what plait reproduce and plait verify --resume have in common. */
typedef struct
{
  const char *path;
  PlaitStore *store; /* checked to the last byte */
  PlaitRegistry *registry;
  PlaitExperiment *experiment; /* the run's own, with the overrides */
  gboolean complete;
  gint64 updates;   /* that it has made */
  char *difference; /* what settings, data and plugins there are now are otherwise than they were; NULL: nothing */
  PlaitFolder *folder;
} PlaitRebuild;

/* Opens the run at @path. @overrides ("data.folder=...", NULL-terminated, or NULL) may say where things are, nothing
 * that changes results. (transfer full) */
PlaitRebuild *plait_rebuild_new (const char *path, const char *const *overrides, PlaitLog *log, GError **error);
void plait_rebuild_free (PlaitRebuild *rebuild);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRebuild, plait_rebuild_free)

/* The path of file @name in a folder that goes away with @rebuild. (transfer full) */
char *plait_rebuild_path (PlaitRebuild *rebuild, const char *name, GError **error);

/* Adds the likenesses of two runs to the object that is open in @json as "compared", or prints them where it is NULL,
 * and returns how many things differ. */
guint plait_rebuild_report_diffs (const GArray *diffs, PlaitJson *json);
